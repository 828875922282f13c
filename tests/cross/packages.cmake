# SPDX-License-Identifier: BSL-1.0
# Somebody else's project, built for 64-bit ARM with two installed packages: that of this build, whose code generator
# runs here, and one for 64-bit ARM:
#   cmake -DSOURCE=.. -DHOST_BUILD=.. -DWORK=.. -DHALIDE=.. -DHANA=.. -DFMT=.. -P packages.cmake
include("${CMAKE_CURRENT_LIST_DIR}/prepared.cmake")
if(NOT PREPARED)
  return()
endif()
file(REMOVE_RECURSE "${WORK}/host" "${WORK}/arm" "${WORK}/consumer" "${WORK}/consumer_build")
set(arm --toolchain "${SOURCE}/tests/cross/aarch64.cmake" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
    "-Dfmt_DIR=${WORK}/fmt" "-DQKV_HANA_INCLUDE=${WORK}/include")
run(${CMAKE_COMMAND} --install "${HOST_BUILD}" --prefix "${WORK}/host")
run(${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}/build" -G Ninja ${arm} -DQKV_GROUP=ON -DQKV_TESTS=OFF -DQKV_EXAMPLES=OFF
    "-DHalide_DIR=${HALIDE}" "-DQKV_HOST_BUILD=${HOST_BUILD}")
run(${CMAKE_COMMAND} --build "${WORK}/build")
run(${CMAKE_COMMAND} --install "${WORK}/build" --prefix "${WORK}/arm")

file(COPY "${SOURCE}/tests/package/consumer" DESTINATION "${WORK}")
set(package lib/cmake/qkv)
run(${CMAKE_COMMAND} -S "${WORK}/consumer" -B "${WORK}/consumer_build" -G Ninja ${arm} "-Dqkv_DIR=${WORK}/arm/${package}"
    "-DQKV_HOST_PACKAGE=${WORK}/host/${package}")
run(${CMAKE_COMMAND} --build "${WORK}/consumer_build" --target app mine_tool)
run(qemu-aarch64 "${WORK}/consumer_build/app")
run(qemu-aarch64 "${WORK}/consumer_build/mine_tool" check pooled)
message("a project with two installed packages is right on aarch64")

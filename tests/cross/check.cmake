# SPDX-License-Identifier: BSL-1.0
# Builds the examples for 64-bit ARM with the generators of this build, and checks their kernels
# under QEMU:
#   cmake -DSOURCE=.. -DHOST_BUILD=.. -DWORK=.. -DHALIDE=.. -DHANA=.. -DFMT=.. -P check.cmake
foreach(program aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64)
  find_program(found_${program} ${program})
  if(NOT found_${program})
    message("[SKIP] ${program} is missing (Debian: g++-aarch64-linux-gnu, qemu-user)")
    return()
  endif()
endforeach()

# Headers alone, since those of this machine's libraries lie among its system headers.
file(MAKE_DIRECTORY "${WORK}/include" "${WORK}/fmt")
file(CREATE_LINK "${HANA}/boost" "${WORK}/include/boost" SYMBOLIC)
file(CREATE_LINK "${FMT}/fmt" "${WORK}/include/fmt" SYMBOLIC)
file(WRITE "${WORK}/fmt/fmt-config.cmake" "
add_library(fmt::fmt INTERFACE IMPORTED)
set_target_properties(fmt::fmt PROPERTIES INTERFACE_INCLUDE_DIRECTORIES [[${WORK}/include]]
  INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(result)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${text}\nagain: ${command}")
  endif()
endfunction()

run(${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}/build" -G Ninja --toolchain "${SOURCE}/tests/cross/aarch64.cmake"
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 -DQKV_TESTS=OFF -DQKV_GROUP=ON
    "-DQKV_HOST_BUILD=${HOST_BUILD}"
    "-DHalide_DIR=${HALIDE}" "-Dfmt_DIR=${WORK}/fmt" "-DQKV_HANA_INCLUDE=${WORK}/include")

# Not nystrom, whose kernels take minutes, nor train.
set(libraries self_attention luong_bahdanau score_functions multi_head linear_vs_softmax three_spaces)
list(TRANSFORM libraries APPEND _kernels_tool OUTPUT_VARIABLE tools)
run(${CMAKE_COMMAND} --build "${WORK}/build" --target ${tools})

set(checked 0)
foreach(library IN LISTS libraries)
  set(tool qemu-aarch64 "${WORK}/build/examples/${library}/${library}_kernels_tool")
  execute_process(COMMAND ${tool} list OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${list}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^[a-z0-9_]+" kernel "${line}")
    run(${tool} check ${kernel})
    math(EXPR checked "${checked} + 1")
  endforeach()
endforeach()
message("${checked} kernels are right on aarch64")
if(checked LESS 14)
  message(FATAL_ERROR "too few kernels")
endif()

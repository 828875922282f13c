# SPDX-License-Identifier: BSL-1.0
# Builds kernels for 64-bit ARM with the generators of this build, as static programs. The tools of
# this build then have them run under QEMU and compare the results:
#   cmake -DSOURCE=.. -DHOST_BUILD=.. -DWORK=.. -DHALIDE=.. -DHANA=.. -DFMT=.. [-DCATCH2=.. -DZOO=ON |
#         -DALONE=ON] -P check.cmake
# ZOO: test kernels of the zoo and of functions, at all sizes that `check` tries; else those of examples.
# ALONE: the cross build makes the generators, of one example, by itself.
include("${CMAKE_CURRENT_LIST_DIR}/prepared.cmake")
if(NOT PREPARED)
  return()
endif()

# A library of kernels: the folder of its tool, then sizes to check, or none for those of the tool.
set(least 14)
set(libraries
    "examples/self_attention self_attention_kernels --size batch=2 seq=19 kv=37"
    "examples/luong_bahdanau luong_bahdanau_kernels --size batch=2 step=9 source=33"
    "examples/multi_head multi_head_kernels --size batch=2 seq=19"
    "examples/linear_vs_softmax linear_vs_softmax_kernels --size seq=67"
    "examples/score_functions score_functions_kernels --size seq=67")
set(only -DQKV_TESTS=OFF "-DQKV_HOST_BUILD=${HOST_BUILD}")
if(ZOO)
  set(least 29)
  set(libraries "tests/kernels test_other_zoo_kernels" "tests/kernels test_long_zoo_kernels"
      "tests/kernels test_functions" "tests/kernels test_f64_functions")
  file(WRITE "${WORK}/preset.cmake" "
set(QKV_EXAMPLES OFF CACHE BOOL \"\")
set(QKV_TEST_WITHOUT cuda codegen cross fuzz device examples conformance golden structure package static errors pages
    ops zoo program runtime gradient ring CACHE STRING \"\")
set(Catch2_DIR [[${CATCH2}]] CACHE PATH \"\")
")
  set(only -C "${WORK}/preset.cmake" "-DQKV_HOST_BUILD=${HOST_BUILD}")
elseif(ALONE)
  set(least 2)
  list(FILTER libraries INCLUDE REGEX self_attention)
  file(WRITE "${WORK}/preset.cmake" "set(QKV_HOST_OPTIONS -DQKV_TESTS=OFF -DQKV_GROUP=ON CACHE STRING \"\")\n")
  set(only -DQKV_TESTS=OFF -C "${WORK}/preset.cmake")
endif()
run(${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}/build" -G Ninja --toolchain "${SOURCE}/tests/cross/aarch64.cmake"
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DQKV_GROUP=ON -DQKV_TOOL_REFERENCE=OFF ${only}
    "-DHalide_DIR=${HALIDE}" "-Dfmt_DIR=${WORK}/fmt" "-DQKV_HANA_INCLUDE=${WORK}/include")

set(tools)
foreach(line IN LISTS libraries)
  string(REGEX REPLACE "^[^ ]+ ([^ ]+).*$" "\\1_tool" tool "${line}")
  list(APPEND tools ${tool})
endforeach()
run(${CMAKE_COMMAND} --build "${WORK}/build" --target ${tools})

set(checked 0)
foreach(line IN LISTS libraries)
  separate_arguments(size UNIX_COMMAND "${line}")
  list(POP_FRONT size folder library)
  set(tool "${HOST_BUILD}/${folder}/${library}_tool")
  execute_process(COMMAND ${tool} list OUTPUT_VARIABLE list COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${list}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^[a-z0-9_]+" kernel "${line}")
    run(${tool} check ${kernel} ${size} --tool qemu-aarch64 "${WORK}/build/${folder}/${library}_tool")
    math(EXPR checked "${checked} + 1")
  endforeach()
endforeach()
message("${checked} kernels are right on aarch64")
if(checked LESS least)
  message(FATAL_ERROR "too few kernels")
endif()

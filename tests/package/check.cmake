# SPDX-License-Identifier: BSL-1.0
# cmake -DMODE=installed|configured|subfolder -DBUILD=<qkv's build> -DSOURCE=<qkv> -DWORK=<folder>
#       -DHALIDE=<Halide_DIR> -P check.cmake
# The consumer, its build, and the installation or a link to the sources are in a folder whose name
# has characters that CMake allows in a path but that have a meaning in shells, makefiles, patterns
# and C strings.
set(WORK "${WORK}/it's [1] {a} (b) $c & #2 50% ü 数")
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${what} failed:\n${text}")
  endif()
endfunction()

if(MODE STREQUAL installed)
  file(REMOVE_RECURSE ${WORK})
  string(REGEX REPLACE "[][]" "" prefix "${WORK}/prefix")  # find_package would take them for a pattern
  file(REMOVE_RECURSE ${prefix})
  step("the installation" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
  set(how -DCMAKE_PREFIX_PATH=${prefix})
  if(NOT EXISTS ${prefix}/share/doc/qkv/LICENSE)
    message(FATAL_ERROR "the licence is not installed")
  endif()
  # Nothing that is installed may point back here: the clone and its environment may go.
  if(NOT EXISTS ${prefix}/include/qkv/dsl.hpp)
    message(FATAL_ERROR "nothing is installed in ${prefix}")
  endif()
  cmake_path(GET HALIDE PARENT_PATH halide_root)  # of <root>/lib64/cmake/Halide
  cmake_path(GET halide_root PARENT_PATH halide_root)
  cmake_path(GET halide_root PARENT_PATH halide_root)
  foreach(place "${SOURCE}" "${BUILD}" "${halide_root}")
    execute_process(COMMAND grep -rlF "${place}" ${prefix} OUTPUT_VARIABLE files RESULT_VARIABLE code)
    if(NOT code EQUAL 1)
      message(FATAL_ERROR "these point to ${place}:\n${files}")
    endif()
  endforeach()
else()
  file(REMOVE ${WORK}/qkv)
  file(MAKE_DIRECTORY ${WORK})
  file(CREATE_LINK ${SOURCE} ${WORK}/qkv SYMBOLIC)
  set(how -DHalide_DIR=${HALIDE} -DQKV_SOURCE=${WORK}/qkv -DQKV_GROUP=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
      # As if code were not position independent by default.
      -DCMAKE_POSITION_INDEPENDENT_CODE=OFF -DCMAKE_C_FLAGS=-fno-pie -DCMAKE_CXX_FLAGS=-fno-pie -DCMAKE_EXE_LINKER_FLAGS=-no-pie)
endif()
file(REMOVE_RECURSE ${WORK}/consumer)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/consumer DESTINATION ${WORK})
step("configuring the consumer" ${CMAKE_COMMAND} -S ${WORK}/consumer -B ${WORK}/build -G Ninja ${how})
if(MODE STREQUAL configured)
  step("compiling the spec" ${CMAKE_COMMAND} --build ${WORK}/build --target CMakeFiles/mine_specs.dir/mine_qkv/mine_specs.cpp.o)
  return()
endif()
step("building the consumer" ${CMAKE_COMMAND} --build ${WORK}/build --target app mine_tool plugin loader)
step("the consumer's program" ${WORK}/build/app)
step("kernels in a shared library" ${WORK}/build/loader ${WORK}/build/libplugin.so)
if(NOT MODE STREQUAL installed)
  return()
endif()

# Without Halide, one line says what is missing.
file(RENAME ${prefix}/lib/qkv ${prefix}/lib/elsewhere)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/consumer -B ${WORK}/without -G Ninja ${how} -DCMAKE_DISABLE_FIND_PACKAGE_Halide=ON
                RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(code EQUAL 0 OR NOT text MATCHES "it needs Halide 21, which was not found")
  message(FATAL_ERROR "a package without Halide should say so:\n${text}")
endif()
file(RENAME ${prefix}/lib/elsewhere ${prefix}/lib/qkv)

# Another formula in one kernel makes only that one anew.
function(change from to)
  file(READ ${WORK}/consumer/mine.hpp spec)
  string(REPLACE "${from}" "${to}" changed "${spec}")
  if(changed STREQUAL spec)
    message(FATAL_ERROR "the spec has no ${from}")
  endif()
  file(WRITE ${WORK}/consumer/mine.hpp "${changed}")
endfunction()
foreach(kernel pooled doubled)
  file(TIMESTAMP ${WORK}/build/mine_qkv/${kernel}.a ${kernel}_before "%s")
endforeach()
execute_process(COMMAND ${CMAKE_COMMAND} -E sleep 1.1)
change("V * 2.f" "V * 3.f")
step("building the changed spec" ${CMAKE_COMMAND} --build ${WORK}/build --target app)
foreach(kernel pooled doubled)
  file(TIMESTAMP ${WORK}/build/mine_qkv/${kernel}.a ${kernel}_after "%s")
endforeach()
if(NOT pooled_after EQUAL pooled_before)
  message(FATAL_ERROR "pooled was made anew, though only doubled has changed")
elseif(doubled_after EQUAL doubled_before)
  message(FATAL_ERROR "doubled was not made anew")
endif()

# A name that is not a kernel's is one error.
execute_process(COMMAND ${CMAKE_COMMAND} -DMINE_KERNELS=mine::d ${WORK}/build OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target mine_specs RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(code EQUAL 0 OR NOT text MATCHES "KERNELS names mine::d, which is not a kernel")
  message(FATAL_ERROR "KERNELS of an axis should be refused:\n${text}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -DMINE_KERNELS= ${WORK}/build OUTPUT_QUIET)

# A wrong spec is one error, however many files include it.
change("softmax<items>(S)" "softmax<d>(S)")
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
string(REGEX MATCHALL " error: " errors "${text}")
list(LENGTH errors count)
if(code EQUAL 0 OR NOT count EQUAL 1 OR NOT text MATCHES "mine.hpp:[0-9]+:[0-9]+: error: [^\n]*softmax<d>")
  message(FATAL_ERROR "a wrong spec should give one error, not ${count}:\n${text}")
endif()

# An unknown target is refused when the project is configured.
execute_process(COMMAND ${CMAKE_COMMAND} -DMINE_TARGETS=z80 ${WORK}/build RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
string(REGEX REPLACE "[ \n]+" " " text "${text}")
if(code EQUAL 0 OR NOT text MATCHES "mine: target z80 is not known; known: host .*x86-64-v3")
  message(FATAL_ERROR "an unknown target should be refused:\n${text}")
endif()

# One of another processor is a warning there.
if(CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  execute_process(COMMAND ${CMAKE_COMMAND} -DMINE_TARGETS=aarch64 ${WORK}/build RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(NOT code EQUAL 0 OR NOT text MATCHES "mine: target aarch64 is for ARM, but this build is for x86_64")
    message(FATAL_ERROR "a target of another processor should be a warning:\n${text}")
  endif()
endif()

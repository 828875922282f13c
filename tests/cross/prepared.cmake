# SPDX-License-Identifier: BSL-1.0
# For scripts that build for 64-bit ARM in the folder WORK: run(<command>..), which must succeed, and headers of Hana
# and fmt alone, since those of this machine's libraries lie among its system headers. PREPARED is OFF, and a line
# says why, where a program is missing.
set(PREPARED ON)
foreach(program aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64)
  find_program(found_${program} ${program})
  if(NOT found_${program})
    message("[SKIP] ${program} is missing (Debian: g++-aarch64-linux-gnu, qemu-user)")
    set(PREPARED OFF)
    return()
  endif()
endforeach()

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

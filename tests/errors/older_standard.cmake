# SPDX-License-Identifier: BSL-1.0
# The language under an older standard is one error that says so.
#   cmake -D compiler=g++ -D dsl=FOLDER -D into=FOLDER -P older_standard.cmake
file(WRITE ${into}/older_standard.cpp "#include <qkv/dsl.hpp>\n")
execute_process(
  COMMAND ${compiler} -std=c++17 -fsyntax-only -Wfatal-errors -I${dsl} ${into}/older_standard.cpp
  RESULT_VARIABLE failed ERROR_VARIABLE text)
string(REGEX MATCHALL "error:" errors "${text}")
list(LENGTH errors n)
if(NOT failed OR NOT n EQUAL 1 OR NOT text MATCHES "qkv needs C\\+\\+20: compile with -std=c\\+\\+20")
  message(FATAL_ERROR "${compiler} -std=c++17 says:\n${text}")
endif()

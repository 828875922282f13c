# cmake -DCOMPILER=.. -DFLAGS=.. -DSOURCE=.. -P check.cmake
# The file must compile as it stands. With -DWRONG it must give exactly one error, on the line after "// next line: text",
# say the text, and print no more lines than a reader takes in; a file says so where a step inside of another call needs more
# of them: "// at most 20 lines".
separate_arguments(FLAGS)
set(most_lines_gcc 16)   # some of them say through which headers shape_error.hpp came
set(most_lines_clang 12)

function(compile result output)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${COMPILER} ${FLAGS} ${ARGN} -fsyntax-only ${SOURCE}
                  RESULT_VARIABLE code ERROR_VARIABLE text)
  set(${result} ${code} PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

compile(code text)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "the right twin does not compile:\n${text}")
endif()
compile(code text -DWRONG)
if(code EQUAL 0)
  message(FATAL_ERROR "compiles, but must not")
endif()

file(READ ${SOURCE} source)
string(REGEX REPLACE "[];[]" "." source "${source}")
string(REPLACE "\n" ";" source "${source}")
set(number 0)
foreach(line IN LISTS source)
  if(line MATCHES "// at most ([0-9]+) lines")
    set(most_lines_gcc ${CMAKE_MATCH_1})
    set(most_lines_clang ${CMAKE_MATCH_1})
  endif()
  math(EXPR number "${number} + 1")
  if(line MATCHES "// next line: (.*)$")
    set(wanted "${CMAKE_MATCH_1}")
    math(EXPR wanted_line "${number} + 1")
  endif()
endforeach()

string(REGEX REPLACE "[];[]" "." text "${text}")
string(REGEX MATCHALL "[^\n]*error: [^\n]*" errors "${text}")
list(LENGTH errors count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${count} errors, one expected:\n${text}")
endif()
if(NOT errors MATCHES "^[^:]*:${wanted_line}:")
  message(FATAL_ERROR "the error is not on line ${wanted_line}:\n${errors}")
endif()

# g++ says it in the error itself; so does clang, except where a result is declared otherwise (its note then).
string(FIND "${COMPILER}" "clang" at)
if(at EQUAL -1)
  set(said "${errors}")
  set(most_lines ${most_lines_gcc})
else()
  set(said "${text}")
  set(most_lines ${most_lines_clang})
endif()
string(REGEX REPLACE "~\"}, (qkv::)?str<[0-9]+>{\"" "" said "${said}")  # joins the pieces
string(REGEX REPLACE "\"}, (qkv::)?str<[0-9]+>{\"" " " said "${said}")
string(FIND "${said}" "{\"${wanted}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "the error does not say\n  ${wanted}\n${said}")
endif()

string(REGEX MATCHALL "\n" lines "${text}")
list(LENGTH lines lines)
if(lines GREATER most_lines)
  message(FATAL_ERROR "${lines} lines printed, at most ${most_lines}:\n${text}")
endif()
message(STATUS "one error on line ${wanted_line}, ${lines} lines")

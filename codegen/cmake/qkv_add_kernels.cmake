# SPDX-License-Identifier: BSL-1.0
# qkv_add_kernels(<name> SPEC <header> KERNELS <kernel>... [TARGETS <target>...]
#                 [DISTRIBUTED <kernel>:<query axis>,<key axis>[:<rounds>]...]
#                 [SAVED <gradient>...] [WRITER plain[:<stage>,...]])
#
# Makes the kernels of a spec header into the static library <name>, with the generated C header
# <name>.kernels.h and the tool <name>_tool. A kernel is named by its C++ identifier (my::mha), whose
# last part must be the kernel's own name, unless it is derived: gradient<my::mha> is called
# mha_gradient. TARGETS: host (the default) or names of files of codegen/machines, such as x86-64-v3,
# aarch64, cuda or opencl. When cross-compiling, host is CMAKE_SYSTEM_PROCESSOR, and generators
# come from qkv_host_program.cmake. Kernels of one name cannot meet in one program: the name is that of
# the C function too (qkv_mha). DISTRIBUTED kernels, which KERNELS has, too, can also be called by
# several machines that share their tokens (qkv/ring.hpp, which qkv::ring has):
# my::attention:seq,kv. A kernel whose keys go round more than once says how often. SAVED gradients,
# which KERNELS has with their kernels, can read steps that the kernel saved for them (qkv/saved.hpp):
# two more kernels each. WRITER plain has loops of C++ compute what they can, in place of Halide;
# plain:2,3 these stages of every kernel (codegen/plain).
#
#   <name>_specs       the spec, compiled once, for the generator and the tool
#   <name>_generator   the spec together with the code generator; writes what follows
#   <identifier>.a     the compiled code of one kernel: one command each, skipped by the generator itself when
#                      neither the spec of that kernel, nor the targets, nor the code generator have changed
#   <name>_kernels.c   tables of all kernels, one plain function per kernel, registration at load
#
# With QKV_TOOL_REFERENCE=OFF, tools have no reference: they run and time kernels, which builds sooner.
include("${CMAKE_CURRENT_LIST_DIR}/qkv_host_program.cmake")
option(QKV_TOOL_REFERENCE "Tools know the specs of their kernels: check, trace, describe" ON)

function(qkv_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SPEC;WRITER" "KERNELS;TARGETS;DISTRIBUTED;SAVED")
  if(NOT arg_SPEC OR NOT arg_KERNELS OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "qkv_add_kernels(<name> SPEC <header> KERNELS <kernel>... [TARGETS <target>...] "
                        "[DISTRIBUTED <kernel>:<query axis>,<key axis>...] [SAVED <gradient>...] [WRITER plain[:<stage>,...]])")
  endif()
  get_filename_component(_spec "${arg_SPEC}" ABSOLUTE)
  if(NOT EXISTS "${_spec}" OR IS_DIRECTORY "${_spec}")
    message(FATAL_ERROR "qkv_add_kernels: ${name}: there is no spec ${arg_SPEC}")
  endif()
  if(NOT name MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    message(FATAL_ERROR "qkv_add_kernels: ${name}: the library's name is part of names in C: letters, digits and _")
  endif()
  set(_seen)
  foreach(kernel IN LISTS arg_KERNELS)
    string(REGEX REPLACE "^.*::" "" short "${kernel}")
    if(NOT kernel MATCHES "^([A-Za-z_][A-Za-z0-9_]*::)*[A-Za-z_][A-Za-z0-9_]*$")
      message(FATAL_ERROR "qkv_add_kernels: ${name}: KERNELS names C++ identifiers, not ${kernel}")
    endif()
    if(short IN_LIST _seen)
      message(FATAL_ERROR "qkv_add_kernels: ${name}: KERNELS names two kernels ${short}: their files would have the same name")
    endif()
    list(APPEND _seen ${short})
  endforeach()
  if(NOT arg_TARGETS)
    set(arg_TARGETS host)
  endif()
  if(CMAKE_CROSSCOMPILING)
    list(TRANSFORM arg_TARGETS REPLACE "^host$" "${CMAKE_SYSTEM_PROCESSOR}")
  endif()
  _qkv_require_known_targets("${name}" "${arg_TARGETS}")
  get_filename_component(spec_name "${_spec}" NAME)
  get_filename_component(spec_folder "${_spec}" DIRECTORY)
  if(spec_name MATCHES "[\"\\\\]")
    message(FATAL_ERROR "qkv_add_kernels: ${name}: the name of a spec that is included has neither quotes nor backslashes")
  endif()
  list(JOIN arg_TARGETS "," targets)
  set(printing)
  if("cuda" IN_LIST arg_TARGETS)
    _qkv_find_cuda_compiler()
    if(QKV_CUDA_COMPILER)
      set(printing --cuda-compiler "${QKV_CUDA_COMPILER}")
    endif()
  endif()
  if(arg_WRITER)
    list(APPEND printing --writer "${arg_WRITER}" --compiler "${CMAKE_CXX_COMPILER}")
  endif()
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${name}_qkv")
  file(MAKE_DIRECTORY "${out}")

  _qkv_parts_of_distributed("${name}" "${arg_KERNELS}" "${arg_TARGETS}" "${arg_DISTRIBUTED}" parts identifiers)
  _qkv_parts_of_saved("${name}" "${arg_KERNELS}" "${arg_SAVED}" saving saving_identifiers)
  list(APPEND parts ${saving})
  list(APPEND identifiers ${saving_identifiers})
  _qkv_write_sources("${name}" "${spec_name}" "${out}" "${arg_KERNELS}" "${arg_SAVED}" "${parts}")
  _qkv_add_specs("${name}" "${out}" "${spec_folder}")
  _qkv_add_generator("${name}" "${out}")
  get_target_property(generator ${name}_generator IMPORTED_LOCATION)  # not found: it is built here
  if(NOT generator OR (QKV_HOST_BUILD AND NOT EXISTS "${generator}"))
    set(generator)
  endif()

  # The output of a command is a stamp, and its archive is a by-product: one that the generator left
  # alone makes nobody link again.
  set(archives)
  set(stamps)
  set(names)
  list(TRANSFORM arg_KERNELS REPLACE "^.*::" "" OUTPUT_VARIABLE shorts)
  foreach(short IN LISTS shorts identifiers)
    add_custom_command(
      OUTPUT "${out}/${short}.done"
      BYPRODUCTS "${out}/${short}.a" "${out}/${short}.sheet.txt"
      COMMAND ${name}_generator kernel ${short} --out "${out}" --targets ${targets} --spec "${_spec}" ${printing}
      COMMAND ${CMAKE_COMMAND} -E touch "${out}/${short}.done"
      DEPENDS ${name}_generator ${generator}
      COMMENT "qkv: ${name}: ${short}"
      VERBATIM)
    list(APPEND archives "${out}/${short}.a")
    list(APPEND stamps "${out}/${short}.done")
    list(APPEND names ${short})
  endforeach()
  add_custom_command(
    OUTPUT "${out}/${name}.tables.done"
    BYPRODUCTS "${out}/${name}_kernels.c" "${out}/${name}.kernels.h" "${out}/${name}_machines.cpp"
    COMMAND ${name}_generator library --name ${name} --out "${out}" --targets ${targets} ${printing}
    COMMAND ${CMAKE_COMMAND} -E touch "${out}/${name}.tables.done"
    DEPENDS ${name}_generator ${generator}
    COMMENT "qkv: ${name}: tables"
    VERBATIM)
  add_custom_target(${name}_kernels DEPENDS "${out}/${name}.tables.done" ${stamps})

  add_library(${name} STATIC "${out}/${name}_kernels.c")
  if(NOT CMAKE_C_COMPILER_LOADED)  # project(.. LANGUAGES CXX): the tables are C++ as well
    set_source_files_properties("${out}/${name}_kernels.c" PROPERTIES LANGUAGE CXX)
  endif()
  add_dependencies(${name} ${name}_kernels)
  # Position independent whatever the project's default is: the tables may end up in a shared
  # library.
  set_target_properties(${name} PROPERTIES QKV_KERNELS "${shorts}" POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PUBLIC "${out}" "${spec_folder}")
  target_link_libraries(${name} PUBLIC ${archives} qkv::halide_runtime qkv::runtime)
  # Nothing refers to the tables by name: without this the linker would leave them out.
  target_link_options(${name} INTERFACE "LINKER:--undefined=qkv_library_${name}")
  # Keeps compiled code private to the shared library or program that it is linked into. Otherwise
  # its tables could bind to the code of another one's kernel of the same name.
  list(TRANSFORM names APPEND ".a" OUTPUT_VARIABLE hidden)
  list(JOIN hidden ":" hidden)
  target_link_options(${name} INTERFACE "LINKER:--exclude-libs=${hidden}")

  add_executable(${name}_tool "${out}/${name}_tool.cpp" "${out}/${name}_machines.cpp")
  add_dependencies(${name}_tool ${name}_kernels)
  target_link_libraries(${name}_tool PRIVATE ${name} qkv::tool)
  if(QKV_TOOL_REFERENCE)
    target_link_libraries(${name}_tool PRIVATE ${name}_specs qkv::reference)
  endif()
endfunction()

# A target that is not known is an error. One of another processor is a warning: a build for cross-compiling takes its
# generators from such a build. Without qkv::codegen, the generator reports an unknown target during the build.
function(_qkv_require_known_targets name targets)
  if(NOT TARGET qkv::codegen)
    return()
  endif()
  get_target_property(known qkv::codegen QKV_MACHINES)
  get_target_property(of_arm qkv::codegen QKV_MACHINES_OF_ARM)
  foreach(target IN LISTS targets)
    if(NOT target IN_LIST known)
      list(JOIN known " " known)
      message(FATAL_ERROR "qkv_add_kernels: ${name}: target ${target} is not known; known: ${known}")
    endif()
    if(target IN_LIST of_arm AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
      message(WARNING "qkv_add_kernels: ${name}: target ${target} is for ARM, but this build is for "
                      "${CMAKE_SYSTEM_PROCESSOR}: no program of it can link ${name}. Configure it with a toolchain "
                      "for ARM (cmake --toolchain)")
    endif()
  endforeach()
endfunction()

# Kernels for tensor cores are printed as CUDA, which nvcc compiles, or clang from version 18 on, without CUDA itself.
# Where there is neither, Halide writes all code. QKV_CUDA_COMPILER names the compiler; OFF: none.
function(_qkv_find_cuda_compiler)
  find_program(QKV_CUDA_COMPILER NAMES nvcc clang++-21 clang++-20 clang++-19 clang++-18 PATHS /usr/local/cuda/bin
               DOC "Compiles printed CUDA kernels: nvcc or clang++ 18 and later; OFF: Halide writes all code")
endfunction()

# The spec as an object file.
function(_qkv_add_specs name out spec_folder)
  add_library(${name}_specs OBJECT "${out}/${name}_specs.cpp")
  target_link_libraries(${name}_specs PRIVATE qkv::reference)
  target_include_directories(${name}_specs BEFORE PRIVATE "${spec_folder}")
  # A formula that returns nothing, an argument that it forgot, a step that nothing uses. The first error is the
  # only one: a wrong step often leaves others unused. It traces each kernel once: compiling it takes longer than
  # running it.
  target_compile_options(${name}_specs PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1> -Wfatal-errors -Werror=return-type
    -Werror=unused-parameter -Werror=unused-variable -Werror=unused-but-set-variable -Werror=unused-result
    -Werror=unused-value)
endfunction()

# The generator runs on the machine that builds.
function(_qkv_add_generator name out)
  if(CMAKE_CROSSCOMPILING)
    qkv_host_program(${name}_generator)
    return()
  endif()
  add_executable(${name}_generator "${out}/${name}_generator.cpp")
  target_link_libraries(${name}_generator PRIVATE ${name}_specs qkv::codegen)
endfunction()

# The kernels that DISTRIBUTED ones are divided into, as C++ and as identifiers: own0, hop0, merge0, seen0,
# own1 of each.
function(_qkv_parts_of_distributed name kernels targets distributed parts identifiers)
  set(all)
  set(names)
  foreach(entry IN LISTS distributed)
    if(NOT entry MATCHES "^(.*[A-Za-z0-9_]):([A-Za-z0-9_]+),([A-Za-z0-9_]+)(:([1-9]))?$" OR NOT CMAKE_MATCH_1 IN_LIST kernels)
      message(FATAL_ERROR "qkv_add_kernels: ${name}: DISTRIBUTED names kernels of KERNELS with their axes, as in "
                          "my::attention:seq,kv, not ${entry}")
    endif()
    if("cuda" IN_LIST targets OR "opencl" IN_LIST targets)
      message(FATAL_ERROR "qkv_add_kernels: ${name}: DISTRIBUTED kernels run on processors: TARGETS has a GPU")
    endif()
    set(kernel ${CMAKE_MATCH_1})
    set(axes "\"${CMAKE_MATCH_2}\", \"${CMAKE_MATCH_3}\"")
    set(rounds 1)
    if(CMAKE_MATCH_5)
      set(rounds ${CMAKE_MATCH_5})
    endif()
    string(REGEX REPLACE "^.*::" "" short "${kernel}")
    math(EXPR last "4 * ${rounds}")
    set(kinds own hop merge seen)
    foreach(n RANGE ${last})
      math(EXPR round "${n} / 4")
      math(EXPR which "${n} % 4")
      list(GET kinds ${which} kind)
      set(identifier ${short}_${kind}${round})
      list(APPEND names ${identifier})
      list(APPEND all "qkv::codegen::part_of<${kernel}>(\"${identifier}\", ${axes}, ${rounds}, ${n})")
    endforeach()
  endforeach()
  set(${parts} "${all}" PARENT_SCOPE)
  set(${identifiers} "${names}" PARENT_SCOPE)
endfunction()

# For each gradient that reads saved steps: the kernel that saves them, and itself with them.
function(_qkv_parts_of_saved name kernels saved parts identifiers)
  set(all)
  set(names)
  foreach(gradient IN LISTS saved)
    if(NOT gradient IN_LIST kernels)
      message(FATAL_ERROR "qkv_add_kernels: ${name}: SAVED names gradients of KERNELS, not ${gradient}")
    endif()
    string(REGEX REPLACE "^.*::" "" short "${gradient}")
    list(APPEND names ${short}_saving ${short}_saved)
    list(APPEND all "qkv::codegen::saving_of<${gradient}>(\"${short}_saving\")" "qkv::codegen::saved_of<${gradient}>(\"${short}_saved\")")
  endforeach()
  set(${parts} "${all}" PARENT_SCOPE)
  set(${identifiers} "${names}" PARENT_SCOPE)
endfunction()

# The list of kernels, and the mains of the generator and of the tool. The list includes the spec by its
# file name, so that no path appears in text that a compiler reads.
function(_qkv_write_sources name spec out kernels saved parts)
  set(checks)
  set(traceables)
  foreach(kernel IN LISTS kernels)
    string(REGEX REPLACE "^.*::" "" short "${kernel}")
    string(APPEND checks "static_assert(qkv::codegen::is_kernel<${kernel}>(), \"qkv_add_kernels: KERNELS names ${kernel}, which is not a kernel\");\n")
    string(APPEND checks "static_assert(qkv::codegen::is_named<${kernel}>(\"${short}\"), \"the kernel ${kernel} has another name\");\n")
    list(APPEND traceables "qkv::codegen::traceable_of<${kernel}>(\"${short}\")")
  endforeach()
  foreach(gradient IN LISTS saved)
    string(APPEND checks "static_assert(qkv::codegen::saves_steps<${gradient}>(), \"qkv_add_kernels: SAVED names ${gradient}, which is not qkv::gradient<..> of a kernel\");\n")
  endforeach()
  list(APPEND traceables ${parts})
  list(JOIN traceables ", " traceables)
  file(CONFIGURE OUTPUT "${out}/${name}_specs.cpp" @ONLY CONTENT [[
// Written by qkv_add_kernels.
#include "@spec@"
#include <qkv/specs.hpp>
@checks@
std::vector<qkv::codegen::traceable> qkv_specs_@name@() { return {@traceables@}; }
]])
  file(CONFIGURE OUTPUT "${out}/${name}_generator.cpp" @ONLY CONTENT [[
// Written by qkv_add_kernels.
#include <qkv/generate.hpp>

std::vector<qkv::codegen::traceable> qkv_specs_@name@();

int main(int argc, char **argv) { return qkv::codegen::generate(argc, argv, qkv_specs_@name@()); }
]])
  set(oracles "{}")
  set(includes "#include <qkv/tool.hpp>\n")
  if(QKV_TOOL_REFERENCE)
    set(oracles "qkv::oracles_of(qkv_specs_${name}())")
    set(includes "#include <qkv/reference.hpp>\n\nstd::vector<qkv::codegen::traceable> qkv_specs_${name}();")
  endif()
  file(CONFIGURE OUTPUT "${out}/${name}_tool.cpp" @ONLY CONTENT [[
// Written by qkv_add_kernels.
@includes@
std::vector<qkv::tool::machine_sheet> qkv_machines_@name@();

int main(int argc, char **argv) { return qkv::tool::main(argc, argv, @oracles@, qkv_machines_@name@()); }
]])
endfunction()

# SPDX-License-Identifier: BSL-1.0
# qkv_host_program(<name>): the executable <name> of this folder, which runs while another machine's programs are built.
#
# It comes from a build of this same project for the machine that builds: QKV_HOST_BUILD, or else one in
# <build>/qkv_host, which is configured with this machine's own compiler and builds such programs alone. A project that
# finds an installed qkv finds another one there, whose code generator runs on this machine: QKV_HOST_PACKAGE.
set(QKV_HOST_BUILD "" CACHE PATH "When cross-compiling: a build of this project for the machine that builds")
set(QKV_HOST_PACKAGE "" CACHE PATH
    "When cross-compiling with an installed qkv: the folder of qkv-config.cmake of one for the machine that builds")
set(QKV_HOST_OPTIONS "" CACHE STRING "When cross-compiling: further options for the build in qkv_host")

function(qkv_host_program name)
  set(host "${CMAKE_BINARY_DIR}/qkv_host")
  if(QKV_HOST_BUILD)
    set(host "${QKV_HOST_BUILD}")
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" OUTPUT_VARIABLE folder)
  set(program "${host}/${folder}/${name}")
  if(QKV_HOST_BUILD)
    # Only programs that this build runs must be there.
    add_custom_target(${name}_of_host
      COMMAND sh -c "test -x \"$1\" || { echo \"QKV_HOST_BUILD: there is no $1: build $2 there first\"; exit 1; }" sh "${program}" ${name}
      VERBATIM)
  else()
    if(NOT TARGET qkv_host_configured)
      set(package)
      if(QKV_HOST_PACKAGE)
        set(package "-Dqkv_DIR=${QKV_HOST_PACKAGE}")
      endif()
      add_custom_command(
        OUTPUT "${host}/CMakeCache.txt"
        COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS --unset=LDFLAGS
                ${CMAKE_COMMAND} -S "${CMAKE_SOURCE_DIR}" -B "${host}" -G "${CMAKE_GENERATOR}"
                -DCMAKE_BUILD_TYPE=Release "-DHalide_DIR=${Halide_DIR}" ${package} ${QKV_HOST_OPTIONS}
        COMMENT "qkv: a build for this machine, of the generators"
        VERBATIM)
      add_custom_target(qkv_host_configured DEPENDS "${host}/CMakeCache.txt")
    endif()
    # In the terminal's pool, since two builds in one folder would meet.
    add_custom_target(${name}_of_host COMMAND ${CMAKE_COMMAND} --build "${host}" --target ${name}
                      BYPRODUCTS "${program}" USES_TERMINAL VERBATIM)
    add_dependencies(${name}_of_host qkv_host_configured)
  endif()
  add_executable(${name} IMPORTED GLOBAL)
  set_target_properties(${name} PROPERTIES IMPORTED_LOCATION "${program}")
  add_dependencies(${name} ${name}_of_host)
endfunction()

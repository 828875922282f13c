# SPDX-License-Identifier: BSL-1.0
# qkv::halide_runtime: Halide's own runtime, one for all kernels of a program, with every back end that any
# library may ask for (drivers are looked up when a kernel first needs them).
set(_out "${CMAKE_CURRENT_BINARY_DIR}/halide_runtime")
file(MAKE_DIRECTORY "${_out}")
set(_processor host)
if(CMAKE_CROSSCOMPILING)
  set(_processor ${CMAKE_SYSTEM_PROCESSOR})
endif()
add_custom_command(
  OUTPUT "${_out}/halide_runtime.a"
  COMMAND qkv_halide_runtime_generator "${_out}" ${_processor}
  DEPENDS qkv_halide_runtime_generator
  COMMENT "qkv: Halide runtime"
  VERBATIM)
add_custom_target(qkv_halide_runtime_built ALL DEPENDS "${_out}/halide_runtime.a")

add_library(qkv_halide_runtime INTERFACE)
add_library(qkv::halide_runtime ALIAS qkv_halide_runtime)
set_target_properties(qkv_halide_runtime PROPERTIES EXPORT_NAME halide_runtime)
add_dependencies(qkv_halide_runtime qkv_halide_runtime_built)
target_link_libraries(
  qkv_halide_runtime
  INTERFACE $<BUILD_INTERFACE:${_out}/halide_runtime.a>
            $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/libqkv_halide_runtime.a>
            Threads::Threads ${CMAKE_DL_LIBS})

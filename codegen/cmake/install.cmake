# SPDX-License-Identifier: BSL-1.0
# Rules for `cmake --install`: afterwards find_package(qkv) provides qkv::dsl, qkv::runtime and
# qkv_add_kernels.
include(CMakePackageConfigHelpers)
set(_config ${CMAKE_INSTALL_LIBDIR}/cmake/qkv)
set(_headers FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")

install(DIRECTORY dsl/qkv runtime/qkv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${_headers})
set(_targets qkv_dsl qkv_runtime qkv_ring qkv_serve qkv_tool qkv_program qkv_process qkv_plan qkv_reference qkv_sheets)
if(QKV_CODEGEN)
  install(DIRECTORY codegen/include/qkv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${_headers})
  list(APPEND _targets qkv_halide_runtime)
  if(TARGET qkv_codegen)  # not of another machine
    list(APPEND _targets qkv_codegen)
  endif()
  install(FILES "${PROJECT_BINARY_DIR}/halide_runtime/halide_runtime.a" DESTINATION ${CMAKE_INSTALL_LIBDIR}
          RENAME libqkv_halide_runtime.a)
  install(FILES codegen/cmake/qkv_add_kernels.cmake codegen/cmake/qkv_host_program.cmake DESTINATION ${_config})
endif()
# Halide's compiler, which generators link: with it, the package needs nothing of this machine.
set(QKV_HALIDE "${CMAKE_INSTALL_LIBDIR}/qkv")
if(TARGET qkv_codegen AND QKV_INSTALL_HALIDE)
  get_target_property(_kind Halide::Halide TYPE)
  if(NOT _kind STREQUAL SHARED_LIBRARY)
    message(FATAL_ERROR "qkv: QKV_INSTALL_HALIDE installs Halide as a shared library, and this one is a ${_kind}")
  endif()
  install(FILES $<TARGET_FILE:Halide::Halide> DESTINATION ${QKV_HALIDE} RENAME $<TARGET_SONAME_FILE_NAME:Halide::Halide>)
  file(GLOB _licence "${Halide_DIR}/../../../share/doc/Halide/LICENSE.txt")
  install(FILES ${_licence} DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME Halide-LICENSE.txt OPTIONAL)
endif()
install(FILES LICENSE THIRD_PARTY.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Headers of the code generator that the two above include as "codegen/program/program.hpp" and the like.
install(DIRECTORY codegen/program codegen/gradient codegen/ring codegen/plan codegen/reference codegen/sheets DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/codegen ${_headers})

install(TARGETS ${_targets} EXPORT qkv_targets)
install(EXPORT qkv_targets NAMESPACE qkv:: FILE qkv-targets.cmake DESTINATION ${_config})
configure_package_config_file(codegen/cmake/qkv-config.cmake.in "${PROJECT_BINARY_DIR}/qkv-config.cmake"
                              INSTALL_DESTINATION ${_config} PATH_VARS QKV_HALIDE)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/qkv-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/qkv-config.cmake" "${PROJECT_BINARY_DIR}/qkv-config-version.cmake"
        DESTINATION ${_config})

# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts down: headers, both libraries, the program, its man page and completion, and what pkg-config
# and find_package(lamina) read.
include(CMakePackageConfigHelpers)

get_property(LAMINA_DEPENDENCIES GLOBAL PROPERTY LAMINA_PKG_CONFIG_MODULES)

# Libs.private and not Requires.private: liblamina.a is linked with the shared libraries of the system, not with all that those
# were made of.
get_property(LAMINA_PRIVATE_LIBRARIES GLOBAL PROPERTY LAMINA_LINK_FLAGS)
list(APPEND LAMINA_PRIVATE_LIBRARIES -lm -ldl -pthread ${OpenMP_C_FLAGS})
if(LAMINA_HAVE_PFM4)
  list(APPEND LAMINA_PRIVATE_LIBRARIES -lpfm)
endif()
list(REMOVE_DUPLICATES LAMINA_PRIVATE_LIBRARIES)
list(JOIN LAMINA_PRIVATE_LIBRARIES " " LAMINA_PRIVATE_LIBRARIES)

# lamina.pc finds its prefix from where it lies: an installed tree may be moved.
file(RELATIVE_PATH LAMINA_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/lamina.pc.in ${PROJECT_BINARY_DIR}/lamina.pc @ONLY)
configure_package_config_file(cmake/lamina-config.cmake.in ${PROJECT_BINARY_DIR}/lamina-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lamina)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lamina-config-version.cmake COMPATIBILITY SameMinorVersion)

foreach(page man completion)
  set(arguments_man --man)
  set(arguments_completion --completion bash)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/lamina.${page}
    COMMAND lamina_program help ${arguments_${page}} > lamina.${page}
    DEPENDS lamina_program WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM)
endforeach()
add_custom_target(lamina_pages ALL DEPENDS ${PROJECT_BINARY_DIR}/lamina.man ${PROJECT_BINARY_DIR}/lamina.completion)

install(DIRECTORY include/lamina TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(TARGETS lamina_shared_library lamina_static_library EXPORT lamina)
install(TARGETS lamina_program)
install(EXPORT lamina NAMESPACE lamina:: FILE lamina-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lamina)
install(FILES ${PROJECT_BINARY_DIR}/lamina-config.cmake ${PROJECT_BINARY_DIR}/lamina-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lamina)
install(FILES ${PROJECT_BINARY_DIR}/lamina.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/lamina.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME lamina.1)
install(FILES ${PROJECT_BINARY_DIR}/lamina.completion DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME lamina)
install(FILES LICENSE TYPE DOC)

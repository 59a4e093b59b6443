# What `cmake --install` puts where: both libraries, headers, the command and its page, pkg-config, CMake package.
include(CMakePackageConfigHelpers)
set_target_properties(wte PROPERTIES EXPORT_NAME wte)
set_target_properties(wte_static PROPERTIES EXPORT_NAME wte_static)
install(TARGETS wte wte_static EXPORT wteTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${WTE_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wte)
if(TARGET wte_cli)
  install(TARGETS wte_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  include(cmake/man.cmake OPTIONAL)
endif()

# The prefix in wte.pc is found from where wte.pc lies, so that an installed tree may be moved.
file(RELATIVE_PATH WTE_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/wte.pc.in wte.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/wte.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(WTE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/wte)
install(EXPORT wteTargets NAMESPACE wte:: DESTINATION ${WTE_PACKAGE_DIR})
configure_package_config_file(cmake/wteConfig.cmake.in wteConfig.cmake INSTALL_DESTINATION ${WTE_PACKAGE_DIR})
write_basic_package_version_file(wteConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wteConfig.cmake ${PROJECT_BINARY_DIR}/wteConfigVersion.cmake
  DESTINATION ${WTE_PACKAGE_DIR})
install(FILES LICENSE NOTICE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

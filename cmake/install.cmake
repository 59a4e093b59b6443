# What `cmake --install` puts where.
install(TARGETS wte wte_static EXPORT wteTargets)
install(FILES ${WTE_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wte)
if(TARGET wte_cli)
  install(TARGETS wte_cli)
endif()

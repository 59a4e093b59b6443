# wte.1, printed by the command itself from the tables that parse its options.
if(TARGET wte_cli AND NOT CMAKE_CROSSCOMPILING)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/wte.1
    COMMAND wte_cli help --man > ${PROJECT_BINARY_DIR}/wte.1
    DEPENDS wte_cli VERBATIM)
  add_custom_target(wte_man ALL DEPENDS ${PROJECT_BINARY_DIR}/wte.1)
  install(FILES ${PROJECT_BINARY_DIR}/wte.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()

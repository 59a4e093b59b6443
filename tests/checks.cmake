# Checks of the project itself: what it promises about its headers, exports, documents and installation.
# A check that cannot run here exits 77 and shows as skipped.
set(tools ${PROJECT_SOURCE_DIR}/tools)
set(checks check.headers check.sizes check.readme)
add_test(NAME check.headers COMMAND ${tools}/check_headers.sh)
add_test(NAME check.sizes COMMAND python3 ${tools}/check_size.py)
add_test(NAME check.readme COMMAND python3 ${tools}/check_readme.py)
if(TARGET wte_cli)
  list(APPEND checks check.sessions check.sessions_models)
  add_test(NAME check.sessions COMMAND python3 ${tools}/check_sessions.py --wte $<TARGET_FILE:wte_cli>)
  add_test(NAME check.sessions_models COMMAND python3 ${tools}/check_sessions.py --wte $<TARGET_FILE:wte_cli> --models)
endif()
# A sanitizer adds names of its own and wants its runtime in every program that links the library.
if(NOT WTE_SANITIZE)
  list(APPEND checks check.symbols check.install)
  add_test(NAME check.symbols COMMAND ${tools}/check_symbols.sh $<TARGET_FILE:wte>)
  add_test(NAME check.install COMMAND ${tools}/check_install.sh ${PROJECT_BINARY_DIR})
endif()
set_tests_properties(${checks} PROPERTIES LABELS fast TIMEOUT 120 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)

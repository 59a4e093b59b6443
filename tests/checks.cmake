# Checks of the project itself: what it promises about its headers, exports, documents and installation.
# A check that cannot run here exits 77 and shows as skipped.
add_test(NAME check.headers COMMAND ${PROJECT_SOURCE_DIR}/tools/check_headers.sh)
add_test(NAME check.sizes COMMAND python3 ${PROJECT_SOURCE_DIR}/tools/check_size.py)
set(checks check.headers check.sizes)
set_tests_properties(${checks} PROPERTIES LABELS fast TIMEOUT 120 SKIP_RETURN_CODE 77)

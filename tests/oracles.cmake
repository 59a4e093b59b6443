# Oracles: the library against other software on this machine. A test that finds none exits 77 and shows as skipped.
# WTE_ORACLE_PYTHON is the Python that has PyTorch and NumPy; the system's own is looked at first.
find_program(WTE_ORACLE_PYTHON python3 HINTS /usr/bin NO_CMAKE_ENVIRONMENT_PATH)
set(library $<TARGET_FILE:wte>)
set(script ${CMAKE_CURRENT_SOURCE_DIR}/oracle_torch)
set(oracles oracle.torch_lookup)
add_test(NAME oracle.torch_lookup COMMAND ${WTE_ORACLE_PYTHON} ${script}_lookup.py ${library})
# PyTorch chooses its kernels when it starts.
foreach(kernel default avx2 avx512)
  add_test(NAME oracle.torch_init.${kernel} COMMAND ${CMAKE_COMMAND} -E env ATEN_CPU_CAPABILITY=${kernel}
    ${WTE_ORACLE_PYTHON} ${script}_init.py ${library} ${kernel})
  list(APPEND oracles oracle.torch_init.${kernel})
endforeach()
# Token names: any python3 on the path that has the tokenizers package (pip install tokenizers).
find_program(WTE_TOKENIZERS_PYTHON python3)
file(GLOB tokenizer_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/vocab/*.json)
add_test(NAME oracle.tokenizer_names COMMAND ${WTE_TOKENIZERS_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_tokenizer_names.py
  ${library} ${tokenizer_files} ${CMAKE_CURRENT_SOURCE_DIR}/data/static-f32/tokenizer.json)
list(APPEND oracles oracle.tokenizer_names)
# Formats: NumPy (the system's Python), and any python3 on the path that has safetensors and NumPy.
add_test(NAME oracle.npy COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_npy.py ${library})
find_program(WTE_SAFETENSORS_PYTHON python3)
add_test(NAME oracle.safetensors COMMAND ${WTE_SAFETENSORS_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_safetensors.py ${library})
list(APPEND oracles oracle.npy oracle.safetensors)
set_tests_properties(${oracles} PROPERTIES LABELS slow TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
if(WTE_SANITIZE) # Python itself has no sanitizer in it, and cannot load one late
  set_tests_properties(${oracles} PROPERTIES DISABLED TRUE)
endif()

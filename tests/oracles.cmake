# Oracles: the library against other software on this machine. A test that finds none exits 77 and shows as skipped.
# WTE_ORACLE_PYTHON is the Python that has PyTorch and NumPy; the system's own is looked at first.
# Not in builds with sanitizers: Python itself has none in it, and cannot load one late.
if(WTE_SANITIZE)
  return()
endif()
find_program(WTE_ORACLE_PYTHON python3 HINTS /usr/bin NO_CMAKE_ENVIRONMENT_PATH)
set(library $<TARGET_FILE:wte>)
set(script ${CMAKE_CURRENT_SOURCE_DIR}/oracle_torch)
set(oracles oracle.torch_lookup)
add_test(NAME oracle.torch_lookup COMMAND ${WTE_ORACLE_PYTHON} ${script}_lookup.py ${library})
add_test(NAME oracle.torch_bag COMMAND ${WTE_ORACLE_PYTHON} ${script}_bag.py ${library})
add_test(NAME oracle.rowwise COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_rowwise.py ${library})
list(APPEND oracles oracle.torch_bag oracle.rowwise)
add_test(NAME oracle.torch_files COMMAND ${WTE_ORACLE_PYTHON} ${script}_files.py ${library})
add_test(NAME oracle.torch_parts COMMAND ${WTE_ORACLE_PYTHON} ${script}_parts.py ${library})
list(APPEND oracles oracle.torch_files oracle.torch_parts)
add_test(NAME oracle.torch_head COMMAND ${WTE_ORACLE_PYTHON} ${script}_head.py ${library})
list(APPEND oracles oracle.torch_head)
# PyTorch chooses its kernels when it starts.
foreach(kernel default avx2 avx512)
  add_test(NAME oracle.torch_init.${kernel} COMMAND ${CMAKE_COMMAND} -E env ATEN_CPU_CAPABILITY=${kernel}
    ${WTE_ORACLE_PYTHON} ${script}_init.py ${library} ${kernel})
  list(APPEND oracles oracle.torch_init.${kernel})
endforeach()
# Token names: the tokenizers package, which scripts/setup --oracles puts into .cache/oracles.
file(GLOB tokenizer_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/data/vocab/*.json)
add_test(NAME oracle.tokenizer_names COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_tokenizer_names.py
  ${library} ${tokenizer_files} ${CMAKE_CURRENT_SOURCE_DIR}/data/static-f32/tokenizer.json)
list(APPEND oracles oracle.tokenizer_names)
# Formats: NumPy and fastText, and the safetensors and gguf packages from the same place.
add_test(NAME oracle.npy COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_npy.py ${library})
add_test(NAME oracle.safetensors COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_safetensors.py ${library})
add_test(NAME oracle.gguf COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_gguf.py ${library})
add_test(NAME oracle.fasttext COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_fasttext.py ${library})
add_test(NAME oracle.quant COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_quant.py ${library})
list(APPEND oracles oracle.quant oracle.npy oracle.safetensors oracle.gguf oracle.fasttext)
# Cross-entropy and its gradients.
add_test(NAME oracle.torch_loss COMMAND ${WTE_ORACLE_PYTHON} ${script}_loss.py ${library})
list(APPEND oracles oracle.torch_loss)
# Gradients of lookups and bags.
add_test(NAME oracle.torch_grad COMMAND ${WTE_ORACLE_PYTHON} ${script}_grad.py ${library})
list(APPEND oracles oracle.torch_grad)
# Optimizers.
add_test(NAME oracle.torch_optim COMMAND ${WTE_ORACLE_PYTHON} ${script}_optim.py ${library})
list(APPEND oracles oracle.torch_optim)
# Nearest rows and differences: NumPy.
add_test(NAME oracle.near COMMAND ${WTE_ORACLE_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/oracle_near.py ${library})
list(APPEND oracles oracle.near)
# Logits and losses, through the command: NumPy, PyTorch and the fetched models.
if(TARGET wte_cli)
  set(head ${CMAKE_CURRENT_SOURCE_DIR}/oracle_head.py $<TARGET_FILE:wte_cli>)
  add_test(NAME oracle.loss COMMAND ${WTE_ORACLE_PYTHON} ${head} loss)
  add_test(NAME oracle.logits_models COMMAND ${WTE_ORACLE_PYTHON} ${head} models ${PROJECT_SOURCE_DIR}/.cache/models)
  list(APPEND oracles oracle.loss oracle.logits_models)
  # Judgements of tables: NumPy, and gensim with fetched models and word files.
  set(eval ${CMAKE_CURRENT_SOURCE_DIR}/oracle_eval.py $<TARGET_FILE:wte_cli>)
  add_test(NAME oracle.eval COMMAND ${WTE_ORACLE_PYTHON} ${eval} numpy)
  add_test(NAME oracle.eval_gensim COMMAND ${WTE_ORACLE_PYTHON} ${eval} gensim ${PROJECT_SOURCE_DIR}/.cache/models)
  list(APPEND oracles oracle.eval oracle.eval_gensim)
  # fastText models that are written here, as fastText's module, its command and gensim read them.
  foreach(reader python command gensim)
    add_test(NAME oracle.fasttext_write.${reader} COMMAND ${WTE_ORACLE_PYTHON}
      ${CMAKE_CURRENT_SOURCE_DIR}/oracle_fasttext_write.py ${reader} $<TARGET_FILE:wte_cli> ${library})
    list(APPEND oracles oracle.fasttext_write.${reader})
  endforeach()
endif()
set_tests_properties(${oracles} PROPERTIES LABELS slow TIMEOUT 300 SKIP_RETURN_CODE 77
  ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;PYTHONPATH=${PROJECT_SOURCE_DIR}/.cache/oracles")

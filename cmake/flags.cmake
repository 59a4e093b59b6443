# Warnings, sanitizers and hardening for every target.
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wvla -Wundef -Wcast-qual
  -Wwrite-strings -Wformat=2 -Wdouble-promotion)
foreach(option -Wstrict-prototypes -Wmissing-prototypes "SHELL:-include ${PROJECT_SOURCE_DIR}/src/base/banned.h")
  add_compile_options($<$<COMPILE_LANGUAGE:C>:${option}>)
endforeach()
# A product and a sum are two roundings, unless the code says fma: where the processor has fused ones, clang would
# use them by itself, and results would differ from those of other machines.
add_compile_options(-ffp-contract=off)
add_compile_definitions(_FILE_OFFSET_BITS=64)
if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "86")
  add_compile_options(-msse2 -mfpmath=sse) # the old floating-point unit computes in 80 bits: other results
endif()
if(WTE_WERROR)
  add_compile_options(-Werror)
endif()
if(WTE_LIBFUZZER)
  add_compile_options(-fsanitize=fuzzer-no-link) # coverage that guides the fuzzer
endif()
if(WTE_SANITIZE)
  add_compile_options(-fsanitize=${WTE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WTE_SANITIZE})
else()
  add_compile_options(-fstack-protector-strong $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  add_link_options(-Wl,-z,relro,-z,now)
endif()

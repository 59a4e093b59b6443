/* For units whose tests run once per instruction set: ctest sets WTE_ISA (tests/CMakeLists.txt). */
#ifndef WTE_TESTS_TEST_ISA_H
#define WTE_TESTS_TEST_ISA_H
#include "test.h"
#include <wte/dtype.h>

/* Whether the instruction set that WTE_ISA names cannot be had here; says so. */
static inline bool test_isa_missing(void)
{
    wte_error err;
    if (wte_isa_check(&err) == WTE_OK) return false;
    print_message("skipped: %s\n", err.message);
    return true;
}

/* As TEST_MAIN, but the program is skipped as a whole where that is so. */
#define TEST_MAIN_ISA(tests)                                                                       \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        if (test_isa_missing()) return TEST_SKIPPED;                                               \
        if (argc > 1) cmocka_set_test_filter(argv[1]);                                             \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }
#endif

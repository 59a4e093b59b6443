/* For units whose tests run once per instruction set: ctest sets WTE_ISA (tests/CMakeLists.txt). */
#ifndef WTE_TESTS_TEST_ISA_H
#define WTE_TESTS_TEST_ISA_H
#include "test.h"
#include <wte/dtype.h>

/* As TEST_MAIN, but the program is skipped as a whole where WTE_ISA cannot be had. */
#define TEST_MAIN_ISA(tests)                                                                       \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        wte_error err;                                                                             \
        if (wte_isa_check(&err) != WTE_OK) {                                                       \
            print_message("skipped: %s\n", err.message);                                           \
            return TEST_SKIPPED;                                                                   \
        }                                                                                          \
        if (argc > 1) cmocka_set_test_filter(argv[1]);                                             \
        return cmocka_run_group_tests(tests, NULL, NULL);                                          \
    }
#endif

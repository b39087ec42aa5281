// SPDX-License-Identifier: Apache-2.0
/*
 * run - the test runner of one folder: every `Suite *X_suite(void)` of its X_test.c files.
 */
#include <stdlib.h>

#include <check.h>

#define SUITE(name) Suite *name##_suite(void);
#include SUITES
#undef SUITE

int main(void)
{
    SRunner *runner = srunner_create(NULL);
#define SUITE(name) srunner_add_suite(runner, name##_suite());
#include SUITES
#undef SUITE
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

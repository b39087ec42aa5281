// SPDX-License-Identifier: Apache-2.0
/*
 * environment - what a test does to the environment ends with it, also where tests have no process
 * of their own (CK_FORK=no).
 *
 *     tcase_add_checked_fixture(t, environment_save, environment_restore);
 */
#ifndef TESTS_SUPPORT_ENVIRONMENT_H
#define TESTS_SUPPORT_ENVIRONMENT_H

void environment_save(void);
void environment_restore(void);

#endif

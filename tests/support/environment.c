// SPDX-License-Identifier: Apache-2.0
#include "tests/support/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

enum {
    MOST_VARIABLES = 1024
};

static char *saved[MOST_VARIABLES + 1]; /* name=value; NULL is the last */

void environment_save(void)
{
    size_t count = 0;
    for (char **variable = environ; *variable != NULL; variable++) {
        ck_assert_uint_lt(count, MOST_VARIABLES);
        saved[count] = strdup(*variable);
        ck_assert_ptr_nonnull(saved[count]);
        count++;
    }
    saved[count] = NULL;
}

void environment_restore(void)
{
    ck_assert_int_eq(clearenv(), 0);
    for (char **variable = saved; *variable != NULL; variable++) {
        char *value = strchr(*variable, '=');
        ck_assert_ptr_nonnull(value);
        *value = '\0';
        ck_assert_int_eq(setenv(*variable, value + 1, 1), 0);
        free(*variable);
    }
}

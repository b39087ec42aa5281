// SPDX-License-Identifier: Apache-2.0
#include "tests/support/exact_copy.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

char *exact_copy(const char *bytes, size_t len)
{
    char *copy = malloc(len == 0 ? 1 : len); /* malloc(0) may answer NULL */
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, len);
    return copy;
}

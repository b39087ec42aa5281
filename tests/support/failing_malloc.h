// SPDX-License-Identifier: Apache-2.0
/*
 * failing_malloc - malloc, calloc, realloc and strdup of our own code, which fail when a test says so.
 *
 * The test runners are linked with --wrap: what libpq and others allocate is not touched.
 */
#ifndef TESTS_SUPPORT_FAILING_MALLOC_H
#define TESTS_SUPPORT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* The n-th allocation from now on fails, from 1 on; and all behind it, when memory stays short. */
void failing_malloc_arm(size_t n, bool stays_short);

/* No allocation fails any more. Returns whether one has. */
bool failing_malloc_disarm(void);

#endif

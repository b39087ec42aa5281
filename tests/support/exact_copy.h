// SPDX-License-Identifier: Apache-2.0
/*
 * exact_copy - input in a block of exactly its size, so that the address sanitizer finds a byte that
 * is read behind it.
 */
#ifndef TESTS_SUPPORT_EXACT_COPY_H
#define TESTS_SUPPORT_EXACT_COPY_H

#include <stddef.h>

/* To be freed by the caller; ends the test when memory is short. */
char *exact_copy(const char *bytes, size_t len);

#endif

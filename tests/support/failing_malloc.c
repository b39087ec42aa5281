// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_malloc.h"

#include <string.h>

static size_t until_failure; /* 0: none fails */
static bool short_for_ever;
static bool has_failed;

void failing_malloc_arm(size_t n, bool stays_short)
{
    until_failure = n;
    short_for_ever = stays_short;
    has_failed = false;
}

bool failing_malloc_disarm(void)
{
    until_failure = 0;
    return has_failed;
}

static bool fails(void)
{
    if (until_failure == 0) {
        return false;
    }
    if (until_failure > 1) {
        until_failure--;
        return false;
    }
    has_failed = true;
    until_failure = short_for_ever ? 1 : 0;
    return true;
}

/* The linker's names: a call of malloc() goes to __wrap_malloc(), __real_malloc() is libc's. */
// NOLINTBEGIN(bugprone-reserved-identifier)
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}
// NOLINTEND(bugprone-reserved-identifier)

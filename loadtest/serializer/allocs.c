// SPDX-License-Identifier: Apache-2.0
#include "loadtest/serializer/allocs.h"

/* The names that the linker makes of --wrap=malloc. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *old, size_t size);

static struct allocs counted;

struct allocs allocs_so_far(void)
{
    return counted;
}

static void count(size_t size)
{
    counted.calls++;
    counted.bytes += size;
}

void *__wrap_malloc(size_t size)
{
    count(size);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t number, size_t size)
{
    count(number * size);
    return __real_calloc(number, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    count(size);
    return __real_realloc(old, size);
}

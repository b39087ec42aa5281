// SPDX-License-Identifier: Apache-2.0
/*
 * allocs - counts the calls of malloc(), calloc() and realloc(): the linker sends them here
 * (--wrap), and cJSON by its hooks.
 */
#ifndef LOADTEST_SERIALIZER_ALLOCS_H
#define LOADTEST_SERIALIZER_ALLOCS_H

#include <stddef.h>
#include <stdint.h>

struct allocs {
    uint64_t calls;
    uint64_t bytes;
};

/* Since the program began. */
struct allocs allocs_so_far(void);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "server/auth_memory.h"

#include <cjose/util.h>
#include <stdlib.h>
#include <string.h>

enum {
    RESERVE_BYTES = 256 * 1024, /* a token of 8 KiB is copied some ten times */
    ALIGNMENT = 16,
};

/* The libraries' functions have no argument for it. */
static _Thread_local struct {
    bool is_open;
    bool was_used;
    size_t used;
    _Alignas(ALIGNMENT) char bytes[RESERVE_BYTES];
} reserve;

static bool is_reserved(const void *p)
{
    return (const char *)p >= reserve.bytes && (const char *)p < reserve.bytes + RESERVE_BYTES;
}

static void *take(size_t size)
{
    void *p = malloc(size);
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (p != NULL || !reserve.is_open || rounded < size || rounded > RESERVE_BYTES - reserve.used) {
        return p;
    }
    reserve.was_used = true;
    p = reserve.bytes + reserve.used;
    reserve.used += rounded;
    return p;
}

static void give(void *p)
{
    if (!is_reserved(p)) {
        free(p);
    }
}

static void *resize(void *p, size_t size)
{
    if (p == NULL) {
        return take(size);
    }
    if (!is_reserved(p)) {
        return realloc(p, size);
    }
    /* How long it was, nobody knows: what lies behind it in the reserve may be copied too. */
    size_t most = (size_t)(reserve.bytes + reserve.used - (char *)p);
    void *copy = take(size);
    if (copy != NULL) {
        memmove(copy, p, size < most ? size : most);
    }
    return copy;
}

void auth_memory_init(void)
{
    cjose_set_alloc_funcs(take, resize, give);
}

void auth_memory_begin(void)
{
    reserve.is_open = true;
    reserve.was_used = false;
    reserve.used = 0;
}

bool auth_memory_end(void)
{
    reserve.is_open = false;
    return reserve.was_used;
}

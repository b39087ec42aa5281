// SPDX-License-Identifier: Apache-2.0
/*
 * arena - memory that is freed all at once: one for each request, one for each model.
 *
 * Owns:    its blocks, from arena_init() to arena_fini().
 * Never:   aborts, and never hands out more than its limit: past it, arena_alloc() returns NULL.
 * Threads: one at a time.
 */
#ifndef ODATA_ARENA_H
#define ODATA_ARENA_H

#include <stddef.h>

#include "odata/compiler.h"
#include "odata/str.h"

struct arena_block;
struct odata_error;

struct arena {
    struct arena_block *blocks; /* newest first */
    char *next;                 /* first free byte of the newest block */
    size_t room;                /* free bytes there */
    size_t used_bytes;          /* handed out in all, paddings included */
    size_t limit_bytes;
    bool out_of_memory; /* malloc has failed: not the request is at fault */
};

/* Allocates nothing yet. */
void arena_init(struct arena *a, size_t limit_bytes);

/* Frees everything that was handed out. */
void arena_fini(struct arena *a);

/* Frees all but one block, so that the next request starts without malloc. */
void arena_reset(struct arena *a);

/* size bytes, zeroed and aligned for any type; NULL past the limit or when memory is short. */
void *arena_alloc(struct arena *a, size_t size) NODISCARD;

/* count elements of size bytes; NULL when the product overflows as well. */
void *arena_array(struct arena *a, size_t count, size_t size) NODISCARD;

/* Copies s; the copy also ends in NUL. False past the limit. */
bool arena_copy(struct arena *a, struct str s, struct str *out_copy) NODISCARD;

/* A copy of the parts, one after the other, that also ends in NUL. False past the limit. On the path
   of a request: formatting costs several times as much. */
bool arena_join(struct arena *a, const struct str *parts, size_t count,
                struct str *out_text) NODISCARD;

/* Formats into the arena; the text also ends in NUL. False past the limit. */
bool arena_format(struct arena *a, struct str *out_text, const char *fmt, ...) NODISCARD
    PRINTF_LIKE(3, 4);

/*
 * Says why the arena gave nothing: 400 RequestTooComplex past its limit, 503 ServiceUnavailable when
 * memory is short. Returns false.
 */
bool arena_fail(const struct arena *a, struct odata_error *err);

/* One zeroed object of a type, or NULL. */
#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
/* count zeroed objects of a type, or NULL. */
#define ARENA_ARRAY(a, count, type) ((type *)arena_array((a), (count), sizeof(type)))

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * statement_cache - which statements are prepared on one connection, by their text.
 *
 * A hash table with the least recently used at the end of a list; a number stands for a statement
 * (its name in PostgreSQL is `s` and the number) and is never used twice on a connection.
 *
 * Owns: copies of the texts.
 */
#ifndef STORAGE_STATEMENT_CACHE_H
#define STORAGE_STATEMENT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/compiler.h"
#include "odata/str.h"

struct statement_entry;

struct statement_cache {
    struct statement_entry *entries;
    uint32_t *buckets; /* 1 + index of the first entry; 0 = none */
    size_t size;
    size_t used;
    size_t bucket_mask;
    uint32_t newest; /* 1 + index, as in all links */
    uint32_t oldest;
    uint32_t last_number;
};

/* False when memory is short. */
bool statement_cache_init(struct statement_cache *c, size_t size) NODISCARD;
void statement_cache_fini(struct statement_cache *c);

/* The statement's number, and it becomes the most recently used one; 0 when it is not there. */
uint32_t statement_cache_find(struct statement_cache *c, uint64_t hash, struct str text);

/*
 * Adds a statement that is not there and returns its number; *out_evicted is the one that had to go
 * for it, or 0. Returns 0 when memory is short.
 */
uint32_t statement_cache_add(struct statement_cache *c, uint64_t hash, struct str text,
                             uint32_t *out_evicted);

/* Forgets a statement. False when it is not there (any more). */
bool statement_cache_drop(struct statement_cache *c, uint32_t number);

#endif

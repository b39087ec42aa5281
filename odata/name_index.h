// SPDX-License-Identifier: Apache-2.0
/*
 * name_index - finds one of many named things by its exact name, in constant time.
 *
 * An open-addressed table of positions (index + 1; 0 = free), twice as large as what it holds. Small
 * collections have none and are searched from the front, which is faster for them.
 *
 * Owns: nothing; the table lives in the arena that it is built in, and is never written afterwards.
 */
#ifndef ODATA_NAME_INDEX_H
#define ODATA_NAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/compiler.h"
#include "odata/str.h"

/* A collection of things whose name is the struct str at name_offset in each. */
struct named {
    const void *items;
    size_t count;
    size_t item_size;
    size_t name_offset;
};

/* The name of item i. */
struct str named_name(const struct named *n, size_t i);

enum name_index_result {
    NAME_INDEX_BUILT,
    NAME_INDEX_NO_MEMORY,
    NAME_INDEX_COLLISION, /* two items have one name: *out_index is the second */
};

/* *out_table stays NULL and *out_size 0 for a small collection, which is checked all the same. */
enum name_index_result name_index_build(struct arena *a, const struct named *n,
                                        const uint32_t **out_table, size_t *out_size,
                                        size_t *out_index) NODISCARD;

/* The position of the item with this name, or n->count. */
size_t name_index_find(const struct named *n, const uint32_t *table, size_t size, struct str name);

/* The position of the item whose name is nearest to what somebody wrote: equal but for letter case,
   or within an edit distance of a third of its length (at most 3); n->count when none is near. */
size_t name_index_nearest(const struct named *n, struct str name);

#endif

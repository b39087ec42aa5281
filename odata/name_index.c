// SPDX-License-Identifier: Apache-2.0
#include "odata/name_index.h"

#include <string.h>

enum {
    SEARCHED_FROM_THE_FRONT = 8,
    /* Longer names are not compared by distance: it costs the product of both lengths. */
    LONGEST_COMPARED = 64,
    LARGEST_DISTANCE = 3,
};

struct str named_name(const struct named *n, size_t i)
{
    struct str name;
    const char *item = (const char *)n->items + i * n->item_size;
    memcpy(&name, item + n->name_offset, sizeof(name));
    return name;
}

static size_t find_from_front(const struct named *n, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(named_name(n, i), name)) {
            return i;
        }
    }
    return n->count;
}

static enum name_index_result check_small(const struct named *n, size_t *out_index)
{
    for (size_t i = 1; i < n->count; i++) {
        if (find_from_front(n, i, named_name(n, i)) < n->count) {
            *out_index = i;
            return NAME_INDEX_COLLISION;
        }
    }
    return NAME_INDEX_BUILT;
}

/* The slot that holds the name, or the free one where it would go. size is a power of two. */
static size_t find_slot(const struct named *n, const uint32_t *table, size_t size, struct str name)
{
    size_t slot = (size_t)str_hash(name) & (size - 1);
    while (table[slot] != 0 && !str_eq(named_name(n, table[slot] - 1), name)) {
        slot = (slot + 1) & (size - 1);
    }
    return slot;
}

enum name_index_result name_index_build(struct arena *a, const struct named *n,
                                        const uint32_t **out_table, size_t *out_size,
                                        size_t *out_index)
{
    if (n->count <= SEARCHED_FROM_THE_FRONT) {
        return check_small(n, out_index);
    }
    size_t size = 2 * SEARCHED_FROM_THE_FRONT;
    while (size < n->count * 2) {
        size *= 2;
    }
    uint32_t *table = ARENA_ARRAY(a, size, uint32_t);
    if (table == NULL) {
        return NAME_INDEX_NO_MEMORY;
    }
    for (size_t i = 0; i < n->count; i++) {
        size_t slot = find_slot(n, table, size, named_name(n, i));
        if (table[slot] != 0) {
            *out_index = i;
            return NAME_INDEX_COLLISION;
        }
        table[slot] = (uint32_t)i + 1;
    }
    *out_table = table;
    *out_size = size;
    return NAME_INDEX_BUILT;
}

size_t name_index_find(const struct named *n, const uint32_t *table, size_t size, struct str name)
{
    if (table == NULL) {
        return find_from_front(n, n->count, name);
    }
    size_t slot = find_slot(n, table, size, name);
    return table[slot] == 0 ? n->count : table[slot] - 1;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static bool same_letter(struct str a, size_t i, struct str b, size_t j)
{
    return str_ieq(str_slice(a, i, i + 1), str_slice(b, j, j + 1));
}

/*
 * How many letters must be replaced, added, left out or exchanged with their neighbour to make b of
 * a (optimal string alignment), by three rows of the usual matrix. Both at most LONGEST_COMPARED.
 */
static size_t distance(struct str a, struct str b)
{
    size_t rows[3][LONGEST_COMPARED + 1] = {{0}};
    for (size_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.len; i++) {
        const size_t *before_last = rows[(i + 1) % 3];
        const size_t *last = rows[(i + 2) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t replaced = last[j - 1] + (same_letter(a, i - 1, b, j - 1) ? 0 : 1);
            row[j] = smallest(last[j] + 1, row[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && same_letter(a, i - 1, b, j - 2) &&
                same_letter(a, i - 2, b, j - 1) && before_last[j - 2] + 1 < row[j]) {
                row[j] = before_last[j - 2] + 1;
            }
        }
    }
    return rows[a.len % 3][b.len];
}

size_t name_index_nearest(const struct named *n, struct str name)
{
    size_t best = n->count;
    size_t best_distance = LARGEST_DISTANCE + 1;
    for (size_t i = 0; i < n->count; i++) {
        struct str candidate = named_name(n, i);
        if (str_ieq(candidate, name)) {
            return i;
        }
        if (candidate.len > LONGEST_COMPARED || name.len > LONGEST_COMPARED) {
            continue;
        }
        size_t d = distance(name, candidate);
        if (d < best_distance && d * 3 <= candidate.len) {
            best = i;
            best_distance = d;
        }
    }
    return best;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_map - the two look-up tables of the catalog loader: OIDs to places, and names in use.
 *
 * Owns:    its slots (malloc); the names in a name_set are borrowed.
 * Threads: one at a time.
 */
#ifndef STORAGE_CATALOG_MAP_H
#define STORAGE_CATALOG_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/compiler.h"
#include "odata/str.h"

/* Not in the map. */
#define OID_MAP_NONE UINT32_MAX

/* From an OID (never 0) to a place in an array. All zero is an empty map. */
struct oid_map {
    struct oid_slot *slots;
    size_t slot_count;
    size_t count;
};

/* False when memory is short. A second put of the same OID replaces the place. */
bool oid_map_put(struct oid_map *m, uint32_t oid, uint32_t place) NODISCARD;
/* The place, or OID_MAP_NONE. */
uint32_t oid_map_get(const struct oid_map *m, uint32_t oid);
void oid_map_fini(struct oid_map *m);

/* A set of names. All zero is an empty set. */
struct name_set {
    struct str *slots;
    size_t slot_count;
    size_t count;
};

/* False when memory is short; no harm is done when the name is there already. */
bool name_set_add(struct name_set *s, struct str name) NODISCARD;
bool name_set_has(const struct name_set *s, struct str name);
/* Empty again, the slots kept. */
void name_set_clear(struct name_set *s);
void name_set_fini(struct name_set *s);

#endif

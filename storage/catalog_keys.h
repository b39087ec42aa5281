// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_keys - which columns identify a row.
 *
 *   1. the columns that an override names,
 *   2. the primary key,
 *   3. a unique index over NOT NULL columns, neither partial, nor over expressions, nor deferrable:
 *      the one with the fewest columns, then the first by name,
 *   4. of a view that reads one relation row by row: a key of that relation (also through further
 *      views) whose columns are all passed on, chosen in the same order,
 *   5. a unique index of a materialized view, whose columns PostgreSQL cannot declare NOT NULL.
 * A table whose type is derived (storage/catalog_inheritance.h) has the key of its base instead.
 * All its columns must be shown, and of Edm types that may be keys (CSDL 6.5: no floating point
 * numbers, binaries, structures or collections). Without a key the relation is left out, with a
 * warning. The other unique indexes become alternate keys, nullable columns included.
 */
#ifndef STORAGE_CATALOG_KEYS_H
#define STORAGE_CATALOG_KEYS_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/catalog_raw.h"

/*
 * Sets key, alternates and base of every relation; needs types_resolve() and the overrides' hidden
 * columns. False fills err: 500 when an override's key cannot be one, or memory is short.
 */
bool keys_choose(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

/* Whether the columns hold a unique key of the relation: at most one row for each set of values. */
bool keys_are_unique(const struct raw_catalog *raw, const struct raw_relation *r,
                     const int16_t *numbers, size_t count);

#endif

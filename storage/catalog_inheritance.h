// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_inheritance - tables that inherit from others as derived types.
 *
 * The type of a table is derived from that of the first table in its INHERITS that has a key and of
 * which every column that is shown is shown here as well; tables that are not exposed are looked
 * through. Its key is that of its base (CSDL 6.5). A type has one base only: of the other tables
 * in INHERITS its columns are its own properties. Partitions are no types of their own.
 *
 * A table stays a type of its own, with a warning where somebody would expect otherwise, when the
 * configuration names a key for it, or when it hides what its base shows. Rows of tables that are
 * not derived types of a table that they inherit from are rows of that table's own type: strays.
 */
#ifndef STORAGE_CATALOG_INHERITANCE_H
#define STORAGE_CATALOG_INHERITANCE_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/catalog_raw.h"

/* The exposed tables that r inherits from, nearest first, in the order of INHERITS; in raw->scratch.
   False: memory is short. */
bool inheritance_parents(struct raw_catalog *raw, const struct raw_relation *r,
                         struct raw_relation ***out_parents, size_t *out_count) NODISCARD;

/* Sets base and key of r when it is derived from one of its parents, whose keys are chosen. False
   fills err: memory. */
bool inheritance_choose_base(struct raw_catalog *raw, struct raw_relation *r,
                             struct odata_error *err) NODISCARD;

/* Notes whose rows have strays among them, when all bases are chosen. */
void inheritance_find_strays(struct raw_catalog *raw);

/* The column of r that its base, or the base of that, calls by this name; never NULL for derived. */
struct raw_column *inheritance_column(const struct raw_catalog *raw, const struct raw_relation *r,
                                      struct str name);

/*
 * Whether a table that f's is derived from has this foreign key: PostgreSQL does not inherit it, so
 * that it is often declared again, and the navigation is inherited already.
 */
bool inheritance_has_foreign_key(const struct raw_catalog *raw, const struct raw_foreign_key *f);

/* Derived types begin with the navigations of their base, which are filled. False: memory is short. */
bool inheritance_copy_navigations(struct raw_catalog *raw) NODISCARD;

/* Makes the hierarchies of the entity types, when all properties are there. False fills err: memory. */
bool inheritance_build(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_navigation - foreign keys as navigation properties.
 *
 * A foreign key between two relations of the model gives two, each the other's partner. A table
 * whose primary key is exactly two foreign keys gives two more, from each end to the other.
 *
 * Names, in this order; each is free when no property, no navigation property given before, and not
 * the type itself (.NET classes would not compile) is called so:
 *   to one, referencing side   the column without `_id`, `Id` or `ID`, when it is one column, it ends so,
 *                              and the rest is a free SimpleIdentifier; else the referenced type
 *   referenced side            the referencing type
 *   many-to-many               the type at the other end
 * When a type's name is wanted more than once on one side of one type, or a navigation property has
 * taken it, or the key refers to its own table, all that want it get `_by_` and the columns of the
 * foreign key, joined with `_` (the link table, for many-to-many ones through different tables).
 * What still collides, with a property say, gets a number: `_2`.
 * A property never yields to a navigation property.
 *
 * To one: the referencing side, and the referenced side when the referencing columns are unique.
 */
#ifndef STORAGE_CATALOG_NAVIGATION_H
#define STORAGE_CATALOG_NAVIGATION_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/catalog_raw.h"

/* Builds the navigations of all types; needs entities_build(). */
bool navigation_build(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

#endif

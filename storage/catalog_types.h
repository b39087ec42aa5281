// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_types - PostgreSQL's types as Edm types (the table of types in docs/ARCHITECTURE.md).
 *
 *   domain          its base type, looked through to the end; NOT NULL and DEFAULT count
 *   enum            EnumType when every label is a SimpleIdentifier, else String. pg.cast stays the
 *                   enum's name then: the text is compared as `col::text`, or the value cast to it
 *   composite       ComplexType, with its attributes likewise; also the row type of a table
 *   array           Collection of its elements' type; declared with more dimensions: String
 *   numeric         Precision and Scale as declared; none, a negative scale or one beyond the
 *                   precision (PostgreSQL 15 has both): Scale="variable"
 *   oid             Int64, since it is a number and needs 32 bits without a sign
 *   geometry, geography   of the extension postgis
 *   anything else   String: PostgreSQL's text form (timetz, "char", xid, ranges, inet ...)
 */
#ifndef STORAGE_CATALOG_TYPES_H
#define STORAGE_CATALOG_TYPES_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/catalog_raw.h"

/*
 * Fills type, pg, not_null and has_default of every column and every composite's attribute. Enum
 * and complex types are only pointed at after types_build().
 */
void types_resolve(struct raw_catalog *raw);

/*
 * Builds the enum and complex types that the properties of relations with a key use, names them in
 * their schemas' namespaces (after the entity types, which have precedence) and points at them.
 */
bool types_build(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

/* Property `index` of a column; its name is given. */
void types_fill_property(const struct raw_column *c, struct str name, size_t index,
                         struct property *out_property);

#endif

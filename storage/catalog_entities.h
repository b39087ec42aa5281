// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_entities - overrides, names of types and sets, and the entity types themselves.
 *
 * A relation gives an entity type in its schema's namespace and an entity set, both named like it
 * (or as an override says). When relations of several exposed schemas have one name, the sets of
 * all of them are called schema_relation; the types keep their names, each in its own namespace.
 */
#ifndef STORAGE_CATALOG_ENTITIES_H
#define STORAGE_CATALOG_ENTITIES_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/catalog_raw.h"

/*
 * Finds the relation and the columns of each override, hides columns, and counts what is left.
 * False fills err: 500 naming the override when a relation or column is not there.
 */
bool entities_apply_overrides(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

/* Names the namespaces, and the types and sets of relations that have a key. */
bool entities_name(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

/* Builds model->types (without navigations) and model->sets; needs types_build(). */
bool entities_build(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

/* Names the container and lists the namespaces that show something. */
bool entities_finish(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

#endif

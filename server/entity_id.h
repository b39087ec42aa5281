// SPDX-License-Identifier: Apache-2.0
/*
 * entity_id - $entity?$id=...: the entity that an entity-id names.
 *
 * An entity-id of this service is the URL of its entity. So $id is read as a path, and the request
 * goes on as if that path had been asked for.
 *
 * Owns:   nothing; the path lives in the request's arena.
 * Source: URL Conventions 4.13, 4.14; Protocol 4.1.
 */
#ifndef SERVER_ENTITY_ID_H
#define SERVER_ENTITY_ID_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/plan.h"
#include "odata/str.h"

/* The path begins with $entity. */
bool entity_id_is(const struct resource_path *path);

/*
 * Puts the path that query's $id names in the place of $entity; a type behind $entity becomes a cast
 * at its end. $id is absolute, below root, or relative to it.
 * False fills err: 400 for no $id or one that is no path, 404 for that of another service.
 */
bool entity_id_resolve(struct arena *a, struct str root, struct query *query,
                       struct resource_path *path, struct odata_error *err) NODISCARD;

/* After binding: what $id named is an entity. Else 400. */
bool entity_id_check(const struct plan *plan, struct odata_error *err) NODISCARD;

#endif

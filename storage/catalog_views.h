// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_views - what a view's stored rule says about where its columns come from.
 *
 * pg_rewrite.ev_action is PostgreSQL's printed query tree (nodes/outfuncs.c): nodes
 * `{TYPE :field value ...}`, lists `(value ...)`, words with backslash escapes, `<>` for nothing.
 * Fields are found by name, so that fields which a version adds do not matter, and a tree in which
 * a field is missing proves nothing.
 */
#ifndef STORAGE_CATALOG_VIEWS_H
#define STORAGE_CATALOG_VIEWS_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/compiler.h"
#include "odata/str.h"
#include "storage/catalog_raw.h"

/*
 * Fills out_view->base and ->columns (copied into a) when the view is a plain SELECT from exactly
 * one relation: no join, set operation, grouping, aggregate, DISTINCT or set-returning function. A
 * row of such a view is one row of the relation, so a key whose columns it passes on is its key.
 * False when it is anything else, or when memory is short.
 */
bool view_rule_parse(struct arena *a, struct str rule, struct raw_view *out_view) NODISCARD;

#endif

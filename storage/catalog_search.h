// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_search - what $search looks into, for each table.
 *
 * In this order: the columns that the configuration names; a column of type tsvector; the
 * expression of an index over to_tsvector(...); all columns of text. Of PostgreSQL's expressions
 * only those are taken that consist of known functions over columns that are shown: the statement
 * must repeat them with the table's alias before each column, and a column that is hidden cannot be
 * found through them.
 */
#ifndef STORAGE_CATALOG_SEARCH_H
#define STORAGE_CATALOG_SEARCH_H

#include "storage/catalog_connection.h"
#include "storage/catalog_raw.h"

/* Reads configurations, generated columns and index expressions. oids: `{...}`, of schemas. */
bool search_read(struct raw_catalog *raw, struct catalog_connection *conn, const char *oids,
                 struct odata_error *err) NODISCARD;

/* Fills in type->search of all entity types. False fills err: memory, or an override that names
   what is not there. A big table whose search no index serves is warned of. */
bool search_build(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

#endif

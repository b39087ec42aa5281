// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_query - the questions to the system catalogs: one for each kind of thing, however many
 * tables there are, all in one snapshot.
 *
 * Blocks, but no wait is longer than options.timeout_ms (and a little, so that PostgreSQL's own
 * statement_timeout speaks first).
 */
#ifndef STORAGE_CATALOG_QUERY_H
#define STORAGE_CATALOG_QUERY_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/catalog_raw.h"

/*
 * Connects as raw->options says, fills raw's arrays and maps, and disconnects. Relations that the
 * role may not read, partitions, temporary relations and what belongs to an extension are not read.
 * False fills err: 503 when the database cannot be reached or takes too long, 500 otherwise.
 */
bool catalog_query_all(struct raw_catalog *raw, struct odata_error *err) NODISCARD;

#endif

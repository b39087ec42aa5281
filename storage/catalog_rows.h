// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_rows - one row of an answer of the system catalogs as a plain struct of the raw catalog.
 *
 * Each takes the columns of the question of its kind (storage/catalog_query.c) in their order, and
 * is a catalog_row_fn: false means that memory is short.
 */
#ifndef STORAGE_CATALOG_ROWS_H
#define STORAGE_CATALOG_ROWS_H

#include "storage/catalog_connection.h"
#include "storage/catalog_raw.h"

bool catalog_rows_schema(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_relation(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_unreadable(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_column(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_attribute(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_type(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_label(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_key(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_foreign_key(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_inheritance(struct raw_catalog *raw, const struct catalog_row *row);
bool catalog_rows_view(struct raw_catalog *raw, const struct catalog_row *row);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_connection - a blocking connection for reading the catalog: statements, row by row.
 *
 * Blocks, but no wait is longer than timeout_ms (and a little, so that PostgreSQL's own
 * statement_timeout speaks first).
 * Owns:    the connection, from catalog_connect() to catalog_disconnect().
 */
#ifndef STORAGE_CATALOG_CONNECTION_H
#define STORAGE_CATALOG_CONNECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"
#include "storage/catalog_raw.h"

struct catalog_connection {
    PGconn *pg;
    int64_t timeout_ms;
};

/* One row of an answer; its texts are lent until the callback returns. */
struct catalog_row {
    const PGresult *result;
};

/* The fields by position; those of NULL are "", 0 and false. */
struct str row_text(const struct catalog_row *row, int field);
uint32_t row_oid(const struct catalog_row *row, int field);
int32_t row_int(const struct catalog_row *row, int field);
bool row_bool(const struct catalog_row *row, int field);
char row_char(const struct catalog_row *row, int field);

/* False means that memory is short. */
typedef bool (*catalog_row_fn)(struct raw_catalog *raw, const struct catalog_row *row);

/*
 * Connects and begins a read-only transaction in which format_type() qualifies every name that is
 * not PostgreSQL's own. False fills err: 503 when the database cannot be reached.
 */
bool catalog_connect(const struct catalog_options *options, struct catalog_connection *out_conn,
                     struct odata_error *err) NODISCARD;
/* Ends the transaction with the connection. */
void catalog_disconnect(struct catalog_connection *conn);

/*
 * Runs one statement, and fn (if any) on each of its rows as it comes. what: for the message.
 * False fills err (500; 503 when the connection is lost or it took too long), and the connection
 * must be closed next.
 */
bool catalog_run(struct catalog_connection *conn, const char *what, const char *sql,
                 const char *const *values, int value_count, catalog_row_fn fn,
                 struct raw_catalog *raw, struct odata_error *err) NODISCARD;

#endif

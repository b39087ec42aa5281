// SPDX-License-Identifier: Apache-2.0
/*
 * session - the settings that every connection of ours starts with, as libpq's connection options.
 *
 * storage/pg_value.h reads PostgreSQL's text forms, and those depend on the session: time zone,
 * styles, encoding. They go into the startup packet, where they win over ALTER ROLE, ALTER DATABASE
 * and postgresql.conf, and cost no round trip.
 *
 * Owns: nothing.
 */
#ifndef STORAGE_SESSION_H
#define STORAGE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/bytes.h"
#include "odata/odata_error.h"

struct pg_conn; /* libpq's PGconn */

/* What differs from one use to another; 0 or NULL leaves a setting as the database has it. */
struct session_options {
    int64_t statement_timeout_ms;
    int64_t lock_timeout_ms;
    int64_t idle_in_transaction_timeout_ms;
    int64_t client_check_ms; /* client_connection_check_interval: PostgreSQL 14 or later */
    bool read_only;          /* default_transaction_read_only=on */
    const char *search_path; /* NULL = as the role has it; extensions' operators need it */
};

/* The text of libpq's `options`, `-c TimeZone=UTC -c ...`; behind a blank when out is not empty. */
void session_put_options(struct bytes *out, const struct session_options *o);

/*
 * Forgets PGTZ, PGDATESTYLE and PGCLIENTENCODING: libpq sends those in a place of the startup
 * packet that wins over our options. Call it once, before there are threads.
 */
void session_clear_environment(void);

/*
 * Whether a connection has the settings: a connection pooler may swallow options. Looks only at
 * what the server reports by itself, no round trip. False fills err (500) with the setting's name;
 * session_put_sql() may then mend it.
 */
bool session_check(const struct pg_conn *conn, struct odata_error *err) NODISCARD;

/* The same settings as one SQL command, a SELECT of one row, for a connection that session_check()
   refuses. out must be empty. */
void session_put_sql(struct bytes *out, const struct session_options *o);

#endif

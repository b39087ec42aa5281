// SPDX-License-Identifier: Apache-2.0
/*
 * pg_error - SQLSTATE to HTTP status: one table.
 */
#ifndef STORAGE_PG_ERROR_H
#define STORAGE_PG_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/odata_error.h"
#include "odata/str.h"

/*
 * Fills err from PostgreSQL's five-character SQLSTATE ("" or NULL: the connection was lost). text
 * is PostgreSQL's own message: it goes to err->internal, for the log, and never to the client.
 */
void pg_error_set(struct odata_error *err, const char *sqlstate, const char *text);

/*
 * Writes text as one line: libpq's and PostgreSQL's line ends and runs of blanks become one blank,
 * those at its ends go. One event is one line of the log.
 */
void pg_error_tidy(char *out, size_t size, struct str text);

/* Fills err->internal alone, as pg_error_set() does. */
void pg_error_note(struct odata_error *err, const char *sqlstate, const char *text);

/* The failure says that the model is older than the database: 42P01, 42703, 0A000, 42883 ... */
bool pg_error_is_stale_model(const char *sqlstate);

#endif

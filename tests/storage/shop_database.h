// SPDX-License-Identifier: Apache-2.0
/*
 * shop_database - the tables of tests/support/shop_model.h in the test's PostgreSQL, and statements
 * of storage/sql_read.h run there.
 */
#ifndef TESTS_STORAGE_SHOP_DATABASE_H
#define TESTS_STORAGE_SHOP_DATABASE_H

#include <stddef.h>

#include <libpq-fe.h>

#include "storage/sql_read.h"
#include "tests/support/bound_request.h"

/* A connection in a session as the service has it; the tables are made anew. */
PGconn *shop_database_open(void);

/* Runs a statement; the first `keys` of its last parameters are replaced. Fails the test when
   PostgreSQL does. */
PGresult *shop_database_run(PGconn *db, const struct sql_statement *statement,
                            const char *const *keys, size_t key_count);

/* Binds url and makes its statements; fails the test when it does not bind. */
const struct sql_read *shop_database_sql(struct bound_request *r, const char *url,
                                         const struct bind_options *options);

/* One field of all rows, with commas between them; the caller frees it. */
char *shop_database_column(const PGresult *result, int field);

/*
 * The IDs, in their order and separated by commas, of the rows of a set that a filter keeps; the
 * count must agree. filter is percent-encoded.
 */
void shop_database_check_filter(PGconn *db, const char *set, const char *filter, const char *ids);

#endif

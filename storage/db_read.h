// SPDX-License-Identifier: Apache-2.0
/*
 * db_read - one read request in PostgreSQL, from the waiting line to its last row.
 *
 * Implements odata/row_source.h: the feed writer asks it for rows, it asks PostgreSQL. A read that
 * nobody asks does not take bytes from its socket.
 *
 * Owns:   its place in line, its connection while it has one, the results it stands on.
 * Memory: at each level the current batch of about fetch_bytes, and at most two more that were asked
 *         for (storage/cursor.h); with one level those stay in the socket. Then libpq's input buffer.
 */
#ifndef STORAGE_DB_READ_H
#define STORAGE_DB_READ_H

#include <stdint.h>

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/row_source.h"
#include "storage/db_rights.h"
#include "storage/pool.h"
#include "storage/sql_read.h"

struct db_read;

struct db_read_options {
    /* Called, from the loop and never from inside a call of ours, when a source that answered
       STEP_AGAIN should be asked again. */
    void (*wake)(void *ctx);
    /* Called when the read has got its connection, perhaps from inside db_read_open(), and again
       when it is started anew. NULL: nobody wants to know. */
    void (*seated)(void *ctx);
    void *ctx;
    /* As whom it reads; lent until db_read_close(). NULL: as the role that logged in. */
    const struct db_rights *rights;
};

/*
 * Takes a connection or a place in the line and sends the statements. sql has rows or a count, and is
 * borrowed until db_read_close(). False fills err: 503 DatabaseBusy when the line is full, 503
 * DatabaseUnavailable when no connection can be made.
 */
bool db_read_open(struct pool *pool, const struct sql_read *sql,
                  const struct db_read_options *options, struct db_read **out_read,
                  struct odata_error *err) NODISCARD;

/* The rows, and the count when sql->has_count. Lent until db_read_close(). */
struct row_source *db_read_source(struct db_read *r);

/*
 * Ends it in whatever state it is. A query that is still running is cancelled within a second; its
 * connection goes back only when it is proven idle, else it is closed.
 */
void db_read_close(struct db_read *r);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * cursor - the levels of one streaming read, each through SQL cursors of one transaction.
 *
 * Level 0 has one cursor. An expanded collection has one for each batch of its parent's rows, opened
 * as soon as that batch is here: its first rows come while the batch before is being written.
 *
 *     set -> root cursor -> batch (a PGresult) -> one child cursor per expanded collection -> batch
 *
 * The results of all cursors come in the order in which they were asked for. Each cursor has room
 * for what it has asked for, so one can always be read past another's results.
 *
 * Owns:   its batches and cursors. Borrows the connection, which the caller lends it.
 * With one level there is no need to hold more than one row: rows come one at a time (by_row), and
 * what was asked for stays in the socket until it is wanted. So memory does not depend on how well
 * the width of the next rows is guessed from those before them. With more levels results must be
 * read past each other, and a batch is one PGresult.
 *
 * Memory: by row, one row. Else per level the current batch, and at most two that were asked for
 *         (one, when the level has children), each of about fetch_bytes when the rows are as wide as
 *         those before them.
 */
#ifndef STORAGE_CURSOR_H
#define STORAGE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/shape.h"
#include "odata/step.h"
#include "storage/conn.h"
#include "storage/sql_read.h"

struct cursor;
struct batch;
struct cursor_level;

struct cursor_set {
    const struct sql_read *sql;
    struct conn *conn; /* NULL before cursor_set_start() and after the end */
    struct conn_client *client;
    struct cursor_level *levels;
    size_t fetch_bytes;
    struct cursor *root;
    struct cursor *all; /* those too whose last results are still in flight */
    bool is_single;     /* one level only: rows may come one at a time */
    char ignored;       /* its address marks statements whose results say nothing */
    struct bytes scratch;
    unsigned serial;     /* of the next cursor's name */
    uint64_t rows;       /* of level 0, that have come */
    uint64_t rows_bytes; /* their memory, as one result would take it */
    bool unsynced;       /* something was sent that needs a sync */
    bool out_of_memory;  /* sticky */
    bool bad_result;     /* sticky: a result has not the columns that the statement promised */
};

/* row_bytes: what a row of level 0 takes in memory, if it is known; else 0. */
bool cursor_set_init(struct cursor_set *set, const struct sql_read *sql, size_t fetch_bytes,
                     size_t row_bytes) NODISCARD;
void cursor_set_fini(struct cursor_set *set);

/* Sends DECLARE and the first FETCHes of level 0, without a sync. */
void cursor_set_start(struct cursor_set *set, struct conn *conn, struct conn_client *client);

/*
 * A result that was sent with arg by this set came without an error. Takes res. Returns whether it
 * brought rows or an end that somebody may wait for. By row: the one before it must have been taken.
 */
bool cursor_set_result(struct cursor_set *set, void *arg, PGresult *res);

/* OK, END, or AGAIN: more results are needed. Ask cursor_set_failed() first. */
enum step cursor_set_next(struct cursor_set *set, unsigned level, const struct field **out_fields);

static inline bool cursor_set_failed(const struct cursor_set *set)
{
    return set->out_of_memory || set->bad_result;
}

/* The connection is given back: whatever is still in flight will not come here. */
void cursor_set_detach(struct cursor_set *set);

/* The result has the columns, and their types, that the level's shape was made for. */
bool cursor_result_fits(const struct sql_level *level, const PGresult *res);

/* Fills fields from one row, and returns the length of all; the hot path of everything. */
size_t cursor_fill_fields(const PGresult *res, int row, size_t count, struct field *fields);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * request_rows - what a request asks PostgreSQL for, and what writes its rows: from a bound plan to
 * statements, a read and a feed writer.
 *
 * Owns:    its read and its writer, until request_rows_close().
 * Threads: one worker's thread.
 */
#ifndef SERVER_REQUEST_ROWS_H
#define SERVER_REQUEST_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/feed_writer.h"
#include "odata/odata_error.h"
#include "odata/row_source.h"
#include "server/http.h"
#include "server/prepare.h"
#include "server/request.h"
#include "storage/db_read.h"

struct request_rows {
    struct feed_writer *writer; /* NULL: not open */
    struct db_read *read;       /* NULL when there is nothing to ask the database for */
    struct row_source no_rows;  /* the source then */
};

struct rows_options {
    struct http_exchange *x; /* its arena and its buffer are written to */
    struct request_env *env;
    struct prepared *p; /* a plan that reads; format and preferences become those of an EXPLAIN */
    uint64_t id;        /* of the request, for the log */
    struct db_read_options read;
};

/*
 * Sends the statements and makes the writer. rows is zeroed before. False fills err, and rows must be
 * closed all the same.
 */
bool request_rows_open(struct request_rows *rows, const struct rows_options *options,
                       struct odata_error *err) NODISCARD;

/* The connection to PostgreSQL goes back. May be called again. */
void request_rows_close(struct request_rows *rows);

#endif

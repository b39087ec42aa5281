// SPDX-License-Identifier: Apache-2.0
/*
 * request - the life of one request, from its target to the last byte of its answer.
 *
 * What a request asks PostgreSQL for is written into the exchange's buffer by odata/feed_writer as
 * the rows come. The answer begins only when the buffer is full, the document is complete, or the
 * first rows have waited long enough: until then a failure is a real status. From then on
 * libmicrohttpd drains the buffer, and an empty buffer asks for more rows. So a response costs
 * buffer-bytes, one row, and what storage/db_read.h says.
 *
 * Owns:    its read and feed writer; one reference to the document that it started with.
 * Threads: one worker's thread.
 */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include <stdint.h>

#include "server/auth.h"
#include "server/document.h"
#include "server/http.h"
#include "server/log.h"
#include "server/loop.h"
#include "server/role_documents.h"
#include "server/service.h"
#include "storage/pool.h"

/* What a worker gives its requests. */
struct request_env {
    const struct service *service;
    struct loop *loop;
    struct pool *pool;
    struct log *log;
    struct metrics *metrics;
    struct document *document;    /* the current one; NULL while the model was never loaded */
    struct role_documents *roles; /* of other roles than anonymous-role; NULL as auth is */
    struct auth *auth;            /* NULL: every request has the rights of the role that logs in */
    uint64_t next_id;             /* of the log: the worker's number is in its high bits */
};

/* The callbacks of http.h; ctx becomes env. */
void request_handler(struct request_env *env, struct http_handler *out_handler);

/* Ends the response at its next row, with a next link, where that can be done. */
void request_end_early(struct http_exchange *x);

/* Breaks the response off because the service stops. */
void request_abort_for_drain(struct http_exchange *x);

#endif

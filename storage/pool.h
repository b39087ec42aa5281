// SPDX-License-Identifier: Apache-2.0
/*
 * pool - one worker's connections to PostgreSQL, and the line of those who wait for one.
 *
 * Reads are run by storage/db_read.h; this is where they get their connections. Some connections
 * are lent to one read at a time (streams); short reads share the others in pipeline mode.
 *
 * Owns:    its connections, and the helper that sends cancels for them.
 * Never:   blocks; never lends a connection whose last query or cancel is not known to be over.
 * Threads: one worker's thread (the cancel helper has its own, inside).
 */
#ifndef STORAGE_POOL_H
#define STORAGE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/pool_budget.h"
#include "storage/reactor.h"

/* What storage reports upwards; every function may be NULL. Called from the worker's thread. */
struct storage_observer {
    void *ctx;
    /* A connection came up (error NULL) or failed; text is for the log. */
    void (*connection)(void *ctx, bool up, const char *text);
    /* A query was cancelled in PostgreSQL. */
    void (*cancelled)(void *ctx);
    /* A statement failed in a way that says the model is older than the database (42P01, 42703,
       0A000 ...): reload. */
    void (*model_stale)(void *ctx);
    /* PostgreSQL said something (notice, warning). */
    void (*notice)(void *ctx, const char *text);
};

struct pool_options {
    const char *db_uri;
    struct pool_budget *budget;   /* how many connections there may be; outlives the pool */
    size_t max_waiting;           /* reads that may wait for one, streams and short reads each; more
                                     are refused with 503 */
    int64_t wait_ms;              /* how long one may wait; then 503 */
    int64_t connect_timeout_ms;   /* for each host */
    int64_t statement_timeout_ms; /* PostgreSQL's statement_timeout; 0 = none */
    bool prepared_statements;
    size_t statement_cache_size; /* prepared statements kept on one connection */
    size_t fetch_bytes;          /* how much one FETCH should bring */
};

struct pool_counts {
    size_t connected;
    size_t busy;      /* lent to one read */
    size_t waiting;   /* reads in line */
    uint64_t cancels; /* sent so far */
};

struct pool;

/* NULL when memory or descriptors are short. Starts to connect when it is first needed, or by
   pool_warm(). */
struct pool *pool_new(const struct pool_options *options, struct reactor *reactor,
                      const struct storage_observer *observer) NODISCARD;

/* Opens one connection ahead of need, so that pool_is_ready() can become true. */
void pool_warm(struct pool *p);

/* All reads must be closed before. Waits for the cancel helper (bounded). */
void pool_free(struct pool *p);

/* At least one connection works. */
bool pool_is_ready(const struct pool *p);

void pool_get_counts(const struct pool *p, struct pool_counts *out_counts);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * metrics - counters and gauges of one worker, summed up when somebody asks.
 *
 * Threads: one thread writes a set, any number may read it meanwhile; a sum may mix moments.
 */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/bytes.h"

enum metric {
    METRIC_REQUESTS_1XX_2XX,
    METRIC_REQUESTS_3XX,
    METRIC_REQUESTS_4XX,
    METRIC_REQUESTS_501, /* asked for what is not built: nobody is to be woken */
    METRIC_REQUESTS_5XX, /* all others */
    METRIC_ROWS,
    METRIC_BODY_BYTES,
    METRIC_STREAMS_STARTED,
    METRIC_ABORT_DATABASE, /* streams that ended broken, by cause */
    METRIC_ABORT_STALLED,
    METRIC_ABORT_DRAIN,
    METRIC_GONE_WAITING, /* clients that left before and after the first byte */
    METRIC_GONE_STREAMING,
    METRIC_TIMEOUT_HEADERS, /* connections closed by a deadline */
    METRIC_TIMEOUT_IDLE,
    METRIC_TIMEOUT_REQUEST,
    METRIC_REFUSED_HEADERS, /* refused by the header guard */
    METRIC_REFUSED_CONNECTIONS,
    METRIC_REFUSED_UNREADABLE, /* no request line */
    METRIC_ACCEPT_PAUSES,
    METRIC_CONNECTIONS_ACCEPTED,
    METRIC_DB_CANCELS,
    METRIC_DB_CONNECTS,
    METRIC_DB_CONNECT_FAILURES,
    METRIC_MODEL_STALE,
    METRIC_LOG_DROPPED,
    /* Gauges. */
    METRIC_CONNECTIONS,
    METRIC_REQUESTS_RUNNING,
    METRIC_STREAMS_RUNNING,
    METRIC_DB_CONNECTED,
    METRIC_DB_BUSY,
    METRIC_DB_WAITING,
    METRIC_LONGEST_TURN_US,
    METRIC_READY, /* 1 when a database connection of the worker works */
    METRIC_COUNT,
};

enum {
    METRICS_BUCKETS = 12, /* of the durations, and one more without end */
};

struct metrics {
    _Atomic uint64_t values[METRIC_COUNT];
    _Atomic uint64_t duration_buckets[METRICS_BUCKETS + 1];
    _Atomic uint64_t duration_sum_us;
};

/* Only the owner's thread writes, so that a load and a store are enough: no locked instruction. */
static inline void metrics_add(struct metrics *m, enum metric which, uint64_t n)
{
    uint64_t value = atomic_load_explicit(&m->values[which], memory_order_relaxed);
    atomic_store_explicit(&m->values[which], value + n, memory_order_relaxed);
}

static inline void metrics_set(struct metrics *m, enum metric which, uint64_t value)
{
    atomic_store_explicit(&m->values[which], value, memory_order_relaxed);
}

static inline uint64_t metrics_get(const struct metrics *m, enum metric which)
{
    return atomic_load_explicit(&m->values[which], memory_order_relaxed);
}

/* Counts one answered request. */
void metrics_request(struct metrics *m, int status, int64_t duration_us);

/* Prometheus' text form of the sum over count sets; ready: the service as a whole. */
void metrics_write(struct metrics *const *sets, size_t count, struct bytes *out);

#endif

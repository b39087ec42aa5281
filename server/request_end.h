// SPDX-License-Identifier: Apache-2.0
/*
 * request_end - what is left of a request: its line in the log and its place in the metrics.
 *
 * Owns: nothing.
 */
#ifndef SERVER_REQUEST_END_H
#define SERVER_REQUEST_END_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/odata_error.h"
#include "server/http.h"
#include "server/log.h"
#include "server/metrics.h"

struct request_end {
    const struct http_exchange *x;
    enum http_end how;
    uint64_t id;
    uint64_t rows;
    int64_t duration_us;
    bool streams;                  /* the answer went out in chunks */
    bool ended_early;              /* with a next link, to drain */
    bool draining;                 /* broken off because the service stops */
    const char *role;              /* of PostgreSQL; NULL: the one that logs in */
    const struct odata_error *err; /* http_status 0: none */
};

void request_end_count(struct metrics *m, const struct request_end *e);
void request_end_log(struct log *log, const struct request_end *e);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "server/request_end.h"

#include <inttypes.h>
#include <stdio.h>

static const char *end_name(const struct request_end *e)
{
    switch (e->how) {
    case HTTP_END_COMPLETE:
        return e->ended_early ? "page" : "done";
    case HTTP_END_GONE:
        return "gone";
    case HTTP_END_STALLED:
        return "stalled";
    case HTTP_END_BROKEN:
        return e->draining ? "drain" : "aborted";
    }
    return "";
}

void request_end_count(struct metrics *m, const struct request_end *e)
{
    if (e->x->response.status != 0) {
        metrics_request(m, e->x->response.status, e->duration_us);
    }
    metrics_add(m, METRIC_ROWS, e->rows);
    metrics_add(m, METRIC_BODY_BYTES, e->x->sent_bytes);
    metrics_add(m, METRIC_REQUESTS_RUNNING, (uint64_t)-1);
    if (e->streams) {
        metrics_add(m, METRIC_STREAMS_RUNNING, (uint64_t)-1);
    }
    switch (e->how) {
    case HTTP_END_COMPLETE:
        break;
    case HTTP_END_GONE:
        metrics_add(m, e->streams ? METRIC_GONE_STREAMING : METRIC_GONE_WAITING, 1);
        break;
    case HTTP_END_STALLED:
        metrics_add(m, METRIC_ABORT_STALLED, 1);
        break;
    case HTTP_END_BROKEN:
        metrics_add(m, e->draining ? METRIC_ABORT_DRAIN : METRIC_ABORT_DATABASE, 1);
        break;
    }
}

void request_end_log(struct log *log, const struct request_end *e)
{
    const struct http_exchange *x = e->x;
    const struct odata_error *err = e->err;
    char id[24];
    snprintf(id, sizeof(id), "%" PRIx64, e->id);
    if (log_is_on(log, LOG_INFO)) {
        struct bytes target;
        bytes_init(&target, 4 * x->target.len + 16);
        log_mask_target(&target, x->target);
        log_begin(log, LOG_INFO, "request");
        log_text(log, "id", id);
        log_str(log, "method", http_method_name(x->head.method));
        log_str(log, "target", bytes_str(&target));
        log_int(log, "status", x->response.status);
        log_int(log, "rows", (int64_t)e->rows);
        log_int(log, "bytes", (int64_t)x->sent_bytes);
        log_us(log, "ms", e->duration_us);
        log_text(log, "end", end_name(e));
        if (e->role != NULL) {
            log_text(log, "role", e->role);
        }
        if (err->http_status != 0) {
            log_text(log, "code", err->code);
        }
        log_end(log);
        bytes_fini(&target);
    }
    /* PostgreSQL's own words may hold a row's values: only where a server is at fault. */
    if (err->http_status >= 500 && err->http_status != 501 &&
        log_begin(log, LOG_WARNING, "request_failed")) {
        log_text(log, "id", id);
        log_text(log, "code", err->code);
        log_text(log, "message", err->message);
        log_text(log, "internal", err->internal);
        log_end(log);
    }
}

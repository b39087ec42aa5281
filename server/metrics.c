// SPDX-License-Identifier: Apache-2.0
#include "server/metrics.h"

#include "odata/compiler.h"

static const int64_t bucket_us[METRICS_BUCKETS] = {
    500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 1000000, 5000000, 30000000,
};
static const char *const bucket_names[METRICS_BUCKETS + 1] = {
    "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05",
    "0.1",    "0.25",  "1",      "5",     "30",   "+Inf",
};

enum fold {
    FOLD_SUM,
    FOLD_MOST,
};

/* Rows of one name stand together: its help is written once. */
static const struct metric_row {
    enum metric metric;
    const char *name;
    const char *labels;
    const char *type;
    const char *help;
    enum fold fold;
} metric_rows[] = {
    {METRIC_REQUESTS_1XX_2XX, "sluice_requests_total", "{status=\"2xx\"}", "counter",
     "Requests answered, by class of status.", FOLD_SUM},
    {METRIC_REQUESTS_3XX, "sluice_requests_total", "{status=\"3xx\"}", NULL, NULL, FOLD_SUM},
    {METRIC_REQUESTS_4XX, "sluice_requests_total", "{status=\"4xx\"}", NULL, NULL, FOLD_SUM},
    {METRIC_REQUESTS_501, "sluice_requests_total", "{status=\"501\"}", NULL, NULL, FOLD_SUM},
    {METRIC_REQUESTS_5XX, "sluice_requests_total", "{status=\"5xx\"}", NULL, NULL, FOLD_SUM},
    {METRIC_ROWS, "sluice_rows_total", "", "counter", "Rows written to clients.", FOLD_SUM},
    {METRIC_BODY_BYTES, "sluice_body_bytes_total", "", "counter",
     "Bytes of response bodies handed to the network.", FOLD_SUM},
    {METRIC_STREAMS_STARTED, "sluice_streams_total", "", "counter",
     "Responses that were longer than the buffer and went out in chunks.", FOLD_SUM},
    {METRIC_ABORT_DATABASE, "sluice_streams_aborted_total", "{cause=\"database\"}", "counter",
     "Streams that were broken off visibly, by cause.", FOLD_SUM},
    {METRIC_ABORT_STALLED, "sluice_streams_aborted_total", "{cause=\"stalled\"}", NULL, NULL,
     FOLD_SUM},
    {METRIC_ABORT_DRAIN, "sluice_streams_aborted_total", "{cause=\"drain\"}", NULL, NULL, FOLD_SUM},
    {METRIC_GONE_WAITING, "sluice_clients_gone_total", "{phase=\"waiting\"}", "counter",
     "Clients that left before their answer was complete.", FOLD_SUM},
    {METRIC_GONE_STREAMING, "sluice_clients_gone_total", "{phase=\"streaming\"}", NULL, NULL,
     FOLD_SUM},
    {METRIC_TIMEOUT_HEADERS, "sluice_timeouts_total", "{what=\"headers\"}", "counter",
     "Deadlines that passed.", FOLD_SUM},
    {METRIC_TIMEOUT_IDLE, "sluice_timeouts_total", "{what=\"idle\"}", NULL, NULL, FOLD_SUM},
    {METRIC_TIMEOUT_REQUEST, "sluice_timeouts_total", "{what=\"request\"}", NULL, NULL, FOLD_SUM},
    {METRIC_REFUSED_HEADERS, "sluice_refused_total", "{why=\"headers\"}", "counter",
     "Requests and connections that were refused before they were looked at.", FOLD_SUM},
    {METRIC_REFUSED_CONNECTIONS, "sluice_refused_total", "{why=\"connections\"}", NULL, NULL,
     FOLD_SUM},
    {METRIC_REFUSED_UNREADABLE, "sluice_refused_total", "{why=\"unreadable\"}", NULL, NULL,
     FOLD_SUM},
    {METRIC_ACCEPT_PAUSES, "sluice_accept_pauses_total", "", "counter",
     "Times that accepting paused for want of descriptors.", FOLD_SUM},
    {METRIC_CONNECTIONS_ACCEPTED, "sluice_connections_total", "", "counter",
     "Client connections accepted.", FOLD_SUM},
    {METRIC_DB_CANCELS, "sluice_db_cancels_total", "", "counter",
     "Queries cancelled in PostgreSQL.", FOLD_SUM},
    {METRIC_DB_CONNECTS, "sluice_db_connects_total", "", "counter",
     "Connections to PostgreSQL that came up.", FOLD_SUM},
    {METRIC_DB_CONNECT_FAILURES, "sluice_db_connect_failures_total", "", "counter",
     "Connections to PostgreSQL that failed or were lost.", FOLD_SUM},
    {METRIC_MODEL_STALE, "sluice_model_stale_total", "", "counter",
     "Statements that failed because the database has another shape than the model.", FOLD_SUM},
    {METRIC_LOG_DROPPED, "sluice_log_lines_dropped_total", "", "counter",
     "Log lines that nobody read in time.", FOLD_SUM},
    {METRIC_CONNECTIONS, "sluice_connections", "", "gauge", "Client connections now.", FOLD_SUM},
    {METRIC_CONNECTIONS, "sluice_worker_connections_most", "", "gauge",
     "Client connections of the worker that has the most.", FOLD_MOST},
    {METRIC_REQUESTS_RUNNING, "sluice_requests_running", "", "gauge", "Requests now.", FOLD_SUM},
    {METRIC_STREAMS_RUNNING, "sluice_streams_running", "", "gauge", "Streams now.", FOLD_SUM},
    {METRIC_DB_CONNECTED, "sluice_db_connections", "{state=\"connected\"}", "gauge",
     "Connections to PostgreSQL.", FOLD_SUM},
    {METRIC_DB_BUSY, "sluice_db_connections", "{state=\"busy\"}", NULL, NULL, FOLD_SUM},
    {METRIC_DB_WAITING, "sluice_db_waiting", "", "gauge",
     "Reads that wait for a connection to PostgreSQL.", FOLD_SUM},
    {METRIC_LONGEST_TURN_US, "sluice_loop_longest_turn_microseconds", "", "gauge",
     "The longest turn of a worker's loop so far.", FOLD_MOST},
};

void metrics_request(struct metrics *m, int status, int64_t duration_us)
{
    static const enum metric by_class[] = {
        METRIC_REQUESTS_1XX_2XX, METRIC_REQUESTS_1XX_2XX, METRIC_REQUESTS_1XX_2XX,
        METRIC_REQUESTS_3XX,     METRIC_REQUESTS_4XX,     METRIC_REQUESTS_5XX,
    };
    size_t class = (size_t)status / 100;
    enum metric which = class < ARRAY_SIZE(by_class) ? by_class[class] : METRIC_REQUESTS_5XX;
    metrics_add(m, status == 501 ? METRIC_REQUESTS_501 : which, 1);
    size_t bucket = 0;
    while (bucket < METRICS_BUCKETS && duration_us > bucket_us[bucket]) {
        bucket++;
    }
    _Atomic uint64_t *count = &m->duration_buckets[bucket];
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    uint64_t sum = atomic_load_explicit(&m->duration_sum_us, memory_order_relaxed);
    atomic_store_explicit(&m->duration_sum_us, sum + (uint64_t)duration_us, memory_order_relaxed);
}

static uint64_t fold(struct metrics *const *sets, size_t count, const struct metric_row *row)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t value = metrics_get(sets[i], row->metric);
        if (row->fold == FOLD_SUM) {
            total += value;
        } else if (value > total) {
            total = value;
        }
    }
    return total;
}

static void write_durations(struct metrics *const *sets, size_t count, struct bytes *out)
{
    BYTES_PUT_LITERAL(out, "# HELP sluice_request_duration_seconds From the request line to the "
                           "last byte of the answer.\n"
                           "# TYPE sluice_request_duration_seconds histogram\n");
    uint64_t total = 0;
    uint64_t sum_us = 0;
    for (size_t bucket = 0; bucket <= METRICS_BUCKETS; bucket++) {
        for (size_t i = 0; i < count; i++) {
            total += atomic_load_explicit(&sets[i]->duration_buckets[bucket], memory_order_relaxed);
        }
        bytes_format(out, "sluice_request_duration_seconds_bucket{le=\"%s\"} %llu\n",
                     bucket_names[bucket], (unsigned long long)total);
    }
    for (size_t i = 0; i < count; i++) {
        sum_us += atomic_load_explicit(&sets[i]->duration_sum_us, memory_order_relaxed);
    }
    bytes_format(out, "sluice_request_duration_seconds_sum %llu.%06llu\n",
                 (unsigned long long)(sum_us / 1000000), (unsigned long long)(sum_us % 1000000));
    bytes_format(out, "sluice_request_duration_seconds_count %llu\n", (unsigned long long)total);
}

void metrics_write(struct metrics *const *sets, size_t count, struct bytes *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(metric_rows); i++) {
        const struct metric_row *row = &metric_rows[i];
        if (row->help != NULL) {
            bytes_format(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                         row->type);
        }
        bytes_format(out, "%s%s %llu\n", row->name, row->labels,
                     (unsigned long long)fold(sets, count, row));
    }
    write_durations(sets, count, out);
}

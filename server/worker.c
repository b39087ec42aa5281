// SPDX-License-Identifier: Apache-2.0
#include "server/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "server/acceptor.h"
#include "server/http.h"
#include "server/loop.h"
#include "server/request.h"
#include "storage/pool.h"

enum {
    LONGEST_WAIT_MS = 1000,
    /* Lines of requests are written together, but not much later than they came. */
    LOG_DELAY_MS = 50,
    GAUGES_EVERY_MS = 100,
    /* Reads that may wait for a connection, for each connection. */
    WAITING_PER_CONNECTION = 16,
    LEAST_WAITING = 256,
    CONNECT_TIMEOUT_MS = 3000,
    STATEMENT_CACHE = 256,
    /* Two of them are under way for each stream. */
    FETCH_BYTES = 64 * 1024,
    /* How long connections may take to end after they were told to. */
    STOP_MS = 2000,
    /* Of the drain's time: when streams are asked to end with a next link. */
    EARLY_END_PART = 5,
    TIMERS_PER_CONNECTION = 4,
    SPARE_TIMERS = 1024,
};

/* RUNNING -> DRAINING -> STOPPING -> ENDED; RUNNING -> STOPPING. */
enum worker_state {
    WORKER_RUNNING,
    WORKER_DRAINING, /* accepts no client; ends with its last connection, or when it is told to */
    WORKER_STOPPING, /* everything is aborted; ends with its last connection */
    WORKER_ENDED,
};

struct worker {
    struct worker_options options;
    pthread_t thread;
    struct loop *loop;
    struct http *http;
    struct pool *pool;
    struct acceptor acceptor;
    struct acceptor admin;
    struct watch handed; /* clients that other workers have accepted */
    struct log log;
    struct request_env env;
    enum worker_state state;
    int64_t early_end_ms; /* 0 = done, or not yet */
    int64_t deadline_ms;
    int64_t gauges_ms;
    struct log_news db_news; /* why a connection to PostgreSQL failed or was lost */
    int64_t log_since_ms;    /* the oldest line that is not written */
    /* From other threads. */
    _Atomic(struct document *) incoming;
    _Atomic(struct auth_material *) incoming_auth;
    _Atomic int wanted; /* enum worker_state */
    _Atomic bool quiet;
    _Atomic bool ended;
};

static void worker_enter(struct worker *w, enum worker_state to)
{
    w->state = to;
}

/* What storage reports. */

static void on_connection(void *ctx, bool up, const char *text)
{
    struct worker *w = ctx;
    metrics_add(w->options.metrics, up ? METRIC_DB_CONNECTS : METRIC_DB_CONNECT_FAILURES, 1);
    if (up) {
        w->db_news.said_ms = 0;
        log_event(&w->log, LOG_DEBUG, "db_connected", "text", text);
    } else if (log_is_news(&w->db_news, text == NULL ? "" : text, loop_clock_ms())) {
        log_event(&w->log, LOG_WARNING, "db_connection_failed", "text", text);
    }
}

static void on_cancelled(void *ctx)
{
    struct worker *w = ctx;
    metrics_add(w->options.metrics, METRIC_DB_CANCELS, 1);
}

static void on_model_stale(void *ctx)
{
    struct worker *w = ctx;
    const struct service *s = w->options.service;
    metrics_add(w->options.metrics, METRIC_MODEL_STALE, 1);
    if (s->model_stale != NULL) {
        s->model_stale(s->model_stale_ctx);
    }
}

static void on_notice(void *ctx, const char *text)
{
    struct worker *w = ctx;
    log_event(&w->log, LOG_DEBUG, "db_notice", "text", text);
}

/* Clients. */

static void add_client(struct worker *w, int fd, const struct sockaddr *peer, socklen_t peer_len)
{
    http_add_client(w->http, fd, peer, peer_len, false);
    spread_publish(w->options.spread, w->options.number, http_client_connections(w->http));
}

static void on_client(void *ctx, int fd, const struct sockaddr *peer, socklen_t peer_len)
{
    struct worker *w = ctx;
    struct spread_client client = {.fd = fd, .peer_len = peer_len};
    memcpy(&client.peer, peer, peer_len);
    if (!spread_pass(w->options.spread, w->options.number, &client)) {
        add_client(w, fd, peer, peer_len);
    }
}

static void take_handed(struct worker *w)
{
    struct spread_client client;
    while (spread_take(w->options.spread, w->options.number, &client)) {
        add_client(w, client.fd, (const struct sockaddr *)&client.peer, client.peer_len);
    }
}

static void on_handed(struct watch *watch, unsigned events, int64_t now_ms)
{
    (void)events;
    (void)now_ms;
    take_handed(watch->owner);
}

static void on_admin_client(void *ctx, int fd, const struct sockaddr *peer, socklen_t peer_len)
{
    struct worker *w = ctx;
    http_add_client(w->http, fd, peer, peer_len, true);
}

static void on_accept_paused(void *ctx)
{
    struct worker *w = ctx;
    metrics_add(w->options.metrics, METRIC_ACCEPT_PAUSES, 1);
    log_event(&w->log, LOG_WARNING, "accept_paused", "reason", "out of descriptors");
}

static void on_http_log(void *ctx, const char *text)
{
    struct worker *w = ctx;
    log_event(&w->log, LOG_DEBUG, "http", "text", text);
}

static void on_unreadable(void *ctx, uint64_t received_bytes)
{
    struct worker *w = ctx;
    if (log_begin(&w->log, LOG_INFO, "unreadable_request")) {
        log_int(&w->log, "bytes", (int64_t)received_bytes);
        log_end(&w->log);
    }
}

/* Draining and stopping. */

static void end_early(struct http_exchange *x, void *ctx)
{
    (void)ctx;
    request_end_early(x);
}

static void abort_one(struct http_exchange *x, void *ctx)
{
    (void)ctx;
    request_abort_for_drain(x);
}

/* Nobody is under way from another worker, nor will be. */
static bool has_all_clients(struct worker *w)
{
    if (!spread_close(w->options.spread, w->options.number)) {
        take_handed(w);
        return spread_close(w->options.spread, w->options.number);
    }
    return true;
}

static void begin_drain(struct worker *w, int64_t now_ms)
{
    worker_enter(w, WORKER_DRAINING);
    int64_t whole_ms = w->options.service->config->drain_timeout_ms;
    w->early_end_ms = now_ms + whole_ms / EARLY_END_PART;
    w->deadline_ms = now_ms + whole_ms;
    acceptor_stop(&w->acceptor);
    http_drain(w->http);
}

static void begin_stop(struct worker *w, int64_t now_ms)
{
    worker_enter(w, WORKER_STOPPING);
    w->deadline_ms = now_ms + STOP_MS;
    acceptor_stop(&w->acceptor);
    acceptor_stop(&w->admin);
    http_drain(w->http);
    http_each(w->http, abort_one, NULL);
    http_close_idle(w->http);
}

/* What other threads want, and what the time says. */
static void advance(struct worker *w)
{
    int64_t now_ms = loop_now_ms(w->loop);
    struct document *incoming = atomic_exchange(&w->incoming, NULL);
    if (incoming != NULL) {
        document_release(w->env.document);
        w->env.document = incoming;
        if (w->env.roles != NULL) {
            role_documents_forget(w->env.roles);
        }
    }
    struct auth_material *auth = atomic_exchange(&w->incoming_auth, NULL);
    if (auth != NULL) {
        auth_set_material(w->env.auth, auth);
    }
    int wanted = atomic_load(&w->wanted);
    if (wanted >= WORKER_DRAINING && w->state == WORKER_RUNNING && has_all_clients(w)) {
        begin_drain(w, now_ms);
    }
    if (w->state == WORKER_DRAINING && w->early_end_ms != 0 && now_ms >= w->early_end_ms) {
        w->early_end_ms = 0;
        http_each(w->http, end_early, NULL);
    }
    if (w->state == WORKER_DRAINING && (wanted >= WORKER_STOPPING || now_ms >= w->deadline_ms)) {
        begin_stop(w, now_ms);
    }
    bool has_admin = w->admin.watch.fd >= 0;
    atomic_store(&w->quiet, w->state == WORKER_DRAINING && http_client_connections(w->http) == 0);
    if ((w->state == WORKER_DRAINING && !has_admin && http_connections(w->http) == 0) ||
        (w->state == WORKER_STOPPING &&
         (http_connections(w->http) == 0 || now_ms >= w->deadline_ms))) {
        worker_enter(w, WORKER_ENDED);
    }
}

static void publish_gauges(struct worker *w, int64_t now_ms)
{
    if (now_ms < w->gauges_ms) {
        return;
    }
    w->gauges_ms = now_ms + GAUGES_EVERY_MS;
    struct pool_counts counts;
    pool_get_counts(w->pool, &counts);
    struct metrics *m = w->options.metrics;
    metrics_set(m, METRIC_DB_CONNECTED, counts.connected);
    metrics_set(m, METRIC_DB_BUSY, counts.busy);
    metrics_set(m, METRIC_DB_WAITING, counts.waiting);
    metrics_set(m, METRIC_READY, pool_is_ready(w->pool) ? 1 : 0);
    metrics_set(m, METRIC_LOG_DROPPED, w->log.dropped);
}

static int64_t turn_wait_ms(struct worker *w)
{
    int64_t wait = http_wait_ms(w->http);
    int64_t most = w->log.out.len > 0 ? LOG_DELAY_MS : LONGEST_WAIT_MS;
    if (w->state != WORKER_RUNNING || atomic_load(&w->wanted) != WORKER_RUNNING ||
        metrics_get(w->options.metrics, METRIC_READY) == 0) {
        most = LOG_DELAY_MS;
    }
    return wait < most ? wait : most;
}

static void flush_log(struct worker *w, int64_t now_ms)
{
    if (w->log.out.len == 0) {
        w->log_since_ms = now_ms;
    } else if (now_ms - w->log_since_ms >= LOG_DELAY_MS) {
        log_flush(&w->log);
        w->log_since_ms = now_ms;
    }
}

static int64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void measure_turn(struct worker *w, int64_t began_us)
{
    uint64_t us = (uint64_t)(clock_us() - began_us);
    if (us > metrics_get(w->options.metrics, METRIC_LONGEST_TURN_US)) {
        metrics_set(w->options.metrics, METRIC_LONGEST_TURN_US, us);
    }
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    while (w->state != WORKER_ENDED) {
        loop_turn(w->loop, turn_wait_ms(w));
        /* The wait is over when loop_now_ms() was read; rows and requests count from there. */
        int64_t began_us = loop_turn_began_us(w->loop);
        int64_t now_ms = loop_now_ms(w->loop);
        advance(w);
        http_run(w->http);
        spread_publish(w->options.spread, w->options.number, http_client_connections(w->http));
        publish_gauges(w, now_ms);
        flush_log(w, now_ms);
        measure_turn(w, began_us);
    }
    log_flush(&w->log);
    atomic_store(&w->ended, true);
    return NULL;
}

static void worker_free(struct worker *w)
{
    /* What did not end in time still has exchanges inside: those are left to the exit. */
    if (w->http == NULL || http_connections(w->http) == 0) {
        http_free(w->http);
        if (w->pool != NULL) {
            pool_free(w->pool);
        }
        role_documents_free(w->env.roles);
        auth_free(w->env.auth);
        loop_free(w->loop);
    }
    document_release(w->env.document);
    document_release(atomic_load(&w->incoming));
    auth_material_release(atomic_load(&w->incoming_auth));
    log_fini(&w->log);
    free(w);
}

static bool open_pool(struct worker *w)
{
    const struct config *c = w->options.service->config;
    size_t waiting = c->db_pool_size * WAITING_PER_CONNECTION;
    const struct pool_options options = {
        .db_uri = c->db_uri,
        .budget = w->options.budget,
        .max_waiting = waiting > LEAST_WAITING ? waiting : LEAST_WAITING,
        .wait_ms = c->db_pool_wait_ms,
        .connect_timeout_ms = CONNECT_TIMEOUT_MS,
        .statement_timeout_ms = c->statement_timeout_ms,
        .prepared_statements = c->prepared_statements,
        .statement_cache_size = STATEMENT_CACHE,
        .fetch_bytes = FETCH_BYTES,
    };
    const struct storage_observer observer = {
        .ctx = w,
        .connection = on_connection,
        .cancelled = on_cancelled,
        .model_stale = on_model_stale,
        .notice = on_notice,
    };
    w->pool = pool_new(&options, loop_reactor(w->loop), &observer);
    if (w->pool == NULL) {
        return false;
    }
    pool_warm(w->pool);
    return true;
}

static bool open_http(struct worker *w)
{
    const struct config *c = w->options.service->config;
    w->env = (struct request_env){
        .service = w->options.service,
        .loop = w->loop,
        .pool = w->pool,
        .log = &w->log,
        .metrics = w->options.metrics,
        .next_id = ((uint64_t)w->options.number + 1) << 40 | 1,
    };
    const struct http_options options = {
        .max_url_bytes = c->max_url_bytes,
        .max_body_bytes = c->max_body_bytes,
        .compression = c->compression,
        .max_connections = w->options.max_connections,
        .header_timeout_ms = c->header_timeout_ms,
        .idle_timeout_ms = c->idle_timeout_ms,
        .request_timeout_ms = c->request_timeout_ms,
        .stall_timeout_ms = c->stream_stall_timeout_ms,
        .metrics = w->options.metrics,
        .log = on_http_log,
        .unreadable = on_unreadable,
        .log_ctx = w,
    };
    struct http_handler handler;
    request_handler(&w->env, &handler);
    w->http = http_new(&options, &handler, w->loop);
    return w->http != NULL;
}

static bool open_auth(struct worker *w)
{
    const struct config *c = w->options.service->config;
    if (!auth_is_wanted(c)) {
        return true;
    }
    struct auth_material *m = w->options.auth;
    w->env.auth = auth_new(c, m == NULL ? NULL : auth_material_retain(m), loop_reactor(w->loop));
    w->env.roles =
        role_documents_new(w->options.service->roles, c->role_models, loop_reactor(w->loop));
    return w->env.auth != NULL && w->env.roles != NULL;
}

static bool open_listeners(struct worker *w)
{
    w->acceptor.ctx = w;
    w->acceptor.accepted = on_client;
    w->acceptor.paused = on_accept_paused;
    w->admin = w->acceptor;
    w->admin.accepted = on_admin_client;
    w->admin.watch.fd = -1;
    w->handed = (struct watch){
        .fd = spread_fd(w->options.spread, w->options.number), .ready = on_handed, .owner = w};
    return loop_watch(w->loop, &w->handed, WATCH_READ) &&
           acceptor_start(&w->acceptor, w->loop, w->options.listen_fd) &&
           (w->options.admin_fd < 0 || acceptor_start(&w->admin, w->loop, w->options.admin_fd));
}

struct worker *worker_start(const struct worker_options *options, char *reason, size_t reason_size)
{
    struct worker *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        snprintf(reason, reason_size, "memory is short");
        return NULL;
    }
    const struct config *c = options->service->config;
    w->options = *options;
    log_init(&w->log, STDERR_FILENO, (enum log_level)c->log_level, (enum log_format)c->log_format);
    w->loop = loop_new(options->max_connections * TIMERS_PER_CONNECTION + c->db_pool_size * 8 +
                       SPARE_TIMERS);
    if (w->loop == NULL || !open_pool(w) || !open_http(w) || !open_auth(w) || !open_listeners(w)) {
        snprintf(reason, reason_size, "descriptors or memory are short");
        worker_free(w);
        return NULL;
    }
    int status = pthread_create(&w->thread, NULL, worker_main, w);
    if (status != 0) {
        snprintf(reason, reason_size, "%s", strerrordesc_np(status));
        worker_free(w);
        return NULL;
    }
    return w;
}

void worker_set_document(struct worker *w, struct document *d)
{
    document_release(atomic_exchange(&w->incoming, d));
    loop_wake(w->loop);
}

void worker_set_auth(struct worker *w, struct auth_material *m)
{
    auth_material_release(atomic_exchange(&w->incoming_auth, m));
    loop_wake(w->loop);
}

static void want(struct worker *w, enum worker_state state)
{
    atomic_store(&w->wanted, (int)state);
    loop_wake(w->loop);
}

void worker_drain(struct worker *w)
{
    want(w, WORKER_DRAINING);
}

void worker_stop(struct worker *w)
{
    want(w, WORKER_STOPPING);
}

bool worker_is_quiet(const struct worker *w)
{
    return atomic_load(&w->quiet) || atomic_load(&w->ended);
}

bool worker_has_ended(const struct worker *w)
{
    return atomic_load(&w->ended);
}

void worker_join(struct worker *w)
{
    pthread_join(w->thread, NULL);
    worker_free(w);
}

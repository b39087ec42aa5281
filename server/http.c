// SPDX-License-Identifier: Apache-2.0
#include "server/http.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "server/http_priv.h"
#include "server/socket_progress.h"

enum {
    /* URLs up to here fit, beside the rest of the head; longer ones need a larger pool. */
    POOL_URL_BYTES = 24 * 1024,
    /* An autotuned send buffer grows to 4 MB: 200 stalled readers held 755 MB of kernel memory. */
    SEND_BUFFER_BYTES = 128 * 1024,
    /* Runs of libmicrohttpd in one turn, while it gets on: each sends a chunk of every stream. */
    RUNS_A_TURN = 8,
    /* What libmicrohttpd's own limit is above ours. */
    SPARE_CONNECTIONS = 64,
    /* Seen from an accepted connection that has not sent its request when the drain begins. */
    DRAIN_GRACE_MS = 1000,
};

/* How it ended, as far as libmicrohttpd knows; after a client's orderly end it says COMPLETED_OK. */
static enum http_end end_of(const struct http_exchange *x, enum MHD_RequestTerminationCode code)
{
    if (x->state == EXCHANGE_BROKEN) {
        return x->how;
    }
    if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK || x->state != EXCHANGE_SENDING) {
        return HTTP_END_GONE;
    }
    return HTTP_END_COMPLETE;
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **req_cls,
                         enum MHD_RequestTerminationCode code)
{
    (void)mhd;
    struct http *h = cls;
    struct http_exchange *x = *req_cls;
    *req_cls = NULL;
    if (x == NULL) {
        return;
    }
    struct http_conn *c = x->conn;
    http_end_lingering(x);
    http_waiting_remove(h, x);
    loop_unwatch(h->loop, &c->watch);
    h->progress = true;
    c->exchange = NULL;
    /* A refusal was handed to the handler too: only what never got so far has no end. */
    if (x->state != EXCHANGE_RECEIVING && x->owner != NULL) {
        h->handler.end(x, end_of(x, code));
    }
    http_exchange_recycle(h, x);
    http_deadline_in(c, h->options.idle_timeout_ms);
}

static void conn_link(struct http *h, struct http_conn *c)
{
    c->after = h->conns;
    if (h->conns != NULL) {
        h->conns->before = c;
    }
    h->conns = c;
    h->conn_count++;
    h->admin_count += c->admin;
    metrics_set(h->options.metrics, METRIC_CONNECTIONS, h->conn_count);
}

static void conn_unlink(struct http *h, struct http_conn *c)
{
    if (c->before != NULL) {
        c->before->after = c->after;
    } else {
        h->conns = c->after;
    }
    if (c->after != NULL) {
        c->after->before = c->before;
    }
    h->conn_count--;
    h->admin_count -= c->admin;
    metrics_set(h->options.metrics, METRIC_CONNECTIONS, h->conn_count);
}

static void conn_started(struct http *h, struct MHD_Connection *mhd, void **socket_context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_conn *c = calloc(1, sizeof(*c));
    if (c == NULL || info == NULL) {
        free(c);
        return; /* http_on_target() finds no connection, and it is closed with its first request */
    }
    c->http = h;
    c->mhd = mhd;
    c->admin = h->incoming_admin;
    c->overload = h->conn_count >= h->options.max_connections;
    c->watch = (struct watch){.fd = info->connect_fd, .ready = http_on_client_gone, .owner = c};
    c->timer = (struct timer){.due = http_on_conn_timer, .owner = c};
    *socket_context = c;
    conn_link(h, c);
    metrics_add(h->options.metrics, METRIC_CONNECTIONS_ACCEPTED, 1);
    http_deadline_in(c, h->options.header_timeout_ms);
}

/*
 * Garbage, TLS, HTTP/2, a URL beyond the pool: libmicrohttpd closes or answers by itself, and no
 * callback tells of a request.
 */
static void tell_unreadable(struct http *h, const struct http_conn *c)
{
    struct socket_progress progress;
    if (c->used || h->draining || !socket_progress_get(c->watch.fd, &progress) ||
        progress.received_bytes == 0) {
        return;
    }
    metrics_add(h->options.metrics, METRIC_REFUSED_UNREADABLE, 1);
    if (h->options.unreadable != NULL) {
        h->options.unreadable(h->options.log_ctx, progress.received_bytes);
    }
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http *h = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        conn_started(h, mhd, socket_context);
        return;
    }
    struct http_conn *c = *socket_context;
    if (c != NULL) {
        *socket_context = NULL;
        tell_unreadable(h, c);
        loop_unwatch(h->loop, &c->watch);
        loop_set_timer(h->loop, &c->timer, 0);
        conn_unlink(h, c);
        free(c);
    }
}

static void on_daemon_log(void *cls, const char *fmt, va_list args)
{
    struct http *h = cls;
    char text[256];
    vsnprintf(text, sizeof(text), fmt, args);
    h->options.log(h->options.log_ctx, text);
}

static void on_daemon_ready(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    (void)now_ms;
    struct http *h = w->owner;
    h->run_wanted = true;
}

static size_t pool_bytes(size_t max_url_bytes)
{
    return max_url_bytes <= POOL_URL_BYTES ? HTTP_POOL_BYTES : HTTP_POOL_BYTES + 2 * max_url_bytes;
}

struct http *http_new(const struct http_options *options, const struct http_handler *handler,
                      struct loop *loop)
{
    struct http *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        return NULL;
    }
    h->options = *options;
    h->handler = *handler;
    h->loop = loop;
    h->watch_timer = (struct timer){.due = http_on_watch_timer, .owner = h};
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, http_on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_daemon_log, h,
        MHD_OPTION_URI_LOG_CALLBACK, http_on_target, h, MHD_OPTION_UNESCAPE_CALLBACK,
        http_on_unescape, h, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        pool_bytes(options->max_url_bytes), MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(options->max_connections + SPARE_CONNECTIONS), MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_END);
    if (h->daemon == NULL) {
        free(h);
        return NULL;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    h->watch = (struct watch){
        .fd = info == NULL ? -1 : info->epoll_fd, .ready = on_daemon_ready, .owner = h};
    if (!loop_watch(loop, &h->watch, WATCH_READ)) {
        MHD_stop_daemon(h->daemon);
        free(h);
        return NULL;
    }
    return h;
}

void http_free(struct http *h)
{
    if (h == NULL) {
        return;
    }
    assert(h->conn_count == 0);
    loop_unwatch(h->loop, &h->watch);
    loop_set_timer(h->loop, &h->watch_timer, 0);
    MHD_stop_daemon(h->daemon);
    while (h->spare != NULL) {
        struct http_exchange *x = h->spare;
        h->spare = x->waiting_after;
        http_exchange_free(x);
    }
    free(h);
}

void http_add_client(struct http *h, int fd, const struct sockaddr *peer, socklen_t peer_len,
                     bool admin)
{
    if (h->conn_count >= h->options.max_connections + SPARE_CONNECTIONS / 2) {
        metrics_add(h->options.metrics, METRIC_REFUSED_CONNECTIONS, 1);
        close(fd);
        return;
    }
    const int on = 1;
    const int send_buffer = SEND_BUFFER_BYTES;
    const int idle_s = 6;
    const int probe_s = 3;
    const int probes = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
    /* A host that vanished is found after 15 s. TCP_USER_TIMEOUT would kill honest slow readers. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof(probe_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    h->incoming_admin = admin;
    MHD_add_connection(h->daemon, fd, peer, peer_len);
    h->incoming_admin = false;
    h->run_wanted = true;
}

/*
 * libmicrohttpd has something to do now. While something lingers it always says so: then only
 * events, answers and progress count.
 */
static bool daemon_is_due(struct http *h)
{
    MHD_UNSIGNED_LONG_LONG timeout = 0;
    if (h->lingering > 0) {
        return loop_now_ms(h->loop) - h->last_run_ms >= HTTP_LINGER_MS;
    }
    return MHD_get_timeout(h->daemon, &timeout) == MHD_YES && timeout == 0;
}

int64_t http_wait_ms(struct http *h)
{
    if (h->run_wanted || daemon_is_due(h)) {
        h->run_wanted = true;
        return 0;
    }
    return h->lingering > 0 ? HTTP_LINGER_MS : INT64_MAX;
}

void http_run(struct http *h)
{
    for (int i = 0; i < RUNS_A_TURN && (h->run_wanted || daemon_is_due(h)); i++) {
        h->run_wanted = false;
        h->progress = false;
        h->last_run_ms = loop_now_ms(h->loop);
        MHD_run(h->daemon);
        /* What came in is read on, what goes out is written on; a run that only asked those that
           linger is not repeated. */
        h->run_wanted = h->run_wanted || h->progress;
    }
}

void http_response_header(struct http_exchange *x, const char *name, const char *value)
{
    struct http_response *r = &x->response;
    assert(r->header_count < HTTP_MOST_HEADERS);
    r->headers[r->header_count++] = (struct http_header){name, value};
}

void http_respond(struct http_exchange *x)
{
    if (x->state == EXCHANGE_BROKEN) {
        return; /* the client left in the turn of the loop that brought the answer */
    }
    http_enter(x, EXCHANGE_ANSWERED);
    http_unsuspend(x);
}

void http_resume(struct http_exchange *x)
{
    if (x->state == EXCHANGE_STARVED) {
        http_unsuspend(x);
    }
}

void http_abort(struct http_exchange *x)
{
    http_break_off(x, HTTP_END_BROKEN);
}

size_t http_connections(const struct http *h)
{
    return h->conn_count;
}

size_t http_client_connections(const struct http *h)
{
    return h->conn_count - h->admin_count;
}

void http_each(struct http *h, void (*fn)(struct http_exchange *x, void *ctx), void *ctx)
{
    for (struct http_conn *c = h->conns; c != NULL; c = c->after) {
        struct http_exchange *x = c->exchange;
        if (x != NULL && x->owner != NULL && x->state != EXCHANGE_BROKEN) {
            fn(x, ctx);
        }
    }
}

void http_drain(struct http *h)
{
    h->draining = true;
    for (struct http_conn *c = h->conns; c != NULL; c = c->after) {
        if (c->exchange != NULL) {
            continue;
        }
        /* A request that is on its way is still answered. */
        int pending = 0;
        bool silent = ioctl(c->watch.fd, FIONREAD, &pending) == 0 && pending == 0;
        if (c->used && silent) {
            shutdown(c->watch.fd, SHUT_RDWR);
        } else {
            http_deadline_in(c, DRAIN_GRACE_MS);
        }
    }
    h->run_wanted = true;
}

void http_close_idle(struct http *h)
{
    for (struct http_conn *c = h->conns; c != NULL; c = c->after) {
        if (c->exchange == NULL || c->exchange->state == EXCHANGE_RECEIVING) {
            shutdown(c->watch.fd, SHUT_RDWR);
        }
    }
    h->run_wanted = true;
}

#include "server/http.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "odata/limits.h"
#include "server/socket_progress.h"

enum {
    /* libmicrohttpd's memory of one connection: head, and the chunk that is being sent. Too small
       and a long URL leaves only small chunks. */
    POOL_BYTES = 64 * 1024,
    /* An autotuned send buffer grows to 4 MB: 200 stalled readers held 755 MB of kernel memory. */
    SEND_BUFFER_BYTES = 128 * 1024,
    /* Suspending and resuming cost libmicrohttpd two calls of epoll_ctl(): an exchange that is
       answered within this time is not suspended, but stays among those that are run. */
    LINGER_MS = 5,
    /* Runs of libmicrohttpd in one turn, while it gets on: each sends a chunk of every stream. */
    RUNS_A_TURN = 8,
    /* A client that leaves while it waits is looked for only after so long: most requests are
       answered sooner, and cost no epoll_ctl(). */
    WATCH_AFTER_MS = 50,
    /* A body that is a little too long is still read, so that the client reads the 413. */
    DRAIN_BYTES = 256 * 1024,
    BODY_BYTES_A_MS = 16,
    LONGEST_BODY_MS = 60000,
    /* Exchanges kept for reuse, and how much memory each may keep. */
    MOST_SPARE = 64,
    SPARE_BYTES = 64 * 1024,
    /* What libmicrohttpd's own limit is above ours. */
    SPARE_CONNECTIONS = 64,
    /* A connection that was told to end and did not is shut again. */
    BROKEN_MS = 2000,
    /* Seen from an accepted connection that has not sent its request when the drain begins. */
    DRAIN_GRACE_MS = 1000,
};

/* One client connection. */
struct http_conn {
    struct http *http;
    struct MHD_Connection *mhd;
    struct watch watch; /* of the client's socket, while it waits */
    struct timer timer; /* due at or before deadline_ms: moving a deadline away costs nothing */
    int64_t deadline_ms;
    struct http_exchange *exchange; /* NULL between two requests */
    struct http_conn *before;
    struct http_conn *after;
    bool admin;
    bool overload; /* came in above the limit: 503 */
    bool used;     /* has had a request */
};

struct http {
    struct http_options options;
    struct http_handler handler;
    struct loop *loop;
    struct MHD_Daemon *daemon;
    struct watch watch; /* of libmicrohttpd's epoll descriptor */
    bool run_wanted;
    bool progress;    /* a callback of this run has moved something on */
    size_t lingering; /* exchanges in WORKING or ANSWERED that are not suspended */
    int64_t last_run_ms;
    bool draining;
    bool incoming_admin; /* of the connection that is being added */
    struct http_conn *conns;
    size_t conn_count;
    struct http_exchange *spare;
    size_t spare_count;
    /* Suspended exchanges whose client is not watched yet, the oldest first. */
    struct http_exchange *first_waiting;
    struct http_exchange *last_waiting;
    struct timer watch_timer;
};

static int64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* States. */

static bool may_enter(enum exchange_state from, enum exchange_state to)
{
    switch (from) {
    case EXCHANGE_RECEIVING:
        return to == EXCHANGE_WORKING || to == EXCHANGE_ANSWERED || to == EXCHANGE_BROKEN;
    case EXCHANGE_WORKING:
        return to == EXCHANGE_ANSWERED || to == EXCHANGE_BROKEN;
    case EXCHANGE_ANSWERED:
        return to == EXCHANGE_SENDING || to == EXCHANGE_BROKEN;
    case EXCHANGE_SENDING:
        return to == EXCHANGE_STARVED || to == EXCHANGE_BROKEN;
    case EXCHANGE_STARVED:
        return to == EXCHANGE_SENDING || to == EXCHANGE_BROKEN;
    case EXCHANGE_BROKEN:
        return false;
    }
    return false;
}

/* The only place that writes x->state. */
static void exchange_enter(struct http_exchange *x, enum exchange_state to)
{
    assert(may_enter(x->state, to));
    x->state = to;
}

/* Deadlines: one timer a connection. */

static void conn_deadline(struct http_conn *c, int64_t deadline_ms)
{
    c->deadline_ms = deadline_ms;
    if (c->timer.deadline_ms == 0 || c->timer.deadline_ms > deadline_ms) {
        loop_set_timer(c->http->loop, &c->timer, deadline_ms);
    }
}

static void conn_deadline_in(struct http_conn *c, int64_t ms)
{
    conn_deadline(c, loop_now_ms(c->http->loop) + ms);
}

/*
 * Makes the client see a failure: a reset, since behind HTTP/1.0 an orderly end looks like the end
 * of the body. SO_LINGER would not do it: libmicrohttpd calls shutdown() first.
 */
static void reset_socket(int fd)
{
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    connect(fd, &nowhere, sizeof(nowhere));
    shutdown(fd, SHUT_RDWR);
}

/* Suspending. */

static void waiting_remove(struct http *h, struct http_exchange *x)
{
    if (x->waiting_since_ms == 0) {
        return;
    }
    x->waiting_since_ms = 0;
    if (x->waiting_before != NULL) {
        x->waiting_before->waiting_after = x->waiting_after;
    } else {
        h->first_waiting = x->waiting_after;
    }
    if (x->waiting_after != NULL) {
        x->waiting_after->waiting_before = x->waiting_before;
    } else {
        h->last_waiting = x->waiting_before;
    }
    x->waiting_before = NULL;
    x->waiting_after = NULL;
}

/* It waits, and is not suspended yet. */
static void linger(struct http_exchange *x)
{
    x->lingers = true;
    x->lingers_since_ms = loop_now_ms(x->conn->http->loop);
    x->conn->http->lingering++;
}

static void end_lingering(struct http_exchange *x)
{
    if (x->lingers) {
        x->lingers = false;
        x->conn->http->lingering--;
    }
}

static void suspend(struct http_exchange *x)
{
    struct http *h = x->conn->http;
    assert(!x->suspended);
    end_lingering(x);
    x->suspended = true;
    MHD_suspend_connection(x->conn->mhd);
    x->waiting_since_ms = loop_now_ms(h->loop);
    x->waiting_before = h->last_waiting;
    x->waiting_after = NULL;
    if (h->last_waiting != NULL) {
        h->last_waiting->waiting_after = x;
    } else {
        h->first_waiting = x;
    }
    h->last_waiting = x;
    if (h->watch_timer.deadline_ms == 0) {
        loop_set_timer(h->loop, &h->watch_timer, x->waiting_since_ms + WATCH_AFTER_MS);
    }
}

static void resume(struct http_exchange *x)
{
    struct http *h = x->conn->http;
    h->run_wanted = true;
    if (!x->suspended) {
        return;
    }
    x->suspended = false;
    waiting_remove(h, x);
    /* Ours goes first: libmicrohttpd may close the descriptor as soon as it runs. */
    loop_unwatch(h->loop, &x->conn->watch);
    MHD_resume_connection(x->conn->mhd);
}

/* The exchange cannot go on; libmicrohttpd will find out, and say that it has ended. */
static void break_off(struct http_exchange *x, enum http_end how)
{
    if (x->state == EXCHANGE_BROKEN) {
        return;
    }
    exchange_enter(x, EXCHANGE_BROKEN);
    x->how = how;
    reset_socket(x->conn->watch.fd);
    resume(x);
    x->conn->http->run_wanted = true;
    conn_deadline_in(x->conn, BROKEN_MS);
}

static void on_watch_timer(struct timer *t, int64_t now_ms)
{
    struct http *h = t->owner;
    while (h->first_waiting != NULL &&
           h->first_waiting->waiting_since_ms + WATCH_AFTER_MS <= now_ms) {
        struct http_exchange *x = h->first_waiting;
        waiting_remove(h, x);
        if (!loop_watch(h->loop, &x->conn->watch, WATCH_GONE)) {
            /* The kernel has no memory for it: the deadlines still hold. */
            continue;
        }
    }
    if (h->first_waiting != NULL) {
        loop_set_timer(h->loop, t, h->first_waiting->waiting_since_ms + WATCH_AFTER_MS);
    }
}

static void on_client_gone(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    (void)now_ms;
    struct http_conn *c = w->owner;
    assert(c->exchange != NULL && c->exchange->suspended);
    break_off(c->exchange, HTTP_END_GONE);
}

/* A response that does not move: the client's system has acknowledged nothing for too long. */
static void check_progress(struct http_conn *c, struct http_exchange *x, int64_t now_ms)
{
    struct socket_progress progress;
    int64_t stall_ms = c->http->options.stall_timeout_ms;
    bool moved = true;
    if (socket_progress_get(c->watch.fd, &progress)) {
        bool nothing_to_take = x->state == EXCHANGE_STARVED && progress.unacked_bytes == 0;
        moved = nothing_to_take || progress.acked_bytes != x->acked_bytes;
        x->acked_bytes = progress.acked_bytes;
    }
    if (moved) {
        x->progress_ms = now_ms;
    }
    if (now_ms - x->progress_ms >= stall_ms) {
        break_off(x, HTTP_END_STALLED);
        return;
    }
    int64_t next_ms = x->progress_ms + stall_ms - now_ms;
    conn_deadline_in(c, next_ms < stall_ms / 4 ? next_ms : stall_ms / 4 + 1);
}

static void conn_overdue(struct http_conn *c, int64_t now_ms)
{
    struct http_exchange *x = c->exchange;
    if (x == NULL) {
        metrics_add(c->http->options.metrics,
                    c->used ? METRIC_TIMEOUT_IDLE : METRIC_TIMEOUT_HEADERS, 1);
        shutdown(c->watch.fd, SHUT_RDWR);
        return;
    }
    switch (x->state) {
    case EXCHANGE_RECEIVING:
        metrics_add(c->http->options.metrics, METRIC_TIMEOUT_HEADERS, 1);
        shutdown(c->watch.fd, SHUT_RDWR);
        break;
    case EXCHANGE_WORKING:
        metrics_add(c->http->options.metrics, METRIC_TIMEOUT_REQUEST, 1);
        c->http->handler.overdue(x);
        break;
    case EXCHANGE_ANSWERED:
        break;
    case EXCHANGE_SENDING:
    case EXCHANGE_STARVED:
        check_progress(c, x, now_ms);
        break;
    case EXCHANGE_BROKEN:
        shutdown(c->watch.fd, SHUT_RDWR);
        break;
    }
}

static void on_conn_timer(struct timer *t, int64_t now_ms)
{
    struct http_conn *c = t->owner;
    if (c->deadline_ms > now_ms) {
        loop_set_timer(c->http->loop, t, c->deadline_ms);
        return;
    }
    conn_overdue(c, now_ms);
}

/* Exchanges, reused so that a request starts without malloc. */

static struct http_exchange *exchange_new(struct http_conn *c)
{
    struct http *h = c->http;
    struct http_exchange *x = h->spare;
    if (x != NULL) {
        h->spare = x->waiting_after;
        h->spare_count--;
        struct arena arena = x->arena;
        struct bytes out = x->out;
        struct bytes body_bytes = x->body_bytes;
        memset(x, 0, sizeof(*x));
        x->arena = arena;
        x->out = out;
        x->body_bytes = body_bytes;
    } else {
        x = calloc(1, sizeof(*x));
        if (x == NULL) {
            return NULL;
        }
        arena_init(&x->arena, LIMIT_REQUEST_ARENA_BYTES);
        bytes_init(&x->out, SIZE_MAX / 2);
        bytes_init(&x->body_bytes, SIZE_MAX / 2);
    }
    x->conn = c;
    const union MHD_ConnectionInfo *peer =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    x->peer = peer == NULL ? NULL : peer->client_addr;
    x->ctx = h->handler.ctx;
    x->admin = c->admin;
    x->started_us = clock_us();
    x->target = STR("");
    x->body = STR("");
    return x;
}

static void exchange_free(struct http_exchange *x)
{
    arena_fini(&x->arena);
    bytes_fini(&x->out);
    bytes_fini(&x->body_bytes);
    free(x);
}

static void exchange_recycle(struct http *h, struct http_exchange *x)
{
    if (h->spare_count >= MOST_SPARE) {
        exchange_free(x);
        return;
    }
    if (x->arena.used_bytes > SPARE_BYTES) {
        arena_fini(&x->arena);
    } else {
        arena_reset(&x->arena);
    }
    if (x->out.cap > SPARE_BYTES) {
        bytes_fini(&x->out);
    } else {
        bytes_clear(&x->out);
    }
    if (x->body_bytes.cap > SPARE_BYTES) {
        bytes_fini(&x->body_bytes);
    } else {
        bytes_clear(&x->body_bytes);
    }
    x->waiting_after = h->spare;
    h->spare = x;
    h->spare_count++;
}

/* libmicrohttpd's callbacks. */

static struct http_conn *conn_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/*
 * `http://host/path` is another way to write `/path` (RFC 9112 3.2.2): proxies send it. The host is
 * compared with the Host field later.
 */
static struct str without_authority(struct str target, struct str *out_authority)
{
    *out_authority = STR("");
    size_t scheme = str_ieq(str_slice(target, 0, 7), STR("http://"))    ? 7
                    : str_ieq(str_slice(target, 0, 8), STR("https://")) ? 8
                                                                        : 0;
    if (scheme == 0) {
        return target;
    }
    size_t path = str_find(target, '/', scheme);
    *out_authority = str_slice(target, scheme, path);
    return path == target.len ? STR("/") : str_from_offset(target, path);
}

/*
 * The request line is here, not decoded and not split: what is returned becomes the request's
 * pointer in all later callbacks.
 */
static void *on_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    (void)cls;
    struct http_conn *c = conn_of(mhd);
    struct http_exchange *x = c == NULL ? NULL : exchange_new(c);
    if (x == NULL) {
        return NULL;
    }
    c->exchange = x;
    c->used = true;
    c->http->progress = true;
    conn_deadline_in(c, c->http->options.header_timeout_ms);
    size_t length = strlen(target);
    if (length > c->http->options.max_url_bytes) {
        odata_error_set(&x->refusal, 414, ODATA_CODE_URI_TOO_LONG, "",
                        "the URL is longer than %zu bytes", c->http->options.max_url_bytes);
        length = 128; /* for the log */
    }
    if (!arena_copy(&x->arena, (struct str){target, length}, &x->target)) {
        odata_error_too_complex(&x->refusal);
    }
    x->target = without_authority(x->target, &x->authority);
    return x;
}

/* Nothing is decoded by libmicrohttpd: a %2F in a key would become a separator. */
static size_t on_unescape(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls;
    (void)mhd;
    return strlen(text);
}

static enum MHD_Result on_field(void *cls, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    struct http_exchange *x = cls;
    http_head_add(&x->head, (struct str){name, name_len},
                  value == NULL ? STR("") : (struct str){value, value_len});
    return MHD_YES;
}

/* A value with other bytes could make a second field, or upset a proxy. */
static bool is_field_value(const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at < 0x20 || *at > 0x7e) {
            return false;
        }
    }
    return value[0] != '\0';
}

static ssize_t on_read(void *cls, uint64_t pos, char *buf, size_t max)
{
    (void)pos;
    struct http_exchange *x = cls;
    struct http *h = x->conn->http;
    if (x->state == EXCHANGE_BROKEN) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (x->state == EXCHANGE_STARVED) {
        exchange_enter(x, EXCHANGE_SENDING);
    }
    size_t got = 0;
    switch (h->handler.read(x, buf, max, &got)) {
    case STEP_OK:
        h->progress = true;
        x->sent_bytes += got;
        return (ssize_t)got;
    case STEP_AGAIN:
        exchange_enter(x, EXCHANGE_STARVED);
        suspend(x);
        return 0;
    case STEP_END:
        x->how = HTTP_END_COMPLETE;
        return MHD_CONTENT_READER_END_OF_STREAM;
    case STEP_FAIL:
        break;
    }
    break_off(x, HTTP_END_BROKEN);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static struct MHD_Response *make_response(struct http_exchange *x)
{
    const struct http_response *r = &x->response;
    switch (r->kind) {
    case HTTP_BODY_BUFFER:
        /* PERSISTENT: libmicrohttpd neither writes nor frees it, whatever its signature says. */
        return MHD_create_response_from_buffer(r->body.len, (void *)(uintptr_t)r->body.ptr,
                                               MHD_RESPMEM_PERSISTENT);
    case HTTP_BODY_STREAM:
    case HTTP_BODY_HIDDEN:
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, POOL_BYTES / 2, on_read, x,
                                                 NULL);
    }
    return NULL;
}

/* Hands x->response to libmicrohttpd. */
static enum MHD_Result queue_response(struct http_exchange *x)
{
    struct http_conn *c = x->conn;
    struct http_response *r = &x->response;
    end_lingering(x);
    c->http->progress = true;
    struct MHD_Response *response = make_response(x);
    if (response == NULL) {
        return MHD_NO;
    }
    for (size_t i = 0; i < r->header_count; i++) {
        if (is_field_value(r->headers[i].value)) {
            MHD_add_response_header(response, r->headers[i].name, r->headers[i].value);
        }
    }
    if (r->kind == HTTP_BODY_HIDDEN) {
        /* libmicrohttpd ends a HEAD of unknown length with a last chunk that no client expects;
           without chunks it does not, and the connection's end is the end. */
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    } else if (r->close || c->http->draining) {
        MHD_add_response_header(response, "Connection", "close");
    }
    exchange_enter(x, EXCHANGE_SENDING);
    x->progress_ms = loop_now_ms(c->http->loop);
    if (r->kind == HTTP_BODY_BUFFER) {
        x->sent_bytes = x->head.method == HTTP_HEAD ? 0 : r->body.len;
    }
    conn_deadline_in(c, c->http->options.stall_timeout_ms / 4 + 1);
    enum MHD_Result result = MHD_queue_response(c->mhd, (unsigned)r->status, response);
    MHD_destroy_response(response);
    return result;
}

/* Answers in the first call, which closes the connection: what follows the head is not looked at. */
static enum MHD_Result refuse(struct http_exchange *x, const struct odata_error *err)
{
    exchange_enter(x, EXCHANGE_ANSWERED);
    x->conn->http->handler.refuse(x, err);
    x->response.close = true;
    return queue_response(x);
}

static enum MHD_Result take_head(struct http_exchange *x, struct str method, bool http_1_0)
{
    struct http *h = x->conn->http;
    struct odata_error err;
    x->head_checked = true;
    http_head_init(&x->head, &x->arena, method, http_1_0);
    MHD_get_connection_values_n(x->conn->mhd, MHD_HEADER_KIND, on_field, x);
    if (!http_head_check(&x->head, &err)) {
        metrics_add(h->options.metrics, METRIC_REFUSED_HEADERS, 1);
        return refuse(x, &err);
    }
    if (x->refusal.http_status != 0) {
        return refuse(x, &x->refusal);
    }
    bool names_host = x->authority.len == 0 || str_ieq(x->authority, x->head.fields[FIELD_HOST]);
    bool has_path = str_starts_with(x->target, STR("/")) || str_eq(x->target, STR("*"));
    if (!names_host || !has_path) {
        metrics_add(h->options.metrics, METRIC_REFUSED_HEADERS, 1);
        odata_error_set(&err, 400, ODATA_CODE_BAD_URL, "",
                        names_host ? "the request target is not a path"
                                   : "the request target names another host than Host");
        return refuse(x, &err);
    }
    if (x->conn->overload) {
        metrics_add(h->options.metrics, METRIC_REFUSED_CONNECTIONS, 1);
        odata_error_set(&err, 503, ODATA_CODE_SERVICE_UNAVAILABLE, "", "too many connections");
        err.retry_after_s = 1;
        return refuse(x, &err);
    }
    if (x->head.content_length > h->options.max_body_bytes) {
        odata_error_set(&x->refusal, 413, ODATA_CODE_PAYLOAD_TOO_LARGE, "",
                        "the body is longer than %zu bytes", h->options.max_body_bytes);
        if (x->head.content_length > h->options.max_body_bytes + DRAIN_BYTES) {
            return refuse(x, &x->refusal);
        }
    }
    if (x->head.has_body) {
        uint64_t size =
            x->head.content_length == 0 ? h->options.max_body_bytes : x->head.content_length;
        int64_t ms = (int64_t)(size / BODY_BYTES_A_MS);
        conn_deadline_in(x->conn, h->options.header_timeout_ms +
                                      (ms < LONGEST_BODY_MS ? ms : LONGEST_BODY_MS));
    }
    return MHD_YES;
}

/* False: far too much has come, and nobody will read an answer. */
static bool take_body(struct http_exchange *x, const char *data, size_t size)
{
    const struct http_options *options = &x->conn->http->options;
    x->body_seen += size;
    if (x->body_seen <= options->max_body_bytes) {
        bytes_put(&x->body_bytes, data, size);
        if (bytes_failed(&x->body_bytes) && x->refusal.http_status == 0) {
            odata_error_set(&x->refusal, 503, ODATA_CODE_SERVICE_UNAVAILABLE, "",
                            "no memory for the body");
        }
        return true;
    }
    if (x->refusal.http_status == 0) {
        odata_error_set(&x->refusal, 413, ODATA_CODE_PAYLOAD_TOO_LARGE, "",
                        "the body is longer than %zu bytes", options->max_body_bytes);
    }
    return x->body_seen <= options->max_body_bytes + DRAIN_BYTES;
}

/* The request is complete. */
static enum MHD_Result start(struct http_exchange *x)
{
    struct http_conn *c = x->conn;
    if (x->refusal.http_status != 0) {
        return refuse(x, &x->refusal);
    }
    x->body = bytes_str(&x->body_bytes);
    exchange_enter(x, EXCHANGE_WORKING);
    conn_deadline_in(c, c->http->options.request_timeout_ms);
    c->http->handler.start(x);
    if (x->state == EXCHANGE_ANSWERED) {
        return queue_response(x);
    }
    linger(x);
    return MHD_YES;
}

/* Asked again for an answer that is not there: what takes longer is suspended. */
static enum MHD_Result wait_on(struct http_exchange *x)
{
    if (loop_now_ms(x->conn->http->loop) - x->lingers_since_ms >= LINGER_MS) {
        suspend(x);
    }
    return MHD_YES;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_size, void **req_cls)
{
    (void)cls;
    (void)mhd;
    (void)url;
    struct http_exchange *x = *req_cls;
    if (x == NULL) {
        return MHD_NO; /* no memory when the request line came */
    }
    switch (x->state) {
    case EXCHANGE_RECEIVING:
        if (!x->head_checked) {
            return take_head(x, str_from(method), strcmp(version, "HTTP/1.1") != 0);
        }
        if (*data_size > 0) {
            bool goes_on = take_body(x, data, *data_size);
            *data_size = 0;
            return goes_on ? MHD_YES : MHD_NO;
        }
        return start(x);
    case EXCHANGE_WORKING:
        return wait_on(x);
    case EXCHANGE_ANSWERED:
        return queue_response(x);
    case EXCHANGE_SENDING:
    case EXCHANGE_STARVED:
    case EXCHANGE_BROKEN:
        break;
    }
    return MHD_NO;
}

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
    end_lingering(x);
    waiting_remove(h, x);
    loop_unwatch(h->loop, &c->watch);
    h->progress = true;
    c->exchange = NULL;
    /* A refusal was handed to the handler too: only what never got so far has no end. */
    if (x->state != EXCHANGE_RECEIVING && x->owner != NULL) {
        h->handler.end(x, end_of(x, code));
    }
    exchange_recycle(h, x);
    conn_deadline_in(c, h->options.idle_timeout_ms);
}

static void conn_link(struct http *h, struct http_conn *c)
{
    c->after = h->conns;
    if (h->conns != NULL) {
        h->conns->before = c;
    }
    h->conns = c;
    h->conn_count++;
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
    metrics_set(h->options.metrics, METRIC_CONNECTIONS, h->conn_count);
}

static void conn_started(struct http *h, struct MHD_Connection *mhd, void **socket_context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_conn *c = calloc(1, sizeof(*c));
    if (c == NULL || info == NULL) {
        free(c);
        return; /* on_target() finds no connection, and it is closed with its first request */
    }
    c->http = h;
    c->mhd = mhd;
    c->admin = h->incoming_admin;
    c->overload = h->conn_count >= h->options.max_connections;
    c->watch = (struct watch){.fd = info->connect_fd, .ready = on_client_gone, .owner = c};
    c->timer = (struct timer){.due = on_conn_timer, .owner = c};
    *socket_context = c;
    conn_link(h, c);
    metrics_add(h->options.metrics, METRIC_CONNECTIONS_ACCEPTED, 1);
    conn_deadline_in(c, h->options.header_timeout_ms);
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
    h->watch_timer = (struct timer){.due = on_watch_timer, .owner = h};
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_daemon_log, h,
        MHD_OPTION_URI_LOG_CALLBACK, on_target, h, MHD_OPTION_UNESCAPE_CALLBACK, on_unescape, h,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        h, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES, MHD_OPTION_CONNECTION_LIMIT,
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
        exchange_free(x);
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
        return loop_now_ms(h->loop) - h->last_run_ms >= LINGER_MS;
    }
    return MHD_get_timeout(h->daemon, &timeout) == MHD_YES && timeout == 0;
}

int64_t http_wait_ms(struct http *h)
{
    if (h->run_wanted || daemon_is_due(h)) {
        h->run_wanted = true;
        return 0;
    }
    return h->lingering > 0 ? LINGER_MS : INT64_MAX;
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
    exchange_enter(x, EXCHANGE_ANSWERED);
    resume(x);
}

void http_resume(struct http_exchange *x)
{
    if (x->state == EXCHANGE_STARVED) {
        resume(x);
    }
}

void http_abort(struct http_exchange *x)
{
    break_off(x, HTTP_END_BROKEN);
}

size_t http_connections(const struct http *h)
{
    return h->conn_count;
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
            conn_deadline_in(c, DRAIN_GRACE_MS);
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

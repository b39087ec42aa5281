// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "odata/limits.h"
#include "server/http_priv.h"
#include "server/socket_progress.h"
#include "server/timing.h"

enum {
    /* A client that leaves while it waits is looked for only after so long: most requests are
       answered sooner, and cost no epoll_ctl(). */
    WATCH_AFTER_MS = 50,
    /* Exchanges kept for reuse, and how much memory each may keep. */
    MOST_SPARE = 64,
    SPARE_BYTES = 64 * 1024,
    /* A connection that was told to end and did not is shut again. */
    BROKEN_MS = 2000,
};

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
void http_enter(struct http_exchange *x, enum exchange_state to)
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

void http_deadline_in(struct http_conn *c, int64_t ms)
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
    (void)connect(fd, &nowhere, sizeof(nowhere)); /* it may be gone already */
    shutdown(fd, SHUT_RDWR);
}

/* Suspending. */

void http_waiting_remove(struct http *h, struct http_exchange *x)
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
void http_linger(struct http_exchange *x)
{
    x->lingers = true;
    x->lingers_since_ms = loop_now_ms(x->conn->http->loop);
    x->conn->http->lingering++;
}

void http_end_lingering(struct http_exchange *x)
{
    if (x->lingers) {
        x->lingers = false;
        x->conn->http->lingering--;
    }
}

void http_suspend(struct http_exchange *x)
{
    struct http *h = x->conn->http;
    assert(!x->suspended);
    http_end_lingering(x);
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

void http_unsuspend(struct http_exchange *x)
{
    struct http *h = x->conn->http;
    h->run_wanted = true;
    if (!x->suspended) {
        return;
    }
    x->suspended = false;
    http_waiting_remove(h, x);
    /* Ours goes first: libmicrohttpd may close the descriptor as soon as it runs. */
    loop_unwatch(h->loop, &x->conn->watch);
    MHD_resume_connection(x->conn->mhd);
}

/* The exchange cannot go on; libmicrohttpd will find out, and say that it has ended. */
void http_break_off(struct http_exchange *x, enum http_end how)
{
    if (x->state == EXCHANGE_BROKEN) {
        return;
    }
    http_enter(x, EXCHANGE_BROKEN);
    x->how = how;
    reset_socket(x->conn->watch.fd);
    http_unsuspend(x);
    x->conn->http->run_wanted = true;
    http_deadline_in(x->conn, BROKEN_MS);
}

void http_on_watch_timer(struct timer *t, int64_t now_ms)
{
    struct http *h = t->owner;
    while (h->first_waiting != NULL &&
           h->first_waiting->waiting_since_ms + WATCH_AFTER_MS <= now_ms) {
        struct http_exchange *x = h->first_waiting;
        http_waiting_remove(h, x);
        if (!loop_watch(h->loop, &x->conn->watch, WATCH_GONE)) {
            /* The kernel has no memory for it: the deadlines still hold. */
            continue;
        }
    }
    if (h->first_waiting != NULL) {
        loop_set_timer(h->loop, t, h->first_waiting->waiting_since_ms + WATCH_AFTER_MS);
    }
}

void http_on_client_gone(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    (void)now_ms;
    struct http_conn *c = w->owner;
    assert(c->exchange != NULL && c->exchange->suspended);
    http_break_off(c->exchange, HTTP_END_GONE);
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
        http_break_off(x, HTTP_END_STALLED);
        return;
    }
    int64_t next_ms = x->progress_ms + stall_ms - now_ms;
    http_deadline_in(c, next_ms < stall_ms / 4 ? next_ms : stall_ms / 4 + 1);
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

void http_on_conn_timer(struct timer *t, int64_t now_ms)
{
    struct http_conn *c = t->owner;
    if (c->deadline_ms > now_ms) {
        loop_set_timer(c->http->loop, t, c->deadline_ms);
        return;
    }
    conn_overdue(c, now_ms);
}

/* Exchanges, reused so that a request starts without malloc. */

struct http_exchange *http_exchange_new(struct http_conn *c)
{
    struct http *h = c->http;
    struct http_exchange *x = h->spare;
    if (x != NULL) {
        h->spare = x->waiting_after;
        h->spare_count--;
        struct arena arena = x->arena;
        struct bytes out = x->out;
        struct bytes body_bytes = x->body_bytes;
        struct bytes coded = x->coded;
        memset(x, 0, sizeof(*x));
        x->arena = arena;
        x->out = out;
        x->body_bytes = body_bytes;
        x->coded = coded;
    } else {
        x = calloc(1, sizeof(*x));
        if (x == NULL) {
            return NULL;
        }
        arena_init(&x->arena, LIMIT_REQUEST_ARENA_BYTES);
        bytes_init(&x->out, SIZE_MAX / 2);
        bytes_init(&x->body_bytes, SIZE_MAX / 2);
        bytes_init(&x->coded, SIZE_MAX / 2);
    }
    x->conn = c;
    const union MHD_ConnectionInfo *peer =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    x->peer = peer == NULL ? NULL : peer->client_addr;
    x->ctx = h->handler.ctx;
    x->admin = c->admin;
    x->started_us = timing_now_us();
    x->target = STR("");
    x->body = STR("");
    return x;
}

void http_exchange_free(struct http_exchange *x)
{
    arena_fini(&x->arena);
    bytes_fini(&x->out);
    bytes_fini(&x->body_bytes);
    bytes_fini(&x->coded);
    encoder_free(x->encoder);
    free(x);
}

void http_exchange_recycle(struct http *h, struct http_exchange *x)
{
    encoder_free(x->encoder);
    x->encoder = NULL;
    bytes_clear(&x->coded);
    if (h->spare_count >= MOST_SPARE) {
        http_exchange_free(x);
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

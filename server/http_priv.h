// SPDX-License-Identifier: Apache-2.0
/*
 * http_priv - what the files of http share: http.c (the daemon and its connections), http_exchange.c
 * (states, deadlines and waiting) and http_message.c (requests in, responses out).
 */
#ifndef SERVER_HTTP_PRIV_H
#define SERVER_HTTP_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <microhttpd.h>

#include "server/http.h"

enum {
    /* libmicrohttpd's memory of one connection: head, and the chunk that is being sent. Too small
       and a long URL leaves only small chunks. */
    HTTP_POOL_BYTES = 64 * 1024,
    /* Suspending and resuming cost libmicrohttpd two calls of epoll_ctl(): an exchange that is
       answered within this time is not suspended, but stays among those that are run. */
    HTTP_LINGER_MS = 5,
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
    size_t admin_count; /* those of them that are admin */
    struct http_exchange *spare;
    size_t spare_count;
    /* Suspended exchanges whose client is not watched yet, the oldest first. */
    struct http_exchange *first_waiting;
    struct http_exchange *last_waiting;
    struct timer watch_timer;
};

/* http_exchange.c */

/* A connection has a spare exchange, or a new one; NULL when memory is short. */
struct http_exchange *http_exchange_new(struct http_conn *c) NODISCARD;
/* Kept for the next request, or freed. */
void http_exchange_recycle(struct http *h, struct http_exchange *x);
void http_exchange_free(struct http_exchange *x);

/* The only place that writes x->state. */
void http_enter(struct http_exchange *x, enum exchange_state to);

/* The connection's deadline, from now; what it means depends on the exchange's state. */
void http_deadline_in(struct http_conn *c, int64_t ms);

/* It waits, and is not suspended yet; and the end of that. */
void http_linger(struct http_exchange *x);
void http_end_lingering(struct http_exchange *x);

/* From libmicrohttpd's callbacks only. */
void http_suspend(struct http_exchange *x);
/* libmicrohttpd is to ask for it again, whether it is suspended or not. */
void http_unsuspend(struct http_exchange *x);

/* Its client is not to be watched any more because it suspends. */
void http_waiting_remove(struct http *h, struct http_exchange *x);

/* The exchange cannot go on; libmicrohttpd will find out, and say that it has ended. */
void http_break_off(struct http_exchange *x, enum http_end how);

void http_on_watch_timer(struct timer *t, int64_t now_ms);
void http_on_client_gone(struct watch *w, unsigned events, int64_t now_ms);
void http_on_conn_timer(struct timer *t, int64_t now_ms);

/* http_message.c: callbacks of libmicrohttpd. */

void *http_on_target(void *cls, const char *target, struct MHD_Connection *mhd);
size_t http_on_unescape(void *cls, struct MHD_Connection *mhd, char *text);
enum MHD_Result http_on_request(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version, const char *data,
                                size_t *data_size, void **req_cls);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * http - HTTP as the rest of the server sees it: exchanges that are started, answered and ended.
 *
 * The only module that knows libmicrohttpd (0.9.75, external epoll). It owns every deadline of a
 * connection, notices clients that leave while their exchange waits, guards the head of each
 * request (http_head), bounds bodies, and breaks a response off so that the client sees it.
 *
 * Owns:    its client connections and exchanges, and the daemon of libmicrohttpd.
 * Never:   waits, and never calls the handler from inside a call that the handler makes.
 * Threads: one worker's thread.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/step.h"
#include "server/encoder.h"
#include "server/http_head.h"
#include "server/loop.h"
#include "server/metrics.h"

struct http;
struct http_conn;

enum {
    HTTP_MOST_HEADERS = 16,
    HTTP_LONGEST_TYPE = 160,
};

enum http_body {
    HTTP_BODY_BUFFER, /* the bytes of response.body, with Content-Length */
    HTTP_BODY_STREAM, /* what the handler's read() gives, in chunks */
    HTTP_BODY_HIDDEN, /* HEAD of something whose length is not known: no body and no length */
};

/* What is sent; the handler fills it in and calls http_respond(). */
struct http_response {
    int status;
    struct http_header {
        const char *name;
        const char *value; /* printable ASCII, or the field is left out; lives as the exchange */
    } headers[HTTP_MOST_HEADERS];
    size_t header_count;
    /* Values that are made for one response: without memory they are still there. */
    char content_type[HTTP_LONGEST_TYPE + 1];
    char retry_after[12];
    enum http_body kind;
    struct str body; /* lent until end() */
    bool close;      /* no further request on this connection */
};

/* How an exchange ended. */
enum http_end {
    HTTP_END_COMPLETE, /* the whole answer was handed to the kernel */
    HTTP_END_GONE,     /* the client left first */
    HTTP_END_STALLED,  /* the client took nothing for too long */
    HTTP_END_BROKEN,   /* we broke it off: read() failed, or http_abort() */
};

/* RECEIVING -> WORKING -> ANSWERED -> SENDING <-> STARVED; any of them -> BROKEN. */
enum exchange_state {
    EXCHANGE_RECEIVING, /* head or body are not complete; the handler knows nothing of it */
    EXCHANGE_WORKING,   /* started, no answer yet; suspended when that takes longer */
    EXCHANGE_ANSWERED,  /* the answer waits for libmicrohttpd to fetch it */
    EXCHANGE_SENDING,   /* libmicrohttpd sends, and asks for more */
    EXCHANGE_STARVED,   /* the stream has nothing just now; suspended */
    EXCHANGE_BROKEN,    /* the socket is reset; libmicrohttpd is about to say the end */
};

struct http_exchange {
    /* For the handler, from start() to end(). */
    struct http_head head;
    struct str target; /* as it came, in the arena */
    struct str body;   /* of the request */
    struct arena arena;
    struct bytes out; /* for the response's body; empty at the start */
    const struct sockaddr *peer;
    bool admin; /* came in through the admin listener */
    int64_t started_us;
    uint64_t sent_bytes; /* of the response's body, handed to libmicrohttpd */
    struct http_response response;
    void *owner; /* the handler's */
    void *ctx;   /* of the handler */

    /* http.c's own. */
    struct http_conn *conn;
    enum exchange_state state;
    enum http_end how;
    bool head_checked;
    struct str authority;       /* of a target that names its host */
    struct odata_error refusal; /* http_status 0: none */
    struct bytes body_bytes;
    uint64_t body_seen;
    struct encoder *encoder; /* of the body that is sent; NULL: as it is */
    bool is_text;            /* what is coded is text_left, not what read() gives */
    struct str text_left;
    struct bytes coded; /* a short body, coded */
    bool suspended;
    bool lingers; /* waits for its answer without being suspended */
    int64_t lingers_since_ms;
    struct http_exchange *waiting_before; /* the list of suspended ones that are not watched yet */
    struct http_exchange *waiting_after;
    int64_t waiting_since_ms;
    uint64_t acked_bytes;
    int64_t progress_ms;
};

struct http_handler {
    void *ctx;
    /* The request is complete. Answers with http_respond(), now or later. */
    void (*start)(struct http_exchange *x);
    /* The request is refused before it starts: fills x->response (nothing is called back). */
    void (*refuse)(struct http_exchange *x, const struct odata_error *err);
    /* HTTP_BODY_STREAM: OK with some bytes, AGAIN (http_resume() will be called), END, or FAIL. */
    enum step (*read)(struct http_exchange *x, char *buf, size_t max, size_t *out_len);
    /* request-timeout has passed without an answer: must answer now. */
    void (*overdue)(struct http_exchange *x);
    /* Called once for whatever was started or refused; x->body, out and arena end here. */
    void (*end)(struct http_exchange *x, enum http_end how);
};

struct http_options {
    size_t max_url_bytes;
    size_t max_body_bytes;
    bool compression;       /* bodies may be coded, as the client accepts */
    size_t max_connections; /* of this worker; above it, requests get 503 */
    int64_t header_timeout_ms;
    int64_t idle_timeout_ms;
    int64_t request_timeout_ms;
    int64_t stall_timeout_ms;
    struct metrics *metrics;
    void (*log)(void *ctx, const char *text); /* libmicrohttpd's own words */
    /* A new connection ended before a request line could be read from it, though so much had come. */
    void (*unreadable)(void *ctx, uint64_t received_bytes);
    void *log_ctx;
};

struct http *http_new(const struct http_options *options, const struct http_handler *handler,
                      struct loop *loop) NODISCARD;

/* All connections must be gone (http_connections() == 0). */
void http_free(struct http *h);

/* Takes fd, a connected client. */
void http_add_client(struct http *h, int fd, const struct sockaddr *peer, socklen_t peer_len,
                     bool admin);

/* To be called once in every turn of the loop. */
void http_run(struct http *h);

/* How long the loop may wait, as far as libmicrohttpd is concerned. */
int64_t http_wait_ms(struct http *h);

/* Sends x->response. Once for an exchange, in WORKING; nothing happens when the client has just left. */
void http_respond(struct http_exchange *x);
void http_response_header(struct http_exchange *x, const char *name, const char *value);

/* read() will have something again (or its end, or its failure). */
void http_resume(struct http_exchange *x);

/*
 * Breaks the exchange off: the client's connection is reset, unsent bytes are thrown away, and
 * end() is called by the next http_run().
 */
void http_abort(struct http_exchange *x);

/* Every response closes its connection from now on; idle connections are closed. */
void http_drain(struct http *h);

size_t http_connections(const struct http *h);
/* Without those that came in through the admin listener. */
size_t http_client_connections(const struct http *h);

/* Calls fn for every exchange that was started and has not ended. fn may call http_abort(). */
void http_each(struct http *h, void (*fn)(struct http_exchange *x, void *ctx), void *ctx);

/* Shuts every connection that has no exchange, whatever it has sent. */
void http_close_idle(struct http *h);

#endif

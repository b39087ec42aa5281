// SPDX-License-Identifier: Apache-2.0
/*
 * connector - one attempt to connect: over all hosts and their addresses, without blocking.
 *
 * Each address has its own deadline. Names are looked up on a helper thread.
 *
 * Owns:    the half-open connection until it is handed over, or the attempt is given up.
 * Threads: one worker's thread.
 */
#ifndef STORAGE_CONNECTOR_H
#define STORAGE_CONNECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "odata/compiler.h"
#include "storage/blocking.h"
#include "storage/conninfo.h"
#include "storage/reactor.h"

struct lookup_job;

enum connector_state {
    CONNECTOR_IDLE,    /* nothing goes on */
    CONNECTOR_LOOKING, /* the helper looks the host's name up */
    CONNECTOR_POLLING, /* libpq wants the socket */
    CONNECTOR_OVER,    /* done() will be called with the result in the loop's next turn */
};

struct connector {
    enum connector_state state;
    const struct conninfo *info;
    struct reactor *reactor;
    struct blocking *lookups;
    int64_t timeout_ms;
    /* From the loop only. pg is handed over, or NULL and text says why the last host failed. */
    void (*done)(struct connector *c, PGconn *pg, const char *text, int64_t now_ms);
    void *owner;

    PGconn *pg;
    struct watch watch;
    struct timer timer;
    size_t target;          /* of info->targets */
    struct lookup_job *job; /* while LOOKING */
    char **addresses;       /* of the target; NULL when it needed no look-up */
    size_t address_count;
    size_t address;
    char text[256]; /* why the last one failed */
};

void connector_init(struct connector *c, const struct conninfo *info, struct reactor *reactor,
                    struct blocking *lookups, int64_t timeout_ms);

/* Gives up whatever goes on, without a call of done(). */
void connector_fini(struct connector *c);

/* Begins an attempt; the state must be IDLE. done() is never called from inside. */
void connector_start(struct connector *c);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * worker - one thread that serves: a loop, an HTTP daemon, a share of the database connections.
 *
 * Owns:    all of that, and its reference to the current document.
 * Threads: made and freed by the main thread; worker_set_document(), worker_set_auth(),
 *          worker_drain() and worker_stop() may be called from any.
 */
#ifndef SERVER_WORKER_H
#define SERVER_WORKER_H

#include <stddef.h>

#include "odata/compiler.h"
#include "server/auth_material.h"
#include "server/document.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/service.h"
#include "server/spread.h"
#include "storage/pool_budget.h"

struct worker;

struct worker_options {
    size_t number; /* from 0 */
    const struct service *service;
    struct metrics *metrics;
    int listen_fd;              /* taken */
    int admin_fd;               /* taken; -1 = none */
    struct pool_budget *budget; /* connections to PostgreSQL, of all workers */
    struct auth_material *auth; /* borrowed by the start; NULL: no credentials are checked */
    struct spread *spread;      /* clients, of all workers */
    size_t max_connections;     /* of clients */
};

/* Starts the thread. NULL fills reason. */
struct worker *worker_start(const struct worker_options *options, char *reason,
                            size_t reason_size) NODISCARD;

/* Requests from now on see this document; takes one reference. */
void worker_set_document(struct worker *w, struct document *d);

/* Credentials are checked against this from now on; takes one reference. */
void worker_set_auth(struct worker *w, struct auth_material *m);

/*
 * Accepts nobody any more, lets what runs end, aborts it at the deadline, and ends the thread. A
 * worker with the admin listener goes on to answer there until worker_stop() or the deadline.
 */
void worker_drain(struct worker *w);

/* Aborts everything and ends the thread. */
void worker_stop(struct worker *w);

/* It drains, and has no client any more: what it still answers are the admin listener's. */
bool worker_is_quiet(const struct worker *w);

/* The thread has ended. */
bool worker_has_ended(const struct worker *w);

/* Waits for the thread, and frees. */
void worker_join(struct worker *w);

#endif

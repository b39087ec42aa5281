// SPDX-License-Identifier: Apache-2.0
/*
 * service - what all workers share: the settings and a few words between threads.
 *
 * Owns:    nothing; made by main() before the first worker and kept until after the last.
 * Threads: read-only, but for the atomics.
 */
#ifndef SERVER_SERVICE_H
#define SERVER_SERVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "server/cors.h"
#include "server/links.h"
#include "server/metrics.h"
#include "server/role_models.h"
#include "server/route.h"

struct service {
    const struct config *config;
    struct links_options links;
    struct route_options routes;
    struct cors cors;
    const char *vary;         /* what an answer depends on besides the target */
    bool takes_passwords;     /* of Basic */
    bool takes_tokens;        /* of Bearer */
    struct metrics **metrics; /* one set a worker */
    size_t worker_count;
    struct role_models *roles; /* NULL: every request has the rights of the role that logs in */
    /* A worker found that the database has another shape than the model. From any thread. */
    void (*model_stale)(void *ctx);
    void *model_stale_ctx;
    _Atomic bool has_model;
    _Atomic bool has_handed_out_model; /* every worker has one, too */
    _Atomic bool draining;
    _Atomic uint64_t model_loads;
    _Atomic uint64_t model_load_failures;
};

#endif

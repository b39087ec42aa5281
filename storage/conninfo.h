// SPDX-License-Identifier: Apache-2.0
/*
 * conninfo - a connection string taken apart into the hosts to try, one at a time.
 *
 * libpq's asynchronous connect never leaves a first host that does not answer, and ignores
 * connect_timeout; so we loop over the hosts ourselves, each with its own deadline.
 *
 * Owns: the parsed options. The password in them leaves only towards libpq.
 */
#ifndef STORAGE_CONNINFO_H
#define STORAGE_CONNINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "odata/compiler.h"
#include "storage/session.h"

/* One place to try; NULL = libpq's default. */
struct conn_target {
    char *host;
    char *hostaddr;
    char *port;
};

struct conninfo {
    PQconninfoOption *options;
    char *bad_uri;         /* what could not be parsed; else NULL */
    char *session_options; /* the `options` keyword: the user's, then ours */
    struct conn_target *targets;
    size_t target_count;
};

/*
 * Parses a libpq connection string or URI; "" means libpq's variables alone. False when memory is
 * short. What cannot be parsed is kept and makes conninfo_start() fail with libpq's reason.
 */
bool conninfo_init(struct conninfo *info, const char *uri,
                   const struct session_options *session) NODISCARD;
void conninfo_fini(struct conninfo *info);

/* The target's host has to be looked up first: it is a name, not a path or an address. */
bool conninfo_needs_lookup(const struct conninfo *info, size_t target);

/* Begins to connect; hostaddr overrides the target's when it is not NULL. NULL: memory is short. */
PGconn *conninfo_start(const struct conninfo *info, size_t target, const char *hostaddr) NODISCARD;

#endif

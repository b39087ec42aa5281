// SPDX-License-Identifier: Apache-2.0
/*
 * auth_basic - names and passwords (RFC 7617), checked on a helper thread: hashes are slow on purpose.
 *
 * What is checked already is not checked twice at once; who guesses must wait; few may wait for the
 * helper. What was found good goes into the cache, for a few minutes.
 *
 * Owns:    the helper and its jobs, which hold passwords no longer than they must.
 * Threads: one worker's thread.
 */
#ifndef SERVER_AUTH_BASIC_H
#define SERVER_AUTH_BASIC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "server/auth_cache.h"
#include "server/auth_material.h"
#include "server/helper_call.h"
#include "storage/reactor.h"

struct auth_basic;

struct auth_attempt {
    struct str credentials;      /* base64, as they came */
    const struct sockaddr *from; /* NULL: of a proxy, which asks for many */
    struct auth_digest digest;   /* of the credentials */
    int64_t now_s;               /* Unix time */
};

/* Borrows cache until auth_basic_free(). NULL: memory or descriptors are short. */
struct auth_basic *auth_basic_new(struct auth_cache *cache, struct reactor *reactor) NODISCARD;
/* Nobody waits any more. Waits a bounded time for the helper. */
void auth_basic_free(struct auth_basic *b);

/* Users have changed: what is being checked counts no more. */
void auth_basic_forget(struct auth_basic *b);

/*
 * Begins to check an attempt that the cache does not know; wait->done() is called later with a
 * struct db_rights, or with 401 Unauthorized. False fills err: 401 for what has not the form, 429
 * with the time to wait, 503 when too many wait.
 */
bool auth_basic_check(struct auth_basic *b, struct auth_material *material,
                      const struct auth_attempt *attempt, struct helper_wait *wait,
                      struct odata_error *err) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * auth_cache - who was found behind credentials that were checked before, by their digest.
 *
 * Signatures and password hashes cost more than a short read. The digest is SHA-256 over a secret
 * of the process and the whole credentials, so that what is kept can be neither guessed nor found
 * by making a second text of one digest. Bounded: sets of four, of which the least recently used
 * goes.
 *
 * Owns:    copies of roles and claims.
 * Never:   keeps credentials.
 * Threads: one worker's thread.
 */
#ifndef SERVER_AUTH_CACHE_H
#define SERVER_AUTH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/compiler.h"
#include "odata/str.h"
#include "storage/db_rights.h"

enum {
    AUTH_CACHE_SETS = 64,
    AUTH_CACHE_WAYS = 4,
    AUTH_DIGEST_BYTES = 32,
};

struct auth_digest {
    unsigned char bytes[AUTH_DIGEST_BYTES];
};

struct auth_cache_entry {
    struct auth_digest digest;
    struct db_rights rights; /* id 0: the entry is empty */
    char *text;              /* of rights */
    int64_t expires_s;
    uint64_t used;
};

struct auth_cache {
    unsigned char secret[AUTH_DIGEST_BYTES];
    uint64_t last_id; /* of rights: never used twice */
    uint64_t uses;
    struct auth_cache_entry entries[AUTH_CACHE_SETS][AUTH_CACHE_WAYS];
};

/* first_id: the ids of rights are above it. False: the system has no randomness. */
bool auth_cache_init(struct auth_cache *c, uint64_t first_id) NODISCARD;
void auth_cache_fini(struct auth_cache *c);

/* Forgets everything: what credentials are checked against has changed. */
void auth_cache_clear(struct auth_cache *c);

/* kind: one letter for each kind of credentials. False: the library has failed. */
bool auth_cache_digest(const struct auth_cache *c, char kind, struct str credentials,
                       struct auth_digest *out_digest) NODISCARD;

/* The rights behind credentials, until now_s is their end; NULL: not known. Lent until another
   function is called. */
struct db_rights *auth_cache_find(struct auth_cache *c, const struct auth_digest *digest,
                                  int64_t now_s);

/*
 * Keeps them, and gives them an id. Both texts are copied. NULL: memory is short. Lent as above.
 */
struct db_rights *auth_cache_add(struct auth_cache *c, const struct auth_digest *digest,
                                 struct str role, struct str claims, int64_t expires_s);

#endif

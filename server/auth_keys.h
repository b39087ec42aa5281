// SPDX-License-Identifier: Apache-2.0
/*
 * auth_keys - the keys that tokens are signed with: a JWK or JWK set (RFC 7517), public keys in PEM,
 * or a secret.
 *
 * Each key is bound to the one algorithm that it is for, so that a token cannot choose (RFC 8725
 * 3.1): RS256 for RSA of 2048 bits or more, ES256 for P-256, HS256 for secrets of 32 bytes or more.
 *
 * Owns:    the keys, until auth_keys_free().
 * Threads: read-only once made.
 */
#ifndef SERVER_AUTH_KEYS_H
#define SERVER_AUTH_KEYS_H

#include <cjose/jwk.h>
#include <stdbool.h>
#include <stddef.h>

#include "odata/compiler.h"
#include "odata/str.h"

enum {
    AUTH_MOST_KEYS = 16, /* a token without kid is tried with each of them */
    AUTH_LARGEST_KEY_FILE = 256 * 1024,
};

struct auth_key {
    cjose_jwk_t *jwk;
    const char *algorithm; /* static text */
    const char *id;        /* kid; NULL when it has none */
};

struct auth_keys {
    struct auth_key items[AUTH_MOST_KEYS];
    size_t count;
};

/*
 * Keys of a JWK set that are for something else are passed over; at least one must be left. False
 * fills reason, which quotes nothing of the keys.
 */
bool auth_keys_parse(struct str text, struct auth_keys *out_keys, char *reason,
                     size_t reason_size) NODISCARD;

void auth_keys_free(struct auth_keys *keys);

#endif

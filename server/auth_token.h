// SPDX-License-Identifier: Apache-2.0
/*
 * auth_token - whether a JSON Web Token is to be believed (RFC 7519; RFC 8725 for what to refuse).
 *
 * Signature by the one algorithm that the key is for, exp, nbf, iss and aud; a token without exp,
 * iss or aud is refused, and so is one with crit, since we know no extension.
 *
 * Owns:    nothing; what comes out lives in the caller's arena.
 * Threads: any; keys and rules are only read.
 */
#ifndef SERVER_AUTH_TOKEN_H
#define SERVER_AUTH_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/compiler.h"
#include "server/auth_keys.h"

enum {
    AUTH_LONGEST_TOKEN = 8 * 1024,
    AUTH_SKEW_S = 30, /* how far clocks may differ */
    AUTH_MOST_ROLES = 16,
};

struct auth_rules {
    const char *issuer;           /* iss must be this */
    const char *const *audiences; /* aud must have one of these */
    size_t audience_count;
    const char
        *role_claim; /* a member's name, or a JSON Pointer (RFC 6901) when it begins in '/' */
};

struct auth_claims {
    struct str text;                   /* all of them, JSON as it was signed; ends in NUL */
    struct str roles[AUTH_MOST_ROLES]; /* what the role claim says, in its order */
    size_t role_count;
    int64_t expires_s; /* Unix time, without skew */
};

/*
 * now_s: Unix time. False: *out_reason is a static sentence for the client, or NULL when memory is
 * short.
 */
bool auth_token_verify(const struct auth_keys *keys, const struct auth_rules *rules,
                       struct str token, int64_t now_s, struct arena *a,
                       struct auth_claims *out_claims, const char **out_reason) NODISCARD;

#endif

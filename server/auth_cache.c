// SPDX-License-Identifier: Apache-2.0
#include "server/auth_cache.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

static struct auth_cache_entry *set_of(struct auth_cache *c, const struct auth_digest *digest)
{
    return c->entries[digest->bytes[0] % AUTH_CACHE_SETS];
}

static void empty(struct auth_cache_entry *e)
{
    free(e->text);
    *e = (struct auth_cache_entry){.text = NULL};
}

bool auth_cache_init(struct auth_cache *c, uint64_t first_id)
{
    memset(c, 0, sizeof(*c));
    c->last_id = first_id;
    return RAND_bytes(c->secret, sizeof(c->secret)) == 1;
}

void auth_cache_clear(struct auth_cache *c)
{
    for (size_t i = 0; i < AUTH_CACHE_SETS; i++) {
        for (size_t k = 0; k < AUTH_CACHE_WAYS; k++) {
            empty(&c->entries[i][k]);
        }
    }
}

void auth_cache_fini(struct auth_cache *c)
{
    auth_cache_clear(c);
}

bool auth_cache_digest(const struct auth_cache *c, char kind, struct str credentials,
                       struct auth_digest *out_digest)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = ctx != NULL && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1 &&
                EVP_DigestUpdate(ctx, c->secret, sizeof(c->secret)) == 1 &&
                EVP_DigestUpdate(ctx, &kind, 1) == 1 &&
                EVP_DigestUpdate(ctx, credentials.ptr, credentials.len) == 1 &&
                EVP_DigestFinal_ex(ctx, out_digest->bytes, NULL) == 1;
    EVP_MD_CTX_free(ctx);
    return good;
}

struct db_rights *auth_cache_find(struct auth_cache *c, const struct auth_digest *digest,
                                  int64_t now_s)
{
    struct auth_cache_entry *set = set_of(c, digest);
    for (size_t i = 0; i < AUTH_CACHE_WAYS; i++) {
        struct auth_cache_entry *e = &set[i];
        if (e->rights.id == 0 || memcmp(&e->digest, digest, sizeof(*digest)) != 0) {
            continue;
        }
        if (now_s >= e->expires_s) {
            empty(e);
            return NULL;
        }
        e->used = ++c->uses;
        return &e->rights;
    }
    return NULL;
}

struct db_rights *auth_cache_add(struct auth_cache *c, const struct auth_digest *digest,
                                 struct str role, struct str claims, int64_t expires_s)
{
    struct auth_cache_entry *set = set_of(c, digest);
    struct auth_cache_entry *oldest = &set[0];
    for (size_t i = 1; i < AUTH_CACHE_WAYS; i++) {
        oldest = set[i].used < oldest->used ? &set[i] : oldest;
    }
    char *text = malloc(role.len + claims.len + 2);
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, role.ptr, role.len);
    text[role.len] = '\0';
    memcpy(text + role.len + 1, claims.ptr, claims.len);
    text[role.len + 1 + claims.len] = '\0';
    empty(oldest);
    *oldest = (struct auth_cache_entry){
        .digest = *digest,
        .rights = {.id = ++c->last_id, .role = text, .claims = text + role.len + 1},
        .text = text,
        .expires_s = expires_s,
        .used = ++c->uses,
    };
    return &oldest->rights;
}

// SPDX-License-Identifier: Apache-2.0
#include "server/auth.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "odata/json_writer.h"
#include "server/auth_basic.h"
#include "server/auth_cache.h"
#include "server/auth_token.h"
#include "server/links.h"

enum {
    ANONYMOUS_ID = 1, /* of rights; those of credentials are above it */
    LONGEST_CLAIMS = 512,
};

struct auth {
    const struct config *config;
    struct auth_material *material;
    struct auth_rules rules;
    struct auth_cache cache;
    struct auth_basic *basic; /* NULL: passwords are not taken */
    struct bytes anonymous_claims;
    struct db_rights anonymous; /* id 0: there is no such role */
};

bool auth_is_wanted(const struct config *c)
{
    return c->anonymous_role[0] != '\0' || auth_material_is_wanted(c);
}

static bool make_anonymous(struct auth *a)
{
    const char *role = a->config->anonymous_role;
    bytes_init(&a->anonymous_claims, LONGEST_CLAIMS);
    if (role[0] == '\0') {
        return true;
    }
    BYTES_PUT_LITERAL(&a->anonymous_claims, "{\"role\":");
    json_put_str(&a->anonymous_claims, str_from(role));
    BYTES_PUT_LITERAL(&a->anonymous_claims, "}");
    bytes_put_char(&a->anonymous_claims, '\0');
    a->anonymous =
        (struct db_rights){.id = ANONYMOUS_ID, .role = role, .claims = a->anonymous_claims.ptr};
    return !bytes_failed(&a->anonymous_claims);
}

struct auth *auth_new(const struct config *c, struct auth_material *material,
                      struct reactor *reactor)
{
    struct auth *a = calloc(1, sizeof(*a));
    if (a == NULL) {
        auth_material_release(material);
        return NULL;
    }
    a->config = c;
    a->material = material;
    a->rules = (struct auth_rules){
        .issuer = c->jwt_issuer,
        .audiences = (const char *const *)c->jwt_audiences.items,
        .audience_count = c->jwt_audiences.count,
        .role_claim = c->jwt_role_claim,
    };
    if (c->basic_users[0] != '\0') {
        a->basic = auth_basic_new(&a->cache, reactor);
    }
    if (!make_anonymous(a) || !auth_cache_init(&a->cache, ANONYMOUS_ID) ||
        (c->basic_users[0] != '\0' && a->basic == NULL)) {
        auth_free(a);
        return NULL;
    }
    return a;
}

void auth_free(struct auth *a)
{
    if (a != NULL) {
        auth_basic_free(a->basic);
        auth_cache_fini(&a->cache);
        auth_material_release(a->material);
        bytes_fini(&a->anonymous_claims);
        free(a);
    }
}

void auth_set_material(struct auth *a, struct auth_material *material)
{
    auth_material_release(a->material);
    a->material = material;
    auth_cache_clear(&a->cache);
    if (a->basic != NULL) {
        auth_basic_forget(a->basic);
    }
}

/* The role of PostgreSQL for what a claim says; "" when it is not listed. */
static struct str map_role(const struct auth *a, struct str claimed)
{
    const struct config_list *roles = &a->config->jwt_roles;
    for (size_t i = 0; i < roles->count; i++) {
        struct str item = str_from(roles->items[i]);
        const char *equals = strrchr(item.ptr, '=');
        size_t end = equals == NULL ? item.len : (size_t)(equals - item.ptr);
        if (str_eq(str_slice(item, 0, end), claimed)) {
            return equals == NULL ? item : str_from(equals + 1);
        }
    }
    return STR("");
}

static struct str choose_role(const struct auth *a, const struct auth_claims *claims)
{
    for (size_t i = 0; i < claims->role_count; i++) {
        struct str role = map_role(a, claims->roles[i]);
        if (role.len > 0) {
            return role;
        }
    }
    return STR("");
}

bool auth_copy_rights(struct arena *arena, const struct db_rights *found,
                      const struct db_rights **out_rights, struct odata_error *err)
{
    struct db_rights *copy = ARENA_NEW(arena, struct db_rights);
    struct str role;
    struct str claims;
    if (copy == NULL || !arena_copy(arena, str_from(found->role), &role) ||
        !arena_copy(arena, str_from(found->claims), &claims)) {
        return arena_fail(arena, err);
    }
    *copy = (struct db_rights){.id = found->id, .role = role.ptr, .claims = claims.ptr};
    *out_rights = copy;
    return true;
}

static bool identify_token(struct auth *a, struct http_exchange *x, struct str token, int64_t now_s,
                           const struct db_rights **out_rights, struct odata_error *err)
{
    struct auth_digest digest;
    struct auth_claims claims;
    const char *reason = NULL;
    if (!auth_cache_digest(&a->cache, 'T', token, &digest)) {
        return odata_error_out_of_memory(err);
    }
    const struct db_rights *found = auth_cache_find(&a->cache, &digest, now_s);
    if (found == NULL) {
        if (!auth_token_verify(&a->material->keys, &a->rules, token, now_s, &x->arena, &claims,
                               &reason)) {
            return reason == NULL
                       ? odata_error_out_of_memory(err)
                       : odata_error_set(err, 401, ODATA_CODE_INVALID_TOKEN, "", "%s", reason);
        }
        struct str role = choose_role(a, &claims);
        if (role.len == 0) {
            return odata_error_set(err, 403, ODATA_CODE_FORBIDDEN, "",
                                   "the token has no role that this service takes");
        }
        found =
            auth_cache_add(&a->cache, &digest, role, claims.text, claims.expires_s + AUTH_SKEW_S);
        if (found == NULL) {
            return odata_error_out_of_memory(err);
        }
    }
    return auth_copy_rights(&x->arena, found, out_rights, err);
}

/* The scheme's name counts in any case (RFC 9110 11.1). */
static bool takes_scheme(struct str header, struct str scheme, struct str *out_credentials)
{
    size_t end = str_find(header, ' ', 0);
    *out_credentials = str_trim(str_from_offset(header, end));
    return str_ieq(str_slice(header, 0, end), scheme);
}

static bool is_loopback(const struct sockaddr *peer)
{
    if (peer->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)peer;
        return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)peer;
    return peer->sa_family == AF_INET6 && (IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
                                           (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) &&
                                            in6->sin6_addr.s6_addr[12] == IN_LOOPBACKNET));
}

static bool is_of_proxy(const struct config *c, const struct http_exchange *x)
{
    return x->peer != NULL && config_networks_contain(&c->trusted_proxies, x->peer);
}

bool auth_is_private(const struct config *c, const struct http_exchange *x)
{
    if (c->basic_over_http) {
        return true;
    }
    /* A proxy on this host is asked what it says, when it is listed. */
    return is_of_proxy(c, x) ? links_is_https(&x->head) : x->peer != NULL && is_loopback(x->peer);
}

static enum auth_answer identify_user(struct auth *a, struct http_exchange *x, struct str text,
                                      int64_t now_s, struct helper_wait *wait,
                                      const struct db_rights **out_rights, struct odata_error *err)
{
    struct auth_attempt attempt = {.credentials = text, .now_s = now_s};
    if (!auth_is_private(a->config, x)) {
        odata_error_set(err, 403, ODATA_CODE_FORBIDDEN, "",
                        "passwords are not taken in clear text: use https");
        return AUTH_REFUSED;
    }
    if (!auth_cache_digest(&a->cache, 'B', text, &attempt.digest)) {
        odata_error_out_of_memory(err);
        return AUTH_REFUSED;
    }
    const struct db_rights *found = auth_cache_find(&a->cache, &attempt.digest, now_s);
    if (found != NULL) {
        return auth_copy_rights(&x->arena, found, out_rights, err) ? AUTH_KNOWN : AUTH_REFUSED;
    }
    attempt.from = is_of_proxy(a->config, x) ? NULL : x->peer;
    return auth_basic_check(a->basic, a->material, &attempt, wait, err) ? AUTH_LATER : AUTH_REFUSED;
}

enum auth_answer auth_identify(struct auth *a, struct http_exchange *x, int64_t now_s,
                               struct helper_wait *wait, const struct db_rights **out_rights,
                               struct odata_error *err)
{
    struct str header = x->head.fields[FIELD_AUTHORIZATION];
    struct str credentials;
    if (header.len == 0 || a->material == NULL) {
        if (a->anonymous.id == 0) {
            odata_error_set(err, 401, ODATA_CODE_UNAUTHORIZED, "",
                            "this service is for callers with credentials");
            return AUTH_REFUSED;
        }
        *out_rights = &a->anonymous;
        return AUTH_KNOWN;
    }
    if (a->material->keys.count > 0 && takes_scheme(header, STR("Bearer"), &credentials)) {
        return identify_token(a, x, credentials, now_s, out_rights, err) ? AUTH_KNOWN
                                                                         : AUTH_REFUSED;
    }
    if (a->basic != NULL && takes_scheme(header, STR("Basic"), &credentials)) {
        return identify_user(a, x, credentials, now_s, wait, out_rights, err);
    }
    odata_error_set(err, 401, ODATA_CODE_UNAUTHORIZED, "",
                    "credentials of this kind are not taken here");
    return AUTH_REFUSED;
}

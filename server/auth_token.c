// SPDX-License-Identifier: Apache-2.0
#include "server/auth_token.h"

#include <cjose/base64.h>
#include <cjose/jws.h>
#include <cjose/util.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "server/auth_memory.h"

static const char no_form[] = "the token has not the form of one";

static bool fail(const char **out_reason, const char *reason)
{
    *out_reason = reason;
    return false;
}

/* A library's failure: of the text, unless memory was short. */
static bool fail_by(const char **out_reason, bool is_out_of_memory, const char *reason)
{
    return fail(out_reason, is_out_of_memory ? NULL : reason);
}

/* The object in text; NULL: there is none, or memory is short. */
static json_t *parse_object(struct str text, bool *out_of_memory)
{
    json_error_t error = {.line = 0};
    json_t *root = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
    *out_of_memory = root == NULL && json_error_code(&error) == json_error_out_of_memory;
    if (!json_is_object(root)) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* Three parts of base64url without padding: what cjose would read more leniently. */
static bool is_compact(struct str token)
{
    size_t dots = 0;
    size_t part = 0;
    for (size_t i = 0; i < token.len; i++) {
        char c = token.ptr[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_';
        if (c == '.') {
            if (part == 0) {
                return false;
            }
            dots++;
            part = 0;
        } else if (good) {
            part++;
        } else {
            return false;
        }
    }
    return dots == 2 && part > 0;
}

/* alg and kid choose among our keys; they never say how a key is to be used. */
static bool is_candidate(const struct auth_key *key, const char *algorithm, const char *id)
{
    return strcmp(key->algorithm, algorithm) == 0 &&
           (id == NULL || key->id == NULL || strcmp(key->id, id) == 0);
}

static bool try_keys(const struct auth_keys *keys, cjose_jws_t *jws, const json_t *header,
                     const char **out_reason)
{
    const char *algorithm = json_string_value(json_object_get(header, "alg"));
    const json_t *id = json_object_get(header, "kid");
    if (algorithm == NULL) {
        return fail(out_reason, "the token does not say how it is signed");
    }
    if (json_object_get(header, "crit") != NULL) {
        return fail(out_reason, "the token has an extension that is not known here");
    }
    if (id != NULL && !json_is_string(id)) {
        return fail(out_reason, "the token's kid is no text");
    }
    for (size_t i = 0; i < keys->count; i++) {
        if (is_candidate(&keys->items[i], algorithm, json_string_value(id)) &&
            cjose_jws_verify(jws, keys->items[i].jwk, NULL)) {
            return true;
        }
    }
    return fail(out_reason, "the token is not signed by a key that is known here");
}

/* The header once more, since cjose takes a member that stands twice, and shows texts only. */
static bool check_signature(const struct auth_keys *keys, cjose_jws_t *jws, struct str token,
                            const char **out_reason)
{
    uint8_t *text = NULL;
    size_t length = 0;
    bool is_short = false;
    cjose_err why = {.code = CJOSE_ERR_NONE};
    if (!cjose_base64url_decode(token.ptr, str_find(token, '.', 0), &text, &length, &why)) {
        return fail_by(out_reason, why.code == CJOSE_ERR_NO_MEMORY, no_form);
    }
    json_t *header = parse_object((struct str){(const char *)text, length}, &is_short);
    bool good = header != NULL ? try_keys(keys, jws, header, out_reason)
                               : fail_by(out_reason, is_short, no_form);
    json_decref(header);
    cjose_get_dealloc()(text);
    return good;
}

static bool check_times(const json_t *claims, int64_t now_s, struct auth_claims *out,
                        const char **out_reason)
{
    const json_t *expires = json_object_get(claims, "exp");
    const json_t *not_before = json_object_get(claims, "nbf");
    if (!json_is_number(expires)) {
        return fail(out_reason, "the token does not say when it expires");
    }
    double end = json_number_value(expires);
    if (!(end > 0 && end < 1e15)) {
        return fail(out_reason, "the token's exp is no time");
    }
    out->expires_s = (int64_t)end;
    if (now_s >= out->expires_s + AUTH_SKEW_S) {
        return fail(out_reason, "the token has expired");
    }
    if (not_before != NULL && (!json_is_number(not_before) ||
                               !(json_number_value(not_before) <= (double)(now_s + AUTH_SKEW_S)))) {
        return fail(out_reason, "the token is not valid yet");
    }
    return true;
}

static bool is_one_of(const char *text, const struct auth_rules *rules)
{
    for (size_t i = 0; text != NULL && i < rules->audience_count; i++) {
        if (strcmp(text, rules->audiences[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* RFC 7519 4.1.3: a text or an array of them. */
static bool is_for_us(const json_t *audience, const struct auth_rules *rules)
{
    if (json_is_string(audience)) {
        return is_one_of(json_string_value(audience), rules);
    }
    for (size_t i = 0; i < json_array_size(audience); i++) {
        if (is_one_of(json_string_value(json_array_get(audience, i)), rules)) {
            return true;
        }
    }
    return false;
}

static bool check_parties(const json_t *claims, const struct auth_rules *rules,
                          const char **out_reason)
{
    const char *issuer = json_string_value(json_object_get(claims, "iss"));
    if (issuer == NULL || strcmp(issuer, rules->issuer) != 0) {
        return fail(out_reason, "the token is of another issuer");
    }
    if (!is_for_us(json_object_get(claims, "aud"), rules)) {
        return fail(out_reason, "the token is for another audience");
    }
    return true;
}

/* One step of a JSON Pointer, with ~1 for '/' and ~0 for '~'. */
static const json_t *follow(const json_t *at, struct str step)
{
    char name[256];
    size_t length = 0;
    if (step.len >= sizeof(name)) {
        return NULL;
    }
    for (size_t i = 0; i < step.len; i++) {
        char c = step.ptr[i];
        if (c == '~' && i + 1 < step.len) {
            c = step.ptr[++i] == '1' ? '/' : '~';
        }
        name[length++] = c;
    }
    name[length] = '\0';
    return json_object_get(at, name);
}

static const json_t *find_claim(const json_t *claims, const char *name)
{
    if (name[0] != '/') {
        return json_object_get(claims, name);
    }
    struct str path = str_from(name + 1);
    const json_t *found = claims;
    for (size_t at = 0; found != NULL && at <= path.len;) {
        size_t end = str_find(path, '/', at);
        found = follow(found, str_slice(path, at, end));
        at = end + 1;
    }
    return found;
}

static bool add_role(struct arena *a, const json_t *value, struct auth_claims *out)
{
    const char *text = json_string_value(value);
    if (text == NULL || out->role_count == AUTH_MOST_ROLES) {
        return true;
    }
    return arena_copy(a, str_from(text), &out->roles[out->role_count++]);
}

/* A text, or an array of them; whatever else it is says nothing. */
static bool take_roles(struct arena *a, const json_t *claim, struct auth_claims *out)
{
    bool whole = add_role(a, claim, out);
    for (size_t i = 0; i < json_array_size(claim) && whole; i++) {
        whole = add_role(a, json_array_get(claim, i), out);
    }
    return whole;
}

static bool read_claims(const struct auth_rules *rules, struct str text, int64_t now_s,
                        struct arena *a, struct auth_claims *out, const char **out_reason)
{
    bool is_short = false;
    json_t *claims = parse_object(text, &is_short);
    *out_reason = NULL;
    bool good = claims != NULL
                    ? check_times(claims, now_s, out, out_reason) &&
                          check_parties(claims, rules, out_reason) &&
                          take_roles(a, find_claim(claims, rules->role_claim), out) &&
                          arena_copy(a, text, &out->text)
                    : fail_by(out_reason, is_short,
                              "the token's claims are no JSON object, or one stands twice");
    json_decref(claims);
    return good;
}

static bool verify(const struct auth_keys *keys, const struct auth_rules *rules, struct str token,
                   int64_t now_s, struct arena *a, struct auth_claims *out_claims,
                   const char **out_reason)
{
    struct auth_claims claims = {.role_count = 0};
    uint8_t *plain = NULL;
    size_t length = 0;
    if (token.len > AUTH_LONGEST_TOKEN) {
        return fail(out_reason, "the token is longer than 8 KiB");
    }
    if (!is_compact(token)) {
        return fail(out_reason, no_form);
    }
    cjose_err why = {.code = CJOSE_ERR_NONE};
    cjose_jws_t *jws = cjose_jws_import(token.ptr, token.len, &why);
    if (jws == NULL) {
        return fail_by(out_reason, why.code == CJOSE_ERR_NO_MEMORY, no_form);
    }
    /* The plain text is the token's own memory. */
    bool good = check_signature(keys, jws, token, out_reason);
    if (good && !cjose_jws_get_plaintext(jws, &plain, &length, NULL)) {
        good = fail(out_reason, NULL);
    }
    good = good && read_claims(rules, (struct str){(const char *)plain, length}, now_s, a, &claims,
                               out_reason);
    cjose_jws_release(jws);
    if (good) {
        *out_claims = claims;
    }
    return good;
}

bool auth_token_verify(const struct auth_keys *keys, const struct auth_rules *rules,
                       struct str token, int64_t now_s, struct arena *a,
                       struct auth_claims *out_claims, const char **out_reason)
{
    auth_memory_begin();
    bool good = verify(keys, rules, token, now_s, a, out_claims, out_reason);
    return auth_memory_end() ? fail(out_reason, NULL) : good;
}

// SPDX-License-Identifier: Apache-2.0
#include "server/auth_keys.h"

#include <jansson.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_SECRET_BYTES = 32, /* RFC 7518 3.2 */
    LEAST_RSA_BITS = 2048,   /* RFC 7518 3.3 */
    LARGEST_NUMBER = 2048,   /* bytes of an RSA modulus: 16384 bits */
    P256_BYTES = 32,
};

static const char rs256[] = "RS256";
static const char es256[] = "ES256";
static const char hs256[] = "HS256";

static bool fail(char *reason, size_t size, const char *text)
{
    snprintf(reason, size, "%s", text);
    return false;
}

/* The algorithm that such a key is for; NULL: none of ours, or it is too weak. */
static const char *algorithm_of(const cjose_jwk_t *jwk)
{
    switch (cjose_jwk_get_kty(jwk, NULL)) {
    case CJOSE_JWK_KTY_RSA:
        return cjose_jwk_get_keysize(jwk, NULL) >= LEAST_RSA_BITS ? rs256 : NULL;
    case CJOSE_JWK_KTY_EC:
        return cjose_jwk_EC_get_curve(jwk, NULL) == CJOSE_JWK_EC_P_256 ? es256 : NULL;
    case CJOSE_JWK_KTY_OCT:
        return cjose_jwk_get_keysize(jwk, NULL) >= LEAST_SECRET_BYTES * 8 ? hs256 : NULL;
    }
    return NULL;
}

/* Takes jwk. Returns whether it was kept. */
static bool add(struct auth_keys *keys, cjose_jwk_t *jwk, const char *wanted_algorithm)
{
    const char *algorithm = jwk == NULL ? NULL : algorithm_of(jwk);
    bool fits = algorithm != NULL && keys->count < AUTH_MOST_KEYS &&
                (wanted_algorithm == NULL || strcmp(wanted_algorithm, algorithm) == 0);
    if (!fits) {
        if (jwk != NULL) {
            cjose_jwk_release(jwk);
        }
        return false;
    }
    keys->items[keys->count++] =
        (struct auth_key){.jwk = jwk, .algorithm = algorithm, .id = cjose_jwk_get_kid(jwk, NULL)};
    return true;
}

/* One key of a set; one for encryption, or of another kind, is passed over. */
static void add_json_key(struct auth_keys *keys, const json_t *key)
{
    const char *use = json_string_value(json_object_get(key, "use"));
    if (use != NULL && strcmp(use, "sig") != 0) {
        return;
    }
    char *text = json_dumps(key, JSON_COMPACT);
    if (text != NULL) {
        (void)add(keys, cjose_jwk_import(text, strlen(text), NULL),
                  json_string_value(json_object_get(key, "alg")));
        OPENSSL_cleanse(text, strlen(text));
        free(text);
    }
}

static bool parse_json(struct str text, struct auth_keys *keys, char *reason, size_t size)
{
    json_t *root = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(root)) {
        json_decref(root);
        return fail(reason, size, "not a JSON object");
    }
    const json_t *set = json_object_get(root, "keys");
    size_t count = set == NULL ? 1 : json_array_size(set);
    if (count > AUTH_MOST_KEYS) {
        json_decref(root);
        return fail(reason, size, "more than 16 keys");
    }
    for (size_t i = 0; i < count; i++) {
        add_json_key(keys, set == NULL ? root : json_array_get(set, i));
    }
    json_decref(root);
    return keys->count > 0 ||
           fail(reason, size,
                "no key in it that can be used: RSA of 2048 bits or more (RS256), P-256 (ES256) or "
                "a secret of 32 bytes or more (HS256)");
}

/* A number of a public key, big-endian; 0 when there is none. */
static size_t get_number(const EVP_PKEY *key, const char *name, uint8_t *out, size_t least)
{
    BIGNUM *number = NULL;
    size_t length = 0;
    if (EVP_PKEY_get_bn_param(key, name, &number) == 1) {
        size_t bytes = (size_t)BN_num_bytes(number);
        size_t padded = bytes < least ? least : bytes;
        if (padded <= LARGEST_NUMBER && BN_bn2binpad(number, out, (int)padded) > 0) {
            length = padded;
        }
    }
    BN_free(number);
    return length;
}

static cjose_jwk_t *make_rsa(const EVP_PKEY *key)
{
    uint8_t n[LARGEST_NUMBER];
    uint8_t e[LARGEST_NUMBER];
    cjose_jwk_rsa_keyspec spec = {.n = n, .e = e};
    spec.nlen = get_number(key, OSSL_PKEY_PARAM_RSA_N, n, 0);
    spec.elen = get_number(key, OSSL_PKEY_PARAM_RSA_E, e, 0);
    return spec.nlen == 0 || spec.elen == 0 ? NULL : cjose_jwk_create_RSA_spec(&spec, NULL);
}

static cjose_jwk_t *make_ec(const EVP_PKEY *key)
{
    char group[32] = "";
    uint8_t x[LARGEST_NUMBER];
    uint8_t y[LARGEST_NUMBER];
    cjose_jwk_ec_keyspec spec = {.crv = CJOSE_JWK_EC_P_256, .x = x, .y = y};
    if (EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, group, sizeof(group),
                                       NULL) != 1 ||
        strcmp(group, "prime256v1") != 0) {
        return NULL;
    }
    spec.xlen = get_number(key, OSSL_PKEY_PARAM_EC_PUB_X, x, P256_BYTES);
    spec.ylen = get_number(key, OSSL_PKEY_PARAM_EC_PUB_Y, y, P256_BYTES);
    return spec.xlen == 0 || spec.ylen == 0 ? NULL : cjose_jwk_create_EC_spec(&spec, NULL);
}

static cjose_jwk_t *make_jwk(const EVP_PKEY *key)
{
    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA:
        return make_rsa(key);
    case EVP_PKEY_EC:
        return make_ec(key);
    default:
        return NULL;
    }
}

/* The next block: PUBLIC KEY or CERTIFICATE. NULL at the end, or when it is something else. */
static EVP_PKEY *next_pem(BIO *in, bool *out_end)
{
    char *name = NULL;
    char *header = NULL;
    unsigned char *data = NULL;
    long length = 0;
    EVP_PKEY *key = NULL;
    *out_end = PEM_read_bio(in, &name, &header, &data, &length) != 1;
    if (*out_end) {
        return NULL;
    }
    const unsigned char *at = data;
    if (strcmp(name, PEM_STRING_PUBLIC) == 0) {
        key = d2i_PUBKEY(NULL, &at, length);
    } else if (strcmp(name, PEM_STRING_X509) == 0) {
        X509 *certificate = d2i_X509(NULL, &at, length);
        key = certificate == NULL ? NULL : X509_get_pubkey(certificate);
        X509_free(certificate);
    }
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    return key;
}

static bool parse_pem(struct str text, struct auth_keys *keys, char *reason, size_t size)
{
    BIO *in = BIO_new_mem_buf(text.ptr, (int)text.len);
    bool good = in != NULL;
    bool end = !good;
    while (good && !end) {
        EVP_PKEY *key = next_pem(in, &end);
        if (!end) {
            good = key != NULL && add(keys, make_jwk(key), NULL);
        }
        EVP_PKEY_free(key);
    }
    BIO_free(in);
    ERR_clear_error();
    return (good && keys->count > 0) ||
           fail(
               reason, size,
               "a block that is no public key (PUBLIC KEY or CERTIFICATE) of RSA with 2048 bits or "
               "more (RS256) or of P-256 (ES256)");
}

static bool parse_secret(struct str text, struct auth_keys *keys, char *reason, size_t size)
{
    while (text.len > 0 && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r')) {
        text.len--;
    }
    if (text.len < LEAST_SECRET_BYTES) {
        return fail(reason, size, "a secret shorter than 32 bytes");
    }
    return add(keys, cjose_jwk_create_oct_spec((const uint8_t *)text.ptr, text.len, NULL), NULL) ||
           fail(reason, size, "memory is short");
}

static bool contains(struct str text, const char *what)
{
    return memmem(text.ptr, text.len, what, strlen(what)) != NULL;
}

bool auth_keys_parse(struct str text, struct auth_keys *out_keys, char *reason, size_t reason_size)
{
    struct auth_keys keys = {.count = 0};
    bool good = str_starts_with(str_trim(text), STR("{"))
                    ? parse_json(text, &keys, reason, reason_size)
                : contains(text, "-----BEGIN ") ? parse_pem(text, &keys, reason, reason_size)
                                                : parse_secret(text, &keys, reason, reason_size);
    if (!good) {
        auth_keys_free(&keys);
        return false;
    }
    *out_keys = keys;
    return true;
}

void auth_keys_free(struct auth_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        cjose_jwk_release(keys->items[i].jwk);
    }
    keys->count = 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "server/auth_token.h"

Suite *auth_token_suite(void);

enum {
    NOW_S = 1700000000,
    TEXT_BYTES = 64 * 1024,
};

#define SECRET       "0123456789abcdef0123456789abcdef"
#define KEY_32       "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
#define OTHER_SECRET "another secret, of 32 bytes or more"

/* How a token's third part is made. */
enum how {
    BY_SECRET,       /* HMAC with the secret that is known */
    BY_OTHER_SECRET, /* HMAC with one that is not */
    BY_PUBLIC_KEY,   /* HMAC with the text of the RSA public key: RFC 8725 2.1 */
    BY_RSA,
    BY_OTHER_RSA,
    BY_EC,
    BY_OTHER_EC,
    BY_EC_DER, /* right, but in the form of X.509 */
    BY_NOBODY, /* empty */
    BY_ZEROS,  /* 64 bytes of zero */
};

/* Which keys the service has. */
enum which {
    HAS_SECRET,
    HAS_RSA,
    HAS_EC,
    HAS_ALL, /* a set with kids: s, r, e */
};

static EVP_PKEY *rsa;
static EVP_PKEY *other_rsa;
static EVP_PKEY *ec;
static EVP_PKEY *other_ec;
static char rsa_pem[4096];
static char ec_pem[4096];
static struct auth_keys keys[4];

static size_t put_base64url(char *out, const unsigned char *data, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = 0;
    for (size_t i = 0; i < length; i += 3) {
        unsigned word = (unsigned)data[i] << 16;
        word |= i + 1 < length ? (unsigned)data[i + 1] << 8 : 0;
        word |= i + 2 < length ? (unsigned)data[i + 2] : 0;
        size_t left = length - i;
        for (size_t k = 0; k < (left >= 3 ? 4 : left + 1); k++) {
            out[n++] = digits[word >> (18 - 6 * k) & 63];
        }
    }
    out[n] = '\0';
    return n;
}

static void put_pem(EVP_PKEY *key, char *out, size_t size)
{
    BIO *memory = BIO_new(BIO_s_mem());
    ck_assert_int_eq(PEM_write_bio_PUBKEY(memory, key), 1);
    int length = BIO_read(memory, out, (int)size - 1);
    ck_assert_int_gt(length, 0);
    out[length] = '\0';
    BIO_free(memory);
}

static size_t sign_with(EVP_PKEY *key, const char *text, unsigned char *out)
{
    size_t length = 1024;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    ck_assert_int_eq(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key), 1);
    ck_assert_int_eq(EVP_DigestSign(ctx, out, &length, (const unsigned char *)text, strlen(text)),
                     1);
    EVP_MD_CTX_free(ctx);
    return length;
}

static size_t sign_es256(EVP_PKEY *key, const char *text, unsigned char *out)
{
    unsigned char der[1024];
    const unsigned char *at = der;
    size_t length = sign_with(key, text, der);
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &at, (long)length);
    ck_assert_ptr_nonnull(sig);
    BN_bn2binpad(ECDSA_SIG_get0_r(sig), out, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(sig), out + 32, 32);
    ECDSA_SIG_free(sig);
    return 64;
}

static size_t sign_hmac(const char *secret, const char *text, unsigned char *out)
{
    unsigned length = 0;
    HMAC(EVP_sha256(), secret, (int)strlen(secret), (const unsigned char *)text, strlen(text), out,
         &length);
    return length;
}

static size_t sign(enum how how, const char *text, unsigned char *out)
{
    switch (how) {
    case BY_SECRET:
        return sign_hmac(SECRET, text, out);
    case BY_OTHER_SECRET:
        return sign_hmac(OTHER_SECRET, text, out);
    case BY_PUBLIC_KEY:
        return sign_hmac(rsa_pem, text, out);
    case BY_RSA:
        return sign_with(rsa, text, out);
    case BY_OTHER_RSA:
        return sign_with(other_rsa, text, out);
    case BY_EC:
        return sign_es256(ec, text, out);
    case BY_OTHER_EC:
        return sign_es256(other_ec, text, out);
    case BY_EC_DER:
        return sign_with(ec, text, out);
    case BY_NOBODY:
        return 0;
    case BY_ZEROS:
        memset(out, 0, 64);
        return 64;
    }
    return 0;
}

static void put_token(char *out, const char *header, const char *claims, enum how how)
{
    unsigned char signature[1024];
    size_t n = put_base64url(out, (const unsigned char *)header, strlen(header));
    out[n++] = '.';
    n += put_base64url(out + n, (const unsigned char *)claims, strlen(claims));
    size_t length = sign(how, out, signature);
    out[n++] = '.';
    put_base64url(out + n, signature, length);
}

static EVP_PKEY *make_key(const char *kind, int bits)
{
    EVP_PKEY *key = strcmp(kind, "RSA") == 0 ? EVP_RSA_gen((unsigned)bits)
                                             : EVP_EC_gen(bits == 256 ? "P-256" : "P-384");
    ck_assert_ptr_nonnull(key);
    return key;
}

static void parse(const char *text, struct auth_keys *out)
{
    char reason[256] = "";
    ck_assert_msg(auth_keys_parse(str_from(text), out, reason, sizeof(reason)), "%s", reason);
}

/* The three as a JWK set, made from the keys that were read in their other forms. */
static void make_set(void)
{
    static const char *const ids[] = {"s", "r", "e"};
    char text[TEXT_BYTES] = "{\"keys\":[";
    for (size_t i = 0; i < 3; i++) {
        cjose_jwk_t *jwk = keys[i].items[0].jwk;
        ck_assert(cjose_jwk_set_kid(jwk, ids[i], 1, NULL));
        char *json = cjose_jwk_to_json(jwk, true, NULL);
        ck_assert_ptr_nonnull(json);
        ck_assert(cjose_jwk_set_kid(jwk, "", 0, NULL) || true);
        size_t at = strlen(text);
        (void)snprintf(text + at, sizeof(text) - at, "%s%s", i == 0 ? "" : ",", json);
        free(json);
    }
    size_t at = strlen(text);
    (void)snprintf(text + at, sizeof(text) - at,
                   ",{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}]}");
    parse(text, &keys[HAS_ALL]);
    ck_assert_uint_eq(keys[HAS_ALL].count, 3);
}

static void set_up(void)
{
    rsa = make_key("RSA", 2048);
    other_rsa = make_key("RSA", 2048);
    ec = make_key("EC", 256);
    other_ec = make_key("EC", 256);
    put_pem(rsa, rsa_pem, sizeof(rsa_pem));
    put_pem(ec, ec_pem, sizeof(ec_pem));
    parse(SECRET "\n", &keys[HAS_SECRET]);
    parse(rsa_pem, &keys[HAS_RSA]);
    parse(ec_pem, &keys[HAS_EC]);
    make_set();
    for (size_t i = HAS_SECRET; i <= HAS_EC; i++) {
        auth_keys_free(&keys[i]);
    }
    parse(SECRET "\n", &keys[HAS_SECRET]); /* without their kids again */
    parse(rsa_pem, &keys[HAS_RSA]);
    parse(ec_pem, &keys[HAS_EC]);
}

static void tear_down(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        auth_keys_free(&keys[i]);
    }
    EVP_PKEY_free(rsa);
    EVP_PKEY_free(other_rsa);
    EVP_PKEY_free(ec);
    EVP_PKEY_free(other_ec);
}

#define HS      "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define RS      "{\"alg\":\"RS256\",\"typ\":\"JWT\"}"
#define ES      "{\"alg\":\"ES256\",\"typ\":\"JWT\"}"
#define PARTIES "\"iss\":\"https://issuer\",\"aud\":\"sluice\""
#define LASTS   "\"exp\":1700000100"
#define WITH(c) "{" PARTIES "," LASTS "," c "}"
#define GOOD    WITH("\"role\":\"analyst\"")

static const struct row {
    const char *name;
    enum which which;
    enum how how;
    const char *header;
    const char *claims;
    const char *reason; /* a part of it; NULL: it is taken */
} rows[] = {
    {"a secret", HAS_SECRET, BY_SECRET, HS, GOOD, NULL},
    {"RSA", HAS_RSA, BY_RSA, RS, GOOD, NULL},
    {"P-256", HAS_EC, BY_EC, ES, GOOD, NULL},
    {"a set, a secret", HAS_ALL, BY_SECRET, "{\"alg\":\"HS256\",\"kid\":\"s\"}", GOOD, NULL},
    {"a set, RSA", HAS_ALL, BY_RSA, "{\"alg\":\"RS256\",\"kid\":\"r\"}", GOOD, NULL},
    {"a set, P-256", HAS_ALL, BY_EC, "{\"alg\":\"ES256\",\"kid\":\"e\"}", GOOD, NULL},
    {"a set without kid", HAS_ALL, BY_EC, ES, GOOD, NULL},
    {"a kid for a key that has none", HAS_RSA, BY_RSA, "{\"alg\":\"RS256\",\"kid\":\"x\"}", GOOD,
     NULL},
    {"several audiences", HAS_SECRET, BY_SECRET, HS,
     "{\"iss\":\"https://issuer\",\"aud\":[\"x\",\"other\"]," LASTS "}", NULL},
    {"expired within the skew", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":1699999971}",
     NULL},
    {"a time with a fraction", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":1700000100.5}",
     NULL},
    {"not before, within the skew", HAS_SECRET, BY_SECRET, HS, WITH("\"nbf\":1700000030"), NULL},

    {"no signature", HAS_SECRET, BY_NOBODY, HS, GOOD, "form"},
    {"another secret", HAS_SECRET, BY_OTHER_SECRET, HS, GOOD, "not signed"},
    {"another RSA key", HAS_RSA, BY_OTHER_RSA, RS, GOOD, "not signed"},
    {"another EC key", HAS_EC, BY_OTHER_EC, ES, GOOD, "not signed"},
    {"zeros for HMAC", HAS_SECRET, BY_ZEROS, HS, GOOD, "not signed"},
    {"zeros for RSA", HAS_RSA, BY_ZEROS, RS, GOOD, "not signed"},
    {"zeros for ECDSA", HAS_EC, BY_ZEROS, ES, GOOD, "not signed"},
    {"ECDSA as X.509 has it", HAS_EC, BY_EC_DER, ES, GOOD, "not signed"},
    {"alg none", HAS_SECRET, BY_SECRET, "{\"alg\":\"none\"}", GOOD, "not signed"},
    {"alg None", HAS_SECRET, BY_SECRET, "{\"alg\":\"None\"}", GOOD, "form"},
    {"alg NONE without signature", HAS_SECRET, BY_NOBODY, "{\"alg\":\"NONE\"}", GOOD, "form"},
    {"alg none, RSA", HAS_RSA, BY_RSA, "{\"alg\":\"none\"}", GOOD, "not signed"},
    {"alg in small letters", HAS_SECRET, BY_SECRET, "{\"alg\":\"hs256\"}", GOOD, "form"},
    {"no alg", HAS_SECRET, BY_SECRET, "{\"typ\":\"JWT\"}", GOOD, "form"},
    {"alg null", HAS_SECRET, BY_SECRET, "{\"alg\":null}", GOOD, "form"},
    {"alg a number", HAS_SECRET, BY_SECRET, "{\"alg\":256}", GOOD, "form"},
    {"alg an array", HAS_SECRET, BY_SECRET, "{\"alg\":[\"HS256\"]}", GOOD, "form"},
    {"alg empty", HAS_SECRET, BY_SECRET, "{\"alg\":\"\"}", GOOD, "form"},
    {"alg unknown", HAS_SECRET, BY_SECRET, "{\"alg\":\"XS256\"}", GOOD, "form"},
    {"HS384 is not ours", HAS_SECRET, BY_SECRET, "{\"alg\":\"HS384\"}", GOOD, "not signed"},
    {"HS512 is not ours", HAS_SECRET, BY_SECRET, "{\"alg\":\"HS512\"}", GOOD, "not signed"},
    {"PS256 is not ours", HAS_RSA, BY_RSA, "{\"alg\":\"PS256\"}", GOOD, "not signed"},
    {"RS512 is not ours", HAS_RSA, BY_RSA, "{\"alg\":\"RS512\"}", GOOD, "not signed"},
    {"ES384 is not ours", HAS_EC, BY_EC, "{\"alg\":\"ES384\"}", GOOD, "not signed"},
    {"HS256 with the public key as secret", HAS_RSA, BY_PUBLIC_KEY, HS, GOOD, "not signed"},
    {"the same with a set", HAS_ALL, BY_PUBLIC_KEY, "{\"alg\":\"HS256\",\"kid\":\"r\"}", GOOD,
     "not signed"},
    {"RS256 signed with HMAC", HAS_ALL, BY_SECRET, "{\"alg\":\"RS256\",\"kid\":\"r\"}", GOOD,
     "not signed"},
    {"ES256 signed with RSA", HAS_ALL, BY_RSA, "{\"alg\":\"ES256\",\"kid\":\"e\"}", GOOD,
     "not signed"},
    {"RS256 signed with P-256", HAS_ALL, BY_EC, "{\"alg\":\"RS256\",\"kid\":\"r\"}", GOOD,
     "not signed"},
    {"a kid of a key of another kind", HAS_ALL, BY_SECRET, "{\"alg\":\"HS256\",\"kid\":\"r\"}",
     GOOD, "not signed"},
    {"a kid that is not there", HAS_ALL, BY_SECRET, "{\"alg\":\"HS256\",\"kid\":\"z\"}", GOOD,
     "not signed"},
    {"a kid that is a path", HAS_ALL, BY_SECRET,
     "{\"alg\":\"HS256\",\"kid\":\"../../../dev/null\"}", GOOD, "not signed"},
    {"a kid that is SQL", HAS_ALL, BY_SECRET, "{\"alg\":\"HS256\",\"kid\":\"' UNION SELECT 'x\"}",
     GOOD, "not signed"},
    {"a kid that is a number", HAS_ALL, BY_SECRET, "{\"alg\":\"HS256\",\"kid\":1}", GOOD,
     "kid is no text"},
    {"a key that the token brings", HAS_RSA, BY_OTHER_SECRET,
     "{\"alg\":\"HS256\",\"jwk\":{\"kty\":\"oct\",\"k\":\"YW5vdGhlciBzZWNyZXQ\"}}", GOOD,
     "not signed"},
    {"an address of keys", HAS_SECRET, BY_OTHER_SECRET,
     "{\"alg\":\"HS256\",\"jku\":\"https://evil/keys\"}", GOOD, "not signed"},
    {"crit", HAS_SECRET, BY_SECRET, "{\"alg\":\"HS256\",\"crit\":[\"exp\"],\"exp\":1}", GOOD,
     "extension"},
    {"crit with b64", HAS_SECRET, BY_SECRET, "{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}",
     GOOD, "extension"},
    {"crit a number", HAS_SECRET, BY_SECRET, "{\"alg\":\"HS256\",\"crit\":1}", GOOD, "extension"},
    {"alg twice", HAS_SECRET, BY_SECRET, "{\"alg\":\"none\",\"alg\":\"HS256\"}", GOOD, "form"},
    {"crit empty", HAS_SECRET, BY_SECRET, "{\"alg\":\"HS256\",\"crit\":[]}", GOOD, "extension"},
    {"a header that is no object", HAS_SECRET, BY_SECRET, "[\"HS256\"]", GOOD, "form"},
    {"a header that is no JSON", HAS_SECRET, BY_SECRET, "{alg:HS256}", GOOD, "form"},
    {"an encrypted token's header", HAS_SECRET, BY_SECRET, "{\"alg\":\"dir\",\"enc\":\"A256GCM\"}",
     GOOD, "form"},

    {"expired", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":1699999970}", "expired"},
    {"expired long ago", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":1}", "expired"},
    {"no exp", HAS_SECRET, BY_SECRET, HS, "{" PARTIES "}", "does not say when"},
    {"exp null", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":null}", "does not say when"},
    {"exp a text", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":\"1700000100\"}",
     "does not say when"},
    {"exp true", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":true}", "does not say when"},
    {"exp negative", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":-1}", "no time"},
    {"exp huge", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":1e300}", "no time"},
    {"exp beyond all numbers", HAS_SECRET, BY_SECRET, HS, "{" PARTIES ",\"exp\":1e999}",
     "no JSON object"},
    {"not yet", HAS_SECRET, BY_SECRET, HS, WITH("\"nbf\":1700000031"), "not valid yet"},
    {"nbf a text", HAS_SECRET, BY_SECRET, HS, WITH("\"nbf\":\"now\""), "not valid yet"},
    {"nbf null", HAS_SECRET, BY_SECRET, HS, WITH("\"nbf\":null"), "not valid yet"},
    {"no iss", HAS_SECRET, BY_SECRET, HS, "{\"aud\":\"sluice\"," LASTS "}", "issuer"},
    {"another iss", HAS_SECRET, BY_SECRET, HS,
     "{\"iss\":\"https://issuer/\",\"aud\":\"sluice\"," LASTS "}", "issuer"},
    {"iss an array", HAS_SECRET, BY_SECRET, HS,
     "{\"iss\":[\"https://issuer\"],\"aud\":\"sluice\"," LASTS "}", "issuer"},
    {"no aud", HAS_SECRET, BY_SECRET, HS, "{\"iss\":\"https://issuer\"," LASTS "}", "audience"},
    {"aud empty", HAS_SECRET, BY_SECRET, HS, "{\"iss\":\"https://issuer\",\"aud\":[]," LASTS "}",
     "audience"},
    {"another aud", HAS_SECRET, BY_SECRET, HS,
     "{\"iss\":\"https://issuer\",\"aud\":\"Sluice\"," LASTS "}", "audience"},
    {"aud of numbers", HAS_SECRET, BY_SECRET, HS,
     "{\"iss\":\"https://issuer\",\"aud\":[1,null]," LASTS "}", "audience"},
    {"aud an object", HAS_SECRET, BY_SECRET, HS,
     "{\"iss\":\"https://issuer\",\"aud\":{\"sluice\":1}," LASTS "}", "audience"},
    {"a claim twice", HAS_SECRET, BY_SECRET, HS, WITH("\"role\":\"a\",\"role\":\"b\""), "twice"},
    {"exp twice", HAS_SECRET, BY_SECRET, HS, WITH("\"exp\":9700000100"), "twice"},
    {"claims that are an array", HAS_SECRET, BY_SECRET, HS, "[1]", "no JSON object"},
    {"claims that are no JSON", HAS_SECRET, BY_SECRET, HS, "exp=1700000100", "no JSON object"},
    {"something behind the claims", HAS_SECRET, BY_SECRET, HS, GOOD "{}", "no JSON object"},
    {"U+0000 in a claim", HAS_SECRET, BY_SECRET, HS, WITH("\"role\":\"a\\u0000b\""),
     "no JSON object"},
    {"a lone surrogate", HAS_SECRET, BY_SECRET, HS, WITH("\"role\":\"\\ud800\""), "no JSON object"},
    {"no UTF-8", HAS_SECRET, BY_SECRET, HS, WITH("\"role\":\"\xff\""), "no JSON object"},
    {"a text that is cut", HAS_SECRET, BY_SECRET, HS, "{" PARTIES "," LASTS, "no JSON object"},
};

static const char *const audiences[] = {"sluice", "other"};
static const struct auth_rules rules = {
    .issuer = "https://issuer", .audiences = audiences, .audience_count = 2, .role_claim = "role"};

static bool verify(enum which which, struct str token, const struct auth_rules *r, struct arena *a,
                   struct auth_claims *out, const char **out_reason)
{
    return auth_token_verify(&keys[which], r, token, NOW_S, a, out, out_reason);
}

START_TEST(judges_a_token)
{
    const struct row *row = &rows[_i];
    char token[TEXT_BYTES];
    struct arena a;
    struct auth_claims claims;
    const char *reason = NULL;
    arena_init(&a, TEXT_BYTES);
    put_token(token, row->header, row->claims, row->how);
    bool taken = verify(row->which, str_from(token), &rules, &a, &claims, &reason);
    if (row->reason == NULL) {
        ck_assert_msg(taken, "%s: %s", row->name, reason);
        ck_assert_msg(str_eq(claims.text, str_from(row->claims)), "%s: its claims", row->name);
    } else {
        ck_assert_msg(!taken, "%s: was taken", row->name);
        ck_assert_msg(reason != NULL && strstr(reason, row->reason) != NULL, "%s: %s", row->name,
                      reason == NULL ? "(none)" : reason);
    }
    arena_fini(&a);
}
END_TEST

/* Every byte of a good one counts: changed, or missing, or one too many. */
START_TEST(refuses_what_is_damaged)
{
    static const char changes[] = "A_.=+/ \n";
    char token[TEXT_BYTES];
    char damaged[TEXT_BYTES];
    struct arena a;
    struct auth_claims claims;
    const char *reason = NULL;
    arena_init(&a, TEXT_BYTES);
    put_token(token, ES, GOOD, BY_EC);
    size_t length = strlen(token);
    for (size_t i = 0; i < length; i++) {
        for (size_t k = 0; k < sizeof(changes) - 1; k++) {
            memcpy(damaged, token, length + 1);
            damaged[i] = changes[k];
            /* Of the last letter of a part, two or four bits say nothing. */
            bool says_nothing = token[i + 1] == '.' || i + 1 == length;
            if (damaged[i] != token[i] && !says_nothing) {
                ck_assert_msg(
                    !verify(HAS_EC, (struct str){damaged, length}, &rules, &a, &claims, &reason),
                    "byte %zu as '%c'", i, changes[k]);
            }
        }
        ck_assert(!verify(HAS_EC, (struct str){token, i}, &rules, &a, &claims, &reason));
    }
    (void)snprintf(damaged, sizeof(damaged), "%s.", token);
    ck_assert(!verify(HAS_EC, str_from(damaged), &rules, &a, &claims, &reason));
    (void)snprintf(damaged, sizeof(damaged), "%s=", token);
    ck_assert(!verify(HAS_EC, str_from(damaged), &rules, &a, &claims, &reason));
    arena_fini(&a);
}
END_TEST

START_TEST(refuses_what_is_too_long)
{
    char *claims = malloc(TEXT_BYTES);
    char *token = malloc(TEXT_BYTES * 2);
    struct arena a;
    struct auth_claims out;
    const char *reason = NULL;
    arena_init(&a, TEXT_BYTES);
    (void)snprintf(claims, TEXT_BYTES, "{" PARTIES "," LASTS ",\"x\":\"%*s\"}", 6500, "");
    put_token(token, HS, claims, BY_SECRET);
    ck_assert(!verify(HAS_SECRET, str_from(token), &rules, &a, &out, &reason));
    ck_assert_ptr_nonnull(strstr(reason, "longer than 8 KiB"));
    (void)snprintf(claims, TEXT_BYTES, "{" PARTIES "," LASTS ",\"x\":\"%*s\"}", 5500, "");
    put_token(token, HS, claims, BY_SECRET);
    ck_assert(verify(HAS_SECRET, str_from(token), &rules, &a, &out, &reason));
    arena_fini(&a);
    free(claims);
    free(token);
}
END_TEST

static const struct role_row {
    const char *name;
    const char *claim;
    const char *claims;
    const char *roles; /* with a blank behind each */
} role_rows[] = {
    {"a text", "role", WITH("\"role\":\"a\""), "a "},
    {"an array", "roles", WITH("\"roles\":[\"a\",1,null,\"b\"]"), "a b "},
    {"a pointer", "/realm_access/roles", WITH("\"realm_access\":{\"roles\":[\"a\"]}"), "a "},
    {"a pointer with signs", "/x~1y/~0", WITH("\"x/y\":{\"~\":\"a\"}"), "a "},
    {"a name that is an address", "https://x/role", WITH("\"https://x/role\":\"a\""), "a "},
    {"it is not there", "role", WITH("\"Role\":\"a\""), ""},
    {"a pointer into nothing", "/a/b/c", WITH("\"a\":{\"x\":1}"), ""},
    {"a pointer through a text", "/a/b", WITH("\"a\":\"b\""), ""},
    {"an object", "role", WITH("\"role\":{\"a\":\"b\"}"), ""},
    {"true", "role", WITH("\"role\":true"), ""},
    {"an array in an array", "role", WITH("\"role\":[[\"a\"]]"), ""},
};

START_TEST(finds_roles)
{
    const struct role_row *row = &role_rows[_i];
    char token[TEXT_BYTES];
    char found[256] = "";
    struct arena a;
    struct auth_claims claims;
    const char *reason = NULL;
    struct auth_rules r = rules;
    r.role_claim = row->claim;
    arena_init(&a, TEXT_BYTES);
    put_token(token, HS, row->claims, BY_SECRET);
    ck_assert_msg(verify(HAS_SECRET, str_from(token), &r, &a, &claims, &reason), "%s: %s",
                  row->name, reason);
    for (size_t i = 0; i < claims.role_count; i++) {
        size_t at = strlen(found);
        (void)snprintf(found + at, sizeof(found) - at, "%.*s ", STR_ARG(claims.roles[i]));
    }
    ck_assert_msg(strcmp(found, row->roles) == 0, "%s: '%s'", row->name, found);
    arena_fini(&a);
}
END_TEST

/* Memory is short at each place: refused without a reason, until there is enough. */
START_TEST(is_short_of_memory)
{
    char token[TEXT_BYTES];
    const char *reason = "";
    struct auth_claims claims;
    bool taken = false;
    put_token(token, HS, GOOD, BY_SECRET);
    for (size_t limit = 0; !taken; limit++) {
        struct arena a;
        arena_init(&a, limit);
        taken = verify(HAS_SECRET, str_from(token), &rules, &a, &claims, &reason);
        ck_assert(taken || reason == NULL);
        arena_fini(&a);
        ck_assert_uint_lt(limit, TEXT_BYTES);
    }
}
END_TEST

static void put_weak(const char *kind, int bits, char *out, size_t size)
{
    EVP_PKEY *key = make_key(kind, bits);
    put_pem(key, out, size);
    EVP_PKEY_free(key);
}

START_TEST(refuses_keys_that_are_none)
{
    static const char *const bad[] = {
        "",
        "\n",
        "short secret",
        "{}",
        "{\"keys\":[]}",
        "{\"keys\":{}}",
        "{\"keys\":[1,null,\"x\"]}",
        "{\"kty\":\"oct\",\"k\":\"c2hvcnQ\"}",
        "{\"kty\":\"oct\"}",
        "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AQAB\",\"y\":\"AQAB\"}",
        "{\"keys\":[",
        ("{\"kty\":\"oct\",\"use\":\"enc\",\"k\":\"" KEY_32 "\"}"),
        ("{\"kty\":\"oct\",\"alg\":\"HS512\",\"k\":\"" KEY_32 "\"}"),
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    };
    struct auth_keys none;
    char reason[256];
    char pem[4096];
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        ck_assert_msg(!auth_keys_parse(str_from(bad[i]), &none, reason, sizeof(reason)), "%s",
                      bad[i]);
    }
    put_weak("RSA", 1024, pem, sizeof(pem));
    ck_assert(!auth_keys_parse(str_from(pem), &none, reason, sizeof(reason)));
    put_weak("EC", 384, pem, sizeof(pem));
    ck_assert(!auth_keys_parse(str_from(pem), &none, reason, sizeof(reason)));
}
END_TEST

Suite *auth_token_suite(void)
{
    Suite *s = suite_create("auth_token");
    TCase *tc = tcase_create("tokens");
    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, set_up, tear_down);
    tcase_add_loop_test(tc, judges_a_token, 0, ARRAY_SIZE(rows));
    tcase_add_loop_test(tc, finds_roles, 0, ARRAY_SIZE(role_rows));
    tcase_add_test(tc, refuses_what_is_damaged);
    tcase_add_test(tc, refuses_what_is_too_long);
    tcase_add_test(tc, is_short_of_memory);
    tcase_add_test(tc, refuses_keys_that_are_none);
    suite_add_tcase(s, tc);
    return s;
}

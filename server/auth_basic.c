// SPDX-License-Identifier: Apache-2.0
#include "server/auth_basic.h"

#include <cjose/base64.h>
#include <netinet/in.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "odata/json_writer.h"
#include "server/auth_backoff.h"

enum {
    MOST_JOBS = 32, /* waiting for the helper, at some 50 ms each */
    KEPT_S = 300,
    FREE_OF_NAME = 5,
    FREE_OF_ADDRESS = 20,
    LONGEST_CREDENTIALS = AUTH_LONGEST_NAME + 1 + AUTH_LONGEST_PASSWORD,
    LONGEST_CLAIMS = 2048,
};

struct auth_basic {
    struct auth_cache *cache;
    struct blocking *helper;
    struct auth_job *jobs;
    size_t job_count;
    uint64_t age; /* how often users have changed */
    struct auth_backoff backoff;
};

struct auth_job {
    struct helper_call call; /* first */
    struct auth_job *next;
    struct auth_basic *owner;
    struct auth_material *material;
    const struct auth_user *user; /* found on the helper; NULL: none */
    struct auth_digest digest;
    uint64_t name_key;
    uint64_t address_key; /* 0: none */
    uint64_t age;
    char *password; /* in text, behind the name */
    char text[LONGEST_CREDENTIALS + 1];
};

struct auth_basic *auth_basic_new(struct auth_cache *cache, struct reactor *reactor)
{
    struct auth_basic *b = calloc(1, sizeof(*b));
    if (b == NULL) {
        return NULL;
    }
    b->cache = cache;
    b->helper = blocking_new(reactor);
    if (b->helper == NULL) {
        free(b);
        return NULL;
    }
    return b;
}

void auth_basic_free(struct auth_basic *b)
{
    if (b != NULL) {
        blocking_free(b->helper);
        free(b);
    }
}

void auth_basic_forget(struct auth_basic *b)
{
    b->age++;
}

static bool refuse(struct odata_error *err)
{
    return odata_error_set(err, 401, ODATA_CODE_UNAUTHORIZED, "",
                           "the name or the password is wrong");
}

/* On the helper. */
static void job_run(struct blocking_job *job)
{
    struct auth_job *j = (struct auth_job *)job;
    j->user = auth_users_check(&j->material->users, j->text, j->password);
    OPENSSL_cleanse(j->password, strlen(j->password));
}

static void job_free(struct auth_job *j)
{
    auth_material_release(j->material);
    OPENSSL_cleanse(j->text, sizeof(j->text));
    free(j);
}

/* What policies may read: the role, and who it is. */
static struct db_rights *add_rights(struct auth_basic *b, const struct auth_job *j)
{
    struct bytes claims;
    struct db_rights *rights = NULL;
    bytes_init(&claims, LONGEST_CLAIMS);
    BYTES_PUT_LITERAL(&claims, "{\"role\":");
    json_put_str(&claims, str_from(j->user->role));
    BYTES_PUT_LITERAL(&claims, ",\"sub\":");
    json_put_str(&claims, str_from(j->user->name));
    BYTES_PUT_LITERAL(&claims, "}");
    if (!bytes_failed(&claims)) {
        rights = auth_cache_add(b->cache, &j->digest, str_from(j->user->role), bytes_str(&claims),
                                (int64_t)time(NULL) + KEPT_S);
    }
    bytes_fini(&claims);
    return rights;
}

static void job_done(struct blocking_job *job)
{
    struct auth_job *j = (struct auth_job *)job;
    struct auth_basic *b = j->owner;
    struct auth_job **place = &b->jobs;
    while (*place != j) {
        place = &(*place)->next;
    }
    *place = j->next;
    b->job_count--;
    struct odata_error err;
    struct db_rights *rights = NULL;
    (void)refuse(&err);
    if (j->user != NULL && j->age == b->age) {
        auth_backoff_passed(&b->backoff, j->name_key);
        auth_backoff_passed(&b->backoff, j->address_key);
        rights = add_rights(b, j);
        if (rights == NULL) {
            (void)odata_error_out_of_memory(&err);
        }
    }
    helper_call_tell(&j->call, rights, &err);
    job_free(j);
}

static uint64_t key_of(const struct auth_basic *b, char kind, struct str text)
{
    struct auth_digest digest;
    uint64_t key = 0;
    if (auth_cache_digest(b->cache, kind, text, &digest)) {
        memcpy(&key, digest.bytes, sizeof(key));
    }
    return key;
}

static uint64_t address_key(const struct auth_basic *b, const struct sockaddr *from)
{
    if (from == NULL) {
        return 0;
    }
    const char *bytes = NULL;
    size_t length = 0;
    if (from->sa_family == AF_INET) {
        bytes = (const char *)&((const struct sockaddr_in *)(const void *)from)->sin_addr;
        length = 4;
    } else if (from->sa_family == AF_INET6) {
        /* Who has one address of version 6 has all of its network. */
        bytes = (const char *)&((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
        length = 8;
    }
    return length == 0 ? 0 : key_of(b, 'A', (struct str){bytes, length});
}

/* `name:password` into the job. False: it has not the form. */
static bool decode(struct auth_job *j, struct str credentials)
{
    uint8_t *text = NULL;
    size_t length = 0;
    if (credentials.len == 0 || credentials.len > LONGEST_CREDENTIALS * 4 / 3 + 4 ||
        !cjose_base64_decode(credentials.ptr, credentials.len, &text, &length, NULL)) {
        return false;
    }
    bool good = length <= LONGEST_CREDENTIALS && memchr(text, '\0', length) == NULL;
    if (good) {
        memcpy(j->text, text, length);
        j->text[length] = '\0';
        j->password = strchr(j->text, ':');
        good = j->password != NULL;
    }
    OPENSSL_cleanse(text, length);
    free(text);
    if (good) {
        *j->password++ = '\0';
    }
    return good;
}

/* How long who asks must wait; then they are told. */
static bool may_try(struct auth_basic *b, const struct auth_job *j, int64_t now_s,
                    struct odata_error *err)
{
    int64_t of_name_s = auth_backoff_wait_s(&b->backoff, j->name_key, now_s);
    int64_t of_address_s = auth_backoff_wait_s(&b->backoff, j->address_key, now_s);
    int64_t wait_s = of_name_s > of_address_s ? of_name_s : of_address_s;
    if (wait_s > 0) {
        odata_error_set(err, 429, ODATA_CODE_TOO_MANY_REQUESTS, "",
                        "too many attempts with a wrong name or password");
        err->retry_after_s = (int)wait_s;
        return false;
    }
    if (b->job_count >= MOST_JOBS) {
        odata_error_set(err, 503, ODATA_CODE_SERVICE_UNAVAILABLE, "",
                        "too many passwords wait to be checked");
        err->retry_after_s = 1;
        return false;
    }
    return true;
}

static bool start_job(struct auth_basic *b, struct auth_job *j, int64_t now_s,
                      struct odata_error *err)
{
    if (!may_try(b, j, now_s, err)) {
        return false;
    }
    j->call.job = (struct blocking_job){.run = job_run, .done = job_done};
    if (!blocking_submit(b->helper, &j->call.job)) {
        return odata_error_out_of_memory(err);
    }
    auth_backoff_attempt(&b->backoff, j->name_key, FREE_OF_NAME, now_s);
    if (j->address_key != 0) {
        auth_backoff_attempt(&b->backoff, j->address_key, FREE_OF_ADDRESS, now_s);
    }
    j->next = b->jobs;
    b->jobs = j;
    b->job_count++;
    return true;
}

bool auth_basic_check(struct auth_basic *b, struct auth_material *material,
                      const struct auth_attempt *attempt, struct helper_wait *wait,
                      struct odata_error *err)
{
    for (struct auth_job *j = b->jobs; j != NULL; j = j->next) {
        if (memcmp(&j->digest, &attempt->digest, sizeof(j->digest)) == 0 && j->age == b->age) {
            helper_call_join(&j->call, wait);
            return true;
        }
    }
    struct auth_job *j = calloc(1, sizeof(*j));
    if (j == NULL) {
        return odata_error_out_of_memory(err);
    }
    j->owner = b;
    j->material = auth_material_retain(material);
    j->digest = attempt->digest;
    j->age = b->age;
    if (!decode(j, attempt->credentials)) {
        job_free(j);
        return refuse(err);
    }
    j->name_key = key_of(b, 'N', str_from(j->text));
    j->address_key = address_key(b, attempt->from);
    if (!start_job(b, j, attempt->now_s, err)) {
        job_free(j);
        return false;
    }
    helper_call_join(&j->call, wait);
    return true;
}

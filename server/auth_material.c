// SPDX-License-Identifier: Apache-2.0
#include "server/auth_material.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(char *reason, size_t size, const char *setting, const char *why)
{
    snprintf(reason, size, "%s: %s", setting, why);
    return false;
}

/* The whole file; the caller cleanses and frees it. */
static bool read_file(const char *path, char *out, size_t most, size_t *out_length,
                      const char **out_why)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        *out_why = strerrordesc_np(errno);
        return false;
    }
    size_t length = fread(out, 1, most, file);
    bool whole = ferror(file) == 0 && feof(file) != 0;
    *out_why = ferror(file) != 0 ? "the file cannot be read" : "the file is too large";
    (void)fclose(file);
    *out_length = length;
    return whole;
}

typedef bool (*parse_fn)(struct str text, struct auth_material *m, char *reason, size_t size);

static bool parse_keys(struct str text, struct auth_material *m, char *reason, size_t size)
{
    return auth_keys_parse(text, &m->keys, reason, size);
}

static bool parse_users(struct str text, struct auth_material *m, char *reason, size_t size)
{
    return auth_users_parse(text, &m->users, reason, size);
}

/* Reads one file, if the setting names one. */
static bool load(const char *setting, const char *path, size_t most, parse_fn parse,
                 struct auth_material *m, char *reason, size_t size)
{
    char why_not[256];
    const char *why = "memory is short";
    size_t length = 0;
    if (path[0] == '\0') {
        return true;
    }
    char *text = malloc(most);
    bool good = text != NULL && read_file(path, text, most, &length, &why);
    if (good) {
        why = why_not;
        good = parse((struct str){text, length}, m, why_not, sizeof(why_not));
    }
    if (text != NULL) {
        OPENSSL_cleanse(text, most);
        free(text);
    }
    return good || fail(reason, size, setting, why);
}

bool auth_material_is_wanted(const struct config *c)
{
    return c->jwt_keys[0] != '\0' || c->basic_users[0] != '\0';
}

bool auth_material_load(const struct config *c, struct auth_material **out_material, char *reason,
                        size_t reason_size)
{
    struct auth_material *m = calloc(1, sizeof(*m));
    if (m == NULL) {
        return fail(reason, reason_size, "credentials", "memory is short");
    }
    atomic_init(&m->references, 1);
    if (!load("jwt-keys", c->jwt_keys, AUTH_LARGEST_KEY_FILE, parse_keys, m, reason, reason_size) ||
        !load("basic-users", c->basic_users, AUTH_LARGEST_USERS_FILE, parse_users, m, reason,
              reason_size)) {
        auth_material_release(m);
        return false;
    }
    *out_material = m;
    return true;
}

struct auth_material *auth_material_retain(struct auth_material *m)
{
    atomic_fetch_add_explicit(&m->references, 1, memory_order_relaxed);
    return m;
}

void auth_material_release(struct auth_material *m)
{
    if (m != NULL && atomic_fetch_sub_explicit(&m->references, 1, memory_order_acq_rel) == 1) {
        auth_keys_free(&m->keys);
        auth_users_free(&m->users);
        free(m);
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "server/auth_users.h"

#include <crypt.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_ROLE = 63, /* NAMEDATALEN - 1 */
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct auth_user *)a)->name, ((const struct auth_user *)b)->name);
}

/* Kinds that are slow on purpose; how long what follows the last '$' is (crypt(5)). */
static bool is_good_hash(const char *hash)
{
    static const struct {
        const char *prefix;
        size_t length;
    } kinds[] = {{"$y$", 43}, {"$6$", 86}, {"$2b$", 53}, {"$2y$", 53}};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (strncmp(hash, kinds[i].prefix, strlen(kinds[i].prefix)) == 0) {
            return strlen(strrchr(hash, '$') + 1) == kinds[i].length &&
                   crypt_checksalt(hash) == CRYPT_SALT_OK;
        }
    }
    return false;
}

/* Cuts one line; NULL or what is wrong with it. */
static const char *read_line(char *line, struct auth_user *out)
{
    char *first = strchr(line, ':');
    char *last = strrchr(line, ':');
    if (first == NULL || first == last) {
        return "expected name:hash:role";
    }
    *first = '\0';
    *last = '\0';
    *out = (struct auth_user){.name = line, .hash = first + 1, .role = last + 1};
    if (line[0] == '\0' || strlen(line) > AUTH_LONGEST_NAME) {
        return "the name is empty or too long";
    }
    if (!is_good_hash(out->hash)) {
        return "the hash is not one of yescrypt, SHA-512 or bcrypt";
    }
    if (out->role[0] == '\0' || strcmp(out->role, "none") == 0 ||
        strlen(out->role) > LONGEST_ROLE) {
        return "the role is none";
    }
    return NULL;
}

static bool parse_lines(struct auth_users *users, char *reason, size_t size)
{
    size_t number = 0;
    char *rest = users->text;
    while (rest != NULL && *rest != '\0') {
        char *line = strsep(&rest, "\n");
        number++;
        size_t length = strlen(line);
        if (length > 0 && line[length - 1] == '\r') {
            line[length - 1] = '\0';
        }
        if (line[0] == '\0' || line[0] == '#') {
            continue;
        }
        const char *why = read_line(line, &users->items[users->count]);
        if (why != NULL) {
            snprintf(reason, size, "line %zu: %s", number, why);
            return false;
        }
        users->count++;
    }
    if (users->count == 0) {
        snprintf(reason, size, "there is no user");
        return false;
    }
    qsort(users->items, users->count, sizeof(users->items[0]), compare_names);
    for (size_t i = 1; i < users->count; i++) {
        if (compare_names(&users->items[i - 1], &users->items[i]) == 0) {
            snprintf(reason, size, "the user '%s' stands twice", users->items[i].name);
            return false;
        }
    }
    return true;
}

bool auth_users_parse(struct str text, struct auth_users *out_users, char *reason,
                      size_t reason_size)
{
    struct auth_users users = {.text = strndup(text.ptr, text.len)};
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++) {
        lines += text.ptr[i] == '\n';
    }
    users.items = calloc(lines, sizeof(users.items[0]));
    snprintf(reason, reason_size, "memory is short");
    bool good =
        users.text != NULL && users.items != NULL && parse_lines(&users, reason, reason_size);
    if (!good) {
        auth_users_free(&users);
        return false;
    }
    *out_users = users;
    return true;
}

void auth_users_free(struct auth_users *users)
{
    free(users->text);
    free(users->items);
    *users = (struct auth_users){.text = NULL};
}

const struct auth_user *auth_users_check(const struct auth_users *users, const char *name,
                                         const char *password)
{
    const struct auth_user key = {.name = name};
    const struct auth_user *user =
        bsearch(&key, users->items, users->count, sizeof(key), compare_names);
    const char *hash = user == NULL ? users->items[0].hash : user->hash;
    struct crypt_data *data = calloc(1, sizeof(*data));
    if (data == NULL) {
        return NULL;
    }
    const char *made = crypt_r(password, hash, data);
    size_t length = strlen(hash);
    bool fits = made != NULL && strlen(made) == length && CRYPTO_memcmp(made, hash, length) == 0;
    OPENSSL_cleanse(data, sizeof(*data));
    free(data);
    return fits ? user : NULL;
}

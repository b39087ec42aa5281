// SPDX-License-Identifier: Apache-2.0
/*
 * auth_users - names, salted hashes of passwords, and the role of PostgreSQL that each has.
 *
 * A line is `name:hash:role`, with the hash as mkpasswd(1) makes it: yescrypt ($y$), SHA-512 ($6$) or
 * bcrypt ($2b$, $2y$). Empty lines and those that begin with # say nothing.
 *
 * Owns:    the text, until auth_users_free().
 * Threads: read-only once made.
 */
#ifndef SERVER_AUTH_USERS_H
#define SERVER_AUTH_USERS_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/compiler.h"
#include "odata/str.h"

enum {
    AUTH_LARGEST_USERS_FILE = 4 * 1024 * 1024,
    AUTH_LONGEST_PASSWORD = 256,
    AUTH_LONGEST_NAME = 128,
};

struct auth_user {
    const char *name;
    const char *hash;
    const char *role;
};

struct auth_users {
    char *text;
    struct auth_user *items; /* by name */
    size_t count;
};

/* False fills reason with the number of the line, and quotes no hash. At least one user. */
bool auth_users_parse(struct str text, struct auth_users *out_users, char *reason,
                      size_t reason_size) NODISCARD;
void auth_users_free(struct auth_users *users);

/*
 * The user with this name and password; NULL when there is none. Takes as long for a name that is
 * not there as for one that is, if all hashes are of one kind. Blocks: hashes are slow on purpose.
 */
const struct auth_user *auth_users_check(const struct auth_users *users, const char *name,
                                         const char *password);

#endif

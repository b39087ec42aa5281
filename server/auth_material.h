// SPDX-License-Identifier: Apache-2.0
/*
 * auth_material - what credentials are checked against, as it was read from files: keys of tokens,
 * and users with their hashes.
 *
 * Owns:    what it has read; counted, so that a reload leaves the old one to whoever still has it.
 * Threads: immutable once made; retain and release are atomic.
 */
#ifndef SERVER_AUTH_MATERIAL_H
#define SERVER_AUTH_MATERIAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "odata/compiler.h"
#include "server/auth_keys.h"
#include "server/auth_users.h"

struct auth_material {
    _Atomic size_t references;
    struct auth_keys keys;   /* none: tokens are not taken */
    struct auth_users users; /* none: passwords are not taken */
};

/* There is a kind of credentials that the settings want checked. */
bool auth_material_is_wanted(const struct config *c);

/* Reads the files that the settings name. False fills reason: setting and cause, nothing of the
   content. */
bool auth_material_load(const struct config *c, struct auth_material **out_material, char *reason,
                        size_t reason_size) NODISCARD;

struct auth_material *auth_material_retain(struct auth_material *m);
void auth_material_release(struct auth_material *m);

#endif

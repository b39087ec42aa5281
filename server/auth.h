// SPDX-License-Identifier: Apache-2.0
/*
 * auth - who asks, and so which role's rights a request has in PostgreSQL.
 *
 * Without credentials it is anonymous-role; a bearer token has the role that its claim names, by
 * the list of jwt-roles. What that role may see is PostgreSQL's to decide, in every statement:
 * nothing here knows a table.
 *
 * Owns:    its reference to the material, the cache, and what it has made of the settings.
 * Threads: one worker's thread, but for auth_is_wanted().
 */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "server/auth_material.h"
#include "server/http.h"
#include "storage/db_rights.h"

struct auth;

/* Requests may have other rights than those of the role that logs in. */
bool auth_is_wanted(const struct config *c);

/* Takes material (NULL: no credentials are checked); borrows c until auth_free(). NULL: memory or
   randomness is short; then material is released. */
struct auth *auth_new(const struct config *c, struct auth_material *material) NODISCARD;
void auth_free(struct auth *a);

/* Takes material in the place of what is there; what was found before is checked again. */
void auth_set_material(struct auth *a, struct auth_material *material);

/*
 * The rights of a request; *out_rights is NULL for those of the role that logs in, else it and its
 * texts are in x's arena. now_s: Unix time.
 * False fills err: 401 Unauthorized, 401 InvalidToken, 403 Forbidden for a role that is not listed.
 */
bool auth_identify(struct auth *a, struct http_exchange *x, int64_t now_s,
                   const struct db_rights **out_rights, struct odata_error *err) NODISCARD;

#endif

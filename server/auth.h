// SPDX-License-Identifier: Apache-2.0
/*
 * auth - who asks, and so which role's rights a request has in PostgreSQL.
 *
 * Without credentials it is anonymous-role; a bearer token has the role that its claim names, by
 * the list of jwt-roles; a user with a password the role that basic-users says. What that role may see is PostgreSQL's to decide, in every statement:
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
#include "server/helper_call.h"
#include "server/http.h"
#include "storage/db_rights.h"

struct auth;

/* Requests may have other rights than those of the role that logs in. */
bool auth_is_wanted(const struct config *c);

enum auth_answer {
    AUTH_KNOWN,   /* *out_rights says who it is */
    AUTH_REFUSED, /* err says why */
    AUTH_LATER,   /* wait->done() will say it */
};

/* Takes material (NULL: no credentials are checked); borrows c until auth_free(). NULL: memory or
   randomness is short; then material is released. */
struct auth *auth_new(const struct config *c, struct auth_material *material,
                      struct reactor *reactor) NODISCARD;
void auth_free(struct auth *a);

/* Takes material in the place of what is there; what was found before is checked again. */
void auth_set_material(struct auth *a, struct auth_material *material);

/*
 * The rights of a request; *out_rights is NULL for those of the role that logs in, else it and its
 * texts are in x's arena. now_s: Unix time. A password is checked on a helper thread: then
 * wait->done() is called later with a struct db_rights, for auth_copy_rights(), or with an error.
 * err: 401 Unauthorized, 401 InvalidToken, 403 Forbidden for a role that is not listed and for a
 * password in clear text, 429 TooManyRequests, 503.
 */
enum auth_answer auth_identify(struct auth *a, struct http_exchange *x, int64_t now_s,
                               struct helper_wait *wait, const struct db_rights **out_rights,
                               struct odata_error *err) NODISCARD;

/* What is kept may go before the request ends. */
bool auth_copy_rights(struct arena *arena, const struct db_rights *found,
                      const struct db_rights **out_rights, struct odata_error *err) NODISCARD;

/* A password would not be seen on its way here: the request comes from this host, or a proxy that is
   trusted says https; or the settings do not care. */
bool auth_is_private(const struct config *c, const struct http_exchange *x);

#endif

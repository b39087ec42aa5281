// SPDX-License-Identifier: Apache-2.0
/*
 * role_models - the documents of roles: each says what its role may read, and nothing else.
 *
 * Shared by all workers; a role's catalog is read when somebody asks for it first, by whoever asks.
 * Bounded: the one that was not asked for for longest goes. A reload makes all of them old.
 *
 * Owns:    a reference to each document that it keeps.
 * Blocks:  role_models_get() reads the catalog: for helper threads only.
 * Threads: any.
 */
#ifndef SERVER_ROLE_MODELS_H
#define SERVER_ROLE_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "server/document.h"

struct role_models;

/* Borrows c until role_models_free(). NULL: memory is short. */
struct role_models *role_models_new(const struct config *c) NODISCARD;

/* False: a helper is still reading a catalog; then nothing is freed. */
bool role_models_free(struct role_models *m) NODISCARD;

/* The catalog has changed: what is kept is old. */
void role_models_forget(struct role_models *m);

/* How often that was; a document is of the catalog's shape as long as this stays. */
uint64_t role_models_age(const struct role_models *m);

/*
 * The document of a role, with a reference for the caller. False fills err: 403 when PostgreSQL
 * does not give the role, else as catalog_load().
 */
bool role_models_get(struct role_models *m, const char *role, struct document **out_document,
                     struct odata_error *err) NODISCARD;

#endif

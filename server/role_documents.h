// SPDX-License-Identifier: Apache-2.0
/*
 * role_documents - one worker's documents of roles, and the requests that wait for one.
 *
 * What the worker has is found without a lock; what it has not is fetched by a helper thread from
 * role_models, while the loop goes on.
 *
 * Owns:    a reference to each document that it keeps, and the helper.
 * Threads: one worker's thread.
 */
#ifndef SERVER_ROLE_DOCUMENTS_H
#define SERVER_ROLE_DOCUMENTS_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "server/document.h"
#include "server/helper_call.h"
#include "server/role_models.h"
#include "storage/reactor.h"

struct role_documents;

/* NULL when memory or descriptors are short. Borrows models. */
struct role_documents *role_documents_new(struct role_models *models, size_t size,
                                          struct reactor *reactor) NODISCARD;
/* Nobody waits any more. Waits a bounded time for the helper. */
void role_documents_free(struct role_documents *d);

/* What is kept is old: the catalog was read again. */
void role_documents_forget(struct role_documents *d);

/* The role's document, lent until the next call of anything here; NULL: ask with _wait(). */
struct document *role_documents_find(struct role_documents *d, const char *role);

/* Asks for it; wait->done() is called later, with a struct document. False fills err: no helper, or memory is short. */
bool role_documents_wait(struct role_documents *d, const char *role, struct helper_wait *wait,
                         struct odata_error *err) NODISCARD;

#endif

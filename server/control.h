// SPDX-License-Identifier: Apache-2.0
/*
 * control - the thread that loads the model: at the start, on SIGHUP, on NOTIFY, and when a worker
 * finds the database changed.
 *
 * A load that fails leaves the old model in place and is tried again. It may block in PostgreSQL:
 * nothing else waits for this thread.
 *
 * Owns:    its thread, its listening connection, one reference to the newest document.
 */
#ifndef SERVER_CONTROL_H
#define SERVER_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/compiler.h"
#include "server/service.h"
#include "server/worker.h"

struct control;

/* Starts the thread and its first load. s is borrowed until control_stop(). NULL fills reason. */
struct control *control_start(struct service *s, char *reason, size_t reason_size) NODISCARD;

/*
 * Waits until the first load has ended, well or not, at most timeout_ms. True: there is a model.
 * False fills reason with why there is none.
 */
bool control_wait_first(struct control *c, int64_t timeout_ms, char *reason, size_t reason_size);

/* The workers that get every document, the newest one at once. Lent until control_stop(). */
void control_set_workers(struct control *c, struct worker **workers, size_t count);

/* Load again soon. From any thread. */
void control_reload(struct control *c);

/* The same, from a worker that met an older model; struct service's model_stale. */
void control_model_stale(void *ctx);

/*
 * Ends the thread. False when it hangs in PostgreSQL: it is left to the exit of the process, and
 * what it borrows must stay.
 */
bool control_stop(struct control *c) NODISCARD;

#endif

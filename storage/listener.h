// SPDX-License-Identifier: Apache-2.0
/*
 * listener - a connection of its own that hears NOTIFY on one channel.
 *
 * Blocks while it connects: it belongs to the thread that reloads, never to a worker.
 *
 * Owns:    its connection.
 * Threads: one.
 */
#ifndef STORAGE_LISTENER_H
#define STORAGE_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

struct listener;

enum listener_news {
    LISTENER_NOTHING,
    LISTENER_NOTIFIED, /* somebody sent the payload */
    LISTENER_LOST,     /* the connection is gone: close it, and listen anew */
};

/*
 * Connects and listens. channel: an identifier of letters, digits and `_`.
 * False fills err (503); its internal text has PostgreSQL's own words.
 */
bool listener_open(const char *db_uri, const char *channel, int64_t timeout_ms,
                   struct listener **out_listener, struct odata_error *err) NODISCARD;

/* To wait for: readable when there may be news. */
int listener_fd(const struct listener *l);

/* Takes what has come; only notifications with this payload count. */
enum listener_news listener_take(struct listener *l, struct str payload);

void listener_close(struct listener *l);

#endif

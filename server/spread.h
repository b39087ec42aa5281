// SPDX-License-Identifier: Apache-2.0
/*
 * spread - evens out how many clients each worker has.
 *
 * The kernel spreads new connections over the workers' sockets by a hash: of sixteen, one worker may
 * get twelve, and be the bottleneck while the other waits. So a worker that accepts a client while
 * another has fewer hands it over, once, through a pipe: a descriptor is a number for all threads.
 *
 * Owns:    the pipes and the clients inside them.
 * Threads: any worker's. No locks; the pipe takes a client as a whole (PIPE_BUF).
 */
#ifndef SERVER_SPREAD_H
#define SERVER_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "odata/compiler.h"

struct spread;

struct spread_client {
    int fd;
    socklen_t peer_len;
    struct sockaddr_storage peer;
};

/* NULL when memory or descriptors are short. Free it when all workers have ended. */
struct spread *spread_new(size_t workers) NODISCARD;
void spread_free(struct spread *s);

/* Becomes readable when somebody hands a client to this worker. Lent. */
int spread_fd(const struct spread *s, size_t worker);

/* How many clients this worker has. */
void spread_publish(struct spread *s, size_t worker, size_t clients);

/* Hands the client to the worker that has the fewest. False: that is this one, keep it. */
bool spread_pass(struct spread *s, size_t worker, const struct spread_client *client);

/* The next one that was handed to this worker; its fd is the caller's. */
bool spread_take(struct spread *s, size_t worker, struct spread_client *out_client);

/* Nobody is handed to this worker any more. False: somebody is still under way; take, and ask again. */
bool spread_close(struct spread *s, size_t worker);

#endif

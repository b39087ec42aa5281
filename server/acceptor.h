// SPDX-License-Identifier: Apache-2.0
/*
 * acceptor - a listening socket in a loop: accepts in batches, and does not spin when descriptors
 * are short.
 *
 * Out of descriptors, it gives up its spare one to accept and close the waiting client (who then
 * knows), and pauses for a moment.
 *
 * Owns: its listening socket and its spare descriptor.
 */
#ifndef SERVER_ACCEPTOR_H
#define SERVER_ACCEPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "odata/compiler.h"
#include "server/loop.h"

struct acceptor {
    struct loop *loop;
    struct watch watch; /* its fd is -1 when closed */
    struct timer retry;
    int spare_fd;
    void *ctx;
    /* Takes fd: non-blocking, closed on exec. */
    void (*accepted)(void *ctx, int fd, const struct sockaddr *peer, socklen_t peer_len);
    /* Accepting pauses; NULL when nobody wants to know. */
    void (*paused)(void *ctx);
};

/*
 * A listening socket on host and port ("" = all interfaces, 0 = any free port). shared: several
 * sockets may listen there, and the kernel spreads the clients over them by a hash (SO_REUSEPORT).
 * -1 fills reason.
 */
int acceptor_bind(const char *host, uint16_t port, bool shared, char *reason, size_t reason_size);

/* The port that a socket was given; 0 when it has none. */
uint16_t acceptor_port(int listen_fd);

/* Takes listen_fd. ctx, accepted and paused are set before. False: the kernel refused. */
bool acceptor_start(struct acceptor *a, struct loop *loop, int listen_fd) NODISCARD;

/* Accepts who is in the backlog already, then closes. */
void acceptor_stop(struct acceptor *a);

#endif

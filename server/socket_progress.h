// SPDX-License-Identifier: Apache-2.0
/*
 * socket_progress - how far the other side of a TCP connection has come.
 *
 * What send() took says nothing: the kernel's buffer may be larger than what a slow client reads in
 * minutes. Only what its system has acknowledged is progress.
 */
#ifndef SERVER_SOCKET_PROGRESS_H
#define SERVER_SOCKET_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/compiler.h"

struct socket_progress {
    uint64_t acked_bytes; /* since the connection began */
    size_t unacked_bytes; /* in the kernel's buffer or on their way */
    uint64_t received_bytes;
};

/* False when the socket is no TCP socket, or is closed. */
bool socket_progress_get(int fd, struct socket_progress *out_progress) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * serve - the running service: sockets, threads and signals, in the order in which they start and
 * stop.
 */
#ifndef SERVER_SERVE_H
#define SERVER_SERVE_H

#include "config/config.h"

/* Serves until a signal ends it. The exit code of the process. */
int serve(const struct config *c);

#endif

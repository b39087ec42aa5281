// SPDX-License-Identifier: Apache-2.0
/*
 * check - the commands that look once and exit: --check, --print-metadata, --health-check.
 */
#ifndef SERVER_CHECK_H
#define SERVER_CHECK_H

#include "config/config.h"

/* Connects, prints the entity sets and every warning. The exit code: 0, or 1 when it fails. */
int check_database(const struct config *c);

/* Prints $metadata. */
int check_print_metadata(const struct config *c);

/* Asks /healthz of the service that runs with these settings; says nothing when it is well. */
int check_health(const struct config *c);

#endif

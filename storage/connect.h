// SPDX-License-Identifier: Apache-2.0
/*
 * connect - a connection, made while the caller waits: for reading the catalog, and for LISTEN.
 *
 * The hosts are tried one after the other, each with its own time, as storage/connector.h does
 * without waiting.
 */
#ifndef STORAGE_CONNECT_H
#define STORAGE_CONNECT_H

#include <stdint.h>

#include <libpq-fe.h>

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/session.h"

/*
 * uri: a connection string or URI, "" for libpq's own variables; options that it or PGOPTIONS give
 * are kept, in front of the session's, so ours win. application_name is the user's, else sluice.
 * timeout_ms: for each host; 0 = as long as it takes.
 *
 * False fills err: 503, the message says whether nothing answers, or what PostgreSQL refuses (the
 * role, its password, the database), and `internal` has its words; 500 when uri cannot be parsed,
 * which is not quoted, since it may hold a password.
 */
bool connect_blocking(const char *uri, const struct session_options *session, int64_t timeout_ms,
                      PGconn **out_pg, struct odata_error *err) NODISCARD;

#endif

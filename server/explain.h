// SPDX-License-Identifier: Apache-2.0
/*
 * explain - the SQL of a request: for the log, and for who asks with sluice-explain=true.
 *
 * The log has the statements alone, without the values of their parameters. Nothing is run but
 * EXPLAIN; its plan shows the values that came with the request, and what stands inside of views
 * and row policies. Who may ask is said by the setting explain-networks.
 *
 * Owns: nothing; everything lives in the request's arena.
 */
#ifndef SERVER_EXPLAIN_H
#define SERVER_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/feed_writer.h"
#include "odata/odata_error.h"
#include "server/http.h"
#include "server/log.h"
#include "server/service.h"
#include "storage/sql_read.h"

/*
 * Whether the option is among raw_query. False fills err: 400 for another value than true or false,
 * 403 when this client may not ask.
 */
bool explain_asked(const struct http_exchange *x, const struct service *s, struct str raw_query,
                   bool *out_asked, struct odata_error *err) NODISCARD;

/*
 * Begins the document in out: `{"statements":[...]`. *out_read is the EXPLAIN of the statement that
 * yields the rows, or else the count; NULL when there is neither, and then the document is complete.
 */
bool explain_begin(struct arena *a, struct bytes *out, const struct sql_read *sql,
                   const struct sql_read **out_read, struct odata_error *err) NODISCARD;

/* What writes the rest of it from the result of that EXPLAIN. */
void explain_spec(struct feed_spec *out_spec);

/* One line for each statement, at the level debug. */
void explain_log(struct log *log, uint64_t id, const struct sql_read *sql);

#endif

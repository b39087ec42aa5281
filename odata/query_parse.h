// SPDX-License-Identifier: Apache-2.0
/*
 * query_parse - the query part of a URL into struct query.
 *
 * Split on `&` first; names and values are then decoded once each. System options are taken with
 * and without their $, in any case. What begins with neither $ nor @ and is no system option is the
 * client's own and is ignored, undecoded.
 *
 * Memory:  all strings live in the arena.
 * Source:  OData 4.01 URL Conventions 5; Protocol 11.2.1 (unknown $ options are refused).
 */
#ifndef ODATA_QUERY_PARSE_H
#define ODATA_QUERY_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

struct query_limits {
    size_t max_filter_depth; /* also of nested options; LIMIT_EXPR_DEPTH at most */
    size_t max_expand_depth; /* LIMIT_EXPAND_DEPTH at most */
};

/*
 * raw_query: what stands behind the `?`, undecoded, borrowed; may be empty.
 * False fills err: 400 with the code and the name of the option, or 501.
 */
bool query_parse(struct arena *a, struct str raw_query, const struct query_limits *limits,
                 struct query *out_query, struct odata_error *err) NODISCARD;

/*
 * Whether an option, undecoded, is about the answer as a whole and not about one collection of it:
 * $format, $schemaversion, and what is the client's own. Another request for a part of the answer
 * keeps these. False fills err: the name is not well-formed.
 */
bool query_option_is_general(struct arena *a, struct str raw_option, bool *out_general,
                             struct odata_error *err) NODISCARD;

#endif

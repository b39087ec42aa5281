// SPDX-License-Identifier: Apache-2.0
/*
 * filter_parse - expressions of $filter, $orderby, parameter aliases and keys, by precedence
 * climbing.
 *
 * Memory:  the tree and all its strings live in the arena.
 * Depth:   parentheses, calls, lambdas, `not` and `-` inside each other: max_depth;
 *          levels of the tree: LIMIT_EXPR_HEIGHT.
 * Source:  OData 4.01 URL Conventions 5.1.1, ABNF section 4 (commonExpr).
 *
 * Operators bind as in URL Conventions 5.1.1.16, except that `in` and `has` bind weaker than
 * arithmetic, so that `a add 1 in (1,2)` means what it says; behind `not` they bind stronger.
 * Operators and function names are taken in any case, and are names where no operator can stand.
 */
#ifndef ODATA_FILTER_PARSE_H
#define ODATA_FILTER_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

/*
 * Parses the decoded value of $filter; text is borrowed.
 * False fills err: 400 BadFilter naming the byte, 400 RequestTooComplex, or 501.
 */
bool filter_parse(struct arena *a, struct str text, size_t max_depth, struct expr **out_expr,
                  struct odata_error *err) NODISCARD;

/* The same for another option: target ("@p") is named by the errors, with their code. */
bool expression_parse(struct arena *a, struct str text, size_t max_depth, const char *target,
                      const char *code, struct expr **out_expr, struct odata_error *err) NODISCARD;

#endif

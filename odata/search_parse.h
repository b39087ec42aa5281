// SPDX-License-Identifier: Apache-2.0
/*
 * search_parse - the value of $search: words and phrases, joined by AND, OR and NOT.
 *
 * NOT binds stronger than AND, AND stronger than OR; two terms side by side are joined by AND. The
 * operators are upper-case. Where there is nothing that one could join, the word is a term of the
 * tree, as the ABNF has it; the binder refuses it there (odata/bind_search.c).
 *
 * Memory: the tree lives in the arena, its texts are views of the text that was parsed.
 * Source: OData 4.01 URL Conventions 5.1.7, ABNF searchExpr.
 */
#ifndef ODATA_SEARCH_PARSE_H
#define ODATA_SEARCH_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

/*
 * Parses the decoded value; text is borrowed and must outlive the tree. offset: the byte of `where`
 * ("$search", or the option around it) at which text starts.
 * False fills err: 400 BadSearch naming the byte, 400 RequestTooComplex.
 */
bool search_parse(struct arena *a, struct str text, const char *where, size_t offset,
                  const struct search_expr **out_expr, struct odata_error *err) NODISCARD;

#endif

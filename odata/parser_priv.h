// SPDX-License-Identifier: Apache-2.0
/*
 * parser_priv - what the parsers of expressions, options and paths share: one lexer, the depth.
 *
 * The functions parser_X() start at the current token and end at the first token that is not
 * theirs. All of them return false with the error filled.
 */
#ifndef ODATA_PARSER_PRIV_H
#define ODATA_PARSER_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/lexer.h"

struct parser {
    struct lexer lx;
    size_t depth;
    size_t max_depth;
    size_t options_depth; /* lists of options around this place, at most LIMIT_OPTION_DEPTH */
    size_t expand_depth;  /* $expand around this place */
    size_t max_expand_depth;
    size_t transformations; /* of $apply so far */
};

/* Where a list of options stands; each option knows where it may. */
enum option_place {
    PLACE_REQUEST = 1,
    PLACE_EXPAND = 2,     /* $expand=nav(...) */
    PLACE_EXPAND_REF = 4, /* $expand=nav/$ref(...) */
    PLACE_COUNT = 8,      /* .../$count(...) */
    PLACE_SELECT = 16,    /* $select=property(...) */
};

/* A row of the table of system query options. */
struct option_rule;

/* odata/parser.c: the current token and the errors about it. */
static inline enum token_kind parser_token(const struct parser *p)
{
    return p->lx.token.kind;
}
bool parser_unexpected(struct parser *p, const char *expected);
/* The same where an operator could stand: says how OData writes those of other languages. */
bool parser_unexpected_operator(struct parser *p, const char *expected);
bool parser_expect(struct parser *p, enum token_kind kind, const char *expected) NODISCARD;
bool parser_is_word(const struct parser *p, struct str word); /* a name, in any case */
bool parser_enter(struct parser *p) NODISCARD;
void parser_leave(struct parser *p);
struct token parser_peek(const struct parser *p); /* the token behind; END when it is malformed */

/* Room for one more element behind count of them; grows by doubling in the arena. Or NULL. */
void *parser_grow(struct parser *p, void *items, size_t count, size_t item_size) NODISCARD;
#define PARSER_PUSH(p, items, count)                                          \
    (((items) = parser_grow((p), (items), (count), sizeof(*(items)))) == NULL \
         ? NULL                                                               \
         : &(items)[(count)++])

/* odata/operand_parse.c */
struct expr *parser_node(struct parser *p, enum expr_kind kind, size_t offset) NODISCARD;
bool parser_adopt(struct parser *p, struct expr *parent, const struct expr *child) NODISCARD;
bool parser_push_arg(struct parser *p, struct expr *parent, struct expr *child) NODISCARD;
bool parser_operand(struct parser *p, struct expr **out) NODISCARD;

/* odata/json_parse.c: an array or object whose first token is the current one. */
bool parser_json(struct parser *p, struct expr **out) NODISCARD;

/* odata/filter_parse.c */
bool parser_expr(struct parser *p, struct expr **out) NODISCARD;
/* odata/operand_parse.c: `a,b` or `n=a,m=b` up to and with the closing parenthesis; the opening one is consumed. */
bool parser_arguments(struct parser *p, struct argument **out, size_t *out_count) NODISCARD;

/* odata/option_parse.c */
bool option_refuse(struct str name, struct odata_error *err); /* unknown: 400; not yet: 501 */
bool parser_filter(struct parser *p, struct query *q) NODISCARD;
bool parser_orderby(struct parser *p, struct query *q) NODISCARD;
/* The nested options up to and with the closing parenthesis; the opening one is consumed. */
bool parser_options(struct parser *p, enum option_place place, struct query **out) NODISCARD;
/* One option of the request, its value decoded; rule from option_find(). */
const struct option_rule *option_find(struct str name); /* with or without $; NULL: none of ours */
size_t option_index(const struct option_rule *rule);    /* below 32 */
const char *option_target(const struct option_rule *rule); /* "$top" */
bool option_parse_request(struct parser *p, const struct option_rule *rule, struct str value,
                          struct query *q) NODISCARD;

/* odata/apply_parse.c */
bool parser_compute(struct parser *p, struct query *q) NODISCARD;
bool parser_apply(struct parser *p, struct query *q) NODISCARD;
struct aggregate_item;
/* An aggregate expression, without `as` and a name. */
bool parser_aggregate(struct parser *p, struct aggregate_item *item) NODISCARD;

/* odata/select_parse.c */
bool parser_select(struct parser *p, struct query *q) NODISCARD;
bool parser_expand(struct parser *p, struct query *q) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
#include "odata/filter_parse.h"

#include "odata/limits.h"
#include "odata/parser_priv.h"

/* Weaker first. */
enum precedence {
    PRECEDENCE_OR = 1,
    PRECEDENCE_AND,
    PRECEDENCE_EQUALITY,
    PRECEDENCE_RELATIONAL,
    PRECEDENCE_MEMBERSHIP,
    PRECEDENCE_ADDITIVE,
    PRECEDENCE_MULTIPLICATIVE,
};

static const struct binary {
    struct str word;
    enum operator op; /* OP_NONE: `in` */
    enum precedence precedence;
} binaries[] = {
    {{STR_INIT("or")}, OP_OR, PRECEDENCE_OR},
    {{STR_INIT("and")}, OP_AND, PRECEDENCE_AND},
    {{STR_INIT("eq")}, OP_EQ, PRECEDENCE_EQUALITY},
    {{STR_INIT("ne")}, OP_NE, PRECEDENCE_EQUALITY},
    {{STR_INIT("lt")}, OP_LT, PRECEDENCE_RELATIONAL},
    {{STR_INIT("le")}, OP_LE, PRECEDENCE_RELATIONAL},
    {{STR_INIT("gt")}, OP_GT, PRECEDENCE_RELATIONAL},
    {{STR_INIT("ge")}, OP_GE, PRECEDENCE_RELATIONAL},
    {{STR_INIT("has")}, OP_HAS, PRECEDENCE_MEMBERSHIP},
    {{STR_INIT("in")}, OP_NONE, PRECEDENCE_MEMBERSHIP},
    {{STR_INIT("add")}, OP_ADD, PRECEDENCE_ADDITIVE},
    {{STR_INIT("sub")}, OP_SUB, PRECEDENCE_ADDITIVE},
    {{STR_INIT("mul")}, OP_MUL, PRECEDENCE_MULTIPLICATIVE},
    {{STR_INIT("div")}, OP_DIV, PRECEDENCE_MULTIPLICATIVE},
    {{STR_INIT("divby")}, OP_DIVBY, PRECEDENCE_MULTIPLICATIVE},
    {{STR_INIT("mod")}, OP_MOD, PRECEDENCE_MULTIPLICATIVE},
};

static bool parse_binary(struct parser *p, enum precedence least, struct expr **out);

static const struct binary *find_binary(struct token t)
{
    for (size_t i = 0; t.kind == TOKEN_NAME && i < ARRAY_SIZE(binaries); i++) {
        if (str_ieq(t.text, binaries[i].word)) {
            return &binaries[i];
        }
    }
    return NULL;
}

static struct expr *new_binary(struct parser *p, const struct binary *binary, struct expr *left,
                               struct expr *right)
{
    struct expr *e = parser_node(p, binary->op == OP_NONE ? EXPR_IN : EXPR_BINARY, left->offset);
    if (e == NULL) {
        return NULL;
    }
    e->op = binary->op;
    return parser_push_arg(p, e, left) && parser_push_arg(p, e, right) ? e : NULL;
}

/* (a,b,...) behind `in`; anything else there is an operand. */
static bool parse_in_right(struct parser *p, struct expr **out)
{
    if (parser_token(p) != TOKEN_OPEN) {
        return parser_operand(p, out);
    }
    struct expr *list = parser_node(p, EXPR_LIST, p->lx.token.offset);
    if (list == NULL || !parser_enter(p) || !lexer_next(&p->lx)) {
        return false;
    }
    while (parser_token(p) != TOKEN_CLOSE) {
        struct expr *item;
        if ((list->arg_count > 0 && !parser_expect(p, TOKEN_COMMA, "',' or ')'")) ||
            !parser_expr(p, &item) || !parser_push_arg(p, list, item)) {
            return false;
        }
    }
    parser_leave(p);
    *out = list;
    return lexer_next(&p->lx);
}

/*
 * `not` is a name when it cannot be an operator: at the end, or before an operator that has its
 * right side (`not eq 1`, but not `not eq eq 1`).
 */
static bool not_is_name(const struct parser *p)
{
    struct token behind = parser_peek(p);
    struct parser ahead = *p;
    struct odata_error ignored;
    ahead.lx.err = &ignored;
    if (find_binary(behind) != NULL) {
        return lexer_next(&ahead.lx) && find_binary(parser_peek(&ahead)) == NULL;
    }
    return behind.kind == TOKEN_END || behind.kind == TOKEN_CLOSE || behind.kind == TOKEN_COMMA ||
           behind.kind == TOKEN_SLASH || behind.kind == TOKEN_COLON ||
           behind.kind == TOKEN_EQUALS || behind.kind == TOKEN_FOREIGN;
}

/* `not a in (...)` denies the membership: `in` and `has` bind stronger than `not`. */
static bool parse_not_operand(struct parser *p, struct expr **out);

static bool parse_unary(struct parser *p, struct expr **out)
{
    bool negate = parser_token(p) == TOKEN_MINUS;
    if (!negate && (!parser_is_word(p, STR("not")) || not_is_name(p))) {
        return parser_operand(p, out);
    }
    struct expr *e = parser_node(p, EXPR_UNARY, p->lx.token.offset);
    struct expr *operand;
    if (e == NULL || !parser_enter(p) || !lexer_next(&p->lx) ||
        !(negate ? parse_unary(p, &operand) : parse_not_operand(p, &operand))) {
        return false;
    }
    parser_leave(p);
    e->op = negate ? OP_NEGATE : OP_NOT;
    *out = e;
    return parser_push_arg(p, e, operand);
}

/* The right side of an operator that was just consumed. */
static bool parse_right(struct parser *p, const struct binary *binary, struct expr **out)
{
    if (binary->op == OP_NONE) {
        return parse_in_right(p, out);
    }
    return parse_binary(p, (enum precedence)(binary->precedence + 1), out);
}

static bool parse_not_operand(struct parser *p, struct expr **out)
{
    if (!parse_unary(p, out)) {
        return false;
    }
    for (;;) {
        const struct binary *binary = find_binary(p->lx.token);
        if (binary == NULL || binary->precedence != PRECEDENCE_MEMBERSHIP) {
            return true;
        }
        struct expr *right;
        if (!lexer_next(&p->lx) || !parse_right(p, binary, &right)) {
            return false;
        }
        *out = new_binary(p, binary, *out, right);
        if (*out == NULL) {
            return false;
        }
    }
}

/*
 * Joins the terms of an and/or chain into a tree of least height: both are associative, also
 * with null, and clients send chains of a thousand terms in place of `in`.
 */
static struct expr *join_balanced(struct parser *p, const struct binary *binary,
                                  struct expr **terms, size_t count)
{
    if (count == 1) {
        return terms[0];
    }
    size_t half = (count + 1) / 2;
    struct expr *left = join_balanced(p, binary, terms, half);
    struct expr *right = left == NULL ? NULL : join_balanced(p, binary, terms + half, count - half);
    return right == NULL ? NULL : new_binary(p, binary, left, right);
}

static bool parse_chain(struct parser *p, const struct binary *binary, struct expr **out)
{
    struct expr **terms = NULL;
    size_t count = 0;
    struct expr **slot = PARSER_PUSH(p, terms, count);
    if (slot == NULL) {
        return false;
    }
    *slot = *out;
    while (find_binary(p->lx.token) == binary) {
        struct expr *term;
        if (!lexer_next(&p->lx) || !parse_right(p, binary, &term)) {
            return false;
        }
        slot = PARSER_PUSH(p, terms, count);
        if (slot == NULL) {
            return false;
        }
        *slot = term;
    }
    *out = join_balanced(p, binary, terms, count);
    return *out != NULL;
}

static bool parse_binary(struct parser *p, enum precedence least, struct expr **out)
{
    if (!parse_unary(p, out)) {
        return false;
    }
    for (;;) {
        const struct binary *binary = find_binary(p->lx.token);
        if (binary == NULL || binary->precedence < least) {
            return true;
        }
        if (binary->precedence <= PRECEDENCE_AND) {
            if (!parse_chain(p, binary, out)) {
                return false;
            }
            continue;
        }
        struct expr *right;
        if (!lexer_next(&p->lx) || !parse_right(p, binary, &right)) {
            return false;
        }
        *out = new_binary(p, binary, *out, right);
        if (*out == NULL) {
            return false;
        }
    }
}

bool parser_expr(struct parser *p, struct expr **out)
{
    return parse_binary(p, PRECEDENCE_OR, out);
}

bool expression_parse(struct arena *a, struct str text, size_t max_depth, const char *target,
                      const char *code, struct expr **out_expr, struct odata_error *err)
{
    struct parser p = {.max_depth = max_depth, .max_expand_depth = LIMIT_EXPAND_DEPTH};
    struct str copy;
    struct expr *e;
    if (!arena_copy(a, text, &copy)) {
        return arena_fail(a, err);
    }
    lexer_init(&p.lx, a, copy, code, target, target, err);
    if (!lexer_next(&p.lx) || !parser_expr(&p, &e)) {
        return false;
    }
    if (parser_token(&p) != TOKEN_END) {
        return parser_unexpected_operator(&p, "an operator (eq, ne, and, ...) or the end");
    }
    *out_expr = e;
    return true;
}

bool filter_parse(struct arena *a, struct str text, size_t max_depth, struct expr **out_expr,
                  struct odata_error *err)
{
    return expression_parse(a, text, max_depth, "$filter", ODATA_CODE_BAD_FILTER, out_expr, err);
}

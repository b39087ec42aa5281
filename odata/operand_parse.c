// SPDX-License-Identifier: Apache-2.0
/* Operands of expressions: values, names, calls, lambdas and the paths made of them. */
#include <string.h>

#include "odata/apply.h"
#include "odata/limits.h"
#include "odata/parser_priv.h"

/* The functions of URL Conventions 5.1.1: only their names are taken in any case. */
static const struct str canonical_functions[] = {
    {STR_INIT("cast")},
    {STR_INIT("ceiling")},
    {STR_INIT("concat")},
    {STR_INIT("contains")},
    {STR_INIT("date")},
    {STR_INIT("day")},
    {STR_INIT("endswith")},
    {STR_INIT("floor")},
    {STR_INIT("fractionalseconds")},
    {STR_INIT("geo.distance")},
    {STR_INIT("geo.intersects")},
    {STR_INIT("geo.length")},
    {STR_INIT("hassubsequence")},
    {STR_INIT("hassubset")},
    {STR_INIT("hour")},
    {STR_INIT("indexof")},
    {STR_INIT("isdefined")},
    {STR_INIT("isof")},
    {STR_INIT("length")},
    {STR_INIT("matchespattern")},
    {STR_INIT("maxdatetime")},
    {STR_INIT("mindatetime")},
    {STR_INIT("minute")},
    {STR_INIT("month")},
    {STR_INIT("now")},
    {STR_INIT("round")},
    {STR_INIT("second")},
    {STR_INIT("startswith")},
    {STR_INIT("substring")},
    {STR_INIT("time")},
    {STR_INIT("tolower")},
    {STR_INIT("totaloffsetminutes")},
    {STR_INIT("totalseconds")},
    {STR_INIT("toupper")},
    {STR_INIT("trim")},
    {STR_INIT("year")},
};

struct expr *parser_node(struct parser *p, enum expr_kind kind, size_t offset)
{
    struct expr *e = ARENA_NEW(p->lx.arena, struct expr);
    if (e == NULL) {
        arena_fail(p->lx.arena, p->lx.err);
        return NULL;
    }
    e->kind = kind;
    e->offset = offset;
    e->height = 1;
    return e;
}

/* Counts the levels of a child in; every child of every node passes here once. */
bool parser_adopt(struct parser *p, struct expr *parent, const struct expr *child)
{
    if (child != NULL && child->height >= parent->height) {
        parent->height = child->height + 1;
    }
    if (parent->height > LIMIT_EXPR_HEIGHT) {
        p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
        return lexer_fail(&p->lx, parent->offset, "more than %d operators or segments in a row",
                          LIMIT_EXPR_HEIGHT);
    }
    return true;
}

bool parser_push_arg(struct parser *p, struct expr *parent, struct expr *child)
{
    struct expr **slot = PARSER_PUSH(p, parent->args, parent->arg_count);
    if (slot == NULL) {
        return false;
    }
    *slot = child;
    return parser_adopt(p, parent, child);
}

static struct expr *new_based(struct parser *p, enum expr_kind kind, struct expr *base,
                              const struct token *t)
{
    struct expr *e = parser_node(p, kind, t->offset);
    if (e == NULL) {
        return NULL;
    }
    e->base = base;
    e->name = t->text;
    return parser_adopt(p, e, base) ? e : NULL;
}

/* --- literals --- */

static bool literal_from_token(struct parser *p, struct expr **out)
{
    const struct token *t = &p->lx.token;
    struct expr *e = parser_node(p, EXPR_LITERAL, t->offset);
    if (e == NULL) {
        return false;
    }
    e->literal = t->literal;
    e->text = t->text;
    e->type_name = t->type_name;
    *out = e;
    return lexer_next(&p->lx);
}

/* null, true, false, INF, NaN: names that stand for a value, unless a path or call follows. */
static bool word_literal(const struct parser *p, enum literal_kind *out_kind, struct str *out_text)
{
    static const struct {
        struct str word;
        enum literal_kind kind;
        bool exact_case;
    } words[] = {
        {{STR_INIT("null")}, LITERAL_NULL, false},     {{STR_INIT("true")}, LITERAL_BOOLEAN, false},
        {{STR_INIT("false")}, LITERAL_BOOLEAN, false}, {{STR_INIT("INF")}, LITERAL_DOUBLE, true},
        {{STR_INIT("NaN")}, LITERAL_DOUBLE, true},
    };
    struct str text = p->lx.token.text;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (words[i].exact_case ? str_eq(text, words[i].word) : str_ieq(text, words[i].word)) {
            enum token_kind behind = parser_peek(p).kind;
            *out_kind = words[i].kind;
            *out_text = words[i].word;
            return behind != TOKEN_SLASH && behind != TOKEN_OPEN;
        }
    }
    return false;
}

/* --- calls, lambdas, paths --- */

static struct str canonical_name(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(canonical_functions); i++) {
        if (str_ieq(name, canonical_functions[i])) {
            return canonical_functions[i];
        }
    }
    return name;
}

/* value, or name=value */
static bool parse_argument(struct parser *p, struct argument *out)
{
    *out = (struct argument){.name = STR(""), .offset = p->lx.token.offset};
    if (parser_token(p) == TOKEN_NAME && parser_peek(p).kind == TOKEN_EQUALS) {
        out->name = p->lx.token.text;
        if (!lexer_next(&p->lx)) { /* the name; the equals sign below */
            return false;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
    return parser_expr(p, &out->value);
}

bool parser_arguments(struct parser *p, struct argument **out, size_t *out_count)
{
    struct argument *items = NULL;
    size_t count = 0;
    if (!parser_enter(p)) {
        return false;
    }
    while (parser_token(p) != TOKEN_CLOSE) {
        if (count > 0 && !parser_expect(p, TOKEN_COMMA, "',' or ')'")) {
            return false;
        }
        struct argument *item = PARSER_PUSH(p, items, count);
        if (item == NULL || !parse_argument(p, item)) {
            return false;
        }
        if ((item->name.len > 0) != (items[0].name.len > 0)) {
            return lexer_fail(&p->lx, item->offset, "arguments with and without names are mixed");
        }
    }
    parser_leave(p);
    *out = items;
    *out_count = count;
    return lexer_next(&p->lx);
}

/* name(...): see the readings in ast.h. */
static bool parse_call(struct parser *p, struct expr *base, struct expr **out)
{
    struct token name = p->lx.token;
    struct argument *arguments = NULL;
    size_t count = 0;
    struct expr *e = new_based(p, EXPR_CALL, base, &name);
    if (e == NULL || !lexer_next(&p->lx) || !parser_expect(p, TOKEN_OPEN, "'('") ||
        !parser_arguments(p, &arguments, &count)) {
        return false;
    }
    bool named = count > 0 && arguments[0].name.len > 0;
    bool qualified = str_find(name.text, '.', 0) < name.text.len;
    bool key = base != NULL && count > 0 && !(named && qualified);
    e->kind = key ? EXPR_MEMBER : EXPR_CALL;
    if (base == NULL) {
        e->name = canonical_name(name.text);
    }
    if (key || named) {
        e->key = arguments;
        e->key_count = count;
    }
    for (size_t i = 0; i < count; i++) {
        if (key || named ? !parser_adopt(p, e, arguments[i].value)
                         : !parser_push_arg(p, e, arguments[i].value)) {
            return false;
        }
    }
    *out = e;
    return true;
}

/* case(condition:value,...) */
static bool parse_case(struct parser *p, struct expr **out)
{
    struct expr *e = parser_node(p, EXPR_CASE, p->lx.token.offset);
    if (e == NULL || !parser_enter(p) || !lexer_next(&p->lx) ||
        !parser_expect(p, TOKEN_OPEN, "'('")) {
        return false;
    }
    do {
        struct expr *condition;
        struct expr *value;
        if ((e->arg_count > 0 && !lexer_next(&p->lx)) || !parser_expr(p, &condition) ||
            !parser_expect(p, TOKEN_COLON, "':' and a value") || !parser_expr(p, &value) ||
            !parser_push_arg(p, e, condition) || !parser_push_arg(p, e, value)) {
            return false;
        }
    } while (parser_token(p) == TOKEN_COMMA);
    parser_leave(p);
    *out = e;
    return parser_expect(p, TOKEN_CLOSE, "',' or ')'");
}

/* base/any(x:condition), base/any(), base/all(x:condition) */
static bool parse_lambda(struct parser *p, struct expr *base, struct expr **out)
{
    bool any = parser_is_word(p, STR("any"));
    struct expr *e = new_based(p, any ? EXPR_ANY : EXPR_ALL, base, &p->lx.token);
    if (e == NULL || !parser_enter(p) || !lexer_next(&p->lx) ||
        !parser_expect(p, TOKEN_OPEN, "'('")) {
        return false;
    }
    *out = e;
    e->name = STR("");
    e->variable = STR("");
    if (any && parser_token(p) == TOKEN_CLOSE) {
        parser_leave(p);
        return lexer_next(&p->lx);
    }
    e->variable = p->lx.token.text;
    if (parser_token(p) == TOKEN_NAME && !lexer_is_identifier(e->variable)) {
        return lexer_fail(&p->lx, p->lx.token.offset, "a lambda variable has no point in it,");
    }
    if (!parser_expect(p, TOKEN_NAME, "a variable and ':'") ||
        !parser_expect(p, TOKEN_COLON, "':' behind the variable") || !parser_expr(p, &e->body)) {
        return false;
    }
    parser_leave(p);
    if (parser_token(p) != TOKEN_CLOSE) {
        return parser_unexpected_operator(p, "an operator or ')'");
    }
    return parser_adopt(p, e, e->body) && lexer_next(&p->lx);
}

/* base/$count, base/$count($filter=...), base/$filter(...) */
static bool parse_dollar_segment(struct parser *p, struct expr *base, struct expr **out)
{
    struct token t = p->lx.token;
    if (str_ieq(t.text, STR("$count"))) {
        struct expr *e = new_based(p, EXPR_COUNT, base, &t);
        if (e == NULL || !lexer_next(&p->lx)) {
            return false;
        }
        e->name = STR("");
        *out = e;
        if (parser_token(p) == TOKEN_OPEN) {
            if (!parser_enter(p) || !lexer_next(&p->lx) ||
                !parser_options(p, PLACE_COUNT, &e->options)) {
                return false;
            }
            parser_leave(p);
        }
        return true;
    }
    if (str_ieq(t.text, STR("$filter"))) {
        struct expr *e = new_based(p, EXPR_CALL, base, &t);
        struct expr *condition;
        if (e == NULL || !parser_enter(p) || !lexer_next(&p->lx) ||
            !parser_expect(p, TOKEN_OPEN, "'('") || !parser_expr(p, &condition) ||
            !parser_expect(p, TOKEN_CLOSE, "')'")) {
            return false;
        }
        parser_leave(p);
        e->name = STR("$filter");
        *out = e;
        return parser_push_arg(p, e, condition);
    }
    return parser_unexpected(p, "a name, $count or $filter(...) behind '/'");
}

/* (expression with method), behind a collection and aggregate. */
static bool parse_aggregate_call(struct parser *p, struct expr *e)
{
    e->name = STR("");
    e->aggregate = ARENA_NEW(p->lx.arena, struct aggregate_item);
    if (e->aggregate == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    if (!parser_enter(p) || !parser_expect(p, TOKEN_OPEN, "'('") ||
        !parser_aggregate(p, e->aggregate)) {
        return false;
    }
    parser_leave(p);
    if (parser_token(p) != TOKEN_CLOSE) {
        return parser_unexpected_operator(p, "')'");
    }
    return parser_adopt(p, e, e->aggregate->expr) && lexer_next(&p->lx);
}

/* What may stand behind a '/', which is consumed. */
static bool parse_segment(struct parser *p, struct expr *base, struct expr **out)
{
    struct token t = p->lx.token;
    if (t.kind == TOKEN_DOLLAR) {
        return parse_dollar_segment(p, base, out);
    }
    if (t.kind == TOKEN_AT) {
        *out = new_based(p, EXPR_ANNOTATION, base, &t);
        return *out != NULL && lexer_next(&p->lx);
    }
    if (t.kind == TOKEN_LITERAL) {
        return parser_unexpected(p, "a name behind '/' (division is written div)");
    }
    if (t.kind != TOKEN_NAME) {
        return parser_unexpected(p, "a name behind '/'");
    }
    if (parser_peek(p).kind != TOKEN_OPEN) {
        *out = new_based(p, EXPR_MEMBER, base, &t);
        return *out != NULL && lexer_next(&p->lx);
    }
    if (str_ieq(t.text, STR("any")) || str_ieq(t.text, STR("all"))) {
        return parse_lambda(p, base, out);
    }
    if (str_ieq(t.text, STR("aggregate"))) {
        *out = new_based(p, EXPR_AGGREGATE, base, &t);
        return *out != NULL && lexer_next(&p->lx) && parse_aggregate_call(p, *out);
    }
    return parse_call(p, base, out);
}

/* $it, $this, $these, $root */
static bool parse_dollar(struct parser *p, struct expr **out)
{
    static const struct {
        struct str word;
        enum expr_kind kind;
    } words[] = {
        {{STR_INIT("$it")}, EXPR_IT},
        {{STR_INIT("$this")}, EXPR_THIS},
        {{STR_INIT("$these")}, EXPR_THESE},
        {{STR_INIT("$root")}, EXPR_ROOT},
    };
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (str_ieq(p->lx.token.text, words[i].word)) {
            *out = parser_node(p, words[i].kind, p->lx.token.offset);
            return *out != NULL && lexer_next(&p->lx);
        }
    }
    return parser_unexpected(p, "a name, a value, $it, $this, $these or $root");
}

static bool parse_name(struct parser *p, struct expr **out)
{
    struct token t = p->lx.token;
    enum literal_kind kind;
    struct str text;
    if (word_literal(p, &kind, &text)) {
        *out = parser_node(p, EXPR_LITERAL, t.offset);
        if (*out == NULL) {
            return false;
        }
        (*out)->literal = kind;
        (*out)->text = text;
        return lexer_next(&p->lx);
    }
    if (parser_peek(p).kind == TOKEN_OPEN) {
        return str_ieq(t.text, STR("case")) ? parse_case(p, out) : parse_call(p, NULL, out);
    }
    *out = new_based(p, EXPR_MEMBER, NULL, &t);
    return *out != NULL && lexer_next(&p->lx);
}

static bool parse_at(struct parser *p, struct expr **out)
{
    struct token t = p->lx.token;
    bool annotation = !lexer_is_identifier(t.text);
    *out = new_based(p, annotation ? EXPR_ANNOTATION : EXPR_ALIAS, NULL, &t);
    return *out != NULL && lexer_next(&p->lx);
}

static bool parse_parentheses(struct parser *p, struct expr **out)
{
    if (!parser_enter(p) || !lexer_next(&p->lx) || !parser_expr(p, out)) {
        return false;
    }
    parser_leave(p);
    if (parser_token(p) == TOKEN_COMMA) {
        return parser_unexpected(p, "')' (a list can only stand behind `in`)");
    }
    if (parser_token(p) != TOKEN_CLOSE) {
        return parser_unexpected_operator(p, "an operator or ')'");
    }
    return lexer_next(&p->lx);
}

/* A value or a path. */
bool parser_operand(struct parser *p, struct expr **out)
{
    switch (parser_token(p)) {
    case TOKEN_LITERAL:
        return literal_from_token(p, out);
    case TOKEN_OPEN_BRACKET:
    case TOKEN_OPEN_BRACE:
        return parser_json(p, out);
    case TOKEN_OPEN:
        return parse_parentheses(p, out);
    case TOKEN_NAME:
        if (!parse_name(p, out)) {
            return false;
        }
        break;
    case TOKEN_DOLLAR:
        if (!parse_dollar(p, out)) {
            return false;
        }
        break;
    case TOKEN_AT:
        if (!parse_at(p, out)) {
            return false;
        }
        break;
    case TOKEN_JSON_STRING:
        return parser_unexpected(p, "a value (strings stand in single quotes)");
    case TOKEN_END:
    case TOKEN_CLOSE:
    case TOKEN_CLOSE_BRACKET:
    case TOKEN_CLOSE_BRACE:
    case TOKEN_COMMA:
    case TOKEN_COLON:
    case TOKEN_SEMICOLON:
    case TOKEN_SLASH:
    case TOKEN_EQUALS:
    case TOKEN_STAR:
    case TOKEN_DOT:
    case TOKEN_MINUS:
    case TOKEN_FOREIGN:
        return parser_unexpected(p, "a name or a value");
    }
    size_t segments = 1;
    while ((*out)->kind != EXPR_LITERAL && parser_token(p) == TOKEN_SLASH) {
        if (++segments > LIMIT_PATH_SEGMENTS) {
            p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
            return lexer_fail(&p->lx, p->lx.token.offset, "a path has more than %d segments",
                              LIMIT_PATH_SEGMENTS);
        }
        if (!lexer_next(&p->lx) || !parse_segment(p, *out, out)) {
            return false;
        }
    }
    return true;
}

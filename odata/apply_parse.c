// SPDX-License-Identifier: Apache-2.0
/* The values of $apply and $compute (Data Aggregation 4.0, 3 and 6; URL Conventions 5.1.3). */
#include "odata/apply.h"
#include "odata/limits.h"
#include "odata/name_index.h"
#include "odata/parser_priv.h"
#include "odata/search_parse.h"

typedef bool (*transformation_fn)(struct parser *p, struct transformation *t);

static bool parse_sequence(struct parser *p, struct sequence **out);

/* --- pieces --- */

static bool skip_word(struct parser *p, struct str word, const char *expected)
{
    return parser_is_word(p, word) ? lexer_next(&p->lx) : parser_unexpected(p, expected);
}

static bool next_comma(struct parser *p, const char *expected)
{
    return parser_expect(p, TOKEN_COMMA, expected);
}

static bool parse_alias(struct parser *p, struct str *out_alias, size_t *out_offset)
{
    *out_offset = p->lx.token.offset;
    *out_alias = p->lx.token.text;
    if (parser_token(p) != TOKEN_NAME || !lexer_is_identifier(*out_alias)) {
        return parser_unexpected(p, "a simple name behind as");
    }
    return lexer_next(&p->lx);
}

static bool parse_as(struct parser *p, struct str *out_alias, size_t *out_offset)
{
    if (!parser_is_word(p, STR("as"))) {
        return parser_unexpected_operator(p, "as and a name");
    }
    return lexer_next(&p->lx) && parse_alias(p, out_alias, out_offset);
}

static bool parse_compute_items(struct parser *p, struct compute_item **out, size_t *out_count)
{
    for (;;) {
        struct compute_item *item = PARSER_PUSH(p, *out, *out_count);
        if (item == NULL || !parser_expr(p, &item->expr) ||
            !parse_as(p, &item->alias, &item->offset)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            return true;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

/* Names joined by slashes, and nothing else. */
static bool parse_path(struct parser *p, struct expr **out)
{
    if (parser_token(p) != TOKEN_NAME) {
        return parser_unexpected(p, "a path");
    }
    if (!parser_operand(p, out)) {
        return false;
    }
    for (const struct expr *e = *out; e != NULL; e = e->base) {
        if (e->kind != EXPR_MEMBER || e->key_count > 0) {
            return lexer_fail(&p->lx, e->offset, "expected a path of names");
        }
    }
    return true;
}

static bool parse_number(struct parser *p, uint64_t *out)
{
    struct str text = str_slice(p->lx.text, p->lx.token.offset, p->lx.token.end);
    if (!str_to_u64(text, out) || *out > INT64_MAX) {
        return parser_unexpected(p, "a number that is not negative");
    }
    return lexer_next(&p->lx);
}

/* --- aggregate --- */

static bool parse_method(struct parser *p, struct str *out_method, size_t *out_offset)
{
    *out_offset = p->lx.token.offset;
    *out_method = p->lx.token.text;
    return parser_expect(p, TOKEN_NAME, "an aggregation method");
}

static bool parse_with(struct parser *p, struct str *out_method, size_t *out_offset)
{
    return skip_word(p, STR("with"), "with and an aggregation method") &&
           parse_method(p, out_method, out_offset);
}

/* from path,... [with method]; the word is consumed. */
static bool parse_from(struct parser *p, struct aggregate_from *from, bool needs_method)
{
    for (;;) {
        struct expr **path = PARSER_PUSH(p, from->paths, from->path_count);
        if (path == NULL || !parse_path(p, path)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            break;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
    if (needs_method || parser_is_word(p, STR("with"))) {
        return parse_with(p, &from->method, &from->method_offset);
    }
    return true;
}

/* `$count`, or an expression, which may end in /$count. */
static bool parse_aggregated(struct parser *p, struct aggregate_item *item)
{
    item->offset = p->lx.token.offset;
    if (parser_token(p) == TOKEN_DOLLAR && str_ieq(p->lx.token.text, STR("$count"))) {
        item->expr = parser_node(p, EXPR_COUNT, item->offset);
        return item->expr != NULL && lexer_next(&p->lx);
    }
    return parser_expr(p, &item->expr);
}

bool parser_aggregate(struct parser *p, struct aggregate_item *item)
{
    if (!parse_aggregated(p, item)) {
        return false;
    }
    bool count = item->expr->kind == EXPR_COUNT;
    bool path = item->expr->kind == EXPR_MEMBER;
    if (!count && (!path || parser_is_word(p, STR("with")))) {
        if (!parser_is_word(p, STR("with"))) {
            return parser_unexpected_operator(p, "with and an aggregation method");
        }
        if (!parse_with(p, &item->method, &item->method_offset)) {
            return false;
        }
    }
    while (parser_is_word(p, STR("from"))) {
        struct aggregate_from *from = PARSER_PUSH(p, item->froms, item->from_count);
        bool custom = !count && item->method.len == 0;
        if (from == NULL || !lexer_next(&p->lx) || !parse_from(p, from, !custom)) {
            return false;
        }
    }
    return true;
}

static bool parse_aggregate_item(struct parser *p, struct aggregate_item *item)
{
    if (!parser_aggregate(p, item)) {
        return false;
    }
    bool custom = item->expr->kind != EXPR_COUNT && item->method.len == 0;
    if (custom && (parser_token(p) == TOKEN_COMMA || parser_token(p) == TOKEN_CLOSE)) {
        return true;
    }
    return parse_as(p, &item->alias, &item->alias_offset);
}

static bool parse_aggregate(struct parser *p, struct transformation *t)
{
    for (;;) {
        struct aggregate_item *item = PARSER_PUSH(p, t->aggregates, t->aggregate_count);
        if (item == NULL || !parse_aggregate_item(p, item)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            return true;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

/* --- hierarchies --- */

/* `$root/Set,Qualifier,path`: how every hierarchical transformation begins. */
static bool parse_hierarchy(struct parser *p, struct hierarchy **out)
{
    struct hierarchy *h = ARENA_NEW(p->lx.arena, struct hierarchy);
    *out = h;
    if (h == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    if (parser_token(p) != TOKEN_DOLLAR || !str_ieq(p->lx.token.text, STR("$root"))) {
        return parser_unexpected(p, "$root/ and a collection");
    }
    if (!parser_operand(p, &h->nodes) || !next_comma(p, "',' and the hierarchy's qualifier")) {
        return false;
    }
    h->qualifier = p->lx.token.text;
    h->qualifier_offset = p->lx.token.offset;
    return parser_expect(p, TOKEN_NAME, "the hierarchy's qualifier") &&
           next_comma(p, "',' and the path of the node") && parse_path(p, &h->path);
}

static bool parse_keep_start(struct parser *p, struct hierarchy *h)
{
    h->keep_start = true;
    return lexer_next(&p->lx) && skip_word(p, STR("start"), "start");
}

static bool is_integer(const struct parser *p)
{
    return parser_token(p) == TOKEN_LITERAL && p->lx.token.literal == LITERAL_INTEGER;
}

/* [,sequence][,distance][,keep start]: in this order. */
static bool parse_hierarchy_rest(struct parser *p, struct hierarchy *h)
{
    while (parser_token(p) == TOKEN_COMMA) {
        if (!lexer_next(&p->lx)) {
            return false;
        }
        if (h->keep_start) {
            return parser_unexpected(p, "')'");
        }
        bool ok;
        if (parser_is_word(p, STR("keep"))) {
            ok = parse_keep_start(p, h);
        } else if (is_integer(p) && !h->has_distance) {
            h->has_distance = true;
            ok = parse_number(p, &h->distance);
        } else if (h->sequence == NULL && !h->has_distance) {
            ok = parse_sequence(p, &h->sequence);
        } else {
            ok = parser_unexpected(p, h->has_distance ? "keep start" : "a number or keep start");
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool parse_related(struct parser *p, struct transformation *t)
{
    if (!parse_hierarchy(p, &t->hierarchy) || !parse_hierarchy_rest(p, t->hierarchy)) {
        return false;
    }
    return t->hierarchy->sequence != NULL ||
           parser_unexpected(p, "',' and transformations that choose the nodes");
}

static bool parse_order(struct parser *p, struct transformation *t)
{
    t->order = ARENA_NEW(p->lx.arena, struct query);
    return t->order == NULL ? arena_fail(p->lx.arena, p->lx.err) : parser_orderby(p, t->order);
}

static bool parse_traverse(struct parser *p, struct transformation *t)
{
    if (!parse_hierarchy(p, &t->hierarchy) || !next_comma(p, "',' and preorder or postorder")) {
        return false;
    }
    t->hierarchy->postorder = parser_is_word(p, STR("postorder"));
    if (!t->hierarchy->postorder && !parser_is_word(p, STR("preorder"))) {
        return parser_unexpected(p, "preorder or postorder");
    }
    if (!lexer_next(&p->lx)) {
        return false;
    }
    if (parser_token(p) != TOKEN_COMMA) {
        return true;
    }
    return lexer_next(&p->lx) && parse_order(p, t);
}

/* --- groupby --- */

/* rollup($all,a,b), rollup(a,b), rollup(Name); the name and `(` are consumed. */
static bool parse_rollup(struct parser *p, struct grouping *g)
{
    if (parser_token(p) == TOKEN_DOLLAR && str_ieq(p->lx.token.text, STR("$all"))) {
        g->all = true;
        if (!lexer_next(&p->lx) || !next_comma(p, "',' and a path")) {
            return false;
        }
    }
    for (;;) {
        struct expr **path = PARSER_PUSH(p, g->paths, g->path_count);
        if (path == NULL || !parse_path(p, path)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            return parser_expect(p, TOKEN_CLOSE, "',' or ')'");
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

static bool parse_recursive(struct parser *p, struct grouping *g)
{
    return parse_hierarchy(p, &g->hierarchy) && parse_hierarchy_rest(p, g->hierarchy) &&
           parser_expect(p, TOKEN_CLOSE, "',' or ')'");
}

/* The name of a call, and its parenthesis. */
static bool open_call(struct parser *p)
{
    if (!lexer_next(&p->lx)) {
        return false;
    }
    return lexer_next(&p->lx);
}

static bool parse_grouping(struct parser *p, struct grouping *g)
{
    g->offset = p->lx.token.offset;
    bool call = parser_peek(p).kind == TOKEN_OPEN;
    if (call && parser_is_word(p, STR("rollup"))) {
        g->kind = GROUPING_ROLLUP;
        return open_call(p) && parse_rollup(p, g);
    }
    if (call && parser_is_word(p, STR("rolluprecursive"))) {
        g->kind = GROUPING_RECURSIVE;
        return open_call(p) && parse_recursive(p, g);
    }
    g->kind = GROUPING_PATH;
    struct expr **path = PARSER_PUSH(p, g->paths, g->path_count);
    return path != NULL && parse_path(p, path);
}

static bool parse_groupby(struct parser *p, struct transformation *t)
{
    if (!parser_expect(p, TOKEN_OPEN, "'(' before the list of paths")) {
        return false;
    }
    for (;;) {
        struct grouping *g = PARSER_PUSH(p, t->groupings, t->grouping_count);
        if (g == NULL || !parse_grouping(p, g)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            break;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
    if (!parser_expect(p, TOKEN_CLOSE, "',' or ')' behind the list of paths")) {
        return false;
    }
    if (parser_token(p) != TOKEN_COMMA) {
        return true;
    }
    return lexer_next(&p->lx) && parse_sequence(p, &t->sequence);
}

/* --- the rest --- */

static bool parse_concat(struct parser *p, struct transformation *t)
{
    for (;;) {
        struct sequence **part = PARSER_PUSH(p, t->parts, t->part_count);
        if (part == NULL || !parse_sequence(p, part)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            return t->part_count >= 2 || parser_unexpected(p, "',' and another sequence");
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

static bool parse_filter(struct parser *p, struct transformation *t)
{
    return parser_expr(p, &t->expr);
}

static bool set_search(struct parser *p, struct transformation *t, size_t offset, struct str text)
{
    if (text.len == 0) {
        return parser_unexpected(p, "something to search for");
    }
    t->search = ARENA_NEW(p->lx.arena, struct query);
    if (t->search == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    t->search->search = (struct raw_option){true, text};
    return search_parse(p->lx.arena, text, p->lx.where, offset, &t->search->search_expr, p->lx.err);
}

/* The text up to the parenthesis that closes; `)` hides in quotes. */
static bool parse_search(struct parser *p, struct transformation *t)
{
    size_t start = p->lx.token.offset;
    size_t depth = 0;
    char quote = '\0';
    for (size_t at = start; at < p->lx.text.len; at++) {
        char c = p->lx.text.ptr[at];
        if (quote != '\0') {
            if (c == quote) {
                quote = '\0';
            }
        } else if (c == '"') {
            quote = c;
        } else if (c == '(') {
            depth++;
        } else if (c == ')' && depth-- == 0) {
            p->lx.pos = at;
            return set_search(p, t, start, str_trim(str_slice(p->lx.text, start, at))) &&
                   lexer_next(&p->lx);
        }
    }
    return lexer_fail(&p->lx, p->lx.text.len, "expected ')', but the text ends");
}

static bool parse_compute(struct parser *p, struct transformation *t)
{
    return parse_compute_items(p, &t->computes, &t->compute_count);
}

static bool parse_count(struct parser *p, struct transformation *t)
{
    return parse_number(p, &t->number);
}

/* topcount(2,Amount) */
static bool parse_extreme(struct parser *p, struct transformation *t)
{
    return parser_expr(p, &t->limit) && next_comma(p, "',' and an expression") &&
           parser_expr(p, &t->expr);
}

/* join(Sales as Sale[,sequence]) */
static bool parse_join(struct parser *p, struct transformation *t)
{
    struct nested_sequence *n = PARSER_PUSH(p, t->nesteds, t->nested_count);
    if (n == NULL || !parse_path(p, &t->path) || !parse_as(p, &n->alias, &n->offset)) {
        return false;
    }
    if (parser_token(p) != TOKEN_COMMA) {
        return true;
    }
    return lexer_next(&p->lx) && parse_sequence(p, &n->sequence);
}

/* sequence as Alias,... */
static bool parse_nest(struct parser *p, struct transformation *t)
{
    for (;;) {
        struct nested_sequence *n = PARSER_PUSH(p, t->nesteds, t->nested_count);
        if (n == NULL || !parse_sequence(p, &n->sequence) || !parse_as(p, &n->alias, &n->offset)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            return true;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

static bool parse_addnested(struct parser *p, struct transformation *t)
{
    return parse_path(p, &t->path) && next_comma(p, "',' and transformations") && parse_nest(p, t);
}

static const struct rule {
    struct str name;
    transformation_fn parse; /* NULL: no parentheses */
} rules[TRANSFORM_COUNT] = {
    [TRANSFORM_AGGREGATE] = {{STR_INIT("aggregate")}, parse_aggregate},
    [TRANSFORM_GROUPBY] = {{STR_INIT("groupby")}, parse_groupby},
    [TRANSFORM_CONCAT] = {{STR_INIT("concat")}, parse_concat},
    [TRANSFORM_FILTER] = {{STR_INIT("filter")}, parse_filter},
    [TRANSFORM_SEARCH] = {{STR_INIT("search")}, parse_search},
    [TRANSFORM_COMPUTE] = {{STR_INIT("compute")}, parse_compute},
    [TRANSFORM_IDENTITY] = {{STR_INIT("identity")}, NULL},
    [TRANSFORM_ORDERBY] = {{STR_INIT("orderby")}, parse_order},
    [TRANSFORM_TOP] = {{STR_INIT("top")}, parse_count},
    [TRANSFORM_SKIP] = {{STR_INIT("skip")}, parse_count},
    [TRANSFORM_TOPCOUNT] = {{STR_INIT("topcount")}, parse_extreme},
    [TRANSFORM_TOPSUM] = {{STR_INIT("topsum")}, parse_extreme},
    [TRANSFORM_TOPPERCENT] = {{STR_INIT("toppercent")}, parse_extreme},
    [TRANSFORM_BOTTOMCOUNT] = {{STR_INIT("bottomcount")}, parse_extreme},
    [TRANSFORM_BOTTOMSUM] = {{STR_INIT("bottomsum")}, parse_extreme},
    [TRANSFORM_BOTTOMPERCENT] = {{STR_INIT("bottompercent")}, parse_extreme},
    [TRANSFORM_JOIN] = {{STR_INIT("join")}, parse_join},
    [TRANSFORM_OUTERJOIN] = {{STR_INIT("outerjoin")}, parse_join},
    [TRANSFORM_NEST] = {{STR_INIT("nest")}, parse_nest},
    [TRANSFORM_ADDNESTED] = {{STR_INIT("addnested")}, parse_addnested},
    [TRANSFORM_ANCESTORS] = {{STR_INIT("ancestors")}, parse_related},
    [TRANSFORM_DESCENDANTS] = {{STR_INIT("descendants")}, parse_related},
    [TRANSFORM_TRAVERSE] = {{STR_INIT("traverse")}, parse_traverse},
};

struct str transformation_name(enum transformation_kind kind)
{
    return rules[kind].name;
}

static bool refuse(struct parser *p)
{
    struct str name = p->lx.token.text;
    size_t offset = p->lx.token.offset;
    if (!lexer_is_identifier(name)) {
        return odata_error_not_implemented(
            p->lx.err, p->lx.target, "functions as transformations ('%.*s') are not implemented",
            STR_ARG(lexer_shown(name)));
    }
    if (str_ieq(name, STR("expand"))) {
        return odata_error_not_implemented(p->lx.err, p->lx.target,
                                           "expand is not implemented; addnested has replaced it");
    }
    const struct named named = {rules, TRANSFORM_COUNT, sizeof(rules[0]), 0};
    size_t nearest = name_index_nearest(&named, name);
    lexer_fail(&p->lx, offset, "unknown transformation '%.*s'", STR_ARG(lexer_shown(name)));
    return nearest < TRANSFORM_COUNT &&
           odata_error_hint(p->lx.err, "did you mean '%.*s'?", STR_ARG(rules[nearest].name));
}

static bool parse_transformation(struct parser *p, struct transformation *t)
{
    size_t kind = 0;
    t->offset = p->lx.token.offset;
    if (parser_token(p) != TOKEN_NAME) {
        return parser_unexpected(p, "a transformation such as groupby(...)");
    }
    while (kind < TRANSFORM_COUNT && !str_ieq(p->lx.token.text, rules[kind].name)) {
        kind++;
    }
    if (kind == TRANSFORM_COUNT) {
        return refuse(p);
    }
    if (p->transformations++ >= LIMIT_TRANSFORMATIONS) {
        p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
        return lexer_fail(&p->lx, t->offset, "more than %d transformations", LIMIT_TRANSFORMATIONS);
    }
    t->kind = (enum transformation_kind)kind;
    if (!lexer_next(&p->lx)) {
        return false;
    }
    if (rules[kind].parse == NULL) {
        return true;
    }
    if (parser_token(p) != TOKEN_OPEN) {
        return parser_unexpected(p, "'('");
    }
    if (!parser_enter(p) || !lexer_next(&p->lx) || !rules[kind].parse(p, t)) {
        return false;
    }
    parser_leave(p);
    if (parser_token(p) != TOKEN_CLOSE) {
        return parser_unexpected_operator(p, "',' or ')'");
    }
    return lexer_next(&p->lx);
}

static bool parse_sequence(struct parser *p, struct sequence **out)
{
    struct sequence *s = ARENA_NEW(p->lx.arena, struct sequence);
    if (s == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    *out = s;
    for (;;) {
        struct transformation *t = PARSER_PUSH(p, s->items, s->count);
        if (t == NULL || !parse_transformation(p, t)) {
            return false;
        }
        if (parser_token(p) != TOKEN_SLASH) {
            return true;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

bool parser_compute(struct parser *p, struct query *q)
{
    return parse_compute_items(p, &q->compute, &q->compute_count);
}

bool parser_apply(struct parser *p, struct query *q)
{
    return parse_sequence(p, &q->apply);
}

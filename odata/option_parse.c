// SPDX-License-Identifier: Apache-2.0
/* The table of system query options, and those in parentheses ($expand=nav(...)). */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "odata/limits.h"
#include "odata/name_index.h"
#include "odata/parser_priv.h"
#include "odata/search_parse.h"

typedef bool (*option_fn)(struct parser *p, struct query *q);

struct option_rule {
    struct str name; /* without $ */
    unsigned places; /* enum option_place, joined */
    const char *code;
    option_fn parse;   /* NULL: kept as text */
    size_t raw_offset; /* of the struct raw_option in struct query, when it is kept as text */
    const char *target;
};

/* At the end of an option: of the request's, or of a nested one. */
static bool option_ends(const struct parser *p)
{
    enum token_kind kind = parser_token(p);
    return kind == TOKEN_END || kind == TOKEN_SEMICOLON || kind == TOKEN_CLOSE;
}

bool parser_filter(struct parser *p, struct query *q)
{
    if (!parser_expr(p, &q->filter)) {
        return false;
    }
    return option_ends(p) ||
           parser_unexpected_operator(p, "an operator (eq, ne, and, ...) or the end");
}

/* Behind an item: asc, desc, or nothing. */
static bool parse_direction(struct parser *p, struct order_item *item, bool *out_given)
{
    item->descending = parser_is_word(p, STR("desc"));
    *out_given = item->descending || parser_is_word(p, STR("asc"));
    return !*out_given || lexer_next(&p->lx);
}

bool parser_orderby(struct parser *p, struct query *q)
{
    for (;;) {
        size_t offset = p->lx.token.offset;
        if (q->orderby_count >= LIMIT_ORDERBY_ITEMS) {
            p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
            return lexer_fail(&p->lx, offset, "more than %d items", LIMIT_ORDERBY_ITEMS);
        }
        struct order_item *item = PARSER_PUSH(p, q->orderby, q->orderby_count);
        if (item == NULL) {
            return false;
        }
        item->offset = offset;
        bool directed;
        if (!parser_expr(p, &item->expr) || !parse_direction(p, item, &directed)) {
            return false;
        }
        if (option_ends(p)) {
            return true;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            return parser_unexpected_operator(p, directed ? "',' or the end"
                                                          : "asc, desc, ',' or the end");
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

/* Digits only; *out_fits is false past INT64_MAX, the last value that a database can take. */
static bool parse_digits(struct parser *p, const char *expected, uint64_t *out_value,
                         bool *out_fits)
{
    struct str text = str_slice(p->lx.text, p->lx.token.offset, p->lx.token.end);
    for (size_t i = 0; i < text.len; i++) {
        if (!lexer_is_digit(text.ptr[i])) {
            return parser_unexpected(p, expected);
        }
    }
    if (text.len == 0) {
        return parser_unexpected(p, expected);
    }
    *out_fits = str_to_u64(text, out_value) && *out_value <= INT64_MAX;
    return true;
}

/* A huge $top is a wish for everything. */
static bool parse_top(struct parser *p, struct query *q)
{
    bool fits;
    if (!parse_digits(p, "a number of rows", &q->top, &fits)) {
        return false;
    }
    q->has_top = true;
    q->top = fits ? q->top : INT64_MAX;
    return lexer_next(&p->lx);
}

static bool parse_skip(struct parser *p, struct query *q)
{
    bool fits;
    if (!parse_digits(p, "a number of rows", &q->skip, &fits)) {
        return false;
    }
    if (!fits) {
        return parser_unexpected(p, "a number of at most 63 bits");
    }
    q->has_skip = true;
    return lexer_next(&p->lx);
}

/* true or false, in any case as everywhere in a URL (ABNF booleanValue). */
static bool parse_count(struct parser *p, struct query *q)
{
    q->count = parser_is_word(p, STR("true"));
    if (!q->count && !parser_is_word(p, STR("false"))) {
        return parser_unexpected(p, "true or false");
    }
    q->has_count = true;
    return lexer_next(&p->lx);
}

static bool parse_levels(struct parser *p, struct query *q)
{
    static const char expected[] = "max or a number from 1 on without leading zeros";
    q->has_levels = true;
    q->levels_max = parser_is_word(p, STR("max"));
    if (q->levels_max) {
        return lexer_next(&p->lx);
    }
    bool fits = false;
    if (!parse_digits(p, expected, &q->levels, &fits)) {
        return false;
    }
    if (p->lx.text.ptr[p->lx.token.offset] == '0') {
        return parser_unexpected(p, expected);
    }
    q->levels = fits ? q->levels : INT64_MAX;
    return lexer_next(&p->lx);
}

/* An integer, possibly negative: counts from the end (URL Conventions 5.1.9). Kept as text. */
static bool parse_index(struct parser *p, struct query *q)
{
    if (parser_token(p) != TOKEN_LITERAL || p->lx.token.literal != LITERAL_INTEGER) {
        return parser_unexpected(p, "an integer");
    }
    q->index = (struct raw_option){true, p->lx.token.text};
    return lexer_next(&p->lx);
}

#define IN_COLLECTION (PLACE_REQUEST | PLACE_EXPAND | PLACE_EXPAND_REF | PLACE_SELECT)
#define IN_ITEM       (PLACE_REQUEST | PLACE_EXPAND | PLACE_SELECT)
#define PARSED(name, places, code, parse)                        \
    {                                                            \
        {STR_INIT(name)}, (places), (code), (parse), 0, "$" name \
    }
#define RAW(name, places)                                               \
    {                                                                   \
        {STR_INIT(#name)}, (places), ODATA_CODE_BAD_QUERY_OPTION, NULL, \
            offsetof(struct query, name), "$" #name                     \
    }

static const struct option_rule rules[] = {
    PARSED("filter", IN_COLLECTION | PLACE_COUNT, ODATA_CODE_BAD_FILTER, parser_filter),
    PARSED("orderby", IN_COLLECTION, ODATA_CODE_BAD_ORDERBY, parser_orderby),
    PARSED("select", IN_ITEM, ODATA_CODE_BAD_SELECT, parser_select),
    PARSED("expand", IN_ITEM, ODATA_CODE_BAD_EXPAND, parser_expand),
    PARSED("top", IN_COLLECTION, ODATA_CODE_BAD_QUERY_OPTION, parse_top),
    PARSED("skip", IN_COLLECTION, ODATA_CODE_BAD_QUERY_OPTION, parse_skip),
    PARSED("count", IN_COLLECTION, ODATA_CODE_BAD_QUERY_OPTION, parse_count),
    PARSED("levels", PLACE_EXPAND, ODATA_CODE_BAD_QUERY_OPTION, parse_levels),
    PARSED("compute", IN_ITEM, ODATA_CODE_BAD_COMPUTE, parser_compute),
    PARSED("apply", PLACE_REQUEST | PLACE_EXPAND, ODATA_CODE_BAD_APPLY, parser_apply),
    PARSED("index", PLACE_REQUEST, ODATA_CODE_BAD_QUERY_OPTION, parse_index),
    RAW(search, IN_COLLECTION | PLACE_COUNT),
    RAW(format, PLACE_REQUEST),
    RAW(skiptoken, PLACE_REQUEST),
    RAW(deltatoken, PLACE_REQUEST),
    RAW(schemaversion, PLACE_REQUEST),
    RAW(id, PLACE_REQUEST),
};

/* Standard options of OData-Temporal that we do not have: 501 and not "unknown". */
static const struct str later_options[] = {
    {STR_INIT("$at")},
    {STR_INIT("$from")},
    {STR_INIT("$to")},
    {STR_INIT("$toInclusive")},
};

/* Options of earlier versions, and what has taken their place. */
static const struct {
    struct str name;
    const char *hint;
} older_options[] = {
    {{STR_INIT("$inlinecount")}, "in version 4 it is $count=true"},
};

bool option_refuse(struct str name, struct odata_error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(later_options); i++) {
        if (str_ieq(name, later_options[i])) {
            return odata_error_not_implemented(err, later_options[i].ptr, "%s is not implemented",
                                               later_options[i].ptr);
        }
    }
    char target[sizeof(err->target)];
    struct str shown = lexer_shown(name);
    snprintf(target, sizeof(target), "%.*s", STR_ARG(shown));
    odata_error_set(err, 400, ODATA_CODE_BAD_QUERY_OPTION, target, "unknown query option '%s'",
                    target);
    for (size_t i = 0; i < ARRAY_SIZE(older_options); i++) {
        if (str_ieq(name, older_options[i].name)) {
            return odata_error_hint(err, "%s", older_options[i].hint);
        }
    }
    const struct named named = {rules, ARRAY_SIZE(rules), sizeof(rules[0]),
                                offsetof(struct option_rule, name)};
    size_t nearest = name_index_nearest(&named, str_from_offset(name, 1));
    return nearest < ARRAY_SIZE(rules) &&
           odata_error_hint(err, "did you mean '%s'?", rules[nearest].target);
}

const struct option_rule *option_find(struct str name)
{
    struct str bare = str_starts_with(name, STR("$")) ? str_from_offset(name, 1) : name;
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        if (str_ieq(bare, rules[i].name)) {
            return &rules[i];
        }
    }
    return NULL;
}

size_t option_index(const struct option_rule *rule)
{
    return (size_t)(rule - rules);
}

const char *option_target(const struct option_rule *rule)
{
    return rule->target;
}

static struct raw_option *raw_field(const struct option_rule *rule, struct query *q)
{
    return (struct raw_option *)(void *)((char *)q + rule->raw_offset);
}

/* Of the options that are kept as text, those that have a grammar. offset: where the text starts. */
static bool read_text(struct parser *p, const struct option_rule *rule, struct str text,
                      size_t offset, struct query *q)
{
    struct raw_option *field = raw_field(rule, q);
    *field = (struct raw_option){true, text};
    return field != &q->search ||
           search_parse(p->lx.arena, text, p->lx.where, offset, &q->search_expr, p->lx.err);
}

bool option_parse_request(struct parser *p, const struct option_rule *rule, struct str value,
                          struct query *q)
{
    p->lx.code = rule->code;
    p->lx.target = rule->target;
    p->lx.where = rule->target;
    if ((rule->places & PLACE_REQUEST) == 0) {
        return odata_error_set(p->lx.err, 400, rule->code, rule->target,
                               "%s can only stand inside of $expand", rule->target);
    }
    if (str_trim(value).len == 0) {
        return odata_error_set(p->lx.err, 400, rule->code, rule->target, "%s has no value",
                               rule->target);
    }
    if (rule->parse == NULL) {
        return read_text(p, rule, value, 0, q);
    }
    lexer_init(&p->lx, p->lx.arena, value, rule->code, rule->target, rule->target, p->lx.err);
    if (!lexer_next(&p->lx) || !rule->parse(p, q)) {
        return false;
    }
    return parser_token(p) == TOKEN_END || parser_unexpected(p, "the end");
}

/* Whether at `at` begins `name=` or `$name=` or `@name=`: a `;` before it ends an option. */
static bool option_begins(struct str text, size_t at)
{
    while (at < text.len && text.ptr[at] == ' ') {
        at++;
    }
    at += at < text.len && (text.ptr[at] == '$' || text.ptr[at] == '@');
    size_t start = at;
    while (at < text.len && lexer_is_name_byte(text.ptr[at])) {
        at++;
    }
    return at > start && at < text.len && text.ptr[at] == '=';
}

/* Whether an apostrophe here begins a string: not so in Daniel's. */
static bool quote_opens(struct str text, size_t start, size_t at)
{
    static const char before[] = " (,=['";
    return at == start || memchr(before, text.ptr[at - 1], sizeof(before) - 1) != NULL;
}

/*
 * Where a nested option that is kept as text ends: at the `)` that closes the list or at the `;`
 * before the next option. Quotes hide both; text.len when no end is found.
 */
static size_t raw_end(struct str text, size_t at, bool respect_apostrophe)
{
    size_t depth = 0;
    size_t start = at;
    char quote = '\0';
    for (; at < text.len; at++) {
        char c = text.ptr[at];
        if (quote != '\0') {
            if (c == quote) {
                quote = '\0';
            }
        } else if (c == '"' || (c == '\'' && respect_apostrophe && quote_opens(text, start, at))) {
            quote = c;
        } else if (c == '(') {
            depth++;
        } else if (c == ')') {
            if (depth == 0) {
                return at;
            }
            depth--;
        } else if (c == ';' && depth == 0 && option_begins(text, at + 1)) {
            return at;
        }
    }
    return text.len;
}

/* The text of a nested option; the current token is its `=`. */
static bool parse_raw(struct parser *p, const struct option_rule *rule, struct query *q)
{
    size_t start = p->lx.token.end;
    size_t end = raw_end(p->lx.text, start, true);
    if (end == p->lx.text.len) {
        /* An apostrophe may be one: $search=Daniel's */
        end = raw_end(p->lx.text, start, false);
    }
    struct str text = str_trim(str_slice(p->lx.text, start, end));
    if (text.len == 0) {
        return lexer_fail(&p->lx, start, "%s has no value", rule->target);
    }
    p->lx.pos = end;
    return read_text(p, rule, text, (size_t)(text.ptr - p->lx.text.ptr), q) && lexer_next(&p->lx);
}

/* @name=value inside of the parentheses */
static bool parse_nested_alias(struct parser *p, struct query *q)
{
    struct str name = p->lx.token.text;
    for (const struct alias *other = q->aliases; other != NULL; other = other->next) {
        if (str_eq(other->name, name)) {
            return parser_unexpected(p, "each alias once");
        }
    }
    struct alias *alias = ARENA_NEW(p->lx.arena, struct alias);
    if (alias == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    if (!lexer_is_identifier(name)) {
        return parser_unexpected(p, "an option");
    }
    if (!lexer_next(&p->lx) || !parser_expect(p, TOKEN_EQUALS, "'='")) {
        return false;
    }
    size_t start = p->lx.token.offset;
    if (!parser_expr(p, &alias->value)) {
        return false;
    }
    alias->name = name;
    alias->text = str_trim(str_slice(p->lx.text, start, p->lx.token.offset));
    alias->next = q->aliases;
    q->aliases = alias;
    return true;
}

/* Keeps what stands behind the `=` at `equals`, up to the current token. */
static bool keep_text(struct parser *p, const struct option_rule *rule, size_t equals,
                      struct query *q)
{
    struct option_text *kept = ARENA_NEW(p->lx.arena, struct option_text);
    if (kept == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    kept->name = rule->target;
    kept->text = str_trim(str_slice(p->lx.text, equals, p->lx.token.offset));
    kept->next = q->texts;
    q->texts = kept;
    return true;
}

static bool parse_nested_option(struct parser *p, enum option_place place, struct query *q,
                                uint32_t *seen)
{
    if (parser_token(p) == TOKEN_AT) {
        return parse_nested_alias(p, q);
    }
    if (parser_token(p) != TOKEN_NAME && parser_token(p) != TOKEN_DOLLAR) {
        return parser_unexpected(p, "an option such as $filter=...");
    }
    const struct option_rule *rule = option_find(p->lx.token.text);
    if (rule == NULL && parser_token(p) == TOKEN_DOLLAR) {
        return option_refuse(p->lx.token.text, p->lx.err);
    }
    if (rule == NULL || (rule->places & (unsigned)place) == 0) {
        return parser_unexpected(p, "an option that is allowed here");
    }
    uint32_t bit = UINT32_C(1) << option_index(rule);
    if ((*seen & bit) != 0) {
        return parser_unexpected(p, "each option once");
    }
    *seen |= bit;
    const char *outer_code = p->lx.code;
    p->lx.code = rule->code;
    if (!lexer_next(&p->lx)) {
        return false;
    }
    if (parser_token(p) != TOKEN_EQUALS) {
        return parser_unexpected(p, "'='");
    }
    size_t equals = p->lx.token.end;
    if (rule->parse == NULL ? !parse_raw(p, rule, q) : !lexer_next(&p->lx) || !rule->parse(p, q)) {
        return false;
    }
    p->lx.code = outer_code;
    return keep_text(p, rule, equals, q);
}

bool parser_options(struct parser *p, enum option_place place, struct query **out)
{
    struct query *q = ARENA_NEW(p->lx.arena, struct query);
    if (q == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    uint32_t seen = 0;
    if (p->options_depth >= LIMIT_OPTION_DEPTH) {
        p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
        return lexer_fail(&p->lx, p->lx.token.offset, "options nested deeper than %d levels",
                          LIMIT_OPTION_DEPTH);
    }
    p->options_depth++;
    for (;;) {
        if (!parse_nested_option(p, place, q, &seen)) {
            return false;
        }
        if (parser_token(p) != TOKEN_SEMICOLON) {
            break;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
    p->options_depth--;
    *out = q;
    return parser_expect(p, TOKEN_CLOSE, "';' or ')'");
}

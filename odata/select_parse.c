// SPDX-License-Identifier: Apache-2.0
/* The values of $select and $expand (URL Conventions 5.1.3 and 5.1.4). */
#include "odata/limits.h"
#include "odata/parser_priv.h"

static bool push_name(struct parser *p, struct str **path, size_t *count, struct str name)
{
    if (*count >= LIMIT_PATH_SEGMENTS) {
        p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
        return lexer_fail(&p->lx, p->lx.token.offset, "a path has more than %d segments",
                          LIMIT_PATH_SEGMENTS);
    }
    struct str *slot = PARSER_PUSH(p, *path, *count);
    if (slot == NULL) {
        return false;
    }
    *slot = name;
    return true;
}

/* A name, an annotation (with its @), `*`, or ns.* ; *out_last when nothing may follow. */
static bool parse_path_name(struct parser *p, struct str *out_name, bool *out_last)
{
    struct token t = p->lx.token;
    *out_last = t.kind == TOKEN_STAR;
    *out_name = str_slice(p->lx.text, t.offset, t.end);
    if (t.kind != TOKEN_NAME && t.kind != TOKEN_AT && t.kind != TOKEN_STAR) {
        return parser_unexpected(p, "a name or '*'");
    }
    if (!lexer_next(&p->lx)) {
        return false;
    }
    if (t.kind == TOKEN_NAME && parser_token(p) == TOKEN_DOT) {
        if (!lexer_next(&p->lx)) {
            return false;
        }
        *out_last = true;
        *out_name = str_slice(p->lx.text, t.offset, p->lx.token.end);
        return parser_expect(p, TOKEN_STAR, "'*' or a name behind '.'");
    }
    return true;
}

/* Whether behind the current '(' come options, and not the parameter names of a function. */
static bool options_follow(const struct parser *p)
{
    struct parser ahead = *p;
    struct odata_error ignored;
    ahead.lx.err = &ignored;
    if (!lexer_next(&ahead.lx)) {
        return true;
    }
    return parser_token(&ahead) != TOKEN_NAME || parser_peek(&ahead).kind == TOKEN_EQUALS;
}

/*
 * name(p,q): an overload of a function. The tree has no place for its parameters, so that they stay
 * in the name, which then is none of the model's.
 */
static bool parse_overload(struct parser *p, struct str *name, size_t offset)
{
    do {
        if (!lexer_next(&p->lx) || !parser_expect(p, TOKEN_NAME, "a parameter name")) {
            return false;
        }
    } while (parser_token(p) == TOKEN_COMMA);
    *name = str_slice(p->lx.text, offset, p->lx.token.end);
    return parser_expect(p, TOKEN_CLOSE, "',' or ')'");
}

static bool parse_select_item(struct parser *p, struct select_item *item)
{
    item->offset = p->lx.token.offset;
    bool last = false;
    for (;;) {
        size_t offset = p->lx.token.offset;
        struct str name;
        if (!parse_path_name(p, &name, &last) ||
            !push_name(p, &item->path, &item->path_count, name)) {
            return false;
        }
        if (parser_token(p) == TOKEN_OPEN && !last) {
            if (options_follow(p)) {
                return lexer_next(&p->lx) && parser_options(p, PLACE_SELECT, &item->options);
            }
            return parse_overload(p, &item->path[item->path_count - 1], offset);
        }
        if (parser_token(p) != TOKEN_SLASH || last) {
            return true;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

bool parser_select(struct parser *p, struct query *q)
{
    q->has_select = true;
    for (;;) {
        struct select_item *item = PARSER_PUSH(p, q->select, q->select_count);
        if (item == NULL || !parse_select_item(p, item)) {
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

/* $ref or $count behind a path. */
static bool parse_expand_end(struct parser *p, struct expand_item *item)
{
    item->ref = str_ieq(p->lx.token.text, STR("$ref"));
    item->count = str_ieq(p->lx.token.text, STR("$count"));
    if (str_ieq(p->lx.token.text, STR("$value"))) {
        return odata_error_not_implemented(p->lx.err, p->lx.target,
                                           "$value at byte %zu of %s is not implemented",
                                           p->lx.token.offset, p->lx.where);
    }
    if (!item->ref && !item->count) {
        return parser_unexpected(p, "a name, $ref or $count");
    }
    return lexer_next(&p->lx);
}

static bool parse_expand_path(struct parser *p, struct expand_item *item)
{
    item->offset = p->lx.token.offset;
    bool last = false;
    for (;;) {
        if (item->path_count > 0 && parser_token(p) == TOKEN_DOLLAR) {
            return parse_expand_end(p, item);
        }
        struct str name;
        if (last) {
            return parser_unexpected(p, "$ref or $count behind '*'");
        }
        if (!parse_path_name(p, &name, &last) ||
            !push_name(p, &item->path, &item->path_count, name)) {
            return false;
        }
        if (last && name.len > 1) {
            return lexer_fail(&p->lx, item->offset, "%.*s cannot be expanded,", STR_ARG(name));
        }
        if (parser_token(p) != TOKEN_SLASH) {
            return true;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

static bool parse_expand_item(struct parser *p, struct expand_item *item)
{
    if (!parse_expand_path(p, item)) {
        return false;
    }
    if (parser_token(p) != TOKEN_OPEN) {
        return true;
    }
    enum option_place place = item->ref     ? PLACE_EXPAND_REF
                              : item->count ? PLACE_COUNT
                                            : PLACE_EXPAND;
    return lexer_next(&p->lx) && parser_options(p, place, &item->options);
}

bool parser_expand(struct parser *p, struct query *q)
{
    if (p->expand_depth >= p->max_expand_depth) {
        p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
        return lexer_fail(&p->lx, p->lx.token.offset, "$expand nested deeper than %zu levels",
                          p->max_expand_depth);
    }
    p->expand_depth++;
    q->has_expand = true;
    for (;;) {
        struct expand_item *item = PARSER_PUSH(p, q->expand, q->expand_count);
        if (item == NULL || !parse_expand_item(p, item)) {
            return false;
        }
        if (parser_token(p) != TOKEN_COMMA) {
            p->expand_depth--;
            return true;
        }
        if (!lexer_next(&p->lx)) {
            return false;
        }
    }
}

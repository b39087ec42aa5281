// SPDX-License-Identifier: Apache-2.0
#include "odata/path_parse.h"

#include "odata/limits.h"
#include "odata/parser_priv.h"
#include "odata/percent.h"

enum {
    NEEDS_NOTHING = 0,
    FIRST_ONLY = 1, /* nothing before it but perhaps the container's name */
    LAST_ONLY = 2,  /* nothing behind it but $query */
    NOT_FIRST = 4,
    WITH_PARENS = 8,
};

static const struct dollar_segment {
    struct str word;
    enum segment_kind kind;
    unsigned rules;
} dollar_segments[] = {
    {{STR_INIT("$count")}, SEGMENT_COUNT, NOT_FIRST | LAST_ONLY},
    {{STR_INIT("$value")}, SEGMENT_VALUE, NOT_FIRST | LAST_ONLY},
    {{STR_INIT("$ref")}, SEGMENT_REF, NOT_FIRST | LAST_ONLY},
    {{STR_INIT("$metadata")}, SEGMENT_METADATA, FIRST_ONLY | LAST_ONLY},
    {{STR_INIT("$batch")}, SEGMENT_BATCH, FIRST_ONLY | LAST_ONLY},
    {{STR_INIT("$entity")}, SEGMENT_ENTITY, FIRST_ONLY},
    {{STR_INIT("$all")}, SEGMENT_ALL, FIRST_ONLY},
    {{STR_INIT("$crossjoin")}, SEGMENT_CROSSJOIN, FIRST_ONLY | WITH_PARENS},
    {{STR_INIT("$query")}, SEGMENT_QUERY, LAST_ONLY},
    {{STR_INIT("$filter")}, SEGMENT_FILTER, NOT_FIRST | WITH_PARENS},
    {{STR_INIT("$each")}, SEGMENT_EACH, NOT_FIRST},
};

struct reader {
    struct parser p; /* its lexer reads one segment at a time */
    struct str raw;
    struct segment *segments;
    size_t count;
    struct odata_error *err;
};

static const struct dollar_segment *find_dollar(struct str word)
{
    for (size_t i = 0; i < ARRAY_SIZE(dollar_segments); i++) {
        if (str_ieq(word, dollar_segments[i].word)) {
            return &dollar_segments[i];
        }
    }
    return NULL;
}

/* Begins reading the decoded text of a segment; the first token is current. */
static bool start_lexer(struct reader *r, struct str text, const char *code)
{
    struct lexer *lx = &r->p.lx;
    lexer_init(lx, lx->arena, text, code, "", "path segment", r->err);
    lx->quotes_text = true;
    return lexer_next(lx);
}

/* A call may be followed by a key, F(p=1)(2): the tree has no place for that yet. */
static bool expect_end(struct reader *r, const struct segment *s)
{
    bool call = s->arg_count == 0 || s->args[0].name.len > 0;
    if (parser_token(&r->p) == TOKEN_OPEN && call) {
        return odata_error_not_implemented(r->err, "", "a key behind a function call in %s",
                                           r->p.lx.where);
    }
    return parser_token(&r->p) == TOKEN_END || parser_unexpected(&r->p, "the end of the segment");
}

/* Keys and parameters in a path are values; expressions belong into an alias (ABNF keyPredicate). */
static bool check_values(struct reader *r, const struct segment *s)
{
    for (size_t i = 0; i < s->arg_count; i++) {
        enum expr_kind kind = s->args[i].value->kind;
        if (kind != EXPR_LITERAL && kind != EXPR_ALIAS) {
            return lexer_fail(&r->p.lx, s->args[i].value->offset,
                              "expected a value (strings stand in single quotes) or an alias");
        }
    }
    return true;
}

/* name(...) */
static bool read_call(struct reader *r, struct str text, struct segment *s)
{
    if (!start_lexer(r, text, ODATA_CODE_BAD_PATH)) {
        return false;
    }
    s->name = r->p.lx.token.text;
    s->has_parens = true;
    if (!parser_expect(&r->p, TOKEN_NAME, "a name before '('")) {
        return false;
    }
    if (parser_token(&r->p) != TOKEN_OPEN) {
        return parser_unexpected(&r->p, "'('");
    }
    r->p.lx.code = ODATA_CODE_BAD_KEY;
    return lexer_next(&r->p.lx) && parser_arguments(&r->p, &s->args, &s->arg_count) &&
           check_values(r, s) && expect_end(r, s);
}

/* $crossjoin(A,B) */
static bool check_crossjoin(struct reader *r, const struct segment *s)
{
    for (size_t i = 0; i < s->arg_count; i++) {
        const struct expr *e = s->args[i].value;
        if (s->args[i].name.len > 0 || e->kind != EXPR_MEMBER || e->base != NULL) {
            return lexer_fail(&r->p.lx, s->args[i].offset, "expected the name of an entity set");
        }
    }
    return s->arg_count > 0 || lexer_fail(&r->p.lx, r->p.lx.token.offset, "expected names");
}

/* $filter(expression) and $crossjoin(names) */
static bool read_dollar_parens(struct reader *r, struct str text, struct segment *s)
{
    s->has_parens = true;
    if (!start_lexer(r, text,
                     s->kind == SEGMENT_FILTER ? ODATA_CODE_BAD_FILTER : ODATA_CODE_BAD_PATH) ||
        !lexer_next(&r->p.lx) || !parser_expect(&r->p, TOKEN_OPEN, "'('") ||
        !parser_arguments(&r->p, &s->args, &s->arg_count) || !expect_end(r, s)) {
        return false;
    }
    if (s->kind == SEGMENT_CROSSJOIN) {
        return check_crossjoin(r, s);
    }
    if (s->arg_count != 1 || s->args[0].name.len > 0) {
        return lexer_fail(&r->p.lx, 0, "expected one expression in the parentheses");
    }
    return true;
}

/* Whether everything before index is the name of the entity container. */
static bool only_container_before(const struct reader *r, size_t index)
{
    return index == 0 || (index == 1 && r->segments[0].kind == SEGMENT_NAME &&
                          str_find(r->segments[0].name, '.', 0) < r->segments[0].name.len);
}

static bool refuse(struct reader *r, struct str text, const char *why)
{
    return odata_error_set(r->err, 400, ODATA_CODE_BAD_PATH, "", "path segment '%.*s' %s",
                           STR_ARG(lexer_shown(text)), why);
}

static bool read_dollar(struct reader *r, struct str text, struct segment *s)
{
    const struct dollar_segment *found = find_dollar(str_slice(text, 0, str_find(text, '(', 0)));
    if (found == NULL) {
        return refuse(r, text, "is not known");
    }
    size_t index = r->count - 1;
    s->kind = found->kind;
    if ((found->rules & FIRST_ONLY) != 0 && !only_container_before(r, index)) {
        return refuse(r, text, "can only be the first");
    }
    if ((found->rules & NOT_FIRST) != 0 && index == 0) {
        return refuse(r, text, "cannot be the first");
    }
    if ((found->rules & WITH_PARENS) != 0) {
        return read_dollar_parens(r, text, s);
    }
    return text.len == found->word.len || refuse(r, text, "takes no parentheses");
}

/* What may follow the segment before. */
static bool check_order(struct reader *r, struct str text, enum segment_kind kind)
{
    if (r->count < 2) {
        return true;
    }
    enum segment_kind before = r->segments[r->count - 2].kind;
    for (size_t i = 0; i < ARRAY_SIZE(dollar_segments); i++) {
        if (dollar_segments[i].kind == before && before != SEGMENT_NAME &&
            (dollar_segments[i].rules & LAST_ONLY) != 0 &&
            !(kind == SEGMENT_QUERY && before == SEGMENT_COUNT)) {
            return odata_error_set(r->err, 400, ODATA_CODE_BAD_PATH, "",
                                   "nothing can follow %s in a path, found '%.*s'",
                                   dollar_segments[i].word.ptr, STR_ARG(lexer_shown(text)));
        }
    }
    return true;
}

/* $entity/ns.Type is one segment with the type in its name. */
static bool joins_entity(const struct reader *r, const struct segment *s)
{
    return r->count == 2 && r->segments[0].kind == SEGMENT_ENTITY && r->segments[0].name.len == 0 &&
           s->kind == SEGMENT_NAME && !s->has_parens && str_find(s->name, '.', 0) < s->name.len;
}

static bool read_segment(struct reader *r, size_t offset, struct str raw)
{
    struct str text;
    if (raw.len == 0) {
        return odata_error_set(r->err, 400, ODATA_CODE_BAD_PATH, "",
                               "the path has an empty segment at byte %zu", offset);
    }
    if (r->count >= LIMIT_PATH_SEGMENTS) {
        return odata_error_set(r->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "",
                               "the path has more than %d segments", LIMIT_PATH_SEGMENTS);
    }
    if (!percent_decode(r->p.lx.arena, raw, &text, r->err)) {
        return false;
    }
    struct segment *s = PARSER_PUSH(&r->p, r->segments, r->count);
    if (s == NULL) {
        return false;
    }
    *s = (struct segment){.kind = SEGMENT_NAME, .name = STR(""), .offset = offset};
    if (text.ptr[0] == '$') {
        if (!read_dollar(r, text, s)) {
            return false;
        }
    } else if (str_find(text, '(', 0) < text.len) {
        if (!read_call(r, text, s)) {
            return false;
        }
    } else {
        s->name = text;
    }
    if (!check_order(r, text, s->kind)) {
        return false;
    }
    if (joins_entity(r, s)) {
        r->segments[0].name = s->name;
        r->count--;
    }
    return true;
}

bool path_parse(struct arena *a, struct str raw_path, struct resource_path *out_path,
                struct odata_error *err)
{
    struct reader r = {.raw = raw_path, .err = err};
    r.p.max_depth = LIMIT_EXPR_DEPTH;
    r.p.max_expand_depth = LIMIT_EXPAND_DEPTH;
    lexer_init(&r.p.lx, a, STR(""), ODATA_CODE_BAD_PATH, "", "the path", err);
    bool trailing_slash = false;
    for (size_t at = 0; at < raw_path.len;) {
        size_t end = str_find(raw_path, '/', at);
        if (!read_segment(&r, at, str_slice(raw_path, at, end))) {
            return false;
        }
        trailing_slash = end + 1 == raw_path.len;
        at = end + 1;
    }
    *out_path = (struct resource_path){r.segments, r.count, trailing_slash};
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/lexer.h"

#include <stdarg.h>
#include <stdio.h>

#include "odata/literal.h"

enum {
    IDENTIFIER_CHARACTERS = 128, /* ABNF odataIdentifier */
    QUOTED_BYTES = 40,           /* of a text that an error message quotes */
};

void lexer_init(struct lexer *lx, struct arena *a, struct str text, const char *code,
                const char *target, const char *where, struct odata_error *err)
{
    *lx = (struct lexer){
        .arena = a, .text = text, .code = code, .target = target, .where = where, .err = err};
}

struct str lexer_shown(struct str text)
{
    struct str shown = str_slice(text, 0, QUOTED_BYTES);
    while (shown.len < text.len && shown.len > 0 &&
           ((unsigned char)text.ptr[shown.len] & 0xC0) == 0x80) {
        shown.len--;
    }
    return shown;
}

bool lexer_fail(struct lexer *lx, size_t offset, const char *fmt, ...)
{
    char message[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof(message), fmt, args);
    va_end(args);
    if (lx->quotes_text) {
        struct str shown = lexer_shown(lx->text);
        return odata_error_set(lx->err, 400, lx->code, lx->target, "%s at byte %zu of %s '%.*s%s'",
                               message, offset, lx->where, STR_ARG(shown),
                               shown.len < lx->text.len ? "..." : "");
    }
    return odata_error_set(lx->err, 400, lx->code, lx->target, "%s at byte %zu of %s", message,
                           offset, lx->where);
}

bool lexer_fail_expected(struct lexer *lx, size_t offset, const char *expected, struct str found)
{
    struct str shown = lexer_shown(found);
    struct str text = lexer_shown(lx->quotes_text ? lx->text : STR(""));
    return odata_error_set(lx->err, 400, lx->code, lx->target,
                           "expected %s at byte %zu of %s%s%.*s%s%s, found '%.*s%s'", expected,
                           offset, lx->where, lx->quotes_text ? " '" : "", STR_ARG(text),
                           lx->quotes_text && text.len < lx->text.len ? "..." : "",
                           lx->quotes_text ? "'" : "", STR_ARG(shown),
                           shown.len < found.len ? "..." : "");
}

static char peek(const struct lexer *lx, size_t at)
{
    return str_at(lx->text, at);
}

/* The byte behind the identifier at `at`, or `at`. */
static size_t identifier_end(const struct lexer *lx, size_t at)
{
    if (!lexer_is_name_start(peek(lx, at))) {
        return at;
    }
    while (lexer_is_name_byte(peek(lx, at))) {
        at++;
    }
    return at;
}

bool lexer_is_identifier(struct str text)
{
    if (text.len == 0 || !lexer_is_name_start(text.ptr[0])) {
        return false;
    }
    size_t characters = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!lexer_is_name_byte(text.ptr[i])) {
            return false;
        }
        characters += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    }
    return characters <= IDENTIFIER_CHARACTERS;
}

/* Identifiers joined by points from `at`; *out_end is behind them. False when one is too long. */
static bool qualified_name(struct lexer *lx, size_t at, size_t *out_end)
{
    for (;;) {
        size_t end = identifier_end(lx, at);
        if (end > at && !lexer_is_identifier(str_slice(lx->text, at, end))) {
            return lexer_fail(lx, at, "the name is longer than %d characters",
                              IDENTIFIER_CHARACTERS);
        }
        *out_end = end;
        if (peek(lx, end) != '.' || !lexer_is_name_start(peek(lx, end + 1))) {
            return true;
        }
        at = end + 1;
    }
}

/*
 * A quoted text whose first quote is at `open`: *out_text without quotes, '' made one.
 */
static bool quoted(struct lexer *lx, size_t open, struct str *out_text, size_t *out_end)
{
    size_t doubled = 0;
    size_t at = str_find(lx->text, '\'', open + 1);
    while (peek(lx, at + 1) == '\'' && at < lx->text.len) {
        doubled++;
        at = str_find(lx->text, '\'', at + 2);
    }
    if (at >= lx->text.len) {
        return lexer_fail(lx, open,
                          "the string is not closed (a quote inside of a string is written twice, "
                          "'') that begins");
    }
    struct str body = str_slice(lx->text, open + 1, at);
    *out_end = at + 1;
    if (doubled == 0) {
        *out_text = body;
        return true;
    }
    char *copy = arena_alloc(lx->arena, body.len - doubled);
    if (copy == NULL) {
        return arena_fail(lx->arena, lx->err);
    }
    size_t len = 0;
    for (size_t i = 0; i < body.len; i++) {
        copy[len++] = body.ptr[i];
        i += body.ptr[i] == '\'';
    }
    *out_text = (struct str){copy, len};
    return true;
}

/* 'O'Neil': the string has ended, and what follows sticks to it. */
static bool check_behind_quote(struct lexer *lx, size_t end)
{
    if (lexer_is_name_byte(peek(lx, end))) {
        size_t rest = end;
        while (lexer_is_name_byte(peek(lx, rest))) {
            rest++;
        }
        return lexer_fail(lx, end,
                          "the string ends before '%.*s' (a quote inside of a string is written "
                          "twice, '')",
                          STR_ARG(lexer_shown(str_slice(lx->text, end, rest))));
    }
    return true;
}

static bool string_token(struct lexer *lx, struct token *t)
{
    t->kind = TOKEN_LITERAL;
    t->literal = LITERAL_STRING;
    return quoted(lx, t->offset, &t->text, &t->end) && check_behind_quote(lx, t->end);
}

static bool upper_case(struct lexer *lx, struct str *text)
{
    char *copy = arena_alloc(lx->arena, text->len);
    if (copy == NULL) {
        return arena_fail(lx->arena, lx->err);
    }
    for (size_t i = 0; i < text->len; i++) {
        char c = text->ptr[i];
        copy[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    *text = (struct str){copy, text->len};
    return true;
}

/* prefix'...': t->text holds the prefix, the quote is at t->end. */
static bool prefixed_token(struct lexer *lx, struct token *t)
{
    static const struct {
        struct str prefix;
        enum literal_kind kind;
        const char *what;
    } prefixes[] = {
        {{STR_INIT("duration")}, LITERAL_DURATION, "a duration such as P1DT2H3M4.5S"},
        {{STR_INIT("binary")}, LITERAL_BINARY, "base64url"},
        {{STR_INIT("guid")}, LITERAL_GUID, "a guid"},
        {{STR_INIT("geography")}, LITERAL_GEOGRAPHY, "SRID=n;Shape(...)"},
        {{STR_INIT("geometry")}, LITERAL_GEOMETRY, "SRID=n;Shape(...)"},
        {{STR_INIT("datetimeoffset")}, LITERAL_DATETIMEOFFSET, "a date-time with its zone"},
    };
    struct str prefix = t->text;
    size_t open = t->end;
    if (!quoted(lx, open, &t->text, &t->end) || !check_behind_quote(lx, t->end)) {
        return false;
    }
    t->kind = TOKEN_LITERAL;
    for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
        if (str_ieq(prefix, prefixes[i].prefix)) {
            t->literal = prefixes[i].kind;
            if (!literal_is(t->literal, t->text)) {
                return lexer_fail(lx, open, "expected %s in the quotes", prefixes[i].what);
            }
            return t->literal != LITERAL_DURATION || upper_case(lx, &t->text);
        }
    }
    if (str_find(prefix, '.', 0) == prefix.len) {
        return lexer_fail(lx, t->offset, "%.*s'...' is no literal of OData V4",
                          STR_ARG(lexer_shown(prefix)));
    }
    t->literal = LITERAL_ENUM;
    t->type_name = prefix;
    if (!literal_is_enum_value(t->text)) {
        return lexer_fail(lx, open, "expected names or numbers of enum members in the quotes");
    }
    return true;
}

static bool name_token(struct lexer *lx, struct token *t)
{
    t->kind = TOKEN_NAME;
    if (!qualified_name(lx, t->offset, &t->end)) {
        return false;
    }
    t->text = str_slice(lx->text, t->offset, t->end);
    return peek(lx, t->end) != '\'' || prefixed_token(lx, t);
}

static bool at_token(struct lexer *lx, struct token *t)
{
    t->kind = TOKEN_AT;
    size_t start = t->offset + 1;
    if (!qualified_name(lx, start, &t->end)) {
        return false;
    }
    if (t->end == start) {
        return lexer_fail(lx, start, "expected a name behind '@'");
    }
    if (peek(lx, t->end) == '#') {
        size_t end = identifier_end(lx, t->end + 1);
        if (end == t->end + 1) {
            return lexer_fail(lx, end, "expected a qualifier behind '#'");
        }
        t->end = end;
    }
    t->text = str_slice(lx->text, start, t->end);
    return true;
}

static bool dollar_token(struct lexer *lx, struct token *t)
{
    t->kind = TOKEN_DOLLAR;
    t->end = identifier_end(lx, t->offset + 1);
    if (t->end == t->offset + 1) {
        return lexer_fail(lx, t->end, "expected a name behind '$'");
    }
    t->text = str_slice(lx->text, t->offset, t->end);
    return true;
}

/* "..." of JSON; a backslash takes the next byte with it. */
static bool json_string_token(struct lexer *lx, struct token *t)
{
    t->kind = TOKEN_JSON_STRING;
    for (size_t at = t->offset + 1; at < lx->text.len; at++) {
        if (lx->text.ptr[at] == '"') {
            t->end = at + 1;
            t->text = str_slice(lx->text, t->offset, t->end);
            return true;
        }
        at += lx->text.ptr[at] == '\\';
    }
    return lexer_fail(lx, t->offset, "the JSON string is not closed that begins");
}

static bool literal_token(struct lexer *lx, struct token *t, const struct literal *found)
{
    if (found->problem != NULL) {
        return lexer_fail(lx, found->problem_at, "%s,", found->problem);
    }
    t->kind = TOKEN_LITERAL;
    t->literal = found->kind;
    t->text = found->text;
    t->end = found->end;
    return true;
}

static bool punctuation_token(struct lexer *lx, struct token *t)
{
    static const struct {
        char c;
        enum token_kind kind;
    } marks[] = {
        {'(', TOKEN_OPEN},       {')', TOKEN_CLOSE},        {',', TOKEN_COMMA},
        {':', TOKEN_COLON},      {';', TOKEN_SEMICOLON},    {'/', TOKEN_SLASH},
        {'=', TOKEN_EQUALS},     {'*', TOKEN_STAR},         {'.', TOKEN_DOT},
        {'-', TOKEN_MINUS},      {'[', TOKEN_OPEN_BRACKET}, {']', TOKEN_CLOSE_BRACKET},
        {'{', TOKEN_OPEN_BRACE}, {'}', TOKEN_CLOSE_BRACE},  {'<', TOKEN_FOREIGN},
        {'>', TOKEN_FOREIGN},    {'!', TOKEN_FOREIGN},      {'&', TOKEN_FOREIGN},
        {'|', TOKEN_FOREIGN},    {'+', TOKEN_FOREIGN},      {'%', TOKEN_FOREIGN},
    };
    char c = peek(lx, t->offset);
    for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
        if (marks[i].c == c) {
            t->kind = marks[i].kind;
            t->end = t->offset + 1;
            t->text = str_slice(lx->text, t->offset, t->end);
            return true;
        }
    }
    if (c > ' ' && c < 0x7F) {
        return lexer_fail(lx, t->offset, "unexpected '%c'", c);
    }
    return lexer_fail(lx, t->offset, "unexpected control character 0x%02x", (unsigned)c & 0xFF);
}

bool lexer_next(struct lexer *lx)
{
    while (peek(lx, lx->pos) == ' ' || peek(lx, lx->pos) == '\t') {
        lx->pos++;
    }
    struct token t = {.kind = TOKEN_END, .offset = lx->pos, .end = lx->pos};
    struct literal found;
    char c = peek(lx, lx->pos);
    bool ok = true;
    if (lx->pos >= lx->text.len) {
        t.text = STR("");
    } else if (literal_scan(lx->text, lx->pos, &found)) {
        ok = literal_token(lx, &t, &found);
    } else if (lexer_is_name_start(c)) {
        ok = name_token(lx, &t);
    } else if (c == '\'') {
        ok = string_token(lx, &t);
    } else if (c == '"') {
        ok = json_string_token(lx, &t);
    } else if (c == '@') {
        ok = at_token(lx, &t);
    } else if (c == '$') {
        ok = dollar_token(lx, &t);
    } else {
        ok = punctuation_token(lx, &t);
    }
    if (ok) {
        lx->token = t;
        lx->pos = t.end;
    }
    return ok;
}

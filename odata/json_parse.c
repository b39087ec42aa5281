// SPDX-License-Identifier: Apache-2.0
/* Arrays and objects: JSON in which values may be expressions (URL Conventions 5.1.1.13.2). */
#include "odata/parser_priv.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four hexadecimal digits at `at`. */
static bool read_unit(struct str text, size_t at, uint32_t *out)
{
    uint32_t unit = 0;
    for (size_t i = at; i < at + 4; i++) {
        int digit = i < text.len ? hex_value(text.ptr[i]) : -1;
        if (digit < 0) {
            return false;
        }
        unit = unit * 16 + (uint32_t)digit;
    }
    *out = unit;
    return true;
}

/* \uXXXX, or two of them for a character beyond the first plane; *at is at the first digit. */
static bool read_character(struct str text, size_t *at, uint32_t *out)
{
    uint32_t low;
    if (!read_unit(text, *at, out)) {
        return false;
    }
    *at += 4;
    if (*out < 0xD800 || *out > 0xDFFF) {
        return true;
    }
    if (*out > 0xDBFF || *at + 2 > text.len || text.ptr[*at] != '\\' || text.ptr[*at + 1] != 'u' ||
        !read_unit(text, *at + 2, &low) || low < 0xDC00 || low > 0xDFFF) {
        return false;
    }
    *at += 6;
    *out = 0x10000 + ((*out - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t count = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = count - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    to[0] = (char)((0xF00 >> count) & 0xFF);
    to[0] = (char)(to[0] | (char)c);
    return count;
}

/* The text of a string without its quotes and escapes: never longer than it was. */
static bool unescape(struct parser *p, struct token t, struct str *out)
{
    static const char named[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    struct str text = str_slice(t.text, 1, t.text.len - 1);
    char *to = arena_alloc(p->lx.arena, text.len + 1);
    if (to == NULL) {
        return arena_fail(p->lx.arena, p->lx.err);
    }
    size_t len = 0;
    for (size_t at = 0; at < text.len;) {
        char c = text.ptr[at++];
        if (c != '\\') {
            to[len++] = c;
            continue;
        }
        c = text.ptr[at++];
        size_t which = 0;
        while (named[which] != '\0' && named[which] != c) {
            which++;
        }
        uint32_t character;
        if (named[which] != '\0') {
            to[len++] = meant[which];
        } else if (c == 'u' && read_character(text, &at, &character)) {
            len += put_utf8(to + len, character);
        } else {
            return lexer_fail(&p->lx, t.offset, "a JSON string has an escape that is none");
        }
    }
    *out = (struct str){to, len};
    return true;
}

static bool parse_string(struct parser *p, struct expr **out)
{
    struct token t = p->lx.token;
    struct expr *e = parser_node(p, EXPR_LITERAL, t.offset);
    if (e == NULL || !unescape(p, t, &e->text)) {
        return false;
    }
    e->literal = LITERAL_STRING;
    *out = e;
    return lexer_next(&p->lx);
}

/* JSON, or in 4.01 any expression. */
static bool parse_value(struct parser *p, struct expr **out)
{
    enum token_kind kind = parser_token(p);
    if (kind == TOKEN_JSON_STRING) {
        return parse_string(p, out);
    }
    if (kind == TOKEN_OPEN_BRACKET || kind == TOKEN_OPEN_BRACE) {
        return parser_json(p, out);
    }
    return parser_expr(p, out);
}

static bool parse_member(struct parser *p, struct expr *object)
{
    struct token t = p->lx.token;
    struct argument *member = PARSER_PUSH(p, object->key, object->key_count);
    if (member == NULL) {
        return false;
    }
    *member = (struct argument){.offset = t.offset};
    if (t.kind != TOKEN_JSON_STRING) {
        return parser_unexpected(p, "a member name in double quotes");
    }
    return unescape(p, t, &member->name) && lexer_next(&p->lx) &&
           parser_expect(p, TOKEN_COLON, "':'") && parse_value(p, &member->value) &&
           parser_adopt(p, object, member->value);
}

bool parser_json(struct parser *p, struct expr **out)
{
    bool object = parser_token(p) == TOKEN_OPEN_BRACE;
    enum token_kind close = object ? TOKEN_CLOSE_BRACE : TOKEN_CLOSE_BRACKET;
    struct expr *e = parser_node(p, object ? EXPR_OBJECT : EXPR_ARRAY, p->lx.token.offset);
    if (e == NULL || !parser_enter(p) || !lexer_next(&p->lx)) {
        return false;
    }
    for (bool first = true; parser_token(p) != close; first = false) {
        struct expr *item;
        if ((!first && !parser_expect(p, TOKEN_COMMA, object ? "',' or '}'" : "',' or ']'")) ||
            !(object ? parse_member(p, e) : parse_value(p, &item) && parser_push_arg(p, e, item))) {
            return false;
        }
    }
    parser_leave(p);
    *out = e;
    return lexer_next(&p->lx);
}

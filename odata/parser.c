#include <string.h>

#include "odata/parser_priv.h"

bool parser_unexpected(struct parser *p, const char *expected)
{
    const struct token *t = &p->lx.token;
    if (t->kind == TOKEN_END) {
        return lexer_fail(&p->lx, t->offset, "expected %s, but the text ends", expected);
    }
    struct str found = str_slice(p->lx.text, t->offset, t->end);
    struct str shown = lexer_shown(found);
    return lexer_fail(&p->lx, t->offset, "expected %s, found %.*s%s", expected, STR_ARG(shown),
                      shown.len < found.len ? "..." : "");
}

bool parser_expect(struct parser *p, enum token_kind kind, const char *expected)
{
    if (parser_token(p) != kind) {
        return parser_unexpected(p, expected);
    }
    return lexer_next(&p->lx);
}

bool parser_is_word(const struct parser *p, struct str word)
{
    return parser_token(p) == TOKEN_NAME && str_ieq(p->lx.token.text, word);
}

bool parser_enter(struct parser *p)
{
    if (p->depth >= p->max_depth) {
        p->lx.code = ODATA_CODE_REQUEST_TOO_COMPLEX;
        return lexer_fail(&p->lx, p->lx.token.offset, "nested deeper than %zu levels",
                          p->max_depth);
    }
    p->depth++;
    return true;
}

void parser_leave(struct parser *p)
{
    p->depth--;
}

struct token parser_peek(const struct parser *p)
{
    struct odata_error ignored;
    struct lexer ahead = p->lx;
    ahead.err = &ignored;
    return lexer_next(&ahead) ? ahead.token : (struct token){.kind = TOKEN_END};
}

void *parser_grow(struct parser *p, void *items, size_t count, size_t item_size)
{
    /* The room is 4, 8, 16, ...: full exactly when count is 0 or one of these. */
    bool full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
    if (!full) {
        return items;
    }
    void *grown = arena_array(p->lx.arena, count == 0 ? 4 : count * 2, item_size);
    if (grown == NULL) {
        odata_error_too_complex(p->lx.err);
        return NULL;
    }
    return count == 0 ? grown : memcpy(grown, items, count * item_size);
}

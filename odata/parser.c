// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "odata/parser_priv.h"

/* Operators of other languages, the longer before their beginnings. */
static const struct foreign {
    struct str mark;
    const char *hint;
} foreign[] = {
    {{STR_INIT("==")}, "equality is written eq"},
    {{STR_INIT("=")}, "equality is written eq"},
    {{STR_INIT("!=")}, "inequality is written ne"},
    {{STR_INIT("<>")}, "inequality is written ne"},
    {{STR_INIT("<=")}, "less or equal is written le"},
    {{STR_INIT("<")}, "less than is written lt"},
    {{STR_INIT(">=")}, "greater or equal is written ge"},
    {{STR_INIT(">")}, "greater than is written gt"},
    {{STR_INIT("&&")}, "the logical and is written and"},
    {{STR_INIT("||")}, "the logical or is written or"},
    {{STR_INIT("!")}, "the logical not is written not"},
    {{STR_INIT("+")}, "addition is written add"},
    {{STR_INIT("-")}, "subtraction is written sub"},
    {{STR_INIT("*")}, "multiplication is written mul"},
    {{STR_INIT("/")}, "division is written div"},
    {{STR_INIT("%")}, "the remainder is written mod"},
};

/* Words of other languages. */
static const struct foreign foreign_words[] = {
    {{STR_INIT("like")}, "patterns are written contains(), startswith() or endswith()"},
    {{STR_INIT("ilike")}, "patterns are written contains(), startswith() or endswith()"},
    {{STR_INIT("between")}, "a range is written with ge and le"},
    {{STR_INIT("is")}, "a comparison with null is written eq null"},
};

static const struct foreign *find_foreign(struct str rest, const struct token *t)
{
    for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
        if (str_starts_with(rest, foreign[i].mark)) {
            return &foreign[i];
        }
    }
    for (size_t i = 0; t->kind == TOKEN_NAME && i < ARRAY_SIZE(foreign_words); i++) {
        if (str_ieq(t->text, foreign_words[i].mark)) {
            return &foreign_words[i];
        }
    }
    return NULL;
}

static bool fail_expected(struct parser *p, const char *expected, bool hints)
{
    const struct token *t = &p->lx.token;
    if (t->kind == TOKEN_END) {
        return lexer_fail(&p->lx, t->offset, "expected %s, but the text ends", expected);
    }
    const struct foreign *found =
        hints ? find_foreign(str_from_offset(p->lx.text, t->offset), t) : NULL;
    size_t end = found != NULL && t->end < t->offset + found->mark.len ? t->offset + found->mark.len
                                                                       : t->end;
    lexer_fail_expected(&p->lx, t->offset, expected, str_slice(p->lx.text, t->offset, end));
    return found != NULL && odata_error_hint(p->lx.err, "%s", found->hint);
}

bool parser_unexpected(struct parser *p, const char *expected)
{
    return fail_expected(p, expected, p->lx.token.kind == TOKEN_FOREIGN);
}

bool parser_unexpected_operator(struct parser *p, const char *expected)
{
    return fail_expected(p, expected, true);
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
        arena_fail(p->lx.arena, p->lx.err);
        return NULL;
    }
    return count == 0 ? grown : memcpy(grown, items, count * item_size);
}

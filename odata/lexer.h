// SPDX-License-Identifier: Apache-2.0
/*
 * lexer - the tokens of a decoded piece of URL, one ahead.
 *
 * Names are not keywords here: `eq` is a name, and the parser takes it for an operator only where
 * an operator can stand, so that a property may be called `eq`. The same holds for null and true.
 *
 * Owns:    nothing; copying the struct saves the place.
 * Memory:  tokens are views of the text; strings with '' in them are rewritten into the arena.
 * Source:  OData 4.01 ABNF; quoted prefixes of older versions where they mean the same.
 */
#ifndef ODATA_LEXER_H
#define ODATA_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

enum token_kind {
    TOKEN_END,
    TOKEN_NAME,        /* identifier, or several joined by points: text */
    TOKEN_DOLLAR,      /* $it, $count, ...: text with its $ */
    TOKEN_AT,          /* @name, @ns.Term, @ns.Term#qualifier: text without the @ */
    TOKEN_LITERAL,     /* literal, text, type_name as in struct expr */
    TOKEN_JSON_STRING, /* "..." */
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OPEN_BRACKET,
    TOKEN_CLOSE_BRACKET,
    TOKEN_OPEN_BRACE,
    TOKEN_CLOSE_BRACE,
    TOKEN_COMMA,
    TOKEN_COLON,
    TOKEN_SEMICOLON,
    TOKEN_SLASH,
    TOKEN_EQUALS,
    TOKEN_STAR,
    TOKEN_DOT,
    TOKEN_MINUS,
    TOKEN_FOREIGN, /* a mark that is an operator in other languages only: < > ! & | + % */
};

struct token {
    enum token_kind kind;
    size_t offset; /* first byte */
    size_t end;    /* byte behind the last */
    struct str text;
    enum literal_kind literal;
    struct str type_name;
};

struct lexer {
    struct arena *arena;
    struct str text;
    size_t pos;         /* where the next token is looked for */
    struct token token; /* the current one */
    const char *code;   /* ODATA_CODE_* of its errors */
    const char *target; /* their target, "" when there is none */
    const char *where;  /* what the bytes are counted in: "$filter", "path segment" */
    bool quotes_text;   /* errors name where by its text as well: path segment 'x(1)' */
    struct odata_error *err;
};

/*
 * Borrows text as long as tokens and trees made of them are used: it lives in the arena, or longer.
 * code, target and where are borrowed as long as the lexer.
 */
void lexer_init(struct lexer *lx, struct arena *a, struct str text, const char *code,
                const char *target, const char *where, struct odata_error *err);

/* Reads the next token into lx->token. False fills the error. */
bool lexer_next(struct lexer *lx) NODISCARD;

/* Fills the error: the message, then ` at byte N of $filter`. Returns false. */
bool lexer_fail(struct lexer *lx, size_t offset, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same for what is not expected here: `expected E at byte N of $filter, found 'x'`. */
bool lexer_fail_expected(struct lexer *lx, size_t offset, const char *expected, struct str found);

/* At most 40 bytes of text, cut between characters: what an error message quotes. */
struct str lexer_shown(struct str text);

static inline bool lexer_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/*
 * ODataIdentifier: letters of any script, digits, marks and underscores. Every byte of a character
 * outside ASCII counts as a letter, which takes in more than the standard (blanks and symbols of
 * other scripts): such a name simply is none of the model's.
 */
static inline bool lexer_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static inline bool lexer_is_name_byte(char c)
{
    return lexer_is_name_start(c) || lexer_is_digit(c);
}

/* Whether text is one identifier of at most 128 characters. */
bool lexer_is_identifier(struct str text) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
#include "odata/search_parse.h"

#include <stdarg.h>
#include <stdio.h>

#include "odata/lexer.h"
#include "odata/limits.h"

enum piece_kind {
    PIECE_END,
    PIECE_WORD,
    PIECE_PHRASE,
    PIECE_OPEN,
    PIECE_CLOSE,
};

/* What stands between blanks and parentheses. */
struct piece {
    enum piece_kind kind;
    struct str text;
    size_t at; /* in the text */
};

struct reader {
    struct arena *a;
    struct str text;
    size_t pos; /* behind the current piece */
    const char *where;
    size_t offset;
    struct piece piece;
    size_t depth;
    size_t terms;
    struct odata_error *err;
};

static bool PRINTF_LIKE(3, 4) fail(struct reader *r, size_t at, const char *fmt, ...)
{
    char text[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return odata_error_set(r->err, 400, ODATA_CODE_BAD_SEARCH, "$search", "%s at byte %zu of %s",
                           text, r->offset + at, r->where);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool ends_word(char c)
{
    return is_blank(c) || c == '(' || c == ')' || c == '"';
}

/* Between two terms there must be a blank, except at a parenthesis from inside. */
static bool check_gap(struct reader *r)
{
    bool term = r->piece.kind == PIECE_WORD || r->piece.kind == PIECE_PHRASE ||
                r->piece.kind == PIECE_CLOSE;
    bool gap = r->pos >= r->text.len || is_blank(r->text.ptr[r->pos]) || r->text.ptr[r->pos] == ')';
    return !term || gap || fail(r, r->pos, "a blank must stand between two terms");
}

static bool take_phrase(struct reader *r)
{
    size_t start = r->pos;
    size_t end = str_find(r->text, '"', start + 1);
    if (end == r->text.len) {
        return fail(r, start, "the phrase that starts with '\"' has no second '\"'");
    }
    struct str inside = str_slice(r->text, start + 1, end);
    if (str_trim(inside).len == 0) {
        return fail(r, start, "the phrase is empty");
    }
    r->piece = (struct piece){PIECE_PHRASE, inside, start};
    r->pos = end + 1;
    return check_gap(r);
}

static bool next_piece(struct reader *r)
{
    while (r->pos < r->text.len && is_blank(r->text.ptr[r->pos])) {
        r->pos++;
    }
    size_t start = r->pos;
    if (start == r->text.len) {
        r->piece = (struct piece){PIECE_END, STR(""), start};
        return true;
    }
    char c = r->text.ptr[start];
    if (c == '"') {
        return take_phrase(r);
    }
    if (c == '(' || c == ')') {
        r->pos++;
        r->piece = (struct piece){c == '(' ? PIECE_OPEN : PIECE_CLOSE,
                                  str_slice(r->text, start, r->pos), start};
        return check_gap(r);
    }
    if (c == '\'') {
        return fail(r, start, "a word cannot start with an apostrophe");
    }
    while (r->pos < r->text.len && !ends_word(r->text.ptr[r->pos])) {
        r->pos++;
    }
    r->piece = (struct piece){PIECE_WORD, str_slice(r->text, start, r->pos), start};
    return check_gap(r);
}

/* The current piece is this word, and something that it can be an operator of follows. */
static bool is_operator(const struct reader *r, struct str word)
{
    if (r->piece.kind != PIECE_WORD || !str_eq(r->piece.text, word)) {
        return false;
    }
    size_t at = r->pos;
    while (at < r->text.len && is_blank(r->text.ptr[at])) {
        at++;
    }
    return at < r->text.len && r->text.ptr[at] != ')';
}

static struct search_expr *new_node(struct reader *r, enum search_kind kind, size_t at)
{
    struct search_expr *made = ARENA_NEW(r->a, struct search_expr);
    if (made == NULL) {
        arena_fail(r->a, r->err);
        return NULL;
    }
    made->kind = kind;
    made->offset = r->offset + at;
    return made;
}

static bool parse_or(struct reader *r, const struct search_expr **out);

static bool parse_parentheses(struct reader *r, const struct search_expr **out)
{
    size_t open = r->piece.at;
    if (r->depth >= LIMIT_EXPR_DEPTH) {
        return odata_error_set(r->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "$search",
                               "$search is nested deeper than %d levels", (int)LIMIT_EXPR_DEPTH);
    }
    r->depth++;
    if (!next_piece(r) || !parse_or(r, out)) {
        return false;
    }
    r->depth--;
    if (r->piece.kind != PIECE_CLOSE) {
        return fail(r, open, "the '(' has no ')'");
    }
    return next_piece(r);
}

/* A word, a phrase, or an expression in parentheses. */
static bool parse_term(struct reader *r, const struct search_expr **out)
{
    const struct piece piece = r->piece;
    switch (piece.kind) {
    case PIECE_OPEN:
        return parse_parentheses(r, out);
    case PIECE_END:
        return fail(r, piece.at, "expected a word or a phrase, but the text ends");
    case PIECE_CLOSE:
        return fail(r, piece.at, "expected a word or a phrase, found ')'");
    case PIECE_WORD:
    case PIECE_PHRASE:
        break;
    }
    if (++r->terms > LIMIT_SEARCH_TERMS) {
        return odata_error_set(r->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "$search",
                               "$search has more than %d terms", (int)LIMIT_SEARCH_TERMS);
    }
    struct search_expr *term =
        new_node(r, piece.kind == PIECE_WORD ? SEARCH_WORD : SEARCH_PHRASE, piece.at);
    if (term == NULL) {
        return false;
    }
    term->text = piece.text;
    *out = term;
    return next_piece(r);
}

static bool parse_not(struct reader *r, const struct search_expr **out)
{
    size_t first = r->piece.at;
    size_t count = 0;
    while (is_operator(r, STR("NOT"))) {
        count++;
        if (!next_piece(r)) {
            return false;
        }
    }
    if (!parse_term(r, out)) {
        return false;
    }
    if (count % 2 == 0) { /* NOT NOT is nothing */
        return true;
    }
    struct search_expr *made = new_node(r, SEARCH_NOT, first);
    if (made == NULL) {
        return false;
    }
    made->left = *out;
    *out = made;
    return true;
}

static bool join(struct reader *r, enum search_kind kind, const struct search_expr *right,
                 const struct search_expr **left)
{
    struct search_expr *made = new_node(r, kind, 0);
    if (made == NULL) {
        return false;
    }
    made->offset = (*left)->offset;
    made->left = *left;
    made->right = right;
    *left = made;
    return true;
}

static bool parse_and(struct reader *r, const struct search_expr **out)
{
    if (!parse_not(r, out)) {
        return false;
    }
    while (r->piece.kind != PIECE_END && r->piece.kind != PIECE_CLOSE &&
           !is_operator(r, STR("OR"))) {
        const struct search_expr *right = NULL;
        if ((is_operator(r, STR("AND")) && !next_piece(r)) || !parse_not(r, &right) ||
            !join(r, SEARCH_AND, right, out)) {
            return false;
        }
    }
    return true;
}

static bool parse_or(struct reader *r, const struct search_expr **out)
{
    if (!parse_and(r, out)) {
        return false;
    }
    while (is_operator(r, STR("OR"))) {
        const struct search_expr *right = NULL;
        if (!next_piece(r) || !parse_and(r, &right) || !join(r, SEARCH_OR, right, out)) {
            return false;
        }
    }
    return true;
}

/*
 * '...': a search that somebody is still typing (ABNF searchExpr-incomplete). It cannot be wrong;
 * its words are looked for as they are.
 */
static bool parse_incomplete(struct reader *r, const struct search_expr **out)
{
    struct str inside = str_slice(r->text, 1, r->text.len - 1);
    for (size_t i = 0; i < inside.len; i++) {
        if (inside.ptr[i] != '\'') {
            continue;
        }
        if (i + 1 == inside.len || inside.ptr[i + 1] != '\'') {
            return fail(r, i + 1, "an apostrophe inside of '...' must be doubled");
        }
        i++;
    }
    if (str_trim(inside).len == 0) {
        return fail(r, 0, "there is nothing to search for");
    }
    struct search_expr *made = new_node(r, SEARCH_WORD, 0);
    if (made == NULL) {
        return false;
    }
    made->text = inside;
    made->incomplete = true;
    *out = made;
    return true;
}

bool search_parse(struct arena *a, struct str text, const char *where, size_t offset,
                  const struct search_expr **out_expr, struct odata_error *err)
{
    struct reader r = {.a = a, .text = text, .where = where, .offset = offset, .err = err};
    while (r.text.len > 0 && is_blank(r.text.ptr[r.text.len - 1])) {
        r.text.len--;
    }
    if (r.text.len >= 2 && r.text.ptr[0] == '\'' && r.text.ptr[r.text.len - 1] == '\'') {
        return parse_incomplete(&r, out_expr);
    }
    if (!next_piece(&r) || !parse_or(&r, out_expr)) {
        return false;
    }
    return r.piece.kind == PIECE_END || fail(&r, r.piece.at, "the ')' has no '('");
}

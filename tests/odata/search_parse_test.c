// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/bytes.h"
#include "odata/limits.h"
#include "odata/search_parse.h"

static void dump(const struct search_expr *e, struct bytes *out)
{
    static const char *const names[] = {
        [SEARCH_AND] = "(and ", [SEARCH_OR] = "(or ", [SEARCH_NOT] = "(not "};
    switch (e->kind) {
    case SEARCH_WORD:
        bytes_format(out, "%s%.*s", e->incomplete ? "?" : "", STR_ARG(e->text));
        return;
    case SEARCH_PHRASE:
        bytes_format(out, "\"%.*s\"", STR_ARG(e->text));
        return;
    case SEARCH_AND:
    case SEARCH_OR:
    case SEARCH_NOT:
        break;
    }
    bytes_put_str(out, str_from(names[e->kind]));
    dump(e->left, out);
    if (e->right != NULL) {
        bytes_put_char(out, ' ');
        dump(e->right, out);
    }
    bytes_put_char(out, ')');
}

/* URL Conventions 5.1.7 and the ABNF's own examples. message: what a refusal says. */
static const struct row {
    const char *name;
    const char *text;
    const char *tree; /* NULL: refused */
    const char *message;
} rows[] = {
    {"a word", "blue", "blue", NULL},
    {"blanks around are nothing", "  blue\t", "blue", NULL},
    {"a word of other marks", "brand-new!*:08/15,5", "brand-new!*:08/15,5", NULL},
    {"an apostrophe inside", "Daniel's", "Daniel's", NULL},
    {"a phrase", "\"blue green\"", "\"blue green\"", NULL},
    {"an operator in a phrase is text", "\"a OR b\"", "\"a OR b\"", NULL},
    {"side by side means and", "blue green red", "(and (and blue green) red)", NULL},
    {"and binds stronger than or", "a OR b AND c OR d", "(or (or a (and b c)) d)", NULL},
    {"implied and does, too", "a OR b c", "(or a (and b c))", NULL},
    {"not binds strongest", "NOT a b", "(and (not a) b)", NULL},
    {"not of parentheses", "NOT (a OR b) AND c", "(and (not (or a b)) c)", NULL},
    {"not of not", "NOT NOT a", "a", NULL},
    {"and not", "a AND NOT b", "(and a (not b))", NULL},
    {"operators are upper-case", "a or b", "(and (and a or) b)", NULL},
    {"operators are whole words", "ORDER ANDY NOTE", "(and (and ORDER ANDY) NOTE)", NULL},
    {"the ABNF: a word where nothing is to be joined", "AND OR NOT", "(or AND NOT)", NULL},
    {"the ABNF: NOT alone", "NOT", "NOT", NULL},
    {"blanks inside of parentheses", "( a )", "a", NULL},
    {"still being typed", "'\"blue p'", "?\"blue p", NULL},
    {"still being typed, with an apostrophe", "'it''s'", "?it''s", NULL},
    {"a phrase without its end", "a \"blue", NULL, "no second '\"' at byte 2 of $search"},
    {"a phrase with nothing", "\"\"", NULL, "the phrase is empty at byte 0"},
    {"a phrase of blanks", "\"  \"", NULL, "the phrase is empty at byte 0"},
    {"an open parenthesis", "a (blue", NULL, "the '(' has no ')' at byte 2"},
    {"a closing one too many", "blue)", NULL, "the ')' has no '(' at byte 4"},
    {"nothing in parentheses", "()", NULL, "found ')' at byte 1"},
    {"no blank between", "\"a\"\"b\"", NULL, "a blank must stand between two terms at byte 3"},
    {"no blank before a parenthesis", "a(b)", NULL, "a blank must stand between"},
    {"an apostrophe in front", "'blue", NULL, "cannot start with an apostrophe at byte 0"},
    {"a lonely apostrophe inside of '...'", "'a'b'", NULL, "must be doubled at byte 2"},
    {"nothing inside of '...'", "'  '", NULL, "nothing to search for"},
    {"operators with nothing between", "a AND OR b", "(and (and a OR) b)", NULL},
};

START_TEST(parses_search)
{
    const struct row *row = &rows[_i];
    struct arena a;
    struct odata_error err = {0};
    const struct search_expr *e = NULL;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    /* An exact copy, so that a read behind its end is seen. */
    size_t len = strlen(row->text);
    char *copy = malloc(len > 0 ? len : 1);
    memcpy(copy, row->text, len);
    bool ok = search_parse(&a, (struct str){copy, len}, "$search", 0, &e, &err);
    ck_assert_msg(ok == (row->tree != NULL), "%s: %s", row->name, err.message);
    if (ok) {
        struct bytes out;
        bytes_init(&out, 1024);
        dump(e, &out);
        bytes_put_char(&out, '\0');
        ck_assert_msg(strcmp(out.ptr, row->tree) == 0, "%s: %s", row->name, out.ptr);
        bytes_fini(&out);
    } else {
        ck_assert_int_eq(err.http_status, 400);
        ck_assert_msg(strstr(err.message, row->message) != NULL, "%s: %s", row->name, err.message);
    }
    free(copy);
    arena_fini(&a);
}
END_TEST

/* Every beginning of every row either parses or is a 400 that names a byte; under any memory. */
START_TEST(survives_prefixes_and_short_memory)
{
    const struct row *row = &rows[_i];
    for (size_t len = 0; len <= strlen(row->text); len++) {
        for (size_t limit = 0; limit < 4096; limit += 256) {
            struct arena a;
            struct odata_error err = {0};
            const struct search_expr *e = NULL;
            arena_init(&a, limit);
            if (!search_parse(&a, (struct str){row->text, len}, "$search", 0, &e, &err)) {
                ck_assert_int_eq(err.http_status, 400);
            } else {
                ck_assert_ptr_nonnull(e);
            }
            arena_fini(&a);
        }
    }
}
END_TEST

START_TEST(has_limits)
{
    struct arena a;
    struct odata_error err = {0};
    const struct search_expr *e = NULL;
    char deep[LIMIT_EXPR_DEPTH * 2 + 2];
    struct bytes many;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    memset(deep, '(', sizeof(deep));
    ck_assert(!search_parse(&a, (struct str){deep, sizeof(deep)}, "$search", 0, &e, &err));
    ck_assert_str_eq(err.code, ODATA_CODE_REQUEST_TOO_COMPLEX);
    bytes_init(&many, 1024);
    for (int i = 0; i <= LIMIT_SEARCH_TERMS; i++) {
        bytes_put_str(&many, STR("a "));
    }
    ck_assert(!search_parse(&a, bytes_str(&many), "$search", 0, &e, &err));
    ck_assert_str_eq(err.code, ODATA_CODE_REQUEST_TOO_COMPLEX);
    bytes_fini(&many);
    arena_fini(&a);
}
END_TEST

Suite *search_parse_suite(void);
Suite *search_parse_suite(void)
{
    Suite *s = suite_create("search_parse");
    TCase *t = tcase_create("search");
    tcase_add_loop_test(t, parses_search, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_loop_test(t, survives_prefixes_and_short_memory, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(t, has_limits);
    suite_add_tcase(s, t);
    return s;
}

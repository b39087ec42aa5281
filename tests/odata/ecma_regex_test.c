// SPDX-License-Identifier: Apache-2.0
/* Patterns of ECMAScript: how they are written for PostgreSQL, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/ecma_regex.h"

static const struct row {
    const char *pattern;
    const char
        *expected; /* or the problem, behind '!' for what we do not have and '-' for errors */
    size_t at;     /* of the problem */
} rows[] = {
    {"", "", 0},
    {"^ab$", "^ab$", 0},
    {"a*?b+?c??", "a*b+c?", 0},
    {"a{2}b{2,}c{2,3}?", "a{2,2}b{2,}c{2,3}", 0},
    {"a{,2}", "a\\U0000007b\\U0000002c2\\U0000007d", 0},
    {"(a)(?:b)(?<n>c)", "(?:a)(?:b)(?:c)", 0},
    {"(?=a)(?!b)(?<=c)(?<!d)", "(?=a)(?!b)(?<=c)(?<!d)", 0},
    {"a|b|", "a|b|", 0},
    {"\\d\\W", "[0-9][^0-9A-Z\\U0000005fa-z]", 0},
    {"[a-c\\d]", "[a-c0-9]", 0},
    {"[^\\D]", "[^\\U00000001-\\U0000002f\\U0000003a-\\U0010ffff]", 0},
    {"\\x41\\u0042\\u{43}\\cA\\t", "ABC\\U00000001\\U00000009", 0},
    {"\xC3\xA9", "\\U000000e9", 0},
    {"***=a", "-there is nothing to repeat", 0},
    {"(?i)a", "!a group with flags is not implemented", 0},
    {"a**", "-there is nothing to repeat", 2},
    {"^*", "-what matches no characters cannot be repeated", 1},
    {"(a", "-the parenthesis is not closed", 0},
    {"a)", "-a parenthesis is closed that was not opened", 1},
    {"[a", "-the class is not closed", 0},
    {"[b-a]", "-a range goes upward", 1},
    {"[\\d-z]", "-a range goes from a character to a character", 1},
    {"a\\", "-a backslash ends the pattern", 1},
    {"\\q", "-there is no such escape", 0},
    {"\\uD83D", "-half of a character stands alone", 2},
    {"\\u{110000}", "-there is no such character", 2},
    {"\\x4", "-expected a hexadecimal digit", 3},
    {"\\0", "-a text does not contain the character U+0000", 0},
    {"(a)\\1", "!a back reference is not implemented", 3},
    {"\\p{L}", "!a property of Unicode is not implemented", 0},
    {"a{256}", "!repeating more than 255 times is not implemented", 1},
    {"a{3,2}", "-a repetition goes from the least to the most", 1},
    {"(a{200}){3}", "-the pattern repeats too much", 11},
};

START_TEST(rewrites)
{
    const struct row *row = &rows[_i];
    struct ecma_regex_problem problem = {0};
    struct bytes out;
    bytes_init(&out, 4096);
    bool ok = ecma_regex_rewrite(str_from(row->pattern), &out, &problem);
    if (row->expected[0] == '-' || row->expected[0] == '!') {
        ck_assert(!ok);
        ck_assert_str_eq(problem.text, row->expected + 1);
        ck_assert_uint_eq(problem.at, row->at);
        ck_assert(problem.not_here == (row->expected[0] == '!'));
    } else {
        ck_assert_msg(ok, "%s: %s", row->pattern, problem.text);
        ck_assert_msg(str_eq(bytes_str(&out), str_from(row->expected)), "%s: %.*s", row->pattern,
                      STR_ARG(bytes_str(&out)));
    }
    bytes_fini(&out);
}
END_TEST

/* Every prefix, in a block of its exact size: the sanitizer sees each byte that is read beyond. */
START_TEST(survives_prefixes)
{
    size_t len = strlen(rows[_i].pattern);
    for (size_t cut = 0; cut <= len; cut++) {
        struct ecma_regex_problem problem = {0};
        struct bytes out;
        char *copy = malloc(cut > 0 ? cut : 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, rows[_i].pattern, cut);
        bytes_init(&out, 4096);
        bool ok = ecma_regex_rewrite((struct str){copy, cut}, &out, &problem);
        ck_assert(ok || (problem.text != NULL && problem.at <= cut));
        bytes_fini(&out);
        free(copy);
    }
}
END_TEST

START_TEST(refuses_depth)
{
    char deep[200];
    struct ecma_regex_problem problem = {0};
    struct bytes out;
    memset(deep, '(', sizeof(deep));
    bytes_init(&out, 4096);
    ck_assert(!ecma_regex_rewrite((struct str){deep, sizeof(deep)}, &out, &problem));
    ck_assert_str_eq(problem.text, "the pattern is nested too deep");
    bytes_fini(&out);
}
END_TEST

Suite *ecma_regex_suite(void);

Suite *ecma_regex_suite(void)
{
    Suite *suite = suite_create("ecma_regex");
    TCase *tc = tcase_create("ecma_regex");
    tcase_add_loop_test(tc, rewrites, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_loop_test(tc, survives_prefixes, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(tc, refuses_depth);
    suite_add_tcase(suite, tc);
    return suite;
}

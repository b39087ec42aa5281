// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/compiler.h"
#include "odata/str.h"

static const struct number_row {
    const char *name;
    const char *text;
    bool is_number;
    uint64_t value;
} number_rows[] = {
    {"zero", "0", true, 0},
    {"leading zeros count for nothing", "007", true, 7},
    {"the largest value fits", "18446744073709551615", true, UINT64_MAX},
    {"one more does not", "18446744073709551616", false, 0},
    {"a digit more does not", "184467440737095516150", false, 0},
    {"nothing is no number", "", false, 0},
    {"a sign is refused", "+1", false, 0},
    {"a minus is refused", "-1", false, 0},
    {"a blank is refused", "1 ", false, 0},
    {"a point is refused", "1.5", false, 0},
};

START_TEST(reads_digits)
{
    const struct number_row *row = &number_rows[_i];
    uint64_t value = 42;
    bool is_number = str_to_u64(str_from(row->text), &value);
    ck_assert_msg(is_number == row->is_number, "%s", row->name);
    ck_assert_msg(value == (row->is_number ? row->value : 42), "%s", row->name);
}
END_TEST

START_TEST(slices_are_clipped)
{
    struct str s = STR("abc");
    ck_assert(str_eq(str_slice(s, 1, 2), STR("b")));
    ck_assert(str_eq(str_slice(s, 1, 99), STR("bc")));
    ck_assert(str_eq(str_slice(s, 5, 9), STR("")));
    ck_assert(str_eq(str_slice(s, 2, 1), STR("")));
    ck_assert(str_eq(str_from_offset(s, 3), STR("")));
}
END_TEST

START_TEST(compares)
{
    ck_assert(str_ieq(STR("FilTer"), STR("fILtER")));
    ck_assert(!str_ieq(STR("[z"), STR("{z")));
    ck_assert(!str_eq(STR("a"), STR("A")));
    ck_assert_int_lt(str_compare(STR("a"), STR("ab")), 0);
    ck_assert_int_gt(str_compare(STR("b"), STR("ab")), 0);
    ck_assert_int_eq(str_compare(STR(""), STR("")), 0);
    ck_assert(str_starts_with(STR("Products"), STR("Prod")));
    ck_assert(!str_starts_with(STR("Pro"), STR("Prod")));
    ck_assert(str_ends_with(STR("Products"), STR("ucts")));
    ck_assert(!str_ends_with(STR("x"), STR("xx")));
}
END_TEST

START_TEST(finds_and_trims)
{
    ck_assert_uint_eq(str_find(STR("a/b/c"), '/', 0), 1);
    ck_assert_uint_eq(str_find(STR("a/b/c"), '/', 2), 3);
    ck_assert_uint_eq(str_find(STR("a/b/c"), '/', 4), 5);
    ck_assert_uint_eq(str_find(STR("abc"), 'a', 99), 3);
    ck_assert(str_eq(str_trim(STR(" \ta b\t ")), STR("a b")));
    ck_assert(str_eq(str_trim(STR("  ")), STR("")));
    ck_assert(str_eq(str_from(NULL), STR("")));
}
END_TEST

START_TEST(hash_can_be_taken_in_pieces)
{
    ck_assert(str_hash(STR("abc")) == str_hash_more(str_hash(STR("a")), STR("bc")));
    ck_assert(str_hash(STR("abc")) != str_hash(STR("acb")));
}
END_TEST

Suite *str_suite(void);
Suite *str_suite(void)
{
    Suite *suite = suite_create("str");
    TCase *tcase = tcase_create("str");
    tcase_add_loop_test(tcase, reads_digits, 0, (int)ARRAY_SIZE(number_rows));
    tcase_add_test(tcase, slices_are_clipped);
    tcase_add_test(tcase, compares);
    tcase_add_test(tcase, finds_and_trims);
    tcase_add_test(tcase, hash_can_be_taken_in_pieces);
    suite_add_tcase(suite, tcase);
    return suite;
}

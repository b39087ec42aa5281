// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include <check.h>

#include "odata/bytes.h"
#include "odata/compiler.h"

/* Pieces of every size from 1, so that each place of growth is met. */
START_TEST(grows_with_pieces_of_any_size)
{
    size_t piece = (size_t)_i;
    struct bytes b;
    bytes_init(&b, 1 << 20);
    char text[64];
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)('a' + i % 26);
    }
    for (size_t n = 0; n < 1000; n++) {
        bytes_put(&b, text, piece);
    }
    ck_assert(!bytes_failed(&b));
    ck_assert_uint_eq(b.len, 1000 * piece);
    for (size_t i = 0; i < b.len; i++) {
        ck_assert_int_eq(b.ptr[i], text[i % piece]);
    }
    bytes_fini(&b);
}
END_TEST

START_TEST(remembers_that_the_limit_was_reached)
{
    struct bytes b;
    bytes_init(&b, 8);
    BYTES_PUT_LITERAL(&b, "12345678");
    ck_assert(!bytes_failed(&b));
    bytes_put_char(&b, '9');
    ck_assert(bytes_failed(&b));
    ck_assert_uint_eq(b.len, 8);
    bytes_clear(&b);
    ck_assert(!bytes_failed(&b));
    BYTES_PUT_LITERAL(&b, "123456789");
    ck_assert(bytes_failed(&b));
    ck_assert_uint_eq(b.len, 0);
    bytes_put_char(&b, '1');
    ck_assert_uint_eq(b.len, 0);
    bytes_fini(&b);
}
END_TEST

static const int64_t numbers[] = {0, 1, -1, 9, 10, 99, -1000, INT64_MAX, INT64_MIN};

START_TEST(writes_numbers)
{
    struct bytes b;
    bytes_init(&b, 64);
    bytes_put_i64(&b, numbers[_i]);
    char expected[32];
    int length = snprintf(expected, sizeof(expected), "%" PRId64, numbers[_i]);
    ck_assert(str_eq(bytes_str(&b), (struct str){expected, (size_t)length}));
    bytes_fini(&b);
}
END_TEST

START_TEST(drops_from_the_front)
{
    struct bytes b;
    bytes_init(&b, 64);
    bytes_drop_front(&b, 3);
    BYTES_PUT_LITERAL(&b, "abcdef");
    bytes_drop_front(&b, 2);
    ck_assert(str_eq(bytes_str(&b), STR("cdef")));
    bytes_drop_front(&b, 99);
    ck_assert(str_eq(bytes_str(&b), STR("")));
    bytes_fini(&b);
}
END_TEST

START_TEST(formats_without_counting_the_nul)
{
    struct bytes b;
    bytes_init(&b, 1024);
    for (int i = 0; i < 50; i++) {
        bytes_format(&b, "%03d,", i);
    }
    ck_assert_uint_eq(b.len, 200);
    ck_assert(str_starts_with(bytes_str(&b), STR("000,001,")));
    bytes_fini(&b);
}
END_TEST

Suite *bytes_suite(void);
Suite *bytes_suite(void)
{
    Suite *suite = suite_create("bytes");
    TCase *tcase = tcase_create("bytes");
    tcase_add_loop_test(tcase, grows_with_pieces_of_any_size, 1, 65);
    tcase_add_test(tcase, remembers_that_the_limit_was_reached);
    tcase_add_loop_test(tcase, writes_numbers, 0, (int)ARRAY_SIZE(numbers));
    tcase_add_test(tcase, drops_from_the_front);
    tcase_add_test(tcase, formats_without_counting_the_nul);
    suite_add_tcase(suite, tcase);
    return suite;
}

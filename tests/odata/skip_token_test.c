// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/limits.h"
#include "odata/skip_token.h"
#include "tests/support/exact_copy.h"

#define FIELD(s)                          \
    {                                     \
        .ptr = "" s, .len = sizeof(s) - 1 \
    }
#define NULL_FIELD             \
    {                          \
        .ptr = NULL, .len = -1 \
    }

static const struct row {
    const char *name;
    struct field fields[4];
    unsigned indexes[4];
    size_t count;
    uint64_t rows_before;
    uint64_t check;
} rows[] = {
    {"one key", {FIELD("42")}, {0}, 1, 20, 0x1122334455667788},
    {"no value at all", {FIELD("42")}, {0}, 0, 0, 0},
    {"null is not the empty text", {NULL_FIELD, FIELD("")}, {0, 1}, 2, 1, 1},
    {"fields are taken in the order asked for",
     {FIELD("a"), FIELD("bb"), FIELD("ccc")},
     {2, 0, 1},
     3,
     300,
     UINT64_MAX},
    {"a field twice", {FIELD("a")}, {0, 0}, 2, UINT64_MAX, 7},
    {"bytes of all kinds", {FIELD("\xff\x00\x80 \"'&=+\n")}, {0}, 1, 127, 128},
    {"a longer text",
     {FIELD("0123456789012345678901234567890123456789012345678901234567890123456789"
            "0123456789012345678901234567890123456789012345678901234567890123456789"),
      NULL_FIELD},
     {1, 0},
     2,
     128,
     255},
};

static struct str put_row(const struct row *row, struct bytes *out)
{
    bytes_init(out, 65536);
    ck_assert(
        skip_token_put(out, row->fields, row->indexes, row->count, row->rows_before, row->check));
    ck_assert(!bytes_failed(out));
    return bytes_str(out);
}

START_TEST(comes_back_as_it_went)
{
    const struct row *row = &rows[_i];
    struct bytes out;
    struct str text = put_row(row, &out);
    for (size_t i = 0; i < text.len; i++) {
        ck_assert_msg(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
                             text.ptr[i]) != NULL,
                      "byte %zu needs an escape in a URL", i);
    }
    struct arena a;
    arena_init(&a, 65536);
    struct skip_token token;
    struct odata_error err = {0};
    ck_assert_msg(skip_token_parse(&a, text, &row->check, 1, row->count, &token, &err), "%s: %s",
                  row->name, err.message);
    ck_assert_uint_eq(token.count, row->count);
    ck_assert_uint_eq(token.rows_before, row->rows_before);
    for (size_t i = 0; i < row->count; i++) {
        const struct field *want = &row->fields[row->indexes[i]];
        ck_assert_int_eq(token.values[i].len, want->len);
        ck_assert(want->len <= 0 || memcmp(token.values[i].ptr, want->ptr, (size_t)want->len) == 0);
    }
    arena_fini(&a);
    bytes_fini(&out);
}
END_TEST

static bool parse_exact_copy(struct str text, const struct row *row, struct odata_error *err)
{
    char *copy = exact_copy(text.ptr, text.len);
    struct arena a;
    arena_init(&a, 65536);
    struct skip_token token;
    bool ok =
        skip_token_parse(&a, (struct str){copy, text.len}, &row->check, 1, row->count, &token, err);
    arena_fini(&a);
    free(copy);
    return ok;
}

static void expect_bad(struct str text, const struct row *row, const char *what)
{
    struct odata_error err = {0};
    ck_assert_msg(!parse_exact_copy(text, row, &err), "%s: %s", row->name, what);
    ck_assert_int_eq(err.http_status, 400);
    ck_assert_str_eq(err.code, ODATA_CODE_BAD_SKIP_TOKEN);
}

START_TEST(refuses_every_prefix_and_every_changed_digit)
{
    const struct row *row = &rows[_i];
    struct bytes out;
    struct str text = put_row(row, &out);
    for (size_t length = 0; length < text.len; length++) {
        expect_bad(str_slice(text, 0, length), row, "a prefix");
    }
    for (size_t i = 0; i < text.len; i++) {
        char was = out.ptr[i];
        static const char others[] = "A9_-z=+/ %\n";
        for (size_t k = 0; k < sizeof(others); k++) {
            out.ptr[i] = others[k];
            if (others[k] != was) {
                expect_bad(text, row, "a changed digit");
            }
        }
        out.ptr[i] = was;
    }
    bytes_put_char(&out, 'A');
    expect_bad(bytes_str(&out), row, "a digit too many");
    bytes_fini(&out);
}
END_TEST

START_TEST(refuses_another_query)
{
    struct row row = rows[_i];
    struct bytes out;
    struct str text = put_row(&row, &out);
    row.check ^= 1;
    expect_bad(text, &row, "another check");
    row.check ^= 1;
    row.count++;
    expect_bad(text, &row, "another number of values");
    bytes_fini(&out);
}
END_TEST

/* Tokens whose checksum is right and whose inside is not: somebody has made them by hand. */
#define CHECK_7 "\x07\0\0\0\0\0\0\0"
static const struct forged_row {
    const char *name;
    struct str octets;
    size_t count;
    bool good;
} forged[] = {
    {"as it should be", {STR_INIT("\x01\x01\x05" CHECK_7 "\x02x")}, 1, true},
    {"another version", {STR_INIT("\x02\x01\x05" CHECK_7 "\x02x")}, 1, false},
    {"a value too few", {STR_INIT("\x01\x02\x05" CHECK_7 "\x02x")}, 2, false},
    {"bytes behind the values", {STR_INIT("\x01\x01\x05" CHECK_7 "\x02xy")}, 1, false},
    {"a value that is longer than the rest", {STR_INIT("\x01\x01\x05" CHECK_7 "\x03x")}, 1, false},
    {"a length near the end of 64 bits",
     {STR_INIT("\x01\x01\x05" CHECK_7 "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x")},
     1,
     false},
    {"a length beyond 64 bits",
     {STR_INIT("\x01\x01\x05" CHECK_7 "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02x")},
     1,
     false},
    {"a length without end", {STR_INIT("\x01\x01\x05" CHECK_7 "\xff\xff")}, 1, false},
    {"a length that is longer than it need be",
     {STR_INIT("\x01\x01\x05" CHECK_7 "\x82\x00x")},
     1,
     false},
    {"no room for the check", {STR_INIT("\x01\x00\x85\x01\x07\0\0\0\0\0\0")}, 0, false},
};

static void put_base64url(struct bytes *out, struct str octets)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t bits = octets.len * 8;
    for (size_t at = 0; at < bits; at += 6) {
        unsigned digit = 0;
        for (size_t i = at; i < at + 6; i++) {
            unsigned octet = i < bits ? (unsigned char)octets.ptr[i / 8] : 0;
            digit = digit << 1 | (octet >> (7 - i % 8) & 1);
        }
        bytes_put_char(out, digits[digit]);
    }
}

START_TEST(looks_behind_the_checksum)
{
    const struct forged_row *row = &forged[_i];
    struct bytes octets;
    struct bytes text;
    bytes_init(&octets, 256);
    bytes_init(&text, 256);
    bytes_put_str(&octets, row->octets);
    uint64_t sum = str_hash(row->octets);
    for (int i = 0; i < 4; i++) {
        bytes_put_char(&octets, (char)(sum >> (8 * i) & 255));
    }
    put_base64url(&text, bytes_str(&octets));
    const struct row query = {.name = row->name, .count = row->count, .check = 7};
    if (row->good) {
        struct odata_error err = {0};
        ck_assert_msg(parse_exact_copy(bytes_str(&text), &query, &err), "%s", err.message);
    } else {
        expect_bad(bytes_str(&text), &query, "forged");
    }
    bytes_fini(&octets);
    bytes_fini(&text);
}
END_TEST

START_TEST(needs_only_so_much_memory)
{
    const struct row *row = &rows[_i];
    struct bytes out;
    struct str text = put_row(row, &out);
    size_t limit = 0;
    for (;; limit += 16) {
        struct arena a;
        arena_init(&a, limit);
        struct skip_token token;
        struct odata_error err = {0};
        bool ok = skip_token_parse(&a, text, &row->check, 1, row->count, &token, &err);
        arena_fini(&a);
        if (ok) {
            break;
        }
        ck_assert_str_eq(err.code, ODATA_CODE_REQUEST_TOO_COMPLEX);
        ck_assert_uint_lt(limit, 4096);
    }
    ck_assert_uint_gt(limit, 0);
    bytes_fini(&out);
}
END_TEST

START_TEST(refuses_what_is_too_long)
{
    size_t size = LIMIT_SKIP_TOKEN_BYTES * 2;
    char *big = malloc(size);
    ck_assert_ptr_nonnull(big);
    memset(big, 'A', size);
    const struct field field = {.ptr = big, .len = LIMIT_SKIP_TOKEN_BYTES};
    const unsigned index = 0;
    struct bytes out;
    bytes_init(&out, 65536);
    ck_assert(!skip_token_put(&out, &field, &index, 1, 0, 0));
    ck_assert_uint_eq(out.len, 0);
    ck_assert(!bytes_failed(&out));
    expect_bad((struct str){big, size}, &rows[0], "too long");

    const struct field longest = {.ptr = big, .len = LIMIT_SKIP_TOKEN_BYTES - 100};
    ck_assert(skip_token_put(&out, &longest, &index, 1, 0, rows[0].check));
    struct odata_error err = {0};
    ck_assert_msg(parse_exact_copy(bytes_str(&out), &rows[0], &err), "%s", err.message);
    bytes_fini(&out);
    free(big);
}
END_TEST

Suite *skip_token_suite(void);

Suite *skip_token_suite(void)
{
    Suite *s = suite_create("skip_token");
    TCase *t = tcase_create("tokens");
    tcase_add_loop_test(t, comes_back_as_it_went, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, refuses_every_prefix_and_every_changed_digit, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, refuses_another_query, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, needs_only_so_much_memory, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, looks_behind_the_checksum, 0, (int)ARRAY_SIZE(forged));
    tcase_add_test(t, refuses_what_is_too_long);
    suite_add_tcase(s, t);
    return s;
}

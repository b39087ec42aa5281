// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/json_writer.h"

static const struct row {
    const char *name;
    struct str text;
    const char *json;
} rows[] = {
    {"nothing is an empty string", {STR_INIT("")}, "\"\""},
    {"plain text goes out as it is", {STR_INIT("Chai")}, "\"Chai\""},
    {"a quote is escaped", {STR_INIT("a\"b")}, "\"a\\\"b\""},
    {"a backslash is escaped", {STR_INIT("C:\\dir")}, "\"C:\\\\dir\""},
    {"a slash is not", {STR_INIT("a/b")}, "\"a/b\""},
    {"the short escapes", {STR_INIT("\b\t\n\f\r")}, "\"\\b\\t\\n\\f\\r\""},
    {"other controls are hex, lower case",
     {STR_INIT("\x01"
               "ctl\x1f")},
     "\"\\u0001ctl\\u001f\""},
    {"NUL is one of them",
     {STR_INIT("a\0"
               "b")},
     "\"a\\u0000b\""},
    {"vertical tab too", {STR_INIT("\v")}, "\"\\u000b\""},
    {"DEL passes", {STR_INIT("\x7f")}, "\"\x7f\""},
    {"UTF-8 passes", {STR_INIT("\xc3\xa4 \xf0\x90\x80\x85")}, "\"\xc3\xa4 \xf0\x90\x80\x85\""},
    {"line separators pass",
     {STR_INIT("\xe2\x80\xa8\xe2\x80\xa9")},
     "\"\xe2\x80\xa8\xe2\x80\xa9\""},
    {"bytes above 0x7f are no controls",
     {STR_INIT("\x80\x9f\xa2\xdc\xff")},
     "\"\x80\x9f\xa2\xdc\xff\""},
    {"long and plain",
     {STR_INIT("0123456789abcdef0123456789abcdef!")},
     "\"0123456789abcdef0123456789abcdef!\""},
    {"an escape near the end of a long text",
     {STR_INIT("0123456789abcdef012345678\n9")},
     "\"0123456789abcdef012345678\\n9\""},
    {"one just behind a full block", {STR_INIT("0123456789abcdef\"")}, "\"0123456789abcdef\\\"\""},
};

START_TEST(writes_a_string)
{
    const struct row *row = &rows[_i];
    struct bytes out;
    bytes_init(&out, 4096);
    json_put_str(&out, row->text);
    ck_assert_msg(!bytes_failed(&out) && str_eq(bytes_str(&out), str_from(row->json)), "%s: %.*s",
                  row->name, STR_ARG(bytes_str(&out)));
    bytes_fini(&out);
}
END_TEST

START_TEST(makes_labels_and_pieces)
{
    const struct row *row = &rows[_i];
    struct arena a;
    arena_init(&a, 4096);
    struct str label;
    struct str piece;
    ck_assert(json_make_label(&a, row->text, &label) && json_make_escaped(&a, row->text, &piece));
    struct str json = str_from(row->json);
    ck_assert_msg(str_eq(str_slice(label, 0, json.len), json), "%s", row->name);
    ck_assert(str_eq(str_from_offset(label, json.len), STR(":")));
    ck_assert(str_eq(piece, str_slice(json, 1, json.len - 1)));

    struct bytes out;
    bytes_init(&out, 4096);
    json_put_label(&out, row->text);
    ck_assert(str_eq(bytes_str(&out), label));
    bytes_clear(&out);
    json_put_escaped(&out, row->text.ptr, row->text.len);
    ck_assert(str_eq(bytes_str(&out), piece));
    bytes_fini(&out);
    arena_fini(&a);
}
END_TEST

/* The obvious writer, to compare with. */
static void put_slowly(struct bytes *out, const char *ptr, size_t len)
{
    bytes_put_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)ptr[i];
        const char *hit = memchr("\b\t\n\f\r\"\\", c, 7);
        if (hit != NULL && c != 0) {
            bytes_put_char(out, '\\');
            bytes_put_char(out, "btnfr\"\\"[hit - (const char *)memchr("\b\t\n\f\r\"\\", '\b', 7)]);
        } else if (c < 0x20) {
            bytes_format(out, "\\u%04x", c);
        } else {
            bytes_put_char(out, (char)c);
        }
    }
    bytes_put_char(out, '"');
}

/* One byte at every place of texts of 1 to 70 bytes, from an exact-size copy. */
static void check_byte(unsigned byte, struct bytes *fast, struct bytes *slow)
{
    for (size_t len = 1; len <= 70; len++) {
        char *text = malloc(len);
        ck_assert_ptr_nonnull(text);
        for (size_t at = 0; at < len; at++) {
            for (size_t i = 0; i < len; i++) {
                text[i] = (char)('A' + i % 26);
            }
            text[at] = (char)byte;
            text[(at * 7 + 3) % len] = (char)byte;
            bytes_clear(fast);
            bytes_clear(slow);
            json_put_string(fast, text, len);
            put_slowly(slow, text, len);
            ck_assert_msg(str_eq(bytes_str(fast), bytes_str(slow)), "byte %u at %zu of %zu", byte,
                          at, len);
        }
        free(text);
    }
}

/* Sixteen bytes a test: a process for each of 256 takes longer than the test. */
START_TEST(escapes_every_byte_anywhere)
{
    struct bytes fast;
    struct bytes slow;
    bytes_init(&fast, 65536);
    bytes_init(&slow, 65536);
    for (unsigned byte = (unsigned)_i * 16; byte < (unsigned)_i * 16 + 16; byte++) {
        check_byte(byte, &fast, &slow);
    }
    bytes_fini(&fast);
    bytes_fini(&slow);
}
END_TEST

START_TEST(keeps_the_limit)
{
    static const char text[] = "twelve bytes\n\n\n and some more \x01 text that is long";
    size_t succeeded = 0;
    for (size_t limit = 0; limit < 100; limit++) {
        struct bytes out;
        bytes_init(&out, limit);
        json_put_string(&out, text, sizeof(text) - 1);
        ck_assert_uint_le(out.len, limit);
        ck_assert(bytes_failed(&out) || out.ptr[out.len - 1] == '"');
        succeeded += !bytes_failed(&out);
        bytes_fini(&out);
    }
    ck_assert_uint_gt(succeeded, 20);
    ck_assert_uint_lt(succeeded, 50);
}
END_TEST

START_TEST(labels_keep_the_arena_limit)
{
    struct arena a;
    struct str label;
    arena_init(&a, 8);
    ck_assert(!json_make_label(&a, STR("a name of some length"), &label));
    ck_assert(!json_make_escaped(&a, STR("a\nname of some length"), &label));
    ck_assert(json_make_escaped(&a, STR("a name of some length"), &label));
    arena_fini(&a);
}
END_TEST

Suite *json_writer_suite(void);

Suite *json_writer_suite(void)
{
    Suite *s = suite_create("json_writer");
    TCase *t = tcase_create("strings");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, writes_a_string, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, makes_labels_and_pieces, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, escapes_every_byte_anywhere, 0, 16);
    tcase_add_test(t, keeps_the_limit);
    tcase_add_test(t, labels_keep_the_arena_limit);
    suite_add_tcase(s, t);
    return s;
}

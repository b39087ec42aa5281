// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <check.h>

#include "odata/error_writer.h"

#define BAD "\xef\xbf\xbd"

static const struct row {
    const char *name;
    struct odata_error err;
    const char *json;
} rows[] = {
    {"code and message",
     {.http_status = 404, .code = ODATA_CODE_NOT_FOUND, .message = "no 'x'", .internal = "secret"},
     "{\"error\":{\"code\":\"NotFound\",\"message\":\"no 'x'\"}}"},
    {"a target",
     {.http_status = 400,
      .code = ODATA_CODE_BAD_FILTER,
      .message = "a \"quote\"\n",
      .target = "$filter"},
     "{\"error\":{\"code\":\"BadFilter\",\"message\":\"a \\\"quote\\\"\\n\",\"target\":\"$filter\"}}"},
    {"what is no UTF-8 is replaced",
     {.code = "X", .message = "\xc3\xa4\xf0\x90\x80\x85\xff \xc0\xaf \xed\xa0\x80 \xe2\x82"},
     "{\"error\":{\"code\":\"X\",\"message\":\"\xc3\xa4\xf0\x90\x80\x85" BAD " " BAD BAD
     " " BAD BAD BAD " " BAD BAD "\"}}"},
};

START_TEST(writes_the_body)
{
    const struct row *row = &rows[_i];
    struct bytes out;
    bytes_init(&out, 4096);
    error_writer_put(&out, &row->err);
    ck_assert_msg(str_eq(bytes_str(&out), str_from(row->json)), "%s: %.*s", row->name,
                  STR_ARG(bytes_str(&out)));
    bytes_fini(&out);
}
END_TEST

/* A hint that does not fit into the message is left out whole. */
START_TEST(hints_fit_or_are_left_out)
{
    struct odata_error err;
    for (int len = 240; len <= 255; len++) {
        odata_error_set(&err, 400, ODATA_CODE_BAD_FILTER, "", "%0*d", len, 0);
        ck_assert(!odata_error_hint(&err, "did %s", "you"));
        bool fits = len + (int)strlen("; did you") <= 255;
        ck_assert_uint_eq(strlen(err.message), (size_t)len + (fits ? strlen("; did you") : 0));
    }
}
END_TEST

Suite *error_writer_suite(void);

Suite *error_writer_suite(void)
{
    Suite *s = suite_create("error_writer");
    TCase *t = tcase_create("bodies");
    tcase_add_loop_test(t, writes_the_body, 0, (int)ARRAY_SIZE(rows));
    tcase_add_test(t, hints_fit_or_are_left_out);
    suite_add_tcase(s, t);
    return s;
}

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

Suite *error_writer_suite(void);

Suite *error_writer_suite(void)
{
    Suite *s = suite_create("error_writer");
    TCase *t = tcase_create("bodies");
    tcase_add_loop_test(t, writes_the_body, 0, (int)ARRAY_SIZE(rows));
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/percent.h"
#include "tests/odata/url_support.h"

Suite *percent_suite(void);

static bool decode_plain(struct arena *a, struct str text, struct bytes *dump,
                         struct odata_error *err)
{
    struct str out;
    bool ok = percent_decode(a, text, &out, err);
    bytes_put_str(dump, ok ? out : STR(""));
    return ok;
}

static bool decode_value(struct arena *a, struct str text, struct bytes *dump,
                         struct odata_error *err)
{
    struct str out;
    bool ok = percent_decode_value(a, text, &out, err);
    bytes_put_str(dump, ok ? out : STR(""));
    return ok;
}

static const struct url_good plain[] = {
    {"nothing", "", ""},
    {"plain text stays", "Products", "Products"},
    {"escapes in both cases", "%2f%2F%27", "//'"},
    {"decoded once", "%2541", "%41"},
    {"a plus is a plus", "a+b%2Bc", "a+b+c"},
    {"two, three and four bytes", "%C3%BC%E2%82%AC%F0%9F%98%80", "\u00fc\u20ac\U0001F600"},
    {"raw UTF-8", "\u00fc", "\u00fc"},
    {"the last character", "%F4%8F%BF%BF", "\xF4\x8F\xBF\xBF"},
};

static const struct url_good values[] = {
    {"blanks as forms write them", "name+eq+'a+b'", "name eq 'a b'"},
    {"an encoded plus stays", "'a%2Bb'", "'a+b'"},
    {"sign of a zone", "d+ge+2020-06-24T15:57:44+03:00", "d ge 2020-06-24T15:57:44+03:00"},
    {"sign of a zone behind minutes", "2020-06-24T15:57+03:00", "2020-06-24T15:57+03:00"},
    {"sign of a zone behind a fraction", "2020-06-24T15:57:44.123+03:00",
     "2020-06-24T15:57:44.123+03:00"},
    {"colons may be encoded", "2020-06-24T15%3A57%3A44+03%3A00", "2020-06-24T15:57:44+03:00"},
    {"a quoted date-time", "'2020-06-24T15:57:44+03:00'", "'2020-06-24T15:57:44+03:00'"},
    {"a blank behind a date-time", "2020-06-24T15:57:44Z+and", "2020-06-24T15:57:44Z and"},
    {"a blank before a time", "2020-06-24+03:00", "2020-06-24 03:00"},
    {"exponent of a number", "x+eq+1.5e+3", "x eq 1.5e+3"},
    {"exponent at the start", "1E+3", "1E+3"},
    {"no exponent in a string", "'1e+5'", "'1e 5'"},
    {"no exponent in a name", "a1e+5", "a1e 5"},
    {"a doubled quote closes nothing", "'it''s+1e+5'", "'it''s 1e 5'"},
};

static const struct url_bad bads[] = {
    {"a lone percent", "100%", 400, ODATA_CODE_BAD_URL, "byte 3"},
    {"one digit", "a%2", 400, ODATA_CODE_BAD_URL, "byte 1"},
    {"no hex", "a%zzb", 400, ODATA_CODE_BAD_URL, "byte 1"},
    {"a NUL", "a%20b%00", 400, ODATA_CODE_BAD_URL, "byte 5"},
    {"not UTF-8", "%20%FF", 400, ODATA_CODE_BAD_URL, "byte 3"},
    {"overlong slash", "%C0%AF", 400, ODATA_CODE_BAD_URL, "byte 0"},
    {"overlong three bytes", "%E0%80%AF", 400, ODATA_CODE_BAD_URL, "byte 0"},
    {"a surrogate", "x%ED%A0%80", 400, ODATA_CODE_BAD_URL, "byte 1"},
    {"past the last character", "%F4%90%80%80", 400, ODATA_CODE_BAD_URL, "byte 0"},
    {"cut off", "%E2%82", 400, ODATA_CODE_BAD_URL, "byte 0"},
    {"a lone continuation", "a%80", 400, ODATA_CODE_BAD_URL, "byte 1"},
};

START_TEST(decodes_plain)
{
    url_check_good(decode_plain, &plain[_i]);
    url_check_prefixes(decode_plain, plain[_i].text);
    url_check_arena(decode_plain, plain[_i].text);
}
END_TEST

START_TEST(decodes_values)
{
    url_check_good(decode_value, &values[_i]);
    url_check_prefixes(decode_value, values[_i].text);
}
END_TEST

START_TEST(refuses)
{
    url_check_bad(decode_plain, &bads[_i]);
    url_check_bad(decode_value, &bads[_i]);
}
END_TEST

START_TEST(encodes)
{
    struct bytes out;
    bytes_init(&out, 1024);
    percent_encode(&out, STR("aZ0-._~ /?&=+'\u00fc%"));
    ck_assert(str_eq(bytes_str(&out), STR("aZ0-._~%20%2F%3F%26%3D%2B%27%C3%BC%25")));
    bytes_fini(&out);
}
END_TEST

Suite *percent_suite(void)
{
    Suite *s = suite_create("percent");
    TCase *t = tcase_create("percent");
    tcase_add_loop_test(t, decodes_plain, 0, ARRAY_SIZE(plain));
    tcase_add_loop_test(t, decodes_values, 0, ARRAY_SIZE(values));
    tcase_add_loop_test(t, refuses, 0, ARRAY_SIZE(bads));
    tcase_add_test(t, encodes);
    suite_add_tcase(s, t);
    return s;
}

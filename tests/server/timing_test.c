// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <check.h>

#include "odata/str.h"
#include "server/timing.h"

static const struct row {
    const char *name;
    int64_t at_us[TIMING_MARKS];
    const char *field;
} rows[] = {
    {"nothing", {0}, ""},
    {"a document of the model", {1000, 0, 0, 0, 0, 1042}, "total;dur=0.042"},
    {"an error of the binder", {1000, 3500, 0, 0, 0, 4000}, "parse;dur=2.500, total;dur=3.000"},
    {"a read",
     {1000, 2000, 2001, 12001, 1012001, 1012002},
     "parse;dur=1.000, bind;dur=0.001, queue;dur=10.000, first-row;dur=1000.000, "
     "total;dur=1011.002"},
    {"it never got a connection",
     {1000, 2000, 3000, 0, 0, 9000},
     "parse;dur=1.000, bind;dur=1.000, total;dur=8.000"},
};

START_TEST(writes_phases)
{
    struct timing t = {.on = true};
    memcpy(t.at_us, rows[_i].at_us, sizeof(t.at_us));
    struct bytes out;
    bytes_init(&out, 1000);
    timing_put(&out, &t);
    ck_assert_msg(str_eq(bytes_str(&out), str_from(rows[_i].field)), "%s: %.*s", rows[_i].name,
                  STR_ARG(bytes_str(&out)));
    bytes_fini(&out);
}
END_TEST

START_TEST(marks_only_when_it_is_on)
{
    struct timing off = {.on = false};
    struct timing on = {.on = true};
    timing_mark(&off, TIMING_PARSED);
    timing_mark(&on, TIMING_PARSED);
    ck_assert_int_eq(off.at_us[TIMING_PARSED], 0);
    ck_assert_int_gt(on.at_us[TIMING_PARSED], 0);
}
END_TEST

Suite *timing_suite(void);

Suite *timing_suite(void)
{
    Suite *s = suite_create("timing");
    TCase *t = tcase_create("phases");
    tcase_add_loop_test(t, writes_phases, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_test(t, marks_only_when_it_is_on);
    suite_add_tcase(s, t);
    return s;
}

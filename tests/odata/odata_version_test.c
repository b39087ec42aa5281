// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <check.h>

#include "odata/odata_version.h"

static const struct row {
    const char *name;
    const char *max_version;
    const char *version;
    const char *answer; /* NULL: 400 */
} rows[] = {
    {"nothing said", "", "", "4.0"},
    {"4.0", "4.0", "", "4.0"},
    {"4.01", "4.01", "", "4.01"},
    {"4.1 is more than 4.01", "4.1", "", "4.01"},
    {"4.001 is less", "4.001", "", "4.0"},
    {"5.0", "5.0", "", "4.01"},
    {"leading zeros and many digits", "06.2831852000", "", "4.01"},
    {"a version too big to count", "99999999999999999999.0", "", "4.01"},
    {"blanks", " 4.01 ", " 4.0 ", "4.01"},
    {"an old .NET client", "4.0;NetFx", "4.0;NetFx", "4.0"},
    {"a request in 4.01 says nothing of the answer", "", "4.01", "4.0"},
    {"a request in 4.0", "4.01", "4.0", "4.01"},
    {"a maximum of 3.0", "3.0", "", NULL},
    {"a maximum of 3.99", "3.99", "", NULL},
    {"a request in 3.0", "", "3.0", NULL},
    {"a request in 5.0", "", "5.0", NULL},
    {"a request in 4.02", "", "4.02", NULL},
    {"no number", "four", "", NULL},
    {"no fraction", "4", "", NULL},
    {"no fraction behind the dot", "4.", "", NULL},
    {"no integer", ".0", "", NULL},
    {"two dots", "4.0.1", "", NULL},
    {"a sign", "+4.0", "", NULL},
    {"two of them", "4.0,4.0", "", NULL},
    {"only a comment", ";NetFx", "", NULL},
};

START_TEST(negotiates)
{
    const struct row *row = &rows[_i];
    enum odata_version version = ODATA_4_0;
    struct odata_error err = {0};
    bool ok =
        odata_version_negotiate(str_from(row->max_version), str_from(row->version), &version, &err);
    ck_assert_msg(ok == (row->answer != NULL), "%s: %s", row->name, err.message);
    if (ok) {
        ck_assert_msg(strcmp(odata_version_text(version), row->answer) == 0, "%s", row->name);
    } else {
        ck_assert_int_eq(err.http_status, 400);
        ck_assert_str_eq(err.code, ODATA_CODE_BAD_HEADER);
    }
}
END_TEST

Suite *odata_version_suite(void);

Suite *odata_version_suite(void)
{
    Suite *s = suite_create("odata_version");
    TCase *t = tcase_create("negotiation");
    tcase_add_loop_test(t, negotiates, 0, (int)ARRAY_SIZE(rows));
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/literal.h"

Suite *literal_suite(void);

static const struct row {
    enum literal_kind kind;
    const char *text;
    bool good;
} rows[] = {
    {LITERAL_GUID, "01234567-89ab-cdef-0123-456789ABCDEF", true},
    {LITERAL_GUID, "01234567-89ab-cdef-0123-456789abcde", false},
    {LITERAL_GUID, "01234567-89ab-cdef-0123-456789abcdef0", false},
    {LITERAL_GUID, "0123456789ab-cdef-0123-456789abcdefabc", false},
    {LITERAL_DATE, "2024-02-29", true},
    {LITERAL_DATE, "-10000-04-01", true},
    {LITERAL_DATE, "12345-04-01", true},
    {LITERAL_DATE, "02024-04-01", false},
    {LITERAL_DATE, "2024-13-01", false},
    {LITERAL_DATE, "2024-00-01", false},
    {LITERAL_DATE, "2024-01-32", false},
    {LITERAL_DATE, "2024-1-2", false},
    {LITERAL_DATE, "2024-01-02T", false},
    {LITERAL_DATETIMEOFFSET, "2024-02-29T23:59:60.123456789012Z", true},
    {LITERAL_DATETIMEOFFSET, "2024-02-29T23:59z", true},
    {LITERAL_DATETIMEOFFSET, "2024-02-29T23:59:59-14:00", true},
    {LITERAL_DATETIMEOFFSET, "2024-02-29T23:59:59", false},
    {LITERAL_DATETIMEOFFSET, "2024-02-29T24:00:00Z", false},
    {LITERAL_DATETIMEOFFSET, "2024-02-29T23:59:59+1:00", false},
    {LITERAL_DATETIMEOFFSET, "2024-02-29T23:59:59.1234567890123Z", false},
    {LITERAL_TIMEOFDAY, "07:59:59.999", true},
    {LITERAL_TIMEOFDAY, "07:59", true},
    {LITERAL_TIMEOFDAY, "24:00", false},
    {LITERAL_TIMEOFDAY, "23:60", false},
    {LITERAL_TIMEOFDAY, "23:59:61", false},
    {LITERAL_TIMEOFDAY, "23:59:59.", false},
    {LITERAL_DURATION, "P1DT2H3M4.5S", true},
    {LITERAL_DURATION, "-PT15M", true},
    {LITERAL_DURATION, "P0D", true},
    {LITERAL_DURATION, "P", false},
    {LITERAL_DURATION, "PT", false},
    {LITERAL_DURATION, "P1DT", false},
    {LITERAL_DURATION, "P1Y", false},
    {LITERAL_DURATION, "P1M", false},
    {LITERAL_DURATION, "+P1D", false},
    {LITERAL_DURATION, "PT1.5H", false},
    {LITERAL_DURATION, "PT1S1M", false},
    {LITERAL_BINARY, "", true},
    {LITERAL_BINARY, "Zg", true},
    {LITERAL_BINARY, "Zg==", true},
    {LITERAL_BINARY, "_-8", true},
    {LITERAL_BINARY, "Z", false},
    {LITERAL_BINARY, "Zg=", false},
    {LITERAL_BINARY, "Z+8", false},
    {LITERAL_GEOGRAPHY, "SRID=4326;Point(1 -2.5e1)", true},
    {LITERAL_GEOMETRY, "SRID=0;GeometryCollection(Point(1 2),LineString(1 2,3 4))", true},
    {LITERAL_GEOMETRY, "SRID=0;MultiPoint()", true},
    {LITERAL_GEOMETRY, "Point(1 2)", false},
    {LITERAL_GEOMETRY, "SRID=0;Circle(1 2)", false},
    {LITERAL_GEOMETRY, "SRID=0;Point(1 2", false},
    {LITERAL_GEOMETRY, "SRID=0;Point(1 2))", false},
    {LITERAL_GEOMETRY, "SRID=0;Point(1 'x')", false},
    {LITERAL_INTEGER, "-9223372036854775809", true},
    {LITERAL_INTEGER, "1L", false},
    {LITERAL_INTEGER, "1.0", false},
    {LITERAL_INTEGER, "", false},
    {LITERAL_DECIMAL, "3.14", true},
    {LITERAL_DECIMAL, "1m", false},
    {LITERAL_DECIMAL, ".5", false},
    {LITERAL_DECIMAL, "5.", false},
    {LITERAL_DOUBLE, "-INF", true},
    {LITERAL_DOUBLE, "NaN", true},
    {LITERAL_DOUBLE, "-0.1e-7", true},
    {LITERAL_DOUBLE, "1e", false},
    {LITERAL_STRING, "anything", false},
};

START_TEST(knows_shapes)
{
    const struct row *row = &rows[_i];
    ck_assert_msg(literal_is(row->kind, str_from(row->text)) == row->good, "%s", row->text);
}
END_TEST

static const struct {
    const char *text;
    bool good;
} enums[] = {
    {"Yellow", true}, {"Solid, Yellow,-42", true}, {"", false}, {"Red,", false},
    {",Red", false},  {"Dark Grey", false},        {"7", true}, {"a%2B", false},
};

START_TEST(knows_enum_values)
{
    ck_assert_msg(literal_is_enum_value(str_from(enums[_i].text)) == enums[_i].good, "%s",
                  enums[_i].text);
}
END_TEST

Suite *literal_suite(void)
{
    Suite *s = suite_create("literal");
    TCase *t = tcase_create("literal");
    tcase_add_loop_test(t, knows_shapes, 0, ARRAY_SIZE(rows));
    tcase_add_loop_test(t, knows_enum_values, 0, ARRAY_SIZE(enums));
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "storage/pg_value.h"
#include "tests/support/exact_copy.h"

enum {
    OUT_LIMIT = 1024 * 1024,
    ARENA_LIMIT = 64 * 1024,
};

/* Shorthands for the types in the tables below. */
enum {
    OID_TEXT = 25,
    OID_JSON = 114,
    OID_BOX = 603,
    OID_MONEY = 790,
    OID_BPCHAR = 1042,
    OID_NUMERIC = 1700,
    OID_JSONB = 3802,
};

enum {
    PLAIN = 0,
    IEEE754 = 1,
    V401 = 2,
};

static const struct row {
    const char *name;
    enum edm_type type;
    uint32_t oid;
    unsigned flags;
    const char *text;
    const char *json; /* NULL when the text must be refused */
} rows[] = {
    {"true", EDM_BOOLEAN, 0, PLAIN, "t", "true"},
    {"false", EDM_BOOLEAN, 0, PLAIN, "f", "false"},
    {"a word is no boolean", EDM_BOOLEAN, 0, PLAIN, "true", NULL},

    {"an integer is copied", EDM_INT32, 0, PLAIN, "-2147483648", "-2147483648"},
    {"the largest int8 is a number", EDM_INT64, 0, PLAIN, "9223372036854775807",
     "9223372036854775807"},
    {"int8 is a string with IEEE754Compatible", EDM_INT64, 0, IEEE754, "-9223372036854775808",
     "\"-9223372036854775808\""},
    {"int4 stays a number with IEEE754Compatible", EDM_INT32, 0, IEEE754, "7", "7"},
    {"int2 stays a number with IEEE754Compatible", EDM_INT16, 0, IEEE754, "-7", "-7"},
    {"a sign alone is no integer", EDM_INT32, 0, PLAIN, "-", NULL},
    {"letters are no integer", EDM_INT32, 0, PLAIN, "12a", NULL},
    {"a fraction is no integer", EDM_INT64, 0, PLAIN, "1.5", NULL},
    {"letters are no integer in quotes either", EDM_INT64, 0, IEEE754, "1\"2", NULL},
    {"no integer has thirty digits", EDM_INT64, 0, PLAIN, "123456789012345678901234567890", NULL},

    {"numeric keeps its zeros", EDM_DECIMAL, OID_NUMERIC, PLAIN, "12345.6789000000",
     "12345.6789000000"},
    {"numeric of 38 digits", EDM_DECIMAL, OID_NUMERIC, PLAIN,
     "-9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999"},
    {"numeric is a string with IEEE754Compatible", EDM_DECIMAL, OID_NUMERIC, IEEE754, "0.10",
     "\"0.10\""},
    {"numeric NaN", EDM_DECIMAL, OID_NUMERIC, PLAIN, "NaN", "\"NaN\""},
    {"numeric NaN has one pair of quotes", EDM_DECIMAL, OID_NUMERIC, IEEE754, "NaN", "\"NaN\""},
    {"numeric infinity", EDM_DECIMAL, OID_NUMERIC, PLAIN, "Infinity", "\"INF\""},
    {"numeric minus infinity", EDM_DECIMAL, OID_NUMERIC, IEEE754, "-Infinity", "\"-INF\""},
    {"numeric without digits behind the point", EDM_DECIMAL, OID_NUMERIC, PLAIN, "1.", NULL},
    {"numeric without digits before the point", EDM_DECIMAL, OID_NUMERIC, PLAIN, ".5", NULL},
    {"numeric has no exponent", EDM_DECIMAL, OID_NUMERIC, PLAIN, "1e5", NULL},
    {"numeric with two points", EDM_DECIMAL, OID_NUMERIC, PLAIN, "1.2.3", NULL},

    {"money loses its sign and its commas", EDM_DECIMAL, OID_MONEY, PLAIN, "$1,234,567.89",
     "1234567.89"},
    {"money below zero", EDM_DECIMAL, OID_MONEY, PLAIN, "-$1,234.50", "-1234.50"},
    {"money is a string with IEEE754Compatible", EDM_DECIMAL, OID_MONEY, IEEE754, "$0.07",
     "\"0.07\""},
    {"money of another locale", EDM_DECIMAL, OID_MONEY, PLAIN, "1.234,50 \xe2\x82\xac", NULL},

    {"a double", EDM_DOUBLE, 0, PLAIN, "3.14159265358979", "3.14159265358979"},
    {"a double with an exponent", EDM_DOUBLE, 0, PLAIN, "1.7976931348623157e+308",
     "1.7976931348623157e+308"},
    {"a small double", EDM_DOUBLE, 0, PLAIN, "2.2250738585072014e-308", "2.2250738585072014e-308"},
    {"a single without a fraction", EDM_SINGLE, 0, PLAIN, "1e+30", "1e+30"},
    {"minus zero", EDM_DOUBLE, 0, PLAIN, "-0", "-0"},
    {"a double stays a number with IEEE754Compatible", EDM_DOUBLE, 0, IEEE754, "0.1", "0.1"},
    {"double NaN", EDM_DOUBLE, 0, PLAIN, "NaN", "\"NaN\""},
    {"double infinity", EDM_DOUBLE, 0, PLAIN, "Infinity", "\"INF\""},
    {"single minus infinity", EDM_SINGLE, 0, PLAIN, "-Infinity", "\"-INF\""},
    {"an exponent without digits", EDM_DOUBLE, 0, PLAIN, "1e+", NULL},
    {"an exponent without a number", EDM_DOUBLE, 0, PLAIN, "e5", NULL},
    {"a double with something behind", EDM_DOUBLE, 0, PLAIN, "1e5,", NULL},

    {"text", EDM_STRING, OID_TEXT, PLAIN, "plain", "\"plain\""},
    {"empty text", EDM_STRING, OID_TEXT, PLAIN, "", "\"\""},
    {"text is escaped", EDM_STRING, OID_TEXT, PLAIN, "a\"b\\c\nd\te\001f",
     "\"a\\\"b\\\\c\\nd\\te\\u0001f\""},
    {"text beyond the BMP", EDM_STRING, OID_TEXT, PLAIN, "\xf0\x90\x80\x85 \xc3\xa4",
     "\"\xf0\x90\x80\x85 \xc3\xa4\""},
    {"text keeps its blanks", EDM_STRING, OID_TEXT, PLAIN, "  padded  ", "\"  padded  \""},
    {"char(n) loses its padding", EDM_STRING, OID_BPCHAR, PLAIN, "ch   ", "\"ch\""},
    {"char(n) keeps the blanks in front", EDM_STRING, OID_BPCHAR, PLAIN, "  ch ", "\"  ch\""},
    {"char(n) of nothing but padding", EDM_STRING, OID_BPCHAR, PLAIN, "     ", "\"\""},
    {"an enumeration's label", EDM_ENUM, 0, PLAIN, "Dark_Grey", "\"Dark_Grey\""},

    {"uuid", EDM_GUID, 0, PLAIN, "6b29fc40-ca47-1067-b31d-00dd010662da",
     "\"6b29fc40-ca47-1067-b31d-00dd010662da\""},
    {"a uuid with a letter too far", EDM_GUID, 0, PLAIN, "6b29fc40-ca47-1067-b31d-00dd010662dg",
     NULL},
    {"a uuid without its last digit", EDM_GUID, 0, PLAIN, "6b29fc40-ca47-1067-b31d-00dd010662d",
     NULL},
    {"a uuid with a dash out of place", EDM_GUID, 0, PLAIN, "6b29fc4-0ca47-1067-b31d-00dd010662da",
     NULL},

    {"json is itself in 4.01", EDM_UNTYPED, OID_JSON, V401, "{\"b\": [1, 2]}", "{\"b\": [1, 2]}"},
    {"json is a string in 4.0", EDM_UNTYPED, OID_JSON, PLAIN, "{\"b\": 1}", "\"{\\\"b\\\": 1}\""},
    {"jsonb null is not absent", EDM_UNTYPED, OID_JSONB, V401, "null", "null"},
    {"jsonb null is a word in 4.0", EDM_UNTYPED, OID_JSONB, PLAIN, "null", "\"null\""},
    {"untyped text is a string in 4.01", EDM_UNTYPED, OID_TEXT, V401, "x", "\"x\""},
    {"empty text is no JSON", EDM_UNTYPED, OID_JSONB, V401, "", NULL},

    {"no octets", EDM_BINARY, 0, PLAIN, "\\x", "\"\""},
    {"one octet", EDM_BINARY, 0, PLAIN, "\\x00", "\"AA==\""},
    {"two octets", EDM_BINARY, 0, PLAIN, "\\x0a0d", "\"Cg0=\""},
    {"three octets", EDM_BINARY, 0, PLAIN, "\\x2b2f3d", "\"Ky89\""},
    {"four octets", EDM_BINARY, 0, PLAIN, "\\x010203ff", "\"AQID_w==\""},
    {"the letters 62 and 63 of base64url", EDM_BINARY, 0, PLAIN, "\\xfbefbe", "\"----\""},
    {"upper-case digits", EDM_BINARY, 0, PLAIN, "\\xFFFFFF", "\"____\""},
    {"an odd number of digits", EDM_BINARY, 0, PLAIN, "\\x012", NULL},
    {"a digit that is none", EDM_BINARY, 0, PLAIN, "\\x0g", NULL},
    {"a digit that is none among many", EDM_BINARY, 0, PLAIN, "\\x00112233445z", NULL},
    {"bytea_output=escape", EDM_BINARY, 0, PLAIN, "abc", NULL},
    {"bytea_output=escape with a backslash", EDM_BINARY, 0, PLAIN, "\\000a", NULL},
};

static const struct row time_rows[] = {
    {"a date", EDM_DATE, 0, PLAIN, "2024-02-29", "\"2024-02-29\""},
    {"the first date of our era", EDM_DATE, 0, PLAIN, "0001-01-01", "\"0001-01-01\""},
    {"a date at infinity", EDM_DATE, 0, PLAIN, "infinity", "\"9999-12-31\""},
    {"a date at minus infinity", EDM_DATE, 0, PLAIN, "-infinity", "\"0001-01-01\""},
    {"44 BC is the year -43", EDM_DATE, 0, PLAIN, "0044-03-15 BC", "\"-0043-03-15\""},
    {"1 BC is the year 0", EDM_DATE, 0, PLAIN, "0001-12-31 BC", "\"0000-12-31\""},
    {"the first day of PostgreSQL", EDM_DATE, 0, PLAIN, "4714-11-24 BC", "\"-4713-11-24\""},
    {"the last day of PostgreSQL", EDM_DATE, 0, PLAIN, "5874897-12-31", "\"5874897-12-31\""},
    {"a month too many", EDM_DATE, 0, PLAIN, "10000-13-01", NULL},
    {"a date of another style", EDM_DATE, 0, PLAIN, "02/29/2024", NULL},
    {"a date of another style, as long", EDM_DATE, 0, PLAIN, "29-02-2024", NULL},
    {"a date with something behind", EDM_DATE, 0, PLAIN, "2024-02-29x", NULL},

    {"a timestamp with a zone", EDM_DATETIMEOFFSET, 0, PLAIN, "2012-12-03 07:16:23+00",
     "\"2012-12-03T07:16:23Z\""},
    {"a timestamp without a zone", EDM_DATETIMEOFFSET, 0, PLAIN, "2012-12-03 07:16:23",
     "\"2012-12-03T07:16:23Z\""},
    {"a fraction", EDM_DATETIMEOFFSET, 0, PLAIN, "9999-12-31 23:59:59.999999+00",
     "\"9999-12-31T23:59:59.999999Z\""},
    {"zeros at the end of a fraction", EDM_DATETIMEOFFSET, 0, PLAIN,
     "2024-01-02 03:04:05.678900+00", "\"2024-01-02T03:04:05.6789Z\""},
    {"a fraction of zeros", EDM_DATETIMEOFFSET, 0, PLAIN, "2024-01-02 03:04:05.000000",
     "\"2024-01-02T03:04:05Z\""},
    {"a microsecond", EDM_DATETIMEOFFSET, 0, PLAIN, "2000-02-29 00:00:00.000001",
     "\"2000-02-29T00:00:00.000001Z\""},
    {"east of UTC", EDM_DATETIMEOFFSET, 0, PLAIN, "2024-03-01 01:00:00+02",
     "\"2024-02-29T23:00:00Z\""},
    {"west of UTC, over the end of a year", EDM_DATETIMEOFFSET, 0, PLAIN,
     "2023-12-31 20:00:00.5-04:30", "\"2024-01-01T00:30:00.5Z\""},
    {"an offset of seconds", EDM_DATETIMEOFFSET, 0, PLAIN, "1890-01-01 00:00:00+00:53:28",
     "\"1889-12-31T23:06:32Z\""},
    {"the end of February in 1900", EDM_DATETIMEOFFSET, 0, PLAIN, "1900-02-28 23:30:00-01",
     "\"1900-03-01T00:30:00Z\""},
    {"a timestamp BC", EDM_DATETIMEOFFSET, 0, PLAIN, "0044-03-15 12:00:00+00 BC",
     "\"-0043-03-15T12:00:00Z\""},
    {"over the beginning of our era", EDM_DATETIMEOFFSET, 0, PLAIN, "0001-01-01 00:30:00+01",
     "\"0000-12-31T23:30:00Z\""},
    {"a year of five digits", EDM_DATETIMEOFFSET, 0, PLAIN, "10000-01-01 00:00:00+00",
     "\"10000-01-01T00:00:00Z\""},
    {"the last timestamp of PostgreSQL", EDM_DATETIMEOFFSET, 0, PLAIN,
     "294276-12-31 23:59:59.999999+00", "\"294276-12-31T23:59:59.999999Z\""},
    {"a timestamp at infinity", EDM_DATETIMEOFFSET, 0, PLAIN, "infinity",
     "\"9999-12-31T23:59:59.999999Z\""},
    {"a timestamp at minus infinity", EDM_DATETIMEOFFSET, 0, PLAIN, "-infinity",
     "\"0001-01-01T00:00:00Z\""},
    {"a date is no timestamp", EDM_DATETIMEOFFSET, 0, PLAIN, "2024-01-02", NULL},
    {"a zone by name", EDM_DATETIMEOFFSET, 0, PLAIN, "2024-01-02 03:04:05 CET", NULL},
    {"a point without a fraction", EDM_DATETIMEOFFSET, 0, PLAIN, "2024-01-02 03:04:05.", NULL},
    {"seven digits of fraction", EDM_DATETIMEOFFSET, 0, PLAIN, "2024-01-02 03:04:05.1234567", NULL},
    {"another style", EDM_DATETIMEOFFSET, 0, PLAIN, "Tue Jan 02 03:04:05 2024 UTC", NULL},

    {"a time", EDM_TIMEOFDAY, 0, PLAIN, "07:59:59.999", "\"07:59:59.999\""},
    {"a time without a fraction", EDM_TIMEOFDAY, 0, PLAIN, "00:00:00", "\"00:00:00\""},
    {"zeros at the end of a time", EDM_TIMEOFDAY, 0, PLAIN, "12:00:00.500000", "\"12:00:00.5\""},
    {"the end of a day", EDM_TIMEOFDAY, 0, PLAIN, "24:00:00", "\"23:59:59.999999\""},
    {"beyond the end of a day", EDM_TIMEOFDAY, 0, PLAIN, "24:00:01", NULL},
    {"a time without seconds", EDM_TIMEOFDAY, 0, PLAIN, "07:59", NULL},
    {"a time with a zone", EDM_TIMEOFDAY, 0, PLAIN, "07:59:59+00", NULL},

    {"no time at all", EDM_DURATION, 0, PLAIN, "PT0S", "\"PT0S\""},
    {"days, hours, minutes, seconds", EDM_DURATION, 0, PLAIN, "P3DT4H5M6.789S",
     "\"P3DT4H5M6.789S\""},
    {"years and months are days", EDM_DURATION, 0, PLAIN, "P1Y2M3DT4H5M6.789S",
     "\"P423DT4H5M6.789S\""},
    {"a day", EDM_DURATION, 0, PLAIN, "P1D", "\"P1D\""},
    {"a month", EDM_DURATION, 0, PLAIN, "P1M", "\"P30D\""},
    {"minutes are not months", EDM_DURATION, 0, PLAIN, "PT1M", "\"PT1M\""},
    {"one sign for all", EDM_DURATION, 0, PLAIN, "P-1DT-1S", "\"-P1DT1S\""},
    {"hours that take from a day", EDM_DURATION, 0, PLAIN, "P1DT-2H", "\"PT22H\""},
    {"a fraction that takes from a day", EDM_DURATION, 0, PLAIN, "P1DT-0.000001S",
     "\"PT23H59M59.999999S\""},
    {"a fraction that gives to a day", EDM_DURATION, 0, PLAIN, "P-1DT0.5S", "\"-PT23H59M59.5S\""},
    {"a month back and a day on", EDM_DURATION, 0, PLAIN, "P-1M1D", "\"-P29D\""},
    {"signs that make nothing", EDM_DURATION, 0, PLAIN, "P-1DT24H", "\"PT0S\""},
    {"half a second back", EDM_DURATION, 0, PLAIN, "PT-0.5S", "\"-PT0.5S\""},
    {"a microsecond", EDM_DURATION, 0, PLAIN, "PT0.000001S", "\"PT0.000001S\""},
    {"hours above a day", EDM_DURATION, 0, PLAIN, "PT36H", "\"P1DT12H\""},
    {"the largest span of .NET", EDM_DURATION, 0, PLAIN, "P10675199D", "\"P10675199D\""},
    {"the longest interval", EDM_DURATION, 0, PLAIN,
     "P178956970Y7M2147483647DT2562047788H54.775807S", "\"P66678745048DT4H54.775807S\""},
    {"the longest interval back", EDM_DURATION, 0, PLAIN,
     "P-178956970Y-8M-2147483648DT-2562047788H-54.775808S", "\"-P66678745079DT4H54.775808S\""},
    {"an interval without end", EDM_DURATION, 0, PLAIN, "infinity",
     "\"P10675199DT2H48M5.477580S\""},
    {"another style of interval", EDM_DURATION, 0, PLAIN, "1 day 02:00:00", NULL},
    {"a number without a unit", EDM_DURATION, 0, PLAIN, "P1", NULL},
    {"a unit without a number", EDM_DURATION, 0, PLAIN, "PD", NULL},
    {"hours before the T", EDM_DURATION, 0, PLAIN, "P1H", NULL},
    {"days behind the T", EDM_DURATION, 0, PLAIN, "PT1D", NULL},
    {"a T and nothing behind", EDM_DURATION, 0, PLAIN, "P1DT", NULL},
    {"a P and nothing behind", EDM_DURATION, 0, PLAIN, "P", NULL},
    {"more digits than any interval has", EDM_DURATION, 0, PLAIN, "P9999999999999D", NULL},
};

/* Writes on a copy of the very size, so that a byte read behind it is found. */
static void write_exact(struct bytes *out, const struct value_form *form, const char *text,
                        size_t len)
{
    char *copy = exact_copy(text, len);
    form->write(out, copy, len, form);
    free(copy);
}

static void check_json(const char *name, const struct value_form *form, const char *text,
                       const char *json)
{
    struct bytes out;
    bytes_init(&out, OUT_LIMIT);
    ck_assert_msg(form != NULL, "%s: there is no form", name);
    write_exact(&out, form, text, strlen(text));
    if (json == NULL) {
        ck_assert_msg(bytes_failed(&out), "%s: '%s' became %.*s", name, text,
                      STR_ARG(bytes_str(&out)));
    } else {
        ck_assert_msg(!bytes_failed(&out), "%s: '%s' was refused", name, text);
        ck_assert_msg(str_eq(bytes_str(&out), str_from(json)), "%s: %.*s, not %s", name,
                      STR_ARG(bytes_str(&out)), json);
    }
    bytes_fini(&out);
}

/* No prefix may read past its end; what comes of it does not matter. */
static void check_prefixes(const struct value_form *form, const char *text)
{
    for (size_t len = 0; len < strlen(text); len++) {
        struct bytes out;
        bytes_init(&out, OUT_LIMIT);
        write_exact(&out, form, text, len);
        bytes_fini(&out);
    }
}

/* Whatever the limit of the buffer: failed, or the whole of it. */
static void check_limits(const struct value_form *form, const char *text, const char *json)
{
    for (size_t limit = 0; json != NULL && limit < strlen(json); limit++) {
        struct bytes out;
        bytes_init(&out, limit);
        write_exact(&out, form, text, strlen(text));
        ck_assert_msg(bytes_failed(&out), "'%s' fits %zu bytes", text, limit);
        bytes_fini(&out);
    }
}

static struct response_format format_of(unsigned flags)
{
    return (struct response_format){.version = (flags & V401) != 0 ? ODATA_4_01 : ODATA_4_0,
                                    .ieee754 = (flags & IEEE754) != 0};
}

static void check_row(const struct row *row)
{
    struct arena a;
    arena_init(&a, ARENA_LIMIT);
    const struct type_ref type = {.type = row->type, .nullable = true};
    const struct pg_type_ref pg = {.oid = row->oid};
    const struct response_format format = format_of(row->flags);
    const struct value_form *form = pg_value_json_form(&a, &type, &pg, &format);
    check_json(row->name, form, row->text, row->json);
    check_prefixes(form, row->text);
    check_limits(form, row->text, row->json);
    arena_fini(&a);
}

START_TEST(writes_json)
{
    check_row(&rows[_i]);
}
END_TEST

START_TEST(writes_times)
{
    check_row(&time_rows[_i]);
}
END_TEST

/* shop.point3 of the tests below: (x int4, label text, at date, tags text[]); line: (a, b point3) */
static struct property point_properties[] = {
    {.name = {STR_INIT("x")}, .type = {.type = EDM_INT32}},
    {.name = {STR_INIT("label")}, .type = {.type = EDM_STRING}},
    {.name = {STR_INIT("bin")}, .type = {.type = EDM_BINARY}},
    {.name = {STR_INIT("tags")},
     .type = {.type = EDM_STRING, .collection = true},
     .pg = {.element_oid = OID_TEXT}},
};
static const struct complex_type point = {.namespace = {STR_INIT("shop")},
                                          .name = {STR_INIT("point3")},
                                          .properties = point_properties,
                                          .property_count = ARRAY_SIZE(point_properties)};
static struct property line_properties[] = {
    {.name = {STR_INIT("a")}, .type = {.type = EDM_COMPLEX, .complex_type = &point}},
    {.name = {STR_INIT("b")}, .type = {.type = EDM_COMPLEX, .complex_type = &point}},
};
static const struct complex_type line = {.namespace = {STR_INIT("shop")},
                                         .name = {STR_INIT("line")},
                                         .properties = line_properties,
                                         .property_count = ARRAY_SIZE(line_properties)};
static struct property one_properties[] = {
    {.name = {STR_INIT("only")}, .type = {.type = EDM_STRING}},
};
static const struct complex_type one = {
    .name = {STR_INIT("one")}, .properties = one_properties, .property_count = 1};

static const struct nested_row {
    const char *name;
    struct type_ref type;
    uint32_t element_oid;
    unsigned flags;
    const char *text;
    const char *json;
} nested_rows[] = {
#define LIST(of)                         \
    {                                    \
        .type = (of), .collection = true \
    }
#define OBJECT(of)                                 \
    {                                              \
        .type = EDM_COMPLEX, .complex_type = &(of) \
    }
#define OBJECTS(of)                                                    \
    {                                                                  \
        .type = EDM_COMPLEX, .complex_type = &(of), .collection = true \
    }
    {"an empty array", LIST(EDM_INT32), 0, PLAIN, "{}", "[]"},
    {"integers", LIST(EDM_INT32), 0, PLAIN, "{1,-2,3}", "[1,-2,3]"},
    {"a null among integers", LIST(EDM_INT32), 0, PLAIN, "{2147483647,NULL}", "[2147483647,null]"},
    {"nothing but a null", LIST(EDM_STRING), 0, PLAIN, "{NULL}", "[null]"},
    {"the text NULL is no null", LIST(EDM_STRING), 0, PLAIN, "{\"\",\"a\\\"b\",NULL,\"NULL\"}",
     "[\"\",\"a\\\"b\",null,\"NULL\"]"},
    {"texts without quotes", LIST(EDM_STRING), 0, PLAIN, "{x,y}", "[\"x\",\"y\"]"},
    {"a comma in a text", LIST(EDM_STRING), 0, PLAIN, "{\"a,b\",c}", "[\"a,b\",\"c\"]"},
    {"escapes at both ends", LIST(EDM_STRING), 0, PLAIN, "{\"\\\"a\\\\\"}", "[\"\\\"a\\\\\"]"},
    {"nothing but escapes", LIST(EDM_STRING), 0, PLAIN, "{\"\\\\\\\\\\\"\"}", "[\"\\\\\\\\\\\"\"]"},
    {"a control character between", LIST(EDM_STRING), 0, PLAIN, "{\"a\n\\\"b\"}",
     "[\"a\\n\\\"b\"]"},
    {"int8 as strings", LIST(EDM_INT64), 0, IEEE754, "{1,NULL,3}", "[\"1\",null,\"3\"]"},
    {"octets", LIST(EDM_BINARY), 0, PLAIN, "{\"\\\\x0102\",\"\\\\x\"}", "[\"AQI=\",\"\"]"},
    {"timestamps", LIST(EDM_DATETIMEOFFSET), 0, PLAIN,
     "{\"2024-01-02 03:04:05+00\",\"2024-01-02 03:04:05.5+00\"}",
     "[\"2024-01-02T03:04:05Z\",\"2024-01-02T03:04:05.5Z\"]"},
    {"char(n)", LIST(EDM_STRING), OID_BPCHAR, PLAIN, "{\"a  \",\"\\\"  \"}", "[\"a\",\"\\\"\"]"},
    {"money", LIST(EDM_DECIMAL), OID_MONEY, PLAIN, "{\"$1,000.00\",$2.50}", "[1000.00,2.50]"},
    {"json in 4.01", LIST(EDM_UNTYPED), OID_JSONB, V401, "{\"{\\\"a\\\": \\\"\\\\\\\\\\\"}\",1}",
     "[{\"a\": \"\\\\\"},1]"},
    {"json in 4.0", LIST(EDM_UNTYPED), OID_JSONB, PLAIN, "{\"{\\\"a\\\": 1}\"}",
     "[\"{\\\"a\\\": 1}\"]"},
    {"boxes stand between semicolons", LIST(EDM_STRING), OID_BOX, PLAIN,
     "{(1,1),(0,0);(2,2),(1,1)}", "[\"(1,1),(0,0)\",\"(2,2),(1,1)\"]"},
    {"subscripts that begin with 0", LIST(EDM_INT32), 0, PLAIN, "[0:2]={1,2,3}", "[1,2,3]"},
    {"two dimensions are no collection", LIST(EDM_INT32), 0, PLAIN, "{{1,2},{3,4}}", NULL},
    {"two dimensions of text", LIST(EDM_STRING), 0, PLAIN, "{{a,b},{c,d}}", NULL},
    {"no closing brace", LIST(EDM_INT32), 0, PLAIN, "{1,2", NULL},
    {"no opening brace", LIST(EDM_INT32), 0, PLAIN, "1,2}", NULL},
    {"no closing quote", LIST(EDM_STRING), 0, PLAIN, "{\"a}", NULL},
    {"an escape at the end", LIST(EDM_STRING), 0, PLAIN, "{\"a\\}", NULL},
    {"something behind a quote", LIST(EDM_STRING), 0, PLAIN, "{\"a\"b}", NULL},
    {"an empty item", LIST(EDM_STRING), 0, PLAIN, "{a,,b}", NULL},
    {"a comma at the end", LIST(EDM_STRING), 0, PLAIN, "{a,}", NULL},
    {"a brace behind the end", LIST(EDM_STRING), 0, PLAIN, "{a}b}", NULL},
    {"an item that is no integer", LIST(EDM_INT32), 0, PLAIN, "{1,x}", NULL},

    {"a composite", OBJECT(point), 0, PLAIN, "(1,red,\"\\\\x01\",\"{a,b}\")",
     "{\"x\":1,\"label\":\"red\",\"bin\":\"AQ==\",\"tags\":[\"a\",\"b\"]}"},
    {"a composite of nulls", OBJECT(point), 0, PLAIN, "(,,,)",
     "{\"x\":null,\"label\":null,\"bin\":null,\"tags\":null}"},
    {"an empty text is no null", OBJECT(point), 0, PLAIN, "(,\"\",,{})",
     "{\"x\":null,\"label\":\"\",\"bin\":null,\"tags\":[]}"},
    {"quotes, commas and parentheses", OBJECT(point), 0, PLAIN, "(1,\"a \"\"b\"\", (c)\\\\\",,)",
     "{\"x\":1,\"label\":\"a \\\"b\\\", (c)\\\\\",\"bin\":null,\"tags\":null}"},
    {"the word NULL is text in a composite", OBJECT(point), 0, PLAIN, "(1,NULL,,)",
     "{\"x\":1,\"label\":\"NULL\",\"bin\":null,\"tags\":null}"},
    {"one member that is null", OBJECT(one), 0, PLAIN, "()", "{\"only\":null}"},
    {"one member that is empty", OBJECT(one), 0, PLAIN, "(\"\")", "{\"only\":\"\"}"},
    {"an array with quotes in a composite", OBJECT(point), 0, PLAIN,
     "(1,,,\"{\"\"a b\"\",\"\"c\\\\\"\"d\"\",NULL}\")",
     "{\"x\":1,\"label\":null,\"bin\":null,\"tags\":[\"a b\",\"c\\\"d\",null]}"},
    {"a composite in a composite", OBJECT(line), 0, PLAIN,
     "(\"(1,\"\"a \"\"\"\"b\"\"\"\"\"\",,)\",)",
     "{\"a\":{\"x\":1,\"label\":\"a \\\"b\\\"\",\"bin\":null,\"tags\":null},\"b\":null}"},
    {"an array of composites", OBJECTS(point), 0, PLAIN,
     "{\"(1,\\\"a b\\\",\\\"\\\\\\\\x01\\\",)\",NULL,\"(,,,)\"}",
     "[{\"x\":1,\"label\":\"a b\",\"bin\":\"AQ==\",\"tags\":null},null,"
     "{\"x\":null,\"label\":null,\"bin\":null,\"tags\":null}]"},
    {"a composite of one word in an array", OBJECTS(one), 0, PLAIN, "{(a),()}",
     "[{\"only\":\"a\"},{\"only\":null}]"},
    {"a member too few", OBJECT(point), 0, PLAIN, "(1,a,)", NULL},
    {"a member too many", OBJECT(point), 0, PLAIN, "(1,a,,,)", NULL},
    {"no closing parenthesis", OBJECT(point), 0, PLAIN, "(1,a,,", NULL},
    {"no closing quote in a composite", OBJECT(point), 0, PLAIN, "(1,\"a,,)", NULL},
    {"a parenthesis without quotes", OBJECT(one), 0, PLAIN, "(a)b)", NULL},
    {"a member that is no integer", OBJECT(point), 0, PLAIN, "(x,a,,)", NULL},
    {"a wrong value deep inside", OBJECTS(point), 0, PLAIN, "{\"(1,a,\\\"\\\\\\\\x0\\\",)\"}",
     NULL},
#undef LIST
#undef OBJECT
#undef OBJECTS
};

START_TEST(writes_nested)
{
    const struct nested_row *row = &nested_rows[_i];
    struct arena a;
    arena_init(&a, ARENA_LIMIT);
    const struct pg_type_ref pg = {.element_oid = row->element_oid};
    const struct response_format format = format_of(row->flags);
    const struct value_form *form = pg_value_json_form(&a, &row->type, &pg, &format);
    check_json(row->name, form, row->text, row->json);
    check_prefixes(form, row->text);
    check_limits(form, row->text, row->json);
    arena_fini(&a);
}
END_TEST

/* Quotes in quotes in a value that is longer than any buffer on the stack. */
START_TEST(writes_long_nested_values)
{
    enum {
        LONG = 100000
    };
    struct arena a;
    arena_init(&a, ARENA_LIMIT);
    const struct type_ref type = {.type = EDM_COMPLEX, .complex_type = &one, .collection = true};
    const struct pg_type_ref pg = {0};
    const struct response_format format = {0};
    const struct value_form *form = pg_value_json_form(&a, &type, &pg, &format);
    ck_assert_ptr_nonnull(form);
    struct bytes text;
    struct bytes json;
    struct bytes out;
    bytes_init(&text, OUT_LIMIT);
    bytes_init(&json, OUT_LIMIT);
    bytes_init(&out, OUT_LIMIT);
    BYTES_PUT_LITERAL(&text, "{\"(\\\"");
    BYTES_PUT_LITERAL(&json, "[{\"only\":\"");
    for (size_t i = 0; i < LONG; i++) {
        bytes_put_char(&text, (char)('a' + i % 26));
        bytes_put_char(&json, (char)('a' + i % 26));
    }
    BYTES_PUT_LITERAL(&text, "\\\")\"}");
    BYTES_PUT_LITERAL(&json, "\"}]");
    write_exact(&out, form, text.ptr, text.len);
    ck_assert(!bytes_failed(&out) && str_eq(bytes_str(&out), bytes_str(&json)));
    bytes_fini(&out);
    bytes_fini(&json);
    bytes_fini(&text);
    arena_fini(&a);
}
END_TEST

static const struct full_row {
    enum odata_version version;
    const char *json;
} full_rows[] = {
    {ODATA_4_0, "{\"@odata.type\":\"#shop.line\",\"a\":{\"@odata.type\":\"#shop.point3\","
                "\"x@odata.type\":\"#Int32\",\"x\":1,\"label\":null,"
                "\"bin@odata.type\":\"#Binary\",\"bin\":null,"
                "\"tags@odata.type\":\"#Collection(String)\",\"tags\":[]},\"b\":null}"},
    {ODATA_4_01, "{\"@type\":\"#shop.line\",\"a\":{\"@type\":\"#shop.point3\","
                 "\"x@type\":\"Int32\",\"x\":1,\"label\":null,"
                 "\"bin@type\":\"Binary\",\"bin\":null,"
                 "\"tags@type\":\"#Collection(String)\",\"tags\":[]},\"b\":null}"},
};

START_TEST(names_types_in_full_metadata)
{
    struct arena a;
    arena_init(&a, ARENA_LIMIT);
    const struct type_ref type = {.type = EDM_COMPLEX, .complex_type = &line};
    const struct pg_type_ref pg = {0};
    const struct response_format format = {.version = full_rows[_i].version,
                                           .metadata = METADATA_FULL};
    const struct value_form *form = pg_value_json_form(&a, &type, &pg, &format);
    check_json("full metadata", form, "(\"(1,,,{})\",)", full_rows[_i].json);
    arena_fini(&a);
}
END_TEST

/* Forms of a short arena: NULL until it suffices, and then right. */
START_TEST(makes_forms_in_any_arena)
{
    const struct type_ref type = {.type = EDM_COMPLEX, .complex_type = &line, .collection = true};
    const struct pg_type_ref pg = {0};
    const struct response_format format = {.metadata = METADATA_FULL};
    for (size_t limit = 0;; limit += 16) {
        struct arena a;
        arena_init(&a, limit);
        const struct value_form *form = pg_value_json_form(&a, &type, &pg, &format);
        if (form != NULL) {
            check_json("nulls", form, "{\"(,)\"}",
                       "[{\"@odata.type\":\"#shop.line\",\"a\":null,\"b\":null}]");
        }
        arena_fini(&a);
        if (form != NULL) {
            ck_assert_uint_gt(limit, 0);
            break;
        }
        ck_assert_uint_lt(limit, ARENA_LIMIT);
    }
}
END_TEST

static const struct row url_rows[] = {
    {"text in quotes", EDM_STRING, OID_TEXT, 0, "plain", "'plain'"},
    {"an empty text", EDM_STRING, OID_TEXT, 0, "", "''"},
    {"a quote is doubled", EDM_STRING, OID_TEXT, 0, "O'Neil", "'O%27%27Neil'"},
    {"a quote alone", EDM_STRING, OID_TEXT, 0, "'", "'%27%27'"},
    {"what means something in a URL", EDM_STRING, OID_TEXT, 0, "a/b?c#d&e+f g%41",
     "'a%2Fb%3Fc%23d%26e%2Bf%20g%2541'"},
    {"what means something in JSON", EDM_STRING, OID_TEXT, 0, "\"\\\n", "'%22%5C%0A'"},
    {"letters beyond ASCII", EDM_STRING, OID_TEXT, 0, "\xc3\xbc", "'%C3%BC'"},
    {"unreserved characters", EDM_STRING, OID_TEXT, 0, "aZ09-._~", "'aZ09-._~'"},
    {"char(n)", EDM_STRING, OID_BPCHAR, 0, "EUR  ", "'EUR'"},
    {"an integer", EDM_INT64, 0, 0, "-9007199254740993", "-9007199254740993"},
    {"no integer", EDM_INT64, 0, 0, "1)", NULL},
    {"a decimal", EDM_DECIMAL, OID_NUMERIC, 0, "1.50", "1.50"},
    {"money", EDM_DECIMAL, OID_MONEY, 0, "-$1,234.50", "-1234.50"},
    {"a double's plus sign", EDM_DOUBLE, 0, 0, "1e+30", "1e%2B30"},
    {"infinity", EDM_DOUBLE, 0, 0, "-Infinity", "-INF"},
    {"no double", EDM_DOUBLE, 0, 0, "x", NULL},
    {"a boolean", EDM_BOOLEAN, 0, 0, "t", "true"},
    {"a guid", EDM_GUID, 0, 0, "6b29fc40-ca47-1067-b31d-00dd010662da",
     "6b29fc40-ca47-1067-b31d-00dd010662da"},
    {"a date", EDM_DATE, 0, 0, "2024-02-29", "2024-02-29"},
    {"a timestamp's colons", EDM_DATETIMEOFFSET, 0, 0, "2024-01-02 03:04:05.60+00",
     "2024-01-02T03%3A04%3A05.6Z"},
    {"a time's colons", EDM_TIMEOFDAY, 0, 0, "07:59:59", "07%3A59%3A59"},
    {"a duration", EDM_DURATION, 0, 0, "PT1H", "duration'PT1H'"},
    {"octets", EDM_BINARY, 0, 0, "\\x010203ff", "binary'AQID_w=='"},
    {"an enumeration's label", EDM_ENUM, 0, 0, "red", "'red'"},
};

START_TEST(writes_url_literals)
{
    const struct row *row = &url_rows[_i];
    const struct type_ref type = {.type = row->type};
    const struct pg_type_ref pg = {.oid = row->oid};
    const struct value_form *form = pg_value_url_form(&type, &pg);
    check_json(row->name, form, row->text, row->json);
    check_prefixes(form, row->text);
    check_limits(form, row->text, row->json);
}
END_TEST

static const struct raw_row {
    const char *name;
    enum edm_type type;
    uint32_t oid;
    const char *text;
    struct str raw; /* ptr NULL: refused */
} raw_rows[] = {
    {"text as it is", EDM_STRING, OID_TEXT, "a\"b\n", {STR_INIT("a\"b\n")}},
    {"char(n) without padding", EDM_STRING, OID_BPCHAR, "a  ", {STR_INIT("a")}},
    {"octets", EDM_BINARY, 0, "\\x00ff41", {STR_INIT("\0\377A")}},
    {"no octets", EDM_BINARY, 0, "\\x", {STR_INIT("")}},
    {"half an octet", EDM_BINARY, 0, "\\x0", {NULL, 0}},
    {"no hexadecimal digit", EDM_BINARY, 0, "\\x0y", {NULL, 0}},
    {"a number", EDM_INT64, 0, "12", {STR_INIT("12")}},
    {"a boolean", EDM_BOOLEAN, 0, "f", {STR_INIT("false")}},
    {"money", EDM_DECIMAL, OID_MONEY, "$1,000.00", {STR_INIT("1000.00")}},
    {"infinity", EDM_DOUBLE, 0, "Infinity", {STR_INIT("INF")}},
    {"a date", EDM_DATE, 0, "infinity", {STR_INIT("9999-12-31")}},
    {"a timestamp",
     EDM_DATETIMEOFFSET,
     0,
     "2024-01-02 03:04:05.60+00",
     {STR_INIT("2024-01-02T03:04:05.6Z")}},
    {"a duration", EDM_DURATION, 0, "P1M", {STR_INIT("P30D")}},
    {"json", EDM_UNTYPED, OID_JSONB, "{\"a\": 1}", {STR_INIT("{\"a\": 1}")}},
    {"an enumeration's label", EDM_ENUM, 0, "red", {STR_INIT("red")}},
};

START_TEST(writes_raw)
{
    const struct raw_row *row = &raw_rows[_i];
    const struct type_ref type = {.type = row->type};
    const struct pg_type_ref pg = {.oid = row->oid};
    pg_value_raw_fn raw = pg_value_raw(&type, &pg);
    ck_assert(raw != NULL);
    struct bytes out;
    bytes_init(&out, OUT_LIMIT);
    raw(&out, row->text, strlen(row->text));
    ck_assert_msg(bytes_failed(&out) == (row->raw.ptr == NULL), "%s", row->name);
    if (row->raw.ptr != NULL) {
        ck_assert_msg(str_eq(bytes_str(&out), row->raw), "%s: %.*s", row->name,
                      STR_ARG(bytes_str(&out)));
    }
    bytes_fini(&out);
}
END_TEST

START_TEST(has_no_form_for_what_cannot_be)
{
    const struct pg_type_ref pg = {0};
    const struct type_ref many = {.type = EDM_INT32, .collection = true};
    const struct type_ref object = {.type = EDM_COMPLEX, .complex_type = &one};
    const struct type_ref untyped = {.type = EDM_UNTYPED};
    ck_assert_ptr_null(pg_value_url_form(&many, &pg));
    ck_assert_ptr_null(pg_value_url_form(&object, &pg));
    ck_assert_ptr_null(pg_value_url_form(&untyped, &pg));
    ck_assert(pg_value_raw(&many, &pg) == NULL);
    ck_assert(pg_value_raw(&object, &pg) == NULL);
}
END_TEST

Suite *pg_value_suite(void);
Suite *pg_value_suite(void)
{
    Suite *s = suite_create("storage/pg_value");
    TCase *json = tcase_create("json");
    tcase_add_loop_test(json, writes_json, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(json, writes_times, 0, (int)ARRAY_SIZE(time_rows));
    tcase_add_loop_test(json, writes_nested, 0, (int)ARRAY_SIZE(nested_rows));
    tcase_add_test(json, writes_long_nested_values);
    tcase_add_loop_test(json, names_types_in_full_metadata, 0, (int)ARRAY_SIZE(full_rows));
    tcase_add_test(json, makes_forms_in_any_arena);
    suite_add_tcase(s, json);
    TCase *others = tcase_create("url and raw");
    tcase_add_loop_test(others, writes_url_literals, 0, (int)ARRAY_SIZE(url_rows));
    tcase_add_loop_test(others, writes_raw, 0, (int)ARRAY_SIZE(raw_rows));
    tcase_add_test(others, has_no_form_for_what_cannot_be);
    suite_add_tcase(s, others);
    return s;
}

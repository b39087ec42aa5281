// SPDX-License-Identifier: Apache-2.0
/* pg_value over what a PostgreSQL server really writes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <libpq-fe.h>

#include "storage/connect.h"
#include "storage/pg_value.h"

enum {
    OUT_LIMIT = 4 * 1024 * 1024,
    ARENA_LIMIT = 64 * 1024,
};

enum {
    PLAIN = 0,
    IEEE754 = 1,
    V401 = 2,
};

static PGconn *connect_as_session(void)
{
    static const struct session_options none = {0};
    PGconn *conn = NULL;
    struct odata_error err = {0};
    ck_assert_msg(connect_blocking("", &none, 10000, &conn, &err), "%s", err.message);
    return conn;
}

static PGresult *query(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ck_assert_msg(PQresultStatus(result) == PGRES_TUPLES_OK ||
                      PQresultStatus(result) == PGRES_COMMAND_OK,
                  "%.60s...: %s", sql, PQerrorMessage(conn));
    return result;
}

/* The types that the rows name: Edm type, and the element's where PostgreSQL's name has []. */
static const struct row {
    const char *sql; /* an expression */
    enum edm_type type;
    bool collection;
    unsigned flags;
    const char *json; /* NULL: to be refused */
} rows[] = {
    {"true", EDM_BOOLEAN, false, PLAIN, "true"},
    {"1 = 2", EDM_BOOLEAN, false, PLAIN, "false"},
    {"(-32768)::int2", EDM_INT16, false, PLAIN, "-32768"},
    {"2147483647::int4", EDM_INT32, false, PLAIN, "2147483647"},
    {"9223372036854775807::int8", EDM_INT64, false, PLAIN, "9223372036854775807"},
    {"(-9223372036854775808)::int8", EDM_INT64, false, IEEE754, "\"-9223372036854775808\""},
    {"1.50::numeric(10,4)", EDM_DECIMAL, false, PLAIN, "1.5000"},
    {"1e40::numeric", EDM_DECIMAL, false, PLAIN, "10000000000000000000000000000000000000000"},
    {"(-1e-21)::numeric", EDM_DECIMAL, false, IEEE754, "\"-0.000000000000000000001\""},
    {"'NaN'::numeric", EDM_DECIMAL, false, PLAIN, "\"NaN\""},
    {"'infinity'::numeric", EDM_DECIMAL, false, PLAIN, "\"INF\""},
    {"'-infinity'::numeric", EDM_DECIMAL, false, IEEE754, "\"-INF\""},
    {"'-1234567.891'::money", EDM_DECIMAL, false, PLAIN, "-1234567.89"},
    {"12.34::money", EDM_DECIMAL, false, IEEE754, "\"12.34\""},
    {"'-92233720368547758.08'::money", EDM_DECIMAL, false, PLAIN, "-92233720368547758.08"},
    {"0.1::float4", EDM_SINGLE, false, PLAIN, "0.1"},
    {"3.4028235e38::float4", EDM_SINGLE, false, PLAIN, "3.4028235e+38"},
    {"1e30::float4", EDM_SINGLE, false, PLAIN, "1e+30"},
    {"(0.1::float8 + 0.2::float8)", EDM_DOUBLE, false, PLAIN, "0.30000000000000004"},
    {"2.2250738585072014e-308::float8", EDM_DOUBLE, false, PLAIN, "2.2250738585072014e-308"},
    {"'-0'::float8", EDM_DOUBLE, false, PLAIN, "-0"},
    {"1e15::float8", EDM_DOUBLE, false, PLAIN, "1e+15"},
    {"123456789012345::float8", EDM_DOUBLE, false, PLAIN, "123456789012345"},
    {"'NaN'::float8", EDM_DOUBLE, false, PLAIN, "\"NaN\""},
    {"'infinity'::float8", EDM_DOUBLE, false, PLAIN, "\"INF\""},
    {"'-infinity'::float4", EDM_SINGLE, false, PLAIN, "\"-INF\""},
    {"'plain'::text", EDM_STRING, false, PLAIN, "\"plain\""},
    {"E'say \"hi\"\\n\\tC:\\\\dir \\u0001\\u007f'", EDM_STRING, false, PLAIN,
     "\"say \\\"hi\\\"\\n\\tC:\\\\dir \\u0001\x7f\""},
    {"E'ls\\u2028 \\U00010005 \\u00e4'", EDM_STRING, false, PLAIN,
     "\"ls\xe2\x80\xa8 \xf0\x90\x80\x85 \xc3\xa4\""},
    {"'ch'::char(5)", EDM_STRING, false, PLAIN, "\"ch\""},
    {"''::char(5)", EDM_STRING, false, PLAIN, "\"\""},
    {"'vc '::varchar(10)", EDM_STRING, false, PLAIN, "\"vc \""},
    {"'x'::name", EDM_STRING, false, PLAIN, "\"x\""},
    {"'<a b=\"c\"/>'::xml", EDM_STRING, false, PLAIN, "\"<a b=\\\"c\\\"/>\""},
    {"'192.0.2.1/24'::inet", EDM_STRING, false, PLAIN, "\"192.0.2.1/24\""},
    {"'192.0.2.0/24'::cidr", EDM_STRING, false, PLAIN, "\"192.0.2.0/24\""},
    {"'08:00:2b:01:02:03'::macaddr", EDM_STRING, false, PLAIN, "\"08:00:2b:01:02:03\""},
    {"'[1,10)'::int4range", EDM_STRING, false, PLAIN, "\"[1,10)\""},
    {"tstzrange('2020-01-01', NULL)", EDM_STRING, false, PLAIN,
     "\"[\\\"2020-01-01 00:00:00+00\\\",)\""},
    {"B'1011'::varbit", EDM_STRING, false, PLAIN, "\"1011\""},
    {"'(1,2)'::point", EDM_STRING, false, PLAIN, "\"(1,2)\""},
    {"'fat cat'::tsvector", EDM_STRING, false, PLAIN, "\"'cat' 'fat'\""},
    {"'{{1,2},{3,4}}'::int4[]", EDM_STRING, false, PLAIN, "\"{{1,2},{3,4}}\""},
    {"'07:59:59+02'::timetz", EDM_STRING, false, PLAIN, "\"07:59:59+02\""},
    {"ROW(1, 'a b')", EDM_STRING, false, PLAIN, "\"(1,\\\"a b\\\")\""},
    {"'pg_class'::regclass", EDM_STRING, false, PLAIN, "\"pg_class\""},
    {"'6B29FC40-CA47-1067-B31D-00DD010662DA'::uuid", EDM_GUID, false, PLAIN,
     "\"6b29fc40-ca47-1067-b31d-00dd010662da\""},
    {"'2024-02-29'::date", EDM_DATE, false, PLAIN, "\"2024-02-29\""},
    {"'infinity'::date", EDM_DATE, false, PLAIN, "\"9999-12-31\""},
    {"'-infinity'::date", EDM_DATE, false, PLAIN, "\"0001-01-01\""},
    {"'0044-03-15 BC'::date", EDM_DATE, false, PLAIN, "\"-0043-03-15\""},
    {"'4714-11-24 BC'::date", EDM_DATE, false, PLAIN, "\"-4713-11-24\""},
    {"'5874897-12-31'::date", EDM_DATE, false, PLAIN, "\"5874897-12-31\""},
    {"'2024-01-02 03:04:05.6789+00'::timestamptz", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"2024-01-02T03:04:05.6789Z\""},
    {"'1992-04-01 00:30:00+02'::timestamptz", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"1992-03-31T22:30:00Z\""},
    {"'2012-12-03 07:16:23'::timestamp", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"2012-12-03T07:16:23Z\""},
    {"'2012-12-03 07:16:23.120000'::timestamp(3)", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"2012-12-03T07:16:23.12Z\""},
    {"'infinity'::timestamptz", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"9999-12-31T23:59:59.999999Z\""},
    {"'-infinity'::timestamp", EDM_DATETIMEOFFSET, false, PLAIN, "\"0001-01-01T00:00:00Z\""},
    {"'0044-03-15 12:00:00+00 BC'::timestamptz", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"-0043-03-15T12:00:00Z\""},
    {"'10000-01-01 00:00:00+00'::timestamptz", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"10000-01-01T00:00:00Z\""},
    {"'294276-12-31 23:59:59.999999'::timestamp", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"294276-12-31T23:59:59.999999Z\""},
    {"'4714-11-24 00:00:00 BC'::timestamp", EDM_DATETIMEOFFSET, false, PLAIN,
     "\"-4713-11-24T00:00:00Z\""},
    {"'07:59:59.999'::time", EDM_TIMEOFDAY, false, PLAIN, "\"07:59:59.999\""},
    {"'24:00:00'::time", EDM_TIMEOFDAY, false, PLAIN, "\"23:59:59.999999\""},
    {"'1 year 2 mons 3 days 04:05:06.789'::interval", EDM_DURATION, false, PLAIN,
     "\"P423DT4H5M6.789S\""},
    {"'-1 day -1 sec'::interval", EDM_DURATION, false, PLAIN, "\"-P1DT1S\""},
    {"'1 day -2 hours'::interval", EDM_DURATION, false, PLAIN, "\"PT22H\""},
    {"'-1 mon +1 day'::interval", EDM_DURATION, false, PLAIN, "\"-P29D\""},
    {"'-0.5 sec'::interval", EDM_DURATION, false, PLAIN, "\"-PT0.5S\""},
    {"'1 day -00:00:00.000001'::interval", EDM_DURATION, false, PLAIN, "\"PT23H59M59.999999S\""},
    {"'0'::interval", EDM_DURATION, false, PLAIN, "\"PT0S\""},
    {"make_interval(days => 10675199)", EDM_DURATION, false, PLAIN, "\"P10675199D\""},
    {"'\\x010203ff'::bytea", EDM_BINARY, false, PLAIN, "\"AQID_w==\""},
    {"'\\x'::bytea", EDM_BINARY, false, PLAIN, "\"\""},
    {"'{\"b\": 1, \"a\": [1, 2]}'::json", EDM_UNTYPED, false, V401, "{\"b\": 1, \"a\": [1, 2]}"},
    {"'{\"b\": 1, \"a\": [1, 2]}'::jsonb", EDM_UNTYPED, false, V401, "{\"a\": [1, 2], \"b\": 1}"},
    {"'{\"b\": 1}'::jsonb", EDM_UNTYPED, false, PLAIN, "\"{\\\"b\\\": 1}\""},
    {"'{1,2,NULL}'::int4[]", EDM_INT32, true, PLAIN, "[1,2,null]"},
    {"'{}'::text[]", EDM_STRING, true, PLAIN, "[]"},
    {"ARRAY['', 'a\"b', NULL, 'NULL', 'null', ' ', 'x,y', '{', 'a\\b']", EDM_STRING, true, PLAIN,
     "[\"\",\"a\\\"b\",null,\"NULL\",\"null\",\" \",\"x,y\",\"{\",\"a\\\\b\"]"},
    {"'[5:6]={1,2}'::int8[]", EDM_INT64, true, IEEE754, "[\"1\",\"2\"]"},
    {"ARRAY['\\x01'::bytea, '\\x']", EDM_BINARY, true, PLAIN, "[\"AQ==\",\"\"]"},
    {"ARRAY['2024-01-02 03:04:05+00'::timestamptz, 'infinity']", EDM_DATETIMEOFFSET, true, PLAIN,
     "[\"2024-01-02T03:04:05Z\",\"9999-12-31T23:59:59.999999Z\"]"},
    {"ARRAY['1 day -2 hours'::interval]", EDM_DURATION, true, PLAIN, "[\"PT22H\"]"},
    {"ARRAY['a'::char(3), '\"'::char(3)]", EDM_STRING, true, PLAIN, "[\"a\",\"\\\"\"]"},
    {"ARRAY[1234.5::money]", EDM_DECIMAL, true, PLAIN, "[1234.50]"},
    {"ARRAY['{\"a\": \"\\\\\"}'::jsonb, '1']", EDM_UNTYPED, true, V401, "[{\"a\": \"\\\\\"},1]"},
    {"ARRAY[box '(1,1),(0,0)', box '(2,2),(1,1)']", EDM_STRING, true, PLAIN,
     "[\"(1,1),(0,0)\",\"(2,2),(1,1)\"]"},
    {"ARRAY['NaN'::float8, 1.5, '-infinity']", EDM_DOUBLE, true, PLAIN, "[\"NaN\",1.5,\"-INF\"]"},
    {"'{{1,2},{3,4}}'::int4[]", EDM_INT32, true, PLAIN, NULL},
};

/* The element's type, as the catalog would give it. */
static uint32_t element_of(PGconn *conn, uint32_t oid)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "SELECT typelem FROM pg_catalog.pg_type WHERE oid = %u", oid);
    PGresult *result = query(conn, sql);
    uint32_t element = (uint32_t)strtoul(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    return element;
}

START_TEST(writes_what_the_server_writes)
{
    const struct row *row = &rows[_i];
    PGconn *conn = connect_as_session();
    char sql[512];
    snprintf(sql, sizeof(sql), "SELECT %s", row->sql);
    PGresult *result = query(conn, sql);
    const struct type_ref type = {.type = row->type, .collection = row->collection};
    struct pg_type_ref pg = {.oid = PQftype(result, 0)};
    pg.element_oid = row->collection ? element_of(conn, pg.oid) : 0;
    const struct response_format format = {.version =
                                               (row->flags & V401) != 0 ? ODATA_4_01 : ODATA_4_0,
                                           .ieee754 = (row->flags & IEEE754) != 0};
    struct arena a;
    arena_init(&a, ARENA_LIMIT);
    const struct value_form *form = pg_value_json_form(&a, &type, &pg, &format);
    ck_assert_ptr_nonnull(form);
    struct bytes out;
    bytes_init(&out, OUT_LIMIT);
    form->write(&out, PQgetvalue(result, 0, 0), (size_t)PQgetlength(result, 0, 0), form);
    ck_assert_msg(bytes_failed(&out) == (row->json == NULL), "%s: '%s'", row->sql,
                  PQgetvalue(result, 0, 0));
    if (row->json != NULL) {
        ck_assert_msg(str_eq(bytes_str(&out), str_from(row->json)), "%s: %.*s, not %s", row->sql,
                      STR_ARG(bytes_str(&out)), row->json);
    }
    bytes_fini(&out);
    arena_fini(&a);
    PQclear(result);
    PQfinish(conn);
}
END_TEST

/* CREATE TYPE inner_t AS (n int4, s text, tags text[]); */
static struct property inner_properties[] = {
    {.name = {STR_INIT("n")}, .type = {.type = EDM_INT32}},
    {.name = {STR_INIT("s \"q\"")}, .type = {.type = EDM_STRING}},
    {.name = {STR_INIT("tags")}, .type = {.type = EDM_STRING, .collection = true}},
};
static const struct complex_type inner = {.name = {STR_INIT("inner_t")},
                                          .properties = inner_properties,
                                          .property_count = ARRAY_SIZE(inner_properties)};
/* CREATE TYPE outer_t AS (one inner_t, many inner_t[], s text, ok bool, d date); */
static struct property outer_properties[] = {
    {.name = {STR_INIT("one")}, .type = {.type = EDM_COMPLEX, .complex_type = &inner}},
    {.name = {STR_INIT("many")},
     .type = {.type = EDM_COMPLEX, .complex_type = &inner, .collection = true}},
    {.name = {STR_INIT("s")}, .type = {.type = EDM_STRING}},
    {.name = {STR_INIT("ok")}, .type = {.type = EDM_BOOLEAN}},
    {.name = {STR_INIT("d")}, .type = {.type = EDM_DATE}},
};
static const struct complex_type outer = {.name = {STR_INIT("outer_t")},
                                          .properties = outer_properties,
                                          .property_count = ARRAY_SIZE(outer_properties)};

static const char make_types[] =
    "CREATE TYPE pg_temp.inner_t AS (n int4, \"s \"\"q\"\"\" text, tags text[]);"
    "CREATE TYPE pg_temp.outer_t AS (one pg_temp.inner_t, many pg_temp.inner_t[], s text, ok bool,"
    " d date);"
    /* Text of the characters that mean something to arrays, composites and JSON; sometimes null. */
    "CREATE FUNCTION pg_temp.some_text() RETURNS text LANGUAGE sql VOLATILE AS $$"
    " SELECT CASE WHEN random() < 0.1 THEN NULL ELSE (SELECT coalesce(string_agg(substr("
    " E'\"\"\"\\\\\\\\\\\\,,{}()''  \\n\\t\\u0001NUL\\u00e4\\U00010005;=[]abc',"
    " 1 + floor(random() * 36)::int4, 1), ''), '')"
    " FROM generate_series(1, floor(random() * 40)::int4)) END $$;"
    "CREATE FUNCTION pg_temp.some_texts() RETURNS text[] LANGUAGE sql VOLATILE AS $$"
    " SELECT CASE WHEN random() < 0.1 THEN NULL ELSE ARRAY(SELECT pg_temp.some_text()"
    " FROM generate_series(1, floor(random() * 4)::int4)) END $$;"
    "CREATE FUNCTION pg_temp.some_inner() RETURNS pg_temp.inner_t LANGUAGE sql VOLATILE AS $$"
    " SELECT CASE WHEN random() < 0.1 THEN NULL ELSE ROW(floor(random() * 100)::int4,"
    " pg_temp.some_text(), pg_temp.some_texts())::pg_temp.inner_t END $$;"
    "SELECT setseed(0.25);";

/* Each SELECT gives a value and what PostgreSQL itself makes of it as JSON. */
static const struct oracle {
    const char *name;
    struct type_ref type;
    const char *sql;
    int least_rows;
} oracles[] = {
    {"every character to U+07FF, one an array",
     {.type = EDM_STRING, .collection = true},
     "SELECT x, to_json(x) FROM (SELECT ARRAY[chr(i)] AS x FROM generate_series(1, 2047) AS i) AS t",
     2047},
    {"every character to U+07FF in one array",
     {.type = EDM_STRING, .collection = true},
     "SELECT x, to_json(x) FROM (SELECT array_agg(chr(i) || 'x' || chr(i)) AS x"
     " FROM generate_series(1, 2047) AS i) AS t",
     1},
    {"characters of three and four bytes in one array",
     {.type = EDM_STRING, .collection = true},
     "SELECT x, to_json(x) FROM (SELECT array_agg(chr(i) || '\"') AS x"
     " FROM generate_series(57344, 1114111, 97) AS i) AS t",
     1},
    {"every character to U+07FF in a composite",
     {.type = EDM_COMPLEX, .complex_type = &inner},
     "SELECT x, to_json(x) FROM (SELECT ROW(i, chr(i), ARRAY[chr(i) || chr(i), ''])"
     "::pg_temp.inner_t AS x FROM generate_series(1, 2047) AS i) AS t",
     2047},
    {"every character to U+07FF in composites in an array",
     {.type = EDM_COMPLEX, .complex_type = &inner, .collection = true},
     "SELECT x, to_json(x) FROM (SELECT ARRAY[ROW(i, chr(i), ARRAY[chr(i), 'a' || chr(i)])"
     "::pg_temp.inner_t] AS x FROM generate_series(1, 2047) AS i) AS t",
     2047},
    {"any text in arrays",
     {.type = EDM_STRING, .collection = true},
     "SELECT x, to_json(x) FROM (SELECT pg_temp.some_texts() AS x"
     " FROM generate_series(1, 3000) OFFSET 0) AS t",
     3000},
    {"any text in composites",
     {.type = EDM_COMPLEX, .complex_type = &inner},
     "SELECT x, to_json(x) FROM (SELECT pg_temp.some_inner() AS x"
     " FROM generate_series(1, 3000) OFFSET 0) AS t",
     3000},
    {"any text in arrays of composites in composites in an array",
     {.type = EDM_COMPLEX, .complex_type = &outer, .collection = true},
     "SELECT x, to_json(x) FROM (SELECT ARRAY[NULL, ROW(pg_temp.some_inner(),"
     " ARRAY[pg_temp.some_inner(), pg_temp.some_inner()], pg_temp.some_text(), i % 2 = 0,"
     " '2024-02-28'::date + i)::pg_temp.outer_t] AS x"
     " FROM generate_series(1, 2000) AS i OFFSET 0) AS t",
     2000},
    {"long text in arrays of composites in composites in an array",
     {.type = EDM_COMPLEX, .complex_type = &outer, .collection = true},
     "SELECT x, to_json(x) FROM (SELECT ARRAY[ROW(pg_temp.some_inner(),"
     " ARRAY[ROW(1, repeat(pg_temp.some_text(), i), NULL)::pg_temp.inner_t],"
     " repeat(pg_temp.some_text(), i), true, NULL)::pg_temp.outer_t] AS x"
     " FROM generate_series(1, 300) AS i OFFSET 0) AS t",
     300},
};

static void check_oracle_row(const struct oracle *o, const struct value_form *form,
                             const PGresult *result, int row)
{
    if (PQgetisnull(result, row, 0)) {
        return;
    }
    struct bytes out;
    bytes_init(&out, OUT_LIMIT);
    form->write(&out, PQgetvalue(result, row, 0), (size_t)PQgetlength(result, row, 0), form);
    ck_assert_msg(!bytes_failed(&out), "%s: refused %s", o->name, PQgetvalue(result, row, 0));
    ck_assert_msg(str_eq(bytes_str(&out), str_from(PQgetvalue(result, row, 1))),
                  "%s: %s\nbecame %.*s\nnot    %s", o->name, PQgetvalue(result, row, 0),
                  STR_ARG(bytes_str(&out)), PQgetvalue(result, row, 1));
    bytes_fini(&out);
}

START_TEST(agrees_with_the_servers_own_json)
{
    const struct oracle *o = &oracles[_i];
    PGconn *conn = connect_as_session();
    PQclear(query(conn, make_types));
    PGresult *result = query(conn, o->sql);
    ck_assert_int_eq(PQntuples(result), o->least_rows);
    struct arena a;
    arena_init(&a, ARENA_LIMIT);
    const struct pg_type_ref pg = {0};
    const struct response_format format = {0};
    const struct value_form *form = pg_value_json_form(&a, &o->type, &pg, &format);
    ck_assert_ptr_nonnull(form);
    for (int row = 0; row < PQntuples(result); row++) {
        check_oracle_row(o, form, result, row);
    }
    arena_fini(&a);
    PQclear(result);
    PQfinish(conn);
}
END_TEST

/* Every octet, and every length of the last group. */
START_TEST(agrees_with_the_servers_own_base64)
{
    PGconn *conn = connect_as_session();
    PGresult *result = query(
        conn, "SELECT b, '\"' || translate(encode(b, 'base64'), E'+/\\n', '-_') || '\"', "
              "encode(b, 'hex') FROM (SELECT substr(all_octets, 1 + i % 7, i) AS b FROM (SELECT "
              "decode(string_agg(lpad(to_hex(o), 2, '0'), ''), 'hex') AS all_octets FROM "
              "generate_series(0, 255) AS o) AS a, generate_series(0, 256) AS i) AS t");
    ck_assert_int_eq(PQntuples(result), 257);
    const struct type_ref type = {.type = EDM_BINARY};
    const struct pg_type_ref pg = {0};
    const struct response_format format = {0};
    const struct value_form *form = pg_value_json_form(NULL, &type, &pg, &format);
    pg_value_raw_fn raw = pg_value_raw(&type, &pg);
    struct bytes out;
    bytes_init(&out, OUT_LIMIT);
    for (int row = 0; row < PQntuples(result); row++) {
        size_t len = (size_t)PQgetlength(result, row, 0);
        bytes_clear(&out);
        form->write(&out, PQgetvalue(result, row, 0), len, form);
        ck_assert(!bytes_failed(&out));
        ck_assert_msg(str_eq(bytes_str(&out), str_from(PQgetvalue(result, row, 1))), "%.*s, not %s",
                      STR_ARG(bytes_str(&out)), PQgetvalue(result, row, 1));
        bytes_clear(&out);
        raw(&out, PQgetvalue(result, row, 0), len);
        ck_assert_uint_eq(out.len, len / 2 - 1);
        const char *hex = PQgetvalue(result, row, 2);
        for (size_t i = 0; i < out.len; i++) {
            char digits[3];
            snprintf(digits, sizeof(digits), "%02x", (unsigned)(unsigned char)out.ptr[i]);
            ck_assert(memcmp(digits, hex + 2 * i, 2) == 0);
        }
    }
    bytes_fini(&out);
    PQclear(result);
    PQfinish(conn);
}
END_TEST

/* Days over 800 years, with offsets of either sign, of hours, minutes and seconds. */
START_TEST(agrees_with_the_servers_own_utc)
{
    PGconn *conn = connect_as_session();
    PGresult *result = query(
        conn,
        "SELECT to_char(t, 'YYYY-MM-DD HH24:MI:SS') || o, '\"' || to_char(t - "
        "rpad(o, 9, ':00')::interval, 'YYYY-MM-DD\"T\"HH24:MI:SS') || 'Z\"' FROM (SELECT timestamp "
        "'1599-12-31 00:00:00' + make_interval(hours => i * 351) AS t, (ARRAY['+00', '+14', "
        "'-12', '+05:30', '-09:30', '+00:53:28'])[1 + i % 6] AS o "
        "FROM generate_series(1, 20000, 1) AS i) AS t WHERE o <> '+00' UNION ALL SELECT "
        "to_char(d, 'YYYY-MM-DD') || ' 00:30:00+01', '\"' || to_char(d - interval "
        "'30 minutes', 'YYYY-MM-DD\"T\"HH24:MI:SS') || 'Z\"' FROM generate_series("
        "timestamp '1896-01-01', '1905-01-01', '1 day') AS d");
    ck_assert_int_gt(PQntuples(result), 18000);
    const struct type_ref type = {.type = EDM_DATETIMEOFFSET};
    const struct pg_type_ref pg = {0};
    const struct response_format format = {0};
    const struct value_form *form = pg_value_json_form(NULL, &type, &pg, &format);
    struct bytes out;
    bytes_init(&out, OUT_LIMIT);
    for (int row = 0; row < PQntuples(result); row++) {
        bytes_clear(&out);
        form->write(&out, PQgetvalue(result, row, 0), (size_t)PQgetlength(result, row, 0), form);
        ck_assert_msg(str_eq(bytes_str(&out), str_from(PQgetvalue(result, row, 1))),
                      "%s: %.*s, not %s", PQgetvalue(result, row, 0), STR_ARG(bytes_str(&out)),
                      PQgetvalue(result, row, 1));
    }
    bytes_fini(&out);
    PQclear(result);
    PQfinish(conn);
}
END_TEST

/* Intervals of every mixture of signs count what PostgreSQL says that they count. */
START_TEST(agrees_with_the_servers_own_seconds)
{
    PGconn *conn = connect_as_session();
    PGresult *result = query(
        conn,
        "SELECT i, (extract(epoch FROM make_interval(secs => 0, days => 30 * (12 * "
        "extract(year FROM i) + extract(month FROM i))::int4 + extract(day FROM i)::int4)) * "
        "1000000 + extract(hour FROM i) * 3600000000 + extract(minute FROM i) * 60000000 + "
        "extract(microseconds FROM i))::numeric(30,0) FROM (SELECT make_interval(years => a, "
        "months => b, days => c, hours => d, secs => e) AS i FROM generate_series(-1, 1) AS a, "
        "generate_series(-13, 13, 13) AS b, generate_series(-40, 40, 20) AS c, "
        "generate_series(-49, 49, 7) AS d, unnest(ARRAY[-61.5, -0.000001, 0, 0.25, 3599.999999])"
        " AS e) AS t");
    ck_assert_int_gt(PQntuples(result), 3000);
    struct bytes out;
    bytes_init(&out, OUT_LIMIT);
    const struct type_ref type = {.type = EDM_DURATION};
    const struct pg_type_ref pg = {0};
    pg_value_raw_fn raw = pg_value_raw(&type, &pg);
    for (int row = 0; row < PQntuples(result); row++) {
        bytes_clear(&out);
        raw(&out, PQgetvalue(result, row, 0), (size_t)PQgetlength(result, row, 0));
        bytes_put_char(&out, '\0');
        ck_assert(!bytes_failed(&out));
        /* -P1DT2H3M4.5S, with whatever is zero left out. */
        const char *p = out.ptr;
        bool negative = *p == '-';
        p += negative;
        ck_assert(*p == 'P');
        double micros = 0;
        for (p++; *p != '\0';) {
            p += *p == 'T';
            char *unit;
            double value = strtod(p, &unit);
            ck_assert(value >= 0);
            micros += value * (*unit == 'D'   ? 86400e6
                               : *unit == 'H' ? 3600e6
                               : *unit == 'M' ? 60e6
                                              : 1e6);
            p = unit + 1;
        }
        double wanted = strtod(PQgetvalue(result, row, 1), NULL);
        double got = negative ? -micros : micros;
        ck_assert_msg(got - wanted < 0.5 && wanted - got < 0.5, "%s: %s, and not %s us",
                      PQgetvalue(result, row, 0), out.ptr, PQgetvalue(result, row, 1));
    }
    bytes_fini(&out);
    PQclear(result);
    PQfinish(conn);
}
END_TEST

Suite *pg_value_live_suite(void);
Suite *pg_value_live_suite(void)
{
    Suite *s = suite_create("storage/pg_value over a server");
    TCase *t = tcase_create("values");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, writes_what_the_server_writes, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, agrees_with_the_servers_own_json, 0, (int)ARRAY_SIZE(oracles));
    tcase_add_test(t, agrees_with_the_servers_own_base64);
    tcase_add_test(t, agrees_with_the_servers_own_utc);
    tcase_add_test(t, agrees_with_the_servers_own_seconds);
    suite_add_tcase(s, t);
    return s;
}

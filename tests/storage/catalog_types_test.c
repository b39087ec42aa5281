// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include <check.h>

#include "odata/compiler.h"
#include "tests/storage/catalog_fixture.h"

/* Each type is tested as column c of table t, whose key is id. */
static const struct type_row {
    const char *column; /* after `c ` */
    const char *wanted;
} types[] = {
    {"bool", "t.c: Boolean null cast bool\n"},
    {"bool NOT NULL", "t.c: Boolean notnull cast bool\n"},
    {"bytea", "t.c: Binary null cast bytea"},
    {"int2", "t.c: Int16 null cast int2"},
    {"int4", "t.c: Int32 null cast int4"},
    {"int8", "t.c: Int64 null cast int8"},
    {"float4", "t.c: Single null cast float4"},
    {"float8", "t.c: Double null cast float8"},
    {"numeric", "t.c: Decimal(variable) null cast numeric"},
    {"numeric(10,2)", "t.c: Decimal(10,2) null"},
    {"numeric(5)", "t.c: Decimal(5,0) null"},
    {"numeric(1000,1000)", "t.c: Decimal(1000,1000) null"},
    {"numeric(3,-2)", "t.c: Decimal(variable) null"},
    {"numeric(2,5)", "t.c: Decimal(variable) null"},
    {"money", "t.c: Decimal(19,2) null cast money"},
    {"text", "t.c: String null cast text"},
    {"varchar", "t.c: String null cast varchar"},
    {"varchar(40)", "t.c: String(40) null cast varchar"},
    {"char(5)", "t.c: String(5) null cast bpchar"},
    {"char", "t.c: String(1) null cast bpchar"},
    {"bpchar", "t.c: String null cast bpchar"},
    {"\"char\"", "t.c: String null cast \"char\""},
    {"name", "t.c: String null cast name"},
    {"bit(8)", "t.c: String(8) null cast bit"},
    {"varbit(9)", "t.c: String(9) null cast varbit"},
    {"uuid", "t.c: Guid null cast uuid"},
    {"date", "t.c: Date null cast date"},
    {"time", "t.c: TimeOfDay(6) null cast time"},
    {"time(3)", "t.c: TimeOfDay(3) null cast time"},
    {"timetz", "t.c: String null cast time with time zone"},
    {"timestamp", "t.c: DateTimeOffset(6) null cast timestamp\n"},
    {"timestamp(0)", "t.c: DateTimeOffset(0) null cast timestamp\n"},
    {"timestamptz", "t.c: DateTimeOffset(6) null cast timestamptz"},
    {"timestamptz(3)", "t.c: DateTimeOffset(3) null cast timestamptz"},
    {"interval", "t.c: Duration(6) null cast interval"},
    {"interval(2)", "t.c: Duration(2) null cast interval"},
    {"interval day to second(4)", "t.c: Duration(4) null cast interval"},
    {"interval year", "t.c: Duration(6) null cast interval"},
    {"json", "t.c: Untyped null cast json"},
    {"jsonb", "t.c: Untyped null cast jsonb"},
    {"oid", "t.c: Int64 null cast oid"},
    {"regclass", "t.c: String null cast regclass"},
    {"int2vector", "t.c: String null cast int2vector"},
    {"xid", "t.c: String null cast xid"},
    {"inet", "t.c: String null cast inet"},
    {"int4range", "t.c: String null cast int4range"},
    {"xml", "t.c: String null cast xml"},
    {"point", "t.c: String null cast point"},
    {"tsvector", "t.c: String null cast tsvector"},
    {"int4[]", "t.c: Collection(Int32) null cast integer[]"},
    {"int4[] NOT NULL", "t.c: Collection(Int32) null cast integer[]"},
    {"int4[3]", "t.c: Collection(Int32) null cast integer[]"},
    {"numeric(8,3)[]", "t.c: Collection(Decimal(8,3)) null cast numeric[]"},
    {"varchar(7)[]", "t.c: Collection(String(7)) null"},
    {"char(3)[]", "t.c: Collection(String(3)) null cast bpchar[]"},
    {"jsonb[]", "t.c: Collection(Untyped) null cast jsonb[]"},
    {"int4[][]", "t.c: String null cast integer[]"},
    {"color", "t.c: color null cast ct.color\nenum ct.color: red, green\nabout color: its shades"},
    {"color[]", "t.c: Collection(color) null cast ct.color[]\nenum ct.color: red, green"},
    {"\"Odd Mood\"", "t.c: Odd_Mood null cast ct.\"Odd Mood\"\nenum ct.Odd_Mood: up"},
    {"shade", "t.c: String null cast ct.shade"},
    {"shade[]", "t.c: Collection(String) null cast ct.shade[]"},
    {"nothing", "t.c: String null cast ct.nothing"},
    {"address", "t.c: address null cast ct.address\ncomplex ct.address cast ct.address\n"
                "address.street: String(80) null cast varchar\naddress.no_1: Int32 null column "
                "\"no 1\" cast int4\naddress.tint: color null\naddress.tags: Collection(String) "
                "null\naddress.spot: String null cast point\nenum ct.color"},
    {"address[]", "t.c: Collection(address) null cast ct.address[]"},
    {"person", "t.c: person null\nperson.home: address null\nperson.others: Collection(address) "
               "null\naddress.street: String(80)"},
    {"other", "t.c: other_2 null cast ct.other\ncomplex ct.other_2\nset other: ct.other\n"
              "other_2.id: Int32 null"},
    {"empty", "t.c: String null cast ct.empty"},
    {"email", "t.c: String null cast text"},
    {"positive", "t.c: Int32 notnull cast int4"},
    {"price", "t.c: Decimal(9,4) null default cast numeric"},
    {"price_of_price", "t.c: Decimal(9,4) notnull default cast numeric"},
    {"price[]", "t.c: Collection(Decimal(9,4)) null cast ct.price[]"},
    {"triple", "t.c: Collection(Int32) null cast integer[]"},
    {"matrix", "t.c: String null cast integer[]"},
    {"triple[]", "t.c: String null cast ct.triple[]"},
    {"tint", "t.c: color null cast ct.color"},
    {"place", "t.c: address null cast ct.address"},
    {"int4 DEFAULT 5", "t.c: Int32 null default cast int4"},
    {"int4 GENERATED ALWAYS AS (id + 1) STORED", "t.c: Int32 null computed default cast int4"},
    {"int4 GENERATED ALWAYS AS IDENTITY", "t.c: Int32 notnull computed default cast int4"},
    {"int4 GENERATED BY DEFAULT AS IDENTITY", "t.c: Int32 notnull default cast int4"},
    {"bigserial", "t.c: Int64 notnull default cast int8"},
    {"timestamptz NOT NULL DEFAULT now()", "t.c: DateTimeOffset(6) notnull default cast"},
};

static const char helpers[] =
    "CREATE TYPE color AS ENUM ('red', 'green');"
    "COMMENT ON TYPE color IS 'its shades';"
    "CREATE TYPE \"Odd Mood\" AS ENUM ('up');"
    "CREATE TYPE shade AS ENUM ('light', 'dark grey');"
    "CREATE TYPE nothing AS ENUM ();"
    "CREATE TYPE address AS (street varchar(80), \"no 1\" int4, tint color, tags text[], spot point);"
    "CREATE TYPE person AS (home address, others address[]);"
    "CREATE TYPE empty AS ();"
    "CREATE TABLE other (id int4 PRIMARY KEY);"
    "CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');"
    "CREATE DOMAIN positive AS int4 NOT NULL CHECK (VALUE > 0);"
    "CREATE DOMAIN price AS numeric(9,4) DEFAULT 1;"
    "CREATE DOMAIN price_of_price AS price NOT NULL;"
    "CREATE DOMAIN triple AS int4[];"
    "CREATE DOMAIN matrix AS int4[][];"
    "CREATE DOMAIN tint AS color;"
    "CREATE DOMAIN place AS address;";

START_TEST(maps_type)
{
    char sql[4096];
    snprintf(sql, sizeof(sql), "%sCREATE TABLE t (id int4 PRIMARY KEY, c %s);", helpers,
             types[_i].column);
    catalog_fixture_check(&(struct catalog_case){types[_i].column, sql, types[_i].wanted, NULL});
}
END_TEST

static const struct catalog_case cases[] = {
    {"types that no property has are not in the model",
     "CREATE TYPE color AS ENUM ('red'); CREATE TYPE pair AS (a int4);"
     "CREATE TABLE keyless (c color, p pair); CREATE TABLE t (id int4 PRIMARY KEY);",
     "set t: ct.t\n", "enum\ncomplex\nset keyless\n"},
    {"a type of a schema that is not exposed brings its namespace",
     "DROP SCHEMA IF EXISTS ct_types CASCADE; CREATE SCHEMA ct_types;"
     "CREATE TYPE ct_types.color AS ENUM ('red');"
     "CREATE TABLE t (id int4 PRIMARY KEY, c ct_types.color);",
     "namespace ct\nnamespace ct_types\ncontainer ct.Container\nenum ct_types.color: red\n"
     "t.c: ct_types.color null cast ct_types.color\n",
     NULL},
    {"two types whose names are rewritten alike differ by a number",
     "CREATE TYPE \"a-b\" AS ENUM ('x'); CREATE TYPE \"a b\" AS ENUM ('y');"
     "CREATE TYPE a_b AS ENUM ('z');"
     "CREATE TABLE t (id int4 PRIMARY KEY, p \"a-b\", q \"a b\", r a_b);",
     "enum ct.a_b: z\nenum ct.a_b_2: y\nenum ct.a_b_3: x\nt.p: a_b_3\nt.q: a_b_2\nt.r: a_b null\n",
     NULL},
    {"an enum's members keep the order of PostgreSQL",
     "CREATE TYPE mood AS ENUM ('b', 'a'); ALTER TYPE mood ADD VALUE 'c' BEFORE 'a';"
     "CREATE TABLE t (id int4 PRIMARY KEY, m mood);",
     "enum ct.mood: b, c, a\n", NULL},
    {"an array whose dimensions nobody declared is a collection",
     "CREATE TABLE t (id int4 PRIMARY KEY, n int4);"
     "CREATE VIEW v AS SELECT id, ARRAY[n, n] AS list FROM t;",
     "v.list: Collection(Int32) null\n", NULL},
    {"a spatial type that is not of postgis is text",
     "CREATE TYPE geometry AS ENUM ('not simple');"
     "CREATE TABLE t (id int4 PRIMARY KEY, g geometry);",
     "t.g: String null cast ct.geometry\n", NULL},
};

START_TEST(builds_types)
{
    catalog_fixture_check(&cases[_i]);
}
END_TEST

Suite *catalog_types_suite(void);
Suite *catalog_types_suite(void)
{
    Suite *s = suite_create("catalog_types");
    TCase *t = tcase_create("types");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, maps_type, 0, ARRAY_SIZE(types));
    tcase_add_loop_test(t, builds_types, 0, ARRAY_SIZE(cases));
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/compiler.h"
#include "tests/storage/catalog_fixture.h"

#define BASE     "CREATE TABLE t (id int4 PRIMARY KEY, code text UNIQUE NOT NULL, note text, n int4);"
#define LEFT_OUT "warning ct.v: left out: no key can be told from what it selects; to show it"

static const struct catalog_case cases[] = {
    {"the columns of a primary key keep their order",
     "CREATE TABLE t (a int4, b int4, c int4, PRIMARY KEY (c, a));", "t key c, a\n",
     "t alternate\n"},
    {"included columns are no part of a key",
     "CREATE TABLE t (a int4, b int4, PRIMARY KEY (a) INCLUDE (b));", "t key a\n", "t key a, b\n"},
    {"a unique key over NOT NULL columns stands in",
     "CREATE TABLE t (a int4 NOT NULL UNIQUE, b int4);", "t key a\n", "t alternate\nwarning\n"},
    {"the shortest unique key is taken, then the first by name",
     "CREATE TABLE t (a int4 NOT NULL, b int4 NOT NULL, c int4 NOT NULL,"
     " CONSTRAINT k1 UNIQUE (a, b), CONSTRAINT k3 UNIQUE (c), CONSTRAINT k2 UNIQUE (b));",
     "t key b\nt alternate c\nt alternate a, b\n", NULL},
    {"other unique keys are alternate ones, with null or without",
     "CREATE TABLE t (id int4 PRIMARY KEY, a int4 UNIQUE, b int4 NOT NULL, c int4,"
     " UNIQUE (c, b)); CREATE UNIQUE INDEX again ON t (b, c);",
     "t key id\nt alternate a\nt alternate b, c\nt.a: Int32 null\n", "t alternate c, b\n"},
    {"a nullable unique key is no key", "CREATE TABLE t (a int4 UNIQUE);",
     "warning ct.t: left out: its key (a) may be null; to show it, name columns that identify a row"
     " in the configuration file: \"entities\": {\"ct.t\": {\"key\": [...]}}\n",
     "set\n"},
    {"a domain can make a unique key NOT NULL",
     "CREATE DOMAIN d AS int4 NOT NULL; CREATE TABLE t (a d UNIQUE);",
     "t key a\nt.a: Int32 notnull\n", NULL},
    {"partial, expression and deferrable indexes are no keys",
     "CREATE TABLE t (a int4 NOT NULL, b text NOT NULL, c int4 NOT NULL UNIQUE DEFERRABLE);"
     "CREATE UNIQUE INDEX ON t (a) WHERE a > 0; CREATE UNIQUE INDEX ON t (lower(b));",
     "warning ct.t: left out: it has neither a primary key nor a unique NOT NULL key\n", "set\n"},
    {"a key of a type that cannot be one gives way",
     "CREATE TABLE t (a float8 PRIMARY KEY, b int4 NOT NULL UNIQUE);", "t key b\n",
     "t alternate\n"},
    {"without another one the table is left out",
     "CREATE TABLE t (a bytea PRIMARY KEY); CREATE TABLE u (a int4, b int4[], PRIMARY KEY (a, b));"
     "CREATE TYPE pair AS (x int4, y int4); CREATE TABLE w (a pair PRIMARY KEY);",
     "warning ct.t: left out: its key (a) is of a type that cannot be a key (Edm.Binary); to show\n"
     "warning ct.u: left out: its key (a, b) is of a type that cannot be a key (Collection)\n"
     "warning ct.w: left out: its key (a) is of a type that cannot be a key (ComplexType)\n",
     "set\n"},
    {"enums, intervals and what is shown as text can be keys",
     "CREATE TYPE e AS ENUM ('x'); CREATE TABLE a (k e PRIMARY KEY);"
     "CREATE TABLE b (k interval PRIMARY KEY); CREATE TABLE c (k inet PRIMARY KEY);"
     "CREATE TABLE d (k numeric PRIMARY KEY); CREATE TABLE f (k bool PRIMARY KEY);",
     "a key k\nb key k\nc key k\nd key k\nf key k\n", NULL},
    {"the key of a table that others inherit from is doubtful",
     "CREATE TABLE p (id int4 PRIMARY KEY); CREATE TABLE c (x int4) INHERITS (p);"
     "CREATE TABLE d (PRIMARY KEY (id)) INHERITS (p);",
     "p key id\nd key id\nc key id\nwarning ct.p: tables inherit from it\n"
     "warning ct.c: its key is that of 'p', and no unique index\n",
     "warning ct.d\n"},

    {"a view that passes a key on has it",
     BASE "CREATE VIEW v AS SELECT note AS remark, id AS number FROM t WHERE n > 1 ORDER BY note;",
     "set v: ct.v view\nv key number\nv.number: Int32 notnull\nv.remark: String null\n",
     "v alternate\nwarning\n"},
    {"a view passes alternate keys on as well", BASE "CREATE VIEW v AS SELECT * FROM t;",
     "v key id\nv alternate code\n", NULL},
    {"a view without the primary key may pass another key on",
     BASE "CREATE VIEW v AS SELECT code, n FROM t LIMIT 5;", "v key code\n", NULL},
    {"a view of a view",
     BASE "CREATE VIEW u AS SELECT n AS id, id AS n FROM t;"
          "CREATE VIEW v AS SELECT x.n AS a, x.id AS b FROM u AS x;",
     "v key a\nu key n\n", NULL},
    {"a materialized view", BASE "CREATE MATERIALIZED VIEW v AS SELECT id, n FROM t;",
     "set v: ct.v matview\nv key id\n", NULL},
    {"a materialized view with an index of its own",
     "CREATE MATERIALIZED VIEW v AS SELECT 1 AS a, 2 AS b; CREATE UNIQUE INDEX vi ON v (b);",
     "v key b\nv.b: Int32 notnull\nwarning ct.v: its key is the unique index \"vi\": no column of "
     "it may ever be null\n",
     NULL},
    {"what a materialized view selects is trusted more than its index",
     BASE "CREATE MATERIALIZED VIEW v AS SELECT id, n FROM t; CREATE UNIQUE INDEX ON v (n);",
     "v key id\nv alternate n\n", "warning\n"},
    {"a view over a table of a schema that is not exposed",
     "DROP SCHEMA IF EXISTS ct_hidden CASCADE; CREATE SCHEMA ct_hidden;"
     "CREATE TABLE ct_hidden.t (a int4, b int4, c text NOT NULL UNIQUE, PRIMARY KEY (a, b));"
     "CREATE VIEW ct_hidden.w AS SELECT b, a FROM ct_hidden.t;"
     "CREATE VIEW v AS SELECT b AS x, a AS y FROM ct_hidden.w;"
     "CREATE VIEW u AS SELECT c FROM ct_hidden.t;",
     "v key y, x\nu key c\n", "set t\nset w\n"},
    {"a view of a partitioned table",
     "CREATE TABLE p (id int4 PRIMARY KEY) PARTITION BY RANGE (id);"
     "CREATE VIEW v AS SELECT id FROM p;",
     "v key id\n", NULL},
    {"a window function repeats no row",
     BASE "CREATE VIEW v AS SELECT id, row_number() OVER () AS rank FROM t;", "v key id\n", NULL},
    {"a subquery in WHERE or in a column repeats no row",
     BASE "CREATE VIEW v AS SELECT id, (SELECT max(n) FROM t AS x) AS most FROM t"
          " WHERE EXISTS (SELECT FROM t AS y, t AS z);",
     "v key id\n", NULL},
    {"odd names of columns do not deceive",
     BASE "CREATE VIEW v AS SELECT note AS \":resno\", n AS \"{VAR :varattno 1\", n AS \"a) (b\","
          " n AS \"\\\\\", id AS \":expr\" FROM t AS \"} :rtable\";",
     "v key _expr\n", NULL},
    {"a view that computes the key does not pass it on",
     BASE "CREATE VIEW v AS SELECT id + 1 AS id, n FROM t;", LEFT_OUT, "set v\n"},
    {"a whole row or a system column is no key",
     BASE "CREATE VIEW v AS SELECT t AS id, t.ctid AS n FROM t;", LEFT_OUT, "set v\n"},
    {"a join may repeat rows",
     BASE "CREATE VIEW v AS SELECT a.id FROM t AS a JOIN t AS b USING (n);", LEFT_OUT, "set v\n"},
    {"so may an outer join",
     BASE "CREATE VIEW v AS SELECT a.id FROM t AS a LEFT JOIN t AS b ON a.n = b.n;", LEFT_OUT,
     "set v\n"},
    {"so may two relations in FROM", BASE "CREATE VIEW v AS SELECT a.id FROM t AS a, t AS b;",
     LEFT_OUT, "set v\n"},
    {"so may a lateral function", BASE "CREATE VIEW v AS SELECT id FROM t, generate_series(1, 2);",
     LEFT_OUT, "set v\n"},
    {"so may a set-returning function",
     BASE "CREATE VIEW v AS SELECT id, generate_series(1, 2) AS n FROM t;", LEFT_OUT, "set v\n"},
    {"so may a union", BASE "CREATE VIEW v AS SELECT id FROM t UNION ALL SELECT id FROM t;",
     LEFT_OUT, "set v\n"},
    {"a group is not a row", BASE "CREATE VIEW v AS SELECT id, count(*) AS n FROM t GROUP BY id;",
     LEFT_OUT, "set v\n"},
    {"grouping sets make more rows",
     BASE "CREATE VIEW v AS SELECT id FROM t GROUP BY GROUPING SETS ((id), ());", LEFT_OUT,
     "set v\n"},
    {"an aggregate makes one row", BASE "CREATE VIEW v AS SELECT max(id) AS id FROM t;", LEFT_OUT,
     "set v\n"},
    {"DISTINCT is not looked into", BASE "CREATE VIEW v AS SELECT DISTINCT id FROM t;", LEFT_OUT,
     "set v\n"},
    {"a subquery in FROM is not looked into",
     BASE "CREATE VIEW v AS SELECT id FROM (SELECT id FROM t) AS x;", LEFT_OUT, "set v\n"},
    {"nor is a common table expression",
     BASE "CREATE VIEW v AS WITH x AS (SELECT id FROM t) SELECT id FROM x;", LEFT_OUT, "set v\n"},
    {"VALUES have no key", "CREATE VIEW v AS VALUES (1), (2);", LEFT_OUT, "set v\n"},
    {"a view of a table without a key",
     "CREATE TABLE t (a int4); CREATE VIEW v AS SELECT a FROM t;", LEFT_OUT, "set v\n"},
    {"a view of a nullable unique key",
     "CREATE TABLE t (a int4 UNIQUE); CREATE VIEW v AS SELECT a FROM t;",
     "warning ct.v: left out: its key (a) may be null\n", "set v\n"},
};

START_TEST(chooses_keys)
{
    catalog_fixture_check(&cases[_i]);
}
END_TEST

Suite *catalog_keys_suite(void);
Suite *catalog_keys_suite(void)
{
    Suite *s = suite_create("catalog_keys");
    TCase *t = tcase_create("keys");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, chooses_keys, 0, ARRAY_SIZE(cases));
    suite_add_tcase(s, t);
    return s;
}

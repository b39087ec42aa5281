// SPDX-License-Identifier: Apache-2.0
/* Which relations there are, their names, overrides, and what stops the start. */
#include <stdio.h>
#include <string.h>

#include <check.h>

#include "odata/compiler.h"
#include "tests/storage/catalog_fixture.h"

static const struct catalog_case cases[] = {
    {"an empty schema is an empty model", "SELECT 1", "namespace ct\ncontainer ct.Container\n",
     "set\nwarning\n"},
    {"each kind of relation",
     "CREATE TABLE t (id int4 PRIMARY KEY); CREATE VIEW v AS SELECT id FROM t;"
     "CREATE MATERIALIZED VIEW m AS SELECT id FROM t;"
     "CREATE TABLE p (id int4 PRIMARY KEY) PARTITION BY RANGE (id);"
     "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (2);"
     "CREATE UNLOGGED TABLE u (id int4 PRIMARY KEY); CREATE SEQUENCE s; CREATE TYPE y AS (a int4);",
     "set t: ct.t table \"t\" page=0\nset v: ct.v view\nset m: ct.m matview\n"
     "set p: ct.p partitioned\nset u: ct.u table\n",
     "set p1\nset s\nset y\nset t_\n"},
    {"a partition that is partitioned itself is left out, too",
     "CREATE TABLE p (id int4 PRIMARY KEY) PARTITION BY RANGE (id);"
     "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (9) PARTITION BY RANGE (id);"
     "CREATE TABLE p11 PARTITION OF p1 FOR VALUES FROM (1) TO (5);",
     "set p: ct.p partitioned\n", "set p1\n"},
    {"a foreign table has no key of its own",
     "CREATE EXTENSION IF NOT EXISTS postgres_fdw SCHEMA public;"
     "DROP SERVER IF EXISTS ct_far CASCADE;"
     "CREATE SERVER ct_far FOREIGN DATA WRAPPER postgres_fdw;"
     "CREATE FOREIGN TABLE f (id int4 NOT NULL) SERVER ct_far;",
     "warning ct.f: left out: it has neither a primary key nor a unique NOT NULL key\n", "set f\n"},
    {"what an extension owns is left out",
     "CREATE EXTENSION pg_stat_statements SCHEMA ct; CREATE TABLE t (id int4 PRIMARY KEY);",
     "set t\n", "set pg_stat\nwarning\n"},
    {"a child table is an entity set of its own",
     "CREATE TABLE p (id int4 PRIMARY KEY, a text);"
     "CREATE TABLE c (b text, PRIMARY KEY (id)) INHERITS (p);",
     "set p\nset c\nc.a: String\nc.b: String\n", NULL},
    {"comments are descriptions",
     "CREATE TABLE t (id int4 PRIMARY KEY, n int4); COMMENT ON TABLE t IS 'all of \"them\" & more';"
     "COMMENT ON COLUMN t.n IS 'how many';",
     "about t: all of \"them\" & more\nabout t.n: how many\n", "about t.id\n"},
    {"dropped columns are gone",
     "CREATE TABLE t (id int4, a int4, b int4, PRIMARY KEY (b)); ALTER TABLE t DROP COLUMN id,"
     " ADD c int4;",
     "t.a: Int32\nt.b: Int32 notnull\nt.c: Int32\nt key b\n", "t.id\nt._\n"},
    {"a table without columns is left out", "CREATE TABLE t ();",
     "warning ct.t: left out: it has no column that can be shown\n", "set\n"},

    {"letter case is kept, and makes a difference",
     "CREATE TABLE t (id int4 PRIMARY KEY, \"Name\" text, name text, \"NAME\" text);"
     "CREATE TABLE \"T\" (id int4 PRIMARY KEY);",
     "set t: ct.t\nset T: ct.T table \"T\"\nt.Name: String null cast\nt.name: String null cast\n"
     "t.NAME: String null cast\n",
     NULL},
    {"reserved words are names like others",
     "CREATE TABLE \"select\" (\"from\" int4 PRIMARY KEY, \"null\" text, \"eq\" text, \"$it\" text);",
     "set select: ct.select\nselect.from: Int32\nselect.null: String\nselect.eq: String\n"
     "select._it: String null column \"$it\"\n",
     NULL},
    {"columns that are no SimpleIdentifiers are rewritten",
     "CREATE TABLE \"odd names\" (id int4 PRIMARY KEY, \"a b\" text, \"1st\" text, \"x$y\" text,"
     " \"dash-col\" text, \"dotted.name\" text, \"quo\"\"ted\" text, \"back\\slash\" text,"
     " \"d\xc3\xa9j\xc3\xa0\" text, \"\xe2\x82\xac\" text, \"\xf0\x9f\x98\x80x\" text);",
     "set odd_names: ct.odd_names table \"odd names\"\nodd_names.a_b: String null column \"a b\"\n"
     "odd_names._1st: String null column \"1st\"\nodd_names.x_y: \nodd_names.dash_col: \n"
     "odd_names.dotted_name: \nodd_names.quo_ted: String null column \"quo\"ted\"\n"
     "odd_names.back_slash: \nodd_names.d\xc3\xa9j\xc3\xa0: String null cast\n"
     "odd_names._: String null column \"\xe2\x82\xac\"\nodd_names._x: \n",
     NULL},
    {"columns that are rewritten alike get numbers, those that are not keep their names",
     "CREATE TABLE t (id int4 PRIMARY KEY, \"a b\" text, \"a-b\" text, a_b text, \"a.b\" text,"
     " \"a_b_2\" text);",
     "t.a_b: String null cast\nt.a_b_2: String null cast\nt.a_b_3: String null column \"a b\"\n"
     "t.a_b_4: String null column \"a-b\"\nt.a_b_5: String null column \"a.b\"\n",
     NULL},
    {"so do tables, in the order of their names",
     "CREATE TABLE \"a-b\" (id int4 PRIMARY KEY); CREATE TABLE \"a b\" (id int4 PRIMARY KEY);"
     "CREATE TABLE a_b (id int4 PRIMARY KEY);",
     "set a_b: ct.a_b table \"a_b\"\nset a_b_2: ct.a_b_2 table \"a b\"\n"
     "set a_b_3: ct.a_b_3 table \"a-b\"\n",
     NULL},
    {"names of 63 bytes",
     "CREATE TABLE a23456789012345678901234567890123456789012345678901234567890123"
     " (c23456789012345678901234567890123456789012345678901234567890123 int4 PRIMARY KEY);",
     "set a23456789012345678901234567890123456789012345678901234567890123: "
     "ct.a23456789012345678901234567890123456789012345678901234567890123 table\n",
     NULL},
    {"the container yields to a type of its name",
     "CREATE TABLE \"Container\" (id int4 PRIMARY KEY);",
     "container ct.Container_2\nset Container: ct.Container\n", NULL},
    {"a property with the name of its type is worth a warning",
     "CREATE TABLE item (id int4 PRIMARY KEY, item text);",
     "item.item: String\nwarning ct.item: property 'item' has the name of its type\n", NULL},
};

START_TEST(loads)
{
    catalog_fixture_check(&cases[_i]);
}
END_TEST

/* -- several schemas -------------------------------------------------------------------------- */

static void check_schemas(const char *name, const struct str *schemas, size_t count,
                          const char *wanted, const char *unwanted)
{
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    options.schemas = schemas;
    options.schema_count = count;
    ck_assert_msg(catalog_load(&options, &m, &err), "%s: %s", name, err.message);
    catalog_fixture_check_model(name, m, wanted, unwanted);
    model_release(m);
}

START_TEST(names_across_schemas)
{
    static const struct str schemas[] = {
        {STR_INIT("ct")}, {STR_INIT("ct 2")}, {STR_INIT("Edm")}, {STR_INIT("ct")}};
    catalog_fixture_reset();
    catalog_fixture_sql(
        "DROP SCHEMA IF EXISTS \"ct 2\" CASCADE; DROP SCHEMA IF EXISTS \"Edm\" CASCADE;"
        "CREATE SCHEMA \"ct 2\"; CREATE SCHEMA \"Edm\";"
        "CREATE TABLE ct.t (id int4 PRIMARY KEY); CREATE TABLE ct.ct_2_u (id int4 PRIMARY "
        "KEY); CREATE TABLE ct.u (id int4 PRIMARY KEY);"
        "CREATE TABLE \"ct 2\".t (id int4 PRIMARY KEY, t_id int4 REFERENCES ct.t);"
        "CREATE TABLE \"ct 2\".u (id int4);"
        "CREATE TABLE \"Edm\".only (id int4 PRIMARY KEY, t_id int4 REFERENCES ct.t);");
    check_schemas("ambiguous names get the schema in front", schemas, ARRAY_SIZE(schemas),
                  "namespace ct\nnamespace ct_2\nnamespace Edm_\ncontainer ct.Container\n"
                  "set ct_t: ct.t table \"t\"\nset ct_2_t: ct_2.t table \"t\"\n"
                  "set ct_2_u: ct.ct_2_u\nset u: ct.u\nset only: Edm_.only\n"
                  "ct_2_t -> t_2: ct_t one null dependent back=t_2 on t_id=id\n"
                  "ct_t -> t_2: ct_2_t many back=t_2\nct_t -> only: only many back=t\n"
                  "only -> t: ct_t one null dependent\n",
                  "set t\n");
    static const struct str second[] = {{STR_INIT("ct 2")}};
    check_schemas("what is not exposed is not there", second, 1, "namespace ct_2\nset t: ct_2.t\n",
                  "set u\nset only\n");
    catalog_fixture_sql(
        "DROP SCHEMA \"ct 2\" CASCADE; DROP SCHEMA \"Edm\" CASCADE; DROP SCHEMA ct CASCADE");
}
END_TEST

/* -- overrides -------------------------------------------------------------------------------- */

#define LIST(...)   \
    (struct str[])  \
    {               \
        __VA_ARGS__ \
    }

START_TEST(applies_overrides)
{
    const struct catalog_override overrides[] = {
        {.relation = STR("ct.v"), .key = LIST(STR("a"), STR("b")), .key_count = 2},
        {.relation = STR("ct.t"),
         .name = STR("Things"),
         .hide = LIST(STR("secret"), STR("ref_id")),
         .hide_count = 2,
         .max_page_size = 500},
        {.relation = STR("ct.u"), .key = LIST(STR("other")), .key_count = 1},
        {.relation = STR("ct.w"), .hide = LIST(STR("id")), .hide_count = 1},
        {.relation = STR("ct.x"), .hide = LIST(STR("id")), .hide_count = 1},
        {.relation = STR("ct.with.dot"), .name = STR("dot")},
    };
    catalog_fixture_reset();
    catalog_fixture_sql(
        "CREATE TABLE u (id int4 PRIMARY KEY, other int4, t_id int4);"
        "CREATE TABLE t (id int4 PRIMARY KEY, secret text UNIQUE, ref_id int4 REFERENCES u);"
        "ALTER TABLE u ADD FOREIGN KEY (t_id) REFERENCES t;"
        "CREATE TABLE w (id int4 PRIMARY KEY, n int4);"
        "CREATE TABLE x (id int4 PRIMARY KEY);"
        "CREATE TABLE \"with.dot\" (id int4 PRIMARY KEY);"
        "CREATE TABLE \"Things\" (id int4 PRIMARY KEY);"
        "CREATE VIEW v AS SELECT 1 AS a, 2 AS b, 3 AS c;");
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    options.overrides = overrides;
    options.override_count = ARRAY_SIZE(overrides);
    ck_assert_msg(catalog_load(&options, &m, &err), "%s", err.message);
    catalog_fixture_check_model(
        "overrides", m,
        "v key a, b\nv.a: Int32 notnull\nv.b: Int32 notnull\nv.c: Int32 null\n"
        "set Things: ct.Things table \"t\" page=500\nset Things_2: ct.Things_2 table \"Things\"\n"
        "Things.id: \nu key other\nu.other: Int32 notnull\nu alternate id\nset dot: ct.dot\n"
        "u -> t: Things one null dependent back=u\n"
        "warning ct.w: left out: its key (id) has hidden columns; to show it\n"
        "warning ct.x: left out: it has no column that can be shown\n",
        "Things.secret\nThings.ref_id\nThings alternate\nset w\nset x\nThings -> ref\nwarning "
        "ct.v\n");
    model_release(m);
    catalog_fixture_sql("DROP SCHEMA ct CASCADE");
}
END_TEST

static const struct refusal {
    const char *name;
    struct catalog_override override;
    const char *message;
} refusals[] = {
    {"a relation that is not there",
     {.relation = {STR_INIT("ct.nope")}},
     "entities: 'ct.nope' is no table or view that the role may read in the exposed schemas"},
    {"a relation of another schema",
     {.relation = {STR_INIT("pg_catalog.pg_class")}},
     "entities: 'pg_catalog.pg_class' is no table or view"},
    {"a column to hide that is not there",
     {.relation = {STR_INIT("ct.t")}, .hide = LIST({STR_INIT("nope")}), .hide_count = 1},
     "entities: 'ct.t' has no column 'nope' to hide"},
    {"a key column that is not there",
     {.relation = {STR_INIT("ct.t")}, .key = LIST({STR_INIT("ID")}), .key_count = 1},
     "entities: key of 'ct.t': column 'ID' is not there"},
    {"a key column that is hidden",
     {.relation = {STR_INIT("ct.t")},
      .key = LIST({STR_INIT("id")}),
      .key_count = 1,
      .hide = LIST({STR_INIT("id")}),
      .hide_count = 1},
     "entities: key of 'ct.t': column 'id' is hidden"},
    {"a key column that cannot be one",
     {.relation = {STR_INIT("ct.t")}, .key = LIST({STR_INIT("f")}), .key_count = 1},
     "entities: key of 'ct.t': column 'f' has a type that cannot be a key"},
    {"a key column twice",
     {.relation = {STR_INIT("ct.t")},
      .key = LIST({STR_INIT("id")}, {STR_INIT("id")}),
      .key_count = 2},
     "entities: key of 'ct.t': column 'id' is named twice"},
    {"a name that is no identifier",
     {.relation = {STR_INIT("ct.t")}, .name = {STR_INIT("my things")}},
     "entities: 'ct.t' cannot be named 'my things': that is no SimpleIdentifier"},
};

START_TEST(refuses_override)
{
    const struct refusal *row = &refusals[_i];
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    catalog_fixture_reset();
    catalog_fixture_sql("CREATE TABLE t (id int4 PRIMARY KEY, f float8)");
    options.overrides = &row->override;
    options.override_count = 1;
    ck_assert_msg(!catalog_load(&options, &m, &err), "%s", row->name);
    ck_assert_int_eq(err.http_status, 500);
    ck_assert_msg(strncmp(err.message, row->message, strlen(row->message)) == 0, "%s: %s",
                  row->name, err.message);
    ck_assert_ptr_null(m);
}
END_TEST

START_TEST(refuses_one_name_for_two)
{
    const struct catalog_override overrides[] = {
        {.relation = STR("ct.a"), .name = STR("Same")},
        {.relation = STR("ct.b"), .name = STR("Same")},
    };
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    catalog_fixture_reset();
    catalog_fixture_sql(
        "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (id int4 PRIMARY KEY)");
    options.overrides = overrides;
    options.override_count = 2;
    ck_assert(!catalog_load(&options, &m, &err));
    ck_assert_str_eq(err.message, "entities: 'ct.b' cannot be named 'Same': that name is taken");
}
END_TEST

/* -- privileges, and failures ----------------------------------------------------------------- */

START_TEST(shows_what_the_role_may_read)
{
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    catalog_fixture_reset();
    catalog_fixture_sql(
        "DO $$ BEGIN CREATE ROLE ct_reader LOGIN; EXCEPTION WHEN duplicate_object THEN END "
        "$$;"
        "CREATE TABLE open (id int4 PRIMARY KEY, part_id int4); GRANT SELECT ON open TO "
        "ct_reader; CREATE TABLE shut (id int4 PRIMARY KEY, open_id int4 REFERENCES open);"
        "GRANT INSERT ON shut TO ct_reader;"
        "CREATE TABLE part (id int4 PRIMARY KEY, a int4, b int4, open_id int4 REFERENCES "
        "open);"
        "GRANT SELECT (id, b) ON part TO ct_reader;"
        "ALTER TABLE open ADD FOREIGN KEY (part_id) REFERENCES part;"
        "CREATE TABLE blind (id int4 PRIMARY KEY, a int4); GRANT SELECT (a) ON blind TO "
        "ct_reader;"
        "CREATE VIEW v AS SELECT id FROM shut; GRANT SELECT ON v TO ct_reader;");
    options.db_uri = "user=ct_reader";
    ck_assert(!catalog_load(&options, &m, &err));
    ck_assert_int_eq(err.http_status, 500);
    ck_assert_str_eq(err.message, "schemas: the role may not use schema 'ct' (GRANT USAGE ON SCHEMA"
                                  " is missing)");
    catalog_fixture_sql("GRANT USAGE ON SCHEMA ct TO ct_reader");
    ck_assert_msg(catalog_load(&options, &m, &err), "%s", err.message);
    catalog_fixture_check_model(
        "privileges", m,
        "set open\nset part\npart.id: \npart.b: \nset v\nv key id\n"
        "open -> part: part one null dependent\npart -> open: open many\n"
        "warning ct.blind: left out: its key (?) has columns that the role may not "
        "read\n",
        "set shut\npart.a\npart.open_id\nset blind\nopen -> shut\nwarning ct.shut\n"
        "open -> part_by\npart -> open_\n");
    model_release(m);
    catalog_fixture_sql("DROP SCHEMA ct CASCADE; DROP ROLE ct_reader");
}
END_TEST

START_TEST(names_a_schema_that_is_not_there)
{
    static const struct str schemas[] = {{STR_INIT("ct")}, {STR_INIT("no \"such\\ schema")}};
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    catalog_fixture_reset();
    options.schemas = schemas;
    options.schema_count = 2;
    ck_assert(!catalog_load(&options, &m, &err));
    ck_assert_int_eq(err.http_status, 500);
    ck_assert_str_eq(err.message,
                     "schemas: there is no schema 'no \"such\\ schema' in the database");
}
END_TEST

static const struct unreachable {
    const char *name;
    const char *db_uri;
    const char *message;
} unreachables[] = {
    {"nobody listens", "postgresql://127.0.0.1:1/x?password=secret",
     "the database cannot be reached"},
    {"no such database", "dbname=ct_no_such_database password=secret", "there is no such database"},
    {"no such role", "user=ct_no_such_role password=secret", "the database refuses the role"},
};

START_TEST(says_that_the_database_is_away)
{
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    options.db_uri = unreachables[_i].db_uri;
    ck_assert(!catalog_load(&options, &m, &err));
    ck_assert_int_eq(err.http_status, 503);
    ck_assert_str_eq(err.message, unreachables[_i].message);
    ck_assert_str_ne(err.internal, "");
    ck_assert_ptr_null(strstr(err.internal, "secret"));
}
END_TEST

START_TEST(two_loads_are_equal)
{
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *first = NULL;
    struct model *second = NULL;
    const char sql[] = "CREATE TYPE e AS ENUM ('a', 'b');"
                       "CREATE TABLE \"x y\" (id int4 PRIMARY KEY, \"a b\" e, \"a-b\" int4);"
                       "CREATE TABLE \"x-y\" (id int4 PRIMARY KEY, r_id int4 REFERENCES \"x y\");"
                       "ANALYZE";
    catalog_fixture_reset();
    catalog_fixture_sql(sql);
    ck_assert(catalog_load(&options, &first, &err));
    ck_assert(catalog_load(&options, &second, &err));
    ck_assert_uint_eq(first->fingerprint, second->fingerprint);
    model_release(second);
    catalog_fixture_sql("ALTER TABLE \"x y\" ADD c text");
    ck_assert(catalog_load(&options, &second, &err));
    ck_assert_uint_ne(first->fingerprint, second->fingerprint);
    model_release(first);
    model_release(second);
    catalog_fixture_sql("DROP SCHEMA ct CASCADE");
}
END_TEST

Suite *catalog_load_suite(void);
Suite *catalog_load_suite(void)
{
    Suite *s = suite_create("catalog_load");
    TCase *t = tcase_create("load");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, loads, 0, ARRAY_SIZE(cases));
    tcase_add_test(t, names_across_schemas);
    tcase_add_test(t, applies_overrides);
    tcase_add_loop_test(t, refuses_override, 0, ARRAY_SIZE(refusals));
    tcase_add_test(t, refuses_one_name_for_two);
    tcase_add_test(t, shows_what_the_role_may_read);
    tcase_add_test(t, names_a_schema_that_is_not_there);
    tcase_add_loop_test(t, says_that_the_database_is_away, 0, ARRAY_SIZE(unreachables));
    tcase_add_test(t, two_loads_are_equal);
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
/* What $search looks into, and that the index which is there serves it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <libpq-fe.h>

#include "odata/compiler.h"
#include "odata/limits.h"
#include "odata/path_parse.h"
#include "odata/query_parse.h"
#include "storage/sql_read.h"
#include "tests/storage/catalog_fixture.h"

#define TABLE "CREATE TABLE t (id int4 PRIMARY KEY, a text, b varchar(9), n int4, secret text"

static const struct catalog_case cases[] = {
    {"all columns of text", TABLE "); ",
     "t search 'simple'::regconfig: to_tsvector('simple'::regconfig, coalesce(<a>::text, '')"
     " || ' ' || coalesce(<b>::text, '') || ' ' || coalesce(<secret>::text, ''))\n",
     NULL},
    {"no text at all", "CREATE TABLE t (id int4 PRIMARY KEY, u uuid, d date)", "set t\n",
     "t search\n"},
    {"a tsvector that a trigger fills", TABLE ", v tsvector)",
     "t search 'english'::regconfig ranked: <v>\n", NULL},
    {"a generated tsvector tells its configuration",
     TABLE ", v tsvector GENERATED ALWAYS AS (to_tsvector('french', coalesce(a, ''))) STORED)",
     "t search 'french'::regconfig ranked: <v>\n", NULL},
    {"an index over to_tsvector",
     TABLE "); CREATE INDEX ON t USING gin (to_tsvector('german', a || ' ' || coalesce(b, '')))",
     "t search 'german'::regconfig ranked: to_tsvector('german'::regconfig, ((<a> || ' '::text) ||"
     " (COALESCE(<b>, ''::character varying))::text))\n",
     NULL},
    {"a weighted index",
     TABLE "); CREATE INDEX ON t USING gin ((setweight(to_tsvector('english', a), 'A') ||"
           " setweight(to_tsvector('english', b), 'B')))",
     "t search 'english'::regconfig ranked: ((setweight(to_tsvector('english'::regconfig, <a>),"
     " 'A'::\"char\") || setweight(to_tsvector('english'::regconfig, (<b>)::text),"
     " 'B'::\"char\")))\n",
     NULL},
    {"names that look like something else",
     "CREATE TABLE t (id int4 PRIMARY KEY, \"Q\"\"x y\" text, \"text\" text);"
     "CREATE INDEX ON t USING gin (to_tsvector('simple', \"Q\"\"x y\" || text))",
     "t search 'simple'::regconfig ranked: to_tsvector('simple'::regconfig, (<Q\"x y> || <text>))\n",
     NULL},
    {"an index whose expression is more than we read is left alone",
     TABLE "); CREATE INDEX ON t USING gin (to_tsvector('german', regexp_replace(a, 'x', 'y')))",
     "t search 'simple'::regconfig: to_tsvector('simple'::regconfig, coalesce(<a>::text\n", NULL},
    {"a partial index finds only a part",
     TABLE "); CREATE INDEX ON t USING gin (to_tsvector('german', a)) WHERE n > 1",
     "t search 'simple'::regconfig\n", NULL},
    {"a big table without an index is warned of",
     TABLE "); INSERT INTO t (id, a) SELECT i, 'x' FROM generate_series(1, 100001) i; ANALYZE t",
     "warning ct.t: $search reads all of its about 100001 rows\n", NULL},
    {"a big table with one is not",
     TABLE "); INSERT INTO t (id, a) SELECT i, 'x' FROM generate_series(1, 100001) i;"
           "CREATE INDEX ON t USING gin (to_tsvector('german', a)); ANALYZE t",
     "t search 'german'::regconfig ranked\n", "warning ct.t\n"},
};

START_TEST(chooses_what_is_searched)
{
    catalog_fixture_check(&cases[_i]);
}
END_TEST

static const struct override_row {
    const char *name;
    const char *sql;
    struct catalog_override override;
    const char *wanted; /* NULL: refused */
} override_rows[] = {
    {"columns that are named",
     TABLE ")",
     {.search = (struct str[]){{STR_INIT("b")}}, .search_count = 1},
     "t search 'simple'::regconfig: to_tsvector('simple'::regconfig, coalesce(<b>::text, ''))\n"},
    {"with a configuration",
     TABLE ")",
     {.search = (struct str[]){{STR_INIT("b")}},
      .search_count = 1,
      .search_config = {STR_INIT("pg_catalog.german")}},
     "t search 'german'::regconfig: to_tsvector('german'::regconfig, coalesce(<b>::text, ''))\n"},
    {"a configuration alone",
     TABLE ")",
     {.search_config = {STR_INIT("spanish")}},
     "t search 'spanish'::regconfig: to_tsvector('spanish'::regconfig, coalesce(<a>::text\n"},
    {"a tsvector that is named though it is hidden",
     TABLE ", v tsvector)",
     {.search = (struct str[]){{STR_INIT("v")}},
      .search_count = 1,
      .hide = (struct str[]){{STR_INIT("v")}},
      .hide_count = 1},
     "t search 'english'::regconfig ranked: <v>\n"},
    {"what is hidden cannot be found through an index",
     TABLE "); CREATE INDEX ON t USING gin (to_tsvector('german', secret))",
     {.hide = (struct str[]){{STR_INIT("secret")}}, .hide_count = 1},
     "t search 'simple'::regconfig: to_tsvector('simple'::regconfig, coalesce(<a>::text, '')"
     " || ' ' || coalesce(<b>::text, ''))\n"},
    {"nor through a hidden tsvector",
     TABLE ", v tsvector GENERATED ALWAYS AS (to_tsvector('english', secret)) STORED)",
     {.hide = (struct str[]){{STR_INIT("secret")}, {STR_INIT("v")}}, .hide_count = 2},
     "t search 'simple'::regconfig: to_tsvector('simple'::regconfig, coalesce(<a>::text, '')"
     " || ' ' || coalesce(<b>::text, ''))\n"},
    {"a column that is not there",
     TABLE ")",
     {.search = (struct str[]){{STR_INIT("x")}}, .search_count = 1},
     NULL},
    {"a configuration that is not there",
     TABLE ")",
     {.search_config = {STR_INIT("klingon")}},
     NULL},
};

START_TEST(obeys_the_configuration)
{
    const struct override_row *row = &override_rows[_i];
    struct catalog_override override = row->override;
    struct catalog_options options = catalog_fixture_options();
    struct model *m = NULL;
    struct odata_error err = {0};
    override.relation = STR("ct.t");
    options.overrides = &override;
    options.override_count = 1;
    catalog_fixture_reset();
    catalog_fixture_sql(row->sql);
    bool ok = catalog_load(&options, &m, &err);
    ck_assert_msg(ok == (row->wanted != NULL), "%s: %s", row->name, err.message);
    if (ok) {
        catalog_fixture_check_model(row->name, m, row->wanted, NULL);
        model_release(m);
    } else {
        ck_assert_msg(strstr(err.message, "to search") != NULL, "%s", err.message);
    }
}
END_TEST

/* The plan of the count of url's rows: a count has no order that would need a sort. */
static void explain(const struct model *m, const char *url, char *out, size_t size)
{
    struct arena a;
    struct odata_error err = {0};
    struct resource_path path;
    struct query query;
    const struct plan *plan = NULL;
    const struct sql_read *sql = NULL;
    const struct query_limits limits = {100, 10};
    const struct bind_options bind = {.model = m};
    const struct sql_read_options options = {.service_root = STR("http://host/")};
    struct str text = str_from(url);
    size_t mark = str_find(text, '?', 0);
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bool ok = path_parse(&a, str_slice(text, 0, mark), &path, &err) &&
              query_parse(&a, str_from_offset(text, mark + 1), &limits, &query, &err) &&
              bind_request(&a, &bind, &path, &query, &plan, &err) &&
              sql_read_build(&a, plan, &options, &sql, &err);
    ck_assert_msg(ok, "%s: %s", url, err.message);
    char statement[4096];
    snprintf(statement, sizeof(statement), "EXPLAIN %s", sql->count.text);
    PGconn *db = PQconnectdb("client_encoding=UTF8");
    PGresult *r = PQexecParams(db, statement, (int)sql->count.param_count, NULL, sql->count.params,
                               NULL, NULL, 0);
    ck_assert_msg(PQresultStatus(r) == PGRES_TUPLES_OK, "%s: %s", statement, PQerrorMessage(db));
    size_t at = 0;
    for (int i = 0; i < PQntuples(r) && at < size; i++) {
        at += (size_t)snprintf(out + at, size - at, "%s\n", PQgetvalue(r, i, 0));
    }
    PQclear(r);
    PQfinish(db);
    arena_fini(&a);
}

static const struct index_row {
    const char *name;
    const char *url;
} index_rows[] = {
    {"a word", "t/$count?$search=w77"},
    {"a phrase and more", "t/$count?$search=\"w77 w78\" OR w5 AND NOT w6"},
    {"beside a filter", "t/$count?$search=w77&$filter=n gt 5"},
    {"a tsvector column", "v/$count?$search=w77"},
};

START_TEST(uses_the_index)
{
    static const char made[] =
        TABLE "); INSERT INTO t SELECT i, 'w' || i || ' w' || i + 1, 'x', i"
              " FROM generate_series(1, 20000) i;"
              "CREATE INDEX search_t ON t USING gin (to_tsvector('english', a || ' ' || b));"
              "CREATE TABLE v (id int4 PRIMARY KEY, a text, s tsvector GENERATED ALWAYS AS"
              " (to_tsvector('simple', coalesce(a, ''))) STORED);"
              "INSERT INTO v SELECT id, a FROM t; CREATE INDEX search_v ON v USING gin (s);"
              "ANALYZE t; ANALYZE v;";
    struct model *m = NULL;
    struct odata_error err = {0};
    struct catalog_options options = catalog_fixture_options();
    char plan[4096];
    catalog_fixture_reset();
    catalog_fixture_sql(made);
    ck_assert_msg(catalog_load(&options, &m, &err), "%s", err.message);
    explain(m, index_rows[_i].url, plan, sizeof(plan));
    ck_assert_msg(strstr(plan, "Bitmap Index Scan on search_") != NULL, "%s:\n%s",
                  index_rows[_i].name, plan);
    model_release(m);
}
END_TEST

Suite *catalog_search_suite(void);
Suite *catalog_search_suite(void)
{
    Suite *s = suite_create("catalog_search");
    TCase *t = tcase_create("search");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, chooses_what_is_searched, 0, ARRAY_SIZE(cases));
    tcase_add_loop_test(t, obeys_the_configuration, 0, ARRAY_SIZE(override_rows));
    tcase_add_loop_test(t, uses_the_index, 0, ARRAY_SIZE(index_rows));
    suite_add_tcase(s, t);
    return s;
}

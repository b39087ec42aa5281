// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <libpq-fe.h>

#include "storage/row_width.h"

/* Tables of this session only; what they are named after is what they are. */
static const char SETUP[] =
    "CREATE TEMP TABLE numbers (id int, at timestamptz);"
    "CREATE TEMP TABLE texts (id int, s text); INSERT INTO texts VALUES (1, 'short');"
    "CREATE TEMP TABLE long_texts (id int, s text);"
    "ALTER TABLE long_texts ALTER s SET STORAGE EXTERNAL;"
    "INSERT INTO long_texts VALUES (1, repeat('x', 10000));"
    "CREATE TEMP TABLE parts (id int, s text) PARTITION BY LIST (id);"
    "CREATE TEMP TABLE parent (id int, s text); CREATE TEMP TABLE child () INHERITS (parent);"
    "CREATE TEMP VIEW seen AS SELECT * FROM texts;";

#define UNION(table) "SELECT s FROM ONLY parent UNION ALL SELECT s FROM ONLY " table

static const struct row {
    const char *name;
    const char *sql;
    enum row_width width;
    const char *tables; /* what is known of columns that are of no table; NULL: nothing */
} rows[] = {
    {"columns of short types", "SELECT * FROM numbers", ROW_WIDTH_NARROW, NULL},
    {"short types that are computed", "SELECT id + 1, now() FROM texts", ROW_WIDTH_NARROW, NULL},
    {"texts that are stored in their rows", "SELECT * FROM texts", ROW_WIDTH_NARROW, NULL},
    {"two tables of such", "SELECT a.s, b.s FROM texts a, texts b", ROW_WIDTH_NARROW, NULL},
    {"a text that is stored outside", "SELECT * FROM long_texts", ROW_WIDTH_ANY, NULL},
    {"one of two tables has such", "SELECT a.s, b.s FROM texts a, long_texts b", ROW_WIDTH_ANY,
     NULL},
    {"only a number of such a table", "SELECT id FROM long_texts", ROW_WIDTH_NARROW, NULL},
    {"a text that is computed", "SELECT upper(s) FROM texts", ROW_WIDTH_ANY, NULL},
    {"a partitioned table", "SELECT * FROM parts", ROW_WIDTH_ANY, NULL},
    {"a table with heirs", "SELECT * FROM parent", ROW_WIDTH_ANY, NULL},
    {"a view", "SELECT * FROM seen", ROW_WIDTH_ANY, NULL},
    {"a union of tables that are not known", UNION("texts"), ROW_WIDTH_ANY, NULL},
    {"a union of tables that are", UNION("texts"), ROW_WIDTH_NARROW, "parent texts"},
    {"one of them has a text outside", UNION("long_texts"), ROW_WIDTH_ANY, "parent long_texts"},
    {"heirs that are read by themselves", "SELECT s FROM ONLY parent", ROW_WIDTH_NARROW, "parent"},
};

/* named: tables that the statement reads by themselves; "" = none. */
static enum row_width width_of(PGconn *pg, const char *sql, const char *named)
{
    struct bytes tables;
    uint32_t oids[8];
    struct sql_level level = {.tables = oids};
    bytes_init(&tables, 1024);
    const char *names[] = {named};
    PGresult *res = PQexecParams(pg,
                                 "SELECT n::regclass::oid FROM regexp_split_to_table($1, ' ') n"
                                 " WHERE n <> ''",
                                 1, NULL, names, NULL, NULL, 0);
    ck_assert_msg(PQresultStatus(res) == PGRES_TUPLES_OK, "%s", PQerrorMessage(pg));
    for (int i = 0; i < PQntuples(res); i++) {
        oids[level.table_count++] = (uint32_t)strtoul(PQgetvalue(res, i, 0), NULL, 10);
    }
    PQclear(res);
    res = PQexec(pg, sql);
    ck_assert_msg(PQresultStatus(res) == PGRES_TUPLES_OK, "%s", PQerrorMessage(pg));
    enum row_width width = row_width_of(res, &level, &tables);
    PQclear(res);
    if (width == ROW_WIDTH_ASK) {
        const char *params[] = {tables.ptr, tables.ptr + strlen(tables.ptr) + 1};
        res = PQexecParams(pg, ROW_WIDTH_QUESTION, 2, NULL, params, NULL, NULL, 0);
        ck_assert_msg(PQresultStatus(res) == PGRES_TUPLES_OK, "%s", PQerrorMessage(pg));
        width = row_width_answer(res);
        PQclear(res);
    }
    bytes_fini(&tables);
    return width;
}

START_TEST(tells_narrow_rows)
{
    PGconn *pg = PQconnectdb("");
    ck_assert_msg(PQstatus(pg) == CONNECTION_OK, "%s", PQerrorMessage(pg));
    PQclear(PQexec(pg, SETUP));
    const char *named = rows[_i].tables == NULL ? "" : rows[_i].tables;
    ck_assert_msg(width_of(pg, rows[_i].sql, named) == rows[_i].width, "%s", rows[_i].name);
    PQfinish(pg);
}
END_TEST

Suite *row_width_suite(void);

Suite *row_width_suite(void)
{
    Suite *suite = suite_create("row_width");
    TCase *tells = tcase_create("tells");
    tcase_set_timeout(tells, 60);
    tcase_add_loop_test(tells, tells_narrow_rows, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    suite_add_tcase(suite, tells);
    return suite;
}

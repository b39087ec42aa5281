// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

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

static const struct row {
    const char *name;
    const char *sql;
    enum row_width width;
} rows[] = {
    {"columns of short types", "SELECT * FROM numbers", ROW_WIDTH_NARROW},
    {"short types that are computed", "SELECT id + 1, now() FROM texts", ROW_WIDTH_NARROW},
    {"texts that are stored in their rows", "SELECT * FROM texts", ROW_WIDTH_NARROW},
    {"two tables of such", "SELECT a.s, b.s FROM texts a, texts b", ROW_WIDTH_NARROW},
    {"a text that is stored outside", "SELECT * FROM long_texts", ROW_WIDTH_ANY},
    {"one of two tables has such", "SELECT a.s, b.s FROM texts a, long_texts b", ROW_WIDTH_ANY},
    {"only a number of such a table", "SELECT id FROM long_texts", ROW_WIDTH_NARROW},
    {"a text that is computed", "SELECT upper(s) FROM texts", ROW_WIDTH_ANY},
    {"a partitioned table", "SELECT * FROM parts", ROW_WIDTH_ANY},
    {"a table with heirs", "SELECT * FROM parent", ROW_WIDTH_ANY},
    {"a view", "SELECT * FROM seen", ROW_WIDTH_ANY},
};

static enum row_width width_of(PGconn *pg, const char *sql)
{
    struct bytes tables;
    bytes_init(&tables, 1024);
    PGresult *res = PQexec(pg, sql);
    ck_assert_msg(PQresultStatus(res) == PGRES_TUPLES_OK, "%s", PQerrorMessage(pg));
    enum row_width width = row_width_of(res, &tables);
    PQclear(res);
    if (width == ROW_WIDTH_ASK) {
        const char *params[] = {tables.ptr};
        res = PQexecParams(pg, ROW_WIDTH_QUESTION, 1, NULL, params, NULL, NULL, 0);
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
    ck_assert_msg(width_of(pg, rows[_i].sql) == rows[_i].width, "%s", rows[_i].name);
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

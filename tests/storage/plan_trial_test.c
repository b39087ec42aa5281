// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "storage/plan_trial.h"
#include "storage/statement_stats.h"
#include "tests/storage/read_fixture.h"

static const struct line_row {
    const char *name;
    const char *line;
    const char *expected;
} line_rows[] = {
    {"no constant", "  ->  Seq Scan on t1", "  ->  Seq Scan on t1\n"},
    {"a parameter", "Filter: (a = $12)", "Filter: (a = ?)\n"},
    {"a text", "Filter: (a = 'it''s'::text)", "Filter: (a = ?)\n"},
    {"a time", "Index Cond: (at >= '2024-01-01 00:00:00+00'::timestamp with time zone)",
     "Index Cond: (at >= ?)\n"},
    {"an array", "Filter: (a = ANY ('{1,2}'::integer[]))", "Filter: (a = ANY (?))\n"},
    {"numbers", "Filter: ((a >= 5) AND (b1 < 2.5))", "Filter: ((a >= ?) AND (b1 < ?))\n"},
    {"a quoted name", "Filter: (\"a'1\" = 'x'::text)", "Filter: (\"a'1\" = ?)\n"},
    {"never ends", "Filter: (a = 'x", "Filter: (a = ?\n"},
    {"a parameter that is cast", "Filter: (a = ($1)::bigint)", "Filter: (a = (?)::bigint)\n"},
};

START_TEST(a_line_has_no_values)
{
    struct bytes out;
    bytes_init(&out, 1024);
    plan_trial_put_line(&out, str_from(line_rows[_i].line));
    bytes_put_char(&out, '\0');
    ck_assert_msg(strcmp(out.ptr, line_rows[_i].expected) == 0, "%s: %s", line_rows[_i].name,
                  out.ptr);
    bytes_fini(&out);
}
END_TEST

static const char PAGES[] =
    "DROP TABLE IF EXISTS pages;"
    "CREATE TABLE pages (id int PRIMARY KEY, kind text, at timestamptz, padding text);"
    "INSERT INTO pages SELECT g, 'k' || g % 5,"
    " timestamptz '2024-01-01' + g * interval '1 minute', repeat('x', 100)"
    " FROM generate_series(1, 60000) g;"
    "CREATE INDEX ON pages (kind, at, id); ANALYZE pages;";

/* How often PostgreSQL has planned for the values that came, on this connection. */
#define PLANNED                                                               \
    "SELECT (SELECT sum(custom_plans) FROM pg_catalog.pg_prepared_statements" \
    " WHERE statement LIKE '% pages %') FROM pages WHERE kind = $1::text"     \
    " AND at >= $2::timestamptz AND padding <> '' "

/*
 * PostgreSQL would plan this at each run: it expects any time to leave a third of the rows and an early
 * one to leave all, of which a hundred are cheaper to find. The plan is the same.
 */
static const char PAGE[] = PLANNED "ORDER BY at, id LIMIT 100";

/* For a late time it is cheaper to sort the few rows than to walk the index of the key. */
static const char BY_ID[] = PLANNED "ORDER BY id LIMIT 200";

static struct fixture f;

/* What the first row says. */
static long planned(const char *sql, const char *kind, const char *at)
{
    const char *values[] = {kind, at};
    struct simple_read s;
    simple_init(&s, sql, 1, 200);
    s.level.statement.params = values;
    s.level.statement.param_count = ARRAY_SIZE(values);
    const char *text = read_text(&f, &s.read);
    char *end = NULL;
    long times = strtol(text, &end, 10);
    ck_assert_msg(end > text && *end == ';', "%s", text);
    return times;
}

/* One connection; the statement shares it. */
static void open_pages(const char *sql, const char *at)
{
    struct pool_options options = fixture_options();
    fixture_open(&f, &options, 1);
    (void)fixture_admin(&f, PAGES);
    struct simple_read s;
    simple_init(&s, sql, 1, 200);
    const char *values[] = {"k1", at};
    s.level.statement.params = values;
    s.level.statement.param_count = ARRAY_SIZE(values);
    for (int i = 0; i < 3; i++) {
        (void)read_text(&f, &s.read);
    }
}

START_TEST(a_plan_that_is_always_the_same_is_kept)
{
    open_pages(PAGE, "2024-01-01");
    long before = planned(PAGE, "k1", "2024-01-01");
    for (int i = 0; i < 8; i++) { /* PostgreSQL makes up its mind after five */
        long now = planned(PAGE, "k1", "2024-01-01");
        ck_assert_int_eq(now, before + 1);
        before = now;
    }
    bool is_kept = false;
    for (int i = 0; i < 100 && !is_kept; i++) {
        test_reactor_run(f.reactor, STATEMENT_COMPARE_FIRST_MS);
        long now = planned(PAGE, i % 2 == 0 ? "k2" : "k3", "2024-01-02");
        is_kept = now == before;
        before = now;
    }
    ck_assert(is_kept);
    ck_assert_uint_eq(f.notices, 0);
    fixture_close(&f);
}
END_TEST

START_TEST(a_plan_that_values_change_is_not_kept)
{
    open_pages(BY_ID, "2024-02-11 15:00");
    long before = planned(BY_ID, "k1", "2024-02-11 15:00");
    for (int i = 0; i < 16; i++) {
        test_reactor_run(f.reactor, i < 8 ? 0 : STATEMENT_COMPARE_FIRST_MS);
        long now = planned(BY_ID, "k1", "2024-02-11 15:00");
        ck_assert_int_eq(now, before + 1);
        before = now;
    }
    fixture_close(&f);
}
END_TEST

Suite *plan_trial_suite(void);

Suite *plan_trial_suite(void)
{
    Suite *suite = suite_create("plan_trial");
    TCase *tc = tcase_create("plan_trial");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_line_has_no_values, 0, (int)ARRAY_SIZE(line_rows));
    tcase_add_test(tc, a_plan_that_is_always_the_same_is_kept);
    tcase_add_test(tc, a_plan_that_values_change_is_not_kept);
    suite_add_tcase(suite, tc);
    return suite;
}

// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "storage/pool.h"
#include "storage/statement_stats.h"
#include "tests/storage/read_fixture.h"
#include "tests/support/environment.h"

static struct fixture f;

static void open_with(size_t size, size_t max_waiting, int64_t wait_ms)
{
    struct pool_options options = fixture_options();
    options.max_waiting = max_waiting;
    options.wait_ms = wait_ms;
    fixture_open(&f, &options, size);
}

/* Until the statement is known to be short and shares a connection. */
static void make_shared(const struct sql_read *sql, const char *text)
{
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(read_text(&f, sql), text);
    }
}

static bool is_ready(void *ctx)
{
    return pool_is_ready(((struct fixture *)ctx)->pool);
}

static bool is_not_ready(void *ctx)
{
    return !is_ready(ctx);
}

START_TEST(warms_up)
{
    open_with(4, 10, 1000);
    ck_assert(!pool_is_ready(f.pool));
    pool_warm(f.pool);
    ck_assert(test_reactor_until(f.reactor, is_ready, &f, 5000));
    ck_assert_uint_eq(f.ups, 1);
    fixture_close(&f);
}
END_TEST

static const char STREAM[] = "SELECT g, repeat('x', 1000) FROM generate_series(1,100000) g";

/* Both of two connections cannot go to streams: one stays for short reads. */
START_TEST(streams_wait_in_line)
{
    open_with(2, 2, 300);
    struct simple_read stream;
    struct simple_read one;
    struct reader r[4];
    const struct field *fields = NULL;
    simple_init(&stream, STREAM, 2, 0);
    simple_init(&one, "SELECT 1", 1, 1);
    make_shared(&one.read, "1;");
    ck_assert(reader_open(&r[0], &f, &stream.read));
    ck_assert_int_eq(reader_next(&r[0], 0, &fields), STEP_OK);
    ck_assert(reader_open(&r[1], &f, &stream.read));
    ck_assert(reader_open(&r[2], &f, &stream.read));
    ck_assert_str_eq(read_text(&f, &one.read), "1;"); /* shared reads still go */
    ck_assert(!reader_open(&r[3], &f, &stream.read));
    ck_assert_int_eq(r[3].err.http_status, 503);
    ck_assert_str_eq(r[3].err.code, ODATA_CODE_DATABASE_BUSY);
    ck_assert_int_gt(r[3].err.retry_after_s, 0);

    reader_close(&r[0]); /* the first in line gets its place */
    ck_assert_int_eq(reader_next(&r[1], 0, &fields), STEP_OK);
    ck_assert_int_eq(reader_next(&r[2], 0, &fields), STEP_FAIL); /* it waited too long */
    ck_assert_int_eq(r[2].err.http_status, 503);
    ck_assert_str_eq(r[2].err.code, ODATA_CODE_DATABASE_BUSY);
    ck_assert_int_eq(reader_try(&r[2], 0, &fields), STEP_FAIL);
    reader_close(&r[1]);
    reader_close(&r[2]);
    ck_assert(fixture_wait_quiet(&f, 1000));
    fixture_close(&f);
}
END_TEST

static void open_streams(struct fixture *of, struct reader *r, size_t count)
{
    static struct simple_read stream;
    const struct field *fields = NULL;
    simple_init(&stream, STREAM, 2, 0);
    for (size_t i = 0; i < count; i++) {
        ck_assert(reader_open(&r[i], of, &stream.read));
    }
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(reader_next(&r[i], 0, &fields) == STEP_OK, "stream %zu of %zu", i, count);
    }
}

/* Of eight connections six may stream, in whichever pool; short reads go on in both. */
START_TEST(pools_lend_each_other_their_connections)
{
    static const size_t of_the_first[] = {6, 0, 3, 6, 1, 0, 5};
    struct fixture g;
    struct simple_read one;
    struct simple_read stream;
    struct reader r[7];
    const struct field *fields = NULL;
    fixture_open_two(&f, &g, 8);
    simple_init(&one, "SELECT 1", 1, 1);
    simple_init(&stream, STREAM, 2, 0);
    ck_assert_str_eq(read_text(&f, &one.read), "1;");
    ck_assert_str_eq(read_text(&g, &one.read), "1;");
    for (size_t round = 0; round < sizeof(of_the_first) / sizeof(of_the_first[0]); round++) {
        size_t here = of_the_first[round];
        open_streams(&f, r, here);
        open_streams(&g, r + here, 6 - here);
        ck_assert(reader_open(&r[6], round % 2 == 0 ? &f : &g, &stream.read));
        ck_assert_int_eq(reader_try(&r[6], 0, &fields), STEP_AGAIN);
        ck_assert_int_le(strtol(fixture_admin(&f, "SELECT count(*) FROM pg_stat_activity WHERE"
                                                  " application_name = 'sluice'"),
                                NULL, 10),
                         8);
        reader_close(&r[0]); /* the seventh gets its place, wherever that was */
        ck_assert_int_eq(reader_next(&r[6], 0, &fields), STEP_OK);
        for (size_t i = 1; i < 7; i++) {
            reader_close(&r[i]);
        }
        ck_assert(fixture_wait_quiet(&f, 2000));
    }
    fixture_close(&g);
    fixture_close(&f);
}
END_TEST

/* With one connection, streams and shared reads take turns. */
START_TEST(one_connection_serves_both)
{
    open_with(1, 10, 5000);
    struct simple_read stream;
    struct simple_read one;
    struct reader s;
    struct reader r[3];
    const struct field *fields = NULL;
    simple_init(&stream, "SELECT g FROM generate_series(1,50) g", 1, 0);
    simple_init(&one, "SELECT 1", 1, 1);
    make_shared(&one.read, "1;");
    ck_assert(reader_open(&r[0], &f, &one.read));
    ck_assert(reader_open(&s, &f, &stream.read));
    ck_assert(reader_open(&r[1], &f, &one.read));
    ck_assert_int_eq(reader_next(&r[0], 0, &fields), STEP_OK);
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq(reader_next(&s, 0, &fields), STEP_OK);
    }
    ck_assert_int_eq(reader_next(&s, 0, &fields), STEP_END);
    ck_assert_int_eq(reader_next(&r[1], 0, &fields), STEP_OK);
    reader_close(&r[0]);
    reader_close(&r[1]);
    reader_close(&s);
    fixture_close(&f);
}
END_TEST

/* Many short reads at once on few connections: each gets its own answer, an error only its own. */
START_TEST(shared_reads_do_not_touch_each_other)
{
    enum {
        READS = 60
    };
    static const char *const numbers[] = {"1", "2", "3", "4", "5", "0"};
    open_with(2, READS, 5000);
    struct simple_read s[6];
    for (size_t i = 0; i < 6; i++) {
        simple_init(&s[i], "SELECT 60 / $1::int", 1, 1);
        s[i].level.statement.params = &numbers[i];
        s[i].level.statement.param_count = 1;
    }
    make_shared(&s[0].read, "60;");
    struct reader r[READS];
    for (size_t i = 0; i < READS; i++) {
        ck_assert(reader_open(&r[i], &f, &s[i % 6].read));
    }
    for (size_t i = 0; i < READS; i++) {
        const struct field *fields = NULL;
        enum step step = reader_next(&r[i], 0, &fields);
        ck_assert_int_eq(step, i % 6 == 5 ? STEP_FAIL : STEP_OK);
        if (step == STEP_OK) {
            ck_assert_int_eq(strtol(fields[0].ptr, NULL, 10), 60 / (long)(i % 6 + 1));
        } else {
            ck_assert_int_eq(r[i].err.http_status, 400);
        }
    }
    for (size_t i = 0; i < READS; i++) {
        reader_close(&r[i]);
    }
    ck_assert_uint_le(f.ups, 2);
    fixture_close(&f);
}
END_TEST

/*
 * A shared read that turns out to be slow and whose client leaves is cancelled; those behind it get
 * their rows all the same.
 */
START_TEST(a_slow_shared_read_is_cancelled_for_its_neighbours)
{
    static const char *const fast[] = {"0"};
    static const char *const slow[] = {"30"};
    open_with(1, 10, 5000);
    struct simple_read s[2];
    for (size_t i = 0; i < 2; i++) {
        simple_init(&s[i], "SELECT pg_sleep($1::float8)", 1, 1);
        s[i].level.statement.params = i == 0 ? fast : slow;
        s[i].level.statement.param_count = 1;
    }
    make_shared(&s[0].read, ";");
    struct reader r[4];
    const struct field *fields = NULL;
    ck_assert(reader_open(&r[0], &f, &s[1].read));
    for (int i = 1; i < 4; i++) {
        ck_assert(reader_open(&r[i], &f, &s[0].read));
    }
    ck_assert_int_eq(reader_try(&r[1], 0, &fields), STEP_AGAIN);
    test_reactor_run(f.reactor, 150);
    reader_close(&r[0]);
    int64_t start = test_reactor_clock_ms();
    for (int i = 1; i < 4; i++) {
        ck_assert_int_eq(reader_next(&r[i], 0, &fields), STEP_OK);
        reader_close(&r[i]);
    }
    ck_assert_int_lt(test_reactor_clock_ms() - start, 1500);
    ck_assert_uint_eq(f.cancels, 1);
    ck_assert_uint_eq(f.downs, 0);
    ck_assert(fixture_wait_quiet(&f, 1000));
    ck_assert_str_eq(read_text(&f, &s[0].read), ";");
    fixture_close(&f);
}
END_TEST

enum {
    GROUP = 5
};

/* Five reads of one statement with a parameter each, opened in one turn: they make one group. */
static void open_group(struct reader *r, struct simple_read *s, const char *sql, size_t fields,
                       const char *const *params)
{
    for (size_t i = 0; i < GROUP; i++) {
        simple_init(&s[i], sql, fields, 1);
        s[i].level.statement.params = &params[i];
        s[i].level.statement.param_count = 1;
        ck_assert(reader_open(&r[i], &f, &s[i].read));
    }
}

/* Rows of all but `but`. */
static void check_group(struct reader *r, size_t but)
{
    for (size_t i = 0; i < GROUP; i++) {
        const struct field *fields = NULL;
        if (i != but) {
            ck_assert_int_eq(reader_next(&r[i], 0, &fields), STEP_OK);
            ck_assert_int_eq(strtol(fields[0].ptr, NULL, 10), (long)i + 1);
            ck_assert_int_eq(reader_next(&r[i], 0, &fields), STEP_END);
        }
    }
}

static void close_group(struct reader *r)
{
    for (size_t i = 0; i < GROUP; i++) {
        reader_close(&r[i]);
    }
}

/* One transaction has one now(): it tells that they went, and were answered, as one group. */
START_TEST(reads_of_one_turn_go_as_one_group)
{
    static const char *const params[] = {"1", "2", "3", "4", "5"};
    static const char sql[] = "SELECT $1::int, now()";
    open_with(4, 10, 5000);
    struct simple_read s[GROUP];
    struct reader r[GROUP];
    char stamp[64] = "";
    simple_init(&s[0], "SELECT pg_sleep(0)", 1, 1);
    make_shared(&s[0].read, ";");
    open_group(r, s, sql, 2, params); /* not known to be short yet */
    check_group(r, GROUP);
    close_group(r);
    open_group(r, s, sql, 2, params);
    for (size_t i = 0; i < GROUP; i++) {
        const struct field *fields = NULL;
        ck_assert_int_eq(reader_next(&r[i], 0, &fields), STEP_OK);
        if (i == 0) {
            (void)snprintf(stamp, sizeof(stamp), "%.*s", fields[1].len, fields[1].ptr);
        }
        ck_assert_int_eq(strncmp(stamp, fields[1].ptr, (size_t)fields[1].len), 0);
    }
    close_group(r);
    fixture_close(&f);
}
END_TEST

/* The third of five fails: it alone gets the error, those behind it are sent again unnoticed. */
START_TEST(a_failure_in_a_group_is_its_own)
{
    static const char *const good[] = {"60", "30", "20", "15", "12"};
    static const char *const bad[] = {"60", "30", "0", "15", "12"};
    open_with(1, 10, 5000);
    struct simple_read s[GROUP];
    struct reader r[GROUP];
    const struct field *fields = NULL;
    open_group(r, s, "SELECT 60 / $1::int", 1, good);
    check_group(r, GROUP);
    close_group(r);
    for (int run = 0; run < 3; run++) { /* from the second on it is sent apart */
        open_group(r, s, "SELECT 60 / $1::int", 1, bad);
        check_group(r, 2);
        ck_assert_int_eq(reader_next(&r[2], 0, &fields), STEP_FAIL);
        ck_assert_int_eq(r[2].err.http_status, 400);
        close_group(r);
    }
    ck_assert_uint_eq(f.ups, 1);
    ck_assert_uint_eq(f.downs, 0);
    fixture_close(&f);
}
END_TEST

static const char sleeps[] =
    "SELECT split_part($1, '/', 1), pg_sleep(split_part($1, '/', 2)::float8)";

START_TEST(a_group_that_loses_its_connection_starts_again)
{
    static const char *const fast[] = {"1/0", "2/0", "3/0", "4/0", "5/0"};
    static const char *const slow[] = {"1/0", "2/0", "3/0.2", "4/0", "5/0"};
    open_with(2, 10, 5000);
    struct simple_read s[GROUP];
    struct reader r[GROUP];
    open_group(r, s, sleeps, 2, fast);
    check_group(r, GROUP);
    close_group(r);
    open_group(r, s, sleeps, 2, slow);
    while (fixture_busy_backends(&f) == 0) {
        test_reactor_turn(f.reactor, 5);
    }
    (void)fixture_admin(&f, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            " WHERE application_name = 'sluice' AND state <> 'idle'");
    check_group(r, GROUP);
    close_group(r);
    ck_assert_uint_eq(f.downs, 1);
    ck_assert(fixture_wait_quiet(&f, 1000));
    fixture_close(&f);
}
END_TEST

/* One leaves before its group is sent, one while it is in flight: the others do not notice. */
START_TEST(reads_leave_their_group)
{
    static const char *const params[] = {"1/0", "2/0", "3/0.05", "4/0", "5/0"};
    static const char *const fast[] = {"1/0", "2/0", "3/0", "4/0", "5/0"};
    open_with(1, 10, 5000);
    struct simple_read s[GROUP];
    struct reader r[GROUP];
    open_group(r, s, sleeps, 2, fast);
    check_group(r, GROUP);
    close_group(r);
    for (size_t leaver = 0; leaver < GROUP; leaver++) {
        open_group(r, s, sleeps, 2, params);
        if (leaver % 2 == 1) {
            test_reactor_turn(f.reactor, 1);
            ck_assert_int_eq(fixture_busy_backends(&f), 1);
        }
        reader_close(&r[leaver]);
        check_group(r, leaver);
        close_group(r);
    }
    ck_assert_uint_eq(f.cancels, 0);
    ck_assert_uint_eq(f.downs, 0);
    ck_assert(fixture_wait_quiet(&f, 1000));
    fixture_close(&f);
}
END_TEST

/* A slow statement in the midst of a group whose client stays: it goes on alone. */
START_TEST(a_slow_read_is_taken_out_of_its_group)
{
    static const char *const fast[] = {"1/0", "2/0", "3/0", "4/0", "5/0"};
    static const char *const slow[] = {"1/0", "2/0", "3/2", "4/0", "5/0"};
    open_with(4, 10, 5000);
    struct simple_read s[GROUP];
    struct reader r[GROUP];
    const struct field *fields = NULL;
    open_group(r, s, sleeps, 2, fast);
    check_group(r, GROUP);
    close_group(r);
    int64_t start = test_reactor_clock_ms();
    open_group(r, s, sleeps, 2, slow);
    check_group(r, 2);
    ck_assert_int_lt(test_reactor_clock_ms() - start, 1500);
    ck_assert_int_eq(reader_next(&r[2], 0, &fields), STEP_OK);
    ck_assert_uint_eq(f.cancels, 1);
    close_group(r);
    ck_assert_uint_eq(f.downs, 0);
    fixture_close(&f);
}
END_TEST

START_TEST(a_slow_statement_goes_alone)
{
    static const char *const fast[] = {"0"};
    static const char *const slow[] = {"0.3"};
    open_with(2, 10, 5000);
    struct simple_read s[2];
    struct simple_read one;
    simple_init(&one, "SELECT 1", 1, 1);
    for (size_t i = 0; i < 2; i++) {
        simple_init(&s[i], "SELECT pg_sleep($1::float8)", 1, 1);
        s[i].level.statement.params = i == 0 ? fast : slow;
        s[i].level.statement.param_count = 1;
    }
    make_shared(&one.read, "1;");
    make_shared(&s[0].read, ";");
    ck_assert_str_eq(read_text(&f, &s[1].read), ";"); /* shared, and slow: that is noted */
    struct reader r;
    const struct field *fields = NULL;
    struct pool_counts counts;
    ck_assert(reader_open(&r, &f, &s[1].read));
    pool_get_counts(f.pool, &counts);
    ck_assert_uint_eq(counts.busy, 1);
    ck_assert_str_eq(read_text(&f, &one.read), "1;");
    ck_assert_int_eq(reader_try(&r, 0, &fields), STEP_AGAIN); /* not in the other's way */
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
    reader_close(&r);
    fixture_close(&f);
}
END_TEST

/*
 * Ten rows of 600 are rare, and the last ones by id. The plan for any status walks the index of id
 * until five rows are found, which is right for the others: for the rare ones it looks at all rows,
 * a millisecond each. With a plan for their status it looks at ten.
 */
static const char SKEWED[] =
    "DROP TABLE IF EXISTS skewed;"
    "CREATE TABLE skewed (id int PRIMARY KEY, status text, padding text);"
    "INSERT INTO skewed SELECT g, CASE WHEN g > 590 THEN 'rare' ELSE 'done' END, repeat('x', 1000)"
    " FROM generate_series(1, 600) g;"
    "CREATE INDEX ON skewed (status); ANALYZE skewed;"
    "CREATE OR REPLACE FUNCTION look_at(i int) RETURNS bool LANGUAGE plpgsql COST 0.001 AS $$"
    " BEGIN IF i > 100 THEN RAISE NOTICE 'row'; PERFORM pg_sleep(0.001); END IF; RETURN true; END $$";

START_TEST(a_rare_value_gets_a_plan_of_its_own)
{
    static const char *const done[] = {"done"};
    static const char *const rare[] = {"rare"};
    open_with(4, 10, 5000);
    (void)fixture_admin(&f, SKEWED);
    struct simple_read s;
    simple_init(&s,
                "SELECT id FROM skewed WHERE look_at(id) AND status = $1::text ORDER BY id LIMIT 5",
                1, 5);
    s.level.statement.params = done;
    s.level.statement.param_count = 1;
    for (int i = 0; i < 20; i++) { /* its plan is found to be the same each time, and kept */
        test_reactor_run(f.reactor, i < 10 ? 0 : STATEMENT_COMPARE_FIRST_MS / 2);
        ck_assert_str_eq(read_text(&f, &s.read), "1;2;3;4;5;");
    }
    ck_assert_uint_eq(f.notices, 0);
    s.level.statement.params = rare;
    ck_assert_str_eq(read_text(&f, &s.read), "591;592;593;594;595;");
    ck_assert_uint_eq(f.cancels, 1); /* the plan that was kept did not get to its end */
    for (int i = 0; i < 3; i++) {
        f.notices = 0;
        ck_assert_str_eq(read_text(&f, &s.read), "591;592;593;594;595;");
        ck_assert_uint_le(f.notices, 10);
    }
    ck_assert_uint_eq(f.cancels, 1);
    fixture_close(&f);
}
END_TEST

START_TEST(statement_timeout_is_504)
{
    struct pool_options options = fixture_options();
    options.statement_timeout_ms = 200;
    fixture_open(&f, &options, 4);
    struct simple_read s;
    simple_init(&s, "SELECT pg_sleep(20)", 1, 1);
    ck_assert_str_eq(read_text(&f, &s.read), "504 DatabaseTimeout");
    simple_init(&s, "SELECT pg_sleep(20)", 1, 0);
    ck_assert_str_eq(read_text(&f, &s.read), "504 DatabaseTimeout");
    simple_init(&s, "SELECT 1", 1, 1);
    ck_assert_str_eq(read_text(&f, &s.read), "1;");
    ck_assert_uint_eq(f.downs, 0);
    fixture_close(&f);
}
END_TEST

/* The backend of a stream dies. */
START_TEST(a_lost_stream_fails)
{
    open_with(4, 10, 5000);
    struct simple_read s;
    struct reader r;
    const struct field *fields = NULL;
    simple_init(&s, "SELECT g, repeat('x', 1000) FROM generate_series(1,100000) g", 2, 0);
    ck_assert(reader_open(&r, &f, &s.read));
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
    }
    (void)fixture_admin(&f, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            " WHERE application_name = 'sluice'");
    enum step step = STEP_OK;
    int rows = 100;
    while (step == STEP_OK) {
        step = reader_next(&r, 0, &fields);
        rows += step == STEP_OK;
    }
    ck_assert_int_eq(step, STEP_FAIL);
    ck_assert_int_eq(r.err.http_status, 503);
    ck_assert_int_lt(rows, 100000);
    ck_assert_int_eq(reader_try(&r, 0, &fields), STEP_FAIL);
    reader_close(&r);
    simple_init(&s, "SELECT 1", 1, 1);
    ck_assert_str_eq(read_text(&f, &s.read), "1;");
    fixture_close(&f);
}
END_TEST

static const struct retry_case {
    const char *name;
    const char *sql;
    uint64_t row_limit;
} retry_cases[] = {
    {"a short read", "SELECT pg_sleep(0.5), 1", 1},
    {"a stream before its first row", "SELECT pg_sleep(0.5), 1", 0},
};

/* Nothing was handed out yet: it starts again and nobody notices. */
START_TEST(a_lost_read_starts_again)
{
    open_with(4, 10, 5000);
    struct simple_read s;
    struct reader r;
    const struct field *fields = NULL;
    simple_init(&s, retry_cases[_i].sql, 2, retry_cases[_i].row_limit);
    ck_assert(reader_open(&r, &f, &s.read));
    ck_assert_int_eq(reader_try(&r, 0, &fields), STEP_AGAIN);
    while (fixture_busy_backends(&f) == 0) {
        test_reactor_turn(f.reactor, 5);
    }
    (void)fixture_admin(&f, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            " WHERE application_name = 'sluice'");
    ck_assert_msg(reader_next(&r, 0, &fields) == STEP_OK, "%s", retry_cases[_i].name);
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_END);
    reader_close(&r);
    ck_assert_uint_eq(f.downs, 1);
    fixture_close(&f);
}
END_TEST

/* An idle connection that dies is noticed at once, not by the next read. */
START_TEST(an_idle_connection_is_watched)
{
    open_with(4, 10, 5000);
    struct simple_read s;
    simple_init(&s, "SELECT 1", 1, 1);
    ck_assert_str_eq(read_text(&f, &s.read), "1;");
    (void)fixture_admin(&f, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            " WHERE application_name = 'sluice'");
    ck_assert(test_reactor_until(f.reactor, is_not_ready, &f, 1000));
    ck_assert_uint_eq(f.downs, 1);
    ck_assert(test_reactor_until(f.reactor, is_ready, &f, 2000)); /* without demand */
    fixture_close(&f);
}
END_TEST

START_TEST(a_changed_table_is_prepared_again)
{
    open_with(1, 10, 5000);
    (void)fixture_admin(&f, "DROP TABLE IF EXISTS changing");
    (void)fixture_admin(&f, "CREATE TABLE changing AS SELECT 5::int AS a");
    struct simple_read s;
    simple_init(&s, "SELECT a FROM changing", 1, 1);
    make_shared(&s.read, "5;");
    (void)fixture_admin(&f, "ALTER TABLE changing ALTER a TYPE text USING 'x' || a");
    make_shared(&s.read, "x5;"); /* 0A000: cached plan must not change result type */
    ck_assert_uint_eq(f.stales, 1);
    (void)fixture_admin(&f, "ALTER TABLE changing RENAME a TO b");
    ck_assert_str_eq(read_text(&f, &s.read), "503 ModelChanged");
    (void)fixture_admin(&f, "ALTER TABLE changing RENAME b TO a");
    make_shared(&s.read, "x5;");
    (void)fixture_admin(&f, "DROP TABLE changing");
    ck_assert_str_eq(read_text(&f, &s.read), "503 ModelChanged");
    ck_assert_uint_ge(f.stales, 3);
    fixture_close(&f);
}
END_TEST

/* Every connection has the statement prepared, and none knows of the change yet. */
START_TEST(a_changed_table_is_read_by_any_connection)
{
    enum {
        CONNECTIONS = 3,
    };
    struct pool_options options = fixture_options();
    fixture_open(&f, &options,
                 CONNECTIONS * 2); /* of which streams, and unknown statements, may have most */
    (void)fixture_admin(&f, "DROP TABLE IF EXISTS changing");
    (void)fixture_admin(&f, "CREATE TABLE changing AS SELECT 'five'::varchar(10) AS a");
    static const char *const lasting[] = {"0.3"};
    static const char *const fast[] = {"0"};
    struct simple_read s;
    struct reader r[CONNECTIONS];
    simple_init(&s, "SELECT a, pg_sleep($1::float8) FROM changing", 2, 1);
    s.level.statement.params = lasting;
    s.level.statement.param_count = 1;
    for (size_t i = 0; i < CONNECTIONS; i++) { /* not known to be short: each has its own */
        ck_assert(reader_open(&r[i], &f, &s.read));
    }
    for (size_t i = 0; i < CONNECTIONS; i++) {
        const struct field *fields = NULL;
        ck_assert_int_eq(reader_next(&r[i], 0, &fields), STEP_OK);
        reader_close(&r[i]);
    }
    ck_assert_uint_ge(f.ups, CONNECTIONS);
    s.level.statement.params = fast;
    for (int width = 11; width < 20; width++) { /* 0A000: its result has another type modifier */
        char sql[80];
        (void)snprintf(sql, sizeof(sql), "ALTER TABLE changing ALTER a TYPE varchar(%d)", width);
        (void)fixture_admin(&f, sql);
        ck_assert_str_eq(read_text(&f, &s.read), "five,;");
    }
    fixture_close(&f);
}
END_TEST

START_TEST(keeps_few_prepared_statements)
{
    struct pool_options options = fixture_options();
    options.statement_cache_size = 3;
    fixture_open(&f, &options, 1);
    struct simple_read s;
    for (int i = 0; i < 50; i++) {
        char sql[60];
        char text[20];
        (void)snprintf(sql, sizeof(sql), i % 3 == 0 ? "SELECT 7 / (%d - %d)" : "SELECT %d", i % 7,
                       i % 7);
        (void)snprintf(text, sizeof(text), i % 3 == 0 ? "400 BadValue" : "%d;", i % 7);
        simple_init(&s, sql, 1, 1);
        ck_assert_str_eq(read_text(&f, &s.read), text);
    }
    simple_init(&s, "SELECT count(*) FROM pg_prepared_statements", 1, 1);
    ck_assert_str_eq(read_text(&f, &s.read), "3;");
    fixture_close(&f);
}
END_TEST

/* pg_ctl as the cluster's owner, with the options that tests/support/with_postgres.sh gave. */
static void pg_ctl(const char *verb)
{
    char command[1500];
    const char *user = getenv("PGTEST_USER") != NULL ? getenv("PGTEST_USER") : "postgres";
    char as[200] = "";
    if (geteuid() == 0) {
        (void)snprintf(as, sizeof(as), "setpriv --clear-groups --reuid %s --regid %s", user, user);
    }
    (void)snprintf(command, sizeof(command),
                   "%s %s/pg_ctl -D %s -m fast -w -t 30 -l %s/server.log"
                   " -o '-p %s -k %s -c listen_addresses=127.0.0.1 -c fsync=off"
                   " -c max_connections=200' %s >/dev/null 2>&1 </dev/null",
                   as, getenv("PGTEST_BIN"), getenv("PGTEST_DATA"), getenv("PGTEST_DATA"),
                   getenv("PGPORT"), getenv("PGHOST"), verb);
    pid_t pid = fork();
    if (pid == 0) {
        if (chdir("/") != 0) {
            _exit(127);
        }
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "pg_ctl %s", verb);
}

START_TEST(recovers_when_the_database_is_back)
{
    open_with(4, 10, 5000);
    struct simple_read one;
    struct simple_read stream;
    struct reader r;
    const struct field *fields = NULL;
    simple_init(&one, "SELECT 1", 1, 1);
    make_shared(&one.read, "1;");
    simple_init(&stream, "SELECT g, repeat('x', 1000) FROM generate_series(1,100000) g", 2, 0);
    ck_assert(reader_open(&r, &f, &stream.read));
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
    PQfinish(f.admin);
    pg_ctl("stop");
    int64_t start = test_reactor_clock_ms();
    const char *text = read_text(&f, &one.read);
    ck_assert_msg(strcmp(text, "503 DatabaseUnavailable") == 0, "%s", text);
    struct reader refused;
    ck_assert(!reader_open(&refused, &f, &one.read)); /* at once: the breaker */
    ck_assert_str_eq(refused.err.code, ODATA_CODE_DATABASE_UNAVAILABLE);
    ck_assert_int_gt(refused.err.retry_after_s, 0);
    ck_assert_int_lt(test_reactor_clock_ms() - start, 1000);
    enum step step = STEP_OK;
    while (step == STEP_OK) {
        step = reader_next(&r, 0, &fields);
    }
    ck_assert_int_eq(step, STEP_FAIL);
    reader_close(&r);
    ck_assert(!pool_is_ready(f.pool));
    test_reactor_run(f.reactor, 2500); /* the back-off reaches its most */
    pg_ctl("start");
    start = test_reactor_clock_ms();
    bool ready = test_reactor_until(f.reactor, is_ready, &f, 5000);
    int64_t took_ms = test_reactor_clock_ms() - start;
    ck_assert_msg(ready && took_ms < 2000, "ready %d after %ld ms, %u losses", ready, (long)took_ms,
                  f.downs);
    ck_assert_str_eq(read_text(&f, &one.read), "1;");
    f.admin = PQconnectdb("");
    fixture_close(&f);
}
END_TEST

/* A listening socket that never answers. */
static int dead_host(char *port, size_t size)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof(address);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(listen(fd, 5), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    (void)snprintf(port, size, "%u", ntohs(address.sin_port));
    return fd;
}

static const struct host_case {
    const char *name;
    const char *uri; /* %1$s a dead port, %2$s the good port */
    bool works;
} host_cases[] = {
    {"a second host after one that does not answer",
     "host=127.0.0.1,127.0.0.1 port=%1$s,%2$s user=postgres dbname=postgres", true},
    {"a second host after one that refuses",
     "host=127.0.0.1,127.0.0.1 port=1,%2$s user=postgres dbname=postgres", true},
    {"a URI with several hosts",
     "postgresql://postgres@127.0.0.1:%1$s,127.0.0.1:%2$s/postgres?sslmode=disable", true},
    {"a name that is looked up", "host=localhost port=%2$s user=postgres dbname=postgres", true},
    {"a name that is not there, then one that is",
     "host=nowhere.invalid,localhost port=%2$s user=postgres dbname=postgres", true},
    {"hostaddr instead of a look-up",
     "host=nowhere.invalid hostaddr=127.0.0.1 port=%2$s user=postgres dbname=postgres", true},
    {"a session that insists on other forms",
     "host=127.0.0.1 port=%2$s user=postgres dbname=postgres options='-c DateStyle=German"
     " -c extra_float_digits=0'",
     true},
    {"only a host that does not answer", "host=127.0.0.1 port=%1$s user=postgres", false},
    {"not a connection string", "what is this", false},
    {"a database that is not there", "host=127.0.0.1 port=%2$s user=postgres dbname=nope", false},
};

START_TEST(connects_to_the_first_host_that_answers)
{
    const struct host_case *c = &host_cases[_i];
    char dead[10];
    char uri[300];
    int fd = dead_host(dead, sizeof(dead));
    const char *parts[] = {c->uri, dead, getenv("PGPORT")};
    size_t len = 0;
    for (const char *p = parts[0]; *p != '\0'; p++) {
        if (p[0] == '%') {
            len += (size_t)snprintf(uri + len, sizeof(uri) - len, "%s", parts[p[1] - '0']);
            p += 3;
        } else {
            uri[len++] = *p;
        }
    }
    uri[len] = '\0';
    struct pool_options options = fixture_options();
    options.db_uri = uri;
    options.connect_timeout_ms = 1000;
    fixture_open(&f, &options, 4);
    struct simple_read s;
    simple_init(&s, "SELECT date '2024-02-29', 0.1::float4::float8", 2, 1);
    const char *text = read_text(&f, &s.read);
    ck_assert_msg(
        strcmp(text, c->works ? "2024-02-29,0.10000000149011612;" : "503 DatabaseUnavailable") == 0,
        "%s: %s", c->name, text);
    fixture_close(&f);
    (void)close(fd);
}
END_TEST

/* What libpq sends for PGTZ wins over our options, as a pooler that swallows them would. */
START_TEST(mends_a_session_without_its_settings)
{
    ck_assert_int_eq(setenv("PGTZ", "America/New_York", 1), 0);
    open_with(2, 10, 1000);
    struct simple_read s;
    simple_init(&s, "SELECT timestamptz '2024-02-29 12:00Z', interval '1 h'", 2, 1);
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(read_text(&f, &s.read), "2024-02-29 12:00:00+00,PT1H;");
    }
    ck_assert_uint_eq(f.downs, 0);
    fixture_close(&f);
}
END_TEST

/* Whatever stage a read is in, the pool can go after it is closed. */
START_TEST(closes_at_any_time)
{
    for (int turns = 0; turns < 30; turns++) {
        open_with(2, 10, 1000);
        struct simple_read s;
        struct reader r;
        const struct field *fields = NULL;
        simple_init(&s, turns % 2 == 0 ? "SELECT pg_sleep(5)" : "SELECT generate_series(1,100000)",
                    1, turns % 3 == 0);
        ck_assert(reader_open(&r, &f, &s.read));
        for (int i = 0; i < turns / 2; i++) {
            (void)reader_try(&r, 0, &fields);
            test_reactor_turn(f.reactor, 5);
        }
        reader_close(&r);
        if (turns % 5 == 0) {
            test_reactor_run(f.reactor, turns * 3);
        }
        fixture_close(&f);
    }
}
END_TEST

Suite *pool_suite(void);

Suite *pool_suite(void)
{
    Suite *suite = suite_create("pool");
    TCase *seats = tcase_create("seats");
    tcase_set_timeout(seats, 60);
    tcase_add_test(seats, warms_up);
    tcase_add_test(seats, streams_wait_in_line);
    tcase_add_test(seats, one_connection_serves_both);
    tcase_add_test(seats, pools_lend_each_other_their_connections);
    tcase_add_test(seats, shared_reads_do_not_touch_each_other);
    tcase_add_test(seats, a_slow_shared_read_is_cancelled_for_its_neighbours);
    tcase_add_test(seats, a_slow_statement_goes_alone);
    tcase_add_test(seats, reads_of_one_turn_go_as_one_group);
    tcase_add_test(seats, a_failure_in_a_group_is_its_own);
    tcase_add_test(seats, a_group_that_loses_its_connection_starts_again);
    tcase_add_test(seats, reads_leave_their_group);
    tcase_add_test(seats, a_slow_read_is_taken_out_of_its_group);
    tcase_add_test(seats, a_rare_value_gets_a_plan_of_its_own);
    tcase_add_test(seats, statement_timeout_is_504);
    tcase_add_test(seats, a_changed_table_is_prepared_again);
    tcase_add_test(seats, a_changed_table_is_read_by_any_connection);
    tcase_add_test(seats, keeps_few_prepared_statements);
    tcase_add_test(seats, closes_at_any_time);
    suite_add_tcase(suite, seats);

    TCase *surroundings = tcase_create("surroundings");
    tcase_set_timeout(surroundings, 60);
    tcase_add_checked_fixture(surroundings, environment_save, environment_restore);
    tcase_add_test(surroundings, mends_a_session_without_its_settings);
    suite_add_tcase(suite, surroundings);

    TCase *losses = tcase_create("losses");
    tcase_set_timeout(losses, 60);
    tcase_add_test(losses, a_lost_stream_fails);
    tcase_add_loop_test(losses, a_lost_read_starts_again, 0,
                        (int)(sizeof(retry_cases) / sizeof(retry_cases[0])));
    tcase_add_test(losses, an_idle_connection_is_watched);
    tcase_add_test(losses, recovers_when_the_database_is_back);
    suite_add_tcase(suite, losses);

    TCase *hosts = tcase_create("hosts");
    tcase_set_timeout(hosts, 60);
    tcase_add_loop_test(hosts, connects_to_the_first_host_that_answers, 0,
                        (int)(sizeof(host_cases) / sizeof(host_cases[0])));
    suite_add_tcase(suite, hosts);
    return suite;
}

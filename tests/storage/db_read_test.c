// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "storage/db_read.h"
#include "tests/storage/read_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURES_MEMORY 0
#else
#define MEASURES_MEMORY 1
#endif

static struct fixture f;

static void set_up(void)
{
    struct pool_options options = fixture_options();
    fixture_open(&f, &options, 4);
}

static void set_up_unprepared(void)
{
    struct pool_options options = fixture_options();
    options.prepared_statements = false;
    fixture_open(&f, &options, 4);
}

static void tear_down(void)
{
    fixture_close(&f);
}

static size_t peak_kib(void)
{
    char line[200];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = strtoul(line + 6, NULL, 10);
        }
    }
    (void)fclose(file);
    return kib;
}

/* Rows as text, by every script: unknown (stream), then known to be small (short), then shared. */

static const struct row_case {
    const char *name;
    const char *sql;
    size_t fields;
    uint64_t row_limit;
    const char *text;
} row_cases[] = {
    {"no row", "SELECT 1 WHERE false", 1, 0, ""},
    {"no row with a limit", "SELECT 1 WHERE false", 1, 20, ""},
    {"no row by key", "SELECT 1 WHERE false", 1, 1, ""},
    {"one row by key", "SELECT 1, 'a'", 2, 1, "1,a;"},
    {"null and empty are two things", "SELECT NULL::text, ''", 2, 1, "~,;"},
    {"a few rows", "SELECT g FROM generate_series(1,5) g", 1, 0, "1;2;3;4;5;"},
    {"a few rows with a limit", "SELECT g FROM generate_series(1,5) g LIMIT 20", 1, 20,
     "1;2;3;4;5;"},
    {"exactly one first batch", "SELECT g % 2 FROM generate_series(1,4) g", 1, 0, "1;0;1;0;"},
    {"exactly two batches", "SELECT g % 2 FROM generate_series(1,36) g", 1, 0,
     "1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;1;0;"},
    {"the session's forms",
     "SELECT '2024-02-29 12:00+02'::timestamptz, '1 day 02:00'::interval, '\\x0aff'::bytea,"
     " 0.1::float8",
     4, 1, "2024-02-29 10:00:00+00,P1DT2H,\\x0aff,0.1;"},
    {"division by zero", "SELECT 1 / (g - 3) FROM generate_series(1,5) g", 1, 0, "400 BadValue"},
    {"division by zero by key", "SELECT 1 / (g - 1) FROM generate_series(1,1) g", 1, 1,
     "400 BadValue"},
    {"a table that is not there", "SELECT a FROM nowhere", 1, 0, "503 ModelChanged"},
    {"a table that is not there, by key", "SELECT a FROM nowhere", 1, 1, "503 ModelChanged"},
    {"a broken statement", "SELEC", 1, 1, "500 InternalError"},
    {"writing is refused", "SELECT nextval('db_read_seq')", 1, 1, "405 MethodNotAllowed"},
    {"columns that were not promised", "SELECT 1, 2", 1, 1, "503 ModelChanged"},
    {"columns that were not promised, streamed", "SELECT 1, 2", 1, 0, "503 ModelChanged"},
};

START_TEST(reads_rows)
{
    const struct row_case *row = &row_cases[_i];
    (void)fixture_admin(&f, "CREATE SEQUENCE IF NOT EXISTS db_read_seq");
    struct simple_read s;
    simple_init(&s, row->sql, row->fields, row->row_limit);
    for (int i = 0; i < 4; i++) {
        const char *text = read_text(&f, &s.read);
        ck_assert_msg(strcmp(text, row->text) == 0, "%s, run %d: %s", row->name, i, text);
    }
    struct pool_counts counts;
    pool_get_counts(f.pool, &counts);
    ck_assert(fixture_wait_quiet(&f, 1000));
    ck_assert_uint_eq(counts.waiting, 0);
    ck_assert_uint_eq(counts.cancels, 0);
}
END_TEST

START_TEST(passes_parameters)
{
    static const char *const params[] = {"7", NULL, "o'neil \\ \"x\""};
    struct simple_read s;
    simple_init(&s, "SELECT $1::int + 1, $2::text, $3::text", 3, 1);
    s.level.statement.params = params;
    s.level.statement.param_count = 3;
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(read_text(&f, &s.read), "8,~,o'neil \\ \"x\";");
    }
    s.read.row_limit = 0;
    ck_assert_str_eq(read_text(&f, &s.read), "8,~,o'neil \\ \"x\";");
}
END_TEST

START_TEST(counts_in_the_same_snapshot)
{
    (void)fixture_admin(&f, "DROP TABLE IF EXISTS counted");
    (void)fixture_admin(&f, "CREATE TABLE counted AS SELECT g AS id FROM generate_series(1,50) g");
    struct simple_read s;
    simple_init(&s, "SELECT id FROM counted ORDER BY id LIMIT 3", 1, 3);
    s.read.has_count = true;
    s.read.count.text = "SELECT count(*) FROM counted";
    for (int i = 0; i < 3; i++) { /* the first is streamed, the others go in one round trip */
        struct reader r;
        int64_t count = 0;
        const struct field *fields = NULL;
        ck_assert(reader_open(&r, &f, &s.read));
        ck_assert_int_eq(reader_count(&r, &count), STEP_OK);
        ck_assert_int_eq(count, 50 + i);
        (void)fixture_admin(&f, "INSERT INTO counted VALUES (1000)");
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
            ck_assert_int_eq(strtol(fields[0].ptr, NULL, 10), k + 1);
        }
        ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_END);
        reader_close(&r);
    }
}
END_TEST

START_TEST(counts_alone)
{
    struct simple_read s;
    simple_init(&s, NULL, 0, 0);
    s.read.has_rows = false;
    s.read.has_count = true;
    s.read.count.text = "SELECT count(*) FROM generate_series(1, 77)";
    for (int i = 0; i < 3; i++) {
        struct reader r;
        int64_t count = 0;
        const struct field *fields = NULL;
        ck_assert(reader_open(&r, &f, &s.read));
        ck_assert_int_eq(reader_count(&r, &count), STEP_OK);
        ck_assert_int_eq(count, 77);
        ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_END);
        reader_close(&r);
    }
}
END_TEST

static void stream_numbers(const char *sql, size_t fields_count, int64_t rows)
{
    struct simple_read s;
    simple_init(&s, sql, fields_count, 0);
    struct reader r;
    ck_assert(reader_open(&r, &f, &s.read));
    const struct field *fields = NULL;
    int64_t expected = 0;
    while (reader_next(&r, 0, &fields) == STEP_OK) {
        ck_assert_int_eq(strtoll(fields[0].ptr, NULL, 10), ++expected);
    }
    ck_assert_int_eq(r.err.http_status, 0);
    ck_assert_int_eq(expected, rows);
    reader_close(&r);
}

START_TEST(streams_in_flat_memory)
{
    static const char sql[] = "SELECT g, repeat('x', 100), g, g FROM generate_series(1,%d) g";
    char text[100];
    (void)snprintf(text, sizeof(text), sql, 2000);
    stream_numbers(text, 4, 2000);
    size_t before = peak_kib();
    (void)snprintf(text, sizeof(text), sql, 200000);
    stream_numbers(text, 4, 200000);
    if (MEASURES_MEMORY) {
        ck_assert_msg(peak_kib() - before < 1500, "grew by %zu KiB", peak_kib() - before);
    }
}
END_TEST

/* Nobody knows how wide they are before the first has come. */
START_TEST(streams_wide_rows_a_few_at_a_time)
{
    size_t before = peak_kib();
    stream_numbers("SELECT g, repeat('x', 1000000) FROM generate_series(1,60) g", 2, 60);
    if (MEASURES_MEMORY) {
        ck_assert_msg(peak_kib() - before < 11000, "grew by %zu KiB", peak_kib() - before);
    }
}
END_TEST

START_TEST(does_not_read_what_nobody_asks_for)
{
    struct simple_read s;
    simple_init(&s, "SELECT g, repeat('x', 1000) FROM generate_series(1,100000) g", 2, 0);
    struct reader r;
    const struct field *fields = NULL;
    ck_assert(reader_open(&r, &f, &s.read));
    for (int i = 0; i < 40; i++) { /* past the first batches */
        ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
    }
    size_t before = peak_kib();
    test_reactor_run(f.reactor, 300);
    if (MEASURES_MEMORY) {
        ck_assert_uint_lt(peak_kib() - before, 200);
    }
    for (int i = 40; i < 100000; i++) {
        ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
    }
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_END);
    reader_close(&r);
}
END_TEST

/* Expanded collections. */

static const size_t kids_0[] = {1};
static const size_t kids_1[] = {2};
static const size_t kids_both[] = {1, 2};
static const unsigned key_0[] = {0};
static const unsigned key_01[] = {0, 1};
static const unsigned key_1[] = {1};
static const char *const no_params[] = {NULL, NULL, NULL};

static struct sql_level child_level(const char *sql, size_t fields, size_t parent,
                                    const unsigned *keys, size_t key_count)
{
    return (struct sql_level){.statement = {sql, no_params, key_count},
                              .field_count = fields,
                              .parent = parent,
                              .parent_keys = keys,
                              .parent_key_count = key_count};
}

static struct sql_level parent_level(const char *sql, size_t fields, const size_t *kids,
                                     size_t kid_count)
{
    return (struct sql_level){.statement = {sql, NULL, 0},
                              .field_count = fields,
                              .children = kids,
                              .child_count = kid_count};
}

START_TEST(expands_numbers)
{
    struct sql_level levels[] = {
        parent_level("SELECT g FROM generate_series(0,5) g", 1, kids_0, 1),
        child_level("SELECT k.o, k.id * 10 + n FROM unnest($1::int[]) WITH ORDINALITY k(id, o),"
                    " generate_series(1, k.id % 3) n ORDER BY k.o, n",
                    2, 0, key_0, 1),
    };
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    ck_assert_str_eq(read_text(&f, &read),
                     "0();1(2,11;);2(3,21;3,22;);3();4(1,41;);5(2,51;2,52;);");
}
END_TEST

/* Keys that would break an array's text form, nulls, and duplicates. */
START_TEST(expands_odd_keys)
{
    struct sql_level levels[] = {
        parent_level("SELECT k, k || '' FROM (VALUES (1,'a,b'), (2,'{x}'), (3,'\"q\"'),"
                     " (4,'back\\slash'), (5,''), (6,NULL), (7,'NULL'), (8,' sp '), (9,'a,b'),"
                     " (10,E'l\\nf'), (11,'\xC3\xA4')) v(i, k) ORDER BY i",
                     2, kids_0, 1),
        child_level("SELECT k.o, k.id FROM unnest($1::text[]) WITH ORDINALITY k(id, o)"
                    " WHERE k.id IS NOT NULL ORDER BY k.o",
                    2, 0, key_0, 1),
    };
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    ck_assert_str_eq(read_text(&f, &read), "a,b,a,b(1,a,b;);{x},{x}(2,{x};);\"q\",\"q\"(3,\"q\";);"
                                           "back\\slash,back\\slash(4,back\\slash;);,(1,;);~,~();"
                                           "NULL,NULL(3,NULL;); sp , sp (4, sp ;);"
                                           "a,b,a,b(5,a,b;);l\nf,l\nf(6,l\nf;);"
                                           "\xC3\xA4,\xC3\xA4(7,\xC3\xA4;);");
}
END_TEST

START_TEST(expands_only_null_keys)
{
    struct sql_level levels[] = {
        parent_level("SELECT NULL::int FROM generate_series(1,3)", 1, kids_0, 1),
        child_level("SELECT k.o FROM unnest($1::int[]) WITH ORDINALITY k(id, o)", 1, 0, key_0, 1),
    };
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    ck_assert_str_eq(read_text(&f, &read), "~();~();~();");
}
END_TEST

START_TEST(expands_composite_keys_and_own_parameters)
{
    static const char *const params[] = {"100", NULL, NULL};
    struct sql_level levels[] = {
        parent_level("SELECT g, 'k' || g FROM generate_series(1,3) g", 2, kids_0, 1),
        child_level("SELECT k.o, k.a + $1::int, k.b"
                    " FROM unnest($2::int[], $3::text[]) WITH ORDINALITY k(a, b, o)"
                    " WHERE k.a <> 2 ORDER BY k.o",
                    3, 0, key_01, 2),
    };
    levels[1].statement.params = params;
    levels[1].statement.param_count = 3;
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    ck_assert_str_eq(read_text(&f, &read), "1,k1(1,101,k1;);2,k2();3,k3(3,103,k3;);");
}
END_TEST

START_TEST(expands_three_levels_and_two_collections)
{
    struct sql_level three[] = {
        parent_level("SELECT g FROM generate_series(1,2) g", 1, kids_0, 1),
        child_level("SELECT k.o, k.id * 10 + n FROM unnest($1::int[]) WITH ORDINALITY k(id, o),"
                    " generate_series(1, 2) n ORDER BY k.o, n",
                    2, 0, key_0, 1),
        child_level("SELECT k.o, k.id * 10 + n FROM unnest($1::int[]) WITH ORDINALITY k(id, o),"
                    " generate_series(1, k.id % 10) n ORDER BY k.o, n",
                    2, 1, key_1, 1),
    };
    three[1].children = kids_1;
    three[1].child_count = 1;
    struct sql_read read = {.levels = three, .level_count = 3, .has_rows = true};
    ck_assert_str_eq(read_text(&f, &read), "1(1,11(1,111;);1,12(2,121;2,122;););"
                                           "2(2,21(3,211;);2,22(4,221;4,222;););");
    struct sql_level two[] = {three[0], three[1], three[1]};
    two[0].children = kids_both;
    two[0].child_count = 2;
    two[1].child_count = 0;
    two[2].child_count = 0;
    struct sql_read both = {.levels = two, .level_count = 3, .has_rows = true};
    ck_assert_str_eq(read_text(&f, &both), "1(1,11;1,12;)(1,11;1,12;);2(2,21;2,22;)(2,21;2,22;);");
}
END_TEST

/* Many batches on three levels: every row in its place, and none twice. */
START_TEST(expands_many_batches)
{
    enum {
        PARENTS = 5000
    };
    struct sql_level levels[] = {
        parent_level("SELECT g FROM generate_series(1,5000) g", 1, kids_0, 1),
        child_level("SELECT k.o, k.id * 100 + n, repeat('x', 50)"
                    " FROM unnest($1::int[]) WITH ORDINALITY k(id, o),"
                    " generate_series(1, k.id % 20) n ORDER BY k.o, n",
                    3, 0, key_0, 1),
        child_level("SELECT k.o, k.id * 10 + n FROM unnest($1::int[]) WITH ORDINALITY k(id, o),"
                    " generate_series(1, k.id % 3) n ORDER BY k.o, n",
                    2, 1, key_1, 1),
    };
    levels[1].children = kids_1;
    levels[1].child_count = 1;
    struct sql_read read = {.levels = levels, .level_count = 3, .has_rows = true};
    struct reader r;
    const struct field *fields = NULL;
    ck_assert(reader_open(&r, &f, &read));
    for (long parent = 1; parent <= PARENTS; parent++) {
        ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
        ck_assert_int_eq(strtol(fields[0].ptr, NULL, 10), parent);
        if (parent % 7 == 0) {
            continue; /* nobody has to ask for the children */
        }
        for (long n = 1; n <= parent % 20; n++) {
            ck_assert_int_eq(reader_next(&r, 1, &fields), STEP_OK);
            long child = parent * 100 + n;
            ck_assert_int_eq(strtol(fields[1].ptr, NULL, 10), child);
            for (long m = 1; m <= child % 3; m++) {
                ck_assert_int_eq(reader_next(&r, 2, &fields), STEP_OK);
                ck_assert_int_eq(strtol(fields[1].ptr, NULL, 10), child * 10 + m);
            }
            ck_assert_int_eq(reader_next(&r, 2, &fields), STEP_END);
        }
        ck_assert_int_eq(reader_next(&r, 1, &fields), STEP_END);
    }
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_END);
    reader_close(&r);
    ck_assert(fixture_wait_quiet(&f, 1000));
}
END_TEST

START_TEST(streams_a_million_children_of_one_parent)
{
    struct sql_level levels[] = {
        parent_level("SELECT g FROM generate_series(1,3) g", 1, kids_0, 1),
        child_level("SELECT k.o, n FROM unnest($1::int[]) WITH ORDINALITY k(id, o),"
                    " generate_series(1, CASE k.id WHEN 2 THEN 1000000 ELSE 2 END) n",
                    2, 0, key_0, 1),
    };
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    struct reader r;
    const struct field *fields = NULL;
    size_t before = peak_kib();
    ck_assert(reader_open(&r, &f, &read));
    for (int parent = 1; parent <= 3; parent++) {
        ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
        long rows = 0;
        while (reader_next(&r, 1, &fields) == STEP_OK) {
            rows++;
        }
        ck_assert_int_eq(r.err.http_status, 0);
        ck_assert_int_eq(rows, parent == 2 ? 1000000 : 2);
    }
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_END);
    reader_close(&r);
    if (MEASURES_MEMORY) {
        ck_assert_msg(peak_kib() - before < 2500, "grew by %zu KiB", peak_kib() - before);
    }
}
END_TEST

/* Thousands of narrow rows, then hundreds of a megabyte: in one batch of the old size they would take
   hundreds of megabytes. */
#define SUDDENLY_WIDE(n, narrow) "CASE WHEN " n " > " narrow " THEN repeat('x', 1000000) END"

static const struct wide_case {
    const char *name;
    const char *parents;
    const char *children;
    long parent_count;
    long child_count; /* of all parents */
} wide_cases[] = {
    {"children", "SELECT 1, NULL::text",
     "SELECT k.o, " SUDDENLY_WIDE("n", "12000") " FROM unnest($1::int[]) WITH ORDINALITY k(id, o),"
                                                " generate_series(1, 12400) n ORDER BY k.o, n",
     1, 12400},
    {"parents", "SELECT n, " SUDDENLY_WIDE("n", "4000") " FROM generate_series(1, 4400) n",
     "SELECT k.o, NULL::text FROM unnest($1::int[]) WITH ORDINALITY k(id, o) ORDER BY k.o", 4400,
     4400},
};

START_TEST(suddenly_wide_rows_are_bounded_in_an_expand)
{
    const struct wide_case *c = &wide_cases[_i];
    struct sql_level levels[] = {
        parent_level(c->parents, 2, kids_0, 1),
        child_level(c->children, 2, 0, key_0, 1),
    };
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    struct reader r;
    const struct field *fields = NULL;
    size_t before = peak_kib();
    long parents = 0;
    long children = 0;
    ck_assert(reader_open(&r, &f, &read));
    while (reader_next(&r, 0, &fields) == STEP_OK) {
        parents++;
        while (reader_next(&r, 1, &fields) == STEP_OK) {
            children++;
        }
    }
    ck_assert_int_eq(r.err.http_status, 0);
    ck_assert_int_eq(parents, c->parent_count);
    ck_assert_int_eq(children, c->child_count);
    reader_close(&r);
    if (MEASURES_MEMORY) {
        ck_assert_msg(peak_kib() - before < 120000, "%s: grew by %zu KiB", c->name,
                      peak_kib() - before);
    }
}
END_TEST

START_TEST(a_child_fails)
{
    struct sql_level levels[] = {
        parent_level("SELECT g FROM generate_series(1,100) g", 1, kids_0, 1),
        child_level("SELECT k.o, 1 / (k.id - 50) FROM unnest($1::int[]) WITH ORDINALITY k(id, o)"
                    " ORDER BY k.o",
                    2, 0, key_0, 1),
    };
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    ck_assert_str_eq(read_text(&f, &read), "400 BadValue");
    ck_assert(fixture_wait_quiet(&f, 1000));
}
END_TEST

/* Leaving. */

static const struct leave_case {
    const char *name;
    const char *sql;
    uint64_t row_limit;
    int rows; /* to take first */
    int wait_ms;
} leave_cases[] = {
    {"before the connection is there", "SELECT pg_sleep(30)", 1, 0, 0},
    {"while one row is computed", "SELECT pg_sleep(30)", 1, 0, 200},
    {"while the first rows are computed", "SELECT pg_sleep(30)", 0, 0, 200},
    {"while a later row is computed",
     "SELECT CASE WHEN g > 40 THEN pg_sleep(30)::text END FROM generate_series(1,100) g", 0, 32,
     200},
    {"between batches", "SELECT repeat('x', 1000) FROM generate_series(1,100000) g", 0, 100, 0},
    {"between batches, later", "SELECT repeat('x', 1000) FROM generate_series(1,100000) g", 0, 500,
     200},
    {"with rows that nobody took", "SELECT repeat('x', 1000) FROM generate_series(1,100000)", 0, 0,
     200},
};

static bool nobody_is_busy(void *ctx)
{
    struct pool_counts counts;
    pool_get_counts(((struct fixture *)ctx)->pool, &counts);
    return counts.busy == 0;
}

static void leaves_nothing_running(bool warm)
{
    for (size_t i = 0; i < sizeof(leave_cases) / sizeof(leave_cases[0]); i++) {
        const struct leave_case *c = &leave_cases[i];
        struct simple_read s;
        struct reader r;
        const struct field *fields = NULL;
        if (warm) {
            simple_init(&s, "SELECT 1", 1, 1);
            ck_assert_str_eq(read_text(&f, &s.read), "1;");
        }
        simple_init(&s, c->sql, 1, c->row_limit);
        ck_assert(reader_open(&r, &f, &s.read));
        for (int k = 0; k < c->rows; k++) {
            ck_assert_msg(reader_next(&r, 0, &fields) == STEP_OK, "%s", c->name);
        }
        test_reactor_run(f.reactor, c->wait_ms);
        reader_close(&r);
        ck_assert_msg(fixture_wait_quiet(&f, 1000), "%s", c->name);
        simple_init(&s, "SELECT 1, pg_backend_pid() > 0", 2, 0);
        ck_assert_msg(strcmp(read_text(&f, &s.read), "1,t;") == 0, "%s", c->name);
        ck_assert_msg(test_reactor_until(f.reactor, nobody_is_busy, &f, 2000), "%s", c->name);
    }
}

START_TEST(leaving_leaves_nothing_running)
{
    leaves_nothing_running(false);
    leaves_nothing_running(true);
    ck_assert_uint_ge(f.cancels, 6);
    ck_assert_uint_eq(f.downs, 0);
}
END_TEST

START_TEST(a_connection_of_wide_rows_is_not_kept)
{
    struct simple_read feed;
    struct simple_read wide;
    struct simple_read s;
    struct reader other; /* the last connection would be kept */
    struct reader r;
    const struct field *fields = NULL;
    char sql[100];
    simple_init(&feed, "SELECT g FROM generate_series(1,1000000) g", 1, 0);
    ck_assert(reader_open(&other, &f, &feed.read));
    ck_assert_int_eq(reader_next(&other, 0, &fields), STEP_OK);
    simple_init(&wide, "SELECT pg_backend_pid(), repeat('x', 3000000)", 2, 0);
    ck_assert(reader_open(&r, &f, &wide.read));
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_OK);
    ck_assert_int_eq(fields[1].len, 3000000);
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM pg_stat_activity WHERE pid = %.*s",
             fields[0].len, fields[0].ptr);
    ck_assert_int_eq(reader_next(&r, 0, &fields), STEP_END);
    reader_close(&r);
    simple_init(&s, sql, 1, 1);
    bool is_gone = false;
    for (int i = 0; i < 200 && !is_gone; i++) {
        test_reactor_run(f.reactor, 10);
        is_gone = strcmp(read_text(&f, &s.read), "0;") == 0;
    }
    ck_assert_msg(is_gone, "the backend of the wide row is still there");
    reader_close(&other);
}
END_TEST

Suite *db_read_suite(void);

Suite *db_read_suite(void)
{
    Suite *suite = suite_create("db_read");
    TCase *rows = tcase_create("rows");
    tcase_set_timeout(rows, 60);
    tcase_add_checked_fixture(rows, set_up, tear_down);
    tcase_add_loop_test(rows, reads_rows, 0, (int)(sizeof(row_cases) / sizeof(row_cases[0])));
    tcase_add_test(rows, passes_parameters);
    tcase_add_test(rows, counts_in_the_same_snapshot);
    tcase_add_test(rows, counts_alone);
    tcase_add_test(rows, streams_in_flat_memory);
    tcase_add_test(rows, streams_wide_rows_a_few_at_a_time);
    tcase_add_test(rows, does_not_read_what_nobody_asks_for);
    suite_add_tcase(suite, rows);

    TCase *unprepared = tcase_create("unprepared");
    tcase_set_timeout(unprepared, 60);
    tcase_add_checked_fixture(unprepared, set_up_unprepared, tear_down);
    tcase_add_loop_test(unprepared, reads_rows, 0, (int)(sizeof(row_cases) / sizeof(row_cases[0])));
    tcase_add_test(unprepared, passes_parameters);
    suite_add_tcase(suite, unprepared);

    TCase *expand = tcase_create("expand");
    tcase_set_timeout(expand, 60);
    tcase_add_checked_fixture(expand, set_up, tear_down);
    tcase_add_test(expand, expands_numbers);
    tcase_add_test(expand, expands_odd_keys);
    tcase_add_test(expand, expands_only_null_keys);
    tcase_add_test(expand, expands_composite_keys_and_own_parameters);
    tcase_add_test(expand, expands_three_levels_and_two_collections);
    tcase_add_test(expand, expands_many_batches);
    tcase_add_test(expand, streams_a_million_children_of_one_parent);
    tcase_add_loop_test(expand, suddenly_wide_rows_are_bounded_in_an_expand, 0,
                        (int)ARRAY_SIZE(wide_cases));
    tcase_add_test(expand, a_child_fails);
    suite_add_tcase(suite, expand);

    TCase *leave = tcase_create("leave");
    tcase_set_timeout(leave, 60);
    tcase_add_checked_fixture(leave, set_up, tear_down);
    tcase_add_test(leave, leaving_leaves_nothing_running);
    tcase_add_test(leave, a_connection_of_wide_rows_is_not_kept);
    suite_add_tcase(suite, leave);
    return suite;
}

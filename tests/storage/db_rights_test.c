// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include <check.h>

#include "storage/db_rights.h"
#include "tests/storage/read_fixture.h"

enum {
    ROUNDS = 200,
    AT_ONCE = 12,
    CONNECTIONS = 3,
};

static struct fixture f;

/* Two roles, rows that belong to one of them by policy, and rows that belong to one claim. */
static const char setup_sql[] =
    "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rights_a') THEN"
    " CREATE ROLE rights_a; CREATE ROLE rights_b; END IF; END $$;"
    "DROP TABLE IF EXISTS rights_rows, rights_kids;"
    "CREATE TABLE rights_rows (id int PRIMARY KEY, owner text, who text);"
    "INSERT INTO rights_rows VALUES (1, 'rights_a', 'x'), (2, 'rights_b', 'y'),"
    " (3, 'rights_a', 'x'), (4, 'rights_b', 'y');"
    "CREATE TABLE rights_kids (id int PRIMARY KEY, parent int, owner text);"
    "INSERT INTO rights_kids SELECT g, 1 + (g - 1) / 2, CASE g % 2 WHEN 1 THEN 'rights_a'"
    " ELSE 'rights_b' END FROM generate_series(1, 8) g;"
    "ALTER TABLE rights_rows ENABLE ROW LEVEL SECURITY;"
    "ALTER TABLE rights_kids ENABLE ROW LEVEL SECURITY;"
    "CREATE POLICY own ON rights_rows USING (owner = current_user"
    " AND who = current_setting('request.jwt.claims')::json->>'who');"
    "CREATE POLICY own ON rights_kids USING (owner = current_user);"
    "GRANT SELECT ON rights_rows, rights_kids TO rights_a, rights_b";

static const struct db_rights rights[] = {
    {.id = 1, .role = "rights_a", .claims = "{\"who\":\"x\"}"},
    {.id = 2, .role = "rights_b", .claims = "{\"who\":\"y\"}"},
    {.id = 3, .role = "rights_a", .claims = "{\"who\":\"y\"}"}, /* whose claim fits no row */
};

static void open_pool(bool prepared)
{
    struct pool_options options = fixture_options();
    options.prepared_statements = prepared;
    fixture_open(&f, &options, CONNECTIONS);
    (void)fixture_admin(&f, setup_sql);
}

static void set_up(void)
{
    open_pool(true);
}

static void set_up_unprepared(void)
{
    open_pool(false);
}

static void tear_down(void)
{
    fixture_close(&f);
}

static const char *read_as(const struct db_rights *as, const struct sql_read *read)
{
    f.rights = as;
    return read_text(&f, read);
}

/* By each script: unknown (stream), then known to be short, then shared. */
START_TEST(a_read_has_its_own_rights)
{
    struct simple_read all;
    struct simple_read page;
    struct simple_read one;
    simple_init(&all, "SELECT id FROM rights_rows ORDER BY id", 1, 0);
    simple_init(&page, "SELECT id FROM rights_rows ORDER BY id LIMIT 9", 1, 9);
    simple_init(&one, "SELECT id FROM rights_rows ORDER BY id LIMIT 1", 1, 1);
    const struct simple_read *reads[] = {&all, &page, &one};
    static const char *const expected[][4] = {
        {"1;3;", "2;4;", "", "1;2;3;4;"}, {"1;3;", "2;4;", "", "1;2;3;4;"}, {"1;", "2;", "", "1;"}};
    for (int i = 0; i < 12; i++) {
        for (size_t k = 0; k < ARRAY_SIZE(reads); k++) {
            const struct simple_read *s = reads[(k + (size_t)i) % 3];
            const char *const *want = expected[(k + (size_t)i) % 3];
            ck_assert_str_eq(read_as(&rights[0], &s->read), want[0]);
            ck_assert_str_eq(read_as(&rights[1], &s->read), want[1]);
            ck_assert_str_eq(read_as(&rights[2], &s->read), want[2]);
            ck_assert_str_eq(read_as(NULL, &s->read), want[3]);
        }
    }
}
END_TEST

START_TEST(a_count_has_the_same_rights)
{
    struct simple_read s;
    simple_init(&s, "SELECT id FROM rights_rows ORDER BY id LIMIT 3", 1, 3);
    s.read.has_count = true;
    s.read.count.text = "SELECT count(*) FROM rights_rows";
    for (int i = 0; i < 8; i++) {
        struct reader r;
        int64_t count = 0;
        f.rights = i % 3 == 2 ? NULL : &rights[i % 3];
        ck_assert(reader_open(&r, &f, &s.read));
        ck_assert_int_eq(reader_count(&r, &count), STEP_OK);
        ck_assert_int_eq(count, i % 3 == 2 ? 4 : 2);
        reader_close(&r);
    }
}
END_TEST

/* Parents and their children, each by its own policy. */
START_TEST(children_have_the_rights_of_their_parents)
{
    static const size_t kids[] = {1};
    struct sql_level levels[2] = {
        {.statement = {.text = "SELECT id FROM rights_rows ORDER BY id"},
         .field_count = 1,
         .children = kids,
         .child_count = 1},
        {.statement = {.text = "SELECT p.n, k.id FROM unnest($1::int[]) WITH ORDINALITY p (id, n)"
                               " JOIN rights_kids k ON k.parent = p.id ORDER BY p.n, k.id",
                       .param_count = 1},
         .field_count = 2,
         .parent_keys = (const unsigned[]){0},
         .parent_key_count = 1},
    };
    struct sql_read read = {.levels = levels, .level_count = 2, .has_rows = true};
    for (int i = 0; i < 3; i++) {
        ck_assert_str_eq(read_as(&rights[0], &read), "1(1,1;);3(2,5;);");
        ck_assert_str_eq(read_as(&rights[1], &read), "2(1,4;);4(2,8;);");
        ck_assert_str_eq(read_as(NULL, &read), "1(1,1;1,2;);2(2,3;2,4;);3(3,5;3,6;);4(4,7;4,8;);");
    }
}
END_TEST

/* Reads of several rights at once on few connections, some of which fail or leave in between. */
START_TEST(shared_connections_keep_rights_apart)
{
    struct simple_read good;
    struct simple_read bad;
    simple_init(&good,
                "SELECT current_user, coalesce(current_setting('request.jwt.claims', true), ''),"
                " (SELECT string_agg(id::text, '+' ORDER BY id) FROM rights_rows)",
                3, 1);
    simple_init(&bad, "SELECT 1 / (length(current_user) - length(current_user))", 1, 1);
    static const char *const expected[] = {"rights_a {\"who\":\"x\"} 1+3",
                                           "rights_b {\"who\":\"y\"} 2+4",
                                           "rights_a {\"who\":\"y\"} ~", "postgres  1+2+3+4"};
    unsigned seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        struct reader r[AT_ONCE];
        size_t who[AT_ONCE];
        bool fails[AT_ONCE];
        for (size_t i = 0; i < AT_ONCE; i++) {
            seed = seed * 1103515245U + 12345U;
            who[i] = seed >> 16 & 3;
            fails[i] = (seed >> 20 & 7) == 0;
            f.rights = who[i] == 3 ? NULL : &rights[who[i]];
            ck_assert(reader_open(&r[i], &f, fails[i] ? &bad.read : &good.read));
        }
        size_t leaves = seed >> 24 & 15; /* or nobody */
        if (leaves < AT_ONCE) {
            reader_close(&r[leaves]);
        }
        for (size_t i = 0; i < AT_ONCE; i++) {
            const struct field *fields = NULL;
            if (i == leaves) {
                continue;
            }
            enum step step = reader_next(&r[i], 0, &fields);
            if (fails[i]) {
                ck_assert_int_eq(step, STEP_FAIL);
                ck_assert_int_eq(r[i].err.http_status, 400);
            } else {
                char text[200];
                ck_assert_int_eq(step, STEP_OK);
                (void)snprintf(text, sizeof(text), "%s %s %s", fields[0].ptr, fields[1].ptr,
                               fields[2].len < 0 ? "~" : fields[2].ptr);
                ck_assert_str_eq(text, expected[who[i]]);
            }
            reader_close(&r[i]);
        }
    }
    ck_assert(fixture_wait_quiet(&f, 2000));
}
END_TEST

/* It cannot be taken: told as that, and neighbours do not notice. */
START_TEST(a_role_that_is_not_there_is_refused)
{
    static const struct db_rights nobody = {.id = 9, .role = "rights_nobody", .claims = "{}"};
    struct simple_read one;
    struct simple_read all;
    simple_init(&one, "SELECT id FROM rights_rows ORDER BY id LIMIT 1", 1, 1);
    simple_init(&all, "SELECT id FROM rights_rows ORDER BY id", 1, 0);
    for (int i = 0; i < 6; i++) {
        ck_assert_str_eq(read_as(&nobody, &one.read), "403 Forbidden");
        ck_assert_str_eq(read_as(&nobody, &all.read), "403 Forbidden");
        ck_assert_str_eq(read_as(&rights[1], &one.read), "2;");
        ck_assert_str_eq(read_as(NULL, &one.read), "1;");
    }
}
END_TEST

/* Claims are a parameter, whatever is in them. */
START_TEST(claims_are_passed_as_they_are)
{
    static const struct db_rights odd = {
        .id = 5, .role = "rights_a", .claims = "{\"who\":\"o'neil \\\\ \\\"; DROP ROLE x --\"}"};
    struct simple_read s;
    simple_init(&s, "SELECT current_setting('request.jwt.claims')::json->>'who'", 1, 1);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(read_as(&odd, &s.read), "o'neil \\ \"; DROP ROLE x --;");
    }
}
END_TEST

Suite *db_rights_suite(void);

Suite *db_rights_suite(void)
{
    Suite *s = suite_create("db_rights");
    static const struct {
        const char *name;
        void (*set_up)(void);
    } kinds[] = {{"prepared", set_up}, {"unprepared", set_up_unprepared}};
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        TCase *tc = tcase_create(kinds[i].name);
        tcase_set_timeout(tc, 120);
        tcase_add_checked_fixture(tc, kinds[i].set_up, tear_down);
        tcase_add_test(tc, a_read_has_its_own_rights);
        tcase_add_test(tc, a_count_has_the_same_rights);
        tcase_add_test(tc, children_have_the_rights_of_their_parents);
        tcase_add_test(tc, shared_connections_keep_rights_apart);
        tcase_add_test(tc, a_role_that_is_not_there_is_refused);
        tcase_add_test(tc, claims_are_passed_as_they_are);
        suite_add_tcase(s, tc);
    }
    return s;
}

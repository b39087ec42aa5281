// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <check.h>

#include "tests/storage/read_fixture.h"
#include "tests/storage/shop_database.h"
#include "tests/support/failing_malloc.h"

enum {
    ARENA_BYTES = 4 * 1024 * 1024,
    MOST_ALLOCATIONS = 100000,
};

/* One of each way that memory is asked for: parsing, binding, statements, shapes. */
static const char *const urls[] = {
    "Products(1)",
    "Products(1)/Name/$value",
    "Products/$count?$filter=Price gt 1",
    "Products?$count=true&$top=2&$skip=1&$select=Name,Price&$orderby=Category/Name desc,Price",
    "Products?$filter=contains(Name,'a''b') and Price add 1 gt 2 or ID in (1,2,3,4,5,6,7,8,9)",
    "Products?$filter=Suppliers/any(s:s/Name eq 'x' or startswith(s/Name,'y')) and not (ID eq @a)"
    "&@a=5",
    "Categories?$expand=Products($select=Name;$orderby=Price;$top=2;$expand=Suppliers)",
    "Products?$expand=Category,Suppliers($count=true)",
    "Categories(1)/Products",
    "Orders(1)/Items(2)",
    "Orders?$filter=Placed ge 2020-01-02T03:04:05Z and Handling lt duration'P1D'",
};

static bool is_about_memory(const struct odata_error *err)
{
    return err->http_status == 503 && strcmp(err->code, ODATA_CODE_SERVICE_UNAVAILABLE) == 0 &&
           err->retry_after_s > 0;
}

static bool build(struct bound_request *r, const char *url, const struct sql_read **out_sql)
{
    const struct bind_options options = {.format = {.metadata = METADATA_FULL}};
    const struct sql_read_options sql_options = {.format = options.format,
                                                 .service_root = STR("http://host/")};
    *out_sql = NULL;
    return bound_request_init(r, url, &options, ARENA_BYTES) &&
           sql_read_build(&r->arena, r->plan, &sql_options, out_sql, &r->err);
}

static void check_every_allocation(const char *url, bool stays_short)
{
    struct bound_request r;
    const struct sql_read *sql;
    bool whole = build(&r, url, &sql); /* the model is made outside of the test */
    struct odata_error whole_err = r.err;
    bound_request_fini(&r);
    for (size_t n = 1; n < MOST_ALLOCATIONS; n++) {
        failing_malloc_arm(n, stays_short);
        bool ok = build(&r, url, &sql);
        bool failed = failing_malloc_disarm();
        ck_assert_msg(ok || !failed || is_about_memory(&r.err), "%s: %d %s at allocation %zu", url,
                      r.err.http_status, r.err.message, n);
        bound_request_fini(&r);
        if (!failed) {
            ck_assert_msg(ok == whole, "%s: %s", url, r.err.message);
            ck_assert_msg(whole, "%s: %s", url, whole_err.message);
            return;
        }
    }
    ck_abort_msg("%s never succeeds", url);
}

START_TEST(each_allocation_of_a_request_may_fail)
{
    check_every_allocation(urls[_i], false);
    check_every_allocation(urls[_i], true);
}
END_TEST

/* All rows of a level and of those below it. Returns the step that ended it. */
static enum step read_level(struct reader *r, const struct sql_read *sql, size_t level,
                            size_t *rows)
{
    const struct field *fields;
    enum step step;
    while ((step = reader_next(r, (unsigned)level, &fields)) == STEP_OK) {
        ++*rows;
        for (size_t k = 0; k < sql->levels[level].child_count; k++) {
            if (read_level(r, sql, sql->levels[level].children[k], rows) == STEP_FAIL) {
                return STEP_FAIL;
            }
        }
    }
    return step;
}

static enum step read_all(struct reader *r, const struct sql_read *sql, size_t *rows)
{
    int64_t count = 0;
    if (sql->has_count && reader_count(r, &count) == STEP_FAIL) {
        return STEP_FAIL;
    }
    return sql->has_rows ? read_level(r, sql, 0, rows) : STEP_END;
}

/* What is read: by key, counted, streamed, with children and their children. */
static const char *const read_urls[] = {
    "Products(1)",
    "Products/$count",
    "Products?$count=true&$top=2",
    "Products",
    "Categories?$expand=Products($expand=Suppliers)",
    "Categories?$count=true&$expand=Products($top=1)",
};

START_TEST(each_allocation_of_a_read_may_fail)
{
    PGconn *db = shop_database_open();
    struct fixture f;
    struct bound_request request;
    const struct sql_read *sql = shop_database_sql(&request, read_urls[_i], NULL);
    struct pool_options options = fixture_options();
    fixture_open(&f, &options, 4);
    struct reader r;
    size_t whole = 0;
    ck_assert(reader_open(&r, &f, sql));
    ck_assert_int_eq(read_all(&r, sql, &whole), STEP_END);
    reader_close(&r);
    bool failed = true;
    for (size_t n = 1; failed; n++) {
        size_t rows = 0;
        failing_malloc_arm(n, false);
        bool opened = reader_open(&r, &f, sql);
        enum step step = opened ? read_all(&r, sql, &rows) : STEP_FAIL;
        failed = failing_malloc_disarm();
        ck_assert_msg(step == STEP_END ? rows == whole : r.err.http_status == 503,
                      "%s at allocation %zu: step %d, %zu rows, %d %s", read_urls[_i], n, (int)step,
                      rows, r.err.http_status, r.err.message);
        ck_assert(failed || step == STEP_END);
        if (opened) {
            reader_close(&r);
        }
    }
    ck_assert(fixture_wait_quiet(&f, 5000));
    fixture_close(&f);
    bound_request_fini(&request);
    PQfinish(db);
}
END_TEST

Suite *out_of_memory_suite(void);

Suite *out_of_memory_suite(void)
{
    Suite *suite = suite_create("out_of_memory");
    TCase *tcase = tcase_create("every allocation");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, each_allocation_of_a_request_may_fail, 0,
                        (int)(sizeof(urls) / sizeof(urls[0])));
    tcase_add_loop_test(tcase, each_allocation_of_a_read_may_fail, 0,
                        (int)(sizeof(read_urls) / sizeof(read_urls[0])));
    suite_add_tcase(suite, tcase);
    return suite;
}

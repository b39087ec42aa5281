// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/read_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

static void on_connection(void *ctx, bool up, const char *text)
{
    (void)text;
    struct fixture *f = ctx;
    if (up) {
        f->ups++;
    } else {
        f->downs++;
    }
}

static void on_cancelled(void *ctx)
{
    ((struct fixture *)ctx)->cancels++;
}

static void on_stale(void *ctx)
{
    ((struct fixture *)ctx)->stales++;
}

static void on_notice(void *ctx, const char *text)
{
    (void)text;
    ((struct fixture *)ctx)->notices++;
}

struct pool_options fixture_options(void)
{
    return (struct pool_options){
        .db_uri = "",
        .max_waiting = 100,
        .wait_ms = 5000,
        .connect_timeout_ms = 3000,
        .statement_timeout_ms = 60000,
        .prepared_statements = true,
        .statement_cache_size = 100,
        .fetch_bytes = 65536,
    };
}

static void open_pool(struct fixture *f, const struct pool_options *options)
{
    struct pool_options shared = *options;
    const struct storage_observer observer = {.ctx = f,
                                              .connection = on_connection,
                                              .cancelled = on_cancelled,
                                              .model_stale = on_stale,
                                              .notice = on_notice};
    ck_assert_ptr_nonnull(f->budget);
    shared.budget = f->budget;
    f->pool = pool_new(&shared, test_reactor_get(f->reactor), &observer);
    ck_assert_ptr_nonnull(f->pool);
    f->admin = PQconnectdb("application_name=admin");
    ck_assert_msg(PQstatus(f->admin) == CONNECTION_OK, "%s", PQerrorMessage(f->admin));
    PQclear(PQexec(f->admin, "SET client_min_messages = error"));
}

void fixture_open(struct fixture *f, const struct pool_options *options, size_t size)
{
    *f = (struct fixture){.reactor = test_reactor_new(), .budget = pool_budget_new(size, 1)};
    open_pool(f, options);
}

void fixture_open_two(struct fixture *f, struct fixture *g, size_t size)
{
    const struct pool_options options = fixture_options();
    *f = (struct fixture){.reactor = test_reactor_new(), .budget = pool_budget_new(size, 2)};
    *g = (struct fixture){.reactor = f->reactor, .budget = f->budget, .beside = f};
    open_pool(f, &options);
    open_pool(g, &options);
}

void fixture_close(struct fixture *f)
{
    pool_free(f->pool);
    PQfinish(f->admin);
    if (f->beside == NULL) {
        pool_budget_free(f->budget);
        test_reactor_free(f->reactor);
    }
}

const char *fixture_admin(struct fixture *f, const char *sql)
{
    static char value[256];
    PGresult *res = PQexec(f->admin, sql);
    ExecStatusType status = PQresultStatus(res);
    ck_assert_msg(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, "%s: %s", sql,
                  PQerrorMessage(f->admin));
    (void)snprintf(value, sizeof(value), "%s", PQntuples(res) > 0 ? PQgetvalue(res, 0, 0) : "");
    PQclear(res);
    return value;
}

int fixture_busy_backends(struct fixture *f)
{
    return (int)strtol(fixture_admin(f, "SELECT count(*) FROM pg_stat_activity WHERE"
                                        " application_name = 'sluice' AND state <> 'idle'"),
                       NULL, 10);
}

bool fixture_wait_quiet(struct fixture *f, int64_t timeout_ms)
{
    int64_t until = test_reactor_clock_ms() + timeout_ms;
    while (fixture_busy_backends(f) > 0) {
        if (test_reactor_clock_ms() >= until) {
            return false;
        }
        test_reactor_turn(f->reactor, 5);
    }
    return true;
}

static void on_wake(void *ctx)
{
    struct reader *r = ctx;
    if (r->in_call) {
        ck_abort_msg("wake() from inside a call");
    }
    r->woken++;
}

bool reader_open(struct reader *r, struct fixture *f, const struct sql_read *sql)
{
    *r = (struct reader){.f = f, .in_call = true};
    const struct db_read_options options = {.wake = on_wake, .ctx = r, .rights = f->rights};
    bool ok = db_read_open(f->pool, sql, &options, &r->read, &r->err);
    r->in_call = false;
    return ok;
}

void reader_close(struct reader *r)
{
    r->in_call = true;
    db_read_close(r->read);
    r->read = NULL; /* a wake() from now on would fail the test */
}

enum step reader_try(struct reader *r, unsigned level, const struct field **out_fields)
{
    r->in_call = true;
    enum step step = row_source_next(db_read_source(r->read), level, out_fields, &r->err);
    r->in_call = false;
    return step;
}

static bool was_woken(void *ctx)
{
    return ((struct reader *)ctx)->woken > 0;
}

static void wait_wake(struct reader *r)
{
    if (!test_reactor_until(r->f->reactor, was_woken, r, 20000)) {
        ck_abort_msg("nobody woke the reader");
    }
    r->woken = 0;
}

enum step reader_next(struct reader *r, unsigned level, const struct field **out_fields)
{
    r->woken = 0;
    for (;;) {
        enum step step = reader_try(r, level, out_fields);
        if (step != STEP_AGAIN) {
            return step;
        }
        wait_wake(r);
    }
}

enum step reader_count(struct reader *r, int64_t *out_count)
{
    r->woken = 0;
    for (;;) {
        r->in_call = true;
        enum step step = row_source_count(db_read_source(r->read), out_count, &r->err);
        r->in_call = false;
        if (step != STEP_AGAIN) {
            return step;
        }
        wait_wake(r);
    }
}

static enum step dump_level(struct reader *r, const struct sql_read *sql, size_t level,
                            struct bytes *out)
{
    for (;;) {
        const struct field *fields = NULL;
        enum step step = reader_next(r, (unsigned)level, &fields);
        if (step != STEP_OK) {
            return step;
        }
        for (size_t i = 0; i < sql->levels[level].field_count; i++) {
            if (i > 0) {
                bytes_put_char(out, ',');
            }
            if (fields[i].len < 0) {
                bytes_put_char(out, '~');
            } else {
                bytes_put(out, fields[i].ptr, (size_t)fields[i].len);
            }
        }
        for (size_t k = 0; k < sql->levels[level].child_count; k++) {
            bytes_put_char(out, '(');
            step = dump_level(r, sql, sql->levels[level].children[k], out);
            if (step != STEP_END) {
                return step;
            }
            bytes_put_char(out, ')');
        }
        bytes_put_char(out, ';');
    }
}

enum step reader_dump(struct reader *r, const struct sql_read *sql, struct bytes *out)
{
    return dump_level(r, sql, 0, out);
}

const char *read_text(struct fixture *f, const struct sql_read *sql)
{
    static char text[100000];
    struct reader r;
    struct bytes out;
    bytes_init(&out, sizeof(text) - 1);
    enum step step = STEP_FAIL;
    bool opened = reader_open(&r, f, sql);
    if (opened) {
        step = reader_dump(&r, sql, &out);
    }
    if (step == STEP_END) {
        (void)snprintf(text, sizeof(text), "%.*s", STR_ARG(bytes_str(&out)));
    } else {
        (void)snprintf(text, sizeof(text), "%d %s", r.err.http_status, r.err.code);
    }
    if (opened) {
        reader_close(&r);
    }
    bytes_fini(&out);
    return text;
}

void simple_init(struct simple_read *s, const char *sql, size_t fields, uint64_t row_limit)
{
    *s = (struct simple_read){0};
    s->level.statement.text = sql;
    s->level.field_count = fields;
    s->read.levels = &s->level;
    s->read.level_count = 1;
    s->read.has_rows = true;
    s->read.row_limit = row_limit;
}

// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>

#include "storage/db_read_priv.h"

enum {
    /* A bounded page up to this may be read without a cursor, once its rows are known to be small. */
    SHORT_ROWS = 1000,
    /* What such a page may take in memory, in batches of fetch_bytes. */
    SHORT_BATCHES = 2,
    /* So often a read may be taken along by the failures of its group before it gets its own. */
    MOST_ABORTS = 2,
};

static bool may_enter(enum read_state from, enum read_state to)
{
    switch (to) {
    case READ_WAITING:
    case READ_COMPLETE:
        return from == READ_RUNNING;
    case READ_RUNNING:
        return from == READ_WAITING;
    case READ_FAILED:
        return from == READ_WAITING || from == READ_RUNNING;
    }
    return false;
}

/* The only place that writes r->state. */
void read_enter(struct db_read *r, enum read_state to)
{
    assert(may_enter(r->state, to));
    r->state = to;
}

void read_wake_if_waiting(struct db_read *r)
{
    if (r->waiting) {
        pool_seat_wake(r->pool, &r->seat);
    }
}

void read_drop_results(struct db_read *r)
{
    if (r->has_set) {
        cursor_set_fini(&r->set);
        r->has_set = false;
    }
    PQclear(r->rows);
    r->rows = NULL;
    r->row = -1;
    r->has_count = false;
}

void read_leave(struct db_read *r, enum seat_leave how)
{
    if (r->has_set) {
        cursor_set_detach(&r->set);
    }
    pool_seat_leave(r->pool, &r->seat, r->in_transaction, how);
    r->in_transaction = false;
    r->conn = NULL;
}

void read_fail(struct db_read *r, const struct odata_error *err)
{
    r->err = *err;
    read_leave(r, SEAT_LEAVE_OVER);
    read_enter(r, READ_FAILED);
    read_wake_if_waiting(r);
}

void read_fail_memory(struct db_read *r)
{
    struct odata_error err;
    (void)odata_error_out_of_memory(&err);
    read_fail(r, &err);
}

int64_t read_now_ms(const struct db_read *r)
{
    struct reactor *reactor = pool_get_reactor(r->pool);
    return reactor->now_ms(reactor);
}

static bool has_values(const struct db_read *r)
{
    return r->sql->has_rows && r->sql->levels[0].statement.param_count > 0;
}

/* A short statement may share. Its errors are its own: one that fails has its own group. */
void read_choose_seat(struct db_read *r)
{
    struct statement_stat stat = statement_stats_get(pool_get_stats(r->pool), main_hash(r));
    r->is_prepared = r->retries == 0 && read_now_ms(r) >= stat.planned_until_ms;
    /* For one row by its key, any plan is the right one. */
    r->seat.may_plan_better =
        r->is_prepared && r->sql->row_limit != 1 && pool_get_options(r->pool)->prepared_statements;
    bool shares = r->script == SCRIPT_SHORT && stat.credit > 0 && r->retries == 0;
    bool is_long = r->script == SCRIPT_STREAM || stat.credit < 0;
    r->is_trial =
        shares && has_values(r) && r->seat.may_plan_better &&
        statement_stats_wants_trial(pool_get_stats(r->pool), r->rows_hash, read_now_ms(r));
    r->plan = !r->seat.may_plan_better                     ? PLAN_ANY
              : r->is_trial                                ? PLAN_MADE
              : shares && statement_stat_keeps_plan(&stat) ? PLAN_KEPT
                                                           : PLAN_CHOSEN;
    r->seat.kind = shares && !r->is_trial ? SEAT_SHARED : is_long ? SEAT_STREAM : SEAT_OWN;
    r->seat.is_alone = r->aborts >= MOST_ABORTS || read_now_ms(r) < stat.fails_until_ms;
}

/* The row source. */

static enum step tell_failure(const struct db_read *r, struct odata_error *err)
{
    *err = r->err;
    return STEP_FAIL;
}

static enum step tell_again(struct db_read *r)
{
    r->waiting = true;
    return STEP_AGAIN;
}

/* All rows came: the transaction ends, and the connection is free. */
static void complete_stream(struct db_read *r)
{
    statement_stats_size(pool_get_stats(r->pool), r->rows_hash, r->set.rows, r->set.rows_bytes);
    cursor_set_detach(&r->set);
    conn_send_once(r->conn, NULL, NULL, "COMMIT", NULL, 0);
    conn_sync(r->conn, NULL);
    r->in_transaction = false;
    read_leave(r, SEAT_LEAVE_OVER);
    read_enter(r, READ_COMPLETE);
}

/* Takes what has come. False: nothing that anybody waits for. */
static bool pump(struct db_read *r)
{
    unsigned before = r->arrivals;
    conn_pump(r->conn);
    return r->state != READ_RUNNING || r->arrivals != before;
}

static enum step next_streamed(struct db_read *r, unsigned level, const struct field **out_fields,
                               struct odata_error *err)
{
    for (;;) {
        enum step step = cursor_set_next(&r->set, level, out_fields);
        if (UNLIKELY(r->set.unsynced)) {
            read_sync_if_needed(r);
        }
        if (LIKELY(step == STEP_OK)) {
            r->delivered = true;
            return STEP_OK;
        }
        if (cursor_set_failed(&r->set)) {
            read_fail_memory(r);
            return tell_failure(r, err);
        }
        if (step == STEP_END) {
            if (level == 0) {
                r->delivered = true;
                complete_stream(r);
            }
            return STEP_END;
        }
        if (!pump(r) || r->state == READ_WAITING) {
            return tell_again(r);
        }
        if (r->state == READ_FAILED) {
            return tell_failure(r, err);
        }
    }
}

static enum step next_short(struct db_read *r, unsigned level, const struct field **out_fields)
{
    if (level != 0 || r->rows == NULL || r->row + 1 >= PQntuples(r->rows)) {
        return STEP_END;
    }
    r->row++;
    (void)cursor_fill_fields(r->rows, r->row, r->sql->levels[0].field_count, r->fields);
    *out_fields = r->fields;
    return STEP_OK;
}

static enum step source_next(struct row_source *s, unsigned level, const struct field **out_fields,
                             struct odata_error *err)
{
    struct db_read *r = (struct db_read *)s;
    switch (r->state) {
    case READ_WAITING:
        return tell_again(r);
    case READ_RUNNING:
        return is_short(r) ? tell_again(r) : next_streamed(r, level, out_fields, err);
    case READ_COMPLETE:
        return is_short(r) ? next_short(r, level, out_fields) : STEP_END;
    case READ_FAILED:
        break;
    }
    return tell_failure(r, err);
}

static enum step source_count(struct row_source *s, int64_t *out_count, struct odata_error *err)
{
    struct db_read *r = (struct db_read *)s;
    while (!r->has_count && r->state == READ_RUNNING && !is_short(r)) {
        if (!pump(r)) {
            break;
        }
    }
    if (r->state == READ_FAILED) {
        return tell_failure(r, err);
    }
    bool is_here = r->has_count && (r->state == READ_COMPLETE || !is_short(r));
    if (!is_here) {
        return tell_again(r);
    }
    r->delivered = true;
    *out_count = r->count;
    return STEP_OK;
}

static const struct row_source_ops source_ops = {.next = source_next, .count = source_count};

/* Opening. */

/* The whole result may be held in memory: it is one row, or few that are known to be small. */
static bool is_small(const struct db_read *r, const struct statement_stat *stat)
{
    uint64_t limit = r->sql->row_limit;
    uint64_t room = pool_get_options(r->pool)->fetch_bytes * SHORT_BATCHES;
    return limit == 1 ||
           (limit > 0 && limit <= SHORT_ROWS && stat->total_bytes > 0 && stat->total_bytes <= room);
}

static void decide(struct db_read *r)
{
    const struct sql_read *sql = r->sql;
    const struct statement_stats *stats = pool_get_stats(r->pool);
    struct statement_stat stat = statement_stats_get(stats, main_hash(r));
    if (!sql->has_rows) {
        r->script = SCRIPT_SHORT;
    } else if (sql->level_count == 1 && is_small(r, &stat)) {
        r->script = sql->has_count ? SCRIPT_SNAPSHOT : SCRIPT_SHORT;
    } else {
        r->script = SCRIPT_STREAM;
    }
    read_choose_seat(r);
}

bool db_read_open(struct pool *pool, const struct sql_read *sql,
                  const struct db_read_options *options, struct db_read **out_read,
                  struct odata_error *err)
{
    struct db_read *r = calloc(1, sizeof(*r));
    size_t field_count = sql->has_rows ? sql->levels[0].field_count : 0;
    if (r != NULL) {
        r->fields = calloc(field_count + 1, sizeof(*r->fields));
    }
    if (r == NULL || r->fields == NULL) {
        free(r);
        return odata_error_out_of_memory(err);
    }
    r->source.ops = &source_ops;
    r->seat.client.ops = &read_client_ops;
    r->seat.ops = &read_seat_ops;
    r->pool = pool;
    r->sql = sql;
    r->options = *options;
    r->row = -1;
    const struct db_rights *rights = options->rights;
    r->seat.rights_id = db_rights_id(rights);
    r->rows_hash = sql->has_rows ? db_rights_hash(rights, sql->levels[0].statement.text) : 0;
    r->count_hash = sql->has_count ? db_rights_hash(rights, sql->count.text) : 0;
    decide(r);
    if (!pool_seat_take(pool, &r->seat, err)) {
        free(r->fields);
        free(r);
        return false;
    }
    *out_read = r;
    return true;
}

struct row_source *db_read_source(struct db_read *r)
{
    return &r->source;
}

void db_read_close(struct db_read *r)
{
    if (r == NULL) {
        return;
    }
    read_leave(r, SEAT_LEAVE_ABANDONED);
    pool_seat_sleep(r->pool, &r->seat);
    read_drop_results(r);
    free(r->fields);
    free(r);
}

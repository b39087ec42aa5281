// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "storage/db_read_priv.h"
#include "storage/pg_error.h"

enum {
    /* So often it starts again when its connection was ended from outside: an operator or a shutdown
       ends all of them, and the next one may be about to end as well. */
    MOST_RETRIES = 3,
};

/* Its statement has been running for STATEMENT_SLOW_MS on a shared connection. */
void read_note_slow(struct db_read *r)
{
    struct statement_stats *stats = pool_get_stats(r->pool);
    if (r->is_noted) {
        return;
    }
    r->is_noted = true;
    statement_stats_ran(stats, main_hash(r), STATEMENT_SLOW_MS);
    if (r->seat.may_plan_better) {
        statement_stats_distrust_plan(stats, main_hash(r), read_now_ms(r));
    }
}

/* A statement that makes the server crash must not do so again and again. */
static bool can_retry(const struct db_read *r)
{
    return !r->delivered && r->retries < (r->was_ended ? MOST_RETRIES : 1);
}

/* From the beginning, on whatever connection it gets; nobody has seen anything of the first try. */
static void start_again(struct db_read *r)
{
    read_leave(r, SEAT_LEAVE_OVER);
    read_drop_results(r);
    r->retries++;
    r->was_ended = false;
    r->last_words.http_status = 0;
    read_enter(r, READ_WAITING);
    read_choose_seat(r);
    pool_seat_take_again(r->pool, &r->seat);
}

/* A neighbour in its group failed before it had its turn: it has not run, and goes again. */
static void start_over(struct db_read *r)
{
    read_leave(r, SEAT_LEAVE_OVER);
    read_enter(r, READ_WAITING);
    r->aborts++;
    read_choose_seat(r);
    pool_seat_take_again(r->pool, &r->seat);
}

static void on_lost(struct conn_client *client, const char *text)
{
    struct db_read *r = of_client(client);
    pool_seat_lose(r->pool, &r->seat);
    if (can_retry(r)) {
        start_again(r);
        return;
    }
    struct odata_error err = r->last_words;
    if (err.http_status == 0) {
        pg_error_set(&err, NULL, text);
    }
    read_fail(r, &err);
}

/*
 * Failures that are not this read's own: a prepared statement that is out of date or not there, and
 * a cancel that was meant for a neighbour.
 */
static bool is_not_ours(const struct db_read *r, const char *sqlstate)
{
    return strcmp(sqlstate, "26000") == 0 || strcmp(sqlstate, "0A000") == 0 ||
           (strcmp(sqlstate, "57014") == 0 && pool_seat_may_be_hit(&r->seat));
}

/*
 * The SQLSTATE, where one of PostgreSQL's has two meanings: 0A000 says of a cached plan that its
 * tables have changed, and of anything else that it cannot be done.
 */
static const char *state_of(const PGresult *res)
{
    const char *sqlstate = PQresultErrorField(res, PG_DIAG_SQLSTATE);
    const char *function = PQresultErrorField(res, PG_DIAG_SOURCE_FUNCTION);
    if (sqlstate == NULL) {
        return "";
    }
    if (strcmp(sqlstate, "0A000") == 0 &&
        (function == NULL || strcmp(function, "RevalidateCachedQuery") != 0)) {
        return "0A";
    }
    return sqlstate;
}

/* The statement's own guard has failed: the path's entity is missing (storage/sql_path.c). */
static bool is_missing_parent(const struct db_read *r, const char *sqlstate, const char *text)
{
    return r->sql->guards_parent && strcmp(sqlstate, "22P02") == 0 && text != NULL &&
           strstr(text, SQL_GUARD_WORD) != NULL;
}

static void on_error(struct db_read *r, const PGresult *res)
{
    const char *sqlstate = state_of(res);
    const char *text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
    if (conn_result_ends(res)) {
        /* The connection is going; on_lost() decides. 57P01: an administrator, 57P05: it was idle. */
        r->was_ended = strcmp(sqlstate, "57P01") == 0 || strcmp(sqlstate, "57P05") == 0;
        pg_error_set(&r->last_words, sqlstate, text == NULL ? PQresultErrorMessage(res) : text);
        return;
    }
    if (pg_error_is_stale_model(sqlstate)) {
        pool_report_stale_model(r->pool);
    }
    if (can_retry(r) && is_not_ours(r, sqlstate)) {
        if (strcmp(sqlstate, "57014") == 0) {
            read_note_slow(r); /* the cancel of its group has hit the one that was running */
        }
        start_again(r);
        return;
    }
    statement_stats_failed(pool_get_stats(r->pool), main_hash(r), read_now_ms(r));
    struct odata_error err;
    pg_error_set(&err, sqlstate, text);
    if (is_missing_parent(r, sqlstate, text)) {
        (void)odata_error_set(&err, 404, ODATA_CODE_NOT_FOUND, "",
                              "an entity of the path does not exist");
    }
    read_fail(r, &err);
}

/* The role is not there, or the login role is no member of it: the operator's to mend. */
static void on_rights_refused(struct db_read *r, const PGresult *res)
{
    const char *sqlstate = state_of(res);
    if (conn_result_ends(res) ||
        (strcmp(sqlstate, "22023") != 0 && strcmp(sqlstate, "42501") != 0)) {
        on_error(r, res);
        return;
    }
    struct odata_error err;
    db_rights_refused(&err, sqlstate, PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY));
    read_fail(r, &err);
}

static void on_progress(struct db_read *r)
{
    r->arrivals++;
    if (!is_short(r)) {
        conn_pause(r->conn); /* the rest stays in the socket until somebody asks */
        read_wake_if_waiting(r);
    }
}

/* Other columns, or other types, than the model says: values must not be written by the old ones. */
static void fail_bad_result(struct db_read *r)
{
    struct odata_error err;
    pool_report_stale_model(r->pool);
    pg_error_set(&err, "42804", "the columns of the result are not those of the model");
    read_fail(r, &err);
}

static void take_count(struct db_read *r, PGresult *res)
{
    bool good = PQntuples(res) == 1 && PQnfields(res) >= 1 && !PQgetisnull(res, 0, 0);
    r->count = good ? strtoll(PQgetvalue(res, 0, 0), NULL, 10) : 0;
    r->has_count = good;
    PQclear(res);
    if (good) {
        on_progress(r);
    } else {
        fail_bad_result(r);
    }
}

static void take_rows(struct db_read *r, PGresult *res)
{
    PQclear(r->rows);
    r->rows = res;
    r->row = -1;
    if (!cursor_result_fits(&r->sql->levels[0], res)) {
        fail_bad_result(r);
    }
}

static void take_fetched(struct db_read *r, void *arg, PGresult *res)
{
    bool has_news = cursor_set_result(&r->set, arg, res);
    if (cursor_set_failed(&r->set)) {
        if (r->set.bad_result) {
            fail_bad_result(r);
        } else {
            read_fail_memory(r);
        }
        return;
    }
    read_sync_if_needed(r);
    if (has_news) {
        on_progress(r);
    }
}

static void learn(struct db_read *r, int64_t ran_ms)
{
    struct statement_stats *stats = pool_get_stats(r->pool);
    bool is_shared = r->seat.kind == SEAT_SHARED; /* slow ones have been told of by on_slow() */
    if (r->script == SCRIPT_SHORT && !(is_shared && ran_ms >= STATEMENT_SLOW_MS)) {
        statement_stats_ran(stats, main_hash(r), ran_ms);
        if (ran_ms >= STATEMENT_SLOW_MS && r->seat.may_plan_better) {
            statement_stats_distrust_plan(stats, main_hash(r), read_now_ms(r));
        }
    }
    if (r->rows != NULL) {
        statement_stats_size(stats, r->rows_hash, (uint64_t)PQntuples(r->rows),
                             PQresultMemorySize(r->rows));
    }
}

static void complete_short(struct db_read *r, int64_t ran_ms)
{
    learn(r, ran_ms);
    r->in_transaction = false;
    read_leave(r, SEAT_LEAVE_OVER);
    read_enter(r, READ_COMPLETE);
    read_wake_if_waiting(r);
}

static void on_result(struct conn_client *client, void *arg, PGresult *res)
{
    struct db_read *r = of_client(client);
    ExecStatusType status = PQresultStatus(res);
    if (r->is_trial && plan_trial_has(&r->trial, arg)) {
        plan_trial_take(&r->trial, arg, res);
        PQclear(res);
        return;
    }
    if (status == PGRES_PIPELINE_ABORTED) {
        PQclear(res);
        if (r->seat.kind == SEAT_SHARED) {
            start_over(r);
        }
        return; /* alone at its connection: the error before it has been told */
    }
    if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        if (arg == &r->tag_rights) {
            on_rights_refused(r, res);
        } else {
            on_error(r, res);
        }
        PQclear(res);
        return;
    }
    if (arg == &r->tag_rights) {
        PQclear(res);
        return;
    }
    if (arg == &r->tag_count) {
        take_count(r, res);
    } else if (arg == &r->tag_rows) {
        take_rows(r, res);
    } else if (arg == &r->tag_plain) {
        PQclear(res);
    } else {
        take_fetched(r, arg, res);
    }
    if (r->state == READ_RUNNING && r->seat.kind == SEAT_SHARED) {
        complete_short(r, pool_seat_ran_ms(&r->seat)); /* it has no other statement */
    }
}

static void on_synced(struct conn_client *client, int64_t ran_ms)
{
    struct db_read *r = of_client(client);
    if (r->is_trial) {
        statement_stats_tried(pool_get_stats(r->pool), r->rows_hash,
                              plan_trial_are_alike(&r->trial), read_now_ms(r));
    }
    if (is_short(r) && r->last_words.http_status == 0) {
        complete_short(r, ran_ms);
    }
}

const struct conn_client_ops read_client_ops = {
    .result = on_result, .synced = on_synced, .lost = on_lost};

// SPDX-License-Identifier: Apache-2.0
#include "storage/db_read.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "storage/cursor.h"
#include "storage/pg_error.h"
#include "storage/plan_trial.h"
#include "storage/pool_priv.h"

enum {
    /* A bounded page up to this may be read without a cursor, once its rows are known to be small. */
    SHORT_ROWS = 1000,
    /* What such a page may take in memory, in batches of fetch_bytes. */
    SHORT_BATCHES = 2,
    /* So often a read may be taken along by the failures of its group before it gets its own. */
    MOST_ABORTS = 2,
    /* So often it starts again when its connection was ended from outside: an operator or a shutdown
       ends all of them, and the next one may be about to end as well. */
    MOST_RETRIES = 3,
};

enum read_script {
    SCRIPT_SHORT,    /* one statement, autocommit, its whole result in memory */
    SCRIPT_SNAPSHOT, /* BEGIN, count, rows, COMMIT in one round trip, as small as that */
    SCRIPT_STREAM,   /* a transaction with cursors */
};

/* WAITING -> RUNNING -> COMPLETE; RUNNING -> WAITING (when it starts again); all -> FAILED. */
enum read_state {
    READ_WAITING,  /* in line for a connection */
    READ_RUNNING,  /* has a connection */
    READ_COMPLETE, /* all came without an error, and the connection is given back */
    READ_FAILED,   /* err says why; holds no connection */
};

struct db_read {
    struct row_source source; /* first */
    struct pool_seat seat;
    struct pool *pool;
    const struct sql_read *sql;
    struct db_read_options options;
    enum read_script script;
    enum read_state state;
    struct conn *conn;
    struct odata_error err;
    struct odata_error last_words; /* of a backend that is about to close the connection */
    uint64_t rows_hash;
    uint64_t count_hash;

    bool waiting;        /* somebody was told STEP_AGAIN */
    bool delivered;      /* something was handed out: it cannot start again */
    bool is_noted;       /* as slow */
    bool is_prepared;    /* or will be */
    bool is_trial;       /* its plans are compared on this run */
    bool was_ended;      /* last_words say that the statement is not to blame */
    bool in_transaction; /* BEGIN was sent, and nothing that surely ends it */
    enum plan_mode plan;
    struct plan_trial trial;
    unsigned arrivals; /* results that somebody may wait for */
    unsigned aborts;   /* failures of neighbours that it was taken along by */
    unsigned retries;  /* how often it has started again for another reason */

    bool has_count;
    int64_t count;

    PGresult *rows; /* SHORT, SNAPSHOT */
    int row;
    struct field *fields;

    bool has_set; /* STREAM */
    struct cursor_set set;

    char tag_plain; /* addresses mark whose result it is */
    char tag_count;
    char tag_rows;
    char tag_rights;
};

static struct db_read *of_seat(struct pool_seat *seat)
{
    return (struct db_read *)(void *)((char *)seat - offsetof(struct db_read, seat));
}

static struct db_read *of_client(struct conn_client *client)
{
    return of_seat((struct pool_seat *)client); /* its first member */
}

static bool is_short(const struct db_read *r)
{
    return r->script != SCRIPT_STREAM;
}

static uint64_t main_hash(const struct db_read *r)
{
    return r->sql->has_rows ? r->rows_hash : r->count_hash;
}

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
static void read_enter(struct db_read *r, enum read_state to)
{
    assert(may_enter(r->state, to));
    r->state = to;
}

static void wake_if_waiting(struct db_read *r)
{
    if (r->waiting) {
        pool_seat_wake(r->pool, &r->seat);
    }
}

static void drop_results(struct db_read *r)
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

static void leave(struct db_read *r, enum seat_leave how)
{
    if (r->has_set) {
        cursor_set_detach(&r->set);
    }
    pool_seat_leave(r->pool, &r->seat, r->in_transaction, how);
    r->in_transaction = false;
    r->conn = NULL;
}

static void fail(struct db_read *r, const struct odata_error *err)
{
    r->err = *err;
    leave(r, SEAT_LEAVE_OVER);
    read_enter(r, READ_FAILED);
    wake_if_waiting(r);
}

/* Sending. */

static void send_plain(struct db_read *r, const char *text)
{
    conn_send_once(r->conn, &r->seat.client, &r->tag_plain, text, NULL, 0);
}

static void send_rights(struct db_read *r)
{
    db_rights_send(r->options.rights, r->conn, &r->seat.client, &r->tag_rights);
}

/*
 * What starts again is not prepared: on another connection what is kept under this text may be as much
 * out of date as what failed.
 */
static void send_statement(struct db_read *r, void *tag, const struct sql_statement *statement,
                           uint64_t hash)
{
    if (!r->is_prepared) {
        conn_send_once(r->conn, &r->seat.client, tag, statement->text, statement->params,
                       statement->param_count);
    } else {
        conn_send(r->conn, &r->seat.client, tag, statement, hash, r->plan);
    }
}

static void send_count(struct db_read *r)
{
    send_statement(r, &r->tag_count, &r->sql->count, r->count_hash);
}

static void send_short(struct db_read *r)
{
    bool both = r->script == SCRIPT_SNAPSHOT;
    if (both) {
        r->in_transaction = true;
        send_plain(r, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    }
    send_rights(r);
    if (r->sql->has_count) {
        send_count(r);
    }
    if (r->sql->has_rows) {
        send_statement(r, &r->tag_rows, &r->sql->levels[0].statement, r->rows_hash);
    }
    if (both) {
        send_plain(r, "COMMIT");
    }
    if (r->is_trial) {
        r->is_trial = plan_trial_send(&r->trial, r->conn, &r->seat.client,
                                      &r->sql->levels[0].statement, r->rows_hash);
    }
    if (r->seat.kind != SEAT_SHARED) {
        conn_sync(r->conn, &r->seat.client);
    }
}

/* False: memory is short. */
static bool send_stream(struct db_read *r)
{
    struct statement_stat stat = statement_stats_get(pool_get_stats(r->pool), r->rows_hash);
    if (!cursor_set_init(&r->set, r->sql, pool_get_options(r->pool)->fetch_bytes, stat.row_bytes)) {
        return false;
    }
    r->has_set = true;
    r->in_transaction = true;
    bool one_statement = r->sql->level_count == 1 && !r->sql->has_count;
    send_plain(r, one_statement ? "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
                                : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    send_rights(r);
    if (r->sql->row_limit == 0) {
        /* All rows will be wanted: plan for the last one, not for the first. */
        send_plain(r, "SET LOCAL cursor_tuple_fraction = 1");
    }
    if (r->sql->has_count) {
        send_count(r);
    }
    conn_widen(r->conn, &r->seat.client, &r->tag_plain);
    cursor_set_start(&r->set, r->conn, &r->seat.client);
    if (cursor_set_failed(&r->set)) {
        return false; /* no row would ever come, and nobody be told */
    }
    conn_sync(r->conn, &r->seat.client);
    r->set.unsynced = false;
    if (!r->waiting) {
        conn_pause(r->conn);
    }
    return true;
}

static void sync_if_needed(struct db_read *r)
{
    if (r->set.unsynced) {
        r->set.unsynced = false;
        conn_sync(r->conn, &r->seat.client);
    }
}

static void fail_memory(struct db_read *r)
{
    struct odata_error err;
    (void)odata_error_out_of_memory(&err);
    fail(r, &err);
}

static void on_seated(struct pool_seat *seat, struct conn *conn)
{
    struct db_read *r = of_seat(seat);
    r->conn = conn;
    read_enter(r, READ_RUNNING);
    if (r->options.seated != NULL) {
        r->options.seated(r->options.ctx);
    }
    if (is_short(r)) {
        send_short(r);
    } else if (!send_stream(r)) {
        fail_memory(r);
    }
}

static void on_refused(struct pool_seat *seat, const struct odata_error *err)
{
    fail(of_seat(seat), err);
}

static int64_t now_ms(const struct db_read *r)
{
    struct reactor *reactor = pool_get_reactor(r->pool);
    return reactor->now_ms(reactor);
}

/* Its statement has been running for STATEMENT_SLOW_MS on a shared connection. */
static void note_slow(struct db_read *r)
{
    struct statement_stats *stats = pool_get_stats(r->pool);
    if (r->is_noted) {
        return;
    }
    r->is_noted = true;
    statement_stats_ran(stats, main_hash(r), STATEMENT_SLOW_MS);
    if (r->seat.may_plan_better) {
        statement_stats_distrust_plan(stats, main_hash(r), now_ms(r));
    }
}

static void on_slow(struct pool_seat *seat, size_t neighbours)
{
    if (neighbours == 0) { /* else nobody knows who it is; the cancel will hit it */
        note_slow(of_seat(seat));
    }
}

static void on_wake(struct pool_seat *seat)
{
    struct db_read *r = of_seat(seat);
    r->waiting = false;
    if (r->options.wake != NULL) {
        r->options.wake(r->options.ctx);
    }
}

static const struct pool_seat_ops seat_ops = {
    .seated = on_seated, .refused = on_refused, .slow = on_slow, .wake = on_wake};

/* Results. */

/* A statement that makes the server crash must not do so again and again. */
static bool can_retry(const struct db_read *r)
{
    return !r->delivered && r->retries < (r->was_ended ? MOST_RETRIES : 1);
}

static bool has_values(const struct db_read *r)
{
    return r->sql->has_rows && r->sql->levels[0].statement.param_count > 0;
}

/* A short statement may share. Its errors are its own: one that fails has its own group. */
static void choose_seat(struct db_read *r)
{
    struct statement_stat stat = statement_stats_get(pool_get_stats(r->pool), main_hash(r));
    r->is_prepared = r->retries == 0 && now_ms(r) >= stat.planned_until_ms;
    /* For one row by its key, any plan is the right one. */
    r->seat.may_plan_better =
        r->is_prepared && r->sql->row_limit != 1 && pool_get_options(r->pool)->prepared_statements;
    bool shares = r->script == SCRIPT_SHORT && stat.credit > 0 && r->retries == 0;
    bool is_long = r->script == SCRIPT_STREAM || stat.credit < 0;
    r->plan = !r->seat.may_plan_better                     ? PLAN_ANY
              : shares && statement_stat_keeps_plan(&stat) ? PLAN_KEPT
                                                           : PLAN_CHOSEN;
    r->is_trial = shares && has_values(r) && r->seat.may_plan_better &&
                  statement_stats_wants_trial(pool_get_stats(r->pool), r->rows_hash, now_ms(r));
    r->seat.kind = shares && !r->is_trial ? SEAT_SHARED : is_long ? SEAT_STREAM : SEAT_OWN;
    r->seat.is_alone = r->aborts >= MOST_ABORTS || now_ms(r) < stat.fails_until_ms;
}

/* From the beginning, on whatever connection it gets; nobody has seen anything of the first try. */
static void start_again(struct db_read *r)
{
    leave(r, SEAT_LEAVE_OVER);
    drop_results(r);
    r->retries++;
    r->was_ended = false;
    r->last_words.http_status = 0;
    read_enter(r, READ_WAITING);
    choose_seat(r);
    pool_seat_take_again(r->pool, &r->seat);
}

/* A neighbour in its group failed before it had its turn: it has not run, and goes again. */
static void start_over(struct db_read *r)
{
    leave(r, SEAT_LEAVE_OVER);
    read_enter(r, READ_WAITING);
    r->aborts++;
    choose_seat(r);
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
    fail(r, &err);
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
            note_slow(r); /* the cancel of its group has hit the one that was running */
        }
        start_again(r);
        return;
    }
    statement_stats_failed(pool_get_stats(r->pool), main_hash(r), now_ms(r));
    struct odata_error err;
    pg_error_set(&err, sqlstate, text);
    if (is_missing_parent(r, sqlstate, text)) {
        (void)odata_error_set(&err, 404, ODATA_CODE_NOT_FOUND, "",
                              "an entity of the path does not exist");
    }
    fail(r, &err);
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
    const char *text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
    (void)odata_error_set(&err, 403, ODATA_CODE_FORBIDDEN, "",
                          "the database does not let this service act for the caller's role");
    (void)snprintf(err.internal, sizeof(err.internal), "sqlstate=%s %s", sqlstate,
                   text == NULL ? "" : text);
    fail(r, &err);
}

static void on_progress(struct db_read *r)
{
    r->arrivals++;
    if (!is_short(r)) {
        conn_pause(r->conn); /* the rest stays in the socket until somebody asks */
        wake_if_waiting(r);
    }
}

/* Other columns, or other types, than the model says: values must not be written by the old ones. */
static void fail_bad_result(struct db_read *r)
{
    struct odata_error err;
    pool_report_stale_model(r->pool);
    pg_error_set(&err, "42804", "the columns of the result are not those of the model");
    fail(r, &err);
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
            fail_memory(r);
        }
        return;
    }
    sync_if_needed(r);
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
            statement_stats_distrust_plan(stats, main_hash(r), now_ms(r));
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
    leave(r, SEAT_LEAVE_OVER);
    read_enter(r, READ_COMPLETE);
    wake_if_waiting(r);
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
                              plan_trial_are_alike(&r->trial), now_ms(r));
    }
    if (is_short(r) && r->last_words.http_status == 0) {
        complete_short(r, ran_ms);
    }
}

static const struct conn_client_ops client_ops = {
    .result = on_result, .synced = on_synced, .lost = on_lost};

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
    leave(r, SEAT_LEAVE_OVER);
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
            sync_if_needed(r);
        }
        if (LIKELY(step == STEP_OK)) {
            r->delivered = true;
            return STEP_OK;
        }
        if (cursor_set_failed(&r->set)) {
            fail_memory(r);
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
    choose_seat(r);
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
    r->seat.client.ops = &client_ops;
    r->seat.ops = &seat_ops;
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
    leave(r, SEAT_LEAVE_ABANDONED);
    pool_seat_sleep(r->pool, &r->seat);
    drop_results(r);
    free(r->fields);
    free(r);
}

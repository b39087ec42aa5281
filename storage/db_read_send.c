// SPDX-License-Identifier: Apache-2.0
#include "storage/db_read_priv.h"

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

void read_sync_if_needed(struct db_read *r)
{
    if (r->set.unsynced) {
        r->set.unsynced = false;
        conn_sync(r->conn, &r->seat.client);
    }
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
        read_fail_memory(r);
    }
}

static void on_refused(struct pool_seat *seat, const struct odata_error *err)
{
    read_fail(of_seat(seat), err);
}

static void on_slow(struct pool_seat *seat, size_t neighbours)
{
    if (neighbours == 0) { /* else nobody knows who it is; the cancel will hit it */
        read_note_slow(of_seat(seat));
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

const struct pool_seat_ops read_seat_ops = {
    .seated = on_seated, .refused = on_refused, .slow = on_slow, .wake = on_wake};

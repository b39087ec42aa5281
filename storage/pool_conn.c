// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>

#include "storage/pool_parts.h"

enum {
    /* A connection left by its read: so long it may take to end by itself. */
    CLEAN_GRACE_MS = 50,
    /* The same when nothing but COMMIT or ROLLBACK is awaited. */
    CLEAN_MOST_MS = 1000,
    /* An abandoned short read: so long it may run before it is cancelled. */
    SHARED_GRACE_MS = 250,
    /* From the cancel to the closing of a connection that does not become quiet. */
    CANCEL_DEADLINE_MS = 2000,
    IDLE_MOST_MS = 5 * 60 * 1000,
    LIFETIME_MS = 30 * 60 * 1000,
};

struct cancel_job {
    struct blocking_job job;
    struct pool_conn *pc; /* NULL: the connection is closed */
    PGcancel *cancel;
};

static void set_conn_timer(struct pool_conn *pc, int64_t deadline_ms)
{
    struct reactor *r = pc->pool->reactor;
    r->set_timer(r, &pc->timer, deadline_ms);
}

static bool use_may_follow(enum pool_use from, enum pool_use to)
{
    switch (to) {
    case USE_IDLE:
        return from != USE_IDLE;
    case USE_SHARED:
    case USE_LENT:
        return from == USE_IDLE;
    case USE_CLEANING:
        return from == USE_LENT;
    case USE_CANCELLING:
        return from == USE_SHARED || from == USE_CLEANING;
    }
    return false;
}

static void end_stream(struct pool_conn *pc)
{
    if (pc->is_stream) {
        pc->is_stream = false;
        pool_budget_give(pc->pool->budget, BUDGET_STREAMS);
    }
}

/* The only place that writes pc->use. */
void pool_conn_enter(struct pool_conn *pc, enum pool_use to)
{
    assert(use_may_follow(pc->use, to));
    int64_t now_ms = pool_now(pc->pool);
    pc->use = to;
    switch (to) {
    case USE_IDLE:
        end_stream(pc);
        pc->draining = false;
        pc->conn.is_brief = false;
        pc->lent_to = NULL;
        pc->idle_since_ms = now_ms;
        pc->idle_order = ++pc->pool->idle_orders;
        if (pc->timer.deadline_ms == 0) {
            set_conn_timer(pc, now_ms + IDLE_MOST_MS);
        }
        break;
    case USE_SHARED:
        pc->conn.is_brief = true;
        if (pc->timer.deadline_ms == 0 || pc->timer.deadline_ms > now_ms + STATEMENT_SLOW_MS) {
            set_conn_timer(pc, now_ms + STATEMENT_SLOW_MS);
        }
        break;
    case USE_LENT:
    case USE_CLEANING: /* pool_conn_clean() knows how long it may take */
        break;
    case USE_CANCELLING:
        set_conn_timer(pc, now_ms + CANCEL_DEADLINE_MS);
        break;
    }
}

void pool_conn_close(struct pool_conn *pc)
{
    if (pc->cancel != NULL) {
        pc->cancel->pc = NULL;
        pc->cancel = NULL;
    }
    end_stream(pc);
    set_conn_timer(pc, 0);
    conn_fini(&pc->conn);
    free(pc);
}

/* Whether the connection has become free; then it is IDLE. */
void pool_conn_settle(struct pool_conn *pc)
{
    struct conn *c = &pc->conn;
    if (c->broken || !conn_is_quiet(c)) {
        return;
    }
    switch (pc->use) {
    case USE_IDLE:
    case USE_LENT:
        return;
    case USE_CANCELLING:
        if (pc->cancel != NULL) {
            return;
        }
        break;
    case USE_SHARED:
    case USE_CLEANING:
        break;
    }
    /* Memory that libpq keeps for wide rows goes with its connection; the last one stays, so that
       there is one that works. */
    bool is_dear = c->is_swollen && pc->pool->conn_count > 1;
    if (PQtransactionStatus(c->pg) != PQTRANS_IDLE || is_dear) {
        c->broken = true; /* never to be lent again */
        pool_soon(pc->pool);
        return;
    }
    pool_conn_enter(pc, USE_IDLE);
}

static void cancel_run(struct blocking_job *job)
{
    struct cancel_job *cancel = (struct cancel_job *)job;
    char text[256];
    (void)PQcancel(cancel->cancel, text, sizeof(text));
}

static void cancel_done(struct blocking_job *job)
{
    struct cancel_job *cancel = (struct cancel_job *)job;
    struct pool_conn *pc = cancel->pc;
    if (pc != NULL) {
        pc->cancel = NULL;
        /* The signal has been sent by now. One more round trip proves that it is spent. */
        conn_sync(&pc->conn, NULL);
    }
    PQfreeCancel(cancel->cancel);
    free(cancel);
}

static void start_cancel(struct pool_conn *pc)
{
    struct pool *p = pc->pool;
    struct cancel_job *job = calloc(1, sizeof(*job));
    PGcancel *cancel = PQgetCancel(pc->conn.pg);
    pool_conn_enter(pc, USE_CANCELLING);
    if (job != NULL && cancel != NULL) {
        job->job = (struct blocking_job){.run = cancel_run, .done = cancel_done};
        job->pc = pc;
        job->cancel = cancel;
        pc->cancel = job;
        if (blocking_submit(p->cancels, &job->job)) {
            p->cancel_count++;
            if (p->observer.cancelled != NULL) {
                p->observer.cancelled(p->observer.ctx);
            }
            return;
        }
        pc->cancel = NULL;
    }
    PQfreeCancel(cancel);
    free(job);
    pc->conn.broken = true; /* the server notices within client_connection_check_interval */
    pool_soon(p);
}

/*
 * The answers of a group come together: one slow statement holds up all. It is not known which one
 * it is; the cancel hits it, and all of them start again, apart. One that is alone is cancelled too
 * when its plan may be the reason; it then starts again with a plan for its values.
 */
static void check_shared(struct pool_conn *pc, int64_t now_ms)
{
    int64_t age_ms = now_ms - pc->conn.head_since_ms;
    struct conn_client *clients[SHARED_DEPTH * 2];
    size_t forgotten = 0;
    size_t count = conn_head_group(&pc->conn, clients, ARRAY_SIZE(clients), &forgotten);
    for (size_t i = 0; i < count && age_ms >= STATEMENT_SLOW_MS; i++) {
        struct pool_seat *seat = (struct pool_seat *)clients[i];
        if (!seat->is_slow_told) {
            seat->is_slow_told = true;
            seat->ops->slow(seat, count + forgotten - 1);
        }
    }
    bool is_worth_it = forgotten > 0 || count > 1 ||
                       (count == 1 && ((struct pool_seat *)clients[0])->may_plan_better);
    if (age_ms >= SHARED_GRACE_MS && is_worth_it) {
        start_cancel(pc);
        return;
    }
    int64_t next = age_ms < STATEMENT_SLOW_MS ? STATEMENT_SLOW_MS - age_ms : STATEMENT_SLOW_MS / 2;
    set_conn_timer(pc, now_ms + next);
}

static void conn_due(struct timer *t, int64_t now_ms)
{
    struct pool_conn *pc = t->owner;
    struct pool *p = pc->pool;
    switch (pc->use) {
    case USE_IDLE:
        if ((now_ms - pc->idle_since_ms >= IDLE_MOST_MS && p->conn_count > 1) ||
            now_ms - pc->born_ms >= LIFETIME_MS) {
            pc->conn.broken = true;
            pool_soon(p);
        } else {
            set_conn_timer(pc, now_ms + IDLE_MOST_MS / 4);
        }
        break;
    case USE_SHARED:
        check_shared(pc, now_ms);
        break;
    case USE_LENT:
        break; /* the read has its own deadlines; set again when it becomes idle */
    case USE_CLEANING:
        start_cancel(pc);
        break;
    case USE_CANCELLING:
        pc->conn.broken = true;
        pool_soon(p);
        break;
    }
}

void pool_conn_clean(struct pool_conn *pc, bool in_transaction, enum seat_leave how)
{
    struct conn *c = &pc->conn;
    pc->lent_to = NULL;
    if (in_transaction) {
        conn_send_once(c, NULL, NULL, "ROLLBACK", NULL, 0);
        conn_forget_modes(c);
    }
    if (in_transaction || c->unsynced) {
        conn_sync(c, NULL);
    }
    conn_resume(c);
    pool_conn_enter(pc, USE_CLEANING);
    set_conn_timer(pc, pool_now(pc->pool) +
                           (how == SEAT_LEAVE_ABANDONED ? CLEAN_GRACE_MS : CLEAN_MOST_MS));
    pool_conn_settle(pc);
}

static void on_conn_after(struct conn *c, int64_t now_ms)
{
    struct pool_conn *pc = (struct pool_conn *)c;
    if (c->broken) {
        pool_turn(pc->pool, now_ms); /* those who are lost are told at once */
        return;
    }
    pool_conn_settle(pc);
    pool_seats_wake(pc->pool); /* their answers are on their way before the next group is sent */
    pool_soon(pc->pool);
}

static void on_conn_broken(struct conn *c)
{
    pool_soon(((struct pool_conn *)c)->pool);
}

static void on_conn_notice(struct conn *c, const char *text)
{
    const struct storage_observer *o = &((struct pool_conn *)c)->pool->observer;
    if (o->notice != NULL) {
        o->notice(o->ctx, text);
    }
}

static const struct conn_events events = {
    .after = on_conn_after, .broken = on_conn_broken, .notice = on_conn_notice};

/* Without its settings a session's values would be read wrongly: the connection is of no use. */
static void refuse_session(struct pool_conn *pc)
{
    pool_observe_connection(pc->pool, false, "the session's settings cannot be made");
    pc->conn.broken = true;
    pool_soon(pc->pool);
}

static void on_mender_result(struct conn_client *client, void *arg, PGresult *res)
{
    (void)client;
    if (PQresultStatus(res) != PGRES_TUPLES_OK) {
        refuse_session(arg);
    }
    PQclear(res);
}

static void on_mender_synced(struct conn_client *client, int64_t ran_ms)
{
    (void)client;
    (void)ran_ms;
}

static void on_mender_lost(struct conn_client *client, const char *text)
{
    (void)client;
    (void)text;
}

static const struct conn_client_ops mender_ops = {
    .result = on_mender_result, .synced = on_mender_synced, .lost = on_mender_lost};

/* Nobody gets the connection before the answer is here: it is CLEANING until then. */
static void mend_session(struct pool_conn *pc)
{
    struct bytes sql;
    bytes_init(&sql, 64 * 1024);
    session_put_sql(&sql, &pc->pool->session);
    bytes_put_char(&sql, '\0');
    pc->mender.ops = &mender_ops;
    pc->use = USE_CLEANING;
    set_conn_timer(pc, pool_now(pc->pool) + CLEAN_MOST_MS);
    if (bytes_failed(&sql)) {
        refuse_session(pc);
    } else {
        conn_send_once(&pc->conn, &pc->mender, pc, sql.ptr, NULL, 0);
        conn_sync(&pc->conn, &pc->mender);
    }
    bytes_fini(&sql);
}

bool pool_conn_add(struct pool *p, PGconn *pg, int64_t now_ms)
{
    struct pool_conn *pc = calloc(1, sizeof(*pc));
    if (pc == NULL) {
        PQfinish(pg);
        return false;
    }
    size_t cache_size = p->options.prepared_statements ? p->options.statement_cache_size : 0;
    pc->pool = p;
    pc->use = USE_SHARED; /* so that it may enter IDLE */
    pc->timer = (struct timer){.due = conn_due, .owner = pc};
    pc->born_ms = now_ms - (LIFETIME_MS - pool_jitter(p, LIFETIME_MS)) / 2;
    if (!conn_init(&pc->conn, pg, cache_size, p->reactor, &events)) {
        free(pc);
        return false;
    }
    p->conns[p->conn_count++] = pc;
    struct odata_error err;
    if (session_check(pg, &err)) {
        pool_conn_enter(pc, USE_IDLE);
    } else {
        mend_session(pc);
    }
    return true;
}

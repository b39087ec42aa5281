#include "storage/pool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/blocking.h"
#include "storage/connector.h"
#include "storage/conninfo.h"
#include "storage/pool_priv.h"

enum {
    CONNECTS_AT_ONCE = 2, /* a SCRAM handshake costs 4 to 10 ms of a loop's turn */
    BACKOFF_FIRST_MS = 50,
    BACKOFF_MOST_MS = 1000,
    /* A restart takes seconds: for so long it is tried more often. */
    BACKOFF_EARLY_MS = 500,
    EARLY_MS = 30000,
    RETRY_AFTER_S = 1,
    /* A connection left by its read: so long it may take to end by itself. */
    CLEAN_GRACE_MS = 50,
    /* The same when nothing but COMMIT or ROLLBACK is awaited. */
    CLEAN_MOST_MS = 1000,
    /* An abandoned short read: so long it may run before it is cancelled. */
    SHARED_GRACE_MS = 250,
    /* From the cancel to the closing of a connection that does not become quiet. */
    CANCEL_DEADLINE_MS = 2000,
    /* Short reads in flight on one connection: comfortable, and at most. */
    SHARED_DEPTH = 16,
    SHARED_DEPTH_MOST = 32,
    /* A head of the line that has been there for longer: nobody is put behind it. */
    SHARED_STUCK_MS = 20,
    IDLE_MOST_MS = 5 * 60 * 1000,
    LIFETIME_MS = 30 * 60 * 1000,
};

/*
 * IDLE -> SHARED -> IDLE; IDLE -> LENT -> IDLE or CLEANING; CLEANING -> IDLE;
 * SHARED, CLEANING -> CANCELLING -> IDLE. From everywhere, when it breaks, it is removed.
 */
enum pool_use {
    USE_IDLE,       /* quiet, and in no transaction */
    USE_SHARED,     /* short reads are in flight */
    USE_LENT,       /* one read has it for itself */
    USE_CLEANING,   /* its read has left; what it sent is still in flight */
    USE_CANCELLING, /* a cancel was sent: until it has come back and all is quiet */
};

struct cancel_job {
    struct blocking_job job;
    struct pool_conn *pc; /* NULL: the connection is closed */
    PGcancel *cancel;
};

struct pool_conn {
    struct conn conn; /* first */
    struct pool *pool;
    enum pool_use use;
    bool draining; /* SHARED: takes no more reads, somebody waits for it alone */
    struct pool_seat *lent_to;
    struct cancel_job *cancel; /* while the helper has it */
    struct timer timer;
    int64_t born_ms;
    int64_t idle_since_ms;
    uint64_t idle_order; /* the last one to become idle is the first to be used */
};

struct line {
    struct pool_seat *head;
    struct pool_seat *tail;
    size_t count;
};

struct pool {
    struct pool_options options;
    struct conninfo info;
    struct reactor *reactor;
    struct storage_observer observer;
    struct blocking *cancels;
    struct blocking *lookups;

    struct pool_conn **conns;
    size_t conn_count;
    size_t streams_most; /* connections that may be lent at once */
    size_t shared_most;  /* connections that short reads spread over before they queue up */

    struct connector connectors[CONNECTS_AT_ONCE];
    bool failing; /* the last attempt failed and none has succeeded since: the breaker */
    int64_t failing_since_ms;
    int64_t backoff_ms;
    int64_t next_connect_ms;
    bool warm; /* one connection is kept ahead of need */

    struct line lines[2]; /* by seat_kind */
    uint64_t tickets;
    struct pool_seat *wakes;
    struct pool_seat *wakes_tail;
    struct timer timer;
    uint64_t cancel_count;
    uint64_t idle_orders;
    uint32_t jitter;

    struct statement_stats stats;
};

static void seat_waiting(struct pool *p);

static int64_t now_of(const struct pool *p)
{
    return p->reactor->now_ms(p->reactor);
}

/* The next turn of the loop runs pool_turn(). */
static void soon(struct pool *p)
{
    int64_t now_ms = now_of(p);
    if (p->timer.deadline_ms == 0 || p->timer.deadline_ms > now_ms) {
        p->reactor->set_timer(p->reactor, &p->timer, now_ms);
    }
}

static int64_t jittered(struct pool *p, int64_t ms)
{
    p->jitter = p->jitter * 1664525U + 1013904223U;
    return ms * (80 + (int64_t)(p->jitter >> 16) % 41) / 100; /* plus or minus 20 % */
}

/* Lines and wakes. */

static void line_remove(struct pool *p, struct pool_seat *s)
{
    struct line *l = &p->lines[s->kind];
    *(s->prev != NULL ? &s->prev->next : &l->head) = s->next;
    *(s->next != NULL ? &s->next->prev : &l->tail) = s->prev;
    s->prev = NULL;
    s->next = NULL;
    l->count--;
    s->state = SEAT_NONE;
}

static void line_add(struct pool *p, struct pool_seat *s, bool at_head)
{
    struct line *l = &p->lines[s->kind];
    s->prev = at_head ? NULL : l->tail;
    s->next = at_head ? l->head : NULL;
    *(s->prev != NULL ? &s->prev->next : &l->head) = s;
    *(s->next != NULL ? &s->next->prev : &l->tail) = s;
    l->count++;
    s->state = SEAT_WAITING;
}

void pool_seat_sleep(struct pool *p, struct pool_seat *s)
{
    if (!s->in_wakes) {
        return;
    }
    *(s->wake_prev != NULL ? &s->wake_prev->wake_next : &p->wakes) = s->wake_next;
    *(s->wake_next != NULL ? &s->wake_next->wake_prev : &p->wakes_tail) = s->wake_prev;
    s->in_wakes = false;
}

void pool_seat_wake(struct pool *p, struct pool_seat *s)
{
    if (s->in_wakes) {
        return;
    }
    s->wake_prev = p->wakes_tail;
    s->wake_next = NULL;
    *(p->wakes_tail != NULL ? &p->wakes_tail->wake_next : &p->wakes) = s;
    p->wakes_tail = s;
    s->in_wakes = true;
    soon(p);
}

/* Connections. */

static size_t count_use(const struct pool *p, enum pool_use use)
{
    size_t count = 0;
    for (size_t i = 0; i < p->conn_count; i++) {
        count += p->conns[i]->use == use;
    }
    return count;
}

/* Connections that streams have, or are about to give back. */
static size_t count_own(const struct pool *p)
{
    return count_use(p, USE_LENT) + count_use(p, USE_CLEANING) + count_use(p, USE_CANCELLING);
}

/* A connection of a stream that nobody asks can be dead without our having seen it. */
static bool has_live(const struct pool *p)
{
    for (size_t i = 0; i < p->conn_count; i++) {
        if (conn_is_alive(&p->conns[i]->conn)) {
            return true;
        }
    }
    return false;
}

static size_t count_connecting(const struct pool *p)
{
    size_t count = 0;
    for (size_t i = 0; i < CONNECTS_AT_ONCE; i++) {
        count += p->connectors[i].state != CONNECTOR_IDLE;
    }
    return count;
}

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

/* The only place that writes pc->use. */
static void conn_enter(struct pool_conn *pc, enum pool_use to)
{
    assert(use_may_follow(pc->use, to));
    int64_t now_ms = now_of(pc->pool);
    pc->use = to;
    switch (to) {
    case USE_IDLE:
        pc->draining = false;
        pc->lent_to = NULL;
        pc->idle_since_ms = now_ms;
        pc->idle_order = ++pc->pool->idle_orders;
        if (pc->timer.deadline_ms == 0) {
            set_conn_timer(pc, now_ms + IDLE_MOST_MS);
        }
        break;
    case USE_SHARED:
        if (pc->timer.deadline_ms == 0 || pc->timer.deadline_ms > now_ms + STATEMENT_SLOW_MS) {
            set_conn_timer(pc, now_ms + STATEMENT_SLOW_MS);
        }
        break;
    case USE_LENT:
        break;
    case USE_CLEANING:
        break; /* leave_own() knows how long it may take */
    case USE_CANCELLING:
        set_conn_timer(pc, now_ms + CANCEL_DEADLINE_MS);
        break;
    }
}

static void conn_close(struct pool_conn *pc)
{
    if (pc->cancel != NULL) {
        pc->cancel->pc = NULL;
        pc->cancel = NULL;
    }
    set_conn_timer(pc, 0);
    conn_fini(&pc->conn);
    free(pc);
}

/* Whether the connection has become free; then it is IDLE. */
static void settle(struct pool_conn *pc)
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
    if (PQtransactionStatus(c->pg) != PQTRANS_IDLE) {
        c->broken = true; /* never to be lent again */
        soon(pc->pool);
        return;
    }
    conn_enter(pc, USE_IDLE);
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
    conn_enter(pc, USE_CANCELLING);
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
    soon(p);
}

static void check_shared(struct pool_conn *pc, int64_t now_ms)
{
    int64_t age_ms = now_ms - pc->conn.head_since_ms;
    struct conn_client *client = conn_head_client(&pc->conn);
    if (age_ms >= STATEMENT_SLOW_MS && client != NULL) {
        struct pool_seat *seat = (struct pool_seat *)client;
        seat->ops->slow(seat);
    }
    if (age_ms >= SHARED_GRACE_MS && client == NULL) {
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
            soon(p);
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
        soon(p);
        break;
    }
}

/* Who gets what. */

static struct pool_conn *latest_idle(struct pool *p, bool proven)
{
    struct pool_conn *best = NULL;
    for (size_t i = 0; i < p->conn_count; i++) {
        struct pool_conn *pc = p->conns[i];
        if (pc->use == USE_IDLE && !pc->conn.broken &&
            (best == NULL || pc->idle_order > best->idle_order) &&
            (!proven || conn_is_alive(&pc->conn))) {
            best = pc;
        }
    }
    return best;
}

static struct pool_conn *least_loaded(struct pool *p, int64_t now_ms, bool proven)
{
    struct pool_conn *best = NULL;
    for (size_t i = 0; i < p->conn_count; i++) {
        struct pool_conn *pc = p->conns[i];
        if (pc->use == USE_SHARED && !pc->draining && !pc->conn.broken &&
            pc->conn.syncs < SHARED_DEPTH_MOST &&
            now_ms - pc->conn.head_since_ms < SHARED_STUCK_MS &&
            (best == NULL || pc->conn.syncs < best->conn.syncs) &&
            (!proven || conn_is_alive(&pc->conn))) {
            best = pc;
        }
    }
    return best;
}

static struct pool_conn *choose_shared(struct pool *p, const struct pool_seat *s)
{
    struct pool_conn *idle = latest_idle(p, s->is_retry);
    struct pool_conn *best = least_loaded(p, now_of(p), s->is_retry);
    if (idle != NULL && (best == NULL || best->conn.syncs >= SHARED_DEPTH ||
                         count_use(p, USE_SHARED) < p->shared_most)) {
        return idle;
    }
    return best;
}

static struct pool_conn *choose_own(struct pool *p, const struct pool_seat *s)
{
    return count_own(p) < p->streams_most ? latest_idle(p, s->is_retry) : NULL;
}

static bool seat_head(struct pool *p, enum seat_kind kind)
{
    struct pool_seat *s = p->lines[kind].head;
    if (s == NULL) {
        return false;
    }
    struct pool_conn *pc = kind == SEAT_OWN ? choose_own(p, s) : choose_shared(p, s);
    if (pc == NULL) {
        return false;
    }
    line_remove(p, s);
    if (kind == SEAT_OWN) {
        conn_enter(pc, USE_LENT);
        pc->lent_to = s;
    } else if (pc->use == USE_IDLE) {
        conn_enter(pc, USE_SHARED);
    }
    s->state = SEAT_SEATED;
    s->pc = pc;
    s->ops->seated(s, &pc->conn);
    return true;
}

/* A stream waits and all connections are shared: one of them takes no more reads. */
static void drain_one(struct pool *p)
{
    struct pool_conn *best = NULL;
    size_t draining = 0;
    for (size_t i = 0; i < p->conn_count; i++) {
        struct pool_conn *pc = p->conns[i];
        draining += pc->draining;
        if (pc->use == USE_SHARED && !pc->draining &&
            (best == NULL || pc->conn.syncs < best->conn.syncs)) {
            best = pc;
        }
    }
    if (best != NULL && draining == 0 && count_own(p) < p->streams_most) {
        best->draining = true;
    }
}

static bool start_connect(struct pool *p)
{
    for (size_t i = 0; i < CONNECTS_AT_ONCE; i++) {
        if (p->connectors[i].state == CONNECTOR_IDLE) {
            connector_start(&p->connectors[i]);
            return true;
        }
    }
    return false;
}

/* How many more connections would be of use now. */
static size_t wanted_connections(const struct pool *p)
{
    size_t own = count_own(p);
    size_t own_room = own < p->streams_most ? p->streams_most - own : 0;
    size_t wanted = p->lines[SEAT_OWN].count < own_room ? p->lines[SEAT_OWN].count : own_room;
    wanted += (p->lines[SEAT_SHARED].count + SHARED_DEPTH - 1) / SHARED_DEPTH;
    size_t shared = count_use(p, USE_SHARED);
    if (wanted == 0 && shared > 0 && shared < p->shared_most && count_use(p, USE_IDLE) == 0) {
        wanted = 1; /* reads queue up on fewer connections than they may have */
    }
    if (p->failing || (p->warm && p->conn_count == 0)) {
        wanted = wanted == 0 ? 1 : wanted; /* readiness returns without demand */
    }
    return wanted;
}

static void connect_wanted(struct pool *p)
{
    size_t wanted = wanted_connections(p);
    size_t connecting = count_connecting(p);
    size_t most = p->failing ? 1 : CONNECTS_AT_ONCE;
    while (connecting < wanted && connecting < most &&
           p->conn_count + connecting < p->options.size && now_of(p) >= p->next_connect_ms &&
           start_connect(p)) {
        connecting++;
    }
}

static void seat_waiting(struct pool *p)
{
    for (;;) {
        struct pool_seat *own = p->lines[SEAT_OWN].head;
        struct pool_seat *shared = p->lines[SEAT_SHARED].head;
        bool own_first = own != NULL && (shared == NULL || own->ticket < shared->ticket);
        if (!seat_head(p, own_first ? SEAT_OWN : SEAT_SHARED) &&
            !seat_head(p, own_first ? SEAT_SHARED : SEAT_OWN)) {
            break;
        }
    }
    connect_wanted(p);
    if (p->lines[SEAT_OWN].head != NULL && p->conn_count + count_connecting(p) >= p->options.size) {
        drain_one(p);
    }
}

static void set_busy(struct odata_error *err)
{
    (void)odata_error_set(err, 503, ODATA_CODE_DATABASE_BUSY, "",
                          "all connections to the database are in use");
    err->retry_after_s = RETRY_AFTER_S;
}

static void set_unavailable(struct odata_error *err)
{
    (void)odata_error_set(err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "",
                          "the database cannot be reached");
    err->retry_after_s = RETRY_AFTER_S;
}

static void refuse_all(struct pool *p, const struct odata_error *err)
{
    for (size_t kind = 0; kind < 2; kind++) {
        while (p->lines[kind].head != NULL) {
            struct pool_seat *s = p->lines[kind].head;
            line_remove(p, s);
            s->ops->refused(s, err);
        }
    }
}

static void refuse_expired(struct pool *p, int64_t now_ms)
{
    struct odata_error err;
    set_busy(&err);
    for (size_t kind = 0; kind < 2; kind++) {
        while (p->lines[kind].head != NULL && p->lines[kind].head->deadline_ms <= now_ms) {
            struct pool_seat *s = p->lines[kind].head;
            line_remove(p, s);
            s->ops->refused(s, &err);
        }
    }
}

static void observe_connection(struct pool *p, bool up, const char *text)
{
    if (p->observer.connection != NULL) {
        p->observer.connection(p->observer.ctx, up, text);
    }
}

/* Removes connections that broke; their clients are told, and ask again or fail. */
static void reap(struct pool *p)
{
    for (size_t i = 0; i < p->conn_count;) {
        struct pool_conn *pc = p->conns[i];
        if (!pc->conn.broken) {
            i++;
            continue;
        }
        p->conns[i] = p->conns[--p->conn_count];
        struct pool_seat *lent_to = pc->lent_to;
        bool told = PQstatus(pc->conn.pg) != CONNECTION_BAD; /* closed by us */
        if (!told) {
            observe_connection(p, false, PQerrorMessage(pc->conn.pg));
        }
        conn_fail_all(&pc->conn);
        if (lent_to != NULL && lent_to->state == SEAT_SEATED && lent_to->pc == pc) {
            /* It had nothing in flight. */
            lent_to->client.ops->lost(&lent_to->client, PQerrorMessage(pc->conn.pg));
        }
        conn_close(pc);
        i = 0;
    }
}

static void run_wakes(struct pool *p)
{
    /* Who is woken may wake others; those have their turn with the next one. */
    struct pool_seat *last = p->wakes_tail;
    while (p->wakes != NULL && last != NULL) {
        struct pool_seat *s = p->wakes;
        bool is_last = s == last;
        pool_seat_sleep(p, s);
        s->ops->wake(s);
        if (is_last) {
            break;
        }
    }
}

static void arm_timer(struct pool *p)
{
    int64_t next = 0;
    for (size_t kind = 0; kind < 2; kind++) {
        struct pool_seat *s = p->lines[kind].head;
        if (s != NULL && (next == 0 || s->deadline_ms < next)) {
            next = s->deadline_ms;
        }
    }
    int64_t now_ms = now_of(p);
    if (p->next_connect_ms > now_ms && wanted_connections(p) > count_connecting(p) &&
        (next == 0 || p->next_connect_ms < next)) {
        next = p->next_connect_ms;
    }
    if (p->wakes != NULL) {
        next = now_ms;
    }
    /* Never later than soon() wants it: one turn too many does no harm. */
    if (next != 0 && (p->timer.deadline_ms == 0 || next < p->timer.deadline_ms)) {
        p->reactor->set_timer(p->reactor, &p->timer, next);
    }
}

/* Everything that may have to be done; from the loop only, at the end of each event. */
static void pool_turn(struct pool *p, int64_t now_ms)
{
    reap(p);
    refuse_expired(p, now_ms);
    seat_waiting(p);
    run_wakes(p);
    arm_timer(p);
}

static void pool_due(struct timer *t, int64_t now_ms)
{
    pool_turn(t->owner, now_ms);
}

static void on_conn_after(struct conn *c, int64_t now_ms)
{
    struct pool_conn *pc = (struct pool_conn *)c;
    settle(pc);
    pool_turn(pc->pool, now_ms);
}

static void on_conn_broken(struct conn *c)
{
    soon(((struct pool_conn *)c)->pool);
}

static void on_conn_notice(struct conn *c, const char *text)
{
    const struct storage_observer *o = &((struct pool_conn *)c)->pool->observer;
    if (o->notice != NULL) {
        o->notice(o->ctx, text);
    }
}

static const struct conn_events CONN_EVENTS = {
    .after = on_conn_after, .broken = on_conn_broken, .notice = on_conn_notice};

static bool add_connection(struct pool *p, PGconn *pg, int64_t now_ms)
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
    pc->born_ms = now_ms - (LIFETIME_MS - jittered(p, LIFETIME_MS)) / 2;
    if (!conn_init(&pc->conn, pg, cache_size, p->reactor, &CONN_EVENTS)) {
        free(pc);
        return false;
    }
    p->conns[p->conn_count++] = pc;
    conn_enter(pc, USE_IDLE);
    return true;
}

static void back_off(struct pool *p, int64_t now_ms)
{
    p->failing_since_ms = p->failing ? p->failing_since_ms : now_ms;
    p->failing = true;
    int64_t most = now_ms - p->failing_since_ms < EARLY_MS ? BACKOFF_EARLY_MS : BACKOFF_MOST_MS;
    p->backoff_ms = p->backoff_ms == 0 ? BACKOFF_FIRST_MS : p->backoff_ms * 2;
    p->backoff_ms = p->backoff_ms > most ? most : p->backoff_ms;
    p->next_connect_ms = now_ms + jittered(p, p->backoff_ms);
}

static void on_connected(struct connector *c, PGconn *pg, const char *text, int64_t now_ms)
{
    struct pool *p = c->owner;
    bool up = pg != NULL && add_connection(p, pg, now_ms);
    observe_connection(p, up, up ? NULL : text == NULL ? "out of memory" : text);
    if (up) {
        p->failing = false;
        p->warm = true; /* from now on one is kept, so that readiness does not need demand */
        p->backoff_ms = 0;
        p->next_connect_ms = 0;
    } else {
        back_off(p, now_ms);
        if (!has_live(p)) {
            struct odata_error err;
            set_unavailable(&err);
            (void)snprintf(err.internal, sizeof(err.internal), "%s", text == NULL ? "" : text);
            refuse_all(p, &err);
        }
    }
    pool_turn(p, now_ms);
}

/* Seats. */

bool pool_seat_take(struct pool *p, struct pool_seat *s, struct odata_error *err)
{
    if (p->failing && !has_live(p)) {
        set_unavailable(err);
        return false;
    }
    s->ticket = ++p->tickets;
    s->deadline_ms = now_of(p) + p->options.wait_ms;
    line_add(p, s, false);
    seat_waiting(p);
    if (s->state == SEAT_WAITING && p->lines[s->kind].count > p->options.max_waiting) {
        line_remove(p, s);
        set_busy(err);
        return false;
    }
    if (s->state == SEAT_WAITING) {
        arm_timer(p);
    }
    return true;
}

void pool_seat_take_again(struct pool *p, struct pool_seat *s)
{
    assert(s->state == SEAT_NONE);
    s->is_retry = true;
    line_add(p, s, true);
    soon(p);
}

static void leave_own(struct pool_conn *pc, bool in_transaction, enum seat_leave how)
{
    struct conn *c = &pc->conn;
    pc->lent_to = NULL;
    if (in_transaction) {
        conn_send_once(c, NULL, NULL, "ROLLBACK", NULL, 0);
    }
    if (in_transaction || c->unsynced) {
        conn_sync(c, NULL);
    }
    conn_resume(c);
    conn_enter(pc, USE_CLEANING);
    set_conn_timer(pc, now_of(pc->pool) +
                           (how == SEAT_LEAVE_ABANDONED ? CLEAN_GRACE_MS : CLEAN_MOST_MS));
    settle(pc);
}

void pool_seat_leave(struct pool *p, struct pool_seat *s, bool in_transaction, enum seat_leave how)
{
    switch (s->state) {
    case SEAT_NONE:
        return;
    case SEAT_WAITING:
        line_remove(p, s);
        return;
    case SEAT_SEATED:
        break;
    }
    struct pool_conn *pc = s->pc;
    s->state = SEAT_NONE;
    s->pc = NULL;
    conn_forget(&pc->conn, &s->client);
    if (pc->lent_to == s) {
        leave_own(pc, in_transaction, how);
    } else {
        settle(pc);
    }
    if (p->lines[SEAT_OWN].head != NULL || p->lines[SEAT_SHARED].head != NULL) {
        soon(p); /* not from here: a callback of this very connection may be running */
    }
}

bool pool_seat_may_be_hit(const struct pool_seat *s)
{
    return s->state == SEAT_SEATED && s->kind == SEAT_SHARED && s->pc->use == USE_CANCELLING;
}

const struct pool_options *pool_get_options(const struct pool *p)
{
    return &p->options;
}

struct statement_stats *pool_get_stats(struct pool *p)
{
    return &p->stats;
}

struct reactor *pool_get_reactor(struct pool *p)
{
    return p->reactor;
}

void pool_report_stale_model(struct pool *p)
{
    if (p->observer.model_stale != NULL) {
        p->observer.model_stale(p->observer.ctx);
    }
}

/* Public. */

struct pool *pool_new(const struct pool_options *options, struct reactor *reactor,
                      const struct storage_observer *observer)
{
    struct pool *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return NULL;
    }
    p->options = *options;
    p->options.size = options->size == 0 ? 1 : options->size;
    p->reactor = reactor;
    p->observer = observer == NULL ? (struct storage_observer){0} : *observer;
    p->streams_most = p->options.size * 3 / 4;
    p->streams_most = p->streams_most == 0 ? 1 : p->streams_most;
    p->shared_most = p->options.size / 2 == 0 ? 1 : p->options.size / 2;
    p->timer = (struct timer){.due = pool_due, .owner = p};
    p->jitter = (uint32_t)(uintptr_t)p;
    p->conns = calloc(p->options.size, sizeof(struct pool_conn *));
    p->cancels = blocking_new(reactor);
    p->lookups = blocking_new(reactor);
    if (p->conns == NULL || p->cancels == NULL || p->lookups == NULL ||
        !conninfo_init(&p->info, options->db_uri, options->statement_timeout_ms)) {
        blocking_free(p->cancels);
        blocking_free(p->lookups);
        free(p->conns);
        free(p);
        return NULL;
    }
    p->options.db_uri = NULL; /* borrowed by this call only */
    for (size_t i = 0; i < CONNECTS_AT_ONCE; i++) {
        connector_init(&p->connectors[i], &p->info, reactor, p->lookups,
                       options->connect_timeout_ms);
        p->connectors[i].done = on_connected;
        p->connectors[i].owner = p;
    }
    return p;
}

void pool_warm(struct pool *p)
{
    p->warm = true;
    connect_wanted(p);
}

void pool_free(struct pool *p)
{
    if (p == NULL) {
        return;
    }
    for (size_t i = 0; i < CONNECTS_AT_ONCE; i++) {
        connector_fini(&p->connectors[i]);
    }
    while (p->conn_count > 0) {
        conn_close(p->conns[--p->conn_count]);
    }
    p->reactor->set_timer(p->reactor, &p->timer, 0);
    blocking_free(p->cancels);
    blocking_free(p->lookups);
    conninfo_fini(&p->info);
    free(p->conns);
    free(p);
}

bool pool_is_ready(const struct pool *p)
{
    return has_live(p);
}

void pool_get_counts(const struct pool *p, struct pool_counts *out_counts)
{
    *out_counts = (struct pool_counts){
        .connected = p->conn_count,
        .busy = count_own(p),
        .waiting = p->lines[SEAT_OWN].count + p->lines[SEAT_SHARED].count,
        .cancels = p->cancel_count,
    };
}

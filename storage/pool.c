// SPDX-License-Identifier: Apache-2.0
#include "storage/pool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "storage/pool_parts.h"

enum {
    BACKOFF_FIRST_MS = 50,
    BACKOFF_MOST_MS = 1000,
    /* A restart takes seconds: for so long it is tried more often. */
    BACKOFF_EARLY_MS = 500,
    EARLY_MS = 30000,
    LOCK_TIMEOUT_MS = 5000,
    /* Longer than the pause between two FETCHes of a reader that is slow, but alive: 64 KiB at 110
       bytes a second. Readers that take nothing are the server's to break off; this is for a process
       of ours that hangs. */
    IDLE_TRANSACTION_MS = 600000,
    /* A query whose client is gone ends, our own death included. */
    CLIENT_CHECK_MS = 1000,
};

/* The end of this turn of the loop runs pool_turn(). */
void pool_soon(struct pool *p)
{
    if (!p->turn.queued) {
        p->reactor->defer(p->reactor, &p->turn);
    }
}

int64_t pool_jitter(struct pool *p, int64_t ms)
{
    p->jitter = p->jitter * 1664525U + 1013904223U;
    return ms * (80 + (int64_t)(p->jitter >> 16) % 41) / 100; /* plus or minus 20 % */
}

size_t pool_count_use(const struct pool *p, enum pool_use use)
{
    size_t count = 0;
    for (size_t i = 0; i < p->conn_count; i++) {
        count += p->conns[i]->use == use;
    }
    return count;
}

/* Connections that streams have, or are about to give back. */
size_t pool_count_own(const struct pool *p)
{
    return pool_count_use(p, USE_LENT) + pool_count_use(p, USE_CLEANING) +
           pool_count_use(p, USE_CANCELLING);
}

/* A connection of a stream that nobody asks can be dead without our having seen it. */
bool pool_has_live(const struct pool *p)
{
    for (size_t i = 0; i < p->conn_count; i++) {
        const struct conn *c = &p->conns[i]->conn;
        bool is_watched = (c->watch.events & WATCH_READ) != 0; /* then its end is an event */
        if (is_watched ? !c->broken : conn_is_alive(c)) {
            return true;
        }
    }
    return false;
}

size_t pool_count_connecting(const struct pool *p)
{
    size_t count = 0;
    for (size_t i = 0; i < CONNECTS_AT_ONCE; i++) {
        count += p->connectors[i].state != CONNECTOR_IDLE;
    }
    return count;
}

size_t pool_count_waiting(const struct pool *p)
{
    size_t count = 0;
    for (size_t kind = 0; kind < SEAT_KINDS; kind++) {
        count += p->lines[kind].count;
    }
    return count;
}

static bool claim(struct pool *p)
{
    if (p->claimed > 0 && !pool_budget_take(p->budget, p->place, BUDGET_CONNECTIONS)) {
        return false;
    }
    p->claimed++;
    return true;
}

void pool_unclaim(struct pool *p)
{
    assert(p->claimed > 0);
    p->claimed--;
    if (p->claimed > 0) {
        pool_budget_give(p->budget, BUDGET_CONNECTIONS);
    }
}

bool pool_connect_one(struct pool *p)
{
    size_t most = p->failing ? 1 : CONNECTS_AT_ONCE;
    if (pool_count_connecting(p) >= most || pool_now(p) < p->next_connect_ms || !claim(p)) {
        return false;
    }
    for (size_t i = 0; i < CONNECTS_AT_ONCE; i++) {
        if (p->connectors[i].state == CONNECTOR_IDLE) {
            connector_start(&p->connectors[i]);
            return true;
        }
    }
    pool_unclaim(p);
    return false;
}

/* How many more connections would be of use now. */
static size_t wanted_connections(const struct pool *p)
{
    size_t wanted = p->lines[SEAT_OWN].count;
    if (pool_budget_has(p->budget, BUDGET_STREAMS)) {
        wanted += p->lines[SEAT_STREAM].count;
    }
    if (p->lines[SEAT_SHARED].count > 0 && !pool_has_open_share(p)) {
        wanted++; /* one takes them all, unless it gets stuck too */
    }
    if (p->failing || (p->warm && p->conn_count == 0)) {
        wanted = wanted == 0 ? 1 : wanted; /* readiness returns without demand */
    }
    return wanted;
}

void pool_connect_wanted(struct pool *p)
{
    if (p->lines[SEAT_STREAM].count > 0) {
        (void)pool_budget_wish(p->budget, p->place, BUDGET_STREAMS);
    }
    size_t wanted = wanted_connections(p);
    while (pool_count_connecting(p) < wanted && pool_connect_one(p)) {
    }
    if (pool_count_waiting(p) == 0) {
        pool_budget_rest(p->budget, p->place);
    }
}

void pool_observe_connection(struct pool *p, bool up, const char *text)
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
        pool_unclaim(p);
        struct pool_seat *lent_to = pc->lent_to;
        if (pc->conn.ended || PQstatus(pc->conn.pg) == CONNECTION_BAD) { /* else closed by us */
            pool_observe_connection(p, false, PQerrorMessage(pc->conn.pg));
        }
        conn_fail_all(&pc->conn);
        if (lent_to != NULL && lent_to->state == SEAT_SEATED && lent_to->pc == pc) {
            /* It had nothing in flight. */
            lent_to->client.ops->lost(&lent_to->client, PQerrorMessage(pc->conn.pg));
        }
        pool_conn_close(pc);
        i = 0;
    }
}

/* Another worker is short of connections: the one that was idle for longest goes, unless it is the
   only one that short reads could use. */
static void give_way(struct pool *p)
{
    if (!pool_budget_is_wanted(p->budget, p->place)) {
        return;
    }
    struct pool_conn *oldest = NULL;
    size_t for_short_reads = p->conn_count - pool_count_own(p);
    for (size_t i = 0; i < p->conn_count; i++) {
        struct pool_conn *pc = p->conns[i];
        if (pc->use == USE_IDLE && !pc->conn.broken &&
            (oldest == NULL || pc->idle_order < oldest->idle_order)) {
            oldest = pc;
        }
    }
    if (for_short_reads < 2) {
        return;
    }
    if (oldest != NULL) {
        oldest->conn.broken = true;
        reap(p);
    } else {
        pool_drain_one(p);
    }
}

void pool_arm_timer(struct pool *p)
{
    int64_t next = 0;
    for (size_t kind = 0; kind < SEAT_KINDS; kind++) {
        struct pool_seat *s = p->lines[kind].head;
        if (s != NULL && (next == 0 || s->deadline_ms < next)) {
            next = s->deadline_ms;
        }
    }
    int64_t now_ms = pool_now(p);
    if (p->lines[SEAT_SHARED].head != NULL && (next == 0 || now_ms + SHARED_STUCK_MS < next)) {
        next = now_ms + SHARED_STUCK_MS; /* what it waits behind may be stuck by then */
    }
    if (p->next_connect_ms > now_ms && wanted_connections(p) > pool_count_connecting(p) &&
        (next == 0 || p->next_connect_ms < next)) {
        next = p->next_connect_ms;
    }
    /* Never later than it is set: one turn too many does no harm. */
    if (next != 0 && (p->timer.deadline_ms == 0 || next < p->timer.deadline_ms)) {
        p->reactor->set_timer(p->reactor, &p->timer, next);
    }
}

/* Everything that may have to be done; from the loop only. */
void pool_turn(struct pool *p, int64_t now_ms)
{
    reap(p);
    pool_seats_expire(p, now_ms);
    pool_seats_serve(p);
    give_way(p);
    pool_seats_wake(p);
    pool_arm_timer(p);
}

static void pool_due(struct timer *t, int64_t now_ms)
{
    pool_turn(t->owner, now_ms);
}

static void turn_over(struct deferred *d, int64_t now_ms)
{
    pool_turn(d->owner, now_ms);
}

static void on_neighbour(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    eventfd_t ignored;
    (void)eventfd_read(w->fd, &ignored);
    pool_turn(w->owner, now_ms);
}

static void back_off(struct pool *p, int64_t now_ms)
{
    p->failing_since_ms = p->failing ? p->failing_since_ms : now_ms;
    p->failing = true;
    int64_t most = now_ms - p->failing_since_ms < EARLY_MS ? BACKOFF_EARLY_MS : BACKOFF_MOST_MS;
    p->backoff_ms = p->backoff_ms == 0 ? BACKOFF_FIRST_MS : p->backoff_ms * 2;
    p->backoff_ms = p->backoff_ms > most ? most : p->backoff_ms;
    p->next_connect_ms = now_ms + pool_jitter(p, p->backoff_ms);
}

static void on_connected(struct connector *c, PGconn *pg, const char *text, int64_t now_ms)
{
    struct pool *p = c->owner;
    bool up = pg != NULL && pool_conn_add(p, pg, now_ms);
    pool_observe_connection(p, up, up ? NULL : text == NULL ? "out of memory" : text);
    if (up) {
        p->failing = false;
        p->warm = true; /* from now on one is kept, so that readiness does not need demand */
        p->backoff_ms = 0;
        p->next_connect_ms = 0;
    } else {
        pool_unclaim(p);
        back_off(p, now_ms);
        if (!pool_has_live(p)) {
            struct odata_error err;
            pool_set_unavailable(&err);
            (void)snprintf(err.internal, sizeof(err.internal), "%s", text == NULL ? "" : text);
            pool_seats_refuse(p, &err);
        }
    }
    pool_turn(p, now_ms);
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

struct pool *pool_new(const struct pool_options *options, struct reactor *reactor,
                      const struct storage_observer *observer)
{
    struct pool *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        return NULL;
    }
    p->options = *options;
    p->reactor = reactor;
    if (observer != NULL) {
        p->observer = *observer;
    }
    p->turn = (struct deferred){.run = turn_over, .owner = p};
    p->timer = (struct timer){.due = pool_due, .owner = p};
    p->jitter = (uint32_t)(uintptr_t)p;
    p->conns = calloc(pool_budget_most_connections(options->budget), sizeof(struct pool_conn *));
    p->cancels = blocking_new(reactor);
    p->lookups = blocking_new(reactor);
    p->session = (struct session_options){.statement_timeout_ms = options->statement_timeout_ms,
                                          .lock_timeout_ms = LOCK_TIMEOUT_MS,
                                          .idle_in_transaction_timeout_ms = IDLE_TRANSACTION_MS,
                                          .client_check_ms = CLIENT_CHECK_MS,
                                          .read_only = true};
    if (p->conns == NULL || p->cancels == NULL || p->lookups == NULL ||
        !conninfo_init(&p->info, options->db_uri, &p->session)) {
        blocking_free(p->cancels);
        blocking_free(p->lookups);
        free(p->conns);
        free(p);
        return NULL;
    }
    p->options.db_uri = NULL; /* borrowed by this call only */
    p->budget = options->budget;
    p->neighbour = (struct watch){.ready = on_neighbour, .owner = p};
    p->place = pool_budget_join(p->budget, &p->neighbour.fd);
    /* Refused for want of memory: then the pool looks for itself when it has its turn. */
    (void)reactor->watch(reactor, &p->neighbour, WATCH_READ);
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
    pool_connect_wanted(p);
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
        pool_conn_close(p->conns[--p->conn_count]);
    }
    while (p->claimed > 0) {
        pool_unclaim(p); /* connections are closed, and attempts to make them are over */
    }
    pool_budget_rest(p->budget, p->place);
    (void)p->reactor->watch(p->reactor, &p->neighbour, 0);
    p->reactor->set_timer(p->reactor, &p->timer, 0);
    p->reactor->undefer(p->reactor, &p->turn);
    blocking_free(p->cancels);
    blocking_free(p->lookups);
    conninfo_fini(&p->info);
    free(p->conns);
    free(p);
}

bool pool_is_ready(const struct pool *p)
{
    return pool_has_live(p);
}

void pool_get_counts(const struct pool *p, struct pool_counts *out_counts)
{
    *out_counts = (struct pool_counts){
        .connected = p->conn_count,
        .busy = pool_count_own(p),
        .waiting = pool_count_waiting(p),
        .cancels = p->cancel_count,
    };
}

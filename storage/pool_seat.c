// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "storage/pool_parts.h"

enum {
    RETRY_AFTER_S = 1,
};

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

/* In the order of arrival: whoever comes again has its old place. */
static void line_add(struct pool *p, struct pool_seat *s)
{
    struct line *l = &p->lines[s->kind];
    if (l->tail == NULL || l->tail->ticket < s->ticket) {
        s->prev = l->tail;
        s->next = NULL;
    } else {
        s->next = l->head;
        while (s->next->ticket < s->ticket) {
            s->next = s->next->next;
        }
        s->prev = s->next->prev;
    }
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
    pool_soon(p);
}

/*
 * A connection that was idle before this read lost its own may have ended with it; one that has
 * answered, or was made, since then works. When none can be made, whatever looks alive must do.
 */
static bool is_good_for(const struct pool *p, const struct pool_conn *pc, const struct pool_seat *s)
{
    return !s->has_lost || pc->idle_order > s->lost_order ||
           (p->failing && conn_is_alive(&pc->conn));
}

static struct pool_conn *latest_idle(struct pool *p, const struct pool_seat *s)
{
    struct pool_conn *best = NULL;
    for (size_t i = 0; i < p->conn_count; i++) {
        struct pool_conn *pc = p->conns[i];
        if (pc->use == USE_IDLE && !pc->conn.broken &&
            (best == NULL || pc->idle_order > best->idle_order) && is_good_for(p, pc, s)) {
            best = pc;
        }
    }
    return best;
}

/* Takes short reads, now or when one of its groups is over. */
static bool is_open_share(const struct pool_conn *pc, int64_t now_ms)
{
    return pc->use == USE_SHARED && !pc->draining && !pc->conn.broken &&
           now_ms - pc->conn.head_since_ms < SHARED_STUCK_MS;
}

bool pool_has_open_share(const struct pool *p)
{
    int64_t now_ms = pool_now(p);
    for (size_t i = 0; i < p->conn_count; i++) {
        if (is_open_share(p->conns[i], now_ms) && p->conns[i]->conn.slot_count < SHARED_DEPTH) {
            return true;
        }
    }
    return false;
}

/*
 * The first connection that is not stuck, so that groups grow with the load: the server's cost of a
 * group is that of receiving and sending once. Another one only when all are stuck or full.
 */
static struct pool_conn *choose_shared(struct pool *p, const struct pool_seat *s)
{
    int64_t now_ms = pool_now(p);
    bool is_worth_waiting = false;
    for (size_t i = 0; i < p->conn_count; i++) {
        struct pool_conn *pc = p->conns[i];
        const struct conn *c = &pc->conn;
        if (!is_open_share(pc, now_ms) || c->slot_count >= SHARED_DEPTH) {
            continue;
        }
        bool joins = c->unsynced && c->rights_id == s->rights_id;
        bool may_join_next = !c->unsynced && c->last_rights_id == s->rights_id;
        if (joins || c->syncs < (may_join_next ? SHARED_GROUPS : SHARED_GROUPS_APART)) {
            return pc;
        }
        is_worth_waiting = true;
    }
    return is_worth_waiting ? NULL : latest_idle(p, s);
}

/* Short reads have a connection left when this one is lent, or one that is on its way. */
static bool leaves_one(struct pool *p)
{
    size_t left = p->conn_count - pool_count_own(p) + pool_count_connecting(p);
    return left >= 2 || pool_budget_is_tight(p->budget) || pool_connect_one(p);
}

static struct pool_conn *choose_for_stream(struct pool *p, const struct pool_seat *s)
{
    struct pool_conn *pc = latest_idle(p, s);
    if (pc == NULL || !leaves_one(p) || !pool_budget_take(p->budget, p->place, BUDGET_STREAMS)) {
        return NULL;
    }
    pc->is_stream = true;
    return pc;
}

static struct pool_conn *choose(struct pool *p, const struct pool_seat *s)
{
    switch (s->kind) {
    case SEAT_STREAM:
        return choose_for_stream(p, s);
    case SEAT_OWN:
        return latest_idle(p, s);
    case SEAT_SHARED:
        return choose_shared(p, s);
    case SEAT_KINDS:
        break;
    }
    return NULL;
}

static bool give_seat(struct pool *p, struct pool_seat *s)
{
    struct pool_conn *pc = choose(p, s);
    if (pc == NULL) {
        return false;
    }
    line_remove(p, s);
    if (s->kind != SEAT_SHARED) {
        pool_conn_enter(pc, USE_LENT);
        pc->lent_to = s;
    } else if (pc->use == USE_IDLE) {
        pool_conn_enter(pc, USE_SHARED);
    }
    s->state = SEAT_SEATED;
    s->pc = pc;
    if (s->kind == SEAT_SHARED && pc->conn.unsynced &&
        (s->is_alone || pc->conn.rights_id != s->rights_id)) {
        conn_sync(&pc->conn, NULL);
    }
    s->ops->seated(s, &pc->conn);
    if (pc->conn.broken && s->kind == SEAT_SHARED && s->state == SEAT_SEATED && s->pc == pc &&
        s->client.in_flight == 0) {
        /* Nothing could be sent, so there is nothing in flight with which it would be lost. */
        s->client.ops->lost(&s->client, PQerrorMessage(pc->conn.pg));
        return true;
    }
    if (s->is_alone && s->kind == SEAT_SHARED) {
        conn_sync(&pc->conn, NULL);
    }
    return true;
}

static void send_groups(struct pool *p)
{
    for (size_t i = 0; i < p->conn_count; i++) {
        if (p->conns[i]->use == USE_SHARED && p->conns[i]->conn.unsynced) {
            conn_sync(&p->conns[i]->conn, NULL);
        }
    }
}

void pool_drain_one(struct pool *p)
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
    if (best != NULL && draining == 0) {
        best->draining = true;
    }
}

/* The one that came first of those who can have a seat now; then there may be others. */
static bool seat_one(struct pool *p)
{
    bool tried[SEAT_KINDS] = {false};
    for (;;) {
        struct pool_seat *first = NULL;
        for (size_t kind = 0; kind < SEAT_KINDS; kind++) {
            struct pool_seat *s = p->lines[kind].head;
            if (s != NULL && !tried[kind] && (first == NULL || s->ticket < first->ticket)) {
                first = s;
            }
        }
        if (first == NULL) {
            return false;
        }
        tried[first->kind] = true;
        if (give_seat(p, first)) {
            return true;
        }
    }
}

/* Somebody waits for a connection for itself, and only shared ones are left. */
static bool must_drain(const struct pool *p)
{
    if (pool_count_connecting(p) > 0 || pool_count_use(p, USE_IDLE) > 0) {
        return false;
    }
    bool may_stream = pool_budget_has(p->budget, BUDGET_STREAMS) &&
                      (p->conn_count - pool_count_own(p) >= 2 || pool_budget_is_tight(p->budget));
    return p->lines[SEAT_OWN].head != NULL || (p->lines[SEAT_STREAM].head != NULL && may_stream);
}

void pool_seats_serve(struct pool *p)
{
    while (seat_one(p)) {
    }
    send_groups(p);
    pool_connect_wanted(p);
    if (must_drain(p)) {
        pool_drain_one(p);
    }
}

static void set_busy(struct odata_error *err)
{
    (void)odata_error_set(err, 503, ODATA_CODE_DATABASE_BUSY, "",
                          "all connections to the database are in use");
    err->retry_after_s = RETRY_AFTER_S;
}

void pool_set_unavailable(struct odata_error *err)
{
    (void)odata_error_set(err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "",
                          "the database cannot be reached");
    err->retry_after_s = RETRY_AFTER_S;
}

void pool_seats_refuse(struct pool *p, const struct odata_error *err)
{
    for (size_t kind = 0; kind < SEAT_KINDS; kind++) {
        while (p->lines[kind].head != NULL) {
            struct pool_seat *s = p->lines[kind].head;
            line_remove(p, s);
            s->ops->refused(s, err);
        }
    }
}

void pool_seats_expire(struct pool *p, int64_t now_ms)
{
    for (size_t kind = 0; kind < SEAT_KINDS; kind++) {
        while (p->lines[kind].head != NULL && p->lines[kind].head->deadline_ms <= now_ms) {
            struct pool_seat *s = p->lines[kind].head;
            struct odata_error err;
            set_busy(&err);
            line_remove(p, s);
            s->ops->refused(s, &err);
        }
    }
}

void pool_seats_wake(struct pool *p)
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

bool pool_seat_take(struct pool *p, struct pool_seat *s, struct odata_error *err)
{
    if (p->failing && !pool_has_live(p)) {
        pool_set_unavailable(err);
        return false;
    }
    s->ticket = ++p->tickets;
    s->deadline_ms = pool_now(p) + p->options.wait_ms;
    line_add(p, s);
    bool is_full = p->lines[s->kind].count > p->options.max_waiting;
    if (s->kind != SEAT_SHARED || is_full) {
        pool_seats_serve(p);
    } else {
        pool_soon(p); /* with those that the rest of this turn brings */
    }
    if (s->state == SEAT_WAITING && p->lines[s->kind].count > p->options.max_waiting) {
        line_remove(p, s);
        set_busy(err);
        return false;
    }
    if (s->state == SEAT_WAITING && s->kind != SEAT_SHARED) {
        pool_arm_timer(p);
    }
    return true;
}

void pool_seat_lose(struct pool *p, struct pool_seat *s)
{
    s->state = SEAT_NONE;
    s->pc = NULL;
    s->has_lost = true;
    s->lost_order = p->idle_orders;
}

void pool_seat_take_again(struct pool *p, struct pool_seat *s)
{
    assert(s->state == SEAT_NONE);
    line_add(p, s);
    pool_soon(p);
}

int64_t pool_seat_ran_ms(const struct pool_seat *s)
{
    return pool_now(s->pc->pool) - s->pc->conn.head_since_ms;
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
        pool_conn_clean(pc, in_transaction, how);
    } else {
        pool_conn_settle(pc);
    }
    if (pool_count_waiting(p) > 0) {
        pool_soon(p); /* not from here: a callback of this very connection may be running */
    }
}

bool pool_seat_may_be_hit(const struct pool_seat *s)
{
    return s->state == SEAT_SEATED && s->kind == SEAT_SHARED && s->pc->use == USE_CANCELLING;
}

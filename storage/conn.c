// SPDX-License-Identifier: Apache-2.0
#include "storage/conn.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    FIRST_SLOTS = 32,
    /* What conn_widen() makes of libpq's input buffer, which is 16 KiB at first and doubles until a
       message fits: 64 KiB. */
    WIDE_MESSAGE_BYTES = 60 * 1024,
    /* libpq's input buffer grows to the longest message and never shrinks. */
    SWELLING_BYTES = 1024 * 1024,
    /* Reads of the socket in one turn; then others have theirs. */
    READS_PER_TURN = 16,
};

enum slot_kind {
    SLOT_SYNC,
    SLOT_PREPARE,
    SLOT_EXECUTE,
    SLOT_DEALLOCATE,
    SLOT_SETTING,
};

/* One thing in flight. */
struct conn_slot {
    enum slot_kind kind;
    uint32_t number; /* of the prepared statement; 0 = none */
    bool by_row;     /* each row comes as a result of its own, once libpq has been told so */
    struct conn_client *client;
    void *arg;
};

static void mark_broken(struct conn *c)
{
    if (!c->broken) {
        c->broken = true;
        if (!c->in_loop) {
            c->events->broken(c);
        }
    }
}

static void update_watch(struct conn *c)
{
    unsigned events =
        (c->paused ? 0U : (unsigned)WATCH_READ) | (c->unflushed ? (unsigned)WATCH_WRITE : 0U);
    if (c->broken) {
        events = 0;
    }
    if (c->watch.events != events && !c->reactor->watch(c->reactor, &c->watch, events)) {
        mark_broken(c);
    }
}

static struct conn_slot *head_slot(const struct conn *c)
{
    return &c->slots[c->slot_head & c->slot_mask];
}

static bool grow_slots(struct conn *c)
{
    size_t old_size = c->slot_mask + 1;
    struct conn_slot *bigger = calloc(old_size * 2, sizeof(*bigger));
    if (bigger == NULL) {
        return false;
    }
    for (size_t i = 0; i < c->slot_count; i++) {
        bigger[i] = c->slots[(c->slot_head + i) & c->slot_mask];
    }
    free(c->slots);
    c->slots = bigger;
    c->slot_head = 0;
    c->slot_mask = old_size * 2 - 1;
    return true;
}

/* sent is what libpq said of the send. */
static void add_slot(struct conn *c, int sent, struct conn_slot slot)
{
    if (sent != 1 || (c->slot_count > c->slot_mask && !grow_slots(c))) {
        mark_broken(c);
        return;
    }
    if (c->slot_count == 0) {
        c->head_since_ms = c->reactor->now_ms(c->reactor);
    }
    c->slots[(c->slot_head + c->slot_count) & c->slot_mask] = slot;
    c->slot_count++;
    if (slot.kind == SLOT_SYNC) {
        c->syncs++;
    }
    if (slot.client != NULL) {
        slot.client->in_flight++;
    }
    c->unsynced = slot.kind != SLOT_SYNC;
}

static void pop_slot(struct conn *c)
{
    struct conn_client *client = head_slot(c)->client;
    if (client != NULL) {
        client->in_flight--;
    }
    c->slot_head++;
    c->slot_count--;
}

static void flush_out(struct conn *c)
{
    int left = PQflush(c->pg);
    if (left < 0) {
        mark_broken(c);
    }
    c->unflushed = left > 0;
}

static void deallocate(struct conn *c, uint32_t number)
{
    char text[40];
    (void)snprintf(text, sizeof(text), "DEALLOCATE s%u", number);
    int sent = PQsendQueryParams(c->pg, text, 0, NULL, NULL, NULL, NULL, 0);
    add_slot(c, sent, (struct conn_slot){.kind = SLOT_DEALLOCATE, .number = number});
}

static void deliver(const struct conn_slot *slot, PGresult *res)
{
    if (slot->client != NULL) {
        slot->client->ops->result(slot->client, slot->arg, res);
    } else {
        PQclear(res);
    }
}

static const char *state_of(const PGresult *res)
{
    const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
    return state == NULL ? "" : state;
}

/* The prepared statement is worth nothing any more: its tables have changed, or it is not there. */
static bool spoils_statement(const char *sqlstate)
{
    static const char *const states[] = {"0A000", "26000", "42P01", "42703"};
    for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
        if (strcmp(states[i], sqlstate) == 0) {
            return true;
        }
    }
    return false;
}

bool conn_result_ends(const PGresult *res)
{
    if (PQresultStatus(res) != PGRES_FATAL_ERROR) {
        return false;
    }
    const char *severity = PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED);
    return severity == NULL || strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0;
}

static void on_prepare_result(struct conn *c, const struct conn_slot *slot, PGresult *res)
{
    ExecStatusType status = PQresultStatus(res);
    if (status != PGRES_COMMAND_OK) {
        (void)statement_cache_drop(&c->cache, slot->number);
    }
    if (status == PGRES_COMMAND_OK || status == PGRES_PIPELINE_ABORTED) {
        PQclear(res); /* aborted: the execution will say the same */
        return;
    }
    deliver(slot, res);
}

static void on_execute_result(struct conn *c, const struct conn_slot *slot, PGresult *res)
{
    if (slot->number != 0 && PQresultStatus(res) == PGRES_FATAL_ERROR) {
        const char *state = state_of(res);
        if (spoils_statement(state) && statement_cache_drop(&c->cache, slot->number) &&
            strcmp(state, "26000") != 0) {
            deallocate(c, slot->number);
        }
    }
    deliver(slot, res);
}

void conn_forget_modes(struct conn *c)
{
    c->plan_mode = PLAN_ANY;
}

static void on_sync(struct conn *c)
{
    struct conn_slot slot = *head_slot(c);
    int64_t now_ms = c->reactor->now_ms(c->reactor);
    int64_t ran_ms = now_ms - c->head_since_ms;
    pop_slot(c);
    c->syncs--;
    c->head_since_ms = now_ms;
    if (slot.client != NULL) {
        slot.client->ops->synced(slot.client, ran_ms);
    }
}

static void handle(struct conn *c, PGresult *res)
{
    struct conn_slot slot = *head_slot(c); /* sending from a callback may move the ring */
    if (res == NULL) {
        if (slot.kind == SLOT_SYNC) {
            mark_broken(c); /* libpq and we do not agree any more */
            return;
        }
        pop_slot(c);
        return;
    }
    if (PQresultStatus(res) == PGRES_PIPELINE_SYNC) {
        PQclear(res);
        if (slot.kind != SLOT_SYNC) {
            mark_broken(c);
            return;
        }
        on_sync(c);
        return;
    }
    if (PQresultMemorySize(res) > SWELLING_BYTES) {
        c->is_swollen = true;
    }
    bool is_end = conn_result_ends(res);
    if (PQresultStatus(res) == PGRES_FATAL_ERROR) {
        conn_forget_modes(c);
    }
    switch (slot.kind) {
    case SLOT_SYNC:
        PQclear(res);
        is_end = true; /* a fatal error while nothing was running */
        break;
    case SLOT_PREPARE:
        on_prepare_result(c, &slot, res);
        break;
    case SLOT_EXECUTE:
        on_execute_result(c, &slot, res);
        break;
    case SLOT_DEALLOCATE:
        if (PQresultStatus(res) == PGRES_PIPELINE_ABORTED) {
            deallocate(c, slot.number); /* skipped because of a neighbour's error */
        }
        PQclear(res);
        break;
    case SLOT_SETTING:
        PQclear(res);
        break;
    }
    if (is_end) {
        c->ended = true; /* the slot stays: its client is to be told that all is lost */
        mark_broken(c);
    }
}

/*
 * libpq 15 swallows ReadyForQuery when it has no memory for that result: it stays busy for ever, and
 * only its error message tells (pqParseInput3(), case 'Z'). An error that PostgreSQL has sent may
 * say the same before its ReadyForQuery is here; then a connection is closed in vain.
 */
static bool has_lost_sync(const struct conn *c)
{
    return c->slot_count > 0 && head_slot(c)->kind == SLOT_SYNC &&
           strstr(PQerrorMessage(c->pg), "out of memory") != NULL;
}

/*
 * Nothing of the head's result is parsed yet when this is asked first: libpq parses in PQisBusy()
 * and PQgetResult() only.
 */
static bool head_is_here(struct conn *c)
{
    struct conn_slot *slot = head_slot(c);
    if (slot->by_row) {
        slot->by_row = false;
        (void)PQsetSingleRowMode(c->pg);
    }
    return !PQisBusy(c->pg);
}

static void dispatch(struct conn *c)
{
    while (c->slot_count > 0 && !c->paused && !c->broken && head_is_here(c)) {
        handle(c, PQgetResult(c->pg));
    }
    if (!c->paused && (PQstatus(c->pg) == CONNECTION_BAD || has_lost_sync(c))) {
        mark_broken(c);
    }
    if (c->unsynced && !c->broken && c->slot_count > 0 && !c->paused) {
        /* Only deallocate() sends without a sync of its own. */
        bool ours =
            c->slots[(c->slot_head + c->slot_count - 1) & c->slot_mask].kind == SLOT_DEALLOCATE;
        if (ours) {
            conn_sync(c, NULL);
        }
    }
}

static bool has_input(const struct conn *c)
{
    int bytes = 0;
    return ioctl(PQsocket(c->pg), FIONREAD, &bytes) == 0 && bytes > 0;
}

/*
 * One read takes all that is there, or fills libpq's buffer; the next turn brings the rest. Of an
 * encrypted connection one read takes one record, 8 KiB mostly: there the socket is asked for more.
 */
static void take_input(struct conn *c)
{
    for (int i = 0; i < READS_PER_TURN; i++) {
        if (PQconsumeInput(c->pg) != 1) {
            dispatch(c); /* what came before the end still counts */
            if (!c->paused) {
                mark_broken(c);
            }
            return;
        }
        dispatch(c);
        if (c->paused || c->broken || c->is_brief || !c->is_encrypted || !has_input(c)) {
            return;
        }
    }
}

static void on_socket(struct watch *w, unsigned events, int64_t now_ms)
{
    struct conn *c = w->owner;
    c->in_loop = true;
    if ((events & WATCH_WRITE) != 0) {
        flush_out(c);
    }
    if (!c->paused) {
        take_input(c);
    }
    update_watch(c);
    c->in_loop = false;
    c->events->after(c, now_ms);
}

static void on_notice(void *arg, const char *text)
{
    struct conn *c = arg;
    c->events->notice(c, text);
}

bool conn_init(struct conn *c, PGconn *pg, size_t cache_size, struct reactor *reactor,
               const struct conn_events *events)
{
    *c = (struct conn){.pg = pg,
                       .reactor = reactor,
                       .events = events,
                       .prepares = cache_size > 0,
                       .plan_mode = PLAN_CHOSEN};
    c->watch = (struct watch){.fd = PQsocket(pg), .ready = on_socket, .owner = c};
    c->is_encrypted = PQsslInUse(pg) != 0 || PQgssEncInUse(pg) != 0;
    c->slots = calloc(FIRST_SLOTS, sizeof(*c->slots));
    c->slot_mask = FIRST_SLOTS - 1;
    if (c->slots == NULL || (c->prepares && !statement_cache_init(&c->cache, cache_size)) ||
        PQsetnonblocking(pg, 1) != 0 || PQenterPipelineMode(pg) != 1 ||
        !reactor->watch(reactor, &c->watch, WATCH_READ)) {
        conn_fini(c);
        return false;
    }
    (void)PQsetNoticeProcessor(pg, on_notice, c);
    return true;
}

void conn_fini(struct conn *c)
{
    if (c->watch.events != 0) {
        (void)c->reactor->watch(c->reactor, &c->watch, 0);
    }
    PQfinish(c->pg);
    free(c->slots);
    statement_cache_fini(&c->cache);
    c->pg = NULL;
    c->slots = NULL;
}

void conn_set_plan_mode(struct conn *c, enum plan_mode mode)
{
    if (mode == PLAN_ANY || mode == c->plan_mode || !c->prepares || c->broken) {
        return;
    }
    static const char *const texts[] = {
        [PLAN_CHOSEN] = "SET plan_cache_mode = DEFAULT",
        [PLAN_KEPT] = "SET plan_cache_mode = force_generic_plan",
        [PLAN_MADE] = "SET plan_cache_mode = force_custom_plan",
    };
    int sent = PQsendQueryParams(c->pg, texts[mode], 0, NULL, NULL, NULL, NULL, 0);
    add_slot(c, sent, (struct conn_slot){.kind = SLOT_SETTING});
    c->plan_mode = mode;
}

void conn_send_once(struct conn *c, struct conn_client *client, void *arg, const char *text,
                    const char *const *params, size_t param_count)
{
    if (c->broken) {
        return;
    }
    if (param_count > 0 && c->plan_mode != PLAN_MADE) {
        conn_set_plan_mode(c, PLAN_CHOSEN); /* of what is sent once, the same */
    }
    int sent = PQsendQueryParams(c->pg, text, (int)param_count, NULL, params, NULL, NULL, 0);
    add_slot(c, sent, (struct conn_slot){.kind = SLOT_EXECUTE, .client = client, .arg = arg});
}

void conn_send_by_row(struct conn *c, struct conn_client *client, void *arg, const char *text)
{
    if (c->broken) {
        return;
    }
    int sent = PQsendQueryParams(c->pg, text, 0, NULL, NULL, NULL, NULL, 0);
    add_slot(
        c, sent,
        (struct conn_slot){.kind = SLOT_EXECUTE, .by_row = true, .client = client, .arg = arg});
}

void conn_widen(struct conn *c, struct conn_client *client, void *arg)
{
    if (c->is_wide || c->broken) {
        return;
    }
    c->is_wide = true;
    char text[64];
    (void)snprintf(text, sizeof(text), "SELECT pg_catalog.repeat(' ', %d)", WIDE_MESSAGE_BYTES);
    conn_send_once(c, client, arg, text, NULL, 0);
}

uint32_t conn_prepared(struct conn *c, const struct sql_statement *statement, uint64_t hash)
{
    return c->prepares ? statement_cache_find(&c->cache, hash, str_from(statement->text)) : 0;
}

/* The statement's number; it is sent to be prepared when it is new here. 0: it cannot be kept. */
static uint32_t prepare(struct conn *c, struct conn_client *client, void *arg, struct str text,
                        uint64_t hash)
{
    uint32_t number = statement_cache_find(&c->cache, hash, text);
    if (number != 0) {
        return number;
    }
    uint32_t evicted = 0;
    number = statement_cache_add(&c->cache, hash, text, &evicted);
    if (number == 0) {
        return 0;
    }
    if (evicted != 0) {
        deallocate(c, evicted);
    }
    char name[16];
    (void)snprintf(name, sizeof(name), "s%u", number);
    int sent = PQsendPrepare(c->pg, name, text.ptr, 0, NULL);
    add_slot(
        c, sent,
        (struct conn_slot){.kind = SLOT_PREPARE, .number = number, .client = client, .arg = arg});
    return number;
}

void conn_send(struct conn *c, struct conn_client *client, void *arg,
               const struct sql_statement *statement, uint64_t hash, enum plan_mode mode)
{
    if (c->broken) {
        return;
    }
    uint32_t number = c->prepares ? prepare(c, client, arg, str_from(statement->text), hash) : 0;
    if (number == 0) {
        conn_send_once(c, client, arg, statement->text, statement->params, statement->param_count);
        return;
    }
    conn_set_plan_mode(c, mode);
    char name[16];
    (void)snprintf(name, sizeof(name), "s%u", number);
    int sent = PQsendQueryPrepared(c->pg, name, (int)statement->param_count, statement->params,
                                   NULL, NULL, 0);
    add_slot(
        c, sent,
        (struct conn_slot){.kind = SLOT_EXECUTE, .number = number, .client = client, .arg = arg});
}

void conn_sync(struct conn *c, struct conn_client *client)
{
    if (c->broken) {
        return;
    }
    c->last_rights_id = c->rights_id;
    c->rights_id =
        0; /* a sync ends the transaction, unless BEGIN was sent: then nobody else comes */
    int sent = PQpipelineSync(c->pg);
    add_slot(c, sent, (struct conn_slot){.kind = SLOT_SYNC, .client = client});
    flush_out(c);
    update_watch(c);
}

void conn_ask_flush(struct conn *c)
{
    if (!c->broken && PQsendFlushRequest(c->pg) != 1) {
        mark_broken(c);
    }
}

void conn_forget(struct conn *c, struct conn_client *client)
{
    for (size_t i = 0; i < c->slot_count && client->in_flight > 0; i++) {
        struct conn_slot *slot = &c->slots[(c->slot_head + i) & c->slot_mask];
        if (slot->client == client) {
            slot->client = NULL;
            client->in_flight--;
        }
    }
}

size_t conn_head_group(const struct conn *c, struct conn_client **out_clients, size_t most,
                       size_t *out_forgotten)
{
    size_t count = 0;
    *out_forgotten = 0;
    for (size_t i = 0; i < c->slot_count; i++) {
        const struct conn_slot *slot = &c->slots[(c->slot_head + i) & c->slot_mask];
        if (slot->kind == SLOT_SYNC) {
            break;
        }
        if (slot->kind != SLOT_EXECUTE) {
            continue;
        }
        if (slot->client == NULL) {
            ++*out_forgotten;
        } else if (count < most) {
            out_clients[count++] = slot->client;
        }
    }
    return count;
}

void conn_pause(struct conn *c)
{
    c->paused = true;
    if (!c->in_loop) {
        update_watch(c);
    }
}

void conn_resume(struct conn *c)
{
    c->paused = false;
    update_watch(c);
}

void conn_pump(struct conn *c)
{
    c->paused = false;
    dispatch(c);
    if (!c->paused && !c->broken) {
        take_input(c);
    }
    update_watch(c);
}

void conn_fail_all(struct conn *c)
{
    c->broken = true;
    update_watch(c);
    while (c->slot_count > 0) {
        struct conn_client *client = head_slot(c)->client;
        pop_slot(c);
        if (client != NULL) {
            conn_forget(c, client);
            client->ops->lost(client, PQerrorMessage(c->pg));
        }
    }
    c->syncs = 0;
}

bool conn_is_alive(const struct conn *c)
{
    /* Unlike recv(), poll() sees a hang-up behind bytes that nobody has read yet. */
    struct pollfd fd = {.fd = PQsocket(c->pg), .events = POLLRDHUP};
    return !c->broken && poll(&fd, 1, 0) == 0;
}

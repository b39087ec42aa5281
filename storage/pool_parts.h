// SPDX-License-Identifier: Apache-2.0
/*
 * pool_parts - the pool's own structs: shared by pool.c, pool_conn.c and pool_seat.c, and nobody else.
 *
 * pool_conn.c: one connection, from its first use to its end, with cancels.
 * pool_seat.c: who waits, and who gets which connection.
 * pool.c:      how many connections there are, and the turn of the loop that calls the others.
 */
#ifndef STORAGE_POOL_PARTS_H
#define STORAGE_POOL_PARTS_H

#include "storage/blocking.h"
#include "storage/connector.h"
#include "storage/conninfo.h"
#include "storage/pool_priv.h"
#include "storage/session.h"

enum {
    CONNECTS_AT_ONCE = 2, /* a SCRAM handshake costs 4 to 10 ms of a loop's turn */
    /* Statements in flight on one shared connection. */
    SHARED_DEPTH = 64,
    /* Groups in flight on it: while the server works on one, the next is on its way. */
    SHARED_GROUPS = 2,
    /* The same when the read could not join the next group in any case: it has other rights. */
    SHARED_GROUPS_APART = 16,
    /* A group that has been running for longer: nobody is put behind it. */
    SHARED_STUCK_MS = 20,
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

struct cancel_job;

struct pool_conn {
    struct conn conn;          /* first */
    struct conn_client mender; /* sends the session's settings when a pooler swallowed them */
    struct pool *pool;
    enum pool_use use;
    bool draining;  /* SHARED: takes no more reads, somebody waits for it alone */
    bool is_stream; /* it counts as one in the budget: from LENT until it is IDLE again */
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
    struct session_options session;
    struct conninfo info;
    struct reactor *reactor;
    struct storage_observer observer;
    struct blocking *cancels;
    struct blocking *lookups;

    struct pool_conn **conns;
    size_t conn_count;
    size_t claimed; /* connections that are there or on their way: the first one is the pool's own,
                       the others are taken from the budget */
    struct pool_budget *budget;
    size_t place;           /* in the budget */
    struct watch neighbour; /* other pools want something, or have given it back */

    struct connector connectors[CONNECTS_AT_ONCE];
    bool failing; /* the last attempt failed and none has succeeded since: the breaker */
    int64_t failing_since_ms;
    int64_t backoff_ms;
    int64_t next_connect_ms;
    bool warm; /* one connection is kept ahead of need */

    struct line lines[SEAT_KINDS];
    uint64_t tickets;
    struct pool_seat *wakes;
    struct pool_seat *wakes_tail;
    struct deferred turn; /* runs pool_turn() */
    struct timer timer;
    uint64_t cancel_count;
    uint64_t idle_orders;
    uint32_t jitter;

    struct statement_stats stats;
};

/* pool.c */

static inline int64_t pool_now(const struct pool *p)
{
    return p->reactor->now_ms(p->reactor);
}

/* The end of this turn of the loop runs pool_turn(). */
void pool_soon(struct pool *p);
/* Everything that may have to be done; from the loop only. */
void pool_turn(struct pool *p, int64_t now_ms);
/* For what comes next of itself: deadlines, the next attempt to connect. */
void pool_arm_timer(struct pool *p);
/* Starts to connect when that would help somebody. */
void pool_connect_wanted(struct pool *p);
/* Starts one more connection. False: there may be none now. */
bool pool_connect_one(struct pool *p);
/* A connection is gone: another one may be made, here or in another pool. */
void pool_unclaim(struct pool *p);
/* Plus or minus 20 %. */
int64_t pool_jitter(struct pool *p, int64_t ms);
size_t pool_count_use(const struct pool *p, enum pool_use use);
/* Connections that streams have, or are about to give back. */
size_t pool_count_own(const struct pool *p);
size_t pool_count_connecting(const struct pool *p);
/* Reads in line. */
size_t pool_count_waiting(const struct pool *p);
/* A connection of a stream that nobody asks can be dead without our having seen it. */
bool pool_has_live(const struct pool *p);
void pool_observe_connection(struct pool *p, bool up, const char *text);

/* pool_conn.c */

/* Takes pg and adds it to the pool. False: memory is short. */
bool pool_conn_add(struct pool *p, PGconn *pg, int64_t now_ms) NODISCARD;
void pool_conn_close(struct pool_conn *pc);
/* The only place that writes pc->use, once it is in the pool. */
void pool_conn_enter(struct pool_conn *pc, enum pool_use to);
/* If the connection has become free, it becomes IDLE. */
void pool_conn_settle(struct pool_conn *pc);
/* Its read leaves it: LENT to CLEANING, or to IDLE at once. */
void pool_conn_clean(struct pool_conn *pc, bool in_transaction, enum seat_leave how);

/* pool_seat.c */

/* Gives connections to those who wait, and sends the groups that this makes. */
void pool_seats_serve(struct pool *p);
/* All connections are shared and one is wanted: one of them takes no more reads. */
void pool_drain_one(struct pool *p);
/* A connection that takes short reads, now or when one of its groups is over. */
bool pool_has_open_share(const struct pool *p);
void pool_seats_refuse(struct pool *p, const struct odata_error *err);
void pool_seats_expire(struct pool *p, int64_t now_ms);
void pool_seats_wake(struct pool *p);
void pool_set_unavailable(struct odata_error *err);

#endif

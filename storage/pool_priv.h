// SPDX-License-Identifier: Apache-2.0
/*
 * pool_priv - what storage/db_read.c and storage/pool.c share: a read's seat in the pool.
 */
#ifndef STORAGE_POOL_PRIV_H
#define STORAGE_POOL_PRIV_H

#include "storage/conn.h"
#include "storage/pool.h"
#include "storage/statement_stats.h"

struct pool_conn;

enum seat_kind {
    SEAT_STREAM, /* a connection for itself, for as long as its client reads: streams, and statements
                    that are known to be slow */
    SEAT_OWN,    /* a connection for itself, for one round trip */
    SEAT_SHARED, /* a place in a group of short reads on one connection, one statement each; the pool
                    sends the sync */
    SEAT_KINDS,
};

enum seat_state {
    SEAT_NONE,    /* neither in line nor at a connection */
    SEAT_WAITING, /* in line */
    SEAT_SEATED,  /* at a connection */
};

enum seat_leave {
    SEAT_LEAVE_OVER,      /* all came, or it failed: only the end of the transaction is awaited */
    SEAT_LEAVE_ABANDONED, /* a query may still run: it is cancelled when it does not end soon */
};

struct pool_seat;

struct pool_seat_ops {
    /* It has a connection: send. May be called from pool_seat_take(). */
    void (*seated)(struct pool_seat *seat, struct conn *conn);
    /* It waited in vain, or there is no database. Lends err. From the loop only. */
    void (*refused)(struct pool_seat *seat, const struct odata_error *err);
    /* Its group has been running for STATEMENT_SLOW_MS on a shared connection. neighbours: how many
       others are in the group; any of them may be the slow one. */
    void (*slow)(struct pool_seat *seat, size_t neighbours);
    /* What pool_seat_wake() asked for. From the loop, outside of everything: may do anything. */
    void (*wake)(struct pool_seat *seat);
};

struct pool_seat {
    struct conn_client client; /* first: results find their seat */
    const struct pool_seat_ops *ops;
    struct pool_seat *prev; /* in line */
    struct pool_seat *next;
    struct pool_seat *wake_prev;
    struct pool_seat *wake_next;
    bool in_wakes;
    bool is_alone;        /* SHARED: in a group of its own, whose failure touches nobody */
    bool is_slow_told;    /* slow() was called */
    bool may_plan_better; /* it runs by a plan that was kept; one for its values may be faster */
    bool has_lost; /* it has lost its connection: others may be as dead, and nobody knows yet */
    uint64_t lost_order; /* then only one will do that became idle later, by the pool's count */
    uint64_t rights_id;  /* SHARED: only reads of the same rights go into one group */
    enum seat_kind kind;
    enum seat_state state;
    uint64_t ticket;     /* order of arrival */
    int64_t deadline_ms; /* of the waiting */
    struct pool_conn *pc;
};

/*
 * Asks for a connection: seated() comes now, at the end of this turn of the loop, or later. seat->kind and ops are set by the caller.
 * False fills err: 503 DatabaseBusy, 503 DatabaseUnavailable.
 */
bool pool_seat_take(struct pool *p, struct pool_seat *seat, struct odata_error *err) NODISCARD;

/* Its connection is gone: it sits nowhere. From lost() of a client. */
void pool_seat_lose(struct pool *p, struct pool_seat *seat);

/*
 * Asks again, at its old place in the line, with the deadline it had; from the callbacks of a
 * client.
 */
void pool_seat_take_again(struct pool *p, struct pool_seat *seat);

/* For how long the group of this seated read has been running. */
int64_t pool_seat_ran_ms(const struct pool_seat *seat);

/*
 * Leaves the line or the connection. in_transaction: a BEGIN was sent that nothing has ended. What
 * still runs is cancelled after a short time; nobody gets the connection before it is clean.
 */
void pool_seat_leave(struct pool *p, struct pool_seat *seat, bool in_transaction,
                     enum seat_leave how);

/* Calls ops->wake() from the loop, soon. pool_seat_sleep() takes it back. */
void pool_seat_wake(struct pool *p, struct pool_seat *seat);
void pool_seat_sleep(struct pool *p, struct pool_seat *seat);

/* A cancel was sent on this connection, which may hit whoever is there. */
bool pool_seat_may_be_hit(const struct pool_seat *seat);

const struct pool_options *pool_get_options(const struct pool *p);
struct statement_stats *pool_get_stats(struct pool *p);
struct reactor *pool_get_reactor(struct pool *p);
void pool_report_stale_model(struct pool *p);

#endif

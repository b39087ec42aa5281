// SPDX-License-Identifier: Apache-2.0
/*
 * conn - one PostgreSQL connection in libpq's pipeline mode.
 *
 * Clients send statements and then a sync; results come back in that order. Several clients may
 * have something in flight at once: each result finds its client through the line of slots.
 *
 * Owns:    its PGconn, the slots, and the statements that are prepared on it.
 * Never:   blocks. Takes no bytes from its socket while it is paused.
 * Threads: one worker's thread.
 */
#ifndef STORAGE_CONN_H
#define STORAGE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "odata/compiler.h"
#include "storage/reactor.h"
#include "storage/sql_read.h"
#include "storage/statement_cache.h"

struct conn;
struct conn_client;

/* By which plan PostgreSQL runs a prepared statement that has parameters (plan_cache_mode). */
enum plan_mode {
    PLAN_ANY,    /* whatever is set: all its plans are alike */
    PLAN_CHOSEN, /* PostgreSQL decides at each run: for the values that come, or for any */
    PLAN_KEPT,   /* the one for any values, which is made once */
    PLAN_MADE,   /* one for the values that come */
};

struct conn_client_ops {
    /* One result of a statement that was sent with arg. Takes res. PGRES_PIPELINE_ABORTED: it was
       not run, because something before it in its group failed. */
    void (*result)(struct conn_client *client, void *arg, PGresult *res);
    /* Everything up to a sync is over; it stood at the head of the line for ran_ms. */
    void (*synced)(struct conn_client *client, int64_t ran_ms);
    /* The connection is gone, and all that was in flight with it. */
    void (*lost)(struct conn_client *client, const char *text);
};

/* Whoever sends statements. */
struct conn_client {
    const struct conn_client_ops *ops;
    unsigned in_flight; /* the connection's own: slots of this client */
};

/* To the connection's owner. */
struct conn_events {
    /* A turn of the loop with this connection is over; the owner may free it now. */
    void (*after)(struct conn *c, int64_t now_ms);
    /* It broke in a call that was not made by the loop: conn_fail_all() it from the loop. */
    void (*broken)(struct conn *c);
    void (*notice)(struct conn *c, const char *text);
};

struct conn_slot;

struct conn {
    PGconn *pg;
    struct reactor *reactor;
    struct watch watch;
    const struct conn_events *events;
    bool prepares;
    struct statement_cache cache;

    struct conn_slot *slots; /* a ring */
    size_t slot_mask;
    size_t slot_head;
    size_t slot_count;
    size_t syncs;          /* in flight */
    int64_t head_since_ms; /* what stands first in line was sent, or the group before it was over */

    enum plan_mode plan_mode; /* what is set there; PLAN_ANY: nobody knows */

    bool unsynced;           /* something was sent after the last sync */
    uint64_t rights_id;      /* of what was sent after it (storage/db_rights.h) */
    uint64_t last_rights_id; /* of the group before it */
    bool paused;             /* nobody asks */
    bool unflushed;          /* libpq has bytes that the socket did not take */
    bool broken;
    bool ended;   /* broken, and by the server */
    bool in_loop; /* the loop's own call is running */
    bool is_encrypted;
    bool is_wide;    /* libpq's input buffer was made wide */
    bool is_swollen; /* a result was so large that a row in it may have blown up libpq's buffer */
    bool is_brief;   /* results are short: what one read of the socket does not bring, the next turn
                      does */
};

/* Takes pg, also when it fails. False when memory is short. cache_size 0: nothing is prepared. */
bool conn_init(struct conn *c, PGconn *pg, size_t cache_size, struct reactor *reactor,
               const struct conn_events *events) NODISCARD;
void conn_fini(struct conn *c);

/*
 * Sends a statement; it is prepared when that is on. hash is str_hash() of its text, or
 * db_rights_hash(): then it is kept for that role alone. A failure shows as lost(), later.
 */
void conn_send(struct conn *c, struct conn_client *client, void *arg,
               const struct sql_statement *statement, uint64_t hash, enum plan_mode mode);

/* The number N of the statement that is prepared here, under the name sN; 0: it is not. */
uint32_t conn_prepared(struct conn *c, const struct sql_statement *statement, uint64_t hash);

/* Has what is sent behind this run by such plans. Nothing where nothing is prepared. */
void conn_set_plan_mode(struct conn *c, enum plan_mode mode);

/* A ROLLBACK was sent, or a transaction failed: what it has set is not set any more. */
void conn_forget_modes(struct conn *c);

/* Sends a statement that is never prepared: DECLARE, FETCH, BEGIN ... */
void conn_send_once(struct conn *c, struct conn_client *client, void *arg, const char *text,
                    const char *const *params, size_t param_count);

/*
 * The same for a FETCH whose rows come one at a time: result() is called with a PGRES_SINGLE_TUPLE
 * for each, and with an empty PGRES_TUPLES_OK behind the last. Nothing but the current row is held,
 * however many there are and however wide.
 */
void conn_send_by_row(struct conn *c, struct conn_client *client, void *arg, const char *text);

/*
 * Before the first long result, once: libpq asks the socket for no more than its input buffer has
 * room for, and that grows only for a message that does not fit. So one such message is asked for,
 * and thrown away; rows then come in parts of up to 64 KiB instead of 16.
 */
void conn_widen(struct conn *c, struct conn_client *client, void *arg);

/*
 * Ends a group: an error before it does not touch what comes after it. Sends all that was queued;
 * the server answers a group as one, too.
 */
void conn_sync(struct conn *c, struct conn_client *client);

/* The server sends what it has so far before it goes on to what is sent after this. */
void conn_ask_flush(struct conn *c);

/* The results of this client are thrown away from now on. */
void conn_forget(struct conn *c, struct conn_client *client);

/*
 * The first group in line, by its clients: fills out_clients (room for `most`) and returns how many
 * there are. *out_forgotten: how many of its statements belong to nobody any more.
 */
size_t conn_head_group(const struct conn *c, struct conn_client **out_clients, size_t most,
                       size_t *out_forgotten);

/* Nothing is in flight. */
static inline bool conn_is_quiet(const struct conn *c)
{
    return c->slot_count == 0;
}

/* Nobody asks: leave the rest in the socket. May be called from result(). */
void conn_pause(struct conn *c);
void conn_resume(struct conn *c);

/*
 * Takes results that have come until the client pauses or nothing more is there. For calls from
 * outside of the loop.
 */
void conn_pump(struct conn *c);

/* Tells all clients that the connection is lost. From the loop, by the owner. */
void conn_fail_all(struct conn *c);

/* An error that is the server's last word on its connection, or libpq's about it: lost() follows. */
bool conn_result_ends(const PGresult *res);

/* The peer has not closed it, as far as the kernel knows by now. */
bool conn_is_alive(const struct conn *c);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * db_read_priv - what the three parts of a read share: storage/db_read.c opens it and hands out its
 * rows, db_read_send.c sends its statements when it has a seat, db_read_result.c takes what comes.
 */
#ifndef STORAGE_DB_READ_PRIV_H
#define STORAGE_DB_READ_PRIV_H

#include <libpq-fe.h>

#include "storage/cursor.h"
#include "storage/db_read.h"
#include "storage/plan_trial.h"
#include "storage/pool_priv.h"

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

static inline struct db_read *of_seat(struct pool_seat *seat)
{
    return (struct db_read *)(void *)((char *)seat - offsetof(struct db_read, seat));
}

static inline struct db_read *of_client(struct conn_client *client)
{
    return of_seat((struct pool_seat *)client); /* its first member */
}

static inline bool is_short(const struct db_read *r)
{
    return r->script != SCRIPT_STREAM;
}

static inline uint64_t main_hash(const struct db_read *r)
{
    return r->sql->has_rows ? r->rows_hash : r->count_hash;
}

/* The only place that writes r->state. */
void read_enter(struct db_read *r, enum read_state to);

/* It is over: everything that it holds but err is given back, and whoever waits is told. */
void read_fail(struct db_read *r, const struct odata_error *err);
void read_fail_memory(struct db_read *r);

/* Gives back its seat; results that are here stay. */
void read_leave(struct db_read *r, enum seat_leave how);
void read_drop_results(struct db_read *r);

void read_wake_if_waiting(struct db_read *r);
int64_t read_now_ms(const struct db_read *r);

/* What seat it asks for, and how its statements are planned, by what is known of them now. */
void read_choose_seat(struct db_read *r);

/* storage/db_read_send.c */

extern const struct pool_seat_ops read_seat_ops;

/* What the cursors have sent goes out. */
void read_sync_if_needed(struct db_read *r);

/* storage/db_read_result.c */

extern const struct conn_client_ops read_client_ops;

/* Its statement has been running for STATEMENT_SLOW_MS on a shared connection. */
void read_note_slow(struct db_read *r);

#endif

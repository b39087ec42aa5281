// SPDX-License-Identifier: Apache-2.0
/*
 * cursor_priv - what storage/cursor.c, which walks the rows that have come, and storage/cursor_ask.c,
 * which sends for more, share.
 */
#ifndef STORAGE_CURSOR_PRIV_H
#define STORAGE_CURSOR_PRIV_H

#include "storage/cursor.h"
#include "storage/row_width.h"

enum {
    CURSOR_MOST_ASKED = 2,
    /* Rows of the first FETCH while nothing is known of them: they may take long to compute, and their
       first byte is to come soon. */
    CURSOR_FIRST_ROWS = 4,
    /* The keys of one batch of parents in text form. */
    CURSOR_SCRATCH_LIMIT = 64 * 1024 * 1024,
};

struct batch {
    struct batch *next; /* in its cursor's line */
    PGresult *res;
    int rows;
    int row;               /* the current one; -1 before the first */
    int64_t next_ordinal;  /* of the row behind it; 0 = not read yet */
    bool is_current;       /* rows are taken from it */
    struct cursor *kids[]; /* one for each child level */
};

/* A FETCH in flight. */
struct fetch {
    int rows; /* that were asked for */
    bool by_row;
};

struct cursor {
    struct cursor_set *set;
    struct cursor *all_prev; /* in the set's list */
    struct cursor *all_next;
    unsigned level;
    unsigned serial;
    struct batch *parent; /* the rows that it belongs to; NULL: level 0, or dropped */
    struct batch *first;  /* the current one, then those that have come */
    struct batch *last;
    PGresult *row;        /* by row: the current one, or the next one until it is taken */
    bool row_is_new;      /* nobody has taken it yet */
    int fetched;          /* by row: of the first FETCH in flight, rows taken so far */
    size_t fetched_bytes; /* and their size */
    struct fetch asked[CURSOR_MOST_ASKED]; /* in order */
    unsigned asked_count;
    unsigned arrived; /* batches behind the current one */
    bool has_current; /* first is the current one */
    bool ended;       /* no more rows will come */
    bool dropped;     /* nobody wants its rows; freed with the last result */
    bool closed;      /* CLOSE was sent */
};

struct cursor_level {
    const struct sql_level *sql;
    struct field *fields;
    size_t kid_index;    /* its place among its parent's children */
    int rows;            /* of the last FETCH that was measured, or to begin with */
    size_t row_bytes;    /* of its rows, on average; 0 = not known */
    bool width_is_known; /* or has been asked for */
    enum row_width width;
    struct batch *batch; /* where the current row stands; NULL = nowhere */
};

/* Sends DECLARE: of level 0, or over the keys of a batch of parents that has just come. False: there
   can be no row, or memory is short; nothing was sent. */
bool cursor_declare(struct cursor *c, const struct batch *parent);

/* Sends as many FETCHes as may be in flight now. */
void cursor_ask(struct cursor *c);

/* Sends CLOSE, once. */
void cursor_close(struct cursor *c);

/* What a FETCH has brought tells how many rows to ask for. */
void cursor_measure(struct cursor_set *set, unsigned level, size_t bytes, int rows);

/* The columns of a level's first result tell how many of its rows may come in one batch. */
void cursor_judge_width(struct cursor_set *set, unsigned level, const PGresult *res);

/* The level that asked PostgreSQL for its width with arg; NULL: none did. */
struct cursor_level *cursor_asker(const struct cursor_set *set, const void *arg);

#endif

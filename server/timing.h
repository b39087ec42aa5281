// SPDX-License-Identifier: Apache-2.0
/*
 * timing - when a request came how far, for its Server-Timing field.
 *
 * Owns:   nothing. While it is off, no clock is read.
 * Source: Server Timing (W3C); durations in milliseconds.
 */
#ifndef SERVER_TIMING_H
#define SERVER_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/bytes.h"

enum timing_mark {
    TIMING_BEGUN,     /* the whole request is here */
    TIMING_PARSED,    /* path and options are understood */
    TIMING_BOUND,     /* names and types are resolved, the SQL is written */
    TIMING_SEATED,    /* a connection to PostgreSQL is at hand */
    TIMING_FIRST_ROW, /* the first row is written, or there is none */
    TIMING_ANSWERED,  /* the head of the response goes out */
    TIMING_MARKS,
};

struct timing {
    bool on;
    int64_t at_us[TIMING_MARKS]; /* monotonic; 0 = it did not come so far */
};

/* Monotonic. */
int64_t timing_now_us(void);

/* The last time counts. */
void timing_mark(struct timing *t, enum timing_mark mark);

/* Appends `parse;dur=0.031, bind;dur=...`: the phases whose both ends are known. */
void timing_put(struct bytes *out, const struct timing *t);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * loop - the one place of a worker that waits: descriptors, timers, and work for the end of a turn.
 *
 * Implements storage/reactor.h; struct watch and struct timer are those that storage uses.
 *
 * Owns:    its epoll and event descriptors; never the descriptors that it watches.
 * Never:   calls back from inside loop_watch(), loop_set_timer() or loop_defer(); never calls a
 *          watch that was taken back, even when its event came in the same turn.
 * Threads: one worker's thread; only loop_wake() may be called from any thread.
 */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/compiler.h"
#include "storage/reactor.h"

struct loop;

/* Work that must not run where it was found out: frees, wakes. Zeroed before its first use. */
struct loop_job {
    void (*run)(struct loop_job *job);
    void *owner; /* for run() */
    struct loop_job *next;
    bool queued; /* the loop's own */
};

/*
 * max_timers: how many timers may be set at once; a bound that follows from the descriptors, so
 * that setting one cannot fail. NULL when memory or descriptors are short.
 */
struct loop *loop_new(size_t max_timers) NODISCARD;
void loop_free(struct loop *l);

struct reactor *loop_reactor(struct loop *l);

/* As in struct reactor. */
bool loop_watch(struct loop *l, struct watch *w, unsigned events) NODISCARD;
void loop_unwatch(struct loop *l, struct watch *w);
void loop_set_timer(struct loop *l, struct timer *t, int64_t deadline_ms);

/* Monotonic milliseconds as of the beginning of the turn. */
int64_t loop_now_ms(const struct loop *l);

/* Monotonic microseconds at which the wait of this turn was over. */
int64_t loop_turn_began_us(const struct loop *l);

/* The same clock as loop_now_ms(), read now: for what must not count the rest of a long turn. */
int64_t loop_clock_ms(void);

/* Runs the job at the end of this turn, or of the next one when it is asked for by a job. Once. */
void loop_defer(struct loop *l, struct loop_job *job);
/* Takes back a job that has not run yet. */
void loop_cancel(struct loop *l, struct loop_job *job);

/*
 * Waits until something happens, at most max_wait_ms; then runs what is ready, what is due and the
 * jobs.
 */
void loop_turn(struct loop *l, int64_t max_wait_ms);

/* Ends the wait of the current turn, or makes the next one not wait. From any thread. */
void loop_wake(struct loop *l);

#endif

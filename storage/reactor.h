// SPDX-License-Identifier: Apache-2.0
/*
 * reactor - what storage needs of the one place that waits: server/loop.c, or a test's own loop.
 *
 * Storage never waits. It says which descriptors it is interested in and when it wants to be called
 * at the latest; the reactor calls back, always from the worker's own thread and never from inside
 * one of the functions below.
 */
#ifndef STORAGE_REACTOR_H
#define STORAGE_REACTOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WATCH_READ = 1,
    WATCH_WRITE = 2,
    WATCH_GONE = 4, /* the peer closed or reset; reported whether asked for or not */
};

struct watch {
    int fd;
    unsigned events; /* what is asked for now; 0 = not watched. Written by the reactor only */
    void (*ready)(struct watch *w, unsigned events, int64_t now_ms);
    void *owner; /* for ready() */
};

struct timer {
    int64_t deadline_ms; /* 0 = not set. Written by the reactor only */
    void (*due)(struct timer *t, int64_t now_ms);
    void *owner;   /* for due() */
    unsigned slot; /* the reactor's own */
};

/* Something to be done once when a turn is over: what came in one turn is then sent as one. */
struct deferred {
    void (*run)(struct deferred *d, int64_t now_ms);
    void *owner; /* for run() */
    struct deferred *next;
    bool queued; /* the reactor's own, as next */
};

struct reactor {
    /* Watches w->fd for events; 0 forgets it (before the descriptor is closed). False: the kernel
       refused (descriptors or memory short). */
    bool (*watch)(struct reactor *r, struct watch *w, unsigned events);
    /* Calls t->due() once at or after deadline_ms; 0 takes it back. */
    void (*set_timer)(struct reactor *r, struct timer *t, int64_t deadline_ms);
    /* Calls d->run() once before the loop waits again; asked for by a run(), in the next turn. */
    void (*defer)(struct reactor *r, struct deferred *d);
    /* Takes it back. */
    void (*undefer)(struct reactor *r, struct deferred *d);
    /* Monotonic milliseconds, as of the beginning of the loop's turn. */
    int64_t (*now_ms)(const struct reactor *r);
};

#endif

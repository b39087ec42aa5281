// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_reactor.h"

#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

enum {
    MOST = 1024
};

struct test_reactor {
    struct reactor reactor; /* first */
    struct watch *watches[MOST];
    size_t watch_count;
    struct timer *timers[MOST];
    size_t timer_count;
    struct deferred *deferred[MOST];
    size_t deferred_count;
    int64_t now_ms;
};

int64_t test_reactor_clock_ms(void)
{
    struct timespec ts;
    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static bool watch_fd(struct reactor *r, struct watch *w, unsigned events)
{
    struct test_reactor *t = (struct test_reactor *)r;
    size_t i = 0;
    while (i < t->watch_count && t->watches[i] != w) {
        i++;
    }
    if (events == 0) {
        if (i < t->watch_count) {
            t->watches[i] = t->watches[--t->watch_count];
        }
    } else if (i == t->watch_count) {
        if (t->watch_count == MOST) {
            return false;
        }
        t->watches[t->watch_count++] = w;
    }
    w->events = events;
    return true;
}

static void set_timer(struct reactor *r, struct timer *timer, int64_t deadline_ms)
{
    struct test_reactor *t = (struct test_reactor *)r;
    size_t i = 0;
    while (i < t->timer_count && t->timers[i] != timer) {
        i++;
    }
    if (deadline_ms == 0) {
        if (i < t->timer_count) {
            t->timers[i] = t->timers[--t->timer_count];
        }
    } else if (i == t->timer_count) {
        if (t->timer_count == MOST) {
            abort();
        }
        t->timers[t->timer_count++] = timer;
    }
    timer->deadline_ms = deadline_ms;
}

static void undefer(struct reactor *r, struct deferred *d)
{
    struct test_reactor *t = (struct test_reactor *)r;
    size_t kept = 0;
    for (size_t i = 0; i < t->deferred_count; i++) {
        if (t->deferred[i] != d) {
            t->deferred[kept++] = t->deferred[i];
        }
    }
    t->deferred_count = kept;
    d->queued = false;
}

static void defer(struct reactor *r, struct deferred *d)
{
    struct test_reactor *t = (struct test_reactor *)r;
    if (d->queued) {
        return;
    }
    if (t->deferred_count == MOST) {
        abort();
    }
    d->queued = true;
    t->deferred[t->deferred_count++] = d;
}

static void run_deferred(struct test_reactor *t)
{
    /* No more than there are now: who is added meanwhile has the next turn. */
    for (size_t rounds = t->deferred_count; rounds > 0 && t->deferred_count > 0; rounds--) {
        struct deferred *d = t->deferred[0];
        undefer(&t->reactor, d);
        d->run(d, t->now_ms);
    }
}

static int64_t now_ms(const struct reactor *r)
{
    return ((const struct test_reactor *)r)->now_ms;
}

struct test_reactor *test_reactor_new(void)
{
    struct test_reactor *t = calloc(1, sizeof(*t));
    if (t == NULL) {
        abort();
    }
    t->reactor = (struct reactor){.watch = watch_fd,
                                  .set_timer = set_timer,
                                  .defer = defer,
                                  .undefer = undefer,
                                  .now_ms = now_ms};
    t->now_ms = test_reactor_clock_ms();
    return t;
}

void test_reactor_free(struct test_reactor *t)
{
    free(t);
}

struct reactor *test_reactor_get(struct test_reactor *t)
{
    return &t->reactor;
}

static bool is_watched(const struct test_reactor *t, const struct watch *w, int fd)
{
    for (size_t i = 0; i < t->watch_count; i++) {
        if (t->watches[i] == w) {
            return w->fd == fd;
        }
    }
    return false;
}

static int64_t first_deadline(const struct test_reactor *t, int64_t otherwise)
{
    int64_t first = otherwise;
    for (size_t i = 0; i < t->timer_count; i++) {
        if (t->timers[i]->deadline_ms < first) {
            first = t->timers[i]->deadline_ms;
        }
    }
    return first;
}

static void run_timers(struct test_reactor *t)
{
    /* Who sets a timer for now has it in the next turn. */
    struct timer *due[MOST];
    size_t count = 0;
    for (size_t i = 0; i < t->timer_count; i++) {
        if (t->timers[i]->deadline_ms <= t->now_ms) {
            due[count++] = t->timers[i];
        }
    }
    for (size_t i = 0; i < count; i++) {
        bool is_set = false;
        for (size_t k = 0; k < t->timer_count; k++) {
            is_set = is_set || t->timers[k] == due[i];
        }
        if (is_set && due[i]->deadline_ms <= t->now_ms) {
            set_timer(&t->reactor, due[i], 0);
            due[i]->due(due[i], t->now_ms);
        }
    }
}

void test_reactor_turn(struct test_reactor *t, int64_t timeout_ms)
{
    run_deferred(t);
    struct pollfd fds[MOST];
    struct watch *watches[MOST];
    size_t count = t->watch_count;
    for (size_t i = 0; i < count; i++) {
        struct watch *w = t->watches[i];
        watches[i] = w;
        fds[i] = (struct pollfd){.fd = w->fd};
        fds[i].events = (short)(((w->events & WATCH_READ) != 0 ? POLLIN : 0) |
                                ((w->events & WATCH_WRITE) != 0 ? POLLOUT : 0));
    }
    int64_t clock_ms = test_reactor_clock_ms();
    int64_t wait_ms = first_deadline(t, clock_ms + timeout_ms) - clock_ms;
    wait_ms = t->deferred_count > 0 ? 0 : wait_ms;
    (void)poll(fds, (nfds_t)count, wait_ms < 0 ? 0 : (int)wait_ms);
    t->now_ms = test_reactor_clock_ms();
    for (size_t i = 0; i < count; i++) {
        if (fds[i].revents != 0 && is_watched(t, watches[i], fds[i].fd)) {
            unsigned events = ((fds[i].revents & POLLIN) != 0 ? (unsigned)WATCH_READ : 0U) |
                              ((fds[i].revents & POLLOUT) != 0 ? (unsigned)WATCH_WRITE : 0U);
            if ((fds[i].revents & (POLLHUP | POLLERR)) != 0) {
                events |= (unsigned)WATCH_GONE;
            }
            watches[i]->ready(watches[i], events, t->now_ms);
        }
    }
    run_timers(t);
}

bool test_reactor_until(struct test_reactor *t, bool (*done)(void *ctx), void *ctx,
                        int64_t timeout_ms)
{
    int64_t until = test_reactor_clock_ms() + timeout_ms;
    while (!done(ctx)) {
        int64_t left = until - test_reactor_clock_ms();
        if (left <= 0) {
            return false;
        }
        test_reactor_turn(t, left);
    }
    return true;
}

void test_reactor_run(struct test_reactor *t, int64_t duration_ms)
{
    int64_t until = test_reactor_clock_ms() + duration_ms;
    for (int64_t left = duration_ms; left > 0; left = until - test_reactor_clock_ms()) {
        test_reactor_turn(t, left);
    }
}

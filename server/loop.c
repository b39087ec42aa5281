// SPDX-License-Identifier: Apache-2.0
#include "server/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS_A_TURN = 256,
};

struct loop {
    struct reactor reactor; /* first: reactor_loop() casts back */
    int epoll_fd;
    struct watch waker; /* its descriptor is the eventfd of loop_wake() */
    int64_t now_us;
    int64_t now_ms;
    struct timer **heap; /* heap[0] is due first; t->slot is its index + 1 */
    size_t timer_count;
    size_t max_timers;
    struct loop_job *first_job;
    struct loop_job **last_job;
    struct loop_job *running_jobs;   /* of this turn, not run yet */
    struct deferred *first_deferred; /* storage's: for when the turn is over */
    struct deferred **last_deferred;
    size_t deferred_count;
    /* The events of the turn that are still to be handed out: a watch that is taken back in
       between is struck out here, since its memory may be gone. */
    struct epoll_event events[EVENTS_A_TURN];
    int event_next;
    int event_count;
};

static int64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t loop_clock_ms(void)
{
    return clock_us() / 1000;
}

int64_t loop_turn_began_us(const struct loop *l)
{
    return l->now_us;
}

int64_t loop_now_ms(const struct loop *l)
{
    return l->now_ms;
}

/* Timers: a binary heap by deadline. */

static void heap_put(struct loop *l, size_t at, struct timer *t)
{
    l->heap[at] = t;
    t->slot = (unsigned)at + 1;
}

static void heap_up(struct loop *l, size_t at, struct timer *t)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (l->heap[parent]->deadline_ms <= t->deadline_ms) {
            break;
        }
        heap_put(l, at, l->heap[parent]);
        at = parent;
    }
    heap_put(l, at, t);
}

static void heap_down(struct loop *l, size_t at, struct timer *t)
{
    for (;;) {
        size_t child = at * 2 + 1;
        if (child >= l->timer_count) {
            break;
        }
        if (child + 1 < l->timer_count &&
            l->heap[child + 1]->deadline_ms < l->heap[child]->deadline_ms) {
            child++;
        }
        if (l->heap[child]->deadline_ms >= t->deadline_ms) {
            break;
        }
        heap_put(l, at, l->heap[child]);
        at = child;
    }
    heap_put(l, at, t);
}

static void heap_place(struct loop *l, size_t at, struct timer *t)
{
    if (at > 0 && l->heap[(at - 1) / 2]->deadline_ms > t->deadline_ms) {
        heap_up(l, at, t);
        return;
    }
    heap_down(l, at, t);
}

static void heap_remove(struct loop *l, struct timer *t)
{
    size_t at = t->slot - 1;
    assert(at < l->timer_count && l->heap[at] == t);
    struct timer *last = l->heap[--l->timer_count];
    if (last != t) {
        heap_place(l, at, last);
    }
    t->slot = 0;
    t->deadline_ms = 0;
}

void loop_set_timer(struct loop *l, struct timer *t, int64_t deadline_ms)
{
    if (deadline_ms == 0) {
        if (t->slot != 0) {
            heap_remove(l, t);
        }
        return;
    }
    if (t->slot != 0) {
        t->deadline_ms = deadline_ms;
        heap_place(l, t->slot - 1, t);
        return;
    }
    assert(l->timer_count < l->max_timers);
    t->deadline_ms = deadline_ms;
    l->timer_count++;
    heap_up(l, l->timer_count - 1, t);
}

static void run_timers(struct loop *l)
{
    /* What is set anew while we are at it is due in a later turn, so that no timer can keep us. */
    for (size_t rounds = l->timer_count; rounds > 0 && l->timer_count > 0; rounds--) {
        struct timer *t = l->heap[0];
        if (t->deadline_ms > l->now_ms) {
            return;
        }
        heap_remove(l, t);
        t->due(t, l->now_ms);
    }
}

/* Descriptors. */

static uint32_t epoll_mask(unsigned events)
{
    uint32_t mask = EPOLLRDHUP;
    if ((events & WATCH_READ) != 0) {
        mask |= EPOLLIN;
    }
    if ((events & WATCH_WRITE) != 0) {
        mask |= EPOLLOUT;
    }
    return mask;
}

static unsigned watch_events(uint32_t mask)
{
    unsigned events = 0;
    if ((mask & EPOLLIN) != 0) {
        events |= WATCH_READ;
    }
    if ((mask & EPOLLOUT) != 0) {
        events |= WATCH_WRITE;
    }
    if ((mask & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) {
        events |= WATCH_GONE;
    }
    return events;
}

void loop_unwatch(struct loop *l, struct watch *w)
{
    if (w->events == 0) {
        return;
    }
    w->events = 0;
    epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, w->fd, NULL);
    for (int i = l->event_next; i < l->event_count; i++) {
        if (l->events[i].data.ptr == w) {
            l->events[i].data.ptr = NULL;
        }
    }
}

bool loop_watch(struct loop *l, struct watch *w, unsigned events)
{
    if (events == 0) {
        loop_unwatch(l, w);
        return true;
    }
    if (w->events == events) {
        return true;
    }
    struct epoll_event event = {.events = epoll_mask(events), .data.ptr = w};
    int op = w->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(l->epoll_fd, op, w->fd, &event) != 0) {
        /* A descriptor that was closed while it was watched may have come back as another one. */
        int other = op == EPOLL_CTL_ADD ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
        if ((errno != EEXIST && errno != ENOENT) ||
            epoll_ctl(l->epoll_fd, other, w->fd, &event) != 0) {
            return false;
        }
    }
    w->events = events;
    return true;
}

static void run_events(struct loop *l)
{
    while (l->event_next < l->event_count) {
        struct epoll_event event = l->events[l->event_next++];
        struct watch *w = event.data.ptr;
        if (w != NULL) {
            w->ready(w, watch_events(event.events), l->now_ms);
        }
    }
    l->event_next = 0;
    l->event_count = 0;
}

/* Jobs. */

void loop_defer(struct loop *l, struct loop_job *job)
{
    if (job->queued) {
        return;
    }
    job->queued = true;
    job->next = NULL;
    *l->last_job = job;
    l->last_job = &job->next;
}

void loop_cancel(struct loop *l, struct loop_job *job)
{
    if (!job->queued) {
        return;
    }
    job->queued = false;
    for (struct loop_job **at = &l->running_jobs; *at != NULL; at = &(*at)->next) {
        if (*at == job) {
            *at = job->next;
            return;
        }
    }
    struct loop_job **at = &l->first_job;
    while (*at != job) {
        assert(*at != NULL);
        at = &(*at)->next;
    }
    *at = job->next;
    if (l->last_job == &job->next) {
        l->last_job = at;
    }
}

static void run_jobs(struct loop *l)
{
    /* The list is taken whole: what a job asks for goes to a new one, for the next turn. A job
       that is taken back by another is found by loop_cancel() in l->running_jobs. */
    l->running_jobs = l->first_job;
    l->first_job = NULL;
    l->last_job = &l->first_job;
    while (l->running_jobs != NULL) {
        struct loop_job *job = l->running_jobs;
        l->running_jobs = job->next;
        job->queued = false;
        job->run(job);
    }
}

/* What storage asked for. */

static struct loop *reactor_loop(struct reactor *r)
{
    return (struct loop *)(void *)r;
}

static void reactor_defer(struct reactor *r, struct deferred *d)
{
    struct loop *l = reactor_loop(r);
    if (d->queued) {
        return;
    }
    d->queued = true;
    d->next = NULL;
    *l->last_deferred = d;
    l->last_deferred = &d->next;
    l->deferred_count++;
}

static void reactor_undefer(struct reactor *r, struct deferred *d)
{
    struct loop *l = reactor_loop(r);
    if (!d->queued) {
        return;
    }
    d->queued = false;
    l->deferred_count--;
    struct deferred **at = &l->first_deferred;
    while (*at != d) {
        assert(*at != NULL);
        at = &(*at)->next;
    }
    *at = d->next;
    if (l->last_deferred == &d->next) {
        l->last_deferred = at;
    }
}

/* No more than there are now: what is added meanwhile has its turn with the next one. */
static void run_deferred(struct loop *l)
{
    for (size_t rounds = l->deferred_count; rounds > 0 && l->deferred_count > 0; rounds--) {
        struct deferred *d = l->first_deferred;
        reactor_undefer(&l->reactor, d);
        d->run(d, l->now_ms);
    }
}

/* The turn. */

static int64_t wait_ms(const struct loop *l, int64_t max_wait_ms)
{
    if (l->first_job != NULL || l->deferred_count > 0) {
        return 0;
    }
    int64_t wait = max_wait_ms < 0 ? 0 : max_wait_ms;
    if (l->timer_count > 0) {
        /* now_ms is that of the last turn: the clock has gone on since. */
        int64_t until = l->heap[0]->deadline_ms - loop_clock_ms();
        if (until < wait) {
            wait = until < 0 ? 0 : until;
        }
    }
    return wait;
}

void loop_turn(struct loop *l, int64_t max_wait_ms)
{
    /* The worker has done its own share of the last turn by now, so this is where it ends. */
    run_deferred(l);
    int64_t wait = wait_ms(l, max_wait_ms);
    int count =
        epoll_wait(l->epoll_fd, l->events, EVENTS_A_TURN, wait > INT32_MAX ? INT32_MAX : (int)wait);
    l->event_next = 0;
    l->event_count = count < 0 ? 0 : count;
    l->now_us = clock_us();
    l->now_ms = l->now_us / 1000;
    run_events(l);
    run_timers(l);
    run_jobs(l);
}

void loop_wake(struct loop *l)
{
    const uint64_t one = 1;
    /* Only a full counter can refuse, and then the loop is awake anyway. */
    ssize_t written = write(l->waker.fd, &one, sizeof(one));
    (void)written;
}

static void on_wake(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    (void)now_ms;
    uint64_t count = 0;
    ssize_t got = read(w->fd, &count, sizeof(count));
    (void)got;
}

/* The reactor that storage sees. */

static bool reactor_watch(struct reactor *r, struct watch *w, unsigned events)
{
    return loop_watch(reactor_loop(r), w, events);
}

static void reactor_set_timer(struct reactor *r, struct timer *t, int64_t deadline_ms)
{
    loop_set_timer(reactor_loop(r), t, deadline_ms);
}

static int64_t reactor_now_ms(const struct reactor *r)
{
    return loop_now_ms((const struct loop *)(const void *)r);
}

struct loop *loop_new(size_t max_timers)
{
    struct loop *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    l->reactor = (struct reactor){.watch = reactor_watch,
                                  .set_timer = reactor_set_timer,
                                  .defer = reactor_defer,
                                  .undefer = reactor_undefer,
                                  .now_ms = reactor_now_ms};
    l->last_job = &l->first_job;
    l->last_deferred = &l->first_deferred;
    l->now_ms = loop_clock_ms();
    l->max_timers = max_timers;
    l->heap = calloc(max_timers, sizeof(struct timer *));
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    l->waker = (struct watch){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .ready = on_wake};
    if (l->heap == NULL || l->epoll_fd < 0 || l->waker.fd < 0 ||
        !loop_watch(l, &l->waker, WATCH_READ)) {
        loop_free(l);
        return NULL;
    }
    return l;
}

void loop_free(struct loop *l)
{
    if (l == NULL) {
        return;
    }
    if (l->waker.fd >= 0) {
        close(l->waker.fd);
    }
    if (l->epoll_fd >= 0) {
        close(l->epoll_fd);
    }
    free(l->heap);
    free(l);
}

struct reactor *loop_reactor(struct loop *l)
{
    return &l->reactor;
}

// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <check.h>

#include "server/loop.h"

Suite *loop_suite(void);

enum {
    TIMERS = 500,
};

struct order {
    int64_t last_ms;
    int count;
    bool wrong;
};

static void note_due(struct timer *t, int64_t now_ms)
{
    struct order *o = t->owner;
    (void)now_ms;
    o->count++;
}

START_TEST(timers_fire_once_and_only_when_due)
{
    struct loop *l = loop_new(TIMERS);
    struct timer timers[TIMERS];
    struct order order = {0};
    ck_assert_ptr_nonnull(l);
    int64_t now = loop_now_ms(l);
    memset(timers, 0, sizeof(timers));
    srand(1);
    for (int i = 0; i < TIMERS; i++) {
        timers[i] = (struct timer){.due = note_due, .owner = &order};
        loop_set_timer(l, &timers[i], now + 1 + rand() % 20);
    }
    /* Some are moved away, some are taken back. */
    for (int i = 0; i < TIMERS; i += 5) {
        loop_set_timer(l, &timers[i], now + 100000);
    }
    for (int i = 1; i < TIMERS; i += 5) {
        loop_set_timer(l, &timers[i], 0);
    }
    while (loop_clock_ms() < now + 60) {
        loop_turn(l, 10);
    }
    ck_assert_int_eq(order.count, TIMERS / 5 * 3);
    for (int i = 0; i < TIMERS; i++) {
        ck_assert_int_eq(timers[i].deadline_ms, i % 5 == 0 ? now + 100000 : 0);
    }
    loop_free(l);
}
END_TEST

struct ordered_timer {
    struct timer timer; /* first */
    int64_t when_ms;
    struct order *order;
};

static void note_when(struct timer *t, int64_t now_ms)
{
    struct ordered_timer *o = t->owner;
    (void)now_ms;
    o->order->wrong = o->order->wrong || o->when_ms < o->order->last_ms;
    o->order->last_ms = o->when_ms;
    o->order->count++;
}

START_TEST(timers_fire_in_order)
{
    struct loop *l = loop_new(TIMERS);
    struct ordered_timer timers[TIMERS];
    struct order order = {0};
    int64_t now = loop_now_ms(l);
    srand(2);
    for (int i = 0; i < TIMERS; i++) {
        timers[i].when_ms = now + 1 + rand() % 30;
        timers[i].order = &order;
        timers[i].timer = (struct timer){.due = note_when, .owner = &timers[i]};
        loop_set_timer(l, &timers[i].timer, timers[i].when_ms);
    }
    while (order.count < TIMERS) {
        loop_turn(l, 10);
    }
    ck_assert(!order.wrong);
    loop_free(l);
}
END_TEST

struct pair {
    struct watch watches[2];
    int fds[2][2];
    struct loop *loop;
    int calls;
};

static void unwatch_both(struct watch *w, unsigned events, int64_t now_ms)
{
    struct pair *p = w->owner;
    (void)events;
    (void)now_ms;
    p->calls++;
    loop_unwatch(p->loop, &p->watches[0]);
    loop_unwatch(p->loop, &p->watches[1]);
}

START_TEST(a_watch_taken_back_is_not_called_in_the_same_turn)
{
    struct pair p = {.loop = loop_new(4)};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, p.fds[i]), 0);
        p.watches[i] = (struct watch){.fd = p.fds[i][0], .ready = unwatch_both, .owner = &p};
        ck_assert(loop_watch(p.loop, &p.watches[i], WATCH_READ));
        ck_assert_int_eq(write(p.fds[i][1], "x", 1), 1);
    }
    loop_turn(p.loop, 100);
    loop_turn(p.loop, 0);
    ck_assert_int_eq(p.calls, 1);
    for (int i = 0; i < 2; i++) {
        close(p.fds[i][0]);
        close(p.fds[i][1]);
    }
    loop_free(p.loop);
}
END_TEST

static void note_events(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)now_ms;
    *(unsigned *)w->owner = events;
}

START_TEST(a_peer_that_leaves_is_reported_unasked)
{
    int fds[2];
    unsigned events = 0;
    struct loop *l = loop_new(4);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct watch w = {.fd = fds[0], .ready = note_events, .owner = &events};
    ck_assert(loop_watch(l, &w, WATCH_GONE));
    loop_turn(l, 0);
    ck_assert_uint_eq(events, 0);
    close(fds[1]);
    loop_turn(l, 1000);
    ck_assert_uint_ne(events & WATCH_GONE, 0);
    loop_unwatch(l, &w);
    close(fds[0]);
    loop_free(l);
}
END_TEST

struct work {
    struct loop_job job;
    struct loop *loop;
    struct work *other;
    int runs;
    bool again;
    bool cancel;
};

static void run_work(struct loop_job *job)
{
    struct work *w = job->owner;
    w->runs++;
    if (w->again) {
        loop_defer(w->loop, job);
    }
    if (w->cancel) {
        loop_cancel(w->loop, &w->other->job);
    }
}

START_TEST(jobs_run_once_a_turn)
{
    struct loop *l = loop_new(4);
    struct work a = {.loop = l, .again = true};
    struct work b = {.loop = l};
    a.job = (struct loop_job){.run = run_work, .owner = &a};
    b.job = (struct loop_job){.run = run_work, .owner = &b};
    loop_defer(l, &a.job);
    loop_defer(l, &b.job);
    loop_defer(l, &b.job);
    loop_turn(l, 1000);
    ck_assert_int_eq(a.runs, 1);
    ck_assert_int_eq(b.runs, 1);
    loop_turn(l, 1000);
    ck_assert_int_eq(a.runs, 2);
    ck_assert_int_eq(b.runs, 1);
    loop_free(l);
}
END_TEST

START_TEST(a_job_may_take_back_another)
{
    struct loop *l = loop_new(4);
    struct work b = {.loop = l};
    struct work a = {.loop = l, .cancel = true, .other = &b};
    a.job = (struct loop_job){.run = run_work, .owner = &a};
    b.job = (struct loop_job){.run = run_work, .owner = &b};
    loop_defer(l, &a.job);
    loop_defer(l, &b.job);
    loop_turn(l, 0);
    loop_defer(l, &a.job);
    loop_turn(l, 0);
    ck_assert_int_eq(a.runs, 2);
    ck_assert_int_eq(b.runs, 0);
    loop_free(l);
}
END_TEST

static void *wake_soon(void *arg)
{
    loop_wake(arg);
    return NULL;
}

START_TEST(another_thread_ends_the_wait)
{
    struct loop *l = loop_new(4);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, wake_soon, l), 0);
    int64_t began = loop_clock_ms();
    loop_turn(l, 3000);
    ck_assert_int_lt(loop_clock_ms() - began, 2000);
    pthread_join(thread, NULL);
    loop_free(l);
}
END_TEST

Suite *loop_suite(void)
{
    Suite *s = suite_create("loop");
    TCase *t = tcase_create("loop");
    tcase_add_test(t, timers_fire_once_and_only_when_due);
    tcase_add_test(t, timers_fire_in_order);
    tcase_add_test(t, a_watch_taken_back_is_not_called_in_the_same_turn);
    tcase_add_test(t, a_peer_that_leaves_is_reported_unasked);
    tcase_add_test(t, jobs_run_once_a_turn);
    tcase_add_test(t, a_job_may_take_back_another);
    tcase_add_test(t, another_thread_ends_the_wait);
    suite_add_tcase(s, t);
    return s;
}

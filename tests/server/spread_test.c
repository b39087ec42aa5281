// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "server/spread.h"

static struct spread_client client_of(int fd)
{
    return (struct spread_client){.fd = fd, .peer_len = sizeof(sa_family_t)};
}

START_TEST(who_has_the_fewest_gets_the_client)
{
    struct spread *s = spread_new(3);
    ck_assert_ptr_nonnull(s);
    struct spread_client client = client_of(-1);
    struct spread_client out;
    ck_assert(!spread_pass(s, 0, &client)); /* all have none: it stays */
    spread_publish(s, 0, 2);
    spread_publish(s, 1, 1);
    spread_publish(s, 2, 1);
    for (int i = 0; i < 2; i++) { /* who is under way counts: one for each of the others */
        client.fd = -10 - i;
        ck_assert(spread_pass(s, 0, &client));
    }
    ck_assert(!spread_pass(s, 0, &client));
    ck_assert(!spread_take(s, 0, &out));
    ck_assert(spread_take(s, 1, &out));
    ck_assert_int_eq(out.fd, -10);
    ck_assert_uint_eq(out.peer_len, sizeof(sa_family_t));
    ck_assert(!spread_take(s, 1, &out));
    ck_assert(spread_take(s, 2, &out));
    ck_assert_int_eq(out.fd, -11);
    spread_free(s);
}
END_TEST

START_TEST(nobody_is_handed_to_who_has_closed)
{
    struct spread *s = spread_new(2);
    struct spread_client client = client_of(-1);
    struct spread_client out;
    spread_publish(s, 0, 5);
    ck_assert(spread_pass(s, 0, &client));
    ck_assert(!spread_close(s, 1)); /* one is under way */
    ck_assert(!spread_pass(s, 0, &client));
    ck_assert(spread_take(s, 1, &out));
    ck_assert(spread_close(s, 1));
    ck_assert(!spread_pass(s, 0, &client));
    spread_free(s);
}
END_TEST

START_TEST(a_full_pipe_leaves_the_client_where_it_is)
{
    struct spread *s = spread_new(2);
    struct spread_client client = client_of(-1);
    struct spread_client out;
    spread_publish(s, 0, 1000000);
    size_t passed = 0;
    while (spread_pass(s, 0, &client)) {
        passed++;
        ck_assert_uint_lt(passed, 1000000);
    }
    ck_assert_uint_gt(passed, 16);
    size_t taken = 0;
    while (spread_take(s, 1, &out)) {
        taken++;
    }
    ck_assert_uint_eq(taken, passed);
    ck_assert(spread_pass(s, 0, &client));
    ck_assert(spread_take(s, 1, &out));
    spread_free(s);
}
END_TEST

START_TEST(clients_left_inside_are_closed)
{
    struct spread *s = spread_new(2);
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    struct spread_client client = client_of(ends[1]);
    spread_publish(s, 0, 1);
    ck_assert(spread_pass(s, 0, &client));
    spread_free(s);
    char byte;
    ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* the other end is closed */
    close(ends[0]);
}
END_TEST

enum {
    THREADS = 4,
    CLIENTS_EACH = 2000,
};

struct thread {
    pthread_t id;
    struct spread *s;
    size_t number;
    size_t kept;
    size_t taken;
};

static void take_all(struct thread *t)
{
    struct spread_client client;
    while (spread_take(t->s, t->number, &client)) {
        t->taken++;
    }
    spread_publish(t->s, t->number, t->kept + t->taken);
}

/* The first half of the threads accept all clients, and leave before the others have taken theirs. */
static void *serve(void *arg)
{
    struct thread *t = arg;
    for (int i = 0; i < CLIENTS_EACH && t->number < THREADS / 2; i++) {
        struct spread_client client = client_of(-1);
        t->kept += !spread_pass(t->s, t->number, &client);
        take_all(t);
    }
    for (int i = 0; i < CLIENTS_EACH && t->number >= THREADS / 2; i++) {
        take_all(t);
    }
    while (!spread_close(t->s, t->number)) {
        take_all(t);
    }
    return NULL;
}

START_TEST(no_client_is_lost_among_threads)
{
    struct spread *s = spread_new(THREADS);
    struct thread threads[THREADS];
    memset(threads, 0, sizeof(threads));
    for (size_t i = 0; i < THREADS; i++) {
        threads[i].s = s;
        threads[i].number = i;
        ck_assert_int_eq(pthread_create(&threads[i].id, NULL, serve, &threads[i]), 0);
    }
    size_t clients = 0;
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i].id, NULL);
        clients += threads[i].kept + threads[i].taken;
    }
    ck_assert_uint_eq(clients, (size_t)CLIENTS_EACH * (THREADS / 2));
    spread_free(s);
}
END_TEST

Suite *spread_suite(void);

Suite *spread_suite(void)
{
    Suite *suite = suite_create("spread");
    TCase *tc = tcase_create("spread");
    tcase_add_test(tc, who_has_the_fewest_gets_the_client);
    tcase_add_test(tc, nobody_is_handed_to_who_has_closed);
    tcase_add_test(tc, a_full_pipe_leaves_the_client_where_it_is);
    tcase_add_test(tc, clients_left_inside_are_closed);
    tcase_add_test(tc, no_client_is_lost_among_threads);
    suite_add_tcase(suite, tc);
    return suite;
}

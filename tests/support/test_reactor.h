// SPDX-License-Identifier: Apache-2.0
/*
 * test_reactor - a small poll() loop that is a storage/reactor.h, for tests.
 */
#ifndef TESTS_SUPPORT_TEST_REACTOR_H
#define TESTS_SUPPORT_TEST_REACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/reactor.h"

struct test_reactor;

/* Aborts when memory is short. */
struct test_reactor *test_reactor_new(void);
void test_reactor_free(struct test_reactor *t);
struct reactor *test_reactor_get(struct test_reactor *t);

/* One turn of the loop: waits for at most timeout_ms, or less when a timer is due. */
void test_reactor_turn(struct test_reactor *t, int64_t timeout_ms);

/* Turns until done(ctx), for at most timeout_ms. Returns whether it is done. */
bool test_reactor_until(struct test_reactor *t, bool (*done)(void *ctx), void *ctx,
                        int64_t timeout_ms);

/* Turns for so long, whatever happens. */
void test_reactor_run(struct test_reactor *t, int64_t duration_ms);

int64_t test_reactor_clock_ms(void);

#endif

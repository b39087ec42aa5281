// SPDX-License-Identifier: Apache-2.0
/*
 * pool_budget - how many connections to PostgreSQL, and how many streams, all workers have together.
 *
 * Clients are spread unevenly over workers: a share of its own would leave one worker's connections
 * idle while another one refuses. So each pool has one connection for sure and takes the others from
 * here; one that wants in vain wakes the others, which close what they have idle.
 *
 * Owns:    the counts, and an eventfd for each pool, since others may write it until all have ended.
 * Threads: all functions but new and free may be called by any worker's thread. No locks.
 */
#ifndef STORAGE_POOL_BUDGET_H
#define STORAGE_POOL_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/compiler.h"

enum budget_kind {
    BUDGET_CONNECTIONS, /* beyond the one that each pool has for sure */
    BUDGET_STREAMS,     /* connections lent to one read: three quarters of all */
    BUDGET_KINDS,
};

struct pool_budget;

/* For `pools` pools with `connections` connections in all, or one each when that is more. NULL when
   memory is short. */
struct pool_budget *pool_budget_new(size_t connections, size_t pools) NODISCARD;
void pool_budget_free(struct pool_budget *b);

/* The most that one pool can have. */
size_t pool_budget_most_connections(const struct pool_budget *b);

/* So few connections that the last one of a pool goes to a stream as well. */
bool pool_budget_is_tight(const struct pool_budget *b);

/*
 * A pool comes: returns its place; *out_wake_fd is an eventfd that becomes readable when others give
 * back what it wants, or want something. No more than `pools` may come; who goes has given back what it had.
 */
size_t pool_budget_join(struct pool_budget *b, int *out_wake_fd);

/* Takes one. False: there is none, the pool is woken when there may be, and the others are woken
   now to give back what they do not need. */
bool pool_budget_take(struct pool_budget *b, size_t place, enum budget_kind kind) NODISCARD;
void pool_budget_give(struct pool_budget *b, enum budget_kind kind);

/* There is one; if not, the pool is woken when there may be. */
bool pool_budget_wish(struct pool_budget *b, size_t place, enum budget_kind kind);

/* There is one now; another pool may be faster. */
bool pool_budget_has(const struct pool_budget *b, enum budget_kind kind);

/* The pool wants nothing any more. */
void pool_budget_rest(struct pool_budget *b, size_t place);

/* Another pool wants a connection and there is none: give one back that is idle. */
bool pool_budget_is_wanted(const struct pool_budget *b, size_t place);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "storage/pool_budget.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct member {
    int wake_fd;
    _Atomic bool wants[BUDGET_KINDS];
};

struct pool_budget {
    size_t connections;
    size_t pools;
    _Atomic size_t joined;
    _Atomic size_t left[BUDGET_KINDS];
    struct member members[];
};

void pool_budget_free(struct pool_budget *b)
{
    for (size_t i = 0; b != NULL && i < b->pools; i++) {
        if (b->members[i].wake_fd >= 0) {
            (void)close(b->members[i].wake_fd);
        }
    }
    free(b);
}

struct pool_budget *pool_budget_new(size_t connections, size_t pools)
{
    struct pool_budget *b = calloc(1, sizeof(*b) + pools * sizeof(struct member));
    if (b == NULL) {
        return NULL;
    }
    b->connections = connections < pools ? pools : connections;
    b->pools = pools;
    size_t streams = b->connections * 3 / 4;
    atomic_init(&b->left[BUDGET_CONNECTIONS], b->connections - pools);
    atomic_init(&b->left[BUDGET_STREAMS], streams == 0 ? 1 : streams);
    bool whole = true;
    for (size_t i = 0; i < pools; i++) {
        b->members[i].wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        whole = whole && b->members[i].wake_fd >= 0;
    }
    if (!whole) {
        pool_budget_free(b);
        return NULL;
    }
    return b;
}

size_t pool_budget_most_connections(const struct pool_budget *b)
{
    return b->connections - b->pools + 1;
}

bool pool_budget_is_tight(const struct pool_budget *b)
{
    return b->connections < 2 * b->pools;
}

size_t pool_budget_join(struct pool_budget *b, int *out_wake_fd)
{
    size_t place = atomic_fetch_add(&b->joined, 1);
    assert(place < b->pools);
    *out_wake_fd = b->members[place].wake_fd;
    return place;
}

static bool take(struct pool_budget *b, enum budget_kind kind)
{
    size_t left = atomic_load(&b->left[kind]);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&b->left[kind], &left, left - 1)) {
            return true;
        }
    }
    return false;
}

bool pool_budget_take(struct pool_budget *b, size_t place, enum budget_kind kind)
{
    struct member *m = &b->members[place];
    bool taken = take(b, kind);
    bool asked = !taken && atomic_exchange(&m->wants[kind], true);
    /* Once more: what was given back before the wish could be seen woke nobody. */
    if (taken || take(b, kind)) {
        if (atomic_load(&m->wants[kind])) {
            atomic_store(&m->wants[kind], false);
        }
        return true;
    }
    for (size_t i = 0; !asked && kind == BUDGET_CONNECTIONS && i < b->pools; i++) {
        if (i != place) {
            (void)eventfd_write(b->members[i].wake_fd, 1);
        }
    }
    return false;
}

void pool_budget_give(struct pool_budget *b, enum budget_kind kind)
{
    atomic_fetch_add(&b->left[kind], 1);
    for (size_t i = 0; i < b->pools; i++) {
        if (atomic_load(&b->members[i].wants[kind])) {
            (void)eventfd_write(b->members[i].wake_fd, 1);
        }
    }
}

bool pool_budget_has(const struct pool_budget *b, enum budget_kind kind)
{
    return atomic_load(&b->left[kind]) > 0;
}

bool pool_budget_wish(struct pool_budget *b, size_t place, enum budget_kind kind)
{
    if (!pool_budget_has(b, kind)) {
        atomic_store(&b->members[place].wants[kind], true);
    }
    return pool_budget_has(b, kind);
}

void pool_budget_rest(struct pool_budget *b, size_t place)
{
    for (size_t kind = 0; kind < BUDGET_KINDS; kind++) {
        if (atomic_load(&b->members[place].wants[kind])) {
            atomic_store(&b->members[place].wants[kind], false);
        }
    }
}

bool pool_budget_is_wanted(const struct pool_budget *b, size_t place)
{
    for (size_t i = 0; i < b->pools; i++) {
        if (i != place && atomic_load(&b->members[i].wants[BUDGET_CONNECTIONS])) {
            return true;
        }
    }
    return false;
}

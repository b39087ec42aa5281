// SPDX-License-Identifier: Apache-2.0
#include "server/spread.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert(sizeof(struct spread_client) <= PIPE_BUF, "a client is written as a whole");

/* In under_way: nobody else may come. */
#define CLOSED ((size_t)1 << (sizeof(size_t) * CHAR_BIT - 1))

struct place {
    int pipe[2];
    _Atomic size_t clients;
    _Atomic size_t under_way; /* handed to it and not taken yet */
};

struct spread {
    size_t count;
    struct place places[];
};

void spread_free(struct spread *s)
{
    for (size_t i = 0; s != NULL && i < s->count; i++) {
        struct spread_client left;
        while (s->places[i].pipe[0] >= 0 && spread_take(s, i, &left)) {
            (void)close(left.fd);
        }
        for (int end = 0; end < 2; end++) {
            if (s->places[i].pipe[end] >= 0) {
                (void)close(s->places[i].pipe[end]);
            }
        }
    }
    free(s);
}

struct spread *spread_new(size_t workers)
{
    struct spread *s = calloc(1, sizeof(*s) + workers * sizeof(struct place));
    if (s == NULL) {
        return NULL;
    }
    s->count = workers;
    bool whole = true;
    for (size_t i = 0; i < workers; i++) {
        if (pipe2(s->places[i].pipe, O_NONBLOCK | O_CLOEXEC) != 0) {
            s->places[i].pipe[0] = -1;
            s->places[i].pipe[1] = -1;
            whole = false;
        }
    }
    if (!whole) {
        spread_free(s);
        return NULL;
    }
    return s;
}

int spread_fd(const struct spread *s, size_t worker)
{
    return s->places[worker].pipe[0];
}

void spread_publish(struct spread *s, size_t worker, size_t clients)
{
    atomic_store_explicit(&s->places[worker].clients, clients, memory_order_relaxed);
}

/* SIZE_MAX: it takes nobody. */
static size_t load_of(const struct place *p)
{
    size_t under_way = atomic_load_explicit(&p->under_way, memory_order_relaxed);
    size_t clients = atomic_load_explicit(&p->clients, memory_order_relaxed);
    return (under_way & CLOSED) != 0 ? SIZE_MAX : clients + under_way;
}

/* A place is promised first, so that a worker that closes knows whom it has to wait for. */
static bool promise(struct place *p)
{
    size_t under_way = atomic_load(&p->under_way);
    while ((under_way & CLOSED) == 0) {
        if (atomic_compare_exchange_weak(&p->under_way, &under_way, under_way + 1)) {
            return true;
        }
    }
    return false;
}

bool spread_pass(struct spread *s, size_t worker, const struct spread_client *client)
{
    struct place *best = &s->places[worker];
    for (size_t i = 0; i < s->count; i++) {
        if (load_of(&s->places[i]) < load_of(best)) {
            best = &s->places[i];
        }
    }
    if (best == &s->places[worker] || !promise(best)) {
        return false;
    }
    if (write(best->pipe[1], client, sizeof(*client)) == (ssize_t)sizeof(*client)) {
        return true;
    }
    atomic_fetch_sub(&best->under_way, 1); /* the pipe is full */
    return false;
}

bool spread_take(struct spread *s, size_t worker, struct spread_client *out_client)
{
    struct place *p = &s->places[worker];
    if (read(p->pipe[0], out_client, sizeof(*out_client)) != (ssize_t)sizeof(*out_client)) {
        return false;
    }
    atomic_fetch_sub(&p->under_way, 1);
    return true;
}

bool spread_close(struct spread *s, size_t worker)
{
    return (atomic_fetch_or(&s->places[worker].under_way, CLOSED) & ~CLOSED) == 0;
}

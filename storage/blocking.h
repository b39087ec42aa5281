// SPDX-License-Identifier: Apache-2.0
/*
 * blocking - calls that block, made on a helper thread: PQcancel(), getaddrinfo().
 *
 * libpq has no asynchronous cancel before version 17; with a postmaster that cannot accept it was
 * seen to take 5 s. The reactor is told by an eventfd when a call is over.
 *
 * Owns:    its thread (started when it is first needed), its eventfd, and the jobs it was given.
 * Threads: blocking_job.run on the helper; everything else on the worker's thread.
 */
#ifndef STORAGE_BLOCKING_H
#define STORAGE_BLOCKING_H

#include <stdbool.h>

#include "odata/compiler.h"
#include "storage/reactor.h"

struct blocking;

/* The first member of whoever is a job. */
struct blocking_job {
    struct blocking_job *next;
    /* On the helper thread: touches nothing but the job. */
    void (*run)(struct blocking_job *job);
    /* On the worker's thread, from the loop or from blocking_free(): frees the job. */
    void (*done)(struct blocking_job *job);
};

/* NULL when memory or descriptors are short. */
struct blocking *blocking_new(struct reactor *reactor) NODISCARD;

/* Takes the job. False when no thread can be had: the job is still the caller's. */
bool blocking_submit(struct blocking *b, struct blocking_job *job) NODISCARD;

/*
 * Calls done() for all jobs that are over or were not begun. Waits a bounded time for the one that
 * is running; when it does not come back, the thread and that job are left to themselves.
 */
void blocking_free(struct blocking *b);

#endif

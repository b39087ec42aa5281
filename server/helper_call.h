// SPDX-License-Identifier: Apache-2.0
/*
 * helper_call - what is done once on a helper thread for all requests that want it.
 *
 * Owns:    nothing: the call is its maker's, the wait is inside of a request.
 * Threads: one worker's thread; only job.run() is called on the helper.
 */
#ifndef SERVER_HELPER_CALL_H
#define SERVER_HELPER_CALL_H

#include "odata/odata_error.h"
#include "storage/blocking.h"

struct helper_call;

/* Who waits. */
struct helper_wait {
    /* result: what the maker of the call says, lent during the call; NULL: err says why. Called
       once, from the loop. */
    void (*done)(struct helper_wait *wait, void *result, const struct odata_error *err);
    void *owner;
    struct helper_call *call; /* NULL: it does not wait */
    struct helper_wait *prev;
    struct helper_wait *next;
};

struct helper_call {
    struct blocking_job job; /* first */
    struct helper_wait *waits;
};

void helper_call_join(struct helper_call *call, struct helper_wait *wait);

/* It does not wait any more; nothing happens when it did not. */
void helper_call_leave(struct helper_wait *wait);

/* Tells all who wait. */
void helper_call_tell(struct helper_call *call, void *result, const struct odata_error *err);

#endif

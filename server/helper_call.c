// SPDX-License-Identifier: Apache-2.0
#include "server/helper_call.h"

#include <stddef.h>

void helper_call_join(struct helper_call *call, struct helper_wait *wait)
{
    wait->call = call;
    wait->prev = NULL;
    wait->next = call->waits;
    if (call->waits != NULL) {
        call->waits->prev = wait;
    }
    call->waits = wait;
}

void helper_call_leave(struct helper_wait *wait)
{
    if (wait->call == NULL) {
        return;
    }
    *(wait->prev != NULL ? &wait->prev->next : &wait->call->waits) = wait->next;
    if (wait->next != NULL) {
        wait->next->prev = wait->prev;
    }
    wait->call = NULL;
}

void helper_call_tell(struct helper_call *call, void *result, const struct odata_error *err)
{
    while (call->waits != NULL) {
        struct helper_wait *wait = call->waits;
        helper_call_leave(wait);
        wait->done(wait, result, err);
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "server/auth_backoff.h"

enum {
    MOST_DOUBLINGS = 6,
};

int64_t auth_backoff_wait_s(const struct auth_backoff *b, uint64_t key, int64_t now_s)
{
    const struct auth_backoff_slot *slot = &b->slots[key % AUTH_BACKOFF_SLOTS];
    return slot->key == key && slot->until_s > now_s ? slot->until_s - now_s : 0;
}

void auth_backoff_attempt(struct auth_backoff *b, uint64_t key, unsigned free_attempts,
                          int64_t now_s)
{
    struct auth_backoff_slot *slot = &b->slots[key % AUTH_BACKOFF_SLOTS];
    if (slot->key != key || now_s - slot->last_s > AUTH_BACKOFF_FORGET_S) {
        if (slot->key != key && slot->until_s > now_s) {
            return; /* who waits keeps its place */
        }
        *slot = (struct auth_backoff_slot){.key = key};
    }
    slot->last_s = now_s;
    slot->attempts++;
    if (slot->attempts >= free_attempts) {
        unsigned doublings = slot->attempts - free_attempts;
        int64_t wait_s =
            doublings >= MOST_DOUBLINGS ? AUTH_BACKOFF_MOST_S : (int64_t)1 << doublings;
        slot->until_s = now_s + (wait_s > AUTH_BACKOFF_MOST_S ? AUTH_BACKOFF_MOST_S : wait_s);
    }
}

void auth_backoff_passed(struct auth_backoff *b, uint64_t key)
{
    struct auth_backoff_slot *slot = &b->slots[key % AUTH_BACKOFF_SLOTS];
    if (slot->key == key) {
        *slot = (struct auth_backoff_slot){.key = 0};
    }
}

// SPDX-License-Identifier: Apache-2.0
/*
 * auth_backoff - who has guessed wrong too often must wait: twice as long each time.
 *
 * An attempt counts when it begins, so that many at once are no way around it, and a good one takes
 * all of its key's back. A fixed table: another key may take the place of one that has not failed
 * for a while.
 *
 * Threads: one worker's thread.
 */
#ifndef SERVER_AUTH_BACKOFF_H
#define SERVER_AUTH_BACKOFF_H

#include <stdint.h>

enum {
    AUTH_BACKOFF_SLOTS = 1024,
    AUTH_BACKOFF_MOST_S = 60,
    AUTH_BACKOFF_FORGET_S = 600, /* without an attempt */
};

struct auth_backoff {
    struct auth_backoff_slot {
        uint64_t key; /* 0: free */
        unsigned attempts;
        int64_t last_s;
        int64_t until_s;
    } slots[AUTH_BACKOFF_SLOTS];
};

/* How many seconds the key has to wait; 0: it may try. */
int64_t auth_backoff_wait_s(const struct auth_backoff *b, uint64_t key, int64_t now_s);

/* An attempt begins; beyond so many free ones the next has to wait. */
void auth_backoff_attempt(struct auth_backoff *b, uint64_t key, unsigned free_attempts,
                          int64_t now_s);

/* It was a good one. */
void auth_backoff_passed(struct auth_backoff *b, uint64_t key);

#endif

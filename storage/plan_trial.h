// SPDX-License-Identifier: Apache-2.0
/*
 * plan_trial - may the plan of a prepared statement be kept?
 *
 * PostgreSQL plans a prepared statement anew for the values of each run unless it expects the plan
 * for any values to be no dearer; its estimates of the two are of different kinds, and so it often
 * plans for nothing. A trial asks for both plans, EXPLAIN of the statement with the values of one run
 * and EXPLAIN EXECUTE of the prepared one, and compares them without their values. Same plan: to
 * make it again is waste.
 *
 * Owns: nothing.
 */
#ifndef STORAGE_PLAN_TRIAL_H
#define STORAGE_PLAN_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/bytes.h"
#include "storage/conn.h"

struct plan_trial {
    uint64_t chosen; /* hash of the plan for the values; 0: not here */
    uint64_t kept;
    char tag_chosen; /* addresses mark whose result it is */
    char tag_kept;
};

/* Sends both questions behind the statement itself. False: it is not prepared on c, or memory is
   short; nothing was sent. */
bool plan_trial_send(struct plan_trial *t, struct conn *c, struct conn_client *client,
                     const struct sql_statement *statement, uint64_t hash);

/* arg belongs to a result of the trial. */
bool plan_trial_has(const struct plan_trial *t, const void *arg);

/* Takes note of such a result; lends res. An error leaves the trial without an answer. */
void plan_trial_take(struct plan_trial *t, const void *arg, const PGresult *res);

/* Both plans are here and do the same. */
bool plan_trial_are_alike(const struct plan_trial *t);

/* Appends a line of EXPLAIN with `?` for each constant and parameter. Exported for tests. */
void plan_trial_put_line(struct bytes *out, struct str line);

#endif

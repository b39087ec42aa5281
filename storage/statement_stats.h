// SPDX-License-Identifier: Apache-2.0
/*
 * statement_stats - what is known of statements from their last runs: whether they are short enough
 * to share a connection, and how much memory their results take.
 *
 * A small table by the hash of the text; who collides is forgotten and starts again as unknown.
 */
#ifndef STORAGE_STATEMENT_STATS_H
#define STORAGE_STATEMENT_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STATEMENT_STATS_SIZE = 1024,
    /* Done in less: a point of credit. With credit it may share a connection. */
    STATEMENT_FAST_MS = 10,
    /* No result within this time: those behind it have waited enough; it costs credit. */
    STATEMENT_SLOW_MS = 100,
    /* One slow run among so many fast ones is a hiccup of the machine, or bearable. */
    STATEMENT_SLOW_COST = 16,
    STATEMENT_CREDIT_MOST = 64,
    /* How long a statement that failed has groups of its own. */
    STATEMENT_PENALTY_MS = 10000,
    /* How long one is planned for its values after a plan that was kept has been slow; twice as long
       when that happens again soon. A hiccup of the machine costs little so. */
    STATEMENT_PLANNED_FIRST_MS = 5 * 1000,
    STATEMENT_PLANNED_MOST_MS = 3600 * 1000,
    /* Soon: within so many times that long. */
    STATEMENT_PLANNED_MEMORY = 16,
    /* So often in turn the plan for the values that came was the one for any values; then that one is
       kept. Until then they are compared so often, later more seldom. */
    STATEMENT_PLANS_ALIKE = 3,
    STATEMENT_COMPARE_FIRST_MS = 100,
    STATEMENT_COMPARE_LATER_MS = 30 * 1000,
    /* They were not alike: compared again after this time. */
    STATEMENT_COMPARE_AGAIN_MS = 300 * 1000,
};

struct statement_stat {
    uint64_t hash;
    int64_t fails_until_ms;   /* it has failed lately: in a group it would take others with it */
    int64_t planned_until_ms; /* a plan for any values was slow: it is planned for those it has */
    uint32_t planned_ms;      /* how long that was last */
    uint32_t row_bytes;       /* of a result in memory, on average; 0 = not known */
    uint32_t total_bytes;     /* of the last result; 0 = not known */
    int credit;               /* above 0: short enough to share */
    unsigned plans_alike;     /* times in turn that both its plans were alike, at most
                                 STATEMENT_PLANS_ALIKE */
    int64_t compare_at_ms;    /* when its plans are compared again */
};

struct statement_stats {
    struct statement_stat rows[STATEMENT_STATS_SIZE];
};

/* What is known; all zero for an unknown statement. */
struct statement_stat statement_stats_get(const struct statement_stats *s, uint64_t hash);

/* A run is over: it took the server ran_ms. */
void statement_stats_ran(struct statement_stats *s, uint64_t hash, int64_t ran_ms);

/* A run failed. */
void statement_stats_failed(struct statement_stats *s, uint64_t hash, int64_t now_ms);

/*
 * A run of the prepared statement was slow, and the plan that PostgreSQL keeps for any values may be
 * the reason: with a skewed column it can be as bad as reading the whole table.
 */
void statement_stats_distrust_plan(struct statement_stats *s, uint64_t hash, int64_t now_ms);

/* It is time to compare its plans (storage/plan_trial.h); says so to one run only. */
bool statement_stats_wants_trial(struct statement_stats *s, uint64_t hash, int64_t now_ms);

/* They were compared. */
void statement_stats_tried(struct statement_stats *s, uint64_t hash, bool are_alike,
                           int64_t now_ms);

/* The plan for any values is as good as one for those that come. */
static inline bool statement_stat_keeps_plan(const struct statement_stat *stat)
{
    return stat->plans_alike >= STATEMENT_PLANS_ALIKE;
}

/* A result had so many rows and took so many bytes. */
void statement_stats_size(struct statement_stats *s, uint64_t hash, uint64_t rows, uint64_t bytes);

#endif

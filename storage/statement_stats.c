// SPDX-License-Identifier: Apache-2.0
#include "storage/statement_stats.h"

static struct statement_stat *row_of(struct statement_stats *s, uint64_t hash)
{
    struct statement_stat *row = &s->rows[hash % STATEMENT_STATS_SIZE];
    if (row->hash != hash) {
        *row = (struct statement_stat){.hash = hash};
    }
    return row;
}

static uint32_t clip(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

struct statement_stat statement_stats_get(const struct statement_stats *s, uint64_t hash)
{
    const struct statement_stat *row = &s->rows[hash % STATEMENT_STATS_SIZE];
    return row->hash == hash ? *row : (struct statement_stat){.hash = hash};
}

void statement_stats_ran(struct statement_stats *s, uint64_t hash, int64_t ran_ms)
{
    struct statement_stat *row = row_of(s, hash);
    if (ran_ms >= STATEMENT_SLOW_MS) {
        int left = row->credit - STATEMENT_SLOW_COST;
        row->credit = left < -STATEMENT_SLOW_COST ? -STATEMENT_SLOW_COST : left;
    } else if (ran_ms < STATEMENT_FAST_MS && row->credit < STATEMENT_CREDIT_MOST) {
        row->credit++;
    }
}

void statement_stats_failed(struct statement_stats *s, uint64_t hash, int64_t now_ms)
{
    row_of(s, hash)->fails_until_ms = now_ms + STATEMENT_PENALTY_MS;
}

void statement_stats_distrust_plan(struct statement_stats *s, uint64_t hash, int64_t now_ms)
{
    struct statement_stat *row = row_of(s, hash);
    if (now_ms < row->planned_until_ms) {
        return; /* another run of the same time */
    }
    int64_t soon_ms = (int64_t)row->planned_ms * STATEMENT_PLANNED_MEMORY;
    bool is_soon = row->planned_ms > 0 && now_ms - row->planned_until_ms < soon_ms;
    uint32_t ms = is_soon ? row->planned_ms * 2 : STATEMENT_PLANNED_FIRST_MS;
    row->planned_ms = ms > STATEMENT_PLANNED_MOST_MS ? STATEMENT_PLANNED_MOST_MS : ms;
    row->planned_until_ms = now_ms + row->planned_ms;
    row->plans_alike = 0;
    row->compare_at_ms = row->planned_until_ms;
}

bool statement_stats_wants_trial(struct statement_stats *s, uint64_t hash, int64_t now_ms)
{
    struct statement_stat *row = row_of(s, hash);
    if (now_ms < row->compare_at_ms) {
        return false;
    }
    row->compare_at_ms = now_ms + STATEMENT_COMPARE_FIRST_MS;
    return true;
}

void statement_stats_tried(struct statement_stats *s, uint64_t hash, bool are_alike, int64_t now_ms)
{
    struct statement_stat *row = row_of(s, hash);
    if (!are_alike) {
        row->plans_alike = 0;
        row->compare_at_ms = now_ms + STATEMENT_COMPARE_AGAIN_MS;
        return;
    }
    if (row->plans_alike < STATEMENT_PLANS_ALIKE) {
        row->plans_alike++;
    }
    row->compare_at_ms = now_ms + (statement_stat_keeps_plan(row) ? STATEMENT_COMPARE_LATER_MS
                                                                  : STATEMENT_COMPARE_FIRST_MS);
}

void statement_stats_size(struct statement_stats *s, uint64_t hash, uint64_t rows, uint64_t bytes)
{
    struct statement_stat *row = row_of(s, hash);
    if (rows > 0) {
        row->row_bytes = clip(bytes / rows + 1);
    }
    row->total_bytes = clip(bytes + 1);
}

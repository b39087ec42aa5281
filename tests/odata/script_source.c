// SPDX-License-Identifier: Apache-2.0
#include "tests/odata/script_source.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "tests/support/exact_copy.h"

/* Which level the rows of a level stand below. */
static const int parents[SCRIPT_LEVELS] = {-1, 0, 1, 0};

/* A row in the hands of the writer. */
struct lent {
    struct field fields[SCRIPT_FIELDS];
    char *copies[SCRIPT_FIELDS];
};

static void take_back(struct script *s, int level)
{
    for (int i = 0; i < SCRIPT_LEVELS; i++) {
        if (i == level || (level >= 0 && i > 0 && parents[i] == level)) {
            for (int k = 0; s->lent[i] != NULL && k < SCRIPT_FIELDS; k++) {
                free(s->lent[i]->copies[k]);
            }
            free(s->lent[i]);
            s->lent[i] = NULL;
            if (i != level) {
                take_back(s, i);
            }
        }
    }
}

static struct lent *lend(const struct script_row *row)
{
    struct lent *lent = calloc(1, sizeof(*lent));
    ck_assert_ptr_nonnull(lent);
    for (int i = 0; i < SCRIPT_FIELDS; i++) {
        lent->fields[i].len = -1;
        if (row->fields[i] != NULL) {
            size_t length = strlen(row->fields[i]);
            lent->copies[i] = exact_copy(row->fields[i], length);
            lent->fields[i] = (struct field){lent->copies[i], (int32_t)length};
        }
    }
    return lent;
}

static bool is_at_or_above(int level, int other)
{
    for (; other >= 0; other = parents[other]) {
        if (other == level) {
            return true;
        }
    }
    return false;
}

static enum step interrupt(struct script *s, struct odata_error *err)
{
    if (!s->again_said && (s->again_always || s->calls == s->again_at)) {
        s->again_said = true;
        return STEP_AGAIN;
    }
    s->again_said = false;
    if (s->calls++ == s->fail_at) {
        odata_error_set(err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "", "the script says so");
        return STEP_FAIL;
    }
    return STEP_OK;
}

static enum step script_next(struct row_source *base, unsigned level, const struct field **out,
                             struct odata_error *err)
{
    struct script *s = (struct script *)base;
    int k = (int)level;
    take_back(s, k);
    enum step step = interrupt(s, err);
    if (step != STEP_OK) {
        return step;
    }
    int parent = parents[k];
    for (int i = s->at[k] + 1; s->rows[i].level >= 0; i++) {
        if (s->rows[i].level == k) {
            s->at[k] = i;
            for (int below = 0; below < SCRIPT_LEVELS; below++) {
                if (below != k && is_at_or_above(k, below)) {
                    s->at[below] = i;
                }
            }
            s->lent[k] = lend(&s->rows[i]);
            *out = s->lent[k]->fields;
            return STEP_OK;
        }
        if (parent >= 0 && is_at_or_above(s->rows[i].level, parent)) {
            break;
        }
    }
    return STEP_END;
}

static enum step script_count(struct row_source *base, int64_t *out_count, struct odata_error *err)
{
    struct script *s = (struct script *)base;
    enum step step = interrupt(s, err);
    if (step == STEP_OK) {
        *out_count = s->count;
    }
    return step;
}

static const struct row_source_ops script_ops = {.next = script_next, .count = script_count};

void script_init(struct script *s, const struct script_row *rows, int64_t count)
{
    *s = (struct script){.base = {&script_ops},
                         .rows = rows,
                         .count = count,
                         .at = {-1, -1, -1, -1},
                         .again_at = SCRIPT_NEVER,
                         .fail_at = SCRIPT_NEVER};
}

void script_fini(struct script *s)
{
    for (int i = 0; i < SCRIPT_LEVELS; i++) {
        take_back(s, i);
    }
}

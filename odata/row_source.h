// SPDX-License-Identifier: Apache-2.0
/*
 * row_source - where a response's rows come from, as odata/ sees it: somebody who is asked.
 *
 * Level 0 are the rows of the request; each expanded collection is a level of its own, whose rows
 * are asked for while the current row of its parent level stands. storage/cursor.c is the real one,
 * tests have theirs.
 */
#ifndef ODATA_ROW_SOURCE_H
#define ODATA_ROW_SOURCE_H

#include <stdint.h>

#include "odata/odata_error.h"
#include "odata/shape.h"
#include "odata/step.h"

struct row_source;

struct row_source_ops {
    /*
     * The next row of a level, below the current row of its parent level.
     *
     * STEP_OK:    *out_fields is lent until the next call for this level or for its parent.
     * STEP_AGAIN: not here yet; ask again after the source's owner has said so.
     * STEP_END:   no more rows (for level > 0: below this parent).
     * STEP_FAIL:  err says why; nothing may be asked of the source any more.
     */
    enum step (*next)(struct row_source *s, unsigned level, const struct field **out_fields,
                      struct odata_error *err);

    /* The number of rows that $count=true asks for, from the same snapshot: OK, AGAIN or FAIL. */
    enum step (*count)(struct row_source *s, int64_t *out_count, struct odata_error *err);
};

/* The first member of whoever implements it. */
struct row_source {
    const struct row_source_ops *ops;
};

/* A source of no rows, for a request that reads none: $top=0 without $count. */
void row_source_init_empty(struct row_source *s);

static inline enum step row_source_next(struct row_source *s, unsigned level,
                                        const struct field **out_fields, struct odata_error *err)
{
    return s->ops->next(s, level, out_fields, err);
}

static inline enum step row_source_count(struct row_source *s, int64_t *out_count,
                                         struct odata_error *err)
{
    return s->ops->count(s, out_count, err);
}

#endif

// SPDX-License-Identifier: Apache-2.0
#include "odata/row_source.h"

static enum step no_row(struct row_source *s, unsigned level, const struct field **out_fields,
                        struct odata_error *err)
{
    (void)s;
    (void)level;
    (void)out_fields;
    (void)err;
    return STEP_END;
}

static enum step no_count(struct row_source *s, int64_t *out_count, struct odata_error *err)
{
    (void)s;
    (void)err;
    *out_count = 0;
    return STEP_OK;
}

void row_source_init_empty(struct row_source *s)
{
    static const struct row_source_ops ops = {.next = no_row, .count = no_count};
    s->ops = &ops;
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/derived.h"
#include "storage/sql_read_priv.h"

/* A value that the statement goes on with: of the SQL type that its property is taken to have. */
static void put_value(struct sql *s, const struct bound_expr *e)
{
    if (e->kind == BOUND_PROPERTY) {
        sql_put_raw(s, e);
        return;
    }
    sql_put_value(s, e);
    SQL_PUT(s, "::");
    sql_put_own(s, sql_cast(&e->type, NULL));
}

static void put_list(struct sql *s, const struct derived *d)
{
    for (size_t i = 0; i < d->passed_count; i++) {
        sql_put_own(s, i > 0 ? STR(", ") : STR(""));
        sql_put_column(s, d->from, d->passed[i]);
    }
    for (size_t i = 0; i < d->column_count; i++) {
        const struct derived_column *c = &d->columns[i];
        sql_put_own(s, d->passed_count + i > 0 ? STR(", ") : STR(""));
        put_value(s, c->expr);
        SQL_PUT(s, " AS ");
        sql_put_ident(s, c->property->column);
    }
    if (d->passed_count + d->column_count == 0) {
        SQL_PUT(s, "1");
    }
}

void sql_put_derived(struct sql *s, const struct derived *d)
{
    struct conditions c = {0};
    SQL_PUT(s, "SELECT ");
    put_list(s, d);
    SQL_PUT(s, " FROM ");
    sql_put_table(s, d->from);
    sql_put_joins(s, d->from, false);
    if (d->filter != NULL) {
        sql_next_condition(s, &c);
        sql_put_true(s, d->filter);
    }
    sql_put_order(s, d->order, d->order_count);
    sql_put_limit(s, d->has_top, d->top, d->skip);
}

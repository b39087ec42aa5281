// SPDX-License-Identifier: Apache-2.0
/*
 * sql_window - some items of a collection of values, in an order: an array again, made in the row.
 */
#include "storage/sql_read_priv.h"

/* ` FROM (...) AS v3`: the items with their places; a composite one must stay one column. */
static void put_numbered(struct sql *s, const struct bound_expr *e)
{
    SQL_PUT(s, " FROM (SELECT u AS v, row_number() OVER () AS n FROM unnest(");
    sql_put_raw(s, e->args[0]);
    SQL_PUT(s, ") AS u) AS ");
    sql_put_alias(s, 'v', e->number);
}

void sql_put_window(struct sql *s, const struct bound_expr *e)
{
    const struct window *w = e->window;
    SQL_PUT(s, "(SELECT array_agg(w.v ORDER BY w.n) FROM (SELECT ");
    sql_put_alias(s, 'v', e->number);
    SQL_PUT(s, ".v, row_number() OVER (");
    sql_put_order(s, w->order, w->order_count);
    sql_put_own(s, w->order_count > 0 ? STR(", ") : STR("ORDER BY "));
    sql_put_alias(s, 'v', e->number);
    SQL_PUT(s, ".n) AS n");
    put_numbered(s, e);
    if (e->body != NULL) {
        SQL_PUT(s, " WHERE ");
        sql_put_true(s, e->body);
    }
    SQL_PUT(s, " ORDER BY 2");
    sql_put_limit(s, w->has_top, w->top, w->skip);
    SQL_PUT(s, ") AS w)");
}

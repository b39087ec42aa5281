// SPDX-License-Identifier: Apache-2.0
/*
 * sql_keyset - the rows behind the last row of a page, whatever their order.
 */
#include "storage/sql_read_priv.h"

static bool is_null(const struct bound_expr *value)
{
    return value->text.ptr == NULL;
}

static void put_after_value(struct sql *s, const struct read *read, size_t i)
{
    sql_put_sort_value(s, read->order[i].expr, read->after[i]->text);
}

/* (a, b) > (x, y): when all go the same way and none can be null. An index on (a, b) serves it. */
static bool put_after_row(struct sql *s, struct conditions *c, const struct read *read)
{
    for (size_t i = 0; i < read->order_count; i++) {
        if (read->order[i].expr->nullable || is_null(read->after[i]) ||
            read->order[i].descending != read->order[0].descending) {
            return false;
        }
    }
    sql_next_condition(s, c);
    for (size_t i = 0; i < read->order_count; i++) {
        sql_put_own(s, i == 0 ? STR("(") : STR(", "));
        sql_put_sort(s, read->order[i].expr);
    }
    sql_put_own(s, read->order[0].descending ? STR(") < (") : STR(") > ("));
    for (size_t i = 0; i < read->order_count; i++) {
        if (i > 0) {
            SQL_PUT(s, ", ");
        }
        put_after_value(s, read, i);
    }
    bytes_put_char(s->out, ')');
    return true;
}

/* Nothing can stand behind it: a null that comes last. */
static bool is_last(const struct read *read, size_t i)
{
    return read->order[i].descending && is_null(read->after[i]);
}

static void put_same(struct sql *s, const struct read *read, size_t i)
{
    sql_put_sort(s, read->order[i].expr);
    if (is_null(read->after[i])) {
        SQL_PUT(s, " IS NULL");
    } else {
        SQL_PUT(s, " = ");
        put_after_value(s, read, i);
    }
}

static void put_behind(struct sql *s, const struct read *read, size_t i)
{
    const struct bound_order *o = &read->order[i];
    bool null_follows = o->descending && o->expr->nullable;
    if (null_follows) {
        bytes_put_char(s->out, '(');
    }
    sql_put_sort(s, o->expr);
    if (is_null(read->after[i])) {
        SQL_PUT(s, " IS NOT NULL");
    } else {
        sql_put_own(s, o->descending ? STR(" < ") : STR(" > "));
        put_after_value(s, read, i);
    }
    if (null_follows) {
        SQL_PUT(s, " OR ");
        sql_put_sort(s, o->expr);
        SQL_PUT(s, " IS NULL)");
    }
}

/*
 * a > x OR (a = x AND b > y) OR ...: any directions, any nulls. A bound on the first value stands
 * before it when there is one, so that an index can start there.
 */
static void put_after_any(struct sql *s, struct conditions *c, const struct read *read)
{
    const struct bound_order *first = &read->order[0];
    if (!is_null(read->after[0]) && !(first->descending && first->expr->nullable)) {
        sql_next_condition(s, c);
        sql_put_sort(s, first->expr);
        sql_put_own(s, first->descending ? STR(" <= ") : STR(" >= "));
        put_after_value(s, read, 0);
    }
    sql_next_condition(s, c);
    bytes_put_char(s->out, '(');
    bool any = false;
    for (size_t i = 0; i < read->order_count; i++) {
        if (is_last(read, i)) {
            continue;
        }
        sql_put_own(s, any ? STR(" OR (") : STR("("));
        any = true;
        for (size_t k = 0; k < i; k++) {
            put_same(s, read, k);
            SQL_PUT(s, " AND ");
        }
        put_behind(s, read, i);
        bytes_put_char(s->out, ')');
    }
    sql_put_own(s, any ? STR(")") : STR("false)"));
}

void sql_put_after(struct sql *s, struct conditions *c, const struct read *read)
{
    if (read->after != NULL && read->order_count > 0 && !put_after_row(s, c, read)) {
        put_after_any(s, c, read);
    }
}

// SPDX-License-Identifier: Apache-2.0
/* Collections in expressions: lists of values, lambdas, counts, membership. */
#include "storage/sql_expr.h"

/* Values as an array in PostgreSQL's text form: one parameter, however many. with_ends: to be
   compared with, so that what infinite dates are shown as stands for these too. */
static void put_array(struct sql *s, const struct bound_expr *const *items, size_t count,
                      struct str cast, bool with_ends)
{
    struct bytes text;
    bytes_init(&text, SIZE_MAX / 4);
    bytes_put_char(&text, '{');
    for (size_t i = 0; i < count; i++) {
        struct str item = items[i]->text;
        bytes_put_str(&text, i > 0 ? STR(",") : STR(""));
        if (item.ptr == NULL) {
            BYTES_PUT_LITERAL(&text, "NULL");
            continue;
        }
        bytes_put_char(&text, '"');
        for (size_t k = 0; k < item.len; k++) {
            if (item.ptr[k] == '"' || item.ptr[k] == '\\') {
                bytes_put_char(&text, '\\');
            }
            bytes_put_char(&text, item.ptr[k]);
        }
        bytes_put_char(&text, '"');
        struct str infinity = with_ends ? sql_end_of_time_too(items[i]) : STR("");
        if (infinity.len > 0) {
            bytes_put_char(&text, ',');
            bytes_put_str(&text, infinity);
        }
    }
    bytes_put_char(&text, '}');
    sql_note_failure(s, &text);
    sql_put_array_param(s, bytes_str(&text), cast);
    bytes_fini(&text);
}

void sql_put_collection(struct sql *s, const struct bound_expr *e)
{
    struct str cast = sql_cast(&e->type, NULL);
    bool values = true;
    for (size_t i = 0; i < e->arg_count; i++) {
        values = values && e->args[i]->kind == BOUND_VALUE;
    }
    if (values) {
        put_array(s, e->args, e->arg_count, cast, false);
        return;
    }
    SQL_PUT(s, "ARRAY[");
    for (size_t i = 0; i < e->arg_count; i++) {
        if (i > 0) {
            SQL_PUT(s, ", ");
        }
        sql_put_value(s, e->args[i]);
        SQL_PUT(s, "::");
        sql_put_own(s, cast);
    }
    bytes_put_char(s->out, ']');
}

void sql_put_items(struct sql *s, const struct bound_expr *e)
{
    if (e->kind != BOUND_PROPERTY && e->kind != BOUND_ELEMENT) {
        sql_put_value(s, e);
        return;
    }
    SQL_PUT(s, "(coalesce(");
    sql_put_value(s, e);
    SQL_PUT(s, ", '{}')::");
    sql_put_own(s, sql_cast(&e->type, NULL));
    SQL_PUT(s, "[])[:]");
}

void sql_put_in(struct sql *s, const struct bound_expr *e)
{
    bool any = e->arg_count > 1;
    if (any) {
        sql_put_value(s, e->args[0]);
        SQL_PUT(s, " = ANY(");
        put_array(s, e->args + 1, e->arg_count - 1, sql_cast(&e->args[1]->type, e->args[1]->pg),
                  true);
        bytes_put_char(s->out, ')');
    }
    if (e->has_null) {
        if (any) {
            SQL_PUT(s, " OR ");
        }
        sql_put_null_test(s, e->args[0], true);
    }
}

void sql_put_in_collection(struct sql *s, const struct bound_expr *e)
{
    if (e->args[0]->kind == BOUND_VALUE && e->args[0]->text.ptr == NULL) {
        SQL_PUT(s, "array_position(");
        sql_put_value(s, e->args[1]);
        SQL_PUT(s, ", NULL) IS NOT NULL");
        return;
    }
    sql_put_value(s, e->args[0]);
    SQL_PUT(s, " = ANY(");
    sql_put_value(s, e->args[1]);
    if (e->args[1]->type.type == EDM_STRING) {
        SQL_PUT(s, "::text[]");
    }
    bytes_put_char(s->out, ')');
}

/* ` FROM ... WHERE ...` of the rows that a lambda or a count runs over. */
static void put_range(struct sql *s, const struct bound_expr *e)
{
    SQL_PUT(s, " FROM ");
    sql_put_table(s, e->range);
    if (e->range_via != NULL && e->range_via->link != NULL) {
        SQL_PUT(s, " JOIN ");
        sql_put_link_table(s, e->range_via, e->range);
        SQL_PUT(s, " ON ");
        sql_put_link_far(s, e->range_via, e->range);
    }
    sql_put_joins(s, e->range, false);
    SQL_PUT(s, " WHERE ");
    if (e->range_via == NULL) {
        SQL_PUT(s, "true");
    } else if (e->range_via->link != NULL) {
        sql_put_link_near(s, e->range_via, e->range_from, e->range);
    } else {
        sql_put_join_on(s, e->range_via, e->range_from, e->range);
    }
}

/* ` FROM ...` of the items of a collection of values; a composite one must stay one column. */
static void put_items_range(struct sql *s, const struct bound_expr *e)
{
    bool composite = e->args[0]->type.type == EDM_COMPLEX;
    sql_put_own(s, composite ? STR(" FROM (SELECT unnest(") : STR(" FROM unnest("));
    sql_put_value(s, e->args[0]);
    sql_put_own(s, composite ? STR(") AS v) AS ") : STR(") AS "));
    sql_put_alias(s, 'v', e->number);
    sql_put_own(s, composite ? STR("") : STR("(v)"));
}

/* What e runs over, and its body in parentheses, if it has one. */
static void put_range_where(struct sql *s, const struct bound_expr *e)
{
    if (e->range != NULL) {
        put_range(s, e);
    } else {
        put_items_range(s, e);
    }
    if (e->body != NULL) {
        sql_put_own(s, e->range != NULL ? STR(" AND (") : STR(" WHERE ("));
        sql_put_true(s, e->body);
        bytes_put_char(s->out, ')');
    }
}

void sql_put_lambda(struct sql *s, const struct bound_expr *e)
{
    bool all = e->kind == BOUND_ALL;
    if (all) {
        SQL_PUT(s, "NOT ");
    }
    SQL_PUT(s, "EXISTS (SELECT 1");
    put_range_where(s, e);
    if (all && e->body != NULL) {
        SQL_PUT(s, " IS NOT TRUE");
    }
    bytes_put_char(s->out, ')');
}

void sql_put_count(struct sql *s, const struct bound_expr *e)
{
    if (e->range == NULL && e->body == NULL) {
        SQL_PUT(s, "coalesce(cardinality(");
        sql_put_value(s, e->args[0]);
        SQL_PUT(s, "), 0)");
        return;
    }
    SQL_PUT(s, "(SELECT count(*)");
    put_range_where(s, e);
    bytes_put_char(s->out, ')');
}

void sql_put_scalar(struct sql *s, const struct bound_expr *e)
{
    SQL_PUT(s, "(SELECT ");
    sql_put_value(s, e->args[0]);
    put_range_where(s, e);
    bytes_put_char(s->out, ')');
}

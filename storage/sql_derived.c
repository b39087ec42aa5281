// SPDX-License-Identifier: Apache-2.0
#include "odata/derived.h"
#include "storage/sql_read_priv.h"

/* What a column of this property is cast to where it is not a column of a table. */
static struct str cast_of(const struct property *p)
{
    return p->pg.cast.len > 0 ? p->pg.cast : sql_cast(&p->type, NULL);
}

/* A value that the statement goes on with: of the SQL type that its property is taken to have. */
static void put_value(struct sql *s, const struct bound_expr *e, const struct property *p)
{
    if (e->kind == BOUND_PROPERTY && (p->pg.cast.len > 0 || e->pg == NULL)) {
        sql_put_raw(s, e);
        return;
    }
    sql_put_value(s, e);
    SQL_PUT(s, "::");
    sql_put_own(s, cast_of(p));
}

/* The argument of an aggregate function, wide enough. */
static void put_argument(struct sql *s, const struct bound_expr *e, struct str cast)
{
    sql_put_value(s, e);
    if (cast.len > 0) {
        SQL_PUT(s, "::");
        sql_put_own(s, cast);
    }
}

/* min and max: PostgreSQL has none for bool and uuid. */
static void put_extreme(struct sql *s, const struct derived_column *c)
{
    bool min = c->function == COLUMN_MIN;
    if (c->expr->type.type == EDM_BOOLEAN) {
        sql_put_own(s, min ? STR("bool_and(") : STR("bool_or("));
        sql_put_value(s, c->expr);
    } else {
        sql_put_own(s, min ? STR("min(") : STR("max("));
        sql_put_value(s, c->expr);
        sql_put_own(s, c->expr->type.type == EDM_GUID ? STR("::text COLLATE \"C\"") : STR(""));
    }
    bytes_put_char(s->out, ')');
}

static void put_window(struct sql *s, const struct derived *d, bool ordered)
{
    SQL_PUT(s, " OVER (");
    for (size_t i = 0; i < d->partition_count; i++) {
        sql_put_own(s, i == 0 ? STR("PARTITION BY ") : STR(", "));
        sql_put_sort(s, d->partition[i]);
    }
    if (ordered) {
        sql_put_order(s, d->order, d->order_count);
    }
}

/* The sum over the rows before this one, or over all of the window's rows. */
static void put_window_sum(struct sql *s, const struct derived *d, const struct derived_column *c)
{
    bool before = c->function == COLUMN_SUM_BEFORE;
    SQL_PUT(s, "coalesce(sum(");
    put_argument(s, c->expr, sql_cast(&c->property->type, NULL));
    bytes_put_char(s->out, ')');
    put_window(s, d, before);
    sql_put_own(s, before ? STR(" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)")
                          : STR("), 0)"));
}

static void put_column(struct sql *s, const struct derived *d, const struct derived_column *c)
{
    switch (c->function) {
    case COLUMN_VALUE:
        put_value(s, c->expr, c->property);
        return;
    case COLUMN_SUM:
    case COLUMN_AVERAGE:
        sql_put_own(s, c->function == COLUMN_SUM ? STR("sum(") : STR("avg("));
        put_argument(s, c->expr, c->expr->type.type == EDM_SINGLE ? STR("float8") : STR(""));
        bytes_put_char(s->out, ')');
        break;
    case COLUMN_MIN:
    case COLUMN_MAX:
        put_extreme(s, c);
        break;
    case COLUMN_COUNTDISTINCT:
        SQL_PUT(s, "count(DISTINCT ");
        sql_put_value(s, c->expr);
        bytes_put_char(s->out, ')');
        break;
    case COLUMN_COUNT:
        SQL_PUT(s, "count(*)");
        break;
    case COLUMN_ROW_NUMBER:
        SQL_PUT(s, "row_number()");
        put_window(s, d, true);
        bytes_put_char(s->out, ')');
        break;
    case COLUMN_SUM_BEFORE:
    case COLUMN_TOTAL:
        put_window_sum(s, d, c);
        break;
    }
    SQL_PUT(s, "::");
    sql_put_own(s, cast_of(c->property));
}

static void put_list(struct sql *s, const struct derived *d)
{
    for (size_t i = 0; i < d->passed_count; i++) {
        sql_put_own(s, i > 0 ? STR(", ") : STR(""));
        sql_put_column(s, d->from, d->passed[i]);
        if (sql_makes_instant(d->from, d->passed[i])) {
            SQL_PUT(s, " AS ");
            sql_put_ident(s, d->passed[i]->column);
        }
    }
    for (size_t i = 0; i < d->column_count; i++) {
        sql_put_own(s, d->passed_count + i > 0 ? STR(", ") : STR(""));
        put_column(s, d, &d->columns[i]);
        SQL_PUT(s, " AS ");
        sql_put_ident(s, d->columns[i].property->column);
    }
    if (d->passed_count + d->column_count == 0) {
        bytes_put_char(s->out, '1');
    }
}

/* ` JOIN ...`: the rows behind a to-many navigation. */
static void put_join(struct sql *s, const struct derived *d)
{
    const struct navigation *n = d->join;
    if (n->made != NULL) {
        sql_put_own(s, d->outer ? STR(" LEFT JOIN LATERAL ") : STR(" JOIN LATERAL "));
        sql_put_table(s, d->join_to);
        SQL_PUT(s, " ON true");
    } else if (n->link != NULL) {
        SQL_PUT(s, " JOIN ");
        sql_put_link_table(s, n, d->join_to);
        SQL_PUT(s, " ON ");
        sql_put_link_near(s, n, d->join_from, d->join_to);
        SQL_PUT(s, " JOIN ");
        sql_put_table(s, d->join_to);
        SQL_PUT(s, " ON ");
        sql_put_link_far(s, n, d->join_to);
    } else {
        sql_put_own(s, d->outer ? STR(" LEFT JOIN ") : STR(" JOIN "));
        sql_put_table(s, d->join_to);
        SQL_PUT(s, " ON ");
        sql_put_join_on(s, n, d->join_from, d->join_to);
    }
    sql_put_joins(s, d->join_to, false);
}

/* A column of the row that rows are tied to; of the parent p it is the i-th key. */
static void put_outer(struct sql *s, const struct derived *d, const struct property *p, size_t i)
{
    if (d->tie_from != NULL) {
        sql_put_column(s, d->tie_from, p);
    } else {
        SQL_PUT(s, "p.k");
        sql_put_u64(s, i);
    }
}

/* The rows behind a navigation of one row: ` JOIN link ON ...`, when there is a link table. */
static void put_tie_link(struct sql *s, const struct derived *d)
{
    if (d->tie != NULL && d->tie->link != NULL) {
        SQL_PUT(s, " JOIN ");
        sql_put_link_table(s, d->tie, d->from);
        SQL_PUT(s, " ON ");
        sql_put_link_far(s, d->tie, d->from);
    }
}

static void put_tie(struct sql *s, struct conditions *c, const struct derived *d)
{
    const struct navigation *n = d->tie;
    size_t count = n == NULL ? 0 : n->link != NULL ? n->link->local_count : n->join_count;
    for (size_t i = 0; i < count; i++) {
        sql_next_condition(s, c);
        if (n->link != NULL) {
            sql_put_link_column(s, d->from->number, n->link->local_columns[i], n->link->local[i]);
        } else {
            sql_put_column(s, d->from, n->joins[i].remote);
        }
        SQL_PUT(s, " = ");
        put_outer(s, d, n->link != NULL ? n->link->local[i] : n->joins[i].local, i);
    }
}

static void put_groups(struct sql *s, const struct derived *d)
{
    for (size_t i = 0; i < d->passed_count; i++) {
        sql_put_own(s, i == 0 ? STR(" GROUP BY ") : STR(", "));
        sql_put_column(s, d->from, d->passed[i]);
    }
}

/* What several parts read is computed once, under a name. */
static void put_shared(struct sql *s, const struct derived *d)
{
    const struct source *shared = d->shared;
    if (shared == NULL || shared->shared != NULL || shared->derived == NULL ||
        !shared->derived->costly) {
        return;
    }
    SQL_PUT(s, "WITH ");
    sql_put_alias(s, 'w', shared->number);
    SQL_PUT(s, " AS (");
    sql_put_derived(s, shared->derived);
    SQL_PUT(s, ") ");
}

static void put_select(struct sql *s, const struct derived *d)
{
    struct conditions c = {0};
    put_shared(s, d);
    sql_put_own(s, d->distinct ? STR("SELECT DISTINCT ") : STR("SELECT "));
    put_list(s, d);
    if (d->from == NULL || (d->grouped && d->passed_count + d->column_count == 0)) {
        return; /* one row of its own; one group, of which nothing is wanted but that it is there */
    }
    if (d->path != NULL) {
        sql_put_path(s, d->path, d->path->step_count - 1);
    } else {
        SQL_PUT(s, " FROM ");
        sql_put_table(s, d->from);
    }
    put_tie_link(s, d);
    sql_put_joins(s, d->from, false);
    if (d->join != NULL) {
        put_join(s, d);
    }
    if (d->path != NULL) {
        sql_put_path_where(s, &c, d->path);
    }
    put_tie(s, &c, d);
    if (d->filter != NULL) {
        sql_next_condition(s, &c);
        sql_put_true(s, d->filter);
    }
    if (d->grouped) {
        put_groups(s, d);
    }
    if (!d->window) {
        sql_put_order(s, d->order, d->order_count);
    }
    if (d->top_value != NULL) {
        SQL_PUT(s, " LIMIT greatest(coalesce((");
        sql_put_value(s, d->top_value);
        SQL_PUT(s, ")::int8, 0), 0)");
    } else {
        sql_put_limit(s, d->has_top, d->top, d->skip);
    }
}

/* A part's column as the type that the output has; NULL for one that it has not. */
static void put_output(struct sql *s, const struct source *source, const struct property *column,
                       const struct property *output)
{
    if (column == NULL) {
        SQL_PUT(s, "NULL::");
        sql_put_own(s, cast_of(output));
        return;
    }
    if (output->pg.cast.len == 0 && column->pg.cast.len > 0) {
        struct bound_expr e = {.kind = BOUND_PROPERTY,
                               .type = column->type,
                               .pg = &column->pg,
                               .source = source,
                               .property = column};
        sql_put_value(s, &e);
    } else {
        sql_put_column(s, source, column);
    }
    if (output->pg.oid != column->pg.oid || output->type.type != column->type.type) {
        SQL_PUT(s, "::");
        sql_put_own(s, cast_of(output));
    }
}

static void put_as(struct sql *s, const struct property *output)
{
    SQL_PUT(s, " AS ");
    sql_put_ident(s, output->column);
}

/* The number of the row's structure, and its place in the part when that has an order. */
static void put_numbers(struct sql *s, const struct derived *d, const struct derived_part *part)
{
    const struct property *structure = part->source->type->structure;
    if (structure != NULL) {
        sql_put_column(s, part->source, structure);
        SQL_PUT(s, " + ");
    }
    sql_put_u64(s, part->structure);
    SQL_PUT(s, "::int8");
    put_as(s, d->outputs[0]);
    SQL_PUT(s, ", ");
    if (part->order_count > 0) {
        SQL_PUT(s, "row_number() OVER (");
        sql_put_order(s, part->order, part->order_count);
        bytes_put_char(s->out, ')');
    } else {
        SQL_PUT(s, "0::int8");
    }
    put_as(s, d->outputs[1]);
}

static void put_union(struct sql *s, const struct derived *d)
{
    put_shared(s, d);
    for (size_t i = 0; i < d->part_count; i++) {
        const struct derived_part *part = &d->parts[i];
        sql_put_own(s, i > 0 ? STR(" UNION ALL SELECT ") : STR("SELECT "));
        put_numbers(s, d, part);
        for (size_t k = 2; k < d->output_count; k++) {
            SQL_PUT(s, ", ");
            put_output(s, part->source, part->columns[k], d->outputs[k]);
            put_as(s, d->outputs[k]);
        }
        SQL_PUT(s, " FROM ");
        sql_put_table(s, part->source);
    }
}

static bool is_count(const struct property *p)
{
    return !p->type.nullable;
}

/* All groups there are: the parts have one row each. */
static void put_merged_row(struct sql *s, const struct derived *d)
{
    SQL_PUT(s, "SELECT ");
    for (size_t k = 0; k < d->output_count; k++) {
        sql_put_own(s, k > 0 ? STR(", ") : STR(""));
        for (size_t i = 0; i < d->part_count; i++) {
            if (d->parts[i].columns[k] != NULL) {
                put_output(s, d->parts[i].source, d->parts[i].columns[k], d->outputs[k]);
            }
        }
        put_as(s, d->outputs[k]);
    }
    for (size_t i = 0; i < d->part_count; i++) {
        sql_put_own(s, i > 0 ? STR(" CROSS JOIN ") : STR(" FROM "));
        sql_put_table(s, d->parts[i].source);
    }
}

/*
 * Rows of one group are brought together by their keys, nulls included, which a join could do only
 * without a hash: each value stands in the row of its part.
 */
static void put_merged_groups(struct sql *s, const struct derived *d)
{
    SQL_PUT(s, "SELECT ");
    for (size_t k = 0; k < d->output_count; k++) {
        sql_put_own(s, k > 0 ? STR(", ") : STR(""));
        if (k < d->key_count) {
            SQL_PUT(s, "m.");
            sql_put_ident(s, d->outputs[k]->column);
            continue;
        }
        sql_put_own(s,
                    is_count(d->outputs[k]) ? STR("coalesce((array_agg(m.") : STR("(array_agg(m."));
        sql_put_ident(s, d->outputs[k]->column);
        SQL_PUT(s, ") FILTER (WHERE m.n = ");
        for (size_t i = 0; i < d->part_count; i++) {
            if (d->parts[i].columns[k] != NULL) {
                sql_put_u64(s, i);
            }
        }
        sql_put_own(s, is_count(d->outputs[k]) ? STR("))[1], 0)") : STR("))[1]"));
        put_as(s, d->outputs[k]);
    }
    SQL_PUT(s, " FROM (");
    for (size_t i = 0; i < d->part_count; i++) {
        const struct derived_part *part = &d->parts[i];
        sql_put_own(s, i > 0 ? STR(" UNION ALL SELECT ") : STR("SELECT "));
        for (size_t k = 0; k < d->output_count; k++) {
            put_output(s, part->source, part->columns[k], d->outputs[k]);
            put_as(s, d->outputs[k]);
            SQL_PUT(s, ", ");
        }
        sql_put_u64(s, i);
        SQL_PUT(s, " AS n FROM ");
        sql_put_table(s, part->source);
    }
    SQL_PUT(s, ") AS m GROUP BY ");
    for (size_t k = 0; k < d->key_count; k++) {
        sql_put_own(s, k > 0 ? STR(", m.") : STR("m."));
        sql_put_ident(s, d->outputs[k]->column);
    }
}

void sql_put_derived(struct sql *s, const struct derived *d)
{
    switch (d->kind) {
    case DERIVED_SELECT:
        put_select(s, d);
        return;
    case DERIVED_UNION:
        put_union(s, d);
        return;
    case DERIVED_TREE:
        sql_put_tree(s, d);
        return;
    case DERIVED_MERGE:
        put_shared(s, d);
        if (d->key_count == 0) {
            put_merged_row(s, d);
        } else {
            put_merged_groups(s, d);
        }
        return;
    }
}

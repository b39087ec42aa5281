// SPDX-License-Identifier: Apache-2.0
/*
 * A recursive hierarchy: h are its nodes (k: identifier, u: the parent's, n: place among siblings),
 * r is what has been reached. Nothing is reached twice: UNION drops what is there already, and what
 * begins at the roots never comes to a circle.
 */
#include "odata/derived.h"
#include "storage/sql_read_priv.h"

enum {
    /* Beyond it the number of nodes is asked for: no distance in them is longer, circles or not. */
    USUAL_DISTANCE = 64,
};

/* h: computed once, unless it is a table as it is, whose index can serve each step. */
static void put_nodes(struct sql *s, const struct tree *t, bool numbered)
{
    bool plain = t->nodes->derived == NULL && t->nodes->shared == NULL && !numbered;
    sql_put_own(s, plain ? STR("h AS NOT MATERIALIZED (SELECT ") : STR("h AS (SELECT "));
    sql_put_column(s, t->nodes, t->node);
    SQL_PUT(s, " AS k, ");
    sql_put_column(s, t->nodes, t->up);
    SQL_PUT(s, " AS u");
    if (numbered) {
        SQL_PUT(s, ", row_number() OVER (");
        sql_put_order(s, t->order, t->order_count);
        SQL_PUT(s, ") AS n");
    }
    SQL_PUT(s, " FROM ");
    sql_put_table(s, t->nodes);
    sql_put_joins(s, t->nodes, false);
    SQL_PUT(s, ")");
}

static void put_starts(struct sql *s, const struct tree *t)
{
    if (t->starts == NULL) {
        SQL_PUT(s, " FROM h WHERE h.k = ");
        sql_put_value(s, t->start_value);
        return;
    }
    SQL_PUT(s, " FROM h WHERE h.k IN (SELECT ");
    sql_put_column(s, t->starts, t->start);
    SQL_PUT(s, " FROM ");
    sql_put_table(s, t->starts);
    bytes_put_char(s->out, ')');
}

/* d is the distance; without a limit it is only told whether it is 0, so that there are two rows
   for a node at most. */
static void put_related(struct sql *s, const struct tree *t)
{
    SQL_PUT(s, ", r AS (SELECT h.k, h.u, 0::int8 AS d");
    put_starts(s, t);
    sql_put_own(s, t->has_distance ? STR(" UNION SELECT h.k, h.u, r.d + 1 FROM r JOIN h ON ")
                                   : STR(" UNION SELECT h.k, h.u, 1::int8 FROM r JOIN h ON "));
    sql_put_own(s, t->kind == TREE_ANCESTORS ? STR("h.k = r.u") : STR("h.u = r.k"));
    if (t->has_distance) {
        SQL_PUT(s, " WHERE r.d < ");
        if (t->distance > USUAL_DISTANCE) {
            SQL_PUT(s, "least((SELECT count(*) FROM h), ");
            sql_put_bigint(s, t->distance);
            bytes_put_char(s->out, ')');
        } else {
            sql_put_u64(s, t->distance);
        }
    }
    SQL_PUT(s, ") SELECT DISTINCT r.k AS ");
}

/* From the roots on: nodes whose parent is none of the nodes. */
static void put_reached(struct sql *s, const struct tree *t, struct str first, struct str next)
{
    SQL_PUT(s, ", r AS (SELECT h.k, ARRAY[");
    sql_put_own(s, first);
    SQL_PUT(s, "] AS path FROM h WHERE h.u IS NULL");
    if (t->nodes->derived != NULL || t->nodes->shared != NULL) {
        SQL_PUT(s, " OR NOT EXISTS (SELECT 1 FROM h AS o WHERE o.k = h.u)");
    }
    SQL_PUT(s, " UNION ALL SELECT h.k, r.path || ");
    sql_put_own(s, next);
    SQL_PUT(s, " FROM r JOIN h ON h.u = r.k) ");
}

void sql_put_tree(struct sql *s, const struct derived *d)
{
    const struct tree *t = d->tree;
    bool traverse = t->kind == TREE_PREORDER || t->kind == TREE_POSTORDER;
    SQL_PUT(s, "WITH RECURSIVE ");
    put_nodes(s, t, traverse);
    switch (t->kind) {
    case TREE_ANCESTORS:
    case TREE_DESCENDANTS:
        put_related(s, t);
        sql_put_ident(s, d->outputs[0]->column);
        sql_put_own(s, t->keep_start ? STR(" FROM r") : STR(" FROM r WHERE r.d > 0"));
        return;
    case TREE_PREORDER:
    case TREE_POSTORDER:
        put_reached(s, t, STR("h.n"), STR("h.n"));
        SQL_PUT(s, "SELECT r.k AS ");
        sql_put_ident(s, d->outputs[0]->column);
        /* What is below a node comes behind it, or before it: none of the numbers is so great. */
        sql_put_own(s, t->kind == TREE_PREORDER
                           ? STR(", row_number() OVER (ORDER BY r.path) AS ")
                           : STR(", row_number() OVER (ORDER BY r.path || 9223372036854775807) "
                                 "AS "));
        sql_put_ident(s, d->outputs[1]->column);
        SQL_PUT(s, " FROM r");
        return;
    case TREE_PAIRS:
        put_reached(s, t, STR("h.k"), STR("h.k"));
        SQL_PUT(s, "SELECT r.k AS ");
        sql_put_ident(s, d->outputs[0]->column);
        SQL_PUT(s, ", unnest(r.path) AS ");
        sql_put_ident(s, d->outputs[1]->column);
        SQL_PUT(s, " FROM r");
        return;
    }
}

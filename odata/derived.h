// SPDX-License-Identifier: Apache-2.0
/*
 * derived - rows that a SELECT makes, in the place of a table: what $compute and $apply come to.
 *
 * A struct source with a struct derived is read as `(SELECT ...) AS tN`. Its type is made for the
 * request: properties whose columns are those of the SELECT list. So whatever can be done with a
 * table's rows can be done with these. A column keeps its name through all further SELECTs.
 *
 * Owns: nothing; it lives in the request's arena.
 */
#ifndef ODATA_DERIVED_H
#define ODATA_DERIVED_H

#include "odata/bound.h"

/* What a column that is made here holds. */
enum column_function {
    COLUMN_VALUE, /* the expression itself */
    /* of a group: the standard aggregation methods (Data Aggregation 3.2.1.4), and $count */
    COLUMN_SUM,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_AVERAGE,
    COLUMN_COUNTDISTINCT,
    COLUMN_COUNT, /* of the rows */
    /* over the window of struct derived */
    COLUMN_ROW_NUMBER,
    COLUMN_SUM_BEFORE, /* of the rows before this one */
    COLUMN_TOTAL,      /* of all rows */
};

/* `function(expr) AS "column of property"` */
struct derived_column {
    const struct property *property;
    const struct bound_expr *expr; /* NULL for COLUMN_COUNT and COLUMN_ROW_NUMBER */
    enum column_function function;
};

/* What rows are ordered by. */
struct sorted {
    const struct property *property;
    bool descending;
};

/* What is behind a navigation that nest or addnested has made: bound anew wherever it is read. */
struct nested {
    const struct sequence *sequence;
    const struct navigation *over; /* addnested: the input is what this leads to */
    struct source *rows;           /* nest: or these */
};

/* How the nodes of a recursive hierarchy are gone through. */
enum tree_kind {
    TREE_ANCESTORS,
    TREE_DESCENDANTS,
    TREE_PREORDER,
    TREE_POSTORDER,
    TREE_PAIRS, /* of a node that is reached from a root and one above it, or itself */
};

/*
 * Nodes of a recursive hierarchy by their identifiers (Data Aggregation 5.5.2, 6). What a circle in
 * the data holds is under no root; the ancestors and descendants of one in it are each met once.
 */
struct tree {
    enum tree_kind kind;
    struct source *nodes;        /* the hierarchy has these and no others */
    const struct property *node; /* of nodes: the identifier, which is unique */
    const struct property *up;   /* of nodes: that of the parent */
    /* ANCESTORS, DESCENDANTS: of the nodes whose identifiers are in these rows, or of this one */
    struct source *starts;
    const struct property *start; /* of starts */
    const struct bound_expr *start_value;
    bool keep_start; /* the starts themselves, too */
    bool has_distance;
    uint64_t distance; /* not farther than this */
    /* PREORDER, POSTORDER: of siblings */
    struct bound_order *order;
    size_t order_count;
};

enum derived_kind {
    DERIVED_SELECT, /* from one source */
    DERIVED_UNION,  /* the rows of all parts: concat, rollup */
    DERIVED_TREE,   /* the nodes of a hierarchy */
    DERIVED_MERGE,  /* parts with a row for each group at most: one row of them for each group */
};

/* A SELECT of a union or a merge. */
struct derived_part {
    struct source *source;
    const struct property **columns; /* of source, one for each output; NULL: the part has none */
    unsigned structure;              /* UNION: the number of its first structure */
    const struct bound_order *order; /* UNION: its rows keep this order */
    size_t order_count;
};

/*
 * SELECT: passed, columns FROM from [joins] [JOIN join_to] [WHERE tie AND filter] [GROUP BY passed]
 *         [ORDER BY order] [LIMIT top OFFSET skip]
 * UNION:  a SELECT of the outputs for each part, in their order; the first output is the number of
 *         the row's structure, the second its place in its part
 * TREE:   the first output is a node's identifier, the second, if there is one, its place (PREORDER,
 *         POSTORDER) or the identifier of the node above it (PAIRS)
 * MERGE:  the outputs, of which the first key_count say which rows are one
 */
struct derived {
    enum derived_kind kind;
    struct source *from;            /* a root: a table, or derived itself */
    const struct read *path;        /* or the rows that a path leads to; its source is from */
    const struct property **passed; /* columns of from that keep their names */
    size_t passed_count;
    struct derived_column *columns;
    size_t column_count;
    const struct bound_expr *filter;
    bool grouped;
    bool distinct;
    const struct navigation *tie;  /* only the targets of one row: */
    const struct source *tie_from; /* of this one, outside; NULL: of the statement's parent p */
    const struct navigation *join; /* to many: a row for each target */
    const struct source *join_from;
    struct source *join_to;
    bool outer; /* and one where there is none */
    const struct bound_order *order;
    size_t order_count;
    bool window;                         /* order is that of the window, not of the rows */
    const struct bound_expr **partition; /* of the window */
    size_t partition_count;
    bool has_top;
    uint64_t top;
    const struct bound_expr *top_value; /* in the place of top, or NULL */
    uint64_t skip;

    struct derived_part *parts;
    size_t part_count;
    const struct tree *tree;
    const struct property **outputs;
    size_t output_count;
    size_t key_count;
    const struct source *shared; /* what is read more than once, under a name */

    const struct property **hidden; /* columns of these rows that type does not show */
    size_t hidden_count;
    const struct sorted *sorted; /* the order of these rows */
    size_t sorted_count;
    const struct key *unique; /* what tells one row from another; NULL: the type's key */
    bool costly;              /* to be read once: more than a choice of a table's rows */
    bool repeats;             /* one entity may be there more than once */
};

#endif

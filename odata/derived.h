// SPDX-License-Identifier: Apache-2.0
/*
 * derived - rows that a SELECT makes, in the place of a table: what $compute and $apply come to.
 *
 * A struct source with a struct derived is read as `(SELECT ...) AS tN`. Its type is made for the
 * request: properties whose columns are those of the SELECT list. So whatever can be done with a
 * table's rows can be done with these.
 *
 * Owns: nothing; it lives in the request's arena.
 */
#ifndef ODATA_DERIVED_H
#define ODATA_DERIVED_H

#include "odata/bound.h"

/* The standard aggregation methods (Data Aggregation 3.2.1.4), and $count. */
enum aggregate_method {
    AGGREGATE_NONE, /* the value itself */
    AGGREGATE_SUM,
    AGGREGATE_MIN,
    AGGREGATE_MAX,
    AGGREGATE_AVERAGE,
    AGGREGATE_COUNTDISTINCT,
    AGGREGATE_ROWS, /* the number of rows */
};

/* A column of the SELECT list that is made here: `expr AS "column of property"`. */
struct derived_column {
    const struct property *property;
    const struct bound_expr *expr; /* NULL for AGGREGATE_ROWS */
    enum aggregate_method method;
};

/*
 * SELECT passed, columns FROM from [joins] [WHERE filter] [GROUP BY the columns without a method]
 * [ORDER BY order] [LIMIT top OFFSET skip]
 */
struct derived {
    struct source *from;     /* a root: a table, or derived itself */
    const struct read *path; /* or the rows that a resource path leads to; its source is from */
    const struct property **passed; /* columns of from that keep their names */
    size_t passed_count;
    const struct derived_column *columns;
    size_t column_count;
    const struct bound_expr *filter;
    bool grouped;
    const struct bound_order *order;
    size_t order_count;
    bool has_top;
    uint64_t top;
    uint64_t skip;
};

#endif

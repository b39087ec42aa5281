// SPDX-License-Identifier: Apache-2.0
/*
 * apply - the syntax of $apply and $compute: sequences of set transformations.
 *
 * As in odata/ast.h names are text, and what can be named wrong has its byte. A path is an
 * expression made of EXPR_MEMBER only.
 *
 * Owns:   nothing; nodes and their strings live in the request's arena.
 * Source: OData Extension for Data Aggregation 4.0, 3 and 6; URL Conventions 5.1.3 ($compute).
 */
#ifndef ODATA_APPLY_H
#define ODATA_APPLY_H

#include "odata/ast.h"

/* `expression as Alias`: an item of $compute, or of the transformation compute. */
struct compute_item {
    struct expr *expr;
    struct str alias;
    size_t offset; /* of the alias */
};

/* `from path,... with method` behind an aggregate expression. */
struct aggregate_from {
    struct expr **paths;
    size_t path_count;
    struct str method; /* "" when there is none: a custom aggregate once more */
    size_t method_offset;
};

/* An item of aggregate(...). */
struct aggregate_item {
    struct expr
        *expr; /* an expression; EXPR_COUNT for `path/$count`, without a base for `$count` */
    struct str method; /* behind `with`; "" for a count or a custom aggregate */
    size_t method_offset;
    struct aggregate_from *froms;
    size_t from_count;
    struct str alias; /* "" for a custom aggregate that keeps its name, and in an expression */
    size_t alias_offset;
    size_t offset;
};

enum grouping_kind {
    GROUPING_PATH,      /* paths[0] */
    GROUPING_ROLLUP,    /* rollup(a,b,...): two paths or more, or all and one; or one name */
    GROUPING_RECURSIVE, /* rolluprecursive(...) */
};

struct hierarchy;

/* An item of the first parameter of groupby(...). */
struct grouping {
    enum grouping_kind kind;
    struct expr **paths;
    size_t path_count;
    bool all; /* rollup($all,...): the grand total, too */
    struct hierarchy *hierarchy;
    size_t offset;
};

enum transformation_kind {
    TRANSFORM_AGGREGATE,
    TRANSFORM_GROUPBY,
    TRANSFORM_CONCAT,
    TRANSFORM_FILTER,
    TRANSFORM_SEARCH,
    TRANSFORM_COMPUTE,
    TRANSFORM_IDENTITY,
    TRANSFORM_ORDERBY,
    TRANSFORM_TOP,
    TRANSFORM_SKIP,
    TRANSFORM_TOPCOUNT,
    TRANSFORM_TOPSUM,
    TRANSFORM_TOPPERCENT,
    TRANSFORM_BOTTOMCOUNT,
    TRANSFORM_BOTTOMSUM,
    TRANSFORM_BOTTOMPERCENT,
    TRANSFORM_JOIN,
    TRANSFORM_OUTERJOIN,
    TRANSFORM_NEST,
    TRANSFORM_ADDNESTED,
    TRANSFORM_ANCESTORS,
    TRANSFORM_DESCENDANTS,
    TRANSFORM_TRAVERSE,
    TRANSFORM_COUNT,
};

struct sequence;

/* `sequence as Alias`, in nest and addnested; join has the alias and perhaps the sequence. */
struct nested_sequence {
    struct sequence *sequence; /* NULL: everything */
    struct str alias;
    size_t offset; /* of the alias */
};

/* The parameters that hierarchical transformations share. */
struct hierarchy {
    struct expr *nodes; /* $root/... */
    struct str qualifier;
    size_t qualifier_offset;
    struct expr *path;         /* to the node's identifier */
    struct sequence *sequence; /* chooses the start nodes; NULL when there is none */
    bool has_distance;
    uint64_t distance;
    bool keep_start;
    bool postorder;
};

/* One transformation; which members it has is said by its kind. */
struct transformation {
    enum transformation_kind kind;
    size_t offset;
    struct aggregate_item *aggregates; /* aggregate */
    size_t aggregate_count;
    struct grouping *groupings; /* groupby */
    size_t grouping_count;
    struct sequence *sequence; /* groupby: what is done with each group, or NULL */
    struct sequence **parts;   /* concat */
    size_t part_count;
    struct compute_item *computes; /* compute */
    size_t compute_count;
    struct expr *expr;               /* filter; topcount...: what is ordered and summed up */
    struct expr *limit;              /* topcount...: how much */
    struct query *order;             /* orderby, traverse: only the orderby items are set */
    uint64_t number;                 /* top, skip */
    struct query *search;            /* search: only $search is set */
    struct expr *path;               /* join, outerjoin, addnested */
    struct nested_sequence *nesteds; /* join and outerjoin: one; nest, addnested */
    size_t nested_count;
    struct hierarchy *hierarchy; /* ancestors, descendants, traverse */
};

struct sequence {
    struct transformation *items;
    size_t count;
};

/* The name in a URL: "groupby". */
struct str transformation_name(enum transformation_kind kind);
/* It is not answered with 501: what $metadata announces. */
bool transformation_is_supported(enum transformation_kind kind);

/* Writes the tree in one line, for tests. */
void compute_dump(const struct compute_item *items, size_t count, struct bytes *out);
void aggregate_dump(const struct aggregate_item *item, struct bytes *out);
void sequence_dump(const struct sequence *s, struct bytes *out);

#endif

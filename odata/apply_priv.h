// SPDX-License-Identifier: Apache-2.0
/*
 * apply_priv - what the files that bind $apply share: bind_apply.c, bind_aggregate.c, bind_reach.c,
 * bind_group.c, bind_concat.c, bind_join.c and bind_derived.c.
 */
#ifndef ODATA_APPLY_PRIV_H
#define ODATA_APPLY_PRIV_H

#include "odata/apply.h"
#include "odata/bind_priv.h"
#include "odata/derived.h"

/*
 * A sequence of transformations on its way. Inside of groupby all groups go through it at once:
 * the partition is what tells them apart, and each transformation works within it.
 */
struct applying {
    struct binder *b;
    const struct clause *clause;       /* the option whose bytes errors name */
    const struct scope *around;        /* of an expression that aggregates; NULL: none */
    struct source *in;                 /* the rows so far */
    const struct property **partition; /* columns of in */
    size_t partition_count;
    const struct source *groups; /* its rows are all groups there are: the partition's columns */
};

/* A member of a row that an aggregation leaves, by its path: Customer, Country. */
struct leaf {
    const struct str *path;
    size_t path_count;
    const struct property *column;       /* a value; */
    const struct navigation *navigation; /* or an entity, whose key is in the row */
    uint64_t structures;                 /* bit i: rows of structure i have it; 0: all */
};

/* bind_derived.c */

/* A SELECT of all that from has, with its order. NULL fills the error. */
struct derived *bind_derive(struct binder *b, struct source *from) NODISCARD;
/* The rows of d: the next input. */
bool bind_derived(struct applying *x, struct derived *d, const struct entity_type *type) NODISCARD;
/* The same rows once more, to be read beside the first time. NULL fills the error. */
struct source *bind_again(struct binder *b, struct source *from) NODISCARD;
/* The same rows, with nothing said about the first time. */
struct source *bind_copy(struct binder *b, const struct source *from) NODISCARD;
bool bind_hide(struct binder *b, struct derived *d, const struct property *p) NODISCARD;
/* A column for e in d, which passes on what it has; an own property of the rows stays itself. */
const struct property *bind_add_column(struct binder *b, struct derived *d, struct str name,
                                       const struct bound_expr *e,
                                       enum column_function function) NODISCARD;
/* $filter on the rows of in. */
bool bind_keep(struct applying *x, const struct bound_expr *condition) NODISCARD;
const struct bound_expr *bind_binary_of(struct binder *b, enum operator op, enum edm_type type,
                                        const struct bound_expr *left,
                                        const struct bound_expr *right) NODISCARD;
/* What the rows are told apart by. */
struct key bind_unique(const struct source *source);
/* The type whose members are the leaves. */
struct entity_type *bind_leaf_type(struct binder *b, const struct entity_type *like,
                                   const struct leaf *leaves, size_t count) NODISCARD;
/* SELECT the partition's columns ... FROM in GROUP BY them; columns may be added. NULL fills the
   error. */
struct derived *bind_group_rows(struct applying *x) NODISCARD;
/* Its rows, one for each group, are the next input; they have no members yet. */
bool bind_group_end(struct applying *x, struct derived *d) NODISCARD;

/* bind_apply.c */

/* Where an expression about a row of in stands. */
struct scope bind_row_scope(const struct applying *x);
bool bind_sequence(struct applying *x, const struct sequence *s) NODISCARD;
/* The rows of a path that is more than a whole entity set, as the rows of x. */
bool bind_path_rows(struct applying *x, const struct read *read) NODISCARD;

/* bind_aggregate.c */

bool bind_aggregate(struct applying *x, const struct transformation *t) NODISCARD;

/* bind_reach.c */

/* Where a path has come to. */
struct reached {
    struct source *source;
    const struct bound_expr *value; /* a property; NULL while it is an entity */
};

/* Walks the path e on from at->source, which begins as in; in changes with to-many navigation. */
bool bind_reach(struct applying *x, const struct expr *e, struct reached *at) NODISCARD;
/* Each entity that was reached once in each group, as the rows of in: its key, and the value. */
bool bind_reach_once(struct applying *x, struct reached *at) NODISCARD;
/* The rows behind a to-many navigation of from, each with the columns of its row's partition. */
bool bind_cross(struct applying *x, struct source *from, const struct navigation *n) NODISCARD;

/* bind_join.c */

bool bind_join(struct applying *x, const struct transformation *t) NODISCARD;

/* bind_nested.c */

/*
 * The rows behind a to-many navigation of one row, as the rows of x: of the row of from, which is
 * outside of them, or of the parent p of an expanded level's statement when from is NULL.
 */
bool bind_behind(struct applying *x, const struct navigation *n,
                 const struct source *from) NODISCARD;
bool bind_addnested(struct applying *x, const struct transformation *t) NODISCARD;
bool bind_nest(struct applying *x, const struct transformation *t) NODISCARD;

/* bind_hierarchy.c */

/* A recursive hierarchy, as a transformation or function names it. */
struct nodes {
    struct source *source; /* its nodes */
    const struct navigation *parent;
};

/* The nodes that h names; its path and what follows it are not looked at. */
bool bind_nodes(struct applying *x, const struct expr *nodes, struct str qualifier,
                size_t qualifier_offset, struct nodes *out) NODISCARD;
/* A tree over the nodes with room for its outputs; the rest is for the caller to fill. */
struct tree *bind_tree_new(struct applying *x, enum tree_kind kind,
                           const struct nodes *nodes) NODISCARD;
/* Its rows, and a property of them for the identifier and for the second output. */
struct source *bind_tree(struct applying *x, struct tree *tree, const struct property **out_node,
                         const struct property **out_second) NODISCARD;
/* Whether one of the rows of range has value in the column p; a condition. */
const struct bound_expr *bind_is_among(struct binder *b, struct source *range,
                                       const struct property *p,
                                       const struct bound_expr *value) NODISCARD;
/* The nodes of h: those that its sequence leaves, where that is one of nodes. */
bool bind_hierarchy(struct applying *x, const struct hierarchy *h, bool with_sequence,
                    struct nodes *out) NODISCARD;
/* The identifier of a node that a row of x has, by its path: a property. NULL fills the error. */
const struct bound_expr *bind_node(struct applying *x, const struct expr *path,
                                   const struct nodes *nodes) NODISCARD;
/* The rows of x for each row of tree whose node is value, with its second output as a hidden column;
   they are not yet those of x. */
struct derived *bind_join_tree(struct applying *x, const struct bound_expr *value,
                               struct source *tree, const struct property *node,
                               const struct property *second,
                               const struct property **out_second) NODISCARD;
bool bind_related(struct applying *x, const struct transformation *t) NODISCARD;
bool bind_traverse(struct applying *x, const struct transformation *t) NODISCARD;

/* bind_these.c */

/* The rows that $these stands for; it is at offset. */
bool bind_these(struct applying *x, size_t offset) NODISCARD;

/* bind_group.c */

/* What rolluprecursive adds to a grouping. */
struct recursion {
    const struct property *top; /* the node that a row is counted for: a column of the rows */
    struct leaf leaf;           /* what says in the result which node that is, */
    bool whole;                 /* unless its members are put into each row */
    const struct source *groups;
};

bool bind_groupby(struct applying *x, const struct transformation *t) NODISCARD;
/* The groups by these paths, and by the node when there is a recursion. */
bool bind_grouped(struct applying *x, const struct transformation *t, struct expr *const *paths,
                  size_t count, const struct recursion *recursion) NODISCARD;

/* bind_recursive.c */

/* groupby with rolluprecursive among its groupings. */
bool bind_recursive(struct applying *x, const struct transformation *t) NODISCARD;

/* bind_concat.c */

/* The rows of all parts, one after the other, as the rows of in. */
bool bind_union(struct applying *x, struct applying *parts, size_t count, size_t offset) NODISCARD;
bool bind_concat(struct applying *x, const struct transformation *t) NODISCARD;

#endif

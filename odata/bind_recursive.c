// SPDX-License-Identifier: Apache-2.0
/*
 * groupby with rolluprecursive: a group for each node of a recursive hierarchy, of the rows that
 * belong to it or to a node below it (Data Aggregation 6.3). Each row stands there once for every
 * node above its own, so that all nodes are aggregated at once; a node without rows has its group,
 * too.
 */
#include <string.h>

#include "odata/apply_priv.h"

/* What the result says of the node (6.2.2, the cases of sigma). */
enum naming {
    NAMING_ENTITY,     /* the rows are nodes: all of the node's members stand in the row */
    NAMING_NAVIGATION, /* the entity that a navigation property leads to */
    NAMING_IDENTIFIER, /* no more than the identifier */
};

static bool not_here(struct applying *x, size_t offset, const char *what)
{
    return odata_error_not_implemented(x->b->err, x->clause->option,
                                       "%s at byte %zu is not implemented", what, offset);
}

/* The one rolluprecursive, and the paths beside it. */
static bool split_groupings(struct applying *x, const struct transformation *t,
                            const struct grouping **out_recursive, struct expr ***out_paths,
                            size_t *out_count)
{
    struct expr **paths = ARENA_ARRAY(x->b->arena, t->grouping_count, struct expr *);
    size_t count = 0;
    if (paths == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    *out_recursive = NULL;
    for (size_t i = 0; i < t->grouping_count; i++) {
        const struct grouping *g = &t->groupings[i];
        if (g->kind == GROUPING_ROLLUP) {
            return not_here(x, g->offset, "rollup beside rolluprecursive");
        }
        if (g->kind == GROUPING_PATH) {
            paths[count++] = g->paths[0];
        } else if (*out_recursive != NULL) {
            return not_here(x, g->offset, "a second rolluprecursive");
        } else {
            *out_recursive = g;
        }
    }
    *out_paths = paths;
    *out_count = count;
    return true;
}

static enum naming naming_of(const struct applying *x, const struct hierarchy *h,
                             const struct nodes *nodes, const struct bound_expr *value)
{
    bool identifies = str_eq(value->property->column, nodes->parent->joins[0].remote->column);
    const struct entity_type *type = value->source->type;
    bool of_nodes = identifies && type->set == nodes->source->type->set;
    if (!of_nodes) {
        return NAMING_IDENTIFIER;
    }
    return h->path->base == NULL && value->source == x->in ? NAMING_ENTITY : NAMING_NAVIGATION;
}

/* `organization`, whose key is the node's identifier. */
static bool name_navigation(struct applying *x, const struct hierarchy *h,
                            const struct nodes *nodes, struct recursion *r)
{
    struct arena *a = x->b->arena;
    struct navigation *made = ARENA_NEW(a, struct navigation);
    struct join_column *joins = ARENA_NEW(a, struct join_column);
    struct str *path = ARENA_NEW(a, struct str);
    const struct expr *name = h->path->base;
    if (made == NULL || joins == NULL || path == NULL) {
        return arena_fail(a, x->b->err);
    }
    if (name->base != NULL) {
        return not_here(x, h->path->offset, "rolluprecursive of nodes behind several names");
    }
    *joins = (struct join_column){r->top, nodes->parent->joins[0].remote};
    *path = name->name;
    *made = (struct navigation){.name = name->name,
                                .source = x->in->type,
                                .target = nodes->parent->target,
                                .joins = joins,
                                .join_count = 1,
                                .expanded = true};
    r->leaf = (struct leaf){.path = path, .path_count = 1, .navigation = made};
    return true;
}

static bool name_identifier(struct applying *x, const struct hierarchy *h,
                            const struct bound_expr *value, struct recursion *r)
{
    struct property *p = ARENA_NEW(x->b->arena, struct property);
    struct str *path = ARENA_NEW(x->b->arena, struct str);
    if (p == NULL || path == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    if (h->path->base != NULL) {
        return not_here(x, h->path->offset, "rolluprecursive by a path that is no node's");
    }
    *p = *r->top;
    p->dynamic = value->property->dynamic;
    *path = value->property->name;
    r->leaf = (struct leaf){.path = path, .path_count = 1, .column = p};
    return true;
}

/* Each row once for every node above its own, which it has as a hidden column. */
static bool repeat_rows(struct applying *x, const struct bound_expr *value, struct source *pairs,
                        const struct property *node, const struct property *above,
                        const struct property **out_top)
{
    struct key old = bind_unique(x->in);
    struct key *unique = ARENA_NEW(x->b->arena, struct key);
    struct derived *d = bind_join_tree(x, value, pairs, node, above, out_top);
    if (d == NULL) {
        return false;
    }
    if (unique != NULL) {
        unique->properties = ARENA_ARRAY(x->b->arena, old.count + 1, const struct property *);
    }
    if (unique == NULL || unique->properties == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    for (size_t i = 0; i < old.count; i++) {
        unique->properties[unique->count++] = old.properties[i];
    }
    unique->properties[unique->count++] = *out_top;
    d->unique = unique;
    d->repeats = true;
    return bind_derived(x, d, x->in->type);
}

/* All nodes, under the column that they have in the rows. */
static bool all_nodes(struct applying *x, const struct nodes *nodes, const struct property *top,
                      const struct source **out)
{
    const struct property *node;
    const struct property *above;
    struct tree *tree = bind_tree_new(x, TREE_PAIRS, nodes);
    struct source *pairs = tree == NULL ? NULL : bind_tree(x, tree, &node, &above);
    struct applying all = {.b = x->b, .clause = x->clause, .in = pairs};
    struct derived *d = pairs == NULL ? NULL : bind_derive(x->b, pairs);
    struct derived_column *column = ARENA_NEW(x->b->arena, struct derived_column);
    if (d == NULL) {
        return false;
    }
    if (column == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    *column = (struct derived_column){top, bind_property_expr(x->b, pairs, node), COLUMN_VALUE};
    d->columns = column;
    d->column_count = 1;
    d->distinct = true;
    *out = NULL;
    if (column->expr == NULL || !bind_derived(&all, d, pairs->type)) {
        return false;
    }
    *out = all.in;
    return true;
}

/* The members of the node beside what the transformations have made for it. */
static bool add_members(struct applying *x, const struct transformation *t,
                        const struct nodes *nodes, const struct property *top)
{
    struct binder *b = x->b;
    const struct entity_type *made = x->in->type;
    const struct entity_type *target = nodes->parent->target;
    struct source *entity = bind_source_new(b, target);
    struct derived *d = bind_derive(b, x->in);
    struct navigation *tie = ARENA_NEW(b->arena, struct navigation);
    struct join_column *joins = ARENA_NEW(b->arena, struct join_column);
    if (d == NULL || entity == NULL) {
        return false;
    }
    if (!made->transient || made->navigation_count > 0 || made->structure != NULL) {
        return not_here(x, t->offset, "rolluprecursive with other rows than those of an aggregate");
    }
    d->columns = ARENA_ARRAY(b->arena, target->property_count, struct derived_column);
    if (tie == NULL || joins == NULL || d->columns == NULL) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < made->property_count; i++) {
        if (!bind_check_alias(b, x->clause, target, made->properties[i].name, t->offset)) {
            return false;
        }
    }
    *joins = (struct join_column){top, nodes->parent->joins[0].remote};
    *tie = (struct navigation){.joins = joins, .join_count = 1};
    d->join = tie;
    d->join_from = x->in;
    d->join_to = entity;
    for (size_t i = 0; i < target->property_count; i++) {
        const struct property *p = &target->properties[i];
        const struct bound_expr *e = bind_property_expr(b, entity, p);
        if (e == NULL) {
            return false;
        }
        d->columns[d->column_count++] = (struct derived_column){p, e, COLUMN_VALUE};
    }
    const struct entity_type *type =
        bind_extend_type(b, target, made->properties, made->property_count);
    return type != NULL && bind_derived(x, d, type);
}

/* The node of a row, for rollupnode(). */
static const struct navigation *node_link(struct applying *x, const struct nodes *nodes,
                                          const struct property *top)
{
    struct navigation *n = ARENA_NEW(x->b->arena, struct navigation);
    struct join_column *joins = ARENA_NEW(x->b->arena, struct join_column);
    if (n == NULL || joins == NULL) {
        arena_fail(x->b->arena, x->b->err);
        return NULL;
    }
    *joins = (struct join_column){top, nodes->parent->joins[0].remote};
    *n = (struct navigation){.name = STR("rollupnode"),
                             .source = x->in->type,
                             .target = nodes->parent->target,
                             .joins = joins,
                             .join_count = 1};
    return n;
}

bool bind_recursive(struct applying *x, const struct transformation *t)
{
    const struct grouping *g = NULL;
    struct expr **paths = NULL;
    size_t count = 0;
    struct nodes nodes;
    struct recursion r = {0};
    if (x->partition_count > 0) {
        return not_here(x, t->offset, "rolluprecursive inside of groupby");
    }
    if (!split_groupings(x, t, &g, &paths, &count) || g == NULL ||
        !bind_hierarchy(x, g->hierarchy, true, &nodes)) {
        return false;
    }
    if (g->hierarchy->has_distance || g->hierarchy->keep_start) {
        return bind_fail(x->b, x->clause, g->offset, "rolluprecursive takes no distance");
    }
    const struct property *node;
    const struct property *above;
    struct tree *tree = bind_tree_new(x, TREE_PAIRS, &nodes);
    struct source *pairs = tree == NULL ? NULL : bind_tree(x, tree, &node, &above);
    const struct bound_expr *value =
        pairs == NULL ? NULL : bind_node(x, g->hierarchy->path, &nodes);
    if (value == NULL) {
        return false;
    }
    enum naming naming = naming_of(x, g->hierarchy, &nodes, value);
    r.whole = naming == NAMING_ENTITY;
    if (r.whole && count > 0) {
        return not_here(x, g->offset, "rolluprecursive of nodes beside other groupings");
    }
    if (!repeat_rows(x, value, pairs, node, above, &r.top)) {
        return false;
    }
    bool named =
        r.whole || (naming == NAMING_NAVIGATION ? name_navigation(x, g->hierarchy, &nodes, &r)
                                                : name_identifier(x, g->hierarchy, value, &r));
    const struct navigation *outer = x->b->rollup;
    const struct navigation *link = node_link(x, &nodes, r.top);
    if (link == NULL || !named || (count == 0 && !all_nodes(x, &nodes, r.top, &r.groups))) {
        return false;
    }
    x->b->rollup = link;
    bool ok = bind_grouped(x, t, paths, count, &r);
    x->b->rollup = outer;
    return ok && (!r.whole || add_members(x, t, &nodes, r.top));
}

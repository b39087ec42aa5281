// SPDX-License-Identifier: Apache-2.0
/*
 * Recursive hierarchies: ancestors, descendants and traverse (Data Aggregation 5.5.2, 6.2). The
 * nodes are gone through in a SELECT of its own, which gives their identifiers; the rows are chosen,
 * or ordered, by those.
 */
#include <string.h>

#include "odata/apply_priv.h"
#include "odata/name_index.h"

/* --- nodes --- */

static bool fail_qualifier(struct applying *x, const struct entity_type *t, struct str name,
                           size_t offset)
{
    const struct navigation *only = NULL;
    size_t count = 0;
    for (size_t i = 0; i < t->navigation_count; i++) {
        if (navigation_is_hierarchy(&t->navigations[i])) {
            only = &t->navigations[i];
            count++;
        }
    }
    bind_fail_name(x->b, x->clause, offset, name, "is no recursive hierarchy of %.*s",
                   STR_ARG(bind_clip(t->name)));
    return count == 1 &&
           odata_error_hint(x->b->err, "did you mean '%.*s'?", STR_ARG(bind_clip(only->name)));
}

bool bind_nodes(struct applying *x, const struct expr *nodes, struct str qualifier,
                size_t qualifier_offset, struct nodes *out)
{
    const struct expr *base = nodes;
    struct applying h = {.b = x->b, .clause = x->clause};
    struct member_path path;
    while (bind_is_filter_segment(base) && base->base != NULL) {
        base = base->base;
    }
    bool rooted = base->kind == EXPR_MEMBER && base->base != NULL && base->base->kind == EXPR_ROOT;
    if (!rooted) {
        return odata_error_not_implemented(
            x->b->err, x->clause->option,
            "other nodes of a hierarchy than those of an entity set, at byte %zu of %s, are not "
            "implemented",
            nodes->offset, x->clause->option);
    }
    const struct scope scope = {.clause = x->clause};
    if (!bind_member_path(x->b, &scope, base, &path)) {
        return false;
    }
    if (path.set == NULL) {
        return bind_fail(x->b, x->clause, base->offset, "one entity is no hierarchy");
    }
    out->parent = entity_type_find_hierarchy(path.set->type, qualifier);
    if (out->parent == NULL) {
        return fail_qualifier(x, path.set->type, qualifier, qualifier_offset);
    }
    h.in = bind_source_new(x->b, path.set->type);
    for (const struct expr *f = nodes; h.in != NULL && f != base; f = f->base) {
        struct scope inner = {.root = h.in, .clause = x->clause, .in_filter = true};
        const struct bound_expr *condition = bind_condition(x->b, &inner, f->args[0]);
        if (condition == NULL || !bind_keep(&h, condition)) {
            return false;
        }
    }
    out->source = h.in;
    return h.in != NULL;
}

/* Only transformations that choose among rows, or order them. */
static bool check_subset(struct applying *x, const struct sequence *s)
{
    static const enum transformation_kind choosing[] = {
        TRANSFORM_FILTER,     TRANSFORM_SEARCH,      TRANSFORM_IDENTITY,  TRANSFORM_ORDERBY,
        TRANSFORM_TOP,        TRANSFORM_SKIP,        TRANSFORM_TOPCOUNT,  TRANSFORM_TOPSUM,
        TRANSFORM_TOPPERCENT, TRANSFORM_BOTTOMCOUNT, TRANSFORM_BOTTOMSUM, TRANSFORM_BOTTOMPERCENT,
        TRANSFORM_ANCESTORS,  TRANSFORM_DESCENDANTS, TRANSFORM_TRAVERSE,
    };
    for (size_t i = 0; i < s->count; i++) {
        size_t k = 0;
        while (k < ARRAY_SIZE(choosing) && choosing[k] != s->items[i].kind) {
            k++;
        }
        if (k == ARRAY_SIZE(choosing)) {
            return bind_fail_name(x->b, x->clause, s->items[i].offset,
                                  transformation_name(s->items[i].kind),
                                  "does not fit here: only transformations do that leave the rows "
                                  "as they are");
        }
    }
    return true;
}

bool bind_hierarchy(struct applying *x, const struct hierarchy *h, bool with_sequence,
                    struct nodes *out)
{
    if (!bind_nodes(x, h->nodes, h->qualifier, h->qualifier_offset, out)) {
        return false;
    }
    if (h->has_distance && h->distance == 0) {
        return bind_fail(x->b, x->clause, h->path->offset, "expected a distance of 1 or more");
    }
    if (!with_sequence || h->sequence == NULL) {
        return true;
    }
    struct applying nodes = {.b = x->b, .clause = x->clause, .in = out->source};
    if (!check_subset(x, h->sequence) || !bind_sequence(&nodes, h->sequence)) {
        return false;
    }
    out->source = nodes.in;
    return true;
}

/* --- trees --- */

struct tree *bind_tree_new(struct applying *x, enum tree_kind kind, const struct nodes *nodes)
{
    struct tree *tree = ARENA_NEW(x->b->arena, struct tree);
    if (tree == NULL) {
        arena_fail(x->b->arena, x->b->err);
        return NULL;
    }
    tree->kind = kind;
    tree->nodes = nodes->source;
    tree->node = nodes->parent->joins[0].remote;
    tree->up = nodes->parent->joins[0].local;
    return tree;
}

static const struct property *new_output(struct applying *x, const struct type_ref *type,
                                         const struct property *stored)
{
    struct bound_expr like = {.kind = BOUND_VALUE, .type = *type};
    struct property *p = ARENA_NEW(x->b->arena, struct property);
    like.type.nullable = false;
    if (p == NULL) {
        arena_fail(x->b->arena, x->b->err);
        return NULL;
    }
    if (!bind_new_property(x->b, NULL, STR(""), &like, p)) {
        return NULL;
    }
    if (stored != NULL) {
        p->pg = stored->pg;
    }
    return p;
}

struct source *bind_tree(struct applying *x, struct tree *tree, const struct property **out_node,
                         const struct property **out_second)
{
    struct arena *a = x->b->arena;
    const struct type_ref place = bind_type(EDM_INT64);
    bool pairs = tree->kind == TREE_PAIRS;
    struct derived *d = ARENA_NEW(a, struct derived);
    struct applying rows = {.b = x->b, .clause = x->clause};
    if (d == NULL) {
        arena_fail(a, x->b->err);
        return NULL;
    }
    d->kind = DERIVED_TREE;
    d->tree = tree;
    d->outputs = ARENA_ARRAY(a, 2, const struct property *);
    if (d->outputs == NULL) {
        arena_fail(a, x->b->err);
        return NULL;
    }
    d->outputs[0] = new_output(x, &tree->node->type, tree->node);
    d->output_count = tree->kind == TREE_ANCESTORS || tree->kind == TREE_DESCENDANTS ? 1 : 2;
    if (d->outputs[0] != NULL && d->output_count == 2) {
        d->outputs[1] =
            pairs ? new_output(x, &tree->node->type, tree->node) : new_output(x, &place, NULL);
    }
    if (d->outputs[0] == NULL || (d->output_count == 2 && d->outputs[1] == NULL)) {
        return NULL;
    }
    const struct entity_type *type = bind_leaf_type(x->b, NULL, NULL, 0);
    if (type == NULL || !bind_derived(&rows, d, type)) {
        return NULL;
    }
    *out_node = d->outputs[0];
    if (out_second != NULL) {
        *out_second = d->outputs[1];
    }
    return rows.in;
}

const struct bound_expr *bind_is_among(struct binder *b, struct source *range,
                                       const struct property *p, const struct bound_expr *value)
{
    struct bound_expr *any = bind_new(b, BOUND_ANY, EDM_BOOLEAN, 0);
    const struct bound_expr *column = bind_property_expr(b, range, p);
    if (any == NULL || column == NULL) {
        return NULL;
    }
    any->range = range;
    any->body = bind_binary_of(b, OP_EQ, EDM_BOOLEAN, column, value);
    return any->body == NULL ? NULL : any;
}

const struct bound_expr *bind_node(struct applying *x, const struct expr *path,
                                   const struct nodes *nodes)
{
    struct scope scope = bind_row_scope(x);
    struct member_path at;
    if (!bind_member_path(x->b, &scope, path, &at)) {
        return NULL;
    }
    if (at.collection != NULL) {
        odata_error_not_implemented(
            x->b->err, x->clause->option,
            "a hierarchy of nodes behind the collection '%.*s' at byte %zu is not implemented",
            STR_ARG(bind_clip(at.collection->name)), path->offset);
        return NULL;
    }
    const struct type_ref *type = &nodes->parent->joins[0].remote->type;
    if (at.value == NULL) {
        bind_fail_name(x->b, x->clause, path->offset, path->name,
                       "is an entity, and no identifier of a node");
        return NULL;
    }
    if (at.value->kind != BOUND_PROPERTY || at.value->part_count > 0 ||
        !bind_may_meet(&at.value->type, type)) {
        bind_fail_name(x->b, x->clause, path->offset, path->name,
                       "is no identifier of a node: that is %.*s",
                       STR_ARG(bind_type_name(x->b, type)));
        return NULL;
    }
    return at.value;
}

/* --- ancestors, descendants --- */

/* The identifiers of the rows that the sequence of h leaves. */
static bool bind_starts(struct applying *x, const struct hierarchy *h, const struct nodes *nodes,
                        struct tree *tree)
{
    struct applying u = *x;
    u.in = bind_copy(x->b, x->in);
    if (u.in == NULL || !check_subset(x, h->sequence) || !bind_sequence(&u, h->sequence)) {
        return false;
    }
    const struct bound_expr *value = bind_node(&u, h->path, nodes);
    struct derived *d = value == NULL ? NULL : bind_derive(x->b, u.in);
    if (d == NULL) {
        return false;
    }
    d->passed_count = 0;
    d->hidden_count = 0;
    d->sorted_count = 0;
    tree->start = bind_add_column(x->b, d, STR(""), value, COLUMN_VALUE);
    if (tree->start == NULL || !bind_derived(&u, d, u.in->type)) {
        return false;
    }
    tree->starts = u.in;
    return true;
}

bool bind_related(struct applying *x, const struct transformation *t)
{
    const struct hierarchy *h = t->hierarchy;
    bool up = t->kind == TRANSFORM_ANCESTORS;
    struct nodes nodes;
    const struct property *node;
    if (x->partition_count > 0) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "%.*s inside of groupby at byte %zu is not implemented",
                                           STR_ARG(transformation_name(t->kind)), t->offset);
    }
    if (!bind_hierarchy(x, h, false, &nodes)) {
        return false;
    }
    struct tree *tree = bind_tree_new(x, up ? TREE_ANCESTORS : TREE_DESCENDANTS, &nodes);
    if (tree == NULL || !bind_starts(x, h, &nodes, tree)) {
        return false;
    }
    tree->keep_start = h->keep_start;
    tree->has_distance = h->has_distance;
    tree->distance = h->distance;
    struct source *range = bind_tree(x, tree, &node, NULL);
    const struct bound_expr *value = range == NULL ? NULL : bind_node(x, h->path, &nodes);
    const struct bound_expr *condition =
        value == NULL ? NULL : bind_is_among(x->b, range, node, value);
    return condition != NULL && bind_keep(x, condition);
}

/* --- traverse --- */

/* The order of siblings: what is asked for, the order that the nodes have, and their identifiers. */
static bool order_siblings(struct applying *x, const struct transformation *t, struct tree *tree)
{
    struct binder *b = x->b;
    size_t given = t->order == NULL ? 0 : t->order->orderby_count;
    const struct derived *d = tree->nodes->derived;
    size_t sorted = d == NULL ? 0 : d->sorted_count;
    tree->order = ARENA_ARRAY(b->arena, given + sorted + 1, struct bound_order);
    if (tree->order == NULL) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < given; i++) {
        struct scope scope = {.root = tree->nodes, .clause = x->clause};
        const struct order_item *item = &t->order->orderby[i];
        const struct bound_expr *e = bind_expr(b, &scope, item->expr);
        if (e == NULL) {
            return false;
        }
        if (e->type.type == EDM_NONE) {
            continue; /* null has the same place in every row */
        }
        if (e->type.collection || !edm_is_ordered(e->type.type)) {
            return bind_fail(b, x->clause, item->offset, "%.*s has no order",
                             STR_ARG(bind_type_name(b, &e->type)));
        }
        tree->order[tree->order_count++] = (struct bound_order){e, item->descending};
    }
    for (size_t i = 0; i <= sorted; i++) {
        const struct property *p = i < sorted ? d->sorted[i].property : tree->node;
        const struct bound_expr *e = bind_property_expr(b, tree->nodes, p);
        if (e == NULL) {
            return false;
        }
        tree->order[tree->order_count++] =
            (struct bound_order){e, i < sorted && d->sorted[i].descending};
    }
    return true;
}

struct derived *bind_join_tree(struct applying *x, const struct bound_expr *value,
                               struct source *tree, const struct property *node,
                               const struct property *second, const struct property **out_second)
{
    struct arena *a = x->b->arena;
    struct derived *d = bind_derive(x->b, x->in);
    struct navigation *tie = ARENA_NEW(a, struct navigation);
    struct join_column *joins = ARENA_NEW(a, struct join_column);
    const struct bound_expr *e = bind_property_expr(x->b, tree, second);
    if (d == NULL || e == NULL) {
        return NULL;
    }
    if (tie == NULL || joins == NULL) {
        arena_fail(a, x->b->err);
        return NULL;
    }
    *joins = (struct join_column){value->property, node};
    *tie = (struct navigation){.joins = joins, .join_count = 1};
    d->join = tie;
    d->join_from = value->source;
    d->join_to = tree;
    *out_second = bind_add_column(x->b, d, STR(""), e, COLUMN_VALUE);
    return *out_second != NULL && bind_hide(x->b, d, *out_second) ? d : NULL;
}

/* The rows of in that have a place, with it, and in that order. */
static bool place_rows(struct applying *x, const struct bound_expr *value, struct source *tree,
                       const struct property *node, const struct property *place)
{
    const struct property *made;
    struct derived *d = bind_join_tree(x, value, tree, node, place, &made);
    struct sorted *sorted =
        d == NULL ? NULL : ARENA_ARRAY(x->b->arena, d->sorted_count + 1, struct sorted);
    if (d == NULL) {
        return false;
    }
    if (sorted == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    sorted[0] = (struct sorted){made, false};
    for (size_t i = 0; i < d->sorted_count; i++) {
        sorted[i + 1] = d->sorted[i];
    }
    d->sorted = sorted;
    d->sorted_count++;
    return bind_derived(x, d, x->in->type);
}

/* The entity that a path's identifier belongs to is written, like that of a group. */
static bool expand_node(struct applying *x, const struct expr *path)
{
    if (path->base == NULL || bind_is_own_type(x->b, path->base->name, x->in->type)) {
        return true;
    }
    if (path->base->base != NULL) {
        return odata_error_not_implemented(
            x->b->err, x->clause->option,
            "a hierarchy of nodes behind several names at byte %zu is not implemented",
            path->offset);
    }
    const struct entity_type *from = x->in->type;
    struct entity_type *t = ARENA_NEW(x->b->arena, struct entity_type);
    struct navigation *all = ARENA_ARRAY(x->b->arena, from->navigation_count, struct navigation);
    if (t == NULL || all == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    memcpy(all, from->navigations, from->navigation_count * sizeof(*all));
    *t = *from;
    t->navigations = all;
    t->navigation_hash = NULL;
    t->navigation_hash_size = 0;
    for (size_t i = 0; i < t->navigation_count; i++) {
        all[i].expanded = all[i].expanded || str_eq(all[i].name, path->base->name);
    }
    struct source *in = bind_source_new(x->b, t);
    if (in == NULL) {
        return false;
    }
    in->derived = x->in->derived;
    in->shared = x->in->shared;
    x->in = in;
    return true;
}

bool bind_traverse(struct applying *x, const struct transformation *t)
{
    const struct hierarchy *h = t->hierarchy;
    struct nodes nodes;
    const struct property *node;
    const struct property *place;
    if (!bind_hierarchy(x, h, true, &nodes)) {
        return false;
    }
    struct tree *tree = bind_tree_new(x, h->postorder ? TREE_POSTORDER : TREE_PREORDER, &nodes);
    if (tree == NULL || !order_siblings(x, t, tree)) {
        return false;
    }
    struct source *rows = bind_tree(x, tree, &node, &place);
    const struct bound_expr *value = rows == NULL ? NULL : bind_node(x, h->path, &nodes);
    return value != NULL && place_rows(x, value, rows, node, place) && expand_node(x, h->path);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * What a path in aggregate leads to. Behind a to-many navigation property the rows are joined and
 * keep the partition of the row that they come from; an entity that several rows lead to can be
 * taken once (Data Aggregation 3.2.1.1).
 */
#include <string.h>

#include "odata/apply_priv.h"

/* The partition's columns of in as columns of d with names of their own. */
static bool carry_partition(struct applying *x, struct derived *d, const struct property ***out)
{
    const struct property **carried =
        ARENA_ARRAY(x->b->arena, x->partition_count + 1, const struct property *);
    if (carried == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    for (size_t i = 0; i < x->partition_count; i++) {
        const struct bound_expr *e = bind_property_expr(x->b, x->in, x->partition[i]);
        carried[i] = e == NULL ? NULL : bind_add_column(x->b, d, STR(""), e, COLUMN_VALUE);
        if (carried[i] == NULL) {
            return false;
        }
    }
    *out = carried;
    return true;
}

bool bind_cross(struct applying *x, struct source *from, const struct navigation *n)
{
    struct binder *b = x->b;
    struct derived *d = ARENA_NEW(b->arena, struct derived);
    struct applying made = {.b = b, .clause = x->clause};
    if (n->made != NULL && !bind_behind(&made, n, from)) {
        return false;
    }
    struct source *target = n->made != NULL ? made.in : bind_source_via(b, n);
    const struct property **carried = NULL;
    if (d == NULL) {
        return arena_fail(b->arena, b->err);
    }
    if (target == NULL) {
        return false;
    }
    d->from = x->in;
    d->join = n;
    d->join_from = from;
    d->join_to = target;
    if (!carry_partition(x, d, &carried)) {
        return false;
    }
    for (size_t i = 0; i < x->partition_count; i++) {
        if (!bind_hide(b, d, carried[i])) {
            return false;
        }
    }
    struct derived_column *columns = ARENA_ARRAY(
        b->arena, d->column_count + target->type->property_count + 1, struct derived_column);
    if (columns == NULL) {
        return arena_fail(b->arena, b->err);
    }
    if (d->column_count > 0) {
        memcpy(columns, d->columns, d->column_count * sizeof(*columns));
    }
    for (size_t i = 0; i < target->type->property_count; i++) {
        const struct property *p = &target->type->properties[i];
        const struct bound_expr *e = bind_property_expr(b, target, p);
        if (e == NULL) {
            return false;
        }
        columns[d->column_count++] = (struct derived_column){p, e, COLUMN_VALUE};
    }
    d->columns = columns;
    const struct derived *old = x->in->derived;
    d->repeats =
        n->link != NULL || n->made != NULL || from != x->in || (old != NULL && old->repeats);
    x->partition = carried;
    return bind_derived(x, d, target->type);
}

static bool walk_name(struct applying *x, const struct expr *e, struct reached *at)
{
    struct binder *b = x->b;
    if (at->value != NULL) {
        const struct property *part =
            at->value->type.type == EDM_COMPLEX && !at->value->type.collection
                ? complex_type_find_property(at->value->type.complex_type, e->name)
                : NULL;
        if (part == NULL) {
            return bind_fail_name(b, x->clause, e->offset, e->name, "is no property of %.*s",
                                  STR_ARG(bind_type_name(b, &at->value->type)));
        }
        at->value = bind_part_expr(b, at->value, part);
        return at->value != NULL;
    }
    const struct entity_type *type = at->source->type;
    const struct property *p = entity_type_find_property(type, e->name);
    if (p != NULL) {
        at->value = bind_property_expr(b, at->source, p);
        return at->value != NULL;
    }
    const struct navigation *n = entity_type_find_navigation(type, e->name);
    if (n == NULL && !bind_is_own_type(b, e->name, type) &&
        bind_derived_type(b, e->name, type) != NULL) {
        return odata_error_not_implemented(b->err, x->clause->option,
                                           "a cast in a path of $apply is not implemented");
    }
    if (n == NULL) {
        return bind_is_own_type(b, e->name, type) ||
               bind_fail_unknown(b, x->clause, e->offset, type, e->name, false);
    }
    if (n->collection) {
        if (!bind_cross(x, at->source, n)) {
            return false;
        }
        at->source = x->in;
        return true;
    }
    at->source = bind_source_join(b, at->source, n, false);
    return at->source != NULL;
}

bool bind_reach(struct applying *x, const struct expr *e, struct reached *at)
{
    if (e->base != NULL && !bind_reach(x, e->base, at)) {
        return false;
    }
    return walk_name(x, e, at);
}

bool bind_reach_once(struct applying *x, struct reached *at)
{
    struct binder *b = x->b;
    const struct entity_type *type = at->source->type;
    struct derived *d = ARENA_NEW(b->arena, struct derived);
    struct property *value = NULL;
    if (d == NULL) {
        return arena_fail(b->arena, b->err);
    }
    d->from = x->in;
    d->passed = x->partition;
    d->passed_count = x->partition_count;
    d->hidden = x->partition;
    d->hidden_count = x->partition_count;
    d->distinct = true;
    for (size_t i = 0; i < type->key.count; i++) {
        const struct bound_expr *e = bind_property_expr(b, at->source, type->key.properties[i]);
        if (e == NULL || bind_add_column(b, d, STR(""), e, COLUMN_VALUE) == NULL) {
            return false;
        }
        if (i == 0 && at->source->nullable) {
            struct bound_expr *null = bind_new(b, BOUND_VALUE, EDM_NONE, 0);
            d->filter = null == NULL ? NULL : bind_binary_of(b, OP_NE, EDM_BOOLEAN, e, null);
            if (d->filter == NULL) {
                return false;
            }
        }
    }
    if (at->value != NULL) {
        const struct property *p = bind_add_column(b, d, STR("value"), at->value, COLUMN_VALUE);
        value = ARENA_NEW(b->arena, struct property);
        if (p == NULL) {
            return false;
        }
        if (value == NULL) {
            return arena_fail(b->arena, b->err);
        }
        *value = *p;
    }
    const struct entity_type *empty = bind_leaf_type(b, type, NULL, 0);
    if (empty == NULL || !bind_derived(x, d, empty)) {
        return false;
    }
    at->source = x->in;
    at->value = value == NULL ? NULL : bind_property_expr(b, x->in, value);
    return value == NULL || at->value != NULL;
}

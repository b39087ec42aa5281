// SPDX-License-Identifier: Apache-2.0
/* join and outerjoin: a row for each related entity, which stands in it under a name of its own. */
#include <string.h>

#include "odata/apply_priv.h"

/* A join on its way. */
struct joining {
    struct applying *x;
    const struct transformation *t;
    struct applying related; /* the rows behind the navigation, transformed */
    struct key ours;         /* what tells the rows of x->in apart; related.partition has it, too */
    struct derived *d;
};

static bool no_room(const struct joining *j)
{
    return arena_fail(j->x->b->arena, j->x->b->err);
}

static bool find_navigation(struct joining *j, const struct navigation **out)
{
    const struct expr *path = j->t->path;
    const struct entity_type *type = j->x->in->type;
    const struct navigation *n = entity_type_find_navigation(type, path->name);
    if (path->base != NULL) {
        return odata_error_not_implemented(j->x->b->err, j->x->clause->option,
                                           "a path of several names at byte %zu is not implemented",
                                           path->offset);
    }
    if (n == NULL && entity_type_find_property(type, path->name) == NULL) {
        return bind_fail_unknown(j->x->b, j->x->clause, path->offset, type, path->name, false);
    }
    *out = n;
    return (n != NULL && n->collection) ||
           bind_fail_name(j->x->b, j->x->clause, path->offset, path->name,
                          "is no collection of entities");
}

/* The related rows, each with the key of its row, as often as there are rows. */
static bool relate(struct joining *j, const struct navigation *n)
{
    struct applying *related = &j->related;
    const struct sequence *s = j->t->nesteds[0].sequence;
    j->ours = bind_unique(j->x->in);
    for (size_t i = 0; i < j->ours.count; i++) {
        if (j->ours.properties[i]->type.nullable) {
            return odata_error_not_implemented(j->x->b->err, j->x->clause->option,
                                               "%.*s behind groups at byte %zu is not implemented",
                                               STR_ARG(transformation_name(j->t->kind)),
                                               j->t->offset);
        }
    }
    *related = *j->x;
    related->in = bind_again(j->x->b, j->x->in);
    related->partition = j->ours.properties;
    related->partition_count = j->ours.count;
    if (related->in == NULL || !bind_cross(related, related->in, n) ||
        (s != NULL && !bind_sequence(related, s))) {
        return false;
    }
    const struct entity_type *type = related->in->type;
    bool embeds = type->structure != NULL;
    for (size_t i = 0; i < type->navigation_count; i++) {
        embeds = embeds || type->navigations[i].embedded;
    }
    return !embeds || odata_error_not_implemented(
                          j->x->b->err, j->x->clause->option,
                          "groups by paths inside of %.*s at byte %zu are not implemented",
                          STR_ARG(transformation_name(j->t->kind)), j->t->offset);
}

/* A column of the related rows under a name of its own. */
static const struct property *take_column(struct joining *j, const struct property *p)
{
    struct binder *b = j->x->b;
    for (size_t i = 0; i < j->d->column_count; i++) {
        const struct bound_expr *e = j->d->columns[i].expr;
        if (str_eq(e->property->column, p->column)) {
            return j->d->columns[i].property;
        }
    }
    struct bound_expr *e = NULL;
    const struct bound_expr *plain = bind_property_expr(b, j->related.in, p);
    if (plain != NULL) {
        e = bind_new(b, BOUND_PROPERTY, EDM_NONE, 0);
    }
    if (e == NULL) {
        return NULL;
    }
    *e = *plain;
    e->nullable = e->nullable || j->d->outer;
    const struct property *made = bind_add_column(b, j->d, p->name, e, COLUMN_VALUE);
    return made != NULL && bind_hide(b, j->d, made) ? made : NULL;
}

static const struct property *renamed(const struct entity_type *from, const struct entity_type *to,
                                      const struct property *p)
{
    for (size_t i = 0; i < from->property_count; i++) {
        if (str_eq(from->properties[i].column, p->column)) {
            return &to->properties[i];
        }
    }
    return NULL;
}

/* What the related rows lead to, from the columns that they have here. */
static bool take_navigations(struct joining *j, const struct entity_type *from,
                             struct entity_type *to)
{
    struct arena *a = j->x->b->arena;
    to->navigations = ARENA_ARRAY(a, from->navigation_count + 1, struct navigation);
    to->navigation_count = 0;
    if (to->navigations == NULL) {
        return no_room(j);
    }
    for (size_t i = 0; i < from->navigation_count; i++) {
        struct navigation n = from->navigations[i];
        struct join_column *joins = ARENA_ARRAY(a, n.join_count + 1, struct join_column);
        bool all = n.link == NULL; /* a link table's columns are not renamed yet */
        if (joins == NULL) {
            return no_room(j);
        }
        for (size_t k = 0; k < n.join_count; k++) {
            const struct property *local = renamed(from, to, n.joins[k].local);
            joins[k] = (struct join_column){local, n.joins[k].remote};
            all = all && local != NULL;
        }
        if (all) {
            n.joins = joins;
            n.index = to->navigation_count;
            to->navigations[to->navigation_count++] = n;
        }
    }
    return true;
}

/* The related rows' type, over the columns that they have here. */
static struct entity_type *take_type(struct joining *j)
{
    struct binder *b = j->x->b;
    const struct entity_type *from = j->related.in->type;
    struct entity_type *t = ARENA_NEW(b->arena, struct entity_type);
    if (t == NULL) {
        no_room(j);
        return NULL;
    }
    *t = *from;
    t->property_hash = NULL;
    t->property_hash_size = 0;
    t->navigation_hash = NULL;
    t->navigation_hash_size = 0;
    t->properties = ARENA_ARRAY(b->arena, from->property_count + 1, struct property);
    t->key.count = from->transient ? j->related.partition_count : from->key.count;
    t->key.properties = ARENA_ARRAY(b->arena, t->key.count + 1, const struct property *);
    if (t->properties == NULL || t->key.properties == NULL) {
        no_room(j);
        return NULL;
    }
    for (size_t i = 0; i < from->property_count; i++) {
        const struct property *p = take_column(j, &from->properties[i]);
        if (p == NULL) {
            return NULL;
        }
        t->properties[i] = *p;
        t->properties[i].index = i;
        t->properties[i].dynamic = from->properties[i].dynamic;
    }
    for (size_t i = 0; i < t->key.count; i++) {
        t->key.properties[i] =
            take_column(j, from->transient ? j->related.partition[i] : from->key.properties[i]);
        if (t->key.properties[i] == NULL) {
            return NULL;
        }
    }
    return take_navigations(j, from, t) ? t : NULL;
}

/* Both keys together tell the new rows apart. */
static bool set_unique(struct joining *j)
{
    struct arena *a = j->x->b->arena;
    struct key theirs = bind_unique(j->related.in);
    struct key *unique = ARENA_NEW(a, struct key);
    if (unique == NULL) {
        return no_room(j);
    }
    unique->properties = ARENA_ARRAY(a, j->ours.count + theirs.count + 1, const struct property *);
    if (unique->properties == NULL) {
        return no_room(j);
    }
    for (size_t i = 0; i < j->ours.count; i++) {
        unique->properties[unique->count++] = j->ours.properties[i];
    }
    for (size_t i = 0; i < theirs.count; i++) {
        const struct property *p = take_column(j, theirs.properties[i]);
        if (p == NULL) {
            return false;
        }
        unique->properties[unique->count++] = p;
    }
    j->d->unique = unique;
    j->d->repeats = true;
    return true;
}

/* The tie of both: our key is theirs. */
static bool set_tie(struct joining *j, const struct navigation *n)
{
    struct arena *a = j->x->b->arena;
    struct navigation *tie = ARENA_NEW(a, struct navigation);
    struct join_column *joins = ARENA_ARRAY(a, j->ours.count + 1, struct join_column);
    if (tie == NULL || joins == NULL) {
        return no_room(j);
    }
    for (size_t i = 0; i < j->ours.count; i++) {
        joins[i] = (struct join_column){j->ours.properties[i], j->related.partition[i]};
    }
    *tie = (struct navigation){.name = n->name, .collection = true};
    tie->joins = joins;
    tie->join_count = j->ours.count;
    j->d->join = tie;
    j->d->join_from = j->d->from;
    j->d->join_to = j->related.in;
    j->d->outer = j->t->kind == TRANSFORM_OUTERJOIN;
    return true;
}

static struct entity_type *joined_type(struct joining *j, const struct entity_type *target)
{
    struct binder *b = j->x->b;
    const struct entity_type *from = j->x->in->type;
    struct entity_type *t = ARENA_NEW(b->arena, struct entity_type);
    struct navigation *all = ARENA_ARRAY(b->arena, from->navigation_count + 1, struct navigation);
    if (t == NULL || all == NULL) {
        no_room(j);
        return NULL;
    }
    if (from->navigation_count > 0) {
        memcpy(all, from->navigations, from->navigation_count * sizeof(*all));
    }
    *t = *from;
    all[from->navigation_count] = (struct navigation){.name = j->t->nesteds[0].alias,
                                                      .source = t,
                                                      .target = target,
                                                      .index = from->navigation_count,
                                                      .nullable = j->d->outer,
                                                      .embedded = true};
    t->navigations = all;
    t->navigation_count = from->navigation_count + 1;
    t->navigation_hash = NULL;
    t->navigation_hash_size = 0;
    return t;
}

bool bind_join(struct applying *x, const struct transformation *t)
{
    struct joining j = {.x = x, .t = t};
    const struct navigation *n = NULL;
    const struct nested_sequence *alias = &t->nesteds[0];
    if (!find_navigation(&j, &n) ||
        !bind_check_alias(x->b, x->clause, x->in->type, alias->alias, alias->offset) ||
        !relate(&j, n)) {
        return false;
    }
    bool wide = entity_type_has_derived(n->target) && !navigation_is_exact(n);
    if (x->in->wide || wide) {
        return odata_error_not_implemented(
            x->b->err, x->clause->option,
            "join of entities that may be of derived types is not implemented");
    }
    struct source *again = bind_again(x->b, x->in);
    j.d = again == NULL ? NULL : bind_derive(x->b, again);
    if (j.d == NULL || !set_tie(&j, n)) {
        return false;
    }
    j.d->shared = x->in;
    const struct entity_type *target = take_type(&j);
    const struct entity_type *type = target == NULL ? NULL : joined_type(&j, target);
    return type != NULL && set_unique(&j) && bind_derived(x, j.d, type);
}

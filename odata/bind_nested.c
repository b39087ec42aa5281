// SPDX-License-Identifier: Apache-2.0
/*
 * addnested and nest: a member of its own for what transformations make of related rows, or of all
 * rows (Data Aggregation 3.4.3, 3.5.2). The member is a navigation property. What is behind it is
 * bound anew wherever it is read, as rows of the one row that it hangs on: no group is lost because
 * it is empty, and PostgreSQL reads the related rows of one row alone.
 */
#include <string.h>

#include "odata/apply_priv.h"

/* The targets of n, only those of the row of from. */
static bool tie_rows(struct applying *x, const struct navigation *n, const struct navigation *tie,
                     const struct source *from)
{
    struct source *rows = bind_source_via(x->b, n);
    struct derived *d = rows == NULL ? NULL : bind_derive(x->b, rows);
    if (d == NULL) {
        return false;
    }
    d->tie = tie;
    d->tie_from = from;
    return bind_derived(x, d, n->target);
}

static bool bind_made(struct applying *x, const struct nested *made)
{
    x->partition = NULL;
    x->partition_count = 0;
    return bind_sequence(x, made->sequence);
}

/* n may have been made of another one that the rows are those of; tie has the columns. */
static bool behind(struct applying *x, const struct navigation *n, const struct navigation *tie,
                   const struct source *from)
{
    if (n->made == NULL) {
        return tie_rows(x, n, tie, from);
    }
    if (n->made->over != NULL) {
        return behind(x, n->made->over, tie, from) && bind_made(x, n->made);
    }
    x->in = bind_copy(x->b, n->made->rows);
    return x->in != NULL && bind_made(x, n->made);
}

bool bind_behind(struct applying *x, const struct navigation *n, const struct source *from)
{
    return behind(x, n, n, from);
}

struct source *bind_target_rows(struct binder *b, const struct navigation *n)
{
    if (n->made == NULL) {
        return bind_source_via(b, n);
    }
    struct applying x = {.b = b, .clause = &clause_apply};
    x.in = bind_target_rows(b, n->made->over);
    return x.in != NULL && bind_made(&x, n->made) ? x.in : NULL;
}

/* --- the transformations --- */

/* The rows of x->in with one more navigation property. */
static bool add_navigation(struct applying *x, const struct navigation *n)
{
    struct arena *a = x->b->arena;
    const struct entity_type *from = x->in->type;
    struct entity_type *t = ARENA_NEW(a, struct entity_type);
    struct navigation *all = ARENA_ARRAY(a, from->navigation_count + 1, struct navigation);
    struct source *in = t == NULL ? NULL : bind_source_new(x->b, t);
    if (all == NULL || in == NULL) {
        return arena_fail(a, x->b->err);
    }
    if (from->navigation_count > 0) {
        memcpy(all, from->navigations, from->navigation_count * sizeof(*all));
    }
    *t = *from;
    t->navigations = all;
    t->navigation_count = from->navigation_count + 1;
    t->navigation_hash = NULL;
    t->navigation_hash_size = 0;
    all[from->navigation_count] = *n;
    all[from->navigation_count].source = t;
    all[from->navigation_count].index = from->navigation_count;
    bind_source_like(in, x->in);
    x->in = in;
    return true;
}

/* A single entity stays one: nothing may choose among rows or bring them together. */
static bool check_single(struct applying *x, const struct sequence *s)
{
    for (size_t i = 0; i < s->count; i++) {
        enum transformation_kind kind = s->items[i].kind;
        if (kind != TRANSFORM_IDENTITY && kind != TRANSFORM_COMPUTE &&
            kind != TRANSFORM_ADDNESTED) {
            return bind_fail_name(x->b, x->clause, s->items[i].offset, transformation_name(kind),
                                  "does not fit a single entity: only identity, compute and "
                                  "addnested do");
        }
    }
    return true;
}

static bool find_nested(struct applying *x, const struct expr *path, const struct navigation **out)
{
    const struct entity_type *type = x->in->type;
    while (path->base != NULL && bind_is_own_type(x->b, path->name, type)) {
        path = path->base;
    }
    const struct navigation *n = entity_type_find_navigation(type, path->name);
    if (path->base != NULL && !bind_is_own_type(x->b, path->base->name, type)) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "addnested of a path of several names at byte %zu is "
                                           "not implemented",
                                           path->offset);
    }
    *out = n;
    if (n != NULL && !n->embedded) {
        return true;
    }
    if (n == NULL && entity_type_find_property(type, path->name) == NULL) {
        return bind_fail_unknown(x->b, x->clause, path->offset, type, path->name, false);
    }
    return odata_error_not_implemented(
        x->b->err, x->clause->option,
        "addnested of '%.*s' at byte %zu, which is no navigation property, is not implemented",
        STR_ARG(bind_clip(path->name)), path->offset);
}

/* One alias: n with the rows of its sequence behind it. */
static bool add_one(struct applying *x, struct navigation *n, const struct nested_sequence *nested,
                    const struct navigation *over)
{
    struct nested *made = ARENA_NEW(x->b->arena, struct nested);
    if (made == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    if (!bind_check_alias(x->b, x->clause, x->in->type, nested->alias, nested->offset)) {
        return false;
    }
    *made = (struct nested){nested->sequence, over, over == NULL ? x->in : NULL};
    n->name = nested->alias;
    n->partner = NULL;
    n->dependent = false;
    n->expanded = true;
    n->made = made;
    /* Its type, and what is wrong with it. */
    if (n->collection) {
        struct applying rows = {.b = x->b, .clause = x->clause};
        if (!bind_behind(&rows, n, NULL)) {
            return false;
        }
        n->target = rows.in->type;
        return true;
    }
    const struct source *target = bind_target_rows(x->b, n);
    n->target = target == NULL ? n->target : target->type;
    return target != NULL;
}

bool bind_addnested(struct applying *x, const struct transformation *t)
{
    const struct navigation *over = NULL;
    if (!find_nested(x, t->path, &over)) {
        return false;
    }
    for (size_t i = 0; i < t->nested_count; i++) {
        struct navigation n = *over;
        if ((!n.collection && !check_single(x, t->nesteds[i].sequence)) ||
            !add_one(x, &n, &t->nesteds[i], over) || !add_navigation(x, &n)) {
            return false;
        }
    }
    return true;
}

/* The rows are read by a statement of their own: they must not have a name in this one. */
static bool is_self_contained(const struct source *source)
{
    while (source != NULL && source->shared == NULL && source->derived != NULL &&
           source->derived->kind == DERIVED_SELECT) {
        source = source->derived->from;
    }
    return source == NULL || source->shared == NULL;
}

/* A row with nothing but a number, which ties it to what hangs on it. */
static bool single_row(struct applying *x, const struct property **out_number)
{
    struct derived *d = bind_derive(x->b, x->in);
    struct bound_expr *one = bind_new(x->b, BOUND_VALUE, EDM_INT64, 0);
    struct property *number = ARENA_NEW(x->b->arena, struct property);
    if (d == NULL || one == NULL) {
        return false;
    }
    if (number == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    one->text = STR("1");
    d->from = NULL;
    d->passed_count = 0;
    d->hidden_count = 0;
    d->sorted_count = 0;
    d->unique = NULL;
    const struct property *made = bind_add_column(x->b, d, STR(""), one, COLUMN_VALUE);
    if (made == NULL) {
        return false;
    }
    *number = *made;
    number->pg.cast = STR("int8");
    d->columns[0].property = number;
    *out_number = number;
    const struct entity_type *type = bind_leaf_type(x->b, x->in->type, NULL, 0);
    return bind_hide(x->b, d, number) && type != NULL && bind_derived(x, d, type);
}

bool bind_nest(struct applying *x, const struct transformation *t)
{
    if (x->partition_count > 0) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "nest inside of groupby at byte %zu is not implemented",
                                           t->offset);
    }
    if (!is_self_contained(x->in)) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "nest inside of concat at byte %zu is not implemented",
                                           t->offset);
    }
    struct applying input = *x;
    struct join_column *joins = ARENA_NEW(x->b->arena, struct join_column);
    if (joins == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    if (!single_row(x, &joins->local)) {
        return false;
    }
    for (size_t i = 0; i < t->nested_count; i++) {
        struct navigation n = {.target = input.in->type, .collection = true};
        n.joins = joins;
        n.join_count = 1;
        struct applying row = *x;
        row.in = input.in;
        if (!bind_check_alias(x->b, x->clause, x->in->type, t->nesteds[i].alias,
                              t->nesteds[i].offset)) {
            return false;
        }
        if (!add_one(&row, &n, &t->nesteds[i], NULL) || !add_navigation(x, &n)) {
            return false;
        }
    }
    return true;
}

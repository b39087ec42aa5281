// SPDX-License-Identifier: Apache-2.0
/* Expressions about a whole collection: aggregate(...) and $these (Data Aggregation 3.6). */
#include <string.h>

#include "odata/apply_priv.h"

/* The rows of a read so far, which may be more than those of one source. */
static bool read_rows(struct applying *x, const struct read *read)
{
    if (read->step_count > 1 || read->filter != NULL) {
        return bind_path_rows(x, read);
    }
    x->in = bind_copy(x->b, read->source);
    return x->in != NULL;
}

/* Those behind a navigation, with what the options around make of them. */
static bool expanded_rows(struct applying *x, const struct these *these)
{
    const struct query *q = these->options;
    if (!bind_behind(x, these->via, these->from) ||
        (q != NULL && q->apply != NULL && !bind_sequence(x, q->apply))) {
        return false;
    }
    if (q != NULL && q->compute_count > 0) {
        x->in = bind_compute(x->b, &clause_compute, x->in, q->compute, q->compute_count);
    }
    return x->in != NULL;
}

bool bind_these(struct applying *x, size_t offset)
{
    struct these *these = x->b->these;
    if (these == NULL) {
        return bind_fail(x->b, x->clause, offset, "there is no collection here for $these");
    }
    if (these->grouped) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "$these inside of groupby at byte %zu of %s is not "
                                           "implemented",
                                           offset, x->clause->option);
    }
    these->used = true;
    /* What is said inside of its rows is no matter of theirs. */
    x->b->these = NULL;
    bool ok;
    if (these->via != NULL) {
        ok = expanded_rows(x, these);
    } else if (these->read != NULL) {
        ok = read_rows(x, these->read);
    } else {
        x->in = bind_copy(x->b, these->rows);
        ok = x->in != NULL;
    }
    x->b->these = these;
    return ok;
}

/* The rows that a path leads to. */
static bool path_rows(struct applying *x, const struct scope *s, const struct expr *base,
                      struct member_path *path)
{
    if (!bind_member_path(x->b, s, base, path)) {
        return false;
    }
    if (path->set != NULL) {
        x->in = bind_source_new(x->b, path->set->type);
        return x->in != NULL;
    }
    if (path->collection != NULL) {
        return bind_behind(x, path->collection, path->source);
    }
    if (path->value != NULL && path->value->type.collection) {
        return odata_error_not_implemented(
            x->b->err, x->clause->option,
            "aggregate() of a collection of values at byte %zu of %s is not implemented",
            base->offset, x->clause->option);
    }
    return bind_fail_name(x->b, x->clause, base->offset, base->name, "is no collection");
}

/* The one value that aggregate(...) makes of the rows of x. */
static struct bound_expr *aggregated(struct applying *x, const struct expr *e)
{
    struct aggregate_item *item = ARENA_NEW(x->b->arena, struct aggregate_item);
    struct bound_expr *made = bind_new(x->b, BOUND_SCALAR, EDM_NONE, 1);
    if (item == NULL || made == NULL) {
        arena_fail(x->b->arena, x->b->err);
        return NULL;
    }
    *item = *e->aggregate;
    item->alias = STR("$value"); /* no name that a request can give */
    const struct transformation t = {
        .kind = TRANSFORM_AGGREGATE, .offset = e->offset, .aggregates = item, .aggregate_count = 1};
    if (!bind_aggregate(x, &t)) {
        return NULL;
    }
    made->args[0] = bind_property_expr(x->b, x->in, &x->in->type->properties[0]);
    if (made->args[0] == NULL) {
        return NULL;
    }
    made->range = x->in;
    made->type = made->args[0]->type;
    made->pg = made->args[0]->pg;
    made->nullable = made->args[0]->nullable;
    return made;
}

const struct bound_expr *bind_aggregated(struct binder *b, const struct scope *s,
                                         const struct expr *e)
{
    struct applying x = {.b = b, .clause = s->clause, .around = s};
    struct member_path path = {0};
    const struct expr *base = e->base;
    while (bind_is_filter_segment(base) && base->base != NULL) {
        base = base->base;
    }
    if (base->kind == EXPR_THESE ? !bind_these(&x, base->offset) : !path_rows(&x, s, base, &path)) {
        return NULL;
    }
    for (const struct expr *f = e->base; f != base; f = f->base) {
        struct scope inner = bind_row_scope(&x);
        inner.in_filter = true;
        const struct bound_expr *condition = bind_condition(b, &inner, f->args[0]);
        if (condition == NULL || !bind_keep(&x, condition)) {
            return NULL;
        }
    }
    struct bound_expr *made = aggregated(&x, e);
    if (made == NULL) {
        return NULL;
    }
    made->nullable = made->nullable || path.innermost != NULL;
    return bind_member_end(&path, made);
}

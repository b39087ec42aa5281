// SPDX-License-Identifier: Apache-2.0
/* $compute, and the transformation of that name: a SELECT that adds columns to rows. */
#include "odata/apply_priv.h"

static bool mentions(const struct expr *e, const struct compute_item *items, size_t count);

static bool any_mentions(struct expr *const *list, size_t list_count,
                         const struct compute_item *items, size_t count)
{
    for (size_t i = 0; i < list_count; i++) {
        if (mentions(list[i], items, count)) {
            return true;
        }
    }
    return false;
}

/* Whether a name in e may be the alias of one of these items. */
static bool mentions(const struct expr *e, const struct compute_item *items, size_t count)
{
    if (e == NULL) {
        return false;
    }
    for (size_t i = 0; e->kind == EXPR_MEMBER && i < count; i++) {
        if (str_eq(e->name, items[i].alias)) {
            return true;
        }
    }
    if (mentions(e->base, items, count) || mentions(e->body, items, count) ||
        any_mentions(e->args, e->arg_count, items, count)) {
        return true;
    }
    if (e->aggregate != NULL && mentions(e->aggregate->expr, items, count)) {
        return true;
    }
    return e->options != NULL && mentions(e->options->filter, items, count);
}

/* The items from `from` on that need none of each other: one SELECT computes them. */
static size_t count_independent(const struct compute_item *items, size_t from, size_t count)
{
    size_t end = from;
    while (end < count && !mentions(items[end].expr, items + from, end - from)) {
        end++;
    }
    return end - from;
}

static bool bind_item(struct binder *b, const struct clause *c, struct derived *d,
                      const struct compute_item *items, size_t at, struct property *out)
{
    const struct compute_item *item = &items[at];
    struct scope scope = {.root = d->from, .clause = c};
    if (!bind_check_alias(b, c, d->from->type, item->alias, item->offset)) {
        return false;
    }
    for (size_t k = 0; k < at; k++) {
        if (str_eq(items[k].alias, item->alias)) {
            return bind_fail_name(b, c, item->offset, item->alias, "is given twice");
        }
    }
    const struct bound_expr *value = bind_expr(b, &scope, item->expr);
    if (value == NULL || !bind_check_value(b, c, item->expr, value)) {
        return false;
    }
    const struct property *p = bind_add_column(b, d, item->alias, value, COLUMN_VALUE);
    if (p != NULL) {
        *out = *p;
    }
    return p != NULL;
}

static struct source *compute_once(struct binder *b, const struct clause *c, struct source *from,
                                   const struct compute_item *items, size_t count)
{
    struct applying x = {.b = b, .clause = c, .in = from};
    struct derived *d = bind_derive(b, from);
    struct property *made = ARENA_ARRAY(b->arena, count, struct property);
    if (made == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (d == NULL || !bind_item(b, c, d, items, i, &made[i])) {
            return NULL;
        }
    }
    const struct entity_type *type = bind_extend_type(b, from->type, made, count);
    return type != NULL && bind_derived(&x, d, type) ? x.in : NULL;
}

struct source *bind_compute(struct binder *b, const struct clause *c, struct source *from,
                            const struct compute_item *items, size_t count)
{
    bool is_it = b->it == from;
    for (size_t at = 0; at < count && from != NULL;) {
        size_t some = count_independent(items, at, count);
        from = compute_once(b, c, from, items + at, some);
        at += some;
        b->it = is_it ? from : b->it;
    }
    return from;
}

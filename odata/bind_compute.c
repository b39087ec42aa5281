// SPDX-License-Identifier: Apache-2.0
/* $compute, and the transformation of that name: a SELECT that adds columns to rows. */
#include "odata/apply.h"
#include "odata/bind_priv.h"
#include "odata/derived.h"

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

static bool bind_items(struct binder *b, const struct clause *c, struct derived *d,
                       const struct compute_item *items, size_t count, struct property *made)
{
    const struct entity_type *type = d->from->type;
    struct scope scope = {.root = d->from, .clause = c};
    struct derived_column *columns = ARENA_ARRAY(b->arena, count, struct derived_column);
    if (columns == NULL) {
        return odata_error_too_complex(b->err);
    }
    for (size_t i = 0; i < count; i++) {
        if (!bind_check_alias(b, c, type, items[i].alias, items[i].offset)) {
            return false;
        }
        for (size_t k = 0; k < i; k++) {
            if (str_eq(items[k].alias, items[i].alias)) {
                return bind_fail_name(b, c, items[i].offset, items[i].alias, "is given twice");
            }
        }
        const struct bound_expr *value = bind_expr(b, &scope, items[i].expr);
        if (value == NULL || !bind_check_value(b, c, items[i].expr, value) ||
            !bind_new_property(b, type, items[i].alias, value, &made[i])) {
            return false;
        }
        columns[i] = (struct derived_column){.property = &made[i], .expr = value};
    }
    d->columns = columns;
    d->column_count = count;
    return true;
}

static struct source *compute_once(struct binder *b, const struct clause *c, struct source *from,
                                   const struct compute_item *items, size_t count)
{
    struct derived *d = ARENA_NEW(b->arena, struct derived);
    struct property *made = ARENA_ARRAY(b->arena, count, struct property);
    if (d == NULL || made == NULL) {
        odata_error_too_complex(b->err);
        return NULL;
    }
    d->from = from;
    if (!bind_pass_all(b, from->type, d) || !bind_items(b, c, d, items, count, made)) {
        return NULL;
    }
    const struct entity_type *type = bind_extend_type(b, from->type, made, count);
    struct source *out = type == NULL ? NULL : bind_source_new(b, type);
    if (out != NULL) {
        out->derived = d;
    }
    return out;
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

// SPDX-License-Identifier: Apache-2.0
/* Collections that a request writes out: [1,2], ["a",Name] (URL Conventions 5.1.1.13.2). */
#include "odata/bind_priv.h"

static struct bound_expr *copy(struct binder *b, const struct bound_expr *e)
{
    struct bound_expr *made = bind_new(b, e->kind, EDM_NONE, 0);
    if (made != NULL) {
        *made = *e;
    }
    return made;
}

/* e as a value of a wider type of number, or of the collection's type when it is a null. */
static const struct bound_expr *widen(struct binder *b, const struct bound_expr *e,
                                      const struct type_ref *item)
{
    if (e->type.type == item->type) {
        return e;
    }
    if (e->kind != BOUND_VALUE) {
        return bind_new_cast(b, e, item);
    }
    struct bound_expr *made = copy(b, e);
    if (made != NULL) {
        made->type = *item;
    }
    return made;
}

static const struct bound_expr *bind_item(struct binder *b, const struct scope *s,
                                          const struct expr *e, const struct type_ref *want)
{
    if (e->kind == EXPR_ARRAY || e->kind == EXPR_OBJECT) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "arrays and objects inside of an array are not implemented");
        return NULL;
    }
    if (bind_is_literal(b, e)) {
        return bind_literal(b, s->clause, e, want, NULL);
    }
    const struct bound_expr *item = bind_expr(b, s, e);
    if (item != NULL && (item->type.collection || item->type.type == EDM_ENTITY ||
                         item->type.type == EDM_COMPLEX || item->type.type == EDM_UNTYPED)) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "%.*s in an array is not implemented",
                                    STR_ARG(bind_type_name(b, &item->type)));
        return NULL;
    }
    return item;
}

const struct bound_expr *bind_array(struct binder *b, const struct scope *s, const struct expr *e,
                                    const struct type_ref *want)
{
    struct type_ref item = want == NULL ? bind_type(EDM_NONE) : *want;
    item.collection = false;
    bool has_literals = item.type != EDM_NONE && item.type != EDM_COMPLEX;
    struct bound_expr *made = bind_new(b, BOUND_COLLECTION, EDM_NONE, e->arg_count);
    for (size_t i = 0; made != NULL && i < e->arg_count; i++) {
        const struct bound_expr *bound = bind_item(b, s, e->args[i], has_literals ? &item : NULL);
        if (bound == NULL) {
            return NULL;
        }
        made->args[i] = bound;
        if (bind_is_null(bound)) {
            continue;
        }
        if (item.type != EDM_NONE && !bind_may_meet(&item, &bound->type)) {
            bind_fail(b, s->clause, e->args[i]->offset, "expected %.*s in the array, found %.*s",
                      STR_ARG(bind_type_name(b, &item)), STR_ARG(bind_type_name(b, &bound->type)));
            return NULL;
        }
        enum edm_type type =
            item.type == EDM_NONE ? bound->type.type : bind_wider(item.type, bound->type.type);
        if (item.type == EDM_NONE) {
            item = bound->type;
        }
        item.type = type;
    }
    if (made == NULL) {
        return NULL;
    }
    for (size_t i = 0; item.type != EDM_NONE && i < made->arg_count; i++) {
        made->args[i] = widen(b, made->args[i], &item);
        if (made->args[i] == NULL) {
            return NULL;
        }
    }
    made->type = item;
    made->type.collection = true;
    return made;
}

const struct bound_expr *bind_array_as(struct binder *b, const struct bound_expr *e,
                                       const struct type_ref *type)
{
    if (e == NULL || e->type.type != EDM_NONE) {
        return e;
    }
    struct bound_expr *made = bind_new(b, BOUND_COLLECTION, EDM_NONE, e->arg_count);
    struct type_ref item = *type;
    item.collection = false;
    for (size_t i = 0; made != NULL && i < e->arg_count; i++) {
        made->args[i] = bind_null(b, &item);
        if (made->args[i] == NULL) {
            return NULL;
        }
    }
    if (made != NULL) {
        made->type = item;
        made->type.collection = true;
    }
    return made;
}

bool bind_meet_collections(struct binder *b, const struct bound_expr **left,
                           const struct bound_expr **right)
{
    struct type_ref type = (*left)->type;
    type.type = bind_wider(type.type, (*right)->type.type);
    const struct bound_expr **sides[2] = {left, right};
    for (size_t i = 0; i < 2; i++) {
        if ((*sides[i])->type.type != type.type) {
            *sides[i] = bind_new_cast(b, *sides[i], &type);
            if (*sides[i] == NULL) {
                return false;
            }
        }
    }
    return true;
}

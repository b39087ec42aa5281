// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"

/* A list of literals: one array in SQL, however long. */
static const struct bound_expr *bind_in_values(struct binder *b, const struct scope *s,
                                               const struct bound_expr *left,
                                               const struct expr *list)
{
    struct bound_expr *made = bind_new(b, BOUND_IN, EDM_BOOLEAN, list->arg_count + 1);
    if (made == NULL) {
        return NULL;
    }
    made->args[0] = left;
    size_t count = 1;
    enum edm_type type = EDM_NONE;
    for (size_t i = 0; i < list->arg_count; i++) {
        const struct bound_expr *item = bind_peer(b, s, list->args[i], left);
        if (item == NULL) {
            return NULL;
        }
        if (bind_is_null(item)) {
            made->has_null = true;
            continue;
        }
        if (!bind_may_meet(&left->type, &item->type)) {
            return bind_fail_types(b, s, list->args[i]->offset, OP_EQ, left, item);
        }
        type = type == EDM_NONE ? item->type.type : bind_wider(type, item->type.type);
        made->args[count++] = item;
    }
    made->arg_count = count;
    for (size_t i = 1; i < count; i++) {
        struct bound_expr *item = bind_new(b, BOUND_VALUE, type, 0);
        if (item == NULL) {
            return NULL;
        }
        *item = *made->args[i];
        item->type.type = type;
        made->args[i] = item;
    }
    return made;
}

static const struct bound_expr *bind_in_any(struct binder *b, const struct scope *s,
                                            const struct expr *e, const struct expr *list)
{
    struct bound_expr *made = bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, list->arg_count);
    if (made == NULL) {
        return NULL;
    }
    made->op = OP_OR;
    for (size_t i = 0; i < list->arg_count; i++) {
        struct expr *operands[2] = {e->args[0], list->args[i]};
        struct expr equal = {.kind = EXPR_BINARY,
                             .op = OP_EQ,
                             .offset = list->args[i]->offset,
                             .args = operands,
                             .arg_count = 2};
        made->args[i] = bind_comparison(b, s, &equal);
        if (made->args[i] == NULL) {
            return NULL;
        }
    }
    return made;
}

const struct bound_expr *bind_in(struct binder *b, const struct scope *s, const struct expr *e)
{
    const struct expr *right = bind_resolve(b, s->clause, e->args[1]);
    if (right == NULL) {
        return NULL;
    }
    if (right->kind == EXPR_ARRAY && right->arg_count == 0) {
        return bind_truth(b, false);
    }
    if (right->kind == EXPR_LIST || right->kind == EXPR_ARRAY) {
        if (right->arg_count == 0) {
            bind_fail(b, s->clause, right->offset, "the list of 'in' is empty");
            return NULL;
        }
        bool values = !bind_is_literal(b, e->args[0]);
        for (size_t i = 0; i < right->arg_count; i++) {
            values = values && bind_is_literal(b, right->args[i]);
        }
        if (!values) {
            return bind_in_any(b, s, e, right);
        }
        const struct bound_expr *left = bind_expr(b, s, e->args[0]);
        if (left != NULL && (left->type.collection || left->type.type == EDM_ENTITY ||
                             left->type.type == EDM_COMPLEX || left->type.type == EDM_UNTYPED)) {
            odata_error_not_implemented(b->err, s->clause->option, "%.*s in a list",
                                        STR_ARG(bind_type_name(b, &left->type)));
            return NULL;
        }
        return left == NULL ? NULL : bind_in_values(b, s, left, right);
    }
    const struct bound_expr *collection = bind_expr(b, s, right);
    if (collection == NULL) {
        return NULL;
    }
    if (!collection->type.collection) {
        bind_fail(b, s->clause, right->offset, "expected a list or a collection after 'in'");
        return NULL;
    }
    struct type_ref item = collection->type;
    item.collection = false;
    const struct bound_expr *left = bind_is_literal(b, e->args[0])
                                        ? bind_literal(b, s->clause, e->args[0], &item, NULL)
                                        : bind_expr(b, s, e->args[0]);
    if (left == NULL) {
        return NULL;
    }
    if (!bind_is_null(left) && !bind_may_meet(&left->type, &item)) {
        return bind_fail_types(b, s, e->offset, OP_EQ, left, collection);
    }
    struct bound_expr *made = bind_new(b, BOUND_IN_COLLECTION, EDM_BOOLEAN, 2);
    if (made != NULL) {
        made->args[0] = left;
        made->args[1] = collection;
    }
    return made;
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"

/* The collection that e->base names: a to-many navigation (made->range...) or a property (args). */
static struct bound_expr *bind_collection(struct binder *b, const struct scope *s,
                                          const struct expr *e, enum bound_kind kind,
                                          enum edm_type type)
{
    struct member_path path;
    if (e->base == NULL) {
        bind_fail(b, s->clause, e->offset, "a collection must stand before this");
        return NULL;
    }
    if (!bind_member_path(b, s, e->base, &path)) {
        return NULL;
    }
    bool property = path.value != NULL && path.value->type.collection;
    if (path.collection == NULL && !property) {
        bind_fail(b, s->clause, e->base->offset, "'%.*s' is no collection",
                  STR_ARG(bind_clip(e->base->name)));
        return NULL;
    }
    struct bound_expr *made = bind_new(b, kind, type, property ? 1 : 0);
    if (made == NULL) {
        return NULL;
    }
    if (property) {
        made->args[0] = path.value;
        made->number = b->next_number++;
        return made;
    }
    made->range = bind_source_new(b, path.collection->target);
    made->range_from = path.source;
    made->range_via = path.collection;
    return made->range == NULL ? NULL : made;
}

static const struct bound_expr *new_element(struct binder *b, const struct bound_expr *over)
{
    struct bound_expr *item = bind_new(b, BOUND_ELEMENT, EDM_NONE, 0);
    if (item != NULL) {
        item->type = over->args[0]->type;
        item->type.collection = false;
        item->number = over->number;
        item->nullable = true;
    }
    return item;
}

const struct bound_expr *bind_lambda(struct binder *b, const struct scope *s, const struct expr *e)
{
    enum bound_kind kind = e->kind == EXPR_ANY ? BOUND_ANY : BOUND_ALL;
    struct bound_expr *made = bind_collection(b, s, e, kind, EDM_BOOLEAN);
    if (made == NULL || e->body == NULL) {
        return made;
    }
    struct variable variable = {.name = e->variable, .outer = s->variables};
    variable.source = made->range;
    if (made->range == NULL) {
        if (made->args[0]->type.type == EDM_COMPLEX) {
            odata_error_not_implemented(b->err, s->clause->option,
                                        "any and all over complex values are not implemented");
            return NULL;
        }
        variable.item = new_element(b, made);
        if (variable.item == NULL) {
            return NULL;
        }
    }
    struct scope inner = *s;
    inner.variables = &variable;
    inner.in_filter = true;
    made->body = bind_condition(b, &inner, e->body);
    return made->body == NULL ? NULL : made;
}

const struct bound_expr *bind_count(struct binder *b, const struct scope *s, const struct expr *e)
{
    struct bound_expr *made = bind_collection(b, s, e, BOUND_COUNT, EDM_INT64);
    if (made == NULL || e->options == NULL) {
        return made;
    }
    if (e->options->search.given) {
        odata_error_not_implemented(b->err, "$search", "$search is not implemented");
        return NULL;
    }
    if (e->options->filter == NULL) {
        return made;
    }
    if (made->range == NULL) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "$filter on a collection of values is not implemented");
        return NULL;
    }
    struct scope inner = *s;
    inner.root = made->range;
    inner.in_filter = true;
    made->body = bind_condition(b, &inner, e->options->filter);
    return made->body == NULL ? NULL : made;
}

// SPDX-License-Identifier: Apache-2.0
/* any, all and $count, over navigations and collections of values. */
#include "odata/apply_priv.h"

const struct bound_expr *bind_element(struct binder *b, const struct bound_expr *over)
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

/* Both must hold; what there was may be NULL. */
static bool narrow(struct binder *b, struct bound_expr *made, const struct bound_expr *condition)
{
    if (condition == NULL) {
        return false;
    }
    if (made->body == NULL) {
        made->body = condition;
        return true;
    }
    made->body = bind_new_binary(b, OP_AND, EDM_BOOLEAN, made->body, condition);
    return made->body != NULL;
}

/* A condition about the members of a collection, which are the current instance in it. */
static bool filter(struct binder *b, const struct scope *s, struct bound_expr *made,
                   const struct expr *condition)
{
    struct scope inner = *s;
    inner.in_filter = true;
    inner.item = NULL;
    if (made->range != NULL) {
        inner.root = made->range;
    } else {
        inner.item = bind_element(b, made);
        if (inner.item == NULL) {
            return false;
        }
    }
    return narrow(b, made, bind_condition(b, &inner, condition));
}

bool bind_is_filter_segment(const struct expr *e)
{
    return e != NULL && e->kind == EXPR_CALL && str_eq(e->name, STR("$filter"));
}

/* The entities that a path leads to, as far as it casts them. */
static struct source *new_range(struct binder *b, const struct scope *s,
                                const struct member_path *path)
{
    const struct entity_type *type = path->set != NULL ? path->set->type : path->collection->target;
    if (path->cast == NULL || path->cast == type) {
        return path->set != NULL ? bind_source_new(b, type) : bind_source_via(b, path->collection);
    }
    if (path->set == NULL && navigation_is_exact(path->collection)) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "a cast behind '%.*s', which leads to entities of %.*s alone, "
                                    "is not implemented",
                                    STR_ARG(bind_clip(path->collection->name)),
                                    STR_ARG(bind_clip(type->name)));
        return NULL;
    }
    return bind_source_new(b, path->cast);
}

/*
 * The collection that e->base names: a to-many navigation (made->range...) or values (args), with
 * the conditions of `/$filter(...)` segments behind it as the body.
 */
static struct bound_expr *bind_collection(struct binder *b, const struct scope *s,
                                          const struct expr *e, enum bound_kind kind,
                                          enum edm_type type, struct member_path *path)
{
    const struct expr *base = e->base;
    while (bind_is_filter_segment(base)) {
        base = base->base;
    }
    if (base == NULL) {
        bind_fail(b, s->clause, e->offset, "a collection must stand before this");
        return NULL;
    }
    struct applying rows = {.b = b, .clause = s->clause, .around = s};
    *path = (struct member_path){0};
    if (base->kind == EXPR_THESE ? !bind_these(&rows, base->offset)
                                 : !bind_member_path(b, s, base, path)) {
        return NULL;
    }
    if (path->collection != NULL && path->collection->made != NULL &&
        !bind_behind(&rows, path->collection, path->source)) {
        return NULL;
    }
    bool values = path->value != NULL && path->value->type.collection;
    if (path->collection == NULL && path->set == NULL && !values && rows.in == NULL) {
        bind_fail(b, s->clause, base->offset, "'%.*s' is no collection",
                  STR_ARG(bind_clip(base->name)));
        return NULL;
    }
    struct bound_expr *made = bind_new(b, kind, type, values ? 1 : 0);
    if (made == NULL) {
        return NULL;
    }
    if (values) {
        made->args[0] = path->value;
        made->number = b->next_number++;
    } else if (rows.in != NULL) {
        made->range = rows.in; /* which are those of this row alone */
    } else {
        made->range = new_range(b, s, path);
        made->range_from = path->source;
        made->range_via = path->collection;
        if (made->range == NULL) {
            return NULL;
        }
    }
    for (const struct expr *f = e->base; bind_is_filter_segment(f); f = f->base) {
        if (!filter(b, s, made, f->args[0])) {
            return NULL;
        }
    }
    return made;
}

/* all(x: c) of what is filtered by f is all(x: not f or c). */
static const struct bound_expr *for_all_of_those(struct binder *b,
                                                 const struct bound_expr *filtered,
                                                 const struct bound_expr *condition)
{
    struct bound_expr *other = bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, 1);
    /* A condition that is null leaves its member out, and so must not make `all` false. */
    struct bound_expr *holds = bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, 2);
    const struct bound_expr *yes = bind_truth(b, true);
    if (other == NULL || holds == NULL || yes == NULL) {
        return NULL;
    }
    holds->op = OP_EQ;
    holds->args[0] = filtered;
    holds->args[1] = yes;
    other->op = OP_NOT;
    other->args[0] = holds;
    return bind_new_binary(b, OP_OR, EDM_BOOLEAN, other, condition);
}

const struct bound_expr *bind_lambda(struct binder *b, const struct scope *s, const struct expr *e)
{
    enum bound_kind kind = e->kind == EXPR_ANY ? BOUND_ANY : BOUND_ALL;
    struct member_path path;
    struct bound_expr *made = bind_collection(b, s, e, kind, EDM_BOOLEAN, &path);
    if (made == NULL || e->body == NULL) {
        return made == NULL ? NULL : bind_member_end(&path, made);
    }
    struct variable variable = {.name = e->variable, .outer = s->variables};
    variable.source = made->range;
    if (made->range == NULL) {
        variable.item = bind_element(b, made);
        if (variable.item == NULL) {
            return NULL;
        }
    }
    struct scope inner = *s;
    inner.variables = &variable;
    inner.in_filter = true;
    const struct bound_expr *condition = bind_condition(b, &inner, e->body);
    if (condition != NULL && kind == BOUND_ALL && made->body != NULL) {
        made->body = for_all_of_those(b, made->body, condition);
        return made->body == NULL ? NULL : bind_member_end(&path, made);
    }
    return narrow(b, made, condition) ? bind_member_end(&path, made) : NULL;
}

const struct bound_expr *bind_count(struct binder *b, const struct scope *s, const struct expr *e)
{
    struct member_path path;
    struct bound_expr *made = bind_collection(b, s, e, BOUND_COUNT, EDM_INT64, &path);
    if (made == NULL || e->options == NULL) {
        return made == NULL ? NULL : bind_member_end(&path, made);
    }
    if (e->options->filter != NULL && !filter(b, s, made, e->options->filter)) {
        return NULL;
    }
    if (e->options->search_expr == NULL) {
        return bind_member_end(&path, made);
    }
    if (made->range == NULL) {
        odata_error_not_implemented(b->err, "$search",
                                    "$search in a collection of values is not implemented");
        return NULL;
    }
    return narrow(b, made, bind_search(b, made->range, e->options)) ? bind_member_end(&path, made)
                                                                    : NULL;
}

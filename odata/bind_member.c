// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "odata/bind_priv.h"

const struct bound_expr *bind_property_expr(struct binder *b, const struct source *source,
                                            const struct property *p)
{
    struct bound_expr *e = bind_new(b, BOUND_PROPERTY, EDM_NONE, 0);
    if (e != NULL) {
        e->type = p->type;
        e->pg = p->pg.cast.len > 0 ? &p->pg : NULL; /* a computed one is as its type says */
        e->source = source;
        e->property = p;
        e->nullable = p->type.nullable || p->type.collection || source->nullable;
    }
    return e;
}

const struct bound_expr *bind_part_expr(struct binder *b, const struct bound_expr *whole,
                                        const struct property *part)
{
    struct bound_expr *e = bind_new(b, whole->kind, EDM_NONE, 0);
    if (e == NULL) {
        return NULL;
    }
    e->number = whole->number;
    e->parts = ARENA_ARRAY(b->arena, whole->part_count + 1, const struct property *);
    if (e->parts == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    for (size_t i = 0; i < whole->part_count; i++) {
        e->parts[i] = whole->parts[i];
    }
    e->parts[whole->part_count] = part;
    e->part_count = whole->part_count + 1;
    e->source = whole->source;
    e->property = whole->property;
    e->type = part->type;
    e->pg = &part->pg;
    e->nullable = true;
    return e;
}

static const struct bound_expr *new_entity(struct binder *b, const struct source *source)
{
    assert(source != NULL);
    struct bound_expr *entity = bind_new(b, BOUND_ENTITY, EDM_ENTITY, 0);
    if (entity != NULL) {
        entity->source = source;
        entity->type.entity_type = source->type;
        entity->nullable = source->nullable;
    }
    return entity;
}

const struct bound_expr *bind_current(struct binder *b, const struct scope *s)
{
    return s->item != NULL ? s->item : new_entity(b, s->root);
}

static bool step_entity(struct binder *b, const struct scope *s, const struct expr *e,
                        struct member_path *at)
{
    assert(at->source != NULL); /* one without a source has a value */
    const struct entity_type *type = at->source->type;
    const struct property *p = entity_type_find_property(type, e->name);
    if (p != NULL) {
        at->value = bind_property_expr(b, at->source, p);
        return at->value != NULL;
    }
    const struct navigation *n = entity_type_find_navigation(type, e->name);
    if (n != NULL && n->collection) {
        at->collection = n;
        return true;
    }
    if (n != NULL) {
        at->source = bind_source_join(b, at->source, n, s->in_filter);
        return at->source != NULL;
    }
    if (bind_is_own_type(b, e->name, type)) {
        return true;
    }
    return bind_fail_unknown(b, s->clause, e->offset, type, e->name, s->may_be_text);
}

static bool step_value(struct binder *b, const struct scope *s, const struct expr *e,
                       struct member_path *at)
{
    const struct bound_expr *whole = at->value;
    bool path = whole->kind == BOUND_PROPERTY || whole->kind == BOUND_ELEMENT;
    if (!path || whole->type.type != EDM_COMPLEX || whole->type.collection) {
        return bind_fail_name(b, s->clause, e->offset, e->name, "is no property of %.*s",
                              STR_ARG(bind_type_name(b, &whole->type)));
    }
    const struct complex_type *type = whole->type.complex_type;
    if (str_find(e->name, '.', 0) < e->name.len &&
        model_find_complex(b->options->model, e->name) == type) {
        return true;
    }
    const struct property *part = complex_type_find_property(type, e->name);
    if (part == NULL) {
        return bind_fail(b, s->clause, e->offset, "unknown property '%.*s' of %.*s",
                         STR_ARG(bind_clip(e->name)), STR_ARG(bind_clip(type->name)));
    }
    at->value = bind_part_expr(b, whole, part);
    return at->value != NULL;
}

/* The first name of a path: a lambda variable, or a member of the row itself. */
static bool step_first(struct binder *b, const struct scope *s, const struct expr *e,
                       struct member_path *at)
{
    for (const struct variable *v = s->variables; v != NULL; v = v->outer) {
        if (str_eq(v->name, e->name)) {
            at->source = v->source;
            at->value = v->item;
            return true;
        }
    }
    if (s->item != NULL) {
        at->value = s->item;
        return step_value(b, s, e, at);
    }
    at->source = s->root;
    return step_entity(b, s, e, at);
}

bool bind_member_path(struct binder *b, const struct scope *s, const struct expr *e,
                      struct member_path *out)
{
    *out = (struct member_path){0};
    if (e->kind == EXPR_IT) {
        if (s->root != b->it) {
            return odata_error_not_implemented(b->err, s->clause->option,
                                               "$it in a nested option is not implemented");
        }
        out->source = b->it;
        return true;
    }
    if (e->kind == EXPR_THIS) {
        out->source = s->root;
        out->value = s->item;
        return true;
    }
    if (e->kind != EXPR_MEMBER) {
        out->value = bind_expr(b, s, e);
        return out->value != NULL;
    }
    if (e->key_count > 0 || e->arg_count > 0) {
        return odata_error_not_implemented(b->err, s->clause->option,
                                           "a key inside an expression is not implemented");
    }
    if (e->base == NULL) {
        return step_first(b, s, e, out);
    }
    if (!bind_member_path(b, s, e->base, out)) {
        return false;
    }
    if (out->collection != NULL) {
        return bind_fail_name(b, s->clause, e->base->offset, out->collection->name,
                              "is a collection: any, all or $count must follow it");
    }
    return out->value != NULL ? step_value(b, s, e, out) : step_entity(b, s, e, out);
}

const struct bound_expr *bind_member(struct binder *b, const struct scope *s, const struct expr *e)
{
    struct member_path path;
    if (!bind_member_path(b, s, e, &path)) {
        return NULL;
    }
    if (path.collection != NULL) {
        bind_fail_name(b, s->clause, e->offset, path.collection->name,
                       "is a collection: any, all or $count must follow it");
        return NULL;
    }
    if (path.value != NULL) {
        return path.value;
    }
    return new_entity(b, path.source);
}

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

const struct bound_expr *bind_entity_expr(struct binder *b, const struct source *source)
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
    return s->item != NULL ? s->item : bind_entity_expr(b, s->root);
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
    const struct entity_type *cast = bind_derived_type(b, e->name, type);
    if (cast != NULL) {
        at->source = bind_source_cast(b, at->source, cast, s->in_filter);
        return at->source != NULL;
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

const struct bound_expr *bind_member_end(const struct member_path *path,
                                         const struct bound_expr *value)
{
    if (value == NULL || path->innermost == NULL) {
        return value;
    }
    path->innermost->args[0] = value;
    for (struct bound_expr *at = path->outermost;; at = at->inner) {
        at->type = value->type;
        at->pg = value->pg;
        if (at == path->innermost) {
            return path->outermost;
        }
    }
}

/* The arguments of Name(...) as a key predicate; the parser cannot tell it from a call. */
static bool key_of(struct binder *b, const struct expr *e, struct segment *out)
{
    *out = (struct segment){.kind = SEGMENT_NAME,
                            .name = e->name,
                            .args = e->key,
                            .arg_count = e->key_count,
                            .has_parens = true,
                            .offset = e->offset};
    if (e->key_count > 0) {
        return true;
    }
    out->args = ARENA_ARRAY(b->arena, e->arg_count + 1, struct argument);
    if (out->args == NULL) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < e->arg_count; i++) {
        out->args[i] =
            (struct argument){.name = STR(""), .value = e->args[i], .offset = e->args[i]->offset};
    }
    out->arg_count = e->arg_count;
    return true;
}

static const struct bound_expr *key_condition(struct binder *b, const struct path_step *step)
{
    struct bound_expr *all = bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, step->key_count);
    for (size_t i = 0; all != NULL && i < step->key_count; i++) {
        const struct bound_expr *property =
            bind_property_expr(b, step->source, step->key_properties[i]);
        all->op = OP_AND;
        all->args[i] = property == NULL
                           ? NULL
                           : bind_new_binary(b, OP_EQ, EDM_BOOLEAN, property, step->key_values[i]);
        if (all->args[i] == NULL) {
            return NULL;
        }
    }
    return all;
}

/* One entity by its key: a member of a navigation of at->source, or of a whole set. */
static bool step_key(struct binder *b, const struct expr *e, const struct navigation *via,
                     const struct entity_type *type, struct member_path *at)
{
    struct segment segment;
    struct bound_expr *one = bind_new(b, BOUND_SCALAR, EDM_NONE, 1);
    if (one == NULL || !key_of(b, e, &segment)) {
        return false;
    }
    one->range = via != NULL ? bind_source_via(b, via) : bind_source_new(b, type);
    one->range_from = at->source;
    one->range_via = via;
    one->nullable = true;
    if (one->range == NULL) {
        return false;
    }
    struct path_step step = {.source = one->range, .via = via};
    if (!bind_key(b, &segment, &step)) {
        return false;
    }
    one->body = key_condition(b, &step);
    if (one->body == NULL) {
        return false;
    }
    if (at->innermost == NULL) {
        at->outermost = one;
    } else {
        at->innermost->args[0] = one;
        at->innermost->inner = one;
    }
    at->innermost = one;
    at->source = one->range;
    return true;
}

/* $root/Set, $root/Set(key) */
static bool step_root(struct binder *b, const struct scope *s, const struct expr *e,
                      struct member_path *at)
{
    const struct model *m = b->options->model;
    const struct entity_set *set = model_find_set(m, e->name);
    if (set == NULL) {
        struct str meant = model_suggest_set(m, e->name);
        bind_fail(b, s->clause, e->offset, "unknown entity set '%.*s'",
                  STR_ARG(bind_clip(e->name)));
        return meant.len > 0 &&
               odata_error_hint(b->err, "did you mean '%.*s'?", STR_ARG(bind_clip(meant)));
    }
    if (e->key_count > 0 || e->arg_count > 0) {
        return step_key(b, e, NULL, set->type, at);
    }
    at->set = set;
    return true;
}

/* Name(key), where Name is a navigation to many. */
static bool step_member_key(struct binder *b, const struct scope *s, const struct expr *e,
                            struct member_path *at)
{
    const struct entity_type *type = at->value == NULL ? at->source->type : NULL;
    const struct navigation *n = type == NULL ? NULL : entity_type_find_navigation(type, e->name);
    if (n != NULL && n->made != NULL) {
        return odata_error_not_implemented(
            b->err, s->clause->option,
            "a key behind '%.*s' at byte %zu of %s, which is made by $apply, is not implemented",
            STR_ARG(bind_clip(e->name)), e->offset, s->clause->option);
    }
    if (n == NULL || !n->collection) {
        return bind_fail_name(b, s->clause, e->offset, e->name, "cannot have a key");
    }
    return step_key(b, e, n, n->target, at);
}

/* Name(...) at the start of a path is a call, unless a navigation has that name. */
static bool is_key_call(const struct scope *s, const struct expr *e)
{
    return e->kind == EXPR_CALL && e->base == NULL && s->item == NULL && e->arg_count > 0 &&
           entity_type_find_navigation(s->root->type, e->name) != NULL;
}

static bool start_at_it(struct binder *b, const struct scope *s, struct member_path *out)
{
    if (s->root != b->it && !s->it_is_near) {
        return odata_error_not_implemented(
            b->err, s->clause->option,
            "$it in an option of a second level of $expand is not implemented");
    }
    b->it_used = true;
    out->source = b->it;
    return true;
}

/* Nav/Ns.Type, where Nav is a collection: its entities of that type. */
static bool cast_collection(struct binder *b, const struct expr *e, struct member_path *path)
{
    const struct entity_type *type = path->cast != NULL         ? path->cast
                                     : path->collection != NULL ? path->collection->target
                                     : path->set != NULL        ? path->set->type
                                                                : NULL;
    const struct entity_type *cast = type == NULL ? NULL : bind_derived_type(b, e->name, type);
    if (cast == NULL || e->key_count > 0 || e->arg_count > 0) {
        return false;
    }
    path->cast = cast;
    return true;
}

bool bind_member_path(struct binder *b, const struct scope *s, const struct expr *e,
                      struct member_path *out)
{
    *out = (struct member_path){0};
    if (e->kind == EXPR_IT && s->it_is_item) {
        out->source = s->root;
        out->value = s->item;
        return true;
    }
    if (e->kind == EXPR_IT) {
        return start_at_it(b, s, out);
    }
    if (e->kind == EXPR_THIS) {
        out->source = s->root;
        out->value = s->item;
        return true;
    }
    if (e->kind == EXPR_CALL && bind_is_rollup_node(e)) {
        out->source = bind_rollup_node(b, s, e);
        return out->source != NULL;
    }
    if (is_key_call(s, e)) {
        out->source = s->root;
        return step_member_key(b, s, e, out);
    }
    if (e->kind != EXPR_MEMBER) {
        out->value = bind_expr(b, s, e);
        if (out->value != NULL && out->value->kind == BOUND_ENTITY) { /* cast(Ns.Type)/... */
            out->source = bind_source_own(out->value->source);
            out->value = NULL;
            return true;
        }
        return out->value != NULL;
    }
    if (e->base == NULL) {
        return step_first(b, s, e, out);
    }
    if (e->base->kind == EXPR_ROOT) {
        return step_root(b, s, e, out);
    }
    if (!bind_member_path(b, s, e->base, out)) {
        return false;
    }
    if (cast_collection(b, e, out)) {
        return true;
    }
    if (out->collection != NULL || out->set != NULL) {
        return bind_fail_name(b, s->clause, e->base->offset,
                              out->set != NULL ? out->set->name : out->collection->name,
                              "is a collection: any, all or $count must follow it");
    }
    if (e->key_count > 0 || e->arg_count > 0) {
        return step_member_key(b, s, e, out);
    }
    return out->value != NULL ? step_value(b, s, e, out) : step_entity(b, s, e, out);
}

const struct bound_expr *bind_member(struct binder *b, const struct scope *s, const struct expr *e)
{
    struct member_path path;
    if (!bind_member_path(b, s, e, &path)) {
        return NULL;
    }
    if (path.collection != NULL || path.set != NULL) {
        bind_fail_name(b, s->clause, e->offset,
                       path.set != NULL ? path.set->name : path.collection->name,
                       "is a collection: any, all or $count must follow it");
        return NULL;
    }
    if (path.value != NULL) {
        return bind_member_end(&path, path.value);
    }
    if (path.innermost != NULL) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "an entity as a whole that is addressed by its key, at byte "
                                    "%zu of %s, is not implemented",
                                    e->offset, s->clause->option);
        return NULL;
    }
    return bind_entity_expr(b, path.source);
}

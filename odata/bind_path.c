// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "odata/bind_priv.h"
#include "odata/filter_parse.h"
#include "odata/limits.h"

/* A resource path on its way. */
struct walk {
    struct binder *b;
    struct path_step *steps;
    size_t count;
    bool single; /* the last step is one entity */
    const struct bound_expr *value;
    const struct property *property;
    bool ended;             /* by $count, $value or $ref */
    bool in_all;            /* behind $all, whose type is to be named */
    struct argument *parts; /* of a key as segments, so far */
    size_t part_count;
    struct bound_path *out;
};

static bool PRINTF_LIKE(2, 3) not_found(struct walk *w, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return odata_error_set(w->b->err, 404, ODATA_CODE_NOT_FOUND, "", "%s", text);
}

static bool bad_path(struct walk *w, const struct segment *s, const char *text)
{
    return odata_error_set(w->b->err, 400, ODATA_CODE_BAD_PATH, "", "%s at byte %zu of the path",
                           text, s->offset);
}

static bool not_here(struct walk *w, const char *name)
{
    return odata_error_not_implemented(w->b->err, "", "%s is not implemented", name);
}

/* The rest of the standard's `$` segments. */
static bool bind_other(struct walk *w, const struct segment *s)
{
    switch (s->kind) {
    case SEGMENT_METADATA:
        return bad_path(w, s, "$metadata stands at the root alone");
    case SEGMENT_BATCH:
        return not_here(w, "$batch");
    case SEGMENT_ENTITY:
        return not_here(w, "$entity");
    case SEGMENT_QUERY:
        return not_here(w, "$query");
    case SEGMENT_FILTER:
    case SEGMENT_EACH:
        return bad_path(w, s, "a collection must stand before this");
    case SEGMENT_ALL:
    case SEGMENT_CROSSJOIN:
    case SEGMENT_NAME:
    case SEGMENT_COUNT:
    case SEGMENT_VALUE:
    case SEGMENT_REF:
        break;
    }
    return bad_path(w, s, "a segment that cannot stand here");
}

/* The key in the parentheses of a segment, if there is one. */
static bool take_key(struct walk *w, const struct segment *s)
{
    if (s->arg_count == 0) {
        return true;
    }
    if (w->single) {
        return bad_path(w, s, "a key behind a single entity");
    }
    w->single = true;
    return bind_key(w->b, s, &w->steps[w->count - 1]);
}

static bool add_step(struct walk *w, const struct entity_type *type, const struct navigation *via,
                     const struct segment *s)
{
    if (w->out->read->filter != NULL) {
        return not_here(w, "navigation behind $filter in a path");
    }
    struct source *source = via != NULL ? bind_source_via(w->b, via) : bind_source_new(w->b, type);
    if (source == NULL) {
        return false;
    }
    w->steps[w->count++] = (struct path_step){.source = source, .via = via};
    w->single = via != NULL && !via->collection;
    w->out->read->source = source;
    w->b->it = source;
    return take_key(w, s);
}

static const struct entity_type *type_now(const struct walk *w)
{
    return w->steps[w->count - 1].source->type;
}

static bool bind_set(struct walk *w, const struct segment *s)
{
    const struct model *m = w->b->options->model;
    const struct entity_set *set = model_find_set(m, s->name);
    if (set != NULL) {
        return add_step(w, set->type, NULL, s);
    }
    if (str_ieq(s->name, STR("metadata"))) {
        return not_found(w, "no entity set '%.*s'; the model is at $metadata", STR_ARG(s->name));
    }
    return bind_fail_set(w->b, s->name);
}

static bool bind_cross(struct walk *w, const struct segment *s)
{
    struct source *source = bind_crossjoin(w->b, s);
    w->steps[w->count++] = (struct path_step){.source = source};
    w->out->read->source = source;
    w->b->it = source;
    return source != NULL;
}

static bool fail_member(struct walk *w, const struct segment *s)
{
    struct str meant = entity_type_suggest(type_now(w), s->name);
    if (meant.len > 0) {
        return not_found(w, "no such property '%.*s'; did you mean '%.*s'?",
                         STR_ARG(bind_clip(s->name)), STR_ARG(bind_clip(meant)));
    }
    return not_found(w, "no property '%.*s' of %.*s", STR_ARG(bind_clip(s->name)),
                     STR_ARG(bind_clip(type_now(w)->name)));
}

/*
 * The literal that the text of a segment is, for a key of this type; *out is NULL when it is none.
 * False: the arena.
 */
static bool segment_literal(struct walk *w, const struct segment *s, enum edm_type type,
                            struct expr **out)
{
    struct arena *a = w->b->arena;
    *out = NULL;
    if (type == EDM_STRING || type == EDM_ENUM) {
        *out = ARENA_NEW(a, struct expr);
        if (*out == NULL) {
            return arena_fail(a, w->b->err);
        }
        **out = (struct expr){.kind = EXPR_LITERAL, .literal = LITERAL_STRING, .text = s->name};
        return true;
    }
    struct odata_error tried = {0};
    struct expr *e = NULL;
    if (expression_parse(a, s->name, 2, "", ODATA_CODE_BAD_KEY, &e, &tried)) {
        *out = bind_is_literal(w->b, e) ? e : NULL;
        return true;
    }
    bool parsed = tried.http_status == 400 && tried.code != NULL &&
                  strcmp(tried.code, ODATA_CODE_REQUEST_TOO_COMPLEX) != 0;
    if (!parsed) {
        *w->b->err = tried;
    }
    return parsed;
}

/* The property of the key that segment number `at` is of, the parent's left out; NULL: no more. */
static const struct property *key_part(const struct walk *w, size_t at)
{
    const struct path_step *step = &w->steps[w->count - 1];
    const struct key *key = &type_now(w)->key;
    for (size_t i = 0; i < key->count; i++) {
        bool said = key->count > 1 && bind_key_is_said(step->via, key->properties[i]);
        if (!said && at-- == 0) {
            return key->properties[i];
        }
    }
    return NULL;
}

/*
 * /products/1 and /lines/10/2: the key as segments, one for each of its properties, without what the
 * parent says (URL Conventions 4.3.6). A name of the type means that name where the key begins, so
 * that a path without its key is told so.
 */
static bool take_key_segment(struct walk *w, const struct segment *s, bool *out_taken)
{
    const struct property *p = s->has_parens ? NULL : key_part(w, w->part_count);
    struct expr *value = NULL;
    *out_taken = false;
    if (p != NULL && !segment_literal(w, s, p->type.type, &value)) {
        return false;
    }
    if (value == NULL) {
        return true;
    }
    if (w->part_count == 0) {
        w->parts = ARENA_ARRAY(w->b->arena, type_now(w)->key.count, struct argument);
    }
    if (w->parts == NULL) {
        return arena_fail(w->b->arena, w->b->err);
    }
    *out_taken = true;
    w->parts[w->part_count++] = (struct argument){.name = p->name, .value = value};
    if (key_part(w, w->part_count) != NULL) {
        return true;
    }
    if (type_now(w)->key.count == 1) {
        w->parts[0].name = STR("");
    }
    const struct segment as_key = {
        .args = w->parts, .arg_count = w->part_count, .offset = s->offset};
    w->part_count = 0;
    return take_key(w, &as_key);
}

/* A key as segments has begun, and is not complete. */
static bool fail_parts(struct walk *w)
{
    return not_found(w, "the key of %.*s has a property '%.*s', whose segment is missing",
                     STR_ARG(bind_clip(type_now(w)->name)),
                     STR_ARG(bind_clip(key_part(w, w->part_count)->name)));
}

/* The step's key in the properties of a type that is derived from its own. */
static bool cast_key(struct walk *w, struct path_step *step, const struct entity_type *type)
{
    const struct property **properties =
        ARENA_ARRAY(w->b->arena, step->key_count, const struct property *);
    if (properties == NULL && step->key_count > 0) {
        return arena_fail(w->b->arena, w->b->err);
    }
    for (size_t i = 0; i < step->key_count; i++) {
        properties[i] = &type->properties[step->key_properties[i]->index];
    }
    step->key_properties = properties;
    return true;
}

/*
 * /animals/Ns.Dog, /animals(1)/Ns.Dog: what is of a derived type (URL Conventions 4.11). These are
 * the rows of the tables of that type; the entity set stays what it was.
 */
static bool take_cast(struct walk *w, const struct segment *s, const struct entity_type *type)
{
    struct read *read = w->out->read;
    struct path_step *step = &w->steps[w->count - 1];
    const struct source *from = step->source;
    if (read->filter != NULL) {
        return not_here(w, "a cast behind $filter in a path");
    }
    if (from->exact) {
        /* What a foreign key leads to is of its table's own type. */
        return w->single ? not_found(w, "there is no such entity of type %.*s",
                                     STR_ARG(bind_clip(type->name)))
                         : not_here(w, "a cast behind a many-to-many navigation");
    }
    struct source *source = bind_source_new(w->b, type);
    if (source == NULL || !cast_key(w, step, type)) {
        return false;
    }
    source->set = source_set(from);
    step->source = source;
    read->source = source;
    w->b->it = source;
    return take_key(w, s);
}

static bool bind_entity_name(struct walk *w, const struct segment *s)
{
    const struct entity_type *type = type_now(w);
    if (bind_is_own_type(w->b, s->name, type)) {
        return take_key(w, s);
    }
    const struct entity_type *cast = bind_derived_type(w->b, s->name, type);
    if (cast != NULL) {
        return take_cast(w, s, cast);
    }
    const struct navigation *n = entity_type_find_navigation(type, s->name);
    const struct property *p = entity_type_find_property(type, s->name);
    if (!w->single && n == NULL && p == NULL) {
        bool taken;
        return take_key_segment(w, s, &taken) && (taken || fail_member(w, s));
    }
    if (!w->single) {
        return not_found(w, "'%.*s' needs one entity: a key of %.*s must stand before it",
                         STR_ARG(bind_clip(s->name)), STR_ARG(bind_clip(type->name)));
    }
    if (n != NULL) {
        return add_step(w, n->target, n, s);
    }
    if (p == NULL) {
        return fail_member(w, s);
    }
    if (s->arg_count > 0) {
        return bad_path(w, s, "a property takes no key");
    }
    w->property = p;
    w->value = bind_property_expr(w->b, w->steps[w->count - 1].source, p);
    return w->value != NULL;
}

/* $all/ns.Type: all entities of a type are those of its set (URL Conventions 4.16). */
static bool bind_all_of(struct walk *w, const struct segment *s)
{
    const struct entity_type *type =
        s->kind == SEGMENT_NAME ? model_find_type(w->b->options->model, s->name) : NULL;
    if (type == NULL) {
        return not_found(w, "no entity type '%.*s' behind $all", STR_ARG(bind_clip(s->name)));
    }
    const struct entity_type *root = type;
    while (root->base != NULL) {
        root = root->base;
    }
    const struct segment whole = {.kind = SEGMENT_NAME, .name = root->name, .offset = s->offset};
    return add_step(w, root, NULL, root == type ? s : &whole) &&
           (root == type || bind_entity_name(w, s));
}

/* A segment behind a property: a part of a complex value. */
static bool bind_value_name(struct walk *w, const struct segment *s)
{
    if (w->value->type.type != EDM_COMPLEX || w->value->type.collection) {
        return not_found(w, "no property '%.*s' of %.*s", STR_ARG(bind_clip(s->name)),
                         STR_ARG(bind_type_name(w->b, &w->value->type)));
    }
    const struct complex_type *type = w->value->type.complex_type;
    if (str_find(s->name, '.', 0) < s->name.len &&
        model_find_complex(w->b->options->model, s->name) == type) {
        return true;
    }
    const struct property *p = complex_type_find_property(type, s->name);
    if (p == NULL) {
        return not_found(w, "no property '%.*s' of %.*s", STR_ARG(bind_clip(s->name)),
                         STR_ARG(bind_clip(type->name)));
    }
    const struct bound_expr *part = bind_part_expr(w->b, w->value, p);
    if (part == NULL) {
        return false;
    }
    w->value = part;
    w->property = p;
    return true;
}

static bool bind_value_end(struct walk *w, const struct segment *s)
{
    w->ended = true;
    if (w->value == NULL) {
        return bad_path(w, s,
                        w->single ? "$value of an entity that is no media entity"
                                  : "$value of a collection");
    }
    if (w->value->type.collection || w->value->type.type == EDM_COMPLEX) {
        return bad_path(w, s, "$value of something that is no primitive value");
    }
    w->out->kind = PLAN_RAW_VALUE;
    return true;
}

static bool bind_count_end(struct walk *w, const struct segment *s)
{
    w->ended = true;
    if (w->value != NULL ? !w->value->type.collection : w->single) {
        return bad_path(w, s, "$count of something that is no collection");
    }
    w->out->kind = PLAN_COUNT;
    w->out->read->count_rows = true;
    return true;
}

static bool bind_ref_end(struct walk *w, const struct segment *s)
{
    w->ended = true;
    if (w->value != NULL) {
        return bad_path(w, s, "$ref of a property");
    }
    if (type_now(w)->crossjoin) {
        return bad_path(w, s, "$ref of a cross join, whose rows have no id");
    }
    w->out->ref = true;
    return true;
}

/* /$filter(...): what is left of the collection (URL Conventions 4.12). */
static bool bind_filter_segment(struct walk *w, const struct segment *s)
{
    struct read *read = w->out->read;
    if (w->value != NULL) {
        return not_here(w, "$filter of values in a path");
    }
    if (w->single) {
        return bad_path(w, s, "$filter of a single entity");
    }
    struct scope scope = {.root = read->source, .clause = &clause_path_filter, .in_filter = true};
    const struct bound_expr *condition = bind_condition(w->b, &scope, s->args[0].value);
    if (condition != NULL && read->filter != NULL) {
        condition = bind_new_binary(w->b, OP_AND, EDM_BOOLEAN, read->filter, condition);
    }
    read->filter = condition;
    read->filter_hash = bind_hash_expr(w->b, read->filter_hash, s->args[0].value);
    return condition != NULL;
}

/* /$each: each member of the collection; for who reads, that is the collection. */
static bool bind_each(struct walk *w, const struct segment *s)
{
    return (w->value == NULL && !w->single) || bad_path(w, s, "$each of no collection of entities");
}

static bool bind_segment(struct walk *w, const struct segment *s)
{
    if (w->ended) {
        return bad_path(w, s, "nothing can follow $count, $value or $ref");
    }
    if (w->part_count > 0) {
        bool taken = false;
        return (s->kind != SEGMENT_NAME || take_key_segment(w, s, &taken)) &&
               (taken || fail_parts(w));
    }
    if (w->in_all && w->count == 0) {
        return bind_all_of(w, s);
    }
    if (w->count == 0 && s->kind == SEGMENT_ALL) {
        w->in_all = true;
        return true;
    }
    if (w->count == 0 && s->kind == SEGMENT_NAME) {
        return bind_set(w, s);
    }
    if (w->count == 0) {
        return s->kind == SEGMENT_CROSSJOIN ? bind_cross(w, s) : bind_other(w, s);
    }
    switch (s->kind) {
    case SEGMENT_NAME:
        return w->value != NULL ? bind_value_name(w, s) : bind_entity_name(w, s);
    case SEGMENT_COUNT:
        return bind_count_end(w, s);
    case SEGMENT_VALUE:
        return bind_value_end(w, s);
    case SEGMENT_REF:
        return bind_ref_end(w, s);
    case SEGMENT_METADATA:
    case SEGMENT_BATCH:
    case SEGMENT_ENTITY:
    case SEGMENT_ALL:
    case SEGMENT_CROSSJOIN:
    case SEGMENT_QUERY:
        break;
    case SEGMENT_FILTER:
        return bind_filter_segment(w, s);
    case SEGMENT_EACH:
        return bind_each(w, s);
    }
    return bind_other(w, s);
}

static void finish(struct walk *w)
{
    struct bound_path *out = w->out;
    struct read *read = out->read;
    read->steps = w->steps;
    read->step_count = w->count;
    read->type = type_now(w);
    read->value = w->value;
    read->single = w->single;
    out->property = w->property;
    if (!w->ended || out->ref) {
        out->kind = w->value != NULL ? PLAN_PROPERTY : w->single ? PLAN_ENTITY : PLAN_COLLECTION;
    }
    const struct path_step *last = &w->steps[w->count - 1];
    out->optional = last->via != NULL && !last->via->collection;
}

bool bind_path(struct binder *b, const struct resource_path *path, struct bound_path *out)
{
    *out = (struct bound_path){.kind = PLAN_SERVICE_DOCUMENT};
    if (path->count == 0) {
        return true;
    }
    if (path->count > LIMIT_PATH_SEGMENTS) {
        return odata_error_set(b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "",
                               "the path has more than %d segments", (int)LIMIT_PATH_SEGMENTS);
    }
    if (path->segments[0].kind == SEGMENT_METADATA && path->count == 1) {
        out->kind = PLAN_METADATA;
        return true;
    }
    struct walk w = {.b = b, .out = out};
    w.steps = ARENA_ARRAY(b->arena, path->count, struct path_step);
    out->read = ARENA_NEW(b->arena, struct read);
    if (w.steps == NULL || out->read == NULL) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < path->count; i++) {
        if (!bind_segment(&w, &path->segments[i])) {
            return false;
        }
    }
    if (w.count == 0) {
        return not_here(&w, "$all without a type, as in $all/ns.Type,");
    }
    if (w.part_count > 0) {
        return fail_parts(&w);
    }
    finish(&w);
    return true;
}

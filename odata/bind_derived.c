// SPDX-License-Identifier: Apache-2.0
/* Types and sources that are made for one request. */
#include <string.h>

#include "odata/apply_priv.h"

static bool is_column(const struct entity_type *t, struct str name)
{
    for (size_t i = 0; i < t->property_count; i++) {
        if (str_eq(t->properties[i].column, name)) {
            return true;
        }
    }
    return false;
}

bool bind_new_property(struct binder *b, const struct entity_type *beside, struct str name,
                       const struct bound_expr *value, struct property *out)
{
    struct str column;
    do {
        if (!arena_format(b->arena, &column, "c%u", b->next_column++)) {
            return arena_fail(b->arena, b->err);
        }
    } while (beside != NULL && is_column(beside, column));
    *out = (struct property){.name = name, .column = column, .type = value->type, .dynamic = true};
    out->description = STR("");
    out->pg.cast = STR("");
    out->type.nullable = value->nullable || value->type.nullable;
    if (value->kind == BOUND_PROPERTY && value->pg != NULL) {
        out->pg = *value->pg; /* it is passed on as it is stored */
    }
    return true;
}

bool bind_check_alias(struct binder *b, const struct clause *c, const struct entity_type *t,
                      struct str alias, size_t offset)
{
    /* Rows of a derived type have its members as well. */
    size_t count = t->tree == NULL || t->transient ? 1 : t->last - t->number + 1;
    for (size_t i = 0; i < count; i++) {
        const struct entity_type *one = i == 0 ? t : t->tree->types[t->number + i];
        if (entity_type_find_property(one, alias) != NULL ||
            entity_type_find_navigation(one, alias) != NULL) {
            return bind_fail_name(b, c, offset, alias, "is a name of %.*s already",
                                  STR_ARG(bind_clip(one->name)));
        }
    }
    return true;
}

bool bind_check_value(struct binder *b, const struct clause *c, const struct expr *e,
                      const struct bound_expr *value)
{
    if (value->type.type == EDM_NONE) {
        return bind_fail(b, c, e->offset, "null alone has no type");
    }
    if (value->type.type == EDM_ENTITY) {
        return bind_fail(b, c, e->offset, "an entity is no value");
    }
    if (value->kind != BOUND_PROPERTY &&
        (value->type.collection || value->type.type == EDM_COMPLEX)) {
        return odata_error_not_implemented(b->err, c->option, "a computed %.*s is not implemented",
                                           STR_ARG(bind_type_name(b, &value->type)));
    }
    return true;
}

/* The key's properties, in the copies that a new type has of them. */
static bool copy_key(struct binder *b, const struct entity_type *from, struct entity_type *to)
{
    to->key.properties = ARENA_ARRAY(b->arena, from->key.count, const struct property *);
    if (to->key.properties == NULL && from->key.count > 0) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < from->key.count; i++) {
        const struct property *p = from->key.properties[i];
        bool shown = p >= from->properties && p < from->properties + from->property_count;
        to->key.properties[i] = shown ? &to->properties[p - from->properties] : p;
    }
    return true;
}

const struct entity_type *bind_extend_type(struct binder *b, const struct entity_type *from,
                                           const struct property *more, size_t count)
{
    struct entity_type *t = ARENA_NEW(b->arena, struct entity_type);
    if (t == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    *t = *from;
    t->property_count = from->property_count + count;
    t->properties = ARENA_ARRAY(b->arena, t->property_count, struct property);
    if (t->properties == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    if (from->property_count > 0) {
        memcpy(t->properties, from->properties, from->property_count * sizeof(*more));
    }
    for (size_t i = 0; i < count; i++) {
        t->properties[from->property_count + i] = more[i];
        t->properties[from->property_count + i].index = from->property_count + i;
    }
    t->property_hash = NULL; /* a type made for a request is searched from end to end */
    t->property_hash_size = 0;
    return copy_key(b, from, t) ? t : NULL;
}
/* --- the rows of $apply --- */

static bool has_column(const struct property *const *items, size_t count, struct str column)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(items[i]->column, column)) {
            return true;
        }
    }
    return false;
}

struct derived *bind_derive(struct binder *b, struct source *from)
{
    const struct derived *old = from->derived;
    const struct entity_type *t = from->type;
    size_t hidden = old == NULL ? 0 : old->hidden_count;
    struct derived *d = ARENA_NEW(b->arena, struct derived);
    if (d != NULL) {
        size_t kinds = from->wide ? 1 + t->tree->slot_count : 0;
        d->passed =
            ARENA_ARRAY(b->arena, t->property_count + hidden + kinds + 1, const struct property *);
    }
    if (d == NULL || d->passed == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    d->from = from;
    for (size_t i = 0; i < t->property_count; i++) {
        d->passed[d->passed_count++] = &t->properties[i];
    }
    for (size_t i = 0; i < hidden; i++) {
        if (!has_column(d->passed, d->passed_count, old->hidden[i]->column)) {
            d->passed[d->passed_count++] = old->hidden[i];
        }
    }
    if (from->wide) { /* what derived types add is passed on as well */
        d->passed[d->passed_count++] = &t->tree->kind;
        for (size_t i = 0; i < t->tree->slot_count; i++) {
            d->passed[d->passed_count++] = &t->tree->slots[i].column;
        }
    }
    if (old != NULL) {
        d->hidden = old->hidden;
        d->hidden_count = old->hidden_count;
        d->sorted = old->sorted;
        d->sorted_count = old->sorted_count;
        d->unique = old->unique;
        d->repeats = old->repeats;
    }
    return d;
}

bool bind_hide(struct binder *b, struct derived *d, const struct property *p)
{
    if (has_column(d->hidden, d->hidden_count, p->column)) {
        return true;
    }
    const struct property **grown =
        ARENA_ARRAY(b->arena, d->hidden_count + 1, const struct property *);
    if (grown == NULL) {
        return arena_fail(b->arena, b->err);
    }
    if (d->hidden_count > 0) {
        memcpy(grown, d->hidden, d->hidden_count * sizeof(*grown));
    }
    grown[d->hidden_count] = p;
    d->hidden = grown;
    d->hidden_count++;
    return true;
}

const struct property *bind_add_column(struct binder *b, struct derived *d, struct str name,
                                       const struct bound_expr *e, enum column_function function)
{
    struct property *p = ARENA_NEW(b->arena, struct property);
    struct derived_column *grown =
        ARENA_ARRAY(b->arena, d->column_count + 1, struct derived_column);
    if (p == NULL || grown == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    if (!bind_new_property(b, d->from == NULL ? NULL : d->from->type, name, e, p)) {
        return NULL;
    }
    if (function != COLUMN_VALUE) {
        p->pg = (struct pg_type_ref){.cast = STR("")};
    }
    if (d->column_count > 0) {
        memcpy(grown, d->columns, d->column_count * sizeof(*grown));
    }
    grown[d->column_count++] = (struct derived_column){p, e, function};
    d->columns = grown;
    return p;
}

bool bind_derived(struct applying *x, struct derived *d, const struct entity_type *type)
{
    struct source *made = bind_source_new(x->b, type);
    if (made == NULL) {
        return false;
    }
    bool old = d->from != NULL && d->from->derived != NULL && d->from->derived->costly;
    d->costly = old || d->kind != DERIVED_SELECT || d->grouped || d->distinct || d->join != NULL ||
                d->window || d->has_top || d->skip > 0;
    made->derived = d;
    made->says_type = d->from != NULL && d->from->says_type;
    made->set = d->from == NULL ? NULL : d->from->set;
    made->wide = made->wide && d->kind == DERIVED_SELECT && d->from != NULL && d->from->wide &&
                 d->passed_count > 0 && !d->grouped && d->join == NULL;
    x->in = made;
    return true;
}

struct source *bind_again(struct binder *b, struct source *from)
{
    struct source *again = bind_source_new(b, from->type);
    if (again != NULL) {
        bind_source_like(again, from);
        bool costly = from->derived != NULL && from->derived->costly;
        again->shared = from->shared != NULL ? from->shared : costly ? from : NULL;
    }
    return again;
}

struct source *bind_copy(struct binder *b, const struct source *from)
{
    struct source *copy = bind_source_new(b, from->type);
    if (copy != NULL) {
        bind_source_like(copy, from);
    }
    return copy;
}

bool bind_keep(struct applying *x, const struct bound_expr *condition)
{
    struct derived *d = bind_derive(x->b, x->in);
    if (d == NULL) {
        return false;
    }
    d->filter = condition;
    return bind_derived(x, d, x->in->type);
}

const struct bound_expr *bind_binary_of(struct binder *b, enum operator op, enum edm_type type,
                                        const struct bound_expr *left,
                                        const struct bound_expr *right)
{
    struct bound_expr *e = bind_new(b, BOUND_OPERATOR, type, 2);
    if (e != NULL) {
        e->op = op;
        e->args[0] = left;
        e->args[1] = right;
        e->nullable = type != EDM_BOOLEAN && (left->nullable || right->nullable);
    }
    return e;
}

struct key bind_unique(const struct source *source)
{
    const struct derived *d = source->derived;
    return d != NULL && d->unique != NULL ? *d->unique : source->type->key;
}

/* --- a type whose members are leaves --- */

static bool is_first(const struct leaf *leaves, size_t at, size_t depth)
{
    for (size_t i = 0; i < at; i++) {
        if (str_eq(leaves[i].path[depth], leaves[at].path[depth])) {
            return false;
        }
    }
    return true;
}

/* The leaves whose path goes through the name of leaf `at`. */
static struct leaf *below(struct binder *b, const struct leaf *leaves, size_t count, size_t at,
                          size_t depth, size_t *out_count)
{
    struct leaf *some = ARENA_ARRAY(b->arena, count, struct leaf);
    if (some == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    *out_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (str_eq(leaves[i].path[depth], leaves[at].path[depth])) {
            some[(*out_count)++] = leaves[i];
        }
    }
    return some;
}

static struct entity_type *leaf_type(struct binder *b, const struct entity_type *like,
                                     const struct leaf *leaves, size_t count, size_t depth);

/* The member that the leaves of one name make: an entity in itself, or one of its properties. */
static bool add_entity(struct binder *b, struct entity_type *t, const struct leaf *some,
                       size_t count, size_t depth)
{
    struct navigation *n = &t->navigations[t->navigation_count];
    for (size_t i = 0; i < count; i++) {
        if (some[i].path_count == depth + 1 && some[i].navigation != NULL) {
            *n = *some[i].navigation; /* the whole entity has the others inside of it */
            n->index = t->navigation_count++;
            n->structures = some[i].structures;
            return true;
        }
    }
    struct entity_type *target = leaf_type(b, NULL, some, count, depth + 1);
    if (target == NULL) {
        return false;
    }
    target->name = some[0].path[depth];
    *n = (struct navigation){.name = some[0].path[depth],
                             .source = t,
                             .target = target,
                             .index = t->navigation_count++,
                             .embedded = true,
                             .expanded = true};
    for (size_t i = 0; i < count; i++) {
        n->structures |= some[i].structures;
        if (some[i].structures == 0) {
            n->structures = 0;
            break;
        }
    }
    return true;
}

/* What is null when there is no such entity: the first column that stands for it. */
static bool set_leaf_key(struct binder *b, struct entity_type *t)
{
    const struct property *first = t->property_count > 0 ? &t->properties[0] : NULL;
    for (size_t i = 0; first == NULL && i < t->navigation_count; i++) {
        const struct navigation *n = &t->navigations[i];
        first = n->embedded ? n->target->key.properties[0] : n->joins[0].local;
    }
    t->key.properties = ARENA_ARRAY(b->arena, 1, const struct property *);
    if (t->key.properties == NULL) {
        return arena_fail(b->arena, b->err);
    }
    t->key.properties[0] = first;
    t->key.count = first != NULL;
    return true;
}

static struct entity_type *leaf_type(struct binder *b, const struct entity_type *like,
                                     const struct leaf *leaves, size_t count, size_t depth)
{
    struct entity_type *t = ARENA_NEW(b->arena, struct entity_type);
    struct property *properties = ARENA_ARRAY(b->arena, count + 1, struct property);
    struct navigation *navigations = ARENA_ARRAY(b->arena, count + 1, struct navigation);
    if (t == NULL || properties == NULL || navigations == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    if (like != NULL) {
        *t = (struct entity_type){.namespace = like->namespace, .name = like->name};
        t->set = like->set;
    }
    t->transient = true;
    t->properties = properties;
    t->navigations = navigations;
    for (size_t i = 0; i < count; i++) {
        if (!is_first(leaves, i, depth)) {
            continue;
        }
        if (leaves[i].path_count == depth + 1 && leaves[i].column != NULL) {
            properties[t->property_count] = *leaves[i].column;
            properties[t->property_count].name = leaves[i].path[depth];
            properties[t->property_count].structures = leaves[i].structures;
            properties[t->property_count].index = t->property_count;
            t->property_count++;
            continue;
        }
        size_t some_count;
        struct leaf *some = below(b, leaves, count, i, depth, &some_count);
        if (some == NULL || !add_entity(b, t, some, some_count, depth)) {
            return NULL;
        }
    }
    return depth == 0 || set_leaf_key(b, t) ? t : NULL;
}

struct entity_type *bind_leaf_type(struct binder *b, const struct entity_type *like,
                                   const struct leaf *leaves, size_t count)
{
    return leaf_type(b, like, leaves, count, 0);
}

struct derived *bind_group_rows(struct applying *x)
{
    struct derived *d = bind_derive(x->b, x->in);
    struct key *unique = ARENA_NEW(x->b->arena, struct key);
    if (d == NULL) {
        return NULL;
    }
    if (unique == NULL) {
        arena_fail(x->b->arena, x->b->err);
        return NULL;
    }
    *unique = (struct key){x->partition, x->partition_count};
    d->passed = x->partition;
    d->passed_count = x->partition_count;
    d->hidden = x->partition;
    d->hidden_count = x->partition_count;
    d->sorted_count = 0;
    d->unique = unique;
    d->repeats = false;
    d->grouped = true;
    return d;
}

bool bind_group_end(struct applying *x, struct derived *d)
{
    const struct entity_type *type = bind_leaf_type(x->b, x->in->type, NULL, 0);
    return type != NULL && bind_derived(x, d, type);
}

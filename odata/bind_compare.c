// SPDX-License-Identifier: Apache-2.0
/* Comparisons: what may meet what, and what it means for entities and structured values. */
#include "odata/bind_priv.h"

bool bind_is_null(const struct bound_expr *e)
{
    return e->kind == BOUND_VALUE && e->text.ptr == NULL;
}

const struct bound_expr *bind_truth(struct binder *b, bool value)
{
    struct bound_expr *truth = bind_new(b, BOUND_VALUE, EDM_BOOLEAN, 0);
    if (truth != NULL) {
        truth->text = value ? STR("true") : STR("false");
    }
    return truth;
}

const struct bound_expr *bind_null(struct binder *b, const struct type_ref *type)
{
    struct bound_expr *null = bind_new(b, BOUND_VALUE, EDM_NONE, 0);
    if (null != NULL) {
        null->type = *type;
        null->nullable = true;
    }
    return null;
}

struct bound_expr *bind_new_binary(struct binder *b, enum operator op, enum edm_type type,
                                   const struct bound_expr *left, const struct bound_expr *right)
{
    struct bound_expr *made = bind_new(b, BOUND_OPERATOR, type, 2);
    if (made != NULL) {
        made->op = op;
        made->args[0] = left;
        made->args[1] = right;
        made->nullable = left->nullable || right->nullable;
    }
    return made;
}

const struct bound_expr *bind_fail_types(struct binder *b, const struct scope *s, size_t offset,
                                         enum operator op, const struct bound_expr *left,
                                         const struct bound_expr *right)
{
    bind_fail(b, s->clause, offset, "'%.*s' cannot take %.*s and %.*s", STR_ARG(operator_name(op)),
              STR_ARG(bind_type_name(b, &left->type)), STR_ARG(bind_type_name(b, &right->type)));
    return NULL;
}

bool bind_may_meet(const struct type_ref *a, const struct type_ref *b)
{
    if (a->collection != b->collection) {
        return false;
    }
    if (edm_is_numeric(a->type) && edm_is_numeric(b->type)) {
        return true;
    }
    return a->type == b->type && a->enum_type == b->enum_type &&
           a->complex_type == b->complex_type && a->entity_type == b->entity_type;
}

enum edm_type bind_wider(enum edm_type a, enum edm_type b)
{
    static const enum edm_type order[] = {EDM_SBYTE, EDM_BYTE,    EDM_INT16,  EDM_INT32,
                                          EDM_INT64, EDM_DECIMAL, EDM_SINGLE, EDM_DOUBLE};
    enum edm_type widest = a;
    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        if (order[i] == a || order[i] == b) {
            widest = order[i];
        }
    }
    return widest;
}

const struct bound_expr *bind_peer(struct binder *b, const struct scope *s, const struct expr *e,
                                   const struct bound_expr *other)
{
    bool has_literals = !other->type.collection && other->type.type != EDM_COMPLEX &&
                        other->type.type != EDM_ENTITY && other->type.type != EDM_NONE;
    return bind_literal(b, s->clause, e, has_literals ? &other->type : NULL,
                        has_literals ? other->pg : NULL);
}

struct scope bind_text_scope(const struct scope *s, const struct expr *e)
{
    struct scope text = *s;
    text.may_be_text = e->kind == EXPR_MEMBER && e->base == NULL;
    return text;
}

/* A value next to this one may be a string in quotes. */
static bool meets_text(const struct bound_expr *e)
{
    return !e->type.collection && !edm_is_numeric(e->type.type) && e->type.type != EDM_BOOLEAN;
}

bool bind_operands(struct binder *b, const struct scope *s, const struct expr *const *args,
                   const struct bound_expr *out[2])
{
    bool literal[2] = {bind_is_literal(b, args[0]), bind_is_literal(b, args[1])};
    if (literal[0] == literal[1]) {
        out[0] = bind_expr(b, s, args[0]);
        if (out[0] == NULL) {
            return false;
        }
        struct scope text = bind_text_scope(s, args[1]);
        out[1] = bind_expr(b, meets_text(out[0]) ? &text : s, args[1]);
    } else {
        size_t at = literal[0] ? 0 : 1;
        out[1 - at] = bind_expr(b, s, args[1 - at]);
        out[at] = out[1 - at] == NULL ? NULL : bind_peer(b, s, args[at], out[1 - at]);
    }
    return out[0] != NULL && out[1] != NULL;
}

/* An entity is compared by its key. */
static void hint_key(struct binder *b, const struct expr *e, const struct bound_expr *side)
{
    if (side->type.type == EDM_ENTITY && e->kind == EXPR_MEMBER && e->base == NULL &&
        side->type.entity_type->key.count > 0) {
        odata_error_hint(b->err, "an entity is compared by its key, %.*s/%.*s",
                         STR_ARG(bind_clip(e->name)),
                         STR_ARG(bind_clip(side->type.entity_type->key.properties[0]->name)));
    }
}

/* left op right, which may meet: true or false, never null, whatever the operands. */
static const struct bound_expr *new_comparison(struct binder *b, enum operator op,
                                               const struct bound_expr *left,
                                               const struct bound_expr *right)
{
    struct bound_expr *made = bind_new_binary(b, op, EDM_BOOLEAN, left, right);
    if (made != NULL) {
        made->nullable = false; /* URL Conventions 5.1.1.1 */
    }
    return made;
}

const struct bound_expr *bind_compare_null(struct binder *b, enum operator op,
                                           const struct bound_expr *e)
{
    const struct bound_expr *null = bind_null(b, &e->type);
    return null == NULL ? NULL : new_comparison(b, op, e, null);
}

/* op over items, which are conditions that are never null. */
static const struct bound_expr *new_junction(struct binder *b, enum operator op,
                                             const struct bound_expr *const *items, size_t count)
{
    struct bound_expr *made = bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, count);
    if (made == NULL) {
        return NULL;
    }
    made->op = op;
    for (size_t i = 0; i < count; i++) {
        made->args[i] = items[i];
    }
    return made;
}

/* e, or not e for `ne`. */
static const struct bound_expr *for_operator(struct binder *b, enum operator op,
                                             const struct bound_expr *e)
{
    return e == NULL || op == OP_EQ ? e : new_junction(b, OP_NOT, &e, 1);
}

/* What is compared, and the outcomes of its parts. */
struct parts {
    const struct bound_expr **items;
    size_t count;
};

static bool parts_init(struct binder *b, struct parts *p, size_t room)
{
    *p = (struct parts){.items = ARENA_ARRAY(b->arena, room + 2, const struct bound_expr *)};
    return p->items != NULL || arena_fail(b->arena, b->err);
}

static bool parts_add(struct parts *p, const struct bound_expr *part)
{
    p->items[p->count++] = part;
    return part != NULL;
}

static const struct bound_expr *compare_bound(struct binder *b, const struct scope *s,
                                              const struct expr *at, enum operator op,
                                              const struct bound_expr *left,
                                              const struct bound_expr *right);

/* Both are there, or neither is; and when they are, all parts are equal. */
static const struct bound_expr *both_or_neither(struct binder *b, struct parts *p,
                                                const struct bound_expr *left,
                                                const struct bound_expr *right)
{
    if (!parts_add(p, bind_compare_null(b, OP_NE, left)) ||
        !parts_add(p, bind_compare_null(b, OP_NE, right))) {
        return NULL;
    }
    const struct bound_expr *none[2] = {bind_compare_null(b, OP_EQ, left),
                                        bind_compare_null(b, OP_EQ, right)};
    if (none[0] == NULL || none[1] == NULL) {
        return NULL;
    }
    const struct bound_expr *ways[2] = {new_junction(b, OP_AND, none, 2),
                                        new_junction(b, OP_AND, p->items, p->count)};
    return ways[0] == NULL || ways[1] == NULL ? NULL : new_junction(b, OP_OR, ways, 2);
}

/* Structured values are equal when all their properties are. */
static const struct bound_expr *compare_complex(struct binder *b, const struct scope *s,
                                                const struct expr *at,
                                                const struct bound_expr *left,
                                                const struct bound_expr *right)
{
    const struct complex_type *type = left->type.complex_type;
    struct parts p;
    if (!parts_init(b, &p, type->property_count)) {
        return NULL;
    }
    for (size_t i = 0; i < type->property_count; i++) {
        const struct bound_expr *sides[2] = {bind_part_expr(b, left, &type->properties[i]),
                                             bind_part_expr(b, right, &type->properties[i])};
        if (sides[0] == NULL || sides[1] == NULL ||
            !parts_add(&p, compare_bound(b, s, at, OP_EQ, sides[0], sides[1]))) {
            return NULL;
        }
    }
    return both_or_neither(b, &p, left, right);
}

/* Entities are the same when their keys are. */
static const struct bound_expr *compare_entities(struct binder *b, const struct scope *s,
                                                 const struct expr *at,
                                                 const struct bound_expr *left,
                                                 const struct bound_expr *right)
{
    const struct key *key = &left->type.entity_type->key;
    struct parts p;
    if (!parts_init(b, &p, key->count)) {
        return NULL;
    }
    for (size_t i = 0; i < key->count; i++) {
        const struct bound_expr *sides[2] = {
            bind_property_expr(b, left->source, key->properties[i]),
            bind_property_expr(b, right->source, key->properties[i])};
        if (sides[0] == NULL || sides[1] == NULL ||
            !parts_add(&p, compare_bound(b, s, at, OP_EQ, sides[0], sides[1]))) {
            return NULL;
        }
    }
    return new_junction(b, OP_AND, p.items, p.count);
}

static bool is_path(const struct bound_expr *e)
{
    return e->kind == BOUND_PROPERTY || e->kind == BOUND_ELEMENT || e->kind == BOUND_ENTITY;
}

static const struct bound_expr *refuse(struct binder *b, const struct scope *s,
                                       const struct bound_expr *side)
{
    odata_error_not_implemented(b->err, s->clause->option, "comparing %.*s is not implemented",
                                STR_ARG(bind_type_name(b, &side->type)));
    return NULL;
}

static const struct bound_expr *compare_bound(struct binder *b, const struct scope *s,
                                              const struct expr *at, enum operator op,
                                              const struct bound_expr *left,
                                              const struct bound_expr *right)
{
    bool equality = op == OP_EQ || op == OP_NE;
    bool null = bind_is_null(left) || bind_is_null(right);
    if (!null && !bind_may_meet(&left->type, &right->type)) {
        return bind_fail_types(b, s, at->offset, op, left, right);
    }
    const struct bound_expr *sides[2] = {left, right};
    for (size_t i = 0; !equality && i < 2; i++) {
        const struct type_ref *type = &sides[i]->type;
        if (!bind_is_null(sides[i]) && (type->collection || !edm_is_ordered(type->type))) {
            bind_fail(b, s->clause, at->offset, "%.*s has no order",
                      STR_ARG(bind_type_name(b, type)));
            return NULL;
        }
    }
    if (null) {
        return new_comparison(b, op, left, right);
    }
    enum edm_type type = left->type.type;
    if (type == EDM_UNTYPED || type == EDM_GEOGRAPHY || type == EDM_GEOMETRY ||
        (left->type.collection && type == EDM_COMPLEX)) {
        return refuse(b, s, left);
    }
    if (left->type.collection) {
        bool met = bind_meet_collections(b, &sides[0], &sides[1]);
        return met ? new_comparison(b, op, sides[0], sides[1]) : NULL;
    }
    if (type == EDM_COMPLEX || type == EDM_ENTITY) {
        if (!is_path(left) || !is_path(right)) {
            return refuse(b, s, is_path(left) ? right : left);
        }
        return for_operator(b, op,
                            type == EDM_ENTITY ? compare_entities(b, s, at, left, right)
                                               : compare_complex(b, s, at, left, right));
    }
    return new_comparison(b, op, left, right);
}

/* [a,b] eq [c,d]: as long, and item by item. */
static const struct bound_expr *compare_arrays(struct binder *b, const struct scope *s,
                                               const struct expr *left, const struct expr *right)
{
    struct parts p;
    if (left->arg_count != right->arg_count || left->arg_count == 0) {
        return bind_truth(b, left->arg_count == right->arg_count);
    }
    if (!parts_init(b, &p, left->arg_count)) {
        return NULL;
    }
    for (size_t i = 0; i < left->arg_count; i++) {
        struct expr *sides[2] = {left->args[i], right->args[i]};
        struct expr equal = {.kind = EXPR_BINARY,
                             .op = OP_EQ,
                             .offset = left->args[i]->offset,
                             .args = sides,
                             .arg_count = 2};
        if (!parts_add(&p, bind_comparison(b, s, &equal))) {
            return NULL;
        }
    }
    return new_junction(b, OP_AND, p.items, p.count);
}

static const struct argument *find_member(const struct expr *object, struct str name)
{
    for (size_t i = 0; i < object->key_count; i++) {
        if (str_eq(object->key[i].name, name)) {
            return &object->key[i];
        }
    }
    return NULL;
}

/* Every member is a property; control information says nothing here. */
static bool check_members(struct binder *b, const struct scope *s, const struct expr *object,
                          const struct complex_type *type)
{
    for (size_t i = 0; i < object->key_count; i++) {
        struct str name = object->key[i].name;
        if (str_find(name, '@', 0) == name.len && complex_type_find_property(type, name) == NULL) {
            return bind_fail(b, s->clause, object->key[i].offset, "unknown property '%.*s' of %.*s",
                             STR_ARG(bind_clip(name)), STR_ARG(bind_clip(type->name)));
        }
    }
    return true;
}

static const struct bound_expr *compare_with(struct binder *b, const struct scope *s,
                                             const struct bound_expr *left,
                                             const struct expr *right);

/* A complex value with an object: what the object leaves out is null. */
static const struct bound_expr *compare_object(struct binder *b, const struct scope *s,
                                               const struct bound_expr *left,
                                               const struct expr *object)
{
    static const struct expr null = {.kind = EXPR_LITERAL, .literal = LITERAL_NULL};
    const struct complex_type *type = left->type.complex_type;
    struct parts p;
    if (!check_members(b, s, object, type) || !parts_init(b, &p, type->property_count) ||
        !parts_add(&p, bind_compare_null(b, OP_NE, left))) {
        return NULL;
    }
    for (size_t i = 0; i < type->property_count; i++) {
        const struct argument *member = find_member(object, type->properties[i].name);
        const struct bound_expr *part = bind_part_expr(b, left, &type->properties[i]);
        if (part == NULL ||
            !parts_add(&p, compare_with(b, s, part, member == NULL ? &null : member->value))) {
            return NULL;
        }
    }
    return new_junction(b, OP_AND, p.items, p.count);
}

/* left eq right, where right is anything that can be written. */
static const struct bound_expr *compare_with(struct binder *b, const struct scope *s,
                                             const struct bound_expr *left,
                                             const struct expr *right)
{
    const struct expr *value = bind_resolve(b, s->clause, right);
    if (value == NULL) {
        return NULL;
    }
    if (value->kind == EXPR_OBJECT && !left->type.collection && left->type.type == EDM_COMPLEX &&
        is_path(left)) {
        return compare_object(b, s, left, value);
    }
    const struct bound_expr *other;
    if (value->kind == EXPR_OBJECT) {
        bind_fail(b, s->clause, value->offset, "an object cannot be compared with %.*s",
                  STR_ARG(bind_type_name(b, &left->type)));
        return NULL;
    }
    if (value->kind == EXPR_ARRAY && !left->type.collection) {
        bind_fail(b, s->clause, value->offset, "an array cannot be compared with %.*s",
                  STR_ARG(bind_type_name(b, &left->type)));
        return NULL;
    }
    if (value->kind == EXPR_ARRAY) {
        other = bind_array(b, s, value, &left->type);
    } else {
        other = bind_is_literal(b, value) ? bind_peer(b, s, value, left) : bind_expr(b, s, value);
    }
    return other == NULL ? NULL : compare_bound(b, s, value, OP_EQ, left, other);
}

static bool is_structured(const struct expr *e)
{
    return e->kind == EXPR_ARRAY || e->kind == EXPR_OBJECT;
}

/* One side at least is an array or an object. */
static const struct bound_expr *compare_structured(struct binder *b, const struct scope *s,
                                                   const struct expr *e, const struct expr *left,
                                                   const struct expr *right)
{
    if (e->op != OP_EQ && e->op != OP_NE) {
        bind_fail(b, s->clause, e->offset, "arrays and objects have no order");
        return NULL;
    }
    if (left->kind == EXPR_ARRAY && right->kind == EXPR_ARRAY) {
        return for_operator(b, e->op, compare_arrays(b, s, left, right));
    }
    if (is_structured(left) && is_structured(right)) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "comparing two literals with an object is not implemented");
        return NULL;
    }
    const struct expr *literal = is_structured(left) ? left : right;
    const struct bound_expr *other = bind_expr(b, s, literal == left ? right : left);
    if (other != NULL && bind_is_null(other)) {
        return bind_truth(b, e->op == OP_NE);
    }
    return other == NULL ? NULL : for_operator(b, e->op, compare_with(b, s, other, literal));
}

const struct bound_expr *bind_comparison(struct binder *b, const struct scope *s,
                                         const struct expr *e)
{
    const struct expr *left = bind_resolve(b, s->clause, e->args[0]);
    const struct expr *right = left == NULL ? NULL : bind_resolve(b, s->clause, e->args[1]);
    if (right == NULL) {
        return NULL;
    }
    if (is_structured(left) || is_structured(right)) {
        return compare_structured(b, s, e, left, right);
    }
    const struct bound_expr *sides[2];
    if (!bind_operands(b, s, (const struct expr *const *)e->args, sides)) {
        return NULL;
    }
    const struct bound_expr *made = compare_bound(b, s, e, e->op, sides[0], sides[1]);
    if (made == NULL && b->err->http_status == 400) {
        hint_key(b, e->args[0], sides[0]);
        hint_key(b, e->args[1], sides[1]);
    }
    return made;
}

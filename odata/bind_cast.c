// SPDX-License-Identifier: Apache-2.0
/* cast() and isof(): which types may become which (URL Conventions 5.1.1.10). */
#include "odata/bind_priv.h"
#include "odata/name_index.h"

/* What becomes of a value that is cast. */
enum outcome {
    OUTCOME_SAME,      /* it has the type already */
    OUTCOME_ALWAYS,    /* every value can be cast */
    OUTCOME_SOMETIMES, /* null for the values that cannot */
    OUTCOME_NEVER,     /* null for all of them */
    OUTCOME_NOT_HERE,  /* standard, but not implemented */
};

static bool is_spatial(enum edm_type type)
{
    return type == EDM_GEOGRAPHY || type == EDM_GEOMETRY;
}

/* Primitive types whose values a string can hold. */
static bool has_text(enum edm_type type)
{
    return type == EDM_STRING || type == EDM_BOOLEAN || type == EDM_GUID || type == EDM_BINARY ||
           type == EDM_ENUM || edm_is_numeric(type) || edm_is_temporal(type);
}

/* Bits of the numbers from 0 on. */
static int integer_bits(enum edm_type type)
{
    static const int bits[EDM_TYPE_COUNT] = {
        [EDM_SBYTE] = 7, [EDM_BYTE] = 8, [EDM_INT16] = 15, [EDM_INT32] = 31, [EDM_INT64] = 63,
    };
    return bits[type];
}

static enum outcome between_numbers(enum edm_type from, enum edm_type to)
{
    if (!edm_is_integer(from)) {
        /* A Decimal can hold every Single and Double, a Double every Single. */
        bool wider = to == EDM_DECIMAL || (to == EDM_DOUBLE && from == EDM_SINGLE);
        return wider ? OUTCOME_ALWAYS : OUTCOME_SOMETIMES;
    }
    if (!edm_is_integer(to)) {
        return OUTCOME_ALWAYS;
    }
    bool holds = to != EDM_BYTE && integer_bits(to) >= integer_bits(from);
    return holds ? OUTCOME_ALWAYS : OUTCOME_SOMETIMES;
}

static bool is_same(const struct type_ref *from, const struct type_ref *to)
{
    return from->type == to->type && from->collection == to->collection &&
           from->enum_type == to->enum_type && from->complex_type == to->complex_type &&
           from->entity_type == to->entity_type;
}

static enum outcome outcome_of(const struct type_ref *from, const struct type_ref *to)
{
    if (is_same(from, to)) {
        return OUTCOME_SAME;
    }
    if (from->collection != to->collection) {
        return OUTCOME_NEVER;
    }
    if (is_spatial(from->type) || is_spatial(to->type)) {
        return from->type == EDM_STRING || to->type == EDM_STRING ? OUTCOME_NOT_HERE
                                                                  : OUTCOME_NEVER;
    }
    if (to->type == EDM_STRING) {
        return has_text(from->type) || from->type == EDM_UNTYPED ? OUTCOME_ALWAYS : OUTCOME_NEVER;
    }
    if (from->type == EDM_STRING) {
        return has_text(to->type) ? OUTCOME_SOMETIMES : OUTCOME_NEVER;
    }
    if (edm_is_numeric(from->type) && edm_is_numeric(to->type)) {
        return between_numbers(from->type, to->type);
    }
    if ((from->type == EDM_ENUM && edm_is_integer(to->type)) ||
        (edm_is_integer(from->type) && to->type == EDM_ENUM)) {
        return OUTCOME_SOMETIMES;
    }
    return OUTCOME_NEVER;
}

/* The names of the primitive types, for a hint. */
static const struct str primitive_names[] = {
    {STR_INIT("Edm.Binary")},    {STR_INIT("Edm.Boolean")},        {STR_INIT("Edm.Byte")},
    {STR_INIT("Edm.Date")},      {STR_INIT("Edm.DateTimeOffset")}, {STR_INIT("Edm.Decimal")},
    {STR_INIT("Edm.Double")},    {STR_INIT("Edm.Duration")},       {STR_INIT("Edm.Guid")},
    {STR_INIT("Edm.Int16")},     {STR_INIT("Edm.Int32")},          {STR_INIT("Edm.Int64")},
    {STR_INIT("Edm.SByte")},     {STR_INIT("Edm.Single")},         {STR_INIT("Edm.String")},
    {STR_INIT("Edm.TimeOfDay")},
};

static bool find_name(struct binder *b, const struct scope *s, const struct expr *e,
                      struct str name, struct type_ref *out)
{
    const struct model *m = b->options->model;
    bool qualified = str_find(name, '.', 0) < name.len;
    *out = bind_type(edm_find(name));
    if (out->type != EDM_NONE) {
        return true;
    }
    const struct enum_type *enum_type = model_find_enum(m, name);
    const struct complex_type *complex_type = model_find_complex(m, name);
    const struct entity_type *entity_type = qualified ? model_find_type(m, name) : NULL;
    out->enum_type = enum_type;
    out->complex_type = complex_type;
    out->entity_type = entity_type;
    out->type = enum_type != NULL      ? EDM_ENUM
                : complex_type != NULL ? EDM_COMPLEX
                : entity_type != NULL  ? EDM_ENTITY
                                       : EDM_NONE;
    if (out->type != EDM_NONE) {
        return true;
    }
    bind_fail(b, s->clause, e->offset, "unknown type '%.*s'", STR_ARG(bind_clip(name)));
    const struct named named = {primitive_names, ARRAY_SIZE(primitive_names),
                                sizeof(primitive_names[0]), 0};
    size_t nearest = name_index_nearest(&named, name);
    return nearest < ARRAY_SIZE(primitive_names) &&
           odata_error_hint(b->err, "did you mean '%.*s'?", STR_ARG(primitive_names[nearest]));
}

/* ns.Type, Collection(ns.Type), or the name in quotes, as clients of version 3 write it. */
static bool find_type(struct binder *b, const struct scope *s, const struct expr *e,
                      struct type_ref *out)
{
    if (e->kind == EXPR_MEMBER && e->base == NULL && e->key_count == 0) {
        return find_name(b, s, e, e->name, out);
    }
    if (e->kind == EXPR_LITERAL && e->literal == LITERAL_STRING) {
        return find_name(b, s, e, e->text, out);
    }
    if (e->kind == EXPR_CALL && e->base == NULL && e->arg_count == 1 &&
        str_eq(e->name, STR("Collection")) && e->args[0]->kind == EXPR_MEMBER &&
        e->args[0]->base == NULL) {
        bool found = find_name(b, s, e->args[0], e->args[0]->name, out);
        out->collection = true;
        return found;
    }
    return bind_fail(b, s->clause, e->offset, "expected the name of a type, such as Edm.Int32");
}

const struct bound_expr *bind_new_cast(struct binder *b, const struct bound_expr *from,
                                       const struct type_ref *type)
{
    struct bound_expr *made = bind_new(b, BOUND_CAST, EDM_NONE, 1);
    if (made != NULL) {
        made->type = *type;
        made->args[0] = from;
        made->nullable = true;
        made->number = b->next_number++;
    }
    return made;
}

static const struct bound_expr *cast_to(struct binder *b, const struct scope *s,
                                        const struct bound_expr *from, const struct type_ref *to,
                                        enum outcome outcome)
{
    struct type_ref between = bind_type(EDM_INT32);
    between.collection = from->type.collection;
    switch (outcome) {
    case OUTCOME_SAME:
        return from;
    case OUTCOME_ALWAYS:
    case OUTCOME_SOMETIMES:
        /* A member of an enumeration is its number first. */
        if (from->type.type == EDM_ENUM && edm_is_numeric(to->type)) {
            from = bind_new_cast(b, from, &between);
            if (from == NULL || to->type == EDM_INT32) {
                return from;
            }
        }
        return bind_new_cast(b, from, to);
    case OUTCOME_NEVER:
        return bind_null(b, to);
    case OUTCOME_NOT_HERE:
        break;
    }
    odata_error_not_implemented(
        b->err, s->clause->option, "casting %.*s to %.*s is not implemented",
        STR_ARG(bind_type_name(b, &from->type)), STR_ARG(bind_type_name(b, to)));
    return NULL;
}

/* e is null, or can be cast: what is null can be cast to any type. */
static const struct bound_expr *castable(struct binder *b, const struct scope *s,
                                         const struct bound_expr *e, const struct type_ref *to)
{
    const struct bound_expr *cast = cast_to(b, s, e, to, OUTCOME_SOMETIMES);
    struct bound_expr *made = cast == NULL ? NULL : bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, 2);
    if (made == NULL) {
        return NULL;
    }
    made->op = OP_OR;
    made->args[0] = bind_compare_null(b, OP_EQ, e);
    made->args[1] = bind_compare_null(b, OP_NE, cast);
    return made->args[0] == NULL || made->args[1] == NULL ? NULL : made;
}

static const struct bound_expr *is_of(struct binder *b, const struct scope *s,
                                      const struct bound_expr *e, const struct type_ref *to,
                                      enum outcome outcome)
{
    switch (outcome) {
    case OUTCOME_SAME:
    case OUTCOME_ALWAYS:
        return bind_truth(b, true);
    case OUTCOME_SOMETIMES:
        return castable(b, s, e, to);
    case OUTCOME_NEVER:
        return bind_truth(b, false);
    case OUTCOME_NOT_HERE:
        break;
    }
    return cast_to(b, s, e, to, outcome);
}

/* An entity is what its row says, so that a cast to a derived type is null in other rows. */
static const struct bound_expr *bind_entity_cast(struct binder *b, const struct scope *s,
                                                 const struct bound_expr *from,
                                                 const struct entity_type *to, bool test)
{
    const struct entity_type *type = from->type.entity_type;
    const struct type_ref null = {.type = EDM_ENTITY, .nullable = true, .entity_type = to};
    const struct bound_expr *cast = from;
    if (!entity_type_is(type, to) && !entity_type_is(to, type)) {
        return test ? bind_truth(b, false) : bind_null(b, &null);
    }
    if (!entity_type_is(type, to)) {
        struct source *source =
            bind_source_cast(b, bind_source_own(from->source), to, s->in_filter);
        cast = source == NULL ? NULL : bind_entity_expr(b, source);
    }
    if (!test || cast == NULL) {
        return cast;
    }
    /* Where there is no entity, there is none of that type. */
    return cast->nullable ? bind_compare_null(b, OP_NE, cast) : bind_truth(b, true);
}

const struct bound_expr *bind_cast(struct binder *b, const struct scope *s, const struct expr *e)
{
    bool test = str_eq(e->name, STR("isof"));
    if (e->arg_count < 1 || e->arg_count > 2) {
        bind_fail(b, s->clause, e->offset, "%.*s() takes an expression and a type, or a type",
                  STR_ARG(e->name));
        return NULL;
    }
    struct type_ref to = {0};
    struct scope text = bind_text_scope(s, e->args[0]);
    const struct bound_expr *from =
        e->arg_count == 2 ? bind_expr(b, &text, e->args[0]) : bind_current(b, s);
    if (from == NULL || !find_type(b, s, e->args[e->arg_count - 1], &to)) {
        return NULL;
    }
    if (from->type.type == EDM_NONE) {
        return test ? bind_truth(b, true) : bind_null(b, &to);
    }
    if (from->kind == BOUND_ENTITY && to.type == EDM_ENTITY && !to.collection) {
        return bind_entity_cast(b, s, from, to.entity_type, test);
    }
    enum outcome outcome = outcome_of(&from->type, &to);
    return test ? is_of(b, s, from, &to, outcome) : cast_to(b, s, from, &to, outcome);
}

// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "odata/bind_priv.h"
#include "odata/bind_temporal.h"
#include "odata/name_index.h"

struct type_ref bind_type(enum edm_type type)
{
    return (struct type_ref){.type = type,
                             .nullable = true,
                             .max_length = FACET_NONE,
                             .precision = FACET_NONE,
                             .scale = FACET_NONE};
}

struct str bind_type_name(struct binder *b, const struct type_ref *type)
{
    struct str namespace = STR("");
    struct str name = edm_name(type->type);
    if (type->type == EDM_ENUM) {
        namespace = type->enum_type->namespace;
        name = type->enum_type->name;
    } else if (type->type == EDM_COMPLEX) {
        namespace = type->complex_type->namespace;
        name = type->complex_type->name;
    } else if (type->type == EDM_ENTITY) {
        namespace = type->entity_type->namespace;
        name = type->entity_type->name;
    } else if (type->type == EDM_NONE) {
        return STR("null");
    } else if (!type->collection) {
        return name;
    }
    struct str text;
    if (!arena_format(b->arena, &text, "%s%.*s%s%.*s%s", type->collection ? "Collection(" : "",
                      STR_ARG(bind_clip(namespace)), namespace.len > 0 ? "." : "",
                      STR_ARG(bind_clip(name)), type->collection ? ")" : "")) {
        return STR("?");
    }
    return text;
}

static const struct alias *find_in(const struct alias *a, struct str name)
{
    while (a != NULL && !str_eq(a->name, name)) {
        a = a->next;
    }
    return a;
}

static const struct alias *find_alias(const struct binder *b, struct str name)
{
    for (const struct alias_scope *s = b->aliases; s != NULL; s = s->outer) {
        const struct alias *found = find_in(s->first, name);
        if (found != NULL) {
            return found;
        }
    }
    return find_in(b->request->aliases, name);
}

static size_t count_aliases(const struct binder *b)
{
    size_t count = 0;
    for (const struct alias *a = b->request->aliases; a != NULL; a = a->next) {
        count++;
    }
    for (const struct alias_scope *s = b->aliases; s != NULL; s = s->outer) {
        for (const struct alias *a = s->first; a != NULL; a = a->next) {
            count++;
        }
    }
    return count;
}

const struct expr *bind_resolve(struct binder *b, const struct clause *c, const struct expr *e)
{
    static const struct expr null = {.kind = EXPR_LITERAL, .literal = LITERAL_NULL};
    /* A chain longer than the number of aliases goes in a circle. */
    size_t left = 1 + count_aliases(b);
    const struct expr *at = e;
    while (at->kind == EXPR_ALIAS) {
        const struct alias *alias = find_alias(b, at->name);
        if (alias == NULL) {
            return &null; /* Protocol 11.2.5.1: an alias without a value is null */
        }
        if (alias->value == NULL) {
            bind_fail(b, c, e->offset, "the value of @%.*s is no expression",
                      STR_ARG(bind_clip(at->name)));
            return NULL;
        }
        if (left-- == 0) {
            bind_fail(b, c, e->offset, "the alias @%.*s is defined by itself",
                      STR_ARG(bind_clip(e->name)));
            return NULL;
        }
        at = alias->value;
    }
    return at;
}

/* The literal that e is, negated when *out_negative. NULL when it is none; for no message. */
static const struct expr *literal_of(struct binder *b, const struct expr *e, bool *out_negative)
{
    static const struct clause silent = {"", "", NULL};
    struct odata_error dropped;
    struct odata_error *kept = b->err;
    b->err = &dropped;
    const struct expr *at = bind_resolve(b, &silent, e);
    *out_negative = false;
    if (at != NULL && at->kind == EXPR_UNARY && at->op == OP_NEGATE) {
        at = bind_resolve(b, &silent, at->args[0]);
        *out_negative = true;
        if (at != NULL && at->kind == EXPR_LITERAL && at->literal != LITERAL_INTEGER &&
            at->literal != LITERAL_DECIMAL && at->literal != LITERAL_DOUBLE) {
            at = NULL;
        }
    }
    b->err = kept;
    return at != NULL && at->kind == EXPR_LITERAL ? at : NULL;
}

bool bind_is_literal(struct binder *b, const struct expr *e)
{
    bool negative;
    return literal_of(b, e, &negative) != NULL;
}

static const char *const literal_names[] = {
    [LITERAL_NULL] = "null",
    [LITERAL_BOOLEAN] = "boolean",
    [LITERAL_INTEGER] = "integer",
    [LITERAL_DECIMAL] = "decimal",
    [LITERAL_DOUBLE] = "double",
    [LITERAL_STRING] = "string",
    [LITERAL_GUID] = "guid",
    [LITERAL_DATE] = "date",
    [LITERAL_DATETIMEOFFSET] = "datetimeoffset",
    [LITERAL_TIMEOFDAY] = "timeofday",
    [LITERAL_DURATION] = "duration",
    [LITERAL_BINARY] = "binary",
    [LITERAL_ENUM] = "enumeration",
    [LITERAL_GEOGRAPHY] = "geography",
    [LITERAL_GEOMETRY] = "geometry",
};

/* A value under construction. */
struct making {
    struct binder *b;
    const struct clause *clause;
    const struct expr *literal;
    bool negative;
    struct bound_expr *value;
};

/* How the values of a type are written. */
static const struct form {
    enum edm_type type;
    const char *hint;
} forms[] = {
    {EDM_STRING, "strings stand in single quotes"},
    {EDM_BOOLEAN, "write it as true or false"},
    {EDM_DATE, "write it as 2024-01-01"},
    {EDM_DATETIMEOFFSET, "write it as 2024-01-01T00:00:00Z"},
    {EDM_TIMEOFDAY, "write it as 07:59:00"},
    {EDM_DURATION, "write it as duration'PT1H'"},
    {EDM_GUID, "write it as 01234567-89ab-cdef-0123-456789abcdef"},
    {EDM_BINARY, "write it as binary'T0RhdGE='"},
};

static bool hint_form(const struct making *m, enum edm_type type)
{
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        if (forms[i].type == type) {
            return odata_error_hint(m->b->err, "%s", forms[i].hint);
        }
    }
    return edm_is_numeric(type) && m->literal->literal == LITERAL_STRING &&
           odata_error_hint(m->b->err, "numbers stand without quotes");
}

static bool mismatch(const struct making *m, const struct type_ref *want)
{
    bind_fail(m->b, m->clause, m->literal->offset, "expected %.*s, found %s",
              STR_ARG(bind_type_name(m->b, want)), literal_names[m->literal->literal]);
    return hint_form(m, want->type);
}

static bool bad_form(const struct making *m, enum edm_type type)
{
    bind_fail_name(m->b, m->clause, m->literal->offset, m->literal->text, "is no %.*s",
                   STR_ARG(edm_name(type)));
    return hint_form(m, type);
}

static bool set_text(const struct making *m, struct str text)
{
    if (memchr(text.ptr, '\0', text.len) != NULL) {
        /* PostgreSQL's text cannot hold it, and a parameter would end there. */
        return bind_fail(m->b, m->clause, m->literal->offset,
                         "a value must not contain the character U+0000");
    }
    return arena_copy(m->b->arena, text, &m->value->text) || arena_fail(m->b->arena, m->b->err);
}

/* The number as PostgreSQL reads it: without a plus, with the sign that stands before it. */
static bool set_number(const struct making *m)
{
    struct str text = m->literal->text;
    bool negative = m->negative;
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
        negative = negative != (text.ptr[0] == '-');
        text = str_from_offset(text, 1);
    }
    if (str_ieq(text, STR("INF"))) {
        text = STR("Infinity");
    }
    const struct str parts[] = {negative ? STR("-") : STR(""), text};
    return arena_join(m->b->arena, parts, ARRAY_SIZE(parts), &m->value->text) ||
           arena_fail(m->b->arena, m->b->err);
}

/* Text of digits with an optional minus: its value when it fits 64 bits. */
static bool to_i64(struct str text, int64_t *out)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    uint64_t size;
    if (!str_to_u64(str_from_offset(text, negative ? 1 : 0), &size) ||
        size > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

static const struct range {
    enum edm_type type;
    int64_t least;
    int64_t most;
} integer_ranges[] = {
    {EDM_BYTE, 0, UINT8_MAX},          {EDM_SBYTE, INT8_MIN, INT8_MAX},
    {EDM_INT16, INT16_MIN, INT16_MAX}, {EDM_INT32, INT32_MIN, INT32_MAX},
    {EDM_INT64, INT64_MIN, INT64_MAX},
};

/* The type of an integer literal: `least` when it fits, else the next one that holds it. */
static enum edm_type integer_type(struct str text, enum edm_type least)
{
    int64_t value;
    if (!to_i64(text, &value)) {
        return EDM_DECIMAL;
    }
    bool wide_enough = false;
    for (size_t i = 0; i < ARRAY_SIZE(integer_ranges); i++) {
        const struct range *r = &integer_ranges[i];
        wide_enough = wide_enough || r->type == least;
        if (wide_enough && value >= r->least && value <= r->most) {
            return r->type;
        }
    }
    return EDM_DECIMAL;
}

static bool is_finite_literal(const struct expr *literal)
{
    struct str t = literal->text;
    return t.len > 0 && !str_ieq(t, STR("INF")) && !str_ieq(t, STR("-INF")) &&
           !str_ieq(t, STR("+INF")) && !str_ieq(t, STR("NaN"));
}

/* A floating-point number that its type can hold; Single becomes Double where that is needed. */
static bool make_floating(const struct making *m, enum edm_type want)
{
    m->value->type.type = want;
    if (!set_number(m)) {
        return false;
    }
    if (!is_finite_literal(m->literal)) {
        return true;
    }
    errno = 0;
    double size = fabs(strtod(m->value->text.ptr, NULL));
    if (errno == ERANGE) {
        return bind_fail_name(m->b, m->clause, m->literal->offset, m->literal->text,
                              "does not fit Edm.Double");
    }
    if (want == EDM_SINGLE && size != 0 && (size > 3.4028235e38 || size < 1.2e-38)) {
        m->value->type.type = EDM_DOUBLE;
    }
    return true;
}

static bool make_number(const struct making *m, const struct type_ref *want)
{
    enum literal_kind kind = m->literal->literal;
    if (kind != LITERAL_INTEGER && kind != LITERAL_DECIMAL && kind != LITERAL_DOUBLE) {
        return mismatch(m, want);
    }
    if (want->type == EDM_DOUBLE || want->type == EDM_SINGLE) {
        return make_floating(m, want->type);
    }
    if (kind == LITERAL_DOUBLE && (edm_is_integer(want->type) || !is_finite_literal(m->literal))) {
        return make_floating(m, EDM_DOUBLE);
    }
    m->value->type.type = EDM_DECIMAL;
    if (!set_number(m)) {
        return false;
    }
    if (kind == LITERAL_INTEGER && edm_is_integer(want->type)) {
        m->value->type.type = integer_type(m->value->text, want->type);
    }
    return true;
}

static bool make_boolean(const struct making *m, const struct type_ref *want)
{
    if (m->literal->literal != LITERAL_BOOLEAN) {
        return mismatch(m, want);
    }
    return set_text(m, str_ieq(m->literal->text, STR("true")) ? STR("true") : STR("false"));
}

static bool make_string(const struct making *m, const struct type_ref *want)
{
    return m->literal->literal == LITERAL_STRING ? set_text(m, m->literal->text)
                                                 : mismatch(m, want);
}

static bool is_guid(struct str s)
{
    if (s.len != 36) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        char c = s.ptr[i];
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (dash ? c != '-' : !hex) {
            return false;
        }
    }
    return true;
}

static bool make_guid(const struct making *m, const struct type_ref *want)
{
    if (m->literal->literal != LITERAL_GUID && m->literal->literal != LITERAL_STRING) {
        return mismatch(m, want);
    }
    return is_guid(m->literal->text) ? set_text(m, m->literal->text) : bad_form(m, EDM_GUID);
}

/* Types whose text form is checked and turned into PostgreSQL's by one function. */
static const struct temporal {
    enum edm_type type;
    enum literal_kind literal;
    bool (*convert)(struct str text, struct bytes *out);
} temporals[] = {
    {EDM_DATE, LITERAL_DATE, bind_date_text},
    {EDM_DATETIMEOFFSET, LITERAL_DATETIMEOFFSET, bind_datetimeoffset_text},
    {EDM_TIMEOFDAY, LITERAL_TIMEOFDAY, bind_timeofday_text},
    {EDM_DURATION, LITERAL_DURATION, bind_duration_text},
    {EDM_BINARY, LITERAL_BINARY, bind_binary_text},
};

static bool make_converted(const struct making *m, const struct type_ref *want)
{
    const struct temporal *t = temporals;
    while (t->type != want->type) {
        t++;
    }
    /* Quoted values are taken, too: clients send them (and 4.01 does so for durations). */
    if (m->literal->literal != t->literal && m->literal->literal != LITERAL_STRING) {
        return mismatch(m, want);
    }
    struct bytes text;
    bytes_init(&text, m->literal->text.len * 2 + 128);
    bool ok = t->convert(m->literal->text, &text) ? true : bad_form(m, t->type);
    if (ok && bytes_failed(&text)) {
        ok = bytes_fail(&text, m->b->err);
    }
    ok = ok && set_text(m, bytes_str(&text));
    bytes_fini(&text);
    return ok;
}

static bool make_enum(const struct making *m, const struct type_ref *want)
{
    const struct enum_type *type = want->enum_type;
    const struct expr *literal = m->literal;
    if (literal->literal == LITERAL_ENUM) {
        if (model_find_enum(m->b->options->model, literal->type_name) != type) {
            return mismatch(m, want);
        }
    } else if (literal->literal != LITERAL_STRING) {
        return mismatch(m, want);
    }
    if (!enum_type_has_member(type, literal->text)) {
        const struct named named = {type->members, type->member_count, sizeof(struct str), 0};
        size_t nearest = name_index_nearest(&named, literal->text);
        bind_fail_name(m->b, m->clause, literal->offset, literal->text, "is no member of %.*s",
                       STR_ARG(bind_type_name(m->b, want)));
        return nearest < type->member_count &&
               odata_error_hint(m->b->err, "did you mean '%.*s'?",
                                STR_ARG(bind_clip(type->members[nearest])));
    }
    m->value->type.enum_type = type;
    return set_text(m, literal->text);
}

/* The type that a literal has by itself. */
static bool natural_type(const struct making *m, struct type_ref *out)
{
    static const enum edm_type types[] = {
        [LITERAL_NULL] = EDM_NONE,
        [LITERAL_BOOLEAN] = EDM_BOOLEAN,
        [LITERAL_INTEGER] = EDM_INT32,
        [LITERAL_DECIMAL] = EDM_DECIMAL,
        [LITERAL_DOUBLE] = EDM_DOUBLE,
        [LITERAL_STRING] = EDM_STRING,
        [LITERAL_GUID] = EDM_GUID,
        [LITERAL_DATE] = EDM_DATE,
        [LITERAL_DATETIMEOFFSET] = EDM_DATETIMEOFFSET,
        [LITERAL_TIMEOFDAY] = EDM_TIMEOFDAY,
        [LITERAL_DURATION] = EDM_DURATION,
        [LITERAL_BINARY] = EDM_BINARY,
        [LITERAL_ENUM] = EDM_ENUM,
        [LITERAL_GEOGRAPHY] = EDM_GEOGRAPHY,
        [LITERAL_GEOMETRY] = EDM_GEOMETRY,
    };
    *out = bind_type(types[m->literal->literal]);
    if (out->type == EDM_ENUM) {
        out->enum_type = model_find_enum(m->b->options->model, m->literal->type_name);
        if (out->enum_type == NULL) {
            return bind_fail(m->b, m->clause, m->literal->offset, "unknown type '%.*s'",
                             STR_ARG(bind_clip(m->literal->type_name)));
        }
    }
    return true;
}

static bool make_value(const struct making *m, const struct type_ref *want)
{
    switch (want->type) {
    case EDM_BOOLEAN:
        return make_boolean(m, want);
    case EDM_BYTE:
    case EDM_SBYTE:
    case EDM_INT16:
    case EDM_INT32:
    case EDM_INT64:
    case EDM_DECIMAL:
    case EDM_DOUBLE:
    case EDM_SINGLE:
        return make_number(m, want);
    case EDM_STRING:
        return make_string(m, want);
    case EDM_GUID:
        return make_guid(m, want);
    case EDM_DATE:
    case EDM_DATETIMEOFFSET:
    case EDM_TIMEOFDAY:
    case EDM_DURATION:
    case EDM_BINARY:
        return make_converted(m, want);
    case EDM_ENUM:
        return make_enum(m, want);
    case EDM_NONE:
    case EDM_STREAM:
    case EDM_UNTYPED:
    case EDM_GEOGRAPHY:
    case EDM_GEOMETRY:
    case EDM_COMPLEX:
    case EDM_ENTITY:
    case EDM_TYPE_COUNT:
        break;
    }
    return odata_error_not_implemented(
        m->b->err, m->clause->option, "%s values of %.*s are not implemented",
        literal_names[m->literal->literal], STR_ARG(bind_type_name(m->b, want)));
}

const struct bound_expr *bind_literal(struct binder *b, const struct clause *c,
                                      const struct expr *e, const struct type_ref *want,
                                      const struct pg_type_ref *pg)
{
    struct making m = {.b = b, .clause = c};
    m.literal = literal_of(b, e, &m.negative);
    struct type_ref type = bind_type(EDM_NONE);
    m.value = bind_new(b, BOUND_VALUE, EDM_NONE, 0);
    if (m.literal == NULL || m.value == NULL) {
        return NULL;
    }
    if (m.literal->literal == LITERAL_NULL) {
        m.value->nullable = true;
        m.value->type = want == NULL ? type : *want;
        m.value->pg = pg;
        return m.value;
    }
    if (want == NULL || want->type == EDM_NONE) {
        if (!natural_type(&m, &type)) {
            return NULL;
        }
    } else {
        type = *want;
        type.collection = false;
        m.value->pg = pg;
    }
    m.value->type = type;
    return make_value(&m, &type) ? m.value : NULL;
}

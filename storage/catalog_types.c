// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_types.h"

#include "odata/limits.h"
#include "storage/catalog_names.h"

/* OIDs of PostgreSQL's own types; they never change (catalog/pg_type.dat). */
enum {
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
    OID_TIMESTAMP = 1114,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700,
};

/* What the type modifier of a type says. */
enum modifier {
    MODIFIER_NONE,
    MODIFIER_LENGTH,    /* n + 4 */
    MODIFIER_BITS,      /* n */
    MODIFIER_NUMERIC,   /* precision and scale */
    MODIFIER_PRECISION, /* digits of the fraction of a second */
    MODIFIER_INTERVAL,  /* the same in the lower half; which fields it has in the upper */
    MODIFIER_MONEY,     /* has none: two places, and 19 digits as int8 has */
};

static const struct builtin {
    uint32_t oid;
    enum edm_type type;
    enum modifier modifier;
    struct str cast;
} builtins[] = {
    {16, EDM_BOOLEAN, MODIFIER_NONE, {STR_INIT("bool")}},
    {17, EDM_BINARY, MODIFIER_NONE, {STR_INIT("bytea")}},
    {20, EDM_INT64, MODIFIER_NONE, {STR_INIT("int8")}},
    {21, EDM_INT16, MODIFIER_NONE, {STR_INIT("int2")}},
    {23, EDM_INT32, MODIFIER_NONE, {STR_INIT("int4")}},
    {25, EDM_STRING, MODIFIER_NONE, {STR_INIT("text")}},
    {26, EDM_INT64, MODIFIER_NONE, {STR_INIT("oid")}},
    {114, EDM_UNTYPED, MODIFIER_NONE, {STR_INIT("json")}},
    {700, EDM_SINGLE, MODIFIER_NONE, {STR_INIT("float4")}},
    {701, EDM_DOUBLE, MODIFIER_NONE, {STR_INIT("float8")}},
    {790, EDM_DECIMAL, MODIFIER_MONEY, {STR_INIT("money")}},
    /* Without a length: `char` alone would be char(1). */
    {OID_BPCHAR, EDM_STRING, MODIFIER_LENGTH, {STR_INIT("bpchar")}},
    {OID_VARCHAR, EDM_STRING, MODIFIER_LENGTH, {STR_INIT("varchar")}},
    {1082, EDM_DATE, MODIFIER_NONE, {STR_INIT("date")}},
    {1083, EDM_TIMEOFDAY, MODIFIER_PRECISION, {STR_INIT("time")}},
    {OID_TIMESTAMP, EDM_DATETIMEOFFSET, MODIFIER_PRECISION, {STR_INIT("timestamp")}},
    {OID_TIMESTAMPTZ, EDM_DATETIMEOFFSET, MODIFIER_PRECISION, {STR_INIT("timestamptz")}},
    {1186, EDM_DURATION, MODIFIER_INTERVAL, {STR_INIT("interval")}},
    {1560, EDM_STRING, MODIFIER_BITS, {STR_INIT("bit")}},
    {1562, EDM_STRING, MODIFIER_BITS, {STR_INIT("varbit")}},
    {OID_NUMERIC, EDM_DECIMAL, MODIFIER_NUMERIC, {STR_INIT("numeric")}},
    {2950, EDM_GUID, MODIFIER_NONE, {STR_INIT("uuid")}},
    {3802, EDM_UNTYPED, MODIFIER_NONE, {STR_INIT("jsonb")}},
};

enum {
    SECOND_DIGITS = 6,     /* of PostgreSQL's temporal types, when nothing is said */
    FULL_PRECISION = 0xff, /* an interval's modifier says fields only when the low byte is set */
};

static const struct builtin *find_builtin(uint32_t oid)
{
    for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
        if (builtins[i].oid == oid) {
            return &builtins[i];
        }
    }
    return NULL;
}

/* -- facets ----------------------------------------------------------------------------------- */

/* numeric's modifier: precision in the upper half, the scale in 11 bits with a sign, all plus 4. */
static void fill_numeric(int32_t modifier, struct type_ref *t)
{
    t->scale = FACET_VARIABLE;
    if (modifier < 4) {
        return;
    }
    uint32_t bits = (uint32_t)modifier - 4;
    int precision = (int)(bits >> 16);
    int scale = (int)((bits & 0x7ff) ^ 0x400) - 0x400;
    if (scale >= 0 && scale <= precision) {
        t->precision = precision;
        t->scale = scale;
    }
}

static void fill_facets(enum modifier kind, int32_t modifier, struct type_ref *t)
{
    switch (kind) {
    case MODIFIER_NONE:
        break;
    case MODIFIER_LENGTH:
        t->max_length = modifier > 4 ? modifier - 4 : FACET_NONE;
        break;
    case MODIFIER_BITS:
        t->max_length = modifier > 0 ? modifier : FACET_NONE;
        break;
    case MODIFIER_NUMERIC:
        fill_numeric(modifier, t);
        break;
    case MODIFIER_PRECISION:
        t->precision = modifier >= 0 ? modifier : SECOND_DIGITS;
        break;
    case MODIFIER_INTERVAL:
        t->precision = SECOND_DIGITS;
        if (modifier >= 0 && (modifier & 0xffff) <= SECOND_DIGITS) {
            t->precision = modifier & 0xffff;
        }
        break;
    case MODIFIER_MONEY:
        t->precision = 19;
        t->scale = 2;
        break;
    }
}

/* -- one type --------------------------------------------------------------------------------- */

/* A type while domains are looked through. */
struct looked {
    const struct raw_type *type; /* NULL: PostgreSQL did not tell us about it */
    int32_t modifier;
    int dimensions;
    bool not_null;
    bool has_default;
};

static struct looked look_through(const struct raw_catalog *raw, uint32_t oid, int32_t modifier,
                                  int dimensions)
{
    struct looked l = {raw_find_type(raw, oid), modifier, dimensions, false, false};
    while (l.type != NULL && l.type->kind == 'd') {
        l.not_null = l.not_null || l.type->not_null;
        l.has_default = l.has_default || l.type->has_default;
        if (l.modifier < 0) {
            l.modifier = l.type->type_modifier;
        }
        l.dimensions = l.type->dimensions;
        l.type = raw_find_type(raw, l.type->base_oid);
    }
    return l;
}

/* A type that is neither domain nor array. */
static void fill_scalar(const struct raw_type *raw_type, int32_t modifier, struct type_ref *t,
                        struct pg_type_ref *pg)
{
    const struct builtin *b = find_builtin(raw_type->oid);
    pg->oid = raw_type->oid;
    pg->cast = b != NULL ? b->cast : raw_type->cast;
    if (b != NULL) {
        t->type = b->type;
        fill_facets(b->modifier, modifier, t);
    } else if (raw_type->kind == 'e' && raw_type->labels_fit) {
        t->type = EDM_ENUM;
        t->enum_type = raw_type->enum_type;
    } else if (raw_type->kind == 'c' && raw_type->attribute_count > 0) {
        t->type = EDM_COMPLEX;
        t->complex_type = raw_type->complex_type;
    } else if (!raw_type->spatial || t->collection) {
        return; /* PostGIS writes GeoJSON of a column only, not of a part of one */
    } else if (str_eq(raw_type->name, STR("geometry"))) {
        t->type = EDM_GEOMETRY;
    } else if (str_eq(raw_type->name, STR("geography"))) {
        t->type = EDM_GEOGRAPHY;
    }
}

/* The element of an array, or NULL when the array is shown as a String: more dimensions, or
   elements that are arrays themselves behind a domain. */
static const struct raw_type *element_of(const struct raw_catalog *raw, const struct looked *array,
                                         int32_t *out_modifier)
{
    if (array->dimensions > 1) {
        return NULL;
    }
    struct looked element = look_through(raw, array->type->element_oid, array->modifier, 0);
    *out_modifier = element.modifier;
    return element.type != NULL && element.type->element_oid == 0 ? element.type : NULL;
}

static void resolve_column(const struct raw_catalog *raw, struct raw_column *c)
{
    struct type_ref *t = &c->type;
    struct looked l = look_through(raw, c->type_oid, c->type_modifier, c->dimensions);
    *t = (struct type_ref){
        .type = EDM_STRING, .max_length = FACET_NONE, .precision = FACET_NONE, .scale = FACET_NONE};
    c->pg = (struct pg_type_ref){.oid = c->type_oid, .cast = STR("text")};
    c->not_null = c->not_null || l.not_null;
    c->has_default = c->has_default || l.has_default;
    t->nullable = !c->not_null;
    if (l.type == NULL) {
        return;
    }
    if (l.type->element_oid == 0) {
        fill_scalar(l.type, l.modifier, t, &c->pg);
        return;
    }
    int32_t modifier = -1;
    const struct raw_type *element = element_of(raw, &l, &modifier);
    if (element != NULL) {
        t->collection = true;
        t->nullable = true; /* items of PostgreSQL's arrays always may be */
        fill_scalar(element, modifier, t, &c->pg);
        c->pg.element_oid = element->oid;
    }
    /* The array's own type: an array of a domain equals no array of its base type. */
    c->pg.oid = l.type->oid;
    c->pg.cast = l.type->cast;
}

/*
 * A timestamp of another zone than UTC. A column's becomes an instant where it is read; in an array or
 * a composite PostgreSQL's text is all there is, and it is shown as it stands rather than as a wrong
 * instant.
 */
static void place_in_zone(const struct raw_catalog *raw, struct raw_column *c, bool is_part)
{
    struct type_ref *t = &c->type;
    if (raw->zone.len == 0 || t->type != EDM_DATETIMEOFFSET ||
        (t->collection ? c->pg.element_oid : c->pg.oid) != OID_TIMESTAMP) {
        return;
    }
    if (is_part || t->collection) {
        t->type = EDM_STRING;
        t->precision = FACET_NONE;
    } else {
        c->pg = (struct pg_type_ref){
            .oid = OID_TIMESTAMPTZ, .cast = STR("timestamptz"), .zone = raw->zone};
    }
}

void types_resolve(struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->columns.count; i++) {
        resolve_column(raw, &raw->columns.items[i]);
        place_in_zone(raw, &raw->columns.items[i], false);
    }
    for (size_t i = 0; i < raw->attributes.count; i++) {
        struct type_ref *t = &raw->attributes.items[i].type;
        resolve_column(raw, &raw->attributes.items[i]);
        place_in_zone(raw, &raw->attributes.items[i], true);
        t->nullable = true; /* PostgreSQL checks no NOT NULL there */
        if (t->type == EDM_GEOMETRY || t->type == EDM_GEOGRAPHY) {
            t->type = EDM_STRING; /* as in fill_scalar() */
        }
    }
}

/* -- enum and complex types ------------------------------------------------------------------- */

/* The enum or composite type that a column has, or has items of. */
static struct raw_type *named_type(const struct raw_catalog *raw, const struct raw_column *c)
{
    if (c->type.type != EDM_ENUM && c->type.type != EDM_COMPLEX) {
        return NULL;
    }
    return raw_find_type(raw, c->type.collection ? c->pg.element_oid : c->pg.oid);
}

/* depth: of composites in each other. PostgreSQL allows no cycle; deeper than we write is text. */
static void mark_used(struct raw_catalog *raw, struct raw_column *c, size_t depth)
{
    struct raw_type *t = named_type(raw, c);
    if (t == NULL || t->used) {
        return;
    }
    t->used = true;
    for (size_t i = 0; i < t->attribute_count && depth < LIMIT_VALUE_DEPTH; i++) {
        mark_used(raw, &raw->attributes.items[t->first_attribute + i], depth + 1);
    }
}

static bool name_type(struct raw_catalog *raw, const struct raw_type *t, struct str *out_namespace,
                      struct str *out_name)
{
    struct raw_schema *s = &raw->schemas.items[t->schema];
    struct str name;
    s->shows = true;
    *out_namespace = s->namespace;
    return name_rewrite(raw->kept, t->name, &name) &&
           name_claim(raw->kept, name, &s->type_names, out_name);
}

static bool build_enum(struct raw_catalog *raw, struct raw_type *t, struct enum_type *e)
{
    e->description = t->comment;
    e->pg = (struct pg_type_ref){.oid = t->oid, .cast = t->cast};
    e->member_count = t->label_count;
    e->members = ARENA_ARRAY(raw->kept, t->label_count, struct str);
    if (e->members == NULL || !name_type(raw, t, &e->namespace, &e->name)) {
        return false;
    }
    for (size_t i = 0; i < t->label_count; i++) {
        e->members[i] = raw->labels.items[t->first_label + i];
    }
    t->enum_type = e;
    return true;
}

static bool name_complex(struct raw_catalog *raw, struct raw_type *t, struct complex_type *c)
{
    c->description = t->comment;
    c->pg = (struct pg_type_ref){.oid = t->oid, .cast = t->cast};
    t->complex_type = c;
    return name_type(raw, t, &c->namespace, &c->name);
}

static bool fill_complex(struct raw_catalog *raw, const struct raw_type *t, struct name_set *taken)
{
    struct complex_type *c = t->complex_type;
    struct str *columns = ARENA_ARRAY(&raw->scratch, t->attribute_count, struct str);
    struct str *names = ARENA_ARRAY(&raw->scratch, t->attribute_count, struct str);
    c->property_count = t->attribute_count;
    c->properties = ARENA_ARRAY(raw->kept, t->attribute_count, struct property);
    if (columns == NULL || names == NULL || c->properties == NULL) {
        return false;
    }
    for (size_t i = 0; i < t->attribute_count; i++) {
        columns[i] = raw->attributes.items[t->first_attribute + i].name;
    }
    if (!name_columns(raw->kept, columns, t->attribute_count, taken, names)) {
        return false;
    }
    for (size_t i = 0; i < t->attribute_count; i++) {
        types_fill_property(&raw->attributes.items[t->first_attribute + i], names[i], i,
                            &c->properties[i]);
    }
    return true;
}

/* Points a column at the enum or complex type that was built for it. */
static void point(const struct raw_catalog *raw, struct raw_column *c)
{
    const struct raw_type *t = named_type(raw, c);
    if (t == NULL) {
        return;
    }
    c->type.enum_type = t->enum_type;
    c->type.complex_type = t->complex_type;
    if (t->enum_type == NULL && t->complex_type == NULL) { /* not marked: too deep */
        c->type.type = EDM_STRING;
        c->type.collection = false;
    }
}

static void mark_all(struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->relations.count; i++) {
        const struct raw_relation *r = &raw->relations.items[i];
        for (size_t k = 0; k < r->column_count && r->key != NULL; k++) {
            struct raw_column *c = &raw->columns.items[r->first_column + k];
            if (!c->hidden) {
                mark_used(raw, c, 0);
            }
        }
    }
}

/* Names and enum members first: complex types point at each other. */
static bool build_named(struct raw_catalog *raw)
{
    struct model *m = raw->model;
    m->enums = ARENA_ARRAY(raw->kept, raw->types.count, struct enum_type);
    m->complexes = ARENA_ARRAY(raw->kept, raw->types.count, struct complex_type);
    if (m->enums == NULL || m->complexes == NULL) {
        return false;
    }
    for (size_t pass = 0; pass < 2; pass++) { /* what needs no rewriting is named first */
        for (size_t i = 0; i < raw->types.count; i++) {
            struct raw_type *t = &raw->types.items[i];
            if (!t->used || name_is_identifier(t->name) != (pass == 0)) {
                continue;
            }
            if (t->kind == 'e' ? !build_enum(raw, t, &m->enums[m->enum_count++])
                               : !name_complex(raw, t, &m->complexes[m->complex_count++])) {
                return false;
            }
        }
    }
    return true;
}

bool types_build(struct raw_catalog *raw, struct odata_error *err)
{
    mark_all(raw);
    if (!build_named(raw)) {
        return raw_no_memory(err);
    }
    for (size_t i = 0; i < raw->columns.count; i++) {
        point(raw, &raw->columns.items[i]);
    }
    for (size_t i = 0; i < raw->attributes.count; i++) {
        point(raw, &raw->attributes.items[i]);
    }
    struct name_set taken = {0};
    bool ok = true;
    for (size_t i = 0; i < raw->types.count && ok; i++) {
        if (raw->types.items[i].complex_type != NULL) {
            ok = fill_complex(raw, &raw->types.items[i], &taken);
        }
    }
    name_set_fini(&taken);
    return ok || raw_no_memory(err);
}

void types_fill_property(const struct raw_column *c, struct str name, size_t index,
                         struct property *out_property)
{
    *out_property = (struct property){
        .name = name,
        .column = c->name,
        .type = c->type,
        .pg = c->pg,
        .description = c->comment,
        .index = index,
        .computed = c->computed,
        .has_default = c->has_default,
    };
}

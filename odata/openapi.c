// SPDX-License-Identifier: Apache-2.0
#include "odata/openapi.h"

#include <inttypes.h>

#include "odata/compiler.h"
#include "odata/json_writer.h"
#include "odata/percent.h"

static void put(struct bytes *out, struct str text)
{
    bytes_put_str(out, text);
}

/* The comma before all members but the first. */
static void separate(struct bytes *out, bool *io_any)
{
    if (*io_any) {
        bytes_put_char(out, ',');
    }
    *io_any = true;
}

/*
 * A key of components, which may have letters of ASCII only: other bytes become -xx. Neither
 * a SimpleIdentifier nor a namespace has a dash.
 */
static void put_component(struct bytes *out, struct str namespace, struct str name)
{
    const struct str parts[] = {namespace, STR("."), name};
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        for (size_t k = 0; k < parts[i].len; k++) {
            unsigned char c = (unsigned char)parts[i].ptr[k];
            if (c < 0x80) {
                bytes_put_char(out, (char)c);
            } else {
                bytes_format(out, "-%02x", c);
            }
        }
    }
}

static void put_reference(struct bytes *out, struct str namespace, struct str name)
{
    put(out, STR("{\"$ref\":\"#/components/schemas/"));
    put_component(out, namespace, name);
    put(out, STR("\"}"));
}

/* -- types ------------------------------------------------------------------------------------ */

static const struct {
    const char *type;
    const char *format; /* NULL: none */
} primitives[EDM_TYPE_COUNT] = {
    [EDM_BINARY] = {"string", "base64url"},
    [EDM_BOOLEAN] = {"boolean", NULL},
    [EDM_BYTE] = {"integer", "uint8"},
    [EDM_DATE] = {"string", "date"},
    [EDM_DATETIMEOFFSET] = {"string", "date-time"},
    [EDM_DECIMAL] = {"number", "decimal"},
    [EDM_DOUBLE] = {"number", "double"},
    [EDM_DURATION] = {"string", "duration"},
    [EDM_GUID] = {"string", "uuid"},
    [EDM_INT16] = {"integer", "int16"},
    [EDM_INT32] = {"integer", "int32"},
    [EDM_INT64] = {"integer", "int64"},
    [EDM_SBYTE] = {"integer", "int8"},
    [EDM_SINGLE] = {"number", "float"},
    [EDM_STREAM] = {"string", "base64url"},
    [EDM_STRING] = {"string", NULL},
    [EDM_TIMEOFDAY] = {"string", "time"},
    [EDM_UNTYPED] = {"string", NULL},
    [EDM_GEOGRAPHY] = {"object", NULL},
    [EDM_GEOMETRY] = {"object", NULL},
};

/* The members of a primitive's schema, without brackets. */
static void put_primitive(struct bytes *out, const struct type_ref *t, bool nullable)
{
    bytes_format(out, nullable ? "\"type\":[\"%s\",\"null\"]" : "\"type\":\"%s\"",
                 primitives[t->type].type);
    if (primitives[t->type].format != NULL) {
        bytes_format(out, ",\"format\":\"%s\"", primitives[t->type].format);
    }
    if (t->type == EDM_STRING && t->max_length > 0) {
        bytes_format(out, ",\"maxLength\":%d", t->max_length);
    }
}

/* The members of the schema of one value, without brackets. */
static void put_single(struct bytes *out, const struct type_ref *t)
{
    if (t->type != EDM_ENUM && t->type != EDM_COMPLEX) {
        put_primitive(out, t, t->nullable || t->type == EDM_UNTYPED);
        return;
    }
    bool is_enum = t->type == EDM_ENUM;
    put(out, STR("\"anyOf\":["));
    put_reference(out, is_enum ? t->enum_type->namespace : t->complex_type->namespace,
                  is_enum ? t->enum_type->name : t->complex_type->name);
    put(out, t->nullable ? STR(",{\"type\":\"null\"}]") : STR("]"));
}

static void put_property(struct bytes *out, const struct property *p)
{
    json_put_label(out, p->name);
    bytes_put_char(out, '{');
    if (p->type.collection) {
        put(out, STR("\"type\":\"array\",\"items\":{"));
        put_single(out, &p->type);
        bytes_put_char(out, '}');
    } else {
        put_single(out, &p->type);
    }
    if (p->description.len > 0) {
        put(out, STR(",\"description\":"));
        json_put_str(out, p->description);
    }
    bytes_put_char(out, '}');
}

static void put_properties(struct bytes *out, const struct property *properties, size_t count,
                           bool *io_any)
{
    for (size_t i = 0; i < count; i++) {
        separate(out, io_any);
        put_property(out, &properties[i]);
    }
}

static void begin_schema(struct bytes *out, struct str namespace, struct str name,
                         struct str description, bool *io_any)
{
    separate(out, io_any);
    put(out, STR("\n\""));
    put_component(out, namespace, name);
    put(out, STR("\":{\"title\":"));
    json_put_str(out, name);
    if (description.len > 0) {
        put(out, STR(",\"description\":"));
        json_put_str(out, description);
    }
}

static void put_enum(struct bytes *out, const struct enum_type *t, bool *io_any)
{
    bool any = false;
    begin_schema(out, t->namespace, t->name, t->description, io_any);
    put(out, STR(",\"type\":\"string\",\"enum\":["));
    for (size_t i = 0; i < t->member_count; i++) {
        separate(out, &any);
        json_put_str(out, t->members[i]);
    }
    put(out, STR("]}"));
}

/* An entity whose declared type is t: of that one, or of one that is derived from it. */
static void put_entity_reference(struct bytes *out, const struct entity_type *t)
{
    if (!entity_type_has_derived(t)) {
        put_reference(out, t->namespace, t->name);
        return;
    }
    put(out, STR("{\"anyOf\":["));
    for (size_t k = t->number; k <= t->last; k++) {
        const struct entity_type *each = t->tree->types[k];
        put(out, k > t->number ? STR(",") : STR(""));
        put_reference(out, each->namespace, each->name);
    }
    put(out, STR("]}"));
}

/* Navigation properties are there when they are expanded. */
static void put_entity_type(struct bytes *out, const struct entity_type *t, bool *io_any)
{
    bool any = false;
    const size_t inherited = t->inherited_properties;
    begin_schema(out, t->namespace, t->name, t->description, io_any);
    if (t->base != NULL) {
        put(out, STR(",\"allOf\":["));
        put_reference(out, t->base->namespace, t->base->name);
        put(out, STR("]"));
    }
    put(out, STR(",\"type\":\"object\",\"properties\":{"));
    put_properties(out, t->properties + inherited, t->property_count - inherited, &any);
    for (size_t i = t->inherited_navigations; i < t->navigation_count; i++) {
        const struct navigation *n = &t->navigations[i];
        separate(out, &any);
        json_put_label(out, n->name);
        put(out, n->collection ? STR("{\"type\":\"array\",\"items\":") : STR("{\"anyOf\":["));
        put_entity_reference(out, n->target);
        put(out, n->collection ? STR("}") : STR(",{\"type\":\"null\"}]}"));
    }
    put(out, STR("}}"));
}

static void put_schemas(struct bytes *out, const struct model *m)
{
    bool any = true;
    put(out,
        STR("\"schemas\":{\n"
            "\"error\":{\"type\":\"object\",\"required\":[\"error\"],\"properties\":{\"error\":{"
            "\"type\":\"object\",\"required\":[\"code\",\"message\"],\"properties\":{"
            "\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"},"
            "\"target\":{\"type\":\"string\"}}}}}"));
    for (size_t i = 0; i < m->enum_count; i++) {
        put_enum(out, &m->enums[i], &any);
    }
    for (size_t i = 0; i < m->complex_count; i++) {
        const struct complex_type *t = &m->complexes[i];
        bool inside = false;
        begin_schema(out, t->namespace, t->name, t->description, &any);
        put(out, STR(",\"type\":\"object\",\"properties\":{"));
        put_properties(out, t->properties, t->property_count, &inside);
        put(out, STR("}}"));
    }
    for (size_t i = 0; i < m->type_count; i++) {
        if (m->types[i].set != NULL) {
            put_entity_type(out, &m->types[i], &any);
        }
    }
    put(out, STR("}"));
}

/* -- what operations share -------------------------------------------------------------------- */

enum option_use {
    OF_COLLECTION = 1,
    OF_ENTITY = 2,
    OF_COUNT = 4,
};

static const struct {
    const char *name; /* without the dollar sign */
    unsigned uses;    /* enum option_use */
    bool searches;    /* only with can_search */
    const char *schema;
    const char *description;
} query_options[] = {
    {"filter", OF_COLLECTION | OF_COUNT, false, "{\"type\":\"string\"}",
     "Which entities: an expression, for example price gt 10 and contains(name,'oak')"},
    {"search", OF_COLLECTION | OF_COUNT, true, "{\"type\":\"string\"}",
     "Which entities: words and phrases"},
    {"orderby", OF_COLLECTION, false, "{\"type\":\"string\"}",
     "In which order: expressions separated by commas, each with desc behind it or not"},
    {"select", OF_COLLECTION | OF_ENTITY, false, "{\"type\":\"string\"}",
     "Which properties: names separated by commas"},
    {"expand", OF_COLLECTION | OF_ENTITY, false, "{\"type\":\"string\"}",
     "Which related entities to write into each: navigation properties separated by commas"},
    {"top", OF_COLLECTION, false, "{\"type\":\"integer\",\"minimum\":0}",
     "How many entities at most"},
    {"skip", OF_COLLECTION, false, "{\"type\":\"integer\",\"minimum\":0}",
     "How many entities to leave out at the beginning"},
    {"count", OF_COLLECTION, false, "{\"type\":\"boolean\"}",
     "Whether the number of all that match is wanted as well"},
    {"format", OF_COLLECTION | OF_ENTITY, false, "{\"type\":\"string\"}",
     "json, a media type, or csv and ndjson for collections"},
};

static void put_parameters(struct bytes *out, const struct metadata_features *features)
{
    bool any = false;
    put(out, STR("\"parameters\":{"));
    for (size_t i = 0; i < ARRAY_SIZE(query_options); i++) {
        if (query_options[i].searches && !features->can_search) {
            continue;
        }
        separate(out, &any);
        bytes_format(out,
                     "\n\"%s\":{\"name\":\"$%s\",\"in\":\"query\",\"required\":false,"
                     "\"description\":\"%s\",\"schema\":%s}",
                     query_options[i].name, query_options[i].name, query_options[i].description,
                     query_options[i].schema);
    }
    put(out, STR("}"));
}

static void use_parameters(struct bytes *out, const struct metadata_features *features,
                           enum option_use use)
{
    bool any = false;
    put(out, STR(",\"parameters\":["));
    for (size_t i = 0; i < ARRAY_SIZE(query_options); i++) {
        if ((query_options[i].uses & use) == 0 ||
            (query_options[i].searches && !features->can_search)) {
            continue;
        }
        separate(out, &any);
        bytes_format(out, "{\"$ref\":\"#/components/parameters/%s\"}", query_options[i].name);
    }
    put(out, STR("]"));
}

static void put_responses(struct bytes *out)
{
    put(out, STR("\"responses\":{\n"
                 "\"error\":{\"description\":\"What was wrong, and where\",\"content\":{"
                 "\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/error\"}}}},\n"
                 "\"count\":{\"description\":\"The number\",\"content\":{\"text/plain\":{"
                 "\"schema\":{\"type\":\"integer\",\"format\":\"int64\",\"minimum\":0}}}}}"));
}

/* -- paths ------------------------------------------------------------------------------------ */

/* Literals of these types stand in quotes in a key. */
static bool is_quoted(const struct type_ref *t)
{
    return t->type == EDM_STRING || t->type == EDM_ENUM || t->type == EDM_DURATION ||
           t->type == EDM_BINARY;
}

/* `/customers({id})`, or `/lines(order_id={order_id},line={line})` (URL Conventions 4.3.1). */
static void put_entity_path(struct bytes *out, const struct entity_set *set)
{
    const struct key *key = &set->type->key;
    bytes_put_char(out, '/');
    percent_encode(out, set->name);
    for (size_t i = 0; i < key->count; i++) {
        const struct property *p = key->properties[i];
        bytes_put_char(out, i == 0 ? '(' : ',');
        if (key->count > 1) {
            percent_encode(out, p->name);
            bytes_put_char(out, '=');
        }
        put(out, p->type.type == EDM_DURATION ? STR("duration")
                 : p->type.type == EDM_BINARY ? STR("binary")
                                              : STR(""));
        put(out, is_quoted(&p->type) ? STR("'{") : STR("{"));
        put(out, p->name);
        put(out, is_quoted(&p->type) ? STR("}'") : STR("}"));
    }
    bytes_put_char(out, ')');
}

static void put_key_parameters(struct bytes *out, const struct key *key)
{
    bool any = false;
    put(out, STR("\"parameters\":["));
    for (size_t i = 0; i < key->count; i++) {
        const struct property *p = key->properties[i];
        separate(out, &any);
        put(out, STR("{\"name\":"));
        json_put_str(out, p->name);
        put(out, STR(",\"in\":\"path\",\"required\":true,\"schema\":{"));
        put_single(out, &p->type);
        put(out, STR("}}"));
    }
    put(out, STR("],"));
}

/* `"get":{"operationId":"customers.get.orders","tags":["customers"]` */
static void begin_operation(struct bytes *out, const struct entity_set *set, const char *verb,
                            struct str member)
{
    put(out, STR("\"get\":{\"operationId\":\""));
    put(out, set->name);
    bytes_format(out, ".%s", verb);
    if (member.len > 0) {
        bytes_put_char(out, '.');
        put(out, member);
    }
    put(out, STR("\",\"tags\":["));
    json_put_str(out, set->name);
    put(out, STR("]"));
}

static void end_operation(struct bytes *out)
{
    put(out, STR(",\"default\":{\"$ref\":\"#/components/responses/error\"}}}"));
}

static void put_collection_response(struct bytes *out, const struct entity_type *t)
{
    put(out, STR(",\"responses\":{\"200\":{\"description\":\"The entities\",\"content\":{"
                 "\"application/json\":{\"schema\":{\"type\":\"object\",\"properties\":{"
                 "\"@odata.context\":{\"type\":\"string\"},"
                 "\"@odata.count\":{\"type\":\"integer\",\"format\":\"int64\"},"
                 "\"value\":{\"type\":\"array\",\"items\":"));
    put_entity_reference(out, t);
    put(out, STR("},\"@odata.nextLink\":{\"type\":\"string\"}}}},"
                 "\"text/csv\":{\"schema\":{\"type\":\"string\"}},"
                 "\"application/x-ndjson\":{\"schema\":{\"type\":\"string\"}}}}"));
}

static void put_entity_response(struct bytes *out, const struct entity_type *t, bool may_be_absent)
{
    put(out, STR(",\"responses\":{\"200\":{\"description\":\"The entity\",\"content\":{"
                 "\"application/json\":{\"schema\":"));
    put_entity_reference(out, t);
    put(out, STR("}}}"));
    if (may_be_absent) {
        put(out, STR(",\"204\":{\"description\":\"There is none\"}"));
    }
}

static void put_collection(struct bytes *out, const struct metadata_features *features,
                           const struct entity_type *t)
{
    use_parameters(out, features, OF_COLLECTION);
    put_collection_response(out, t);
    end_operation(out);
}

static void put_entity(struct bytes *out, const struct metadata_features *features,
                       const struct entity_type *t, bool may_be_absent)
{
    use_parameters(out, features, OF_ENTITY);
    put_entity_response(out, t, may_be_absent);
    end_operation(out);
}

static void put_navigation_path(struct bytes *out, const struct entity_set *set,
                                const struct navigation *n,
                                const struct metadata_features *features)
{
    put(out, STR(",\n\""));
    put_entity_path(out, set);
    bytes_put_char(out, '/');
    percent_encode(out, n->name);
    put(out, STR("\":{"));
    put_key_parameters(out, &set->type->key);
    begin_operation(out, set, "get", n->name);
    if (n->collection) {
        put_collection(out, features, n->target);
    } else {
        put_entity(out, features, n->target, n->nullable);
    }
    bytes_put_char(out, '}');
}

static void put_set_paths(struct bytes *out, const struct entity_set *set,
                          const struct metadata_features *features)
{
    const struct entity_type *t = set->type;
    put(out, STR("\n\"/"));
    percent_encode(out, set->name);
    put(out, STR("\":{"));
    begin_operation(out, set, "list", STR(""));
    put_collection(out, features, t);
    put(out, STR("},\n\"/"));
    percent_encode(out, set->name);
    put(out, STR("/$count\":{"));
    begin_operation(out, set, "count", STR(""));
    use_parameters(out, features, OF_COUNT);
    put(out, STR(",\"responses\":{\"200\":{\"$ref\":\"#/components/responses/count\"}"));
    end_operation(out);
    put(out, STR("},\n\""));
    put_entity_path(out, set);
    put(out, STR("\":{"));
    put_key_parameters(out, &t->key);
    begin_operation(out, set, "get", STR(""));
    put_entity(out, features, t, false);
    bytes_put_char(out, '}');
    for (size_t i = 0; i < t->navigation_count; i++) {
        if (t->navigations[i].target->set != NULL) {
            put_navigation_path(out, set, &t->navigations[i], features);
        }
    }
}

void openapi_put(struct bytes *out, const struct model *m, const struct metadata_features *features)
{
    struct str title = m->namespace_count > 0 ? m->namespaces[0] : m->container;
    bool any = false;
    put(out, STR("{\"openapi\":\"3.1.0\",\"info\":{\"title\":"));
    json_put_str(out, title.len > 0 ? title : STR("Default"));
    bytes_format(out,
                 ",\"version\":\"%016" PRIx64 "\",\"description\":\"An OData 4.01 service; "
                 "$metadata says more of it. The version changes with the tables.\"}",
                 m->fingerprint);
    put(out, STR(",\"servers\":[{\"url\":\".\"}],\"security\":[],\"paths\":{"));
    for (size_t i = 0; i < m->set_count; i++) {
        separate(out, &any);
        put_set_paths(out, &m->sets[i], features);
    }
    put(out, STR("},\n\"components\":{"));
    put_schemas(out, m);
    put(out, STR(",\n"));
    put_parameters(out, features);
    put(out, STR(",\n"));
    put_responses(out);
    put(out, STR("}}\n"));
}

// SPDX-License-Identifier: Apache-2.0
/*
 * CSDL JSON 4.01. Defaults are other ones than in XML: a missing $Nullable is false, a missing
 * $Type is Edm.String (7.1, 7.2.1).
 */
#include <string.h>

#include "odata/compiler.h"
#include "odata/json_writer.h"
#include "odata/metadata_sink.h"

static void put(struct metadata_sink *s, struct str text)
{
    bytes_put_str(s->out, text);
}

/* The comma before the next member or item. */
static void separate(struct metadata_sink *s)
{
    if (s->open) {
        put(s, STR(","));
    }
    s->open = true;
}

static void open_bracket(struct metadata_sink *s, char bracket)
{
    bytes_put_char(s->out, bracket);
    s->open = false;
}

static void close_bracket(struct metadata_sink *s, char bracket)
{
    bytes_put_char(s->out, bracket);
    s->open = true;
}

static void label(struct metadata_sink *s, struct str name)
{
    separate(s);
    json_put_label(s->out, name);
}

/* `"$facet":` */
static void facet_label(struct metadata_sink *s, const char *facet)
{
    separate(s);
    bytes_format(s->out, "\"$%s\":", facet);
}

static void put_qualified(struct metadata_sink *s, struct str namespace, struct str name)
{
    bytes_put_char(s->out, '"');
    json_put_escaped(s->out, namespace.ptr, namespace.len);
    if (namespace.len > 0) {
        bytes_put_char(s->out, '.');
    }
    json_put_escaped(s->out, name.ptr, name.len);
    bytes_put_char(s->out, '"');
}

static void begin_document(struct metadata_sink *s, enum odata_version version,
                           struct str namespace, struct str container)
{
    put(s, version == ODATA_4_01 ? STR("{\"$Version\":\"4.01\"") : STR("{\"$Version\":\"4.0\""));
    s->open = true;
    facet_label(s, "EntityContainer");
    put_qualified(s, namespace, container);
    facet_label(s, "Reference");
    open_bracket(s, '{');
}

static void reference(struct metadata_sink *s, struct str namespace, struct str alias)
{
    separate(s);
    put(s, STR("\"" METADATA_VOCABULARIES));
    put(s, namespace);
    put(s, STR(".json\":{\"$Include\":[{\"$Namespace\":"));
    json_put_str(s->out, namespace);
    if (alias.len > 0) {
        put(s, STR(",\"$Alias\":"));
        json_put_str(s->out, alias);
    }
    put(s, STR("}]}"));
}

static void end_references(struct metadata_sink *s)
{
    close_bracket(s, '}');
}

static void end_document(struct metadata_sink *s)
{
    put(s, STR("}\n"));
}

static const struct {
    const char *kind; /* NULL: none is written */
    bool breaks;      /* begins a line */
} elements[] = {
    [METADATA_SCHEMA] = {NULL, true},
    [METADATA_ENUM_TYPE] = {"EnumType", true},
    [METADATA_COMPLEX_TYPE] = {"ComplexType", true},
    [METADATA_ENTITY_TYPE] = {"EntityType", true},
    [METADATA_PROPERTY] = {NULL, false},
    [METADATA_NAVIGATION] = {"NavigationProperty", false},
    [METADATA_CONTAINER] = {"EntityContainer", true},
    [METADATA_ENTITY_SET] = {NULL, true},
};

static void begin(struct metadata_sink *s, enum metadata_element element, struct str name)
{
    separate(s);
    if (elements[element].breaks) {
        bytes_put_char(s->out, '\n');
    }
    json_put_label(s->out, name);
    open_bracket(s, '{');
    if (elements[element].kind != NULL) {
        facet_label(s, "Kind");
        json_put_str(s->out, str_from(elements[element].kind));
    }
}

static void end(struct metadata_sink *s, enum metadata_element element)
{
    (void)element;
    close_bracket(s, '}');
}

static void put_true(struct metadata_sink *s, const char *facet)
{
    facet_label(s, facet);
    put(s, STR("true"));
}

static void type(struct metadata_sink *s, enum metadata_element element,
                 const struct metadata_type *t)
{
    if (t->collection || element == METADATA_ENTITY_SET) {
        put_true(s, "Collection");
    }
    if (t->namespace.len > 0 || !str_eq(t->name, edm_name(EDM_STRING))) {
        facet_label(s, element == METADATA_ENTITY_TYPE ? "BaseType" : "Type");
        put_qualified(s, t->namespace, t->name);
    }
    if (t->nullable && !(element == METADATA_NAVIGATION && t->collection)) {
        put_true(s, "Nullable");
    }
}

static void number(struct metadata_sink *s, const char *facet, int value)
{
    facet_label(s, facet);
    bytes_put_i64(s->out, value);
}

static void word(struct metadata_sink *s, const char *facet, struct str value)
{
    facet_label(s, facet);
    json_put_str(s->out, value);
}

static void key(struct metadata_sink *s, const struct key *k)
{
    facet_label(s, "Key");
    open_bracket(s, '[');
    for (size_t i = 0; i < k->count; i++) {
        separate(s);
        json_put_str(s->out, k->properties[i]->name);
    }
    close_bracket(s, ']');
}

static void member(struct metadata_sink *s, struct str name, size_t value)
{
    label(s, name);
    bytes_put_u64(s->out, value);
}

static void begin_list(struct metadata_sink *s, enum metadata_list list)
{
    facet_label(s, list == METADATA_CONSTRAINTS ? "ReferentialConstraint"
                                                : "NavigationPropertyBinding");
    open_bracket(s, '{');
}

static void pair(struct metadata_sink *s, enum metadata_list list, struct str left,
                 struct str right)
{
    (void)list;
    label(s, left);
    json_put_str(s->out, right);
}

static void end_list(struct metadata_sink *s, enum metadata_list list)
{
    (void)list;
    close_bracket(s, '}');
}

static void begin_annotation(struct metadata_sink *s, struct str vocabulary, const char *term,
                             struct str qualifier)
{
    separate(s);
    bytes_format(s->out, "\"@%.*s.%s%s%.*s\":", STR_ARG(vocabulary), term,
                 qualifier.len > 0 ? "#" : "", STR_ARG(qualifier));
    s->open = false;
}

static void end_annotation(struct metadata_sink *s)
{
    s->open = true;
}

static void value_bool(struct metadata_sink *s, bool value)
{
    separate(s);
    put(s, value ? STR("true") : STR("false"));
}

static void value_string(struct metadata_sink *s, struct str value)
{
    separate(s);
    json_put_str(s->out, value);
}

static void begin_collection(struct metadata_sink *s)
{
    separate(s);
    open_bracket(s, '[');
}

static void end_collection(struct metadata_sink *s)
{
    close_bracket(s, ']');
}

static void begin_record(struct metadata_sink *s)
{
    separate(s);
    open_bracket(s, '{');
}

static void end_record(struct metadata_sink *s)
{
    close_bracket(s, '}');
}

static void begin_field(struct metadata_sink *s, const char *name)
{
    label(s, str_from(name));
    s->open = false;
}

static void end_field(struct metadata_sink *s)
{
    s->open = true;
}

const struct metadata_sink_ops metadata_json_ops = {
    .begin_document = begin_document,
    .reference = reference,
    .end_references = end_references,
    .end_document = end_document,
    .begin = begin,
    .end = end,
    .type = type,
    .number = number,
    .word = word,
    .key = key,
    .member = member,
    .begin_list = begin_list,
    .pair = pair,
    .end_list = end_list,
    .begin_annotation = begin_annotation,
    .end_annotation = end_annotation,
    .value_bool = value_bool,
    .value_string = value_string,
    .value_property = value_string,
    .value_navigation = value_string,
    .begin_collection = begin_collection,
    .end_collection = end_collection,
    .begin_record = begin_record,
    .end_record = end_record,
    .begin_field = begin_field,
    .end_field = end_field,
};

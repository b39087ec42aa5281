// SPDX-License-Identifier: Apache-2.0
/* CSDL XML 4.01. */
#include <string.h>

#include "odata/compiler.h"
#include "odata/metadata_sink.h"
#include "odata/xml_writer.h"

static void put(struct metadata_sink *s, struct str text)
{
    bytes_put_str(s->out, text);
}

static void put_text(struct metadata_sink *s, const char *text)
{
    bytes_put(s->out, text, strlen(text));
}

/* Ends the start tag that stands open, if one does: what follows is its content. */
static void enter(struct metadata_sink *s)
{
    if (s->open) {
        put(s, STR(">"));
        s->open = false;
    }
}

/* `<Name`, its attributes may follow. */
static void start_tag(struct metadata_sink *s, const char *name)
{
    enter(s);
    put(s, STR("<"));
    put_text(s, name);
    s->open = true;
}

static void end_tag(struct metadata_sink *s, const char *name)
{
    if (s->open) {
        put(s, STR("/>"));
    } else {
        put(s, STR("</"));
        put_text(s, name);
        put(s, STR(">"));
    }
    s->open = false;
}

static const struct {
    const char *tag;
    bool breaks_inside; /* a line for what follows the start tag */
    bool breaks_behind;
} elements[] = {
    [METADATA_SCHEMA] = {"Schema", true, true},
    [METADATA_ENUM_TYPE] = {"EnumType", false, true},
    [METADATA_COMPLEX_TYPE] = {"ComplexType", false, true},
    [METADATA_ENTITY_TYPE] = {"EntityType", false, true},
    [METADATA_PROPERTY] = {"Property", false, false},
    [METADATA_NAVIGATION] = {"NavigationProperty", false, false},
    [METADATA_CONTAINER] = {"EntityContainer", true, true},
    [METADATA_ENTITY_SET] = {"EntitySet", false, true},
};

static void begin_document(struct metadata_sink *s, enum odata_version version,
                           struct str namespace, struct str container)
{
    (void)namespace;
    (void)container;
    put(s, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\""));
    put(s, version == ODATA_4_01 ? STR("4.01\">\n") : STR("4.0\">\n"));
}

static void reference(struct metadata_sink *s, struct str namespace, struct str alias)
{
    put(s, STR("<edmx:Reference Uri=\"" METADATA_VOCABULARIES));
    put(s, namespace);
    put(s, STR(".xml\"><edmx:Include"));
    xml_put_attribute(s->out, "Namespace", namespace);
    if (alias.len > 0) {
        xml_put_attribute(s->out, "Alias", alias);
    }
    put(s, STR("/></edmx:Reference>\n"));
}

static void end_references(struct metadata_sink *s)
{
    put(s, STR("<edmx:DataServices>\n"));
}

static void end_document(struct metadata_sink *s)
{
    put(s, STR("</edmx:DataServices>\n</edmx:Edmx>\n"));
}

static void begin(struct metadata_sink *s, enum metadata_element element, struct str name)
{
    start_tag(s, elements[element].tag);
    if (element == METADATA_SCHEMA) {
        put(s, STR(" xmlns=\"http://docs.oasis-open.org/odata/ns/edm\""));
    }
    xml_put_attribute(s->out, element == METADATA_SCHEMA ? "Namespace" : "Name", name);
    if (elements[element].breaks_inside) {
        enter(s);
        put(s, STR("\n"));
    }
}

static void end(struct metadata_sink *s, enum metadata_element element)
{
    end_tag(s, elements[element].tag);
    if (elements[element].breaks_behind) {
        put(s, STR("\n"));
    }
}

static void type(struct metadata_sink *s, enum metadata_element element,
                 const struct metadata_type *t)
{
    put(s, element == METADATA_ENTITY_SET    ? STR(" EntityType=\"")
           : element == METADATA_ENTITY_TYPE ? STR(" BaseType=\"")
                                             : STR(" Type=\""));
    if (t->collection) {
        put(s, STR("Collection("));
    }
    if (t->namespace.len > 0) {
        xml_put_escaped(s->out, t->namespace);
        put(s, STR("."));
    }
    xml_put_escaped(s->out, t->name);
    put(s, t->collection ? STR(")\"") : STR("\""));
    if (element == METADATA_ENTITY_SET || element == METADATA_ENTITY_TYPE ||
        (element == METADATA_NAVIGATION && t->collection)) {
        return;
    }
    if (!t->nullable) {
        put(s, STR(" Nullable=\"false\""));
    } else if (t->collection) { /* of the items, and without a default (CSDL XML 7.2.1) */
        put(s, STR(" Nullable=\"true\""));
    }
}

static void number(struct metadata_sink *s, const char *facet, int value)
{
    bytes_format(s->out, " %s=\"%d\"", facet, value);
}

static void word(struct metadata_sink *s, const char *facet, struct str value)
{
    xml_put_attribute(s->out, facet, value);
}

static void key(struct metadata_sink *s, const struct key *k)
{
    start_tag(s, "Key");
    for (size_t i = 0; i < k->count; i++) {
        start_tag(s, "PropertyRef");
        xml_put_attribute(s->out, "Name", k->properties[i]->name);
        end_tag(s, "PropertyRef");
    }
    end_tag(s, "Key");
}

static void member(struct metadata_sink *s, struct str name, size_t value)
{
    start_tag(s, "Member");
    xml_put_attribute(s->out, "Name", name);
    bytes_format(s->out, " Value=\"%zu\"", value);
    end_tag(s, "Member");
}

static void list_boundary(struct metadata_sink *s, enum metadata_list list)
{
    (void)s; /* the pairs are elements by themselves */
    (void)list;
}

static void pair(struct metadata_sink *s, enum metadata_list list, struct str left,
                 struct str right)
{
    static const struct {
        const char *tag, *left, *right;
    } forms[] = {
        [METADATA_CONSTRAINTS] = {"ReferentialConstraint", "Property", "ReferencedProperty"},
        [METADATA_BINDINGS] = {"NavigationPropertyBinding", "Path", "Target"},
    };
    start_tag(s, forms[list].tag);
    xml_put_attribute(s->out, forms[list].left, left);
    xml_put_attribute(s->out, forms[list].right, right);
    end_tag(s, forms[list].tag);
}

static void begin_annotation(struct metadata_sink *s, struct str vocabulary, const char *term,
                             struct str qualifier)
{
    start_tag(s, "Annotation");
    put(s, STR(" Term=\""));
    put(s, vocabulary);
    put(s, STR("."));
    put_text(s, term);
    put(s, STR("\""));
    if (qualifier.len > 0) {
        put(s, STR(" Qualifier=\""));
        put(s, qualifier);
        put(s, STR("\""));
    }
}

static void end_annotation(struct metadata_sink *s)
{
    end_tag(s, "Annotation");
}

/* An attribute of the annotation or the record's field; an element in a collection. */
static void put_value(struct metadata_sink *s, const char *kind, struct str value)
{
    if (s->open) {
        xml_put_attribute(s->out, kind, value);
        return;
    }
    start_tag(s, kind);
    enter(s);
    xml_put_escaped(s->out, value);
    end_tag(s, kind);
}

static void value_bool(struct metadata_sink *s, bool value)
{
    put_value(s, "Bool", value ? STR("true") : STR("false"));
}

static void value_string(struct metadata_sink *s, struct str value)
{
    put_value(s, "String", value);
}

static void value_property(struct metadata_sink *s, struct str path)
{
    put_value(s, "PropertyPath", path);
}

static void value_navigation(struct metadata_sink *s, struct str path)
{
    put_value(s, "NavigationPropertyPath", path);
}

static void begin_collection(struct metadata_sink *s)
{
    start_tag(s, "Collection");
    enter(s); /* a value in it is an element */
}

static void end_collection(struct metadata_sink *s)
{
    end_tag(s, "Collection");
}

static void begin_record(struct metadata_sink *s)
{
    start_tag(s, "Record");
}

static void end_record(struct metadata_sink *s)
{
    end_tag(s, "Record");
}

static void begin_field(struct metadata_sink *s, const char *name)
{
    start_tag(s, "PropertyValue");
    xml_put_attribute(s->out, "Property", str_from(name));
}

static void end_field(struct metadata_sink *s)
{
    end_tag(s, "PropertyValue");
}

const struct metadata_sink_ops metadata_xml_ops = {
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
    .begin_list = list_boundary,
    .pair = pair,
    .end_list = list_boundary,
    .begin_annotation = begin_annotation,
    .end_annotation = end_annotation,
    .value_bool = value_bool,
    .value_string = value_string,
    .value_property = value_property,
    .value_navigation = value_navigation,
    .begin_collection = begin_collection,
    .end_collection = end_collection,
    .begin_record = begin_record,
    .end_record = end_record,
    .begin_field = begin_field,
    .end_field = end_field,
};

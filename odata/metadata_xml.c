// SPDX-License-Identifier: Apache-2.0
#include "odata/metadata_xml.h"

#include "odata/xml_writer.h"

/* What does not change while one document is written. */
struct writer {
    struct bytes *out;
    const struct model *model;
    enum odata_version version;
    const struct metadata_features *features;
    struct str core; /* how terms are written: an alias, or the namespace when that is taken */
    struct str capabilities;
};

static void put(struct writer *w, struct str text)
{
    bytes_put_str(w->out, text);
}

/* `NS.Name`, in a collection if that is asked for. */
static void put_type_attribute(struct writer *w, struct str namespace, struct str name,
                               bool collection)
{
    put(w, STR(" Type=\""));
    if (collection) {
        put(w, STR("Collection("));
    }
    if (namespace.len > 0) {
        xml_put_escaped(w->out, namespace);
        put(w, STR("."));
    }
    xml_put_escaped(w->out, name);
    put(w, collection ? STR(")\"") : STR("\""));
}

static void put_number_attribute(struct writer *w, const char *name, int value)
{
    bytes_format(w->out, " %s=\"%d\"", name, value);
}

static void put_annotation_start(struct writer *w, struct str vocabulary, const char *term)
{
    put(w, STR("<Annotation Term=\""));
    put(w, vocabulary);
    put(w, STR("."));
    put(w, str_from(term));
    put(w, STR("\""));
}

static void put_bool_annotation(struct writer *w, struct str vocabulary, const char *term,
                                bool value)
{
    put_annotation_start(w, vocabulary, term);
    put(w, value ? STR(" Bool=\"true\"/>") : STR(" Bool=\"false\"/>"));
}

static void put_description(struct writer *w, struct str description)
{
    if (description.len > 0) {
        put_annotation_start(w, w->core, "Description");
        xml_put_attribute(w->out, "String", description);
        put(w, STR("/>"));
    }
}

static void put_property_type(struct writer *w, const struct type_ref *t)
{
    if (t->type == EDM_ENUM) {
        put_type_attribute(w, t->enum_type->namespace, t->enum_type->name, t->collection);
    } else if (t->type == EDM_COMPLEX) {
        put_type_attribute(w, t->complex_type->namespace, t->complex_type->name, t->collection);
    } else if (t->type == EDM_UNTYPED && w->version != ODATA_4_01) {
        /* 4.0 has no such type: there the value is sent as its text. */
        put_type_attribute(w, STR(""), edm_name(EDM_STRING), t->collection);
    } else {
        put_type_attribute(w, STR(""), edm_name(t->type), t->collection);
    }
}

static void put_facets(struct writer *w, const struct type_ref *t)
{
    if (t->type == EDM_UNTYPED) {
        return; /* JSON null is a value of a column that is NOT NULL, too */
    }
    if (!t->nullable) {
        put(w, STR(" Nullable=\"false\""));
    } else if (t->collection) { /* of the items, and without a default (CSDL 7.2.1) */
        put(w, STR(" Nullable=\"true\""));
    }
    if (t->max_length > 0) {
        put_number_attribute(w, "MaxLength", t->max_length);
    }
    if (t->precision >= 0) {
        put_number_attribute(w, "Precision", t->precision);
    }
    if (t->type != EDM_DECIMAL) {
        return;
    }
    /* A missing Scale means 0, and clients would round: so it is always written. */
    if (t->scale >= 0) {
        put_number_attribute(w, "Scale", t->scale);
    } else if (t->scale == FACET_VARIABLE || t->precision < 0) {
        put(w, STR(" Scale=\"variable\""));
    } else {
        put(w, STR(" Scale=\"0\""));
    }
}

static void put_properties(struct writer *w, const struct property *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct property *p = &properties[i];
        put(w, STR("<Property"));
        xml_put_attribute(w->out, "Name", p->name);
        put_property_type(w, &p->type);
        put_facets(w, &p->type);
        if (!p->computed && p->description.len == 0) {
            put(w, STR("/>"));
            continue;
        }
        put(w, STR(">"));
        put_description(w, p->description);
        if (p->computed) {
            put_bool_annotation(w, w->core, "Computed", true);
        }
        put(w, STR("</Property>"));
    }
}

static void put_key(struct writer *w, const struct key *key)
{
    put(w, STR("<Key>"));
    for (size_t i = 0; i < key->count; i++) {
        put(w, STR("<PropertyRef"));
        xml_put_attribute(w->out, "Name", key->properties[i]->name);
        put(w, STR("/>"));
    }
    put(w, STR("</Key>"));
}

static void put_navigation(struct writer *w, const struct navigation *n)
{
    put(w, STR("<NavigationProperty"));
    xml_put_attribute(w->out, "Name", n->name);
    put_type_attribute(w, n->target->namespace, n->target->name, n->collection);
    if (!n->collection && !n->nullable) {
        put(w, STR(" Nullable=\"false\""));
    }
    if (n->partner != NULL) {
        xml_put_attribute(w->out, "Partner", n->partner->name);
    }
    if (!n->dependent || n->join_count == 0) {
        put(w, STR("/>"));
        return;
    }
    put(w, STR(">"));
    for (size_t i = 0; i < n->join_count; i++) {
        put(w, STR("<ReferentialConstraint"));
        xml_put_attribute(w->out, "Property", n->joins[i].local->name);
        xml_put_attribute(w->out, "ReferencedProperty", n->joins[i].remote->name);
        put(w, STR("/>"));
    }
    put(w, STR("</NavigationProperty>"));
}

/* Records without a type: the term says it. Alias is left out: the property's name is the name. */
static void put_alternate_keys(struct writer *w, const struct entity_type *t)
{
    if (!w->features->has_alternate_keys || t->alternate_key_count == 0) {
        return;
    }
    put_annotation_start(w, w->core, "AlternateKeys");
    put(w, STR("><Collection>"));
    for (size_t i = 0; i < t->alternate_key_count; i++) {
        const struct key *key = &t->alternate_keys[i];
        put(w, STR("<Record><PropertyValue Property=\"Key\"><Collection>"));
        for (size_t k = 0; k < key->count; k++) {
            put(w, STR("<Record><PropertyValue Property=\"Name\""));
            xml_put_attribute(w->out, "PropertyPath", key->properties[k]->name);
            put(w, STR("/></Record>"));
        }
        put(w, STR("</Collection></PropertyValue></Record>"));
    }
    put(w, STR("</Collection></Annotation>"));
}

static void put_entity_type(struct writer *w, const struct entity_type *t)
{
    put(w, STR("<EntityType"));
    xml_put_attribute(w->out, "Name", t->name);
    put(w, STR(">"));
    put_key(w, &t->key);
    put_properties(w, t->properties, t->property_count);
    for (size_t i = 0; i < t->navigation_count; i++) {
        put_navigation(w, &t->navigations[i]);
    }
    put_description(w, t->description);
    put_alternate_keys(w, t);
    put(w, STR("</EntityType>\n"));
}

static void put_complex_type(struct writer *w, const struct complex_type *t)
{
    put(w, STR("<ComplexType"));
    xml_put_attribute(w->out, "Name", t->name);
    put(w, STR(">"));
    put_properties(w, t->properties, t->property_count);
    put_description(w, t->description);
    put(w, STR("</ComplexType>\n"));
}

static void put_enum_type(struct writer *w, const struct enum_type *t)
{
    put(w, STR("<EnumType"));
    xml_put_attribute(w->out, "Name", t->name);
    put(w, STR(">"));
    put_description(w, t->description);
    for (size_t i = 0; i < t->member_count; i++) {
        put(w, STR("<Member"));
        xml_put_attribute(w->out, "Name", t->members[i]);
        bytes_format(w->out, " Value=\"%zu\"/>", i);
    }
    put(w, STR("</EnumType>\n"));
}

/* One Boolean of one record: the form of all restrictions that we have to admit. */
static void put_restriction(struct writer *w, const char *term, const char *property)
{
    put_annotation_start(w, w->capabilities, term);
    bytes_format(w->out,
                 "><Record><PropertyValue Property=\"%s\" Bool=\"false\"/></Record></Annotation>",
                 property);
}

static void put_entity_set(struct writer *w, const struct entity_set *set)
{
    const struct entity_type *t = set->type;
    put(w, STR("<EntitySet"));
    xml_put_attribute(w->out, "Name", set->name);
    put(w, STR(" EntityType=\""));
    xml_put_escaped(w->out, t->namespace);
    put(w, STR("."));
    xml_put_escaped(w->out, t->name);
    put(w, STR("\">"));
    for (size_t i = 0; i < t->navigation_count; i++) {
        const struct navigation *n = &t->navigations[i];
        if (n->target->set != NULL) {
            put(w, STR("<NavigationPropertyBinding"));
            xml_put_attribute(w->out, "Path", n->name);
            xml_put_attribute(w->out, "Target", n->target->set->name);
            put(w, STR("/>"));
        }
    }
    if (!w->features->can_search) {
        put_restriction(w, "SearchRestrictions", "Searchable");
    }
    if (!w->features->can_write) {
        put_restriction(w, "InsertRestrictions", "Insertable");
        put_restriction(w, "UpdateRestrictions", "Updatable");
        put_restriction(w, "DeleteRestrictions", "Deletable");
    }
    put(w, STR("</EntitySet>\n"));
}

/* The schema of CSDL wants a child in it: a model without sets has no container. */
static void put_container(struct writer *w)
{
    const struct model *m = w->model;
    if (m->set_count == 0) {
        return;
    }
    put(w, STR("<EntityContainer"));
    xml_put_attribute(w->out, "Name", m->container);
    put(w, STR(">\n"));
    put_annotation_start(w, w->core, "ODataVersions");
    put(w, STR(" String=\"4.0 4.01\"/>\n"));
    if (!w->features->can_batch) {
        put_bool_annotation(w, w->capabilities, "BatchSupported", false);
        put(w, STR("\n"));
    }
    put_bool_annotation(w, w->capabilities, "AsynchronousRequestsSupported", false);
    put(w, STR("\n"));
    for (size_t i = 0; i < m->set_count; i++) {
        put_entity_set(w, &m->sets[i]);
    }
    put(w, STR("</EntityContainer>\n"));
}

static void put_schema(struct writer *w, struct str namespace, bool has_container)
{
    const struct model *m = w->model;
    put(w, STR("<Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\""));
    xml_put_attribute(w->out, "Namespace", namespace);
    put(w, STR(">\n"));
    for (size_t i = 0; i < m->enum_count; i++) {
        if (str_eq(m->enums[i].namespace, namespace)) {
            put_enum_type(w, &m->enums[i]);
        }
    }
    for (size_t i = 0; i < m->complex_count; i++) {
        if (str_eq(m->complexes[i].namespace, namespace)) {
            put_complex_type(w, &m->complexes[i]);
        }
    }
    for (size_t i = 0; i < m->type_count; i++) {
        if (str_eq(m->types[i].namespace, namespace)) {
            put_entity_type(w, &m->types[i]);
        }
    }
    if (has_container) {
        put_container(w);
    }
    put(w, STR("</Schema>\n"));
}

static bool has_namespace(const struct model *m, struct str name)
{
    for (size_t i = 0; i < m->namespace_count; i++) {
        if (str_eq(m->namespaces[i], name)) {
            return true;
        }
    }
    return false;
}

/* Returns how terms of the vocabulary are to be written. */
static struct str put_reference(struct writer *w, struct str namespace, struct str alias)
{
    put(w,
        STR("<edmx:Reference Uri=\"https://oasis-tcs.github.io/odata-vocabularies/vocabularies/"));
    put(w, namespace);
    put(w, STR(".xml\"><edmx:Include Namespace=\""));
    put(w, namespace);
    put(w, STR("\""));
    bool alias_is_free = !has_namespace(w->model, alias);
    if (alias_is_free) {
        xml_put_attribute(w->out, "Alias", alias);
    }
    put(w, STR("/></edmx:Reference>\n"));
    return alias_is_free ? alias : namespace;
}

void metadata_xml_put(struct bytes *out, const struct model *m, enum odata_version version,
                      const struct metadata_features *features)
{
    struct writer w = {.out = out, .model = m, .version = version, .features = features};
    put(&w, STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"));
    put(&w, STR("<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\""));
    put(&w, version == ODATA_4_01 ? STR("4.01\">\n") : STR("4.0\">\n"));
    w.core = put_reference(&w, STR("Org.OData.Core.V1"), STR("Core"));
    w.capabilities = put_reference(&w, STR("Org.OData.Capabilities.V1"), STR("Capabilities"));
    put(&w, STR("<edmx:DataServices>\n"));
    for (size_t i = 0; i < m->namespace_count; i++) {
        put_schema(&w, m->namespaces[i], i == 0);
    }
    if (m->namespace_count == 0) { /* nothing to show, but one Schema there must be */
        put_schema(&w, m->container.len > 0 ? m->container : STR("Default"), false);
    }
    put(&w, STR("</edmx:DataServices>\n</edmx:Edmx>\n"));
}

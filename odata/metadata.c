// SPDX-License-Identifier: Apache-2.0
#include "odata/metadata.h"

#include "odata/apply.h"
#include "odata/limits.h"
#include "odata/metadata_sink.h"

/* What does not change while one document is written. */
struct walk {
    struct metadata_sink sink;
    const struct metadata_sink_ops *to; /* the sink's */
    const struct model *model;
    enum odata_version version;
    const struct metadata_features *features;
    struct str core; /* how terms are written: an alias, or the namespace when that is taken */
    struct str capabilities;
    struct str aggregation;
};

static void put_bool_annotation(struct walk *w, struct str vocabulary, const char *term, bool value)
{
    w->to->begin_annotation(&w->sink, vocabulary, term, STR(""));
    w->to->value_bool(&w->sink, value);
    w->to->end_annotation(&w->sink);
}

static void put_string_annotation(struct walk *w, struct str vocabulary, const char *term,
                                  struct str value)
{
    w->to->begin_annotation(&w->sink, vocabulary, term, STR(""));
    w->to->value_string(&w->sink, value);
    w->to->end_annotation(&w->sink);
}

static void put_description(struct walk *w, struct str description)
{
    if (description.len > 0) {
        put_string_annotation(w, w->core, "Description", description);
    }
}

static struct metadata_type type_of(const struct walk *w, const struct type_ref *t)
{
    struct metadata_type type = {
        .name = edm_name(t->type), .collection = t->collection, .nullable = t->nullable};
    if (t->type == EDM_ENUM) {
        type.namespace = t->enum_type->namespace;
        type.name = t->enum_type->name;
    } else if (t->type == EDM_COMPLEX) {
        type.namespace = t->complex_type->namespace;
        type.name = t->complex_type->name;
    } else if (t->type == EDM_UNTYPED) {
        type.nullable = true; /* JSON null is a value of a column that is NOT NULL, too */
        if (w->version != ODATA_4_01) {
            /* 4.0 has no such type: there the value is sent as its text. */
            type.name = edm_name(EDM_STRING);
        }
    }
    return type;
}

static void put_facets(struct walk *w, const struct type_ref *t)
{
    if (t->type == EDM_UNTYPED) {
        return;
    }
    if (t->max_length > 0) {
        w->to->number(&w->sink, "MaxLength", t->max_length);
    }
    if (t->precision >= 0) {
        w->to->number(&w->sink, "Precision", t->precision);
    }
    if (t->type != EDM_DECIMAL) {
        return;
    }
    /* In XML a missing Scale means 0, and clients would round: so it is always written. */
    if (t->scale >= 0) {
        w->to->number(&w->sink, "Scale", t->scale);
    } else if (t->scale == FACET_VARIABLE || t->precision < 0) {
        w->to->word(&w->sink, "Scale", STR("variable"));
    } else {
        w->to->number(&w->sink, "Scale", 0);
    }
}

static void put_properties(struct walk *w, const struct property *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct property *p = &properties[i];
        struct metadata_type type = type_of(w, &p->type);
        w->to->begin(&w->sink, METADATA_PROPERTY, p->name);
        w->to->type(&w->sink, METADATA_PROPERTY, &type);
        put_facets(w, &p->type);
        put_description(w, p->description);
        if (p->computed) {
            put_bool_annotation(w, w->core, "Computed", true);
        }
        w->to->end(&w->sink, METADATA_PROPERTY);
    }
}

static void put_navigation(struct walk *w, const struct navigation *n)
{
    const struct metadata_type type = {n->target->namespace, n->target->name, n->collection,
                                       n->nullable};
    w->to->begin(&w->sink, METADATA_NAVIGATION, n->name);
    w->to->type(&w->sink, METADATA_NAVIGATION, &type);
    if (n->partner != NULL) {
        w->to->word(&w->sink, "Partner", n->partner->name);
    }
    if (n->dependent && n->join_count > 0) {
        w->to->begin_list(&w->sink, METADATA_CONSTRAINTS);
        for (size_t i = 0; i < n->join_count; i++) {
            w->to->pair(&w->sink, METADATA_CONSTRAINTS, n->joins[i].local->name,
                        n->joins[i].remote->name);
        }
        w->to->end_list(&w->sink, METADATA_CONSTRAINTS);
    }
    w->to->end(&w->sink, METADATA_NAVIGATION);
}

static void put_alternate_key(struct walk *w, const struct key *key)
{
    w->to->begin_record(&w->sink);
    w->to->begin_field(&w->sink, "Key");
    w->to->begin_collection(&w->sink);
    for (size_t k = 0; k < key->count; k++) {
        w->to->begin_record(&w->sink);
        w->to->begin_field(&w->sink, "Name");
        w->to->value_property(&w->sink, key->properties[k]->name);
        w->to->end_field(&w->sink);
        w->to->end_record(&w->sink);
    }
    w->to->end_collection(&w->sink);
    w->to->end_field(&w->sink);
    w->to->end_record(&w->sink);
}

/* Records without a type: the term says it. Alias is left out: the property's name is the name. */
static void put_alternate_keys(struct walk *w, const struct entity_type *t)
{
    if (!w->features->has_alternate_keys || t->alternate_key_count == 0) {
        return;
    }
    w->to->begin_annotation(&w->sink, w->core, "AlternateKeys", STR(""));
    w->to->begin_collection(&w->sink);
    for (size_t i = 0; i < t->alternate_key_count; i++) {
        put_alternate_key(w, &t->alternate_keys[i]);
    }
    w->to->end_collection(&w->sink);
    w->to->end_annotation(&w->sink);
}

/* Each foreign key to the table itself is a hierarchy (Data Aggregation 5.5.2). */
static void put_hierarchies(struct walk *w, const struct entity_type *t)
{
    for (size_t i = 0; w->features->can_apply && i < t->navigation_count; i++) {
        const struct navigation *n = &t->navigations[i];
        if (!navigation_is_hierarchy(n)) {
            continue;
        }
        w->to->begin_annotation(&w->sink, w->aggregation, "RecursiveHierarchy", n->name);
        w->to->begin_record(&w->sink);
        w->to->begin_field(&w->sink, "NodeProperty");
        w->to->value_property(&w->sink, n->joins[0].remote->name);
        w->to->end_field(&w->sink);
        w->to->begin_field(&w->sink, "ParentNavigationProperty");
        w->to->value_navigation(&w->sink, n->name);
        w->to->end_field(&w->sink);
        w->to->end_record(&w->sink);
        w->to->end_annotation(&w->sink);
    }
}

static void put_entity_type(struct walk *w, const struct entity_type *t)
{
    const size_t inherited = t->inherited_properties;
    w->to->begin(&w->sink, METADATA_ENTITY_TYPE, t->name);
    if (t->base != NULL) { /* which has the key, too (CSDL 6.5) */
        const struct metadata_type base = {.namespace = t->base->namespace, .name = t->base->name};
        w->to->type(&w->sink, METADATA_ENTITY_TYPE, &base);
    } else {
        w->to->key(&w->sink, &t->key);
    }
    put_properties(w, t->properties + inherited, t->property_count - inherited);
    for (size_t i = t->inherited_navigations; i < t->navigation_count; i++) {
        put_navigation(w, &t->navigations[i]);
    }
    put_description(w, t->description);
    put_alternate_keys(w, t);
    put_hierarchies(w, t);
    w->to->end(&w->sink, METADATA_ENTITY_TYPE);
}

static void put_complex_type(struct walk *w, const struct complex_type *t)
{
    w->to->begin(&w->sink, METADATA_COMPLEX_TYPE, t->name);
    put_properties(w, t->properties, t->property_count);
    put_description(w, t->description);
    w->to->end(&w->sink, METADATA_COMPLEX_TYPE);
}

static void put_enum_type(struct walk *w, const struct enum_type *t)
{
    w->to->begin(&w->sink, METADATA_ENUM_TYPE, t->name);
    for (size_t i = 0; i < t->member_count; i++) {
        w->to->member(&w->sink, t->members[i], i);
    }
    put_description(w, t->description);
    w->to->end(&w->sink, METADATA_ENUM_TYPE);
}

/* One Boolean of one record: the form of all restrictions that we have to admit. */
static void put_restriction(struct walk *w, const char *term, const char *property)
{
    w->to->begin_annotation(&w->sink, w->capabilities, term, STR(""));
    w->to->begin_record(&w->sink);
    w->to->begin_field(&w->sink, property);
    w->to->value_bool(&w->sink, false);
    w->to->end_field(&w->sink);
    w->to->end_record(&w->sink);
    w->to->end_annotation(&w->sink);
}

/* Which transformations $apply takes here: of all the standard's those that are built. */
static void put_apply_supported(struct walk *w, const struct entity_type *t)
{
    bool can_search = w->features->can_search && t->search.piece_count > 0;
    w->to->begin_annotation(&w->sink, w->aggregation, "ApplySupported", STR(""));
    w->to->begin_record(&w->sink);
    w->to->begin_field(&w->sink, "Transformations");
    w->to->begin_collection(&w->sink);
    for (size_t i = 0; i < TRANSFORM_COUNT; i++) {
        if (transformation_is_supported((enum transformation_kind)i) &&
            (i != TRANSFORM_SEARCH || can_search)) {
            w->to->value_string(&w->sink, transformation_name((enum transformation_kind)i));
        }
    }
    w->to->end_collection(&w->sink);
    w->to->end_field(&w->sink);
    w->to->end_record(&w->sink);
    w->to->end_annotation(&w->sink);
}

/* cast: the navigations are those of a type that is derived from the set's own; or NULL. */
static void put_binding(struct walk *w, const struct entity_type *cast, const struct navigation *n)
{
    struct bytes path;
    if (cast == NULL) {
        w->to->pair(&w->sink, METADATA_BINDINGS, n->name, n->target->set->name);
        return;
    }
    bytes_init(&path, LIMIT_REQUEST_ARENA_BYTES);
    bytes_put_str(&path, cast->namespace);
    bytes_put_char(&path, '.');
    bytes_put_str(&path, cast->name);
    bytes_put_char(&path, '/');
    bytes_put_str(&path, n->name);
    if (bytes_failed(&path)) {
        w->sink.out->failed = true;
        w->sink.out->out_of_memory = path.out_of_memory;
    } else {
        w->to->pair(&w->sink, METADATA_BINDINGS, bytes_str(&path), n->target->set->name);
    }
    bytes_fini(&path);
}

/* Of the set's type, and of all that are derived from it (CSDL 13.4.1). */
static void put_bindings(struct walk *w, const struct entity_type *t)
{
    bool is_open = false;
    for (size_t k = t->number; k <= t->last; k++) {
        const struct entity_type *each = t->tree == NULL ? t : t->tree->types[k];
        bool is_own = k == t->number;
        for (size_t i = is_own ? 0 : each->inherited_navigations; i < each->navigation_count; i++) {
            if (each->navigations[i].target->set == NULL) {
                continue;
            }
            if (!is_open) {
                w->to->begin_list(&w->sink, METADATA_BINDINGS);
                is_open = true;
            }
            put_binding(w, is_own ? NULL : each, &each->navigations[i]);
        }
    }
    if (is_open) {
        w->to->end_list(&w->sink, METADATA_BINDINGS);
    }
}

static void put_entity_set(struct walk *w, const struct entity_set *set)
{
    const struct entity_type *t = set->type;
    const struct metadata_type type = {.namespace = t->namespace, .name = t->name};
    w->to->begin(&w->sink, METADATA_ENTITY_SET, set->name);
    w->to->type(&w->sink, METADATA_ENTITY_SET, &type);
    put_bindings(w, t);
    if (w->features->can_apply) {
        put_apply_supported(w, t);
    }
    if (!w->features->can_search || t->search.piece_count == 0) {
        put_restriction(w, "SearchRestrictions", "Searchable");
    }
    if (!w->features->can_write) {
        put_restriction(w, "InsertRestrictions", "Insertable");
        put_restriction(w, "UpdateRestrictions", "Updatable");
        put_restriction(w, "DeleteRestrictions", "Deletable");
    }
    w->to->end(&w->sink, METADATA_ENTITY_SET);
}

static void put_container(struct walk *w)
{
    const struct model *m = w->model;
    w->to->begin(&w->sink, METADATA_CONTAINER, m->container);
    put_string_annotation(w, w->core, "ODataVersions", STR("4.0 4.01"));
    if (!w->features->can_batch) {
        put_bool_annotation(w, w->capabilities, "BatchSupported", false);
    }
    put_bool_annotation(w, w->capabilities, "AsynchronousRequestsSupported", false);
    for (size_t i = 0; i < m->set_count; i++) {
        put_entity_set(w, &m->sets[i]);
    }
    w->to->end(&w->sink, METADATA_CONTAINER);
}

/*
 * Where the container is. A service has exactly one (CSDL 13); a model without sets has it too, though
 * CSDL 4.0 would have a set in it: clients look for the container first, and some fail without it.
 */
static struct str home_namespace(const struct model *m)
{
    return m->namespace_count > 0 ? m->namespaces[0] : STR("Default");
}

static void put_schema(struct walk *w, struct str namespace)
{
    const struct model *m = w->model;
    w->to->begin(&w->sink, METADATA_SCHEMA, namespace);
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
    if (str_eq(namespace, home_namespace(m))) {
        put_container(w);
    }
    w->to->end(&w->sink, METADATA_SCHEMA);
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
static struct str put_reference(struct walk *w, struct str namespace, struct str alias)
{
    bool alias_is_free = !has_namespace(w->model, alias);
    w->to->reference(&w->sink, namespace, alias_is_free ? alias : STR(""));
    return alias_is_free ? alias : namespace;
}

void metadata_put(struct bytes *out, const struct model *m, enum odata_version version,
                  enum media media, const struct metadata_features *features)
{
    const struct metadata_sink_ops *ops =
        media == MEDIA_JSON ? &metadata_json_ops : &metadata_xml_ops;
    struct walk w = {.sink = {.ops = ops, .out = out},
                     .to = ops,
                     .model = m,
                     .version = version,
                     .features = features};
    ops->begin_document(&w.sink, version, home_namespace(m), m->container);
    w.core = put_reference(&w, STR("Org.OData.Core.V1"), STR("Core"));
    w.capabilities = put_reference(&w, STR("Org.OData.Capabilities.V1"), STR("Capabilities"));
    if (features->can_apply) {
        w.aggregation = put_reference(&w, STR("Org.OData.Aggregation.V1"), STR("Aggregation"));
    }
    ops->end_references(&w.sink);
    for (size_t i = 0; i < m->namespace_count; i++) {
        put_schema(&w, m->namespaces[i]);
    }
    if (m->namespace_count == 0) {
        put_schema(&w, home_namespace(m));
    }
    ops->end_document(&w.sink);
}

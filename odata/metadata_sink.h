// SPDX-License-Identifier: Apache-2.0
/*
 * metadata_sink - what the walk over the model (odata/metadata.c) says, for a writer of one form.
 *
 * The walk names the pieces of a CSDL document in an order that both XML and JSON can follow:
 * references, schemas; in a schema its types and the container, in these their members, and last
 * the annotations of each. Attributes of an element come directly behind its begin.
 */
#ifndef ODATA_METADATA_SINK_H
#define ODATA_METADATA_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/bytes.h"
#include "odata/model.h"
#include "odata/response_format.h"

/* Elements with a name. */
enum metadata_element {
    METADATA_SCHEMA,
    METADATA_ENUM_TYPE,
    METADATA_COMPLEX_TYPE,
    METADATA_ENTITY_TYPE,
    METADATA_PROPERTY,
    METADATA_NAVIGATION,
    METADATA_CONTAINER,
    METADATA_ENTITY_SET,
};

/* Lists of pairs inside of an element. */
enum metadata_list {
    METADATA_CONSTRAINTS, /* of a navigation: property, referenced property */
    METADATA_BINDINGS,    /* of a set: path, target */
};

struct metadata_type {
    struct str namespace; /* "" for a primitive type, whose name is qualified */
    struct str name;
    bool collection;
    bool nullable; /* of the items, when it is a collection */
};

struct metadata_sink;

struct metadata_sink_ops {
    /* container: its qualified name, "" when there is none. */
    void (*begin_document)(struct metadata_sink *s, enum odata_version version,
                           struct str namespace, struct str container);
    /* alias "": none. */
    void (*reference)(struct metadata_sink *s, struct str namespace, struct str alias);
    void (*end_references)(struct metadata_sink *s);
    void (*end_document)(struct metadata_sink *s);

    void (*begin)(struct metadata_sink *s, enum metadata_element element, struct str name);
    void (*end)(struct metadata_sink *s, enum metadata_element element);
    /* of a property, a navigation, or the entities of a set; the base of an entity type */
    void (*type)(struct metadata_sink *s, enum metadata_element element,
                 const struct metadata_type *type);
    void (*number)(struct metadata_sink *s, const char *facet, int value);
    void (*word)(struct metadata_sink *s, const char *facet, struct str value);
    void (*key)(struct metadata_sink *s, const struct key *key);
    void (*member)(struct metadata_sink *s, struct str name, size_t value);
    void (*begin_list)(struct metadata_sink *s, enum metadata_list list);
    void (*pair)(struct metadata_sink *s, enum metadata_list list, struct str left,
                 struct str right);
    void (*end_list)(struct metadata_sink *s, enum metadata_list list);

    /* Annotations: one value stands between begin and end. */
    void (*begin_annotation)(struct metadata_sink *s, struct str vocabulary, const char *term,
                             struct str qualifier); /* "": none */
    void (*end_annotation)(struct metadata_sink *s);
    void (*value_bool)(struct metadata_sink *s, bool value);
    void (*value_string)(struct metadata_sink *s, struct str value);
    void (*value_property)(struct metadata_sink *s, struct str path);
    void (*value_navigation)(struct metadata_sink *s, struct str path);
    void (*begin_collection)(struct metadata_sink *s);
    void (*end_collection)(struct metadata_sink *s);
    void (*begin_record)(struct metadata_sink *s);
    void (*end_record)(struct metadata_sink *s);
    void (*begin_field)(struct metadata_sink *s, const char *name);
    void (*end_field)(struct metadata_sink *s);
};

struct metadata_sink {
    const struct metadata_sink_ops *ops;
    struct bytes *out;
    bool open; /* XML: the start tag lacks its `>`; JSON: a comma stands before the next piece */
};

extern const struct metadata_sink_ops metadata_xml_ops;
extern const struct metadata_sink_ops metadata_json_ops;

/* Where the vocabularies are, without their name and ending. */
#define METADATA_VOCABULARIES "https://oasis-tcs.github.io/odata-vocabularies/vocabularies/"

#endif

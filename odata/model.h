// SPDX-License-Identifier: Apache-2.0
/*
 * model - the CSDL model of one database: built once, then immutable, shared by reference count.
 *
 * Whoever builds a model (storage/catalog.c, or a test) makes it with model_new(), allocates
 * everything that hangs on it in model_arena(), fills in the plain structs below and calls
 * model_seal(). From then on nobody writes to it.
 *
 * Owns:    its arena, and so every string and array reachable from here.
 * Threads: after model_seal() any number may read; model_retain/release are atomic.
 */
#ifndef ODATA_MODEL_H
#define ODATA_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/compiler.h"
#include "odata/edm.h"
#include "odata/odata_error.h"
#include "odata/str.h"

struct entity_type;
struct entity_set;
struct nested; /* odata/derived.h */
struct type_tree;

enum {
    /* Facet values of struct type_ref. */
    FACET_NONE = -1,     /* not given */
    FACET_VARIABLE = -2, /* Scale="variable" */
};

/* A type as a property or an expression has it. */
struct type_ref {
    enum edm_type type;
    bool collection; /* Collection(type); one dimension */
    bool nullable;   /* the value, or the items of a collection, may be null */
    int max_length;  /* of strings and binaries, in characters or octets; FACET_NONE */
    int precision;   /* of decimals and temporal types; FACET_NONE */
    int scale;       /* of decimals; FACET_NONE, FACET_VARIABLE */
    const struct enum_type *enum_type;       /* with EDM_ENUM */
    const struct complex_type *complex_type; /* with EDM_COMPLEX */
    const struct entity_type *entity_type;   /* with EDM_ENTITY */
};

/* How PostgreSQL knows the type of a column, an attribute or an element. */
struct pg_type_ref {
    uint32_t oid;         /* of the base type: domains are looked through */
    uint32_t element_oid; /* of an array's elements, 0 otherwise */
    struct str cast;      /* what a parameter is cast to: `int4`, `shop.color`; already quoted */
    struct str zone; /* of a stored timestamp that is read as one of this zone: its name; oid and
                             cast are those of the timestamptz that comes out. "" otherwise */
};

struct property {
    struct str name;   /* a SimpleIdentifier, unique in its type */
    struct str column; /* PostgreSQL's name of the column or attribute, not quoted */
    struct type_ref type;
    struct pg_type_ref pg;
    struct str description; /* the column's comment, or "" */
    size_t index;           /* its place in the type's properties */
    bool computed;          /* GENERATED ALWAYS: never written by a client */
    bool has_default;       /* may be left out when an entity is created */
    bool dynamic;           /* made for a request: $metadata does not know it */
    uint64_t structures;    /* with entity_type.structure: bit i: in rows of structure i; 0: all */
    /* In a hierarchy: */
    unsigned depth; /* of the type that declares it */
    unsigned slot;  /* its place in tree.slots; of the root's properties: none */
};

struct enum_type {
    struct str namespace;
    struct str name;
    struct str *members; /* labels in the order of PostgreSQL, all SimpleIdentifiers */
    size_t member_count;
    struct str description;
    struct pg_type_ref pg;
};

struct complex_type {
    struct str namespace;
    struct str name;
    struct property *properties;
    size_t property_count;
    struct str description;
    struct pg_type_ref pg;
};

/* One pair of columns that a navigation joins by. */
struct join_column {
    const struct property *local;  /* of the type that has the navigation */
    const struct property *remote; /* of the target */
};

/* The link table of a many-to-many navigation: local.local = link.link_local, ... */
struct link_table {
    struct str schema;
    struct str table;
    struct str *local_columns;  /* of the link table; join_local_count of them */
    struct str *remote_columns; /* of the link table; join_remote_count of them */
    const struct property **local;
    const struct property **remote;
    size_t local_count;
    size_t remote_count;
};

struct navigation {
    struct str name; /* a SimpleIdentifier, unique in its type */
    const struct entity_type *source;
    const struct entity_type *target;
    const struct navigation *partner; /* the way back, or NULL */
    struct join_column *joins;        /* join_count pairs; none when link is set */
    size_t join_count;
    const struct link_table *link; /* many-to-many, else NULL */
    size_t index;                  /* its place in the type's navigations */
    bool collection;               /* to many */
    bool nullable;                 /* to one: there may be none */
    bool dependent;                /* this side holds the foreign key: ReferentialConstraint */
    /* Made for a request. */
    bool embedded;             /* the target's columns stand in the row of the source */
    bool crossed;              /* to each row of the target's set: $crossjoin */
    bool expanded;             /* written unless $expand says otherwise */
    uint64_t structures;       /* as in struct property */
    const struct nested *made; /* what the targets come out of; NULL: they are those of the model */
};

/* Whether it leads by a foreign key to the table of that: tables that inherit from it are not meant. */
static inline bool navigation_is_exact(const struct navigation *n)
{
    return n->dependent || n->link != NULL;
}

/* Columns that identify a row: the key, or an alternate key. */
struct key {
    const struct property **properties;
    size_t count;
};

enum relation_kind {
    RELATION_TABLE,
    RELATION_PARTITIONED,
    RELATION_VIEW,
    RELATION_MATERIALIZED_VIEW,
    RELATION_FOREIGN_TABLE,
};

/* A piece of the text of search_source: our own or PostgreSQL's words, then a column of the table. */
struct search_piece {
    struct str text;
    struct str column; /* not quoted; "" = none */
};

/* What $search looks into (storage/catalog_search.h). */
struct search_source {
    const struct search_piece *pieces; /* an expression of type tsvector; none: not searchable */
    size_t piece_count;
    struct str config; /* the text search configuration, as SQL: 'english'::regconfig */
    /* A tsvector column, or the expression of an index: what matches need not be looked for in all
       rows, and the best match comes first. */
    bool ranked;
};

struct entity_type {
    struct str namespace;
    struct str name;
    struct str schema; /* PostgreSQL's names, not quoted */
    struct str table;
    enum relation_kind kind;
    struct property *properties;
    size_t property_count;
    struct navigation *navigations;
    size_t navigation_count;
    struct key key;
    struct key *alternate_keys;
    size_t alternate_key_count;
    const struct entity_set *set; /* the one set of this type */
    struct str description;
    struct search_source search;
    double estimated_rows; /* pg_class.reltuples; negative when never analysed */
    uint32_t oid;          /* pg_class.oid */
    /* Derived types begin with the properties and the navigations of their base, in its order. */
    const struct entity_type *base; /* NULL: a root */
    size_t inherited_properties;
    size_t inherited_navigations;
    const struct type_tree *tree; /* NULL: neither has a base nor is one */
    unsigned number;              /* its place in tree->types */
    unsigned last;   /* the number of the last type that is derived from it, or its own */
    unsigned depth;  /* 0 for a root */
    bool has_strays; /* tables inherit from it that are no derived types: their rows are its own */
    /* Made for a request ($apply). */
    bool transient;                   /* rows without an id */
    bool crossjoin;                   /* $crossjoin: nothing but a navigation to each of its sets */
    const struct property *structure; /* its value says which members a row has; NULL: all */
    size_t structure_count;
    uint64_t identified; /* bit i: rows of structure i have an id; 0: all, unless transient */
    /* Filled in by model_seal(): open-addressed tables of indexes + 1, 0 = free. */
    const uint32_t *property_hash;
    size_t property_hash_size;
    const uint32_t *navigation_hash;
    size_t navigation_hash_size;
};

/*
 * A place in the rows of a hierarchy for what derived types add: types of which none is derived from
 * the other share it, as far as they have columns of one type.
 */
struct slot {
    struct property column;         /* as it is called in these rows */
    const struct entity_type *type; /* the first one that uses it, */
    const struct property *first;   /* and for what */
};

/* A root with all types that are derived from it. */
struct type_tree {
    const struct entity_type **types; /* each before those derived from it, which follow at once */
    size_t type_count;
    struct property kind; /* in the rows of a type: how far the row's type is behind that one */
    struct slot *slots;
    size_t slot_count;
};

struct entity_set {
    struct str name; /* a SimpleIdentifier, unique in the container */
    const struct entity_type *type;
    uint64_t max_page_size; /* 0 = the global one counts */
};

/* Something that a person should know about the model, e.g. a view left out for want of a key. */
struct model_warning {
    struct str relation; /* "schema.table" */
    struct str text;     /* what is wrong and which setting would mend it */
};

struct model {
    struct str container;   /* name of the EntityContainer, in the first namespace */
    struct str *namespaces; /* one for each PostgreSQL schema that has something to show */
    size_t namespace_count;
    struct entity_set *sets; /* sorted by name */
    size_t set_count;
    struct entity_type *types; /* sorted by namespace and name */
    size_t type_count;
    struct enum_type *enums;
    size_t enum_count;
    struct complex_type *complexes;
    size_t complex_count;
    struct model_warning *warnings;
    size_t warning_count;
    /* Filled in by model_seal(). */
    uint64_t fingerprint; /* equal models have equal ones: the ETag of $metadata */
    const uint32_t *set_hash;
    size_t set_hash_size;
};

/* An empty model with one reference, or NULL when memory is short. */
struct model *model_new(void) NODISCARD;

/* Where everything that hangs on the model is allocated, until model_seal(). */
struct arena *model_arena(struct model *m);

/*
 * Builds the look-up tables and the fingerprint. False when memory is short or two names collide
 * (err 500: the builder's fault).
 */
bool model_seal(struct model *m, struct odata_error *err) NODISCARD;

struct model *model_retain(struct model *m);
void model_release(struct model *m);

/* Exact, case-sensitive look-ups; NULL when there is none. */
const struct entity_set *model_find_set(const struct model *m, struct str name);
/* name: "Namespace.Type" or, when it is unambiguous, "Type". */
const struct entity_type *model_find_type(const struct model *m, struct str name);
const struct enum_type *model_find_enum(const struct model *m, struct str qualified_name);
const struct complex_type *model_find_complex(const struct model *m, struct str qualified_name);
/* t is base, or is derived from it; types that were made of them for a request count as they do. */
bool entity_type_is(const struct entity_type *t, const struct entity_type *base);
/* Whether there are types that are derived from it. */
bool entity_type_has_derived(const struct entity_type *t);
const struct property *entity_type_find_property(const struct entity_type *t, struct str name);
const struct navigation *entity_type_find_navigation(const struct entity_type *t, struct str name);
const struct property *complex_type_find_property(const struct complex_type *t, struct str name);
/* To one entity of its own type, by one property, or to none: the parent of a node. */
bool navigation_is_hierarchy(const struct navigation *n);
/* The hierarchy of t that its parent navigation's name is the qualifier of; NULL. */
const struct navigation *entity_type_find_hierarchy(const struct entity_type *t, struct str name);
bool enum_type_has_member(const struct enum_type *t, struct str member);
bool key_has_property(const struct key *k, const struct property *p);

/*
 * The name that a person who wrote `name` probably meant (small edit distance, or the same but for
 * case), or an empty view. For "did you mean" in messages.
 */
struct str model_suggest_set(const struct model *m, struct str name);
struct str entity_type_suggest(const struct entity_type *t, struct str name);

#endif

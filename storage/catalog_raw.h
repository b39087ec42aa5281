// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_raw - what the system catalogs say, as plain structs: read by catalog_query.c, refined by
 * the other catalog_*.c files, gone when the model is built.
 *
 * Owns:    its arrays (malloc), its maps, and the arena `scratch`; texts that the model will need
 *          are in `kept`, the model's arena, from the beginning.
 * Threads: one at a time.
 */
#ifndef STORAGE_CATALOG_RAW_H
#define STORAGE_CATALOG_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/model.h"
#include "odata/odata_error.h"
#include "odata/str.h"
#include "storage/catalog.h"
#include "storage/catalog_map.h"

/* A growing array: `items` moves when it grows, so keep places, not pointers, while reading. */
#define RAW_VEC(type)    \
    struct {             \
        type *items;     \
        size_t count;    \
        size_t capacity; \
    }

struct raw_schema {
    uint32_t oid;
    struct str name;
    struct str namespace;
    struct name_set type_names; /* of entity, enum and complex types, and of the container */
    bool exposed;               /* else only types of it are used */
    bool shows;                 /* something of it is in the model */
};

struct raw_column {
    uint32_t owner; /* pg_class.oid */
    int16_t number; /* pg_attribute.attnum */
    struct str name;
    uint32_t type_oid;
    int32_t type_modifier;
    int dimensions;
    struct str comment;
    bool not_null;
    bool computed;
    bool has_default;
    uint32_t collation;    /* pg_collation.oid */
    bool hidden;           /* by an override */
    struct type_ref type;  /* without the enum and complex types until types_build() */
    struct pg_type_ref pg; /* likewise */
    const struct property *property;
};

/* A unique index; or a key that a view passes through, or one that an override gives. */
struct raw_key {
    uint32_t owner;
    struct str name; /* of the index */
    bool primary;
    bool not_null; /* all its columns are */
    size_t count;
    int16_t *numbers; /* attnums, in the order of the index */
};

struct raw_relation {
    uint32_t oid;
    uint32_t schema; /* place in raw.schemas */
    struct str name;
    struct str comment;
    enum relation_kind kind;
    double tuples;
    bool has_children; /* of table inheritance */
    bool row_security;
    const struct catalog_override *override;
    size_t first_column; /* in raw.columns, sorted by attnum */
    size_t column_count;
    size_t visible_count;      /* columns that become properties */
    const struct raw_key *key; /* NULL: the relation is left out */
    const struct raw_key **alternates;
    size_t alternate_count;
    struct str namespace;
    struct str type_name;
    struct str set_name;
    struct entity_type *type; /* once it is built */
    /* storage/catalog_inheritance.h */
    struct raw_relation *base; /* what its type is derived from, or NULL */
    bool is_placed;            /* key and base are chosen */
    bool has_strays;           /* rows of tables that inherit from it and are not derived */
};

/* That a table inherits from another one; neither needs to be exposed. */
struct raw_inheritance {
    uint32_t child; /* pg_class.oid */
    uint32_t parent;
};

struct raw_foreign_key {
    uint32_t source; /* places in raw.relations */
    uint32_t target;
    struct str name;
    size_t count;
    int16_t *local; /* attnums */
    int16_t *remote;
    bool validated;
};

struct raw_type {
    uint32_t oid;
    struct str name;
    uint32_t schema;
    char kind; /* pg_type.typtype */
    uint32_t base_oid;
    int32_t type_modifier; /* of a domain */
    int dimensions;        /* likewise */
    bool not_null;
    bool has_default;
    uint32_t element_oid; /* of an array */
    uint32_t owner;       /* pg_class.oid of a composite type */
    struct str cast;
    struct str comment;
    bool spatial; /* owned by the extension postgis */
    size_t first_label;
    size_t label_count;
    bool labels_fit; /* all are SimpleIdentifiers, so it is an EnumType */
    size_t first_attribute;
    size_t attribute_count;
    bool used; /* by a property */
    struct enum_type *enum_type;
    struct complex_type *complex_type;
};

/* A view's column that is nothing but a column of the one relation it reads from. */
struct raw_view_column {
    int16_t number;
    int16_t base_number;
};

/* A view that reads from one relation, without anything that could make its rows repeat. */
struct raw_view {
    uint32_t oid;
    uint32_t base; /* pg_class.oid */
    struct raw_view_column *columns;
    size_t column_count;
};

/* A text search configuration. */
struct raw_ts_config {
    struct str schema;
    struct str name;
    struct str sql; /* 'name'::regconfig */
    bool is_default;
};

/* An expression of type tsvector: of a generated column, or (number 0) of an index. */
struct raw_ts_expression {
    uint32_t owner; /* pg_class.oid of the table */
    int16_t number; /* attnum */
    struct str text;
};

struct raw_catalog {
    const struct catalog_options *options;
    struct model *model;
    struct arena *kept;
    struct arena scratch;
    RAW_VEC(struct raw_schema) schemas;
    RAW_VEC(struct raw_relation) relations; /* by schema and name */
    RAW_VEC(struct raw_column) columns;     /* by relation and attnum */
    RAW_VEC(struct raw_column) attributes;  /* of composite types, likewise */
    RAW_VEC(struct raw_type) types;
    RAW_VEC(struct str) labels;
    RAW_VEC(struct raw_key) keys; /* by relation; the primary key, the short ones first */
    RAW_VEC(struct raw_foreign_key) foreign_keys;
    RAW_VEC(struct raw_inheritance) inheritances; /* by child, in the order of INHERITS */
    RAW_VEC(struct raw_view) views;
    RAW_VEC(struct raw_ts_config) ts_configs;
    RAW_VEC(struct raw_ts_expression) ts_expressions;
    RAW_VEC(struct model_warning) warnings;
    bool has_login_fault; /* one of them is about the role that logs in */
    struct str zone;      /* of timestamps; "" = UTC */
    struct oid_map schema_places;
    struct oid_map relation_places;
    struct oid_map type_places;
    struct oid_map view_places;
    struct oid_map first_keys;         /* pg_class.oid to the first of its keys */
    struct oid_map first_inheritances; /* of a child */
};

void raw_init(struct raw_catalog *raw, const struct catalog_options *options, struct model *m);
void raw_fini(struct raw_catalog *raw);

/* One more zeroed item at the end of a RAW_VEC, or NULL when memory is short. */
#define RAW_ADD(vec)                                                                             \
    (raw_vec_grow((void **)&(vec)->items, (vec)->count, &(vec)->capacity, sizeof(*(vec)->items)) \
         ? &(vec)->items[(vec)->count++]                                                         \
         : NULL)
bool raw_vec_grow(void **items, size_t count, size_t *capacity, size_t item_size) NODISCARD;

/* The schema, relation or type of an OID, or NULL. */
struct raw_schema *raw_find_schema(const struct raw_catalog *raw, uint32_t oid);
struct raw_relation *raw_find_relation(const struct raw_catalog *raw, uint32_t oid);
struct raw_type *raw_find_type(const struct raw_catalog *raw, uint32_t oid);
/* The column of an attnum, hidden or not, or NULL. */
struct raw_column *raw_find_column(const struct raw_catalog *raw, const struct raw_relation *r,
                                   int16_t number);
struct str raw_schema_name(const struct raw_catalog *raw, const struct raw_relation *r);

/* Adds a warning about a relation. False fills err when memory is short. */
bool raw_warn(struct raw_catalog *raw, const struct raw_relation *r, struct odata_error *err,
              const char *fmt, ...) PRINTF_LIKE(4, 5) NODISCARD;

/* Memory is short: fills err and returns false. */
bool raw_no_memory(struct odata_error *err);

#endif

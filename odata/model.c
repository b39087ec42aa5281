// SPDX-License-Identifier: Apache-2.0
#include "odata/model.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "odata/limits.h"
#include "odata/name_index.h"

/* The model as it is kept: what readers see comes first, so that a pointer to one is a pointer to
   the other. */
struct owned_model {
    struct model model;
    struct arena arena;
    atomic_uint references;
};

#define NAMED(array, number, type)             \
    ((struct named){.items = (array),          \
                    .count = (number),         \
                    .item_size = sizeof(type), \
                    .name_offset = offsetof(type, name)})

static struct owned_model *owned(struct model *m)
{
    return (struct owned_model *)m;
}

struct model *model_new(void)
{
    struct owned_model *o = calloc(1, sizeof(*o));
    if (o == NULL) {
        return NULL;
    }
    arena_init(&o->arena, (size_t)LIMIT_MODEL_ARENA_MIB * 1024 * 1024);
    atomic_init(&o->references, 1);
    return &o->model;
}

struct arena *model_arena(struct model *m)
{
    return &owned(m)->arena;
}

struct model *model_retain(struct model *m)
{
    atomic_fetch_add_explicit(&owned(m)->references, 1, memory_order_relaxed);
    return m;
}

void model_release(struct model *m)
{
    if (m != NULL &&
        atomic_fetch_sub_explicit(&owned(m)->references, 1, memory_order_acq_rel) == 1) {
        arena_fini(&owned(m)->arena);
        free(m);
    }
}

/* -- sealing ---------------------------------------------------------------------------------- */

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    return str_hash_more(hash, (struct str){(const char *)&number, sizeof(number)});
}

/* Text with its length, so that "ab","c" and "a","bc" differ. */
static uint64_t hash_text(uint64_t hash, struct str text)
{
    return str_hash_more(hash_number(hash, text.len), text);
}

static uint64_t hash_type(uint64_t hash, const struct type_ref *t)
{
    const uint64_t facets[] = {
        (uint64_t)t->type,       t->collection,          t->nullable,
        (uint64_t)t->max_length, (uint64_t)t->precision, (uint64_t)t->scale,
    };
    for (size_t i = 0; i < ARRAY_SIZE(facets); i++) {
        hash = hash_number(hash, facets[i]);
    }
    if (t->enum_type != NULL) {
        hash = hash_text(hash, t->enum_type->name);
    }
    if (t->complex_type != NULL) {
        hash = hash_text(hash, t->complex_type->name);
    }
    return hash;
}

static uint64_t hash_properties(uint64_t hash, const struct property *properties, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = hash_text(hash, properties[i].name);
        hash = hash_text(hash, properties[i].column);
        hash = hash_text(hash, properties[i].description);
        hash = hash_type(hash, &properties[i].type);
        hash = hash_number(hash, properties[i].pg.oid);
        hash = hash_number(hash, properties[i].computed);
    }
    return hash;
}

static uint64_t hash_key(uint64_t hash, const struct key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        hash = hash_text(hash, key->properties[i]->name);
    }
    return hash_number(hash, key->count);
}

static uint64_t hash_navigation(uint64_t hash, const struct navigation *n)
{
    hash = hash_text(hash, n->name);
    hash = hash_text(hash, n->target->namespace);
    hash = hash_text(hash, n->target->name);
    hash = hash_number(hash, n->collection);
    hash = hash_number(hash, n->nullable);
    if (n->partner != NULL) {
        hash = hash_text(hash, n->partner->name);
    }
    for (size_t i = 0; i < n->join_count; i++) {
        hash = hash_text(hash, n->joins[i].local->name);
        hash = hash_text(hash, n->joins[i].remote->name);
    }
    return hash;
}

static uint64_t hash_entity_type(uint64_t hash, const struct entity_type *t)
{
    hash = hash_text(hash, t->namespace);
    hash = hash_text(hash, t->name);
    hash = hash_text(hash, t->schema);
    hash = hash_text(hash, t->table);
    hash = hash_text(hash, t->description);
    hash = hash_properties(hash, t->properties, t->property_count);
    hash = hash_key(hash, &t->key);
    for (size_t i = 0; i < t->alternate_key_count; i++) {
        hash = hash_key(hash, &t->alternate_keys[i]);
    }
    for (size_t i = 0; i < t->navigation_count; i++) {
        hash = hash_navigation(hash, &t->navigations[i]);
    }
    hash = hash_text(hash, t->base == NULL ? STR("") : t->base->namespace);
    hash = hash_text(hash, t->base == NULL ? STR("") : t->base->name);
    hash = hash_number(hash, t->has_strays);
    hash = hash_text(hash, t->search.config);
    hash = hash_number(hash, t->search.ranked);
    for (size_t i = 0; i < t->search.piece_count; i++) {
        hash = hash_text(hash, t->search.pieces[i].text);
        hash = hash_text(hash, t->search.pieces[i].column);
    }
    return hash;
}

static uint64_t fingerprint(const struct model *m)
{
    uint64_t hash = hash_text(STR_HASH_START, m->container);
    for (size_t i = 0; i < m->type_count; i++) {
        hash = hash_entity_type(hash, &m->types[i]);
    }
    for (size_t i = 0; i < m->set_count; i++) {
        hash = hash_text(hash, m->sets[i].name);
        hash = hash_number(hash, m->sets[i].max_page_size);
    }
    for (size_t i = 0; i < m->enum_count; i++) {
        hash = hash_text(hash, m->enums[i].namespace);
        hash = hash_text(hash, m->enums[i].name);
        for (size_t k = 0; k < m->enums[i].member_count; k++) {
            hash = hash_text(hash, m->enums[i].members[k]);
        }
    }
    for (size_t i = 0; i < m->complex_count; i++) {
        const struct complex_type *c = &m->complexes[i];
        hash = hash_text(hash, c->namespace);
        hash = hash_text(hash, c->name);
        hash = hash_properties(hash, c->properties, c->property_count);
    }
    return hash;
}

static bool build_index(struct arena *a, const struct named *n, const char *what,
                        const uint32_t **out_table, size_t *out_size, struct odata_error *err)
{
    size_t second = 0;
    switch (name_index_build(a, n, out_table, out_size, &second)) {
    case NAME_INDEX_BUILT:
        return true;
    case NAME_INDEX_NO_MEMORY:
        return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "",
                               "the model does not fit into memory");
    case NAME_INDEX_COLLISION:
        break;
    }
    return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "", "two %s are called '%.*s'", what,
                           STR_ARG(named_name(n, second)));
}

static struct named properties_of(const struct entity_type *t)
{
    return NAMED(t->properties, t->property_count, struct property);
}

static struct named navigations_of(const struct entity_type *t)
{
    return NAMED(t->navigations, t->navigation_count, struct navigation);
}

static struct named sets_of(const struct model *m)
{
    return NAMED(m->sets, m->set_count, struct entity_set);
}

static bool seal_type(struct arena *a, struct entity_type *t, struct odata_error *err)
{
    struct named properties = properties_of(t);
    struct named navigations = navigations_of(t);
    return build_index(a, &properties, "properties of one type", &t->property_hash,
                       &t->property_hash_size, err) &&
           build_index(a, &navigations, "navigation properties of one type", &t->navigation_hash,
                       &t->navigation_hash_size, err);
}

bool model_seal(struct model *m, struct odata_error *err)
{
    struct arena *a = model_arena(m);
    struct named sets = sets_of(m);
    if (!build_index(a, &sets, "entity sets", &m->set_hash, &m->set_hash_size, err)) {
        return false;
    }
    for (size_t i = 0; i < m->type_count; i++) {
        if (!seal_type(a, &m->types[i], err)) {
            return false;
        }
    }
    m->fingerprint = fingerprint(m);
    return true;
}

/* -- look-ups --------------------------------------------------------------------------------- */

const struct entity_set *model_find_set(const struct model *m, struct str name)
{
    struct named sets = sets_of(m);
    size_t i = name_index_find(&sets, m->set_hash, m->set_hash_size, name);
    return i < m->set_count ? &m->sets[i] : NULL;
}

/* Whether `qualified` is `namespace.name`. */
static bool is_qualified(struct str qualified, struct str namespace, struct str name)
{
    return qualified.len == namespace.len + 1 + name.len && str_starts_with(qualified, namespace) &&
           qualified.ptr[namespace.len] == '.' && str_ends_with(qualified, name);
}

const struct entity_type *model_find_type(const struct model *m, struct str name)
{
    const struct entity_type *found = NULL;
    for (size_t i = 0; i < m->type_count; i++) {
        const struct entity_type *t = &m->types[i];
        if (is_qualified(name, t->namespace, t->name)) {
            return t;
        }
        if (str_eq(name, t->name)) {
            if (found != NULL) {
                return NULL;
            }
            found = t;
        }
    }
    return found;
}

const struct enum_type *model_find_enum(const struct model *m, struct str qualified_name)
{
    for (size_t i = 0; i < m->enum_count; i++) {
        if (is_qualified(qualified_name, m->enums[i].namespace, m->enums[i].name)) {
            return &m->enums[i];
        }
    }
    return NULL;
}

const struct complex_type *model_find_complex(const struct model *m, struct str qualified_name)
{
    for (size_t i = 0; i < m->complex_count; i++) {
        if (is_qualified(qualified_name, m->complexes[i].namespace, m->complexes[i].name)) {
            return &m->complexes[i];
        }
    }
    return NULL;
}

bool entity_type_is(const struct entity_type *t, const struct entity_type *base)
{
    if (t->tree == NULL || base->tree == NULL) {
        return str_eq(t->name, base->name) && str_eq(t->namespace, base->namespace);
    }
    return t->tree == base->tree && t->number >= base->number && t->number <= base->last;
}

bool entity_type_has_derived(const struct entity_type *t)
{
    return t->tree != NULL && t->last > t->number;
}

const struct property *entity_type_find_property(const struct entity_type *t, struct str name)
{
    struct named properties = properties_of(t);
    size_t i = name_index_find(&properties, t->property_hash, t->property_hash_size, name);
    return i < t->property_count ? &t->properties[i] : NULL;
}

const struct navigation *entity_type_find_navigation(const struct entity_type *t, struct str name)
{
    struct named navigations = navigations_of(t);
    size_t i = name_index_find(&navigations, t->navigation_hash, t->navigation_hash_size, name);
    return i < t->navigation_count ? &t->navigations[i] : NULL;
}

const struct property *complex_type_find_property(const struct complex_type *t, struct str name)
{
    struct named properties = NAMED(t->properties, t->property_count, struct property);
    size_t i = name_index_find(&properties, NULL, 0, name);
    return i < t->property_count ? &t->properties[i] : NULL;
}

bool enum_type_has_member(const struct enum_type *t, struct str member)
{
    for (size_t i = 0; i < t->member_count; i++) {
        if (str_eq(t->members[i], member)) {
            return true;
        }
    }
    return false;
}

bool key_has_property(const struct key *k, const struct property *p)
{
    for (size_t i = 0; i < k->count; i++) {
        if (k->properties[i] == p) {
            return true;
        }
    }
    return false;
}

static struct str nearest(const struct named *n, struct str name)
{
    size_t i = name_index_nearest(n, name);
    return i < n->count ? named_name(n, i) : STR("");
}

struct str model_suggest_set(const struct model *m, struct str name)
{
    struct named sets = sets_of(m);
    return nearest(&sets, name);
}

bool navigation_is_hierarchy(const struct navigation *n)
{
    return !n->collection && n->dependent && n->nullable && n->target == n->source &&
           n->join_count == 1;
}

const struct navigation *entity_type_find_hierarchy(const struct entity_type *t, struct str name)
{
    const struct navigation *n = entity_type_find_navigation(t, name);
    return n != NULL && navigation_is_hierarchy(n) ? n : NULL;
}

struct str entity_type_suggest(const struct entity_type *t, struct str name)
{
    struct named properties = properties_of(t);
    struct named navigations = navigations_of(t);
    struct str property = nearest(&properties, name);
    return property.len > 0 ? property : nearest(&navigations, name);
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_entities.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "storage/catalog_inheritance.h"
#include "storage/catalog_names.h"
#include "storage/catalog_types.h"

/* -- overrides -------------------------------------------------------------------------------- */

static bool refuse(struct odata_error *err, const struct catalog_override *o, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
static bool refuse(struct odata_error *err, const struct catalog_override *o, const char *fmt, ...)
{
    char why[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof(why), fmt, args);
    va_end(args);
    return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "entities", "entities: '%.*s' %s",
                           STR_ARG(o->relation), why);
}

/* The relation called `schema.relation`; either part may have a dot of its own. */
static struct raw_relation *find_by_name(const struct raw_catalog *raw, struct str name)
{
    for (size_t i = 0; i < raw->relations.count; i++) {
        struct raw_relation *r = &raw->relations.items[i];
        struct str schema = raw_schema_name(raw, r);
        if (name.len == schema.len + 1 + r->name.len && str_starts_with(name, schema) &&
            name.ptr[schema.len] == '.' && str_ends_with(name, r->name)) {
            return r;
        }
    }
    return NULL;
}

static bool hide_column(struct raw_catalog *raw, struct raw_relation *r, struct str name,
                        struct odata_error *err)
{
    for (size_t i = 0; i < r->column_count; i++) {
        struct raw_column *c = &raw->columns.items[r->first_column + i];
        if (str_eq(c->name, name)) {
            r->visible_count -= !c->hidden;
            c->hidden = true;
            return true;
        }
    }
    return raw->options->sees_part ||
           refuse(err, r->override, "has no column '%.*s' to hide", STR_ARG(name));
}

static bool apply_override(struct raw_catalog *raw, const struct catalog_override *o,
                           struct odata_error *err)
{
    struct raw_relation *r = find_by_name(raw, o->relation);
    if (r == NULL && raw->options->sees_part) {
        return true;
    }
    if (r == NULL) {
        return refuse(err, o, "is no table or view that the role may read in the exposed schemas");
    }
    if (o->name.len > 0 && !name_is_identifier(o->name)) {
        return refuse(err, o, "cannot be named '%.*s': that is no SimpleIdentifier",
                      STR_ARG(o->name));
    }
    r->override = o;
    for (size_t i = 0; i < o->hide_count; i++) {
        if (!hide_column(raw, r, o->hide[i], err)) {
            return false;
        }
    }
    return true;
}

bool entities_apply_overrides(struct raw_catalog *raw, struct odata_error *err)
{
    for (size_t i = 0; i < raw->relations.count; i++) {
        raw->relations.items[i].visible_count = raw->relations.items[i].column_count;
    }
    for (size_t i = 0; i < raw->options->override_count; i++) {
        if (!apply_override(raw, &raw->options->overrides[i], err)) {
            return false;
        }
    }
    return true;
}

/* -- names ------------------------------------------------------------------------------------ */

static bool name_namespaces(struct raw_catalog *raw)
{
    struct name_set taken = {0};
    bool ok = true;
    for (size_t pass = 0; pass < 2; pass++) { /* what needs no rewriting is named first */
        for (size_t i = 0; i < raw->schemas.count && ok; i++) {
            struct raw_schema *s = &raw->schemas.items[i];
            if (name_is_identifier(s->name) == (pass == 0)) {
                ok = name_namespace(raw->kept, s->name, &taken, &s->namespace);
            }
        }
    }
    name_set_fini(&taken);
    return ok;
}

/* The order in which names are given out: an override's word, names that stay, the others. */
enum precedence {
    BY_OVERRIDE,
    AS_IT_IS,
    REWRITTEN,
    PRECEDENCE_COUNT,
};

static enum precedence precedence_of(const struct raw_relation *r, struct str name)
{
    if (r->override != NULL && r->override->name.len > 0) {
        return BY_OVERRIDE;
    }
    return name_is_identifier(name) ? AS_IT_IS : REWRITTEN;
}

static struct str wished_name(const struct raw_relation *r)
{
    return r->override != NULL && r->override->name.len > 0 ? r->override->name : r->name;
}

static bool claim(struct raw_catalog *raw, struct raw_relation *r, struct str wish,
                  struct name_set *taken, struct str *out_name, struct odata_error *err)
{
    struct str name;
    if (precedence_of(r, wish) == BY_OVERRIDE && name_set_has(taken, wish)) {
        return refuse(err, r->override, "cannot be named '%.*s': that name is taken",
                      STR_ARG(wish));
    }
    return (name_rewrite(raw->kept, wish, &name) && name_claim(raw->kept, name, taken, out_name)) ||
           raw_no_memory(err);
}

/* Both by place of schema, so that equal names of two schemas stand together. */
static int compare_wishes(const void *a, const void *b)
{
    const struct raw_relation *left = *(const struct raw_relation *const *)a;
    const struct raw_relation *right = *(const struct raw_relation *const *)b;
    int order = str_compare(wished_name(left), wished_name(right));
    return order != 0 ? order : (left->schema > right->schema) - (left->schema < right->schema);
}

/* Whether a relation of another schema, before or after i, wants the same name. */
static bool is_ambiguous(struct raw_relation *const *sorted, size_t count, size_t i)
{
    struct str wish = wished_name(sorted[i]);
    size_t first = i;
    size_t last = i;
    while (first > 0 && str_eq(wished_name(sorted[first - 1]), wish)) {
        first--;
    }
    while (last + 1 < count && str_eq(wished_name(sorted[last + 1]), wish)) {
        last++;
    }
    return sorted[first]->schema != sorted[last]->schema;
}

/* The wish of a set: schema_relation when another schema has a relation of that name. */
static bool wish_for_set(struct raw_catalog *raw, struct raw_relation *const *sorted, size_t count,
                         size_t i, struct str *out_wish)
{
    const struct raw_relation *r = sorted[i];
    struct str wish = wished_name(r);
    if (precedence_of(r, wish) == BY_OVERRIDE || !is_ambiguous(sorted, count, i)) {
        *out_wish = wish;
        return true;
    }
    struct str schema = raw_schema_name(raw, r);
    return arena_format(raw->kept, out_wish, "%.*s_%.*s", STR_ARG(schema), STR_ARG(wish));
}

static bool name_sets(struct raw_catalog *raw, struct raw_relation **sorted, size_t count,
                      struct name_set *taken, struct odata_error *err)
{
    qsort(sorted, count, sizeof(struct raw_relation *), compare_wishes);
    for (enum precedence p = BY_OVERRIDE; p < PRECEDENCE_COUNT; p++) {
        for (size_t i = 0; i < count; i++) {
            struct str wish;
            if (!wish_for_set(raw, sorted, count, i, &wish)) {
                return raw_no_memory(err);
            }
            if (precedence_of(sorted[i], wish) == p &&
                !claim(raw, sorted[i], wish, taken, &sorted[i]->set_name, err)) {
                return false;
            }
        }
    }
    return true;
}

static bool name_types(struct raw_catalog *raw, struct raw_relation **shown, size_t count,
                       struct odata_error *err)
{
    for (enum precedence p = BY_OVERRIDE; p < PRECEDENCE_COUNT; p++) {
        for (size_t i = 0; i < count; i++) {
            struct raw_relation *r = shown[i];
            struct raw_schema *s = &raw->schemas.items[r->schema];
            struct str wish = wished_name(r);
            s->shows = true;
            r->namespace = s->namespace;
            if (precedence_of(r, wish) == p &&
                !claim(raw, r, wish, &s->type_names, &r->type_name, err)) {
                return false;
            }
        }
    }
    return true;
}

bool entities_name(struct raw_catalog *raw, struct odata_error *err)
{
    struct raw_relation **shown =
        ARENA_ARRAY(&raw->scratch, raw->relations.count, struct raw_relation *);
    if (shown == NULL || !name_namespaces(raw)) {
        return raw_no_memory(err);
    }
    size_t count = 0;
    for (size_t i = 0; i < raw->relations.count; i++) {
        if (raw->relations.items[i].key != NULL) {
            shown[count++] = &raw->relations.items[i];
        }
    }
    raw->model->type_count = count;
    raw->model->set_count = count;
    struct name_set taken = {0};
    bool ok = name_types(raw, shown, count, err) && name_sets(raw, shown, count, &taken, err);
    name_set_fini(&taken);
    return ok;
}

/* -- entity types ----------------------------------------------------------------------------- */

/* Arrays for the columns of the widest relation, used for one after the other. */
struct workspace {
    struct str *columns;
    struct str *names;
    struct name_set taken;
};

/* A derived type begins with the properties of its base, whatever order its columns have. */
static void inherit_properties(struct raw_catalog *raw, struct raw_relation *r,
                               struct entity_type *t)
{
    const struct entity_type *base = r->base->type;
    t->base = base;
    t->inherited_properties = base->property_count;
    for (size_t i = 0; i < base->property_count; i++) {
        struct raw_column *c = inheritance_column(raw, r, base->properties[i].column);
        assert(c != NULL); /* or it would not be derived */
        t->properties[i] = base->properties[i];
        c->property = &t->properties[i];
    }
    t->property_count = base->property_count;
}

/* names[i] of columns[i], none of which is a name that t has already. */
static bool name_beside(struct raw_catalog *raw, const struct entity_type *t, struct workspace *w,
                        size_t count)
{
    name_set_clear(&w->taken);
    for (size_t i = 0; i < t->property_count; i++) {
        if (!name_set_add(&w->taken, t->properties[i].name)) {
            return false;
        }
    }
    for (size_t pass = 0; pass < 2; pass++) { /* what needs no rewriting is named first */
        for (size_t i = 0; i < count; i++) {
            struct str name;
            if (name_is_identifier(w->columns[i]) == (pass == 0) &&
                (!name_rewrite(raw->kept, w->columns[i], &name) ||
                 !name_claim(raw->kept, name, &w->taken, &w->names[i]))) {
                return false;
            }
        }
    }
    return true;
}

static bool build_properties(struct raw_catalog *raw, struct raw_relation *r, struct entity_type *t,
                             struct workspace *w)
{
    t->properties = ARENA_ARRAY(raw->kept, r->visible_count, struct property);
    if (t->properties == NULL) {
        return false;
    }
    if (r->base != NULL) {
        inherit_properties(raw, r, t);
    }
    size_t count = 0;
    for (size_t i = 0; i < r->column_count; i++) {
        const struct raw_column *c = &raw->columns.items[r->first_column + i];
        if (!c->hidden && c->property == NULL) {
            w->columns[count++] = c->name;
        }
    }
    if (!(r->base == NULL ? name_columns(raw->kept, w->columns, count, &w->taken, w->names)
                          : name_beside(raw, t, w, count))) {
        return false;
    }
    size_t name = 0;
    for (size_t i = 0; i < r->column_count; i++) {
        struct raw_column *c = &raw->columns.items[r->first_column + i];
        if (!c->hidden && c->property == NULL) {
            size_t index = t->property_count++;
            types_fill_property(c, w->names[name++], index, &t->properties[index]);
            c->property = &t->properties[index];
        }
    }
    return true;
}

static bool build_key(const struct raw_catalog *raw, const struct raw_relation *r,
                      const struct raw_key *from, struct key *out_key)
{
    out_key->properties = ARENA_ARRAY(raw->kept, from->count, const struct property *);
    if (out_key->properties == NULL) {
        return false;
    }
    for (size_t i = 0; i < from->count; i++) {
        out_key->properties[i] = raw_find_column(raw, r, from->numbers[i])->property;
    }
    out_key->count = from->count;
    return true;
}

static bool build_keys(const struct raw_catalog *raw, const struct raw_relation *r,
                       struct entity_type *t)
{
    t->alternate_keys = ARENA_ARRAY(raw->kept, r->alternate_count, struct key);
    t->alternate_key_count = r->alternate_count;
    bool ok = t->alternate_keys != NULL && build_key(raw, r, r->key, &t->key);
    for (size_t i = 0; i < r->alternate_count && ok; i++) {
        ok = build_key(raw, r, r->alternates[i], &t->alternate_keys[i]);
    }
    return ok;
}

/* Generated .NET classes do not compile when a member is called like its class. */
static bool warn_of_names(struct raw_catalog *raw, const struct raw_relation *r,
                          struct odata_error *err)
{
    for (size_t i = 0; i < r->type->property_count; i++) {
        if (str_eq(r->type->properties[i].name, r->type->name)) {
            return raw_warn(raw, r, err,
                            "property '%.*s' has the name of its type: classes that .NET clients"
                            " generate do not compile; another \"name\" for it under \"entities\""
                            " would help them",
                            STR_ARG(r->type->name));
        }
    }
    return true;
}

static bool build_type(struct raw_catalog *raw, struct raw_relation *r, struct entity_type *t,
                       struct workspace *w, struct odata_error *err)
{
    const struct raw_schema *s = &raw->schemas.items[r->schema];
    t->namespace = s->namespace;
    t->name = r->type_name;
    t->schema = s->name;
    t->table = r->name;
    t->kind = r->kind;
    t->description = r->comment;
    t->estimated_rows = r->tuples;
    t->oid = r->oid;
    if (!build_properties(raw, r, t, w) || !build_keys(raw, r, t)) {
        return raw_no_memory(err);
    }
    return warn_of_names(raw, r, err);
}

/* The base of a type comes before it. */
static bool build_in_order(struct raw_catalog *raw, struct raw_relation *r, struct workspace *w,
                           struct odata_error *err)
{
    return r->type->properties != NULL ||
           ((r->base == NULL || build_in_order(raw, r->base, w, err)) &&
            build_type(raw, r, r->type, w, err));
}

static int compare_types(const void *a, const void *b)
{
    const struct raw_relation *left = *(const struct raw_relation *const *)a;
    const struct raw_relation *right = *(const struct raw_relation *const *)b;
    int order = str_compare(left->namespace, right->namespace);
    return order != 0 ? order : str_compare(left->type_name, right->type_name);
}

static int compare_sets(const void *a, const void *b)
{
    const struct entity_set *left = a;
    const struct entity_set *right = b;
    return str_compare(left->name, right->name);
}

static bool open_workspace(struct raw_catalog *raw, struct workspace *w)
{
    size_t widest = 0;
    for (size_t i = 0; i < raw->relations.count; i++) {
        size_t count = raw->relations.items[i].column_count;
        widest = count > widest ? count : widest;
    }
    w->columns = ARENA_ARRAY(&raw->scratch, widest, struct str);
    w->names = ARENA_ARRAY(&raw->scratch, widest, struct str);
    return w->columns != NULL && w->names != NULL;
}

/* The relations with a key, in the order that model->types has: by namespace and name. */
static struct raw_relation **sorted_by_type(struct raw_catalog *raw)
{
    size_t count = 0;
    struct raw_relation **sorted =
        ARENA_ARRAY(&raw->scratch, raw->relations.count, struct raw_relation *);
    for (size_t i = 0; i < raw->relations.count && sorted != NULL; i++) {
        if (raw->relations.items[i].key != NULL) {
            sorted[count++] = &raw->relations.items[i];
        }
    }
    if (count > 1) {
        qsort(sorted, count, sizeof(struct raw_relation *), compare_types);
    }
    return sorted;
}

static void build_sets(struct raw_catalog *raw, struct raw_relation *const *sorted)
{
    struct model *m = raw->model;
    for (size_t i = 0; i < m->set_count; i++) {
        const struct catalog_override *o = sorted[i]->override;
        m->sets[i] = (struct entity_set){.name = sorted[i]->set_name,
                                         .type = sorted[i]->type,
                                         .max_page_size = o == NULL ? 0 : o->max_page_size};
    }
    if (m->set_count > 1) {
        qsort(m->sets, m->set_count, sizeof(struct entity_set), compare_sets);
    }
    for (size_t i = 0; i < m->set_count; i++) {
        m->types[m->sets[i].type - m->types].set = &m->sets[i];
    }
}

bool entities_build(struct raw_catalog *raw, struct odata_error *err)
{
    struct model *m = raw->model;
    struct workspace w = {0};
    struct raw_relation **sorted = sorted_by_type(raw);
    m->types = ARENA_ARRAY(raw->kept, m->type_count, struct entity_type);
    m->sets = ARENA_ARRAY(raw->kept, m->set_count, struct entity_set);
    if (sorted == NULL || m->types == NULL || m->sets == NULL || !open_workspace(raw, &w)) {
        return raw_no_memory(err);
    }
    bool ok = true;
    for (size_t i = 0; i < m->type_count; i++) {
        sorted[i]->type = &m->types[i];
    }
    for (size_t i = 0; i < m->type_count && ok; i++) {
        ok = build_in_order(raw, sorted[i], &w, err);
    }
    name_set_fini(&w.taken);
    if (ok) {
        build_sets(raw, sorted);
    }
    return ok && inheritance_build(raw, err);
}

bool entities_finish(struct raw_catalog *raw, struct odata_error *err)
{
    struct model *m = raw->model;
    struct raw_schema *first = NULL;
    m->namespaces = ARENA_ARRAY(raw->kept, raw->schemas.count, struct str);
    if (m->namespaces == NULL) {
        return raw_no_memory(err);
    }
    for (size_t i = 0; i < raw->schemas.count; i++) {
        struct raw_schema *s = &raw->schemas.items[i];
        /* A database with nothing to show still has a container, and so a namespace. */
        if (s->shows || (i == 0 && m->type_count == 0)) {
            first = first == NULL ? s : first;
            m->namespaces[m->namespace_count++] = s->namespace;
        }
    }
    if (first == NULL) {
        m->container = STR("Container");
        return true;
    }
    return name_claim(raw->kept, STR("Container"), &first->type_names, &m->container) ||
           raw_no_memory(err);
}

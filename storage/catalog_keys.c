// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_keys.h"

#include "odata/bytes.h"
#include "odata/edm.h"
#include "storage/catalog_inheritance.h"

enum {
    DEEPEST_VIEW = 32,        /* views over views */
    COLUMN_LIST_BYTES = 2048, /* of names in a message */
};

/* The possible keys of a relation, best first. */
struct candidates {
    const struct raw_key **keys;
    size_t count;
};

/* -- unique indexes, and what views make of them ---------------------------------------------- */

static bool own_keys(struct raw_catalog *raw, uint32_t oid, struct candidates *out_keys)
{
    *out_keys = (struct candidates){NULL, 0};
    uint32_t first = oid_map_get(&raw->first_keys, oid);
    if (first == OID_MAP_NONE) {
        return true;
    }
    size_t count = 0;
    while (first + count < raw->keys.count && raw->keys.items[first + count].owner == oid) {
        count++;
    }
    out_keys->keys = ARENA_ARRAY(&raw->scratch, count, const struct raw_key *);
    if (out_keys->keys == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        out_keys->keys[i] = &raw->keys.items[first + i];
    }
    out_keys->count = count;
    return true;
}

/* The view's column that passes a column of its base on, or 0. */
static int16_t passed_on_as(const struct raw_view *view, int16_t base_number)
{
    for (size_t i = 0; i < view->column_count; i++) {
        if (view->columns[i].base_number == base_number) {
            return view->columns[i].number;
        }
    }
    return 0;
}

/* A key of the base in the view's columns; *out_key is NULL when not all of them are passed on. */
static bool pass_key(struct raw_catalog *raw, const struct raw_view *view,
                     const struct raw_key *base, const struct raw_key **out_key)
{
    struct raw_key *key = ARENA_NEW(&raw->scratch, struct raw_key);
    int16_t *numbers = ARENA_ARRAY(&raw->scratch, base->count, int16_t);
    if (key == NULL || numbers == NULL) {
        return false;
    }
    *out_key = NULL;
    for (size_t i = 0; i < base->count; i++) {
        numbers[i] = passed_on_as(view, base->numbers[i]);
        if (numbers[i] == 0) {
            return true;
        }
    }
    *key = *base;
    key->owner = view->oid;
    key->numbers = numbers;
    *out_key = key;
    return true;
}

/* Follows views down to a relation with indexes, and brings its keys up again. */
static bool all_keys(struct raw_catalog *raw, uint32_t oid, size_t depth,
                     struct candidates *out_keys)
{
    struct candidates passed = {NULL, 0};
    struct candidates own;
    uint32_t place = oid_map_get(&raw->view_places, oid);
    if (!own_keys(raw, oid, &own)) {
        return false;
    }
    if (place != OID_MAP_NONE && depth < DEEPEST_VIEW &&
        !all_keys(raw, raw->views.items[place].base, depth + 1, &passed)) {
        return false;
    }
    if (passed.count == 0) {
        *out_keys = own;
        return true;
    }
    const struct raw_key **keys =
        ARENA_ARRAY(&raw->scratch, passed.count + own.count, const struct raw_key *);
    if (keys == NULL) {
        return false;
    }
    size_t count = 0;
    for (size_t i = 0; i < passed.count; i++) {
        if (!pass_key(raw, &raw->views.items[place], passed.keys[i], &keys[count])) {
            return false;
        }
        count += keys[count] != NULL;
    }
    for (size_t i = 0; i < own.count; i++) { /* of a materialized view */
        keys[count++] = own.keys[i];
    }
    *out_keys = (struct candidates){keys, count};
    return true;
}

/* -- what may be a key ------------------------------------------------------------------------ */

static bool has_number(const int16_t *numbers, size_t count, int16_t number)
{
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] == number) {
            return true;
        }
    }
    return false;
}

static bool same_columns(const struct raw_key *a, const struct raw_key *b)
{
    for (size_t i = 0; i < a->count; i++) {
        if (!has_number(b->numbers, b->count, a->numbers[i])) {
            return false;
        }
    }
    return a->count == b->count;
}

static bool may_be_key(const struct raw_column *c)
{
    return !c->type.collection && edm_is_key(c->type.type);
}

/* The first column that keeps a key from being one; NULL when there is none. *out_missing says that
   a column is not shown, and so not known by its name. */
static const struct raw_column *find_obstacle(const struct raw_catalog *raw,
                                              const struct raw_relation *r,
                                              const struct raw_key *key, bool *out_missing)
{
    *out_missing = false;
    for (size_t i = 0; i < key->count; i++) {
        const struct raw_column *c = raw_find_column(raw, r, key->numbers[i]);
        if (c == NULL || c->hidden) {
            *out_missing = true;
            return c;
        }
        if (!may_be_key(c)) {
            return c;
        }
    }
    return NULL;
}

static bool is_usable(const struct raw_catalog *raw, const struct raw_relation *r,
                      const struct raw_key *key)
{
    bool missing = false;
    return key->count > 0 && find_obstacle(raw, r, key, &missing) == NULL && !missing;
}

/* The columns of a key as text: `a, b`. */
static void put_columns(struct bytes *b, const struct raw_catalog *raw,
                        const struct raw_relation *r, const struct raw_key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        const struct raw_column *c = raw_find_column(raw, r, key->numbers[i]);
        bytes_put_str(b, i == 0 ? STR("") : STR(", "));
        bytes_put_str(b, c == NULL ? STR("?") : c->name);
    }
}

/* -- choosing --------------------------------------------------------------------------------- */

static const struct raw_key *choose(const struct raw_catalog *raw, const struct raw_relation *r,
                                    const struct candidates *all)
{
    for (size_t i = 0; i < all->count; i++) { /* the order of the query: primary, short, by name */
        if (all->keys[i]->not_null && is_usable(raw, r, all->keys[i])) {
            return all->keys[i];
        }
    }
    for (size_t i = 0; i < all->count && r->kind == RELATION_MATERIALIZED_VIEW; i++) {
        if (all->keys[i]->owner == r->oid && is_usable(raw, r, all->keys[i])) {
            return all->keys[i];
        }
    }
    return NULL;
}

static bool choose_alternates(struct raw_catalog *raw, struct raw_relation *r,
                              const struct candidates *all)
{
    r->alternates = ARENA_ARRAY(&raw->scratch, all->count, const struct raw_key *);
    if (r->alternates == NULL) {
        return false;
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct raw_key *key = all->keys[i];
        bool again = same_columns(key, r->key) || !is_usable(raw, r, key);
        for (size_t k = 0; k < r->alternate_count && !again; k++) {
            again = same_columns(key, r->alternates[k]);
        }
        if (!again) {
            r->alternates[r->alternate_count++] = key;
        }
    }
    return true;
}

static bool refuse(struct odata_error *err, const struct catalog_override *o, struct str column,
                   const char *why)
{
    return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "entities",
                           "entities: key of '%.*s': column '%.*s' %s", STR_ARG(o->relation),
                           STR_ARG(column), why);
}

static bool key_of_override(struct raw_catalog *raw, struct raw_relation *r,
                            struct odata_error *err)
{
    const struct catalog_override *o = r->override;
    struct raw_key *key = ARENA_NEW(&raw->scratch, struct raw_key);
    if (key != NULL) {
        key->numbers = ARENA_ARRAY(&raw->scratch, o->key_count, int16_t);
    }
    if (key == NULL || key->numbers == NULL) {
        return raw_no_memory(err);
    }
    key->owner = r->oid;
    key->not_null = true;
    for (size_t i = 0; i < o->key_count; i++) {
        const struct raw_column *c = inheritance_column(raw, r, o->key[i]);
        if (c == NULL && raw->options->sees_part) {
            return true; /* without a key the role does not see it */
        }
        const char *why = c == NULL        ? "is not there"
                          : c->hidden      ? "is hidden"
                          : !may_be_key(c) ? "has a type that cannot be a key"
                          : has_number(key->numbers, key->count, c->number) ? "is named twice"
                                                                            : NULL;
        if (c == NULL || why != NULL) {
            return refuse(err, o, o->key[i], why);
        }
        key->numbers[key->count++] = c->number;
    }
    r->key = key;
    return true;
}

/* -- warnings --------------------------------------------------------------------------------- */

/* Why there is no key: the first candidate that is no key after all, else that there is none. */
static void put_reason(struct bytes *b, const struct raw_catalog *raw, const struct raw_relation *r,
                       const struct candidates *all)
{
    if (all->count == 0) {
        bytes_put_str(b, r->kind == RELATION_VIEW || r->kind == RELATION_MATERIALIZED_VIEW
                             ? STR("no key can be told from what it selects")
                             : STR("it has neither a primary key nor a unique NOT NULL key"));
        return;
    }
    const struct raw_key *key = all->keys[0];
    bool missing = false;
    const struct raw_column *obstacle = find_obstacle(raw, r, key, &missing);
    BYTES_PUT_LITERAL(b, "its key (");
    put_columns(b, raw, r, key);
    BYTES_PUT_LITERAL(b, ") ");
    if (missing) {
        bytes_put_str(b, obstacle == NULL ? STR("has columns that the role may not read")
                                          : STR("has hidden columns"));
    } else if (obstacle != NULL) {
        struct str type = edm_name(obstacle->type.type);
        BYTES_PUT_LITERAL(b, "is of a type that cannot be a key (");
        bytes_put_str(b, obstacle->type.collection ? STR("Collection")
                         : type.len == 0           ? STR("ComplexType")
                                                   : type);
        bytes_put_char(b, ')');
    } else {
        BYTES_PUT_LITERAL(b, "may be null");
    }
}

static bool warn_left_out(struct raw_catalog *raw, const struct raw_relation *r,
                          const struct candidates *all, struct odata_error *err)
{
    struct bytes reason;
    bytes_init(&reason, COLUMN_LIST_BYTES);
    put_reason(&reason, raw, r, all);
    struct str schema = raw_schema_name(raw, r);
    bool ok = raw_warn(raw, r, err,
                       "left out: %.*s; to show it, name columns that identify a row in the"
                       " configuration file: \"entities\": {\"%.*s.%.*s\": {\"key\": [...]}}",
                       STR_ARG(bytes_str(&reason)), STR_ARG(schema), STR_ARG(r->name));
    bytes_fini(&reason);
    return ok;
}

/* A key that holds by other means than PostgreSQL's own promise. */
static bool warn_doubt(struct raw_catalog *raw, const struct raw_relation *r,
                       struct odata_error *err)
{
    if (r->override != NULL && r->override->key_count > 0) {
        return true; /* somebody decided that */
    }
    if (r->base != NULL) {
        return true; /* it was said of the base */
    }
    if (!r->key->not_null) {
        return raw_warn(raw, r, err,
                        "its key is the unique index \"%.*s\": no column of it may ever be null",
                        STR_ARG(r->key->name));
    }
    if (r->has_children) {
        return raw_warn(raw, r, err,
                        "tables inherit from it and their rows are shown with it: its key is unique"
                        " only as far as they keep it so");
    }
    return true;
}

/* -- all relations ---------------------------------------------------------------------------- */

static bool choose_for(struct raw_catalog *raw, struct raw_relation *r, struct odata_error *err)
{
    struct candidates all;
    if (!all_keys(raw, r->oid, 0, &all)) {
        return raw_no_memory(err);
    }
    if (!inheritance_choose_base(raw, r, err)) {
        return false;
    }
    if (r->override != NULL && r->override->key_count > 0) {
        if (!key_of_override(raw, r, err)) {
            return false;
        }
    } else if (r->base == NULL) {
        r->key = choose(raw, r, &all);
    }
    if (r->key == NULL) {
        return warn_left_out(raw, r, &all, err);
    }
    for (size_t i = 0; i < r->key->count; i++) {
        raw_find_column(raw, r, r->key->numbers[i])->type.nullable = false;
    }
    return (choose_alternates(raw, r, &all) || raw_no_memory(err)) && warn_doubt(raw, r, err);
}

/* What a table inherits from comes before it. */
static bool choose_in_order(struct raw_catalog *raw, struct raw_relation *r,
                            struct odata_error *err)
{
    struct raw_relation **parents;
    size_t count;
    if (r->is_placed) {
        return true;
    }
    r->is_placed = true;
    if (!inheritance_parents(raw, r, &parents, &count)) {
        return raw_no_memory(err);
    }
    for (size_t i = 0; i < count; i++) {
        if (!choose_in_order(raw, parents[i], err)) {
            return false;
        }
    }
    return r->visible_count > 0
               ? choose_for(raw, r, err)
               : raw_warn(raw, r, err, "left out: it has no column that can be shown");
}

bool keys_choose(struct raw_catalog *raw, struct odata_error *err)
{
    for (size_t i = 0; i < raw->relations.count; i++) {
        if (!choose_in_order(raw, &raw->relations.items[i], err)) {
            return false;
        }
    }
    inheritance_find_strays(raw);
    return true;
}

bool keys_are_unique(const struct raw_catalog *raw, const struct raw_relation *r,
                     const int16_t *numbers, size_t count)
{
    uint32_t first = oid_map_get(&raw->first_keys, r->oid);
    for (size_t i = first; i < raw->keys.count && raw->keys.items[i].owner == r->oid; i++) {
        const struct raw_key *key = &raw->keys.items[i];
        bool within = true;
        for (size_t k = 0; k < key->count; k++) {
            within = within && has_number(numbers, count, key->numbers[k]);
        }
        if (within) {
            return true;
        }
    }
    return false;
}

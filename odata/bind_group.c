// SPDX-License-Identifier: Apache-2.0
/* groupby: rows that agree in the grouping properties, and what is done with each group. */
#include <string.h>

#include "odata/apply_priv.h"
#include "odata/limits.h"

enum {
    KEY_COLUMNS = 32, /* of a foreign key: PostgreSQL's indexes have no more */
};

/* The names of a path of members, casts to the own type left out. */
static bool path_names(struct binder *b, const struct expr *e, struct leaf *leaf)
{
    size_t count = 0;
    for (const struct expr *at = e; at != NULL; at = at->base) {
        count += str_find(at->name, '.', 0) == at->name.len;
    }
    struct str *names = ARENA_ARRAY(b->arena, count + 1, struct str);
    if (names == NULL) {
        return arena_fail(b->arena, b->err);
    }
    leaf->path = names;
    leaf->path_count = count;
    for (const struct expr *at = e; at != NULL; at = at->base) {
        if (str_find(at->name, '.', 0) == at->name.len) {
            names[--count] = at->name;
        }
    }
    return true;
}

/* Text in a type of its own (xml, inet, ...) is grouped as the text that it is shown as. */
static bool is_text(const struct pg_type_ref *pg)
{
    static const struct str casts[] = {
        {STR_INIT("text")}, {STR_INIT("varchar")}, {STR_INIT("bpchar")}, {STR_INIT("name")}};
    for (size_t i = 0; i < ARRAY_SIZE(casts); i++) {
        if (str_eq(pg->cast, casts[i])) {
            return true;
        }
    }
    return str_ends_with(pg->cast, STR("citext")) || str_ends_with(pg->cast, STR("\"citext\""));
}

static const struct property *key_column(struct applying *x, struct derived *d, struct str name,
                                         const struct bound_expr *value)
{
    bool as_is = value->type.type != EDM_STRING || value->pg == NULL || is_text(value->pg);
    if (value->source == x->in && value->part_count == 0 && as_is) {
        return value->property;
    }
    const struct property *p = bind_add_column(x->b, d, name, value, COLUMN_VALUE);
    if (p != NULL && !as_is) {
        /* Without a type of PostgreSQL's the column is what the Edm type says. */
        struct property *plain = ARENA_NEW(x->b->arena, struct property);
        if (plain == NULL) {
            arena_fail(x->b->arena, x->b->err);
            return NULL;
        }
        *plain = *p;
        plain->pg = (struct pg_type_ref){.cast = STR("")};
        d->columns[d->column_count - 1].property = plain;
        p = plain;
    }
    return p != NULL && bind_hide(x->b, d, p) ? p : NULL;
}

static bool check_groupable(struct applying *x, const struct expr *e,
                            const struct bound_expr *value)
{
    const struct type_ref *t = &value->type;
    if (t->collection) {
        return bind_fail_name(x->b, x->clause, e->offset, e->name,
                              "is a collection: no group has it");
    }
    if (t->type == EDM_COMPLEX || t->type == EDM_UNTYPED || t->type == EDM_GEOGRAPHY ||
        t->type == EDM_GEOMETRY || t->type == EDM_STREAM) {
        return odata_error_not_implemented(
            x->b->err, x->clause->option,
            "grouping by %.*s ('%.*s' at byte %zu) is not implemented",
            STR_ARG(bind_type_name(x->b, t)), STR_ARG(bind_clip(e->name)), e->offset);
    }
    return true;
}

static bool is_same_path(const struct expr *a, const struct expr *b)
{
    while (a != NULL && b != NULL && str_eq(a->name, b->name)) {
        a = a->base;
        b = b->base;
    }
    return a == NULL && b == NULL;
}

/* Casts are no part of a group's members: two paths that differ in them alone would be one member. */
static bool check_apart(struct applying *x, struct expr *const *paths, const struct leaf *leaves,
                        size_t number)
{
    const struct leaf *leaf = &leaves[number];
    for (size_t i = 0; i < number; i++) {
        bool same = leaves[i].path_count == leaf->path_count;
        for (size_t k = 0; same && k < leaf->path_count; k++) {
            same = str_eq(leaves[i].path[k], leaf->path[k]);
        }
        if (same && !is_same_path(paths[i], paths[number])) {
            return bind_fail_name(x->b, x->clause, paths[number]->offset, paths[number]->name,
                                  "is a name that the group has already, of another type");
        }
    }
    return true;
}

/* A list of keys that grows. */
struct keys {
    const struct property **items;
    size_t count;
};

static void add_key(struct keys *keys, const struct property *p)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (str_eq(keys->items[i]->column, p->column)) {
            return;
        }
    }
    keys->items[keys->count++] = p;
}

/* An entity as a whole: its key says which one; the navigation stays, over columns of the group. */
static bool group_by_entity(struct applying *x, struct derived *d, const struct expr *e,
                            const struct source *target, struct leaf *leaf, struct keys *keys)
{
    struct binder *b = x->b;
    const struct navigation *n = target->via;
    if (n == NULL) {
        return bind_fail(b, x->clause, e->offset, "expected a path to a property");
    }
    if (n->embedded) {
        return odata_error_not_implemented(
            b->err, x->clause->option,
            "grouping by '%.*s' as a whole at byte %zu is not implemented",
            STR_ARG(bind_clip(e->name)), e->offset);
    }
    struct navigation *made = ARENA_NEW(b->arena, struct navigation);
    struct join_column *joins = ARENA_ARRAY(b->arena, n->join_count, struct join_column);
    if (made == NULL || joins == NULL) {
        return arena_fail(b->arena, b->err);
    }
    *made = *n;
    made->joins = joins;
    made->expanded = true;
    for (size_t i = 0; i < n->join_count; i++) {
        const struct property *p = n->dependent ? n->joins[i].local : n->joins[i].remote;
        const struct bound_expr *value =
            bind_property_expr(b, n->dependent ? target->from : target, p);
        const struct property *column = value == NULL ? NULL : key_column(x, d, STR(""), value);
        if (column == NULL) {
            return false;
        }
        joins[i] = (struct join_column){column, n->joins[i].remote};
        add_key(keys, column);
    }
    leaf->navigation = made;
    return true;
}

/* Binds the paths: a level that has the columns of the keys, the leaves, and the keys. */
static bool bind_paths(struct applying *x, struct expr *const *paths, size_t count,
                       struct leaf *leaves, struct keys *keys)
{
    struct scope scope = bind_row_scope(x);
    struct derived *d = bind_derive(x->b, x->in);
    if (d == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct expr *e = paths[i];
        struct member_path path;
        if (!bind_member_path(x->b, &scope, e, &path) || !path_names(x->b, e, &leaves[i])) {
            return false;
        }
        if (path.collection != NULL) {
            return bind_fail_name(x->b, x->clause, e->offset, e->name,
                                  "is a collection: no group has it");
        }
        if (path.value == NULL) {
            if (!group_by_entity(x, d, e, path.source, &leaves[i], keys)) {
                return false;
            }
            continue;
        }
        if (!check_groupable(x, e, path.value) || !check_apart(x, paths, leaves, i)) {
            return false;
        }
        leaves[i].column = key_column(x, d, path.value->property->name, path.value);
        if (leaves[i].column == NULL) {
            return false;
        }
        struct property *shown = ARENA_NEW(x->b->arena, struct property);
        if (shown == NULL) {
            return arena_fail(x->b->arena, x->b->err);
        }
        *shown = *leaves[i].column;
        shown->dynamic = path.value->property->dynamic;
        add_key(keys, leaves[i].column);
        leaves[i].column = shown;
    }
    return d->column_count == 0 || bind_derived(x, d, x->in->type);
}

/* One row for each group, without anything but its keys. */
static bool make_distinct(struct applying *x)
{
    struct derived *d = bind_group_rows(x);
    return d != NULL && bind_group_end(x, d);
}

/* The members of the groups' rows stand before those that the transformations have made. */
static bool add_leaves(struct applying *x, const struct transformation *t, const struct leaf *keys,
                       size_t key_count)
{
    struct binder *b = x->b;
    const struct entity_type *type = x->in->type;
    if (!type->transient) {
        return true; /* whole entities: they have their properties */
    }
    size_t count = key_count + type->property_count + type->navigation_count;
    struct leaf *leaves = ARENA_ARRAY(b->arena, count, struct leaf);
    if (leaves == NULL) {
        return arena_fail(b->arena, b->err);
    }
    memcpy(leaves, keys, key_count * sizeof(*leaves));
    count = key_count;
    for (size_t i = 0; i < type->property_count; i++) {
        const struct property *p = &type->properties[i];
        for (size_t k = 0; k < key_count; k++) {
            if (str_eq(keys[k].path[0], p->name)) {
                return bind_fail_name(b, x->clause, t->offset, p->name,
                                      "is a name that the group has already");
            }
        }
        leaves[count++] = (struct leaf){&p->name, 1, p, NULL, p->structures};
    }
    struct entity_type *made = bind_leaf_type(b, type, leaves, count);
    if (made == NULL) {
        return false;
    }
    /* What nested groupings have made keeps its place: a member inside of another one. */
    if (type->navigation_count > 0) {
        struct navigation *all = ARENA_ARRAY(
            b->arena, made->navigation_count + type->navigation_count, struct navigation);
        if (all == NULL) {
            return arena_fail(b->arena, b->err);
        }
        memcpy(all, made->navigations, made->navigation_count * sizeof(*all));
        for (size_t i = 0; i < type->navigation_count; i++) {
            if (entity_type_find_navigation(made, type->navigations[i].name) == NULL) {
                all[made->navigation_count] = type->navigations[i];
                all[made->navigation_count].index = made->navigation_count;
                made->navigation_count++;
            }
        }
        made->navigations = all;
    }
    made->structure = type->structure;
    made->structure_count = type->structure_count;
    struct source *in = bind_source_new(b, made);
    if (in == NULL) {
        return false;
    }
    bind_source_like(in, x->in);
    x->in = in;
    return true;
}

bool bind_grouped(struct applying *x, const struct transformation *t, struct expr *const *paths,
                  size_t count, const struct recursion *recursion)
{
    const struct property **outer = x->partition;
    size_t outer_count = x->partition_count;
    const struct source *outer_groups = x->groups;
    struct leaf *leaves = ARENA_ARRAY(x->b->arena, count + 2, struct leaf);
    struct keys keys = {0};
    keys.items =
        ARENA_ARRAY(x->b->arena, outer_count + count * KEY_COLUMNS + 2, const struct property *);
    if (leaves == NULL || keys.items == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    for (size_t i = 0; i < outer_count; i++) {
        add_key(&keys, outer[i]);
    }
    if (!bind_paths(x, paths, count, leaves, &keys)) {
        return false;
    }
    x->groups = NULL;
    if (recursion != NULL) {
        add_key(&keys, recursion->top);
        x->groups = recursion->groups;
        if (!recursion->whole) {
            leaves[count++] = recursion->leaf;
        }
    }
    x->partition = keys.items;
    x->partition_count = keys.count;
    bool ok = (t->sequence == NULL ? make_distinct(x) : bind_sequence(x, t->sequence)) &&
              add_leaves(x, t, leaves, count);
    x->partition = outer;
    x->partition_count = outer_count;
    x->groups = outer_groups;
    return ok;
}

/* --- rollup --- */

static size_t level_count(const struct grouping *g)
{
    return g->kind == GROUPING_ROLLUP ? g->path_count + g->all : 1;
}

/* Which paths the combination groups by: the digits of `number` say how much is rolled up. */
static size_t take_paths(const struct transformation *t, size_t number, struct expr **out)
{
    size_t count = 0;
    for (size_t i = t->grouping_count; i-- > 0;) {
        const struct grouping *g = &t->groupings[i];
        size_t levels = level_count(g);
        size_t left_out = number % levels;
        number /= levels;
        for (size_t k = g->path_count - left_out; k-- > 0;) {
            out[count++] = g->paths[k];
        }
    }
    for (size_t i = 0; i < count / 2; i++) {
        struct expr *swap = out[i];
        out[i] = out[count - 1 - i];
        out[count - 1 - i] = swap;
    }
    return count;
}

static bool check_groupings(struct applying *x, const struct transformation *t, size_t *out_paths,
                            size_t *out_combinations)
{
    *out_paths = 0;
    *out_combinations = 1;
    for (size_t i = 0; i < t->grouping_count; i++) {
        const struct grouping *g = &t->groupings[i];
        if (g->kind == GROUPING_ROLLUP && g->path_count == 1 && !g->all) {
            return bind_fail_name(x->b, x->clause, g->paths[0]->offset, g->paths[0]->name,
                                  "is no leveled hierarchy: none is published; rollup takes two "
                                  "paths or more");
        }
        *out_paths += g->path_count;
        *out_combinations *= level_count(g);
        if (*out_combinations > LIMIT_STRUCTURES) {
            return odata_error_set(x->b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX,
                                   x->clause->option, "rollup makes more than %d kinds of rows",
                                   (int)LIMIT_STRUCTURES);
        }
    }
    return true;
}

bool bind_groupby(struct applying *x, const struct transformation *t)
{
    size_t path_count;
    size_t combinations;
    for (size_t i = 0; i < t->grouping_count; i++) {
        if (t->groupings[i].kind == GROUPING_RECURSIVE) {
            return bind_recursive(x, t);
        }
    }
    if (!check_groupings(x, t, &path_count, &combinations)) {
        return false;
    }
    struct expr **paths = ARENA_ARRAY(x->b->arena, path_count + 1, struct expr *);
    struct applying *parts = ARENA_ARRAY(x->b->arena, combinations, struct applying);
    if (paths == NULL || parts == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    if (combinations == 1) {
        size_t count = take_paths(t, 0, paths);
        return bind_grouped(x, t, paths, count, NULL);
    }
    for (size_t i = 0; i < combinations; i++) {
        size_t count = take_paths(t, i, paths);
        parts[i] = *x;
        parts[i].in = bind_again(x->b, x->in);
        if (parts[i].in == NULL || !bind_grouped(&parts[i], t, paths, count, NULL)) {
            return false;
        }
    }
    return bind_union(x, parts, combinations, t->offset);
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_navigation.h"

#include <stdlib.h>

#include "odata/bytes.h"
#include "storage/catalog_inheritance.h"
#include "storage/catalog_keys.h"
#include "storage/catalog_names.h"

enum {
    /* `x_by_a_b_c`: 32 columns of 63 bytes at most; the name is cut to NAME_LONGEST anyway. */
    NAME_BYTES = 4096,
};

/* The sides of a foreign key, and of two of them; names are given out in this order. */
enum side {
    SIDE_REFERENCING,
    SIDE_REFERENCED,
    SIDE_LINKED, /* many-to-many: `key` leads from here to the link table, `far_key` on */
};

/* One navigation property to be. */
struct end {
    struct raw_relation *source;
    struct raw_relation *target;
    const struct raw_foreign_key *key;
    const struct raw_foreign_key *far_key;
    enum side side;
    size_t sequence; /* in the order of tables and constraints */
    size_t partner;  /* sequence of the way back */
    bool stripped;   /* named by its column, so that it wants no type's name */
    struct navigation *navigation;
};

struct ends {
    RAW_VEC(struct end) all;
    struct end **sorted;    /* by source, side and sequence */
    struct name_set taken;  /* in the type at hand */
    struct name_set given;  /* of these, to navigation properties */
    struct name_set wanted; /* type names that more than one of a side of the type wants */
    struct bytes text;
};

/* -- which there are -------------------------------------------------------------------------- */

static bool are_shown(const struct raw_catalog *raw, const struct raw_relation *r,
                      const int16_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct raw_column *c = raw_find_column(raw, r, numbers[i]);
        if (c == NULL || c->property == NULL) {
            return false;
        }
    }
    return count > 0;
}

static bool same_numbers(const int16_t *a, const int16_t *b, size_t count)
{
    return memcmp(a, b, count * sizeof(*a)) == 0;
}

/* Whether an earlier foreign key of the table says the same. */
static bool is_repeated(const struct raw_catalog *raw, size_t place)
{
    const struct raw_foreign_key *f = &raw->foreign_keys.items[place];
    for (size_t i = place; i > 0; i--) {
        const struct raw_foreign_key *g = &raw->foreign_keys.items[i - 1];
        if (g->source != f->source) {
            return false;
        }
        if (g->target == f->target && g->count == f->count &&
            same_numbers(g->local, f->local, f->count) &&
            same_numbers(g->remote, f->remote, f->count)) {
            return true;
        }
    }
    return false;
}

static bool is_navigable(const struct raw_catalog *raw, size_t place)
{
    const struct raw_foreign_key *f = &raw->foreign_keys.items[place];
    const struct raw_relation *source = &raw->relations.items[f->source];
    const struct raw_relation *target = &raw->relations.items[f->target];
    return source->type != NULL && target->type != NULL &&
           are_shown(raw, source, f->local, f->count) &&
           are_shown(raw, target, f->remote, f->count) && !is_repeated(raw, place) &&
           !inheritance_has_foreign_key(raw, &raw->foreign_keys.items[place]);
}

/* Adds an end and the way back. */
static bool add_pair(struct ends *ends, struct end there, struct end back)
{
    there.sequence = ends->all.count;
    there.partner = there.sequence + 1;
    back.sequence = there.sequence + 1;
    back.partner = there.sequence;
    struct end *first = RAW_ADD(&ends->all);
    if (first == NULL) {
        return false;
    }
    *first = there;
    struct end *second = RAW_ADD(&ends->all);
    if (second == NULL) {
        return false;
    }
    *second = back;
    return true;
}

static bool add_foreign_key(struct raw_catalog *raw, struct ends *ends,
                            const struct raw_foreign_key *f)
{
    struct raw_relation *source = &raw->relations.items[f->source];
    struct raw_relation *target = &raw->relations.items[f->target];
    return add_pair(
        ends, (struct end){.source = source, .target = target, .key = f, .side = SIDE_REFERENCING},
        (struct end){.source = target, .target = source, .key = f, .side = SIDE_REFERENCED});
}

static const struct raw_key *primary_key(const struct raw_catalog *raw,
                                         const struct raw_relation *r)
{
    uint32_t first = oid_map_get(&raw->first_keys, r->oid);
    return first != OID_MAP_NONE && raw->keys.items[first].primary ? &raw->keys.items[first] : NULL;
}

static bool is_within(const struct raw_foreign_key *f, const struct raw_key *key)
{
    for (size_t i = 0; i < f->count; i++) {
        bool found = false;
        for (size_t k = 0; k < key->count; k++) {
            found = found || key->numbers[k] == f->local[i];
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static bool overlap(const struct raw_foreign_key *f, const struct raw_foreign_key *g)
{
    for (size_t i = 0; i < f->count; i++) {
        for (size_t k = 0; k < g->count; k++) {
            if (f->local[i] == g->local[k]) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Many-to-many, when the foreign keys [from, to) of a table contain exactly two within its primary
 * key, and these two are all of it.
 */
static bool add_link(struct raw_catalog *raw, struct ends *ends, size_t from, size_t to)
{
    const struct raw_foreign_key *found[2] = {NULL, NULL};
    size_t count = 0;
    struct raw_relation *link = &raw->relations.items[raw->foreign_keys.items[from].source];
    const struct raw_key *primary = primary_key(raw, link);
    for (size_t i = from; i < to && primary != NULL; i++) {
        const struct raw_foreign_key *f = &raw->foreign_keys.items[i];
        if (is_within(f, primary) && !is_repeated(raw, i)) {
            if (count == 2 || !is_navigable(raw, i)) {
                return true;
            }
            found[count++] = f;
        }
    }
    if (count < 2 || overlap(found[0], found[1]) ||
        found[0]->count + found[1]->count != primary->count) {
        return true;
    }
    struct raw_relation *first = &raw->relations.items[found[0]->target];
    struct raw_relation *second = &raw->relations.items[found[1]->target];
    return add_pair(ends,
                    (struct end){.source = first,
                                 .target = second,
                                 .key = found[0],
                                 .far_key = found[1],
                                 .side = SIDE_LINKED},
                    (struct end){.source = second,
                                 .target = first,
                                 .key = found[1],
                                 .far_key = found[0],
                                 .side = SIDE_LINKED});
}

static bool collect(struct raw_catalog *raw, struct ends *ends)
{
    size_t from = 0;
    for (size_t i = 0; i < raw->foreign_keys.count; i++) {
        const struct raw_foreign_key *f = &raw->foreign_keys.items[i];
        if (is_navigable(raw, i) && !add_foreign_key(raw, ends, f)) {
            return false;
        }
        bool last =
            i + 1 == raw->foreign_keys.count || raw->foreign_keys.items[i + 1].source != f->source;
        if (last) {
            if (!add_link(raw, ends, from, i + 1)) {
                return false;
            }
            from = i + 1;
        }
    }
    return true;
}

static int compare_ends(const void *a, const void *b)
{
    const struct end *left = *(const struct end *const *)a;
    const struct end *right = *(const struct end *const *)b;
    if (left->source != right->source) {
        return left->source < right->source ? -1 : 1;
    }
    if (left->side != right->side) {
        return left->side < right->side ? -1 : 1;
    }
    return (left->sequence > right->sequence) - (left->sequence < right->sequence);
}

static bool sort(struct raw_catalog *raw, struct ends *ends)
{
    ends->sorted = ARENA_ARRAY(&raw->scratch, ends->all.count, struct end *);
    if (ends->sorted == NULL) {
        return false;
    }
    for (size_t i = 0; i < ends->all.count; i++) {
        ends->sorted[i] = &ends->all.items[i];
    }
    if (ends->all.count > 1) {
        qsort(ends->sorted, ends->all.count, sizeof(struct end *), compare_ends);
    }
    return true;
}

/* -- names ------------------------------------------------------------------------------------ */

/* The name of the single referencing column without its `_id`, `Id` or `ID`, or "". */
static struct str stripped_column(const struct raw_catalog *raw, const struct end *e)
{
    static const struct str suffixes[] = {{STR_INIT("_id")}, {STR_INIT("Id")}, {STR_INIT("ID")}};
    if (e->key->count != 1) {
        return STR("");
    }
    struct str column = raw_find_column(raw, e->source, e->key->local[0])->property->name;
    for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
        struct str rest = str_slice(column, 0, column.len - suffixes[i].len);
        if (column.len > suffixes[i].len && str_ends_with(column, suffixes[i]) &&
            name_is_identifier(rest)) {
            return rest;
        }
    }
    return STR("");
}

/* The type whose name an end wants that is not named by its column. */
static struct str wanted_name(const struct end *e)
{
    return e->target->type->name;
}

/* Notes which type names more than one of [from, to), the ends of one side of one type, want. */
static bool note_wanted(struct ends *ends, size_t from, size_t to)
{
    struct name_set once = {0};
    bool ok = true;
    name_set_clear(&ends->wanted);
    for (size_t i = from; i < to && ok; i++) {
        const struct end *e = ends->sorted[i];
        if (e->stripped) {
            continue;
        }
        struct str name = wanted_name(e);
        ok = name_set_has(&once, name) ? name_set_add(&ends->wanted, name)
                                       : name_set_add(&once, name);
    }
    name_set_fini(&once);
    return ok;
}

/* `type_by_columns`, or `type_by_link`. */
static bool by_columns(struct raw_catalog *raw, struct ends *ends, const struct end *e,
                       struct str *out_name)
{
    const struct raw_relation *owner = &raw->relations.items[e->key->source];
    bytes_clear(&ends->text);
    bytes_put_str(&ends->text, wanted_name(e));
    BYTES_PUT_LITERAL(&ends->text, "_by");
    if (e->side == SIDE_LINKED && e->source != e->target) {
        bytes_put_char(&ends->text, '_');
        bytes_put_str(&ends->text, owner->type->name);
    } else {
        for (size_t i = 0; i < e->key->count; i++) {
            const struct raw_column *c = raw_find_column(raw, owner, e->key->local[i]);
            bytes_put_char(&ends->text, '_');
            bytes_put_str(&ends->text, c->property->name);
        }
    }
    struct str copy;
    return !bytes_failed(&ends->text) && arena_copy(raw->kept, bytes_str(&ends->text), &copy) &&
           name_rewrite(raw->kept, copy, out_name); /* cuts it */
}

static bool give(struct raw_catalog *raw, struct ends *ends, struct end *e, struct str wish)
{
    return name_claim(raw->kept, wish, &ends->taken, &e->navigation->name) &&
           name_set_add(&ends->given, e->navigation->name);
}

/* Columns come first, so that no type's name takes the place of a name that says more. */
static bool name_by_column(struct raw_catalog *raw, struct ends *ends, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        struct end *e = ends->sorted[i];
        if (e->side != SIDE_REFERENCING) {
            return true;
        }
        struct str name = stripped_column(raw, e);
        e->stripped = name.len > 0 && !name_set_has(&ends->taken, name);
        if (e->stripped && !give(raw, ends, e, name)) {
            return false;
        }
    }
    return true;
}

/* The ends [from, to), which are of one side of one type. */
static bool name_by_type(struct raw_catalog *raw, struct ends *ends, size_t from, size_t to)
{
    if (!note_wanted(ends, from, to)) {
        return false;
    }
    for (size_t i = from; i < to; i++) {
        struct end *e = ends->sorted[i];
        if (e->stripped) {
            continue;
        }
        struct str name = wanted_name(e);
        bool to_itself = e->side != SIDE_REFERENCING && e->source == e->target;
        if (to_itself || name_set_has(&ends->wanted, name) || name_set_has(&ends->given, name)) {
            if (!by_columns(raw, ends, e, &name)) {
                return false;
            }
        }
        if (!give(raw, ends, e, name)) {
            return false;
        }
    }
    return true;
}

/* What a navigation property of t cannot be called: t, and the properties of it and of those that
   are derived from it; and what it inherits. */
static bool take_names(struct ends *ends, const struct entity_type *t)
{
    const struct type_tree *h = t->tree;
    bool ok = true;
    name_set_clear(&ends->taken);
    name_set_clear(&ends->given);
    for (size_t k = t->number; k <= t->last && ok; k++) {
        const struct entity_type *each = h == NULL ? t : h->types[k];
        ok = name_set_add(&ends->taken, each->name);
        for (size_t i = 0; i < each->property_count && ok; i++) {
            ok = name_set_add(&ends->taken, each->properties[i].name);
        }
    }
    for (size_t i = 0; i < t->inherited_navigations && ok; i++) {
        ok = name_set_add(&ends->taken, t->base->navigations[i].name);
    }
    return ok;
}

/* The ends [from, to) of one type. */
static bool name_ends(struct raw_catalog *raw, struct ends *ends, size_t from, size_t to)
{
    bool ok = take_names(ends, ends->sorted[from]->source->type);
    ok = ok && name_by_column(raw, ends, from, to);
    while (from < to && ok) {
        size_t next = from;
        while (next < to && ends->sorted[next]->side == ends->sorted[from]->side) {
            next++;
        }
        ok = name_by_type(raw, ends, from, next);
        from = next;
    }
    return ok;
}

/* -- building --------------------------------------------------------------------------------- */

static const struct property *property_of(const struct raw_catalog *raw,
                                          const struct raw_relation *r, int16_t number)
{
    return raw_find_column(raw, r, number)->property;
}

static bool fill_joins(struct raw_catalog *raw, const struct end *e, struct navigation *n)
{
    bool referencing = e->side == SIDE_REFERENCING;
    const int16_t *local = referencing ? e->key->local : e->key->remote;
    const int16_t *remote = referencing ? e->key->remote : e->key->local;
    n->joins = ARENA_ARRAY(raw->kept, e->key->count, struct join_column);
    if (n->joins == NULL) {
        return false;
    }
    for (size_t i = 0; i < e->key->count; i++) {
        n->joins[i].local = property_of(raw, e->source, local[i]);
        n->joins[i].remote = property_of(raw, e->target, remote[i]);
    }
    n->join_count = e->key->count;
    return true;
}

/* One half of a link: the link table's columns, and what they are equal to. */
static bool fill_half(struct raw_catalog *raw, const struct raw_foreign_key *f,
                      struct str **out_columns, const struct property ***out_properties,
                      size_t *out_count)
{
    const struct raw_relation *link = &raw->relations.items[f->source];
    const struct raw_relation *far = &raw->relations.items[f->target];
    struct str *columns = ARENA_ARRAY(raw->kept, f->count, struct str);
    const struct property **properties = ARENA_ARRAY(raw->kept, f->count, const struct property *);
    if (columns == NULL || properties == NULL) {
        return false;
    }
    for (size_t i = 0; i < f->count; i++) {
        columns[i] = raw_find_column(raw, link, f->local[i])->name;
        properties[i] = property_of(raw, far, f->remote[i]);
    }
    *out_columns = columns;
    *out_properties = properties;
    *out_count = f->count;
    return true;
}

static bool fill_link(struct raw_catalog *raw, const struct end *e, struct navigation *n)
{
    const struct raw_relation *owner = &raw->relations.items[e->key->source];
    struct link_table *link = ARENA_NEW(raw->kept, struct link_table);
    if (link == NULL ||
        !fill_half(raw, e->key, &link->local_columns, &link->local, &link->local_count) ||
        !fill_half(raw, e->far_key, &link->remote_columns, &link->remote, &link->remote_count)) {
        return false;
    }
    link->schema = raw_schema_name(raw, owner);
    link->table = owner->name;
    n->link = link;
    return true;
}

/* Whether a row on the referencing side may have no counterpart: a null column, a constraint that
   was never checked, or a policy that hides it. */
static bool may_be_missing(const struct navigation *n, const struct end *e)
{
    for (size_t i = 0; i < n->join_count; i++) {
        if (n->joins[i].local->type.nullable) {
            return true;
        }
    }
    return !e->key->validated || e->target->row_security;
}

static bool fill_navigation(struct raw_catalog *raw, const struct ends *ends, const struct end *e)
{
    struct navigation *n = e->navigation;
    n->source = e->source->type;
    n->target = e->target->type;
    n->partner = ends->all.items[e->partner].navigation;
    n->index = (size_t)(n - e->source->type->navigations);
    switch (e->side) {
    case SIDE_REFERENCING:
        n->dependent = true;
        if (!fill_joins(raw, e, n)) {
            return false;
        }
        n->nullable = may_be_missing(n, e);
        return true;
    case SIDE_REFERENCED:
        /* What is unique in a table need not be so in those that inherit from it. */
        n->collection = e->target->has_children ||
                        !keys_are_unique(raw, e->target, e->key->local, e->key->count);
        n->nullable = !n->collection;
        return fill_joins(raw, e, n);
    case SIDE_LINKED:
        n->collection = true;
        return fill_link(raw, e, n);
    }
    return false;
}

/* The first of the ends of a relation, or where it would be; they follow each other. */
static size_t first_end(const struct ends *ends, const struct raw_relation *r)
{
    size_t low = 0;
    size_t high = ends->all.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ends->sorted[middle]->source < r) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Gives a type its array of navigations, and names those that are its own; its base comes first. */
static bool place_ends(struct raw_catalog *raw, struct ends *ends, struct raw_relation *r)
{
    struct entity_type *t = r->type;
    size_t from = first_end(ends, r);
    size_t to = from;
    if (t == NULL || t->navigations != NULL) {
        return true;
    }
    if (r->base != NULL && !place_ends(raw, ends, r->base)) {
        return false;
    }
    while (to < ends->all.count && ends->sorted[to]->source == r) {
        to++;
    }
    t->inherited_navigations = r->base == NULL ? 0 : r->base->type->navigation_count;
    t->navigation_count = t->inherited_navigations + to - from;
    t->navigations = ARENA_ARRAY(raw->kept, t->navigation_count, struct navigation);
    if (t->navigations == NULL) {
        return t->navigation_count == 0;
    }
    for (size_t i = from; i < to; i++) {
        ends->sorted[i]->navigation = &t->navigations[t->inherited_navigations + i - from];
    }
    return from == to || name_ends(raw, ends, from, to);
}

bool navigation_build(struct raw_catalog *raw, struct odata_error *err)
{
    struct ends ends = {0};
    bytes_init(&ends.text, NAME_BYTES);
    bool ok = collect(raw, &ends) && sort(raw, &ends);
    for (size_t i = 0; i < raw->relations.count && ok; i++) {
        ok = place_ends(raw, &ends, &raw->relations.items[i]);
    }
    for (size_t i = 0; i < ends.all.count && ok; i++) {
        ok = fill_navigation(raw, &ends, &ends.all.items[i]);
    }
    ok = ok && inheritance_copy_navigations(raw);
    free(ends.all.items);
    name_set_fini(&ends.taken);
    name_set_fini(&ends.given);
    name_set_fini(&ends.wanted);
    bytes_fini(&ends.text);
    return ok || raw_no_memory(err);
}

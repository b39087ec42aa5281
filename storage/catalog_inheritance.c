// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_inheritance.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "storage/catalog_keys.h"

/* -- bases ------------------------------------------------------------------------------------ */

struct parents {
    struct raw_relation **items;
    size_t count;
    size_t room;
};

static bool add_parent(struct raw_catalog *raw, struct parents *p, struct raw_relation *parent)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->items[i] == parent) {
            return true;
        }
    }
    if (p->count == p->room) {
        size_t room = p->room == 0 ? 4 : p->room * 2;
        struct raw_relation **grown = ARENA_ARRAY(&raw->scratch, room, struct raw_relation *);
        if (grown == NULL) {
            return false;
        }
        if (p->count > 0) {
            memcpy(grown, p->items, p->count * sizeof(struct raw_relation *));
        }
        p->items = grown;
        p->room = room;
    }
    p->items[p->count++] = parent;
    return true;
}

/* The lines of raw->inheritances that a table is the child of. */
static const struct raw_inheritance *lines_of(const struct raw_catalog *raw, uint32_t child,
                                              size_t *out_count)
{
    uint32_t first = oid_map_get(&raw->first_inheritances, child);
    *out_count = 0;
    if (first == OID_MAP_NONE) {
        return NULL;
    }
    while (first + *out_count < raw->inheritances.count &&
           raw->inheritances.items[first + *out_count].child == child) {
        (*out_count)++;
    }
    return &raw->inheritances.items[first];
}

static bool add_parents(struct raw_catalog *raw, uint32_t child, struct parents *p)
{
    size_t count;
    const struct raw_inheritance *lines = lines_of(raw, child, &count);
    for (size_t i = 0; i < count; i++) {
        struct raw_relation *parent = raw_find_relation(raw, lines[i].parent);
        if (!(parent != NULL ? add_parent(raw, p, parent) : add_parents(raw, lines[i].parent, p))) {
            return false;
        }
    }
    return true;
}

bool inheritance_parents(struct raw_catalog *raw, const struct raw_relation *r,
                         struct raw_relation ***out_parents, size_t *out_count)
{
    struct parents p = {0};
    if (!add_parents(raw, r->oid, &p)) {
        return false;
    }
    *out_parents = p.items;
    *out_count = p.count;
    return true;
}

struct raw_column *inheritance_column(const struct raw_catalog *raw, const struct raw_relation *r,
                                      struct str name)
{
    for (size_t i = 0; i < r->column_count; i++) {
        struct raw_column *c = &raw->columns.items[r->first_column + i];
        if (str_eq(c->name, name)) {
            return c;
        }
    }
    return NULL;
}

/* The first column that parent shows and r does not, or NULL. */
static const struct raw_column *find_missing(const struct raw_catalog *raw,
                                             const struct raw_relation *r,
                                             const struct raw_relation *parent)
{
    for (size_t i = 0; i < parent->column_count; i++) {
        const struct raw_column *theirs = &raw->columns.items[parent->first_column + i];
        const struct raw_column *ours =
            theirs->hidden ? theirs : inheritance_column(raw, r, theirs->name);
        if (!theirs->hidden && (ours == NULL || ours->hidden)) {
            return theirs;
        }
    }
    return NULL;
}

/* What the base hides is hidden here, too: it must not be shown by another way. */
static void hide_inherited(struct raw_catalog *raw, struct raw_relation *r,
                           const struct raw_relation *base)
{
    for (size_t i = 0; i < base->column_count; i++) {
        const struct raw_column *theirs = &raw->columns.items[base->first_column + i];
        struct raw_column *ours = theirs->hidden ? inheritance_column(raw, r, theirs->name) : NULL;
        if (ours != NULL && !ours->hidden) {
            ours->hidden = true;
            r->visible_count--;
        }
    }
}

/* The key of the base in the columns of r. */
static bool take_key(struct raw_catalog *raw, struct raw_relation *r,
                     const struct raw_relation *base)
{
    struct raw_key *key = ARENA_NEW(&raw->scratch, struct raw_key);
    int16_t *numbers = ARENA_ARRAY(&raw->scratch, base->key->count, int16_t);
    if (key == NULL || numbers == NULL) {
        return false;
    }
    *key = *base->key;
    key->owner = r->oid;
    key->numbers = numbers;
    for (size_t i = 0; i < key->count; i++) {
        const struct raw_column *c = raw_find_column(raw, base, base->key->numbers[i]);
        const struct raw_column *ours = c == NULL ? NULL : inheritance_column(raw, r, c->name);
        assert(ours != NULL); /* find_missing() has looked */
        numbers[i] = ours->number;
    }
    r->base = raw_find_relation(raw, base->oid);
    r->key = key;
    return true;
}

static bool warn_of_base(struct raw_catalog *raw, const struct raw_relation *r, size_t parents,
                         struct odata_error *err)
{
    struct str base = r->base->name;
    if (parents > 1 &&
        !raw_warn(raw, r, err,
                  "it inherits from several tables and its type is derived from that of '%.*s'"
                  " alone: in the entity sets of the others its rows are of their type",
                  STR_ARG(base))) {
        return false;
    }
    return keys_are_unique(raw, r, r->key->numbers, r->key->count) ||
           raw_warn(raw, r, err,
                    "its key is that of '%.*s', and no unique index keeps it here: PostgreSQL does"
                    " not inherit primary keys",
                    STR_ARG(base));
}

bool inheritance_choose_base(struct raw_catalog *raw, struct raw_relation *r,
                             struct odata_error *err)
{
    struct raw_relation **parents;
    size_t count;
    if (!inheritance_parents(raw, r, &parents, &count)) {
        return raw_no_memory(err);
    }
    bool own_key = r->override != NULL && r->override->key_count > 0;
    size_t keyed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct raw_relation *parent = parents[i];
        if (parent->key == NULL) {
            continue;
        }
        keyed++;
        const struct raw_column *missing = find_missing(raw, r, parent);
        if (r->base != NULL || own_key) {
            continue;
        }
        if (missing != NULL) {
            if (!raw_warn(raw, r, err,
                          "its type is not derived from that of '%.*s', which shows the column "
                          "'%.*s': here it is hidden or may not be read",
                          STR_ARG(parent->name), STR_ARG(missing->name))) {
                return false;
            }
            continue;
        }
        if (!take_key(raw, r, parent)) {
            return raw_no_memory(err);
        }
    }
    if (r->base == NULL) {
        return true;
    }
    hide_inherited(raw, r, r->base);
    return warn_of_base(raw, r, keyed, err);
}

/* -- strays ----------------------------------------------------------------------------------- */

static bool is_derived(const struct raw_relation *r, const struct raw_relation *base)
{
    while (r != NULL && r != base) {
        r = r->base;
    }
    return r != NULL;
}

/* Looks at the rows of child from all tables that it inherits from. */
static void note_strays(struct raw_catalog *raw, uint32_t child, uint32_t at)
{
    size_t count;
    const struct raw_inheritance *lines = lines_of(raw, at, &count);
    for (size_t i = 0; i < count; i++) {
        struct raw_relation *parent = raw_find_relation(raw, lines[i].parent);
        if (parent != NULL && !is_derived(raw_find_relation(raw, child), parent)) {
            parent->has_strays = true;
        }
        note_strays(raw, child, lines[i].parent);
    }
}

void inheritance_find_strays(struct raw_catalog *raw)
{
    uint32_t before = 0;
    for (size_t i = 0; i < raw->inheritances.count; i++) {
        uint32_t child = raw->inheritances.items[i].child;
        if (child != before) {
            note_strays(raw, child, child);
        }
        before = child;
    }
}

/* -- hierarchies ------------------------------------------------------------------------------ */

/* What a slot's columns have in common. */
struct slot_type {
    uint32_t type_oid;
    uint32_t collation;
};

struct building {
    struct raw_catalog *raw;
    struct raw_relation **relations; /* as tree->types */
    struct type_tree *tree;
    struct slot_type *slot_types;
    size_t slot_room;
    struct str prefix; /* that no column begins with */
};

/* Base to derived ones: lists of relations by their base, in the order of the model's types. */
struct family {
    struct raw_relation **by_base;
    size_t count;
};

static int compare_bases(const void *a, const void *b)
{
    const struct raw_relation *left = *(const struct raw_relation *const *)a;
    const struct raw_relation *right = *(const struct raw_relation *const *)b;
    if (left->base != right->base) {
        return left->base < right->base ? -1 : 1;
    }
    return left->type < right->type ? -1 : left->type > right->type;
}

static bool open_family(struct raw_catalog *raw, struct family *f)
{
    f->by_base = ARENA_ARRAY(&raw->scratch, raw->relations.count, struct raw_relation *);
    if (f->by_base == NULL) {
        return false;
    }
    for (size_t i = 0; i < raw->relations.count; i++) {
        if (raw->relations.items[i].base != NULL) {
            f->by_base[f->count++] = &raw->relations.items[i];
        }
    }
    if (f->count > 1) {
        qsort(f->by_base, f->count, sizeof(struct raw_relation *), compare_bases);
    }
    return true;
}

/* The first of those derived from base; they follow each other. */
static size_t first_derived(const struct family *f, const struct raw_relation *base)
{
    size_t low = 0;
    size_t high = f->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->by_base[middle]->base < base) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Numbers r and those derived from it; b->relations has room for all. */
static void number_types(struct building *b, const struct family *f, struct raw_relation *r,
                         unsigned depth)
{
    struct type_tree *h = b->tree;
    struct entity_type *t = r->type;
    t->tree = h;
    t->number = (unsigned)h->type_count;
    t->depth = depth;
    b->relations[h->type_count] = r;
    h->types[h->type_count++] = t;
    for (size_t i = first_derived(f, r); i < f->count && f->by_base[i]->base == r; i++) {
        number_types(b, f, f->by_base[i], depth + 1);
    }
    t->last = (unsigned)h->type_count - 1;
}

static bool begins_column(const struct building *b, struct str prefix)
{
    for (size_t i = 0; i < b->tree->type_count; i++) {
        const struct raw_relation *r = b->relations[i];
        for (size_t k = 0; k < r->column_count; k++) {
            if (str_starts_with(b->raw->columns.items[r->first_column + k].name, prefix)) {
                return true;
            }
        }
    }
    return false;
}

static bool choose_prefix(struct building *b)
{
    b->prefix = STR("sluice");
    while (begins_column(b, b->prefix)) {
        if (!arena_format(b->raw->kept, &b->prefix, "%.*s_", STR_ARG(b->prefix))) {
            return false;
        }
    }
    return true;
}

static const struct raw_column *column_of(const struct raw_catalog *raw,
                                          const struct raw_relation *r, const struct property *p)
{
    const struct raw_column *c = &raw->columns.items[r->first_column];
    while (c->property != p) {
        c++;
    }
    return c;
}

static bool add_slot(struct building *b, const struct raw_column *c, const struct entity_type *t,
                     const struct property *p)
{
    struct type_tree *h = b->tree;
    if (h->slot_count == b->slot_room) {
        size_t room = b->slot_room == 0 ? 8 : b->slot_room * 2;
        struct slot *slots = ARENA_ARRAY(b->raw->kept, room, struct slot);
        struct slot_type *types = ARENA_ARRAY(&b->raw->scratch, room, struct slot_type);
        if (slots == NULL || types == NULL) {
            return false;
        }
        if (h->slot_count > 0) {
            memcpy(slots, h->slots, h->slot_count * sizeof(*slots));
            memcpy(types, b->slot_types, h->slot_count * sizeof(*types));
        }
        h->slots = slots;
        b->slot_types = types;
        b->slot_room = room;
    }
    struct slot *made = &h->slots[h->slot_count];
    made->type = t;
    made->first = p;
    made->column = (struct property){.name = STR(""), .type = p->type, .pg = p->pg};
    made->column.description = STR("");
    made->column.type.nullable = true;
    b->slot_types[h->slot_count] = (struct slot_type){c->type_oid, c->collation};
    return arena_format(b->raw->kept, &made->column.column, "%.*s%zu", STR_ARG(b->prefix),
                        h->slot_count++);
}

/* The slot of t's own property: the first of its type that none of t's other properties has. */
static bool give_slot(struct building *b, const struct raw_relation *r, struct property *p)
{
    const struct type_tree *h = b->tree;
    const struct raw_column *c = column_of(b->raw, r, p);
    size_t slot = 0;
    for (; slot < h->slot_count; slot++) {
        /* Where there are slots, add_slot() has made their types. */
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        bool fits = b->slot_types[slot].type_oid == c->type_oid &&
                    b->slot_types[slot].collation == c->collation;
        for (size_t i = 0; i < p->index && fits; i++) {
            const struct property *other = &r->type->properties[i];
            fits = other->depth == 0 || other->slot != slot;
        }
        if (fits) {
            break;
        }
    }
    p->slot = (unsigned)slot;
    return slot < h->slot_count || add_slot(b, c, r->type, p);
}

static bool give_slots(struct building *b, const struct raw_relation *r)
{
    struct entity_type *t = r->type;
    for (size_t i = 0; i < t->property_count; i++) {
        struct property *p = &t->properties[i];
        if (i < t->inherited_properties) {
            p->depth = t->base->properties[i].depth;
            p->slot = t->base->properties[i].slot;
            continue;
        }
        p->depth = t->depth;
        if (t->depth > 0 && !give_slot(b, r, p)) {
            return false;
        }
    }
    return true;
}

static bool build_hierarchy(struct raw_catalog *raw, const struct family *f,
                            struct raw_relation *root)
{
    struct building b = {.raw = raw};
    b.tree = ARENA_NEW(raw->kept, struct type_tree);
    b.relations = ARENA_ARRAY(&raw->scratch, f->count + 1, struct raw_relation *);
    if (b.tree == NULL || b.relations == NULL) {
        return false;
    }
    b.tree->types = ARENA_ARRAY(raw->kept, f->count + 1, const struct entity_type *);
    if (b.tree->types == NULL) {
        return false;
    }
    number_types(&b, f, root, 0);
    if (!choose_prefix(&b)) {
        return false;
    }
    struct property *kind = &b.tree->kind;
    *kind = (struct property){.name = STR(""), .description = STR("")};
    kind->type = (struct type_ref){.type = EDM_INT32};
    kind->pg = (struct pg_type_ref){.cast = STR("int4")};
    if (!arena_format(raw->kept, &kind->column, "%.*s_kind", STR_ARG(b.prefix))) {
        return false;
    }
    for (size_t i = 0; i < b.tree->type_count; i++) {
        if (!give_slots(&b, b.relations[i])) {
            return false;
        }
    }
    return true;
}

bool inheritance_build(struct raw_catalog *raw, struct odata_error *err)
{
    struct family f = {0};
    if (!open_family(raw, &f)) {
        return raw_no_memory(err);
    }
    for (size_t i = 0; i < raw->relations.count; i++) {
        struct raw_relation *r = &raw->relations.items[i];
        if (r->type != NULL) {
            r->type->has_strays = r->has_strays;
        }
        size_t first = first_derived(&f, r);
        bool is_root =
            r->type != NULL && r->base == NULL && first < f.count && f.by_base[first]->base == r;
        if (is_root && !build_hierarchy(raw, &f, r)) {
            return raw_no_memory(err);
        }
    }
    return true;
}

/* -- navigation ------------------------------------------------------------------------------- */

/* The columns have the same names in both tables. */
static bool same_columns(const struct raw_catalog *raw, const struct raw_foreign_key *f,
                         const struct raw_foreign_key *g)
{
    const struct raw_relation *ours = &raw->relations.items[f->source];
    const struct raw_relation *theirs = &raw->relations.items[g->source];
    for (size_t i = 0; i < f->count; i++) {
        const struct raw_column *a = raw_find_column(raw, ours, f->local[i]);
        const struct raw_column *b = raw_find_column(raw, theirs, g->local[i]);
        if (a == NULL || b == NULL || !str_eq(a->name, b->name)) {
            return false;
        }
    }
    return true;
}

bool inheritance_has_foreign_key(const struct raw_catalog *raw, const struct raw_foreign_key *f)
{
    for (const struct raw_relation *base = raw->relations.items[f->source].base; base != NULL;
         base = base->base) {
        for (size_t i = 0; i < raw->foreign_keys.count; i++) {
            const struct raw_foreign_key *g = &raw->foreign_keys.items[i];
            if (&raw->relations.items[g->source] == base && g->target == f->target &&
                g->count == f->count &&
                memcmp(g->remote, f->remote, f->count * sizeof(*f->remote)) == 0 &&
                same_columns(raw, f, g)) {
                return true;
            }
        }
    }
    return false;
}

/* The property of t that stands where p does in its base. */
static const struct property *same_property(const struct entity_type *t, const struct property *p)
{
    return &t->properties[p->index];
}

/* The same way from rows of t. */
static bool copy_navigation(struct raw_catalog *raw, const struct entity_type *t,
                            const struct navigation *from, struct navigation *to)
{
    *to = *from;
    to->source = t;
    if (from->link == NULL) {
        to->joins = ARENA_ARRAY(raw->kept, from->join_count, struct join_column);
        for (size_t i = 0; to->joins != NULL && i < from->join_count; i++) {
            to->joins[i] =
                (struct join_column){same_property(t, from->joins[i].local), from->joins[i].remote};
        }
        return to->joins != NULL;
    }
    struct link_table *link = ARENA_NEW(raw->kept, struct link_table);
    if (link == NULL) {
        return false;
    }
    *link = *from->link;
    link->local = ARENA_ARRAY(raw->kept, link->local_count, const struct property *);
    for (size_t i = 0; link->local != NULL && i < link->local_count; i++) {
        link->local[i] = same_property(t, from->link->local[i]);
    }
    to->link = link;
    return link->local != NULL;
}

bool inheritance_copy_navigations(struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->model->type_count; i++) {
        const struct entity_type *root = &raw->model->types[i];
        for (size_t k = 1; root->base == NULL && root->tree != NULL && k <= root->last; k++) {
            const struct entity_type *t = root->tree->types[k];
            for (size_t n = 0; n < t->inherited_navigations; n++) {
                if (!copy_navigation(raw, t, &t->base->navigations[n], &t->navigations[n])) {
                    return false;
                }
            }
        }
    }
    return true;
}

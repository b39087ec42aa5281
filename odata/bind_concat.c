// SPDX-License-Identifier: Apache-2.0
/*
 * concat, and what rollup comes to: the rows of several sequences, each with its own members. Such
 * rows have a number, that of their structure, and a member says in which structures it is.
 */
#include <assert.h>
#include <string.h>

#include "odata/apply_priv.h"
#include "odata/limits.h"

/* A union on its way. */
struct uniting {
    struct applying *x;
    struct applying *parts;
    size_t count;
    struct derived *d;
    size_t output_room;
    struct leaf *leaves;
    size_t leaf_count;
    size_t leaf_room;
    const struct entity_type *entity; /* of the parts that are whole entities, or NULL */
    uint64_t identified;              /* structures that are whole entities */
    size_t offset;                    /* of the transformation */
};

static bool too_complex(const struct uniting *u)
{
    return arena_fail(u->x->b->arena, u->x->b->err);
}

static size_t structures_of(const struct source *source)
{
    return source->type->structure_count == 0 ? 1 : source->type->structure_count;
}

static uint64_t all_of(size_t count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* --- outputs --- */

static bool add_output(struct uniting *u, const struct property *p, size_t *out_index)
{
    struct derived *d = u->d;
    for (size_t i = 0; i < d->output_count; i++) {
        if (str_eq(d->outputs[i]->column, p->column)) {
            *out_index = i;
            return true;
        }
    }
    if (d->output_count == u->output_room) {
        size_t room = u->output_room == 0 ? 64 : u->output_room * 2;
        const struct property **grown = ARENA_ARRAY(u->x->b->arena, room, const struct property *);
        if (grown == NULL) {
            return too_complex(u);
        }
        if (d->output_count > 0) {
            memcpy(grown, d->outputs, d->output_count * sizeof(*grown));
        }
        for (size_t i = 0; i < u->count; i++) {
            const struct property **columns =
                ARENA_ARRAY(u->x->b->arena, room, const struct property *);
            if (columns == NULL) {
                return too_complex(u);
            }
            if (d->output_count > 0) {
                memcpy(columns, d->parts[i].columns, d->output_count * sizeof(*columns));
            }
            d->parts[i].columns = columns;
        }
        d->outputs = grown;
        u->output_room = room;
    }
    *out_index = d->output_count;
    d->outputs[d->output_count++] = p;
    return true;
}

/* An output that a part has under this column. */
static bool add_column(struct uniting *u, size_t part, const struct property *output,
                       const struct property *column)
{
    size_t index;
    if (!add_output(u, output, &index)) {
        return false;
    }
    u->d->parts[part].columns[index] = column;
    return true;
}

static const struct property *new_number(struct uniting *u)
{
    struct bound_expr number = {.kind = BOUND_VALUE, .type = bind_type(EDM_INT64)};
    struct property *p = ARENA_NEW(u->x->b->arena, struct property);
    size_t index;
    number.type.nullable = false;
    if (p == NULL) {
        too_complex(u);
        return NULL;
    }
    return bind_new_property(u->x->b, u->entity, STR(""), &number, p) && add_output(u, p, &index)
               ? p
               : NULL;
}

/* --- leaves --- */

static bool same_path(const struct leaf *a, const struct leaf *b)
{
    bool same = a->path_count == b->path_count;
    for (size_t i = 0; same && i < a->path_count; i++) {
        same = str_eq(a->path[i], b->path[i]);
    }
    return same;
}

static bool same_type(const struct type_ref *a, const struct type_ref *b)
{
    return a->type == b->type && a->collection == b->collection && a->enum_type == b->enum_type &&
           a->complex_type == b->complex_type;
}

/* One name, one type: numbers take the one that holds both. */
static bool widen(struct uniting *u, struct property *p, const struct leaf *leaf)
{
    const struct type_ref *other = &leaf->column->type;
    if (same_type(&p->type, other)) {
        if (p->pg.oid != leaf->column->pg.oid && !p->type.collection &&
            p->type.type != EDM_COMPLEX) {
            p->pg = (struct pg_type_ref){.cast = STR("")};
        }
        return true;
    }
    if (!edm_is_numeric(p->type.type) || !edm_is_numeric(other->type) || p->type.collection ||
        other->collection) {
        return bind_fail_name(u->x->b, u->x->clause, u->offset, leaf->path[leaf->path_count - 1],
                              "has two types in what is joined");
    }
    bool floating = p->type.type == EDM_DOUBLE || p->type.type == EDM_SINGLE ||
                    other->type == EDM_DOUBLE || other->type == EDM_SINGLE;
    bool whole = edm_is_integer(p->type.type) && edm_is_integer(other->type);
    p->type = bind_type(floating ? EDM_DOUBLE : whole ? EDM_INT64 : EDM_DECIMAL);
    p->pg = (struct pg_type_ref){.cast = STR("")};
    return true;
}

static struct leaf *find_leaf(struct uniting *u, const struct leaf *leaf)
{
    for (size_t i = 0; i < u->leaf_count; i++) {
        if (same_path(&u->leaves[i], leaf)) {
            return &u->leaves[i];
        }
    }
    return NULL;
}

static bool unite_value(struct uniting *u, size_t part, const struct leaf *leaf, struct leaf *made)
{
    struct property *output;
    if (made->column == NULL) {
        output = ARENA_NEW(u->x->b->arena, struct property);
        if (output == NULL) {
            return too_complex(u);
        }
        *output = *leaf->column;
        made->column = output;
    } else {
        size_t index = 0;
        while (!str_eq(u->d->outputs[index]->column, made->column->column)) {
            index++;
        }
        output = ARENA_NEW(u->x->b->arena, struct property);
        if (output == NULL) {
            return too_complex(u);
        }
        *output = *made->column;
        if (!widen(u, output, leaf)) {
            return false;
        }
        output->dynamic = output->dynamic && leaf->column->dynamic;
        u->d->outputs[index] = output;
        made->column = output;
    }
    output->type.nullable = true; /* other parts may not have it */
    return add_column(u, part, output, leaf->column);
}

static bool unite_entity(struct uniting *u, size_t part, const struct leaf *leaf, struct leaf *made)
{
    const struct navigation *n = leaf->navigation;
    if (made->navigation == NULL) {
        made->navigation = n;
    }
    if (made->navigation->made != n->made) {
        return odata_error_not_implemented(
            u->x->b->err, u->x->clause->option,
            "two parts of concat that nest rows as '%.*s' are not implemented",
            STR_ARG(bind_clip(n->name)));
    }
    for (size_t i = 0; n->link != NULL && i < n->link->local_count; i++) {
        if (!add_column(u, part, n->link->local[i], n->link->local[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < n->join_count; i++) {
        if (!add_column(u, part, made->navigation->joins[i].local, n->joins[i].local)) {
            return false;
        }
    }
    return true;
}

static bool unite_leaf(struct uniting *u, size_t part, const struct leaf *leaf)
{
    struct leaf *made = find_leaf(u, leaf);
    if (made == NULL) {
        if (u->leaf_count == u->leaf_room) {
            size_t room = u->leaf_room == 0 ? 64 : u->leaf_room * 2;
            struct leaf *grown = ARENA_ARRAY(u->x->b->arena, room, struct leaf);
            if (grown == NULL) {
                return too_complex(u);
            }
            if (u->leaves != NULL) {
                memcpy(grown, u->leaves, u->leaf_count * sizeof(*grown));
            }
            u->leaves = grown;
            u->leaf_room = room;
        }
        assert(u->leaves != NULL);
        made = &u->leaves[u->leaf_count++];
        *made = (struct leaf){.path = leaf->path, .path_count = leaf->path_count};
    }
    size_t count = structures_of(u->parts[part].in);
    uint64_t own = leaf->structures == 0 ? all_of(count) : leaf->structures;
    made->structures |= own << u->d->parts[part].structure;
    if ((made->column != NULL && leaf->navigation != NULL) ||
        (made->navigation != NULL && leaf->column != NULL)) {
        return bind_fail_name(u->x->b, u->x->clause, u->offset, leaf->path[leaf->path_count - 1],
                              "is a value and an entity in what is joined");
    }
    return leaf->column != NULL ? unite_value(u, part, leaf, made)
                                : unite_entity(u, part, leaf, made);
}

/* The members of a part's rows, those of embedded entities by their paths. */
static bool unite_type(struct uniting *u, size_t part, const struct entity_type *t,
                       const struct str *path, size_t path_count)
{
    struct str *names = ARENA_ARRAY(u->x->b->arena, path_count + 1, struct str);
    for (size_t i = 0; names != NULL && i < t->property_count + t->navigation_count; i++) {
        bool value = i < t->property_count;
        const struct navigation *n = value ? NULL : &t->navigations[i - t->property_count];
        names = ARENA_ARRAY(u->x->b->arena, path_count + 1, struct str);
        if (names == NULL) {
            break;
        }
        if (path_count > 0) {
            memcpy(names, path, path_count * sizeof(*names));
        }
        names[path_count] = value ? t->properties[i].name : n->name;
        struct leaf leaf = {names, path_count + 1, value ? &t->properties[i] : NULL, n,
                            value ? t->properties[i].structures : n->structures};
        if (!value && n->embedded) {
            if (!unite_type(u, part, n->target, names, path_count + 1)) {
                return false;
            }
        } else if ((value || n->expanded) && !unite_leaf(u, part, &leaf)) {
            return false;
        }
    }
    return names != NULL || too_complex(u);
}

/* --- the whole --- */

static bool prepare_parts(struct uniting *u)
{
    size_t structures = 0;
    u->d->parts = ARENA_ARRAY(u->x->b->arena, u->count, struct derived_part);
    if (u->d->parts == NULL) {
        return too_complex(u);
    }
    u->d->part_count = u->count;
    for (size_t i = 0; i < u->count; i++) {
        const struct entity_type *t = u->parts[i].in->type;
        size_t count = structures_of(u->parts[i].in);
        if (structures + count > LIMIT_STRUCTURES) {
            return odata_error_set(u->x->b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX,
                                   u->x->clause->option, "more than %d kinds of rows",
                                   (int)LIMIT_STRUCTURES);
        }
        u->d->parts[i].source = u->parts[i].in;
        u->d->parts[i].structure = (unsigned)structures;
        if (!t->transient) {
            assert(structures < LIMIT_STRUCTURES); /* there is at least one in count */
            uint64_t own = t->identified == 0 ? all_of(count) : t->identified;
            u->identified |= own << structures;
            u->entity = t;
        }
        structures += count;
        u->d->shared = u->d->shared == NULL ? u->x->in : u->d->shared;
    }
    return true;
}

/* The order inside of a part, which the union keeps: a total one, that each page numbers alike. */
static bool keep_order(struct uniting *u, size_t part, bool *any)
{
    struct source *source = u->parts[part].in;
    const struct derived *d = source->derived;
    if (d == NULL || d->sorted_count == 0) {
        return true;
    }
    struct key key = bind_unique(source);
    size_t most = d->sorted_count + key.count;
    struct bound_order *order = ARENA_ARRAY(u->x->b->arena, most, struct bound_order);
    if (order == NULL) {
        return too_complex(u);
    }
    for (size_t i = 0; i < most; i++) {
        bool given = i < d->sorted_count;
        order[i].expr = bind_property_expr(
            u->x->b, source, given ? d->sorted[i].property : key.properties[i - d->sorted_count]);
        order[i].descending = given && d->sorted[i].descending;
        if (order[i].expr == NULL) {
            return false;
        }
    }
    u->d->parts[part].order = order;
    u->d->parts[part].order_count = most;
    *any = true;
    return true;
}

/* An output for a property of a part's key: the one of that name, unless the part has something
   else there. */
static bool unite_key(struct uniting *u, size_t part, const struct property *key, size_t *out_index)
{
    struct property *p = ARENA_NEW(u->x->b->arena, struct property);
    if (p == NULL) {
        return too_complex(u);
    }
    *p = *key;
    p->type.nullable = true;
    if (!add_output(u, p, out_index)) {
        return false;
    }
    const struct property *taken = u->d->parts[part].columns[*out_index];
    if (taken != NULL && !str_eq(taken->column, key->column)) {
        const struct bound_expr like = {
            .kind = BOUND_PROPERTY, .type = p->type, .pg = &key->pg, .nullable = true};
        struct property *other = ARENA_NEW(u->x->b->arena, struct property);
        if (other == NULL) {
            return too_complex(u);
        }
        if (!bind_new_property(u->x->b, u->entity, STR(""), &like, other) ||
            !add_output(u, other, out_index)) {
            return false;
        }
    }
    u->d->parts[part].columns[*out_index] = key;
    return true;
}

/* What tells rows apart: structure, place, and each part's own key. */
static bool unite_keys(struct uniting *u, const struct property *structure,
                       const struct property *place)
{
    struct binder *b = u->x->b;
    size_t most = 2 + u->x->partition_count;
    for (size_t i = 0; i < u->count; i++) {
        most += bind_unique(u->parts[i].in).count;
    }
    struct key *unique = ARENA_NEW(b->arena, struct key);
    struct sorted *sorted = ARENA_ARRAY(b->arena, 2, struct sorted);
    if (unique == NULL || sorted == NULL) {
        return too_complex(u);
    }
    unique->properties = ARENA_ARRAY(b->arena, most, const struct property *);
    if (unique->properties == NULL) {
        return too_complex(u);
    }
    unique->properties[unique->count++] = structure;
    unique->properties[unique->count++] = place;
    for (size_t i = 0; i < u->count; i++) {
        struct key key = bind_unique(u->parts[i].in);
        for (size_t k = 0; k < key.count; k++) {
            size_t index;
            if (!unite_key(u, i, key.properties[k], &index)) {
                return false;
            }
            const struct property *output = u->d->outputs[index];
            bool listed = false;
            for (size_t n = 0; n < unique->count; n++) {
                listed = listed || str_eq(unique->properties[n]->column, output->column);
            }
            if (!listed) {
                unique->properties[unique->count++] = output;
            }
        }
    }
    sorted[0] = (struct sorted){structure, false};
    sorted[1] = (struct sorted){place, false};
    u->d->unique = unique;
    u->d->sorted = sorted;
    u->d->sorted_count = 2;
    return true;
}

/* The navigation properties of whole entities can still be expanded. */
static bool keep_navigations(struct uniting *u, struct entity_type *t)
{
    const struct entity_type *e = u->entity;
    size_t most = t->navigation_count + e->navigation_count;
    struct navigation *all = ARENA_ARRAY(u->x->b->arena, most + 1, struct navigation);
    if (all == NULL) {
        return too_complex(u);
    }
    if (t->navigation_count > 0) {
        memcpy(all, t->navigations, t->navigation_count * sizeof(*all));
    }
    for (size_t i = 0; i < e->navigation_count; i++) {
        if (entity_type_find_navigation(t, e->navigations[i].name) == NULL) {
            all[t->navigation_count] = e->navigations[i];
            all[t->navigation_count].index = t->navigation_count;
            all[t->navigation_count].structures = u->identified;
            t->navigation_count++;
        }
    }
    t->navigations = all;
    t->key = e->key;
    t->transient = false;
    t->identified = u->identified;
    return true;
}

static struct entity_type *united_type(struct uniting *u)
{
    size_t last = u->count - 1;
    size_t total = u->d->parts[last].structure + structures_of(u->parts[last].in);
    for (size_t i = 0; i < u->leaf_count; i++) {
        if (u->leaves[i].structures == all_of(total)) {
            u->leaves[i].structures = 0;
        }
    }
    struct entity_type *t = bind_leaf_type(u->x->b, u->x->in->type, u->leaves, u->leaf_count);
    if (t == NULL || (u->entity != NULL && !keep_navigations(u, t))) {
        return NULL;
    }
    t->structure = u->d->outputs[0];
    t->structure_count = total;
    return t;
}

bool bind_union(struct applying *x, struct applying *parts, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++) {
        if (parts[i].in->wide) {
            return odata_error_not_implemented(
                x->b->err, x->clause->option,
                "concat of entities that may be of derived types is not implemented");
        }
    }
    struct uniting u = {.x = x, .parts = parts, .count = count, .offset = offset};
    u.d = ARENA_NEW(x->b->arena, struct derived);
    if (u.d == NULL) {
        return too_complex(&u);
    }
    u.d->kind = DERIVED_UNION;
    if (!prepare_parts(&u)) {
        return false;
    }
    const struct property *structure = new_number(&u);
    const struct property *place = structure == NULL ? NULL : new_number(&u);
    bool ordered = false;
    if (place == NULL) {
        return false;
    }
    /* Whole entities first: their columns keep their names, for their keys and navigation. */
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            if (parts[i].in->type->transient == (pass == 1) &&
                !unite_type(&u, i, parts[i].in->type, NULL, 0)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < x->partition_count; k++) {
            if (!add_column(&u, i, x->partition[k], x->partition[k])) {
                return false;
            }
        }
        if (!keep_order(&u, i, &ordered)) {
            return false;
        }
    }
    if (!unite_keys(&u, structure, place)) {
        return false;
    }
    struct entity_type *type = united_type(&u);
    u.d->hidden = u.d->outputs;
    u.d->hidden_count = u.d->output_count;
    u.d->repeats = true;
    return type != NULL && bind_derived(x, u.d, type);
}

bool bind_concat(struct applying *x, const struct transformation *t)
{
    struct applying *parts = ARENA_ARRAY(x->b->arena, t->part_count, struct applying);
    if (parts == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    for (size_t i = 0; i < t->part_count; i++) {
        parts[i] = *x;
        parts[i].in = bind_again(x->b, x->in);
        if (parts[i].in == NULL || !bind_sequence(&parts[i], t->parts[i])) {
            return false;
        }
    }
    return bind_union(x, parts, t->part_count, t->offset);
}

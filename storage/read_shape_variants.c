// SPDX-License-Identifier: Apache-2.0
/* Rows that differ in their members: a shape for each structure or type that they can have. */
#include "storage/sql_read_priv.h"

/* Which variant a member must be in. */
struct variety {
    uint64_t structure; /* a bit, or 0 */
    unsigned kind;
};

static bool is_in(const struct member *m, struct variety v)
{
    return (m->structures == 0 || v.structure == 0 || (m->structures & v.structure) != 0) &&
           (m->kinds_end == 0 || (v.kind >= m->kinds_from && v.kind < m->kinds_end));
}

static bool vary(struct reading *r, const struct shape *all, struct variety v, struct shape *out)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        count += is_in(&all->members[i], v);
    }
    struct member *members = ARENA_ARRAY(r->arena, count, struct member);
    if (members == NULL && count > 0) {
        return arena_fail(r->arena, r->err);
    }
    out->members = members;
    for (size_t i = 0; i < all->count; i++) {
        if (!is_in(&all->members[i], v)) {
            continue;
        }
        struct member *m = &members[out->count++];
        *m = all->members[i];
        if (m->kind == MEMBER_OBJECT && v.structure != 0) {
            struct shape *inner = ARENA_NEW(r->arena, struct shape);
            if (inner == NULL) {
                return arena_fail(r->arena, r->err);
            }
            if (!vary(r, m->shape, v, inner)) {
                return false;
            }
            m->shape = inner;
        }
    }
    return true;
}

static bool name_kinds(struct reading *r, const struct entity_type *type, size_t count,
                       const struct str **out)
{
    struct str *names = ARENA_ARRAY(r->arena, count, struct str);
    for (size_t i = 0; i < count; i++) {
        const struct entity_type *t = type->tree->types[type->number + i];
        if (names == NULL || !arena_format(r->arena, &names[i], "%.*s.%.*s", STR_ARG(t->namespace),
                                           STR_ARG(t->name))) {
            return arena_fail(r->arena, r->err);
        }
    }
    *out = names;
    return true;
}

bool read_shape_variants(struct reading *r, const struct source *rows, bool ref_only,
                         struct columns *columns, const struct shape **io_shape)
{
    const struct entity_type *type = rows->type;
    const bool wide = rows->wide && !ref_only;
    const size_t count = wide ? type->last - type->number + 1 : type->structure_count;
    if (!wide && type->structure == NULL) {
        return true;
    }
    struct shape *shape = ARENA_NEW(r->arena, struct shape);
    struct shape *variants = ARENA_ARRAY(r->arena, count, struct shape);
    if (shape == NULL || variants == NULL) {
        return arena_fail(r->arena, r->err);
    }
    *shape = **io_shape;
    if (wide && !name_kinds(r, type, count, &shape->kind_names)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct variety v = {wide ? 0 : UINT64_C(1) << i, wide ? (unsigned)i : 0};
        if (!vary(r, shape, v, &variants[i])) {
            return false;
        }
    }
    shape->variants = variants;
    shape->variant_count = count;
    *io_shape = shape;
    return columns_add_property(r, columns, rows, wide ? &type->tree->kind : type->structure,
                                &shape->variant_field);
}

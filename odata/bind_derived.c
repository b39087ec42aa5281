// SPDX-License-Identifier: Apache-2.0
/* Types and sources that are made for one request. */
#include <string.h>

#include "odata/bind_priv.h"
#include "odata/derived.h"

static bool is_column(const struct entity_type *t, struct str name)
{
    for (size_t i = 0; i < t->property_count; i++) {
        if (str_eq(t->properties[i].column, name)) {
            return true;
        }
    }
    return false;
}

bool bind_new_property(struct binder *b, const struct entity_type *beside, struct str name,
                       const struct bound_expr *value, struct property *out)
{
    struct str column;
    do {
        if (!arena_format(b->arena, &column, "c%u", b->next_column++)) {
            return odata_error_too_complex(b->err);
        }
    } while (beside != NULL && is_column(beside, column));
    *out = (struct property){.name = name, .column = column, .type = value->type, .dynamic = true};
    out->description = STR("");
    out->pg.cast = STR("");
    out->type.nullable = value->nullable || value->type.nullable;
    if (value->kind == BOUND_PROPERTY && value->pg != NULL) {
        out->pg = *value->pg; /* it is passed on as it is stored */
    }
    return true;
}

bool bind_check_alias(struct binder *b, const struct clause *c, const struct entity_type *t,
                      struct str alias, size_t offset)
{
    if (entity_type_find_property(t, alias) != NULL ||
        entity_type_find_navigation(t, alias) != NULL) {
        return bind_fail_name(b, c, offset, alias, "is a name of %.*s already",
                              STR_ARG(bind_clip(t->name)));
    }
    return true;
}

bool bind_check_value(struct binder *b, const struct clause *c, const struct expr *e,
                      const struct bound_expr *value)
{
    if (value->type.type == EDM_NONE) {
        return bind_fail(b, c, e->offset, "null alone has no type");
    }
    if (value->type.type == EDM_ENTITY) {
        return bind_fail(b, c, e->offset, "an entity is no value");
    }
    if (value->kind != BOUND_PROPERTY &&
        (value->type.collection || value->type.type == EDM_COMPLEX)) {
        return odata_error_not_implemented(b->err, c->option, "a computed %.*s is not implemented",
                                           STR_ARG(bind_type_name(b, &value->type)));
    }
    return true;
}

/* The key's properties, in the copies that a new type has of them. */
static bool copy_key(struct binder *b, const struct entity_type *from, struct entity_type *to)
{
    to->key.properties = ARENA_ARRAY(b->arena, from->key.count, const struct property *);
    if (to->key.properties == NULL && from->key.count > 0) {
        return odata_error_too_complex(b->err);
    }
    for (size_t i = 0; i < from->key.count; i++) {
        const struct property *p = from->key.properties[i];
        bool shown = p >= from->properties && p < from->properties + from->property_count;
        to->key.properties[i] = shown ? &to->properties[p - from->properties] : p;
    }
    return true;
}

const struct entity_type *bind_extend_type(struct binder *b, const struct entity_type *from,
                                           const struct property *more, size_t count)
{
    struct entity_type *t = ARENA_NEW(b->arena, struct entity_type);
    if (t == NULL) {
        odata_error_too_complex(b->err);
        return NULL;
    }
    *t = *from;
    t->property_count = from->property_count + count;
    t->properties = ARENA_ARRAY(b->arena, t->property_count, struct property);
    if (t->properties == NULL) {
        odata_error_too_complex(b->err);
        return NULL;
    }
    if (from->property_count > 0) {
        memcpy(t->properties, from->properties, from->property_count * sizeof(*more));
    }
    for (size_t i = 0; i < count; i++) {
        t->properties[from->property_count + i] = more[i];
        t->properties[from->property_count + i].index = from->property_count + i;
    }
    t->property_hash = NULL; /* a type made for a request is searched from end to end */
    t->property_hash_size = 0;
    return copy_key(b, from, t) ? t : NULL;
}

bool bind_pass_all(struct binder *b, const struct entity_type *t, struct derived *d)
{
    d->passed = ARENA_ARRAY(b->arena, t->property_count, const struct property *);
    if (d->passed == NULL && t->property_count > 0) {
        return odata_error_too_complex(b->err);
    }
    for (size_t i = 0; i < t->property_count; i++) {
        d->passed[d->passed_count++] = &t->properties[i];
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"

/* What $select has named so far. */
struct selecting {
    struct binder *b;
    const struct entity_type *type;
    bool *properties; /* by index */
    struct selection *out;
};

static bool select_property(struct selecting *s, const struct select_item *item, size_t at)
{
    struct str name = item->path[at];
    const struct property *p = entity_type_find_property(s->type, name);
    if (p == NULL) {
        return bind_fail_unknown(s->b, &clause_select, item->offset, s->type, name, false);
    }
    if (at + 1 < item->path_count) {
        return p->type.type == EDM_COMPLEX
                   ? odata_error_not_implemented(s->b->err, "$select",
                                                 "selecting a part of '%.*s' is not implemented",
                                                 STR_ARG(bind_clip(name)))
                   : bind_fail_name(s->b, &clause_select, item->offset, name, "has no parts");
    }
    s->properties[p->index] = true;
    return true;
}

static bool select_item(struct selecting *s, const struct select_item *item)
{
    size_t at = 0;
    while (at + 1 < item->path_count && bind_is_own_type(s->b, item->path[at], s->type)) {
        at++;
    }
    struct str name = item->path[at];
    if (item->options != NULL) {
        return odata_error_not_implemented(s->b->err, "$select",
                                           "options inside $select are not implemented");
    }
    if (str_eq(name, STR("*"))) {
        for (size_t i = 0; i < s->type->property_count; i++) {
            s->properties[i] = true;
        }
        return true;
    }
    if (str_ends_with(name, STR(".*"))) {
        return true; /* the operations of a namespace: there are none */
    }
    const struct navigation *n = entity_type_find_navigation(s->type, name);
    if (n == NULL) {
        return select_property(s, item, at);
    }
    if (at + 1 < item->path_count) {
        bind_fail_name(s->b, &clause_select, item->offset, name,
                       "is a navigation property: its parts are selected in $expand");
        return at + 2 == item->path_count &&
               odata_error_hint(s->b->err, "write $expand=%.*s($select=%.*s)",
                                STR_ARG(bind_clip(name)), STR_ARG(bind_clip(item->path[at + 1])));
    }
    s->out->links[s->out->link_count++] = n;
    return true;
}

struct selection *bind_selection(struct binder *b, struct source *source, const struct query *q)
{
    const struct entity_type *type = source->type;
    struct selecting s = {.b = b, .type = type};
    s.out = ARENA_NEW(b->arena, struct selection);
    s.properties = ARENA_ARRAY(b->arena, type->property_count, bool);
    if (s.out == NULL || s.properties == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    s.out->properties = ARENA_ARRAY(b->arena, type->property_count, const struct property *);
    s.out->links =
        ARENA_ARRAY(b->arena, q == NULL ? 0 : q->select_count, const struct navigation *);
    if (s.out->properties == NULL || (s.out->links == NULL && q != NULL && q->select_count > 0)) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    bool all = q == NULL || !q->has_select;
    s.out->all_links = all;
    for (size_t i = 0; !all && i < q->select_count; i++) {
        if (!select_item(&s, &q->select[i])) {
            return NULL;
        }
    }
    for (size_t i = 0; i < type->property_count; i++) {
        if (all || s.properties[i]) {
            s.out->properties[s.out->property_count++] = &type->properties[i];
        }
    }
    return s.out;
}

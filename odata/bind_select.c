// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"

/* What $select has named so far. */
struct selecting {
    struct binder *b;
    struct source *source;
    const struct entity_type *type;
    bool *properties; /* by index */
    struct selection *out;
};

/* Tags($filter=...;$top=2): what is read of a collection of values (URL Conventions 5.1.4). */
static bool select_values(struct selecting *s, const struct select_item *item,
                          const struct property *p)
{
    struct binder *b = s->b;
    const struct query *q = item->options;
    if (!p->type.collection) {
        return p->type.type == EDM_COMPLEX
                   ? odata_error_not_implemented(b->err, "$select",
                                                 "options of '%.*s' in $select are not implemented",
                                                 STR_ARG(bind_clip(p->name)))
                   : bind_fail_name(b, &clause_select, item->offset, p->name, "has no options");
    }
    if (s->out->values == NULL) {
        s->out->values = ARENA_ARRAY(b->arena, s->type->property_count, struct selected_values);
        if (s->out->values == NULL) {
            return arena_fail(b->arena, b->err);
        }
    }
    struct selected_values *values = &s->out->values[p->index];
    if (values->value != NULL || values->count != NULL) {
        return bind_fail_name(b, &clause_select, item->offset, p->name, "has options twice");
    }
    const struct bound_expr *whole = bind_property_expr(b, s->source, p);
    if (whole == NULL || !bind_values_options(b, s->source, whole, q, false, values)) {
        return false;
    }
    if (!q->has_count || !q->count) {
        values->count = NULL;
    }
    return true;
}

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
    return item->options == NULL || select_values(s, item, p);
}

static bool select_item(struct selecting *s, const struct select_item *item)
{
    size_t at = 0;
    while (at + 1 < item->path_count && bind_is_own_type(s->b, item->path[at], s->type)) {
        at++;
    }
    struct str name = item->path[at];
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
    if (n != NULL && item->options != NULL) {
        bind_fail_name(s->b, &clause_select, item->offset, name,
                       "is a navigation property: its options stand in $expand");
        return false;
    }
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
    struct selecting s = {.b = b, .source = source, .type = type};
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

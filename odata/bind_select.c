// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"
#include "odata/limits.h"

/* What $select has named so far. */
struct selecting {
    struct binder *b;
    struct source *source;
    const struct entity_type *type;
    bool *properties; /* by index */
    bool *whole;      /* by index: it was named without a part of it */
    struct selection *out;
};

/* Room for what is said about single properties. */
static struct selected_values *values_of(struct selecting *s, const struct property *p)
{
    if (s->out->values == NULL) {
        s->out->values = ARENA_ARRAY(s->b->arena, s->type->property_count, struct selected_values);
    }
    if (s->out->values == NULL) {
        arena_fail(s->b->arena, s->b->err);
        return NULL;
    }
    return &s->out->values[p->index];
}

/* Tags($filter=...;$top=2): what is read of a collection of values (URL Conventions 5.1.4). */
static bool select_values(struct selecting *s, const struct select_item *item,
                          const struct property *p)
{
    struct binder *b = s->b;
    const struct query *q = item->options;
    struct selected_values *values = values_of(s, p);
    if (values == NULL) {
        return false;
    }
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

/* One part in the list: the one that is there, or a new one. */
static struct selected_part *find_part(struct selecting *s, struct selected_part **list,
                                       const struct bound_expr *whole, const struct property *p)
{
    while (*list != NULL && (*list)->property != p) {
        list = &(*list)->next;
    }
    if (*list == NULL) {
        struct selected_part *made = ARENA_NEW(s->b->arena, struct selected_part);
        const struct bound_expr *value = bind_part_expr(s->b, whole, p);
        if (made == NULL || value == NULL) {
            arena_fail(s->b->arena, s->b->err);
            return NULL;
        }
        made->property = p;
        made->value = value;
        *list = made;
    }
    return *list;
}

/* What is selected inside of a complex value: the rest of a path, or a $select in parentheses. */
struct inside {
    const struct select_item *item; /* for the byte of errors */
    const struct str *path;
    size_t path_count;
    const struct query *options; /* or NULL */
    size_t depth;
};

static bool is_complex(const struct type_ref *t)
{
    return t->type == EDM_COMPLEX && !t->collection;
}

static bool select_inside(struct selecting *s, const struct inside *in,
                          const struct bound_expr *whole, bool *out_whole,
                          struct selected_part **list);

static bool select_part(struct selecting *s, const struct inside *in,
                        const struct bound_expr *whole, struct selected_part **list)
{
    const struct complex_type *type = whole->type.complex_type;
    struct inside rest = *in;
    while (rest.path_count > 1 && model_find_complex(s->b->options->model, rest.path[0]) == type) {
        rest.path++;
        rest.path_count--;
    }
    struct str name = rest.path[0];
    const struct property *p = complex_type_find_property(type, name);
    if (p == NULL) {
        return bind_fail(s->b, &clause_select, in->item->offset, "unknown property '%.*s' of %.*s",
                         STR_ARG(bind_clip(name)), STR_ARG(bind_clip(type->name)));
    }
    if ((rest.path_count > 1 || rest.options != NULL) && !is_complex(&p->type)) {
        return p->type.collection
                   ? odata_error_not_implemented(s->b->err, "$select",
                                                 "options of '%.*s' in $select are not implemented",
                                                 STR_ARG(bind_clip(name)))
                   : bind_fail_name(s->b, &clause_select, in->item->offset, name, "has no parts");
    }
    struct selected_part *part = find_part(s, list, whole, p);
    if (part == NULL) {
        return false;
    }
    rest.path++;
    rest.path_count--;
    rest.depth++;
    return select_inside(s, &rest, part->value, &part->whole, &part->parts);
}

static bool select_inside(struct selecting *s, const struct inside *in,
                          const struct bound_expr *whole, bool *out_whole,
                          struct selected_part **list)
{
    if (in->depth >= LIMIT_VALUE_DEPTH) {
        return odata_error_set(s->b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "$select",
                               "$select is nested deeper than %d", (int)LIMIT_VALUE_DEPTH);
    }
    if (in->path_count > 0) {
        return select_part(s, in, whole, list);
    }
    const struct query *q = in->options;
    if (q == NULL) {
        *out_whole = true;
        return true;
    }
    if (!q->has_select || q->has_expand || q->compute_count > 0 || q->aliases != NULL) {
        return odata_error_not_implemented(
            s->b->err, "$select",
            "other options of a complex value than $select are not implemented");
    }
    if (q->filter != NULL || q->orderby_count > 0 || q->has_top || q->has_skip || q->has_count ||
        q->search.given) {
        return bind_fail(s->b, &clause_select, in->item->offset,
                         "options of a collection do not fit a single value");
    }
    for (size_t i = 0; i < q->select_count; i++) {
        const struct select_item *nested = &q->select[i];
        if (nested->path_count == 1 && str_eq(nested->path[0], STR("*"))) {
            *out_whole = true;
            continue;
        }
        const struct inside below = {nested, nested->path, nested->path_count, nested->options,
                                     in->depth};
        if (!select_part(s, &below, whole, list)) {
            return false;
        }
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
    s->properties[p->index] = true;
    bool last = at + 1 == item->path_count;
    if (last && item->options == NULL) {
        s->whole[p->index] = true;
        return true;
    }
    if (last && p->type.collection) {
        return select_values(s, item, p);
    }
    if (!is_complex(&p->type)) {
        return bind_fail_name(s->b, &clause_select, item->offset, name,
                              last ? "has no options" : "has no parts");
    }
    struct selected_values *values = values_of(s, p);
    const struct bound_expr *whole = bind_property_expr(s->b, s->source, p);
    const struct inside in = {item, item->path + at + 1, item->path_count - at - 1, item->options,
                              0};
    return values != NULL && whole != NULL &&
           select_inside(s, &in, whole, &s->whole[p->index], &values->parts);
}

/* The derived type that an item casts to, or NULL; *out_at is the name behind all casts. */
static const struct entity_type *cast_of(const struct selecting *s, const struct select_item *item,
                                         size_t *out_at)
{
    *out_at = 0;
    const struct entity_type *type =
        bind_skip_casts(s->b, item->path, item->path_count, s->type, out_at);
    return type == s->type ? NULL : type;
}

static bool select_item(struct selecting *s, const struct select_item *item)
{
    size_t at;
    if (cast_of(s, item, &at) != NULL) {
        return true; /* select_casts() */
    }
    struct str name = item->path[at];
    if (str_eq(name, STR("*"))) {
        for (size_t i = 0; i < s->type->property_count; i++) {
            s->properties[i] = true;
            s->whole[i] = true;
        }
        s->out->all_derived = true;
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

struct cast_selection *bind_cast_selection(struct binder *b, struct source *source,
                                           const struct entity_type *type,
                                           struct selection *selection)
{
    struct cast_selection **at = &selection->casts;
    while (*at != NULL && (*at)->source->type->number < type->number) {
        at = &(*at)->next;
    }
    if (*at != NULL && (*at)->source->type == type) {
        return *at;
    }
    struct cast_selection *made = ARENA_NEW(b->arena, struct cast_selection);
    if (made != NULL) {
        made->selection = ARENA_NEW(b->arena, struct selection);
    }
    if (made == NULL || made->selection == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    made->source = bind_source_cast(b, source, type, false);
    made->next = *at;
    *at = made;
    return made->source == NULL ? NULL : made;
}

/* Moves the items that cast to the type of the first one that is not done to `items`. */
static const struct entity_type *take_casts(const struct selecting *s, const struct query *q,
                                            bool *done, struct select_item *items,
                                            size_t *out_count)
{
    const struct entity_type *type = NULL;
    *out_count = 0;
    for (size_t i = 0; i < q->select_count; i++) {
        size_t at;
        const struct entity_type *cast = done[i] ? NULL : cast_of(s, &q->select[i], &at);
        if (cast == NULL || (type != NULL && cast != type)) {
            continue;
        }
        type = cast;
        done[i] = true;
        items[*out_count] = q->select[i];
        items[*out_count].path += at;
        items[(*out_count)++].path_count -= at;
    }
    return type;
}

/* The items of $select that go through a cast, those of one type together: Ns.Dog/Breed. */
static bool select_casts(struct selecting *s, const struct query *q)
{
    struct binder *b = s->b;
    bool *done = ARENA_ARRAY(b->arena, q->select_count, bool);
    if (done == NULL) {
        return q->select_count == 0 || arena_fail(b->arena, b->err);
    }
    for (;;) {
        size_t count;
        struct select_item *items = ARENA_ARRAY(b->arena, q->select_count, struct select_item);
        if (items == NULL) {
            return arena_fail(b->arena, b->err);
        }
        const struct entity_type *type = take_casts(s, q, done, items, &count);
        if (type == NULL) {
            return true;
        }
        const struct query some = {.has_select = true, .select = items, .select_count = count};
        struct cast_selection *cast = bind_cast_selection(b, s->source, type, s->out);
        if (cast == NULL) {
            return false;
        }
        cast->selection = bind_selection(b, cast->source, &some);
        if (cast->selection == NULL) {
            return false;
        }
    }
}

struct selection *bind_selection(struct binder *b, struct source *source, const struct query *q)
{
    const struct entity_type *type = source->type;
    struct selecting s = {.b = b, .source = source, .type = type};
    s.out = ARENA_NEW(b->arena, struct selection);
    s.properties = ARENA_ARRAY(b->arena, type->property_count, bool);
    s.whole = ARENA_ARRAY(b->arena, type->property_count, bool);
    if (s.out == NULL || s.properties == NULL || s.whole == NULL) {
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
    s.out->all_derived = all;
    for (size_t i = 0; !all && i < q->select_count; i++) {
        if (!select_item(&s, &q->select[i])) {
            return NULL;
        }
    }
    if (!all && entity_type_has_derived(type) && !select_casts(&s, q)) {
        return NULL;
    }
    for (size_t i = 0; i < type->property_count; i++) {
        if (s.out->values != NULL && s.whole[i]) {
            s.out->values[i].parts = NULL; /* Address,Address/City: all of it */
        }
        if (all || s.properties[i]) {
            s.out->properties[s.out->property_count++] = &type->properties[i];
        }
    }
    return s.out;
}

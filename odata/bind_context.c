// SPDX-License-Identifier: Apache-2.0
#include "odata/apply.h"
#include "odata/bind_priv.h"
#include "odata/limits.h"

/* Percent-encodes what is no unreserved character (RFC 3986) nor one of `keep`. */
static void put_encoded(struct bytes *out, struct str text, const char *keep)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        for (const char *k = keep; !plain && *k != '\0'; k++) {
            plain = *k == c;
        }
        if (plain) {
            bytes_put_char(out, c);
        } else {
            bytes_put_char(out, '%');
            bytes_put_char(out, digits[(unsigned char)c >> 4]);
            bytes_put_char(out, digits[(unsigned char)c & 15]);
        }
    }
}

static void put_name(struct bytes *out, struct str name)
{
    put_encoded(out, name, "*");
}

static void put_quoted(struct bytes *out, struct str text)
{
    bytes_put_char(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        put_encoded(out, str_slice(text, i, i + 1), "");
        if (text.ptr[i] == '\'') {
            BYTES_PUT_LITERAL(out, "%27");
        }
    }
    bytes_put_char(out, '\'');
}

/* A key value as a URL literal. */
static void put_value(struct bytes *out, const struct bound_expr *value)
{
    const struct enum_type *e = value->type.enum_type;
    if (value->type.type == EDM_STRING) {
        put_quoted(out, value->text);
    } else if (value->type.type == EDM_ENUM) {
        put_name(out, e->namespace);
        bytes_put_char(out, '.');
        put_name(out, e->name);
        put_quoted(out, value->text);
    } else if (value->type.type == EDM_DURATION) {
        BYTES_PUT_LITERAL(out, "duration");
        put_quoted(out, value->text);
    } else {
        /* PostgreSQL's form of an instant has a blank where OData has a T. */
        for (size_t i = 0; i < value->text.len; i++) {
            struct str c = str_slice(value->text, i, i + 1);
            put_encoded(out, c.ptr[0] == ' ' ? STR("T") : c, "");
        }
    }
}

static void put_key(struct bytes *out, const struct path_step *step)
{
    bytes_put_char(out, '(');
    bool named = step->key_count > 1 ||
                 step->key_properties[0] != step->source->type->key.properties[0] ||
                 step->source->type->key.count > 1;
    for (size_t i = 0; i < step->key_count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        if (named) {
            put_name(out, step->key_properties[i]->name);
            bytes_put_char(out, '=');
        }
        put_value(out, step->key_values[i]);
    }
    bytes_put_char(out, ')');
}

static bool is_listed(const struct query *q, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        const struct select_item *a = &q->select[i];
        const struct select_item *b = &q->select[at];
        bool same = a->path_count == b->path_count;
        for (size_t k = 0; same && k < a->path_count; k++) {
            same = str_eq(a->path[k], b->path[k]);
        }
        if (same) {
            return true;
        }
    }
    return false;
}

/* What starts a list item: `(` for the first one. */
static void put_separator(struct bytes *out, bool *any)
{
    bytes_put_char(out, *any ? ',' : '(');
    *any = true;
}

static void put_select_list(struct binder *b, struct bytes *out, const struct query *q,
                            const struct selection *selection);
static void put_applied_list(struct binder *b, struct bytes *out, const struct query *q,
                             const struct read *read);

/* The rows of an expanded collection for which $apply is an option of its own, or NULL. */
static const struct read *find_applied(const struct selection *selection, const struct query *q,
                                       struct str name)
{
    const struct expansion *x = selection == NULL ? NULL : selection->expansions;
    while (x != NULL && !str_eq(x->navigation->name, name)) {
        x = x->next;
    }
    return x != NULL && q != NULL && q->apply != NULL ? x->read : NULL;
}

static const struct selection *find_selection(const struct selection *selection, struct str name)
{
    const struct expansion *x = selection == NULL ? NULL : selection->expansions;
    while (x != NULL && !str_eq(x->navigation->name, name)) {
        x = x->next;
    }
    return x == NULL ? NULL : x->selection;
}

/*
 * An expanded navigation: `Nav(nested list)`, with a plus when it is recursive. In 4.0 one without a
 * nested list is left out (Protocol 10.10: it MAY be), since 4.0 clients trip over `Nav()`.
 */
static void put_expand(struct binder *b, struct bytes *out, const struct expand_item *item,
                       const struct selection *selection, bool *any)
{
    const struct query *nested = item->options;
    struct str name = item->path[item->path_count - 1];
    const struct read *applied = find_applied(selection, nested, name);
    bool has_list = nested != NULL && (nested->has_select || nested->has_expand ||
                                       nested->compute_count > 0 || applied != NULL);
    bool old = b->options->format.version == ODATA_4_0;
    if (item->count || str_eq(name, STR("*")) || (old && (!has_list || item->ref))) {
        return;
    }
    put_separator(out, any);
    for (size_t i = 0; i < item->path_count; i++) {
        bytes_put_str(out, i > 0 ? STR("/") : STR(""));
        put_name(out, item->path[i]);
    }
    if (item->ref) {
        BYTES_PUT_LITERAL(out, "/$ref");
        return;
    }
    if (nested != NULL && nested->has_levels) {
        bytes_put_char(out, '+');
    }
    size_t before = out->len;
    if (applied != NULL) {
        put_applied_list(b, out, nested, applied);
    } else if (has_list) {
        put_select_list(b, out, nested, find_selection(selection, name));
    }
    if (out->len == before) {
        BYTES_PUT_LITERAL(out, "()");
    }
}

/* The items of $select, each once. */
/* The path of an item, and of those around it. */
struct select_path {
    const struct select_item *item;
    const struct select_path *outer;
};

static void put_select_path(struct bytes *out, const struct select_path *p)
{
    if (p->outer != NULL) {
        put_select_path(out, p->outer);
    }
    for (size_t k = 0; k < p->item->path_count; k++) {
        bool star = p->outer != NULL && str_eq(p->item->path[k], STR("*"));
        if (!star && (k > 0 || p->outer != NULL)) {
            bytes_put_char(out, '/');
        }
        if (!star) { /* all of what stands before it */
            put_name(out, p->item->path[k]);
        }
    }
}

/* What is selected inside of a complex value is a path each: Address/City. */
static void put_select_item(struct bytes *out, const struct select_path *p, bool *any)
{
    const struct query *inside = p->item->options;
    if (inside == NULL || !inside->has_select) {
        put_separator(out, any);
        put_select_path(out, p);
        return;
    }
    for (size_t i = 0; i < inside->select_count; i++) {
        const struct select_path below = {&inside->select[i], p};
        put_select_item(out, &below, any);
    }
}

static void put_selected(struct bytes *out, const struct query *q, bool *any)
{
    for (size_t i = 0; i < q->select_count; i++) {
        const struct select_path path = {&q->select[i], NULL};
        if (q->select[i].options != NULL || !is_listed(q, i)) {
            put_select_item(out, &path, any);
        }
    }
}

static void put_select_list(struct binder *b, struct bytes *out, const struct query *q,
                            const struct selection *selection)
{
    bool any = false;
    if (!q->has_select && q->compute_count > 0) {
        put_separator(out, &any);
        bytes_put_char(out, '*');
        for (size_t i = 0; i < q->compute_count; i++) {
            put_separator(out, &any);
            put_name(out, q->compute[i].alias);
        }
    }
    put_selected(out, q, &any);
    for (size_t i = 0; i < q->expand_count; i++) {
        put_expand(b, out, &q->expand[i], selection, &any);
    }
    if (any) {
        bytes_put_char(out, ')');
    }
}

/* The members that a type made by $apply has in all of its rows. */
static void put_type_list(struct bytes *out, const struct query *q, const struct entity_type *t,
                          bool *any)
{
    bool all = t->transient || t->structure != NULL;
    for (size_t i = 0; !q->has_select && i < t->property_count; i++) {
        const struct property *p = &t->properties[i];
        if ((!all && !p->dynamic) || p->structures != 0) {
            continue;
        }
        if (!all && !*any) {
            put_separator(out, any);
            bytes_put_char(out, '*');
        }
        put_separator(out, any);
        put_name(out, p->name);
    }
    for (size_t i = 0; !q->has_expand && i < t->navigation_count; i++) {
        static const struct query none;
        const struct navigation *n = &t->navigations[i];
        bool inside = false;
        if (!n->expanded || n->structures != 0) {
            continue;
        }
        put_separator(out, any);
        put_name(out, n->name);
        if (n->embedded) {
            put_type_list(out, &none, n->target, &inside);
        }
        bytes_put_str(out, inside ? STR(")") : STR("()"));
    }
}

/* The same with what $select and $expand say about it (Data Aggregation 3.1.1). */
static void put_applied_list(struct binder *b, struct bytes *out, const struct query *q,
                             const struct read *read)
{
    const struct entity_type *t = read->source->type;
    bool any = false;
    put_selected(out, q, &any);
    put_type_list(out, q, t, &any);
    for (size_t i = 0; i < q->expand_count; i++) {
        put_expand(b, out, &q->expand[i], read->selection, &any);
    }
    if (!any && t->structure != NULL) {
        put_separator(out, &any);
        BYTES_PUT_LITERAL(out, "@Core.AnyStructure");
    }
    if (any) {
        bytes_put_char(out, ')');
    }
}

/* The entity set of a source, and the type when a cast has led to another one than the set's. */
static void put_set(struct bytes *out, const struct source *source)
{
    put_name(out, source_set(source)->name);
}

static void put_cast(struct bytes *out, const struct source *source)
{
    if (source->set != NULL && !entity_type_is(source->set->type, source->type)) {
        bytes_put_char(out, '/');
        put_name(out, source->type->namespace);
        bytes_put_char(out, '.');
        put_name(out, source->type->name);
    }
}

/* Products(1)/Name: from the entity set when the entity's key is known, else the path as it came. */
static void put_property_path(struct bytes *out, const struct bound_path *path)
{
    const struct read *read = path->read;
    size_t from = read->step_count - 1;
    if (read->steps[from].key_count < read->steps[from].source->type->key.count) {
        from = 0;
    }
    for (size_t i = from; i < read->step_count; i++) {
        const struct path_step *step = &read->steps[i];
        if (i > from) {
            bytes_put_char(out, '/');
        }
        if (i == from) {
            put_set(out, step->source);
        } else {
            put_name(out, step->via->name);
        }
        if (step->key_count > 0) {
            put_key(out, step);
        }
        put_cast(out, step->source);
    }
    bytes_put_char(out, '/');
    put_name(out, read->value->property->name);
    for (size_t i = 0; i < read->value->part_count; i++) {
        bytes_put_char(out, '/');
        put_name(out, read->value->parts[i]->name);
    }
}

static void put_fragment(struct binder *b, struct bytes *out, const struct bound_path *path,
                         const struct query *q)
{
    switch (path->kind) {
    case PLAN_PROPERTY:
        put_property_path(out, path);
        break;
    case PLAN_COLLECTION:
    case PLAN_ENTITY:
        if (path->ref) {
            bytes_put_str(out, path->kind == PLAN_ENTITY ? STR("$ref") : STR("Collection($ref)"));
            break;
        }
        if (path->read->type->crossjoin) {
            BYTES_PUT_LITERAL(out, "Collection(Edm.ComplexType)");
            break;
        }
        put_set(out, path->read->source);
        put_cast(out, path->read->source);
        if (q->apply != NULL) {
            put_applied_list(b, out, q, path->read);
        } else {
            put_select_list(b, out, q, path->read->selection);
        }
        if (path->kind == PLAN_ENTITY) {
            BYTES_PUT_LITERAL(out, "/$entity");
        }
        break;
    case PLAN_SERVICE_DOCUMENT:
    case PLAN_METADATA:
    case PLAN_RAW_VALUE:
    case PLAN_COUNT:
        break;
    }
}

static bool keep_fragment(struct binder *b, struct bytes *text, struct str *out_fragment)
{
    bool ok = bytes_failed(text) ? bytes_fail(text, b->err)
                                 : arena_copy(b->arena, bytes_str(text), out_fragment) ||
                                       arena_fail(b->arena, b->err);
    bytes_fini(text);
    return ok;
}

bool bind_rows_context(struct binder *b, const struct read *read, const struct query *q,
                       struct str *out_fragment)
{
    struct bytes text;
    bytes_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    put_name(&text, read->type->set->name);
    put_applied_list(b, &text, q, read);
    return keep_fragment(b, &text, out_fragment);
}

bool bind_context(struct binder *b, const struct bound_path *path, const struct query *q,
                  struct str *out_fragment)
{
    struct bytes text;
    bytes_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    put_fragment(b, &text, path, q);
    return keep_fragment(b, &text, out_fragment);
}

// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>

#include "odata/bind_priv.h"

const struct clause clause_path = {"", ODATA_CODE_BAD_PATH, NULL};
const struct clause clause_filter = {"$filter", ODATA_CODE_BAD_FILTER, NULL};
const struct clause clause_path_filter = {"", ODATA_CODE_BAD_FILTER, "the segment $filter(...)"};
const struct clause clause_orderby = {"$orderby", ODATA_CODE_BAD_ORDERBY, NULL};
const struct clause clause_select = {"$select", ODATA_CODE_BAD_SELECT, NULL};
const struct clause clause_expand = {"$expand", ODATA_CODE_BAD_EXPAND, NULL};
const struct clause clause_compute = {"$compute", ODATA_CODE_BAD_COMPUTE, NULL};
const struct clause clause_apply = {"$apply", ODATA_CODE_BAD_APPLY, NULL};
const struct clause clause_search = {"$search", ODATA_CODE_BAD_SEARCH, NULL};

enum {
    /* Longest name quoted in a message: two of them and the sentence fit into the error. */
    CLIP_BYTES = 60,
};

struct source *bind_source_new(struct binder *b, const struct entity_type *type)
{
    struct source *s = ARENA_NEW(b->arena, struct source);
    if (s == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    s->type = type;
    s->root = s;
    s->number = b->next_number++;
    s->wide = entity_type_has_derived(type);
    return s;
}

/* Rows of derived types are not what a foreign key leads to. */
static struct source *mark_exact(struct source *s, const struct navigation *via)
{
    if (s != NULL && navigation_is_exact(via)) {
        s->wide = false;
        s->exact = true;
    }
    return s;
}

void bind_source_like(struct source *to, const struct source *from)
{
    to->derived = from->derived;
    to->shared = from->shared;
    to->wide = from->wide && entity_type_has_derived(to->type);
    to->exact = from->exact;
    to->set = from->set;
    to->says_type = from->says_type;
}

struct source *bind_source_via(struct binder *b, const struct navigation *via)
{
    return mark_exact(bind_source_new(b, via->target), via);
}

static void mark_in_filter(struct source *s)
{
    for (; s != s->root && !s->in_filter; s = s->from) {
        s->in_filter = true;
    }
}

void bind_source_attach(struct source *from, const struct navigation *via, struct source *made)
{
    struct source *root = from->root;
    made->root = root;
    made->from = from;
    made->via = via;
    made->nullable = true;
    if (root->last_joined == NULL) {
        root->joined = made;
    } else {
        root->last_joined->next = made;
    }
    root->last_joined = made;
}

struct source *bind_source_join(struct binder *b, struct source *from, const struct navigation *via,
                                bool in_filter)
{
    struct source *root = from->root;
    struct source *s = root->joined;
    while (s != NULL && (s->from != from || s->via != via)) {
        s = s->next;
    }
    if (s == NULL) {
        s = bind_target_rows(b, via);
        if (s == NULL) {
            return NULL;
        }
        bind_source_attach(from, via, s);
        if (via->embedded) {
            s->embedded = true;
            s->number = from->number;
        }
    }
    if (in_filter) {
        mark_in_filter(s);
    }
    return s;
}

struct source *bind_source_own(const struct source *s)
{
    struct source *own = s->root;
    if (own != s) {
        own = own->joined;
        while (own != s) {
            own = own->next;
        }
    }
    return own;
}

struct source *bind_source_cast(struct binder *b, struct source *from,
                                const struct entity_type *type, bool in_filter)
{
    struct source *s = from->root->joined;
    while (s != NULL && (s->from != from || s->via != NULL || s->type != type)) {
        s = s->next;
    }
    if (s == NULL) {
        s = bind_source_new(b, type);
        if (s == NULL) {
            return NULL;
        }
        bind_source_attach(from, NULL, s);
        s->number = from->number;
        s->embedded = true;
        s->wide = false;
        s->cast_of = from->cast_of != NULL ? from->cast_of : from;
        s->set = source_set(from);
    }
    if (in_filter) {
        mark_in_filter(s);
    }
    return s;
}

static const char *place_of(const struct clause *c)
{
    return c->place != NULL ? c->place : c->option[0] == '\0' ? "the path" : c->option;
}

bool bind_fail(struct binder *b, const struct clause *c, size_t offset, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return odata_error_set(b->err, 400, c->code, c->option, "%s at byte %zu of %s", text, offset,
                           place_of(c));
}

bool bind_fail_name(struct binder *b, const struct clause *c, size_t offset, struct str name,
                    const char *fmt, ...)
{
    char text[155];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return odata_error_set(b->err, 400, c->code, c->option, "'%.*s' at byte %zu of %s %s",
                           STR_ARG(bind_clip(name)), offset, place_of(c), text);
}

struct str bind_clip(struct str text)
{
    if (text.len <= CLIP_BYTES) {
        return text;
    }
    size_t len = CLIP_BYTES;
    while (len > 0 && ((unsigned char)text.ptr[len] & 0xC0) == 0x80) {
        len--;
    }
    return (struct str){text.ptr, len};
}

bool bind_fail_unknown(struct binder *b, const struct clause *c, size_t offset,
                       const struct entity_type *t, struct str name, bool may_be_text)
{
    struct str meant = entity_type_suggest(t, name);
    struct str shown = bind_clip(name);
    struct str type = bind_clip(t->name);
    bind_fail(b, c, offset, "unknown property '%.*s' of %.*s", STR_ARG(shown), STR_ARG(type));
    if (meant.len > 0) {
        return odata_error_hint(b->err, "did you mean '%.*s'?", STR_ARG(bind_clip(meant)));
    }
    return may_be_text && odata_error_hint(b->err, "strings stand in single quotes");
}

const struct entity_type *bind_derived_type(const struct binder *b, struct str name,
                                            const struct entity_type *t)
{
    const struct entity_type *named =
        str_find(name, '.', 0) < name.len ? model_find_type(b->options->model, name) : NULL;
    return named != NULL && entity_type_is(named, t) ? named : NULL;
}

const struct entity_type *bind_skip_casts(const struct binder *b, const struct str *path,
                                          size_t count, const struct entity_type *t, size_t *io_at)
{
    const struct entity_type *next = t;
    while (next != NULL && *io_at + 1 < count) {
        next = bind_derived_type(b, path[*io_at], t);
        t = next != NULL && !bind_is_own_type(b, path[*io_at], t) ? next : t;
        *io_at += next != NULL;
    }
    return t;
}

bool bind_is_own_type(const struct binder *b, struct str name, const struct entity_type *t)
{
    const struct entity_type *named =
        str_find(name, '.', 0) < name.len ? model_find_type(b->options->model, name) : NULL;
    /* A type with computed properties is made of the one in the model, and has its name. */
    return named != NULL && str_eq(named->name, t->name) && str_eq(named->namespace, t->namespace);
}

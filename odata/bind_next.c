// SPDX-License-Identifier: Apache-2.0
/* The request for the rest of an expanded collection, from the options in its parentheses. */
#include <inttypes.h>

#include "odata/bind_priv.h"
#include "odata/limits.h"
#include "odata/percent.h"

static void put_option(struct bytes *out, struct str name, struct str value)
{
    bytes_put_str(out, name);
    bytes_put_char(out, '=');
    percent_encode(out, value);
    bytes_put_char(out, '&');
}

/* A named item of $expand, or `*`, covers the navigation: $levels does not go on then. */
static bool is_named(const struct query *q, struct str name)
{
    for (size_t i = 0; i < q->expand_count; i++) {
        struct str last = q->expand[i].path[q->expand[i].path_count - 1];
        if (str_eq(last, name) || str_eq(last, STR("*"))) {
            return true;
        }
    }
    return false;
}

/* `Nav($levels=n;...)`: the same once more below, with one level less (URL Conventions 5.1.3.1). */
static void put_again(struct bytes *out, const struct query *q, uint64_t levels, struct str name)
{
    bytes_put_str(out, name);
    if (levels == UINT64_MAX) {
        BYTES_PUT_LITERAL(out, "($levels=max");
    } else {
        BYTES_PUT_LITERAL(out, "($levels=");
        bytes_put_u64(out, levels - 1);
    }
    for (const struct option_text *t = q->texts; t != NULL; t = t->next) {
        if (!str_eq(str_from(t->name), STR("$levels"))) {
            bytes_put_char(out, ';');
            bytes_put_str(out, str_from(t->name));
            bytes_put_char(out, '=');
            bytes_put_str(out, t->text);
        }
    }
    bytes_put_char(out, ')');
}

static void put_expand(struct bytes *out, const struct query *q, uint64_t levels, struct str name)
{
    struct bytes value;
    bytes_init(&value, LIMIT_REQUEST_ARENA_BYTES);
    for (const struct option_text *t = q->texts; t != NULL; t = t->next) {
        if (str_eq(str_from(t->name), STR("$expand"))) {
            bytes_put_str(&value, t->text);
        }
    }
    if (levels > 1 && !is_named(q, name)) {
        if (value.len > 0) {
            bytes_put_char(&value, ',');
        }
        put_again(&value, q, levels, name);
    }
    if (value.len > 0) {
        put_option(out, STR("$expand"), bytes_str(&value));
    }
    out->failed = out->failed || bytes_failed(&value);
    bytes_fini(&value);
}

static bool is_defined(const struct alias *from, const struct alias *to, struct str name)
{
    while (from != to && !str_eq(from->name, name)) {
        from = from->next;
    }
    return from != to;
}

/* Whether a scope further in, up to `end`, has the name. */
static bool is_shadowed(const struct binder *b, const struct alias_scope *end, struct str name)
{
    for (const struct alias_scope *s = b->aliases; s != end; s = s->outer) {
        if (is_defined(s->first, NULL, name)) {
            return true;
        }
    }
    return false;
}

static void put_aliases(struct bytes *out, const struct binder *b, const struct alias_scope *scope,
                        const struct alias *first)
{
    for (const struct alias *a = first; a != NULL; a = a->next) {
        if (!is_shadowed(b, scope, a->name)) {
            bytes_put_char(out, '@');
            percent_encode(out, a->name);
            bytes_put_char(out, '=');
            percent_encode(out, a->text);
            bytes_put_char(out, '&');
        }
    }
}

static bool has_alias(const struct query *q)
{
    for (const struct option_text *t = q->texts; t != NULL; t = t->next) {
        if (str_find(t->text, '@', 0) < t->text.len) {
            return true;
        }
    }
    return false;
}

static void put_query(struct bytes *out, const struct binder *b, const struct query *q,
                      uint64_t levels, struct str name)
{
    for (const struct option_text *t = q->texts; t != NULL; t = t->next) {
        if (!str_eq(str_from(t->name), STR("$expand")) &&
            !str_eq(str_from(t->name), STR("$levels"))) {
            put_option(out, str_from(t->name), t->text);
        }
    }
    put_expand(out, q, levels, name);
    if (has_alias(q)) {
        for (const struct alias_scope *s = b->aliases; s != NULL; s = s->outer) {
            put_aliases(out, b, s, s->first);
        }
        put_aliases(out, b, NULL, b->request->aliases);
    }
}

static void put_cast(struct bytes *out, const struct entity_type *t)
{
    bytes_put_char(out, '/');
    percent_encode(out, t->namespace);
    bytes_put_char(out, '.');
    percent_encode(out, t->name);
}

/* `/Nav` behind the parent's URL, with the casts that lead to it and that it is read with. */
static void put_path(struct bytes *out, const struct expansion *x)
{
    const struct entity_type *type = x->parent->type;
    const struct entity_set *set = source_set(x->parent);
    if (set != NULL && !entity_type_is(set->type, type) &&
        x->navigation->index >= set->type->navigation_count) {
        put_cast(out, type);
    }
    bytes_put_char(out, '/');
    percent_encode(out, x->navigation->name);
    if (x->read->source->says_type) {
        put_cast(out, x->read->source->type);
    }
}

bool bind_nested_next(struct binder *b, const struct query *options, uint64_t levels, bool ref,
                      struct expansion *x)
{
    struct bytes path;
    struct bytes query;
    bytes_init(&path, LIMIT_REQUEST_ARENA_BYTES);
    bytes_init(&query, LIMIT_REQUEST_ARENA_BYTES);
    put_path(&path, x);
    bytes_put_str(&path, ref ? STR("/$ref") : STR(""));
    if (options != NULL) {
        put_query(&query, b, options, levels, x->navigation->name);
    }
    bool ok = bytes_failed(&path) || bytes_failed(&query)
                  ? bytes_fail(bytes_failed(&path) ? &path : &query, b->err)
                  : (arena_copy(b->arena, bytes_str(&path), &x->next_path) &&
                     arena_copy(b->arena, bytes_str(&query), &x->next_query)) ||
                        arena_fail(b->arena, b->err);
    bytes_fini(&path);
    bytes_fini(&query);
    return ok;
}

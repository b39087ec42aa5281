// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "odata/bind_priv.h"

enum {
    KEY_NAMES_BYTES = 80, /* of a message */
};

static const struct clause clause_key = {"", ODATA_CODE_BAD_KEY, NULL};

bool bind_key_is_said(const struct navigation *via, const struct property *p)
{
    for (size_t i = 0; via != NULL && via->link == NULL && i < via->join_count; i++) {
        /* by its column: behind a cast p is that of a derived type */
        if (str_eq(via->joins[i].remote->column, p->column)) {
            return true;
        }
    }
    return false;
}

static const struct argument *find_argument(const struct segment *s, struct str name)
{
    for (size_t i = 0; i < s->arg_count; i++) {
        if (str_eq(s->args[i].name, name)) {
            return &s->args[i];
        }
    }
    return NULL;
}

static bool is_positional(const struct segment *s)
{
    return s->arg_count == 1 && s->args[0].name.len == 0;
}

/*
 * The segment's arguments name exactly the properties of the key, those the parent says already
 * left out when `shortened`.
 */
static bool names_key(const struct segment *s, const struct key *key, const struct navigation *via,
                      bool shortened)
{
    size_t wanted = 0;
    size_t named = 0;
    for (size_t i = 0; i < key->count; i++) {
        if (shortened && bind_key_is_said(via, key->properties[i])) {
            continue;
        }
        wanted++;
        named += find_argument(s, key->properties[i]->name) != NULL ? 1 : 0;
    }
    return wanted > 0 && wanted == s->arg_count && (is_positional(s) || named == wanted);
}

static bool bind_key_value(struct binder *b, const struct segment *s, const struct argument *arg,
                           const struct property *p, const struct bound_expr **out)
{
    const struct expr *e = bind_resolve(b, &clause_key, arg->value);
    if (e == NULL) {
        return false;
    }
    if (!bind_is_literal(b, e)) {
        return bind_fail(b, &clause_key, s->offset, "the key property '%.*s' needs a literal",
                         STR_ARG(bind_clip(p->name)));
    }
    if (e->kind == EXPR_LITERAL && e->literal == LITERAL_NULL) {
        return bind_fail(b, &clause_key, s->offset, "the key property '%.*s' cannot be null",
                         STR_ARG(bind_clip(p->name)));
    }
    bool quoted = e->kind == EXPR_LITERAL && e->literal == LITERAL_STRING;
    if (quoted && p->type.type != EDM_STRING && p->type.type != EDM_ENUM &&
        p->type.type != EDM_DURATION) {
        return bind_fail(b, &clause_key, s->offset, "expected %.*s for '%.*s', found string",
                         STR_ARG(bind_type_name(b, &p->type)), STR_ARG(bind_clip(p->name)));
    }
    const struct bound_expr *value = bind_literal(b, &clause_key, e, &p->type, &p->pg);
    if (value == NULL) {
        return false;
    }
    bool whole =
        !edm_is_integer(p->type.type) ||
        (value->type.type != EDM_DOUBLE && memchr(value->text.ptr, '.', value->text.len) == NULL);
    if (!whole) {
        return bind_fail(b, &clause_key, s->offset, "expected %.*s for '%.*s', found %.*s",
                         STR_ARG(bind_type_name(b, &p->type)), STR_ARG(bind_clip(p->name)),
                         STR_ARG(bind_clip(value->text)));
    }
    *out = value;
    return true;
}

static bool bind_values(struct binder *b, const struct segment *s, const struct key *key,
                        bool shortened, struct path_step *step)
{
    step->key_properties = ARENA_ARRAY(b->arena, key->count, const struct property *);
    step->key_values = ARENA_ARRAY(b->arena, key->count, const struct bound_expr *);
    if (step->key_properties == NULL || step->key_values == NULL) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < key->count; i++) {
        const struct property *p = key->properties[i];
        if (shortened && bind_key_is_said(step->via, p)) {
            continue;
        }
        const struct argument *arg = is_positional(s) ? &s->args[0] : find_argument(s, p->name);
        step->key_properties[step->key_count] = p;
        if (!bind_key_value(b, s, arg, p, &step->key_values[step->key_count])) {
            return false;
        }
        step->key_count++;
    }
    return true;
}

/* "order_id, line", or as many as fit and "...". */
static void put_key_names(const struct key *key, char out[KEY_NAMES_BYTES])
{
    static const char more[] = "...";
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < key->count; i++) {
        struct str name = bind_clip(key->properties[i]->name);
        const char *comma = i == 0 ? "" : ", ";
        if (used + strlen(comma) + name.len + sizeof(", ") + sizeof(more) > KEY_NAMES_BYTES) {
            snprintf(out + used, KEY_NAMES_BYTES - used, "%s%s", comma, more);
            return;
        }
        used +=
            (size_t)snprintf(out + used, KEY_NAMES_BYTES - used, "%s%.*s", comma, STR_ARG(name));
    }
}

static bool fail_key(struct binder *b, const struct segment *s, const struct entity_type *type)
{
    for (size_t i = 0; i < s->arg_count; i++) {
        if (s->args[i].name.len > 0 && entity_type_find_property(type, s->args[i].name) == NULL) {
            return bind_fail(b, &clause_key, s->offset, "%.*s has no key property '%.*s'",
                             STR_ARG(bind_clip(type->name)), STR_ARG(bind_clip(s->args[i].name)));
        }
    }
    if (s->arg_count == type->key.count && s->arg_count > 1) {
        return bind_fail(b, &clause_key, s->offset,
                         "the key of %.*s has %zu properties: each value needs its name, as in "
                         "(%.*s=...,%.*s=...)",
                         STR_ARG(bind_clip(type->name)), type->key.count,
                         STR_ARG(bind_clip(type->key.properties[0]->name)),
                         STR_ARG(bind_clip(type->key.properties[1]->name)));
    }
    char names[KEY_NAMES_BYTES];
    put_key_names(&type->key, names);
    return bind_fail(b, &clause_key, s->offset, "the key of %.*s has %zu propert%s (%s), found %zu",
                     STR_ARG(bind_clip(type->name)), type->key.count,
                     type->key.count == 1 ? "y" : "ies", names, s->arg_count);
}

bool bind_key(struct binder *b, const struct segment *segment, struct path_step *step)
{
    const struct entity_type *type = step->source->type;
    if (names_key(segment, &type->key, step->via, false)) {
        return bind_values(b, segment, &type->key, false, step);
    }
    for (size_t i = 0; i < type->alternate_key_count && !is_positional(segment); i++) {
        if (names_key(segment, &type->alternate_keys[i], step->via, false)) {
            return bind_values(b, segment, &type->alternate_keys[i], false, step);
        }
    }
    if (names_key(segment, &type->key, step->via, true)) {
        return bind_values(b, segment, &type->key, true, step);
    }
    return fail_key(b, segment, type);
}

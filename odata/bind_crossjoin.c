// SPDX-License-Identifier: Apache-2.0
/*
 * $crossjoin(A,B): a type made for the request that has a navigation property to each of the sets,
 * joined to a root without columns (URL Conventions 4.15). Paths, $expand, order and pages are then
 * those of any to-one navigation.
 */
#include "odata/bind_priv.h"
#include "odata/limits.h"

bool bind_fail_set(struct binder *b, struct str name)
{
    struct str meant = model_suggest_set(b->options->model, name);
    odata_error_set(b->err, 404, ODATA_CODE_NOT_FOUND, "", "no entity set '%.*s'",
                    STR_ARG(bind_clip(name)));
    return meant.len > 0 &&
           odata_error_hint(b->err, "did you mean '%.*s'?", STR_ARG(bind_clip(meant)));
}

static bool add_set(struct binder *b, const struct argument *arg, struct entity_type *t,
                    struct entity_set *all)
{
    struct str name = arg->value->name;
    const struct entity_set *set = model_find_set(b->options->model, name);
    if (set == NULL) {
        return bind_fail_set(b, name);
    }
    if (entity_type_find_navigation(t, name) != NULL) {
        return odata_error_set(b->err, 400, ODATA_CODE_BAD_PATH, "",
                               "'%.*s' stands twice in $crossjoin", STR_ARG(bind_clip(name)));
    }
    struct navigation *n = &t->navigations[t->navigation_count];
    *n = (struct navigation){.name = set->name,
                             .source = t,
                             .target = set->type,
                             .index = t->navigation_count,
                             .crossed = true};
    t->navigation_count++;
    if (set->max_page_size > 0 &&
        (all->max_page_size == 0 || set->max_page_size < all->max_page_size)) {
        all->max_page_size = set->max_page_size;
    }
    return true;
}

/* `$crossjoin(A,B)`: what it is called in messages and in the check of tokens. */
static bool put_name(struct binder *b, const struct entity_type *t, struct str *out)
{
    struct bytes text;
    bytes_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    BYTES_PUT_LITERAL(&text, "$crossjoin");
    for (size_t i = 0; i < t->navigation_count; i++) {
        bytes_put_char(&text, i == 0 ? '(' : ',');
        bytes_put_str(&text, t->navigations[i].name);
    }
    bytes_put_char(&text, ')');
    bool ok = bytes_failed(&text)
                  ? bytes_fail(&text, b->err)
                  : arena_copy(b->arena, bytes_str(&text), out) || arena_fail(b->arena, b->err);
    bytes_fini(&text);
    return ok;
}

struct source *bind_crossjoin(struct binder *b, const struct segment *s)
{
    struct entity_type *t = ARENA_NEW(b->arena, struct entity_type);
    struct entity_set *set = ARENA_NEW(b->arena, struct entity_set);
    if (s->arg_count > LIMIT_CROSSJOIN_SETS) {
        odata_error_set(b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "",
                        "$crossjoin of more than %d entity sets", (int)LIMIT_CROSSJOIN_SETS);
        return NULL;
    }
    if (t == NULL || set == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    t->set = set;
    t->transient = true;
    t->crossjoin = true;
    set->type = t;
    t->namespace = STR("");
    t->navigations = ARENA_ARRAY(b->arena, s->arg_count, struct navigation);
    if (t->navigations == NULL) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    for (size_t i = 0; i < s->arg_count; i++) {
        if (!add_set(b, &s->args[i], t, set)) {
            return NULL;
        }
    }
    struct source *root = put_name(b, t, &t->name) ? bind_source_new(b, t) : NULL;
    set->name = t->name;
    for (size_t i = 0; root != NULL && i < t->navigation_count; i++) {
        struct source *joined = bind_source_join(b, root, &t->navigations[i], true);
        if (joined == NULL) {
            return NULL;
        }
        joined->nullable = false;
    }
    return root;
}

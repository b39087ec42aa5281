// SPDX-License-Identifier: Apache-2.0
#include "server/catalog_source.h"

#include <stdint.h>

#include "server/auth.h"

enum {
    CATALOG_TIMEOUT_MS = 10000,
};

static struct str *copy_list(struct arena *a, const struct config_list *list)
{
    struct str *copy = ARENA_ARRAY(a, list->count, struct str);
    for (size_t i = 0; copy != NULL && i < list->count; i++) {
        copy[i] = str_from(list->items[i]);
    }
    return copy;
}

static bool copy_entity(struct arena *a, const struct config_entity *e,
                        struct catalog_override *out)
{
    *out = (struct catalog_override){
        .relation = str_from(e->relation),
        .name = str_from(e->name),
        .key = copy_list(a, &e->key),
        .key_count = e->key.count,
        .hide = copy_list(a, &e->hide),
        .hide_count = e->hide.count,
        .search = copy_list(a, &e->search),
        .search_count = e->search.count,
        .search_config = str_from(e->search_config),
        .max_page_size = e->max_page_size,
    };
    return out->key != NULL && out->hide != NULL && out->search != NULL;
}

bool catalog_source_init(struct catalog_source *s, const struct config *c)
{
    arena_init(&s->arena, SIZE_MAX);
    struct str *schemas = copy_list(&s->arena, &c->schemas);
    struct catalog_override *overrides =
        ARENA_ARRAY(&s->arena, c->entity_count, struct catalog_override);
    bool whole = schemas != NULL && overrides != NULL;
    for (size_t i = 0; whole && i < c->entity_count; i++) {
        whole = copy_entity(&s->arena, &c->entities[i], &overrides[i]);
    }
    s->options = (struct catalog_options){
        .db_uri = c->db_uri,
        .schemas = schemas,
        .schema_count = c->schemas.count,
        .overrides = overrides,
        .override_count = c->entity_count,
        .role = c->anonymous_role[0] == '\0' ? NULL : c->anonymous_role,
        .sees_part = auth_is_wanted(c),
        .login = c->strict           ? LOGIN_REFUSE
                 : auth_is_wanted(c) ? LOGIN_WARN
                                     : LOGIN_ANY,
        .timestamp_zone = str_from(c->timestamp_zone),
        .timeout_ms = CATALOG_TIMEOUT_MS,
    };
    if (!whole) {
        arena_fini(&s->arena);
    }
    return whole;
}

void catalog_source_fini(struct catalog_source *s)
{
    arena_fini(&s->arena);
}

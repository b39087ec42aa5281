// SPDX-License-Identifier: Apache-2.0
#include "server/entity_id.h"

#include <string.h>

#include "odata/path_parse.h"

bool entity_id_is(const struct resource_path *path)
{
    return path->count > 0 && path->segments[0].kind == SEGMENT_ENTITY;
}

static bool bad_id(struct odata_error *err, const char *why)
{
    return odata_error_set(err, 400, ODATA_CODE_BAD_QUERY_OPTION, "$id", "%s", why);
}

/* What stands behind scheme and host of the service root: "/odata/". */
static struct str root_path(struct str root)
{
    size_t at = str_find(root, ':', 0) + 3;
    return str_from_offset(root, str_find(root, '/', at));
}

/* The path in the service, or false for the id of something else. */
static bool make_relative(struct str root, struct str id, struct str *out)
{
    struct str path = root_path(root);
    if (str_starts_with(id, root)) {
        *out = str_from_offset(id, root.len);
        return true;
    }
    if (str_starts_with(id, STR("/"))) {
        *out = str_from_offset(id, path.len);
        return str_starts_with(id, path);
    }
    *out = id;
    size_t colon = str_find(id, ':', 0);
    return colon >= str_find(id, '/', 0) || colon >= str_find(id, '(', 0);
}

/* $entity/ns.Type: the type stands behind the path. */
static bool append_cast(struct arena *a, const struct segment *entity, struct resource_path *path)
{
    struct segment *segments = ARENA_ARRAY(a, path->count + 1, struct segment);
    if (segments == NULL) {
        return false;
    }
    memcpy(segments, path->segments, path->count * sizeof(*segments));
    segments[path->count] = (struct segment){.kind = SEGMENT_NAME, .name = entity->name};
    path->segments = segments;
    path->count++;
    return true;
}

bool entity_id_resolve(struct arena *a, struct str root, struct query *query,
                       struct resource_path *path, struct odata_error *err)
{
    const struct segment entity = path->segments[0];
    struct resource_path named;
    struct str id;
    if (path->count > 1) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_PATH, "",
                               "nothing but a type can follow $entity");
    }
    if (!query->id.given) {
        return bad_id(err, "$entity needs the option $id");
    }
    if (!make_relative(root, query->id.text, &id)) {
        return odata_error_set(err, 404, ODATA_CODE_NOT_FOUND, "$id",
                               "$id names no entity of this service");
    }
    if (str_find(id, '?', 0) < id.len || str_find(id, '#', 0) < id.len) {
        return bad_id(err, "an entity-id has neither query nor fragment");
    }
    if (!path_parse(a, id, &named, err)) {
        return false;
    }
    for (size_t i = 0; i < named.count; i++) {
        if (named.segments[i].kind != SEGMENT_NAME) {
            return bad_id(err, "$id names no entity");
        }
    }
    if (named.count == 0) {
        return bad_id(err, "$id names no entity");
    }
    if (entity.name.len > 0 && !append_cast(a, &entity, &named)) {
        return arena_fail(a, err);
    }
    query->id.given = false;
    *path = named;
    return true;
}

bool entity_id_check(const struct plan *plan, struct odata_error *err)
{
    return plan->kind == PLAN_ENTITY || bad_id(err, "$id names no entity");
}

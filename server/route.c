// SPDX-License-Identifier: Apache-2.0
#include "server/route.h"

static const struct admin_row {
    struct str path;
    enum route route;
} admin_rows[] = {
    {{STR_INIT("/healthz")}, ROUTE_HEALTH},
    {{STR_INIT("/readyz")}, ROUTE_READY},
    {{STR_INIT("/metrics")}, ROUTE_METRICS},
};

static bool find_admin(struct str path, enum route *out_route)
{
    for (size_t i = 0; i < ARRAY_SIZE(admin_rows); i++) {
        if (str_eq(admin_rows[i].path, path)) {
            *out_route = admin_rows[i].route;
            return true;
        }
    }
    return false;
}

enum route route_find(const struct route_options *options, struct str target, bool is_admin,
                      struct route_target *out_target)
{
    enum route route = ROUTE_NOT_FOUND;
    size_t end = str_find(target, '?', 0);
    struct str path = str_slice(target, 0, end);
    *out_target = (struct route_target){STR(""), str_from_offset(target, end + 1)};
    if (str_eq(target, STR("*"))) {
        return ROUTE_SERVER;
    }
    if ((is_admin || !options->admin_is_separate) && find_admin(path, &route)) {
        return route;
    }
    if (is_admin) {
        return ROUTE_NOT_FOUND;
    }
    struct str base = options->base_path;
    if (str_starts_with(path, base)) {
        out_target->raw_path = str_from_offset(path, base.len);
        bool is_openapi = str_eq(out_target->raw_path, STR("$openapi")) ||
                          str_eq(out_target->raw_path, STR("%24openapi"));
        return is_openapi ? ROUTE_OPENAPI : ROUTE_ODATA;
    }
    /* The service root without its last '/'. */
    if (str_eq(path, str_slice(base, 0, base.len - 1))) {
        return ROUTE_ODATA;
    }
    return ROUTE_NOT_FOUND;
}

const char *route_allow(struct str target)
{
    struct str path = str_slice(target, 0, str_find(target, '?', 0));
    bool is_query = str_ends_with(path, STR("/$query")) || str_ends_with(path, STR("/%24query"));
    return is_query ? "POST, OPTIONS" : ROUTE_ALLOW;
}

bool route_is_query(enum http_method method, const struct resource_path *path)
{
    return method == HTTP_POST && path->count > 0 &&
           path->segments[path->count - 1].kind == SEGMENT_QUERY;
}

bool route_check_segments(const struct resource_path *path, struct odata_error *err)
{
    static const struct {
        enum segment_kind kind;
        const char *name;
    } missing[] = {
        {SEGMENT_BATCH, "$batch"},
    };
    for (size_t i = 0; i < path->count; i++) {
        for (size_t k = 0; k < ARRAY_SIZE(missing); k++) {
            if (path->segments[i].kind == missing[k].kind) {
                return odata_error_not_implemented(err, "", "the path segment %s is not supported",
                                                   missing[k].name);
            }
        }
    }
    return true;
}

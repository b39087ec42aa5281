// SPDX-License-Identifier: Apache-2.0
#include "tests/support/bound_request.h"

#include "odata/path_parse.h"
#include "odata/query_parse.h"
#include "tests/support/shop_model.h"

static bool bind_url(struct bound_request *r, const char *url, const struct bind_options *options)
{
    const struct query_limits limits = {.max_filter_depth = 100, .max_expand_depth = 30};
    struct bind_options bind = options == NULL ? (struct bind_options){0} : *options;
    struct str text = str_from(url);
    size_t mark = str_find(text, '?', 0);
    struct resource_path path;
    struct query query;
    bind.model = r->model;
    return path_parse(&r->arena, str_slice(text, 0, mark), &path, &r->err) &&
           query_parse(&r->arena, str_from_offset(text, mark + 1), &limits, &query, &r->err) &&
           bind_request(&r->arena, &bind, &path, &query, &r->plan, &r->err);
}

bool bound_request_init(struct bound_request *r, const char *url,
                        const struct bind_options *options, size_t arena_limit)
{
    static struct model *shared; /* made once for each process: loops bind thousands of URLs */
    if (shared == NULL) {
        shared = shop_model_new();
    }
    *r = (struct bound_request){.model = model_retain(shared)};
    arena_init(&r->arena, arena_limit);
    bool ok = bind_url(r, url, options);
    if (!ok) {
        r->plan = NULL;
    }
    return ok;
}

void bound_request_fini(struct bound_request *r)
{
    arena_fini(&r->arena);
    model_release(r->model);
}

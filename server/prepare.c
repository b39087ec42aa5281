// SPDX-License-Identifier: Apache-2.0
#include "server/prepare.h"

#include <string.h>

#include "odata/header_value.h"
#include "odata/media_type.h"
#include "odata/odata_version.h"
#include "odata/path_parse.h"
#include "odata/query_parse.h"
#include "server/entity_id.h"
#include "server/links.h"

enum {
    /* Below this no token fits: it has a head, and the key of a row. */
    LEAST_TOKEN_BYTES = 64,
};

bool prepare_version(const struct http_exchange *x, enum odata_version *out_version,
                     struct odata_error *err)
{
    /* One snapshot over all pages of a result is more than we can promise, and whoever asks for it
       must be told so (Protocol 8.2.7). */
    if (x->head.fields[FIELD_ODATA_ISOLATION].len + x->head.fields[FIELD_ISOLATION].len > 0) {
        return odata_error_set(err, 412, ODATA_CODE_PRECONDITION_FAILED, "",
                               "snapshot isolation is not supported");
    }
    return odata_version_negotiate(x->head.fields[FIELD_ODATA_MAX_VERSION],
                                   x->head.fields[FIELD_ODATA_VERSION], out_version, err);
}

/* What the path ends in decides which forms there are; what $value is, and whether the rest is a
   collection, is known only after binding. */
static enum media_resource resource_of(const struct resource_path *path)
{
    enum segment_kind last = path->count == 0 ? SEGMENT_NAME : path->segments[path->count - 1].kind;
    if (last == SEGMENT_METADATA) {
        return MEDIA_OF_METADATA;
    }
    if (last == SEGMENT_COUNT) {
        return MEDIA_OF_COUNT;
    }
    return MEDIA_OF_ROWS;
}

static bool ends_in_value(const struct resource_path *path)
{
    return path->count > 0 && path->segments[path->count - 1].kind == SEGMENT_VALUE;
}

static bool negotiate(const struct http_exchange *x, enum media_resource resource,
                      const struct query *query, struct prepared *p, struct odata_error *err)
{
    const struct str *format = query->format.given ? &query->format.text : NULL;
    return media_type_negotiate(resource, p->version, x->head.fields[FIELD_ACCEPT], format,
                                &p->format, err);
}

/* A form is what text/plain is here: options as in a URL, percent-encoded. */
static bool is_query_type(struct str content_type)
{
    struct str type = str_trim(str_slice(content_type, 0, str_find(content_type, ';', 0)));
    return str_ieq(type, STR("text/plain")) ||
           str_ieq(type, STR("application/x-www-form-urlencoded"));
}

/* Options are UTF-8 when they are decoded; percent-encoded they are ASCII (URL Conventions 2). */
static bool is_utf8(struct str content_type)
{
    struct str piece;
    bool first = true;
    while (header_next_piece(&content_type, ';', &piece)) {
        struct str name;
        struct str value;
        header_split_param(piece, &name, &value);
        if (!first && str_ieq(name, STR("charset")) && !str_ieq(value, STR("utf-8")) &&
            !str_ieq(value, STR("us-ascii"))) {
            return false;
        }
        first = false;
    }
    return true;
}

/* POST .../$query: the body holds more options (Protocol 11.2.9; URL Conventions 4.17). */
static bool take_query_body(struct http_exchange *x, struct prepared *p, struct resource_path *path,
                            struct odata_error *err)
{
    if (!is_query_type(x->head.fields[FIELD_CONTENT_TYPE])) {
        return odata_error_set(err, 415, ODATA_CODE_UNSUPPORTED_MEDIA, "",
                               "the body of a /$query request is text/plain or "
                               "application/x-www-form-urlencoded");
    }
    if (!is_utf8(x->head.fields[FIELD_CONTENT_TYPE])) {
        return odata_error_set(err, 415, ODATA_CODE_UNSUPPORTED_MEDIA, "",
                               "the charset of the body of a /$query request is utf-8");
    }
    struct str encoding = x->head.fields[FIELD_CONTENT_ENCODING];
    if (encoding.len > 0 && !str_ieq(encoding, STR("identity"))) {
        return odata_error_set(err, 415, ODATA_CODE_UNSUPPORTED_MEDIA, "",
                               "the body of a /$query request is not decoded: send it without "
                               "Content-Encoding");
    }
    struct str body = str_trim(x->body);
    while (body.len > 0 && (body.ptr[body.len - 1] == '\n' || body.ptr[body.len - 1] == '\r')) {
        body.len--;
    }
    path->count--;
    size_t end = path->segments[path->count].offset;
    p->raw_path = str_slice(p->raw_path, 0, end > 0 ? end - 1 : 0);
    if (p->raw_query.len == 0) {
        p->raw_query = body;
        return true;
    }
    if (!arena_format(&x->arena, &p->raw_query, "%.*s&%.*s", STR_ARG(p->raw_query),
                      STR_ARG(body))) {
        return arena_fail(&x->arena, err);
    }
    return true;
}

static bool ends_in_query(const struct resource_path *path)
{
    return path->count > 0 && path->segments[path->count - 1].kind == SEGMENT_QUERY;
}

/* A method that would write, or not POST for /$query: 404 where nothing is, else 405. */
static bool refuse_method(struct http_exchange *x, const struct document *document,
                          const struct service *s, const struct prepared *p,
                          const struct resource_path *path, struct odata_error *err)
{
    struct query nothing;
    const struct plan *plan = NULL;
    struct resource_path before = *path;
    bool is_query = ends_in_query(path);
    before.count -= is_query ? 1 : 0;
    memset(&nothing, 0, sizeof(nothing));
    const struct bind_options options = {
        .model = document->model,
        .format = {.version = p->version},
        .max_filter_depth = s->config->max_filter_depth,
        .max_expand_depth = s->config->max_expand_depth,
    };
    if (!bind_request(&x->arena, &options, &before, &nothing, &plan, err) &&
        err->http_status == 404) {
        return false;
    }
    struct str method = http_method_name(x->head.method);
    return is_query
               ? odata_error_set(err, 405, ODATA_CODE_METHOD_NOT_ALLOWED, "",
                                 "POST is the method of /$query, not %.*s", STR_ARG(method))
               : odata_error_set(err, 405, ODATA_CODE_METHOD_NOT_ALLOWED, "",
                                 "%.*s is not supported: this service reads only", STR_ARG(method));
}

/* What has no envelope can say neither how many rows there are nor where the next ones are. */
static bool check_rows(const struct prepared *p, struct odata_error *err)
{
    if (p->plan->read->has_count) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_QUERY_OPTION, "$count",
                               "this format has no place for the count: ask for it with /$count");
    }
    return true;
}

/* Negotiates again for what turned out to be no collection of entities, or of unknown type. */
static bool settle_format(struct http_exchange *x, struct prepared *p,
                          const struct resource_path *path, const struct query *query,
                          struct odata_error *err)
{
    if (ends_in_value(path)) {
        return negotiate(
            x, p->plan->raw_media == MEDIA_BINARY ? MEDIA_OF_RAW_BINARY : MEDIA_OF_RAW_TEXT, query,
            p, err);
    }
    if (!response_format_is_rows(&p->format)) {
        return true;
    }
    return p->plan->kind == PLAN_COLLECTION ? check_rows(p, err)
                                            : negotiate(x, MEDIA_OF_DATA, query, p, err);
}

static bool bind_plan(struct http_exchange *x, const struct document *document,
                      const struct service *s, struct prepared *p, const struct resource_path *path,
                      struct query *query, struct odata_error *err)
{
    const struct bind_options options = {
        .model = document->model,
        .format = p->format,
        .max_page_size = s->config->max_page_size,
        .client_page_size = response_format_is_rows(&p->format) || p->token_room == 0
                                ? 0
                                : p->preferences.max_page_size,
        .max_filter_depth = s->config->max_filter_depth,
        .max_expand_depth = s->config->max_expand_depth,
        .max_link_bytes = s->config->max_url_bytes / 2,
    };
    return bind_request(&x->arena, &options, path, query, &p->plan, err) &&
           settle_format(x, p, path, query, err);
}

/*
 * The options of a POST may be longer than a URL that we take. Then there is no next link: the
 * client's maxpagesize is a wish and is passed over, the service's own limit is kept.
 */
static bool measure_link(struct http_exchange *x, const struct service *s, struct prepared *p,
                         struct odata_error *err)
{
    struct str url;
    size_t most = s->config->max_url_bytes;
    p->token_room = most;
    if (p->raw_path.len + p->raw_query.len < most / 8) {
        p->token_room = most - most / 2; /* long enough, however much of it is encoded */
        return true;
    }
    if (!links_next_url(&x->arena, p->root, p->raw_path, p->raw_query, &url, err)) {
        return false;
    }
    size_t used = url.len - p->root.len + s->links.base_path.len;
    p->token_room = used + LEAST_TOKEN_BYTES < most ? most - used : 0;
    return true;
}

static bool method_reads(enum http_method method)
{
    return method == HTTP_GET || method == HTTP_HEAD;
}

bool prepare(struct http_exchange *x, const struct service *s, const struct document *document,
             const struct route_target *target, struct prepared *out, struct odata_error *err)
{
    struct resource_path path;
    struct query query;
    const struct query_limits limits = {s->config->max_filter_depth, s->config->max_expand_depth};
    out->raw_path = target->raw_path;
    out->raw_query = target->raw_query;
    memset(&path, 0, sizeof(path));
    memset(&query, 0, sizeof(query));
    if (!path_parse(&x->arena, out->raw_path, &path, err) || !route_check_segments(&path, err)) {
        return false;
    }
    if (route_is_query(x->head.method, &path)) {
        if (!take_query_body(x, out, &path, err)) {
            return false;
        }
    } else if (!method_reads(x->head.method) || ends_in_query(&path)) {
        return refuse_method(x, document, s, out, &path, err);
    }
    bool trusted = s->config->trusted_proxies.count > 0 && x->peer != NULL &&
                   config_networks_contain(&s->config->trusted_proxies, x->peer);
    prefer_parse(x->head.fields[FIELD_PREFER], &out->preferences);
    out->format = (struct response_format){.version = out->version, .media = MEDIA_JSON};
    if (!query_parse(&x->arena, out->raw_query, &limits, &query, err) ||
        !links_service_root(&x->arena, &s->links, &x->head, trusted, &out->root, err)) {
        return false;
    }
    bool by_id = entity_id_is(&path);
    if ((by_id && !entity_id_resolve(&x->arena, out->root, &query, &path, err)) ||
        (!ends_in_value(&path) && !negotiate(x, resource_of(&path), &query, out, err))) {
        return false;
    }
    timing_mark(out->timing, TIMING_PARSED);
    return measure_link(x, s, out, err) && bind_plan(x, document, s, out, &path, &query, err) &&
           (!by_id || entity_id_check(out->plan, err));
}

bool prepare_openapi(struct http_exchange *x, const struct service *s,
                     const struct document *document, struct str raw_query, struct prepared *out,
                     struct odata_error *err)
{
    const struct resource_path root = {.count = 0}; /* a document takes the same options there */
    const struct query_limits limits = {s->config->max_filter_depth, s->config->max_expand_depth};
    struct query query;
    memset(&query, 0, sizeof(query));
    out->format = (struct response_format){.version = out->version, .media = MEDIA_JSON};
    return query_parse(&x->arena, raw_query, &limits, &query, err) &&
           negotiate(x, MEDIA_OF_DATA, &query, out, err) &&
           bind_plan(x, document, s, out, &root, &query, err);
}

unsigned prepare_applied(const struct prepared *p)
{
    const struct preferences *wanted = &p->preferences;
    const struct plan *plan = p->plan;
    unsigned done = 0;
    if (wanted->max_page_size > 0 && p->token_room > 0 &&
        (plan->kind == PLAN_COLLECTION || plan->nested_pages) &&
        !response_format_is_rows(&p->format)) {
        done |= PREFER_APPLIED_PAGE_SIZE;
    }
    if (wanted->omit_values != PREFER_OMIT_NOTHING && p->format.media != MEDIA_CSV &&
        (plan->kind == PLAN_COLLECTION || plan->kind == PLAN_ENTITY)) {
        done |= PREFER_APPLIED_OMIT;
    }
    return done;
}

bool prepare_next_url(struct http_exchange *x, const struct prepared *p, struct str *out_url,
                      struct odata_error *err)
{
    if (p->plan->kind != PLAN_COLLECTION || !p->plan->read->resumable ||
        response_format_is_rows(&p->format) || p->token_room == 0) {
        *out_url = STR("");
        return true;
    }
    return links_next_url(&x->arena, p->root, p->raw_path, p->raw_query, out_url, err);
}

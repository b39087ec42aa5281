// SPDX-License-Identifier: Apache-2.0
#include "server/reply.h"

#include <stdio.h>
#include <string.h>

#include "odata/error_writer.h"
#include "odata/media_type.h"
#include "odata/odata_version.h"
#include "server/auth.h"

#define REALM "sluice"

void reply_begin(struct http_exchange *x, const struct service *s, int status,
                 enum odata_version version)
{
    x->response.status = status;
    x->response.kind = HTTP_BODY_BUFFER;
    x->response.body = STR("");
    http_response_header(x, "OData-Version", odata_version_text(version));
    http_response_header(x, "Vary", s->vary);
    const char *origin = cors_allow_origin(&s->cors, &x->arena, &x->head);
    if (origin != NULL) {
        http_response_header(x, "Access-Control-Allow-Origin", origin);
        http_response_header(x, "Access-Control-Expose-Headers", CORS_EXPOSE_HEADERS);
    }
}

/* A field's value is written into the arena; failed when that has no room. */
static void begin_field(struct http_exchange *x, struct bytes *text)
{
    enum {
        LONGEST = 256,
    };
    *text = (struct bytes){
        .ptr = arena_alloc(&x->arena, LONGEST + 1), .cap = LONGEST, .limit = LONGEST};
    text->failed = text->ptr == NULL;
}

/* A field without a value, or without memory for it, is left out. */
static void end_field(struct http_exchange *x, const char *name, struct bytes *text)
{
    if (!bytes_failed(text) && text->len > 0) {
        text->ptr[text->len] = '\0';
        http_response_header(x, name, text->ptr);
    }
}

void reply_content_type(struct http_exchange *x, const struct response_format *format)
{
    struct bytes text = {
        .ptr = x->response.content_type, .cap = HTTP_LONGEST_TYPE, .limit = HTTP_LONGEST_TYPE};
    media_type_put(&text, format);
    end_field(x, "Content-Type", &text);
}

void reply_preferences(struct http_exchange *x, const struct preferences *p, unsigned applied)
{
    struct bytes text;
    if (applied != 0) {
        begin_field(x, &text);
        prefer_put_applied(&text, p, applied);
        end_field(x, "Preference-Applied", &text);
    }
}

void reply_timing(struct http_exchange *x, struct timing *timing)
{
    struct bytes text;
    if (timing->on) {
        begin_field(x, &text);
        timing_mark(timing, TIMING_ANSWERED);
        timing_put(&text, timing);
        end_field(x, "Server-Timing", &text);
    }
}

void reply_body(struct http_exchange *x, struct str body)
{
    x->response.kind = HTTP_BODY_BUFFER;
    x->response.body = body;
}

void reply_document(struct http_exchange *x, const struct service *s, enum odata_version version,
                    const struct document_text *text)
{
    bool known = document_etag_matches(x->head.fields[FIELD_IF_NONE_MATCH], text->etag);
    reply_begin(x, s, known ? 304 : 200, version);
    http_response_header(x, "ETag", text->etag);
    /* Of a 304 only the length is sent, which must be that of the 200 (RFC 9110 8.6). */
    reply_body(x, bytes_str(&text->body));
    if (!known) {
        http_response_header(x, "Content-Type", text->content_type);
    }
}

/* How to come again, for each kind of credentials (RFC 9110 11.6.1, RFC 6750 3). */
static void put_challenges(struct http_exchange *x, const struct service *s,
                           const struct odata_error *err)
{
    if (s->takes_passwords && auth_is_private(s->config, x)) {
        http_response_header(x, "WWW-Authenticate", "Basic realm=\"" REALM "\", charset=\"UTF-8\"");
    }
    if (s->takes_tokens) {
        bool had_one = strcmp(err->code, ODATA_CODE_INVALID_TOKEN) == 0;
        http_response_header(x, "WWW-Authenticate",
                             had_one ? "Bearer realm=\"" REALM "\", error=\"invalid_token\""
                                     : "Bearer realm=\"" REALM "\"");
    }
}

void reply_error(struct http_exchange *x, const struct service *s, enum odata_version version,
                 const struct odata_error *err)
{
    x->response = (struct http_response){.status = 0};
    reply_begin(x, s, err->http_status, version);
    reply_content_type(x, &(struct response_format){.version = version, .media = MEDIA_JSON});
    if (err->retry_after_s > 0) {
        snprintf(x->response.retry_after, sizeof(x->response.retry_after), "%d",
                 err->retry_after_s);
        http_response_header(x, "Retry-After", x->response.retry_after);
    }
    if (err->http_status == 401) {
        put_challenges(x, s, err);
    }
    if (err->http_status == 405) {
        http_response_header(x, "Allow", route_allow(x->target));
    }
    bytes_clear(&x->out);
    error_writer_put(&x->out, err);
    /* Without memory for the message, the status still says what it is. */
    reply_body(x,
               bytes_failed(&x->out)
                   ? STR("{\"error\":{\"code\":\"InternalError\",\"message\":\"memory is short\"}}")
                   : bytes_str(&x->out));
}

void reply_options(struct http_exchange *x, const struct service *s)
{
    reply_begin(x, s, 204, ODATA_4_0);
    http_response_header(x, "Allow", route_allow(x->target));
    if (cors_is_preflight(&x->head) && cors_allow_origin(&s->cors, &x->arena, &x->head) != NULL) {
        http_response_header(x, "Access-Control-Allow-Methods", ROUTE_ALLOW ", POST");
        http_response_header(x, "Access-Control-Allow-Headers",
                             cors_allow_headers(&x->arena, &x->head));
        http_response_header(x, "Access-Control-Max-Age", "86400");
    }
}

static void reply_text(struct http_exchange *x, const struct service *s, int status,
                       struct str text)
{
    reply_begin(x, s, status, ODATA_4_0);
    http_response_header(x, "Content-Type", "text/plain;charset=utf-8");
    http_response_header(x, "Cache-Control", "no-store");
    reply_body(x, text);
}

void reply_health(struct http_exchange *x, const struct service *s)
{
    reply_text(x, s, 200, STR("ok\n"));
}

void reply_ready(struct http_exchange *x, const struct service *s)
{
    bool connected = false;
    for (size_t i = 0; i < s->worker_count; i++) {
        connected = connected || metrics_get(s->metrics[i], METRIC_READY) != 0;
    }
    if (atomic_load(&s->draining)) {
        reply_text(x, s, 503, STR("draining\n"));
    } else if (!atomic_load(&s->has_handed_out_model)) {
        reply_text(x, s, 503, STR("the model is not loaded\n"));
    } else if (!connected) {
        reply_text(x, s, 503, STR("no connection to the database works\n"));
    } else {
        reply_text(x, s, 200, STR("ready\n"));
        return;
    }
    http_response_header(x, "Retry-After", "1");
}

void reply_metrics(struct http_exchange *x, const struct service *s)
{
    struct odata_error err;
    bytes_clear(&x->out);
    metrics_write(s->metrics, s->worker_count, &x->out);
    bytes_format(&x->out,
                 "# HELP sluice_model_loads_total Times the catalog was read.\n"
                 "# TYPE sluice_model_loads_total counter\n"
                 "sluice_model_loads_total{result=\"ok\"} %llu\n"
                 "sluice_model_loads_total{result=\"failed\"} %llu\n",
                 (unsigned long long)atomic_load(&s->model_loads),
                 (unsigned long long)atomic_load(&s->model_load_failures));
    if (bytes_failed(&x->out)) {
        bytes_fail(&x->out, &err);
        reply_error(x, s, ODATA_4_0, &err);
        return;
    }
    reply_begin(x, s, 200, ODATA_4_0);
    http_response_header(x, "Content-Type", "text/plain;version=0.0.4;charset=utf-8");
    reply_body(x, bytes_str(&x->out));
}

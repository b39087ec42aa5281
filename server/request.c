// SPDX-License-Identifier: Apache-2.0
#include "server/request.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "odata/feed_writer.h"
#include "odata/service_doc.h"
#include "server/links.h"
#include "server/prepare.h"
#include "server/reply.h"
#include "server/request_end.h"
#include "server/request_rows.h"

enum {
    /* The first rows wait so long for the rest of a short document, which then has a length. */
    GRACE_MS = 20,
    /* A stream is refilled in parts of so much: the socket's own buffer is behind it, and so a
       slow reader holds less than the buffer that decided whether the document is short. */
    STREAM_PART_BYTES = 64 * 1024,
    /* A buffer grows by doubling: ending a little below the mark, it does not double for the rest
       of the last row. */
    ROW_SLACK_PART = 16,
};

/* NEW -> READING -> STREAMING -> COMPLETE; NEW, READING -> COMPLETE; all but COMPLETE -> FAILED. */
enum request_state {
    REQUEST_NEW,       /* no answer, nothing asked */
    REQUEST_READING,   /* rows go into the buffer; no answer yet */
    REQUEST_STREAMING, /* the answer has begun; there may be more rows */
    REQUEST_COMPLETE,  /* everything that will be sent is in the buffer */
    REQUEST_FAILED,    /* an error document is the answer, or a begun one is broken off */
};

struct request {
    struct http_exchange *x;
    struct request_env *env;
    struct document *document;
    enum request_state state;
    uint64_t id;
    struct prepared p;
    const struct db_rights *rights; /* whose it asks with; NULL: the role's that logs in */
    struct helper_wait wait;        /* NEW: for who it is, and for the document of that role */
    enum route where;
    struct route_target target;
    struct request_rows data;
    size_t taken; /* bytes of x->out that are sent already */
    uint64_t rows;
    struct timer grace;
    struct timing timing;
    bool streams;           /* the answer went out in chunks */
    bool ended_early;       /* with a next link, to drain */
    bool draining;          /* broken off because the service stops */
    struct odata_error err; /* the failure, for the log */
};

static bool may_enter(enum request_state from, enum request_state to)
{
    switch (from) {
    case REQUEST_NEW:
        return to != REQUEST_STREAMING;
    case REQUEST_READING:
    case REQUEST_STREAMING:
        return to > from;
    case REQUEST_COMPLETE:
    case REQUEST_FAILED:
        return false;
    }
    return false;
}

/* The only place that writes r->state. */
static void request_enter(struct request *r, enum request_state to)
{
    assert(may_enter(r->state, to));
    r->state = to;
}

static struct request *request_of(const struct http_exchange *x)
{
    return x->owner;
}

/* It has a connection to PostgreSQL: what it waited for is over. */
static void on_seated(void *ctx)
{
    struct request *r = ctx;
    timing_mark(&r->timing, TIMING_SEATED);
}

/* No more rows: the connection to PostgreSQL goes back before the body is sent. */
static void stop_reading(struct request *r)
{
    if (r->data.writer != NULL) {
        r->rows = feed_writer_rows(r->data.writer);
    }
    request_rows_close(&r->data);
    helper_call_leave(&r->wait);
    loop_set_timer(r->env->loop, &r->grace, 0);
}

/* Answers. */

/* x->response is filled in. */
static void send_response(struct request *r)
{
    reply_timing(r->x, &r->timing);
    http_respond(r->x);
}

static void respond_error(struct request *r)
{
    stop_reading(r);
    request_enter(r, REQUEST_FAILED);
    reply_error(r->x, r->env->service, r->p.version, &r->err);
    send_response(r);
}

static void respond(struct request *r)
{
    request_enter(r, REQUEST_COMPLETE);
    send_response(r);
}

static void begin_data(struct request *r, int status)
{
    struct http_exchange *x = r->x;
    reply_begin(x, r->env->service, status, r->p.version);
    if (status != 204) {
        reply_content_type(x, &r->p.format);
    }
    reply_preferences(x, &r->p.preferences, prepare_applied(&r->p));
}

/* The document is complete and was short: it goes out with its length. */
static void respond_whole(struct request *r)
{
    bool one = r->p.plan->kind != PLAN_COLLECTION && r->p.plan->kind != PLAN_COUNT;
    bool is_null = feed_writer_is_null(r->data.writer);
    bool missing = one && feed_writer_rows(r->data.writer) == 0 && !is_null;
    stop_reading(r);
    if (missing && !r->p.plan->missing_is_no_content) {
        odata_error_set(&r->err, 404, ODATA_CODE_NOT_FOUND, "", "there is no such entity");
        respond_error(r);
        return;
    }
    begin_data(r, missing || is_null ? 204 : 200);
    reply_body(r->x, missing || is_null ? STR("") : bytes_str(&r->x->out));
    respond(r);
}

/* What is in the buffer begins the answer; the rest will follow it. */
static void begin_stream(struct request *r)
{
    loop_set_timer(r->env->loop, &r->grace, 0);
    if (r->x->head.http_1_0 && response_format_is_rows(&r->p.format)) {
        /* Such a body ends where the connection does, and lines have no end mark of their own. */
        odata_error_set(&r->err, 400, ODATA_CODE_BAD_REQUEST, "",
                        "this format needs HTTP/1.1 for a result of this size: with HTTP/1.0 "
                        "nobody could tell its end from a break");
        respond_error(r);
        return;
    }
    begin_data(r, 200);
    if (r->x->head.method == HTTP_HEAD) {
        stop_reading(r);
        r->x->response.kind = HTTP_BODY_HIDDEN;
        respond(r);
        return;
    }
    r->streams = true;
    r->x->response.kind = HTTP_BODY_STREAM;
    request_enter(r, REQUEST_STREAMING);
    metrics_add(r->env->metrics, METRIC_STREAMS_STARTED, 1);
    metrics_add(r->env->metrics, METRIC_STREAMS_RUNNING, 1);
    send_response(r);
}

static enum step write_rows(struct request *r)
{
    size_t high_mark = r->env->service->config->buffer_bytes;
    if (r->state == REQUEST_STREAMING && high_mark > STREAM_PART_BYTES) {
        high_mark = STREAM_PART_BYTES;
    }
    enum step step =
        feed_writer_step(r->data.writer, high_mark - high_mark / ROW_SLACK_PART, &r->err);
    if (UNLIKELY(r->timing.on) && r->timing.at_us[TIMING_FIRST_ROW] == 0 &&
        (step == STEP_END || feed_writer_rows(r->data.writer) > 0)) {
        timing_mark(&r->timing, TIMING_FIRST_ROW);
    }
    if (step == STEP_FAIL && bytes_failed(&r->x->out) &&
        strcmp(r->err.code, ODATA_CODE_MODEL_CHANGED) == 0) {
        /* A composite type was made anew with other attributes, for example: storage has compared
           the types that are PostgreSQL's own. */
        const struct service *s = r->env->service;
        metrics_add(r->env->metrics, METRIC_MODEL_STALE, 1);
        if (s->model_stale != NULL) {
            s->model_stale(s->model_stale_ctx);
        }
    }
    return step;
}

/* READING: no byte of the answer is out. */
static void read_more(struct request *r)
{
    switch (write_rows(r)) {
    case STEP_OK:
        begin_stream(r);
        break;
    case STEP_AGAIN:
        if (r->grace.deadline_ms == 0 && feed_writer_rows(r->data.writer) > 0) {
            loop_set_timer(r->env->loop, &r->grace, loop_now_ms(r->env->loop) + GRACE_MS);
        }
        break;
    case STEP_END:
        respond_whole(r);
        break;
    case STEP_FAIL:
        respond_error(r);
        break;
    }
}

static void on_grace(struct timer *t, int64_t now_ms)
{
    (void)now_ms;
    struct request *r = t->owner;
    if (r->state == REQUEST_READING) {
        begin_stream(r);
    }
}

/* STREAMING with an empty buffer: fills it again. */
static enum step stream_more(struct request *r)
{
    struct bytes *out = &r->x->out;
    if (out->cap > STREAM_PART_BYTES) {
        /* The first part was larger, or a huge row has blown it up. */
        size_t limit = out->limit;
        bytes_fini(out);
        bytes_init(out, limit);
    }
    bytes_clear(out);
    r->taken = 0;
    enum step step = write_rows(r);
    switch (step) {
    case STEP_OK:
    case STEP_AGAIN:
        break;
    case STEP_END:
        stop_reading(r);
        request_enter(r, REQUEST_COMPLETE);
        break;
    case STEP_FAIL:
        stop_reading(r);
        request_enter(r, REQUEST_FAILED);
        break;
    }
    return step;
}

/* Rows have come, or a failure; never from inside a call of ours. */
static void on_rows(void *ctx)
{
    struct request *r = ctx;
    switch (r->state) {
    case REQUEST_READING:
        read_more(r);
        break;
    case REQUEST_STREAMING:
        /* Only a stream that waits is to be woken, and only when there is something for it. */
        if ((r->taken == r->x->out.len && stream_more(r) != STEP_AGAIN) ||
            r->x->out.len > r->taken) {
            http_resume(r->x);
        }
        break;
    case REQUEST_NEW:
    case REQUEST_COMPLETE:
    case REQUEST_FAILED:
        break;
    }
}

/* Starting. */

static bool open_rows(struct request *r)
{
    const struct rows_options options = {
        .x = r->x,
        .env = r->env,
        .p = &r->p,
        .id = r->id,
        .read = {.wake = on_rows,
                 .seated = r->timing.on ? on_seated : NULL,
                 .ctx = r,
                 .rights = r->rights},
    };
    return request_rows_open(&r->data, &options, &r->err);
}

static void respond_document(struct request *r, const struct document_text *text)
{
    reply_document(r->x, r->env->service, r->p.version, text);
    respond(r);
}

static void respond_service_document(struct request *r)
{
    struct http_exchange *x = r->x;
    struct str context;
    bool whole = links_context_url(&x->arena, r->p.root, STR(""), &context, &r->err);
    if (whole) {
        service_doc_put(&x->out, r->document->model, &r->p.format, context);
        whole = !bytes_failed(&x->out) || bytes_fail(&x->out, &r->err);
    }
    if (!whole) {
        respond_error(r);
        return;
    }
    begin_data(r, 200);
    reply_body(x, bytes_str(&x->out));
    respond(r);
}

static bool may_read(struct request *r)
{
    if (r->x->head.method == HTTP_GET || r->x->head.method == HTTP_HEAD) {
        return true;
    }
    odata_error_set(&r->err, 405, ODATA_CODE_METHOD_NOT_ALLOWED, "", "GET is the method here");
    respond_error(r);
    return false;
}

static void start_openapi(struct request *r)
{
    const struct document_text *text = NULL;
    if (!prepare_openapi(r->x, r->env->service, r->document, r->target.raw_query, &r->p, &r->err) ||
        !document_openapi(r->document, &text, &r->err)) {
        respond_error(r);
        return;
    }
    respond_document(r, text);
}

static void start_data(struct request *r)
{
    if (!prepare(r->x, r->env->service, r->document, &r->target, &r->p, &r->err)) {
        respond_error(r);
        return;
    }
    if (r->p.plan->kind == PLAN_METADATA) {
        respond_document(r, document_metadata(r->document, r->p.version, r->p.format.media));
        return;
    }
    if (r->p.plan->kind == PLAN_SERVICE_DOCUMENT) {
        respond_service_document(r);
        return;
    }
    if (!open_rows(r)) {
        respond_error(r);
        return;
    }
    request_enter(r, REQUEST_READING);
    read_more(r);
}

/* document: what the request may know of; lent. */
static void start_with(struct request *r, struct document *document)
{
    r->document = document_retain(document);
    if (r->where == ROUTE_OPENAPI) {
        start_openapi(r);
    } else {
        start_data(r);
    }
}

static void on_role_document(struct helper_wait *wait, void *result, const struct odata_error *err)
{
    struct request *r = wait->owner;
    if (result != NULL) {
        start_with(r, result);
        return;
    }
    r->err = *err;
    respond_error(r);
}

/* By the document of the request's role: the worker's own, or one that is fetched first. */
static void start(struct request *r)
{
    const struct request_env *env = r->env;
    if (env->document == NULL) {
        odata_error_set(&r->err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "",
                        "the model is not loaded yet: the database does not answer");
        r->err.retry_after_s = 1;
        respond_error(r);
        return;
    }
    struct document *document = env->document;
    if (UNLIKELY(r->rights != NULL) &&
        strcmp(r->rights->role, env->service->config->anonymous_role) != 0) {
        document = role_documents_find(env->roles, r->rights->role);
    }
    if (document != NULL) {
        start_with(r, document);
        return;
    }
    r->wait = (struct helper_wait){.done = on_role_document, .owner = r};
    if (!role_documents_wait(env->roles, r->rights->role, &r->wait, &r->err)) {
        respond_error(r);
    }
}

/* It is known whose rights it has, or nobody asks. */
static void start_as(struct request *r)
{
    if (r->where == ROUTE_ODATA || may_read(r)) {
        start(r);
    }
}

static void on_identified(struct helper_wait *wait, void *result, const struct odata_error *err)
{
    struct request *r = wait->owner;
    r->err = *err;
    if (result != NULL && auth_copy_rights(&r->x->arena, result, &r->rights, &r->err)) {
        r->err = (struct odata_error){.http_status = 0};
        start_as(r);
    } else {
        respond_error(r);
    }
}

static void identify(struct request *r)
{
    r->wait = (struct helper_wait){.done = on_identified, .owner = r};
    switch (auth_identify(r->env->auth, r->x, (int64_t)time(NULL), &r->wait, &r->rights, &r->err)) {
    case AUTH_KNOWN:
        start_as(r);
        break;
    case AUTH_REFUSED:
        respond_error(r);
        break;
    case AUTH_LATER:
        break;
    }
}

/* What only says something about the server. */
static void start_admin(struct request *r,
                        void (*reply)(struct http_exchange *x, const struct service *s))
{
    if (!may_read(r)) {
        return;
    }
    reply(r->x, r->env->service);
    respond(r);
}

static void route(struct request *r)
{
    struct http_exchange *x = r->x;
    r->where = route_find(&r->env->service->routes, x->target, x->admin, &r->target);
    if (x->head.method == HTTP_OPTIONS && r->where != ROUTE_NOT_FOUND) {
        reply_options(x, r->env->service);
        respond(r);
        return;
    }
    switch (r->where) {
    case ROUTE_HEALTH:
        start_admin(r, reply_health);
        return;
    case ROUTE_READY:
        start_admin(r, reply_ready);
        return;
    case ROUTE_METRICS:
        start_admin(r, reply_metrics);
        return;
    case ROUTE_SERVER:
    case ROUTE_NOT_FOUND:
        odata_error_set(&r->err, 404, ODATA_CODE_NOT_FOUND, "", "there is nothing at this path");
        respond_error(r);
        return;
    case ROUTE_OPENAPI:
    case ROUTE_ODATA:
        break;
    }
    if (!prepare_version(x, &r->p.version, &r->err)) {
        respond_error(r);
        return;
    }
    if (UNLIKELY(r->env->auth != NULL)) {
        identify(r);
    } else {
        start_as(r);
    }
}

static struct request *request_new(struct http_exchange *x)
{
    struct request_env *env = x->ctx;
    struct request *r = ARENA_NEW(&x->arena, struct request);
    if (r == NULL) {
        return NULL;
    }
    r->x = x;
    r->env = env;
    r->id = env->next_id++;
    r->grace = (struct timer){.due = on_grace, .owner = r};
    r->timing.on = env->service->config->server_timing;
    r->p.timing = &r->timing;
    timing_mark(&r->timing, TIMING_BEGUN);
    x->owner = r;
    metrics_add(env->metrics, METRIC_REQUESTS_RUNNING, 1);
    return r;
}

/* Memory is so short that there is not even a request: the barest answer. */
static void respond_without_memory(struct http_exchange *x)
{
    x->response = (struct http_response){
        .status = 503, .kind = HTTP_BODY_BUFFER, .body = STR(""), .close = true};
    http_response_header(x, "OData-Version", "4.0");
    http_response_header(x, "Retry-After", "1");
}

static void on_start(struct http_exchange *x)
{
    struct request *r = request_new(x);
    if (r == NULL) {
        respond_without_memory(x);
        http_respond(x);
        return;
    }
    route(r);
}

static void on_refuse(struct http_exchange *x, const struct odata_error *err)
{
    struct request *r = request_new(x);
    if (r == NULL) {
        respond_without_memory(x);
        return;
    }
    r->err = *err;
    request_enter(r, REQUEST_FAILED);
    reply_error(x, r->env->service, ODATA_4_0, err);
    reply_timing(r->x, &r->timing);
}

static enum step on_read(struct http_exchange *x, char *buf, size_t max, size_t *out_len)
{
    struct request *r = request_of(x);
    if (r->state == REQUEST_FAILED) {
        return STEP_FAIL;
    }
    if (r->taken == x->out.len) {
        if (r->state == REQUEST_COMPLETE) {
            return STEP_END;
        }
        enum step step = stream_more(r);
        if (step == STEP_FAIL || x->out.len == 0) {
            return step;
        }
    }
    size_t left = x->out.len - r->taken;
    size_t part = left < max ? left : max;
    memcpy(buf, x->out.ptr + r->taken, part);
    r->taken += part;
    *out_len = part;
    return STEP_OK;
}

static void on_overdue(struct http_exchange *x)
{
    struct request *r = request_of(x);
    odata_error_set(&r->err, 504, ODATA_CODE_DATABASE_TIMEOUT, "",
                    "the request took longer than it may until its first byte");
    respond_error(r);
}

/* The end. */

static void on_end(struct http_exchange *x, enum http_end how)
{
    struct request *r = request_of(x);
    int64_t duration_us = timing_now_us() - x->started_us;
    stop_reading(r);
    const struct request_end end = {
        .x = x,
        .how = how,
        .id = r->id,
        .rows = r->rows,
        .duration_us = duration_us,
        .streams = r->streams,
        .ended_early = r->ended_early,
        .draining = r->draining,
        .role = r->rights == NULL ? NULL : r->rights->role,
        .err = &r->err,
    };
    request_end_count(r->env->metrics, &end);
    request_end_log(r->env->log, &end);
    document_release(r->document);
    x->owner = NULL;
}

void request_handler(struct request_env *env, struct http_handler *out_handler)
{
    *out_handler = (struct http_handler){
        .ctx = env,
        .start = on_start,
        .refuse = on_refuse,
        .read = on_read,
        .overdue = on_overdue,
        .end = on_end,
    };
}

void request_end_early(struct http_exchange *x)
{
    struct request *r = request_of(x);
    if (r->data.writer != NULL && r->p.plan->kind == PLAN_COLLECTION) {
        r->ended_early = feed_writer_end_early(r->data.writer) || r->ended_early;
    }
}

void request_abort_for_drain(struct http_exchange *x)
{
    struct request *r = request_of(x);
    r->draining = true;
    http_abort(x);
}

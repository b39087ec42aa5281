// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "server/http_priv.h"

enum {
    /* A body that is a little too long is still read, so that the client reads the 413. */
    DRAIN_BYTES = 256 * 1024,
    BODY_BYTES_A_MS = 16,
    LONGEST_BODY_MS = 60000,
    /* Shorter bodies are not coded: a packet is a packet. */
    LEAST_CODED_BYTES = 1024,
    /* Up to this a body is coded as a whole, and its length is known. */
    MOST_CODED_AT_ONCE = 64 * 1024,
};

/* libmicrohttpd's callbacks. */

static struct http_conn *conn_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/*
 * `http://host/path` is another way to write `/path` (RFC 9112 3.2.2): proxies send it. The host is
 * compared with the Host field later.
 */
static struct str without_authority(struct str target, struct str *out_authority)
{
    *out_authority = STR("");
    size_t scheme = str_ieq(str_slice(target, 0, 7), STR("http://"))    ? 7
                    : str_ieq(str_slice(target, 0, 8), STR("https://")) ? 8
                                                                        : 0;
    if (scheme == 0) {
        return target;
    }
    size_t path = str_find(target, '/', scheme);
    *out_authority = str_slice(target, scheme, path);
    return path == target.len ? STR("/") : str_from_offset(target, path);
}

/*
 * The request line is here, not decoded and not split: what is returned becomes the request's
 * pointer in all later callbacks.
 */
void *http_on_target(void *cls, const char *target, struct MHD_Connection *mhd)
{
    (void)cls;
    struct http_conn *c = conn_of(mhd);
    struct http_exchange *x = c == NULL ? NULL : http_exchange_new(c);
    if (x == NULL) {
        return NULL;
    }
    c->exchange = x;
    c->used = true;
    c->http->progress = true;
    http_deadline_in(c, c->http->options.header_timeout_ms);
    size_t length = strlen(target);
    if (length > c->http->options.max_url_bytes) {
        odata_error_set(&x->refusal, 414, ODATA_CODE_URI_TOO_LONG, "",
                        "the URL is longer than %zu bytes", c->http->options.max_url_bytes);
        length = 128; /* for the log */
    }
    if (!arena_copy(&x->arena, (struct str){target, length}, &x->target)) {
        arena_fail(&x->arena, &x->refusal);
    }
    x->target = without_authority(x->target, &x->authority);
    return x;
}

/* Nothing is decoded by libmicrohttpd: a %2F in a key would become a separator. */
size_t http_on_unescape(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls;
    (void)mhd;
    return strlen(text);
}

static enum MHD_Result on_field(void *cls, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    struct http_exchange *x = cls;
    http_head_add(&x->head, (struct str){name, name_len},
                  value == NULL ? STR("") : (struct str){value, value_len});
    return MHD_YES;
}

/* A value with other bytes could make a second field, or upset a proxy. */
static bool is_field_value(const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at < 0x20 || *at > 0x7e) {
            return false;
        }
    }
    return value[0] != '\0';
}

static enum step read_handler(void *ctx, char *buf, size_t max, size_t *out_len)
{
    struct http_exchange *x = ctx;
    return x->conn->http->handler.read(x, buf, max, out_len);
}

static enum step read_body(struct http_exchange *x, char *buf, size_t max, size_t *out_len)
{
    if (x->encoder == NULL) {
        return x->conn->http->handler.read(x, buf, max, out_len);
    }
    const struct encoder_source source =
        x->is_text ? encoder_text_source(&x->text_left)
                   : (struct encoder_source){.read = read_handler, .ctx = x};
    return encoder_read(x->encoder, &source, buf, max, out_len);
}

static ssize_t on_read(void *cls, uint64_t pos, char *buf, size_t max)
{
    (void)pos;
    struct http_exchange *x = cls;
    struct http *h = x->conn->http;
    if (x->state == EXCHANGE_BROKEN) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (x->state == EXCHANGE_STARVED) {
        http_enter(x, EXCHANGE_SENDING);
    }
    size_t got = 0;
    switch (read_body(x, buf, max, &got)) {
    case STEP_OK:
        h->progress = true;
        x->sent_bytes += got;
        return (ssize_t)got;
    case STEP_AGAIN:
        http_enter(x, EXCHANGE_STARVED);
        http_suspend(x);
        return 0;
    case STEP_END:
        x->how = HTTP_END_COMPLETE;
        return MHD_CONTENT_READER_END_OF_STREAM;
    case STEP_FAIL:
        break;
    }
    http_break_off(x, HTTP_END_BROKEN);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static struct MHD_Response *make_response(struct http_exchange *x)
{
    const struct http_response *r = &x->response;
    switch (r->kind) {
    case HTTP_BODY_BUFFER:
        /* PERSISTENT: libmicrohttpd neither writes nor frees it, whatever its signature says. */
        return MHD_create_response_from_buffer(r->body.len, (void *)(uintptr_t)r->body.ptr,
                                               MHD_RESPMEM_PERSISTENT);
    case HTTP_BODY_STREAM:
    case HTTP_BODY_HIDDEN:
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, HTTP_POOL_BYTES / 2, on_read, x,
                                                 NULL);
    }
    return NULL;
}

/* False when memory is short. */
static bool add_headers(struct MHD_Response *response, const struct http_response *r)
{
    bool whole = true;
    for (size_t i = 0; i < r->header_count && whole; i++) {
        whole =
            !is_field_value(r->headers[i].value) ||
            MHD_add_response_header(response, r->headers[i].name, r->headers[i].value) == MHD_YES;
    }
    return whole;
}

static const char *response_header(const struct http_response *r, const char *name)
{
    for (size_t i = 0; i < r->header_count; i++) {
        if (strcmp(r->headers[i].name, name) == 0) {
            return r->headers[i].value;
        }
    }
    return "";
}

/*
 * A short body is coded at once; one that has no end yet, or a long one, while it is sent. HEAD says what
 * GET would say. Without memory the body goes as it is.
 */
static void code_body(struct http_exchange *x)
{
    struct http_response *r = &x->response;
    bool is_long = r->body.len > MOST_CODED_AT_ONCE;
    enum content_coding coding = CODING_IDENTITY;
    /* A 304 has no type, and the length of what is not sent: a document's. */
    bool helps =
        r->status == 304 || content_coding_helps(str_from(response_header(r, "Content-Type")));
    if (x->conn->http->options.compression && helps &&
        (r->kind != HTTP_BODY_BUFFER || r->body.len >= LEAST_CODED_BYTES)) {
        coding = content_coding_choose(x->head.fields[FIELD_ACCEPT_ENCODING]);
    }
    if (coding == CODING_IDENTITY) {
        return;
    }
    if (r->kind == HTTP_BODY_BUFFER && !is_long) {
        if (!encoder_code(coding, r->body, &x->coded)) {
            return;
        }
        r->body = bytes_str(&x->coded);
    } else if (x->head.method == HTTP_HEAD || r->status == 304) {
        r->kind = HTTP_BODY_HIDDEN;
    } else {
        x->encoder = encoder_new(coding);
        if (x->encoder == NULL) {
            return;
        }
        x->is_text = r->kind == HTTP_BODY_BUFFER;
        x->text_left = r->body;
        r->kind = HTTP_BODY_STREAM;
    }
    http_response_header(x, "Content-Encoding", content_coding_name(coding));
}

/* Hands x->response to libmicrohttpd. */
static enum MHD_Result queue_response(struct http_exchange *x)
{
    struct http_conn *c = x->conn;
    struct http_response *r = &x->response;
    http_end_lingering(x);
    c->http->progress = true;
    code_body(x);
    struct MHD_Response *response = make_response(x);
    if (response == NULL) {
        return MHD_NO;
    }
    bool whole = add_headers(response, r);
    if (r->kind == HTTP_BODY_HIDDEN) {
        /* libmicrohttpd ends a HEAD of unknown length with a last chunk that no client expects;
           without chunks it does not, and the connection's end is the end. */
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    } else if (r->close || c->http->draining) {
        whole = MHD_add_response_header(response, "Connection", "close") == MHD_YES && whole;
    }
    if (!whole) {
        MHD_destroy_response(response);
        return MHD_NO; /* no memory: no answer is better than one without its fields */
    }
    http_enter(x, EXCHANGE_SENDING);
    x->progress_ms = loop_now_ms(c->http->loop);
    if (r->kind == HTTP_BODY_BUFFER) {
        x->sent_bytes = x->head.method == HTTP_HEAD ? 0 : r->body.len;
    }
    http_deadline_in(c, c->http->options.stall_timeout_ms / 4 + 1);
    enum MHD_Result result = MHD_queue_response(c->mhd, (unsigned)r->status, response);
    MHD_destroy_response(response);
    return result;
}

/* Answers in the first call, which closes the connection: what follows the head is not looked at. */
static enum MHD_Result refuse(struct http_exchange *x, const struct odata_error *err)
{
    http_enter(x, EXCHANGE_ANSWERED);
    x->conn->http->handler.refuse(x, err);
    x->response.close = true;
    return queue_response(x);
}

static enum MHD_Result take_head(struct http_exchange *x, struct str method, bool http_1_0)
{
    struct http *h = x->conn->http;
    struct odata_error err;
    x->head_checked = true;
    http_head_init(&x->head, &x->arena, method, http_1_0);
    MHD_get_connection_values_n(x->conn->mhd, MHD_HEADER_KIND, on_field, x);
    if (!http_head_check(&x->head, &err)) {
        metrics_add(h->options.metrics, METRIC_REFUSED_HEADERS, 1);
        return refuse(x, &err);
    }
    if (x->refusal.http_status != 0) {
        return refuse(x, &x->refusal);
    }
    bool names_host = x->authority.len == 0 || str_ieq(x->authority, x->head.fields[FIELD_HOST]);
    bool has_path = str_starts_with(x->target, STR("/")) || str_eq(x->target, STR("*"));
    if (!names_host || !has_path) {
        metrics_add(h->options.metrics, METRIC_REFUSED_HEADERS, 1);
        odata_error_set(&err, 400, ODATA_CODE_BAD_URL, "",
                        names_host ? "the request target is not a path"
                                   : "the request target names another host than Host");
        return refuse(x, &err);
    }
    if (x->conn->overload) {
        metrics_add(h->options.metrics, METRIC_REFUSED_CONNECTIONS, 1);
        odata_error_set(&err, 503, ODATA_CODE_SERVICE_UNAVAILABLE, "", "too many connections");
        err.retry_after_s = 1;
        return refuse(x, &err);
    }
    if (x->head.content_length > h->options.max_body_bytes) {
        odata_error_set(&x->refusal, 413, ODATA_CODE_PAYLOAD_TOO_LARGE, "",
                        "the body is longer than %zu bytes", h->options.max_body_bytes);
        if (x->head.content_length > h->options.max_body_bytes + DRAIN_BYTES) {
            return refuse(x, &x->refusal);
        }
    }
    if (x->head.has_body) {
        uint64_t size =
            x->head.content_length == 0 ? h->options.max_body_bytes : x->head.content_length;
        int64_t ms = (int64_t)(size / BODY_BYTES_A_MS);
        http_deadline_in(x->conn, h->options.header_timeout_ms +
                                      (ms < LONGEST_BODY_MS ? ms : LONGEST_BODY_MS));
    }
    return MHD_YES;
}

/* False: far too much has come, and nobody will read an answer. */
static bool take_body(struct http_exchange *x, const char *data, size_t size)
{
    const struct http_options *options = &x->conn->http->options;
    x->body_seen += size;
    if (x->body_seen <= options->max_body_bytes) {
        bytes_put(&x->body_bytes, data, size);
        if (bytes_failed(&x->body_bytes) && x->refusal.http_status == 0) {
            odata_error_out_of_memory(&x->refusal);
        }
        return true;
    }
    if (x->refusal.http_status == 0) {
        odata_error_set(&x->refusal, 413, ODATA_CODE_PAYLOAD_TOO_LARGE, "",
                        "the body is longer than %zu bytes", options->max_body_bytes);
    }
    return x->body_seen <= options->max_body_bytes + DRAIN_BYTES;
}

/* The request is complete. */
static enum MHD_Result start(struct http_exchange *x)
{
    struct http_conn *c = x->conn;
    if (x->refusal.http_status != 0) {
        return refuse(x, &x->refusal);
    }
    x->body = bytes_str(&x->body_bytes);
    http_enter(x, EXCHANGE_WORKING);
    http_deadline_in(c, c->http->options.request_timeout_ms);
    c->http->handler.start(x);
    if (x->state == EXCHANGE_ANSWERED) {
        return queue_response(x);
    }
    http_linger(x);
    return MHD_YES;
}

/* Asked again for an answer that is not there: what takes longer is suspended. */
static enum MHD_Result wait_on(struct http_exchange *x)
{
    if (loop_now_ms(x->conn->http->loop) - x->lingers_since_ms >= HTTP_LINGER_MS) {
        http_suspend(x);
    }
    return MHD_YES;
}

enum MHD_Result http_on_request(void *cls, struct MHD_Connection *mhd, const char *url,
                                const char *method, const char *version, const char *data,
                                size_t *data_size, void **req_cls)
{
    (void)cls;
    (void)mhd;
    (void)url;
    struct http_exchange *x = *req_cls;
    if (x == NULL) {
        return MHD_NO; /* no memory when the request line came */
    }
    switch (x->state) {
    case EXCHANGE_RECEIVING:
        if (!x->head_checked) {
            return take_head(x, str_from(method), strcmp(version, "HTTP/1.1") != 0);
        }
        if (*data_size > 0) {
            bool goes_on = take_body(x, data, *data_size);
            *data_size = 0;
            return goes_on ? MHD_YES : MHD_NO;
        }
        return start(x);
    case EXCHANGE_WORKING:
        return wait_on(x);
    case EXCHANGE_ANSWERED:
        return queue_response(x);
    case EXCHANGE_SENDING:
    case EXCHANGE_STARVED:
    case EXCHANGE_BROKEN:
        break;
    }
    return MHD_NO;
}

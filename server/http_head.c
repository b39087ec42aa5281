// SPDX-License-Identifier: Apache-2.0
#include "server/http_head.h"

#include <string.h>

enum {
    MOST_FIELDS = 200,
    MOST_FIELD_BYTES = 32 * 1024,
    MOST_LENGTH_DIGITS = 15, /* libmicrohttpd takes 2^64-1 for "unknown" */
};

static const struct str method_names[] = {
    [HTTP_GET] = {STR_INIT("GET")},         [HTTP_HEAD] = {STR_INIT("HEAD")},
    [HTTP_POST] = {STR_INIT("POST")},       [HTTP_PUT] = {STR_INIT("PUT")},
    [HTTP_PATCH] = {STR_INIT("PATCH")},     [HTTP_DELETE] = {STR_INIT("DELETE")},
    [HTTP_OPTIONS] = {STR_INIT("OPTIONS")}, [HTTP_METHOD_UNKNOWN] = {STR_INIT("?")},
};

/* How a field that comes more than once is read. */
enum repeat {
    REPEAT_JOIN,   /* a list: joined by commas (RFC 9110 5.3) */
    REPEAT_REFUSE, /* two of them are an attack or a mistake */
    REPEAT_FIRST,
};

static const struct field_row {
    struct str name;
    enum repeat repeat;
} field_rows[FIELD_COUNT] = {
    [FIELD_HOST] = {{STR_INIT("host")}, REPEAT_REFUSE},
    [FIELD_ACCEPT] = {{STR_INIT("accept")}, REPEAT_JOIN},
    [FIELD_ACCEPT_CHARSET] = {{STR_INIT("accept-charset")}, REPEAT_JOIN},
    [FIELD_ACCEPT_ENCODING] = {{STR_INIT("accept-encoding")}, REPEAT_JOIN},
    [FIELD_PREFER] = {{STR_INIT("prefer")}, REPEAT_JOIN},
    [FIELD_ODATA_VERSION] = {{STR_INIT("odata-version")}, REPEAT_FIRST},
    [FIELD_ODATA_MAX_VERSION] = {{STR_INIT("odata-maxversion")}, REPEAT_FIRST},
    [FIELD_ODATA_ISOLATION] = {{STR_INIT("odata-isolation")}, REPEAT_FIRST},
    [FIELD_ISOLATION] = {{STR_INIT("isolation")}, REPEAT_FIRST},
    [FIELD_IF_MATCH] = {{STR_INIT("if-match")}, REPEAT_JOIN},
    [FIELD_IF_NONE_MATCH] = {{STR_INIT("if-none-match")}, REPEAT_JOIN},
    [FIELD_AUTHORIZATION] = {{STR_INIT("authorization")}, REPEAT_REFUSE},
    [FIELD_ORIGIN] = {{STR_INIT("origin")}, REPEAT_REFUSE},
    [FIELD_AC_REQUEST_METHOD] = {{STR_INIT("access-control-request-method")}, REPEAT_FIRST},
    [FIELD_AC_REQUEST_HEADERS] = {{STR_INIT("access-control-request-headers")}, REPEAT_JOIN},
    [FIELD_FORWARDED] = {{STR_INIT("forwarded")}, REPEAT_JOIN},
    [FIELD_X_FORWARDED_PROTO] = {{STR_INIT("x-forwarded-proto")}, REPEAT_JOIN},
    [FIELD_X_FORWARDED_HOST] = {{STR_INIT("x-forwarded-host")}, REPEAT_JOIN},
    [FIELD_X_FORWARDED_PORT] = {{STR_INIT("x-forwarded-port")}, REPEAT_JOIN},
    [FIELD_X_FORWARDED_PREFIX] = {{STR_INIT("x-forwarded-prefix")}, REPEAT_JOIN},
    [FIELD_CONTENT_TYPE] = {{STR_INIT("content-type")}, REPEAT_REFUSE},
    [FIELD_CONTENT_ENCODING] = {{STR_INIT("content-encoding")}, REPEAT_JOIN},
    [FIELD_CONTENT_LENGTH] = {{STR_INIT("content-length")}, REPEAT_REFUSE},
    [FIELD_TRANSFER_ENCODING] = {{STR_INIT("transfer-encoding")}, REPEAT_REFUSE},
};

struct str http_method_name(enum http_method method)
{
    return method_names[method];
}

void http_head_init(struct http_head *h, struct arena *a, struct str method, bool http_1_0)
{
    *h = (struct http_head){.method = HTTP_METHOD_UNKNOWN, .arena = a, .http_1_0 = http_1_0};
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        h->fields[i] = STR("");
    }
    for (size_t i = 0; i < HTTP_METHOD_UNKNOWN; i++) {
        if (str_eq(method_names[i], method)) {
            h->method = (enum http_method)i;
        }
    }
}

static void blame(struct http_head *h, const char *flaw)
{
    if (h->flaw == NULL) {
        h->flaw = flaw;
    }
}

/* RFC 9110 5.6.2: what a field name is made of. A blank before the colon would be part of it. */
static bool is_token(struct str s)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool alphanumeric =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alphanumeric && (c == '\0' || strchr(others, c) == NULL)) {
            return false;
        }
    }
    return s.len > 0;
}

static bool has_control(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return true;
        }
    }
    return false;
}

static enum http_field find_field(struct str name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (str_ieq(field_rows[i].name, name)) {
            return (enum http_field)i;
        }
    }
    return FIELD_COUNT;
}

static void join(struct http_head *h, struct str *field, struct str value)
{
    size_t length = field->len + 2 + value.len;
    char *joined = arena_alloc(h->arena, length);
    if (joined == NULL) {
        blame(h, "the header is too large"); /* unless memory is short: http_head_check() */
        return;
    }
    memcpy(joined, field->ptr, field->len);
    memcpy(joined + field->len, ", ", 2);
    if (value.len > 0) {
        memcpy(joined + field->len + 2, value.ptr, value.len);
    }
    *field = (struct str){joined, length};
}

void http_head_add(struct http_head *h, struct str name, struct str value)
{
    h->field_count++;
    h->field_bytes += name.len + value.len;
    if (!is_token(name)) {
        blame(h, "a header field has a name that is not a token");
        return;
    }
    if (has_control(value)) {
        blame(h, "a header field has a control character in its value");
        return;
    }
    enum http_field which = find_field(name);
    if (which == FIELD_COUNT) {
        return;
    }
    struct str *field = &h->fields[which];
    bool again = (h->seen & (1U << which)) != 0;
    h->seen |= 1U << which;
    value = str_trim(value);
    if (value.len == 0 && (which == FIELD_CONTENT_LENGTH || which == FIELD_TRANSFER_ENCODING)) {
        blame(h, "Content-Length or Transfer-Encoding is empty");
        return;
    }
    if (!again) {
        *field = value;
        return;
    }
    switch (field_rows[which].repeat) {
    case REPEAT_JOIN:
        join(h, field, value);
        break;
    case REPEAT_REFUSE:
        blame(h, "a header field that may stand once stands twice");
        break;
    case REPEAT_FIRST:
        break;
    }
}

static bool refuse(struct odata_error *err, const char *flaw)
{
    return odata_error_set(err, 400, ODATA_CODE_BAD_HEADER, "", "%s", flaw);
}

static bool check_body(struct http_head *h, struct odata_error *err)
{
    struct str length = h->fields[FIELD_CONTENT_LENGTH];
    struct str coding = h->fields[FIELD_TRANSFER_ENCODING];
    if (coding.len > 0) {
        if (length.len > 0) {
            return refuse(err, "Content-Length and Transfer-Encoding stand together");
        }
        if (h->http_1_0) {
            return refuse(err, "Transfer-Encoding in an HTTP/1.0 request");
        }
        if (!str_ieq(coding, STR("chunked"))) {
            return refuse(err, "a Transfer-Encoding other than chunked");
        }
        h->has_body = true;
        return true;
    }
    if (length.len > 0) {
        if (length.len > MOST_LENGTH_DIGITS || !str_to_u64(length, &h->content_length)) {
            return refuse(err, "Content-Length is not a number");
        }
        h->has_body = h->content_length > 0;
    }
    return true;
}

bool http_head_check(struct http_head *h, struct odata_error *err)
{
    if (h->arena->out_of_memory) {
        return odata_error_out_of_memory(err);
    }
    if (h->flaw != NULL) {
        return refuse(err, h->flaw);
    }
    if (h->field_count > MOST_FIELDS || h->field_bytes > MOST_FIELD_BYTES) {
        return odata_error_set(err, 431, ODATA_CODE_HEADERS_TOO_LARGE, "",
                               "the header has more than %d fields or %d bytes", MOST_FIELDS,
                               MOST_FIELD_BYTES);
    }
    if (!check_body(h, err)) {
        return false;
    }
    if (!h->http_1_0 && h->fields[FIELD_HOST].len == 0) {
        return refuse(err, "an HTTP/1.1 request without Host");
    }
    if (h->method == HTTP_METHOD_UNKNOWN) {
        return odata_error_set(err, 501, ODATA_CODE_NOT_IMPLEMENTED, "",
                               "a method that this service does not know");
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * http_head - the head of one request: the fields that somebody here reads, and the guard against
 * requests that two parsers could read differently.
 *
 * libmicrohttpd 0.9.75 accepts a Content-Length beside Transfer-Encoding, two of either, blanks
 * before a colon and more; a proxy in front that reads them the other way lets requests be
 * smuggled. So every field passes here before anything else looks at the request (RFC 9112 6.3).
 *
 * Owns: nothing; values are lent by whoever gave them, joined ones live in the arena.
 */
#ifndef SERVER_HTTP_HEAD_H
#define SERVER_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_METHOD_UNKNOWN,
};

/* The fields that are kept; "" when one is not there. */
enum http_field {
    FIELD_HOST,
    FIELD_ACCEPT,
    FIELD_ACCEPT_CHARSET,
    FIELD_ACCEPT_ENCODING,
    FIELD_PREFER,
    FIELD_ODATA_VERSION,
    FIELD_ODATA_MAX_VERSION,
    FIELD_ODATA_ISOLATION,
    FIELD_ISOLATION,
    FIELD_IF_MATCH,
    FIELD_IF_NONE_MATCH,
    FIELD_AUTHORIZATION,
    FIELD_ORIGIN,
    FIELD_AC_REQUEST_METHOD,
    FIELD_AC_REQUEST_HEADERS,
    FIELD_FORWARDED,
    FIELD_X_FORWARDED_PROTO,
    FIELD_X_FORWARDED_HOST,
    FIELD_X_FORWARDED_PORT,
    FIELD_X_FORWARDED_PREFIX,
    FIELD_CONTENT_TYPE,
    FIELD_CONTENT_ENCODING,
    FIELD_CONTENT_LENGTH,
    FIELD_TRANSFER_ENCODING,
    FIELD_COUNT,
};

struct http_head {
    enum http_method method;
    bool http_1_0;
    struct str fields[FIELD_COUNT];
    uint64_t content_length; /* after http_head_check() */
    bool has_body;
    /* For the guard. */
    struct arena *arena;
    size_t field_count;
    size_t field_bytes;
    uint32_t seen;    /* one bit a field: one that is there and empty counts as well */
    const char *flaw; /* the first thing that is wrong, static text */
};

void http_head_init(struct http_head *h, struct arena *a, struct str method, bool http_1_0);

/* One field, in the order of the request. */
void http_head_add(struct http_head *h, struct str name, struct str value);

/*
 * After all fields: false fills err with 400, 431, 501 or 503, and the connection must be closed after
 * that answer, since where the next request begins is not certain.
 */
bool http_head_check(struct http_head *h, struct odata_error *err) NODISCARD;

/* "GET", or "?" for HTTP_METHOD_UNKNOWN. */
struct str http_method_name(enum http_method method);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "server/cors.h"

#include <string.h>

enum {
    LONGEST_HEADER_LIST = 1024,
    LONGEST_ORIGIN = 512,
};

#define USUAL_HEADERS                                                                       \
    "content-type, accept, authorization, prefer, if-match, if-none-match, odata-version, " \
    "odata-maxversion, odata-isolation, x-csrf-token, x-requested-with, mime-version, "     \
    "sap-cancel-on-close, sap-contextid, x-sap-security-session"

bool cors_is_on(const struct cors *c)
{
    return c->count > 0;
}

const char *cors_allow_origin(const struct cors *c, struct arena *a, const struct http_head *head)
{
    struct str origin = head->fields[FIELD_ORIGIN];
    if (origin.len == 0 || origin.len > LONGEST_ORIGIN) {
        return NULL;
    }
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->origins[i], "*") == 0) {
            return "*";
        }
        if (str_ieq(str_from(c->origins[i]), origin)) {
            struct str copy;
            return arena_copy(a, origin, &copy) ? copy.ptr : NULL;
        }
    }
    return NULL;
}

bool cors_is_preflight(const struct http_head *head)
{
    return head->method == HTTP_OPTIONS && head->fields[FIELD_ORIGIN].len > 0 &&
           head->fields[FIELD_AC_REQUEST_METHOD].len > 0;
}

static bool is_header_list(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool alphanumeric =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!alphanumeric && (c == '\0' || strchr("-_, ", c) == NULL)) {
            return false;
        }
    }
    return s.len > 0 && s.len <= LONGEST_HEADER_LIST;
}

const char *cors_allow_headers(struct arena *a, const struct http_head *head)
{
    struct str asked = head->fields[FIELD_AC_REQUEST_HEADERS];
    struct str copy;
    if (is_header_list(asked) && arena_copy(a, asked, &copy)) {
        return copy.ptr;
    }
    return USUAL_HEADERS;
}

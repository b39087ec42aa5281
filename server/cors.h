// SPDX-License-Identifier: Apache-2.0
/*
 * cors - which pages of other origins may read the service (Fetch standard, CORS protocol).
 *
 * Off unless origins are configured; exact origins or `*`; never with credentials.
 */
#ifndef SERVER_CORS_H
#define SERVER_CORS_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/str.h"
#include "server/http_head.h"

struct cors {
    char *const *origins; /* count of them; "*" allows any */
    size_t count;
};

/* Cross-origin reading is on for somebody: every response depends on Origin. */
bool cors_is_on(const struct cors *c);

/*
 * The value of Access-Control-Allow-Origin for a request, ending in NUL; NULL when its origin may
 * not read, or there is none.
 */
const char *cors_allow_origin(const struct cors *c, struct arena *a, const struct http_head *head);

/* The request asks what it may do, before it does it. */
bool cors_is_preflight(const struct http_head *head);

/*
 * The value of Access-Control-Allow-Headers: those that were asked for when they are a list of
 * names, else all that a client of OData sends.
 */
const char *cors_allow_headers(struct arena *a, const struct http_head *head);

/* Response fields that a page may see. */
#define CORS_EXPOSE_HEADERS                                                            \
    "OData-Version, ETag, Location, OData-EntityId, Preference-Applied, Retry-After, " \
    "Content-Length, Date"

#endif

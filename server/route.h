// SPDX-License-Identifier: Apache-2.0
/*
 * route - where a request goes, by method and raw target alone.
 *
 * What the path means inside the service is decided by odata/path_parse and odata/bind.
 */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include <stdbool.h>

#include "odata/ast.h"
#include "odata/odata_error.h"
#include "odata/str.h"
#include "server/http_head.h"

enum route {
    ROUTE_ODATA,    /* below the service root: raw_path and raw_query are set */
    ROUTE_OPENAPI,  /* /$openapi below the service root */
    ROUTE_SERVER,   /* `OPTIONS *` */
    ROUTE_HEALTH,   /* /healthz */
    ROUTE_READY,    /* /readyz */
    ROUTE_METRICS,  /* /metrics */
    ROUTE_NOT_FOUND /* outside of the base path */
};

struct route_options {
    struct str base_path;   /* begins and ends in '/' */
    bool admin_is_separate; /* the admin paths are served on their own listener only */
};

struct route_target {
    struct str raw_path;  /* relative to the service root, without a '/' in front */
    struct str raw_query; /* without the '?'; "" when there is none */
};

#define ROUTE_ALLOW "GET, HEAD, OPTIONS"

/* The methods of a target, raw: a path that ends in /$query takes POST only (Protocol 11.2.9). */
const char *route_allow(struct str target);

enum route route_find(const struct route_options *options, struct str target, bool is_admin,
                      struct route_target *out_target);

/* A request may only read: what the last segments say about POST. */
bool route_is_query(enum http_method method, const struct resource_path *path);

/*
 * The path names something of the standard that is answered nowhere: false fills err with 501 and
 * its name.
 */
bool route_check_segments(const struct resource_path *path, struct odata_error *err);

#endif

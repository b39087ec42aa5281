// SPDX-License-Identifier: Apache-2.0
/*
 * plan - a request that has been bound to the model: what is to be read, and in what form.
 *
 * Made by odata/bind.c from the syntax tree; storage/sql_read.c turns it into SQL and a row shape.
 *
 * Owns: nothing; a plan lives in the request's arena and lends from the model, which the request
 *       retains.
 */
#ifndef ODATA_PLAN_H
#define ODATA_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/bound.h"
#include "odata/model.h"
#include "odata/odata_error.h"
#include "odata/response_format.h"

enum plan_kind {
    PLAN_SERVICE_DOCUMENT,
    PLAN_METADATA,
    PLAN_COLLECTION, /* entities, or references to them */
    PLAN_ENTITY,
    PLAN_PROPERTY,  /* one property of one entity: {"value": ...} */
    PLAN_RAW_VALUE, /* /$value */
    PLAN_COUNT,     /* /$count */
};

/* What a request is about, after binding. read is NULL for the first two kinds. */
struct plan {
    enum plan_kind kind;
    const struct entity_set *set; /* of the rows; NULL when there is none */
    struct str context_fragment; /* what stands behind `$metadata#`, percent-encoded where needed */
    const struct read *read;     /* odata/bound.h */
    enum media raw_media;        /* PLAN_RAW_VALUE: MEDIA_TEXT or MEDIA_BINARY */
    const struct property *property; /* PLAN_PROPERTY, PLAN_RAW_VALUE: the last of the path */
    bool missing_is_no_content;      /* no row: 204 (a to-one navigation), else 404 */
    bool nested_pages;               /* an expanded collection may end with a next link */
};

/* What the binder needs to know besides path and query. */
struct bind_options {
    const struct model *model;
    struct response_format format;
    uint64_t max_page_size;    /* global; 0 = none. The set's own limit is applied too */
    uint64_t client_page_size; /* Prefer: maxpagesize; 0 = not asked */
    size_t max_filter_depth;
    size_t max_expand_depth;
    size_t max_link_bytes; /* path and options of a next link below the root; 0 = no limit */
};

/*
 * Binds names and types.
 *
 * False fills err: 404 for a resource path that leads nowhere, 400 for a name or type that does not
 * fit (naming the byte), 501 for what is standard but not there yet, 400 BadSkipToken for a
 * $skiptoken that does not belong to this query.
 */
bool bind_request(struct arena *a, const struct bind_options *options,
                  const struct resource_path *path, struct query *query,
                  const struct plan **out_plan, struct odata_error *err) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog - PostgreSQL's system catalogs to a model (DESIGN: one query for each kind of thing).
 *
 * Blocks: it is called at the start and from the thread that reloads, never from a worker.
 */
#ifndef STORAGE_CATALOG_H
#define STORAGE_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/model.h"
#include "odata/odata_error.h"

/* What the configuration file says about one table or view. */
struct catalog_override {
    struct str relation; /* "schema.table", PostgreSQL's names */
    struct str name;     /* of the entity set and type; "" = by rule */
    struct str *key;     /* columns; none = as the catalog says */
    size_t key_count;
    struct str *hide; /* columns that are left out */
    size_t hide_count;
    struct str *search; /* columns that $search looks into; none = by rule */
    size_t search_count;
    struct str search_config; /* text search configuration; "" = by rule */
    uint64_t max_page_size;   /* 0 = the global one */
};

/* What is said when the role that logs in could see more than a caller's role. */
enum catalog_login {
    LOGIN_ANY,    /* nothing: callers have its rights */
    LOGIN_WARN,   /* a warning of the model */
    LOGIN_REFUSE, /* there is no model */
};

struct catalog_options {
    const char *db_uri;        /* libpq connection string or URI; "" = libpq's own variables */
    const struct str *schemas; /* exposed schemas, in order of precedence */
    size_t schema_count;
    const struct catalog_override *overrides;
    size_t override_count;
    const char *role; /* whose rights count; NULL: those of the role that logs in */
    bool sees_part;   /* overrides for what that role cannot see are passed over, not refused */
    enum catalog_login login;
    struct str
        timestamp_zone; /* of timestamp columns, a name of pg_timezone_names; "" = UTC; ends in NUL */
    int64_t timeout_ms; /* for connecting and for each query; 0 = as long as it takes */
};

/*
 * Connects, reads, builds and seals a model with one reference.
 * False fills err: 503 when the database cannot be reached, 403 when it does not let the role that
 * logs in act for options->role, 500 with the reason otherwise
 * (an override that names a table or column that is not there: err names it).
 */
bool catalog_load(const struct catalog_options *options, struct model **out_model,
                  struct odata_error *err) NODISCARD;

#endif

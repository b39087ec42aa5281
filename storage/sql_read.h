// SPDX-License-Identifier: Apache-2.0
/*
 * sql_read - a bound read as SQL statements and row shapes: all that a cursor needs to run it and
 * a feed writer to write it.
 *
 * Owns: nothing; everything lives in the request's arena.
 */
#ifndef STORAGE_SQL_READ_H
#define STORAGE_SQL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/odata_error.h"
#include "odata/plan.h"
#include "odata/shape.h"
#include "odata/str.h"

/* What a statement reads as a number, and fails with, when an entity of its path is not there. */
#define SQL_GUARD_WORD "sluice:no-such-parent"

/* One statement: text that depends on the query's shape only, values as parameters in text form. */
struct sql_statement {
    const char *text;          /* ends in NUL */
    const char *const *params; /* param_count values, each ends in NUL; NULL = SQL null */
    size_t param_count;
};

/*
 * One level of rows. Level 0 is the request; every other one is an expanded collection, read with
 * one statement for each batch of its parent's rows.
 *
 * A child's statement takes the parents' keys as its last parent_key_count parameters, each a
 * PostgreSQL array in text form with one element for each parent of the batch, in order; its rows
 * come ordered by the parent's place in those arrays, and that place, counted from 1, is the
 * field ordinal_field. params has room for the arrays: the cursor fills in a copy.
 */
struct sql_level {
    struct sql_statement statement;
    size_t field_count;          /* columns of the result */
    const uint32_t *field_types; /* the type (OID) that each must have, 0 = any; NULL = any */
    /* What fields that are of no table's column come from: columns of these tables (pg_class.oid),
       without those that inherit from them. None: from anywhere. */
    const uint32_t *tables;
    size_t table_count;
    size_t parent;               /* its parent's level; its own number for level 0 */
    const unsigned *parent_keys; /* fields of the parent's row that make the arrays */
    size_t parent_key_count;
    unsigned ordinal_field;
    const size_t *children; /* levels whose parent this is */
    size_t child_count;
};

struct sql_read {
    const struct sql_level *levels;
    size_t level_count;
    bool has_count;     /* count must be run too, in the same snapshot */
    bool guards_parent; /* SQL_GUARD_WORD in a failure: the path's entity is not there */
    bool has_rows;      /* false for $top=0 and /$count: only the count is run */
    struct sql_statement count;
    uint64_t row_limit;        /* level 0 yields at most so many rows; 0 = unknown */
    const struct shape *shape; /* of level 0 */
    const unsigned *token_fields;
    size_t token_field_count;
};

/* What shapes need to know to write links and values. */
struct sql_read_options {
    struct response_format format;
    struct str service_root; /* absolute, ends in '/' */
    bool omit_nulls;         /* what is null is left out of an entity: Prefer: omit-values */
    struct str kept_query; /* options of the request that its nested next links keep, ends in '&' */
};

/*
 * SQL and shape of a plan that reads (plan->read is set).
 * False fills err: 400 RequestTooComplex past the arena's limit, 501 for what has no SQL yet.
 */
bool sql_read_build(struct arena *a, const struct plan *plan,
                    const struct sql_read_options *options, const struct sql_read **out_read,
                    struct odata_error *err) NODISCARD;

#endif

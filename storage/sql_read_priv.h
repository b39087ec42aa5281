// SPDX-License-Identifier: Apache-2.0
/*
 * sql_read_priv - what storage/sql_read.c (statements) and storage/read_shape.c (shapes) share.
 */
#ifndef STORAGE_SQL_READ_PRIV_H
#define STORAGE_SQL_READ_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/bound.h"
#include "storage/sql_expr.h"
#include "storage/sql_read.h"

/* One column of a SELECT list; exactly one of property, sort, value and count is set. */
struct column {
    const struct source *source;
    const struct property *property; /* of source, as it is stored */
    const struct bound_expr *sort;   /* what rows are ordered by */
    const struct bound_expr *value;  /* a property or a part of one, as it is stored */
    const struct expansion *count;   /* the number of rows of an expanded collection */
};

/* The SELECT list of a level. */
struct columns {
    struct column *items;
    size_t count;
    size_t room;
};

struct reading {
    struct arena *arena;
    const struct plan *plan;
    const struct sql_read_options *options;
    struct odata_error *err;
    struct sql_level *levels;
    size_t level_count;
};

/* The conditions of a WHERE: whether one stands there already. */
struct conditions {
    bool any;
};

/* sql_path.c */

/* ` WHERE ` or ` AND ` */
void sql_next_condition(struct sql *s, struct conditions *c);
/* read->filter, when there is one. */
void sql_put_filter(struct sql *s, struct conditions *c, const struct read *read);
/* ` FROM ...`: the tables of the path from step `last` back to the entity set. */
void sql_put_path(struct sql *s, const struct read *read, size_t last);
/* The keys of the steps up to `last`. */
void sql_put_keys(struct sql *s, struct conditions *c, const struct read *read, size_t last);
/* The last piece of a statement without OFFSET: fails it when the entity of step `last` is not there. */
void sql_put_guard(struct sql *s, const struct read *read, size_t last);
/* The path's last step is reached from an entity that must be there, and has no key of its own. */
bool sql_needs_guard(const struct read *read);
/* Keys and filter. Whoever needs a guard ends the statement with it. */
void sql_put_path_where(struct sql *s, struct conditions *c, const struct read *read);

/* sql_read.c */

/* ` ORDER BY ...` and ` LIMIT ... OFFSET ...`, or nothing. */
void sql_put_order(struct sql *s, const struct bound_order *order, size_t count);
void sql_put_bigint(struct sql *s, uint64_t number); /* as a parameter */
void sql_put_limit(struct sql *s, bool has_limit, uint64_t limit, uint64_t skip);

/* sql_keyset.c: what comes behind read->after in the order of read; nothing on a first page. */
void sql_put_after(struct sql *s, struct conditions *c, const struct read *read);

/* The place of a column in the list; it is added when it is not there yet. False: the arena. */
bool columns_add(struct reading *r, struct columns *c, const struct column *column,
                 unsigned *out_field) NODISCARD;
bool columns_add_property(struct reading *r, struct columns *c, const struct source *source,
                          const struct property *p, unsigned *out_field) NODISCARD;

/* A value that is read as GeoJSON. */
bool sql_is_spatial(const struct property *p);

/* sql_inheritance.c: which tables the columns of wide rows are of, for level. */
bool sql_note_tables(struct reading *r, const struct columns *columns,
                     struct sql_level *level) NODISCARD;

/*
 * Builds the level of an expanded collection below `parent`: the level, shape and, where it has
 * pages, the fields of the token of to_many are filled in.
 */
bool sql_read_level(struct reading *r, const struct expansion *x, size_t parent,
                    struct columns *parent_columns, struct member *to_many,
                    struct nested_page *page) NODISCARD;

/* The shape of one entity: adds what it needs to the columns, and the levels below `level`. */
bool read_shape_entity(struct reading *r, const struct selection *selection,
                       const struct source *source, size_t level, struct columns *columns,
                       const struct shape **out) NODISCARD;
/* Gives a shape its variants, when rows differ in their members (storage/read_shape_variants.c). */
bool read_shape_variants(struct reading *r, const struct source *rows, bool ref_only,
                         struct columns *columns, const struct shape **io_shape) NODISCARD;
/* The shape of one property: a member that has its name, for messages, and behind it the number of
   its items when count is given. */
bool read_shape_value(struct reading *r, const struct bound_expr *value,
                      const struct bound_expr *count, struct columns *columns,
                      const struct shape **out) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * sql_expr - bound expressions as SQL, with OData's logic of nulls.
 *
 * OData compares to true or false where SQL says null (URL Conventions 5.1.1.1). So every Boolean
 * expression can be written in three ways, and each place takes the cheapest one that is right:
 *
 *   sql_put_true   is true exactly when the expression is true, and false or null otherwise: what
 *                  WHERE needs; a comparison stays a bare `col = $1`, which an index can serve
 *   sql_put_false  is true exactly when the expression is false: below `not`
 *   sql_put_value  is the value, null included
 */
#ifndef STORAGE_SQL_EXPR_H
#define STORAGE_SQL_EXPR_H

#include "odata/bound.h"
#include "storage/sql.h"

void sql_put_true(struct sql *s, const struct bound_expr *e);
void sql_put_false(struct sql *s, const struct bound_expr *e);
void sql_put_value(struct sql *s, const struct bound_expr *e);

/* The column as it is stored: for a SELECT list. */
void sql_put_column(struct sql *s, const struct source *source, const struct property *p);
/* It is written as an expression over the column, which has no name. */
bool sql_makes_instant(const struct source *source, const struct property *p);
/* A column of a link table, to be compared with p. */
void sql_put_link_column(struct sql *s, unsigned link, struct str column, const struct property *p);
void sql_put_raw(struct sql *s, const struct bound_expr *e);

/* `x is null`, or its contrary. */
void sql_put_null_test(struct sql *s, const struct bound_expr *e, bool null);

/* One side of a comparison with other: a column stays bare when it meets a value. */
void sql_put_side(struct sql *s, const struct bound_expr *e, const struct bound_expr *other);
/* A column without a zone, or a value that meets one. */
bool sql_is_timestamp(const struct bound_expr *e);

/* sql_end_of_time.c */

/*
 * Writes e, a comparison (OP_EQ to OP_GE), when one side is a value that infinite dates are shown as
 * and PostgreSQL's operator alone would not do: true when the comparison has the wanted outcome,
 * false or null otherwise. False: it is none of these, and nothing was written.
 */
bool sql_put_end_of_time(struct sql *s, const struct bound_expr *e, bool wanted) NODISCARD;
/* The value, or for an infinite date or time the finite one that it is shown as: what functions, casts
   and arithmetic work on. */
void sql_put_shown(struct sql *s, const struct bound_expr *e);
/* The infinite date or time that is shown as value, as PostgreSQL writes it; "" for other values. */
struct str sql_end_of_time_too(const struct bound_expr *value);

/* sql_collection.c: BOUND_IN, _IN_COLLECTION, _COLLECTION, _ANY and _ALL, _COUNT, _SCALAR. */
void sql_put_in(struct sql *s, const struct bound_expr *e);
void sql_put_in_collection(struct sql *s, const struct bound_expr *e);
void sql_put_collection(struct sql *s, const struct bound_expr *e);
void sql_put_lambda(struct sql *s, const struct bound_expr *e);
void sql_put_count(struct sql *s, const struct bound_expr *e);
void sql_put_scalar(struct sql *s, const struct bound_expr *e);
/* A collection as an array from 1 on that is never null, of the type that its items are cast to. */
void sql_put_items(struct sql *s, const struct bound_expr *e);

/* What rows are ordered by, and a value of it that came out of a row. */
void sql_put_sort(struct sql *s, const struct bound_expr *e);
void sql_put_sort_value(struct sql *s, const struct bound_expr *e, struct str value);
/* sql_put_sort() of this is the column itself. */
bool sql_sorts_raw(const struct bound_expr *e);

/* sql_join.c */

/* Table and alias of a source. */
void sql_put_table(struct sql *s, const struct source *source);
/* ` LEFT JOIN ...` for what is reached from root; only what the choice of rows needs, or all. */
void sql_put_joins(struct sql *s, const struct source *root, bool only_filter);
/* `a.x = b.y AND ...`: both ends of a navigation; or the near and the far side of its link table,
   whose alias is `l` and the number of `to`. */
void sql_put_join_on(struct sql *s, const struct navigation *n, const struct source *from,
                     const struct source *to);
void sql_put_link_near(struct sql *s, const struct navigation *n, const struct source *from,
                       const struct source *to);
void sql_put_link_far(struct sql *s, const struct navigation *n, const struct source *to);
/* `"schema"."link" AS l3` */
void sql_put_link_table(struct sql *s, const struct navigation *n, const struct source *to);

/* What values of this type are cast to. */
struct str sql_cast(const struct type_ref *type, const struct pg_type_ref *pg);

/* sql_derived.c: `SELECT ...` of rows that are not a table's */
struct derived;
void sql_put_derived(struct sql *s, const struct derived *d);

/* sql_tree.c: `WITH RECURSIVE ...` of a hierarchy */
void sql_put_tree(struct sql *s, const struct derived *d);

/* sql_window.c */
void sql_put_window(struct sql *s, const struct bound_expr *e);

/* sql_search.c: a condition, and its rank. */
void sql_put_search(struct sql *s, const struct bound_expr *e);
void sql_put_rank(struct sql *s, const struct bound_expr *e);

/* sql_function.c: a call of a canonical function. */
void sql_put_call(struct sql *s, const struct bound_expr *e);

/* sql_cast.c: a BOUND_CAST. */
void sql_put_typecast(struct sql *s, const struct bound_expr *e);

/* sql_inheritance.c */

/* `SELECT ... UNION ALL SELECT ...`: the rows of a type and of all that are derived from it. */
void sql_put_wide_rows(struct sql *s, const struct entity_type *type);
/* A column of a source that is a cast. */
void sql_put_cast_column(struct sql *s, const struct source *source, const struct property *p);

/* sql_template.c */

/* An operand of a function; char(n) is text without its padding here. In parentheses. */
void sql_put_operand(struct sql *s, const struct bound_expr *e);
/*
 * SQL text of our own in which {0} to {9} stand for operands and {t} for `type`. An operand that
 * is more than a name or a value is computed once, however often it is named: nested calls would
 * otherwise double the text, and the work, with each level.
 */
void sql_put_template(struct sql *s, struct str text, const struct bound_expr *const *args,
                      size_t arg_count, struct str type);

#endif

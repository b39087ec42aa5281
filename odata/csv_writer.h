// SPDX-License-Identifier: Apache-2.0
/*
 * csv_writer - rows of a shape as lines of text/csv.
 *
 * The members of a row and of its to-one entities, these as `Nav/Name`, become columns once a
 * request; a row is then one pass over them. A null is an empty field, an empty string is `""`.
 * In a table of one column a null is `""` as well: an empty line would be no row to most readers.
 *
 * Owns:   nothing; a table lives in the request's arena.
 * Never:  allocates for a row; changes data so that a spreadsheet would not take it for a formula.
 * Source: RFC 4180.
 */
#ifndef ODATA_CSV_WRITER_H
#define ODATA_CSV_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/shape.h"

struct csv_table;

/*
 * The columns of a shape whose value forms write CSV. shape is lent until the table's end.
 * False fills err: 400 for an expanded collection, which has no place in a row, and for a row of no
 * columns; 400 RequestTooComplex past the arena's limit.
 */
bool csv_table_make(struct arena *a, const struct shape *shape, const struct csv_table **out_table,
                    struct odata_error *err) NODISCARD;

/* The names, and CR LF. */
void csv_put_header(struct bytes *out, const struct csv_table *table);

/* The values of one row, and CR LF. */
void csv_put_row(struct bytes *out, const struct csv_table *table, const struct field *fields);

/* One text: in quotes when it is empty or holds a comma, a quote or a line break. */
void csv_put_string(struct bytes *out, const char *ptr, size_t len);

/* Puts what out holds from start on into quotes, as one text of a field. */
void csv_quote_from(struct bytes *out, size_t start);

#endif

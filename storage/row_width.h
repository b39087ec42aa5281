// SPDX-License-Identifier: Apache-2.0
/*
 * row_width - whether the rows of a result can be wide, as far as PostgreSQL itself can tell.
 *
 * A value that PostgreSQL does not store in the row itself is in the table's TOAST relation. While
 * that is empty, all values of the table's columns came from pages of 8 KiB, compressed perhaps.
 *
 * Owns: nothing.
 */
#ifndef STORAGE_ROW_WIDTH_H
#define STORAGE_ROW_WIDTH_H

#include <stdbool.h>

#include <libpq-fe.h>

#include "odata/bytes.h"
#include "storage/sql_read.h"

enum row_width {
    ROW_WIDTH_ANY,    /* a value may have megabytes */
    ROW_WIDTH_NARROW, /* none has */
    ROW_WIDTH_ASK,    /* PostgreSQL must be asked */
};

/*
 * What the columns of a result say. level: where columns come from that PostgreSQL names no table of.
 * ROW_WIDTH_ASK: ROW_WIDTH_QUESTION is to be sent with *out_tables as its two parameters, texts that
 * each end in NUL; it is one row with one boolean: narrow.
 */
enum row_width row_width_of(const PGresult *res, const struct sql_level *level,
                            struct bytes *out_tables);

extern const char ROW_WIDTH_QUESTION[];

enum row_width row_width_answer(const PGresult *res);

#endif

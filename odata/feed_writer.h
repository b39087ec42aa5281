// SPDX-License-Identifier: Apache-2.0
/*
 * feed_writer - one response document, written row by row from a row source into a buffer.
 *
 * Walks the shape with a stack of its own (LIMIT_EXPAND_DEPTH deep), so that it can stop wherever a
 * row is not here yet or the buffer is full, and go on from there.
 *
 * Owns:   its stack. Borrows spec, source and out until feed_writer_fini().
 * Never:  allocates for a row, and never closes the document before the source has said END: what
 *         was written before a failure is no JSON document (Protocol 9.5).
 * Source: JSON Format 4.5, 6, 7, 12, 13.
 */
#ifndef ODATA_FEED_WRITER_H
#define ODATA_FEED_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/bytes.h"
#include "odata/csv_writer.h"
#include "odata/odata_error.h"
#include "odata/response_format.h"
#include "odata/row_source.h"
#include "odata/shape.h"
#include "odata/step.h"

enum feed_kind {
    FEED_COLLECTION, /* {"@odata.context":...,"@odata.count":n,"value":[{...},...],next link}, or
                        the rows alone when the format is one of rows */
    FEED_ENTITY,     /* {"@odata.context":...,members of the one row} */
    FEED_PROPERTY,   /* {"@odata.context":...,"value":x}: the one member of the shape */
    FEED_RAW_VALUE,  /* the bytes of the one field: $value */
    FEED_COUNT,      /* the count alone, as text: /$count */
};

struct feed_spec {
    enum feed_kind kind;
    const struct shape *shape;
    struct response_format format;
    struct str context;  /* the absolute context URL, not escaped; "" = leave it out */
    struct str type;     /* FEED_PROPERTY: its type for full metadata; "" = leave it out */
    bool has_count;      /* $count=true: the source is asked for it */
    uint64_t page_rows;  /* close the page after so many rows when there is another; 0 = no limit.
                            A format of rows has no next link: there one row more is a failure */
    struct str next_url; /* FEED_COLLECTION: the next link up to and including `$skiptoken=`,
                            not JSON-escaped; "" = the stream cannot be resumed */
    size_t max_token_bytes;       /* the longest token that a link has room for; 0 = no limit */
    const unsigned *token_fields; /* root fields that the token carries: order values, then key */
    size_t token_field_count;
    uint64_t token_check;          /* hash of the query that the token belongs to */
    uint64_t rows_before;          /* rows of the earlier pages: the token carries the sum */
    const struct csv_table *table; /* FEED_COLLECTION as MEDIA_CSV: odata/csv_writer.h */
    void (*raw)(struct bytes *out, const char *text, size_t len); /* FEED_RAW_VALUE */
};

struct feed_writer;

/* NULL when memory is short. */
struct feed_writer *feed_writer_new(const struct feed_spec *spec, struct row_source *source,
                                    struct bytes *out) NODISCARD;
void feed_writer_free(struct feed_writer *w);

/*
 * Writes until out holds at least high_mark bytes (STEP_OK), a row is awaited (STEP_AGAIN), or the
 * document is complete (STEP_END). STEP_FAIL: err is filled, the document stays open.
 * One row and its to-one members are written whole: out may pass high_mark by one row.
 */
enum step feed_writer_step(struct feed_writer *w, size_t high_mark,
                           struct odata_error *err) NODISCARD;

/* Rows of level 0 written so far. 0 after STEP_END of an ENTITY, PROPERTY or RAW_VALUE: there was
   none; is_null says that the one value was null. Then nothing was written, and the caller answers
   404 or 204. */
uint64_t feed_writer_rows(const struct feed_writer *w);
bool feed_writer_is_null(const struct feed_writer *w);

/*
 * Close the document at the next row boundary, with a next link. False when the stream cannot be
 * resumed (no next_url, or nothing that is a collection).
 */
bool feed_writer_end_early(struct feed_writer *w);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * row_writer - one row of a response as a JSON object, nested rows included.
 *
 * Walks the shape with an explicit stack, so that it can stop wherever a nested row is not here yet
 * or the buffer is full, and go on from there. Part of odata/feed_writer.c, which does the rest of
 * the document; odata/csv_writer.c borrows how a link and a count are written.
 *
 * Owns:  a skip token. Borrows source and out; fields are lent to it as odata/row_source.h says.
 * Never: allocates for a row.
 */
#ifndef ODATA_ROW_WRITER_H
#define ODATA_ROW_WRITER_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/limits.h"
#include "odata/odata_error.h"
#include "odata/row_source.h"
#include "odata/shape.h"
#include "odata/step.h"

enum row_frame_kind {
    FRAME_OBJECT, /* members of shape from fields, at is the next one */
    FRAME_ARRAY,  /* rows of level, each an object of shape */
};

struct row_frame {
    enum row_frame_kind kind;
    unsigned level;
    const struct shape *shape;
    const struct field *fields;
    size_t at;
    const struct nested_page *page; /* ARRAY: NULL: all rows */
    uint64_t rows;                  /* ARRAY: that are written */
    char separator; /* what stands before the next member or item: the bracket, later a comma */
};

enum {
    /* An array and an object for each level of $expand, the root, and the parts of a complex value
       that are selected one by one. */
    ROW_WRITER_FRAMES = 2 * LIMIT_EXPAND_DEPTH + 2 + LIMIT_VALUE_DEPTH,
};

struct row_writer {
    struct row_source *source;
    struct bytes *out;
    bool ieee754; /* counts are Edm.Int64: strings then */
    bool has_token;
    struct bytes token; /* of the last row of a nested page; allocated once, not for each */
    size_t depth;
    struct row_frame stack[ROW_WRITER_FRAMES];
};

void row_writer_init(struct row_writer *w, struct row_source *source, struct bytes *out,
                     bool ieee754);
void row_writer_fini(struct row_writer *w);

/*
 * Starts an object. separator: '{', or ',' when the caller has written the bracket and a member.
 */
void row_writer_begin(struct row_writer *w, const struct shape *shape, const struct field *fields,
                      char separator);

/*
 * STEP_END: all members are written, the object is still open. STEP_OK: out holds high_mark bytes.
 * STEP_AGAIN: a nested row is awaited. STEP_FAIL: err is filled.
 */
enum step row_writer_step(struct row_writer *w, size_t high_mark,
                          struct odata_error *err) NODISCARD;

/* After STEP_END: closes the object. */
void row_writer_end(struct row_writer *w);

/*
 * A value of m could not be written, though alone has no limit: fills err. 503 when memory is short;
 * 500 BadData when the output has no form for the value, and nothing will help; 503 ModelChanged
 * when the value is not of the type that the model says.
 */
void row_writer_refuse(const struct member *m, const struct bytes *alone, struct odata_error *err);

/* out has failed in a row of shape: fills err with why, as far as one value tells. */
enum step row_writer_blame(const struct bytes *out, const struct shape *shape,
                           const struct field *fields, struct odata_error *err);

/* A link in quotes, and a count: for other forms than JSON's objects. */
void row_writer_put_link(struct bytes *out, const struct row_link *link,
                         const struct field *fields);
void row_writer_put_count(struct bytes *out, const struct field *field);
/* The same as JSON: a string when ieee754, since counts are Edm.Int64. */
void row_writer_put_json_count(struct bytes *out, const struct field *field, bool ieee754);

/* A page ends, and its last row has no token. Fills err with 501, or 503 when memory is short. */
enum step row_writer_fail_token(const struct bytes *token, struct odata_error *err);

/* For whatever cannot be written: fills err with a 500 that tells nothing of the inside. */
enum step row_writer_fail(struct odata_error *err, const char *internal);

#endif

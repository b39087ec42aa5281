// SPDX-License-Identifier: Apache-2.0
#include "odata/feed_writer.h"

#include <stdlib.h>
#include <string.h>

#include "odata/json_writer.h"
#include "odata/limits.h"
#include "odata/row_writer.h"
#include "odata/skip_token.h"

/*
 * COUNTING -> BETWEEN <-> INSIDE; BETWEEN -> LAST -> DONE; BETWEEN -> DONE; COUNTING -> DONE (the
 * count alone); all but DONE -> FAILED.
 */
enum writer_state {
    WRITER_COUNTING, /* the count is awaited; nothing is written yet */
    WRITER_BETWEEN,  /* at a row boundary of level 0 */
    WRITER_INSIDE,   /* in a row of level 0 */
    WRITER_LAST,     /* all rows are written; the source's END is awaited */
    WRITER_DONE,     /* the document is complete; terminal */
    WRITER_FAILED,   /* the document stays open; terminal */
};

struct feed_writer {
    struct feed_spec spec;
    struct row_source *source;
    struct bytes *out;
    enum writer_state state;
    uint64_t rows;
    int64_t count;
    const struct field *row; /* the last row of level 0 while it stands, else NULL */
    bool is_null;
    bool ending;        /* feed_writer_end_early() was called */
    bool has_token;     /* token holds the place of the last row written */
    struct bytes token; /* allocated once a page, not once a row */
    struct row_writer row_writer;
};

struct feed_writer *feed_writer_new(const struct feed_spec *spec, struct row_source *source,
                                    struct bytes *out)
{
    struct feed_writer *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        return NULL;
    }
    w->spec = *spec;
    w->source = source;
    w->out = out;
    w->state = spec->has_count || spec->kind == FEED_COUNT ? WRITER_COUNTING : WRITER_BETWEEN;
    bytes_init(&w->token, LIMIT_SKIP_TOKEN_BYTES * 2);
    row_writer_init(&w->row_writer, source, out, spec->format.ieee754);
    return w;
}

void feed_writer_free(struct feed_writer *w)
{
    if (w != NULL) {
        row_writer_fini(&w->row_writer);
        bytes_fini(&w->token);
        free(w);
    }
}

uint64_t feed_writer_rows(const struct feed_writer *w)
{
    return w->rows;
}

bool feed_writer_is_null(const struct feed_writer *w)
{
    return w->is_null;
}

static bool is_resumable(const struct feed_writer *w)
{
    return w->spec.kind == FEED_COLLECTION && w->spec.next_url.len > 0;
}

bool feed_writer_end_early(struct feed_writer *w)
{
    if (!is_resumable(w)) {
        return false;
    }
    w->ending = true;
    return true;
}

/* The prefix `odata.` is of 4.0; 4.01 writes the short names (JSON Format 4.5). */
static struct str control(const struct feed_writer *w, struct str label, struct str label_401)
{
    return w->spec.format.version == ODATA_4_01 ? label_401 : label;
}

/* Writes `{` and the context; returns what stands before the next member. */
static char put_head(struct feed_writer *w)
{
    const struct feed_spec *spec = &w->spec;
    if (spec->context.len == 0 || spec->format.metadata == METADATA_NONE) {
        return '{';
    }
    bytes_put_str(w->out, control(w, STR("{\"@odata.context\":"), STR("{\"@context\":")));
    json_put_str(w->out, spec->context);
    return ',';
}

/* What stands before the first row of a collection, whatever its form. */
static void put_collection_head(struct feed_writer *w)
{
    if (w->spec.format.media == MEDIA_NDJSON) {
        return;
    }
    if (w->spec.format.media == MEDIA_CSV) {
        if (!w->spec.format.no_header) {
            csv_put_header(w->out, w->spec.table);
        }
        return;
    }
    char separator = put_head(w);
    if (w->spec.has_count) {
        const char *quote = w->spec.format.ieee754 ? "\"" : "";
        bytes_put_char(w->out, separator);
        bytes_put_str(w->out, control(w, STR("\"@odata.count\":"), STR("\"@count\":")));
        bytes_put_str(w->out, str_from(quote));
        bytes_put_i64(w->out, w->count);
        bytes_put_str(w->out, str_from(quote));
        separator = ',';
    }
    bytes_put_char(w->out, separator);
    BYTES_PUT_LITERAL(w->out, "\"value\":[");
}

static void put_collection_tail(struct feed_writer *w, bool has_next)
{
    if (response_format_is_rows(&w->spec.format)) {
        return; /* each row has ended its line */
    }
    bytes_put_char(w->out, ']');
    if (has_next) {
        bytes_put_str(w->out, control(w, STR(",\"@odata.nextLink\":\""), STR(",\"@nextLink\":\"")));
        json_put_escaped(w->out, w->spec.next_url.ptr, w->spec.next_url.len);
        bytes_put_str(w->out, bytes_str(&w->token));
        bytes_put_char(w->out, '"');
    }
    bytes_put_char(w->out, '}');
}

/* Copies the place of the row that stands; false when it does not fit a token. */
static bool take_token(struct feed_writer *w)
{
    const struct feed_spec *spec = &w->spec;
    bytes_clear(&w->token);
    w->has_token = w->row != NULL &&
                   skip_token_put(&w->token, w->row, spec->token_fields, spec->token_field_count,
                                  spec->rows_before + w->rows, spec->token_check) &&
                   !bytes_failed(&w->token) &&
                   (spec->max_token_bytes == 0 || w->token.len <= spec->max_token_bytes);
    return w->has_token;
}

/* Why out has failed, but for a row's members: those have told already. */
static enum step blame(struct feed_writer *w, struct odata_error *err)
{
    if (w->spec.table != NULL && w->row != NULL) {
        return row_writer_blame(w->out, w->spec.shape, w->row, err);
    }
    bool found = w->out->out_of_memory && !odata_error_out_of_memory(err);
    bool has_value = w->spec.kind == FEED_PROPERTY || w->spec.kind == FEED_RAW_VALUE;
    if (!found && has_value && w->row != NULL) {
        const struct member *m = w->spec.shape->members;
        const struct field *field = &w->row[m->field];
        struct bytes alone;
        bytes_init(&alone, SIZE_MAX / 2);
        if (field->len >= 0 && w->spec.kind == FEED_RAW_VALUE) {
            w->spec.raw(&alone, field->ptr, (size_t)field->len);
        } else if (field->len >= 0) {
            m->form->write(&alone, field->ptr, (size_t)field->len, m->form);
        }
        found = bytes_failed(&alone);
        if (found) {
            row_writer_refuse(m, &alone, err);
        }
        bytes_fini(&alone);
    }
    return found ? STEP_FAIL : row_writer_fail(err, "the buffer's limit is reached");
}

/* What a call that does not end the document says, the state already being right. */
static enum step checked(struct feed_writer *w, enum step step, struct odata_error *err)
{
    if (step == STEP_FAIL) {
        w->state = WRITER_FAILED;
    } else if (UNLIKELY(bytes_failed(w->out))) {
        w->state = WRITER_FAILED;
        return blame(w, err);
    }
    return step;
}

static enum step done(struct feed_writer *w, struct odata_error *err)
{
    w->state = WRITER_DONE;
    return checked(w, STEP_END, err);
}

static enum step take_count(struct feed_writer *w, struct odata_error *err)
{
    enum step step = row_source_count(w->source, &w->count, err);
    if (step != STEP_OK) {
        return checked(w, step, err);
    }
    if (w->spec.kind == FEED_COUNT) {
        bytes_put_i64(w->out, w->count);
        return done(w, err);
    }
    w->state = WRITER_BETWEEN;
    return STEP_OK;
}

/*
 * A value of complex type is no member `value`: its own members stand beside the context (JSON
 * Format 11). So it is written as any value is, and its bracket becomes the comma.
 */
static void put_property(struct feed_writer *w, const struct member *m, const struct field *field)
{
    struct bytes *out = w->out;
    char separator = put_head(w);
    if (w->spec.type.len > 0) {
        bytes_put_char(out, separator);
        bytes_put_str(out, control(w, STR("\"@odata.type\":\""), STR("\"@type\":\"")));
        bytes_put_str(out, w->spec.type);
        bytes_put_char(out, '"');
        separator = ',';
    }
    if (w->spec.shape->count > 1) { /* the number of items, which stands before them */
        const struct field *count = &w->row[w->spec.shape->members[1].field];
        bytes_put_char(out, separator);
        bytes_put_str(out, control(w, STR("\"@odata.count\":"), STR("\"@count\":")));
        row_writer_put_json_count(out, count, w->spec.format.ieee754);
        separator = ',';
    }
    if (field->len < 0) { /* a collection, which is empty rather than null */
        bytes_put_char(out, separator);
        BYTES_PUT_LITERAL(out, "\"value\":[]}");
        return;
    }
    bool is_complex = m->form->member_count > 0 && m->form->element == NULL;
    size_t start = out->len;
    if (!is_complex) {
        bytes_put_char(out, separator);
        BYTES_PUT_LITERAL(out, "\"value\":");
    }
    m->form->write(out, field->ptr, (size_t)field->len, m->form);
    if (!is_complex) {
        bytes_put_char(out, '}');
    } else if (separator == ',' && !bytes_failed(out) && out->len > start) {
        out->ptr[start] = separator;
    }
}

/* PROPERTY and RAW_VALUE: the one field of the one row. */
static void put_single_value(struct feed_writer *w)
{
    const struct member *m = w->spec.shape->members;
    const struct field *field = &w->row[m->field];
    bool stands_for_empty = w->spec.kind == FEED_PROPERTY && m->collection_null_is_empty;
    w->is_null = field->len < 0 && !stands_for_empty;
    if (w->is_null) {
        return;
    }
    if (w->spec.kind == FEED_RAW_VALUE) {
        w->spec.raw(w->out, field->ptr, (size_t)field->len);
    } else {
        put_property(w, m, field);
    }
}

static void start_row(struct feed_writer *w)
{
    char separator = '{';
    switch (w->spec.kind) {
    case FEED_COLLECTION:
        if (w->rows == 0) {
            put_collection_head(w);
        } else if (!response_format_is_rows(&w->spec.format)) {
            bytes_put_char(w->out, ',');
        }
        if (w->spec.table != NULL) {
            csv_put_row(w->out, w->spec.table, w->row);
            w->rows++;
            return;
        }
        break;
    case FEED_ENTITY:
        separator = put_head(w);
        break;
    case FEED_PROPERTY:
    case FEED_RAW_VALUE:
        put_single_value(w);
        w->rows = 1;
        w->state = WRITER_LAST;
        return;
    case FEED_COUNT: /* DONE before a row is asked for */
        return;
    }
    row_writer_begin(&w->row_writer, w->spec.shape, w->row, separator);
    w->state = WRITER_INSIDE;
}

static enum step finish_row(struct feed_writer *w, size_t high_mark, struct odata_error *err)
{
    enum step step = row_writer_step(&w->row_writer, high_mark, err);
    if (step != STEP_END) {
        return checked(w, step, err);
    }
    w->rows++;
    if (w->spec.kind == FEED_ENTITY) { /* closed when the source has said END */
        w->state = WRITER_LAST;
        return STEP_END;
    }
    row_writer_end(&w->row_writer);
    if (w->spec.format.media == MEDIA_NDJSON) {
        bytes_put_char(w->out, '\n');
    }
    w->state = WRITER_BETWEEN;
    if (w->rows == w->spec.page_rows && is_resumable(w)) {
        take_token(w); /* the row stands only until the next one is asked for */
    }
    return STEP_END;
}

static bool page_is_full(const struct feed_writer *w)
{
    return w->spec.kind == FEED_COLLECTION && w->spec.page_rows > 0 && w->rows >= w->spec.page_rows;
}

/* END from the source while nothing stands open but the document itself. */
static enum step close_document(struct feed_writer *w, bool has_next, struct odata_error *err)
{
    if (w->spec.kind == FEED_COLLECTION) {
        if (w->rows == 0) {
            put_collection_head(w);
        }
        put_collection_tail(w, has_next);
    } else if (w->spec.kind == FEED_ENTITY && w->rows > 0) {
        row_writer_end(&w->row_writer);
    }
    return done(w, err);
}

static enum step next_row(struct feed_writer *w, struct odata_error *err)
{
    if (w->ending && w->rows > 0 && (w->has_token || take_token(w))) {
        return close_document(w, true, err);
    }
    w->row = NULL;
    enum step step = row_source_next(w->source, 0, &w->row, err);
    if (step == STEP_END) {
        return close_document(w, false, err);
    }
    if (step != STEP_OK) {
        w->row = NULL;
        return checked(w, step, err);
    }
    if (!page_is_full(w)) {
        w->has_token = false;
        start_row(w);
        return checked(w, STEP_OK, err);
    }
    if (!response_format_is_rows(&w->spec.format) && !is_resumable(w)) {
        w->state = WRITER_FAILED;
        odata_error_set(err, 400, ODATA_CODE_BAD_QUERY_OPTION, "$top",
                        "there are more than the %llu rows that are sent at once, and the options "
                        "are too long for a next link: ask for $top=%llu or less, or with shorter "
                        "options",
                        (unsigned long long)w->spec.page_rows,
                        (unsigned long long)w->spec.page_rows);
        return STEP_FAIL;
    }
    if (response_format_is_rows(&w->spec.format)) {
        w->state = WRITER_FAILED;
        odata_error_set(err, 400, ODATA_CODE_BAD_QUERY_OPTION, "$top",
                        "there are more than the %llu rows that are sent at once, and this format "
                        "has no next link: ask for $top=%llu or less, or for application/json",
                        (unsigned long long)w->spec.page_rows,
                        (unsigned long long)w->spec.page_rows);
        return STEP_FAIL;
    }
    if (!w->has_token) {
        w->state = WRITER_FAILED;
        return row_writer_fail_token(&w->token, err);
    }
    w->state = WRITER_LAST;
    return STEP_OK;
}

/*
 * The rows are written; has the source more to say? A page's source has one row more, which only
 * says that there is a next page; a source of one entity has nothing more.
 */
static enum step await_end(struct feed_writer *w, struct odata_error *err)
{
    const struct field *surplus;
    w->row = NULL;
    enum step step = row_source_next(w->source, 0, &surplus, err);
    if (step == STEP_OK && w->spec.kind != FEED_COLLECTION) {
        w->state = WRITER_FAILED; /* tables that inherit may repeat keys */
        odata_error_set(err, 500, ODATA_CODE_BAD_DATA, "", "more than one entity has this key");
        return STEP_FAIL;
    }
    if (step == STEP_OK || step == STEP_END) {
        return close_document(w, w->has_token, err);
    }
    return checked(w, step, err);
}

enum step feed_writer_step(struct feed_writer *w, size_t high_mark, struct odata_error *err)
{
    const size_t mark = high_mark > 0 ? high_mark : 1;
    for (;;) {
        enum step step = STEP_OK;
        switch (w->state) {
        case WRITER_COUNTING:
            step = take_count(w, err);
            break;
        case WRITER_BETWEEN:
            if (w->out->len >= mark) {
                return checked(w, STEP_OK, err);
            }
            step = next_row(w, err);
            break;
        case WRITER_INSIDE:
            step = finish_row(w, mark, err);
            if (step == STEP_OK) {
                return step;
            }
            step = step == STEP_END ? STEP_OK : step;
            break;
        case WRITER_LAST:
            step = await_end(w, err);
            break;
        case WRITER_DONE:
            return STEP_END;
        case WRITER_FAILED:
            return row_writer_fail(err, "the response had failed before");
        }
        if (step != STEP_OK) {
            return step;
        }
    }
}

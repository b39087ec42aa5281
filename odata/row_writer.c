// SPDX-License-Identifier: Apache-2.0
#include "odata/row_writer.h"

#include <stdio.h>
#include <string.h>

#include "odata/skip_token.h"

void row_writer_init(struct row_writer *w, struct row_source *source, struct bytes *out,
                     bool ieee754)
{
    w->source = source;
    w->out = out;
    w->ieee754 = ieee754;
    w->depth = 0;
    w->has_token = false;
    bytes_init(&w->token, LIMIT_SKIP_TOKEN_BYTES * 2);
}

void row_writer_fini(struct row_writer *w)
{
    bytes_fini(&w->token);
}

enum step row_writer_fail_token(const struct bytes *token, struct odata_error *err)
{
    if (token->out_of_memory) {
        odata_error_out_of_memory(err);
    } else {
        odata_error_not_implemented(err, "$orderby",
                                    "a page ends at a row whose values to order by are too long "
                                    "for a next link: order by shorter ones, or ask for all rows "
                                    "at once");
    }
    return STEP_FAIL;
}

enum step row_writer_fail(struct odata_error *err, const char *internal)
{
    odata_error_set(err, 500, ODATA_CODE_INTERNAL, "", "the response could not be written");
    snprintf(err->internal, sizeof(err->internal), "%s", internal);
    return STEP_FAIL;
}

void row_writer_refuse(const struct member *m, const struct bytes *alone, struct odata_error *err)
{
    /* `"Name":`, or `"Name@odata.type":"#T","Name":` */
    struct str name = str_slice(m->label, 1, str_find(m->label, '"', 1));
    name = str_slice(name, 0, str_find(name, '@', 0));
    if (alone->out_of_memory) {
        odata_error_out_of_memory(err);
    } else if (alone->refusal != NULL) {
        odata_error_set(err, 500, ODATA_CODE_BAD_DATA, "", "a value of '%.*s' is %s", STR_ARG(name),
                        alone->refusal);
    } else {
        odata_error_set(err, 503, ODATA_CODE_MODEL_CHANGED, "",
                        "a value of '%.*s' does not fit the type of the property", STR_ARG(name));
        err->retry_after_s = 1;
    }
}

static bool push(struct row_writer *w, struct row_frame frame)
{
    if (w->depth == ROW_WRITER_FRAMES) {
        w->out->failed = true;
        return false;
    }
    w->stack[w->depth++] = frame;
    return true;
}

/* The shape of one row: one of its variants, when its rows differ. */
static const struct shape *shape_of(const struct row_writer *w, const struct shape *shape,
                                    const struct field *fields)
{
    if (LIKELY(shape->variant_count == 0)) {
        return shape;
    }
    const struct field *field = &fields[shape->variant_field];
    uint64_t number;
    if (field->len < 0 || !str_to_u64((struct str){field->ptr, (size_t)field->len}, &number) ||
        number >= shape->variant_count) {
        w->out->failed = true;
        return shape;
    }
    return &shape->variants[number];
}

void row_writer_begin(struct row_writer *w, const struct shape *shape, const struct field *fields,
                      char separator)
{
    w->depth = 1;
    w->stack[0] = (struct row_frame){.kind = FRAME_OBJECT,
                                     .shape = shape_of(w, shape, fields),
                                     .fields = fields,
                                     .separator = separator};
}

static void close_bracket(struct bytes *out, char separator, char open, char closing)
{
    char *room = bytes_reserve(out, 2);
    if (UNLIKELY(room == NULL)) {
        return;
    }
    size_t count = 0;
    if (separator == open) { /* nothing stands inside */
        room[count++] = open;
    }
    room[count++] = closing;
    bytes_added(out, count);
}

void row_writer_end(struct row_writer *w)
{
    close_bracket(w->out, w->stack[0].separator, '{', '}');
    w->depth = 0;
}

/*
 * Labels are short and there is one for each value: their copy is worth more than a call. Blocks of
 * constant size are one move each; the last one overlaps the one before.
 */
static ALWAYS_INLINE void copy_label(char *to, struct str label)
{
    const char *from = label.ptr;
    size_t len = label.len;
    if (len >= 16) {
        for (size_t at = 0; at + 16 < len; at += 16) {
            memcpy(to + at, from + at, 16);
        }
        memcpy(to + len - 16, from + len - 16, 16);
    } else if (len >= 8) {
        memcpy(to, from, 8);
        memcpy(to + len - 8, from + len - 8, 8);
    } else if (len >= 4) {
        memcpy(to, from, 4);
        memcpy(to + len - 4, from + len - 4, 4);
    } else {
        memcpy(to, from, len);
    }
}

static ALWAYS_INLINE void put_label(struct bytes *out, char separator, struct str label)
{
    char *room = bytes_reserve(out, label.len + 1);
    if (LIKELY(room != NULL)) {
        *room = separator;
        copy_label(room + 1, label);
        bytes_added(out, label.len + 1);
    }
}

static inline void put_value(struct bytes *out, const struct member *m, const struct field *field)
{
    if (LIKELY(field->len >= 0)) {
        m->form->write(out, field->ptr, (size_t)field->len, m->form);
    } else if (m->collection_null_is_empty) {
        BYTES_PUT_LITERAL(out, "[]");
    } else {
        BYTES_PUT_LITERAL(out, "null");
    }
}

/* A child that has no rows may have no count either. */
void row_writer_put_count(struct bytes *out, const struct field *field)
{
    struct str digits = field->len < 0 ? STR("0") : (struct str){field->ptr, (size_t)field->len};
    uint64_t value;
    if (!str_to_u64(digits, &value)) {
        out->failed = true;
        return;
    }
    bytes_put_u64(out, value);
}

void row_writer_put_json_count(struct bytes *out, const struct field *field, bool ieee754)
{
    if (ieee754) {
        bytes_put_char(out, '"');
    }
    row_writer_put_count(out, field);
    if (ieee754) {
        bytes_put_char(out, '"');
    }
}

/* The link without its quotes. */
static void put_url(struct bytes *out, const struct row_link *link, const struct field *fields)
{
    bytes_put_str(out, link->prefix);
    for (size_t i = 0; i < link->key_count; i++) {
        const struct field *field = &fields[link->keys[i].field];
        bytes_put_char(out, i == 0 ? '(' : ',');
        bytes_put_str(out, link->keys[i].name);
        if (field->len < 0) {
            out->failed = true; /* a key is never null */
            return;
        }
        link->keys[i].form->write(out, field->ptr, (size_t)field->len, link->keys[i].form);
    }
    if (link->key_count > 0) {
        bytes_put_char(out, ')');
    }
    bytes_put_str(out, link->suffix);
}

void row_writer_put_link(struct bytes *out, const struct row_link *link, const struct field *fields)
{
    bytes_put_char(out, '"');
    put_url(out, link, fields);
    bytes_put_char(out, '"');
}

/* Each value is written once more, by itself: which one is it that cannot be? */
static bool find_refused(const struct shape *shape, const struct field *fields,
                         struct odata_error *err)
{
    bool found = false;
    for (size_t i = 0; i < shape->count && !found; i++) {
        const struct member *m = &shape->members[i];
        if (m->kind == MEMBER_TO_ONE && fields[m->field].len >= 0) {
            found = find_refused(m->shape, fields, err);
            continue;
        }
        struct bytes alone;
        bytes_init(&alone, SIZE_MAX / 2);
        if (m->kind == MEMBER_VALUE) {
            put_value(&alone, m, &fields[m->field]);
        }
        found = bytes_failed(&alone);
        if (found) {
            row_writer_refuse(m, &alone, err);
        }
        bytes_fini(&alone);
    }
    return found;
}

enum step row_writer_blame(const struct bytes *out, const struct shape *shape,
                           const struct field *fields, struct odata_error *err)
{
    bool found =
        (out->out_of_memory && !odata_error_out_of_memory(err)) || find_refused(shape, fields, err);
    return found ? STEP_FAIL
                 : row_writer_fail(err, "a key or count is wrong, or the buffer's limit reached");
}

/* Writes members of the object on top until they are all written or one is an object or array. */
static void put_members(struct row_writer *w, struct row_frame *f)
{
    struct bytes *const out = w->out;
    const struct field *const fields = f->fields;
    const struct member *const end = f->shape->members + f->shape->count;
    char separator = f->separator;
    for (const struct member *m = f->shape->members + f->at; m < end; m++) {
        if (UNLIKELY(m->omits_null) && fields[m->field].len < 0) {
            continue;
        }
        put_label(out, separator, m->label);
        separator = ',';
        switch (m->kind) {
        case MEMBER_VALUE:
            put_value(out, m, &fields[m->field]);
            break;
        case MEMBER_CONSTANT:
            break;
        case MEMBER_LINK:
            row_writer_put_link(out, m->link, fields);
            break;
        case MEMBER_COUNT:
            row_writer_put_json_count(out, &fields[m->field], w->ieee754);
            break;
        case MEMBER_TO_ONE:
        case MEMBER_OBJECT:
            if (m->kind == MEMBER_TO_ONE && fields[m->field].len < 0) {
                BYTES_PUT_LITERAL(out, "null");
                break;
            }
            f->at = (size_t)(m + 1 - f->shape->members);
            f->separator = separator;
            push(w, (struct row_frame){.kind = FRAME_OBJECT,
                                       .shape = shape_of(w, m->shape, fields),
                                       .fields = fields,
                                       .separator = '{'});
            return;
        case MEMBER_TO_MANY:
            f->at = (size_t)(m + 1 - f->shape->members);
            f->separator = separator;
            push(w, (struct row_frame){.kind = FRAME_ARRAY,
                                       .level = m->level,
                                       .shape = m->shape,
                                       .page = m->page,
                                       .separator = '['});
            return;
        }
    }
    f->at = f->shape->count;
    f->separator = separator;
}

/* The row of the object that has just been closed was the last one of the page of f. */
static void take_token(struct row_writer *w, const struct row_frame *f, const struct field *fields)
{
    const struct nested_page *page = f->page;
    bytes_clear(&w->token);
    w->has_token = skip_token_put(&w->token, fields, page->token_fields, page->token_field_count,
                                  f->rows, page->token_check) &&
                   !bytes_failed(&w->token);
}

/* There are more rows than the page has: the link to them follows the array. */
static enum step end_page(struct row_writer *w, struct row_frame *f, struct odata_error *err)
{
    if (!w->has_token) {
        return row_writer_fail_token(&w->token, err);
    }
    close_bracket(w->out, f->separator, '[', ']');
    put_label(w->out, ',', f->page->label);
    bytes_put_char(w->out, '"');
    put_url(w->out, f->page->link, f[-1].fields);
    bytes_put_str(w->out, bytes_str(&w->token));
    bytes_put_char(w->out, '"');
    w->depth--;
    return STEP_OK;
}

static enum step next_item(struct row_writer *w, struct row_frame *f, struct odata_error *err)
{
    const struct field *fields;
    enum step step = row_source_next(w->source, f->level, &fields, err);
    if (step == STEP_OK && f->page != NULL && f->rows == f->page->rows) {
        return end_page(w, f, err);
    }
    if (step == STEP_OK) {
        f->rows++;
        bytes_put_char(w->out, f->separator);
        f->separator = ',';
        push(w, (struct row_frame){.kind = FRAME_OBJECT,
                                   .shape = shape_of(w, f->shape, fields),
                                   .fields = fields,
                                   .separator = '{'});
    } else if (step == STEP_END) {
        close_bracket(w->out, f->separator, '[', ']');
        w->depth--;
    }
    return step;
}

enum step row_writer_step(struct row_writer *w, size_t high_mark, struct odata_error *err)
{
    for (;;) {
        struct row_frame *f = &w->stack[w->depth - 1];
        if (f->kind == FRAME_OBJECT) {
            put_members(w, f);
            if (UNLIKELY(bytes_failed(w->out))) {
                return row_writer_blame(w->out, f->shape, f->fields, err);
            }
            if (f != &w->stack[w->depth - 1]) {
                continue; /* one level deeper */
            }
            if (w->depth == 1) {
                return STEP_END;
            }
            close_bracket(w->out, f->separator, '{', '}');
            w->depth--;
            if (UNLIKELY(f[-1].page != NULL) && f[-1].rows == f[-1].page->rows) {
                take_token(w, &f[-1], f->fields);
            }
            continue;
        }
        if (w->out->len >= high_mark) {
            return STEP_OK;
        }
        enum step step = next_item(w, f, err);
        if (step == STEP_AGAIN || step == STEP_FAIL) {
            return step;
        }
    }
}

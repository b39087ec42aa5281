// SPDX-License-Identifier: Apache-2.0
#include "odata/csv_writer.h"

#include <string.h>

#include "odata/row_writer.h"

/* One column; member is of kind VALUE, LINK or COUNT, or CONSTANT for the type of the row. */
struct csv_column {
    struct str name;
    const struct member *member;
    bool guarded;              /* it is a to-one entity's: ... */
    unsigned guard;            /* ... that is not there when this field is null */
    const struct shape *shape; /* only in rows of some of its kinds: these; or NULL */
    unsigned kinds_from;
    unsigned kinds_end;
};

struct csv_table {
    struct csv_column *columns;
    size_t count;
};

/* `"Name":` -> `Name`; names of the model need no escape, in JSON or in CSV. */
static struct str name_of(const struct member *m)
{
    return str_slice(m->label, 1, m->label.len - 2);
}

/* The type of a row, which is a constant of each of its kinds, is one column. */
static bool is_type_column(const struct shape *shape, size_t at)
{
    return shape->kind_names != NULL && at == 0 && shape->members[0].kind == MEMBER_CONSTANT;
}

static bool count_columns(const struct shape *shape, size_t *io_count, struct odata_error *err)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct member *m = &shape->members[i];
        if (m->kind == MEMBER_TO_MANY) {
            struct str name = name_of(m);
            return odata_error_set(err, 400, ODATA_CODE_BAD_EXPAND, "$expand",
                                   "text/csv has no place for the collection '%.*s'; "
                                   "application/x-ndjson and application/json have",
                                   STR_ARG(name));
        }
        if (m->kind != MEMBER_TO_ONE && m->kind != MEMBER_OBJECT) {
            *io_count += m->kind != MEMBER_CONSTANT || is_type_column(shape, i);
        } else if (!count_columns(m->shape, io_count, err)) {
            return false;
        }
    }
    return true;
}

static bool add_columns(struct arena *a, struct csv_table *table, const struct shape *shape,
                        const struct csv_column *above)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct member *m = &shape->members[i];
        struct csv_column column = {.name = name_of(m),
                                    .member = m,
                                    .guarded = above->guarded,
                                    .guard = above->guard,
                                    .shape = above->shape,
                                    .kinds_from = above->kinds_from,
                                    .kinds_end = above->kinds_end};
        if (m->kind == MEMBER_CONSTANT && !is_type_column(shape, i)) {
            continue;
        }
        if (m->kind == MEMBER_CONSTANT) {
            column.name = str_slice(m->label, 1, str_find(m->label, '"', 1));
            column.shape = shape;
            column.kinds_end = (unsigned)shape->variant_count;
        } else if (m->kinds_end > 0) {
            column.shape = shape;
            column.kinds_from = m->kinds_from;
            column.kinds_end = m->kinds_end;
            /* As $select would name it: names of types that are not derived from each other may be
               the same. */
            if (shape->kind_names != NULL &&
                !arena_format(a, &column.name, "%.*s/%.*s",
                              STR_ARG(shape->kind_names[m->kinds_from]), STR_ARG(column.name))) {
                return false;
            }
        }
        if (above->name.len > 0 && !arena_format(a, &column.name, "%.*s/%.*s", STR_ARG(above->name),
                                                 STR_ARG(column.name))) {
            return false;
        }
        if (m->kind != MEMBER_TO_ONE && m->kind != MEMBER_OBJECT) {
            table->columns[table->count++] = column;
            continue;
        }
        if (m->kind == MEMBER_TO_ONE) {
            column.guarded = true;
            column.guard = m->field;
        }
        if (!add_columns(a, table, m->shape, &column)) {
            return false;
        }
    }
    return true;
}

bool csv_table_make(struct arena *a, const struct shape *shape, const struct csv_table **out_table,
                    struct odata_error *err)
{
    size_t count = 0;
    if (!count_columns(shape, &count, err)) {
        return false;
    }
    if (count == 0) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_SELECT, "$select",
                               "text/csv needs at least one property");
    }
    const struct csv_column root = {.name = STR("")};
    struct csv_table *table = ARENA_NEW(a, struct csv_table);
    if (table == NULL) {
        return odata_error_too_complex(err);
    }
    table->columns = ARENA_ARRAY(a, count, struct csv_column);
    if (table->columns == NULL || !add_columns(a, table, shape, &root)) {
        return odata_error_too_complex(err);
    }
    *out_table = table;
    return true;
}

void csv_put_header(struct bytes *out, const struct csv_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        bytes_put_str(out, table->columns[i].name);
    }
    BYTES_PUT_LITERAL(out, "\r\n");
}

static void put_value(struct bytes *out, const struct member *m, const struct field *field)
{
    if (LIKELY(field->len >= 0)) {
        m->form->write(out, field->ptr, (size_t)field->len, m->form);
    } else if (m->collection_null_is_empty) {
        BYTES_PUT_LITERAL(out, "[]");
    }
}

/* Rows of a kind that has no such member have nothing there. */
static bool is_of_kind(struct bytes *out, const struct csv_column *c, const struct field *fields,
                       uint64_t *out_kind)
{
    const struct field *field = &fields[c->shape->variant_field];
    if (field->len < 0 || !str_to_u64((struct str){field->ptr, (size_t)field->len}, out_kind)) {
        out->failed = true;
        return false;
    }
    return *out_kind >= c->kinds_from && *out_kind < c->kinds_end;
}

static void put_column(struct bytes *out, const struct csv_column *c, const struct field *fields)
{
    if (c->guarded && fields[c->guard].len < 0) {
        return;
    }
    uint64_t kind = 0;
    if (c->shape != NULL && !is_of_kind(out, c, fields, &kind)) {
        return;
    }
    switch (c->member->kind) {
    case MEMBER_VALUE:
        put_value(out, c->member, &fields[c->member->field]);
        break;
    case MEMBER_LINK:
        row_writer_put_link(out, c->member->link, fields); /* in quotes, and has none inside */
        break;
    case MEMBER_COUNT:
        row_writer_put_count(out, &fields[c->member->field]);
        break;
    case MEMBER_CONSTANT:
        bytes_put_char(out, '#');
        bytes_put_str(out, c->shape->kind_names[kind]);
        break;
    case MEMBER_TO_ONE:
    case MEMBER_OBJECT:
    case MEMBER_TO_MANY:
        break; /* no columns */
    }
}

void csv_put_row(struct bytes *out, const struct csv_table *table, const struct field *fields)
{
    size_t start = out->len;
    for (size_t i = 0; i < table->count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        put_column(out, &table->columns[i], fields);
    }
    if (UNLIKELY(out->len == start)) {
        BYTES_PUT_LITERAL(out, "\"\"");
    }
    BYTES_PUT_LITERAL(out, "\r\n");
}

static bool needs_quotes(const char *ptr, size_t len)
{
    bool found = len == 0;
    for (size_t i = 0; i < len; i++) { /* no early end: the compiler makes vectors of it */
        char c = ptr[i];
        found |= c == ',' || c == '"' || c == '\n' || c == '\r';
    }
    return found;
}

void csv_put_string(struct bytes *out, const char *ptr, size_t len)
{
    size_t start = out->len;
    bytes_put(out, ptr, len);
    if (UNLIKELY(needs_quotes(ptr, len))) {
        csv_quote_from(out, start);
    }
}

void csv_quote_from(struct bytes *out, size_t start)
{
    if (bytes_failed(out)) {
        return;
    }
    size_t len = out->len - start;
    size_t quotes = 0;
    for (size_t i = 0; i < len; i++) {
        quotes += out->ptr[start + i] == '"';
    }
    if (bytes_reserve(out, quotes + 2) == NULL) {
        return;
    }
    /* From the back, so that nothing is written over before it was read. */
    char *text = out->ptr + start;
    char *to = text + len + quotes + 2;
    *--to = '"';
    for (size_t i = len; i > 0; i--) {
        char c = text[i - 1];
        *--to = c;
        if (c == '"') {
            *--to = '"';
        }
    }
    *--to = '"';
    bytes_added(out, quotes + 2);
}

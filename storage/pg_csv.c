// SPDX-License-Identifier: Apache-2.0
/* Values in fields of text/csv (RFC 4180). */
#include <string.h>

#include "odata/csv_writer.h"
#include "storage/pg_value.h"
#include "storage/pg_value_priv.h"

static void csv_text(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    csv_put_string(out, text, len);
}

static void csv_bpchar(struct bytes *out, const char *text, size_t len,
                       const struct value_form *form)
{
    (void)form;
    csv_put_string(out, text, pg_bpchar_length(text, len));
}

/* What JSON has in quotes, without an escape in it, loses them: dates, identifiers, NaN. */
static void csv_bare(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    size_t start = out->len;
    form->element->write(out, text, len, form->element);
    if (bytes_failed(out) || out->len < start + 2 || out->ptr[start] != '"') {
        return;
    }
    size_t inside = out->len - start - 2;
    memmove(out->ptr + start, out->ptr + start + 1, inside);
    out->len = start + inside;
}

static void csv_json(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    size_t start = out->len;
    form->element->write(out, text, len, form->element);
    csv_quote_from(out, start);
}

/* An object or an array in JSON. */
static bool is_structured(const struct type_ref *type)
{
    return type->collection || type->type == EDM_COMPLEX || type->type == EDM_GEOGRAPHY ||
           type->type == EDM_GEOMETRY;
}

const struct value_form *pg_value_csv_form(struct arena *a, const struct type_ref *type,
                                           const struct pg_type_ref *pg,
                                           const struct response_format *format)
{
    static const struct value_form text_form = {.write = csv_text};
    static const struct value_form bpchar_form = {.write = csv_bpchar};
    bool is_text = type->type == EDM_STRING || type->type == EDM_ENUM || type->type == EDM_UNTYPED;
    if (is_text && !type->collection) {
        return pg->oid == PG_OID_BPCHAR ? &bpchar_form : &text_form;
    }
    const struct value_form *json = pg_value_json_form(a, type, pg, format);
    bool is_bare = !type->collection && (type->type == EDM_BOOLEAN || edm_is_integer(type->type));
    if (json == NULL || is_bare) {
        return json;
    }
    struct value_form *form = ARENA_NEW(a, struct value_form);
    if (form == NULL) {
        return NULL;
    }
    *form =
        (struct value_form){.write = is_structured(type) ? csv_json : csv_bare, .element = json};
    return form;
}

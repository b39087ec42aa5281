// SPDX-License-Identifier: Apache-2.0
#include "storage/pg_value.h"

#include "odata/json_writer.h"
#include "odata/limits.h"
#include "storage/pg_value_priv.h"
#include "storage/value_type.h"

/* How the values of each Edm type are written; IEEE754Compatible=true asks for the second form. */
static const struct primitive {
    struct value_form form;
    struct value_form ieee754; /* with write NULL: the same as form */
} primitives[EDM_TYPE_COUNT] = {
    [EDM_BINARY] = {.form = {.write = pg_write_bytea}},
    [EDM_BOOLEAN] = {.form = {.write = pg_write_bool}},
    [EDM_BYTE] = {.form = {.write = pg_write_integer}},
    [EDM_DATE] = {.form = {.write = pg_write_date}},
    [EDM_DATETIMEOFFSET] = {.form = {.write = pg_write_timestamp}},
    [EDM_DECIMAL] = {.form = {.write = pg_write_numeric},
                     .ieee754 = {.write = pg_write_numeric_string}},
    [EDM_DOUBLE] = {.form = {.write = pg_write_float}},
    [EDM_DURATION] = {.form = {.write = pg_write_interval}},
    [EDM_GUID] = {.form = {.write = pg_write_uuid}},
    [EDM_INT16] = {.form = {.write = pg_write_integer}},
    [EDM_INT32] = {.form = {.write = pg_write_integer}},
    [EDM_INT64] = {.form = {.write = pg_write_integer},
                   .ieee754 = {.write = pg_write_integer_string}},
    [EDM_SBYTE] = {.form = {.write = pg_write_integer}},
    [EDM_SINGLE] = {.form = {.write = pg_write_float}},
    [EDM_STREAM] = {.form = {.write = pg_write_bytea}},
    [EDM_STRING] = {.form = {.write = pg_write_text}},
    [EDM_TIMEOFDAY] = {.form = {.write = pg_write_time}},
    [EDM_UNTYPED] = {.form = {.write = pg_write_text}},
    [EDM_GEOGRAPHY] = {.form = {.write = pg_write_json}}, /* selected as GeoJSON */
    [EDM_GEOMETRY] = {.form = {.write = pg_write_json}},
    [EDM_ENUM] = {.form = {.write = pg_write_text}},
};

static const struct value_form bpchar_form = {.write = pg_write_bpchar};
static const struct value_form json_form = {.write = pg_write_json};
static const struct value_form money_form = {.write = pg_write_money};
static const struct value_form money_string_form = {.write = pg_write_money_string};

/* pg_type.typdelim: of all types that PostgreSQL brings, only box has another than the comma. */
static const char box_delimiter = ';';

static bool is_json(uint32_t oid)
{
    return oid == PG_OID_JSON || oid == PG_OID_JSONB;
}

static const struct value_form *primitive_form(enum edm_type type, uint32_t oid,
                                               const struct response_format *format)
{
    if (type == EDM_STRING && oid == PG_OID_BPCHAR) {
        return &bpchar_form;
    }
    if (type == EDM_UNTYPED && is_json(oid) && format->version == ODATA_4_01) {
        return &json_form;
    }
    if (type == EDM_DECIMAL && oid == PG_OID_MONEY) {
        return format->ieee754 ? &money_string_form : &money_form;
    }
    const struct primitive *p = &primitives[type];
    return format->ieee754 && p->ieee754.write != NULL ? &p->ieee754 : &p->form;
}

static const struct value_form *make_form(struct arena *a, const struct type_ref *type,
                                          const struct pg_type_ref *pg,
                                          const struct response_format *format, unsigned depth);

/* `"When@odata.type":"#Date",` in front of the label, as storage/read_shape.c has it for rows. */
static bool annotate(struct arena *a, const struct property *p,
                     const struct response_format *format, struct str *io_label)
{
    struct str type;
    if (!value_type_name(a, &p->type, format, &type)) {
        return false;
    }
    return type.len == 0 ||
           arena_format(a, io_label, "\"%.*s@%stype\":\"%.*s\",%.*s", STR_ARG(p->name),
                        format->version == ODATA_4_0 ? "odata." : "", STR_ARG(type),
                        STR_ARG(*io_label));
}

/* `"@odata.type":"#NS.Address",` in front of the first member's label. */
static bool annotate_object(struct arena *a, const struct complex_type *type,
                            const struct response_format *format, struct str *io_label)
{
    return arena_format(a, io_label, "\"@%stype\":\"#%.*s.%.*s\",%.*s",
                        format->version == ODATA_4_0 ? "odata." : "", STR_ARG(type->namespace),
                        STR_ARG(type->name), STR_ARG(*io_label));
}

static const struct value_form *make_composite(struct arena *a, const struct complex_type *type,
                                               const struct response_format *format, unsigned depth)
{
    struct value_form *form = ARENA_NEW(a, struct value_form);
    struct form_member *members = ARENA_ARRAY(a, type->property_count, struct form_member);
    if (form == NULL || members == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < type->property_count; i++) {
        const struct property *p = &type->properties[i];
        members[i].form = make_form(a, &p->type, &p->pg, format, depth + 1);
        if (members[i].form == NULL || !json_make_label(a, p->name, &members[i].label)) {
            return NULL;
        }
        if (format->metadata == METADATA_FULL &&
            (!annotate(a, p, format, &members[i].label) ||
             (i == 0 && !annotate_object(a, type, format, &members[i].label)))) {
            return NULL;
        }
    }
    *form = (struct value_form){
        .write = pg_write_composite, .members = members, .member_count = type->property_count};
    return form;
}

static const struct value_form *make_array(struct arena *a, const struct type_ref *type,
                                           const struct pg_type_ref *pg,
                                           const struct response_format *format, unsigned depth)
{
    struct type_ref element = *type;
    element.collection = false;
    const struct pg_type_ref element_pg = {.oid = pg->element_oid};
    struct value_form *form = ARENA_NEW(a, struct value_form);
    const struct value_form *of = make_form(a, &element, &element_pg, format, depth + 1);
    if (form == NULL || of == NULL) {
        return NULL;
    }
    *form = (struct value_form){.write = pg_write_array, .element = of};
    if (pg->element_oid == PG_OID_BOX) {
        form->extra = &box_delimiter;
    }
    return form;
}

static const struct value_form *make_form(struct arena *a, const struct type_ref *type,
                                          const struct pg_type_ref *pg,
                                          const struct response_format *format, unsigned depth)
{
    if (depth >= LIMIT_VALUE_DEPTH) {
        return NULL;
    }
    if (type->collection) {
        return make_array(a, type, pg, format, depth);
    }
    if (type->type == EDM_COMPLEX) {
        return make_composite(a, type->complex_type, format, depth);
    }
    const struct value_form *form = primitive_form(type->type, pg->oid, format);
    return form->write == NULL ? NULL : form;
}

const struct value_form *pg_value_json_form(struct arena *a, const struct type_ref *type,
                                            const struct pg_type_ref *pg,
                                            const struct response_format *format)
{
    return make_form(a, type, pg, format, 0);
}

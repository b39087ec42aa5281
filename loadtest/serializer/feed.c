// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "loadtest/serializer/writers.h"
#include "odata/feed_writer.h"
#include "odata/json_writer.h"
#include "storage/pg_value.h"

enum {
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_BYTEA = 17,
};

struct feed {
    struct row_source source; /* first: the writer is given a pointer to it */
    const struct data *data;
    size_t at;
    struct arena arena;
    struct member members[FIELD_COUNT];
    struct shape shape;
    struct feed_spec spec;
};

static struct property address_v1[] = {
    {.name = {STR_INIT("City")}, .type = {.type = EDM_STRING}, .pg = {.oid = OID_TEXT}},
    {.name = {STR_INIT("Street")}, .type = {.type = EDM_STRING}, .pg = {.oid = OID_TEXT}},
};
static struct property address_v3[] = {
    {.name = {STR_INIT("City")}, .type = {.type = EDM_STRING}, .pg = {.oid = OID_TEXT}},
    {.name = {STR_INIT("Misc")}, .type = {.type = EDM_UNTYPED}, .pg = {.oid = OID_TEXT}},
    {.name = {STR_INIT("Street")}, .type = {.type = EDM_STRING}, .pg = {.oid = OID_TEXT}},
};
static const struct complex_type complex_v1 = {
    .name = {STR_INIT("Address")}, .properties = address_v1, .property_count = 2};
static const struct complex_type complex_v3 = {
    .name = {STR_INIT("Address")}, .properties = address_v3, .property_count = 3};

static const struct column {
    const char *name;
    struct type_ref type;
    struct pg_type_ref pg;
    bool only_v3;
} columns[FIELD_COUNT] = {
    [FIELD_ID] = {"Id", {.type = EDM_INT32}, {.oid = OID_INT4}, false},
    [FIELD_NAME] = {"Name", {.type = EDM_STRING}, {.oid = OID_TEXT}, false},
    [FIELD_EMAILS] = {"Emails",
                      {.type = EDM_STRING, .collection = true},
                      {.element_oid = OID_TEXT},
                      false},
    [FIELD_BIO] = {"Bio", {.type = EDM_STRING}, {.oid = OID_TEXT}, true},
    [FIELD_CONTENT] = {"Content", {.type = EDM_BINARY}, {.oid = OID_BYTEA}, true},
    [FIELD_HOME] = {"HomeAddress", {.type = EDM_COMPLEX}, {.oid = 0}, false},
    [FIELD_ADDRESSES] = {"Addresses", {.type = EDM_COMPLEX, .collection = true}, {.oid = 0}, false},
};

static enum step next_row(struct row_source *s, unsigned level, const struct field **out_fields,
                          struct odata_error *err)
{
    (void)level;
    (void)err;
    struct feed *f = (struct feed *)s;
    if (f->at == f->data->count) {
        return STEP_END;
    }
    *out_fields = f->data->customers[f->at++].fields;
    return STEP_OK;
}

static const struct row_source_ops source_ops = {.next = next_row};

static bool make_shape(struct feed *f)
{
    size_t count = 0;
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        const struct column *c = &columns[i];
        if (c->only_v3 && !data_is_v3(f->data)) {
            continue;
        }
        struct type_ref type = c->type;
        type.complex_type = data_is_v3(f->data) ? &complex_v3 : &complex_v1;
        struct member *m = &f->members[count++];
        *m = (struct member){.kind = MEMBER_VALUE, .field = i};
        m->form = pg_value_json_form(&f->arena, &type, &c->pg, &f->spec.format);
        if (m->form == NULL || !json_make_label(&f->arena, str_from(c->name), &m->label)) {
            return false;
        }
    }
    f->shape = (struct shape){f->members, count};
    return true;
}

static void feed_close(void *state)
{
    struct feed *f = state;
    arena_fini(&f->arena);
    free(f);
}

static void *feed_open(const struct data *d)
{
    struct feed *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        return NULL;
    }
    f->source.ops = &source_ops;
    f->data = d;
    arena_init(&f->arena, SIZE_MAX / 2);
    f->spec = (struct feed_spec){
        .kind = FEED_COLLECTION, .shape = &f->shape, .context = STR(DATA_CONTEXT)};
    f->spec.format = (struct response_format){.version = ODATA_4_0, .metadata = METADATA_MINIMAL};
    if (!make_shape(f)) {
        feed_close(f);
        return NULL;
    }
    return f;
}

static bool feed_write(void *state, struct bytes *out, struct sink *sink)
{
    struct feed *f = state;
    f->at = 0;
    struct feed_writer *w = feed_writer_new(&f->spec, &f->source, out);
    if (w == NULL) {
        return false;
    }
    struct odata_error err = {0};
    enum step step = feed_writer_step(w, sink->high_mark, &err);
    while (step == STEP_OK) {
        sink_drain(sink, out);
        step = feed_writer_step(w, sink->high_mark, &err);
    }
    feed_writer_free(w);
    return step == STEP_END;
}

const struct writer writer_sluice = {
    .name = "sluice",
    .what = "odata/feed_writer over storage/pg_value, from PostgreSQL's text forms",
    .open = feed_open,
    .write = feed_write,
    .close = feed_close,
};

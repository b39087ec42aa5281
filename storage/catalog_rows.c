// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_rows.h"

#include <stdlib.h>

#include "storage/catalog_names.h"
#include "storage/catalog_views.h"

/* -- fields ----------------------------------------------------------------------------------- */

/* Copies the text for the model; an empty one, for NULL too, takes no memory. */
static bool keep_text(struct raw_catalog *raw, const struct catalog_row *row, int field,
                      struct str *out_text)
{
    struct str text = row_text(row, field);
    if (text.len == 0) {
        *out_text = STR("");
        return true;
    }
    return arena_copy(raw->kept, text, out_text);
}

/* The numbers of an int2vector ("1 2") or of an int2 array ("{1,2}"), at most `most` of them. */
static bool get_numbers(struct raw_catalog *raw, const struct catalog_row *row, int field,
                        size_t most, int16_t **out_numbers, size_t *out_count)
{
    struct str text = row_text(row, field);
    int16_t *numbers = ARENA_ARRAY(&raw->scratch, text.len / 2 + 1, int16_t);
    if (numbers == NULL) {
        return false;
    }
    size_t count = 0;
    const char *p = text.ptr;
    while (*p != '\0' && count < most) {
        char *end = NULL;
        long number = strtol(p, &end, 10);
        if (end == p) {
            p++; /* a brace or comma */
            continue;
        }
        numbers[count++] = (int16_t)number;
        p = end;
    }
    *out_numbers = numbers;
    *out_count = count;
    return true;
}

/* -- rows ------------------------------------------------------------------------------------- */

bool catalog_rows_schema(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct str name = row_text(row, 1);
    for (size_t i = 0; i < raw->schemas.count; i++) {
        struct raw_schema *s = &raw->schemas.items[i];
        if (str_eq(s->name, name)) {
            s->oid = row_oid(row, 0);
            s->exposed = row_bool(row, 2);
            return oid_map_put(&raw->schema_places, s->oid, (uint32_t)i);
        }
    }
    return true;
}

static enum relation_kind kind_of(char relkind)
{
    switch (relkind) {
    case 'p':
        return RELATION_PARTITIONED;
    case 'v':
        return RELATION_VIEW;
    case 'm':
        return RELATION_MATERIALIZED_VIEW;
    case 'f':
        return RELATION_FOREIGN_TABLE;
    default:
        return RELATION_TABLE;
    }
}

bool catalog_rows_relation(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_relation *r = RAW_ADD(&raw->relations);
    if (r == NULL || !keep_text(raw, row, 2, &r->name) || !keep_text(raw, row, 7, &r->comment)) {
        return false;
    }
    r->oid = row_oid(row, 0);
    r->schema = oid_map_get(&raw->schema_places, row_oid(row, 1));
    r->kind = kind_of(row_char(row, 3));
    r->tuples = r->kind == RELATION_VIEW ? -1 : strtod(row_text(row, 4).ptr, NULL);
    r->row_security = row_bool(row, 5);
    r->has_children = row_bool(row, 6);
    return true;
}

bool catalog_rows_unreadable(struct raw_catalog *raw, const struct catalog_row *row)
{
    const struct raw_schema *s = raw_find_schema(raw, row_oid(row, 0));
    struct str names = row_text(row, 2);
    int32_t count = row_int(row, 1);
    struct model_warning *w = s == NULL ? NULL : RAW_ADD(&raw->warnings);
    if (w == NULL) {
        return s == NULL;
    }
    w->relation = s->name;
    return arena_format(raw->kept, &w->text,
                        "left out: the role may not SELECT from %d of its tables and views:"
                        " %.*s%s; GRANT SELECT shows them",
                        (int)count, STR_ARG(names), count > 20 ? ", ..." : "");
}

static bool fill_column(struct raw_catalog *raw, const struct catalog_row *row,
                        struct raw_column *c)
{
    if (c == NULL || !keep_text(raw, row, 2, &c->name) || !keep_text(raw, row, 10, &c->comment)) {
        return false;
    }
    c->owner = row_oid(row, 0);
    c->number = (int16_t)row_int(row, 1);
    c->type_oid = row_oid(row, 3);
    c->type_modifier = row_int(row, 4);
    c->dimensions = row_int(row, 5);
    c->not_null = row_bool(row, 6);
    char identity = row_char(row, 8);
    bool generated = row_char(row, 9) != '\0';
    c->computed = generated || identity == 'a';
    c->has_default = row_bool(row, 7) || identity != '\0';
    c->collation = row_oid(row, 11);
    return true;
}

bool catalog_rows_column(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_relation *r = raw_find_relation(raw, row_oid(row, 0));
    if (r == NULL) {
        return true;
    }
    if (r->column_count++ == 0) {
        r->first_column = raw->columns.count;
    }
    return fill_column(raw, row, RAW_ADD(&raw->columns));
}

bool catalog_rows_attribute(struct raw_catalog *raw, const struct catalog_row *row)
{
    return fill_column(raw, row, RAW_ADD(&raw->attributes));
}

/* The place of the schema of a type; it is added when it is not an exposed one. */
static bool type_schema(struct raw_catalog *raw, const struct catalog_row *row, uint32_t *out_place)
{
    uint32_t oid = row_oid(row, 2);
    *out_place = oid_map_get(&raw->schema_places, oid);
    if (*out_place != OID_MAP_NONE) {
        return true;
    }
    struct raw_schema *s = RAW_ADD(&raw->schemas);
    if (s == NULL || !keep_text(raw, row, 3, &s->name)) {
        return false;
    }
    s->oid = oid;
    *out_place = (uint32_t)(raw->schemas.count - 1);
    return oid_map_put(&raw->schema_places, oid, *out_place);
}

bool catalog_rows_type(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_type *t = RAW_ADD(&raw->types);
    if (t == NULL || !keep_text(raw, row, 1, &t->name) || !keep_text(raw, row, 12, &t->cast) ||
        !keep_text(raw, row, 14, &t->comment) || !type_schema(raw, row, &t->schema)) {
        return false;
    }
    t->oid = row_oid(row, 0);
    t->kind = row_char(row, 4);
    t->base_oid = row_oid(row, 5);
    t->type_modifier = row_int(row, 6);
    t->dimensions = row_int(row, 7);
    t->not_null = row_bool(row, 8);
    t->has_default = row_bool(row, 9);
    t->element_oid = row_oid(row, 10);
    t->owner = row_oid(row, 11);
    t->spatial = row_bool(row, 13);
    return oid_map_put(&raw->type_places, t->oid, (uint32_t)(raw->types.count - 1));
}

bool catalog_rows_label(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_type *t = raw_find_type(raw, row_oid(row, 0));
    struct str *label = RAW_ADD(&raw->labels);
    if (label == NULL || !keep_text(raw, row, 1, label)) {
        return false;
    }
    if (t != NULL && t->label_count++ == 0) {
        t->first_label = raw->labels.count - 1;
        t->labels_fit = true;
    }
    if (t != NULL && !name_is_identifier(*label)) {
        t->labels_fit = false;
    }
    return true;
}

bool catalog_rows_key(struct raw_catalog *raw, const struct catalog_row *row)
{
    uint32_t owner = row_oid(row, 0);
    struct raw_key *k = RAW_ADD(&raw->keys);
    if (k == NULL || !arena_copy(&raw->scratch, row_text(row, 1), &k->name) ||
        !get_numbers(raw, row, 5, (size_t)row_int(row, 4), &k->numbers, &k->count)) {
        return false;
    }
    k->owner = owner;
    k->primary = row_bool(row, 2);
    k->not_null = row_bool(row, 3);
    return oid_map_get(&raw->first_keys, owner) != OID_MAP_NONE ||
           oid_map_put(&raw->first_keys, owner, (uint32_t)(raw->keys.count - 1));
}

bool catalog_rows_foreign_key(struct raw_catalog *raw, const struct catalog_row *row)
{
    uint32_t source = oid_map_get(&raw->relation_places, row_oid(row, 0));
    uint32_t target = oid_map_get(&raw->relation_places, row_oid(row, 1));
    if (source == OID_MAP_NONE || target == OID_MAP_NONE) {
        return true;
    }
    struct raw_foreign_key *f = RAW_ADD(&raw->foreign_keys);
    size_t remote_count = 0;
    if (f == NULL || !arena_copy(&raw->scratch, row_text(row, 2), &f->name) ||
        !get_numbers(raw, row, 4, SIZE_MAX, &f->local, &f->count) ||
        !get_numbers(raw, row, 5, SIZE_MAX, &f->remote, &remote_count)) {
        return false;
    }
    f->source = source;
    f->target = target;
    f->validated = row_bool(row, 3);
    return true;
}

bool catalog_rows_inheritance(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_inheritance *i = RAW_ADD(&raw->inheritances);
    if (i == NULL) {
        return false;
    }
    *i = (struct raw_inheritance){row_oid(row, 0), row_oid(row, 1)};
    return oid_map_get(&raw->first_inheritances, i->child) != OID_MAP_NONE ||
           oid_map_put(&raw->first_inheritances, i->child, (uint32_t)(raw->inheritances.count - 1));
}

bool catalog_rows_view(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_view view = {.oid = row_oid(row, 0)};
    if (!view_rule_parse(&raw->scratch, row_text(row, 1), &view)) {
        return true; /* not of the kind whose keys can be told */
    }
    struct raw_view *v = RAW_ADD(&raw->views);
    if (v == NULL) {
        return false;
    }
    *v = view;
    return oid_map_put(&raw->view_places, v->oid, (uint32_t)(raw->views.count - 1));
}

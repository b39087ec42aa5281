// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_raw.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "odata/limits.h"

enum {
    FIRST_ITEMS = 64,
    WARNING_BYTES = 1024, /* a longer warning is cut */
};

void raw_init(struct raw_catalog *raw, const struct catalog_options *options, struct model *m)
{
    *raw = (struct raw_catalog){.options = options, .model = m, .kept = model_arena(m)};
    arena_init(&raw->scratch, (size_t)LIMIT_MODEL_ARENA_MIB * 1024 * 1024);
}

void raw_fini(struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->schemas.count; i++) {
        name_set_fini(&raw->schemas.items[i].type_names);
    }
    free(raw->schemas.items);
    free(raw->relations.items);
    free(raw->columns.items);
    free(raw->attributes.items);
    free(raw->types.items);
    free(raw->labels.items);
    free(raw->keys.items);
    free(raw->foreign_keys.items);
    free(raw->inheritances.items);
    free(raw->views.items);
    free(raw->ts_configs.items);
    free(raw->ts_expressions.items);
    free(raw->warnings.items);
    oid_map_fini(&raw->schema_places);
    oid_map_fini(&raw->relation_places);
    oid_map_fini(&raw->type_places);
    oid_map_fini(&raw->view_places);
    oid_map_fini(&raw->first_keys);
    oid_map_fini(&raw->first_inheritances);
    arena_fini(&raw->scratch);
}

bool raw_vec_grow(void **items, size_t count, size_t *capacity, size_t item_size)
{
    if (count == *capacity) {
        size_t larger = *capacity == 0 ? FIRST_ITEMS : *capacity * 2;
        if (larger > SIZE_MAX / item_size) {
            return false;
        }
        void *moved = realloc(*items, larger * item_size);
        if (moved == NULL) {
            return false;
        }
        *items = moved;
        *capacity = larger;
    }
    memset((char *)*items + count * item_size, 0, item_size);
    return true;
}

struct raw_schema *raw_find_schema(const struct raw_catalog *raw, uint32_t oid)
{
    uint32_t place = oid_map_get(&raw->schema_places, oid);
    return place == OID_MAP_NONE ? NULL : &raw->schemas.items[place];
}

struct raw_relation *raw_find_relation(const struct raw_catalog *raw, uint32_t oid)
{
    uint32_t place = oid_map_get(&raw->relation_places, oid);
    return place == OID_MAP_NONE ? NULL : &raw->relations.items[place];
}

struct raw_type *raw_find_type(const struct raw_catalog *raw, uint32_t oid)
{
    uint32_t place = oid_map_get(&raw->type_places, oid);
    return place == OID_MAP_NONE ? NULL : &raw->types.items[place];
}

struct raw_column *raw_find_column(const struct raw_catalog *raw, const struct raw_relation *r,
                                   int16_t number)
{
    size_t low = r->first_column;
    size_t high = r->first_column + r->column_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (raw->columns.items[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found =
        low < r->first_column + r->column_count && raw->columns.items[low].number == number;
    return found ? &raw->columns.items[low] : NULL;
}

struct str raw_schema_name(const struct raw_catalog *raw, const struct raw_relation *r)
{
    return raw->schemas.items[r->schema].name;
}

bool raw_warn(struct raw_catalog *raw, const struct raw_relation *r, struct odata_error *err,
              const char *fmt, ...)
{
    char text[WARNING_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);

    struct model_warning *w = RAW_ADD(&raw->warnings);
    if (w == NULL || !arena_copy(raw->kept, str_from(text), &w->text) ||
        !arena_format(raw->kept, &w->relation, "%.*s.%.*s", STR_ARG(raw_schema_name(raw, r)),
                      STR_ARG(r->name))) {
        return raw_no_memory(err);
    }
    return true;
}

bool raw_no_memory(struct odata_error *err)
{
    return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "",
                           "the model does not fit into memory (%d MiB at most)",
                           LIMIT_MODEL_ARENA_MIB);
}

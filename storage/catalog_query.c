// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_query.h"

#include <stdio.h>
#include <stdlib.h>

#include "odata/bytes.h"
#include "storage/catalog_connection.h"
#include "storage/catalog_names.h"
#include "storage/catalog_search.h"
#include "storage/catalog_views.h"

enum {
    LIST_BYTES = 64 * 1024 * 1024, /* the text of an array parameter: millions of OIDs */
    FIRST_USER_OID = 16384,        /* FirstNormalObjectId: what initdb made is below */
};

/* -- the questions ---------------------------------------------------------------------------- */

/* $1: names of schemas. */
static const char schemas_sql[] = "SELECT n.oid, n.nspname, has_schema_privilege(n.oid, 'USAGE')"
                                  " FROM pg_namespace n WHERE n.nspname = ANY ($1::text[])";

/* Of pg_class c: what is a table to us; an extension's own tables and partitions are none. */
#define SHOWABLE                                                                      \
    "c.relnamespace = ANY ($1::oid[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"     \
    " AND NOT c.relispartition AND c.relpersistence <> 't'"                           \
    " AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass" \
    "  AND e.objid = c.oid AND e.deptype = 'e')"
#define READABLE \
    "(has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))"

/* $1, here and below unless it says otherwise: OIDs of schemas. */
static const char relations_sql[] =
    "SELECT c.oid, c.relnamespace, c.relname, c.relkind, c.reltuples, c.relrowsecurity,"
    " c.relkind = 'r' AND c.relhassubclass"
    "  AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid),"
    " d.description"
    " FROM pg_class c LEFT JOIN pg_description d"
    "  ON d.classoid = 'pg_class'::regclass AND d.objoid = c.oid AND d.objsubid = 0"
    " WHERE " SHOWABLE " AND " READABLE;

/* What the role may not read, for one warning a schema: the first names are enough. */
static const char unreadable_sql[] =
    "SELECT c.relnamespace, count(*), array_to_string((array_agg(c.relname ORDER BY c.relname))"
    "[1:20], ', ') FROM pg_class c WHERE " SHOWABLE " AND NOT " READABLE " GROUP BY 1 ORDER BY 1";

/* The columns of pg_attribute a, type t, that read_column() wants. */
#define COLUMN_LIST                                                                       \
    "a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attndims, a.attnotnull," \
    " a.atthasdef, a.attidentity, a.attgenerated, d.description"
#define COLUMN_COMMENT                                                 \
    " LEFT JOIN pg_description d ON d.classoid = 'pg_class'::regclass" \
    "  AND d.objoid = a.attrelid AND d.objsubid = a.attnum"

/* The privilege is asked once a relation, and for the columns only where that says no. */
static const char columns_sql[] =
    "WITH readable AS MATERIALIZED (SELECT c.oid, has_table_privilege(c.oid, 'SELECT') AS whole"
    "  FROM pg_class c WHERE c.relnamespace = ANY ($1::oid[])"
    "   AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition)"
    " SELECT " COLUMN_LIST
    " FROM readable r JOIN pg_attribute a ON a.attrelid = r.oid" COLUMN_COMMENT
    " WHERE a.attnum > 0 AND NOT a.attisdropped"
    "  AND (r.whole OR has_column_privilege(a.attrelid, a.attnum, 'SELECT'))"
    " ORDER BY a.attrelid, a.attnum";

/* $1: OIDs of the columns' types; with them what they are made of. pg_type.typarray tells an array
   type from int2vector and the like, which have elements too. */
static const char types_sql[] =
    "WITH RECURSIVE used (oid) AS (SELECT unnest($1::oid[]) UNION SELECT p.oid"
    "  FROM used u JOIN pg_type t ON t.oid = u.oid CROSS JOIN LATERAL ("
    "   SELECT t.typbasetype AS oid WHERE t.typtype = 'd'"
    "   UNION ALL SELECT e.oid FROM pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid"
    "   UNION ALL SELECT a.atttypid FROM pg_attribute a WHERE t.typtype = 'c'"
    "    AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) p)"
    " SELECT t.oid, t.typname, t.typnamespace, n.nspname, t.typtype, t.typbasetype, t.typtypmod,"
    "  t.typndims, t.typnotnull, t.typdefault IS NOT NULL, e.oid,"
    "  CASE WHEN t.typtype = 'c' THEN t.typrelid ELSE 0 END, format_type(t.oid, -1),"
    "  EXISTS (SELECT FROM pg_depend x JOIN pg_extension s ON s.oid = x.refobjid"
    "   WHERE x.classid = 'pg_type'::regclass AND x.objid = t.oid AND x.deptype = 'e'"
    "    AND x.refclassid = 'pg_extension'::regclass AND s.extname = 'postgis'),"
    "  d.description"
    " FROM used u JOIN pg_type t ON t.oid = u.oid JOIN pg_namespace n ON n.oid = t.typnamespace"
    " LEFT JOIN pg_type e ON e.oid = t.typelem AND e.typarray = t.oid"
    " LEFT JOIN pg_description d ON d.classoid = 'pg_type'::regclass AND d.objoid = t.oid"
    "  AND d.objsubid = 0"
    " ORDER BY n.nspname, t.typname";

/* $1: pg_class OIDs of composite types. */
static const char attributes_sql[] = "SELECT " COLUMN_LIST " FROM pg_attribute a" COLUMN_COMMENT
                                     " WHERE a.attrelid = ANY ($1::oid[]) AND a.attnum > 0"
                                     "  AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum";

/* $1: OIDs of enum types. */
static const char labels_sql[] = "SELECT enumtypid, enumlabel FROM pg_enum"
                                 " WHERE enumtypid = ANY ($1::oid[])"
                                 " ORDER BY enumtypid, enumsortorder";

/* Of the exposed relations, and of those that any view reads: views pass keys through. A deferrable
   or partial index or one over expressions proves nothing about the rows of a query. */
static const char keys_sql[] =
    "WITH wanted AS MATERIALIZED (SELECT c.oid FROM pg_class c"
    "  WHERE c.relnamespace = ANY ($1::oid[]) AND c.relkind IN ('r', 'p', 'm', 'f')"
    "  UNION SELECT d.refobjid FROM pg_depend d WHERE d.classid = 'pg_rewrite'::regclass"
    "   AND d.refclassid = 'pg_class'::regclass AND d.objid >= $2::oid)"
    " SELECT i.indrelid, x.relname, i.indisprimary, i.indisprimary OR NOT EXISTS ("
    "   SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
    "   WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey[0:i.indnkeyatts - 1])"
    "    AND NOT a.attnotnull AND NOT t.typnotnull),"
    "  i.indnkeyatts, i.indkey"
    " FROM wanted w JOIN pg_index i ON i.indrelid = w.oid JOIN pg_class x ON x.oid = i.indexrelid"
    " WHERE i.indisunique AND i.indimmediate AND i.indisvalid AND i.indislive"
    "  AND i.indpred IS NULL AND i.indexprs IS NULL"
    " ORDER BY i.indrelid, i.indisprimary DESC, i.indnkeyatts, x.relname COLLATE \"C\"";

/* Constraints with a parent are the copies that a partitioned table's partitions have. */
static const char foreign_keys_sql[] =
    "SELECT f.conrelid, f.confrelid, f.conname, f.convalidated, f.conkey, f.confkey"
    " FROM pg_constraint f"
    " WHERE f.contype = 'f' AND f.connamespace = ANY ($1::oid[]) AND f.conparentid = 0";

/* The rule that makes a view what it is; of the views that other views read, too. */
static const char views_sql[] =
    "SELECT w.ev_class, w.ev_action FROM pg_rewrite w JOIN pg_class v ON v.oid = w.ev_class"
    " WHERE w.ev_type = '1' AND w.is_instead AND v.relkind IN ('v', 'm') AND w.oid >= $2::oid"
    "  AND (v.relnamespace = ANY ($1::oid[]) OR v.oid IN (SELECT d.refobjid FROM pg_depend d"
    "   WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass"
    "    AND d.objid >= $2::oid AND d.objid <> w.oid))";

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

static bool read_schema(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_relation(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_unreadable(struct raw_catalog *raw, const struct catalog_row *row)
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
    return true;
}

static bool read_column(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_attribute(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_type(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_label(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_key(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_foreign_key(struct raw_catalog *raw, const struct catalog_row *row)
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

static bool read_view(struct raw_catalog *raw, const struct catalog_row *row)
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

/* -- parameters ------------------------------------------------------------------------------- */

/* One name as an element of an array literal. */
static void put_element(struct bytes *b, struct str name)
{
    bytes_put_char(b, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"' || name.ptr[i] == '\\') {
            bytes_put_char(b, '\\');
        }
        bytes_put_char(b, name.ptr[i]);
    }
    bytes_put_char(b, '"');
}

static void put_oid(struct bytes *b, uint32_t oid)
{
    bytes_put_char(b, b->len == 0 ? '{' : ',');
    bytes_put_u64(b, oid);
}

/* Ends the list of put_oid() calls, which may be empty. */
static void end_list(struct bytes *b)
{
    if (b->len == 0) {
        bytes_put_char(b, '{');
    }
    bytes_put(b, "}", 2); /* with its NUL */
}

static void put_schema_names(struct bytes *b, const struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->schemas.count; i++) {
        bytes_put_char(b, i == 0 ? '{' : ',');
        put_element(b, raw->schemas.items[i].name);
    }
    end_list(b);
}

static void put_schema_oids(struct bytes *b, const struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->schemas.count; i++) {
        if (raw->schemas.items[i].exposed) {
            put_oid(b, raw->schemas.items[i].oid);
        }
    }
    end_list(b);
}

/* The types of the columns, each once. */
static bool put_column_types(struct bytes *b, const struct raw_catalog *raw)
{
    struct oid_map seen = {0};
    bool ok = true;
    for (size_t i = 0; i < raw->columns.count && ok; i++) {
        uint32_t oid = raw->columns.items[i].type_oid;
        if (oid_map_get(&seen, oid) == OID_MAP_NONE) {
            ok = oid_map_put(&seen, oid, 0);
            put_oid(b, oid);
        }
    }
    oid_map_fini(&seen);
    end_list(b);
    return ok;
}

static void put_composites(struct bytes *b, const struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->types.count; i++) {
        if (raw->types.items[i].owner != 0) {
            put_oid(b, raw->types.items[i].owner);
        }
    }
    end_list(b);
}

static void put_enums(struct bytes *b, const struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->types.count; i++) {
        if (raw->types.items[i].kind == 'e') {
            put_oid(b, raw->types.items[i].oid);
        }
    }
    end_list(b);
}

/* -- order ------------------------------------------------------------------------------------ */

/* By place of schema and name: what every restart and every restore of a dump has in common. */
static int compare_relations(const void *a, const void *b)
{
    const struct raw_relation *left = a;
    const struct raw_relation *right = b;
    if (left->schema != right->schema) {
        return left->schema < right->schema ? -1 : 1;
    }
    return str_compare(left->name, right->name);
}

static int compare_foreign_keys(const void *a, const void *b)
{
    const struct raw_foreign_key *left = a;
    const struct raw_foreign_key *right = b;
    if (left->source != right->source) {
        return left->source < right->source ? -1 : 1;
    }
    return str_compare(left->name, right->name);
}

static bool sort_relations(struct raw_catalog *raw)
{
    if (raw->relations.count > 1) {
        qsort(raw->relations.items, raw->relations.count, sizeof(struct raw_relation),
              compare_relations);
    }
    for (size_t i = 0; i < raw->relations.count; i++) {
        if (!oid_map_put(&raw->relation_places, raw->relations.items[i].oid, (uint32_t)i)) {
            return false;
        }
    }
    return true;
}

static void sort_foreign_keys(struct raw_catalog *raw)
{
    if (raw->foreign_keys.count > 1) {
        qsort(raw->foreign_keys.items, raw->foreign_keys.count, sizeof(struct raw_foreign_key),
              compare_foreign_keys);
    }
}

/* Gives each composite type its run of attributes, which are sorted by their owner. */
static bool group_attributes(struct raw_catalog *raw)
{
    struct oid_map first = {0};
    bool ok = true;
    for (size_t i = raw->attributes.count; i > 0 && ok; i--) {
        ok = oid_map_put(&first, raw->attributes.items[i - 1].owner, (uint32_t)(i - 1));
    }
    for (size_t i = 0; i < raw->types.count && ok; i++) {
        struct raw_type *t = &raw->types.items[i];
        uint32_t place = oid_map_get(&first, t->owner);
        if (place == OID_MAP_NONE) {
            continue;
        }
        t->first_attribute = place;
        while (place < raw->attributes.count && raw->attributes.items[place].owner == t->owner) {
            place++;
        }
        t->attribute_count = place - t->first_attribute;
    }
    oid_map_fini(&first);
    return ok;
}

/* -- all of it -------------------------------------------------------------------------------- */

static bool add_exposed_schemas(struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->options->schema_count; i++) {
        struct str name = raw->options->schemas[i];
        bool again = false;
        for (size_t k = 0; k < raw->schemas.count; k++) {
            again = again || str_eq(raw->schemas.items[k].name, name);
        }
        struct raw_schema *s = again ? NULL : RAW_ADD(&raw->schemas);
        if (!again && (s == NULL || !arena_copy(raw->kept, name, &s->name))) {
            return false;
        }
    }
    return true;
}

static bool check_schemas(const struct raw_catalog *raw, struct odata_error *err)
{
    for (size_t i = 0; i < raw->schemas.count; i++) {
        const struct raw_schema *s = &raw->schemas.items[i];
        if (s->oid == 0) {
            return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "schemas",
                                   "schemas: there is no schema '%.*s' in the database",
                                   STR_ARG(s->name));
        }
        if (!s->exposed) {
            return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "schemas",
                                   "schemas: the role may not use schema '%.*s' (GRANT USAGE ON "
                                   "SCHEMA is missing)",
                                   STR_ARG(s->name));
        }
    }
    return true;
}

static bool read_relations(struct raw_catalog *raw, struct catalog_connection *conn,
                           struct bytes *list, struct odata_error *err)
{
    put_schema_names(list, raw);
    const char *const names[] = {list->ptr};
    if (bytes_failed(list)) {
        return raw_no_memory(err);
    }
    if (!catalog_run(conn, "schemas", schemas_sql, names, 1, read_schema, raw, err) ||
        !check_schemas(raw, err)) {
        return false;
    }

    bytes_clear(list);
    put_schema_oids(list, raw);
    char first_user_oid[16];
    snprintf(first_user_oid, sizeof(first_user_oid), "%d", FIRST_USER_OID);
    const char *const oids[] = {list->ptr, first_user_oid};
    if (bytes_failed(list)) {
        return raw_no_memory(err);
    }
    if (!catalog_run(conn, "relations", relations_sql, oids, 1, read_relation, raw, err)) {
        return false;
    }
    if (!sort_relations(raw)) {
        return raw_no_memory(err);
    }
    bool ok =
        catalog_run(conn, "privileges", unreadable_sql, oids, 1, read_unreadable, raw, err) &&
        catalog_run(conn, "columns", columns_sql, oids, 1, read_column, raw, err) &&
        catalog_run(conn, "keys", keys_sql, oids, 2, read_key, raw, err) &&
        catalog_run(conn, "foreign keys", foreign_keys_sql, oids, 1, read_foreign_key, raw, err) &&
        catalog_run(conn, "views", views_sql, oids, 2, read_view, raw, err) &&
        search_read(raw, conn, list->ptr, err);
    if (ok) {
        sort_foreign_keys(raw);
    }
    return ok;
}

static bool read_types(struct raw_catalog *raw, struct catalog_connection *conn, struct bytes *list,
                       struct odata_error *err)
{
    const struct {
        const char *what;
        const char *sql;
        void (*put)(struct bytes *, const struct raw_catalog *);
        catalog_row_fn fn;
    } parts[] = {{"composite types", attributes_sql, put_composites, read_attribute},
                 {"enum types", labels_sql, put_enums, read_label}};

    bytes_clear(list);
    if (!put_column_types(list, raw) || bytes_failed(list)) {
        return raw_no_memory(err);
    }
    if (!catalog_run(conn, "types", types_sql, &(const char *const){list->ptr}, 1, read_type, raw,
                     err)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        bytes_clear(list);
        parts[i].put(list, raw);
        if (bytes_failed(list)) {
            return raw_no_memory(err);
        }
        if (list->len > sizeof("{}") && /* there are some */
            !catalog_run(conn, parts[i].what, parts[i].sql, &(const char *const){list->ptr}, 1,
                         parts[i].fn, raw, err)) {
            return false;
        }
    }
    return group_attributes(raw) || raw_no_memory(err);
}

bool catalog_query_all(struct raw_catalog *raw, struct odata_error *err)
{
    if (!add_exposed_schemas(raw)) {
        return raw_no_memory(err);
    }
    struct catalog_connection conn;
    if (!catalog_connect(raw->options, &conn, err)) {
        return false;
    }
    struct bytes list;
    bytes_init(&list, LIST_BYTES);
    bool ok = read_relations(raw, &conn, &list, err) && read_types(raw, &conn, &list, err);
    bytes_fini(&list);
    catalog_disconnect(&conn);
    return ok;
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_query.h"

#include <stdio.h>
#include <stdlib.h>

#include "odata/bytes.h"
#include "storage/catalog_connection.h"
#include "storage/catalog_login.h"
#include "storage/catalog_rows.h"
#include "storage/catalog_search.h"
#include "storage/catalog_zone.h"

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

/* The columns of pg_attribute a, type t, that catalog_rows_column() wants. */
#define COLUMN_LIST                                                                       \
    "a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attndims, a.attnotnull," \
    " a.atthasdef, a.attidentity, a.attgenerated, d.description, a.attcollation"
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

/* Of the whole database: what is not exposed may stand between what is. Partitions are no types. */
static const char inheritances_sql[] =
    "SELECT i.inhrelid, i.inhparent FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
    " WHERE c.relkind IN ('r', 'f') AND NOT c.relispartition ORDER BY i.inhrelid, i.inhseqno";

/* The rule that makes a view what it is; of the views that other views read, too. */
static const char views_sql[] =
    "SELECT w.ev_class, w.ev_action FROM pg_rewrite w JOIN pg_class v ON v.oid = w.ev_class"
    " WHERE w.ev_type = '1' AND w.is_instead AND v.relkind IN ('v', 'm') AND w.oid >= $2::oid"
    "  AND (v.relnamespace = ANY ($1::oid[]) OR v.oid IN (SELECT d.refobjid FROM pg_depend d"
    "   WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass"
    "    AND d.objid >= $2::oid AND d.objid <> w.oid))";

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
    if (!catalog_run(conn, "schemas", schemas_sql, names, 1, catalog_rows_schema, raw, err) ||
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
    if (!catalog_run(conn, "relations", relations_sql, oids, 1, catalog_rows_relation, raw, err)) {
        return false;
    }
    if (!sort_relations(raw)) {
        return raw_no_memory(err);
    }
    bool ok = catalog_run(conn, "privileges", unreadable_sql, oids, 1, catalog_rows_unreadable, raw,
                          err) &&
              catalog_run(conn, "columns", columns_sql, oids, 1, catalog_rows_column, raw, err) &&
              catalog_run(conn, "keys", keys_sql, oids, 2, catalog_rows_key, raw, err) &&
              catalog_run(conn, "foreign keys", foreign_keys_sql, oids, 1, catalog_rows_foreign_key,
                          raw, err) &&
              catalog_run(conn, "inheritance", inheritances_sql, oids, 0, catalog_rows_inheritance,
                          raw, err) &&
              catalog_run(conn, "views", views_sql, oids, 2, catalog_rows_view, raw, err) &&
              search_read(raw, conn, list->ptr, err) &&
              catalog_check_login(raw, conn, list->ptr, err);
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
    } parts[] = {{"composite types", attributes_sql, put_composites, catalog_rows_attribute},
                 {"enum types", labels_sql, put_enums, catalog_rows_label}};

    bytes_clear(list);
    if (!put_column_types(list, raw) || bytes_failed(list)) {
        return raw_no_memory(err);
    }
    if (!catalog_run(conn, "types", types_sql, &(const char *const){list->ptr}, 1,
                     catalog_rows_type, raw, err)) {
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
    bool ok = catalog_read_zone(raw, &conn, err) && read_relations(raw, &conn, &list, err) &&
              read_types(raw, &conn, &list, err);
    bytes_fini(&list);
    catalog_disconnect(&conn);
    return ok;
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/row_width.h"

#include "odata/compiler.h"

enum {
    MOST_TABLES = 64, /* of one statement; more are not worth the question */
};

/* Types that cannot be long, as in pg_type.dat: wherever a value of them comes from. */
static const Oid short_types[] = {
    16,   /* bool */
    18,   /* "char" */
    19,   /* name */
    20,   /* int8 */
    21,   /* int2 */
    23,   /* int4 */
    26,   /* oid */
    700,  /* float4 */
    701,  /* float8 */
    790,  /* money */
    829,  /* macaddr */
    1082, /* date */
    1083, /* time */
    1114, /* timestamp */
    1184, /* timestamptz */
    1186, /* interval */
    1266, /* timetz */
    2950, /* uuid */
};

/*
 * Partitioned and inherited tables are many relations, and views anything: only what is one plain
 * table is answered for, or read without those that inherit from it ($2). The size is read from the
 * file, so rows that no statistics know of count.
 */
const char ROW_WIDTH_QUESTION[] =
    "SELECT pg_catalog.count(*) = pg_catalog.cardinality($1::pg_catalog.oid[])"
    " FROM pg_catalog.pg_class AS c WHERE c.oid = ANY ($1::pg_catalog.oid[])"
    " AND c.relkind IN ('r', 'm')"
    " AND (NOT c.relhassubclass OR c.oid = ANY ($2::pg_catalog.oid[]))"
    " AND (c.reltoastrelid = 0 OR pg_catalog.pg_relation_size(c.reltoastrelid::pg_catalog.regclass)"
    " = 0)";

static bool is_short_type(Oid type)
{
    for (size_t i = 0; i < ARRAY_SIZE(short_types); i++) {
        if (short_types[i] == type) {
            return true;
        }
    }
    return false;
}

struct tables {
    uint32_t oids[MOST_TABLES];
    size_t count;
};

/* False: there are too many. */
static bool add_table(struct tables *t, uint32_t oid)
{
    size_t at = 0;
    while (at < t->count && t->oids[at] != oid) {
        at++;
    }
    if (at == MOST_TABLES) {
        return false;
    }
    t->oids[at] = oid;
    t->count = at == t->count ? t->count + 1 : t->count;
    return true;
}

static bool add_tables(struct tables *t, const struct sql_level *level)
{
    bool ok = level->table_count > 0;
    for (size_t i = 0; i < level->table_count && ok; i++) {
        ok = add_table(t, level->tables[i]);
    }
    return ok;
}

static void put_oids(struct bytes *out, const uint32_t *oids, size_t count)
{
    bytes_put_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        bytes_put_str(out, i == 0 ? STR("") : STR(","));
        bytes_put_u64(out, oids[i]);
    }
    bytes_put(out, "}", 2); /* with its NUL */
}

enum row_width row_width_of(const PGresult *res, const struct sql_level *level,
                            struct bytes *out_tables)
{
    struct tables tables = {.count = 0};
    for (int i = 0; i < PQnfields(res); i++) {
        Oid table = PQftable(res, i);
        if (is_short_type(PQftype(res, i))) {
            continue;
        }
        if (!(table != InvalidOid ? add_table(&tables, table) : add_tables(&tables, level))) {
            return ROW_WIDTH_ANY;
        }
    }
    if (tables.count == 0) {
        return ROW_WIDTH_NARROW;
    }
    bytes_clear(out_tables);
    put_oids(out_tables, tables.oids, tables.count);
    put_oids(out_tables, level->tables, level->table_count);
    return bytes_failed(out_tables) ? ROW_WIDTH_ANY : ROW_WIDTH_ASK;
}

enum row_width row_width_answer(const PGresult *res)
{
    bool narrow = PQntuples(res) == 1 && PQnfields(res) == 1 && PQgetvalue(res, 0, 0)[0] == 't';
    return narrow ? ROW_WIDTH_NARROW : ROW_WIDTH_ANY;
}

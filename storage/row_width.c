// SPDX-License-Identifier: Apache-2.0
#include "storage/row_width.h"

#include "odata/compiler.h"

enum {
    MOST_TABLES = 16, /* of one statement; more are not worth the question */
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
 * table is answered for. The size is read from the file, so rows that no statistics know of count.
 */
const char ROW_WIDTH_QUESTION[] =
    "SELECT pg_catalog.count(*) = pg_catalog.cardinality($1::pg_catalog.oid[])"
    " FROM pg_catalog.pg_class AS c WHERE c.oid = ANY ($1::pg_catalog.oid[])"
    " AND c.relkind IN ('r', 'm') AND NOT c.relhassubclass"
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

enum row_width row_width_of(const PGresult *res, struct bytes *out_tables)
{
    Oid tables[MOST_TABLES];
    size_t count = 0;
    for (int i = 0; i < PQnfields(res); i++) {
        Oid table = PQftable(res, i);
        size_t at = 0;
        if (is_short_type(PQftype(res, i))) {
            continue;
        }
        while (at < count && tables[at] != table) {
            at++;
        }
        if (table == InvalidOid || at == MOST_TABLES) {
            return ROW_WIDTH_ANY;
        }
        tables[at] = table;
        count = at == count ? count + 1 : count;
    }
    if (count == 0) {
        return ROW_WIDTH_NARROW;
    }
    bytes_clear(out_tables);
    for (size_t i = 0; i < count; i++) {
        bytes_put_char(out_tables, i == 0 ? '{' : ',');
        bytes_put_u64(out_tables, tables[i]);
    }
    bytes_put_char(out_tables, '}');
    bytes_put_char(out_tables, '\0');
    return bytes_failed(out_tables) ? ROW_WIDTH_ANY : ROW_WIDTH_ASK;
}

enum row_width row_width_answer(const PGresult *res)
{
    bool narrow = PQntuples(res) == 1 && PQnfields(res) == 1 && PQgetvalue(res, 0, 0)[0] == 't';
    return narrow ? ROW_WIDTH_NARROW : ROW_WIDTH_ANY;
}

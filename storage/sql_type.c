// SPDX-License-Identifier: Apache-2.0
#include "storage/sql_type.h"

#include "storage/sql_expr.h"

static const struct str casts[EDM_TYPE_COUNT] = {
    [EDM_BINARY] = {STR_INIT("bytea")},
    [EDM_BOOLEAN] = {STR_INIT("bool")},
    [EDM_BYTE] = {STR_INIT("int2")},
    [EDM_DATE] = {STR_INIT("date")},
    [EDM_DATETIMEOFFSET] = {STR_INIT("timestamptz")},
    [EDM_DECIMAL] = {STR_INIT("numeric")},
    [EDM_DOUBLE] = {STR_INIT("float8")},
    [EDM_DURATION] = {STR_INIT("interval")},
    [EDM_GUID] = {STR_INIT("uuid")},
    [EDM_INT16] = {STR_INIT("int2")},
    [EDM_INT32] = {STR_INIT("int4")},
    [EDM_INT64] = {STR_INIT("int8")},
    [EDM_SBYTE] = {STR_INIT("int2")},
    [EDM_SINGLE] = {STR_INIT("float4")},
    [EDM_STRING] = {STR_INIT("text")},
    [EDM_TIMEOFDAY] = {STR_INIT("time")},
};

static bool is_citext(const struct pg_type_ref *pg)
{
    return str_eq(pg->cast, STR("citext")) || str_ends_with(pg->cast, STR(".citext")) ||
           str_ends_with(pg->cast, STR("\"citext\""));
}

struct str sql_cast(const struct type_ref *type, const struct pg_type_ref *pg)
{
    if (type->type == EDM_ENUM) {
        return type->enum_type->pg.cast;
    }
    if (type->type == EDM_COMPLEX) {
        return type->complex_type->pg.cast;
    }
    if (type->type == EDM_STRING && pg != NULL && (pg->oid == PG_BPCHAR || is_citext(pg))) {
        return pg->cast;
    }
    return casts[type->type];
}

struct str sql_wrap(const struct type_ref *type, const struct pg_type_ref *pg)
{
    if (pg == NULL || type->collection) {
        return STR("");
    }
    if (type->type == EDM_STRING) {
        bool text =
            pg->oid == PG_TEXT || pg->oid == PG_VARCHAR || pg->oid == PG_BPCHAR || is_citext(pg);
        return text ? STR("") : STR("::text");
    }
    if (type->type == EDM_DECIMAL && pg->oid != PG_NUMERIC) {
        return STR("::numeric");
    }
    return STR("");
}

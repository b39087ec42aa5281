// SPDX-License-Identifier: Apache-2.0
/*
 * cast(): a value as one of another type, or null (URL Conventions 5.1.1.10.1).
 *
 * PostgreSQL 15 has no cast that yields null, so what can fail is looked at first. The order of a
 * CASE is kept by PostgreSQL, that of AND is not: what must not be computed stands behind THEN.
 */
#include "storage/sql_expr.h"
#include "storage/sql_type.h"

/* An integer that fits between the bounds, which are exclusive; of any number. */
#define WHOLE(least, most, type) \
    "CASE WHEN {0} > " least " AND {0} < " most " THEN {0}::" type " END"
/* The same of a text. */
#define WHOLE_TEXT(least, most, type)                                           \
    "CASE WHEN {0} ~ '^[-+]?[0-9]{1,40}$' THEN CASE WHEN {0}::numeric > " least \
    " AND {0}::numeric < " most " THEN {0}::" type " END END"

#define BYTE(macro)  macro("-0.5", "255.5", "int2")
#define SBYTE(macro) macro("-128.5", "127.5", "int2")
#define INT16(macro) macro("-32768.5", "32767.5", "int2")
#define INT32(macro) macro("-2147483648.5", "2147483647.5", "int4")
#define INT64(macro) macro("-9223372036854775808.5", "9223372036854775807.5", "int8")

/* A floating-point number of a number: too large is null, too small is zero. */
#define FLOATING(value, most, least, type)                                       \
    "CASE WHEN abs(" value ") > " most " THEN NULL WHEN abs(" value ") < " least \
    " THEN 0 ELSE (" value ")::" type " END"
#define DOUBLE(value) FLOATING(value, "1.7976931348623157e308", "5e-324", "float8")
#define SINGLE(value) FLOATING(value, "3.4028235e38", "1.4e-45", "float4")
/* NaN and the infinities, which compare in their own way. */
#define SPECIAL(type) "CASE WHEN {0}::text ~ '^-?[IN]' THEN {0}::" type " ELSE "

#define NUMBER "^[-+]?[0-9]{1,255}([.][0-9]{1,255})?([eE][-+]?[0-9]{1,3})?$"
#define NUMBER_TEXT(then, type)               \
    "CASE WHEN {0} ~ '" NUMBER "' THEN " then \
    " WHEN {0} IN ('INF', '-INF', 'NaN') THEN replace({0}, 'INF', 'Infinity')::" type " END"

/* Whether there is such a day is known when the month that it stands in is. */
#define DAY  "[0-9]{4,4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,12})?)?"
#define ZONE "(Z|[-+](0[0-9]|1[0-4]):[0-5][0-9])?"
#define DAY_TEXT(form, type)                                                               \
    "CASE WHEN {0} ~ '^" form "$' AND left({0}, 4) <> '0000' THEN CASE WHEN extract(month" \
    " FROM (left({0}, 8) || '01')::date + (substr({0}, 9, 2)::int4 - 1))"                  \
    " = substr({0}, 6, 2)::int4 THEN {0}::" type " END END"

#define DURATION \
    "^-?P([0-9]{1,7}D)?(T([0-9]{1,9}H)?([0-9]{1,9}M)?([0-9]{1,9}([.][0-9]{1,12})?S)?)?$"

/* Edm.String as something else. */
static const struct str of_text[EDM_TYPE_COUNT] = {
    [EDM_BOOLEAN] = {STR_INIT("CASE lower({0}) WHEN 'true' THEN true WHEN 'false' THEN false END")},
    [EDM_BYTE] = {STR_INIT(BYTE(WHOLE_TEXT))},
    [EDM_SBYTE] = {STR_INIT(SBYTE(WHOLE_TEXT))},
    [EDM_INT16] = {STR_INIT(INT16(WHOLE_TEXT))},
    [EDM_INT32] = {STR_INIT(INT32(WHOLE_TEXT))},
    [EDM_INT64] = {STR_INIT(INT64(WHOLE_TEXT))},
    [EDM_DECIMAL] = {STR_INIT(NUMBER_TEXT("{0}::numeric", "numeric"))},
    [EDM_DOUBLE] = {STR_INIT(NUMBER_TEXT(DOUBLE("{0}::numeric"), "float8"))},
    [EDM_SINGLE] = {STR_INIT(NUMBER_TEXT(SINGLE("{0}::numeric"), "float4"))},
    [EDM_DATE] = {STR_INIT(DAY_TEXT(DAY, "date"))},
    [EDM_DATETIMEOFFSET] = {STR_INIT(DAY_TEXT(DAY "T" TIME ZONE, "timestamptz"))},
    [EDM_TIMEOFDAY] = {STR_INIT("CASE WHEN {0} ~ '^" TIME "$' THEN {0}::time END")},
    [EDM_DURATION] = {STR_INIT("CASE WHEN {0} ~ '" DURATION
                               "' AND {0} !~ '[PT]$' THEN CASE WHEN left({0}, 1) = '-'"
                               " THEN - substr({0}, 2)::interval ELSE {0}::interval END END")},
    [EDM_GUID] = {STR_INIT(
        "CASE WHEN {0} ~ '^[0-9a-fA-F]{8,8}(-[0-9a-fA-F]{4,4}){3,3}-[0-9a-fA-F]{12,12}$'"
        " THEN {0}::uuid END")},
    [EDM_BINARY] = {STR_INIT(
        "CASE WHEN {0} ~ '^[-A-Za-z0-9_]*={0,2}$' AND length(rtrim({0}, '=')) % 4 <> 1"
        " THEN decode(rpad(translate(rtrim({0}, '='), '-_', '+/'),"
        " (length(rtrim({0}, '=')) + 3) / 4 * 4, '='), 'base64') END")},
    [EDM_ENUM] = {STR_INIT(
        "CASE WHEN {0} = ANY (enum_range(NULL::{t})::text[]) THEN {0}::{t} END")},
};

/* A year before the first is counted down from 0000, which PostgreSQL calls 1 BC. */
#define ANCIENT(rest)                                                                          \
    "CASE WHEN extract(year FROM {0}) < -1 THEN '-' ELSE '' END"                               \
    " || lpad((-1 - extract(year FROM {0})::int4)::text, 4, '0') || to_char({0}, '-MM-DD" rest \
    "')"

/* Something else as Edm.String: as it stands in a payload. */
static const struct str to_text[EDM_TYPE_COUNT] = {
    [EDM_BOOLEAN] = {STR_INIT("{0}::text")},
    [EDM_BYTE] = {STR_INIT("{0}::text")},
    [EDM_SBYTE] = {STR_INIT("{0}::text")},
    [EDM_INT16] = {STR_INIT("{0}::text")},
    [EDM_INT32] = {STR_INIT("{0}::text")},
    [EDM_INT64] = {STR_INIT("{0}::text")},
    [EDM_DECIMAL] = {STR_INIT("replace({0}::text, 'Infinity', 'INF')")},
    [EDM_DOUBLE] = {STR_INIT("replace({0}::text, 'Infinity', 'INF')")},
    [EDM_SINGLE] = {STR_INIT("replace({0}::text, 'Infinity', 'INF')")},
    [EDM_DATE] = {STR_INIT(
        "CASE WHEN {0} = 'infinity' THEN '9999-12-31' WHEN {0} = '-infinity' THEN '0001-01-01'"
        " WHEN {0} < '0001-01-01' THEN " ANCIENT("") " ELSE {0}::text END")},
    [EDM_DATETIMEOFFSET] = {STR_INIT(
        "CASE WHEN {0} = 'infinity' THEN '9999-12-31T23:59:59.999999Z'"
        " WHEN {0} = '-infinity' THEN '0001-01-01T00:00:00Z'"
        " WHEN {0} < '0001-01-01 00:00:00Z' THEN " ANCIENT(
            "\"T\"HH24:MI:SS\"Z\"") " ELSE replace(replace({0}::text, ' ', 'T'), '+00', 'Z') END")},
    [EDM_TIMEOFDAY] = {STR_INIT("{0}::text")},
    [EDM_DURATION] = {STR_INIT(
        "(SELECT CASE WHEN d.t < 0 THEN '-' ELSE '' END || 'P'"
        " || CASE WHEN d.days > 0 THEN d.days || 'D' ELSE '' END"
        " || CASE WHEN d.rest > 0 OR d.days = 0 THEN 'T' ELSE '' END"
        " || CASE WHEN d.rest >= 3600 THEN div(d.rest, 3600) || 'H' ELSE '' END"
        " || CASE WHEN mod(d.rest, 3600) >= 60 THEN div(mod(d.rest, 3600), 60) || 'M' ELSE '' END"
        " || CASE WHEN mod(d.rest, 60) > 0 OR d.t = 0 THEN trim_scale(mod(d.rest, 60)) || 'S'"
        " ELSE '' END FROM (SELECT t, div(abs(t), 86400) AS days, mod(abs(t), 86400) AS rest"
        " FROM (SELECT " SQL_SECONDS_OF("{0}") " AS t OFFSET 0) AS c OFFSET 0) AS d)")},
    [EDM_GUID] = {STR_INIT("{0}::text")},
    [EDM_BINARY] = {STR_INIT("translate(encode({0}, 'base64'), '+/' || chr(10), '-_')")},
    [EDM_ENUM] = {STR_INIT("{0}::text")},
    [EDM_UNTYPED] = {STR_INIT("{0}::text")},
};

/* A number as another one. */
static const struct str of_number[EDM_TYPE_COUNT] = {
    [EDM_BYTE] = {STR_INIT(BYTE(WHOLE))},
    [EDM_SBYTE] = {STR_INIT(SBYTE(WHOLE))},
    [EDM_INT16] = {STR_INIT(INT16(WHOLE))},
    [EDM_INT32] = {STR_INIT(INT32(WHOLE))},
    [EDM_INT64] = {STR_INIT(INT64(WHOLE))},
    [EDM_DECIMAL] = {STR_INIT("{0}::numeric")},
    [EDM_DOUBLE] = {STR_INIT(SPECIAL("float8") DOUBLE("{0}::numeric") " END")},
    [EDM_SINGLE] = {STR_INIT(SPECIAL("float4") SINGLE("{0}::float8") " END")},
    /* Members count from 0, as $metadata says. */
    [EDM_ENUM] = {STR_INIT(
        "(enum_range(NULL::{t}))[CASE WHEN {0} >= 0 AND {0} < 1000000 THEN {0}::int4 + 1 END]")},
};

static struct str number_template(enum edm_type from, enum edm_type to)
{
    bool floating = from == EDM_DOUBLE || from == EDM_SINGLE;
    if (to == EDM_DECIMAL && floating) {
        /* The way through text keeps the digits; the direct one keeps 15 of them. */
        return STR("{0}::text::numeric");
    }
    if (to == EDM_DOUBLE && (floating || edm_is_integer(from))) {
        return STR("{0}::float8");
    }
    if (to == EDM_SINGLE && edm_is_integer(from)) {
        return STR("{0}::float4");
    }
    if (to == EDM_SINGLE && from == EDM_DECIMAL) {
        return STR(SPECIAL("float4") SINGLE("{0}::numeric") " END");
    }
    return of_number[to];
}

static struct str template_of(const struct type_ref *from, const struct type_ref *to)
{
    if (to->type == EDM_STRING) {
        return to_text[from->type];
    }
    if (from->type == EDM_STRING) {
        return of_text[to->type];
    }
    if (from->type == EDM_ENUM) {
        return STR("(array_position(enum_range(NULL::{t}), {0}) - 1)");
    }
    return number_template(from->type, to->type);
}

static void put_item(struct sql *s, const struct bound_expr *from, const struct type_ref *to)
{
    const struct type_ref *with_name = from->type.type == EDM_ENUM ? &from->type : to;
    struct str name = with_name->type == EDM_ENUM ? sql_cast(with_name, NULL) : STR("");
    bytes_put_char(s->out, '(');
    sql_put_template(s, template_of(&from->type, to), &from, 1, name);
    bytes_put_char(s->out, ')');
}

void sql_put_typecast(struct sql *s, const struct bound_expr *e)
{
    const struct bound_expr *from = e->args[0];
    if (!e->type.collection) {
        put_item(s, from, &e->type);
        return;
    }
    struct bound_expr item = {.kind = BOUND_ELEMENT, .type = from->type, .number = e->number};
    item.type.collection = false;
    SQL_PUT(s, "ARRAY(SELECT ");
    put_item(s, &item, &e->type);
    SQL_PUT(s, " FROM unnest(");
    sql_put_value(s, from);
    SQL_PUT(s, ") WITH ORDINALITY AS ");
    sql_put_alias(s, 'v', e->number);
    SQL_PUT(s, "(v, n) ORDER BY ");
    sql_put_alias(s, 'v', e->number);
    SQL_PUT(s, ".n)");
}

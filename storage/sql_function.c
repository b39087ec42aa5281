// SPDX-License-Identifier: Apache-2.0
#include "storage/sql_expr.h"
#include "storage/sql_type.h"

/* White space and line ends of Unicode. */
#define BLANKS                                                                          \
    "U&'\\0009\\000A\\000B\\000C\\000D\\0020\\0085\\00A0\\1680\\2000\\2001\\2002\\2003" \
    "\\2004\\2005\\2006\\2007\\2008\\2009\\200A\\2028\\2029\\202F\\205F\\3000'"

/* Where a position that may count from the end is, from 0 on. */
#define START(length) \
    "CASE WHEN {1} < 0 THEN greatest(" length " + {1}::int4, 0) ELSE {1}::int4 END"

/* Where the items of {1} may begin in {0}, and that they are there. */
#define PLACES                                                             \
    "FROM generate_series(0, cardinality({0}) - cardinality({1})) AS i(i)" \
    " WHERE ({0})[i.i + 1 : i.i + cardinality({1})] = {1}"

/* The pairs of how many items of {1} were found, and where in {0} the last one was. */
#define SEQUENCE                                                                 \
    "(WITH RECURSIVE m(found, at) AS (SELECT 0, 0 UNION ALL SELECT m.found + 1," \
    " array_position({0}, ({1})[m.found + 1], m.at + 1) FROM m"                  \
    " WHERE m.found < cardinality({1}) AND m.at IS NOT NULL)"                    \
    " SELECT EXISTS (SELECT 1 FROM m WHERE m.found = cardinality({1}) AND m.at IS NOT NULL))"

/* {n} is argument n. The order is that of enum function_id. */
static const struct str templates[FUNCTION_COUNT] = {
    [FUNCTION_CONTAINS] = {STR_INIT("(strpos({0}, {1}) > 0)")},
    [FUNCTION_STARTSWITH] = {STR_INIT("starts_with({0}, {1})")},
    [FUNCTION_ENDSWITH] = {STR_INIT("(right({0}, length({1})) = {1})")},
    [FUNCTION_INDEXOF] = {STR_INIT("(strpos({0}, {1}) - 1)")},
    [FUNCTION_LENGTH] = {STR_INIT("length({0})")},
    [FUNCTION_SUBSTRING] = {STR_INIT("substr({0}, " START("length({0})") " + 1)")},
    [FUNCTION_SUBSTRING_LENGTH] = {STR_INIT(
        "substr({0}, " START("length({0})") " + 1, {2}::int4)")},
    [FUNCTION_TOLOWER] = {STR_INIT("lower({0})")},
    [FUNCTION_TOUPPER] = {STR_INIT("upper({0})")},
    [FUNCTION_TRIM] = {STR_INIT("btrim({0}, " BLANKS ")")},
    [FUNCTION_CONCAT] = {STR_INIT("({0} || {1})")},
    [FUNCTION_YEAR] = {STR_INIT("extract(year FROM {0})::int4")},
    [FUNCTION_MONTH] = {STR_INIT("extract(month FROM {0})::int4")},
    [FUNCTION_DAY] = {STR_INIT("extract(day FROM {0})::int4")},
    [FUNCTION_HOUR] = {STR_INIT("extract(hour FROM {0})::int4")},
    [FUNCTION_MINUTE] = {STR_INIT("extract(minute FROM {0})::int4")},
    [FUNCTION_SECOND] = {STR_INIT("floor(extract(second FROM {0}))::int4")},
    [FUNCTION_FRACTIONALSECONDS] = {STR_INIT(
        "(mod(extract(microseconds FROM {0})::numeric, 1000000) / 1000000)")},
    [FUNCTION_DATE] = {STR_INIT("{0}::date")},
    [FUNCTION_TIME] = {STR_INIT("{0}::time")},
    [FUNCTION_NOW] = {STR_INIT("now()")},
    [FUNCTION_MINDATETIME] = {STR_INIT("timestamptz '0001-01-01 00:00:00Z'")},
    [FUNCTION_MAXDATETIME] = {STR_INIT("timestamptz '9999-12-31 23:59:59.999999Z'")},
    [FUNCTION_TOTALSECONDS] = {STR_INIT("(" SQL_SECONDS_OF("{0}") ")")},
    /* Instants are shown in UTC. */
    [FUNCTION_TOTALOFFSETMINUTES] = {STR_INIT("(CASE WHEN {0} IS NOT NULL THEN 0 END)")},
    [FUNCTION_ROUND] = {STR_INIT("round({0}::numeric)")},
    [FUNCTION_FLOOR] = {STR_INIT("floor({0}::numeric)")},
    [FUNCTION_CEILING] = {STR_INIT("ceil({0}::numeric)")},
    [FUNCTION_MATCHESPATTERN] = {STR_INIT("{0} ~ {1}")},
    [FUNCTION_ITEMS_CONCAT] = {STR_INIT("{0} || {1}")},
    [FUNCTION_ITEMS_CONTAINS] = {STR_INIT("EXISTS (SELECT 1 " PLACES ")")},
    [FUNCTION_ITEMS_STARTSWITH] = {STR_INIT("({0})[1 : cardinality({1})] = {1}")},
    [FUNCTION_ITEMS_ENDSWITH] = {STR_INIT(
        "({0})[greatest(cardinality({0}) - cardinality({1}), 0) + 1 : ] = {1}")},
    [FUNCTION_ITEMS_INDEXOF] = {STR_INIT("coalesce((SELECT min(i.i) " PLACES "), -1)")},
    [FUNCTION_ITEMS_LENGTH] = {STR_INIT("cardinality({0})")},
    [FUNCTION_ITEMS_SUBSTRING] = {STR_INIT("({0})[" START("cardinality({0})") " + 1 : ]")},
    [FUNCTION_ITEMS_SUBSTRING_LENGTH] = {STR_INIT(
        "({0})[" START("cardinality({0})") " + 1 : " START("cardinality({0})") " + {2}::int4]")},
    [FUNCTION_HASSUBSET] = {STR_INIT(
        "NOT EXISTS (SELECT 1 FROM unnest({1}) AS i(i) GROUP BY i.i HAVING count(*) >"
        " (SELECT count(*) FROM unnest({0}) AS k(k) WHERE k.k IS NOT DISTINCT FROM i.i))")},
    [FUNCTION_HASSUBSEQUENCE] = {STR_INIT(SEQUENCE)},
};

/*
 * The same for Edm.Double. PostgreSQL rounds a float8's halves to even, OData away from zero; and a
 * float8 does not survive the way through numeric.
 */
static struct str double_template(enum function_id id)
{
    if (id == FUNCTION_FLOOR) {
        return STR("floor({0}::float8)");
    }
    if (id == FUNCTION_CEILING) {
        return STR("ceil({0}::float8)");
    }
    return STR("trunc({0}::float8) + CASE WHEN abs({0}::float8 - trunc({0}::float8)) >= 0.5 "
               "THEN sign({0}::float8) ELSE 0 END");
}

/* The pattern of LIKE for a text that is meant literally, as a parameter. */
static void put_pattern(struct sql *s, struct str text, bool open_start, bool open_end)
{
    struct bytes pattern;
    bytes_init(&pattern, text.len * 2 + 2);
    if (open_start) {
        bytes_put_char(&pattern, '%');
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%' || c == '_' || c == '\\') {
            bytes_put_char(&pattern, '\\');
        }
        bytes_put_char(&pattern, c);
    }
    if (open_end) {
        bytes_put_char(&pattern, '%');
    }
    sql_note_failure(s, &pattern);
    sql_put_param(s, bytes_str(&pattern), STR("text"));
    bytes_fini(&pattern);
}

/* contains, startswith and endswith of a known text: LIKE, which trigram and prefix indexes serve. */
static bool put_like(struct sql *s, const struct bound_expr *e)
{
    bool contains = e->function == FUNCTION_CONTAINS;
    bool starts = e->function == FUNCTION_STARTSWITH;
    bool ends = e->function == FUNCTION_ENDSWITH;
    if ((!contains && !starts && !ends) || e->args[1]->kind != BOUND_VALUE ||
        e->args[1]->text.ptr == NULL) {
        return false;
    }
    sql_put_operand(s, e->args[0]);
    SQL_PUT(s, " LIKE ");
    put_pattern(s, e->args[1]->text, !starts, !ends);
    return true;
}

void sql_put_call(struct sql *s, const struct bound_expr *e)
{
    bytes_put_char(s->out, '(');
    if (!put_like(s, e)) {
        struct str t =
            e->type.type == EDM_DOUBLE ? double_template(e->function) : templates[e->function];
        sql_put_template(s, t, e->args, e->arg_count, STR(""));
    }
    bytes_put_char(s->out, ')');
}

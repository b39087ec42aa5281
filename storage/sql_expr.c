// SPDX-License-Identifier: Apache-2.0
#include "storage/sql_expr.h"

#include "storage/sql_type.h"

static bool is_null_value(const struct bound_expr *e)
{
    return e->kind == BOUND_VALUE && e->text.ptr == NULL;
}

bool sql_is_timestamp(const struct bound_expr *e)
{
    return e->type.type == EDM_DATETIMEOFFSET && e->pg != NULL && e->pg->oid == PG_TIMESTAMP;
}

/* `a.column`, as an instant when it is a timestamp of a zone. */
static void put_stored(struct sql *s, char letter, unsigned number, struct str column,
                       struct str zone)
{
    sql_put_own(s, zone.len > 0 ? STR("(") : STR(""));
    sql_put_alias(s, letter, number);
    bytes_put_char(s->out, '.');
    sql_put_ident(s, column);
    if (zone.len > 0) {
        SQL_PUT(s, " AT TIME ZONE '");
        sql_put_own(s, zone); /* of pg_timezone_names, without quotes in it */
        SQL_PUT(s, "')");
    }
}

bool sql_makes_instant(const struct source *source, const struct property *p)
{
    bool stored = source->derived == NULL && source->shared == NULL && !source->embedded;
    return stored && p->pg.zone.len > 0;
}

void sql_put_column(struct sql *s, const struct source *source, const struct property *p)
{
    if (source->cast_of != NULL) {
        sql_put_cast_column(s, source, p);
        return;
    }
    put_stored(s, 't', source->number, p->column,
               sql_makes_instant(source, p) ? p->pg.zone : STR(""));
}

void sql_put_link_column(struct sql *s, unsigned link, struct str column, const struct property *p)
{
    put_stored(s, 'l', link, column, p->pg.zone);
}

void sql_put_raw(struct sql *s, const struct bound_expr *e)
{
    for (size_t i = 0; i < e->part_count; i++) {
        bytes_put_char(s->out, '(');
    }
    if (e->kind == BOUND_ELEMENT) {
        sql_put_alias(s, 'v', e->number);
        SQL_PUT(s, ".v");
    } else {
        sql_put_column(s, e->source, e->property);
    }
    for (size_t i = 0; i < e->part_count; i++) {
        SQL_PUT(s, ").");
        sql_put_ident(s, e->parts[i]->column);
    }
}

static void put_property(struct sql *s, const struct bound_expr *e)
{
    if (sql_is_timestamp(e) && !e->type.collection) {
        bytes_put_char(s->out, '(');
        sql_put_raw(s, e);
        SQL_PUT(s, " AT TIME ZONE 'UTC')");
        return;
    }
    sql_put_raw(s, e);
    sql_put_own(s, sql_wrap(&e->type, e->pg));
}

static void put_literal(struct sql *s, const struct bound_expr *e)
{
    if (e->text.ptr == NULL) {
        struct str cast = e->type.collection ? STR("") : sql_cast(&e->type, e->pg);
        SQL_PUT(s, "NULL");
        if (cast.len > 0) {
            SQL_PUT(s, "::");
            sql_put_own(s, cast);
        }
        return;
    }
    if (sql_is_timestamp(e)) {
        /* The column has no zone: the value gives up its own, so that an index can serve. */
        bytes_put_char(s->out, '(');
        sql_put_param(s, e->text, STR("timestamptz"));
        SQL_PUT(s, " AT TIME ZONE 'UTC')");
        return;
    }
    sql_put_param(s, e->text, sql_cast(&e->type, e->pg));
}

void sql_put_side(struct sql *s, const struct bound_expr *e, const struct bound_expr *other)
{
    if (e->kind == BOUND_PROPERTY && sql_is_timestamp(e) && other->kind == BOUND_VALUE) {
        sql_put_raw(s, e);
    } else if (e->type.collection && other->type.collection) {
        sql_put_items(s, e);
    } else {
        sql_put_value(s, e);
    }
}

static void put_binary(struct sql *s, const struct bound_expr *e, struct str operator)
{
    sql_put_side(s, e->args[0], e->args[1]);
    sql_put_own(s, operator);
    sql_put_side(s, e->args[1], e->args[0]);
}

void sql_put_null_test(struct sql *s, const struct bound_expr *e, bool null)
{
    if (e->kind == BOUND_ENTITY) {
        sql_put_column(s, e->source, e->source->type->key.properties[0]);
    } else {
        sql_put_value(s, e);
    }
    if (e->type.type == EDM_COMPLEX) {
        /* ROW(NULL, NULL) IS NULL is true, but the value is there. */
        sql_put_own(s, null ? STR(" IS NOT DISTINCT FROM NULL") : STR(" IS DISTINCT FROM NULL"));
    } else {
        sql_put_own(s, null ? STR(" IS NULL") : STR(" IS NOT NULL"));
    }
}

static void put_constant(struct sql *s, bool value)
{
    sql_put_own(s, value ? STR("true") : STR("false"));
}

/* NaN compares with nothing, not even with itself; PostgreSQL has it equal, and the greatest. */
static bool may_be_nan(const struct bound_expr *e)
{
    bool floating = e->type.type == EDM_DOUBLE || e->type.type == EDM_SINGLE;
    return floating && !e->type.collection &&
           (e->kind != BOUND_VALUE || str_eq(e->text, STR("NaN")));
}

/* ` AND x <> NaN`, or its contrary. */
static void put_nan_test(struct sql *s, const struct bound_expr *e, bool nan)
{
    sql_put_own(s, nan ? STR(" OR (") : STR(" AND ("));
    sql_put_value(s, e);
    sql_put_own(s, nan ? STR(" = 'NaN') IS TRUE") : STR(" = 'NaN') IS NOT TRUE"));
}

/* eq and ne: true when equality has the wanted outcome, false or null otherwise. */
static void put_equality(struct sql *s, const struct bound_expr *e, bool wanted)
{
    const struct bound_expr *a = e->args[0];
    const struct bound_expr *b = e->args[1];
    if (is_null_value(a) && is_null_value(b)) {
        put_constant(s, wanted);
    } else if (is_null_value(a) || is_null_value(b)) {
        sql_put_null_test(s, is_null_value(a) ? b : a, wanted);
    } else if (sql_put_end_of_time(s, e, wanted)) {
        return;
    } else if (wanted) {
        put_binary(s, e, a->nullable && b->nullable ? STR(" IS NOT DISTINCT FROM ") : STR(" = "));
    } else {
        put_binary(s, e, a->nullable || b->nullable ? STR(" IS DISTINCT FROM ") : STR(" <> "));
    }
    if (!is_null_value(a) && !is_null_value(b) && may_be_nan(a) && may_be_nan(b)) {
        put_nan_test(s, a, !wanted);
    }
}

static struct str relation(enum operator op)
{
    switch (op) {
    case OP_LT:
        return STR(" < ");
    case OP_LE:
        return STR(" <= ");
    case OP_GT:
        return STR(" > ");
    case OP_GE:
        return STR(" >= ");
    case OP_NONE:
    case OP_OR:
    case OP_AND:
    case OP_EQ:
    case OP_NE:
    case OP_HAS:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_DIVBY:
    case OP_MOD:
    case OP_NEGATE:
    case OP_NOT:
        break;
    }
    return STR("");
}

static bool has_null_value(const struct bound_expr *e)
{
    return is_null_value(e->args[0]) || is_null_value(e->args[1]);
}

/* What is the greatest in PostgreSQL is so on the greater side only. */
static void put_ordered(struct sql *s, const struct bound_expr *e)
{
    const struct bound_expr *greater = e->args[e->op == OP_LT || e->op == OP_LE ? 1 : 0];
    put_binary(s, e, relation(e->op));
    if (may_be_nan(greater)) {
        put_nan_test(s, greater, false);
    }
}

static void put_relation(struct sql *s, const struct bound_expr *e, bool wanted)
{
    if (has_null_value(e)) {
        put_constant(s, !wanted);
    } else if (sql_put_end_of_time(s, e, wanted)) {
        return;
    } else if (wanted) {
        put_ordered(s, e);
    } else {
        bytes_put_char(s->out, '(');
        put_ordered(s, e);
        SQL_PUT(s, ") IS NOT TRUE");
    }
}

/* and and or are each other's mirror: not (a and b) is (not a or not b). */
static void put_junction(struct sql *s, const struct bound_expr *e,
                         void (*put)(struct sql *, const struct bound_expr *), bool conjunction)
{
    for (size_t i = 0; i < e->arg_count; i++) {
        if (i > 0) {
            sql_put_own(s, conjunction ? STR(" AND ") : STR(" OR "));
        }
        put(s, e->args[i]);
    }
}

static void put_case(struct sql *s, const struct bound_expr *e)
{
    SQL_PUT(s, "CASE");
    for (size_t i = 0; i + 1 < e->arg_count; i += 2) {
        SQL_PUT(s, " WHEN ");
        sql_put_true(s, e->args[i]);
        SQL_PUT(s, " THEN ");
        sql_put_value(s, e->args[i + 1]);
    }
    SQL_PUT(s, " END");
}

/* An operand of arithmetic, widened to the type of the result: int2 and int4 would overflow. */
static void put_operand(struct sql *s, const struct bound_expr *e, struct str cast)
{
    if (e->kind == BOUND_VALUE && e->text.ptr != NULL && cast.len > 0) {
        sql_put_param(s, e->text, cast);
        return;
    }
    sql_put_shown(s, e);
    if (cast.len > 0) {
        SQL_PUT(s, "::");
        sql_put_own(s, cast);
    }
}

static struct str arithmetic_sign(enum operator op)
{
    switch (op) {
    case OP_ADD:
        return STR(" + ");
    case OP_SUB:
        return STR(" - ");
    case OP_MUL:
        return STR(" * ");
    case OP_DIV:
    case OP_DIVBY:
        return STR(" / ");
    case OP_MOD:
        return STR(" % ");
    case OP_NONE:
    case OP_OR:
    case OP_AND:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_HAS:
    case OP_NEGATE:
    case OP_NOT:
        break;
    }
    return STR("");
}

static void put_arithmetic(struct sql *s, const struct bound_expr *e)
{
    enum edm_type type = e->type.type;
    const struct type_ref *left = &e->args[0]->type;
    bool modulo = e->op == OP_MOD && type == EDM_DOUBLE; /* there is no float8 % float8 */
    struct str cast = STR("");
    if (modulo) {
        cast = STR("numeric");
    } else if (edm_is_numeric(type)) {
        cast = sql_cast(&e->type, NULL);
    }
    bytes_put_char(s->out, '(');
    for (size_t i = 0; i < 2; i++) {
        if (i == 1) {
            sql_put_own(s, arithmetic_sign(e->op));
        }
        /* A duration is scaled by a float8. */
        bool factor = type == EDM_DURATION && edm_is_numeric(e->args[i]->type.type);
        put_operand(s, e->args[i], factor ? STR("float8") : cast);
    }
    bytes_put_char(s->out, ')');
    if (type == EDM_DATE) {
        SQL_PUT(s, "::date"); /* date + interval is a timestamp */
    } else if (type == EDM_DURATION && left->type == EDM_DATE) {
        SQL_PUT(s, " * interval '1 day'"); /* date - date is a number of days */
    } else if (modulo) {
        SQL_PUT(s, "::float8");
    }
}

static void put_negation(struct sql *s, const struct bound_expr *e)
{
    SQL_PUT(s, "(- ");
    put_operand(s, e->args[0], edm_is_integer(e->type.type) ? sql_cast(&e->type, NULL) : STR(""));
    bytes_put_char(s->out, ')');
}

static void put_wrapped(struct sql *s, const struct bound_expr *e,
                        void (*put)(struct sql *, const struct bound_expr *), struct str end)
{
    sql_put_own(s, end.len > 0 ? STR("((") : STR("("));
    put(s, e);
    bytes_put_char(s->out, ')');
    if (end.len > 0) {
        sql_put_own(s, end);
        bytes_put_char(s->out, ')');
    }
}

static void put_operator_true(struct sql *s, const struct bound_expr *e)
{
    switch (e->op) {
    case OP_AND:
    case OP_OR:
        put_junction(s, e, sql_put_true, e->op == OP_AND);
        break;
    case OP_NOT:
        sql_put_false(s, e->args[0]);
        break;
    case OP_EQ:
    case OP_NE:
        put_equality(s, e, e->op == OP_EQ);
        break;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        put_relation(s, e, true);
        break;
    case OP_NONE:
    case OP_HAS:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_DIVBY:
    case OP_MOD:
    case OP_NEGATE:
        sql_put_value(s, e);
        break;
    }
}

static void put_operator_false(struct sql *s, const struct bound_expr *e)
{
    switch (e->op) {
    case OP_AND:
    case OP_OR:
        put_junction(s, e, sql_put_false, e->op == OP_OR);
        break;
    case OP_NOT:
        sql_put_true(s, e->args[0]);
        break;
    case OP_EQ:
    case OP_NE:
        put_equality(s, e, e->op != OP_EQ);
        break;
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        put_relation(s, e, false);
        break;
    case OP_NONE:
    case OP_HAS:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_DIVBY:
    case OP_MOD:
    case OP_NEGATE:
        SQL_PUT(s, "NOT ");
        sql_put_value(s, e);
        break;
    }
}

/* The value of a comparison: true or false, never null. */
static void put_comparison_value(struct sql *s, const struct bound_expr *e)
{
    bool relational = e->op != OP_EQ && e->op != OP_NE;
    bool nullable = e->args[0]->nullable || e->args[1]->nullable;
    put_wrapped(s, e, put_operator_true,
                nullable && (relational || e->op == OP_EQ) ? STR(" IS TRUE") : STR(""));
}

static void put_operator_value(struct sql *s, const struct bound_expr *e)
{
    switch (e->op) {
    case OP_AND:
    case OP_OR:
        put_junction(s, e, sql_put_value, e->op == OP_AND);
        break;
    case OP_NOT:
        SQL_PUT(s, "NOT ");
        sql_put_value(s, e->args[0]);
        break;
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        put_comparison_value(s, e);
        break;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_DIVBY:
    case OP_MOD:
        put_arithmetic(s, e);
        break;
    case OP_NEGATE:
        put_negation(s, e);
        break;
    case OP_NONE:
    case OP_HAS:
        s->failed = true; /* the binder makes none of these */
        break;
    }
}

void sql_put_true(struct sql *s, const struct bound_expr *e)
{
    switch (e->kind) {
    case BOUND_OPERATOR:
        put_wrapped(s, e, put_operator_true, STR(""));
        break;
    case BOUND_IN:
        put_wrapped(s, e, sql_put_in, STR(""));
        break;
    case BOUND_IN_COLLECTION:
        put_wrapped(s, e, sql_put_in_collection, STR(""));
        break;
    case BOUND_VALUE:
    case BOUND_PROPERTY:
    case BOUND_ELEMENT:
    case BOUND_ENTITY:
    case BOUND_CALL:
    case BOUND_ANY:
    case BOUND_ALL:
    case BOUND_COUNT:
    case BOUND_COLLECTION:
    case BOUND_SCALAR:
    case BOUND_CAST:
    case BOUND_CASE:
    case BOUND_SEARCH:
    case BOUND_RANK:
    case BOUND_WINDOW:
        sql_put_value(s, e);
        break;
    }
}

void sql_put_false(struct sql *s, const struct bound_expr *e)
{
    switch (e->kind) {
    case BOUND_OPERATOR:
        put_wrapped(s, e, put_operator_false, STR(""));
        break;
    case BOUND_IN:
        put_wrapped(s, e, sql_put_in, STR(" IS NOT TRUE"));
        break;
    case BOUND_IN_COLLECTION:
        put_wrapped(s, e, sql_put_in_collection, STR(" IS NOT TRUE"));
        break;
    case BOUND_VALUE:
    case BOUND_PROPERTY:
    case BOUND_ELEMENT:
    case BOUND_ENTITY:
    case BOUND_CALL:
    case BOUND_ANY:
    case BOUND_ALL:
    case BOUND_COUNT:
    case BOUND_COLLECTION:
    case BOUND_SCALAR:
    case BOUND_CAST:
    case BOUND_CASE:
    case BOUND_SEARCH:
    case BOUND_RANK:
    case BOUND_WINDOW:
        SQL_PUT(s, "(NOT ");
        sql_put_value(s, e);
        bytes_put_char(s->out, ')');
        break;
    }
}

void sql_put_value(struct sql *s, const struct bound_expr *e)
{
    switch (e->kind) {
    case BOUND_VALUE:
        put_literal(s, e);
        break;
    case BOUND_PROPERTY:
        put_property(s, e);
        break;
    case BOUND_ELEMENT:
        put_property(s, e);
        if (e->type.type == EDM_STRING && e->pg == NULL) {
            SQL_PUT(s, "::text");
        }
        break;
    case BOUND_COLLECTION:
        sql_put_collection(s, e);
        break;
    case BOUND_OPERATOR:
        put_wrapped(s, e, put_operator_value, STR(""));
        break;
    case BOUND_CALL:
        sql_put_call(s, e);
        break;
    case BOUND_IN:
        put_wrapped(s, e, sql_put_in, STR(" IS TRUE"));
        break;
    case BOUND_IN_COLLECTION:
        put_wrapped(s, e, sql_put_in_collection, STR(" IS TRUE"));
        break;
    case BOUND_ANY:
    case BOUND_ALL:
        put_wrapped(s, e, sql_put_lambda, STR(""));
        break;
    case BOUND_COUNT:
        sql_put_count(s, e);
        break;
    case BOUND_SCALAR:
        sql_put_scalar(s, e);
        break;
    case BOUND_CAST:
        sql_put_typecast(s, e);
        break;
    case BOUND_CASE:
        put_wrapped(s, e, put_case, STR(""));
        break;
    case BOUND_SEARCH:
        sql_put_search(s, e);
        break;
    case BOUND_RANK:
        sql_put_rank(s, e);
        break;
    case BOUND_WINDOW:
        sql_put_window(s, e);
        break;
    case BOUND_ENTITY:
        s->failed = true; /* the binder lets it meet nothing but null */
        break;
    }
}

bool sql_sorts_raw(const struct bound_expr *e)
{
    return e->kind == BOUND_PROPERTY && (sql_is_timestamp(e) || sql_wrap(&e->type, e->pg).len == 0);
}

void sql_put_sort(struct sql *s, const struct bound_expr *e)
{
    if (sql_sorts_raw(e)) {
        sql_put_raw(s, e);
    } else {
        sql_put_value(s, e);
    }
}

void sql_put_sort_value(struct sql *s, const struct bound_expr *e, struct str value)
{
    bool zoneless = sql_is_timestamp(e) && sql_sorts_raw(e);
    sql_put_param(s, value, zoneless ? STR("timestamp") : sql_cast(&e->type, e->pg));
}

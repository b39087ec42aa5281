// SPDX-License-Identifier: Apache-2.0
/*
 * sql_end_of_time - the values that stand for PostgreSQL's infinite dates, compared and computed with.
 *
 * storage/pg_time.c shows infinity as the last date or time that clients hold, and -infinity as the
 * first: whoever compares with such a value means the infinite one as well. All other values
 * compare as PostgreSQL does, since the infinities lie beyond them.
 */
#include "storage/sql_expr.h"

/* Which end a value is. */
enum end {
    END_NONE,
    END_FIRST,
    END_LAST,
};

/* Zeros, or for the last one any digits, behind the six that are kept: .NET has a seventh. */
static bool is_rest_of_end(struct str rest, bool last)
{
    size_t at = 0;
    if (!last && rest.len > 0 && rest.ptr[0] == '.') {
        at = 1;
    }
    while (at < rest.len && rest.ptr[at] >= '0' && rest.ptr[at] <= (last ? '9' : '0')) {
        at++;
    }
    rest = str_from_offset(rest, at);
    return str_eq(rest, STR("Z")) || str_eq(rest, STR("+00:00")) || str_eq(rest, STR("-00:00"));
}

/* The text is as odata/bind_temporal.c writes it. */
static enum end end_of(const struct bound_expr *value)
{
    static const struct str first = {STR_INIT("0001-01-01 00:00:00")};
    static const struct str last = {STR_INIT("9999-12-31 23:59:59.999999")};
    if (value->kind != BOUND_VALUE || value->text.ptr == NULL) {
        return END_NONE;
    }
    struct str text = value->text;
    if (value->type.type == EDM_DATE) {
        return str_eq(text, STR("9999-12-31"))   ? END_LAST
               : str_eq(text, STR("0001-01-01")) ? END_FIRST
                                                 : END_NONE;
    }
    if (value->type.type != EDM_DATETIMEOFFSET) {
        return END_NONE;
    }
    if (str_starts_with(text, last)) {
        return is_rest_of_end(str_from_offset(text, last.len), true) ? END_LAST : END_NONE;
    }
    bool is_first =
        str_starts_with(text, first) && is_rest_of_end(str_from_offset(text, first.len), false);
    return is_first ? END_FIRST : END_NONE;
}

static void put_infinity(struct sql *s, const struct bound_expr *value, enum end end)
{
    sql_put_own(s, end == END_LAST ? STR("'infinity'::") : STR("'-infinity'::"));
    if (value->type.type == EDM_DATE) {
        SQL_PUT(s, "date");
    } else {
        sql_put_own(s, sql_is_timestamp(value) ? STR("timestamp") : STR("timestamptz"));
    }
}

/* `a op b` with the sides exchanged. */
static enum operator mirrored(enum operator op)
{
    const enum operator others[][2] = {
        {OP_LT, OP_GT}, {OP_GT, OP_LT}, {OP_LE, OP_GE}, {OP_GE, OP_LE}};
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        if (others[i][0] == op) {
            return others[i][1];
        }
    }
    return op;
}

static struct str sign_of(enum operator op)
{
    return op == OP_LT   ? STR(" < ")
           : op == OP_GT ? STR(" > ")
           : op == OP_LE ? STR(" <= ")
                         : STR(" >= ");
}

/* x beyond value, but not infinitely; or x up to value, or infinite. */
static void put_order(struct sql *s, enum operator op, const struct bound_expr *x,
                      const struct bound_expr *value, enum end end)
{
    bool beyond = op == OP_LT || op == OP_GT;
    bytes_put_char(s->out, '(');
    sql_put_side(s, x, value);
    sql_put_own(s, sign_of(op));
    sql_put_side(s, value, x);
    sql_put_own(s, beyond ? STR(" AND ") : STR(" OR "));
    sql_put_side(s, x, value);
    sql_put_own(s, !beyond ? STR(" = ") : end == END_LAST ? STR(" < ") : STR(" > "));
    put_infinity(s, value, end);
    bytes_put_char(s->out, ')');
}

/* A list without columns is an array to PostgreSQL, which an index serves. */
static void put_either(struct sql *s, const struct bound_expr *x, const struct bound_expr *value,
                       enum end end)
{
    sql_put_side(s, x, value);
    SQL_PUT(s, " IN (");
    sql_put_side(s, value, x);
    SQL_PUT(s, ", ");
    put_infinity(s, value, end);
    bytes_put_char(s->out, ')');
}

/* PostgreSQL's own order says the same: infinity is greater than the last date, as all behind it. */
static bool is_natural(enum operator op, enum end end)
{
    return end == END_LAST ? op == OP_LT || op == OP_GE : op == OP_GT || op == OP_LE;
}

bool sql_put_end_of_time(struct sql *s, const struct bound_expr *e, bool wanted)
{
    bool is_left = end_of(e->args[0]) != END_NONE;
    const struct bound_expr *value = e->args[is_left ? 0 : 1];
    const struct bound_expr *x = e->args[is_left ? 1 : 0];
    enum end end = end_of(value);
    enum operator op = is_left ? mirrored(e->op) : e->op;
    bool is_equality = op == OP_EQ || op == OP_NE;
    if (end == END_NONE || x->kind == BOUND_VALUE || (!is_equality && is_natural(op, end))) {
        return false;
    }
    if (!wanted) {
        bytes_put_char(s->out, '(');
    }
    if (is_equality) {
        put_either(s, x, value, end);
    } else {
        put_order(s, op, x, value, end);
    }
    if (!wanted) {
        SQL_PUT(s, ") IS NOT TRUE");
    }
    return true;
}

/* What is computed here from values that sql_put_shown() wrote is finite, and so is a literal. */
static bool may_be_infinite(const struct bound_expr *e)
{
    bool temporal = e->type.type == EDM_DATE || e->type.type == EDM_DATETIMEOFFSET;
    return temporal && !e->type.collection && e->kind != BOUND_VALUE && e->kind != BOUND_CALL &&
           e->kind != BOUND_OPERATOR && e->kind != BOUND_CAST;
}

static void put_clipped(struct sql *s, const struct bound_expr *e, bool is_named)
{
    for (int place = 0; place < 2; place++) {
        sql_put_own(s, place == 0 ? STR("CASE ") : STR(" ELSE "));
        if (is_named) {
            SQL_PUT(s, "e.v");
        } else {
            sql_put_value(s, e);
        }
        if (place == 0) {
            sql_put_own(s,
                        e->type.type == EDM_DATE
                            ? STR(" WHEN 'infinity' THEN date '9999-12-31'"
                                  " WHEN '-infinity' THEN date '0001-01-01'")
                            : STR(" WHEN 'infinity' THEN timestamptz '9999-12-31 23:59:59.999999Z'"
                                  " WHEN '-infinity' THEN timestamptz '0001-01-01 00:00:00Z'"));
        }
    }
    SQL_PUT(s, " END");
}

void sql_put_shown(struct sql *s, const struct bound_expr *e)
{
    bool is_plain = e->kind == BOUND_PROPERTY || e->kind == BOUND_ELEMENT;
    if (!may_be_infinite(e)) {
        sql_put_value(s, e);
        return;
    }
    bytes_put_char(s->out, '(');
    if (is_plain) {
        put_clipped(s, e, false);
    } else { /* computed once */
        SQL_PUT(s, "SELECT ");
        put_clipped(s, e, true);
        SQL_PUT(s, " FROM (SELECT ");
        sql_put_value(s, e);
        SQL_PUT(s, " AS v OFFSET 0) AS e");
    }
    bytes_put_char(s->out, ')');
}

struct str sql_end_of_time_too(const struct bound_expr *value)
{
    enum end end = end_of(value);
    return end == END_LAST ? STR("infinity") : end == END_FIRST ? STR("-infinity") : STR("");
}

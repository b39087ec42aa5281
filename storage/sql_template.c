// SPDX-License-Identifier: Apache-2.0
#include "storage/sql_expr.h"
#include "storage/sql_type.h"

void sql_put_operand(struct sql *s, const struct bound_expr *e)
{
    bytes_put_char(s->out, '(');
    if (e->type.collection) {
        sql_put_items(s, e);
    } else {
        sql_put_shown(s, e);
    }
    if (e->type.type == EDM_STRING && !e->type.collection && e->kind != BOUND_VALUE &&
        e->pg != NULL && e->pg->oid == PG_BPCHAR) {
        SQL_PUT(s, "::text");
    }
    bytes_put_char(s->out, ')');
}

/* What stands in braces at `at`: '0' to '9' for an operand, 't' for the type, else NUL. */
static char place_at(struct str text, size_t at)
{
    if (at + 2 >= text.len || text.ptr[at] != '{' || text.ptr[at + 2] != '}') {
        return '\0';
    }
    char c = text.ptr[at + 1];
    return (c >= '0' && c <= '9') || c == 't' ? c : '\0';
}

static size_t count_places(struct str text, char place)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        count += place_at(text, i) == place;
    }
    return count;
}

static bool is_plain(const struct bound_expr *e)
{
    return e->kind == BOUND_VALUE || e->kind == BOUND_PROPERTY || e->kind == BOUND_ELEMENT;
}

static bool needs_names(struct str text, const struct bound_expr *const *args, size_t arg_count)
{
    for (size_t i = 0; i < arg_count; i++) {
        if (!is_plain(args[i]) && count_places(text, (char)('0' + i)) > 1) {
            return true;
        }
    }
    return false;
}

/* named: operand n is the column `c.an`. */
static void expand(struct sql *s, struct str text, const struct bound_expr *const *args, bool named,
                   struct str type)
{
    for (size_t i = 0; i < text.len; i++) {
        char place = place_at(text, i);
        if (place == '\0') {
            bytes_put_char(s->out, text.ptr[i]);
            continue;
        }
        if (place == 't') {
            sql_put_own(s, type);
        } else if (named) {
            SQL_PUT(s, "c.a");
            bytes_put_char(s->out, place);
        } else {
            sql_put_operand(s, args[place - '0']);
        }
        i += 2;
    }
}

void sql_put_template(struct sql *s, struct str text, const struct bound_expr *const *args,
                      size_t arg_count, struct str type)
{
    bool named = needs_names(text, args, arg_count);
    if (!named) {
        expand(s, text, args, false, type);
        return;
    }
    SQL_PUT(s, "(SELECT ");
    expand(s, text, args, true, type);
    SQL_PUT(s, " FROM (SELECT ");
    for (size_t i = 0; i < arg_count; i++) {
        if (i > 0) {
            SQL_PUT(s, ", ");
        }
        sql_put_operand(s, args[i]);
        SQL_PUT(s, " AS a");
        sql_put_u64(s, i);
    }
    /* Without the OFFSET the planner would put the operand back into each of its places. */
    SQL_PUT(s, " OFFSET 0) AS c)");
}

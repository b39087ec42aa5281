// SPDX-License-Identifier: Apache-2.0
/* FROM and WHERE of a resource path: its tables, its keys, and that its entities are there. */
#include "storage/sql_read_priv.h"

void sql_next_condition(struct sql *s, struct conditions *c)
{
    sql_put_own(s, c->any ? STR(" AND ") : STR(" WHERE "));
    c->any = true;
}

void sql_put_filter(struct sql *s, struct conditions *c, const struct read *read)
{
    if (read->filter != NULL) {
        sql_next_condition(s, c);
        sql_put_true(s, read->filter);
    }
}

/* The tables of a resource path, from step `last` back to the entity set. */
void sql_put_path(struct sql *s, const struct read *read, size_t last)
{
    SQL_PUT(s, " FROM ");
    sql_put_table(s, read->steps[last].source);
    for (size_t i = last; i > 0; i--) {
        const struct path_step *step = &read->steps[i];
        const struct source *parent = read->steps[i - 1].source;
        if (step->via->link != NULL) {
            SQL_PUT(s, " JOIN ");
            sql_put_link_table(s, step->via, step->source);
            SQL_PUT(s, " ON ");
            sql_put_link_far(s, step->via, step->source);
        }
        SQL_PUT(s, " JOIN ");
        sql_put_table(s, parent);
        SQL_PUT(s, " ON ");
        if (step->via->link != NULL) {
            sql_put_link_near(s, step->via, parent, step->source);
        } else {
            sql_put_join_on(s, step->via, parent, step->source);
        }
    }
}

void sql_put_keys(struct sql *s, struct conditions *c, const struct read *read, size_t last)
{
    for (size_t i = 0; i <= last; i++) {
        const struct path_step *step = &read->steps[i];
        for (size_t k = 0; k < step->key_count; k++) {
            struct bound_expr column = {.kind = BOUND_PROPERTY,
                                        .type = step->key_properties[k]->type,
                                        .pg = &step->key_properties[k]->pg,
                                        .source = step->source,
                                        .property = step->key_properties[k]};
            const struct bound_expr *sides[] = {&column, step->key_values[k]};
            struct bound_expr equal = {
                .kind = BOUND_OPERATOR, .op = OP_EQ, .args = sides, .arg_count = 2};
            sql_next_condition(s, c);
            sql_put_true(s, &equal);
        }
    }
}

/*
 * ` OFFSET` of 0 when the entity that the path goes through up to `last` is there. When it is not,
 * the statement fails, because SQL_GUARD_WORD is no number (storage/db_read.c makes a 404 of it):
 * that is how one round trip tells `no rows` from `no parent`. PostgreSQL quotes the word in its
 * message in every language, and nobody else's failure has it: an SQLSTATE alone may also come from
 * a view. The count keeps the planner from computing it before the rows are known.
 *
 * It is no condition, because a condition is not asked where the planner knows that there are no
 * rows: a filter that is false, partitions that cannot have them. An offset is computed before the
 * first row is looked for, whatever is below it.
 */
void sql_put_guard(struct sql *s, const struct read *read, size_t last)
{
    struct conditions c = {0};
    SQL_PUT(s, " OFFSET (SELECT (CASE WHEN count(*) = 0 THEN '" SQL_GUARD_WORD
               "' ELSE '0' END)::int8");
    sql_put_path(s, read, last);
    sql_put_keys(s, &c, read, last);
    SQL_PUT(s, ")");
}

/* The path's last step is reached from an entity that must be there, and has no key of its own. */
bool sql_needs_guard(const struct read *read)
{
    return read->step_count > 1 && read->steps[read->step_count - 1].key_count == 0;
}

void sql_put_path_where(struct sql *s, struct conditions *c, const struct read *read)
{
    sql_put_keys(s, c, read, read->step_count - 1);
    sql_put_filter(s, c, read);
}

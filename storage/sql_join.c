// SPDX-License-Identifier: Apache-2.0
#include "storage/sql_expr.h"

void sql_put_table(struct sql *s, const struct source *source)
{
    if (source->type->crossjoin) {
        SQL_PUT(s, "(SELECT)");
    } else if (source->shared != NULL) {
        sql_put_alias(s, 'w', source->shared->number);
    } else if (source->derived != NULL) {
        bytes_put_char(s->out, '(');
        sql_put_derived(s, source->derived);
        bytes_put_char(s->out, ')');
    } else if (source->wide) {
        bytes_put_char(s->out, '(');
        sql_put_wide_rows(s, source->type);
        bytes_put_char(s->out, ')');
    } else {
        bool others = entity_type_has_derived(source->type) || source->type->has_strays;
        sql_put_own(s, source->exact && others ? STR("ONLY ") : STR(""));
        sql_put_qualified(s, source->type->schema, source->type->table);
    }
    SQL_PUT(s, " AS ");
    sql_put_alias(s, 't', source->number);
}

void sql_put_link_table(struct sql *s, const struct navigation *n, const struct source *to)
{
    sql_put_qualified(s, n->link->schema, n->link->table);
    SQL_PUT(s, " AS ");
    sql_put_alias(s, 'l', to->number);
}

static void put_link_side(struct sql *s, const struct source *to, const struct str *columns,
                          const struct property **properties, size_t count,
                          const struct source *side)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            SQL_PUT(s, " AND ");
        }
        sql_put_link_column(s, to->number, columns[i], properties[i]);
        SQL_PUT(s, " = ");
        sql_put_column(s, side, properties[i]);
    }
}

void sql_put_link_near(struct sql *s, const struct navigation *n, const struct source *from,
                       const struct source *to)
{
    put_link_side(s, to, n->link->local_columns, n->link->local, n->link->local_count, from);
}

void sql_put_link_far(struct sql *s, const struct navigation *n, const struct source *to)
{
    put_link_side(s, to, n->link->remote_columns, n->link->remote, n->link->remote_count, to);
}

void sql_put_join_on(struct sql *s, const struct navigation *n, const struct source *from,
                     const struct source *to)
{
    for (size_t i = 0; i < n->join_count; i++) {
        if (i > 0) {
            SQL_PUT(s, " AND ");
        }
        sql_put_column(s, to, n->joins[i].remote);
        SQL_PUT(s, " = ");
        sql_put_column(s, from, n->joins[i].local);
    }
}

void sql_put_joins(struct sql *s, const struct source *root, bool only_filter)
{
    for (const struct source *j = root->joined; j != NULL; j = j->next) {
        if (j->cast_of != NULL) {
            continue;
        }
        if (j->via->crossed) {
            SQL_PUT(s, " CROSS JOIN ");
            sql_put_table(s, j);
            continue;
        }
        if (j->embedded || (only_filter && !j->in_filter)) {
            continue;
        }
        SQL_PUT(s, " LEFT JOIN ");
        sql_put_table(s, j);
        SQL_PUT(s, " ON ");
        sql_put_join_on(s, j->via, j->from, j);
    }
}

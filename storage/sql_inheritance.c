// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of a table and of those that inherit from it (storage/sql_expr.h).
 *
 * UNION ALL of what each table holds by itself: PostgreSQL dissolves it, so that every condition
 * reaches the indexes of each table, ordered pages are merged, and a condition on what one derived
 * type adds is false by itself in all other tables. A row says of which type it is by a number, and
 * types that cannot meet in a row share their columns (struct slot).
 */
#include "storage/sql_read_priv.h"

/* ` AS name`, where names are given: in the first SELECT. */
static void put_name(struct sql *s, bool named, struct str name)
{
    if (named) {
        SQL_PUT(s, " AS ");
        sql_put_ident(s, name);
    }
}

/* A null of the type, the modifier and the collation that the column has: `(NULL::"s"."t")."c"`. */
static void put_typed_null(struct sql *s, const struct entity_type *t, const struct property *p)
{
    SQL_PUT(s, "(NULL::");
    sql_put_qualified(s, t->schema, t->table);
    SQL_PUT(s, ").");
    sql_put_ident(s, p->column);
}

/* What t, or none when it is NULL, has in a slot that the properties of `as` do not hold already. */
static void put_slot(struct sql *s, const struct entity_type *as, const struct entity_type *t,
                     size_t slot)
{
    for (size_t i = as->property_count; t != NULL && i < t->property_count; i++) {
        if (t->properties[i].slot == slot) {
            sql_put_ident(s, t->properties[i].column);
            return;
        }
    }
    put_typed_null(s, as->tree->slots[slot].type, as->tree->slots[slot].first);
}

static bool is_property(const struct entity_type *t, struct str column)
{
    bool found = false;
    for (size_t i = 0; i < t->property_count && !found; i++) {
        found = str_eq(t->properties[i].column, column);
    }
    return found;
}

/* What $search looks into besides properties. */
static void put_search_columns(struct sql *s, const struct entity_type *as)
{
    const struct search_source *search = &as->search;
    for (size_t i = 0; i < search->piece_count; i++) {
        struct str column = search->pieces[i].column;
        bool again = column.len == 0 || is_property(as, column);
        for (size_t k = 0; k < i && !again; k++) {
            again = str_eq(search->pieces[k].column, column);
        }
        if (!again) {
            SQL_PUT(s, ", ");
            sql_put_ident(s, column);
        }
    }
}

/* Rows of t as rows of `as`. strays: t is NULL, the rows are those of tables without a type. */
static void put_list(struct sql *s, const struct entity_type *as, const struct entity_type *t,
                     bool named)
{
    const struct type_tree *tree = as->tree;
    SQL_PUT(s, "SELECT ");
    sql_put_u64(s, t == NULL ? 0 : t->number - as->number);
    put_name(s, named, tree->kind.column);
    for (size_t i = 0; i < as->property_count; i++) {
        SQL_PUT(s, ", ");
        sql_put_ident(s, as->properties[i].column);
    }
    put_search_columns(s, as);
    for (size_t i = 0; i < tree->slot_count; i++) {
        SQL_PUT(s, ", ");
        put_slot(s, as, t, i);
        put_name(s, named, tree->slots[i].column.column);
    }
}

/* `'"s"."t"'::regclass::oid`, as a parameter: an identifier of the model, but in a text. */
static void put_table_oid(struct sql *s, const struct entity_type *t)
{
    const struct str names[] = {t->schema, t->table};
    struct bytes text;
    bytes_init(&text, SIZE_MAX / 4);
    for (size_t i = 0; i < 2; i++) {
        bytes_put_str(&text, i == 0 ? STR("\"") : STR(".\""));
        for (size_t k = 0; k < names[i].len; k++) {
            bytes_put_str(&text, names[i].ptr[k] == '"' ? STR("\"") : STR(""));
            bytes_put_char(&text, names[i].ptr[k]);
        }
        bytes_put_char(&text, '"');
    }
    sql_note_failure(s, &text);
    sql_put_param(s, bytes_str(&text), STR("regclass::oid"));
    bytes_fini(&text);
}

void sql_put_wide_rows(struct sql *s, const struct entity_type *type)
{
    const struct type_tree *tree = type->tree;
    for (size_t i = type->number; i <= type->last; i++) {
        const struct entity_type *t = tree->types[i];
        sql_put_own(s, i > type->number ? STR(" UNION ALL ") : STR(""));
        put_list(s, tree->types[type->number], t, i == type->number);
        SQL_PUT(s, " FROM ONLY ");
        sql_put_qualified(s, t->schema, t->table);
    }
    if (!type->has_strays) {
        return;
    }
    SQL_PUT(s, " UNION ALL ");
    put_list(s, tree->types[type->number], NULL, false);
    SQL_PUT(s, " FROM ");
    sql_put_qualified(s, type->schema, type->table);
    SQL_PUT(s, " WHERE tableoid NOT IN (");
    for (size_t i = type->number; i <= type->last; i++) {
        sql_put_own(s, i > type->number ? STR(", ") : STR(""));
        put_table_oid(s, tree->types[i]);
    }
    bytes_put_char(s->out, ')');
}

/*
 * `(CASE WHEN t0.kind = 3 THEN t0.slot END)`: null in rows of other types. Where rows are of one
 * table alone, which is not of that type, it is null.
 */
void sql_put_cast_column(struct sql *s, const struct source *source, const struct property *p)
{
    const struct source *rows = source->cast_of;
    const struct entity_type *as = rows->type;
    const struct entity_type *type = source->type;
    if (!rows->wide) {
        put_typed_null(s, type, p);
        sql_put_own(s, p->pg.zone.len > 0 ? STR("::timestamptz") : STR(""));
        return;
    }
    SQL_PUT(s, "(CASE WHEN ");
    sql_put_column(s, rows, &as->tree->kind);
    sql_put_own(s, type->last > type->number ? STR(" BETWEEN ") : STR(" = "));
    sql_put_u64(s, type->number - as->number);
    if (type->last > type->number) {
        SQL_PUT(s, " AND ");
        sql_put_u64(s, type->last - as->number);
    }
    SQL_PUT(s, " THEN ");
    sql_put_column(s, rows,
                   p->depth <= as->depth ? &as->properties[p->index]
                                         : &as->tree->slots[p->slot].column);
    SQL_PUT(s, " END)");
}

/* A column of wide rows, or one that PostgreSQL knows the place of. */
static bool is_known(const struct column *c)
{
    return c->count != NULL ||
           (c->property != NULL && c->source->cast_of == NULL && c->source->derived == NULL &&
            !(c->source->wide && (c->source->type->has_strays || sql_is_spatial(c->property))));
}

bool sql_note_tables(struct reading *r, const struct columns *columns, struct sql_level *level)
{
    const struct source *wide = NULL;
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *c = &columns->items[i];
        if (!is_known(c) || (wide != NULL && c->source->wide && c->source != wide)) {
            return true;
        }
        wide = c->source->wide ? c->source : wide;
    }
    if (wide == NULL) {
        return true;
    }
    size_t count = wide->type->last - wide->type->number + 1;
    uint32_t *tables = ARENA_ARRAY(r->arena, count, uint32_t);
    if (tables == NULL) {
        return arena_fail(r->arena, r->err);
    }
    for (size_t i = 0; i < count; i++) {
        tables[i] = wide->type->tree->types[wide->type->number + i]->oid;
    }
    level->tables = tables;
    level->table_count = count;
    return true;
}

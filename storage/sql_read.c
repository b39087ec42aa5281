// SPDX-License-Identifier: Apache-2.0
#include "storage/sql_read.h"

#include <string.h>

#include "storage/sql_read_priv.h"

static bool same_column(const struct column *a, const struct column *b)
{
    return a->source == b->source && a->property == b->property && a->sort == b->sort &&
           a->value == b->value && a->count == b->count;
}

bool columns_add(struct reading *r, struct columns *c, const struct column *column,
                 unsigned *out_field)
{
    for (size_t i = 0; i < c->count; i++) {
        if (same_column(&c->items[i], column)) {
            *out_field = (unsigned)i;
            return true;
        }
    }
    if (c->count == c->room) {
        size_t room = c->room == 0 ? 32 : c->room * 2;
        struct column *grown = ARENA_ARRAY(r->arena, room, struct column);
        if (grown == NULL) {
            return arena_fail(r->arena, r->err);
        }
        if (c->count > 0) {
            memcpy(grown, c->items, c->count * sizeof(*grown));
        }
        c->items = grown;
        c->room = room;
    }
    *out_field = (unsigned)c->count;
    c->items[c->count++] = *column;
    return true;
}

bool columns_add_property(struct reading *r, struct columns *c, const struct source *source,
                          const struct property *p, unsigned *out_field)
{
    struct column column = {.source = source, .property = p};
    return columns_add(r, c, &column, out_field);
}

/* An order value: the column itself when it sorts as it is. */
static bool add_sort(struct reading *r, struct columns *c, const struct bound_expr *e,
                     unsigned *out_field)
{
    if (sql_sorts_raw(e) && e->part_count == 0) {
        return columns_add_property(r, c, e->source, e->property, out_field);
    }
    struct column column = {.sort = e};
    return columns_add(r, c, &column, out_field);
}

/* `(SELECT count(*) ...)` of an expanded collection, in its parent's row. */
static void put_nested_count(struct sql *s, const struct expansion *x, const struct source *parent)
{
    const struct navigation *n = x->navigation;
    const struct source *rows = x->read->source;
    struct conditions c = {.any = true};
    if (x->counted != NULL) {
        sql_put_value(s, x->counted);
        return;
    }
    SQL_PUT(s, "(SELECT count(*) FROM ");
    sql_put_table(s, rows);
    if (n->link != NULL) {
        SQL_PUT(s, " JOIN ");
        sql_put_link_table(s, n, rows);
        SQL_PUT(s, " ON ");
        sql_put_link_far(s, n, rows);
    }
    sql_put_joins(s, rows, true);
    SQL_PUT(s, " WHERE ");
    if (n->link != NULL) {
        sql_put_link_near(s, n, parent, rows);
    } else {
        sql_put_join_on(s, n, parent, rows);
    }
    sql_put_filter(s, &c, x->read);
    bytes_put_char(s->out, ')');
}

bool sql_is_spatial(const struct property *p)
{
    return p->type.type == EDM_GEOMETRY || p->type.type == EDM_GEOGRAPHY;
}

/*
 * What a property is read as: the column, or its GeoJSON. PostGIS's functions are where its types
 * are: the cast `gis.geometry` has the schema, quoted.
 */
static void put_read_column(struct sql *s, const struct source *source, const struct property *p)
{
    if (!sql_is_spatial(p)) {
        sql_put_column(s, source, p);
        return;
    }
    size_t schema_length = p->pg.cast.len;
    while (schema_length > 0 && p->pg.cast.ptr[schema_length - 1] != '.') {
        schema_length--;
    }
    sql_put_own(s, str_slice(p->pg.cast, 0, schema_length));
    SQL_PUT(s, "st_asgeojson(");
    sql_put_column(s, source, p);
    bytes_put_char(s->out, ')');
}

static void put_columns(struct sql *s, const struct columns *c, bool named)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct column *column = &c->items[i];
        if (i > 0) {
            SQL_PUT(s, ", ");
        }
        if (column->property != NULL) {
            put_read_column(s, column->source, column->property);
        } else if (column->sort != NULL) {
            sql_put_sort(s, column->sort);
        } else if (column->value != NULL && column->value->kind != BOUND_PROPERTY) {
            sql_put_value(s, column->value);
        } else if (column->value != NULL && column->value->part_count == 0) {
            put_read_column(s, column->value->source, column->value->property);
        } else if (column->value != NULL) {
            sql_put_raw(s, column->value);
        } else {
            put_nested_count(s, column->count, column->source);
        }
        if (named) {
            SQL_PUT(s, " AS c");
            sql_put_u64(s, i);
        }
    }
    if (c->count == 0) {
        sql_put_own(s, named ? STR("1 AS c0") : STR("1"));
    }
}

/* Nulls come first, and last in descending order: PostgreSQL's default is the other way round. */
static void put_direction(struct sql *s, const struct bound_order *o)
{
    if (o->descending) {
        SQL_PUT(s, " DESC");
    }
    if (o->expr->nullable) {
        sql_put_own(s, o->descending ? STR(" NULLS LAST") : STR(" NULLS FIRST"));
    }
}

void sql_put_order(struct sql *s, const struct bound_order *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sql_put_own(s, i == 0 ? STR(" ORDER BY ") : STR(", "));
        sql_put_sort(s, order[i].expr);
        put_direction(s, &order[i]);
    }
}

void sql_put_bigint(struct sql *s, uint64_t number)
{
    char digits[24];
    size_t at = sizeof(digits);
    number = number > INT64_MAX ? INT64_MAX : number;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    sql_put_param(s, (struct str){digits + at, sizeof(digits) - at}, STR("int8"));
}

/* What clients ask for again and again, and with maxpagesize one row more: some eighty numbers. */
static bool is_usual_limit(uint64_t limit)
{
    for (uint64_t n = limit - (limit > 0); n <= limit; n++) {
        if (n <= 3 || (n <= 100 && n % 5 == 0) || (n <= 1000 && n % 50 == 0)) {
            return true;
        }
    }
    return false;
}

/*
 * A usual number is written into the text. Of `LIMIT $1` PostgreSQL assumes a tenth of all rows when
 * it estimates a plan for any values; it then never keeps such a plan, and plans anew at each run.
 */
void sql_put_limit(struct sql *s, bool has_limit, uint64_t limit, uint64_t skip)
{
    if (has_limit) {
        SQL_PUT(s, " LIMIT ");
        if (is_usual_limit(limit)) {
            sql_put_u64(s, limit);
        } else {
            sql_put_bigint(s, limit);
        }
    }
    if (skip > 0) {
        SQL_PUT(s, " OFFSET ");
        sql_put_bigint(s, skip);
    }
}

static bool end_statement(struct reading *r, struct sql *s, struct sql_statement *out)
{
    bool ok = sql_finish(s, out);
    sql_fini(s);
    return ok || arena_fail(r->arena, r->err);
}

/* The path whose entities must be there: with $apply it is inside of the rows. */
static const struct read *guarded(const struct read *read)
{
    return read->applied_path != NULL ? read->applied_path : read;
}

static bool build_root_statement(struct reading *r, const struct read *read,
                                 const struct columns *columns, uint64_t limit,
                                 struct sql_statement *out)
{
    struct sql s;
    struct conditions c = {0};
    bool is_empty = read->has_top && read->top == 0;
    bool has_limit = !read->single && (limit > 0 || is_empty);
    /* The planner must know limit and offset of the rows: the guard's stands outside of them. */
    const struct read *path = guarded(read);
    bool is_inside = sql_needs_guard(path) && (has_limit || read->skip > 0);
    sql_init(&s, r->arena);
    if (is_inside) {
        SQL_PUT(&s, "SELECT * FROM (");
    }
    SQL_PUT(&s, "SELECT ");
    put_columns(&s, columns, false);
    sql_into(&s, SQL_FROM);
    sql_put_path(&s, read, read->step_count - 1);
    sql_put_joins(&s, read->source, false);
    sql_into(&s, SQL_WHERE);
    sql_put_path_where(&s, &c, read);
    sql_put_after(&s, &c, read);
    sql_into(&s, SQL_ORDER);
    sql_put_order(&s, read->order, read->order_count);
    sql_put_limit(&s, has_limit, limit, read->skip);
    if (is_inside) {
        SQL_PUT(&s, ") AS r");
    }
    if (sql_needs_guard(path)) {
        sql_put_guard(&s, path, path->step_count - 2);
    }
    return end_statement(r, &s, out);
}

static bool build_count_statement(struct reading *r, const struct read *read,
                                  struct sql_statement *out)
{
    struct sql s;
    struct conditions c = {0};
    sql_init(&s, r->arena);
    if (read->value != NULL) {
        /* The number of items of one collection; its entity must be there. */
        SQL_PUT(&s, "SELECT coalesce((SELECT ");
        sql_put_value(&s, read->value_count);
        sql_put_path(&s, read, read->step_count - 1);
        sql_put_keys(&s, &c, read, read->step_count - 1);
        SQL_PUT(&s, "), 0)");
        sql_put_guard(&s, read, read->step_count - 1);
        return end_statement(r, &s, out);
    }
    SQL_PUT(&s, "SELECT count(*)");
    sql_put_path(&s, read, read->step_count - 1);
    sql_put_joins(&s, read->source, true);
    sql_put_path_where(&s, &c, read);
    const struct read *path = guarded(read);
    if (sql_needs_guard(path)) {
        sql_put_guard(&s, path, path->step_count - 2);
    }
    return end_statement(r, &s, out);
}

/* The properties whose values tie a parent to its children: the navigation's near side. */
static size_t near_count(const struct navigation *n)
{
    return n->link != NULL ? n->link->local_count : n->join_count;
}

static const struct property *near_property(const struct navigation *n, size_t i)
{
    return n->link != NULL ? n->link->local[i] : n->joins[i].local;
}

/* What a child is told of its parent: the near side, and the key of $it where it speaks of that. */
static size_t told_count(const struct expansion *x)
{
    const struct source *it = x->read->it;
    return near_count(x->navigation) + (it == NULL ? 0 : it->type->key.count);
}

static const struct property *told_property(const struct expansion *x, size_t i)
{
    size_t near = near_count(x->navigation);
    return i < near ? near_property(x->navigation, i) : x->read->it->type->key.properties[i - near];
}

/* `unnest($4::int4[],...) WITH ORDINALITY AS p(k0,...,n)`: written last, so that its parameters
   are the last ones. */
static void put_parents(struct sql *s, const struct expansion *x)
{
    SQL_PUT(s, " FROM unnest(");
    for (size_t i = 0; i < told_count(x); i++) {
        if (i > 0) {
            SQL_PUT(s, ", ");
        }
        sql_put_array_param(s, (struct str){NULL, 0}, told_property(x, i)->pg.cast);
    }
    SQL_PUT(s, ") WITH ORDINALITY AS p(");
    for (size_t i = 0; i < told_count(x); i++) {
        bytes_put_char(s->out, 'k');
        sql_put_u64(s, i);
        SQL_PUT(s, ", ");
    }
    SQL_PUT(s, "n)");
}

/* ` JOIN root AS t0 ON ...`: the row of the request that the child speaks of. */
static void put_it(struct sql *s, const struct expansion *x)
{
    const struct source *it = x->read->it;
    if (it == NULL) {
        return;
    }
    SQL_PUT(s, " JOIN ");
    sql_put_table(s, it);
    SQL_PUT(s, " ON ");
    for (size_t i = near_count(x->navigation); i < told_count(x); i++) {
        if (i > near_count(x->navigation)) {
            SQL_PUT(s, " AND ");
        }
        sql_put_column(s, it, told_property(x, i));
        SQL_PUT(s, " = p.k");
        sql_put_u64(s, i);
    }
    sql_put_joins(s, it, false);
}

/* The child's own tables, tied to p: ` FROM child [JOIN link]` or ` JOIN ...` and conditions. */
static void put_child_tie(struct sql *s, const struct expansion *x)
{
    const struct navigation *n = x->navigation;
    const struct source *rows = x->read->source;
    for (size_t i = 0; i < near_count(n); i++) {
        if (i > 0) {
            SQL_PUT(s, " AND ");
        }
        if (n->link != NULL) {
            sql_put_link_column(s, rows->number, n->link->local_columns[i], n->link->local[i]);
        } else {
            sql_put_column(s, rows, n->joins[i].remote);
        }
        SQL_PUT(s, " = p.k");
        sql_put_u64(s, i);
    }
}

/* One row for each parent and child: ordered by the parent, and within it as the child says. */
static void put_plain_child(struct sql *s, const struct expansion *x, const struct columns *columns)
{
    const struct navigation *n = x->navigation;
    const struct read *read = x->read;
    struct conditions c = {0};
    SQL_PUT(s, "SELECT ");
    put_columns(s, columns, false);
    SQL_PUT(s, ", p.n");
    sql_into(s, SQL_WHERE);
    put_it(s, x);
    if (n->link != NULL) {
        SQL_PUT(s, " JOIN ");
        sql_put_link_table(s, n, read->source);
        SQL_PUT(s, " ON ");
        put_child_tie(s, x);
        SQL_PUT(s, " JOIN ");
        sql_put_table(s, read->source);
        SQL_PUT(s, " ON ");
        sql_put_link_far(s, n, read->source);
    } else {
        SQL_PUT(s, " JOIN ");
        sql_put_table(s, read->source);
        SQL_PUT(s, " ON ");
        put_child_tie(s, x);
    }
    sql_put_joins(s, read->source, false);
    sql_put_filter(s, &c, read);
    sql_into(s, SQL_ORDER);
    SQL_PUT(s, " ORDER BY p.n");
    for (size_t i = 0; i < read->order_count; i++) {
        SQL_PUT(s, ", ");
        sql_put_sort(s, read->order[i].expr);
        put_direction(s, &read->order[i]);
    }
}

/* At most so many rows; 0 = no bound. One more than a page, to know whether there is another. */
static uint64_t row_limit(const struct read *read)
{
    uint64_t limit =
        read->page_rows == 0 || read->page_rows == UINT64_MAX ? 0 : read->page_rows + 1;
    if (read->has_top && (limit == 0 || read->top < limit)) {
        limit = read->top;
    }
    return limit;
}

/* $top, $skip, pages and $apply are about the rows of one parent: a subquery for each, in one statement. */
static void put_lateral_child(struct sql *s, const struct expansion *x,
                              const struct columns *columns, const unsigned *order_fields)
{
    const struct navigation *n = x->navigation;
    const struct read *read = x->read;
    struct conditions c = {.any = !read->tied};
    SQL_PUT(s, "SELECT c.*, p.n");
    sql_into(s, SQL_WHERE);
    put_it(s, x);
    SQL_PUT(s, " CROSS JOIN LATERAL (SELECT ");
    put_columns(s, columns, true);
    SQL_PUT(s, " FROM ");
    sql_put_table(s, read->source);
    if (!read->tied && n->link != NULL) {
        SQL_PUT(s, " JOIN ");
        sql_put_link_table(s, n, read->source);
        SQL_PUT(s, " ON ");
        sql_put_link_far(s, n, read->source);
    }
    sql_put_joins(s, read->source, false);
    if (!read->tied) {
        SQL_PUT(s, " WHERE ");
        put_child_tie(s, x);
    }
    sql_put_filter(s, &c, read);
    sql_put_order(s, read->order, read->order_count);
    uint64_t limit = row_limit(read);
    sql_put_limit(s, read->has_top || limit > 0, limit, read->skip);
    SQL_PUT(s, ") AS c");
    sql_into(s, SQL_ORDER);
    SQL_PUT(s, " ORDER BY p.n");
    for (size_t i = 0; i < read->order_count; i++) {
        SQL_PUT(s, ", c.c");
        sql_put_u64(s, order_fields[i]);
        put_direction(s, &read->order[i]);
    }
}

/* The type that a column had when the model was read: its values are written by that. */
static uint32_t expected_type(const struct column *column)
{
    const struct bound_expr *value = column->value;
    const struct property *p = column->property;
    if (value != NULL && value->kind != BOUND_PROPERTY) {
        return 0; /* made in the statement: of the column's type, or the base type of a domain */
    }
    if (p == NULL && value != NULL) {
        p = value->part_count > 0 ? value->parts[value->part_count - 1] : value->property;
    }
    return p == NULL || sql_is_spatial(p) ? 0 : p->pg.oid;
}

static bool expect_types(struct reading *r, const struct columns *columns, struct sql_level *level)
{
    uint32_t *types = ARENA_ARRAY(r->arena, level->field_count, uint32_t);
    if (types == NULL) {
        return arena_fail(r->arena, r->err);
    }
    for (size_t i = 0; i < columns->count; i++) {
        types[i] = expected_type(&columns->items[i]);
    }
    level->field_types = types;
    return sql_note_tables(r, columns, level);
}

static bool build_child_statement(struct reading *r, const struct expansion *x,
                                  struct columns *columns, struct sql_level *level,
                                  struct nested_page *page)
{
    const struct read *read = x->read;
    bool lateral = read->has_top || read->skip > 0 || read->tied || page != NULL;
    unsigned *order_fields = ARENA_ARRAY(r->arena, read->order_count + 1, unsigned);
    if (order_fields == NULL) {
        return arena_fail(r->arena, r->err);
    }
    for (size_t i = 0; lateral && i < read->order_count; i++) {
        if (!add_sort(r, columns, read->order[i].expr, &order_fields[i])) {
            return false;
        }
    }
    if (page != NULL) {
        page->token_fields = order_fields;
        page->token_field_count = read->order_count;
    }
    size_t width = columns->count == 0 ? 1 : columns->count;
    level->field_count = width + 1;
    level->ordinal_field = (unsigned)width;
    if (!expect_types(r, columns, level)) {
        return false;
    }
    struct sql s;
    sql_init(&s, r->arena);
    if (lateral) {
        put_lateral_child(&s, x, columns, order_fields);
    } else {
        put_plain_child(&s, x, columns);
    }
    sql_into(&s, SQL_FROM);
    put_parents(&s, x);
    return end_statement(r, &s, &level->statement);
}

/* Rows that are read with a statement of their own, below this selection. */
static size_t count_levels(const struct selection *selection)
{
    size_t count = 0;
    for (const struct expansion *x = selection == NULL ? NULL : selection->expansions; x != NULL;
         x = x->next) {
        count += (x->read != NULL && !x->count_only ? 1 : 0) + count_levels(x->selection);
    }
    for (const struct cast_selection *c = selection == NULL ? NULL : selection->casts; c != NULL;
         c = c->next) {
        count += count_levels(c->selection);
    }
    return count;
}

bool sql_read_level(struct reading *r, const struct expansion *x, size_t parent,
                    struct columns *parent_columns, struct member *to_many,
                    struct nested_page *page)
{
    size_t index = r->level_count++;
    struct sql_level *level = &r->levels[index];
    level->parent = parent;
    level->parent_key_count = told_count(x);
    unsigned *keys = ARENA_ARRAY(r->arena, level->parent_key_count, unsigned);
    if (keys == NULL) {
        return arena_fail(r->arena, r->err);
    }
    for (size_t i = 0; i < level->parent_key_count; i++) {
        bool near = i < near_count(x->navigation);
        if (!columns_add_property(r, parent_columns, near ? x->parent : x->read->it,
                                  told_property(x, i), &keys[i])) {
            return false;
        }
    }
    level->parent_keys = keys;
    struct columns columns = {0};
    to_many->level = (unsigned)index;
    return read_shape_entity(r, x->selection, x->read->source, index, &columns, &to_many->shape) &&
           build_child_statement(r, x, &columns, level, page);
}

/* Fills in which levels are whose children, in the order of their numbers. */
static bool link_children(struct reading *r)
{
    for (size_t i = 0; i < r->level_count; i++) {
        size_t *children = ARENA_ARRAY(r->arena, r->level_count, size_t);
        if (children == NULL) {
            return arena_fail(r->arena, r->err);
        }
        for (size_t k = 1; k < r->level_count; k++) {
            if (r->levels[k].parent == i) {
                children[r->levels[i].child_count++] = k;
            }
        }
        r->levels[i].children = children;
    }
    return true;
}

static bool build_tokens(struct reading *r, const struct read *read, struct columns *columns,
                         struct sql_read *out)
{
    if (!read->resumable) {
        return true;
    }
    unsigned *fields = ARENA_ARRAY(r->arena, read->order_count, unsigned);
    if (fields == NULL) {
        return arena_fail(r->arena, r->err);
    }
    for (size_t i = 0; i < read->order_count; i++) {
        if (!add_sort(r, columns, read->order[i].expr, &fields[i])) {
            return false;
        }
    }
    out->token_fields = fields;
    out->token_field_count = read->order_count;
    return true;
}

static bool build_rows(struct reading *r, const struct read *read, struct sql_read *out)
{
    r->levels = ARENA_ARRAY(r->arena, 1 + count_levels(read->selection), struct sql_level);
    if (r->levels == NULL) {
        return arena_fail(r->arena, r->err);
    }
    r->level_count = 1;
    struct columns columns = {0};
    bool shaped =
        read->value != NULL
            ? read_shape_value(r, read->value, read->value_count, &columns, &out->shape)
            : read_shape_entity(r, read->selection, read->source, 0, &columns, &out->shape);
    if (!shaped || !build_tokens(r, read, &columns, out)) {
        return false;
    }
    r->levels[0].field_count = columns.count == 0 ? 1 : columns.count;
    bool is_empty = read->has_top && read->top == 0;
    out->row_limit = read->single || (is_empty && out->has_rows) ? 1 : row_limit(read);
    if (!expect_types(r, &columns, &r->levels[0])) {
        return false;
    }
    if (!build_root_statement(r, read, &columns, row_limit(read), &r->levels[0].statement) ||
        !link_children(r)) {
        return false;
    }
    out->levels = r->levels;
    out->level_count = r->level_count;
    return true;
}

bool sql_read_build(struct arena *a, const struct plan *plan,
                    const struct sql_read_options *options, const struct sql_read **out_read,
                    struct odata_error *err)
{
    struct reading r = {.arena = a, .plan = plan, .options = options, .err = err};
    const struct read *read = plan->read;
    struct sql_read *out = ARENA_NEW(a, struct sql_read);
    if (out == NULL) {
        return arena_fail(a, err);
    }
    out->has_count = read->has_count || read->count_rows;
    out->guards_parent = sql_needs_guard(guarded(read)) || read->value_count != NULL;
    /* $top=0, or a page behind the last row of $top: nothing to read but perhaps the count, or
       whether the entity before it is there. */
    bool is_empty = read->has_top && read->top == 0;
    bool asks_guard = out->guards_parent && !out->has_count;
    out->has_rows = !read->count_rows && (!is_empty || asks_guard);
    if (out->has_count && !build_count_statement(&r, read, &out->count)) {
        return false;
    }
    if (!read->count_rows && !build_rows(&r, read, out)) {
        return false;
    }
    *out_read = out;
    return true;
}

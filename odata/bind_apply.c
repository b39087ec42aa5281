// SPDX-License-Identifier: Apache-2.0
/* $apply: a sequence of set transformations, each a SELECT around the one before. */
#include <string.h>

#include "odata/apply_priv.h"
#include "odata/limits.h"

struct scope bind_row_scope(const struct applying *x)
{
    struct scope scope = {.root = x->in, .clause = x->clause};
    if (x->around != NULL) {
        scope.variables = x->around->variables;
        scope.it_is_near = true;
    }
    return scope;
}

static bool bind_filter(struct applying *x, const struct transformation *t)
{
    struct scope scope = bind_row_scope(x);
    scope.in_filter = true;
    const struct bound_expr *condition = bind_condition(x->b, &scope, t->expr);
    return condition != NULL && bind_keep(x, condition);
}

static bool bind_searched(struct applying *x, const struct transformation *t)
{
    const struct bound_expr *condition = bind_search(x->b, x->in, t->search);
    return condition != NULL && bind_keep(x, condition);
}

static bool bind_computes(struct applying *x, const struct transformation *t)
{
    struct source *made = bind_compute(x->b, x->clause, x->in, t->computes, t->compute_count);
    x->in = made == NULL ? x->in : made;
    return made != NULL;
}

/* --- order --- */

static bool is_own(const struct applying *x, const struct bound_expr *e)
{
    return e->kind == BOUND_PROPERTY && e->source == x->in && e->part_count == 0;
}

/* The rows of in with a column for e, when they have none yet. */
static const struct property *need_column(struct applying *x, const struct bound_expr *e)
{
    if (is_own(x, e)) {
        return e->property;
    }
    struct derived *d = bind_derive(x->b, x->in);
    const struct property *p =
        d == NULL ? NULL : bind_add_column(x->b, d, STR(""), e, COLUMN_VALUE);
    return p != NULL && bind_hide(x->b, d, p) && bind_derived(x, d, x->in->type) ? p : NULL;
}

static bool has_sorted(const struct sorted *items, size_t count, const struct property *p)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(items[i].property->column, p->column)) {
            return true;
        }
    }
    return false;
}

static bool set_sorted(struct applying *x, const struct sorted *items, size_t count)
{
    struct derived *d = bind_derive(x->b, x->in);
    if (d == NULL) {
        return false;
    }
    d->sorted = items;
    d->sorted_count = count;
    return bind_derived(x, d, x->in->type);
}

/* first, and then what the rows are ordered by already, and then, for a total order, their key. */
static bool make_order(struct applying *x, const struct sorted *first, size_t first_count,
                       bool total, struct sorted **out, size_t *out_count)
{
    const struct derived *d = x->in->derived;
    size_t old_count = d == NULL ? 0 : d->sorted_count;
    struct key key = bind_unique(x->in);
    struct sorted *items =
        ARENA_ARRAY(x->b->arena, first_count + old_count + key.count, struct sorted);
    if (items == NULL && first_count + old_count + key.count > 0) {
        return arena_fail(x->b->arena, x->b->err);
    }
    size_t count = 0;
    for (size_t i = 0; i < first_count; i++) {
        items[count++] = first[i];
    }
    for (size_t i = 0; i < old_count; i++) {
        if (!has_sorted(items, count, d->sorted[i].property)) {
            items[count++] = d->sorted[i];
        }
    }
    for (size_t i = 0; total && i < key.count; i++) {
        if (!has_sorted(items, count, key.properties[i])) {
            items[count++] = (struct sorted){key.properties[i], false};
        }
    }
    *out = items;
    *out_count = count;
    return true;
}

static bool bind_orderby(struct applying *x, const struct transformation *t)
{
    const struct query *q = t->order;
    struct sorted *first = ARENA_ARRAY(x->b->arena, q->orderby_count, struct sorted);
    struct sorted *all;
    size_t count = 0;
    if (first == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    for (size_t i = 0; i < q->orderby_count; i++) {
        struct scope scope = bind_row_scope(x);
        const struct bound_expr *e = bind_expr(x->b, &scope, q->orderby[i].expr);
        if (e == NULL) {
            return false;
        }
        if (e->type.type == EDM_NONE) {
            continue; /* null has the same place in every row */
        }
        if (e->type.collection || !edm_is_ordered(e->type.type)) {
            return bind_fail(x->b, x->clause, q->orderby[i].offset, "%.*s has no order",
                             STR_ARG(bind_type_name(x->b, &e->type)));
        }
        const struct property *p = need_column(x, e);
        if (p == NULL) {
            return false;
        }
        first[count++] = (struct sorted){p, q->orderby[i].descending};
    }
    return make_order(x, first, count, false, &all, &count) && set_sorted(x, all, count);
}

/* The items of an order as expressions over the rows of in. */
static struct bound_order *bound_order(struct applying *x, const struct sorted *items, size_t count)
{
    struct bound_order *order = ARENA_ARRAY(x->b->arena, count + 1, struct bound_order);
    if (order == NULL) {
        arena_fail(x->b->arena, x->b->err);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        order[i].expr = bind_property_expr(x->b, x->in, items[i].property);
        order[i].descending = items[i].descending;
        if (order[i].expr == NULL) {
            return NULL;
        }
    }
    return order;
}

/* d computes over windows: the partition's rows in this order. */
static bool set_window(struct applying *x, struct derived *d, const struct sorted *items,
                       size_t count)
{
    d->window = true;
    d->order = bound_order(x, items, count);
    d->order_count = count;
    d->partition = ARENA_ARRAY(x->b->arena, x->partition_count + 1, const struct bound_expr *);
    if (d->order == NULL) {
        return false;
    }
    if (d->partition == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    for (size_t i = 0; i < x->partition_count; i++) {
        d->partition[i] = bind_property_expr(x->b, x->in, x->partition[i]);
        if (d->partition[i] == NULL) {
            return false;
        }
    }
    d->partition_count = x->partition_count;
    return true;
}

static const struct bound_expr *number_value(struct binder *b, uint64_t number)
{
    struct bound_expr *e = bind_new(b, BOUND_VALUE, EDM_INT64, 0);
    if (e == NULL || !arena_format(b->arena, &e->text, "%llu", (unsigned long long)number)) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    return e;
}

static struct bound_expr *made_value(struct binder *b, enum edm_type type)
{
    struct bound_expr *e = bind_new(b, BOUND_VALUE, type, 0);
    if (e != NULL) {
        e->nullable = true;
    }
    return e;
}

/* A column that a window function fills. */
static const struct property *add_window(struct applying *x, struct derived *d,
                                         const struct bound_expr *e, enum column_function function)
{
    const struct bound_expr *type =
        e != NULL ? e : made_value(x->b, EDM_INT64); /* a row's number */
    const struct property *p =
        type == NULL ? NULL : bind_add_column(x->b, d, STR(""), type, function);
    if (p == NULL || !bind_hide(x->b, d, p)) {
        return NULL;
    }
    d->columns[d->column_count - 1].expr = e;
    return p;
}

/* How many of the first rows: a number, or a value that none of the rows decides. */
struct cut {
    bool has_top;
    uint64_t top;
    const struct bound_expr *value; /* in the place of top, or NULL */
    uint64_t skip;
};

/* Some rows of each group: those whose number in it is above skip, or at most top. */
static bool cut_groups(struct applying *x, const struct sorted *items, size_t count,
                       const struct cut *cut)
{
    struct binder *b = x->b;
    struct derived *d = bind_derive(b, x->in);
    if (d == NULL || !set_window(x, d, items, count)) {
        return false;
    }
    const struct property *number = add_window(x, d, NULL, COLUMN_ROW_NUMBER);
    if (number == NULL || !bind_derived(x, d, x->in->type)) {
        return false;
    }
    const struct bound_expr *column = bind_property_expr(b, x->in, number);
    const struct bound_expr *limit =
        cut->value != NULL ? cut->value : number_value(b, cut->has_top ? cut->top : cut->skip);
    const struct bound_expr *condition =
        column == NULL || limit == NULL
            ? NULL
            : bind_binary_of(b, cut->has_top ? OP_LE : OP_GT, EDM_BOOLEAN, column, limit);
    return condition != NULL && bind_keep(x, condition);
}

/* The first rows in this total order, which they keep. */
static bool cut_rows(struct applying *x, const struct sorted *items, size_t count,
                     const struct cut *cut)
{
    if (x->partition_count > 0) {
        return cut_groups(x, items, count, cut) && set_sorted(x, items, count);
    }
    struct derived *d = bind_derive(x->b, x->in);
    if (d == NULL) {
        return false;
    }
    d->order = bound_order(x, items, count);
    d->order_count = count;
    d->has_top = cut->has_top;
    d->top = cut->top;
    d->top_value = cut->value;
    d->skip = cut->skip;
    d->sorted = items;
    d->sorted_count = count;
    return d->order != NULL && bind_derived(x, d, x->in->type);
}

static bool bind_top_or_skip(struct applying *x, const struct transformation *t)
{
    struct sorted *items;
    size_t count;
    bool top = t->kind == TRANSFORM_TOP;
    const struct cut cut = {
        .has_top = top, .top = top ? t->number : 0, .skip = top ? 0 : t->number};
    return make_order(x, NULL, 0, true, &items, &count) && cut_rows(x, items, count, &cut);
}

/* --- topcount, topsum, toppercent, and from the bottom --- */

/* A value that is the same for all rows: no property is in reach. */
static const struct bound_expr *bind_limit_value(struct applying *x, const struct expr *e)
{
    const struct entity_type *none = bind_leaf_type(x->b, x->in->type, NULL, 0);
    struct scope scope = bind_row_scope(x);
    scope.root = none == NULL ? NULL : bind_source_new(x->b, none);
    const struct bound_expr *value = scope.root == NULL ? NULL : bind_expr(x->b, &scope, e);
    if (value != NULL && (value->type.collection || !edm_is_numeric(value->type.type))) {
        bind_fail(x->b, x->clause, e->offset, "expected a number, found %.*s",
                  STR_ARG(bind_type_name(x->b, &value->type)));
        return NULL;
    }
    return value;
}

/* The first parameter: a number, which none of the rows decides. */
static const struct bound_expr *bind_limit(struct applying *x, const struct transformation *t,
                                           enum edm_type type)
{
    if (!bind_is_literal(x->b, t->limit)) {
        return bind_limit_value(x, t->limit);
    }
    struct type_ref want = bind_type(type);
    const struct bound_expr *limit = bind_literal(x->b, x->clause, t->limit, &want, NULL);
    if (limit != NULL && limit->text.ptr == NULL) {
        bind_fail(x->b, x->clause, t->limit->offset, "expected a number, found null");
        return NULL;
    }
    return limit;
}

static bool bind_extreme_count(struct applying *x, const struct transformation *t,
                               const struct sorted *items, size_t count)
{
    const struct bound_expr *limit = bind_limit(x, t, EDM_INT64);
    struct cut cut = {.has_top = true};
    if (limit == NULL) {
        return false;
    }
    if (limit->kind != BOUND_VALUE) {
        cut.value = limit;
    } else if (!str_to_u64(limit->text, &cut.top) || cut.top == 0) {
        return bind_fail(x->b, x->clause, t->limit->offset, "expected a positive integer");
    }
    return cut_rows(x, items, count, &cut);
}

static bool is_negative(const struct bound_expr *e)
{
    return e->kind == BOUND_VALUE && str_starts_with(e->text, STR("-"));
}

static bool check_percent(struct applying *x, const struct transformation *t,
                          const struct bound_expr *limit)
{
    if (limit->kind != BOUND_VALUE) {
        return true;
    }
    uint64_t whole = 0;
    struct str digits = str_slice(limit->text, 0, str_find(limit->text, '.', 0));
    bool zero = true;
    for (size_t i = 0; i < limit->text.len; i++) {
        zero = zero && (limit->text.ptr[i] == '0' || limit->text.ptr[i] == '.');
    }
    bool within = str_to_u64(digits, &whole) && whole <= 100 &&
                  (whole < 100 || str_ends_with(limit->text, digits));
    return (within && !zero) ||
           bind_fail(x->b, x->clause, t->limit->offset, "expected a number above 0 and up to 100");
}

/* sum so far * 100 < percent * total, or the other way round when the total is negative. */
static const struct bound_expr *percent_condition(struct applying *x,
                                                  const struct bound_expr *before,
                                                  const struct bound_expr *total,
                                                  const struct bound_expr *limit)
{
    struct binder *b = x->b;
    const struct bound_expr *hundred = number_value(b, 100);
    const struct bound_expr *zero = number_value(b, 0);
    if (hundred == NULL || zero == NULL) {
        return NULL;
    }
    const struct bound_expr *part = bind_binary_of(b, OP_MUL, before->type.type, before, hundred);
    const struct bound_expr *whole = bind_binary_of(b, OP_MUL, total->type.type, total, limit);
    const struct bound_expr *sides[2];
    for (size_t i = 0; i < 2; i++) {
        enum operator op = i == 0 ? OP_LT : OP_GT;
        if (part == NULL || whole == NULL) {
            return NULL;
        }
        const struct bound_expr *sign =
            bind_binary_of(b, i == 0 ? OP_GT : OP_LT, EDM_BOOLEAN, total, zero);
        const struct bound_expr *reach = bind_binary_of(b, op, EDM_BOOLEAN, part, whole);
        sides[i] = sign == NULL || reach == NULL
                       ? NULL
                       : bind_binary_of(b, OP_AND, EDM_BOOLEAN, sign, reach);
        if (sides[i] == NULL) {
            return NULL;
        }
    }
    return bind_binary_of(b, OP_OR, EDM_BOOLEAN, sides[0], sides[1]);
}

/* Rows as long as what stands before them has not reached the sum, or the percentage of it. */
static bool bind_extreme_sum(struct applying *x, const struct transformation *t, bool percent,
                             const struct sorted *items, size_t count)
{
    struct binder *b = x->b;
    const struct property *measure = items[0].property;
    enum edm_type type = measure->type.type == EDM_DOUBLE || measure->type.type == EDM_SINGLE
                             ? EDM_DOUBLE
                             : EDM_DECIMAL;
    if (!edm_is_numeric(measure->type.type)) {
        return bind_fail(b, x->clause, t->expr->offset, "expected a number, found %.*s",
                         STR_ARG(bind_type_name(b, &measure->type)));
    }
    const struct bound_expr *limit = bind_limit(x, t, EDM_DECIMAL);
    struct derived *d = bind_derive(b, x->in);
    if (limit == NULL || d == NULL || (percent && !check_percent(x, t, limit)) ||
        !set_window(x, d, items, count)) {
        return false;
    }
    const struct bound_expr *value = bind_property_expr(b, x->in, measure);
    struct bound_expr *wide = bind_new(b, BOUND_OPERATOR, type, 1);
    if (value == NULL || wide == NULL) {
        return false;
    }
    /* The sum's type: what is added up is wider than its items. */
    *wide = *value;
    wide->type.type = type;
    wide->nullable = true;
    const struct property *before = add_window(x, d, wide, COLUMN_SUM_BEFORE);
    const struct property *total = before == NULL ? NULL : add_window(x, d, wide, COLUMN_TOTAL);
    if (total == NULL || !bind_derived(x, d, x->in->type)) {
        return false;
    }
    const struct bound_expr *so_far = bind_property_expr(b, x->in, before);
    const struct bound_expr *all = bind_property_expr(b, x->in, total);
    if (so_far == NULL || all == NULL) {
        return false;
    }
    const struct bound_expr *condition =
        percent ? percent_condition(x, so_far, all, limit)
                : bind_binary_of(b, is_negative(limit) ? OP_GT : OP_LT, EDM_BOOLEAN, so_far, limit);
    return condition != NULL && bind_keep(x, condition) && set_sorted(x, items, count);
}

static bool bind_extreme(struct applying *x, const struct transformation *t)
{
    struct scope scope = bind_row_scope(x);
    const struct bound_expr *e = bind_expr(x->b, &scope, t->expr);
    if (e == NULL) {
        return false;
    }
    if (e->type.collection || !edm_is_ordered(e->type.type)) {
        return bind_fail(x->b, x->clause, t->expr->offset, "%.*s has no order",
                         STR_ARG(bind_type_name(x->b, &e->type)));
    }
    bool top = t->kind == TRANSFORM_TOPCOUNT || t->kind == TRANSFORM_TOPSUM ||
               t->kind == TRANSFORM_TOPPERCENT;
    struct sorted first = {need_column(x, e), top};
    struct sorted *items = NULL;
    size_t count = 0;
    if (first.property == NULL || !make_order(x, &first, 1, true, &items, &count)) {
        return false;
    }
    if (t->kind == TRANSFORM_TOPCOUNT || t->kind == TRANSFORM_BOTTOMCOUNT) {
        return bind_extreme_count(x, t, items, count);
    }
    bool percent = t->kind == TRANSFORM_TOPPERCENT || t->kind == TRANSFORM_BOTTOMPERCENT;
    return bind_extreme_sum(x, t, percent, items, count);
}

/* --- sequences --- */

static bool bind_identity(struct applying *x, const struct transformation *t)
{
    (void)x;
    (void)t;
    return true;
}

/* What is not here is NULL. */
static bool (*const binders[TRANSFORM_COUNT])(struct applying *x,
                                              const struct transformation *t) = {
    [TRANSFORM_AGGREGATE] = bind_aggregate, [TRANSFORM_GROUPBY] = bind_groupby,
    [TRANSFORM_CONCAT] = bind_concat,       [TRANSFORM_FILTER] = bind_filter,
    [TRANSFORM_SEARCH] = bind_searched,     [TRANSFORM_COMPUTE] = bind_computes,
    [TRANSFORM_IDENTITY] = bind_identity,   [TRANSFORM_ORDERBY] = bind_orderby,
    [TRANSFORM_TOP] = bind_top_or_skip,     [TRANSFORM_SKIP] = bind_top_or_skip,
    [TRANSFORM_TOPCOUNT] = bind_extreme,    [TRANSFORM_TOPSUM] = bind_extreme,
    [TRANSFORM_TOPPERCENT] = bind_extreme,  [TRANSFORM_BOTTOMCOUNT] = bind_extreme,
    [TRANSFORM_BOTTOMSUM] = bind_extreme,   [TRANSFORM_BOTTOMPERCENT] = bind_extreme,
    [TRANSFORM_JOIN] = bind_join,           [TRANSFORM_OUTERJOIN] = bind_join,
    [TRANSFORM_NEST] = bind_nest,           [TRANSFORM_ADDNESTED] = bind_addnested,
    [TRANSFORM_ANCESTORS] = bind_related,   [TRANSFORM_DESCENDANTS] = bind_related,
    [TRANSFORM_TRAVERSE] = bind_traverse,
};

bool transformation_is_supported(enum transformation_kind kind)
{
    return binders[kind] != NULL;
}

static bool bind_transformation(struct applying *x, const struct transformation *t)
{
    if (binders[t->kind] == NULL) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "%.*s at byte %zu is not implemented",
                                           STR_ARG(transformation_name(t->kind)), t->offset);
    }
    return binders[t->kind](x, t);
}

bool bind_sequence(struct applying *x, const struct sequence *s)
{
    struct source *outer_it = x->b->it;
    struct these *outer_these = x->b->these;
    bool ok = true;
    for (size_t i = 0; ok && i < s->count; i++) {
        struct these these = {.rows = x->in, .grouped = x->partition_count > 0};
        x->b->it = x->in;
        x->b->these = &these;
        ok = bind_transformation(x, &s->items[i]);
    }
    x->b->it = outer_it;
    x->b->these = outer_these;
    return ok;
}

bool bind_path_rows(struct applying *x, const struct read *read)
{
    struct derived *d = bind_derive(x->b, read->source);
    struct read *path = ARENA_NEW(x->b->arena, struct read);
    if (path == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    if (d == NULL) {
        return false;
    }
    *path = *read;
    d->path = path;
    return bind_derived(x, d, read->source->type);
}

bool bind_apply(struct binder *b, const struct sequence *s, struct read *read)
{
    struct applying x = {.b = b, .clause = &clause_apply, .in = read->source};
    struct path_step *step = ARENA_NEW(b->arena, struct path_step);
    if (step == NULL) {
        return arena_fail(b->arena, b->err);
    }
    if (read->step_count > 1) {
        if (!bind_path_rows(&x, read)) {
            return false;
        }
        read->applied_path = x.in->derived->path;
    }
    if (!bind_sequence(&x, s)) {
        return false;
    }
    step->source = x.in;
    read->steps = step;
    read->step_count = 1;
    read->source = x.in;
    read->type = x.in->type;
    b->it = x.in;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * aggregate: one row for each group. What is reached through navigation properties is counted once,
 * however many rows lead to it (Data Aggregation 3.2.1.1), so that it is aggregated in a SELECT of
 * its own: a branch, whose row for a group is merged with those of the others.
 */
#include "odata/apply_priv.h"
#include "odata/name_index.h"

static const struct method {
    struct str name;
    enum column_function function;
} methods[] = {
    {{STR_INIT("sum")}, COLUMN_SUM},
    {{STR_INIT("min")}, COLUMN_MIN},
    {{STR_INIT("max")}, COLUMN_MAX},
    {{STR_INIT("average")}, COLUMN_AVERAGE},
    {{STR_INIT("countdistinct")}, COLUMN_COUNTDISTINCT},
};

/* The rows of one SELECT with a column for each of its items. */
struct branch {
    struct applying x;
    struct derived *d;             /* of branch 0, while it grows */
    const struct property *column; /* of another branch: its one column */
};

struct aggregating {
    struct applying *x;
    const struct transformation *t;
    struct branch *branches;
    size_t branch_count;
    struct leaf *leaves; /* one for each item */
    size_t *item_branch;
};

static bool find_method(struct applying *x, struct str name, size_t offset,
                        enum column_function *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
        if (str_ieq(name, methods[i].name)) {
            *out = methods[i].function;
            return true;
        }
    }
    if (str_find(name, '.', 0) < name.len) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "the aggregation method '%.*s' at byte %zu is not "
                                           "implemented",
                                           STR_ARG(bind_clip(name)), offset);
    }
    const struct named named = {methods, ARRAY_SIZE(methods), sizeof(methods[0]), 0};
    size_t nearest = name_index_nearest(&named, name);
    bind_fail(x->b, x->clause, offset, "unknown aggregation method '%.*s'",
              STR_ARG(bind_clip(name)));
    return nearest < ARRAY_SIZE(methods) &&
           odata_error_hint(x->b->err, "did you mean '%.*s'?", STR_ARG(methods[nearest].name));
}

/* The type of the result (3.2.1.4): one that holds every value of it. */
static enum edm_type result_type(enum column_function function, enum edm_type type)
{
    bool floating = type == EDM_DOUBLE || type == EDM_SINGLE;
    switch (function) {
    case COLUMN_SUM:
        if (edm_is_integer(type) && type != EDM_INT64) {
            return EDM_INT64;
        }
        return floating ? EDM_DOUBLE : type == EDM_DURATION ? type : EDM_DECIMAL;
    case COLUMN_AVERAGE:
        return floating ? EDM_DOUBLE : type == EDM_DURATION ? type : EDM_DECIMAL;
    case COLUMN_COUNT:
    case COLUMN_COUNTDISTINCT:
        return EDM_DECIMAL;
    case COLUMN_VALUE:
    case COLUMN_MIN:
    case COLUMN_MAX:
    case COLUMN_ROW_NUMBER:
    case COLUMN_SUM_BEFORE:
    case COLUMN_TOTAL:
        break;
    }
    return type;
}

static bool check_method(struct applying *x, const struct aggregate_item *item,
                         enum column_function function, const struct bound_expr *e)
{
    const struct type_ref *t = &e->type;
    bool fits = !t->collection && t->type != EDM_NONE;
    if (function == COLUMN_SUM || function == COLUMN_AVERAGE) {
        fits = fits && (edm_is_numeric(t->type) || t->type == EDM_DURATION);
    } else if (function == COLUMN_MIN || function == COLUMN_MAX) {
        fits = fits && edm_is_ordered(t->type);
    } else if (fits && (t->type == EDM_COMPLEX || t->type == EDM_UNTYPED ||
                        t->type == EDM_GEOGRAPHY || t->type == EDM_GEOMETRY)) {
        return odata_error_not_implemented(x->b->err, x->clause->option, "countdistinct of %.*s",
                                           STR_ARG(bind_type_name(x->b, t)));
    }
    if ((function == COLUMN_MIN || function == COLUMN_MAX) && t->type == EDM_BINARY) {
        return odata_error_not_implemented(x->b->err, x->clause->option, "%.*s of Edm.Binary",
                                           STR_ARG(item->method));
    }
    return fits || bind_fail(x->b, x->clause, item->method_offset, "'%.*s' cannot take %.*s",
                             STR_ARG(item->method), STR_ARG(bind_type_name(x->b, t)));
}

/* A column of d that aggregates e; e is NULL for a count. */
static const struct property *add_aggregate(struct applying *x, struct derived *d,
                                            const struct bound_expr *e,
                                            enum column_function function)
{
    struct bound_expr *result = bind_new(x->b, BOUND_CASE, EDM_NONE, 0);
    if (result == NULL) {
        return NULL;
    }
    result->type = e == NULL ? bind_type(EDM_DECIMAL) : e->type;
    result->type.type = result_type(function, e == NULL ? EDM_DECIMAL : e->type.type);
    if (result->type.type != (e == NULL ? EDM_NONE : e->type.type)) {
        result->type = bind_type(result->type.type);
    }
    bool count = function == COLUMN_COUNT || function == COLUMN_COUNTDISTINCT;
    result->type.scale = count ? 0 : result->type.scale;
    result->type.nullable = !count;
    result->nullable = !count;
    const struct property *p = bind_add_column(x->b, d, STR(""), result, function);
    if (p != NULL) {
        d->columns[d->column_count - 1].expr = e;
    }
    return p;
}

/* --- branches --- */

/* countdistinct of entities: of their keys, when those are one property. */
static const struct bound_expr *entity_value(struct applying *x, const struct aggregate_item *item,
                                             const struct source *source)
{
    const struct key *key = &source->type->key;
    if (key->count != 1 || source->embedded) {
        odata_error_not_implemented(x->b->err, x->clause->option,
                                    "countdistinct of %.*s at byte %zu is not implemented",
                                    STR_ARG(bind_clip(source->type->name)), item->offset);
        return NULL;
    }
    return bind_property_expr(x->b, source, key->properties[0]);
}

/* A branch for a path through navigation properties. */
static bool bind_path_branch(struct branch *branch, const struct aggregate_item *item,
                             const struct expr *path, enum column_function function)
{
    struct applying *x = &branch->x;
    struct reached at = {.source = x->in};
    if (!bind_reach(x, path, &at)) {
        return false;
    }
    if (function == COLUMN_COUNT && at.value != NULL && !at.value->type.collection) {
        return bind_fail(x->b, x->clause, item->offset,
                         "$count of something that is no collection");
    }
    if (function == COLUMN_COUNT && at.value != NULL) {
        return odata_error_not_implemented(
            x->b->err, x->clause->option,
            "$count of a collection of values at byte %zu is not implemented", item->offset);
    }
    if (at.value == NULL && function == COLUMN_COUNTDISTINCT) {
        at.value = entity_value(x, item, at.source);
        if (at.value == NULL) {
            return false;
        }
    } else if (at.value == NULL && function != COLUMN_COUNT) {
        return bind_fail(x->b, x->clause, item->method_offset, "'%.*s' cannot take an entity",
                         STR_ARG(item->method));
    }
    if (at.value != NULL && !check_method(x, item, function, at.value)) {
        return false;
    }
    bool counts_each =
        function == COLUMN_SUM || function == COLUMN_AVERAGE || function == COLUMN_COUNT;
    bool repeats = at.source != x->in || (x->in->derived != NULL && x->in->derived->repeats);
    if (counts_each && repeats && !bind_reach_once(x, &at)) {
        return false;
    }
    struct derived *d = bind_group_rows(x);
    branch->column = d == NULL ? NULL : add_aggregate(x, d, at.value, function);
    return branch->column != NULL && bind_group_end(x, d);
}

/* A from p,... with g: groups by p within the group, each aggregated by A, aggregated by g. */
static bool bind_from_branch(struct branch *branch, const struct aggregate_item *item)
{
    static const struct str inner_name = {STR_INIT("$from")};
    struct arena *a = branch->x.b->arena;
    const struct aggregate_from *last = &item->froms[item->from_count - 1];
    struct transformation *steps = ARENA_ARRAY(a, 2, struct transformation);
    struct aggregate_item *items = ARENA_ARRAY(a, 2, struct aggregate_item);
    struct grouping *groupings = ARENA_ARRAY(a, last->path_count, struct grouping);
    struct expr *name = ARENA_NEW(a, struct expr);
    struct transformation *inner = ARENA_NEW(a, struct transformation);
    struct sequence *sequence = ARENA_NEW(a, struct sequence);
    if (steps == NULL || items == NULL || groupings == NULL || name == NULL || inner == NULL ||
        sequence == NULL) {
        return arena_fail(branch->x.b->arena, branch->x.b->err);
    }
    for (size_t i = 0; i < last->path_count; i++) {
        groupings[i] = (struct grouping){.kind = GROUPING_PATH,
                                         .paths = &last->paths[i],
                                         .path_count = 1,
                                         .offset = last->paths[i]->offset};
    }
    items[0] = *item;
    items[0].from_count--;
    items[0].alias = inner_name;
    *name =
        (struct expr){.kind = EXPR_MEMBER, .offset = item->offset, .name = inner_name, .height = 1};
    items[1] = (struct aggregate_item){.expr = name,
                                       .method = last->method,
                                       .method_offset = last->method_offset,
                                       .alias = item->alias,
                                       .alias_offset = item->alias_offset,
                                       .offset = item->offset};
    *inner = (struct transformation){.kind = TRANSFORM_AGGREGATE,
                                     .offset = item->offset,
                                     .aggregates = &items[0],
                                     .aggregate_count = 1};
    *sequence = (struct sequence){inner, 1};
    steps[0] = (struct transformation){.kind = TRANSFORM_GROUPBY,
                                       .offset = item->offset,
                                       .groupings = groupings,
                                       .grouping_count = last->path_count,
                                       .sequence = sequence};
    steps[1] = (struct transformation){.kind = TRANSFORM_AGGREGATE,
                                       .offset = item->offset,
                                       .aggregates = &items[1],
                                       .aggregate_count = 1};
    const struct sequence both = {steps, 2};
    if (!bind_sequence(&branch->x, &both)) {
        return false;
    }
    branch->column = &branch->x.in->type->properties[0];
    return true;
}

static struct branch *new_branch(struct aggregating *g)
{
    struct branch *branch = &g->branches[g->branch_count++];
    branch->x = *g->x;
    branch->x.in = bind_again(g->x->b, g->x->in);
    return branch->x.in == NULL ? NULL : branch;
}

/* --- items --- */

static bool is_path(const struct expr *e)
{
    while (e != NULL && e->kind == EXPR_MEMBER) {
        e = e->base;
    }
    return e == NULL;
}

/* Whether the path's first name leads to other entities. */
static bool starts_at_navigation(const struct applying *x, const struct expr *e)
{
    while (e->base != NULL) {
        e = e->base;
    }
    const struct navigation *n = entity_type_find_navigation(x->in->type, e->name);
    return n != NULL && !n->embedded;
}

/* The path goes through single entities alone. */
static bool is_to_one(const struct applying *x, const struct expr *e,
                      const struct entity_type **out_type)
{
    *out_type = x->in->type;
    if (e->base != NULL && !is_to_one(x, e->base, out_type)) {
        return false;
    }
    const struct navigation *n = entity_type_find_navigation(*out_type, e->name);
    *out_type = n == NULL ? *out_type : n->target;
    return n == NULL || !n->collection;
}

/*
 * A SELECT of its own is needed. A smallest, a largest and a number of different values are the same
 * however often each is met, so that they need none behind to-one navigation.
 */
static bool needs_branch(const struct applying *x, const struct expr *e,
                         enum column_function function)
{
    const struct entity_type *type;
    bool counts_each =
        function == COLUMN_SUM || function == COLUMN_AVERAGE || function == COLUMN_COUNT;
    return starts_at_navigation(x, e) && (counts_each || !is_to_one(x, e, &type));
}

static bool check_custom(struct applying *x, const struct aggregate_item *item)
{
    struct str name = item->expr->name;
    if (item->expr->base == NULL && entity_type_find_property(x->in->type, name) == NULL &&
        entity_type_find_navigation(x->in->type, name) == NULL) {
        return bind_fail_name(x->b, x->clause, item->offset, name,
                              "is no custom aggregate: the model has none");
    }
    return bind_fail_name(x->b, x->clause, item->offset, name,
                          "needs an aggregation method: write %.*s with sum as ...",
                          STR_ARG(bind_clip(name)));
}

static bool bind_direct(struct aggregating *g, const struct aggregate_item *item,
                        enum column_function function, const struct property **out)
{
    struct branch *main = &g->branches[0];
    struct applying *x = &main->x;
    struct scope scope = bind_row_scope(x);
    const struct bound_expr *e = NULL;
    if (function != COLUMN_COUNT) {
        e = bind_expr(x->b, &scope, item->expr);
        if (e != NULL && e->kind == BOUND_ENTITY && function == COLUMN_COUNTDISTINCT) {
            e = entity_value(x, item, e->source);
        }
        if (e == NULL || !check_method(x, item, function, e)) {
            return false;
        }
    }
    *out = add_aggregate(x, main->d, e, function);
    return *out != NULL;
}

static bool bind_item(struct aggregating *g, size_t at)
{
    const struct aggregate_item *item = &g->t->aggregates[at];
    struct applying *x = g->x;
    const struct property *column;
    enum column_function function = COLUMN_COUNT;
    bool count = item->expr->kind == EXPR_COUNT;
    if (!count && item->method.len == 0) {
        return check_custom(x, item);
    }
    if (!count && !find_method(x, item->method, item->method_offset, &function)) {
        return false;
    }
    if (count && item->expr->options != NULL) {
        return odata_error_not_implemented(x->b->err, x->clause->option,
                                           "options of $count at byte %zu are not implemented",
                                           item->offset);
    }
    const struct expr *path = count ? item->expr->base : item->expr;
    if (path != NULL && count && !is_path(path)) {
        return bind_fail(x->b, x->clause, item->offset, "expected a path before $count");
    }
    if (item->from_count > 0) {
        struct branch *branch = new_branch(g);
        if (branch == NULL || !bind_from_branch(branch, item)) {
            return false;
        }
        g->item_branch[at] = g->branch_count - 1;
        column = branch->column;
    } else if (path != NULL && is_path(path) && needs_branch(x, path, function)) {
        struct branch *branch = new_branch(g);
        if (branch == NULL || !bind_path_branch(branch, item, path, function)) {
            return false;
        }
        g->item_branch[at] = g->branch_count - 1;
        column = branch->column;
    } else if (!bind_direct(g, item, function, &column)) {
        return false;
    }
    g->leaves[at] = (struct leaf){&item->alias, 1, column, NULL, 0};
    return true;
}

static bool check_names(struct applying *x, const struct transformation *t, size_t at)
{
    const struct aggregate_item *item = &t->aggregates[at];
    for (size_t k = 0; k < at; k++) {
        if (str_eq(t->aggregates[k].alias, item->alias)) {
            return bind_fail_name(x->b, x->clause, item->alias_offset, item->alias,
                                  "is given twice");
        }
    }
    /* The name of a property may be given again: it is not in these rows any more, and clients
       send it so. */
    const struct navigation *n = entity_type_find_navigation(x->in->type, item->alias);
    return n == NULL ||
           bind_fail_name(x->b, x->clause, item->alias_offset, item->alias,
                          "is a name of %.*s already", STR_ARG(bind_clip(x->in->type->name)));
}

/* A part that has the keys of all groups, those without rows too. */
static bool add_groups(struct aggregating *g, struct derived *d, size_t outputs)
{
    struct binder *b = g->x->b;
    struct derived_part *part = &d->parts[d->part_count++];
    part->source = bind_copy(b, g->x->groups);
    part->columns = ARENA_ARRAY(b->arena, outputs, const struct property *);
    if (part->columns == NULL) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t k = 0; k < d->key_count; k++) {
        part->columns[k] = d->outputs[k];
    }
    return part->source != NULL;
}

/* One row for each group out of those of all branches. */
static bool merge(struct aggregating *g)
{
    struct binder *b = g->x->b;
    struct derived *d = ARENA_NEW(b->arena, struct derived);
    size_t keys = g->x->partition_count;
    size_t outputs = keys + g->t->aggregate_count;
    if (d != NULL) {
        d->outputs = ARENA_ARRAY(b->arena, outputs, const struct property *);
        d->parts = ARENA_ARRAY(b->arena, g->branch_count + 1, struct derived_part);
        d->hidden = g->x->partition;
    }
    struct key *unique = ARENA_NEW(b->arena, struct key);
    if (d == NULL || d->outputs == NULL || d->parts == NULL || unique == NULL) {
        return arena_fail(b->arena, b->err);
    }
    *unique = (struct key){g->x->partition, keys};
    d->kind = DERIVED_MERGE;
    d->part_count = g->branch_count;
    d->output_count = outputs;
    d->key_count = keys;
    d->hidden_count = keys;
    d->unique = unique;
    d->shared = g->x->in;
    for (size_t i = 0; i < g->branch_count; i++) {
        const struct branch *branch = &g->branches[i];
        struct derived_part *part = &d->parts[i];
        part->source = branch->x.in;
        part->columns = ARENA_ARRAY(b->arena, outputs, const struct property *);
        if (part->columns == NULL) {
            return arena_fail(b->arena, b->err);
        }
        for (size_t k = 0; k < keys; k++) {
            part->columns[k] = branch->x.partition[k];
            d->outputs[k] = g->x->partition[k];
        }
        for (size_t k = 0; k < g->t->aggregate_count; k++) {
            part->columns[keys + k] = g->item_branch[k] == i ? g->leaves[k].column : NULL;
            d->outputs[keys + k] = g->leaves[k].column;
        }
    }
    if (g->x->groups != NULL && !add_groups(g, d, outputs)) {
        return false;
    }
    const struct entity_type *type =
        bind_leaf_type(b, g->x->in->type, g->leaves, g->t->aggregate_count);
    return type != NULL && bind_derived(g->x, d, type);
}

bool bind_aggregate(struct applying *x, const struct transformation *t)
{
    struct aggregating g = {.x = x, .t = t};
    g.branches = ARENA_ARRAY(x->b->arena, t->aggregate_count + 1, struct branch);
    g.leaves = ARENA_ARRAY(x->b->arena, t->aggregate_count, struct leaf);
    g.item_branch = ARENA_ARRAY(x->b->arena, t->aggregate_count, size_t);
    if (g.branches == NULL || g.leaves == NULL || g.item_branch == NULL) {
        return arena_fail(x->b->arena, x->b->err);
    }
    struct branch *main = new_branch(&g);
    if (main == NULL) {
        return false;
    }
    main->d = bind_group_rows(&main->x);
    for (size_t i = 0; i < t->aggregate_count; i++) {
        if (main->d == NULL || !check_names(x, t, i) || !bind_item(&g, i)) {
            return false;
        }
    }
    if (g.branch_count == 1 && x->groups == NULL) {
        /* Nothing else reads these rows: they need no name. */
        main->x.in->shared = x->in->shared;
        const struct entity_type *type =
            bind_leaf_type(x->b, x->in->type, g.leaves, t->aggregate_count);
        if (type == NULL || !bind_derived(&main->x, main->d, type)) {
            return false;
        }
        x->in = main->x.in;
        return true;
    }
    return bind_group_end(&main->x, main->d) && merge(&g);
}

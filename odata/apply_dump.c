// SPDX-License-Identifier: Apache-2.0
#include "odata/apply.h"

static void put_as(struct str alias, struct bytes *out)
{
    if (alias.len > 0) {
        bytes_put_str(out, STR(" as "));
        bytes_put_str(out, alias);
    }
}

static void put_comma(struct bytes *out, size_t i)
{
    if (i > 0) {
        bytes_put_char(out, ',');
    }
}

static void put_paths(struct expr *const *paths, size_t count, struct bytes *out)
{
    for (size_t i = 0; i < count; i++) {
        put_comma(out, i);
        expr_dump(paths[i], out);
    }
}

void compute_dump(const struct compute_item *items, size_t count, struct bytes *out)
{
    for (size_t i = 0; i < count; i++) {
        put_comma(out, i);
        expr_dump(items[i].expr, out);
        put_as(items[i].alias, out);
    }
}

static void put_with(struct str method, struct bytes *out)
{
    if (method.len > 0) {
        bytes_put_str(out, STR(" with "));
        bytes_put_str(out, method);
    }
}

static void put_aggregate(const struct aggregate_item *item, struct bytes *out)
{
    expr_dump(item->expr, out);
    put_with(item->method, out);
    for (size_t i = 0; i < item->from_count; i++) {
        bytes_put_str(out, STR(" from "));
        put_paths(item->froms[i].paths, item->froms[i].path_count, out);
        put_with(item->froms[i].method, out);
    }
    put_as(item->alias, out);
}

void aggregate_dump(const struct aggregate_item *item, struct bytes *out)
{
    bytes_put_str(out, STR("aggregate("));
    put_aggregate(item, out);
    bytes_put_char(out, ')');
}

static void put_hierarchy(const struct hierarchy *h, struct bytes *out)
{
    expr_dump(h->nodes, out);
    bytes_put_char(out, ',');
    bytes_put_str(out, h->qualifier);
    bytes_put_char(out, ',');
    expr_dump(h->path, out);
    if (h->sequence != NULL) {
        bytes_put_char(out, ',');
        sequence_dump(h->sequence, out);
    }
    if (h->has_distance) {
        bytes_put_char(out, ',');
        bytes_put_u64(out, h->distance);
    }
    bytes_put_str(out, h->keep_start ? STR(",keep start") : STR(""));
}

static void put_grouping(const struct grouping *g, struct bytes *out)
{
    switch (g->kind) {
    case GROUPING_PATH:
        put_paths(g->paths, g->path_count, out);
        break;
    case GROUPING_ROLLUP:
        bytes_put_str(out, g->all ? STR("rollup($all,") : STR("rollup("));
        put_paths(g->paths, g->path_count, out);
        bytes_put_char(out, ')');
        break;
    case GROUPING_RECURSIVE:
        bytes_put_str(out, STR("rolluprecursive("));
        put_hierarchy(g->hierarchy, out);
        bytes_put_char(out, ')');
        break;
    }
}

static void put_order(const struct query *q, struct bytes *out)
{
    for (size_t i = 0; i < q->orderby_count; i++) {
        put_comma(out, i);
        expr_dump(q->orderby[i].expr, out);
        bytes_put_str(out, q->orderby[i].descending ? STR(" desc") : STR(""));
    }
}

static void put_groupby(const struct transformation *t, struct bytes *out)
{
    bytes_put_char(out, '(');
    for (size_t i = 0; i < t->grouping_count; i++) {
        put_comma(out, i);
        put_grouping(&t->groupings[i], out);
    }
    bytes_put_char(out, ')');
    if (t->sequence != NULL) {
        bytes_put_char(out, ',');
        sequence_dump(t->sequence, out);
    }
}

static void put_nesteds(const struct transformation *t, struct bytes *out)
{
    for (size_t i = 0; i < t->nested_count; i++) {
        put_comma(out, i);
        sequence_dump(t->nesteds[i].sequence, out);
        put_as(t->nesteds[i].alias, out);
    }
}

static void put_join(const struct transformation *t, struct bytes *out)
{
    expr_dump(t->path, out);
    put_as(t->nesteds[0].alias, out);
    if (t->nesteds[0].sequence != NULL) {
        bytes_put_char(out, ',');
        sequence_dump(t->nesteds[0].sequence, out);
    }
}

static void put_traverse(const struct transformation *t, struct bytes *out)
{
    put_hierarchy(t->hierarchy, out);
    bytes_put_str(out, t->hierarchy->postorder ? STR(",postorder") : STR(",preorder"));
    if (t->order != NULL) {
        bytes_put_char(out, ',');
        put_order(t->order, out);
    }
}

static void put_parameters(const struct transformation *t, struct bytes *out)
{
    switch (t->kind) {
    case TRANSFORM_AGGREGATE:
        for (size_t i = 0; i < t->aggregate_count; i++) {
            put_comma(out, i);
            put_aggregate(&t->aggregates[i], out);
        }
        break;
    case TRANSFORM_GROUPBY:
        put_groupby(t, out);
        break;
    case TRANSFORM_CONCAT:
        for (size_t i = 0; i < t->part_count; i++) {
            put_comma(out, i);
            sequence_dump(t->parts[i], out);
        }
        break;
    case TRANSFORM_FILTER:
        expr_dump(t->expr, out);
        break;
    case TRANSFORM_SEARCH:
        bytes_put_str(out, t->search->search.text);
        break;
    case TRANSFORM_COMPUTE:
        compute_dump(t->computes, t->compute_count, out);
        break;
    case TRANSFORM_ORDERBY:
        put_order(t->order, out);
        break;
    case TRANSFORM_TOP:
    case TRANSFORM_SKIP:
        bytes_put_u64(out, t->number);
        break;
    case TRANSFORM_TOPCOUNT:
    case TRANSFORM_TOPSUM:
    case TRANSFORM_TOPPERCENT:
    case TRANSFORM_BOTTOMCOUNT:
    case TRANSFORM_BOTTOMSUM:
    case TRANSFORM_BOTTOMPERCENT:
        expr_dump(t->limit, out);
        bytes_put_char(out, ',');
        expr_dump(t->expr, out);
        break;
    case TRANSFORM_JOIN:
    case TRANSFORM_OUTERJOIN:
        put_join(t, out);
        break;
    case TRANSFORM_ADDNESTED:
        expr_dump(t->path, out);
        bytes_put_char(out, ',');
        put_nesteds(t, out);
        break;
    case TRANSFORM_NEST:
        put_nesteds(t, out);
        break;
    case TRANSFORM_ANCESTORS:
    case TRANSFORM_DESCENDANTS:
        put_hierarchy(t->hierarchy, out);
        break;
    case TRANSFORM_TRAVERSE:
        put_traverse(t, out);
        break;
    case TRANSFORM_IDENTITY:
    case TRANSFORM_COUNT:
        break;
    }
}

void sequence_dump(const struct sequence *s, struct bytes *out)
{
    for (size_t i = 0; i < s->count; i++) {
        if (i > 0) {
            bytes_put_char(out, '/');
        }
        bytes_put_str(out, transformation_name(s->items[i].kind));
        if (s->items[i].kind != TRANSFORM_IDENTITY) {
            bytes_put_char(out, '(');
            put_parameters(&s->items[i], out);
            bytes_put_char(out, ')');
        }
    }
}

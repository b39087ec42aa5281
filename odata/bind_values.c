// SPDX-License-Identifier: Apache-2.0
/* Options of a collection of values: Things(1)/Tags?$top=2, $select=Tags($filter=$this ne 'x'). */
#include "odata/bind_priv.h"
#include "odata/limits.h"

static bool refuse_others(struct binder *b, const struct query *q)
{
    const struct {
        bool given;
        const char *name;
    } later[] = {
        {q->search.given, "$search"},     {q->has_select, "$select"},
        {q->has_expand, "$expand"},       {q->compute_count > 0, "$compute"},
        {q->apply != NULL, "$apply"},     {q->index.given, "$index"},
        {q->aliases != NULL, "an alias"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
        if (later[i].given) {
            return odata_error_not_implemented(b->err, later[i].name[0] == '$' ? later[i].name : "",
                                               "%s of a collection of values is not implemented",
                                               later[i].name);
        }
    }
    return true;
}

static bool bind_items_order(struct binder *b, const struct scope *s, const struct query *q,
                             struct window *w)
{
    w->order = ARENA_ARRAY(b->arena, q->orderby_count, struct bound_order);
    if (w->order == NULL && q->orderby_count > 0) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < q->orderby_count; i++) {
        const struct bound_expr *e = bind_expr(b, s, q->orderby[i].expr);
        if (e == NULL) {
            return false;
        }
        if (e->type.type == EDM_NONE) {
            continue; /* null has the same place for every item */
        }
        if (e->type.collection || !edm_is_ordered(e->type.type)) {
            return bind_fail(b, s->clause, q->orderby[i].offset, "%.*s has no order",
                             STR_ARG(bind_type_name(b, &e->type)));
        }
        w->order[w->order_count++] = (struct bound_order){e, q->orderby[i].descending};
    }
    return true;
}

static struct bound_expr *over(struct binder *b, enum bound_kind kind, enum edm_type type,
                               const struct bound_expr *collection, unsigned number)
{
    struct bound_expr *made = bind_new(b, kind, type, 1);
    if (made != NULL) {
        made->args[0] = collection;
        made->number = number;
    }
    return made;
}

bool bind_values_options(struct binder *b, struct source *root, const struct bound_expr *collection,
                         const struct query *q, bool it_is_item, struct selected_values *out)
{
    unsigned number = b->next_number++;
    struct bound_expr *count = over(b, BOUND_COUNT, EDM_INT64, collection, number);
    struct bound_expr *value = over(b, BOUND_WINDOW, EDM_NONE, collection, number);
    struct window *w = ARENA_NEW(b->arena, struct window);
    if (count == NULL || value == NULL || w == NULL) {
        return arena_fail(b->arena, b->err);
    }
    value->type = collection->type;
    value->pg = collection->pg;
    value->nullable = collection->nullable;
    value->source = collection->source;
    value->property = collection->property;
    value->parts = collection->parts;
    value->part_count = collection->part_count;
    value->window = w;
    struct scope scope = {.root = root,
                          .item = bind_element(b, count),
                          .it_is_item = it_is_item,
                          .clause = &clause_filter};
    if (scope.item == NULL || !refuse_others(b, q)) {
        return false;
    }
    if (q->filter != NULL) {
        count->body = value->body = bind_condition(b, &scope, q->filter);
        if (value->body == NULL) {
            return false;
        }
    }
    scope.clause = &clause_orderby;
    if (!bind_items_order(b, &scope, q, w)) {
        return false;
    }
    w->has_top = q->has_top;
    w->top = q->top;
    w->skip = q->has_skip ? q->skip : 0;
    bool as_stored = value->body == NULL && w->order_count == 0 && !w->has_top && w->skip == 0;
    out->value = as_stored ? NULL : value;
    out->count = count;
    return true;
}

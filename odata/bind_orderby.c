// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"
#include "odata/limits.h"

static bool is_ordered_by(const struct read *read, const struct source *source,
                          const struct property *p)
{
    for (size_t i = 0; i < read->order_count; i++) {
        const struct bound_expr *e = read->order[i].expr;
        if (e->kind == BOUND_PROPERTY && e->source == source && e->property == p &&
            e->part_count == 0) {
            return true;
        }
    }
    return false;
}

static bool bind_item(struct binder *b, const struct scope *s, const struct order_item *item,
                      struct read *read)
{
    const struct bound_expr *e = bind_expr(b, s, item->expr);
    if (e == NULL) {
        return false;
    }
    if (e->type.type == EDM_NONE) {
        return true; /* null has the same place in every row */
    }
    if (e->type.collection || !edm_is_ordered(e->type.type)) {
        return bind_fail(b, s->clause, item->offset, "%.*s has no order",
                         STR_ARG(bind_type_name(b, &e->type)));
    }
    read->order[read->order_count++] = (struct bound_order){e, item->descending};
    return true;
}

bool bind_order(struct binder *b, const struct scope *s, const struct query *q, bool total,
                struct read *read)
{
    const struct key *key = &s->root->type->key;
    if (q->orderby_count > LIMIT_ORDERBY_ITEMS) {
        return odata_error_set(b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "$orderby",
                               "$orderby has more than %d items", (int)LIMIT_ORDERBY_ITEMS);
    }
    read->order = ARENA_ARRAY(b->arena, q->orderby_count + 1 + key->count, struct bound_order);
    if (read->order == NULL) {
        return arena_fail(b->arena, b->err);
    }
    if (q->orderby_count == 0 && q->search_expr != NULL) {
        /* The best match first, when nothing else is asked. */
        const struct bound_expr *rank = bind_rank(b, s->root, q);
        if (rank == NULL) {
            return false;
        }
        read->order[read->order_count++] = (struct bound_order){rank, true};
    }
    for (size_t i = 0; i < q->orderby_count; i++) {
        if (!bind_item(b, s, &q->orderby[i], read)) {
            return false;
        }
    }
    for (size_t i = 0; total && i < key->count; i++) {
        if (is_ordered_by(read, s->root, key->properties[i])) {
            continue;
        }
        const struct bound_expr *e = bind_property_expr(b, s->root, key->properties[i]);
        if (e == NULL) {
            return false;
        }
        read->order[read->order_count++] = (struct bound_order){e, false};
    }
    return true;
}

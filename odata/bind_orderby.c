// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"
#include "odata/derived.h"
#include "odata/limits.h"

static bool is_ordered_by(const struct read *read, const struct source *source,
                          const struct property *p)
{
    for (size_t i = 0; i < read->order_count; i++) {
        const struct bound_expr *e = read->order[i].expr;
        if (e->kind == BOUND_PROPERTY && e->source == source && e->part_count == 0 &&
            str_eq(e->property->column, p->column)) {
            return true;
        }
    }
    return false;
}

static bool add_property(struct binder *b, struct source *source, const struct sorted *item,
                         struct read *read)
{
    if (is_ordered_by(read, source, item->property)) {
        return true;
    }
    const struct bound_expr *e = bind_property_expr(b, source, item->property);
    if (e != NULL) {
        read->order[read->order_count++] = (struct bound_order){e, item->descending};
    }
    return e != NULL;
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

/* Rows of $crossjoin are told apart by the keys of all of their sets. */
static size_t count_crossed_keys(const struct source *root)
{
    size_t count = 0;
    for (const struct source *j = root->joined; root->type->crossjoin && j != NULL; j = j->next) {
        count += j->via != NULL && j->via->crossed ? j->type->key.count : 0;
    }
    return count;
}

bool bind_order(struct binder *b, const struct scope *s, const struct query *q, bool total,
                struct read *read)
{
    const struct derived *d = s->root->derived;
    const struct key *key = d != NULL && d->unique != NULL ? d->unique : &s->root->type->key;
    size_t sorted_count = d == NULL ? 0 : d->sorted_count;
    size_t crossed_count = total ? count_crossed_keys(s->root) : 0;
    if (q->orderby_count > LIMIT_ORDERBY_ITEMS) {
        return odata_error_set(b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "$orderby",
                               "$orderby has more than %d items", (int)LIMIT_ORDERBY_ITEMS);
    }
    read->order =
        ARENA_ARRAY(b->arena, q->orderby_count + 1 + sorted_count + key->count + crossed_count,
                    struct bound_order);
    if (read->order == NULL) {
        return arena_fail(b->arena, b->err);
    }
    if (bind_is_ranked(s->root, q)) {
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
    for (size_t i = 0; i < sorted_count; i++) {
        if (!add_property(b, s->root, &d->sorted[i], read)) {
            return false;
        }
    }
    for (struct source *j = s->root->joined; crossed_count > 0 && j != NULL; j = j->next) {
        for (size_t i = 0; j->via != NULL && j->via->crossed && i < j->type->key.count; i++) {
            const struct sorted item = {j->type->key.properties[i], false};
            if (!add_property(b, j, &item, read)) {
                return false;
            }
        }
    }
    for (size_t i = 0; total && i < key->count; i++) {
        const struct sorted item = {key->properties[i], false};
        if (!add_property(b, s->root, &item, read)) {
            return false;
        }
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"

/*
 * The words AND, OR and NOT where there is nothing to join: the ABNF of 4.01 takes them for words to
 * be searched, 4.0 has no such words. Somebody who is still typing means the operator.
 */
static bool check_words(struct binder *b, const struct search_expr *e)
{
    if (e == NULL) {
        return true;
    }
    bool operator_word =
        e->kind == SEARCH_WORD &&
        (str_eq(e->text, STR("AND")) || str_eq(e->text, STR("OR")) || str_eq(e->text, STR("NOT")));
    if (operator_word) {
        bind_fail(b, &clause_search, e->offset, "'%.*s' joins terms, and one is missing",
                  STR_ARG(e->text));
        return odata_error_hint(b->err, "the word itself is written \"%.*s\"", STR_ARG(e->text));
    }
    return check_words(b, e->left) && check_words(b, e->right);
}

static struct bound_expr *new_search(struct binder *b, enum bound_kind kind, enum edm_type type,
                                     const struct source *root, const struct query *q)
{
    struct bound_expr *made = bind_new(b, kind, type, 0);
    if (made != NULL) {
        made->source = root;
        made->search = q->search_expr;
    }
    return made;
}

/* Derived rows have the columns that are shown: an index may be over others. */
static bool has_columns(const struct source *root)
{
    const struct entity_type *t = root->type;
    for (size_t i = 0; root->derived != NULL && i < t->search.piece_count; i++) {
        struct str column = t->search.pieces[i].column;
        size_t k = 0;
        while (k < t->property_count && !str_eq(t->properties[k].column, column)) {
            k++;
        }
        if (column.len > 0 && k == t->property_count) {
            return false;
        }
    }
    return true;
}

const struct bound_expr *bind_search(struct binder *b, const struct source *root,
                                     const struct query *q)
{
    if (root->type->search.piece_count == 0) {
        odata_error_not_implemented(b->err, "$search",
                                    "'%.*s' cannot be searched: it has no property with text",
                                    STR_ARG(bind_clip(root->type->name)));
        return NULL;
    }
    if (!has_columns(root)) {
        odata_error_not_implemented(b->err, "$search",
                                    "$search of rows that are computed is not implemented here");
        return NULL;
    }
    return check_words(b, q->search_expr) ? new_search(b, BOUND_SEARCH, EDM_BOOLEAN, root, q)
                                          : NULL;
}

bool bind_is_ranked(const struct source *root, const struct query *q)
{
    return q->orderby_count == 0 && q->search_expr != NULL && root->type->search.ranked;
}

const struct bound_expr *bind_rank(struct binder *b, const struct source *root,
                                   const struct query *q)
{
    return new_search(b, BOUND_RANK, EDM_SINGLE, root, q);
}

bool bind_rows_condition(struct binder *b, struct source *root, const struct query *q,
                         bool it_is_near, const struct bound_expr **out_condition)
{
    const struct bound_expr *condition = NULL;
    if (q->filter != NULL) {
        struct scope scope = {
            .root = root, .clause = &clause_filter, .it_is_near = it_is_near, .in_filter = true};
        condition = bind_condition(b, &scope, q->filter);
        if (condition == NULL) {
            return false;
        }
    }
    if (q->search_expr != NULL) {
        const struct bound_expr *search = bind_search(b, root, q);
        if (search != NULL && condition != NULL) {
            search = bind_new_binary(b, OP_AND, EDM_BOOLEAN, search, condition);
        }
        if (search == NULL) {
            return false;
        }
        condition = search;
    }
    *out_condition = condition;
    return true;
}

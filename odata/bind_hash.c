// SPDX-License-Identifier: Apache-2.0
#include "odata/apply.h"
#include "odata/bind_priv.h"

static uint64_t fold_text(uint64_t hash, struct str s)
{
    /* The length goes in as well: "ab","c" is not "a","bc". */
    char length[4] = {(char)(s.len & 0xFF), (char)(s.len >> 8 & 0xFF), (char)(s.len >> 16 & 0xFF),
                      ';'};
    hash = str_hash_more(hash, (struct str){length, sizeof(length)});
    return str_hash_more(hash, s);
}

static uint64_t hash_aggregate(struct binder *b, uint64_t hash, const struct aggregate_item *item)
{
    hash = bind_hash_expr(b, fold_text(hash, item->method), item->expr);
    for (size_t i = 0; i < item->from_count; i++) {
        hash = fold_text(hash, item->froms[i].method);
        for (size_t k = 0; k < item->froms[i].path_count; k++) {
            hash = bind_hash_expr(b, hash, item->froms[i].paths[k]);
        }
    }
    return hash;
}

uint64_t bind_hash_expr(struct binder *b, uint64_t hash, const struct expr *e)
{
    /* The left side of a long chain is walked, not recursed into: chains have no depth limit. */
    for (; e != NULL; e = e->arg_count > 0 ? e->args[0] : NULL) {
        while (e->kind == EXPR_ALIAS) {
            e = bind_resolve(b, &clause_path, e);
            if (e == NULL) {
                return hash; /* a circle: binding has failed on it already */
            }
        }
        char head[4] = {(char)e->kind, (char)e->op, (char)e->literal, (char)(e->arg_count & 0x7F)};
        hash = str_hash_more(hash, (struct str){head, sizeof(head)});
        hash = fold_text(hash, e->text);
        hash = fold_text(hash, e->type_name);
        hash = fold_text(hash, e->name);
        hash = fold_text(hash, e->variable);
        if (e->base != NULL) {
            hash = bind_hash_expr(b, hash, e->base);
        }
        if (e->body != NULL) {
            hash = bind_hash_expr(b, hash, e->body);
        }
        if (e->aggregate != NULL) {
            hash = hash_aggregate(b, hash, e->aggregate);
        }
        if (e->options != NULL && e->options->filter != NULL) {
            hash = bind_hash_expr(b, hash, e->options->filter);
        }
        for (size_t i = 0; i < e->key_count; i++) {
            hash = fold_text(hash, e->key[i].name);
            hash = bind_hash_expr(b, hash, e->key[i].value);
        }
        if (e->options != NULL) {
            hash = fold_text(hash, e->options->search.text);
        }
        for (size_t i = 1; i < e->arg_count; i++) {
            hash = bind_hash_expr(b, hash, e->args[i]);
        }
    }
    return hash;
}

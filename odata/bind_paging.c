// SPDX-License-Identifier: Apache-2.0
/* Pages: how long they are, where they go on, and to which query a token belongs. */
#include <string.h>

#include "odata/apply.h"
#include "odata/bind_priv.h"
#include "odata/limits.h"
#include "odata/skip_token.h"

static uint64_t fold(uint64_t hash, struct str text)
{
    hash = str_hash_more(hash, text);
    return str_hash_more(hash, STR("/"));
}

static uint64_t hash_apply(struct binder *b, uint64_t hash, const struct query *q)
{
    struct bytes text;
    bytes_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    sequence_dump(q->apply, &text);
    for (const struct alias *a = b->request->aliases; a != NULL; a = a->next) {
        bytes_put_str(&text, a->name);
        bytes_put_char(&text, '=');
        bytes_put_str(&text, a->text);
    }
    hash = fold(hash, bytes_str(&text));
    bytes_fini(&text);
    return hash;
}

/* The names of the path and, if they count, its keys. */
static uint64_t hash_path(const struct read *read, bool with_keys)
{
    uint64_t hash = STR_HASH_START;
    for (size_t i = 0; i < read->step_count; i++) {
        const struct path_step *step = &read->steps[i];
        hash = fold(hash, step->via == NULL ? step->source->type->set->name : step->via->name);
        for (size_t k = 0; with_keys && k < step->key_count; k++) {
            hash = fold(hash, step->key_properties[k]->name);
            hash = fold(hash, step->key_values[k]->text);
        }
    }
    return hash;
}

/*
 * What the order of the rows and their choice depend on: path, $filter and $orderby. The token says
 * how far the rows are; $top, $select and $expand may say something else on the next page.
 */
static uint64_t token_check(struct binder *b, uint64_t hash, const struct read *read,
                            const struct query *q)
{
    hash = q->apply == NULL ? hash : hash_apply(b, hash, q);
    for (size_t i = 0; i < q->compute_count; i++) {
        hash = bind_hash_expr(b, fold(hash, q->compute[i].alias), q->compute[i].expr);
    }
    hash = fold(hash, (struct str){(const char *)&read->filter_hash, sizeof(read->filter_hash)});
    if (q->filter != NULL) {
        hash = bind_hash_expr(b, fold(hash, STR("$filter")), q->filter);
    }
    if (q->search.given) {
        hash = fold(fold(hash, STR("$search")), q->search.text);
    }
    for (size_t i = 0; i < q->orderby_count; i++) {
        hash = fold(hash, q->orderby[i].descending ? STR("desc") : STR("asc"));
        hash = bind_hash_expr(b, hash, q->orderby[i].expr);
    }
    return hash;
}

uint64_t bind_nested_check(struct binder *b, const struct source *parent,
                           const struct navigation *via, const struct read *read,
                           const struct query *q)
{
    uint64_t hash = fold(fold(STR_HASH_START, parent->type->set->name), via->name);
    return token_check(b, hash, read, q);
}

uint64_t bind_page_size(const struct binder *b, const struct read *read)
{
    const uint64_t sizes[] = {b->options->client_page_size, read->type->set->max_page_size,
                              b->options->max_page_size};
    uint64_t least = 0;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        if (sizes[i] > 0 && (least == 0 || sizes[i] < least)) {
            least = sizes[i];
        }
    }
    return least;
}

static bool bind_token(struct binder *b, const struct query *q, struct read *read)
{
    struct skip_token token;
    /* One that was written into an expanded collection knows no key of its parent. */
    const uint64_t checks[] = {read->token_check, token_check(b, hash_path(read, false), read, q)};
    if (!skip_token_parse(b->arena, q->skiptoken.text, checks, ARRAY_SIZE(checks),
                          read->order_count, &token, b->err)) {
        return false;
    }
    read->rows_before = token.rows_before;
    read->after = ARENA_ARRAY(b->arena, read->order_count, const struct bound_expr *);
    if (read->after == NULL) {
        return arena_fail(b->arena, b->err);
    }
    for (size_t i = 0; i < read->order_count; i++) {
        const struct field *field = &token.values[i];
        struct bound_expr *value = bind_new(b, BOUND_VALUE, EDM_NONE, 0);
        if (value == NULL) {
            return false;
        }
        value->type = read->order[i].expr->type;
        value->pg = read->order[i].expr->pg;
        value->nullable = field->len < 0;
        read->after[i] = value;
        if (field->len < 0) {
            continue;
        }
        struct str text = {field->ptr, (size_t)field->len};
        if (memchr(text.ptr, '\0', text.len) != NULL) {
            return odata_error_set(b->err, 400, ODATA_CODE_BAD_SKIP_TOKEN, "$skiptoken",
                                   "the skip token does not belong to this request");
        }
        if (!arena_copy(b->arena, text, &value->text)) {
            return arena_fail(b->arena, b->err);
        }
    }
    return true;
}

bool bind_paging(struct binder *b, const struct query *q, struct read *read)
{
    struct scope scope = {.root = read->source, .clause = &clause_orderby, .it_is_near = true};
    read->page_rows = bind_page_size(b, read);
    read->has_count = q->has_count && q->count;
    read->token_check = token_check(b, hash_path(read, true), read, q);
    /* A full feed that nobody orders stays unordered: the fastest. */
    read->resumable = q->orderby_count > 0 || bind_is_ranked(read->source, q) || q->has_top ||
                      q->has_skip || q->skiptoken.given || read->page_rows > 0;
    if (!bind_order(b, &scope, q, read->resumable, read)) {
        return false;
    }
    if (q->skiptoken.given && !bind_token(b, q, read)) {
        return false;
    }
    read->has_top = q->has_top;
    read->top = q->top > read->rows_before ? q->top - read->rows_before : 0;
    read->skip = q->has_skip && !q->skiptoken.given ? q->skip : 0;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/statement_cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct statement_entry {
    uint64_t hash;
    char *text;
    size_t len;
    uint32_t number;
    uint32_t bucket_next;
    uint32_t newer;
    uint32_t older;
};

static struct statement_entry *at(struct statement_cache *c, uint32_t link)
{
    return &c->entries[link - 1];
}

static void unlink_use(struct statement_cache *c, uint32_t link)
{
    struct statement_entry *e = at(c, link);
    *(e->newer != 0 ? &at(c, e->newer)->older : &c->newest) = e->older;
    *(e->older != 0 ? &at(c, e->older)->newer : &c->oldest) = e->newer;
}

static void link_newest(struct statement_cache *c, uint32_t link)
{
    struct statement_entry *e = at(c, link);
    e->newer = 0;
    e->older = c->newest;
    *(c->newest != 0 ? &at(c, c->newest)->newer : &c->oldest) = link;
    c->newest = link;
}

static void link_oldest(struct statement_cache *c, uint32_t link)
{
    struct statement_entry *e = at(c, link);
    e->older = 0;
    e->newer = c->oldest;
    *(c->oldest != 0 ? &at(c, c->oldest)->older : &c->newest) = link;
    c->oldest = link;
}

/* Takes the entry out of its bucket and frees its text; it stays in the list of uses. */
static void empty_entry(struct statement_cache *c, uint32_t link)
{
    struct statement_entry *e = at(c, link);
    if (e->text == NULL) {
        return;
    }
    uint32_t *place = &c->buckets[e->hash & c->bucket_mask];
    while (*place != link) {
        place = &at(c, *place)->bucket_next;
    }
    *place = e->bucket_next;
    free(e->text);
    e->text = NULL;
    e->number = 0;
}

bool statement_cache_init(struct statement_cache *c, size_t size)
{
    size_t buckets = 16;
    while (buckets < size * 2) {
        buckets *= 2;
    }
    *c = (struct statement_cache){.size = size == 0 ? 1 : size, .bucket_mask = buckets - 1};
    c->entries = calloc(c->size, sizeof(*c->entries));
    c->buckets = calloc(buckets, sizeof(*c->buckets));
    if (c->entries == NULL || c->buckets == NULL) {
        statement_cache_fini(c);
        return false;
    }
    return true;
}

void statement_cache_fini(struct statement_cache *c)
{
    for (size_t i = 0; c->entries != NULL && i < c->used; i++) {
        free(c->entries[i].text);
    }
    free(c->entries);
    free(c->buckets);
    *c = (struct statement_cache){0};
}

uint32_t statement_cache_find(struct statement_cache *c, uint64_t hash, struct str text)
{
    uint32_t link = c->buckets[hash & c->bucket_mask];
    while (link != 0) {
        struct statement_entry *e = at(c, link);
        if (e->hash == hash && e->len == text.len && memcmp(e->text, text.ptr, text.len) == 0) {
            if (c->newest != link) {
                unlink_use(c, link);
                link_newest(c, link);
            }
            return e->number;
        }
        link = e->bucket_next;
    }
    return 0;
}

uint32_t statement_cache_add(struct statement_cache *c, uint64_t hash, struct str text,
                             uint32_t *out_evicted)
{
    char *copy = malloc(text.len + 1);
    if (copy == NULL) {
        return 0;
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    *out_evicted = 0;
    uint32_t link = c->oldest;
    if (c->used < c->size && (link == 0 || at(c, link)->text != NULL)) {
        link = (uint32_t)++c->used;
    } else {
        *out_evicted = at(c, link)->number; /* 0 when it was dropped before */
        empty_entry(c, link);
        unlink_use(c, link);
    }
    struct statement_entry *e = at(c, link);
    e->hash = hash;
    e->text = copy;
    e->len = text.len;
    e->number = ++c->last_number;
    e->bucket_next = c->buckets[hash & c->bucket_mask];
    c->buckets[hash & c->bucket_mask] = link;
    link_newest(c, link);
    return e->number;
}

bool statement_cache_drop(struct statement_cache *c, uint32_t number)
{
    for (uint32_t link = c->newest; link != 0; link = at(c, link)->older) {
        if (at(c, link)->number == number) {
            empty_entry(c, link);
            unlink_use(c, link);
            link_oldest(c, link); /* the next statement takes its place */
            return true;
        }
    }
    return false;
}

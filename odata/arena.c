// SPDX-License-Identifier: Apache-2.0
#include "odata/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "odata/odata_error.h"

enum {
    FIRST_BLOCK_BYTES = 4096,
    LARGEST_BLOCK_BYTES = 1024 * 1024,
};

struct arena_block {
    struct arena_block *older;
    size_t size_bytes;
    alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *a, size_t limit_bytes)
{
    *a = (struct arena){.limit_bytes = limit_bytes};
}

static void free_blocks(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
}

void arena_fini(struct arena *a)
{
    free_blocks(a->blocks);
    arena_init(a, a->limit_bytes);
}

void arena_reset(struct arena *a)
{
    struct arena_block *kept = a->blocks;
    if (kept != NULL) {
        free_blocks(kept->older);
        kept->older = NULL;
        a->next = kept->bytes;
        a->room = kept->size_bytes;
    }
    a->used_bytes = 0;
    a->out_of_memory = false;
}

static bool add_block(struct arena *a, size_t size)
{
    size_t wanted = a->blocks == NULL ? FIRST_BLOCK_BYTES : a->blocks->size_bytes * 2;
    if (wanted > LARGEST_BLOCK_BYTES) {
        wanted = LARGEST_BLOCK_BYTES;
    }
    if (wanted < size) {
        wanted = size;
    }
    struct arena_block *block = malloc(sizeof(*block) + wanted);
    if (block == NULL) {
        a->out_of_memory = true;
        return false;
    }
    block->older = a->blocks;
    block->size_bytes = wanted;
    a->blocks = block;
    a->next = block->bytes;
    a->room = wanted;
    return true;
}

void *arena_alloc(struct arena *a, size_t size)
{
    const size_t unit = alignof(max_align_t);
    if (size > a->limit_bytes || size > SIZE_MAX - unit) {
        return NULL;
    }
    size_t padded = size == 0 ? unit : (size + unit - 1) / unit * unit;
    if (padded > a->limit_bytes - a->used_bytes) {
        return NULL;
    }
    if (padded > a->room && !add_block(a, padded)) {
        return NULL;
    }
    char *memory = a->next;
    a->next += padded;
    a->room -= padded;
    a->used_bytes += padded;
    return memset(memory, 0, padded);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size) {
        return NULL;
    }
    return arena_alloc(a, count * size);
}

bool arena_copy(struct arena *a, struct str s, struct str *out_copy)
{
    if (s.len == SIZE_MAX) {
        return false;
    }
    char *copy = arena_alloc(a, s.len + 1);
    if (copy == NULL) {
        return false;
    }
    if (s.len > 0) {
        memcpy(copy, s.ptr, s.len);
    }
    *out_copy = (struct str){copy, s.len};
    return true;
}

bool arena_join(struct arena *a, const struct str *parts, size_t count, struct str *out_text)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len >= SIZE_MAX - len) {
            return false;
        }
        len += parts[i].len;
    }
    char *text = arena_alloc(a, len + 1);
    if (text == NULL) {
        return false;
    }
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0) {
            memcpy(text + at, parts[i].ptr, parts[i].len);
            at += parts[i].len;
        }
    }
    *out_text = (struct str){text, len};
    return true;
}

bool arena_format(struct arena *a, struct str *out_text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0) {
        return false;
    }
    char *text = arena_alloc(a, (size_t)length + 1);
    if (text == NULL) {
        return false;
    }
    va_start(args, fmt);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    va_end(args);
    *out_text = (struct str){text, (size_t)length};
    return true;
}

bool arena_fail(const struct arena *a, struct odata_error *err)
{
    return a->out_of_memory ? odata_error_out_of_memory(err) : odata_error_too_complex(err);
}

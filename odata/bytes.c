// SPDX-License-Identifier: Apache-2.0
#include "odata/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "odata/odata_error.h"

enum {
    SMALLEST_BUFFER = 256,
};

void bytes_init(struct bytes *b, size_t limit)
{
    *b = (struct bytes){.limit = limit};
}

void bytes_fini(struct bytes *b)
{
    free(b->ptr);
    bytes_init(b, b->limit);
}

void bytes_clear(struct bytes *b)
{
    b->len = 0;
    b->failed = false;
    b->out_of_memory = false;
    b->refusal = NULL;
}

void bytes_drop_front(struct bytes *b, size_t count)
{
    size_t dropped = count < b->len ? count : b->len;
    b->len -= dropped;
    if (b->len > 0 && dropped > 0) {
        memmove(b->ptr, b->ptr + dropped, b->len);
    }
}

bool bytes_grow(struct bytes *b, size_t extra)
{
    if (b->failed) {
        return false;
    }
    if (extra > b->limit - b->len) {
        b->failed = true;
        return false;
    }
    size_t needed = b->len + extra;
    if (needed <= b->cap && b->ptr != NULL) {
        return true;
    }
    size_t cap = b->cap < SMALLEST_BUFFER ? SMALLEST_BUFFER : b->cap;
    while (cap < needed) {
        cap = cap > SIZE_MAX / 2 ? needed : cap * 2;
    }
    if (cap > b->limit && b->limit >= needed) {
        cap = b->limit > 0 ? b->limit : 1;
    }
    char *grown = realloc(b->ptr, cap);
    if (grown == NULL) {
        b->failed = true;
        b->out_of_memory = true;
        return false;
    }
    b->ptr = grown;
    b->cap = cap;
    return true;
}

bool bytes_fail(const struct bytes *b, struct odata_error *err)
{
    return b->out_of_memory ? odata_error_out_of_memory(err) : odata_error_too_complex(err);
}

void bytes_put_u64(struct bytes *b, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    bytes_put(b, digits + at, sizeof(digits) - at);
}

void bytes_put_i64(struct bytes *b, int64_t value)
{
    if (value < 0) {
        bytes_put_char(b, '-');
        bytes_put_u64(b, UINT64_C(0) - (uint64_t)value);
        return;
    }
    bytes_put_u64(b, (uint64_t)value);
}

void bytes_format(struct bytes *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (length < 0) {
        b->failed = true;
        return;
    }
    /* vsnprintf() also writes a NUL, which is not counted as content. */
    char *room = bytes_reserve(b, (size_t)length + 1);
    if (room == NULL) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(room, (size_t)length + 1, fmt, args);
    va_end(args);
    bytes_added(b, (size_t)length);
}

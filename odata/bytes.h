// SPDX-License-Identifier: Apache-2.0
/*
 * bytes - text under construction: grows up to a limit, and remembers that it failed.
 *
 * Append freely and ask bytes_failed() once at the end: after the first failure (limit reached or
 * memory short) nothing more is appended and the content must not be used.
 *
 * Owns:    its buffer, from bytes_init() to bytes_fini().
 * Threads: one at a time.
 */
#ifndef ODATA_BYTES_H
#define ODATA_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "odata/compiler.h"
#include "odata/str.h"

struct odata_error;

struct bytes {
    char *ptr;
    size_t len;
    size_t cap;
    size_t limit; /* len never passes it */
    bool failed;
    bool out_of_memory;  /* it failed because malloc did */
    const char *refusal; /* it failed at a value that is what its type says and still has no form in
                            the output: what it is, static text */
};

/* Allocates nothing yet. */
void bytes_init(struct bytes *b, size_t limit);
void bytes_fini(struct bytes *b);

/* Empty again, not failed, the buffer kept. */
void bytes_clear(struct bytes *b);

/* Removes the first count bytes (at most len); what follows moves to the front. */
void bytes_drop_front(struct bytes *b, size_t count);

/* Makes room for extra more bytes; false (and failed) past the limit or when memory is short. */
bool bytes_grow(struct bytes *b, size_t extra);

static inline void bytes_refuse(struct bytes *b, const char *refusal)
{
    b->failed = true;
    b->refusal = refusal;
}

static inline bool bytes_failed(const struct bytes *b)
{
    return b->failed;
}

/* Says why it failed: 503 when memory is short, else 400 RequestTooComplex. Returns false. */
bool bytes_fail(const struct bytes *b, struct odata_error *err);

static inline struct str bytes_str(const struct bytes *b)
{
    return (struct str){b->ptr == NULL ? "" : b->ptr, b->len};
}

/*
 * Room for at least extra bytes at the end, for writing in place, or NULL when the buffer has
 * failed. After writing n <= extra bytes there, say so with bytes_added().
 */
static inline char *bytes_reserve(struct bytes *b, size_t extra)
{
    if (UNLIKELY(extra > b->cap - b->len || b->failed) && !bytes_grow(b, extra)) {
        return NULL;
    }
    return b->ptr + b->len;
}

static inline void bytes_added(struct bytes *b, size_t count)
{
    b->len += count;
}

static inline void bytes_put(struct bytes *b, const char *ptr, size_t len)
{
    /* Nothing is appended before the buffer exists: NULL + 0 is undefined. */
    char *room = len > 0 ? bytes_reserve(b, len) : NULL;
    if (LIKELY(room != NULL)) {
        memcpy(room, ptr, len);
        b->len += len;
    }
}

static inline void bytes_put_str(struct bytes *b, struct str s)
{
    bytes_put(b, s.ptr, s.len);
}

static inline void bytes_put_char(struct bytes *b, char c)
{
    char *room = bytes_reserve(b, 1);
    if (LIKELY(room != NULL)) {
        *room = c;
        b->len++;
    }
}

/* Appends a string literal. */
#define BYTES_PUT_LITERAL(b, s) bytes_put((b), "" s, sizeof(s) - 1)

void bytes_put_u64(struct bytes *b, uint64_t value);
void bytes_put_i64(struct bytes *b, int64_t value);

/* For the few places where a format says it best; not for rows. */
void bytes_format(struct bytes *b, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif

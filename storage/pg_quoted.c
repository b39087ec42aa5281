// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "odata/json_writer.h"
#include "storage/pg_value_priv.h"

#if defined(__SSE2__) && !defined(PG_VALUE_PORTABLE)
#include <emmintrin.h>
#define PG_QUOTED_SSE2 1
#else
#define PG_QUOTED_SSE2 0
#endif

enum {
    /* On the stack, once for each level of quotes (LIMIT_VALUE_DEPTH); values that are longer and
       have quotes in quotes are rare, and worth a malloc(). */
    SCRATCH_BYTES = 2048,
};

static inline bool is_special(char c)
{
    return c == '"' || c == '\\';
}

#if PG_QUOTED_SSE2

static inline __m128i load_block(const char *from)
{
    __m128i block;
    memcpy(&block, from, sizeof(block));
    return block;
}

/* One bit for each '"' and backslash. */
static inline unsigned special_mask(__m128i block)
{
    __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(hits);
}

const char *pg_find_special(const char *from, const char *end)
{
    const char *p = from;
    for (; end - p >= 16; p += 16) {
        unsigned mask = special_mask(load_block(p));
        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }
    }
    while (p < end && !is_special(*p)) {
        p++;
    }
    return p;
}

/* Copies up to the first special byte, in whole blocks: to has room for all of [*io_from, end). */
static inline char *copy_plain(char *to, const char **io_from, const char *end)
{
    const char *from = *io_from;
    for (; end - from >= 16; from += 16, to += 16) {
        __m128i block = load_block(from);
        unsigned mask = special_mask(block);
        memcpy(to, &block, sizeof(block));
        if (mask != 0) {
            size_t count = (size_t)__builtin_ctz(mask);
            *io_from = from + count;
            return to + count;
        }
    }
    while (from < end && !is_special(*from)) {
        *to++ = *from++;
    }
    *io_from = from;
    return to;
}

#else

const char *pg_find_special(const char *from, const char *end)
{
    const char *p = from;
    while (p < end && !is_special(*p)) {
        p++;
    }
    return p;
}

static inline char *copy_plain(char *to, const char **io_from, const char *end)
{
    const char *from = *io_from;
    while (from < end && !is_special(*from)) {
        *to++ = *from++;
    }
    *io_from = from;
    return to;
}

#endif

/* The text without its escapes, at to, which has room for len bytes; false at a loose end. */
static bool unescape(char *to, const char *text, size_t len, size_t *out_len)
{
    const char *from = text;
    const char *end = text + len;
    char *start = to;
    for (;;) {
        to = copy_plain(to, &from, end);
        if (from == end) {
            break;
        }
        if (from + 1 == end) {
            return false;
        }
        *to++ = from[1];
        from += 2;
    }
    *out_len = (size_t)(to - start);
    return true;
}

typedef void (*put_piece_fn)(struct bytes *out, const char *ptr, size_t len);

/* The same for what can be written piece by piece, however long it is. */
static void put_pieces(struct bytes *out, const char *text, size_t len, put_piece_fn put)
{
    const char *end = text + len;
    const char *piece = text;
    const char *special = pg_find_special(text, end);
    while (special < end) {
        put(out, piece, (size_t)(special - piece));
        if (special + 1 == end) {
            out->failed = true;
            return;
        }
        /* The byte behind the escape stands for itself: it begins the next piece. */
        piece = special + 1;
        special = pg_find_special(piece + 1, end);
    }
    put(out, piece, (size_t)(end - piece));
}

/* Apart, so that the buffer is not on the stack of those who do not need it. */
static __attribute__((noinline)) void write_from_stack(struct bytes *out, const char *text,
                                                       size_t len, const struct value_form *form)
{
    char scratch[SCRATCH_BYTES];
    size_t length;
    if (!unescape(scratch, text, len, &length)) {
        out->failed = true;
        return;
    }
    form->write(out, scratch, length, form);
}

static void write_from_heap(struct bytes *out, const char *text, size_t len,
                            const struct value_form *form)
{
    char *scratch = malloc(len);
    size_t length;
    if (scratch != NULL && unescape(scratch, text, len, &length)) {
        form->write(out, scratch, length, form);
    } else {
        out->failed = true;
        out->out_of_memory = scratch == NULL;
    }
    free(scratch);
}

void pg_write_escaped(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form)
{
    if (form->write == pg_write_text) {
        bytes_put_char(out, '"');
        put_pieces(out, text, len, json_put_escaped);
        bytes_put_char(out, '"');
    } else if (form->write == pg_write_json) {
        put_pieces(out, text, len, bytes_put);
    } else if (len <= SCRATCH_BYTES) {
        write_from_stack(out, text, len, form);
    } else {
        write_from_heap(out, text, len, form);
    }
}

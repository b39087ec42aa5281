// SPDX-License-Identifier: Apache-2.0
#include "odata/json_writer.h"

#include <string.h>

#if defined(__SSE2__) && !defined(JSON_WRITER_PORTABLE)
#include <emmintrin.h>
#define JSON_WRITER_SSE2 1
#else
#define JSON_WRITER_SSE2 0
#endif

enum {
    LONGEST_ESCAPE = 6, /* \u001f */
};

/*
 * What follows the backslash; 'u' stands for \u00xx, 0 for a byte that goes out as it is. DEL,
 * U+2028 and U+2029 are among the latter: RFC 8259 does not ask for their escape.
 */
static const char escapes[256] = {
    ['\0'] = 'u',   ['\x01'] = 'u', ['\x02'] = 'u', ['\x03'] = 'u', ['\x04'] = 'u', ['\x05'] = 'u',
    ['\x06'] = 'u', ['\a'] = 'u',   ['\b'] = 'b',   ['\t'] = 't',   ['\n'] = 'n',   ['\v'] = 'u',
    ['\f'] = 'f',   ['\r'] = 'r',   ['\x0e'] = 'u', ['\x0f'] = 'u', ['\x10'] = 'u', ['\x11'] = 'u',
    ['\x12'] = 'u', ['\x13'] = 'u', ['\x14'] = 'u', ['\x15'] = 'u', ['\x16'] = 'u', ['\x17'] = 'u',
    ['\x18'] = 'u', ['\x19'] = 'u', ['\x1a'] = 'u', ['\x1b'] = 'u', ['\x1c'] = 'u', ['\x1d'] = 'u',
    ['\x1e'] = 'u', ['\x1f'] = 'u', ['"'] = '"',    ['\\'] = '\\',
};

/* Where a run of plain bytes is copied from and to. */
struct run {
    const char *from;
    const char *end;
    char *to;
};

static inline void run_advance(struct run *r, size_t count)
{
    r->from += count;
    r->to += count;
}

#if JSON_WRITER_SSE2

/* One bit for each byte that needs an escape. */
static inline unsigned escape_mask(__m128i v)
{
    const __m128i last_control = _mm_set1_epi8(0x1f);
    __m128i hits = _mm_cmpeq_epi8(_mm_min_epu8(v, last_control), v);
    hits = _mm_or_si128(hits, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    hits = _mm_or_si128(hits, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(hits);
}

/* All loads and stores are of unaligned addresses; memcpy() of a constant size is one move. */
static inline __m128i load(const char *from, size_t count)
{
    __m128i v = _mm_setzero_si128();
    memcpy(&v, from, count);
    return v;
}

/*
 * Copies up to the first byte that needs an escape; true when there is one. The room at r->to is at
 * least as long as what is left at r->from, so that whole blocks can be stored before the look at
 * their mask.
 */
static ALWAYS_INLINE bool copy_run(struct run *r)
{
    bool block_before = false;
    for (; r->end - r->from >= 16; run_advance(r, 16)) {
        __m128i v = load(r->from, 16);
        unsigned mask = escape_mask(v);
        memcpy(r->to, &v, 16);
        if (UNLIKELY(mask != 0)) {
            run_advance(r, (size_t)__builtin_ctz(mask));
            return true;
        }
        block_before = true;
    }
    size_t left = (size_t)(r->end - r->from);
    if (block_before && left > 0) {
        /* The last 16 bytes again, some of them copied already: no loop over the rest. */
        __m128i v = load(r->end - 16, 16);
        unsigned mask = escape_mask(v) >> (16 - left);
        memcpy(r->to + left - 16, &v, 16);
        run_advance(r, mask != 0 ? (size_t)__builtin_ctz(mask) : left);
        return mask != 0;
    }
    if (left >= 8) {
        __m128i v = load(r->from, 8);
        unsigned mask = escape_mask(v) & 0xffU;
        memcpy(r->to, &v, 8);
        if (UNLIKELY(mask != 0)) {
            run_advance(r, (size_t)__builtin_ctz(mask));
            return true;
        }
        run_advance(r, 8);
        left -= 8;
    }
    if (left >= 4) {
        __m128i v = load(r->from, 4);
        unsigned mask = escape_mask(v) & 0xfU;
        memcpy(r->to, &v, 4);
        if (UNLIKELY(mask != 0)) {
            run_advance(r, (size_t)__builtin_ctz(mask));
            return true;
        }
        run_advance(r, 4);
    }
    for (; r->from < r->end; run_advance(r, 1)) {
        if (UNLIKELY(escapes[(unsigned char)*r->from] != 0)) {
            return true;
        }
        *r->to = *r->from;
    }
    return false;
}

#else

#define EVERY_BYTE(x) (UINT64_C(0x0101010101010101) * (x))

/* Not zero when one of the eight bytes needs an escape; which one it is, is not told exactly. */
static inline uint64_t escape_hits(uint64_t v)
{
    const uint64_t high = EVERY_BYTE(0x80);
    uint64_t quote = v ^ EVERY_BYTE('"');
    uint64_t backslash = v ^ EVERY_BYTE('\\');
    uint64_t hits = (v - EVERY_BYTE(0x20)) & ~v;
    hits |= (quote - EVERY_BYTE(1)) & ~quote;
    hits |= (backslash - EVERY_BYTE(1)) & ~backslash;
    return hits & high;
}

/* Copies up to the first byte that needs an escape; true when there is one. */
static ALWAYS_INLINE bool copy_run(struct run *r)
{
    for (; r->end - r->from >= 8; run_advance(r, 8)) {
        uint64_t v;
        memcpy(&v, r->from, 8);
        if (UNLIKELY(escape_hits(v) != 0)) {
            break;
        }
        memcpy(r->to, &v, 8);
    }
    for (; r->from < r->end; run_advance(r, 1)) {
        if (UNLIKELY(escapes[(unsigned char)*r->from] != 0)) {
            return true;
        }
        *r->to = *r->from;
    }
    return false;
}

#endif

static char *put_escape(char *to, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char kind = escapes[c];
    *to++ = '\\';
    *to++ = kind;
    if (kind == 'u') {
        *to++ = '0';
        *to++ = '0';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    return to;
}

/* around: 1 for a string with its quotes, 0 without. A constant: two functions are made of this. */
static ALWAYS_INLINE void put_text(struct bytes *out, const char *ptr, size_t len, size_t around)
{
    if (UNLIKELY(len > SIZE_MAX - 2 * around)) {
        out->failed = true;
        return;
    }
    char *room = bytes_reserve(out, len + 2 * around);
    if (UNLIKELY(room == NULL)) {
        return;
    }
    struct run run = {.from = ptr, .end = ptr + len, .to = room};
    if (around != 0) {
        *run.to++ = '"';
    }
    while (UNLIKELY(copy_run(&run))) {
        /* An escape takes more than the byte it is for: room anew, for it and for the rest. */
        bytes_added(out, (size_t)(run.to - room));
        room = bytes_reserve(out, (size_t)(run.end - run.from) + LONGEST_ESCAPE + around);
        if (UNLIKELY(room == NULL)) {
            return;
        }
        run.to = put_escape(room, (unsigned char)*run.from++);
    }
    if (around != 0) {
        *run.to++ = '"';
    }
    bytes_added(out, (size_t)(run.to - room));
}

void json_put_string(struct bytes *out, const char *ptr, size_t len)
{
    put_text(out, ptr, len, 1);
}

void json_put_escaped(struct bytes *out, const char *ptr, size_t len)
{
    put_text(out, ptr, len, 0);
}

void json_put_label(struct bytes *out, struct str name)
{
    json_put_string(out, name.ptr, name.len);
    bytes_put_char(out, ':');
}

/* The length of the text once escaped, without quotes. */
static size_t escaped_length(struct str text)
{
    size_t length = 0;
    for (size_t i = 0; i < text.len; i++) {
        char kind = escapes[(unsigned char)text.ptr[i]];
        length += kind == 0 ? 1 : kind == 'u' ? LONGEST_ESCAPE : 2;
    }
    return length;
}

static char *copy_escaped(char *to, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (escapes[(unsigned char)text.ptr[i]] != 0) {
            to = put_escape(to, (unsigned char)text.ptr[i]);
        } else {
            *to++ = text.ptr[i];
        }
    }
    return to;
}

bool json_make_label(struct arena *a, struct str name, struct str *out_label)
{
    size_t length = escaped_length(name) + 3;
    char *label = arena_alloc(a, length);
    if (label == NULL) {
        return false;
    }
    label[0] = '"';
    char *end = copy_escaped(label + 1, name);
    memcpy(end, "\":", 2);
    *out_label = (struct str){label, length};
    return true;
}

bool json_make_escaped(struct arena *a, struct str text, struct str *out_escaped)
{
    size_t length = escaped_length(text);
    if (length == text.len) {
        *out_escaped = text;
        return true;
    }
    char *escaped = arena_alloc(a, length);
    if (escaped == NULL) {
        return false;
    }
    copy_escaped(escaped, text);
    *out_escaped = (struct str){escaped, length};
    return true;
}

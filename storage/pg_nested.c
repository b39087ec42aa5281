// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "storage/pg_value_priv.h"

#if defined(__SSE2__) && !defined(PG_VALUE_PORTABLE)
#include <emmintrin.h>
#define PG_NESTED_SSE2 1
#else
#define PG_NESTED_SSE2 0
#endif

/*
 * array_out and record_out (PostgreSQL 15, 8.15.6 and 8.16.6): items between delimiters, in double
 * quotes when they hold anything that could be taken for more than text. In quotes a backslash
 * escapes '"' and itself; a composite doubles '"' instead.
 */

static void put_null(struct bytes *out)
{
    BYTES_PUT_LITERAL(out, "null");
}

/*
 * A value in quotes: rest stands on the first quote and moves behind the last one. False when that
 * is missing.
 */
static inline bool write_quoted(struct bytes *out, struct pg_rest *rest, bool quotes_double,
                                const struct value_form *form)
{
    const char *text = rest->at + 1;
    const char *p = pg_find_special(text, rest->end);
    bool escaped = false;
    while (p < rest->end) {
        bool is_pair = *p == '\\' || (quotes_double && rest->end - p >= 2 && p[1] == '"');
        if (!is_pair) {
            break;
        }
        if (UNLIKELY(rest->end - p < 2)) {
            return false;
        }
        escaped = true;
        p = pg_find_special(p + 2, rest->end);
    }
    if (UNLIKELY(p >= rest->end)) {
        return false;
    }
    rest->at = p + 1;
    size_t len = (size_t)(p - text);
    if (escaped) {
        pg_write_escaped(out, text, len, form);
    } else {
        form->write(out, text, len, form);
    }
    return true;
}

/* The first byte of [from, end) that is one of the three, or end. */
static inline const char *find_any(const char *from, const char *end, char a, char b, char c)
{
    const char *p = from;
#if PG_NESTED_SSE2
    for (; end - p >= 16; p += 16) {
        __m128i block;
        memcpy(&block, p, sizeof(block));
        __m128i hits = _mm_cmpeq_epi8(block, _mm_set1_epi8(a));
        hits = _mm_or_si128(hits, _mm_cmpeq_epi8(block, _mm_set1_epi8(b)));
        hits = _mm_or_si128(hits, _mm_cmpeq_epi8(block, _mm_set1_epi8(c)));
        unsigned mask = (unsigned)_mm_movemask_epi8(hits);
        if (mask != 0) {
            return p + __builtin_ctz(mask);
        }
    }
#endif
    while (p < end && *p != a && *p != b && *p != c) {
        p++;
    }
    return p;
}

/* The word NULL, in any case, when it is not in quotes. */
static inline bool is_null_word(const char *text, size_t len)
{
    return len == 4 && (text[0] | 0x20) == 'n' && str_ieq((struct str){text, len}, STR("NULL"));
}

/* An item up to the next delimiter; '{' and '}' would belong to one more dimension. */
static inline bool write_bare_item(struct bytes *out, struct pg_rest *rest, char delimiter,
                                   const struct value_form *element)
{
    const char *text = rest->at;
    const char *p = find_any(text, rest->end, delimiter, '{', '}');
    size_t len = (size_t)(p - text);
    if (UNLIKELY(len == 0 || (p < rest->end && *p != delimiter))) {
        if (p == text && p < rest->end && *p == '{') {
            bytes_refuse(out, "an array of several dimensions, which no collection can be");
        }
        return false;
    }
    rest->at = p;
    if (is_null_word(text, len)) {
        put_null(out);
    } else {
        element->write(out, text, len, element);
    }
    return true;
}

static bool write_items(struct bytes *out, struct pg_rest rest, char delimiter,
                        const struct value_form *element)
{
    for (;;) {
        bool read = rest.at < rest.end && *rest.at == '"'
                        ? write_quoted(out, &rest, false, element)
                        : write_bare_item(out, &rest, delimiter, element);
        if (UNLIKELY(!read)) {
            return false;
        }
        if (rest.at == rest.end) {
            return true;
        }
        if (UNLIKELY(*rest.at != delimiter)) {
            return false;
        }
        rest.at++;
        bytes_put_char(out, ',');
    }
}

/* Behind `[0:2]=`, which stands in front when the subscripts do not begin with 1. */
static const char *skip_bounds(const char *text, size_t len)
{
    size_t equals = str_find((struct str){text, len}, '=', 0);
    return equals == len ? text : text + equals + 1;
}

void pg_write_array(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    const char *end = text + len;
    const char *begin = len > 0 && text[0] == '[' ? skip_bounds(text, len) : text;
    if (UNLIKELY(end - begin < 2 || *begin != '{' || end[-1] != '}')) {
        out->failed = true;
        return;
    }
    struct pg_rest items = {begin + 1, end - 1};
    bytes_put_char(out, '[');
    if (items.at < items.end) {
        const char *delimiter = form->extra == NULL ? "," : form->extra;
        if (UNLIKELY(!write_items(out, items, *delimiter, form->element))) {
            out->failed = true;
            return;
        }
    }
    bytes_put_char(out, ']');
}

/* A member without quotes ends at the comma; nothing at all is null. */
static inline bool write_bare_member(struct bytes *out, struct pg_rest *rest,
                                     const struct value_form *form)
{
    const char *text = rest->at;
    const char *p = find_any(text, rest->end, ',', '(', ')');
    if (UNLIKELY(p < rest->end && *p != ',')) {
        return false;
    }
    rest->at = p;
    if (p == text) {
        put_null(out);
    } else {
        form->write(out, text, (size_t)(p - text), form);
    }
    return true;
}

/* The bracket or comma, and the label. */
static inline void put_label(struct bytes *out, char separator, struct str label)
{
    char *room = bytes_reserve(out, label.len + 1);
    if (LIKELY(room != NULL)) {
        *room = separator;
        memcpy(room + 1, label.ptr, label.len);
        bytes_added(out, label.len + 1);
    }
}

static bool write_members(struct bytes *out, struct pg_rest rest, const struct value_form *form)
{
    for (size_t i = 0; i < form->member_count; i++) {
        const struct form_member *m = &form->members[i];
        if (i > 0) {
            if (UNLIKELY(rest.at == rest.end || *rest.at != ',')) {
                return false;
            }
            rest.at++;
        }
        put_label(out, i == 0 ? '{' : ',', m->label);
        bool read = rest.at < rest.end && *rest.at == '"' ? write_quoted(out, &rest, true, m->form)
                                                          : write_bare_member(out, &rest, m->form);
        if (UNLIKELY(!read)) {
            return false;
        }
    }
    return rest.at == rest.end;
}

/* The type has changed since the model was read when there are more or fewer members. */
void pg_write_composite(struct bytes *out, const char *text, size_t len,
                        const struct value_form *form)
{
    if (UNLIKELY(len < 2 || text[0] != '(' || text[len - 1] != ')')) {
        out->failed = true;
        return;
    }
    struct pg_rest members = {text + 1, text + len - 1};
    if (UNLIKELY(form->member_count == 0)) {
        bytes_put_char(out, '{');
    }
    if (UNLIKELY(!write_members(out, members, form))) {
        out->failed = true;
        return;
    }
    bytes_put_char(out, '}');
}

// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "odata/json_writer.h"
#include "storage/pg_value_priv.h"

enum {
    LONGEST_INTEGER = 20, /* of int8, with its sign */
};

/* The first byte of [from, end) that is no digit. */
static inline const char *skip_digits(const char *from, const char *end)
{
    const char *p = from;
    while (end - p >= 8 && pg_are_8_digits(p)) {
        p += 8;
    }
    while (p < end && pg_is_digit(*p)) {
        p++;
    }
    return p;
}

static bool text_is(const char *text, size_t len, struct str wanted)
{
    return str_eq((struct str){text, len}, wanted);
}

void pg_put_bool(struct bytes *out, const char *text, size_t len)
{
    if (LIKELY(len == 1 && text[0] == 't')) {
        BYTES_PUT_LITERAL(out, "true");
    } else if (LIKELY(len == 1 && text[0] == 'f')) {
        BYTES_PUT_LITERAL(out, "false");
    } else {
        out->failed = true;
    }
}

void pg_write_bool(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    pg_put_bool(out, text, len);
}

static inline bool is_integer(const char *text, size_t len)
{
    const char *digits = text + (len > 0 && text[0] == '-');
    const char *end = text + len;
    return digits < end && skip_digits(digits, end) == end;
}

void pg_put_integer(struct bytes *out, const char *text, size_t len)
{
    if (UNLIKELY(!is_integer(text, len))) {
        out->failed = true;
        return;
    }
    bytes_put(out, text, len);
}

void pg_write_integer(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form)
{
    (void)form;
    if (UNLIKELY(len > LONGEST_INTEGER)) {
        out->failed = true;
        return;
    }
    pg_put_integer(out, text, len);
}

void pg_write_integer_string(struct bytes *out, const char *text, size_t len,
                             const struct value_form *form)
{
    (void)form;
    bytes_put_char(out, '"');
    pg_put_integer(out, text, len);
    bytes_put_char(out, '"');
}

/* What numeric, float4 and float8 have besides numbers, and OData's words for it. */
static struct str special_number(const char *text, size_t len)
{
    if (text_is(text, len, STR("NaN"))) {
        return STR("NaN");
    }
    if (text_is(text, len, STR("Infinity"))) {
        return STR("INF");
    }
    if (text_is(text, len, STR("-Infinity"))) {
        return STR("-INF");
    }
    return STR("");
}

/* Behind a sign perhaps, digits, and perhaps a point and more digits; NULL without digits. */
static inline const char *skip_decimal(const char *from, const char *end)
{
    const char *whole = from + (from < end && *from == '-');
    const char *p = skip_digits(whole, end);
    if (p == whole) {
        return NULL;
    }
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction, end);
        return p > fraction ? p : NULL;
    }
    return p;
}

static bool is_decimal(const char *text, size_t len)
{
    return skip_decimal(text, text + len) == text + len;
}

/* A number as JSON has it (RFC 8259, 6), but for leading zeros, which PostgreSQL never writes. */
static bool is_json_number(const char *text, size_t len)
{
    const char *end = text + len;
    const char *p = skip_decimal(text, end);
    if (p == NULL || p == end) {
        return p == end;
    }
    if (*p != 'e') {
        return false;
    }
    p++;
    if (p < end && (*p == '+' || *p == '-')) {
        p++;
    }
    return p < end && skip_digits(p, end) == end;
}

/* A number as it is, or one of the three words, in quotes when quote is. */
static inline void put_number(struct bytes *out, const char *text, size_t len, bool is_number,
                              bool quote)
{
    if (LIKELY(is_number)) {
        bytes_put(out, text, len);
        return;
    }
    struct str special = special_number(text, len);
    if (special.len == 0) {
        out->failed = true;
        return;
    }
    if (quote) {
        bytes_put_char(out, '"');
    }
    bytes_put_str(out, special);
    if (quote) {
        bytes_put_char(out, '"');
    }
}

void pg_put_numeric(struct bytes *out, const char *text, size_t len)
{
    put_number(out, text, len, is_decimal(text, len), false);
}

void pg_write_numeric(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form)
{
    (void)form;
    put_number(out, text, len, is_decimal(text, len), true);
}

void pg_write_numeric_string(struct bytes *out, const char *text, size_t len,
                             const struct value_form *form)
{
    (void)form;
    bytes_put_char(out, '"');
    pg_put_numeric(out, text, len);
    bytes_put_char(out, '"');
}

void pg_put_float(struct bytes *out, const char *text, size_t len)
{
    put_number(out, text, len, is_json_number(text, len), false);
}

void pg_write_float(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    put_number(out, text, len, is_json_number(text, len), true);
}

/*
 * With lc_monetary=C: `$1,234.50`, `-$0.07`. Signs of currency and group separators are dropped;
 * the sign stays in front. Any other byte is refused: it would be another locale's.
 */
void pg_put_money(struct bytes *out, const char *text, size_t len)
{
    char *room = bytes_reserve(out, len);
    if (room == NULL) {
        return;
    }
    size_t written = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '$' || c == ',') {
            continue;
        }
        room[written++] = c;
    }
    if (!is_decimal(room, written)) {
        out->failed = true;
        return;
    }
    bytes_added(out, written);
}

void pg_write_money(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    pg_put_money(out, text, len);
}

void pg_write_money_string(struct bytes *out, const char *text, size_t len,
                           const struct value_form *form)
{
    (void)form;
    bytes_put_char(out, '"');
    pg_put_money(out, text, len);
    bytes_put_char(out, '"');
}

enum {
    UUID_LENGTH = 36,
    UUID_BLOCK = 16, /* bytes that are looked at together: the compiler makes one vector of them */
};

/* How many of the 16 bytes are no hexadecimal digits. */
static unsigned count_other(const char *text)
{
    unsigned char others = 0;
    for (size_t i = 0; i < UUID_BLOCK; i++) {
        unsigned char digit = (unsigned char)((unsigned char)text[i] - '0');
        unsigned char letter = (unsigned char)(((unsigned char)text[i] | 0x20) - 'a');
        others = (unsigned char)(others + (digit > 9 && letter > 5));
    }
    return others;
}

/* 8-4-4-4-12 hexadecimal digits: the dashes are where they belong, and all else is a digit. */
static bool is_uuid(const char *text, size_t len)
{
    if (len != UUID_LENGTH || text[8] != '-' || text[13] != '-' || text[18] != '-' ||
        text[23] != '-') {
        return false;
    }
    return count_other(text) == 2 && count_other(text + UUID_BLOCK) == 2 &&
           count_other(text + UUID_LENGTH - UUID_BLOCK) == 1;
}

void pg_put_uuid(struct bytes *out, const char *text, size_t len)
{
    if (UNLIKELY(!is_uuid(text, len))) {
        out->failed = true;
        return;
    }
    bytes_put(out, text, len);
}

void pg_write_uuid(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    char *room = bytes_reserve(out, UUID_LENGTH + 2);
    if (UNLIKELY(room == NULL)) {
        return;
    }
    if (UNLIKELY(!is_uuid(text, len))) {
        out->failed = true;
        return;
    }
    room[0] = '"';
    memcpy(room + 1, text, UUID_LENGTH);
    room[UUID_LENGTH + 1] = '"';
    bytes_added(out, UUID_LENGTH + 2);
}

void pg_write_text(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    json_put_string(out, text, len);
}

/* char(n) is filled up with blanks, which its own comparisons do not see. */
size_t pg_bpchar_length(const char *text, size_t len)
{
    size_t n = len;
    while (n > 0 && text[n - 1] == ' ') {
        n--;
    }
    return n;
}

void pg_write_bpchar(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    json_put_string(out, text, pg_bpchar_length(text, len));
}

/* json, jsonb and GeoJSON: PostgreSQL has checked it, and JSON may stand in JSON. */
void pg_write_json(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    if (UNLIKELY(len == 0)) {
        out->failed = true;
        return;
    }
    bytes_put(out, text, len);
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/percent.h"

#include <stdint.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Bytes of the UTF-8 sequence at `at`, or 0 when it is not one (RFC 3629 section 4). */
static size_t utf8_length(struct str s, size_t at)
{
    static const struct {
        unsigned char first_from, first_to, second_from, second_to;
        size_t length;
    } forms[] = {
        {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    unsigned char first = (unsigned char)s.ptr[at];
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        if (first < forms[i].first_from || first > forms[i].first_to) {
            continue;
        }
        if (forms[i].length > s.len - at) {
            return 0;
        }
        for (size_t k = 1; k < forms[i].length; k++) {
            unsigned char c = (unsigned char)s.ptr[at + k];
            unsigned char from = k == 1 ? forms[i].second_from : 0x80;
            unsigned char to = k == 1 ? forms[i].second_to : 0xBF;
            if (c < from || c > to) {
                return 0;
            }
        }
        return forms[i].length;
    }
    return 0;
}

bool percent_is_utf8(struct str text, size_t *out_bad)
{
    size_t at = 0;
    while (at < text.len) {
        size_t length = utf8_length(text, at);
        if (length == 0) {
            *out_bad = at;
            return false;
        }
        at += length;
    }
    return true;
}

/* The byte of raw that became byte `decoded` of the text. */
static size_t raw_offset(struct str raw, size_t decoded)
{
    size_t at = 0;
    for (size_t i = 0; i < decoded && at < raw.len; i++) {
        at += raw.ptr[at] == '%' ? 3 : 1;
    }
    return at;
}

/* dd:dd[:dd[.d+]] from `at` to the end of s. */
static bool is_time_to_end(struct str s, size_t at)
{
    static const char shape[] = "00:00:00.";
    size_t i = 0;
    for (; at + i < s.len && i < sizeof(shape) - 1; i++) {
        char c = s.ptr[at + i];
        if (shape[i] == '0' ? !is_digit(c) : c != shape[i]) {
            return false;
        }
    }
    if (at + i == s.len) {
        return i == 5 || i == 8;
    }
    for (; at + i < s.len; i++) {
        if (!is_digit(s.ptr[at + i])) {
            return false;
        }
    }
    return true;
}

/* s ends in a date-time without its zone: ...-ddTdd:dd. */
static bool ends_in_date_time(struct str s)
{
    size_t at = s.len;
    while (at > 0 && (is_digit(s.ptr[at - 1]) || s.ptr[at - 1] == ':' || s.ptr[at - 1] == '.')) {
        at--;
    }
    return at >= 8 && (s.ptr[at - 1] == 'T' || s.ptr[at - 1] == 't') && is_digit(s.ptr[at - 2]) &&
           is_digit(s.ptr[at - 3]) && s.ptr[at - 4] == '-' && is_time_to_end(s, at);
}

/* dd:dd, the colon perhaps encoded. */
static bool starts_with_zone(struct str raw)
{
    if (raw.len < 5 || !is_digit(raw.ptr[0]) || !is_digit(raw.ptr[1])) {
        return false;
    }
    struct str rest = str_from_offset(raw, 2);
    size_t colon = rest.ptr[0] == ':' ? 1 : 0;
    if (colon == 0 && str_ieq(str_slice(rest, 0, 3), STR("%3A"))) {
        colon = 3;
    }
    return colon > 0 && rest.len >= colon + 2 && is_digit(rest.ptr[colon]) &&
           is_digit(rest.ptr[colon + 1]);
}

/* s ends in the mantissa and the `e` of a number that is not the end of a name. */
static bool ends_in_exponent(struct str s)
{
    if (s.len < 2 || (s.ptr[s.len - 1] != 'e' && s.ptr[s.len - 1] != 'E')) {
        return false;
    }
    size_t at = s.len - 1;
    while (at > 0 && (is_digit(s.ptr[at - 1]) || s.ptr[at - 1] == '.')) {
        at--;
    }
    static const char before_number[] = " \t(,=:[-+";
    return is_digit(s.ptr[s.len - 2]) &&
           (at == 0 || memchr(before_number, s.ptr[at - 1], sizeof(before_number) - 1) != NULL);
}

static bool plus_is_sign(struct str decoded, struct str raw_rest, bool in_quotes)
{
    if (starts_with_zone(raw_rest) && ends_in_date_time(decoded)) {
        return true;
    }
    return !in_quotes && raw_rest.len > 0 && is_digit(raw_rest.ptr[0]) && ends_in_exponent(decoded);
}

static bool decode(struct arena *a, struct str raw, bool is_value, struct str *out_text,
                   struct odata_error *err)
{
    char *text = raw.len == SIZE_MAX ? NULL : arena_alloc(a, raw.len + 1);
    if (text == NULL) {
        return arena_fail(a, err);
    }
    size_t len = 0;
    bool in_quotes = false;
    for (size_t at = 0; at < raw.len; at++) {
        char c = raw.ptr[at];
        if (c == '%') {
            int high = raw.len - at > 2 ? hex_value(raw.ptr[at + 1]) : -1;
            int low = raw.len - at > 2 ? hex_value(raw.ptr[at + 2]) : -1;
            if (high < 0 || low < 0) {
                return odata_error_set(err, 400, ODATA_CODE_BAD_URL, "",
                                       "'%%' at byte %zu is not followed by two hex digits", at);
            }
            c = (char)(high * 16 + low);
            at += 2;
        } else if (c == '+' && is_value &&
                   !plus_is_sign((struct str){text, len}, str_from_offset(raw, at + 1),
                                 in_quotes)) {
            c = ' ';
        }
        if (c == '\0') {
            return odata_error_set(err, 400, ODATA_CODE_BAD_URL, "",
                                   "the NUL at byte %zu is not allowed", raw_offset(raw, len));
        }
        in_quotes ^= c == '\'';
        text[len++] = c;
    }
    size_t bad = 0;
    if (!percent_is_utf8((struct str){text, len}, &bad)) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_URL, "",
                               "the bytes from byte %zu on are not UTF-8", raw_offset(raw, bad));
    }
    *out_text = (struct str){text, len};
    return true;
}

bool percent_decode(struct arena *a, struct str raw, struct str *out_text, struct odata_error *err)
{
    return decode(a, raw, false, out_text, err);
}

bool percent_decode_value(struct arena *a, struct str raw, struct str *out_text,
                          struct odata_error *err)
{
    return decode(a, raw, true, out_text, err);
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

void percent_encode(struct bytes *out, struct str text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (is_unreserved(text.ptr[i])) {
            bytes_put_char(out, text.ptr[i]);
        } else {
            const char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
            bytes_put(out, escape, sizeof(escape));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "storage/pg_value_priv.h"

enum {
    IS_DIGIT = 0x10, /* beside the value, so that a wrong digit can be looked for once at the end */
};

/* The value of a hexadecimal digit with IS_DIGIT; 0 for every other byte. */
static const unsigned char hex_values[256] = {
    ['0'] = 0x10, ['1'] = 0x11, ['2'] = 0x12, ['3'] = 0x13, ['4'] = 0x14, ['5'] = 0x15,
    ['6'] = 0x16, ['7'] = 0x17, ['8'] = 0x18, ['9'] = 0x19, ['a'] = 0x1a, ['b'] = 0x1b,
    ['c'] = 0x1c, ['d'] = 0x1d, ['e'] = 0x1e, ['f'] = 0x1f, ['A'] = 0x1a, ['B'] = 0x1b,
    ['C'] = 0x1c, ['D'] = 0x1d, ['E'] = 0x1e, ['F'] = 0x1f,
};

/* RFC 4648, 5: base64url. */
static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Whether it is bytea_output=hex: `\x` and pairs of digits; the digits themselves are not read. */
static bool has_hex_form(const char *text, size_t len)
{
    return len >= 2 && text[0] == '\\' && text[1] == 'x' && len % 2 == 0;
}

/* The octet of two digits; *io_digits loses IS_DIGIT when they are none. */
static inline unsigned read_octet(const char *digits, unsigned *io_digits)
{
    unsigned high = hex_values[(unsigned char)digits[0]];
    unsigned low = hex_values[(unsigned char)digits[1]];
    *io_digits &= high & low;
    return (high << 4 ^ low ^ IS_DIGIT) & 0xffU;
}

void pg_put_octets(struct bytes *out, const char *text, size_t len)
{
    if (!has_hex_form(text, len)) {
        out->failed = true;
        return;
    }
    size_t count = (len - 2) / 2;
    char *room = bytes_reserve(out, count);
    if (room == NULL) {
        return;
    }
    unsigned all = IS_DIGIT;
    for (size_t i = 0; i < count; i++) {
        room[i] = (char)read_octet(text + 2 + 2 * i, &all);
    }
    if (all != IS_DIGIT) {
        out->failed = true;
        return;
    }
    bytes_added(out, count);
}

/* Four characters for three octets. */
static inline void put_group(char *to, unsigned group)
{
    to[0] = alphabet[group >> 18 & 63];
    to[1] = alphabet[group >> 12 & 63];
    to[2] = alphabet[group >> 6 & 63];
    to[3] = alphabet[group & 63];
}

/* With its padding: readers that follow RFC 4648 to the letter want it, the others allow it. */
void pg_put_base64url(struct bytes *out, const char *text, size_t len)
{
    if (UNLIKELY(!has_hex_form(text, len))) {
        out->failed = true;
        return;
    }
    size_t count = (len - 2) / 2;
    size_t length = (count + 2) / 3 * 4;
    char *to = bytes_reserve(out, length);
    if (UNLIKELY(to == NULL)) {
        return;
    }
    const char *digits = text + 2;
    unsigned all = IS_DIGIT;
    for (; count >= 3; count -= 3) {
        unsigned group = read_octet(digits, &all) << 16;
        group |= read_octet(digits + 2, &all) << 8;
        group |= read_octet(digits + 4, &all);
        put_group(to, group);
        digits += 6;
        to += 4;
    }
    if (count > 0) {
        unsigned group = read_octet(digits, &all) << 16;
        group |= count == 2 ? read_octet(digits + 2, &all) << 8 : 0;
        put_group(to, group);
        to[3] = '=';
        if (count == 1) {
            to[2] = '=';
        }
    }
    if (UNLIKELY(all != IS_DIGIT)) {
        out->failed = true;
        return;
    }
    bytes_added(out, length);
}

void pg_write_bytea(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    bytes_put_char(out, '"');
    pg_put_base64url(out, text, len);
    bytes_put_char(out, '"');
}

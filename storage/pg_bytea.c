#include <string.h>

#include "storage/pg_value_priv.h"

/* The value of a hexadecimal digit plus one; 0 for every other byte. */
static const unsigned char hex_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* RFC 4648, 5: base64url. */
static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Whether it is bytea_output=hex: `\x` and pairs of digits; the digits themselves are not read. */
static bool has_hex_form(const char *text, size_t len)
{
    return len >= 2 && text[0] == '\\' && text[1] == 'x' && len % 2 == 0;
}

/* The octet of two digits; *io_wrong becomes not 0 when they are none. */
static inline unsigned read_octet(const char *digits, unsigned *io_wrong)
{
    unsigned high = hex_values[(unsigned char)digits[0]];
    unsigned low = hex_values[(unsigned char)digits[1]];
    *io_wrong |= (unsigned)(high == 0) | (unsigned)(low == 0);
    return ((high - 1) << 4 | (low - 1)) & 0xffU;
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
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++) {
        room[i] = (char)read_octet(text + 2 + 2 * i, &wrong);
    }
    if (wrong != 0) {
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
    unsigned wrong = 0;
    for (; count >= 3; count -= 3) {
        unsigned group = read_octet(digits, &wrong) << 16;
        group |= read_octet(digits + 2, &wrong) << 8;
        group |= read_octet(digits + 4, &wrong);
        put_group(to, group);
        digits += 6;
        to += 4;
    }
    if (count > 0) {
        unsigned group = read_octet(digits, &wrong) << 16;
        group |= count == 2 ? read_octet(digits + 2, &wrong) << 8 : 0;
        put_group(to, group);
        to[3] = '=';
        if (count == 1) {
            to[2] = '=';
        }
    }
    if (UNLIKELY(wrong != 0)) {
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

// SPDX-License-Identifier: Apache-2.0
#include "odata/skip_token.h"

#include <string.h>

#include "odata/limits.h"

enum {
    TOKEN_VERSION = 1,
    CHECK_BYTES = 8,
    CHECKSUM_BYTES = 4,
    LONGEST_VARINT = 10,
    MOST_VALUES = 255,
    SMALLEST_TOKEN = 2 + 1 + CHECK_BYTES + CHECKSUM_BYTES,
    NO_DIGIT = 64,
};

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Turns bytes into base64url as they come, three at a time, and sums them up. */
struct encoder {
    struct bytes *out;
    uint64_t sum;
    uint32_t pending; /* bytes that wait for their group of three */
    unsigned pending_count;
};

static void encode_digits(struct encoder *e, uint32_t group, unsigned digits)
{
    for (unsigned i = 0; i < digits; i++) {
        bytes_put_char(e->out, alphabet[(group >> (18 - 6 * i)) & 63]);
    }
}

static void encode(struct encoder *e, const char *ptr, size_t len)
{
    e->sum = str_hash_more(e->sum, (struct str){ptr, len});
    for (size_t i = 0; i < len; i++) {
        e->pending = e->pending << 8 | (unsigned char)ptr[i];
        if (++e->pending_count == 3) {
            encode_digits(e, e->pending, 4);
            e->pending = 0;
            e->pending_count = 0;
        }
    }
}

static void encode_little_endian(struct encoder *e, uint64_t value, size_t count)
{
    char octets[8];
    for (size_t i = 0; i < count; i++) {
        octets[i] = (char)(value >> (8 * i) & 255);
    }
    encode(e, octets, count);
}

static void encode_varint(struct encoder *e, uint64_t value)
{
    char octets[LONGEST_VARINT];
    size_t count = 0;
    for (; value > 127; value >>= 7) {
        octets[count++] = (char)((value & 127) | 128);
    }
    octets[count++] = (char)value;
    encode(e, octets, count);
}

static void encode_rest(struct encoder *e)
{
    if (e->pending_count > 0) {
        encode_digits(e, e->pending << (8 * (3 - e->pending_count)), e->pending_count + 1);
    }
}

bool skip_token_put(struct bytes *out, const struct field *fields, const unsigned *indexes,
                    size_t n, uint64_t rows_before, uint64_t check)
{
    size_t most = SMALLEST_TOKEN + LONGEST_VARINT;
    if (n > MOST_VALUES) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct field *f = &fields[indexes[i]];
        most += LONGEST_VARINT + (f->len < 0 ? 0 : (size_t)f->len);
        if (most > LIMIT_SKIP_TOKEN_BYTES) {
            return false;
        }
    }
    struct encoder e = {.out = out, .sum = STR_HASH_START};
    const char head[] = {TOKEN_VERSION, (char)(unsigned char)n};
    encode(&e, head, sizeof(head));
    encode_varint(&e, rows_before);
    encode_little_endian(&e, check, CHECK_BYTES);
    for (size_t i = 0; i < n; i++) {
        const struct field *f = &fields[indexes[i]];
        encode_varint(&e, f->len < 0 ? 0 : (uint64_t)f->len + 1);
        if (f->len > 0) {
            encode(&e, f->ptr, (size_t)f->len);
        }
    }
    encode_little_endian(&e, e.sum, CHECKSUM_BYTES);
    encode_rest(&e);
    return true;
}

static unsigned digit_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (unsigned)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (unsigned)(c - 'a') + 26;
    }
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0') + 52;
    }
    return c == '-' ? 62 : c == '_' ? 63 : NO_DIGIT;
}

/* Strict: no padding, no blanks, no bits left over. The text is not longer than the limit allows. */
static bool decode(char *octets, struct str text, size_t *out_count)
{
    size_t count = 0;
    uint32_t bits = 0;
    unsigned bit_count = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = digit_value(text.ptr[i]);
        if (digit == NO_DIGIT) {
            return false;
        }
        bits = (bits << 6 | digit) & 0xffffU;
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            octets[count++] = (char)(bits >> bit_count & 255);
        }
    }
    *out_count = count;
    return bit_count < 6 && (bits & ((1U << bit_count) - 1)) == 0;
}

static bool read_little_endian(struct str *rest, size_t count, uint64_t *out_value)
{
    if (rest->len < count) {
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value |= (uint64_t)(unsigned char)rest->ptr[i] << (8 * i);
    }
    *rest = str_from_offset(*rest, count);
    *out_value = value;
    return true;
}

static bool read_varint(struct str *rest, uint64_t *out_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < LONGEST_VARINT && i < rest->len; i++) {
        unsigned char octet = (unsigned char)rest->ptr[i];
        if (i == LONGEST_VARINT - 1 && octet > 1) {
            return false; /* does not fit 64 bits */
        }
        value |= (uint64_t)(octet & 127) << (7 * i);
        if (octet < 128) {
            if (octet == 0 && i > 0) {
                return false; /* longer than it need be */
            }
            *rest = str_from_offset(*rest, i + 1);
            *out_value = value;
            return true;
        }
    }
    return false;
}

static bool read_values(struct str *rest, struct field *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t length;
        if (!read_varint(rest, &length) || length > rest->len + UINT64_C(1)) {
            return false;
        }
        if (length == 0) {
            values[i] = (struct field){.ptr = NULL, .len = -1};
            continue;
        }
        values[i] = (struct field){.ptr = rest->ptr, .len = (int32_t)(length - 1)};
        *rest = str_from_offset(*rest, (size_t)length - 1);
    }
    return rest->len == 0;
}

static bool checksum_is_right(struct str octets)
{
    struct str sum = str_from_offset(octets, octets.len - CHECKSUM_BYTES);
    struct str body = str_slice(octets, 0, octets.len - CHECKSUM_BYTES);
    uint64_t value;
    return read_little_endian(&sum, CHECKSUM_BYTES, &value) &&
           value == (str_hash(body) & UINT32_MAX);
}

static bool bad_token(struct odata_error *err, const char *why)
{
    return odata_error_set(err, 400, ODATA_CODE_BAD_SKIP_TOKEN, "$skiptoken",
                           "the skip token %s; follow a next link as it was given", why);
}

static bool is_one_of(uint64_t check, const uint64_t *checks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (checks[i] == check) {
            return true;
        }
    }
    return false;
}

bool skip_token_parse(struct arena *a, struct str text, const uint64_t *checks, size_t check_count,
                      size_t expected_fields, struct skip_token *out, struct odata_error *err)
{
    if (text.len > LIMIT_SKIP_TOKEN_BYTES / 3 * 4 + 4) {
        return bad_token(err, "is too long");
    }
    char *memory = arena_alloc(a, text.len / 4 * 3 + 3);
    if (memory == NULL) {
        return arena_fail(a, err);
    }
    struct str octets = {memory, 0};
    if (!decode(memory, text, &octets.len) || octets.len < SMALLEST_TOKEN ||
        octets.ptr[0] != TOKEN_VERSION || !checksum_is_right(octets)) {
        return bad_token(err, "is damaged");
    }
    size_t count = (unsigned char)octets.ptr[1];
    struct str rest = str_slice(octets, 2, octets.len - CHECKSUM_BYTES);
    uint64_t rows_before;
    uint64_t token_check;
    if (!read_varint(&rest, &rows_before) ||
        !read_little_endian(&rest, CHECK_BYTES, &token_check)) {
        return bad_token(err, "is damaged");
    }
    if (!is_one_of(token_check, checks, check_count) || count != expected_fields) {
        return bad_token(err, "belongs to another query");
    }
    struct field *values = ARENA_ARRAY(a, count, struct field);
    if (values == NULL) {
        return arena_fail(a, err);
    }
    if (!read_values(&rest, values, count)) {
        return bad_token(err, "is damaged");
    }
    *out = (struct skip_token){.values = values, .count = count, .rows_before = rows_before};
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The same documents by hand, without OData: every name a literal, every decision made by whoever
 * wrote this file. What they share with the service is the escaping of JSON strings.
 */
#include <string.h>

#include "loadtest/serializer/writers.h"
#include "odata/json_writer.h"

#define HEAD "{\"@odata.context\":\"" DATA_CONTEXT "\",\"value\":["

static void *bare_open(const struct data *d)
{
    /* Only read; the interface has no const because cJSON's state is written. */
    union {
        const void *in;
        void *out;
    } state = {.in = d};
    return state.out;
}

static void bare_close(void *state)
{
    (void)state;
}

static void put_base64(struct bytes *out, const unsigned char *from, size_t len)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=";
    const unsigned pad = 64;
    char *to = bytes_reserve(out, (len + 2) / 3 * 4);
    if (to == NULL) {
        return;
    }
    bytes_added(out, (len + 2) / 3 * 4);
    for (; len >= 3; len -= 3, from += 3, to += 4) {
        to[0] = letters[from[0] >> 2];
        to[1] = letters[(from[0] & 3) << 4 | from[1] >> 4];
        to[2] = letters[(from[1] & 15) << 2 | from[2] >> 6];
        to[3] = letters[from[2] & 63];
    }
    if (len > 0) {
        unsigned second = len == 2 ? from[1] : 0;
        to[0] = letters[from[0] >> 2];
        to[1] = letters[(from[0] & 3U) << 4 | second >> 4];
        to[2] = letters[len == 2 ? (second & 15) << 2 : pad];
        to[3] = letters[pad];
    }
}

/* From values. */

static void put_address(struct bytes *out, const struct address *a, bool v3)
{
    BYTES_PUT_LITERAL(out, "{\"City\":");
    json_put_str(out, a->city);
    if (v3) {
        BYTES_PUT_LITERAL(out, ",\"Misc\":");
        json_put_str(out, a->misc);
    }
    BYTES_PUT_LITERAL(out, ",\"Street\":");
    json_put_str(out, a->street);
    bytes_put_char(out, '}');
}

static void put_customer(struct bytes *out, const struct customer *c, bool v3)
{
    BYTES_PUT_LITERAL(out, "{\"Id\":");
    bytes_put_i64(out, c->id);
    BYTES_PUT_LITERAL(out, ",\"Name\":");
    json_put_str(out, c->name);
    BYTES_PUT_LITERAL(out, ",\"Emails\":[");
    json_put_str(out, c->emails[0]);
    bytes_put_char(out, ',');
    json_put_str(out, c->emails[1]);
    if (v3) {
        BYTES_PUT_LITERAL(out, "],\"Bio\":");
        json_put_str(out, c->bio);
        BYTES_PUT_LITERAL(out, ",\"Content\":\"");
        put_base64(out, (const unsigned char *)c->content.ptr, c->content.len);
        BYTES_PUT_LITERAL(out, "\",\"HomeAddress\":");
    } else {
        BYTES_PUT_LITERAL(out, "],\"HomeAddress\":");
    }
    put_address(out, &c->home, v3);
    BYTES_PUT_LITERAL(out, ",\"Addresses\":[");
    put_address(out, &c->addresses[0], v3);
    bytes_put_char(out, ',');
    put_address(out, &c->addresses[1], v3);
    BYTES_PUT_LITERAL(out, "]}");
}

static bool values_write(void *state, struct bytes *out, struct sink *sink)
{
    const struct data *d = state;
    bool v3 = data_is_v3(d);
    BYTES_PUT_LITERAL(out, HEAD);
    for (size_t i = 0; i < d->count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        put_customer(out, &d->customers[i], v3);
        sink_row_done(sink, out);
    }
    BYTES_PUT_LITERAL(out, "]}");
    return !bytes_failed(out);
}

const struct writer writer_bare_values = {
    .name = "bare, values",
    .what = "by hand, from C values that are split already: no arrays, composites or hex to read",
    .open = bare_open,
    .write = values_write,
    .close = bare_close,
};

/* From PostgreSQL's text forms. */

enum {
    LONGEST_ADDRESS = 512,
    HEX_CHUNK = 768, /* a multiple of 3: only the last piece is padded */
};

/*
 * Copies one item of an array or composite to `to` without its quotes and escapes; returns what
 * follows it.
 */
static const char *copy_item(char *to, size_t *out_len, const char *p, const char *end, char close)
{
    char *start = to;
    if (p < end && *p == '"') {
        for (p++; p < end; p++) {
            if (*p == '\\') {
                p++;
            } else if (*p == '"') {
                if (p + 1 >= end || p[1] != '"') {
                    break;
                }
                p++;
            }
            *to++ = *p;
        }
        p++;
    } else {
        while (p < end && *p != ',' && *p != close) {
            *to++ = *p++;
        }
    }
    *out_len = (size_t)(to - start);
    return p;
}

/* Writes one item as a string and returns what follows it; plain ones are not copied first. */
static const char *put_item(struct bytes *out, const char *p, const char *end, char close)
{
    const char *from = p;
    if (p >= end || *p != '"') {
        while (p < end && *p != ',' && *p != close) {
            p++;
        }
        json_put_string(out, from, (size_t)(p - from));
        return p;
    }
    from = ++p;
    while (p < end && *p != '"' && *p != '\\') {
        p++;
    }
    if (p + 1 < end && *p == '"' && p[1] != '"') {
        json_put_string(out, from, (size_t)(p - from));
        return p + 1;
    }
    char item[LONGEST_ADDRESS];
    size_t len;
    p = copy_item(item, &len, from - 1, end, close);
    json_put_string(out, item, len);
    return p;
}

static void put_address_text(struct bytes *out, const char *p, const char *end, bool v3)
{
    BYTES_PUT_LITERAL(out, "{\"City\":");
    p = put_item(out, p + 1, end, ')') + 1;
    if (v3) {
        BYTES_PUT_LITERAL(out, ",\"Misc\":");
        p = put_item(out, p, end, ')') + 1;
    }
    BYTES_PUT_LITERAL(out, ",\"Street\":");
    put_item(out, p, end, ')');
    bytes_put_char(out, '}');
}

/* Decodes a piece and encodes it, while it is in the nearest cache. */
static void put_hex(struct bytes *out, struct field f)
{
    static const signed char digit[256] = {
        ['0'] = 0,  ['1'] = 1,  ['2'] = 2,  ['3'] = 3,  ['4'] = 4,  ['5'] = 5,
        ['6'] = 6,  ['7'] = 7,  ['8'] = 8,  ['9'] = 9,  ['a'] = 10, ['b'] = 11,
        ['c'] = 12, ['d'] = 13, ['e'] = 14, ['f'] = 15,
    };
    const unsigned char *p = (const unsigned char *)f.ptr + 2;
    size_t left = ((size_t)f.len - 2) / 2;
    while (left > 0) {
        unsigned char octets[HEX_CHUNK];
        size_t count = left < HEX_CHUNK ? left : HEX_CHUNK;
        for (size_t i = 0; i < count; i++, p += 2) {
            octets[i] = (unsigned char)(digit[p[0]] << 4 | digit[p[1]]);
        }
        put_base64(out, octets, count);
        left -= count;
    }
}

static void put_row(struct bytes *out, const struct field *f, bool v3)
{
    BYTES_PUT_LITERAL(out, "{\"Id\":");
    bytes_put(out, f[FIELD_ID].ptr, (size_t)f[FIELD_ID].len);
    BYTES_PUT_LITERAL(out, ",\"Name\":");
    json_put_string(out, f[FIELD_NAME].ptr, (size_t)f[FIELD_NAME].len);
    BYTES_PUT_LITERAL(out, ",\"Emails\":[");
    const char *p = f[FIELD_EMAILS].ptr;
    const char *end = p + f[FIELD_EMAILS].len;
    do {
        if (*p == ',') {
            bytes_put_char(out, ',');
        }
        p = put_item(out, p + 1, end, '}');
    } while (p < end && *p == ',');
    if (v3) {
        BYTES_PUT_LITERAL(out, "],\"Bio\":");
        json_put_string(out, f[FIELD_BIO].ptr, (size_t)f[FIELD_BIO].len);
        BYTES_PUT_LITERAL(out, ",\"Content\":\"");
        put_hex(out, f[FIELD_CONTENT]);
        BYTES_PUT_LITERAL(out, "\",\"HomeAddress\":");
    } else {
        BYTES_PUT_LITERAL(out, "],\"HomeAddress\":");
    }
    p = f[FIELD_HOME].ptr;
    put_address_text(out, p, p + f[FIELD_HOME].len, v3);
    BYTES_PUT_LITERAL(out, ",\"Addresses\":[");
    p = f[FIELD_ADDRESSES].ptr;
    end = p + f[FIELD_ADDRESSES].len;
    do {
        if (*p == ',') {
            bytes_put_char(out, ',');
        }
        char address[LONGEST_ADDRESS];
        size_t len;
        p = copy_item(address, &len, p + 1, end, '}');
        put_address_text(out, address, address + len, v3);
    } while (p < end && *p == ',');
    BYTES_PUT_LITERAL(out, "]}");
}

static bool text_write(void *state, struct bytes *out, struct sink *sink)
{
    const struct data *d = state;
    bool v3 = data_is_v3(d);
    BYTES_PUT_LITERAL(out, HEAD);
    for (size_t i = 0; i < d->count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        put_row(out, d->customers[i].fields, v3);
        sink_row_done(sink, out);
    }
    BYTES_PUT_LITERAL(out, "]}");
    return !bytes_failed(out);
}

const struct writer writer_bare_text = {
    .name = "bare, text",
    .what = "by hand, from the same text forms: what sluice is compared with",
    .open = bare_open,
    .write = text_write,
    .close = bare_close,
};

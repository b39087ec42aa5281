// SPDX-License-Identifier: Apache-2.0
#include "odata/error_writer.h"

#include "odata/json_writer.h"

/* The length of the UTF-8 character at ptr, or 0 when there is none (RFC 3629 4). */
static size_t character_length(const char *ptr, size_t len)
{
    static const struct {
        unsigned char first_from, first_to, second_from, second_to;
        size_t length;
    } forms[] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *c = (const unsigned char *)ptr;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
        if (c[0] < forms[i].first_from || c[0] > forms[i].first_to) {
            continue;
        }
        if (forms[i].length > len) {
            return 0;
        }
        for (size_t k = 1; k < forms[i].length; k++) {
            unsigned char from = k == 1 ? forms[i].second_from : 0x80;
            unsigned char to = k == 1 ? forms[i].second_to : 0xbf;
            if (c[k] < from || c[k] > to) {
                return 0;
            }
        }
        return forms[i].length;
    }
    return 0;
}

/*
 * Messages quote what the client sent, and may be cut in the middle of a character: what is no
 * UTF-8 becomes U+FFFD, or the body would be no JSON.
 */
static void put_text(struct bytes *out, const char *text)
{
    struct str rest = str_from(text);
    bytes_put_char(out, '"');
    while (rest.len > 0) {
        size_t good = 0;
        size_t length;
        do {
            length = good < rest.len ? character_length(rest.ptr + good, rest.len - good) : 0;
            good += length;
        } while (length > 0);
        json_put_escaped(out, rest.ptr, good);
        rest = str_from_offset(rest, good);
        if (rest.len > 0) {
            BYTES_PUT_LITERAL(out, "\xef\xbf\xbd");
            rest = str_from_offset(rest, 1);
        }
    }
    bytes_put_char(out, '"');
}

void error_writer_put(struct bytes *out, const struct odata_error *err)
{
    BYTES_PUT_LITERAL(out, "{\"error\":{\"code\":");
    json_put_str(out, str_from(err->code));
    BYTES_PUT_LITERAL(out, ",\"message\":");
    put_text(out, err->message);
    if (err->target[0] != '\0') {
        BYTES_PUT_LITERAL(out, ",\"target\":");
        put_text(out, err->target);
    }
    BYTES_PUT_LITERAL(out, "}}");
}

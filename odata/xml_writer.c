// SPDX-License-Identifier: Apache-2.0
#include "odata/xml_writer.h"

#include <string.h>

static const struct str replacement = {STR_INIT("\xef\xbf\xbd")};

/* What is written for a byte, or an empty view when it goes out as it is. */
static struct str escape_of(char c)
{
    switch (c) {
    case '&':
        return STR("&amp;");
    case '<':
        return STR("&lt;");
    case '>':
        return STR("&gt;");
    case '"':
        return STR("&quot;");
    case '\t': /* as they stand, a reader would turn these three into blanks */
        return STR("&#9;");
    case '\n':
        return STR("&#10;");
    case '\r':
        return STR("&#13;");
    default:
        return (unsigned char)c < 0x20 ? replacement : STR("");
    }
}

static bool is_noncharacter(struct str rest)
{
    return str_starts_with(rest, STR("\xef\xbf\xbe")) || str_starts_with(rest, STR("\xef\xbf\xbf"));
}

void xml_put_escaped(struct bytes *out, struct str text)
{
    size_t start = 0;
    for (size_t i = 0; i < text.len; i++) {
        struct str escape = escape_of(text.ptr[i]);
        size_t length = 1;
        if (text.ptr[i] == '\xef' && is_noncharacter(str_from_offset(text, i))) {
            escape = replacement;
            length = 3;
        }
        if (escape.len > 0) {
            bytes_put(out, text.ptr + start, i - start);
            bytes_put_str(out, escape);
            start = i + length;
            i = start - 1;
        }
    }
    bytes_put(out, text.ptr + start, text.len - start);
}

void xml_put_attribute(struct bytes *out, const char *name, struct str value)
{
    bytes_put_char(out, ' ');
    bytes_put(out, name, strlen(name));
    BYTES_PUT_LITERAL(out, "=\"");
    xml_put_escaped(out, value);
    bytes_put_char(out, '"');
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/service_doc.h"

#include "odata/json_writer.h"

/* A name as a path segment. Identifiers have letters of all scripts, but nothing that JSON escapes. */
static void put_url(struct bytes *out, struct str name)
{
    static const char digits[] = "0123456789ABCDEF";
    bytes_put_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
            c == '_') {
            bytes_put_char(out, (char)c);
        } else {
            const char octet[] = {'%', digits[c >> 4], digits[c & 15]};
            bytes_put(out, octet, sizeof(octet));
        }
    }
    bytes_put_char(out, '"');
}

void service_doc_put(struct bytes *out, const struct model *m, const struct response_format *format,
                     struct str context)
{
    char separator = '{';
    if (format->metadata != METADATA_NONE && context.len > 0) {
        bytes_put_str(out, format->version == ODATA_4_01 ? STR("{\"@context\":")
                                                         : STR("{\"@odata.context\":"));
        json_put_str(out, context);
        separator = ',';
    }
    bytes_put_char(out, separator);
    BYTES_PUT_LITERAL(out, "\"value\":[");
    for (size_t i = 0; i < m->set_count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        BYTES_PUT_LITERAL(out, "{\"name\":");
        json_put_str(out, m->sets[i].name);
        BYTES_PUT_LITERAL(out, ",\"kind\":\"EntitySet\",\"url\":");
        put_url(out, m->sets[i].name);
        bytes_put_char(out, '}');
    }
    BYTES_PUT_LITERAL(out, "]}");
}

// SPDX-License-Identifier: Apache-2.0
/*
 * media_type - what the client wants (Accept, $format) against what a resource can be sent as.
 *
 * Owns:   nothing.
 * Source: Protocol 8.2.1 (Accept), 11.2.12 ($format); JSON Format 3; RFC 9110 12.5.1. What real
 *         clients send besides is accepted where it does no harm: a bare `*`, `q=.2`.
 */
#ifndef ODATA_MEDIA_TYPE_H
#define ODATA_MEDIA_TYPE_H

#include <stdbool.h>

#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/response_format.h"
#include "odata/str.h"

/* Kinds of resources by what they can be sent as. */
enum media_resource {
    MEDIA_OF_DATA,       /* service document, entity, property: JSON */
    MEDIA_OF_ROWS,       /* what may turn out to be a collection: JSON, CSV, NDJSON */
    MEDIA_OF_METADATA,   /* $metadata: XML, JSON */
    MEDIA_OF_COUNT,      /* $count: text, whatever is asked for */
    MEDIA_OF_RAW_TEXT,   /* $value: text */
    MEDIA_OF_RAW_BINARY, /* $value of Edm.Binary: octets */
};

/*
 * Decides the form of the answer.
 *
 * accept: all Accept fields joined with commas; "" when there is none.
 * format: the percent-decoded value of $format, or NULL when there is none. It wins over accept.
 * out->version is version; the rest is decided here, and only written on success.
 * False fills err: 406 when nothing that is asked for can be sent, 400 for a $format that is no
 * media type.
 */
bool media_type_negotiate(enum media_resource resource, enum odata_version version,
                          struct str accept, const struct str *format, struct response_format *out,
                          struct odata_error *err) NODISCARD;

/* Appends the value of Content-Type for a body of this form. */
void media_type_put(struct bytes *out, const struct response_format *format);

#endif

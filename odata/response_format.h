// SPDX-License-Identifier: Apache-2.0
/*
 * response_format - the form in which the client wants its answer.
 *
 * Decided once a request from OData-MaxVersion, $format and Accept (Protocol 8.2.1, 8.2.7, 11.2.12;
 * JSON Format 3), by odata/media_type.c.
 */
#ifndef ODATA_RESPONSE_FORMAT_H
#define ODATA_RESPONSE_FORMAT_H

#include <stdbool.h>

enum odata_version {
    ODATA_4_0,
    ODATA_4_01,
};

enum metadata_level {
    METADATA_MINIMAL,
    METADATA_NONE,
    METADATA_FULL,
};

enum media {
    MEDIA_JSON,
    MEDIA_XML,
    MEDIA_TEXT,   /* text/plain: $count, $value */
    MEDIA_BINARY, /* application/octet-stream: $value of Edm.Binary */
    MEDIA_CSV,    /* text/csv: a line for each row, RFC 4180 */
    MEDIA_NDJSON, /* application/x-ndjson: a JSON object in a line for each row, nothing else */
};

struct response_format {
    enum odata_version version;
    enum media media;
    enum metadata_level metadata;
    bool ieee754;   /* IEEE754Compatible=true: Int64 and Decimal as strings */
    bool streaming; /* odata.streaming=true was asked for */
    bool no_header; /* MEDIA_CSV: header=absent */
};

/* Rows without an envelope: a count, a context or a next link have no place in them. */
static inline bool response_format_is_rows(const struct response_format *f)
{
    return f->media == MEDIA_CSV || f->media == MEDIA_NDJSON;
}

#endif

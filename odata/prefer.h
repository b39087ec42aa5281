// SPDX-License-Identifier: Apache-2.0
/*
 * prefer - what the client would like (Protocol 8.2.8, RFC 7240).
 *
 * A preference is a wish: what is unknown or malformed is passed over, and nothing fails. What is
 * only reported here and not honoured must not be named in Preference-Applied.
 *
 * Owns: nothing; text is a view into the header field.
 */
#ifndef ODATA_PREFER_H
#define ODATA_PREFER_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/bytes.h"
#include "odata/str.h"

enum prefer_return {
    PREFER_RETURN_ANY,
    PREFER_RETURN_MINIMAL,
    PREFER_RETURN_REPRESENTATION,
};

enum prefer_omit {
    PREFER_OMIT_NOTHING,
    PREFER_OMIT_NULLS,
    PREFER_OMIT_DEFAULTS,
};

struct preferences {
    uint64_t max_page_size;         /* at least 1; 0 = not asked for */
    bool max_page_size_is_prefixed; /* it was written `odata.maxpagesize` */
    enum prefer_return wanted_return;
    enum prefer_omit omit_values;
    struct str include_annotations; /* "" = not asked for */
    struct str callback_url;        /* "" = not asked for */
    uint64_t wait_s;                /* 0 = not asked for */
    bool continue_on_error;
    bool respond_async;
    bool track_changes;
    bool allow_entity_references;
};

/*
 * header: all Prefer fields joined with commas; "" when there is none. Names may have the prefix
 * `odata.`; of a preference that is there twice the first counts (RFC 7240 2).
 */
void prefer_parse(struct str header, struct preferences *out);

/* What a response can honour. */
enum prefer_applied {
    PREFER_APPLIED_PAGE_SIZE = 1, /* its pages were limited to p->max_page_size */
    PREFER_APPLIED_OMIT = 2,      /* nulls were left out; no property has another default */
};

/* Appends the value of Preference-Applied; applied: which of them, at least one. */
void prefer_put_applied(struct bytes *out, const struct preferences *p, unsigned applied);

#endif

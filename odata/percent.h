// SPDX-License-Identifier: Apache-2.0
/*
 * percent - percent-encoding of URLs, once in each direction.
 *
 * A URL is split on its raw delimiters first; each piece is then decoded exactly once, here.
 * What comes out is valid UTF-8 without NUL, so nobody behind has to ask again.
 *
 * Source: OData 4.01 URL Conventions 2; RFC 3986 2.1; RFC 3629 (overlong forms, surrogates).
 */
#ifndef ODATA_PERCENT_H
#define ODATA_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

/*
 * Decodes a piece of a path or the name of a query option; `+` is a plus.
 *
 * *out_text is copied into a. False fills err: 400 BadUrl naming the byte of raw.
 */
bool percent_decode(struct arena *a, struct str raw, struct str *out_text,
                    struct odata_error *err) NODISCARD;

/*
 * Decodes the value of a query option: as above, but a raw `+` is a blank, as forms write it,
 * except where only a sign makes sense: before the zone of a date-time (2020-06-24T15:57:44+03:00,
 * in quotes too) and in the exponent of a number outside of quotes (1e+5). %2B is always a plus.
 */
bool percent_decode_value(struct arena *a, struct str raw, struct str *out_text,
                          struct odata_error *err) NODISCARD;

/* Appends text with all but unreserved characters encoded: right in a segment and in a value. */
void percent_encode(struct bytes *out, struct str text);

/* Whether text is well-formed UTF-8; *out_bad is the first byte that is not. */
bool percent_is_utf8(struct str text, size_t *out_bad) NODISCARD;

#endif

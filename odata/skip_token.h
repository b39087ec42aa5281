// SPDX-License-Identifier: Apache-2.0
/*
 * skip_token - where a page ended, as the opaque text behind `$skiptoken=`.
 *
 * A token carries the order values and the key of the page's last row, the number of rows of all
 * pages so far, and a check that ties it to one query. It is base64url without padding (unreserved
 * characters only: it needs no escape in a URL or in JSON) over
 *
 *   version (1 byte), number of values (1), rows_before (varint), check (8, little-endian),
 *   for each value: length + 1 as a varint, 0 = null, then the bytes,
 *   checksum of all that (4, little-endian).
 *
 * The checksum finds cut and mistyped tokens. It is no secret: values of a forged token are bound as
 * parameters like any other literal.
 * Source: Protocol 11.2.6.7.
 */
#ifndef ODATA_SKIP_TOKEN_H
#define ODATA_SKIP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/shape.h"
#include "odata/str.h"

struct skip_token {
    const struct field *values; /* as they were put, in the order they were put; in the arena */
    size_t count;
    uint64_t rows_before; /* rows of all pages up to the row of the token */
};

/*
 * Appends the token of the row `fields`; its values are fields[indexes[0..n-1]].
 *
 * False, and nothing appended, when the token would pass LIMIT_SKIP_TOKEN_BYTES or n passes 255.
 */
bool skip_token_put(struct bytes *out, const struct field *fields, const unsigned *indexes,
                    size_t n, uint64_t rows_before, uint64_t check) NODISCARD;

/*
 * Reads a token back.
 *
 * text: the percent-decoded value of $skiptoken, borrowed; values are copied into a.
 * checks: a token that has none of them belongs to another query, as one with other than
 * expected_fields does.
 * False fills err: 400 BadSkipToken.
 */
bool skip_token_parse(struct arena *a, struct str text, const uint64_t *checks, size_t check_count,
                      size_t expected_fields, struct skip_token *out,
                      struct odata_error *err) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * header_value - the lists and parameters of header fields, quoted strings respected (RFC 9110 5.6).
 *
 * Owns: nothing; pieces are views into the field.
 */
#ifndef ODATA_HEADER_VALUE_H
#define ODATA_HEADER_VALUE_H

#include <stdbool.h>

#include "odata/compiler.h"
#include "odata/str.h"

/*
 * Cuts the next piece off *rest, up to separator (',' or ';') outside quotes, and trims it. Pieces
 * may be empty. False when nothing is left.
 */
bool header_next_piece(struct str *rest, char separator, struct str *out_piece) NODISCARD;

/*
 * Splits `name = value`, blanks around = allowed; the value without its quotes, "" when there is
 * none. Escapes inside the quotes stay: no value that we know has any.
 */
void header_split_param(struct str piece, struct str *out_name, struct str *out_value);

enum {
    HEADER_QUALITY_ONE = 1000, /* q=1 */
};

/* "0.25" -> 250 (RFC 9110 12.4.2); more digits than three are cut, more than 1 is 1, and no number at
   all is 1. */
int header_quality(struct str value);

/* Not empty, and all of it token characters (RFC 9110 5.6.2). */
bool header_is_token(struct str s);

#endif

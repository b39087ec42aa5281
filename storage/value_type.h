// SPDX-License-Identifier: Apache-2.0
/*
 * value_type - the type of a value as control information says it: `#Decimal`, `#NS.Color`.
 *
 * Owns:   nothing; the text lives in the arena.
 * Source: JSON Format 4.5.3.
 */
#ifndef STORAGE_VALUE_TYPE_H
#define STORAGE_VALUE_TYPE_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/compiler.h"
#include "odata/model.h"
#include "odata/response_format.h"

/*
 * "" where the JSON value tells it (strings, Booleans, doubles, untyped values), and for objects in
 * full metadata, which say it themselves. 4.01 needs no `#` before built-in types. False past the
 * arena's limit.
 */
bool value_type_name(struct arena *a, const struct type_ref *type,
                     const struct response_format *format, struct str *out_name) NODISCARD;

#endif

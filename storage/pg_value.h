// SPDX-License-Identifier: Apache-2.0
/*
 * pg_value - PostgreSQL's text form of a value to JSON, to a URL literal, and to raw bytes.
 *
 * The text forms are those of a session with TimeZone=UTC, DateStyle=ISO, IntervalStyle=iso_8601,
 * extra_float_digits=1, bytea_output=hex (storage/session.h).
 *
 * Where the two type systems differ: infinite dates are written as 9999-12-31 and 0001-01-01, years
 * BC by ISO 8601 (44 BC is -0043), time 24:00:00 as 23:59:59.999999, months of an interval as 30
 * days. A row of an array column that has more than one dimension is refused: Collection(T) cannot
 * hold it.
 *
 * Owns: nothing; forms are static, or live in the arena that they are made in.
 */
#ifndef STORAGE_PG_VALUE_H
#define STORAGE_PG_VALUE_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/model.h"
#include "odata/response_format.h"
#include "odata/shape.h"

/*
 * How a value of this type is written in JSON (JSON Format 7.1; DESIGN 4). NULL when memory is
 * short. type and pg are those of a property; collections and composites are made of the forms of
 * their parts. With metadata=full, objects say their type and that of their members.
 */
const struct value_form *pg_value_json_form(struct arena *a, const struct type_ref *type,
                                            const struct pg_type_ref *pg,
                                            const struct response_format *format) NODISCARD;

/*
 * How it is written in a field of text/csv: as in JSON but bare; text in quotes where RFC 4180 asks
 * for them; what is an object or array in JSON as its JSON text. NULL when memory is short.
 */
const struct value_form *pg_value_csv_form(struct arena *a, const struct type_ref *type,
                                           const struct pg_type_ref *pg,
                                           const struct response_format *format) NODISCARD;

/*
 * How a key value of this type is written in a URL: 'O%27%27Neil', 1, 2024-02-29; ASCII that needs
 * no escape in JSON. NULL for what cannot be a key: collections, complex and untyped values.
 */
const struct value_form *pg_value_url_form(const struct type_ref *type,
                                           const struct pg_type_ref *pg);

/*
 * How $value writes it: text as it is, bytea as octets, everything else as in JSON, unquoted. NULL
 * for what has no $value: collections and complex values.
 */
typedef void (*pg_value_raw_fn)(struct bytes *out, const char *text, size_t len);
pg_value_raw_fn pg_value_raw(const struct type_ref *type, const struct pg_type_ref *pg);

#endif

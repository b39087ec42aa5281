/*
 * pg_value - PostgreSQL's text form of a value to JSON, to a URL literal, and to raw bytes.
 *
 * The text forms are those of a session with TimeZone=UTC, DateStyle=ISO, IntervalStyle=iso_8601,
 * extra_float_digits=1, bytea_output=hex (storage/session.h).
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
 * their parts.
 */
const struct value_form *pg_value_json_form(struct arena *a, const struct type_ref *type,
                                            const struct pg_type_ref *pg,
                                            const struct response_format *format) NODISCARD;

/* How a key value of this type is written in a URL: 'O''Neil' percent-encoded, 1, 2024-02-29. */
const struct value_form *pg_value_url_form(const struct type_ref *type,
                                           const struct pg_type_ref *pg);

/* How $value writes it: text as it is, bytea as octets, everything else as in JSON, unquoted. */
typedef void (*pg_value_raw_fn)(struct bytes *out, const char *text, size_t len);
pg_value_raw_fn pg_value_raw(const struct type_ref *type, const struct pg_type_ref *pg);

#endif

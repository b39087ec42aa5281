// SPDX-License-Identifier: Apache-2.0
/*
 * pg_value_priv - what the pg_value files share: one writer for each kind of value.
 *
 * "put" functions append a value bare; the "write" functions are value_write_fn: the JSON form,
 * with quotes where it has some. All set out->failed on text that they cannot read.
 */
#ifndef STORAGE_PG_VALUE_PRIV_H
#define STORAGE_PG_VALUE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "odata/bytes.h"
#include "odata/shape.h"

/* Object identifiers of built-in types, as in pg_type.dat; PostgreSQL never changes them. */
enum {
    PG_OID_JSON = 114,
    PG_OID_BOX = 603,
    PG_OID_MONEY = 790,
    PG_OID_BPCHAR = 1042,
    PG_OID_JSONB = 3802,
};

/* What is left of a text that is read from front to back. */
struct pg_rest {
    const char *at;
    const char *end;
};

static inline bool pg_is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/*
 * Eight bytes at once. pattern: '0' stands for any digit, any other character for itself; mask has
 * 0xf0 for the former and 0xff for the latter, six has 6 and 0. A byte that the sum carries out of is
 * above 0xf9, and fails the first comparison already.
 */
static inline bool pg_fits_8(const char *text, const char *pattern, const char *mask,
                             const char *six)
{
    uint64_t v;
    uint64_t p;
    uint64_t m;
    uint64_t s;
    memcpy(&v, text, 8);
    memcpy(&p, pattern, 8);
    memcpy(&m, mask, 8);
    memcpy(&s, six, 8);
    return (v & m) == p && ((v + s) & m) == p;
}

static inline bool pg_are_8_digits(const char *text)
{
    return pg_fits_8(text, "00000000", "\xf0\xf0\xf0\xf0\xf0\xf0\xf0\xf0", "\6\6\6\6\6\6\6\6");
}

/* pg_scalar.c */
void pg_put_bool(struct bytes *out, const char *text, size_t len);
void pg_put_integer(struct bytes *out, const char *text, size_t len);
void pg_put_numeric(struct bytes *out, const char *text, size_t len);
void pg_put_money(struct bytes *out, const char *text, size_t len);
void pg_put_float(struct bytes *out, const char *text, size_t len);
void pg_put_uuid(struct bytes *out, const char *text, size_t len);
size_t pg_bpchar_length(const char *text, size_t len);
void pg_write_bool(struct bytes *out, const char *text, size_t len, const struct value_form *form);
void pg_write_integer(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form);
void pg_write_integer_string(struct bytes *out, const char *text, size_t len,
                             const struct value_form *form);
void pg_write_numeric(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form);
void pg_write_numeric_string(struct bytes *out, const char *text, size_t len,
                             const struct value_form *form);
void pg_write_money(struct bytes *out, const char *text, size_t len, const struct value_form *form);
void pg_write_money_string(struct bytes *out, const char *text, size_t len,
                           const struct value_form *form);
void pg_write_float(struct bytes *out, const char *text, size_t len, const struct value_form *form);
void pg_write_uuid(struct bytes *out, const char *text, size_t len, const struct value_form *form);
void pg_write_text(struct bytes *out, const char *text, size_t len, const struct value_form *form);
void pg_write_bpchar(struct bytes *out, const char *text, size_t len,
                     const struct value_form *form);
void pg_write_json(struct bytes *out, const char *text, size_t len, const struct value_form *form);

/* pg_time.c */
void pg_put_date(struct bytes *out, const char *text, size_t len);
void pg_put_timestamp(struct bytes *out, const char *text, size_t len);
void pg_put_time(struct bytes *out, const char *text, size_t len);
void pg_write_date(struct bytes *out, const char *text, size_t len, const struct value_form *form);
void pg_write_timestamp(struct bytes *out, const char *text, size_t len,
                        const struct value_form *form);
void pg_write_time(struct bytes *out, const char *text, size_t len, const struct value_form *form);

/* pg_interval.c */
void pg_put_interval(struct bytes *out, const char *text, size_t len);
void pg_write_interval(struct bytes *out, const char *text, size_t len,
                       const struct value_form *form);

/* pg_bytea.c */
void pg_put_octets(struct bytes *out, const char *text, size_t len);
void pg_put_base64url(struct bytes *out, const char *text, size_t len);
void pg_write_bytea(struct bytes *out, const char *text, size_t len, const struct value_form *form);

/* pg_nested.c: arrays and composites. form->extra of an array is the one character between its
   items; NULL stands for the comma. */
void pg_write_array(struct bytes *out, const char *text, size_t len, const struct value_form *form);
void pg_write_composite(struct bytes *out, const char *text, size_t len,
                        const struct value_form *form);

/* pg_quoted.c: text in double quotes, as arrays and composites have it. */

/* The first '"' or backslash of [from, end), or end. */
const char *pg_find_special(const char *from, const char *end);

/*
 * Writes the value whose text is len bytes at text, where each '"' and backslash has a byte before
 * it that makes it stand for itself: a backslash, or in composites a second '"'.
 */
void pg_write_escaped(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form);

#endif

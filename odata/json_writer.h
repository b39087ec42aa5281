// SPDX-License-Identifier: Apache-2.0
/*
 * json_writer - JSON text, appended to a buffer (RFC 8259).
 *
 * Strings are UTF-8 already and go out as they are; only what RFC 8259 section 7 demands is escaped.
 *
 * Owns: nothing; failures stick to the buffer (odata/bytes.h).
 */
#ifndef ODATA_JSON_WRITER_H
#define ODATA_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/str.h"

/* Appends the text in quotes, escaped. */
void json_put_string(struct bytes *out, const char *ptr, size_t len);

/* The same without the quotes: for strings made of pieces. */
void json_put_escaped(struct bytes *out, const char *ptr, size_t len);

static inline void json_put_str(struct bytes *out, struct str s)
{
    json_put_string(out, s.ptr, s.len);
}

/* Appends `"name":`. */
void json_put_label(struct bytes *out, struct str name);

/*
 * Makes `"name":` once a request, to be copied for each row: member.label of odata/shape.h.
 * False past the arena's limit.
 */
bool json_make_label(struct arena *a, struct str name, struct str *out_label) NODISCARD;

/* Makes the escaped text without quotes; `text` itself when nothing in it needs an escape. */
bool json_make_escaped(struct arena *a, struct str text, struct str *out_escaped) NODISCARD;

#endif

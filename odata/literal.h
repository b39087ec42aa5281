// SPDX-License-Identifier: Apache-2.0
/*
 * literal - the shapes of OData's literals: numbers, dates, times, guids, and what stands in the
 * quotes of durations, binaries and geo values.
 *
 * Only shapes and fixed ranges (months, hours) are checked; whether February has a 30th day is a
 * question for who converts the value.
 *
 * Source: OData 4.01 ABNF section 7. Lenient beyond it: suffixes m M d D f F L l of older
 * versions.
 */
#ifndef ODATA_LITERAL_H
#define ODATA_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/str.h"

/* What was found at the start of an unquoted literal. */
struct literal {
    enum literal_kind kind;
    struct str text;     /* as enum literal_kind says: without suffix and leading plus */
    size_t end;          /* the byte behind it */
    const char *problem; /* NULL, or why it is none although it begins like one: static text */
    size_t problem_at;
};

/*
 * An unquoted literal at byte `at`: guid, date, dateTimeOffset, timeOfDay, or a number.
 * False when nothing of these begins there. The words (null, true, INF) are names to this function,
 * except -INF.
 */
bool literal_scan(struct str text, size_t at, struct literal *out_literal) NODISCARD;

/*
 * Whether all of text is a value of that kind as enum literal_kind has it (no quotes, no prefix):
 * for GUID, DATE, DATETIMEOFFSET, TIMEOFDAY, DURATION, BINARY, GEOGRAPHY, GEOMETRY, INTEGER,
 * DECIMAL, DOUBLE. For quoted values that are compared with properties of these types.
 */
bool literal_is(enum literal_kind kind, struct str text) NODISCARD;

/* The members of an enum value: names or numbers, separated by commas. */
bool literal_is_enum_value(struct str text) NODISCARD;

#endif

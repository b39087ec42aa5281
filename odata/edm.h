// SPDX-License-Identifier: Apache-2.0
/*
 * edm - the primitive types of the Entity Data Model (OData CSDL 4.01, 3.3), as one table.
 */
#ifndef ODATA_EDM_H
#define ODATA_EDM_H

#include <stdbool.h>

#include "odata/str.h"

enum edm_type {
    EDM_NONE, /* unknown or not applicable; also the type of the null literal */
    EDM_BINARY,
    EDM_BOOLEAN,
    EDM_BYTE,
    EDM_DATE,
    EDM_DATETIMEOFFSET,
    EDM_DECIMAL,
    EDM_DOUBLE,
    EDM_DURATION,
    EDM_GUID,
    EDM_INT16,
    EDM_INT32,
    EDM_INT64,
    EDM_SBYTE,
    EDM_SINGLE,
    EDM_STREAM,
    EDM_STRING,
    EDM_TIMEOFDAY,
    EDM_UNTYPED,
    EDM_GEOGRAPHY,
    EDM_GEOMETRY,
    /* Not primitive: which one is said beside it, in struct type_ref. */
    EDM_ENUM,
    EDM_COMPLEX,
    EDM_ENTITY,
    EDM_TYPE_COUNT,
};

/* "Edm.Int32"; "Edm.Untyped" for EDM_UNTYPED; "" for EDM_NONE and for what is not primitive. */
struct str edm_name(enum edm_type type);

/* The type of a qualified name such as "Edm.Int32", or EDM_NONE. */
enum edm_type edm_find(struct str name);

/* Byte, SByte, Int16, Int32, Int64, Single, Double, Decimal. */
bool edm_is_numeric(enum edm_type type);
/* Byte, SByte, Int16, Int32, Int64. */
bool edm_is_integer(enum edm_type type);
/* Date, DateTimeOffset, TimeOfDay, Duration. */
bool edm_is_temporal(enum edm_type type);
/* May be a key property (CSDL 6.5) and may be ordered by. */
bool edm_is_key(enum edm_type type);
bool edm_is_ordered(enum edm_type type);

#endif

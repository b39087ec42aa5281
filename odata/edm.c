// SPDX-License-Identifier: Apache-2.0
#include "odata/edm.h"

#include "odata/compiler.h"

enum trait {
    NUMERIC = 1,
    INTEGER = 2,
    TEMPORAL = 4,
    KEY = 8,
    ORDERED = 16,
};

/* CSDL 3.3 for the names; 6.5 for what may be a key; URL Conventions 5.1.1.1 for what has an order. */
static const struct edm_row {
    struct str name;
    unsigned traits;
} types[EDM_TYPE_COUNT] = {
    [EDM_NONE] = {{STR_INIT("")}, 0},
    [EDM_BINARY] = {{STR_INIT("Edm.Binary")}, 0},
    [EDM_BOOLEAN] = {{STR_INIT("Edm.Boolean")}, KEY | ORDERED},
    [EDM_BYTE] = {{STR_INIT("Edm.Byte")}, NUMERIC | INTEGER | KEY | ORDERED},
    [EDM_DATE] = {{STR_INIT("Edm.Date")}, TEMPORAL | KEY | ORDERED},
    [EDM_DATETIMEOFFSET] = {{STR_INIT("Edm.DateTimeOffset")}, TEMPORAL | KEY | ORDERED},
    [EDM_DECIMAL] = {{STR_INIT("Edm.Decimal")}, NUMERIC | KEY | ORDERED},
    [EDM_DOUBLE] = {{STR_INIT("Edm.Double")}, NUMERIC | ORDERED},
    [EDM_DURATION] = {{STR_INIT("Edm.Duration")}, TEMPORAL | KEY | ORDERED},
    [EDM_GUID] = {{STR_INIT("Edm.Guid")}, KEY | ORDERED},
    [EDM_INT16] = {{STR_INIT("Edm.Int16")}, NUMERIC | INTEGER | KEY | ORDERED},
    [EDM_INT32] = {{STR_INIT("Edm.Int32")}, NUMERIC | INTEGER | KEY | ORDERED},
    [EDM_INT64] = {{STR_INIT("Edm.Int64")}, NUMERIC | INTEGER | KEY | ORDERED},
    [EDM_SBYTE] = {{STR_INIT("Edm.SByte")}, NUMERIC | INTEGER | KEY | ORDERED},
    [EDM_SINGLE] = {{STR_INIT("Edm.Single")}, NUMERIC | ORDERED},
    [EDM_STREAM] = {{STR_INIT("Edm.Stream")}, 0},
    [EDM_STRING] = {{STR_INIT("Edm.String")}, KEY | ORDERED},
    [EDM_TIMEOFDAY] = {{STR_INIT("Edm.TimeOfDay")}, TEMPORAL | KEY | ORDERED},
    [EDM_UNTYPED] = {{STR_INIT("Edm.Untyped")}, 0},
    [EDM_GEOGRAPHY] = {{STR_INIT("Edm.Geography")}, 0},
    [EDM_GEOMETRY] = {{STR_INIT("Edm.Geometry")}, 0},
    [EDM_ENUM] = {{STR_INIT("")}, KEY | ORDERED},
    [EDM_COMPLEX] = {{STR_INIT("")}, 0},
    [EDM_ENTITY] = {{STR_INIT("")}, 0},
};

struct str edm_name(enum edm_type type)
{
    return types[type].name;
}

enum edm_type edm_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        if (types[i].name.len > 0 && str_eq(types[i].name, name)) {
            return (enum edm_type)i;
        }
    }
    return EDM_NONE;
}

static bool has(enum edm_type type, enum trait trait)
{
    return (types[type].traits & (unsigned)trait) != 0;
}

bool edm_is_numeric(enum edm_type type)
{
    return has(type, NUMERIC);
}

bool edm_is_integer(enum edm_type type)
{
    return has(type, INTEGER);
}

bool edm_is_temporal(enum edm_type type)
{
    return has(type, TEMPORAL);
}

bool edm_is_key(enum edm_type type)
{
    return has(type, KEY);
}

bool edm_is_ordered(enum edm_type type)
{
    return has(type, ORDERED);
}

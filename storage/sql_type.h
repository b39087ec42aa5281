// SPDX-License-Identifier: Apache-2.0
/*
 * sql_type - where PostgreSQL's types differ from the Edm type that a column is shown as.
 */
#ifndef STORAGE_SQL_TYPE_H
#define STORAGE_SQL_TYPE_H

#include "odata/model.h"

/* OIDs of pg_type.dat that make a difference here. */
enum {
    PG_TEXT = 25,
    PG_BPCHAR = 1042,
    PG_VARCHAR = 1043,
    PG_TIMESTAMP = 1114,
    PG_NUMERIC = 1700,
};

/*
 * What must follow a column of this type so that it behaves as its Edm type does: `::text` for an
 * inet that is shown as a string, `::numeric` for money, mostly nothing.
 */
struct str sql_wrap(const struct type_ref *type, const struct pg_type_ref *pg);

/*
 * The seconds of an interval, a numeric: a month counts 30 days and a year twelve months, as in our
 * JSON and in PostgreSQL's comparison (extract(epoch) has years of 365.25 days).
 */
#define SQL_SECONDS_OF(interval)                                                          \
    "(extract(year FROM " interval ") * 360 + extract(month FROM " interval ") * 30"      \
    " + extract(day FROM " interval ")) * 86400 + extract(hour FROM " interval ") * 3600" \
    " + extract(minute FROM " interval ") * 60 + extract(second FROM " interval ")"

#endif

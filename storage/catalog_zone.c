// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_zone.h"

#include <string.h>

/* $1: the name. The list is read from files: only who names another zone than UTC pays for it. */
static const char zone_sql[] = "SELECT name FROM pg_timezone_names WHERE lower(name) = lower($1)";

static bool is_plain(struct str name)
{
    static const char marks[] = "_+-/";
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && memchr(marks, c, sizeof(marks) - 1) == NULL) {
            return false;
        }
    }
    return name.len > 0;
}

static bool read_zone(struct raw_catalog *raw, const struct catalog_row *row)
{
    return arena_copy(raw->kept, row_text(row, 0), &raw->zone);
}

bool catalog_read_zone(struct raw_catalog *raw, struct catalog_connection *conn,
                       struct odata_error *err)
{
    struct str wanted = raw->options->timestamp_zone;
    if (wanted.len == 0 || str_ieq(wanted, STR("UTC"))) {
        return true;
    }
    if (is_plain(wanted) &&
        !catalog_run(conn, "time zones", zone_sql, &wanted.ptr, 1, read_zone, raw, err)) {
        return false;
    }
    if (raw->zone.len == 0) {
        return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "timestamp-zone",
                               "timestamp-zone: PostgreSQL has no time zone '%.*s' in "
                               "pg_timezone_names",
                               STR_ARG(wanted));
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_zone - the time zone that timestamp columns are taken in, when it is not UTC.
 */
#ifndef STORAGE_CATALOG_ZONE_H
#define STORAGE_CATALOG_ZONE_H

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "storage/catalog_connection.h"
#include "storage/catalog_raw.h"

/*
 * Looks options->timestamp_zone up in pg_timezone_names, and sets raw->zone to the name as it stands
 * there, letters, digits and `_+-/` only; "" for UTC. False fills err: 500 when there is no such zone.
 */
bool catalog_read_zone(struct raw_catalog *raw, struct catalog_connection *conn,
                       struct odata_error *err) NODISCARD;

#endif

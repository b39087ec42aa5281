// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_login - whether the role that logs in is harmless: PostgreSQL keeps no rows from a
 * superuser, from a role with BYPASSRLS, and from the owner of a table.
 *
 * Owns: nothing.
 */
#ifndef STORAGE_CATALOG_LOGIN_H
#define STORAGE_CATALOG_LOGIN_H

#include "storage/catalog_connection.h"

/*
 * Warns of what options->login says, and of views that show what their owners may read where
 * tables have policies. schema_oids: a PostgreSQL array. False fills err: 500 Internal when
 * LOGIN_REFUSE is set and there is something about the role, else as catalog_run().
 */
bool catalog_check_login(struct raw_catalog *raw, struct catalog_connection *conn,
                         const char *schema_oids, struct odata_error *err) NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
#include "storage/db_rights.h"

#include <assert.h>

#include "odata/compiler.h"
#include "odata/str.h"
#include "storage/pg_error.h"

/* What SET LOCAL ROLE does, by parameter; and the name under which PostgREST hands over claims. */
static const char take_text[] = "SELECT pg_catalog.set_config('role', $1, true),"
                                " pg_catalog.set_config('request.jwt.claims', $2, true)";

uint64_t db_rights_hash(const struct db_rights *rights, const char *text)
{
    uint64_t hash = str_hash(str_from(text));
    return rights == NULL ? hash : str_hash_more(hash, str_from(rights->role));
}

void db_rights_refused(struct odata_error *err, const char *sqlstate, const char *text)
{
    (void)odata_error_set(err, 403, ODATA_CODE_FORBIDDEN, "",
                          "the database does not let this service act for the caller's role");
    pg_error_note(err, sqlstate, text);
}

void db_rights_send(const struct db_rights *rights, struct conn *conn, struct conn_client *client,
                    void *arg)
{
    if (conn->rights_id == db_rights_id(rights)) {
        return;
    }
    assert(rights != NULL); /* the pool ends the group of others before it seats the login role */
    const char *params[] = {rights->role, rights->claims};
    const struct sql_statement statement = {
        .text = take_text, .params = params, .param_count = ARRAY_SIZE(params)};
    conn->rights_id = rights->id;
    conn_send(conn, client, arg, &statement, str_hash(str_from(take_text)), PLAN_ANY);
}

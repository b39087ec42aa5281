// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_login.h"

#include <stdio.h>

/*
 * $1: OIDs of schemas. One row for each thing that is to be said: of the role (true) or of views. The
 * session's user is the one that has logged in, whatever role is set.
 */
static const char faults_sql[] =
    "WITH login AS (SELECT * FROM pg_roles WHERE rolname = session_user),"
    " shown AS (SELECT c.* FROM pg_class c WHERE c.relnamespace = ANY ($1::oid[])),"
    " owned AS (SELECT count(*) AS n, array_to_string((array_agg(relname ORDER BY relname))[1:20], ', ')"
    "   AS names FROM shown, login WHERE relowner = login.oid AND relkind IN ('r', 'p', 'f')"
    "   AND NOT relispartition),"
    " open_views AS (SELECT count(*) AS n,"
    "   array_to_string((array_agg(relname ORDER BY relname))[1:20], ', ') AS names FROM shown"
    "   WHERE relkind = 'v' AND NOT coalesce(reloptions && '{security_invoker=true,security_invoker=on,"
    "security_invoker=1,security_invoker=yes}', false)"
    "   AND EXISTS (SELECT FROM shown t WHERE t.relrowsecurity))"
    " SELECT true, rolname, 'is a superuser: nothing keeps rows from it' FROM login WHERE rolsuper"
    " UNION ALL SELECT true, rolname, 'has BYPASSRLS: no policy keeps rows from it' FROM login"
    "  WHERE rolbypassrls AND NOT rolsuper"
    " UNION ALL SELECT true, rolname, 'owns ' || n || ' of the tables, whose policies do not hold for"
    " it: ' || names FROM login, owned WHERE n > 0"
    " UNION ALL SELECT false, '', 'with the rights of their owners, past the policies of tables, are"
    " read ' || n || ' views: ' || names || '; security_invoker ends that' FROM open_views WHERE n > 0";

static bool read_fault(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct model_warning *w = RAW_ADD(&raw->warnings);
    bool is_of_role = row_bool(row, 0);
    if (w == NULL) {
        return false;
    }
    raw->has_login_fault = raw->has_login_fault || is_of_role;
    return arena_copy(raw->kept, is_of_role ? STR("db-uri") : STR("views"), &w->relation) &&
           arena_format(raw->kept, &w->text, "%s%.*s%s%.*s", is_of_role ? "the role '" : "",
                        STR_ARG(row_text(row, 1)), is_of_role ? "' that logs in " : "",
                        STR_ARG(row_text(row, 2)));
}

bool catalog_check_login(struct raw_catalog *raw, struct catalog_connection *conn,
                         const char *schema_oids, struct odata_error *err)
{
    if (raw->options->login == LOGIN_ANY) {
        return true;
    }
    size_t before = raw->warnings.count;
    if (!catalog_run(conn, "login", faults_sql, &schema_oids, 1, read_fault, raw, err)) {
        return false;
    }
    if (raw->options->login == LOGIN_REFUSE && raw->has_login_fault) {
        return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "", "strict: %.*s",
                               STR_ARG(raw->warnings.items[before].text));
    }
    return true;
}

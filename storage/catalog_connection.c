// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/connect.h"
#include "storage/db_rights.h"
#include "storage/pg_error.h"

enum {
    GRACE_MS = 2000, /* for statement_timeout's own answer */
};

struct str row_text(const struct catalog_row *row, int field)
{
    return (struct str){PQgetvalue(row->result, 0, field),
                        (size_t)PQgetlength(row->result, 0, field)};
}

uint32_t row_oid(const struct catalog_row *row, int field)
{
    return (uint32_t)strtoul(PQgetvalue(row->result, 0, field), NULL, 10);
}

int32_t row_int(const struct catalog_row *row, int field)
{
    return (int32_t)strtol(PQgetvalue(row->result, 0, field), NULL, 10);
}

bool row_bool(const struct catalog_row *row, int field)
{
    return PQgetvalue(row->result, 0, field)[0] == 't';
}

char row_char(const struct catalog_row *row, int field)
{
    return PQgetvalue(row->result, 0, field)[0];
}

/* PostgreSQL's words for the log; the client learns only what could not be done. */
static bool fail(struct odata_error *err, PGconn *conn, const char *sqlstate, const char *what)
{
    bool late = sqlstate != NULL && strcmp(sqlstate, "57014") == 0;
    bool lost = sqlstate == NULL || late || PQstatus(conn) != CONNECTION_OK;
    odata_error_set(err, lost ? 503 : 500,
                    late   ? ODATA_CODE_DATABASE_TIMEOUT
                    : lost ? ODATA_CODE_DATABASE_UNAVAILABLE
                           : ODATA_CODE_INTERNAL,
                    "", "%s", what);
    pg_error_note(err, sqlstate, PQerrorMessage(conn));
    return false;
}

/* Reads only, and with names that format_type() qualifies unless they are PostgreSQL's own. */
static PGconn *connect_to(const struct catalog_options *options, struct odata_error *err)
{
    const struct session_options session = {
        .statement_timeout_ms = options->timeout_ms,
        .read_only = true,
        .search_path = "pg_catalog",
    };
    PGconn *pg = NULL;
    return connect_blocking(options->db_uri, &session, options->timeout_ms, &pg, err) ? pg : NULL;
}

/* Waits until the next result is there. False when it takes too long or the connection is lost. */
static bool wait_result(const struct catalog_connection *conn)
{
    bool bounded = conn->timeout_ms > 0 && conn->timeout_ms <= INT32_MAX - GRACE_MS;
    int timeout_ms = bounded ? (int)conn->timeout_ms + GRACE_MS : -1;
    while (PQisBusy(conn->pg)) {
        struct pollfd p = {.fd = PQsocket(conn->pg), .events = POLLIN};
        int ready = poll(&p, 1, timeout_ms);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0 || !PQconsumeInput(conn->pg)) {
            return false;
        }
    }
    return true;
}

void catalog_disconnect(struct catalog_connection *conn)
{
    PQfinish(conn->pg);
    conn->pg = NULL;
}

bool catalog_run(struct catalog_connection *conn, const char *what, const char *sql,
                 const char *const *values, int value_count, catalog_row_fn fn,
                 struct raw_catalog *raw, struct odata_error *err)
{
    char message[128];
    snprintf(message, sizeof(message), "the catalog cannot be read: %s", what);
    if (!PQsendQueryParams(conn->pg, sql, value_count, NULL, values, NULL, NULL, 0)) {
        return fail(err, conn->pg, NULL, message);
    }
    (void)PQsetSingleRowMode(conn->pg); /* memory for one row, however many there are */
    while (true) {
        if (!wait_result(conn)) {
            return fail(err, conn->pg, NULL, message);
        }
        PGresult *result = PQgetResult(conn->pg);
        if (result == NULL) {
            return true;
        }
        ExecStatusType status = PQresultStatus(result);
        bool is_row = status == PGRES_SINGLE_TUPLE && fn != NULL;
        bool ok = is_row || status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
        if (!ok) {
            fail(err, conn->pg, PQresultErrorField(result, PG_DIAG_SQLSTATE), message);
        } else if (is_row && !fn(raw, &(struct catalog_row){result})) {
            ok = raw_no_memory(err);
        }
        PQclear(result);
        if (!ok) {
            return false;
        }
    }
}

/* has_table_privilege() and its like then answer for the role. */
static bool take_role(struct catalog_connection *conn, const char *role, struct odata_error *err)
{
    const char *const values[] = {role};
    if (role == NULL ||
        catalog_run(conn, "role", "SELECT WHERE set_config('role', $1, true) IS NULL", values, 1,
                    NULL, NULL, err)) {
        return true;
    }
    if (err->http_status == 500) { /* it answers, and refuses */
        char why[sizeof(err->internal)];
        memcpy(why, err->internal, sizeof(why));
        db_rights_refused(err, NULL, why);
    }
    return false;
}

bool catalog_connect(const struct catalog_options *options, struct catalog_connection *out_conn,
                     struct odata_error *err)
{
    struct catalog_connection conn = {connect_to(options, err), options->timeout_ms};
    if (conn.pg == NULL) {
        return false;
    }
    /* One snapshot for all questions. */
    if (!catalog_run(&conn, "transaction", "BEGIN ISOLATION LEVEL REPEATABLE READ", NULL, 0, NULL,
                     NULL, err) ||
        !take_role(&conn, options->role, err)) {
        catalog_disconnect(&conn);
        return false;
    }
    *out_conn = conn;
    return true;
}

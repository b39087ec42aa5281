// SPDX-License-Identifier: Apache-2.0
#include "storage/listener.h"

#include <stdio.h>
#include <stdlib.h>

#include <libpq-fe.h>

#include "storage/connect.h"
#include "storage/pg_error.h"

struct listener {
    PGconn *conn;
};

static bool fail(struct odata_error *err, const char *text)
{
    odata_error_set(err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "",
                    "no connection that listens to the database");
    pg_error_tidy(err->internal, sizeof(err->internal), str_from(text));
    return false;
}

static void drop_notice(void *arg, const PGresult *result)
{
    (void)arg;
    (void)result;
}

static bool listen_on(PGconn *conn, const char *channel, struct odata_error *err)
{
    char command[80];
    PQsetNoticeReceiver(conn, drop_notice, NULL);
    snprintf(command, sizeof(command), "LISTEN \"%s\"", channel);
    PGresult *result = PQexec(conn, command);
    bool ok = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!ok) {
        fail(err, PQerrorMessage(conn));
    }
    PQclear(result);
    return ok;
}

bool listener_open(const char *db_uri, const char *channel, int64_t timeout_ms,
                   struct listener **out_listener, struct odata_error *err)
{
    const struct session_options session = {.read_only = true};
    PGconn *conn = NULL;
    struct listener *l = calloc(1, sizeof(*l));
    bool ok = l != NULL ? connect_blocking(db_uri, &session, timeout_ms, &conn, err)
                        : fail(err, "memory is short");
    if (ok && listen_on(conn, channel, err)) {
        l->conn = conn;
        *out_listener = l;
        return true;
    }
    free(l);
    PQfinish(conn);
    return false;
}

int listener_fd(const struct listener *l)
{
    return PQsocket(l->conn);
}

enum listener_news listener_take(struct listener *l, struct str payload)
{
    if (PQconsumeInput(l->conn) == 0 || PQstatus(l->conn) != CONNECTION_OK) {
        return LISTENER_LOST;
    }
    enum listener_news news = LISTENER_NOTHING;
    PGnotify *note = NULL;
    while ((note = PQnotifies(l->conn)) != NULL) {
        if (str_eq(str_from(note->extra), payload)) {
            news = LISTENER_NOTIFIED;
        }
        PQfreemem(note);
    }
    return news;
}

void listener_close(struct listener *l)
{
    if (l != NULL) {
        PQfinish(l->conn);
        free(l);
    }
}

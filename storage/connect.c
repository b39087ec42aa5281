// SPDX-License-Identifier: Apache-2.0
#include "storage/connect.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "odata/str.h"
#include "storage/conninfo.h"
#include "storage/pg_error.h"

enum {
    SQLSTATE_LENGTH = 5,
};

/* Why PostgreSQL refuses a connection (its manual, Appendix A); the first row that fits counts. */
static const struct {
    const char *prefix;
    const char *message;
} refusals[] = {
    {"28P01", "the database refuses the password"},
    {"28", "the database refuses the role"},
    {"3D", "there is no such database"},
    {"42501", "the role may not connect to the database"},
    {"53300", "the database has no free connection"},
    {"57P03", "the database is starting or stopping"},
};

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The SQLSTATE in a verbose message, `... FATAL:  28P01: ...`, whatever the language; or NULL.
   libpq has no other way to tell it before a connection stands. */
static const char *find_sqlstate(const char *text)
{
    for (const char *p = strstr(text, ":  "); p != NULL; p = strstr(p + 1, ":  ")) {
        const char *state = p + strlen(":  ");
        if (strspn(state, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == SQLSTATE_LENGTH &&
            state[SQLSTATE_LENGTH] == ':') {
            return state;
        }
    }
    return NULL;
}

static void describe(struct odata_error *err, const PGconn *pg, const char *text)
{
    const char *state = find_sqlstate(text);
    const char *message = PQconnectionNeedsPassword(pg) ? "the database wants a password"
                                                        : "the database cannot be reached";
    for (size_t i = 0; state != NULL && i < ARRAY_SIZE(refusals); i++) {
        if (strncmp(state, refusals[i].prefix, strlen(refusals[i].prefix)) == 0) {
            message = refusals[i].message;
            break;
        }
    }
    const char *end = strstr(text, "\nLOCATION:"); /* a place in PostgreSQL's sources */
    (void)odata_error_set(err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "", "%s", message);
    pg_error_tidy(err->internal, sizeof(err->internal),
                  (struct str){text, end == NULL ? strlen(text) : (size_t)(end - text)});
}

/* Waits for the connection; NULL when it stands, else the reason, lent by pg. */
static const char *wait_connected(PGconn *pg, int64_t timeout_ms)
{
    int64_t until_ms = clock_ms() + timeout_ms;
    PostgresPollingStatusType status =
        PQstatus(pg) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
        if (status == PGRES_POLLING_FAILED) {
            return PQerrorMessage(pg);
        }
        struct pollfd p = {.fd = PQsocket(pg),
                           .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        int64_t left_ms = until_ms - clock_ms();
        int ready = poll(&p, 1, timeout_ms == 0 ? -1 : left_ms <= 0 ? 0 : (int)left_ms);
        if (ready == 0) {
            return "the host did not answer in time";
        }
        if (ready > 0) {
            status = PQconnectPoll(pg);
        } else if (errno != EINTR) {
            return "the socket cannot be watched";
        }
    }
    return NULL;
}

static bool try_target(const struct conninfo *info, size_t target, int64_t timeout_ms,
                       PGconn **out_pg, struct odata_error *err)
{
    PGconn *pg = conninfo_start(info, target, NULL);
    if (pg == NULL) {
        return odata_error_set(err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "", "memory is short");
    }
    (void)PQsetErrorVerbosity(pg, PQERRORS_VERBOSE);
    const char *failure = wait_connected(pg, timeout_ms);
    if (failure != NULL) {
        describe(err, pg, failure);
        PQfinish(pg);
        return false;
    }
    (void)PQsetErrorVerbosity(pg, PQERRORS_DEFAULT);
    *out_pg = pg;
    return true;
}

bool connect_blocking(const char *uri, const struct session_options *session, int64_t timeout_ms,
                      PGconn **out_pg, struct odata_error *err)
{
    struct conninfo info;
    if (!conninfo_init(&info, uri, session)) {
        return odata_error_set(err, 503, ODATA_CODE_DATABASE_UNAVAILABLE, "", "memory is short");
    }
    bool done = false;
    if (info.bad_uri != NULL) {
        odata_error_set(err, 500, ODATA_CODE_INTERNAL, "",
                        "the database's connection string cannot be parsed");
    } else {
        for (size_t i = 0; i < info.target_count && !done; i++) {
            done = try_target(&info, i, timeout_ms, out_pg, err);
        }
    }
    conninfo_fini(&info);
    return done;
}

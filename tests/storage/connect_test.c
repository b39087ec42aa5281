// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <libpq-fe.h>

#include "odata/str.h"
#include "storage/connect.h"
#include "tests/support/environment.h"

static const struct session_options none = {0};

/* What is refused, and by which words of ours; PGHOST and PGPORT lead to a cluster that trusts. */
static const struct row {
    const char *name;
    const char *uri;
    int http_status;
    const char *message;
    const char *internal; /* a piece of it */
} rows[] = {
    {"an unknown role", "user=nobody_here", 503, "the database refuses the role",
     "28000: role \"nobody_here\" does not exist"},
    {"an unknown database", "dbname=nothing_here", 503, "there is no such database",
     "3D000: database \"nothing_here\" does not exist"},
    {"a role that may not connect", "user=connect_test_outsider dbname=connect_test", 503,
     "the role may not connect to the database", "42501: permission denied for database"},
    {"nobody listens", "host=127.0.0.1 port=1", 503, "the database cannot be reached",
     "Connection refused"},
    {"a string that cannot be parsed", "user=u password='secret", 500,
     "the database's connection string cannot be parsed", ""},
    {"a word that is no setting", "secret", 500,
     "the database's connection string cannot be parsed", ""},
};

static void run(PGconn *pg, const char *sql)
{
    PQclear(PQexec(pg, sql));
}

static void prepare(const char *last)
{
    static const char *const commands[] = {
        "DROP DATABASE IF EXISTS connect_test", "DROP ROLE IF EXISTS connect_test_outsider",
        "CREATE ROLE connect_test_outsider LOGIN", "CREATE DATABASE connect_test",
        "REVOKE CONNECT ON DATABASE connect_test FROM PUBLIC"};
    PGconn *pg = PQconnectdb("");
    ck_assert_msg(PQstatus(pg) == CONNECTION_OK, "%s", PQerrorMessage(pg));
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        run(pg, commands[i]);
        if (last != NULL && strcmp(commands[i], last) == 0) {
            break;
        }
    }
    PQfinish(pg);
}

START_TEST(says_what_is_refused)
{
    const struct row *row = &rows[_i];
    struct odata_error err = {0};
    PGconn *pg = NULL;
    prepare(NULL);
    bool done = connect_blocking(row->uri, &none, 10000, &pg, &err);
    ck_assert_msg(!done, "%s: connected", row->name);
    ck_assert_msg(err.http_status == row->http_status, "%s: %d", row->name, err.http_status);
    ck_assert_msg(strcmp(err.message, row->message) == 0, "%s: %s", row->name, err.message);
    ck_assert_msg(strstr(err.internal, row->internal) != NULL, "%s: %s", row->name, err.internal);
    ck_assert_msg(strpbrk(err.internal, "\n\t") == NULL && strstr(err.internal, "  ") == NULL &&
                      strstr(err.internal, "LOCATION") == NULL,
                  "%s: untidy: %s", row->name, err.internal);
    ck_assert_msg(strstr(err.message, "secret") == NULL && strstr(err.internal, "secret") == NULL,
                  "%s: a password is shown: %s %s", row->name, err.message, err.internal);
    prepare("DROP ROLE IF EXISTS connect_test_outsider");
}
END_TEST

START_TEST(goes_on_to_the_next_host)
{
    char uri[512];
    struct odata_error err = {0};
    PGconn *pg = NULL;
    const char *host = getenv("PGHOST"); /* NOLINT(concurrency-mt-unsafe) */
    const char *port = getenv("PGPORT"); /* NOLINT(concurrency-mt-unsafe) */
    ck_assert_ptr_nonnull(host);
    snprintf(uri, sizeof(uri), "host=127.0.0.1,%s port=1,%s", host, port);
    ck_assert_msg(connect_blocking(uri, &none, 10000, &pg, &err), "%s %s", err.message,
                  err.internal);
    ck_assert_str_eq(PQhost(pg), host);
    PQfinish(pg);
}
END_TEST

Suite *connect_suite(void);
Suite *connect_suite(void)
{
    Suite *s = suite_create("storage/connect");
    TCase *t = tcase_create("connect");
    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, environment_save, environment_restore);
    tcase_add_loop_test(t, says_what_is_refused, 0, ARRAY_SIZE(rows));
    tcase_add_test(t, goes_on_to_the_next_host);
    suite_add_tcase(s, t);
    return s;
}

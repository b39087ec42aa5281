// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <libpq-fe.h>

#include "odata/str.h"
#include "storage/connect.h"
#include "storage/session.h"
#include "tests/support/environment.h"

enum {
    TEXT_LIMIT = 4096,
};

static PGconn *connect_plainly(void)
{
    PGconn *conn = PQconnectdb("");
    ck_assert_msg(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
    return conn;
}

static void run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ck_assert_msg(PQresultStatus(result) == PGRES_COMMAND_OK ||
                      PQresultStatus(result) == PGRES_TUPLES_OK,
                  "%s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
}

static PGconn *connect_as_session(const char *uri, const struct session_options *options)
{
    PGconn *conn = NULL;
    struct odata_error err = {0};
    ck_assert_msg(connect_blocking(uri, options, 10000, &conn, &err), "%s %s", err.message,
                  err.internal);
    return conn;
}

static void check_setting(PGconn *conn, const char *name, const char *wanted)
{
    const char *values[] = {name};
    PGresult *result =
        PQexecParams(conn, "SELECT pg_catalog.current_setting($1)", 1, NULL, values, NULL, NULL, 0);
    ck_assert_msg(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    ck_assert_msg(strcmp(PQgetvalue(result, 0, 0), wanted) == 0, "%s is '%s', not '%s'", name,
                  PQgetvalue(result, 0, 0), wanted);
    PQclear(result);
}

static const struct session_options all_options = {
    .statement_timeout_ms = 1234,
    .lock_timeout_ms = 2345,
    .idle_in_transaction_timeout_ms = 3456,
    .client_check_ms = 1000,
    .read_only = true,
    .search_path = "pg_catalog, \"a b\\c\", \"it's\"",
};

static const struct wanted {
    const char *name;
    const char *value;
} always[] =
    {
        {"TimeZone", "UTC"},
        {"DateStyle", "ISO, MDY"},
        {"IntervalStyle", "iso_8601"},
        {"extra_float_digits", "1"},
        {"bytea_output", "hex"},
        {"client_encoding", "UTF8"},
        {"standard_conforming_strings", "on"},
        {"lc_monetary", "C"},
        {"application_name", "sluice"},
},
  asked_for[] = {
      {"statement_timeout", "1234ms"},
      {"lock_timeout", "2345ms"},
      {"idle_in_transaction_session_timeout", "3456ms"},
      {"client_connection_check_interval", "1s"},
      {"default_transaction_read_only", "on"},
      {"search_path", "pg_catalog, \"a b\\c\", \"it's\""},
};

static void check_all(PGconn *conn)
{
    for (size_t i = 0; i < ARRAY_SIZE(always); i++) {
        check_setting(conn, always[i].name, always[i].value);
    }
    for (size_t i = 0; i < ARRAY_SIZE(asked_for); i++) {
        check_setting(conn, asked_for[i].name, asked_for[i].value);
    }
}

/* What a role and a database may be set to by somebody who means no harm. */
static const char *const other_settings[] = {
    "TimeZone = 'Asia/Kolkata'",
    "DateStyle = 'German, DMY'",
    "IntervalStyle = 'sql_standard'",
    "extra_float_digits = -3",
    "bytea_output = 'escape'",
    "client_encoding = 'LATIN1'",
    "standard_conforming_strings = off",
    "lc_monetary = 'C.UTF-8'",
    "statement_timeout = '1h'",
    "default_transaction_read_only = off",
    "search_path = 'public'",
};

START_TEST(wins_over_role_and_database)
{
    PGconn *admin = connect_plainly();
    run(admin, "DROP ROLE IF EXISTS session_test");
    run(admin, "CREATE ROLE session_test LOGIN");
    for (size_t i = 0; i < ARRAY_SIZE(other_settings); i++) {
        char sql[256];
        snprintf(sql, sizeof(sql), "ALTER ROLE session_test SET %s", other_settings[i]);
        run(admin, sql);
        snprintf(sql, sizeof(sql), "ALTER ROLE session_test IN DATABASE %s SET %s", PQdb(admin),
                 other_settings[i]);
        run(admin, sql);
    }
    /* The settings do something: without ours the connection is another one. */
    PGconn *plain = PQconnectdb("user=session_test");
    ck_assert_msg(PQstatus(plain) == CONNECTION_OK, "%s", PQerrorMessage(plain));
    check_setting(plain, "bytea_output", "escape");
    struct odata_error err = {0};
    ck_assert(!session_check(plain, &err));
    ck_assert_int_eq(err.http_status, 500);
    PQfinish(plain);

    PGconn *conn = connect_as_session("user=session_test", &all_options);
    check_all(conn);
    ck_assert_msg(session_check(conn, &err), "%s", err.message);
    PQfinish(conn);
    run(admin, "DROP OWNED BY session_test");
    run(admin, "DROP ROLE session_test");
    PQfinish(admin);
}
END_TEST

START_TEST(mends_a_connection_by_sql)
{
    PGconn *conn = PQconnectdb("options='-c TimeZone=Asia/Kolkata -c bytea_output=escape "
                               "-c standard_conforming_strings=off' application_name=sluice");
    struct odata_error err = {0};
    ck_assert(!session_check(conn, &err));
    struct bytes sql;
    bytes_init(&sql, TEXT_LIMIT);
    session_put_sql(&sql, &all_options);
    bytes_put_char(&sql, '\0');
    ck_assert(!bytes_failed(&sql));
    run(conn, sql.ptr);
    bytes_fini(&sql);
    check_all(conn);
    ck_assert_msg(session_check(conn, &err), "%s", err.message);
    PQfinish(conn);
}
END_TEST

START_TEST(keeps_the_users_options)
{
    static const struct session_options none = {0};
    /* work_mem is the user's; TimeZone is ours. */
    const char *uri = "postgresql:///?options=-c%20work_mem%3D7MB%20-c%20TimeZone%3DAsia/Tokyo"
                      "&application_name=mine&client_encoding=LATIN1";
    PGconn *conn = connect_as_session(uri, &none);
    check_setting(conn, "work_mem", "7MB");
    check_setting(conn, "TimeZone", "UTC");
    check_setting(conn, "application_name", "mine");
    check_setting(conn, "client_encoding", "UTF8");
    check_setting(conn, "statement_timeout", "0");
    PQfinish(conn);

    setenv("PGOPTIONS", "-c work_mem=8MB", 1);
    const char *const places[] = {"", "user=postgres"};
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        conn = connect_as_session(places[i], &none);
        check_setting(conn, "work_mem", "8MB");
        check_setting(conn, "TimeZone", "UTC");
        PQfinish(conn);
    }
}
END_TEST

START_TEST(wins_over_the_environment)
{
    static const struct session_options none = {0};
    setenv("PGTZ", "Asia/Tokyo", 1);
    setenv("PGDATESTYLE", "German", 1);
    setenv("PGCLIENTENCODING", "LATIN1", 1);
    PGconn *conn = connect_as_session("", &none);
    struct odata_error err = {0};
    ck_assert_msg(!session_check(conn, &err), "PGTZ did nothing: this test can go");
    PQfinish(conn);
    session_clear_environment();
    conn = connect_as_session("", &none);
    ck_assert_msg(session_check(conn, &err), "%s", err.message);
    PQfinish(conn);
}
END_TEST

Suite *session_suite(void);
Suite *session_suite(void)
{
    Suite *s = suite_create("storage/session");
    TCase *t = tcase_create("settings");
    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, environment_save, environment_restore);
    tcase_add_test(t, wins_over_role_and_database);
    tcase_add_test(t, mends_a_connection_by_sql);
    tcase_add_test(t, keeps_the_users_options);
    tcase_add_test(t, wins_over_the_environment);
    suite_add_tcase(s, t);
    return s;
}

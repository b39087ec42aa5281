// SPDX-License-Identifier: Apache-2.0
#include "storage/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "odata/str.h"

/* The settings that the text forms of storage/pg_value.c depend on. */
static const struct setting {
    const char *name;
    const char *value;
    const char *reported; /* as the server reports it; NULL when it does not */
} settings[] = {
    {"TimeZone", "UTC", "UTC"},
    {"DateStyle", "ISO", "ISO, "}, /* the order of day and month that follows is for input only */
    {"IntervalStyle", "iso_8601", "iso_8601"},
    {"extra_float_digits", "1", NULL},
    {"bytea_output", "hex", NULL},
    {"client_encoding", "UTF8", "UTF8"},
    {"standard_conforming_strings", "on", "on"},
    {"lc_monetary", "C", NULL},
    {"xmlbinary", "base64", NULL},
};

typedef void (*put_setting_fn)(struct bytes *out, const char *name, const char *value);

static void put_ms(struct bytes *out, put_setting_fn put, const char *name, int64_t ms)
{
    if (ms <= 0) {
        return;
    }
    /* PostgreSQL's timeouts are int32 milliseconds. */
    char digits[24];
    struct bytes text = {.ptr = digits, .cap = sizeof(digits), .limit = sizeof(digits)};
    bytes_put_i64(&text, ms < INT32_MAX ? ms : INT32_MAX);
    bytes_put_char(&text, '\0');
    put(out, name, digits);
}

static void put_settings(struct bytes *out, const struct session_options *o, put_setting_fn put)
{
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        put(out, settings[i].name, settings[i].value);
    }
    put_ms(out, put, "statement_timeout", o->statement_timeout_ms);
    put_ms(out, put, "lock_timeout", o->lock_timeout_ms);
    put_ms(out, put, "idle_in_transaction_session_timeout", o->idle_in_transaction_timeout_ms);
    put_ms(out, put, "client_connection_check_interval", o->client_check_ms);
    if (o->read_only) {
        put(out, "default_transaction_read_only", "on");
    }
    if (o->search_path != NULL) {
        put(out, "search_path", o->search_path);
    }
}

/* `-c name=value`; the server splits options at blanks that have no backslash before them. */
static void put_option(struct bytes *out, const char *name, const char *value)
{
    if (out->len > 0) {
        bytes_put_char(out, ' ');
    }
    BYTES_PUT_LITERAL(out, "-c ");
    bytes_put_str(out, str_from(name));
    bytes_put_char(out, '=');
    for (const char *p = value; *p != '\0'; p++) {
        if (*p == '\\' || strchr(" \t\n\r\f\v", *p) != NULL) {
            bytes_put_char(out, '\\');
        }
        bytes_put_char(out, *p);
    }
}

/*
 * One column of a SELECT: set_config('name', E'value', false). E'' reads the same whatever
 * standard_conforming_strings says.
 */
static void put_set_config(struct bytes *out, const char *name, const char *value)
{
    bytes_put_str(out, out->len == 0 ? STR("SELECT ") : STR(", "));
    BYTES_PUT_LITERAL(out, "pg_catalog.set_config('");
    bytes_put_str(out, str_from(name));
    BYTES_PUT_LITERAL(out, "', E'");
    for (const char *p = value; *p != '\0'; p++) {
        if (*p == '\'' || *p == '\\') {
            bytes_put_char(out, *p);
        }
        bytes_put_char(out, *p);
    }
    BYTES_PUT_LITERAL(out, "', false)");
}

void session_put_options(struct bytes *out, const struct session_options *o)
{
    put_settings(out, o, put_option);
}

void session_put_sql(struct bytes *out, const struct session_options *o)
{
    put_settings(out, o, put_set_config);
}

void session_clear_environment(void)
{
    /* Not thread-safe, and so called before there are threads, as the header asks. */
    unsetenv("PGTZ");             /* NOLINT(concurrency-mt-unsafe) */
    unsetenv("PGDATESTYLE");      /* NOLINT(concurrency-mt-unsafe) */
    unsetenv("PGCLIENTENCODING"); /* NOLINT(concurrency-mt-unsafe) */
}

bool session_check(const struct pg_conn *conn, struct odata_error *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
        const char *want = settings[i].reported;
        if (want == NULL) {
            continue;
        }
        struct str got = str_from(PQparameterStatus(conn, settings[i].name));
        size_t compared = strlen(want);
        bool is_prefix = compared > 0 && want[compared - 1] == ' ';
        if (is_prefix ? !str_starts_with(got, str_from(want)) : !str_eq(got, str_from(want))) {
            return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "",
                                   "the connection has %s '%.*s' and needs '%s'; does a "
                                   "connection pooler swallow options?",
                                   settings[i].name, STR_ARG(got), settings[i].value);
        }
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/shop_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "tests/support/shop_model.h"

enum {
    ARENA_BYTES = 8 * 1024 * 1024,
    MOST_PARAMS = 64,
};

PGconn *shop_database_open(void)
{
    static const char *const session[] = {
        "SET client_min_messages = warning", "SET TimeZone = 'UTC'",       "SET DateStyle = 'ISO'",
        "SET IntervalStyle = 'iso_8601'",    "SET extra_float_digits = 1",
    };
    PGconn *db = PQconnectdb("");
    ck_assert_msg(PQstatus(db) == CONNECTION_OK, "%s", PQerrorMessage(db));
    for (size_t i = 0; i < sizeof(session) / sizeof(session[0]); i++) {
        PQclear(PQexec(db, session[i]));
    }
    for (size_t i = 0; shop_model_sql[i] != NULL; i++) {
        PGresult *made = PQexec(db, shop_model_sql[i]);
        ck_assert_msg(PQresultStatus(made) == PGRES_COMMAND_OK, "%s", PQerrorMessage(db));
        PQclear(made);
    }
    return db;
}

PGresult *shop_database_run(PGconn *db, const struct sql_statement *statement,
                            const char *const *keys, size_t key_count)
{
    const char *params[MOST_PARAMS];
    ck_assert_uint_le(statement->param_count, MOST_PARAMS);
    for (size_t i = 0; i < statement->param_count; i++) {
        params[i] = statement->params[i];
    }
    for (size_t i = 0; i < key_count; i++) {
        params[statement->param_count - key_count + i] = keys[i];
    }
    PGresult *result =
        PQexecParams(db, statement->text, (int)statement->param_count, NULL, params, NULL, NULL, 0);
    ck_assert_msg(PQresultStatus(result) == PGRES_TUPLES_OK, "%s\n%s", PQerrorMessage(db),
                  statement->text);
    return result;
}

const struct sql_read *shop_database_sql(struct bound_request *r, const char *url,
                                         const struct bind_options *options)
{
    ck_assert_msg(bound_request_init(r, url, options, ARENA_BYTES), "%s: %s", url, r->err.message);
    struct sql_read_options sql_options = {.service_root = STR("http://host/")};
    if (options != NULL) {
        sql_options.format = options->format;
    }
    const struct sql_read *sql = NULL;
    ck_assert_msg(sql_read_build(&r->arena, r->plan, &sql_options, &sql, &r->err), "%s: %s", url,
                  r->err.message);
    return sql;
}

char *shop_database_column(const PGresult *result, int field)
{
    size_t room = 1;
    for (int i = 0; i < PQntuples(result); i++) {
        room += (size_t)PQgetlength(result, i, field) + 1;
    }
    char *text = malloc(room);
    ck_assert_ptr_nonnull(text);
    size_t at = 0;
    for (int i = 0; i < PQntuples(result); i++) {
        if (i > 0) {
            text[at++] = ',';
        }
        size_t len = (size_t)PQgetlength(result, i, field);
        memcpy(text + at, PQgetvalue(result, i, field), len);
        at += len;
    }
    text[at] = '\0';
    return text;
}

void shop_database_check_filter(PGconn *db, const char *set, const char *filter, const char *ids)
{
    char url[1024];
    snprintf(url, sizeof(url), "%s?$select=ID&$orderby=ID&$count=true&$filter=%s", set, filter);
    struct bound_request r;
    const struct sql_read *sql = shop_database_sql(&r, url, NULL);
    PGresult *result = shop_database_run(db, &sql->levels[0].statement, NULL, 0);
    char *found = shop_database_column(result, 0);
    ck_assert_msg(strcmp(found, ids) == 0, "%s: %s instead of %s\n%s", filter, found, ids,
                  sql->levels[0].statement.text);
    PGresult *counted = shop_database_run(db, &sql->count, NULL, 0);
    char shown[16];
    snprintf(shown, sizeof(shown), "%d", PQntuples(result));
    ck_assert_str_eq(PQgetvalue(counted, 0, 0), shown);
    PQclear(counted);
    PQclear(result);
    free(found);
    bound_request_fini(&r);
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/pg_error.h"

#include <stdio.h>
#include <string.h>

/*
 * SQLSTATE, or its first characters, to what the client reads. The first row that fits counts, so
 * a whole code stands before its class. PostgreSQL's own text never goes out: it can quote data and
 * name what the client's role may not see.
 */
static const struct rule {
    const char *prefix;
    int http_status;
    const char *code;
    int retry_after_s;
    const char *message;
} rules[] = {
    {"57014", 504, ODATA_CODE_DATABASE_TIMEOUT, 0, "the database did not answer in time"},
    {"40001", 503, ODATA_CODE_DATABASE_BUSY, 1,
     "the read was in conflict with another transaction"},
    {"40P01", 503, ODATA_CODE_DATABASE_BUSY, 1, "the database resolved a deadlock"},
    {"40", 503, ODATA_CODE_DATABASE_BUSY, 1, "the database rolled the transaction back"},
    {"55P03", 503, ODATA_CODE_DATABASE_BUSY, 1, "a table is locked"},
    {"55006", 503, ODATA_CODE_DATABASE_BUSY, 1, "a table is in use"},
    {"55", 503, ODATA_CODE_DATABASE_BUSY, 1, "the table cannot be read at the moment"},
    {"53300", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 1, "the database has no free connection"},
    {"53", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 5, "the database is short of resources"},
    {"57P", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 1, "the database is not available"},
    {"57", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 1, "the database is not available"},
    {"08", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 1, "the connection to the database was lost"},
    {"28", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 5, "the database refuses this service"},
    {"3D", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 5, "the database is not there"},
    {"25P03", 503, ODATA_CODE_DATABASE_UNAVAILABLE, 1, "the database ended an idle transaction"},
    {"25006", 405, ODATA_CODE_METHOD_NOT_ALLOWED, 0, "the database refuses to write here"},
    {"54001", 400, ODATA_CODE_REQUEST_TOO_COMPLEX, 0, "the query is too complex for the database"},
    {"54", 400, ODATA_CODE_REQUEST_TOO_COMPLEX, 0, "the query is too complex for the database"},
    {"42501", 403, ODATA_CODE_FORBIDDEN, 0, "the database does not permit this"},
    {"22012", 400, ODATA_CODE_BAD_VALUE, 0, "division by zero"},
    {"22003", 400, ODATA_CODE_BAD_VALUE, 0, "a number is out of range"},
    {"22008", 400, ODATA_CODE_BAD_VALUE, 0, "a date or time is out of range"},
    {"22007", 400, ODATA_CODE_BAD_VALUE, 0, "a date or time cannot be read"},
    {"22P02", 400, ODATA_CODE_BAD_VALUE, 0, "a value does not fit its type"},
    /* A request's texts are valid UTF-8 and hold no U+0000: it is a stored one (SQL_ASCII). */
    {"22021", 500, ODATA_CODE_BAD_DATA, 0, "a stored text is not valid in its encoding"},
    {"22P05", 400, ODATA_CODE_BAD_VALUE, 0,
     "a character that the database's encoding does not have"},
    {"2201B", 400, ODATA_CODE_BAD_VALUE, 0, "a regular expression cannot be read"},
    {"22", 400, ODATA_CODE_BAD_VALUE, 0, "a value cannot be used in this query"},
    {"23502", 400, ODATA_CODE_BAD_VALUE, 0, "a value is missing"},
    {"23514", 400, ODATA_CODE_BAD_VALUE, 0, "a value breaks a rule of the database"},
    {"23", 409, ODATA_CODE_CONFLICT, 0, "the change is in conflict with other data"},
    {"44", 400, ODATA_CODE_BAD_VALUE, 0, "a row breaks a rule of its view"},
    {"42P01", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's tables have changed"},
    {"42703", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's tables have changed"},
    {"42704", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's types have changed"},
    {"42804", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's types have changed"},
    {"42809", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's tables have changed"},
    {"42883", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's functions have changed"},
    {"3F000", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's schemas have changed"},
    {"0A000", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database's tables have changed"},
    {"0A", 501, ODATA_CODE_NOT_IMPLEMENTED, 0, "the database cannot do this with these columns"},
    {"26000", 503, ODATA_CODE_MODEL_CHANGED, 1, "the database has forgotten a statement"},
    {"", 500, ODATA_CODE_INTERNAL, 0, "the database could not run the query"},
};

void pg_error_tidy(char *out, size_t size, struct str text)
{
    size_t length = 0;
    bool blank = false;
    for (size_t i = 0; i < text.len && length + 1 < size; i++) {
        bool is_blank = strchr(" \t\r\n", text.ptr[i]) != NULL;
        if (!is_blank && blank && length > 0 && length + 2 < size) {
            out[length++] = ' ';
        }
        if (!is_blank) {
            out[length++] = text.ptr[i];
        }
        blank = is_blank;
    }
    out[length] = '\0';
}

void pg_error_note(struct odata_error *err, const char *sqlstate, const char *text)
{
    bool lost = sqlstate == NULL || sqlstate[0] == '\0';
    int head =
        snprintf(err->internal, sizeof(err->internal), "sqlstate=%.5s ", lost ? "none" : sqlstate);
    if (head > 0 && (size_t)head < sizeof(err->internal)) {
        pg_error_tidy(err->internal + head, sizeof(err->internal) - (size_t)head, str_from(text));
    }
}

void pg_error_set(struct odata_error *err, const char *sqlstate, const char *text)
{
    bool lost = sqlstate == NULL || sqlstate[0] == '\0';
    const char *state = lost ? "08006" : sqlstate;
    const struct rule *rule = rules;
    while (strncmp(state, rule->prefix, strlen(rule->prefix)) != 0) {
        rule++; /* the last row fits everything */
    }
    (void)odata_error_set(err, rule->http_status, rule->code, "", "%s", rule->message);
    err->retry_after_s = rule->retry_after_s;
    pg_error_note(err, sqlstate, text);
}

bool pg_error_is_stale_model(const char *sqlstate)
{
    if (sqlstate == NULL) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        if (strcmp(rules[i].prefix, sqlstate) == 0) {
            return strcmp(rules[i].code, ODATA_CODE_MODEL_CHANGED) == 0 &&
                   strcmp(sqlstate, "26000") != 0;
        }
    }
    return false;
}

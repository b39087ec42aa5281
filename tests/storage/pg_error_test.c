// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <check.h>

#include "storage/pg_error.h"

static const struct row {
    const char *sqlstate;
    int http_status;
    const char *code;
    bool retry;
    bool stale;
} rows[] = {
    {"57014", 504, ODATA_CODE_DATABASE_TIMEOUT, false, false},
    {"40001", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"40P01", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"55P03", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"53100", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"53300", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"57P01", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"57P03", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"08006", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"25P03", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"28P01", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {NULL, 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"54001", 400, ODATA_CODE_REQUEST_TOO_COMPLEX, false, false},
    {"42501", 403, ODATA_CODE_FORBIDDEN, false, false},
    {"22012", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"22003", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"22P02", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"22XYZ", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"22021", 500, ODATA_CODE_BAD_DATA, false, false},
    {"22P05", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"25006", 405, ODATA_CODE_METHOD_NOT_ALLOWED, false, false},
    {"23505", 409, ODATA_CODE_CONFLICT, false, false},
    {"23503", 409, ODATA_CODE_CONFLICT, false, false},
    {"23502", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"42P01", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"42703", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"42883", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"0A000", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"26000", 503, ODATA_CODE_MODEL_CHANGED, true, false},
    {"57000", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"57P02", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"57P04", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"57P05", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"53000", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"53200", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"53400", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"08000", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"08001", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"08003", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"08004", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"08P01", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"28000", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"3D000", 503, ODATA_CODE_DATABASE_UNAVAILABLE, true, false},
    {"40000", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"40002", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"40003", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"55000", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"55006", 503, ODATA_CODE_DATABASE_BUSY, true, false},
    {"22000", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"22001", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"22007", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"22008", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"2201B", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"2201G", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"2201X", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"23514", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"44000", 400, ODATA_CODE_BAD_VALUE, false, false},
    {"54000", 400, ODATA_CODE_REQUEST_TOO_COMPLEX, false, false},
    {"54011", 400, ODATA_CODE_REQUEST_TOO_COMPLEX, false, false},
    {"54023", 400, ODATA_CODE_REQUEST_TOO_COMPLEX, false, false},
    {"42704", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"42804", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"42809", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"3F000", 503, ODATA_CODE_MODEL_CHANGED, true, true},
    {"0A", 501, ODATA_CODE_NOT_IMPLEMENTED, false, false},
    {"25000", 500, ODATA_CODE_INTERNAL, false, false},
    {"58030", 500, ODATA_CODE_INTERNAL, false, false},
    {"P0001", 500, ODATA_CODE_INTERNAL, false, false},
    {"XX001", 500, ODATA_CODE_INTERNAL, false, false},
    {"XX002", 500, ODATA_CODE_INTERNAL, false, false},
    {"42601", 500, ODATA_CODE_INTERNAL, false, false},
    {"XX000", 500, ODATA_CODE_INTERNAL, false, false},
};

START_TEST(maps_sqlstate)
{
    const struct row *row = &rows[_i];
    const char *state = row->sqlstate == NULL ? "(none)" : row->sqlstate;
    struct odata_error err;
    pg_error_set(&err, row->sqlstate, "relation \"secret\"\ndoes not exist");
    ck_assert_msg(err.http_status == row->http_status, "%s: %d", state, err.http_status);
    ck_assert_msg(strcmp(err.code, row->code) == 0, "%s: %s", state, err.code);
    ck_assert_msg((err.retry_after_s > 0) == row->retry, "%s", state);
    ck_assert_msg(pg_error_is_stale_model(row->sqlstate) == row->stale, "%s", state);
    ck_assert_ptr_null(strstr(err.message, "secret"));
    ck_assert_ptr_nonnull(strstr(err.internal, "secret"));
    ck_assert_ptr_null(strchr(err.internal, '\n'));
}
END_TEST

Suite *pg_error_suite(void);

Suite *pg_error_suite(void)
{
    Suite *suite = suite_create("pg_error");
    TCase *tcase = tcase_create("table");
    tcase_add_loop_test(tcase, maps_sqlstate, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    suite_add_tcase(suite, tcase);
    return suite;
}

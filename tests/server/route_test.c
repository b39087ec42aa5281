// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <check.h>

#include "server/document.h"
#include "server/route.h"

Suite *route_suite(void);

static const struct row {
    const char *name;
    const char *base;
    const char *target;
    bool separate;
    bool is_admin;
    enum route route;
    const char *path;
    const char *query;
} rows[] = {
    {"the root", "/", "/", false, false, ROUTE_ODATA, "", ""},
    {"a set with options", "/", "/Items?$top=1", false, false, ROUTE_ODATA, "Items", "$top=1"},
    {"a question mark in the query stays", "/", "/I?a=?", false, false, ROUTE_ODATA, "I", "a=?"},
    {"below the base path", "/odata/", "/odata/Items", false, false, ROUTE_ODATA, "Items", ""},
    {"the base path without its slash", "/odata/", "/odata?x", false, false, ROUTE_ODATA, "", "x"},
    {"a longer name is another path", "/odata/", "/odatax", false, false, ROUTE_NOT_FOUND, "", ""},
    {"beside the base path", "/odata/", "/Items", false, false, ROUTE_NOT_FOUND, "", ""},
    {"health beside the service", "/", "/healthz", false, false, ROUTE_HEALTH, "", ""},
    {"ready", "/", "/readyz", false, false, ROUTE_READY, "", ""},
    {"the OpenAPI document", "/odata/", "/odata/$openapi", false, false, ROUTE_OPENAPI, "", ""},
    {"the same, encoded", "/", "/%24openapi?x", false, false, ROUTE_OPENAPI, "", ""},
    {"nothing below it", "/", "/$openapi/x", false, false, ROUTE_ODATA, "$openapi/x", ""},
    {"metrics, with a query", "/", "/metrics?x", false, false, ROUTE_METRICS, "", "x"},
    {"no health where it is separate", "/", "/healthz", true, false, ROUTE_ODATA, "healthz", ""},
    {"health on its own listener", "/", "/healthz", true, true, ROUTE_HEALTH, "", ""},
    {"no data on the admin listener", "/", "/Items", true, true, ROUTE_NOT_FOUND, "", ""},
    {"the server itself", "/", "*", false, false, ROUTE_SERVER, "", ""},
};

START_TEST(finds_route)
{
    const struct row *row = &rows[_i];
    struct route_target target;
    const struct route_options options = {str_from(row->base), row->separate};
    enum route found = route_find(&options, str_from(row->target), row->is_admin, &target);
    ck_assert_msg(found == row->route, "%s: %d", row->name, (int)found);
    if (found == ROUTE_ODATA) {
        ck_assert_msg(str_eq(target.raw_path, str_from(row->path)), "%s", row->name);
        ck_assert_msg(str_eq(target.raw_query, str_from(row->query)), "%s", row->name);
    }
}
END_TEST

static const struct segment_row {
    const char *name;
    enum segment_kind kind;
    bool ok;
} segment_rows[] = {
    {"a name", SEGMENT_NAME, true},          {"$count", SEGMENT_COUNT, true},
    {"$batch", SEGMENT_BATCH, false},        {"$all", SEGMENT_ALL, true},
    {"$crossjoin", SEGMENT_CROSSJOIN, true}, {"$entity", SEGMENT_ENTITY, true},
};

START_TEST(names_what_is_missing)
{
    const struct segment_row *row = &segment_rows[_i];
    struct segment segment = {.kind = row->kind};
    const struct resource_path path = {.segments = &segment, .count = 1};
    struct odata_error err = {.http_status = 0};
    ck_assert(route_check_segments(&path, &err) == row->ok);
    if (!row->ok) {
        ck_assert_int_eq(err.http_status, 501);
        ck_assert_ptr_nonnull(strstr(err.message, row->name));
    }
}
END_TEST

static const struct etag_row {
    const char *name;
    const char *header;
    bool matches;
} etag_rows[] = {
    {"none", "", false},
    {"the same", "W/\"a\"", true},
    {"the strong form", "\"a\"", true},
    {"another", "W/\"b\"", false},
    {"one of several", "\"b\", W/\"a\"", true},
    {"any", "*", true},
    {"the beginning only", "W/\"a", false},
};

START_TEST(matches_etag)
{
    const struct etag_row *row = &etag_rows[_i];
    ck_assert_msg(document_etag_matches(str_from(row->header), "W/\"a\"") == row->matches, "%s",
                  row->name);
}
END_TEST

Suite *route_suite(void)
{
    Suite *s = suite_create("route");
    TCase *t = tcase_create("route");
    tcase_add_loop_test(t, finds_route, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, names_what_is_missing, 0, (int)ARRAY_SIZE(segment_rows));
    tcase_add_loop_test(t, matches_etag, 0, (int)ARRAY_SIZE(etag_rows));
    suite_add_tcase(s, t);
    return s;
}

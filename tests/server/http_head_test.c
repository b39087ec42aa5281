// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/limits.h"
#include "server/http_head.h"

Suite *http_head_suite(void);

static const struct row {
    const char *name;
    const char *method;
    bool http_1_0;
    const char *fields[9]; /* name, value, ..., NULL */
    int status;            /* 0: accepted */
} rows[] = {
    {"a plain GET", "GET", false, {"Host", "a"}, 0},
    {"a body with its length", "POST", false, {"Host", "a", "Content-Length", "3"}, 0},
    {"a chunked body", "POST", false, {"Host", "a", "Transfer-Encoding", "chunked"}, 0},
    {"HTTP/1.0 needs no Host", "GET", true, {NULL}, 0},
    {"HTTP/1.1 does", "GET", false, {"Accept", "*/*"}, 400},
    {"length and coding together",
     "POST",
     false,
     {"Host", "a", "Content-Length", "3", "Transfer-Encoding", "chunked"},
     400},
    {"two lengths",
     "POST",
     false,
     {"Host", "a", "Content-Length", "3", "content-length", "3"},
     400},
    {"a length of two values", "POST", false, {"Host", "a", "Content-Length", "3, 3"}, 400},
    {"a signed length", "POST", false, {"Host", "a", "Content-Length", "+3"}, 400},
    {"an empty length", "POST", false, {"Host", "a", "Content-Length", ""}, 400},
    {"a length of sixteen digits",
     "POST",
     false,
     {"Host", "a", "Content-Length", "1000000000000000"},
     400},
    {"another coding", "POST", false, {"Host", "a", "Transfer-Encoding", "xchunked"}, 400},
    {"two codings", "POST", false, {"Host", "a", "Transfer-Encoding", "gzip, chunked"}, 400},
    {"an empty coding", "POST", false, {"Host", "a", "Transfer-Encoding", ""}, 400},
    {"the coding twice",
     "POST",
     false,
     {"Host", "a", "Transfer-Encoding", "chunked", "Transfer-Encoding", "chunked"},
     400},
    {"a coding in HTTP/1.0", "POST", true, {"Host", "a", "Transfer-Encoding", "chunked"}, 400},
    {"two hosts", "GET", false, {"Host", "a", "Host", "b"}, 400},
    {"an empty and a full host", "GET", false, {"Host", "", "Host", "b"}, 400},
    {"a blank before the colon", "GET", false, {"Host", "a", "Content-Length ", "3"}, 400},
    {"a name with a control", "GET", false, {"Host", "a", "X\x01", "3"}, 400},
    {"a value with a control", "GET", false, {"Host", "a", "X", "a\x01"}, 400},
    {"a value with a tab", "GET", false, {"Host", "a", "X", "a\tb"}, 0},
    {"a value beyond ASCII", "GET", false, {"Host", "a", "X", "\xc3\xa4"}, 0},
    {"a method that is unknown", "FOO", false, {"Host", "a"}, 501},
    {"a method in lower case", "get", false, {"Host", "a"}, 501},
    {"TRACE", "TRACE", false, {"Host", "a"}, 501},
    {"CONNECT", "CONNECT", false, {"Host", "a"}, 501},
};

START_TEST(guards)
{
    const struct row *row = &rows[_i];
    struct arena a;
    struct http_head h;
    struct odata_error err = {.http_status = 0};
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    http_head_init(&h, &a, str_from(row->method), row->http_1_0);
    for (int i = 0; row->fields[i] != NULL; i += 2) {
        http_head_add(&h, str_from(row->fields[i]), str_from(row->fields[i + 1]));
    }
    bool ok = http_head_check(&h, &err);
    ck_assert_msg(ok == (row->status == 0), "%s", row->name);
    if (!ok) {
        ck_assert_msg(err.http_status == row->status, "%s: %d", row->name, err.http_status);
    }
    arena_fini(&a);
}
END_TEST

START_TEST(joins_lists)
{
    struct arena a;
    struct http_head h;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    http_head_init(&h, &a, STR("GET"), false);
    http_head_add(&h, STR("ACCEPT"), STR(" a/b "));
    http_head_add(&h, STR("accept"), STR("c/d"));
    http_head_add(&h, STR("OData-MaxVersion"), STR("4.0"));
    http_head_add(&h, STR("OData-MaxVersion"), STR("4.01"));
    ck_assert(str_eq(h.fields[FIELD_ACCEPT], STR("a/b, c/d")));
    ck_assert(str_eq(h.fields[FIELD_ODATA_MAX_VERSION], STR("4.0")));
    arena_fini(&a);
}
END_TEST

START_TEST(limits_size)
{
    struct arena a;
    struct http_head h;
    struct odata_error err = {.http_status = 0};
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    http_head_init(&h, &a, STR("GET"), false);
    http_head_add(&h, STR("Host"), STR("a"));
    for (int i = 0; i < 300; i++) {
        http_head_add(&h, STR("X"), STR("y"));
    }
    ck_assert(!http_head_check(&h, &err));
    ck_assert_int_eq(err.http_status, 431);
    arena_fini(&a);
}
END_TEST

Suite *http_head_suite(void)
{
    Suite *s = suite_create("http_head");
    TCase *t = tcase_create("http_head");
    tcase_add_loop_test(t, guards, 0, (int)ARRAY_SIZE(rows));
    tcase_add_test(t, joins_lists);
    tcase_add_test(t, limits_size);
    suite_add_tcase(s, t);
    return s;
}

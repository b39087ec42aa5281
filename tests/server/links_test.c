// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <check.h>

#include "odata/limits.h"
#include "server/links.h"

Suite *links_suite(void);

static const struct root_row {
    const char *name;
    const char *base_url;
    const char *host;
    const char *forwarded;
    const char *proto;
    const char *fhost;
    const char *port;
    const char *prefix;
    bool trusted;
    const char *root; /* NULL: refused */
} root_rows[] = {
    {"the Host is taken", "", "a.example:8080", "", "", "", "", "", false,
     "http://a.example:8080/odata/"},
    {"the configured URL wins", "https://x/y/", "evil", "", "", "", "", "", false, "https://x/y/"},
    {"an IPv6 address is a host", "", "[::1]:81", "", "", "", "", "", false,
     "http://[::1]:81/odata/"},
    {"port 80 is left out", "", "a:80", "", "", "", "", "", false, "http://a/odata/"},
    {"without Host the listener's address counts", "", "", "", "", "", "", "", false,
     "http://here:1/odata/"},
    {"who is not trusted cannot forward", "", "a", "host=evil;proto=https", "https", "evil", "9",
     "/p", false, "http://a/odata/"},
    {"Forwarded is read", "", "a", "for=1;host=\"b.example\";proto=https", "", "", "", "", true,
     "https://b.example/odata/"},
    {"only the last hop of Forwarded counts", "", "a", "host=evil, host=good", "", "", "", "", true,
     "http://good/odata/"},
    {"X-Forwarded-* are read", "", "a", "", "https", "b", "8443", "/p/", true,
     "https://b:8443/p/odata/"},
    {"the last hop of X-Forwarded-Host counts", "", "a", "", "http, https", "evil, b", "", "", true,
     "https://b/odata/"},
    {"443 is left out with https", "", "a", "", "https", "b", "443", "", true, "https://b/odata/"},
    {"80 never stands with https", "", "a:80", "", "https", "", "80", "", true, "https://a/odata/"},
    {"a host with a slash is refused", "", "a/b", "", "", "", "", "", false, NULL},
    {"a host with a quote is refused", "", "a\"b", "", "", "", "", "", false, NULL},
    {"a host with a user is refused", "", "u@a", "", "", "", "", "", false, NULL},
    {"a port beyond 65535 is refused", "", "a:65536", "", "", "", "", "", false, NULL},
    {"a port that is none is refused", "", "a:", "", "", "", "", "", false, NULL},
    {"a forwarded port that is none is refused", "", "a", "", "", "", "1x", "", true, NULL},
    {"a prefix with a blank is refused", "", "a", "", "", "", "", "/a b", true, NULL},
    {"a prefix that names a host is refused", "", "a", "", "", "", "", "//evil", true, NULL},
};

START_TEST(makes_service_root)
{
    const struct root_row *row = &root_rows[_i];
    struct arena a;
    struct http_head head;
    struct str root;
    struct odata_error err = {.http_status = 0};
    const struct links_options options = {str_from(row->base_url), STR("/odata/"), STR("here:1")};
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    http_head_init(&head, &a, STR("GET"), false);
    head.fields[FIELD_HOST] = str_from(row->host);
    head.fields[FIELD_FORWARDED] = str_from(row->forwarded);
    head.fields[FIELD_X_FORWARDED_PROTO] = str_from(row->proto);
    head.fields[FIELD_X_FORWARDED_HOST] = str_from(row->fhost);
    head.fields[FIELD_X_FORWARDED_PORT] = str_from(row->port);
    head.fields[FIELD_X_FORWARDED_PREFIX] = str_from(row->prefix);
    bool ok = links_service_root(&a, &options, &head, row->trusted, &root, &err);
    if (row->root == NULL) {
        ck_assert_msg(!ok && err.http_status == 400, "%s", row->name);
    } else {
        ck_assert_msg(ok && str_eq(root, str_from(row->root)), "%s: %.*s", row->name,
                      ok ? (int)root.len : 0, ok ? root.ptr : "");
    }
    arena_fini(&a);
}
END_TEST

static const struct next_row {
    const char *name;
    const char *path;
    const char *query;
    const char *url;
} next_rows[] = {
    {"no options", "Items", "", "http://h/Items?$skiptoken="},
    {"options are kept", "Items", "$top=5&$filter=a%20eq%201",
     "http://h/Items?$top=5&$filter=a%20eq%201&$skiptoken="},
    {"the old token is dropped", "Items", "$skiptoken=abc&$top=1",
     "http://h/Items?$top=1&$skiptoken="},
    {"an encoded name is one, too", "Items", "x=1&%24skiptoken=abc",
     "http://h/Items?x=1&$skiptoken="},
    {"and one without its dollar", "Items", "SkipToken=abc", "http://h/Items?$skiptoken="},
    {"empty options are dropped", "Items", "&&$top=1&", "http://h/Items?$top=1&$skiptoken="},
    {"a blank is encoded", "Items", "$filter=a eq 'b\"'",
     "http://h/Items?$filter=a%20eq%20'b%22'&$skiptoken="},
    {"bytes beyond ASCII are encoded", "\xc3\xa4", "x=\xc3\xbc",
     "http://h/%C3%A4?x=%C3%BC&$skiptoken="},
    {"a percent sign that escapes nothing is encoded", "Items", "x=100%&y=%4",
     "http://h/Items?x=100%25&y=%254&$skiptoken="},
    {"brackets are encoded", "Items", "x=[1]", "http://h/Items?x=%5B1%5D&$skiptoken="},
};

START_TEST(makes_next_url)
{
    const struct next_row *row = &next_rows[_i];
    struct arena a;
    struct str url;
    struct odata_error err;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    ck_assert(links_next_url(&a, STR("http://h/"), str_from(row->path), str_from(row->query), &url,
                             &err));
    ck_assert_msg(str_eq(url, str_from(row->url)), "%s: %.*s", row->name, STR_ARG(url));
    arena_fini(&a);
}
END_TEST

static const struct kept_row {
    const char *name;
    const char *query;
    const char *kept; /* NULL: 400 */
} kept_rows[] = {
    {"nothing", "", ""},
    {"what is about rows goes", "$filter=a&$top=1&orderby=b&$skiptoken=c&@p=1&%40q=2&$expand=d",
     ""},
    {"the form stays, however it is spelt", "%24format=json&schemaversion=*&FORMAT=x",
     "%24format=json&schemaversion=*&FORMAT=x&"},
    {"the client's own stay", "key=a b&$top=1&&x", "key=a%20b&x&"},
    {"a broken name is an error", "%zz=1", NULL},
};

START_TEST(keeps_what_is_general)
{
    const struct kept_row *row = &kept_rows[_i];
    struct arena a;
    struct str kept;
    struct odata_error err = {.http_status = 0};
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bool ok = links_kept_query(&a, str_from(row->query), &kept, &err);
    ck_assert_msg(ok == (row->kept != NULL), "%s: %s", row->name, err.message);
    ck_assert_msg(ok ? str_eq(kept, str_from(row->kept)) : err.http_status == 400, "%s: %.*s",
                  row->name, ok ? (int)kept.len : 0, ok ? kept.ptr : "");
    arena_fini(&a);
}
END_TEST

START_TEST(next_url_fails_without_memory)
{
    struct arena a;
    struct str url;
    struct odata_error err = {.http_status = 0};
    arena_init(&a, 32);
    ck_assert(!links_next_url(&a, STR("http://h/"), STR("Items"), STR("$top=1"), &url, &err));
    ck_assert_int_eq(err.http_status, 400);
    arena_fini(&a);
}
END_TEST

Suite *links_suite(void)
{
    Suite *s = suite_create("links");
    TCase *t = tcase_create("links");
    tcase_add_loop_test(t, makes_service_root, 0, (int)ARRAY_SIZE(root_rows));
    tcase_add_loop_test(t, makes_next_url, 0, (int)ARRAY_SIZE(next_rows));
    tcase_add_loop_test(t, keeps_what_is_general, 0, ARRAY_SIZE(kept_rows));
    tcase_add_test(t, next_url_fails_without_memory);
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "config/value.h"

Suite *value_suite(void);

enum number_form {
    COUNT,
    BYTES,
    DURATION
};

static const struct number_row {
    const char *name;
    enum number_form form;
    const char *text;
    bool good;
    uint64_t value;
} numbers[] = {
    {"a count is digits", COUNT, "500", true, 500},
    {"a count has no sign", COUNT, "-1", false, 0},
    {"a count has no plus", COUNT, "+1", false, 0},
    {"a count is not empty", COUNT, "", false, 0},
    {"a count ends with its digits", COUNT, "5 ", false, 0},
    {"the largest count", COUNT, "18446744073709551615", true, UINT64_MAX},
    {"one more does not wrap", COUNT, "18446744073709551616", false, 0},
    {"bytes need no unit", BYTES, "4096", true, 4096},
    {"KiB are 1024", BYTES, "64KiB", true, 65536},
    {"a blank may stand before the unit", BYTES, "64 KiB", true, 65536},
    {"kB are 1000", BYTES, "2kB", true, 2000},
    {"GiB", BYTES, "3GiB", true, 3221225472U},
    {"an unknown unit is refused", BYTES, "3KB", false, 0},
    {"bits are no bytes", BYTES, "3b", false, 0},
    {"a product past 64 bits is refused", BYTES, "18446744073709551615KiB", false, 0},
    {"seconds", DURATION, "30s", true, 30000},
    {"milliseconds", DURATION, "500ms", true, 500},
    {"minutes", DURATION, "5min", true, 300000},
    {"hours", DURATION, "1h", true, 3600000},
    {"nothing needs no unit", DURATION, "0", true, 0},
    {"a bare number could be anything", DURATION, "30", false, 0},
    {"fractions are refused", DURATION, "1.5s", false, 0},
};

START_TEST(reads_numbers)
{
    const struct number_row *row = &numbers[_i];
    struct config_error err = {""};
    uint64_t value = 77;
    bool good = row->form == COUNT   ? value_count(row->text, &value, &err)
                : row->form == BYTES ? value_bytes(row->text, &value, &err)
                                     : value_duration(row->text, &value, &err);
    ck_assert_msg(good == row->good, "%s", row->name);
    ck_assert_msg(value == (row->good ? row->value : 77), "%s: %llu", row->name,
                  (unsigned long long)value);
    ck_assert_msg((err.message[0] == '\0') == row->good, "%s: %s", row->name, err.message);
}
END_TEST

static const struct address_row {
    const char *name;
    const char *text;
    const char *host; /* NULL: refused */
    uint16_t port;
} addresses[] = {
    {"an IPv4 address", "127.0.0.1:8080", "127.0.0.1", 8080},
    {"an IPv6 address in brackets", "[::1]:80", "::1", 80},
    {"a name", "localhost:8080", "localhost", 8080},
    {"all interfaces", ":8080", "", 8080},
    {"any free port", "127.0.0.1:0", "127.0.0.1", 0},
    {"an IPv6 address without brackets is ambiguous", "::1:80", NULL, 0},
    {"brackets are for IPv6 only", "[localhost]:80", NULL, 0},
    {"a bracket that is not closed", "[::1:80", NULL, 0},
    {"no port", "127.0.0.1", NULL, 0},
    {"an empty port", "127.0.0.1:", NULL, 0},
    {"a port past 65535", "127.0.0.1:65536", NULL, 0},
    {"a port with a sign", "127.0.0.1:+80", NULL, 0},
    {"a URL is no address", "http://127.0.0.1:80", NULL, 0},
    {"a blank", "127.0.0.1 :80", NULL, 0},
};

START_TEST(reads_address)
{
    const struct address_row *row = &addresses[_i];
    struct config_error err = {""};
    struct config_address address = {NULL, 0};
    bool good = value_address(row->text, &address, &err);
    ck_assert_msg(good == (row->host != NULL), "%s", row->name);
    if (good) {
        ck_assert_str_eq(address.host, row->host);
        ck_assert_uint_eq(address.port, row->port);
    }
    free(address.host);
}
END_TEST

static const struct list_row {
    const char *name;
    const char *text;
    size_t count;
    const char *joined; /* items with | between them; NULL: refused */
} lists[] = {
    {"nothing is an empty list", "", 0, ""},
    {"blanks are an empty list", "  ", 0, ""},
    {"one item", "public", 1, "public"},
    {"blanks around items are dropped", " public , sales ", 2, "public|sales"},
    {"blanks inside items stay", "my schema,b", 2, "my schema|b"},
    {"a comma inside an item", "a\\,b,c", 2, "a,b|c"},
    {"an item after the last comma is missing", "a,", 0, NULL},
    {"an empty item in the middle", "a,,b", 0, NULL},
    {"a comma alone", ",", 0, NULL},
};

START_TEST(reads_list)
{
    const struct list_row *row = &lists[_i];
    struct config_error err = {""};
    struct config_list list = {NULL, 0};
    bool good = value_list(row->text, &list, &err);
    ck_assert_msg(good == (row->joined != NULL), "%s", row->name);
    char joined[128] = "";
    for (size_t i = 0; i < list.count; i++) {
        size_t used = strlen(joined);
        snprintf(joined + used, sizeof(joined) - used, "%s%s", i == 0 ? "" : "|", list.items[i]);
    }
    ck_assert_uint_eq(list.count, row->count);
    ck_assert_str_eq(joined, row->joined == NULL ? "" : row->joined);
    config_list_free(&list);
}
END_TEST

static const struct network_row {
    const char *name;
    const char *ranges;
    const char *address;
    int inside; /* -1: the ranges are refused */
} networks[] = {
    {"an address is its own range", "10.0.0.1", "10.0.0.1", 1},
    {"and nothing else", "10.0.0.1", "10.0.0.2", 0},
    {"a range of whole bytes", "10.0.0.0/8", "10.200.1.1", 1},
    {"a range that ends inside a byte", "172.16.0.0/12", "172.31.255.255", 1},
    {"one beyond it", "172.16.0.0/12", "172.32.0.0", 0},
    {"all of IPv4", "0.0.0.0/0", "8.8.8.8", 1},
    {"which is not IPv6", "0.0.0.0/0", "::1", 0},
    {"IPv6", "fd00::/8", "fd12::1", 1},
    {"mapped IPv4 counts as IPv4", "10.0.0.0/8", "::ffff:10.1.1.1", 1},
    {"the second of a list", "10.0.0.0/8, ::1", "::1", 1},
    {"bits behind the prefix are a slip", "10.1.2.3/8", "", -1},
    {"a prefix that is too long", "10.0.0.0/33", "", -1},
    {"a prefix that is missing", "10.0.0.0/", "", -1},
    {"a name is no address", "proxy.example.com", "", -1},
    {"four parts", "10.0.0/8", "", -1},
};

static bool contains(const struct config_networks *ranges, const char *address)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, address, &in.sin_addr) == 1) {
        return config_networks_contain(ranges, (const struct sockaddr *)&in);
    }
    ck_assert_int_eq(inet_pton(AF_INET6, address, &in6.sin6_addr), 1);
    return config_networks_contain(ranges, (const struct sockaddr *)&in6);
}

START_TEST(knows_networks)
{
    const struct network_row *row = &networks[_i];
    struct config_error err = {""};
    struct config_networks ranges = {NULL, 0};
    bool good = value_networks(row->ranges, &ranges, &err);
    ck_assert_msg(good == (row->inside >= 0), "%s", row->name);
    if (good) {
        ck_assert_msg(contains(&ranges, row->address) == (row->inside == 1), "%s", row->name);
    }
    free(ranges.items);
}
END_TEST

enum text_form {
    PATH,
    URL,
    ORIGINS
};

static const struct text_row {
    const char *name;
    enum text_form form;
    const char *text;
    const char *result; /* NULL: refused */
} texts[] = {
    {"the root", PATH, "/", "/"},
    {"nothing is the root", PATH, "", "/"},
    {"slashes are added", PATH, "odata", "/odata/"},
    {"two levels", PATH, "/api/odata/", "/api/odata/"},
    {"an empty level is refused", PATH, "/api//odata", NULL},
    {"a query is refused", PATH, "/a?b", NULL},
    {"a blank is refused", PATH, "/a b", NULL},
    {"a URL gets its slash", URL, "https://api.example.com/odata",
     "https://api.example.com/odata/"},
    {"no URL stays none", URL, "", ""},
    {"another scheme is refused", URL, "ftp://a/", NULL},
    {"a host is needed", URL, "https:///odata", NULL},
    {"line ends are refused", URL, "https://a/\r\nX: y", NULL},
    {"everybody", ORIGINS, "*", "*"},
    {"an origin", ORIGINS, "https://app.example.com:8443", "https://app.example.com:8443"},
    {"an origin has no path", ORIGINS, "https://app.example.com/", NULL},
    {"an origin has a scheme", ORIGINS, "app.example.com", NULL},
};

START_TEST(normalises_text)
{
    const struct text_row *row = &texts[_i];
    struct config_error err = {""};
    char *result = NULL;
    struct config_list list = {NULL, 0};
    bool good = row->form == PATH  ? value_path(row->text, &result, &err)
                : row->form == URL ? value_url(row->text, &result, &err)
                                   : value_origins(row->text, &list, &err);
    ck_assert_msg(good == (row->result != NULL), "%s", row->name);
    const char *got = list.count > 0 ? list.items[0] : result;
    if (good) {
        ck_assert_str_eq(got, row->result);
    }
    free(result);
    config_list_free(&list);
}
END_TEST

START_TEST(reads_bool)
{
    struct config_error err;
    bool value = false;
    ck_assert(value_bool("on", &value, &err) && value);
    ck_assert(value_bool("no", &value, &err) && !value);
    ck_assert(!value_bool("True", &value, &err));
    ck_assert(!value_bool("", &value, &err));
}
END_TEST

Suite *value_suite(void)
{
    Suite *s = suite_create("config/value");
    TCase *t = tcase_create("value");
    tcase_add_loop_test(t, reads_numbers, 0, sizeof(numbers) / sizeof(numbers[0]));
    tcase_add_loop_test(t, reads_address, 0, sizeof(addresses) / sizeof(addresses[0]));
    tcase_add_loop_test(t, reads_list, 0, sizeof(lists) / sizeof(lists[0]));
    tcase_add_loop_test(t, knows_networks, 0, sizeof(networks) / sizeof(networks[0]));
    tcase_add_loop_test(t, normalises_text, 0, sizeof(texts) / sizeof(texts[0]));
    tcase_add_test(t, reads_bool);
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include "config/value.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit byte_units[] = {
    {"", 1},
    {"B", 1},
    {"KiB", 1024},
    {"MiB", UINT64_C(1024) * 1024},
    {"GiB", UINT64_C(1024) * 1024 * 1024},
    {"kB", 1000},
    {"MB", UINT64_C(1000) * 1000},
    {"GB", UINT64_C(1000) * 1000 * 1000},
    {NULL, 0},
};

static const struct unit time_units[] = {
    {"ms", 1}, {"s", 1000}, {"min", UINT64_C(60) * 1000}, {"h", UINT64_C(3600) * 1000}, {NULL, 0},
};

static const struct {
    const char *text;
    bool value;
} bool_words[] = {
    {"true", true}, {"false", false}, {"yes", true}, {"no", false},
    {"on", true},   {"off", false},   {"1", true},   {"0", false},
};

static bool out_of_memory(struct config_error *err)
{
    return config_fail(err, "out of memory");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A byte that may stand in a host, path or origin: printable ASCII without blanks and quotes. */
static bool is_url_char(char c)
{
    return c > ' ' && c < 0x7F && strchr("\"<>\\^`{|}", c) == NULL;
}

/* Reads leading digits; *rest is what follows. False without a digit or past 64 bits. */
static bool read_digits(const char *text, uint64_t *out_value, const char **rest)
{
    uint64_t value = 0;
    const char *p = text;
    for (; is_digit(*p); p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    if (p == text) {
        return false;
    }
    *out_value = value;
    *rest = p;
    return true;
}

static bool read_with_unit(const char *text, const struct unit *units, uint64_t *out_value)
{
    uint64_t value = 0;
    const char *rest = NULL;
    if (!read_digits(text, &value, &rest)) {
        return false;
    }
    while (*rest == ' ') {
        rest++;
    }
    for (const struct unit *u = units; u->name != NULL; u++) {
        if (strcmp(rest, u->name) == 0 && value <= UINT64_MAX / u->factor) {
            *out_value = value * u->factor;
            return true;
        }
    }
    return false;
}

bool value_count(const char *text, uint64_t *out_count, struct config_error *err)
{
    uint64_t value = 0;
    const char *rest = NULL;
    if (!read_digits(text, &value, &rest) || *rest != '\0') {
        return config_fail(err, "found '%s', expected a whole number", text);
    }
    *out_count = value;
    return true;
}

bool value_bytes(const char *text, uint64_t *out_bytes, struct config_error *err)
{
    if (!read_with_unit(text, byte_units, out_bytes)) {
        return config_fail(err, "found '%s', expected a size such as 64KiB or 1MiB", text);
    }
    return true;
}

bool value_duration(const char *text, uint64_t *out_ms, struct config_error *err)
{
    if (strcmp(text, "0") == 0) {
        *out_ms = 0;
        return true;
    }
    if (!read_with_unit(text, time_units, out_ms)) {
        return config_fail(err, "found '%s', expected a duration such as 500ms, 30s, 5min or 1h",
                           text);
    }
    return true;
}

bool value_bool(const char *text, bool *out_value, struct config_error *err)
{
    for (size_t i = 0; i < sizeof(bool_words) / sizeof(bool_words[0]); i++) {
        if (strcmp(text, bool_words[i].text) == 0) {
            *out_value = bool_words[i].value;
            return true;
        }
    }
    return config_fail(err, "found '%s', expected true or false", text);
}

/*
 * Copies the item that starts at p, without the blanks around it and without the backslashes before
 * commas. *rest is the comma or the end behind it. NULL when memory is short.
 */
static char *copy_item(const char *p, const char **rest)
{
    while (is_blank(*p)) {
        p++;
    }
    char *item = calloc(strlen(p) + 1, 1);
    if (item == NULL) {
        return NULL;
    }
    size_t length = 0;
    for (; *p != '\0' && *p != ','; p++) {
        if (p[0] == '\\' && p[1] == ',') {
            p++;
        }
        item[length++] = *p;
    }
    while (length > 0 && is_blank(item[length - 1])) {
        item[--length] = '\0';
    }
    *rest = p;
    return item;
}

bool value_list(const char *text, struct config_list *out_list, struct config_error *err)
{
    struct config_list list = {NULL, 0};
    const char *p = text;
    while (is_blank(*p)) {
        p++;
    }
    bool more = *p != '\0';
    while (more) {
        char *item = copy_item(p, &p);
        char **items =
            item == NULL ? NULL : realloc(list.items, (list.count + 1) * sizeof(list.items[0]));
        if (items == NULL) {
            free(item);
            config_list_free(&list);
            return out_of_memory(err);
        }
        list.items = items;
        list.items[list.count++] = item;
        if (item[0] == '\0') {
            config_list_free(&list);
            return config_fail(err, "found '%s', which has an empty item", text);
        }
        more = *p == ',';
        p += more ? 1 : 0;
    }
    *out_list = list;
    return true;
}

/* The host of host:port in [text, end): brackets only around an IPv6 address. */
static char *copy_host(const char *text, const char *end)
{
    size_t length = (size_t)(end - text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        char *host = strndup(text + 1, length - 2);
        struct in6_addr ignored;
        if (host != NULL && inet_pton(AF_INET6, host, &ignored) != 1) {
            free(host);
            return NULL;
        }
        return host;
    }
    for (size_t i = 0; i < length; i++) {
        if (!is_url_char(text[i]) || strchr(":/?#[]@", text[i]) != NULL) {
            return NULL;
        }
    }
    return strndup(text, length);
}

bool value_address(const char *text, struct config_address *out_address, struct config_error *err)
{
    const char *colon = strrchr(text, ':');
    uint64_t port = 0;
    const char *rest = "";
    bool good = colon != NULL && read_digits(colon + 1, &port, &rest) && *rest == '\0' &&
                port <= UINT16_MAX;
    char *host = good ? copy_host(text, colon) : NULL;
    if (host == NULL) {
        return config_fail(err, "found '%s', expected host:port or [IPv6 address]:port", text);
    }
    out_address->host = host;
    out_address->port = (uint16_t)port;
    return true;
}

/* No bit is set behind the prefix: 10.1.2.3/8 is more likely a slip than meant. */
static bool host_bits_are_zero(const struct config_network *n, unsigned all_bits)
{
    for (unsigned bit = n->prefix_bits; bit < all_bits; bit++) {
        if (((unsigned)n->bytes[bit / 8] >> (7 - bit % 8)) & 1U) {
            return false;
        }
    }
    return true;
}

static bool read_network(const char *text, struct config_network *out_network,
                         struct config_error *err)
{
    struct config_network network = {.family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET};
    unsigned all_bits = network.family == AF_INET6 ? 128 : 32;
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "/");
    uint64_t bits = all_bits;
    const char *rest = "";
    bool good = length < sizeof(address);
    if (good) {
        memcpy(address, text, length);
        address[length] = '\0';
        good = inet_pton(network.family, address, network.bytes) == 1;
    }
    if (good && text[length] == '/') {
        good = read_digits(text + length + 1, &bits, &rest) && *rest == '\0' && bits <= all_bits;
    }
    if (!good) {
        return config_fail(err, "found '%s', expected an address or a range such as 10.0.0.0/8",
                           text);
    }
    network.prefix_bits = (unsigned)bits;
    if (!host_bits_are_zero(&network, all_bits)) {
        return config_fail(err, "found '%s', which has bits set behind its prefix", text);
    }
    *out_network = network;
    return true;
}

bool value_networks(const char *text, struct config_networks *out_networks,
                    struct config_error *err)
{
    struct config_list list = {NULL, 0};
    if (!value_list(text, &list, err)) {
        return false;
    }
    struct config_networks networks = {NULL, 0};
    bool good = true;
    if (list.count > 0) {
        networks.items = calloc(list.count, sizeof(networks.items[0]));
        good = networks.items != NULL || out_of_memory(err);
    }
    for (size_t i = 0; good && i < list.count; i++) {
        good = read_network(list.items[i], &networks.items[i], err);
    }
    networks.count = list.count;
    config_list_free(&list);
    if (!good) {
        free(networks.items);
        return false;
    }
    *out_networks = networks;
    return true;
}

/* text with '/' put before and behind where it is missing. */
static char *with_slashes(const char *text, bool in_front)
{
    size_t length = strlen(text);
    bool before = in_front && text[0] != '/';
    bool behind = (length == 0 && !before) || (length > 0 && text[length - 1] != '/');
    char *copy = malloc(length + 3);
    if (copy == NULL) {
        return NULL;
    }
    size_t n = 0;
    if (before) {
        copy[n++] = '/';
    }
    memcpy(copy + n, text, length);
    n += length;
    if (behind) {
        copy[n++] = '/';
    }
    copy[n] = '\0';
    return copy;
}

static bool url_chars_only(const char *text, const char *refused)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (!is_url_char(*p) || strchr(refused, *p) != NULL) {
            return false;
        }
    }
    return true;
}

bool value_path(const char *text, char **out_path, struct config_error *err)
{
    /* A per cent sign would need decoding before it can be compared; nobody needs one here. */
    if (!url_chars_only(text, "?#%'") || strstr(text, "//") != NULL) {
        return config_fail(err, "found '%s', expected a path such as /odata/", text);
    }
    char *path = with_slashes(text, true);
    if (path == NULL) {
        return out_of_memory(err);
    }
    *out_path = path;
    return true;
}

/* The length of "http://" or "https://" when text starts so and a host follows, else 0. */
static size_t scheme_length(const char *text)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(schemes[i]);
        if (strlen(text) > length && strncmp(text, schemes[i], length) == 0 &&
            text[length] != '/') {
            return length;
        }
    }
    return 0;
}

bool value_url(const char *text, char **out_url, struct config_error *err)
{
    if (text[0] != '\0' && (scheme_length(text) == 0 || !url_chars_only(text, "?#@"))) {
        return config_fail(err, "found '%s', expected a URL such as https://api.example.com/odata/",
                           text);
    }
    char *url = text[0] == '\0' ? strdup("") : with_slashes(text, false);
    if (url == NULL) {
        return out_of_memory(err);
    }
    *out_url = url;
    return true;
}

bool value_origins(const char *text, struct config_list *out_list, struct config_error *err)
{
    struct config_list list = {NULL, 0};
    if (!value_list(text, &list, err)) {
        return false;
    }
    for (size_t i = 0; i < list.count; i++) {
        const char *origin = list.items[i];
        size_t scheme = scheme_length(origin);
        bool good =
            strcmp(origin, "*") == 0 || (scheme > 0 && url_chars_only(origin + scheme, "/?#@"));
        if (!good) {
            config_tell(err, "found '%s', expected * or an origin such as https://app.example.com",
                        origin);
            config_list_free(&list);
            return false;
        }
    }
    *out_list = list;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/conninfo.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "odata/bytes.h"

enum {
    MAX_KEYWORDS = 64
};

/* Keywords that we set ourselves, for each target. */
static bool is_ours(const char *keyword)
{
    static const char *const ours[] = {"host", "hostaddr", "port", "options", "client_encoding"};
    for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
        if (strcmp(ours[i], keyword) == 0) {
            return true;
        }
    }
    return false;
}

static const char *option_value(const PQconninfoOption *options, const char *keyword)
{
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        if (strcmp(o->keyword, keyword) == 0) {
            return o->val != NULL && o->val[0] != '\0' ? o->val : NULL;
        }
    }
    return NULL;
}

static size_t count_items(const char *list)
{
    if (list == NULL) {
        return 0;
    }
    size_t count = 1;
    for (const char *p = list; *p != '\0'; p++) {
        count += *p == ',';
    }
    return count;
}

/* A copy of the i-th item of a list with commas; NULL when it is empty or not there. */
static bool copy_item(const char *list, size_t i, char **out_item)
{
    *out_item = NULL;
    if (list == NULL) {
        return true;
    }
    struct str all = str_from(list);
    size_t from = 0;
    while (i > 0 && from < all.len) {
        from = str_find(all, ',', from) + 1;
        i--;
    }
    struct str item = str_slice(all, from, str_find(all, ',', from));
    if (i > 0 || item.len == 0) {
        return true;
    }
    *out_item = strndup(item.ptr, item.len);
    return *out_item != NULL;
}

/* One target for each host; a single port counts for all of them (libpq 34.1.1.3). */
static bool split_targets(struct conninfo *info, const PQconninfoOption *defaults)
{
    static const char *const keywords[] = {"host", "hostaddr", "port"};
    const char *lists[3];
    bool has_service = option_value(info->options, "service") != NULL;
    for (size_t k = 0; k < 3; k++) {
        lists[k] = option_value(info->options, keywords[k]);
        if (lists[k] == NULL && !has_service) {
            lists[k] = option_value(defaults, keywords[k]);
        }
    }
    size_t count = count_items(lists[0]);
    if (count_items(lists[1]) > count) {
        count = count_items(lists[1]);
    }
    info->target_count = count == 0 ? 1 : count;
    info->targets = calloc(info->target_count, sizeof(*info->targets));
    if (info->targets == NULL) {
        return false;
    }
    bool one_port = count_items(lists[2]) == 1;
    for (size_t i = 0; i < info->target_count; i++) {
        struct conn_target *t = &info->targets[i];
        if (!copy_item(lists[0], i, &t->host) || !copy_item(lists[1], i, &t->hostaddr) ||
            !copy_item(lists[2], one_port ? 0 : i, &t->port)) {
            return false;
        }
    }
    return true;
}

static bool make_session_options(struct conninfo *info, const PQconninfoOption *defaults,
                                 const struct session_options *session)
{
    const char *users = option_value(info->options, "options");
    if (users == NULL) {
        users = option_value(defaults, "options");
    }
    struct bytes b;
    bytes_init(&b, 64 * 1024);
    if (users != NULL) {
        bytes_put_str(&b, str_from(users));
    }
    session_put_options(&b, session);
    info->session_options = bytes_failed(&b) ? NULL : strndup(bytes_str(&b).ptr, bytes_str(&b).len);
    bytes_fini(&b);
    return info->session_options != NULL;
}

bool conninfo_init(struct conninfo *info, const char *uri, const struct session_options *session)
{
    *info = (struct conninfo){0};
    char *reason = NULL;
    const char *given = uri == NULL ? "" : uri;
    info->options = PQconninfoParse(given, &reason);
    PQfreemem(reason);
    if (info->options == NULL) {
        /* Not readable: let libpq say so itself when a connection is wanted. */
        info->bad_uri = strdup(given);
        info->options = PQconninfoParse("", NULL);
        if (info->bad_uri == NULL) {
            conninfo_fini(info);
            return false;
        }
    }
    PQconninfoOption *defaults = PQconndefaults();
    bool ok = info->options != NULL && split_targets(info, defaults) &&
              make_session_options(info, defaults, session);
    PQconninfoFree(defaults);
    if (!ok) {
        conninfo_fini(info);
    }
    return ok;
}

void conninfo_fini(struct conninfo *info)
{
    for (size_t i = 0; info->targets != NULL && i < info->target_count; i++) {
        free(info->targets[i].host);
        free(info->targets[i].hostaddr);
        free(info->targets[i].port);
    }
    free(info->targets);
    free(info->session_options);
    free(info->bad_uri);
    PQconninfoFree(info->options);
    *info = (struct conninfo){0};
}

bool conninfo_needs_lookup(const struct conninfo *info, size_t target)
{
    const struct conn_target *t = &info->targets[target];
    unsigned char address[sizeof(struct in6_addr)];
    return t->hostaddr == NULL && t->host != NULL && t->host[0] != '/' && t->host[0] != '@' &&
           inet_pton(AF_INET, t->host, address) != 1 && inet_pton(AF_INET6, t->host, address) != 1;
}

PGconn *conninfo_start(const struct conninfo *info, size_t target, const char *hostaddr)
{
    if (info->bad_uri != NULL) {
        return PQconnectStart(info->bad_uri);
    }
    const struct conn_target *t = &info->targets[target];
    const char *keywords[MAX_KEYWORDS + 1];
    const char *values[MAX_KEYWORDS + 1];
    size_t n = 0;
#define PUT(keyword, value) (keywords[n] = (keyword), values[n] = (value), n++)
    PUT("fallback_application_name", "sluice");
    PUT("host", t->host);
    PUT("hostaddr", hostaddr != NULL ? hostaddr : t->hostaddr);
    PUT("port", t->port);
    PUT("options", info->session_options);
    PUT("client_encoding", "UTF8");
    for (const PQconninfoOption *o = info->options; o->keyword != NULL && n < MAX_KEYWORDS; o++) {
        if (o->val != NULL && !is_ours(o->keyword)) {
            PUT(o->keyword, o->val);
        }
    }
#undef PUT
    keywords[n] = NULL;
    values[n] = NULL;
    return PQconnectStartParams(keywords, values, 0);
}

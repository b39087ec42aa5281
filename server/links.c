// SPDX-License-Identifier: Apache-2.0
#include "server/links.h"

#include <string.h>

#include "odata/bytes.h"
#include "odata/limits.h"
#include "odata/query_parse.h"

enum {
    LONGEST_HOST = 255,
    LONGEST_PREFIX = 1024,
};

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_port(struct str s)
{
    uint64_t port = 0;
    return s.len > 0 && s.len <= 5 && str_to_u64(s, &port) && port <= 65535;
}

/* The length of the name or bracketed address at the front; 0 when there is none. */
static size_t host_name_length(struct str s)
{
    size_t at = 0;
    if (s.len > 0 && s.ptr[0] == '[') {
        for (at = 1; at < s.len && s.ptr[at] != ']'; at++) {
            if (!is_alphanumeric(s.ptr[at]) && s.ptr[at] != ':' && s.ptr[at] != '.') {
                return 0;
            }
        }
        return at < s.len && at > 1 ? at + 1 : 0;
    }
    while (at < s.len && (is_alphanumeric(s.ptr[at]) || s.ptr[at] == '.' || s.ptr[at] == '-' ||
                          s.ptr[at] == '_')) {
        at++;
    }
    return at;
}

bool links_is_host(struct str host)
{
    if (host.len > LONGEST_HOST) {
        return false;
    }
    size_t name = host_name_length(host);
    if (name == 0) {
        return false;
    }
    if (name == host.len) {
        return true;
    }
    return host.ptr[name] == ':' && is_port(str_from_offset(host, name + 1));
}

/* The last item of a comma list: what the nearest proxy, the one that is trusted, has added. */
static struct str last_item(struct str list)
{
    size_t start = 0;
    for (size_t i = 0; i < list.len; i++) {
        if (list.ptr[i] == ',') {
            start = i + 1;
        }
    }
    return str_trim(str_from_offset(list, start));
}

/* The value of `name=` in one element of Forwarded, unquoted; "" when it is not there. */
static struct str forwarded_part(struct str element, struct str name)
{
    size_t at = 0;
    while (at < element.len) {
        size_t end = str_find(element, ';', at);
        struct str pair = str_trim(str_slice(element, at, end));
        size_t equals = str_find(pair, '=', 0);
        if (str_ieq(str_trim(str_slice(pair, 0, equals)), name)) {
            struct str value = str_trim(str_from_offset(pair, equals + 1));
            if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"') {
                value = str_slice(value, 1, value.len - 1);
            }
            return value;
        }
        at = end + 1;
    }
    return STR("");
}

struct origin {
    struct str scheme;
    struct str host;   /* may have a port */
    struct str port;   /* "" = as host says */
    struct str prefix; /* "" = the configured base path */
};

bool links_is_https(const struct http_head *head)
{
    struct str proto = forwarded_part(last_item(head->fields[FIELD_FORWARDED]), STR("proto"));
    if (proto.len == 0) {
        proto = last_item(head->fields[FIELD_X_FORWARDED_PROTO]);
    }
    return str_ieq(proto, STR("https"));
}

static void read_forwarded(const struct http_head *head, struct origin *origin)
{
    struct str element = last_item(head->fields[FIELD_FORWARDED]);
    struct str host = forwarded_part(element, STR("host"));
    if (host.len == 0) {
        host = last_item(head->fields[FIELD_X_FORWARDED_HOST]);
    }
    if (links_is_https(head)) {
        origin->scheme = STR("https");
    }
    if (host.len > 0) {
        origin->host = host;
    }
    origin->port = last_item(head->fields[FIELD_X_FORWARDED_PORT]);
    origin->prefix = last_item(head->fields[FIELD_X_FORWARDED_PREFIX]);
}

static bool is_prefix(struct str s)
{
    if (s.len == 0 || s.len > LONGEST_PREFIX || s.ptr[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!is_alphanumeric(c) && (c == '\0' || strchr("/-._~%", c) == NULL)) {
            return false;
        }
    }
    return !str_starts_with(s, STR("//"));
}

/* X-Forwarded-Port replaces the port that the host names; the scheme's own port is left out. */
static bool settle_port(struct origin *origin)
{
    size_t name = host_name_length(origin->host);
    struct str port = name < origin->host.len ? str_from_offset(origin->host, name + 1) : STR("");
    if (origin->port.len > 0) {
        if (!is_port(origin->port)) {
            return false;
        }
        port = origin->port;
    }
    struct str usual = str_eq(origin->scheme, STR("https")) ? STR("443") : STR("80");
    /* A proxy that ends TLS often forwards its inner port 80: that is never the port of https. */
    bool inner = str_eq(origin->scheme, STR("https")) && str_eq(port, STR("80"));
    origin->host = str_slice(origin->host, 0, name);
    origin->port = str_eq(port, usual) || inner ? STR("") : port;
    return true;
}

static bool join(struct arena *a, const struct str *parts, size_t count, struct str *out,
                 struct odata_error *err)
{
    return arena_join(a, parts, count, out) || arena_fail(a, err);
}

bool links_service_root(struct arena *a, const struct links_options *options,
                        const struct http_head *head, bool trusted, struct str *out_root,
                        struct odata_error *err)
{
    if (options->base_url.len > 0) {
        *out_root = options->base_url;
        return true;
    }
    struct origin origin = {STR("http"), head->fields[FIELD_HOST], STR(""), STR("")};
    if (trusted) {
        read_forwarded(head, &origin);
    }
    if (origin.host.len == 0) {
        origin.host = options->fallback;
    }
    if (!links_is_host(origin.host) || !settle_port(&origin)) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_HEADER, "",
                               "the host of the request is not one");
    }
    if (origin.prefix.len > 0 && !is_prefix(origin.prefix)) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_HEADER, "",
                               "X-Forwarded-Prefix is not a path");
    }
    while (str_ends_with(origin.prefix, STR("/"))) {
        origin.prefix.len--;
    }
    /* The prefix is what the proxy has cut off: it stands before our own base path. */
    const struct str parts[] = {
        origin.scheme, STR("://"),    origin.host,        origin.port.len > 0 ? STR(":") : STR(""),
        origin.port,   origin.prefix, options->base_path,
    };
    return join(a, parts, ARRAY_SIZE(parts), out_root, err);
}

bool links_context_url(struct arena *a, struct str root, struct str fragment, struct str *out_url,
                       struct odata_error *err)
{
    const struct str parts[] = {
        root,
        STR("$metadata"),
        fragment.len > 0 ? STR("#") : STR(""),
        fragment,
    };
    return join(a, parts, ARRAY_SIZE(parts), out_url, err);
}

/* RFC 3986 3.3 and 3.4: what may stand in a path or query as it is. `%` starts an escape. */
static bool is_url_char(char c)
{
    return is_alphanumeric(c) || (c != '\0' && strchr("-._~!$&'()*+,;=:@/?%", c) != NULL);
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static void put_url(struct bytes *out, struct str s)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool escape = c == '%' && !(i + 2 < s.len && is_hex(s.ptr[i + 1]) && is_hex(s.ptr[i + 2]));
        if (is_url_char(c) && !escape) {
            bytes_put_char(out, c);
        } else {
            unsigned char byte = (unsigned char)c;
            char text[3] = {'%', digits[byte >> 4], digits[byte & 15]};
            bytes_put(out, text, sizeof(text));
        }
    }
}

/* The name of an option is $skiptoken in any spelling: `%24` for `$`, any case, no `$` at all. */
static bool is_skip_token(struct str option)
{
    struct str name = str_slice(option, 0, str_find(option, '=', 0));
    if (str_starts_with(name, STR("$"))) {
        name = str_from_offset(name, 1);
    } else if (str_starts_with(name, STR("%24"))) {
        name = str_from_offset(name, 3);
    }
    return str_ieq(name, STR("skiptoken"));
}

bool links_kept_query(struct arena *a, struct str raw_query, struct str *out_query,
                      struct odata_error *err)
{
    size_t room = 3 * raw_query.len + 1;
    struct bytes out = {.ptr = arena_alloc(a, room), .cap = room, .limit = room};
    if (out.ptr == NULL) {
        return arena_fail(a, err);
    }
    for (size_t at = 0; at < raw_query.len;) {
        size_t end = str_find(raw_query, '&', at);
        struct str option = str_slice(raw_query, at, end);
        bool general = false;
        if (option.len > 0 && !query_option_is_general(a, option, &general, err)) {
            return false;
        }
        if (general) {
            put_url(&out, option);
            bytes_put_char(&out, '&');
        }
        at = end + 1;
    }
    *out_query = bytes_str(&out);
    return !bytes_failed(&out) || arena_fail(a, err);
}

bool links_next_url(struct arena *a, struct str root, struct str raw_path, struct str raw_query,
                    struct str *out_url, struct odata_error *err)
{
    /* Three bytes for each at most, so that it is made in one piece. */
    size_t room = root.len + 3 * (raw_path.len + raw_query.len) + 16;
    struct bytes out = {.ptr = arena_alloc(a, room), .cap = room, .limit = room};
    if (out.ptr == NULL) {
        return arena_fail(a, err);
    }
    bytes_put_str(&out, root);
    put_url(&out, raw_path);
    bytes_put_char(&out, '?');
    for (size_t at = 0; at < raw_query.len;) {
        size_t end = str_find(raw_query, '&', at);
        struct str option = str_slice(raw_query, at, end);
        if (option.len > 0 && !is_skip_token(option)) {
            put_url(&out, option);
            bytes_put_char(&out, '&');
        }
        at = end + 1;
    }
    BYTES_PUT_LITERAL(&out, "$skiptoken=");
    if (bytes_failed(&out)) {
        return arena_fail(a, err);
    }
    *out_url = bytes_str(&out);
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * settings - the table: all that can be set, each row with its bounds, default and sentence.
 *
 * Flags, environment, file, --help and docs/CONFIG.md come from these rows and from nowhere else.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_priv.h"
#include "config/value.h"

#define FIELD(member) offsetof(struct config, member)

#define KIB    UINT64_C(1024)
#define MIB    (1024 * KIB)
#define SECOND UINT64_C(1000)
#define HOUR   (3600 * SECOND)

/* The bounds of depths are those of odata/limits.h, which config/ may not include; a test of
   server/ compares them. Where a default has a reason, docs/OPERATIONS.md tells it. */
static const struct setting table[] = {
    {"config", SETTING_TEXT, "path", 0, 0, "", FIELD(config),
     "JSON file with settings and with the overrides of the model."},
    {"db-uri", SETTING_SECRET, "connection string", 0, 0, "", FIELD(db_uri),
     "Where PostgreSQL is: a libpq connection string or URI, several hosts included; without it "
     "libpq's own variables (PGHOST, PGSERVICE ...) count."},
    {"listen", SETTING_ADDRESS, "host:port", 0, 0, "127.0.0.1:8080", FIELD(listen),
     "Address to serve on; port 0 takes a free one and logs it."},
    {"admin-listen", SETTING_ADDRESS, "host:port", 0, 0, "", FIELD(admin_listen),
     "Address for /healthz, /readyz and /metrics; without it they are served beside the service."},
    {"base-path", SETTING_PATH, "path", 0, 0, "/", FIELD(base_path),
     "Path of the service root in request URLs."},
    {"base-url", SETTING_URL, "URL", 0, 0, "", FIELD(base_url),
     "Public service root that links are made with; without it the request's Host and base-path "
     "count."},
    {"trusted-proxies", SETTING_NETWORKS, "list of addresses", 0, 0, "", FIELD(trusted_proxies),
     "Proxies whose Forwarded and X-Forwarded-* headers are believed, as addresses or ranges "
     "(10.0.0.0/8)."},
    {"schemas", SETTING_LIST, "list of names", 0, 0, "public", FIELD(schemas),
     "Schemas of the database that are exposed; the first one that has a name wins it."},
    {"timestamp-zone", SETTING_TEXT, "time zone", 0, 0, "UTC", FIELD(timestamp_zone),
     "Time zone that columns of type timestamp, which have none, are written in: a name of "
     "pg_timezone_names, as Europe/Berlin."},
    {"workers", SETTING_COUNT, "threads", 0, 256, "0", FIELD(workers),
     "Threads that serve; 0 takes one a core, but never more than db-pool-size."},
    {"max-connections", SETTING_COUNT, "connections", 1, 1000000, "4096", FIELD(max_connections),
     "Client connections that may be open at the same time."},
    {"db-pool-size", SETTING_COUNT, "connections", 1, 10000, "16", FIELD(db_pool_size),
     "Connections to PostgreSQL, over all workers."},
    {"db-pool-wait", SETTING_DURATION, "duration", 1, HOUR, "5s", FIELD(db_pool_wait_ms),
     "How long a request may wait for a connection before it is answered with 503."},
    {"prepared-statements", SETTING_BOOL, "bool", 0, 0, "true", FIELD(prepared_statements),
     "Keep prepared statements; false for poolers in transaction mode."},
    {"statement-timeout", SETTING_DURATION, "duration", 0, HOUR, "30s", FIELD(statement_timeout_ms),
     "PostgreSQL's statement_timeout, for each fetch of a stream and for each whole query else; 0 "
     "sets none."},
    {"request-timeout", SETTING_DURATION, "duration", 1, 24 * HOUR, "60s",
     FIELD(request_timeout_ms),
     "How long a request may take until its response begins, waiting included; a stream that has "
     "begun is bound by stream-stall-timeout."},
    {"stream-stall-timeout", SETTING_DURATION, "duration", SECOND, HOUR, "30s",
     FIELD(stream_stall_timeout_ms),
     "A response whose reader has taken nothing for so long is aborted."},
    {"header-timeout", SETTING_DURATION, "duration", 100, HOUR, "10s", FIELD(header_timeout_ms),
     "How long a client may take to send the whole header of a request."},
    {"idle-timeout", SETTING_DURATION, "duration", 100, HOUR, "30s", FIELD(idle_timeout_ms),
     "How long a connection may stay open between two requests."},
    {"drain-timeout", SETTING_DURATION, "duration", 0, HOUR, "30s", FIELD(drain_timeout_ms),
     "After SIGTERM or SIGINT: how long running responses may take to end."},
    {"max-page-size", SETTING_COUNT, "rows", 0, 1000000000, "0", FIELD(max_page_size),
     "Rows of each collection before a next link is given; 0 streams whole results."},
    {"max-url-bytes", SETTING_BYTES, "size", 256, 64 * KIB, "15KiB", FIELD(max_url_bytes),
     "Longest request target; a longer one is answered with 414."},
    {"max-body-bytes", SETTING_BYTES, "size", 0, 1024 * MIB, "1MiB", FIELD(max_body_bytes),
     "Longest request body; a longer one is answered with 413."},
    {"max-filter-depth", SETTING_COUNT, "levels", 1, 100, "64", FIELD(max_filter_depth),
     "Nesting of an expression in $filter, $orderby and $compute."},
    {"max-expand-depth", SETTING_COUNT, "levels", 0, 31, "8", FIELD(max_expand_depth),
     "Nesting of $expand, and what $levels=max means; 0 refuses $expand."},
    {"buffer-bytes", SETTING_BYTES, "size", 16 * KIB, 64 * MIB, "256KiB", FIELD(buffer_bytes),
     "High mark of the buffer of one response: rows are fetched only below it."},
    {"server-timing", SETTING_BOOL, "bool", 0, 0, "false", FIELD(server_timing),
     "Say in a Server-Timing field of each response how long its parts took."},
    {"explain-networks", SETTING_NETWORKS, "list of addresses", 0, 0, "", FIELD(explain_networks),
     "Addresses and networks of those who may ask for the SQL and plan of a request with "
     "sluice-explain=true."},
    {"compression", SETTING_BOOL, "bool", 0, 0, "false", FIELD(compression),
     "Compress responses with zstd or gzip when the client accepts it."},
    {"cors-origins", SETTING_ORIGINS, "list of origins", 0, 0, "", FIELD(cors_origins),
     "Origins whose pages may read the service, or *; credentials are never allowed."},
    {"log-level", SETTING_LOG_LEVEL, "error, warning, info, debug", 0, 0, "info", FIELD(log_level),
     "The least important events that are logged."},
    {"log-format", SETTING_LOG_FORMAT, "text, json", 0, 0, "text", FIELD(log_format),
     "Log lines as `event key=value` or as JSON objects."},
    {"anonymous-role", SETTING_TEXT, "role", 0, 0, "", FIELD(anonymous_role),
     "Role of PostgreSQL whose rights requests without credentials have; without it they have those "
     "of the role that logs in, or are refused (401) when jwt-keys or basic-users is set."},
    {"strict", SETTING_BOOL, "bool", 0, 0, "false", FIELD(strict),
     "Serve nothing when the role that logs in is a superuser, has BYPASSRLS or owns tables that are "
     "shown; without it that is a warning where requests have roles."},
    {"role-models", SETTING_COUNT, "models", 1, 1000, "32", FIELD(role_models),
     "Models that are kept for roles besides anonymous-role: each shows what its role may read; the "
     "one that was not used for longest goes."},
    {"basic-users", SETTING_TEXT, "path", 0, 0, "", FIELD(basic_users),
     "File with a user in each line, `name:hash:role`, for HTTP Basic; hashes as mkpasswd makes them "
     "(yescrypt, SHA-512, bcrypt); read again on SIGHUP. Without it passwords are not taken."},
    {"basic-over-http", SETTING_BOOL, "bool", 0, 0, "false", FIELD(basic_over_http),
     "Take passwords that came in clear text, too; without it only from the same host, and from "
     "trusted-proxies that say https."},
    {"jwt-keys", SETTING_TEXT, "path", 0, 0, "", FIELD(jwt_keys),
     "File with the keys of bearer tokens: a JWK set, public keys in PEM, or a secret of 32 bytes or "
     "more; read again on SIGHUP. Without it tokens are not taken."},
    {"jwt-issuer", SETTING_TEXT, "text", 0, 0, "", FIELD(jwt_issuer),
     "What a token's iss must be."},
    {"jwt-audience", SETTING_LIST, "list of texts", 0, 0, "", FIELD(jwt_audiences),
     "A token's aud must name one of these."},
    {"jwt-role-claim", SETTING_TEXT, "claim", 0, 0, "role", FIELD(jwt_role_claim),
     "The claim with the role, or with several: a member's name, or a JSON Pointer "
     "(/realm_access/roles)."},
    {"jwt-roles", SETTING_LIST, "list of roles", 0, 0, "", FIELD(jwt_roles),
     "Roles of PostgreSQL that a token may have; claim=role gives the role for another word in the "
     "claim. The first one of the claim that is listed counts."},
};

enum {
    TABLE_ROWS = sizeof(table) / sizeof(table[0]),
};
_Static_assert((int)TABLE_ROWS <= (int)CONFIG_SETTINGS_MAX, "struct config has room for each row");

static const char *const log_levels[] = {
    [CONFIG_LOG_ERROR] = "error",
    [CONFIG_LOG_WARNING] = "warning",
    [CONFIG_LOG_INFO] = "info",
    [CONFIG_LOG_DEBUG] = "debug",
};
static const char *const log_formats[] = {
    [CONFIG_LOG_TEXT] = "text",
    [CONFIG_LOG_JSON] = "json",
};

const struct setting *setting_table(size_t *out_count)
{
    *out_count = TABLE_ROWS;
    return table;
}

const struct setting *setting_find(const char *name, size_t name_length)
{
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        if (strlen(table[i].name) == name_length && memcmp(table[i].name, name, name_length) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

/* Letters to add, drop or change between two short names; large when one is too long. */
static size_t edit_distance(const char *a, const char *b)
{
    enum {
        LONGEST = 32
    };
    size_t row[LONGEST + 1];
    size_t b_length = strlen(b);
    if (strlen(a) > LONGEST || b_length > LONGEST) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_length; j++) {
            bool same = tolower((unsigned char)a[i]) == b[j] || (a[i] == '_' && b[j] == '-');
            size_t best = diagonal + (same ? 0 : 1);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[b_length];
}

const struct setting *setting_similar(const char *name)
{
    const struct setting *nearest = NULL;
    size_t nearest_distance = 4; /* farther than three letters is a guess, not a hint */
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        size_t distance = edit_distance(name, table[i].name);
        if (distance < nearest_distance) {
            nearest = &table[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}

static void *field_of(struct config *c, const struct setting *s)
{
    return (char *)c + s->offset;
}

static bool check_bounds(const struct setting *s, const char *text, uint64_t value,
                         struct config_error *err)
{
    if (value >= s->least && value <= s->most) {
        return true;
    }
    const char *unit = s->kind == SETTING_DURATION ? " ms"
                       : s->kind == SETTING_BYTES  ? " bytes"
                                                   : "";
    return config_fail(err, "found '%s', expected %" PRIu64 " to %" PRIu64 "%s", text, s->least,
                       s->most, unit);
}

static bool apply_number(void *field, const struct setting *s, const char *text,
                         struct config_error *err)
{
    uint64_t value = 0;
    bool good = s->kind == SETTING_DURATION ? value_duration(text, &value, err)
                : s->kind == SETTING_BYTES  ? value_bytes(text, &value, err)
                                            : value_count(text, &value, err);
    if (!good || !check_bounds(s, text, value, err)) {
        return false;
    }
    if (s->kind == SETTING_DURATION) {
        *(int64_t *)field = (int64_t)value;
    } else {
        *(size_t *)field = (size_t)value;
    }
    return true;
}

static bool apply_word(const char *const *words, size_t count, const struct setting *s,
                       const char *text, size_t *out_index, struct config_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0) {
            *out_index = i;
            return true;
        }
    }
    return config_fail(err, "found '%s', expected one of: %s", text, s->unit);
}

static bool apply_text(char **field, const char *text, struct config_error *err)
{
    char *copy = strdup(text);
    if (copy == NULL) {
        return config_fail(err, "out of memory");
    }
    *field = copy;
    return true;
}

/* Parses text into a field that holds nothing. */
static bool apply_kind(void *field, const struct setting *s, const char *text,
                       struct config_error *err)
{
    size_t word = 0;
    switch (s->kind) {
    case SETTING_TEXT:
    case SETTING_SECRET:
        return apply_text(field, text, err);
    case SETTING_ADDRESS:
        return text[0] == '\0' || value_address(text, field, err);
    case SETTING_PATH:
        return value_path(text, field, err);
    case SETTING_URL:
        return value_url(text, field, err);
    case SETTING_LIST:
        return value_list(text, field, err);
    case SETTING_ORIGINS:
        return value_origins(text, field, err);
    case SETTING_NETWORKS:
        return value_networks(text, field, err);
    case SETTING_COUNT:
    case SETTING_BYTES:
    case SETTING_DURATION:
        return apply_number(field, s, text, err);
    case SETTING_BOOL:
        return value_bool(text, field, err);
    case SETTING_LOG_LEVEL:
        if (!apply_word(log_levels, sizeof(log_levels) / sizeof(log_levels[0]), s, text, &word,
                        err)) {
            return false;
        }
        *(enum config_log_level *)field = (enum config_log_level)word;
        return true;
    case SETTING_LOG_FORMAT:
        if (!apply_word(log_formats, sizeof(log_formats) / sizeof(log_formats[0]), s, text, &word,
                        err)) {
            return false;
        }
        *(enum config_log_format *)field = (enum config_log_format)word;
        return true;
    }
    return config_fail(err, "a kind of setting that nobody reads");
}

bool setting_apply(struct config *c, const struct setting *s, const char *text,
                   enum config_source source, struct config_error *err)
{
    size_t row = (size_t)(s - table);
    char *copy = strdup(text);
    if (copy == NULL) {
        return config_fail(err, "out of memory");
    }
    setting_clear(c, s);
    if (!apply_kind(field_of(c, s), s, text, err)) {
        free(copy);
        return false;
    }
    c->text[row] = copy;
    c->source[row] = source;
    return true;
}

void setting_clear(struct config *c, const struct setting *s)
{
    size_t row = (size_t)(s - table);
    void *field = field_of(c, s);
    free(c->text[row]);
    c->text[row] = NULL;
    switch (s->kind) {
    case SETTING_TEXT:
    case SETTING_SECRET:
    case SETTING_PATH:
    case SETTING_URL:
        free(*(char **)field);
        *(char **)field = NULL;
        break;
    case SETTING_ADDRESS:
        free(((struct config_address *)field)->host);
        *(struct config_address *)field = (struct config_address){NULL, 0};
        break;
    case SETTING_LIST:
    case SETTING_ORIGINS:
        config_list_free(field);
        break;
    case SETTING_NETWORKS:
        free(((struct config_networks *)field)->items);
        *(struct config_networks *)field = (struct config_networks){NULL, 0};
        break;
    case SETTING_COUNT:
    case SETTING_BYTES:
    case SETTING_DURATION:
    case SETTING_BOOL:
    case SETTING_LOG_LEVEL:
    case SETTING_LOG_FORMAT:
        break;
    }
}

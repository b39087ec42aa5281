// SPDX-License-Identifier: Apache-2.0
/*
 * config - the settings of the process, as plain typed values.
 *
 * Order: default < JSON file < environment (SLUICE_*) < flags. The table of all settings, with
 * units, bounds, defaults and a sentence each, is in config/settings.c.
 *
 * Owns:    every string and list in struct config, from config_load() to config_fini().
 * Never:   keeps a pointer into argv or the environment.
 * Threads: read-only once loaded.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

/* What the command line asks for; the last one given counts. */
enum config_command {
    CONFIG_SERVE,            /* no command flag */
    CONFIG_CHECK,            /* --check: connect, print entity sets and warnings, exit 0 or 1 */
    CONFIG_PRINT_CONFIG,     /* --print-config */
    CONFIG_PRINT_METADATA,   /* --print-metadata */
    CONFIG_PRINT_CONFIG_DOC, /* --print-config-doc: docs/CONFIG.md */
    CONFIG_HEALTH_CHECK,     /* --health-check: asks /healthz of the running service; exit 0 or 1 */
    CONFIG_VERSION,          /* --version */
    CONFIG_HELP,             /* --help */
};

enum config_log_level {
    CONFIG_LOG_ERROR,
    CONFIG_LOG_WARNING,
    CONFIG_LOG_INFO,
    CONFIG_LOG_DEBUG,
};

enum config_log_format {
    CONFIG_LOG_TEXT, /* event key=value */
    CONFIG_LOG_JSON,
};

/* The source that a setting's value came from; a later one beats an earlier one. */
enum config_source {
    CONFIG_FROM_DEFAULT,
    CONFIG_FROM_FILE,
    CONFIG_FROM_ENVIRONMENT,
    CONFIG_FROM_FLAG,
};

struct config_address {
    char *host;    /* a name or address, without brackets; "" = all interfaces; NULL = not set */
    uint16_t port; /* 0 = any free one */
};

struct config_list {
    char **items;
    size_t count;
};

/* A range of addresses: 10.0.0.0/8, ::1/128. */
struct config_network {
    int family; /* AF_INET or AF_INET6 */
    unsigned char bytes[16];
    unsigned prefix_bits;
};

struct config_networks {
    struct config_network *items;
    size_t count;
};

/* What the file's "entities" says about one table or view. */
struct config_entity {
    char *relation; /* "schema.table" */
    char *name;     /* of the entity set and type; "" = by rule */
    struct config_list key;
    struct config_list hide;
    struct config_list search; /* columns that $search looks into; none: by rule */
    char *search_config;       /* text search configuration; "" = by rule */
    size_t max_page_size;      /* rows; 0 = the global one */
};

enum {
    CONFIG_SETTINGS_MAX = 64, /* rows that the table of settings may have */
};

struct config {
    enum config_command command;

    char *config; /* path of the JSON file; "" = none */
    char *db_uri; /* libpq connection string or URI; "" = libpq's own variables */
    struct config_address listen;
    struct config_address admin_listen; /* host NULL: served beside the service */
    char *base_path;                    /* begins and ends in '/': "/" or "/odata/" */
    char *base_url; /* public service root, ends in '/'; "" = from the Host header */
    struct config_networks trusted_proxies;
    struct config_list schemas; /* at least one */
    char *timestamp_zone;
    size_t workers;         /* 0 = by itself: see config_workers() */
    size_t max_connections; /* of clients, over all workers */

    size_t db_pool_size; /* connections to PostgreSQL, over all workers */
    int64_t db_pool_wait_ms;
    int64_t statement_timeout_ms;    /* 0 = none */
    int64_t request_timeout_ms;      /* until the first byte of the response */
    int64_t stream_stall_timeout_ms; /* a reader that takes nothing for so long is dropped */
    int64_t header_timeout_ms;
    int64_t idle_timeout_ms; /* between two requests of a connection */
    int64_t drain_timeout_ms;
    bool prepared_statements;

    size_t max_page_size; /* rows; 0 = no limit */
    size_t max_url_bytes;
    size_t max_body_bytes;
    size_t max_filter_depth;
    size_t max_expand_depth;
    size_t buffer_bytes; /* high mark of one response's buffer */

    bool compression;
    bool server_timing;
    struct config_networks explain_networks;
    struct config_list cors_origins; /* "*" or "https://host[:port]" */
    enum config_log_level log_level;
    enum config_log_format log_format;

    char *anonymous_role; /* "" = the login role, or nobody when there are credentials to check */
    bool strict;
    char *basic_users; /* path; "" = passwords are not taken */
    bool basic_over_http;
    char *jwt_keys; /* path; "" = tokens are not taken */
    char *jwt_issuer;
    struct config_list jwt_audiences;
    char *jwt_role_claim;
    size_t role_models;           /* of roles other than anonymous_role, that are kept */
    struct config_list jwt_roles; /* "role" or "claim=role" */

    struct config_entity *entities;
    size_t entity_count;

    /* By row of the table of settings: the value as it was written, and who wrote it. */
    char *text[CONFIG_SETTINGS_MAX];
    enum config_source source[CONFIG_SETTINGS_MAX];
};

/* Says where and why: `sluice.json: member "entities"."public.x"."kye": unknown member ...`. */
struct config_error {
    char message[512];
};

/*
 * Reads all sources. argv[0] is skipped; environment is a NULL-ended list of "NAME=value".
 * With --help, --version or --print-config-doc neither file nor environment is read.
 * False fills err, and there is nothing to free.
 */
bool config_load(int argc, char *const *argv, char *const *environment, struct config *out_config,
                 struct config_error *err) __attribute__((warn_unused_result));
void config_fini(struct config *c);

/* The number of workers: the setting, else one a core, but never more than connections. */
size_t config_workers(const struct config *c);

/* True when address (AF_INET, AF_INET6; mapped IPv4 counts as IPv4) lies in one of the ranges. */
bool config_networks_contain(const struct config_networks *networks,
                             const struct sockaddr *address);

/*
 * A connection string that can be shown: passwords become ***, in both of libpq's forms.
 * The caller frees the result; NULL when memory is short.
 */
char *config_masked_uri(const char *db_uri) __attribute__((malloc, warn_unused_result));

/* --print-config: each setting with its value and source; passwords masked. */
void config_print(const struct config *c, FILE *out);
void config_print_help(FILE *out);
/* docs/CONFIG.md. */
void config_print_doc(FILE *out);

#endif

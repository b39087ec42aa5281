// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <ctype.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config_priv.h"

static const struct {
    const char *flag;
    enum config_command command;
} commands[] = {
    {"--check", CONFIG_CHECK},
    {"--print-config", CONFIG_PRINT_CONFIG},
    {"--print-metadata", CONFIG_PRINT_METADATA},
    {"--print-config-doc", CONFIG_PRINT_CONFIG_DOC},
    {"--health-check", CONFIG_HEALTH_CHECK},
    {"--version", CONFIG_VERSION},
    {"--help", CONFIG_HELP},
    {"-h", CONFIG_HELP},
};

void config_tell(struct config_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->message, sizeof(err->message), fmt, args);
    va_end(args);
}

void config_tell_place(struct config_error *err, const char *fmt, ...)
{
    struct config_error reason = *err;
    char place[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(place, sizeof(place), fmt, args);
    va_end(args);
    config_tell(err, "%s: %.250s", place, reason.message);
}

void config_list_free(struct config_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
    *list = (struct config_list){NULL, 0};
}

void config_fini(struct config *c)
{
    size_t count = 0;
    const struct setting *table = setting_table(&count);
    for (size_t i = 0; i < count; i++) {
        setting_clear(c, &table[i]);
    }
    for (size_t i = 0; i < c->entity_count; i++) {
        free(c->entities[i].relation);
        free(c->entities[i].name);
        config_list_free(&c->entities[i].key);
        config_list_free(&c->entities[i].hide);
        config_list_free(&c->entities[i].search);
        free(c->entities[i].search_config);
    }
    free(c->entities);
    *c = (struct config){0};
}

/* One flag, as the command line has it. */
struct flag {
    const struct setting *setting; /* NULL: a command */
    enum config_command command;
    const char *value;
    int next; /* index of the argument behind it */
};

static bool is_command(const char *text, enum config_command *out_command)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(text, commands[i].flag) == 0) {
            *out_command = commands[i].command;
            return true;
        }
    }
    return false;
}

/* Reads the flag at argv[i]: --name value or --name=value; a yes-or-no flag may stand alone. */
static bool read_flag(int argc, char *const *argv, int i, struct flag *out_flag,
                      struct config_error *err)
{
    struct flag flag = {.next = i + 1};
    const char *text = argv[i];
    if (is_command(text, &flag.command)) {
        *out_flag = flag;
        return true;
    }
    if (strncmp(text, "--", 2) != 0) {
        return config_fail(err, "argument '%s': expected a flag, see --help", text);
    }
    const char *name = text + 2;
    size_t name_length = strcspn(name, "=");
    flag.setting = setting_find(name, name_length);
    if (flag.setting == NULL) {
        char given[64];
        snprintf(given, sizeof(given), "%.*s", (int)(name_length < 60 ? name_length : 60), name);
        const struct setting *similar = setting_similar(given);
        return similar == NULL ? config_fail(err, "flag --%s: unknown, see --help", given)
                               : config_fail(err, "flag --%s: unknown; did you mean --%s?", given,
                                             similar->name);
    }
    bool value_follows = i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0;
    if (name[name_length] == '=') {
        flag.value = name + name_length + 1;
    } else if (value_follows) {
        flag.value = argv[i + 1];
        flag.next = i + 2;
    } else if (flag.setting->kind == SETTING_BOOL) {
        flag.value = "true";
    } else {
        return config_fail(err, "flag %s: its value (%s) is missing", text, flag.setting->unit);
    }
    *out_flag = flag;
    return true;
}

/* Checks all flags and finds the command and the file. */
static bool scan_flags(int argc, char *const *argv, enum config_command *out_command,
                       const char **out_file, struct config_error *err)
{
    struct flag flag = {0};
    for (int i = 1; i < argc; i = flag.next) {
        if (!read_flag(argc, argv, i, &flag, err)) {
            return false;
        }
        if (flag.setting == NULL) {
            *out_command = flag.command;
        } else if (strcmp(flag.setting->name, "config") == 0) {
            *out_file = flag.value;
        }
    }
    return true;
}

static bool apply_flags(struct config *c, int argc, char *const *argv, struct config_error *err)
{
    struct flag flag = {0};
    for (int i = 1; i < argc; i = flag.next) {
        if (!read_flag(argc, argv, i, &flag, err)) {
            return false;
        }
        if (flag.setting != NULL &&
            !setting_apply(c, flag.setting, flag.value, CONFIG_FROM_FLAG, err)) {
            return config_fail_at(err, "flag --%s", flag.setting->name);
        }
    }
    return true;
}

/* The value of SLUICE_<NAME> for a setting, or NULL. */
static const char *environment_value(char *const *environment, const char *name)
{
    for (char *const *e = environment; *e != NULL; e++) {
        if (strncmp(*e, "SLUICE_", 7) != 0) {
            continue;
        }
        const char *p = *e + 7;
        const char *n = name;
        for (; *n != '\0'; n++, p++) {
            int expected = *n == '-' ? '_' : toupper((unsigned char)*n);
            if (*p != expected) {
                break;
            }
        }
        if (*n == '\0' && *p == '=') {
            return p + 1;
        }
    }
    return NULL;
}

static void put_variable_name(const char *name, char *out, size_t size)
{
    snprintf(out, size, "SLUICE_%s", name);
    for (char *p = out; *p != '\0'; p++) {
        *p = (char)(*p == '-' ? '_' : toupper((unsigned char)*p));
    }
}

/* Kubernetes makes SLUICE_PORT... and SLUICE_SERVICE_... for a service that is named sluice. */
static bool is_of_kubernetes(const char *name)
{
    return strncmp(name, "port", 4) == 0 || strncmp(name, "service-", 8) == 0;
}

/* A variable that is no setting's, but looks like one, is a mistyped one; others may be anybody's. */
static bool check_variable(const char *variable, struct config_error *err)
{
    char name[64];
    size_t length = strcspn(variable, "=");
    size_t n = 0;
    for (const char *p = variable + 7; p < variable + length && n + 1 < sizeof(name); p++) {
        name[n++] = (char)(*p == '_' ? '-' : tolower((unsigned char)*p));
    }
    name[n] = '\0';
    if (strcmp(name, "config") == 0 || is_of_kubernetes(name) || setting_find(name, n) != NULL) {
        return true;
    }
    const struct setting *similar = setting_similar(name);
    if (similar == NULL) {
        return true;
    }
    char meant[64];
    put_variable_name(similar->name, meant, sizeof(meant));
    return config_fail(err, "variable %.*s: unknown; did you mean %s?",
                       (int)(length < 70 ? length : 70), variable, meant);
}

/* An empty variable counts as not set: compose files pass them so. */
static bool apply_environment(struct config *c, char *const *environment, struct config_error *err)
{
    for (char *const *e = environment; *e != NULL; e++) {
        if (strncmp(*e, "SLUICE_", 7) == 0 && !check_variable(*e, err)) {
            return false;
        }
    }
    size_t count = 0;
    const struct setting *table = setting_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *text = environment_value(environment, table[i].name);
        if (text == NULL || text[0] == '\0') {
            continue;
        }
        if (!setting_apply(c, &table[i], text, CONFIG_FROM_ENVIRONMENT, err)) {
            char variable[64];
            put_variable_name(table[i].name, variable, sizeof(variable));
            return config_fail_at(err, "variable %s", variable);
        }
    }
    return true;
}

static bool apply_defaults(struct config *c, struct config_error *err)
{
    size_t count = 0;
    const struct setting *table = setting_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (!setting_apply(c, &table[i], table[i].default_text, CONFIG_FROM_DEFAULT, err)) {
            return config_fail_at(err, "default of %s", table[i].name);
        }
    }
    return true;
}

/* Names that SET ROLE reads as something else, or PostgreSQL would cut. */
static bool check_role(const char *setting, const char *role, struct config_error *err)
{
    enum {
        LONGEST_ROLE = 63, /* NAMEDATALEN - 1 */
    };
    if (role[0] == '\0' || strcmp(role, "none") == 0 || strlen(role) > LONGEST_ROLE) {
        return config_fail(err, "%s: '%s' is no role", setting, role);
    }
    return true;
}

static bool check_credentials(const struct config *c, struct config_error *err)
{
    if (c->anonymous_role[0] != '\0' && !check_role("anonymous-role", c->anonymous_role, err)) {
        return false;
    }
    for (size_t i = 0; i < c->jwt_roles.count; i++) {
        const char *equals = strrchr(c->jwt_roles.items[i], '=');
        if (!check_role("jwt-roles", equals == NULL ? c->jwt_roles.items[i] : equals + 1, err)) {
            return false;
        }
    }
    bool has_rules = c->jwt_issuer[0] != '\0' && c->jwt_audiences.count > 0 &&
                     c->jwt_roles.count > 0 && c->jwt_role_claim[0] != '\0';
    if (c->jwt_keys[0] != '\0' && !has_rules) {
        return config_fail(err, "jwt-keys: needs jwt-issuer, jwt-audience, jwt-role-claim and "
                                "jwt-roles as well");
    }
    if (c->jwt_keys[0] == '\0' &&
        (c->jwt_issuer[0] != '\0' || c->jwt_audiences.count + c->jwt_roles.count > 0)) {
        return config_fail(err, "jwt-keys: missing, though other settings of tokens are there");
    }
    return true;
}

/* What no single setting can tell. */
static bool validate(const struct config *c, struct config_error *err)
{
    if (c->listen.host == NULL) {
        return config_fail(err, "listen: an address is needed");
    }
    if (c->schemas.count == 0) {
        return config_fail(err, "schemas: at least one schema is needed");
    }
    if (c->workers > c->db_pool_size) {
        return config_fail(err,
                           "workers: %zu workers need a connection each, but db-pool-size is %zu",
                           c->workers, c->db_pool_size);
    }
    if (c->statement_timeout_ms > c->request_timeout_ms) {
        return config_fail(err, "statement-timeout: longer than request-timeout");
    }
    if (c->db_pool_wait_ms > c->request_timeout_ms) {
        return config_fail(err, "db-pool-wait: longer than request-timeout");
    }
    if (c->admin_listen.host != NULL && c->listen.port != 0 &&
        c->admin_listen.port == c->listen.port &&
        strcmp(c->admin_listen.host, c->listen.host) == 0) {
        return config_fail(err, "admin-listen: the same address as listen");
    }
    return check_credentials(c, err);
}

static bool load_sources(struct config *c, int argc, char *const *argv, char *const *environment,
                         const char *file, struct config_error *err)
{
    return apply_defaults(c, err) && (file[0] == '\0' || file_load(c, file, err)) &&
           apply_environment(c, environment, err) && apply_flags(c, argc, argv, err) &&
           validate(c, err);
}

bool config_load(int argc, char *const *argv, char *const *environment, struct config *out_config,
                 struct config_error *err)
{
    struct config c = {.command = CONFIG_SERVE};
    const char *file = environment_value(environment, "config");
    file = file == NULL ? "" : file;
    if (!scan_flags(argc, argv, &c.command, &file, err)) {
        return false;
    }
    bool reads_sources = c.command != CONFIG_HELP && c.command != CONFIG_VERSION &&
                         c.command != CONFIG_PRINT_CONFIG_DOC;
    if (reads_sources && !load_sources(&c, argc, argv, environment, file, err)) {
        config_fini(&c);
        return false;
    }
    *out_config = c;
    return true;
}

size_t config_workers(const struct config *c)
{
    if (c->workers > 0) {
        return c->workers;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = cores < 1 ? 1 : (size_t)cores;
    return workers < c->db_pool_size ? workers : c->db_pool_size;
}

static bool same_prefix(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8;
    if (memcmp(a, b, whole) != 0) {
        return false;
    }
    unsigned rest = bits % 8;
    return rest == 0 || (((unsigned)a[whole] ^ (unsigned)b[whole]) >> (8 - rest)) == 0;
}

bool config_networks_contain(const struct config_networks *networks, const struct sockaddr *address)
{
    unsigned char bytes[16];
    int family = address->sa_family;
    if (family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof(in));
        memcpy(bytes, &in.sin_addr, 4);
    } else if (family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof(in6));
        memcpy(bytes, &in6.sin6_addr, 16);
        if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
            family = AF_INET;
            memmove(bytes, bytes + 12, 4);
        }
    } else {
        return false;
    }
    for (size_t i = 0; i < networks->count; i++) {
        const struct config_network *n = &networks->items[i];
        if (n->family == family && same_prefix(n->bytes, bytes, n->prefix_bits)) {
            return true;
        }
    }
    return false;
}

// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "config/config.h"

Suite *config_suite(void);

enum {
    WORDS_MAX = 12
};

/* A whole start: arguments, variables and a file, and the first words of what it says. */
static const struct row {
    const char *name;
    const char *args[WORDS_MAX];
    const char *environment[WORDS_MAX];
    const char *file;   /* content; NULL: none */
    const char *reason; /* a part of the error; NULL: it must load */
} rows[] = {
    {"nothing is needed", {NULL}, {NULL}, NULL, NULL},
    {"a flag with =", {"--listen=[::1]:80"}, {NULL}, NULL, NULL},
    {"an unknown flag has a hint", {"--max-page-sise", "5"}, {NULL}, NULL, "mean --max-page-size"},
    {"an unknown flag without a hint", {"--qqqqqqqqqqqq"}, {NULL}, NULL, "see --help"},
    {"a word is no flag", {"serve"}, {NULL}, NULL, "expected a flag"},
    {"a value is missing", {"--listen"}, {NULL}, NULL, "is missing"},
    {"a value is missing before a flag", {"--listen", "--check"}, {NULL}, NULL, "is missing"},
    {"a bad flag is named",
     {"--db-pool-size", "0"},
     {NULL},
     NULL,
     "flag --db-pool-size: found '0'"},
    {"a bad variable is named",
     {NULL},
     {"SLUICE_DB_POOL_SIZE=x"},
     NULL,
     "variable SLUICE_DB_POOL_SIZE: found 'x', expected a whole number"},
    {"a bad variable stops even when a flag beats it",
     {"--db-pool-size", "8"},
     {"SLUICE_DB_POOL_SIZE=x"},
     NULL,
     "variable SLUICE_DB_POOL_SIZE"},
    {"an empty variable is not set", {NULL}, {"SLUICE_DB_POOL_SIZE="}, NULL, NULL},
    {"a variable of Kubernetes is no setting", {NULL}, {"SLUICE_PORT=tcp://1:2"}, NULL, NULL},
    {"an unknown variable is somebody else's", {NULL}, {"SLUICE_BACKUP_BUCKET=x"}, NULL, NULL},
    {"a mistyped variable",
     {NULL},
     {"SLUICE_MAX_PAGE_SISE=3"},
     NULL,
     "variable SLUICE_MAX_PAGE_SISE: unknown; did you mean SLUICE_MAX_PAGE_SIZE?"},
    {"a role that SET ROLE reads as none",
     {"--anonymous-role", "none"},
     {NULL},
     NULL,
     "anonymous-role: 'none' is no role"},
    {"keys of tokens without rules",
     {"--jwt-keys", "x", "--jwt-issuer", "i"},
     {NULL},
     NULL,
     "jwt-keys: needs jwt-issuer, jwt-audience"},
    {"rules of tokens without keys", {"--jwt-roles", "a"}, {NULL}, NULL, "jwt-keys: missing"},
    {"a role of tokens that is none",
     {"--jwt-keys", "x", "--jwt-issuer", "i", "--jwt-audience", "a", "--jwt-roles", "b,x=none"},
     {NULL},
     NULL,
     "jwt-roles: 'none' is no role"},
    {"keys with their rules",
     {"--jwt-keys", "x", "--jwt-issuer", "i", "--jwt-audience", "a", "--jwt-roles", "b,x=c"},
     {NULL},
     NULL,
     NULL},
    {"a file", {NULL}, {NULL}, "{\"listen\": \"127.0.0.1:1\", \"max-page-size\": 5}", NULL},
    {"an empty file", {NULL}, {NULL}, "", "line 1: not valid JSON"},
    {"the line of a slip", {NULL}, {NULL}, "{\n\"listen\": }", "line 2: not valid JSON"},
    {"something behind the object", {NULL}, {NULL}, "{} x", "not valid JSON"},
    {"an array", {NULL}, {NULL}, "[]", "expected a JSON object"},
    {"an unknown member",
     {NULL},
     {NULL},
     "{\"lisen\": 1}",
     "member \"lisen\": unknown member; did"},
    {"names are case-sensitive", {NULL}, {NULL}, "{\"LISTEN\": \":1\"}", "mean \"listen\"?"},
    {"a member twice",
     {NULL},
     {NULL},
     "{\"workers\": 1, \"workers\": 2}",
     "member \"workers\": stands there twice"},
    {"a number where a string belongs", {NULL}, {NULL}, "{\"listen\": 80}", "expected a string"},
    {"a number without a unit", {NULL}, {NULL}, "{\"db-pool-wait\": 5}", "such as \"30s\""},
    {"a fraction", {NULL}, {NULL}, "{\"workers\": 1.5}", "expected a whole number"},
    {"a negative number", {NULL}, {NULL}, "{\"workers\": -1}", "expected a whole number"},
    {"a number as a string", {NULL}, {NULL}, "{\"workers\": \"1\"}", NULL},
    {"a number beyond its bounds", {NULL}, {NULL}, "{\"workers\": 300}", "expected 0 to 256"},
    {"a bool", {NULL}, {NULL}, "{\"compression\": true}", NULL},
    {"a bool that is none", {NULL}, {NULL}, "{\"compression\": 1}", "expected true or false"},
    {"a null", {NULL}, {NULL}, "{\"compression\": null}", "expected true or false"},
    {"a list as an array", {NULL}, {NULL}, "{\"schemas\": [\"a,b\", \"c\"]}", NULL},
    {"a list of numbers", {NULL}, {NULL}, "{\"schemas\": [1]}", "expected an array of strings"},
    {"no schema", {NULL}, {NULL}, "{\"schemas\": []}", "schemas: at least one"},
    {"a file cannot name a file", {NULL}, {NULL}, "{\"config\": \"x\"}", "another file"},
    {"entities",
     {NULL},
     {NULL},
     "{\"entities\": {\"public.v\": {\"key\": [\"id\"], \"name\": \"V\", \"hide\": [\"x\"],"
     " \"search\": [\"t\", \"u\"], \"search-config\": \"english\", \"max-page-size\": 5}}}",
     NULL},
    {"nothing to search",
     {NULL},
     {NULL},
     "{\"entities\": {\"public.v\": {\"search\": []}}}",
     "at least one column is needed"},
    {"no entities", {NULL}, {NULL}, "{\"entities\": {}}", NULL},
    {"an entity without its schema", {NULL}, {NULL}, "{\"entities\": {\"v\": {}}}", "schema.table"},
    {"an unknown member of an entity",
     {NULL},
     {NULL},
     "{\"entities\": {\"public.v\": {\"kye\": [\"id\"]}}}",
     "member \"entities\".\"public.v\".\"kye\": unknown member"},
    {"a key without columns",
     {NULL},
     {NULL},
     "{\"entities\": {\"public.v\": {\"key\": []}}}",
     "\"key\": at least one column"},
    {"a key that is no list",
     {NULL},
     {NULL},
     "{\"entities\": {\"public.v\": {\"key\": \"id\"}}}",
     "expected an array of column names"},
    {"an entity twice",
     {NULL},
     {NULL},
     "{\"entities\": {\"a.b\": {}, \"a.b\": {}}}",
     "stands there twice"},
    {"more workers than connections",
     {"--workers", "4", "--db-pool-size", "2"},
     {NULL},
     NULL,
     "db-pool-size is 2"},
    {"a statement that outlives its request",
     {"--statement-timeout=2min"},
     {NULL},
     NULL,
     "longer than request-timeout"},
    {"one address for both",
     {"--admin-listen", "127.0.0.1:8080"},
     {NULL},
     NULL,
     "same address as listen"},
    {"help reads no file", {"--help", "--config", "/nowhere"}, {NULL}, NULL, NULL},
    {"a file that is not there",
     {"--config", "/nowhere"},
     {NULL},
     NULL,
     "/nowhere: cannot be read"},
};

static char file_path[64];

/* Loads with these sources; the file's flag comes first. */
static bool load(const char *const *args, const char *const *environment, const char *file,
                 struct config *out_config, struct config_error *err)
{
    char *argv[WORDS_MAX + 4] = {0};
    char *env[WORDS_MAX + 1] = {0};
    int argc = 0;
    argv[argc++] = strdup("sluice");
    if (file != NULL) {
        snprintf(file_path, sizeof(file_path), "/tmp/sluice-config.XXXXXX");
        int fd = mkstemp(file_path);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, file, strlen(file)), (ssize_t)strlen(file));
        close(fd);
        argv[argc++] = strdup("--config");
        argv[argc++] = strdup(file_path);
    }
    for (size_t i = 0; args[i] != NULL; i++) {
        argv[argc++] = strdup(args[i]);
    }
    for (size_t i = 0; environment[i] != NULL; i++) {
        env[i] = strdup(environment[i]);
    }
    bool good = config_load(argc, argv, env, out_config, err);
    for (int i = 0; i < argc; i++) {
        free(argv[i]);
    }
    for (size_t i = 0; env[i] != NULL; i++) {
        free(env[i]);
    }
    if (file != NULL) {
        unlink(file_path);
    }
    return good;
}

START_TEST(loads_or_says_why)
{
    const struct row *row = &rows[_i];
    struct config c;
    struct config_error err = {""};
    bool good = load(row->args, row->environment, row->file, &c, &err);
    ck_assert_msg(good == (row->reason == NULL), "%s: %s", row->name, err.message);
    if (good) {
        config_fini(&c);
        return;
    }
    ck_assert_msg(strstr(err.message, row->reason) != NULL, "%s: %s", row->name, err.message);
    if (row->file != NULL && strstr(row->reason, "schemas:") == NULL) {
        ck_assert_msg(strncmp(err.message, file_path, strlen(file_path)) == 0, "%s: %s", row->name,
                      err.message);
    }
}
END_TEST

START_TEST(defaults_are_those_of_the_contract)
{
    struct config c;
    struct config_error err;
    const char *none[] = {NULL};
    ck_assert(load(none, none, NULL, &c, &err));
    ck_assert_int_eq(c.command, CONFIG_SERVE);
    ck_assert_str_eq(c.listen.host, "127.0.0.1");
    ck_assert_uint_eq(c.listen.port, 8080);
    ck_assert_ptr_null(c.admin_listen.host);
    ck_assert_str_eq(c.base_path, "/");
    ck_assert_str_eq(c.base_url, "");
    ck_assert_str_eq(c.db_uri, "");
    ck_assert_uint_eq(c.schemas.count, 1);
    ck_assert_str_eq(c.schemas.items[0], "public");
    ck_assert_uint_eq(c.db_pool_size, 16);
    ck_assert_uint_eq(c.max_page_size, 0);
    ck_assert_int_eq(c.statement_timeout_ms, 30000);
    ck_assert_uint_eq(c.buffer_bytes, 262144);
    ck_assert(c.prepared_statements);
    ck_assert(!c.compression);
    ck_assert_uint_ge(config_workers(&c), 1);
    ck_assert_uint_le(config_workers(&c), 16);
    config_fini(&c);
}
END_TEST

START_TEST(flag_beats_variable_beats_file)
{
    struct config c;
    struct config_error err;
    const char *args[] = {"--max-page-size", "3", "--compression", "--print-config", NULL};
    const char *environment[] = {"SLUICE_MAX_PAGE_SIZE=2", "SLUICE_WORKERS=2", NULL};
    ck_assert(load(args, environment,
                   "{\"max-page-size\": 1, \"workers\": 1, \"db-pool-size\": 7,"
                   " \"schemas\": [\"a,b\", \"c\"],"
                   " \"entities\": {\"public.v\": {\"key\": [\"id\", \"x,y\"]}}}",
                   &c, &err));
    ck_assert_int_eq(c.command, CONFIG_PRINT_CONFIG);
    ck_assert_uint_eq(c.max_page_size, 3);
    ck_assert_uint_eq(c.workers, 2);
    ck_assert_uint_eq(c.db_pool_size, 7);
    ck_assert(c.compression);
    ck_assert_uint_eq(c.schemas.count, 2);
    ck_assert_str_eq(c.schemas.items[0], "a,b");
    ck_assert_uint_eq(c.entity_count, 1);
    ck_assert_str_eq(c.entities[0].relation, "public.v");
    ck_assert_uint_eq(c.entities[0].key.count, 2);
    ck_assert_str_eq(c.entities[0].key.items[1], "x,y");
    ck_assert_str_eq(c.entities[0].name, "");
    config_fini(&c);
}
END_TEST

static const struct {
    const char *name;
    const char *uri;
    const char *shown;
} secrets[] = {
    {"a URI", "postgresql://me:pw@db:5432/sales", "postgresql://me:***@db:5432/sales"},
    {"a URI without one", "postgresql://me@db:5432/sales", "postgresql://me@db:5432/sales"},
    {"the short scheme", "postgres://me:pw@db", "postgres://me:***@db"},
    {"several hosts", "postgresql://me:pw@a:1,b:2/x", "postgresql://me:***@a:1,b:2/x"},
    {"an @ inside", "postgresql://me:p@w@db/x", "postgresql://me:***@db/x"},
    {"a / inside", "postgresql://me:p/w@db/x", "postgresql://me:***@db/x"},
    {"a ? inside", "postgresql://me:p?w@db/x", "postgresql://me:***@db/x"},
    {"a parameter", "postgresql:///x?user=a&password=pw&sslmode=require",
     "postgresql:///x?user=a&password=***&sslmode=require"},
    {"an escaped name", "postgresql:///x?pass%77ord=pw", "postgresql:///x?pass%77ord=***"},
    {"two parameters", "postgresql://db/x?password=pw&sslpassword=k",
     "postgresql://db/x?password=***&sslpassword=***"},
    {"both places", "postgresql://a:b@db/x?sslpassword=k",
     "postgresql://a:***@db/x?sslpassword=***"},
    {"pairs", "host=db password=pw user=me", "host=db password=*** user=me"},
    {"quoted", "host=db password = 'p w\\'q' user=me", "host=db password = *** user=me"},
    {"a quote that is not closed", "password='pw x", "password=***"},
    {"a backslash at the end", "password=pw\\", "password=***"},
    {"a blank that is escaped", "password=p\\ w user=me", "password=*** user=me"},
    {"a word alone", "password pw", "password pw"},
    {"nothing", "", ""},
};

START_TEST(hides_passwords)
{
    char *shown = config_masked_uri(secrets[_i].uri);
    ck_assert_ptr_nonnull(shown);
    ck_assert_msg(strcmp(shown, secrets[_i].shown) == 0, "%s: %s", secrets[_i].name, shown);
    free(shown);
}
END_TEST

/* Whatever is printed, into a string. */
static char *printed(void (*print)(const struct config *, FILE *), const struct config *c)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    print(c, out);
    fclose(out);
    return text;
}

static void print_help(const struct config *c, FILE *out)
{
    (void)c;
    config_print_help(out);
}

static void print_doc(const struct config *c, FILE *out)
{
    (void)c;
    config_print_doc(out);
}

START_TEST(print_config_shows_sources_and_no_password)
{
    struct config c;
    struct config_error err;
    const char *args[] = {"--db-uri", "postgresql://me:geheim@db/x", NULL};
    const char *environment[] = {"SLUICE_WORKERS=1", NULL};
    ck_assert(load(args, environment,
                   "{\"base-path\": \"x\", \"entities\": {\"a.b\": {\"name\": \"N\","
                   " \"hide\": [\"p\", \"q\"], \"search\": [\"t\"],"
                   " \"search-config\": \"french\"}}}",
                   &c, &err));
    char *text = printed(config_print, &c);
    ck_assert_ptr_null(strstr(text, "geheim"));
    ck_assert_ptr_nonnull(strstr(text, "postgresql://me:***@db/x (flag)"));
    ck_assert_ptr_nonnull(strstr(text, "(environment)"));
    ck_assert_ptr_nonnull(strstr(text, "(file)"));
    ck_assert_ptr_nonnull(strstr(text, "127.0.0.1:8080           (default)"));
    ck_assert_ptr_nonnull(
        strstr(text, "entities.a.b name=N hide=p,q search=t search-config=french"));
    free(text);
    config_fini(&c);
}
END_TEST

START_TEST(help_and_document_name_every_setting)
{
    static const char *const names[] = {
        "db-uri",
        "listen",
        "base-path",
        "base-url",
        "trusted-proxies",
        "schemas",
        "workers",
        "db-pool-size",
        "db-pool-wait",
        "max-page-size",
        "statement-timeout",
        "stream-stall-timeout",
        "request-timeout",
        "max-url-bytes",
        "max-body-bytes",
        "max-filter-depth",
        "max-expand-depth",
        "buffer-bytes",
        "prepared-statements",
        "compression",
        "cors-origins",
        "log-level",
        "log-format",
        "admin-listen",
        "config",
        "max-connections",
        "drain-timeout",
        "header-timeout",
        "idle-timeout",
    };
    char *help = printed(print_help, NULL);
    char *doc = printed(print_doc, NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char flag[64];
        char cell[64];
        snprintf(flag, sizeof(flag), "--%s (", names[i]);
        snprintf(cell, sizeof(cell), "| `%s` |", names[i]);
        ck_assert_msg(strstr(help, flag) != NULL, "%s", names[i]);
        ck_assert_msg(strstr(doc, cell) != NULL, "%s", names[i]);
    }
    free(help);
    free(doc);
}
END_TEST

Suite *config_suite(void)
{
    Suite *s = suite_create("config/config");
    TCase *t = tcase_create("config");
    tcase_add_loop_test(t, loads_or_says_why, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(t, defaults_are_those_of_the_contract);
    tcase_add_test(t, flag_beats_variable_beats_file);
    tcase_add_loop_test(t, hides_passwords, 0, sizeof(secrets) / sizeof(secrets[0]));
    tcase_add_test(t, print_config_shows_sources_and_no_password);
    tcase_add_test(t, help_and_document_name_every_setting);
    suite_add_tcase(s, t);
    return s;
}

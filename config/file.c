// SPDX-License-Identifier: Apache-2.0
/*
 * file - the JSON file: settings by their names, and "entities", the overrides of the model.
 *
 * The only file that knows cJSON. It is read before any thread is started: cJSON writes a global
 * on each parse.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "config/config_priv.h"
#include "config/value.h"

enum {
    FILE_BYTES_MAX = 4 * 1024 * 1024, /* overrides of 10,000 tables stay far below */
};

static bool read_whole(const char *path, char **out_text, size_t *out_length,
                       struct config_error *err)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        return config_fail(err, "%.200s: cannot be read: %s", path, strerrordesc_np(errno));
    }
    char *text = malloc(FILE_BYTES_MAX + 1);
    size_t length = text == NULL ? 0 : fread(text, 1, FILE_BYTES_MAX + 1, f);
    bool failed = ferror(f) != 0;
    int cause = errno;
    fclose(f);
    if (text == NULL || failed || length > FILE_BYTES_MAX) {
        free(text);
        return config_fail(err, "%.200s: cannot be read: %s", path,
                           failed         ? strerrordesc_np(cause)
                           : text == NULL ? "out of memory"
                                          : "larger than 4 MiB");
    }
    text[length] = '\0';
    *out_text = text;
    *out_length = length;
    return true;
}

static size_t line_of(const char *text, const char *at)
{
    size_t line = 1;
    for (const char *p = text; p < at; p++) {
        line += *p == '\n' ? 1 : 0;
    }
    return line;
}

/* Appends an item to a list as it is written in text: commas escaped. */
static size_t put_escaped(char *out, const char *item)
{
    size_t n = 0;
    for (const char *p = item; *p != '\0'; p++) {
        if (*p == ',') {
            out[n++] = '\\';
        }
        out[n++] = *p;
    }
    return n;
}

/* An array of strings as the text of a list; NULL when memory is short. Items were checked. */
static char *array_text(const cJSON *array)
{
    size_t room = 1;
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, array)
    {
        room += 2 * strlen(item->valuestring) + 1;
    }
    char *text = malloc(room);
    if (text == NULL) {
        return NULL;
    }
    size_t n = 0;
    cJSON_ArrayForEach(item, array)
    {
        if (n > 0) {
            text[n++] = ',';
        }
        n += put_escaped(text + n, item->valuestring);
    }
    text[n] = '\0';
    return text;
}

static bool is_string_array(const cJSON *value)
{
    if (!cJSON_IsArray(value)) {
        return false;
    }
    const cJSON *item = NULL;
    cJSON_ArrayForEach(item, value)
    {
        if (!cJSON_IsString(item)) {
            return false;
        }
    }
    return true;
}

static bool is_whole(const cJSON *value)
{
    /* Up to 2^53 a double holds whole numbers exactly; no setting goes beyond. */
    return cJSON_IsNumber(value) && value->valuedouble >= 0 &&
           value->valuedouble <= 9007199254740992.0 &&
           floor(value->valuedouble) == value->valuedouble;
}

static char *number_text(double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.0f", value);
    return strdup(text);
}

/* The forms of JSON that a kind of setting may have in the file. */
static bool value_text(const struct setting *s, const cJSON *value, char **out_text,
                       struct config_error *err)
{
    bool number = s->kind == SETTING_COUNT || s->kind == SETTING_BYTES;
    bool list =
        s->kind == SETTING_LIST || s->kind == SETTING_ORIGINS || s->kind == SETTING_NETWORKS;
    char *text = NULL;
    if (cJSON_IsString(value)) {
        text = strdup(value->valuestring);
    } else if (number && is_whole(value)) {
        text = number_text(value->valuedouble);
    } else if (s->kind == SETTING_BOOL && cJSON_IsBool(value)) {
        text = strdup(cJSON_IsTrue(value) ? "true" : "false");
    } else if (list && is_string_array(value)) {
        text = array_text(value);
    } else {
        return config_fail(err, "expected %s",
                           number                        ? "a whole number or a string"
                           : s->kind == SETTING_BOOL     ? "true or false"
                           : list                        ? "an array of strings"
                           : s->kind == SETTING_DURATION ? "a string such as \"30s\""
                                                         : "a string");
    }
    if (text == NULL) {
        return config_fail(err, "out of memory");
    }
    *out_text = text;
    return true;
}

static bool copy_list(const cJSON *value, struct config_list *out_list, struct config_error *err)
{
    if (!is_string_array(value)) {
        return config_fail(err, "expected an array of column names");
    }
    char *text = array_text(value);
    if (text == NULL) {
        return config_fail(err, "out of memory");
    }
    config_list_free(out_list);
    bool good = value_list(text, out_list, err);
    free(text);
    return good;
}

static bool copy_name(const cJSON *value, char **out_name, struct config_error *err)
{
    if (!cJSON_IsString(value) || value->valuestring[0] == '\0') {
        return config_fail(err, "expected a name");
    }
    free(*out_name);
    *out_name = strdup(value->valuestring);
    return *out_name != NULL || config_fail(err, "out of memory");
}

static bool entity_member(struct config_entity *e, const cJSON *member, struct config_error *err)
{
    const char *name = member->string;
    if (strcmp(name, "key") == 0) {
        return copy_list(member, &e->key, err) &&
               (e->key.count > 0 || config_fail(err, "at least one column is needed"));
    }
    if (strcmp(name, "hide") == 0) {
        return copy_list(member, &e->hide, err);
    }
    if (strcmp(name, "search") == 0) {
        return copy_list(member, &e->search, err) &&
               (e->search.count > 0 || config_fail(err, "at least one column is needed"));
    }
    if (strcmp(name, "max-page-size") == 0) {
        if (!is_whole(member) || member->valuedouble > 1e9) {
            return config_fail(err, "expected a whole number, 0 to 1000000000");
        }
        e->max_page_size = (size_t)member->valuedouble;
        return true;
    }
    if (strcmp(name, "name") == 0) {
        return copy_name(member, &e->name, err);
    }
    if (strcmp(name, "search-config") == 0) {
        return copy_name(member, &e->search_config, err);
    }
    return config_fail(err, "unknown member; expected key, name, hide, search, search-config or"
                            " max-page-size");
}

/* The same name twice: cJSON keeps both, and each reader would take another one. */
static bool check_twice(const cJSON *member, struct config_error *err)
{
    for (const cJSON *later = member->next; later != NULL; later = later->next) {
        if (strcmp(later->string, member->string) == 0) {
            return config_fail(err, "stands there twice");
        }
    }
    return true;
}

static bool load_entity(struct config_entity *e, const cJSON *value, const char *path,
                        struct config_error *err)
{
    e->relation = strdup(value->string);
    e->name = strdup("");
    e->search_config = strdup("");
    if (e->relation == NULL || e->name == NULL || e->search_config == NULL) {
        return config_fail(err, "%.200s: out of memory", path);
    }
    const char *point = strchr(value->string, '.');
    if (point == NULL || point == value->string || point[1] == '\0' || !cJSON_IsObject(value)) {
        return config_fail(
            err, "%.200s: member \"entities\".\"%.60s\": expected \"schema.table\": {...}", path,
            value->string);
    }
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, value)
    {
        if (!check_twice(member, err) || !entity_member(e, member, err)) {
            return config_fail_at(err, "%.100s: member \"entities\".\"%.60s\".\"%.40s\"", path,
                                  value->string, member->string);
        }
    }
    return true;
}

static bool load_entities(struct config *c, const cJSON *value, const char *path,
                          struct config_error *err)
{
    if (!cJSON_IsObject(value)) {
        return config_fail(err, "%.200s: member \"entities\": expected an object", path);
    }
    size_t count = (size_t)cJSON_GetArraySize(value);
    if (count == 0) {
        return true;
    }
    c->entities = calloc(count, sizeof(c->entities[0]));
    if (c->entities == NULL) {
        return config_fail(err, "%.200s: out of memory", path);
    }
    const cJSON *entity = NULL;
    cJSON_ArrayForEach(entity, value)
    {
        if (!check_twice(entity, err)) {
            return config_fail_at(err, "%.200s: member \"entities\".\"%.60s\"", path,
                                  entity->string);
        }
        if (!load_entity(&c->entities[c->entity_count++], entity, path, err)) {
            return false;
        }
    }
    return true;
}

static bool load_setting(struct config *c, const cJSON *member, struct config_error *err)
{
    const struct setting *s = setting_find(member->string, strlen(member->string));
    if (s == NULL) {
        const struct setting *similar = setting_similar(member->string);
        return similar == NULL
                   ? config_fail(err, "unknown member")
                   : config_fail(err, "unknown member; did you mean \"%s\"?", similar->name);
    }
    if (strcmp(s->name, "config") == 0) {
        return config_fail(err, "a file cannot name another file");
    }
    char *text = NULL;
    if (!value_text(s, member, &text, err)) {
        return false;
    }
    bool good = setting_apply(c, s, text, CONFIG_FROM_FILE, err);
    free(text);
    return good;
}

static bool load_root(struct config *c, const cJSON *root, const char *path,
                      struct config_error *err)
{
    if (!cJSON_IsObject(root)) {
        return config_fail(err, "%.200s: expected a JSON object", path);
    }
    const cJSON *member = NULL;
    cJSON_ArrayForEach(member, root)
    {
        bool entities = strcmp(member->string, "entities") == 0;
        if (!check_twice(member, err) || (!entities && !load_setting(c, member, err))) {
            return config_fail_at(err, "%.150s: member \"%.60s\"", path, member->string);
        }
        if (entities && !load_entities(c, member, path, err)) {
            return false;
        }
    }
    return true;
}

bool file_load(struct config *c, const char *path, struct config_error *err)
{
    char *text = NULL;
    size_t length = 0;
    if (!read_whole(path, &text, &length, err)) {
        return false;
    }
    const char *end = text;
    cJSON *root = NULL;
    if (strlen(text) == length) { /* a NUL byte would hide what follows it */
        root = cJSON_ParseWithOpts(text, &end, 1);
    } else {
        end = text + strlen(text);
    }
    bool good = root != NULL ||
                config_fail(err, "%.200s: line %zu: not valid JSON", path, line_of(text, end));
    good = good && load_root(c, root, path, err);
    cJSON_Delete(root);
    free(text);
    return good;
}

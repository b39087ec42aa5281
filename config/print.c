// SPDX-License-Identifier: Apache-2.0
/*
 * print - the settings for people: --help, --print-config, docs/CONFIG.md, masked passwords.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/config_priv.h"

static const char *const source_names[] = {
    [CONFIG_FROM_DEFAULT] = "default",
    [CONFIG_FROM_FILE] = "file",
    [CONFIG_FROM_ENVIRONMENT] = "environment",
    [CONFIG_FROM_FLAG] = "flag",
};

/* Text under construction that never grows past what was reserved for it. */
struct masked {
    char *text;
    size_t length;
};

static void put(struct masked *m, const char *text, size_t length)
{
    memcpy(m->text + m->length, text, length);
    m->length += length;
}

/* An escaped name could spell anything, so its value is not shown either. */
static bool is_secret_name(const char *name, size_t length)
{
    static const char *const names[] = {"password", "sslpassword"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == length && strncasecmp(names[i], name, length) == 0) {
            return true;
        }
    }
    return memchr(name, '%', length) != NULL;
}

/*
 * user:password@host...?name=value&...
 *
 * libpq ends the user part at the first '@' before the first '/', and takes a '?' there as part of
 * the password. The last '@' before the later of '/' and '?' hides those and slips with '@' or '/'
 * too; at worst it hides a port.
 */
static void mask_uri(const char *uri, struct masked *m)
{
    const char *authority = strstr(uri, "://") + 3;
    const char *slash = authority + strcspn(authority, "/");
    const char *question = authority + strcspn(authority, "?");
    const char *limit = slash > question ? slash : question;
    const char *at = NULL;
    for (const char *p = authority; p < limit; p++) {
        at = *p == '@' ? p : at;
    }
    const char *colon = at == NULL ? NULL : memchr(authority, ':', (size_t)(at - authority));
    const char *from = uri;
    if (colon != NULL) {
        put(m, uri, (size_t)(colon + 1 - uri));
        put(m, "***", 3);
        from = at;
    }
    const char *query = from + strcspn(from, "?");
    put(m, from, (size_t)(query - from));
    for (const char *p = query; *p != '\0';) {
        const char *name = p + 1;
        size_t length = strcspn(name, "&");
        size_t name_length = strcspn(name, "=&");
        put(m, p, 1);
        if (is_secret_name(name, name_length) && name_length < length) {
            put(m, name, name_length + 1);
            put(m, "***", 3);
        } else {
            put(m, name, length);
        }
        p = name + length;
    }
}

/* The end of a value in key=value form: quoted with ' and backslashes, or up to a blank. */
static const char *value_end(const char *p)
{
    bool quoted = *p == '\'';
    p += quoted ? 1 : 0;
    while (*p != '\0' && (quoted ? *p != '\'' : !isspace((unsigned char)*p))) {
        p += p[0] == '\\' && p[1] != '\0' ? 2 : 1;
    }
    return quoted && *p != '\0' ? p + 1 : p;
}

static void mask_pairs(const char *text, struct masked *m)
{
    const char *p = text;
    while (*p != '\0') {
        size_t blanks = strspn(p, " \t\r\n\f\v");
        put(m, p, blanks);
        p += blanks;
        const char *name = p;
        size_t name_length = strcspn(p, "= \t\r\n\f\v");
        p += name_length;
        p += strspn(p, " \t\r\n\f\v");
        if (*p != '=') {
            put(m, name, (size_t)(p - name));
            continue;
        }
        p++;
        p += strspn(p, " \t\r\n\f\v");
        put(m, name, (size_t)(p - name));
        const char *end = value_end(p);
        if (is_secret_name(name, name_length)) {
            put(m, "***", 3);
        } else {
            put(m, p, (size_t)(end - p));
        }
        p = end;
    }
}

char *config_masked_uri(const char *db_uri)
{
    /* A mask adds three bytes at most, beside a name or separators of at least two. */
    struct masked m = {malloc(4 * strlen(db_uri) + 16), 0};
    if (m.text == NULL) {
        return NULL;
    }
    if (strncmp(db_uri, "postgresql://", 13) == 0 || strncmp(db_uri, "postgres://", 11) == 0) {
        mask_uri(db_uri, &m);
    } else {
        mask_pairs(db_uri, &m);
    }
    m.text[m.length] = '\0';
    return m.text;
}

static void print_list(const char *label, const struct config_list *list, FILE *out)
{
    if (list->count == 0) {
        return;
    }
    fprintf(out, " %s=", label);
    for (size_t i = 0; i < list->count; i++) {
        fprintf(out, "%s%s", i == 0 ? "" : ",", list->items[i]);
    }
}

void config_print(const struct config *c, FILE *out)
{
    size_t count = 0;
    const struct setting *table = setting_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *text = c->text[i] == NULL ? "" : c->text[i];
        char *masked = table[i].kind == SETTING_SECRET ? config_masked_uri(text) : NULL;
        const char *shown = table[i].kind != SETTING_SECRET ? text
                            : masked != NULL                ? masked
                                                            : "***";
        fprintf(out, "%-22s %-24s (%s)\n", table[i].name, shown[0] == '\0' ? "-" : shown,
                source_names[c->source[i]]);
        free(masked);
    }
    for (size_t i = 0; i < c->entity_count; i++) {
        const struct config_entity *e = &c->entities[i];
        fprintf(out, "entities.%s", e->relation);
        if (e->name[0] != '\0') {
            fprintf(out, " name=%s", e->name);
        }
        print_list("key", &e->key, out);
        print_list("hide", &e->hide, out);
        print_list("search", &e->search, out);
        if (e->search_config[0] != '\0') {
            fprintf(out, " search-config=%s", e->search_config);
        }
        if (e->max_page_size > 0) {
            fprintf(out, " max-page-size=%zu", e->max_page_size);
        }
        fprintf(out, "\n");
    }
}

/* The sentence, broken at blanks into lines of a terminal. */
static void print_wrapped(const char *text, FILE *out)
{
    enum {
        WIDTH = 72
    };
    while (*text != '\0') {
        size_t length = strlen(text);
        if (length > WIDTH) {
            length = WIDTH;
            while (length > 0 && text[length] != ' ') {
                length--;
            }
        }
        fprintf(out, "        %.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
}

void config_print_help(FILE *out)
{
    fputs("Sluice serves a PostgreSQL database as OData V4.\n"
          "\n"
          "    sluice [--db-uri URI] [--listen HOST:PORT] [--config FILE] [settings]\n"
          "\n"
          "Instead of serving:\n"
          "    --check            connect, print the entity sets and every warning, exit 0 or 1\n"
          "    --print-config     print each setting with its value and where it came from\n"
          "    --print-metadata   print the $metadata document\n"
          "    --health-check     ask the running service whether it lives, exit 0 or 1\n"
          "    --version, --help\n"
          "\n"
          "Each setting is a flag, a variable (SLUICE_MAX_PAGE_SIZE) or a member of the JSON file\n"
          "(\"max-page-size\"); flag over variable over file over default.\n"
          "\n",
          out);
    size_t count = 0;
    const struct setting *table = setting_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *standard = table[i].default_text;
        fprintf(out, "    --%s (%s)%s%s\n", table[i].name, table[i].unit,
                standard[0] == '\0' ? "" : ", default ", standard);
        print_wrapped(table[i].sentence, out);
    }
}

/* least..most as the document shows them: in the largest unit that leaves a whole number. */
static void print_bound(const struct setting *s, uint64_t value, FILE *out)
{
    static const struct {
        enum setting_kind kind;
        uint64_t factor;
        const char *unit;
    } units[] = {
        {SETTING_BYTES, UINT64_C(1024) * 1024 * 1024, "GiB"},
        {SETTING_BYTES, UINT64_C(1024) * 1024, "MiB"},
        {SETTING_BYTES, 1024, "KiB"},
        {SETTING_DURATION, UINT64_C(3600) * 1000, "h"},
        {SETTING_DURATION, UINT64_C(60) * 1000, "min"},
        {SETTING_DURATION, 1000, "s"},
        {SETTING_DURATION, 1, "ms"},
    };
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (units[i].kind == s->kind && value > 0 && value % units[i].factor == 0) {
            fprintf(out, "%" PRIu64 "%s", value / units[i].factor, units[i].unit);
            return;
        }
    }
    fprintf(out, "%" PRIu64, value);
}

void config_print_doc(FILE *out)
{
    fputs(
        "# Settings\n"
        "\n"
        "<!-- Printed by `sluice --print-config-doc`; edit config/settings.c instead. -->\n"
        "\n"
        "Each setting can be given as a flag (`--max-page-size 500`), as a variable\n"
        "(`SLUICE_MAX_PAGE_SIZE=500`) or as a member of the JSON file named by `--config`\n"
        "(`\"max-page-size\": 500`). A flag beats a variable, a variable beats the file, the file\n"
        "beats the default; an empty variable counts as not set. A member that is unknown or a\n"
        "value that is out of bounds stops the start, with file, member and reason.\n"
        "`sluice --print-config` shows what holds, and where each value came from.\n"
        "\n"
        "Sizes are written as `64KiB` or `1MiB`, durations as `500ms`, `30s`, `5min` or `1h`.\n"
        "Lists are written with commas (`\\,` is a comma inside an item) or as JSON arrays.\n"
        "\n"
        "| setting | form | bounds | default | |\n"
        "|---|---|---|---|---|\n",
        out);
    size_t count = 0;
    const struct setting *table = setting_table(&count);
    for (size_t i = 0; i < count; i++) {
        const struct setting *s = &table[i];
        fprintf(out, "| `%s` | %s | ", s->name, s->unit);
        if (s->most > 0) {
            print_bound(s, s->least, out);
            fputs(" to ", out);
            print_bound(s, s->most, out);
        }
        fprintf(out, " | %s%s%s | %s |\n", s->default_text[0] == '\0' ? "" : "`", s->default_text,
                s->default_text[0] == '\0' ? "" : "`", s->sentence);
    }
    fputs(
        "\n"
        "`schemas` must name at least one schema. `workers` may not exceed `db-pool-size`.\n"
        "`statement-timeout` and `db-pool-wait` may not exceed `request-timeout`.\n"
        "\n"
        "## Overrides of the model\n"
        "\n"
        "The file may also say how single tables and views are published, by their names in\n"
        "PostgreSQL:\n"
        "\n"
        "```json\n"
        "{\"db-uri\": \"postgresql://reader@db.example.com/sales\",\n"
        " \"schemas\": [\"public\", \"sales\"],\n"
        " \"entities\": {\n"
        "   \"public.sales_report\": {\"key\": [\"id\"], \"name\": \"Reports\", \"hide\": "
        "[\"secret\"],\n"
        "                           \"max-page-size\": 500}}}\n"
        "```\n"
        "\n"
        "| member | |\n"
        "|---|---|\n"
        "| `key` | Columns that identify a row: for a view or table without a key. |\n"
        "| `name` | Name of the entity set and type, in place of the one made by rule. |\n"
        "| `hide` | Columns that are left out; no request can read, filter or order by them. |\n"
        "| `search` | Columns that `$search` looks into: one of type tsvector, or any number with "
        "text. Without it: a tsvector column, the expression of an index over `to_tsvector`, or "
        "all columns of text. |\n"
        "| `search-config` | Text search configuration (`english`, `simple`, ...). Without it: "
        "that of the column or index, else `simple`: words as they are. |\n"
        "| `max-page-size` | Rows of a page of this set; 0 takes the setting of that name. |\n",
        out);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/explain.h"

#include <inttypes.h>
#include <stdio.h>

#include "odata/json_writer.h"

#define OPTION "sluice-explain"

static bool find_option(struct str raw_query, struct str *out_value)
{
    for (size_t at = 0; at < raw_query.len;) {
        size_t end = str_find(raw_query, '&', at);
        struct str option = str_slice(raw_query, at, end);
        size_t equals = str_find(option, '=', 0);
        if (str_eq(str_slice(option, 0, equals), STR(OPTION))) {
            *out_value = str_from_offset(option, equals + 1);
            return true;
        }
        at = end + 1;
    }
    return false;
}

bool explain_asked(const struct http_exchange *x, const struct service *s, struct str raw_query,
                   bool *out_asked, struct odata_error *err)
{
    struct str value;
    *out_asked = false;
    if (!find_option(raw_query, &value) || str_eq(value, STR("false"))) {
        return true;
    }
    if (!str_eq(value, STR("true"))) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_QUERY_OPTION, OPTION,
                               OPTION " is true or false");
    }
    if (x->peer == NULL || !config_networks_contain(&s->config->explain_networks, x->peer)) {
        return odata_error_set(err, 403, ODATA_CODE_FORBIDDEN, OPTION,
                               OPTION " is not allowed to this client");
    }
    *out_asked = true;
    return true;
}

/* All statements of a read, in the order in which they are sent; what is for people. */
static size_t statement_count(const struct sql_read *sql)
{
    return (sql->has_count ? 1U : 0U) + (sql->has_rows ? sql->level_count : 0);
}

static const struct sql_statement *statement_at(const struct sql_read *sql, size_t i,
                                                const char **out_what)
{
    size_t level = i - (sql->has_count ? 1U : 0U);
    if (sql->has_count && i == 0) {
        *out_what = "count";
        return &sql->count;
    }
    *out_what = level == 0 ? "rows" : "expanded";
    return &sql->levels[level].statement;
}

static const struct member plan_member = {.kind = MEMBER_VALUE, .label = {STR_INIT("\"plan\":")}};
static const struct shape plan_shape = {.members = &plan_member, .count = 1};

bool explain_begin(struct arena *a, struct bytes *out, const struct sql_read *sql,
                   const struct sql_read **out_read, struct odata_error *err)
{
    size_t count = statement_count(sql);
    BYTES_PUT_LITERAL(out, "{\"statements\":[");
    for (size_t i = 0; i < count; i++) {
        const char *what;
        const struct sql_statement *s = statement_at(sql, i, &what);
        bytes_format(out, "%s{\"for\":\"%s\",\"parameters\":%zu,\"sql\":", i > 0 ? "," : "", what,
                     s->param_count);
        json_put_str(out, str_from(s->text));
        bytes_put_char(out, '}');
    }
    bytes_put_char(out, ']');
    *out_read = NULL;
    if (count == 0) {
        bytes_put_char(out, '}');
        return true;
    }
    const char *what;
    const struct sql_statement *main =
        sql->has_rows ? &sql->levels[0].statement : statement_at(sql, 0, &what);
    struct sql_level *level = ARENA_NEW(a, struct sql_level);
    struct sql_read *read = ARENA_NEW(a, struct sql_read);
    struct str text;
    if (level == NULL || read == NULL ||
        !arena_format(a, &text, "EXPLAIN (FORMAT JSON) %s", main->text)) {
        return odata_error_too_complex(err);
    }
    *level = (struct sql_level){.statement = *main, .field_count = 1};
    level->statement.text = text.ptr;
    /* FORMAT JSON is one row, however long the plan. */
    *read = (struct sql_read){
        .levels = level, .level_count = 1, .has_rows = true, .row_limit = 1, .shape = &plan_shape};
    *out_read = read;
    return true;
}

static void put_plan(struct bytes *out, const char *text, size_t len)
{
    BYTES_PUT_LITERAL(out, ",\"plan\":");
    bytes_put(out, text, len);
    bytes_put_char(out, '}');
}

void explain_spec(struct feed_spec *out_spec)
{
    *out_spec = (struct feed_spec){.kind = FEED_RAW_VALUE, .shape = &plan_shape, .raw = put_plan};
}

void explain_log(struct log *log, uint64_t id, const struct sql_read *sql)
{
    char id_text[24];
    if (!log_is_on(log, LOG_DEBUG)) {
        return;
    }
    snprintf(id_text, sizeof(id_text), "%" PRIx64, id);
    for (size_t i = 0; i < statement_count(sql); i++) {
        const char *what;
        const struct sql_statement *s = statement_at(sql, i, &what);
        if (log_begin(log, LOG_DEBUG, "sql")) {
            log_text(log, "id", id_text);
            log_text(log, "for", what);
            log_int(log, "parameters", (int64_t)s->param_count);
            log_text(log, "text", s->text);
            log_end(log);
        }
    }
}

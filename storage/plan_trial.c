// SPDX-License-Identifier: Apache-2.0
#include "storage/plan_trial.h"

#include <string.h>

#include "odata/lexer.h"

enum {
    QUESTION_LIMIT_BYTES = 256 * 1024,
    LINE_LIMIT_BYTES = 64 * 1024,
};

bool plan_trial_send(struct plan_trial *t, struct conn *c, struct conn_client *client,
                     const struct sql_statement *statement, uint64_t hash)
{
    *t = (struct plan_trial){0};
    uint32_t number = conn_prepared(c, statement, hash);
    if (number == 0) {
        return false;
    }
    struct bytes text;
    bytes_init(&text, QUESTION_LIMIT_BYTES);
    BYTES_PUT_LITERAL(&text, "EXPLAIN (COSTS OFF) ");
    bytes_put_str(&text, str_from(statement->text));
    bytes_put_char(&text, '\0');
    size_t of_kept = text.len;
    /* The plan for any values does not look at the values. */
    BYTES_PUT_LITERAL(&text, "EXPLAIN (COSTS OFF) EXECUTE s");
    bytes_put_u64(&text, number);
    for (size_t i = 0; i < statement->param_count; i++) {
        bytes_put_str(&text, i == 0 ? STR("(NULL") : STR(", NULL"));
    }
    bytes_put_str(&text, statement->param_count > 0 ? STR(")") : STR(""));
    bytes_put_char(&text, '\0');
    bool is_whole = !bytes_failed(&text);
    if (is_whole) {
        conn_send_once(c, client, &t->tag_chosen, text.ptr, statement->params,
                       statement->param_count);
        conn_set_plan_mode(c, PLAN_KEPT);
        conn_send_once(c, client, &t->tag_kept, text.ptr + of_kept, NULL, 0);
    }
    bytes_fini(&text);
    return is_whole;
}

bool plan_trial_has(const struct plan_trial *t, const void *arg)
{
    return arg == &t->tag_chosen || arg == &t->tag_kept;
}

/* The end of what starts with the quotation mark at s[i]; doubled ones belong to it. */
static size_t quoted_end(struct str s, size_t i)
{
    char mark = s.ptr[i++];
    while (i < s.len) {
        if (s.ptr[i] != mark) {
            i++;
        } else if (i + 1 < s.len && s.ptr[i + 1] == mark) {
            i += 2;
        } else {
            return i + 1;
        }
    }
    return s.len;
}

static size_t number_end(struct str s, size_t i)
{
    while (i < s.len && (lexer_is_digit(s.ptr[i]) || s.ptr[i] == '.')) {
        i++;
    }
    return i;
}

/* `::timestamp with time zone`, `::text[]`: the type of a constant, which a parameter has not. */
static size_t type_end(struct str s, size_t i)
{
    if (i + 2 >= s.len || s.ptr[i] != ':' || s.ptr[i + 1] != ':') {
        return i;
    }
    i += 2;
    while (i < s.len && (lexer_is_name_byte(s.ptr[i]) || strchr(" .\"[]", s.ptr[i]) != NULL)) {
        i++;
    }
    return i;
}

void plan_trial_put_line(struct bytes *out, struct str line)
{
    size_t i = 0;
    while (i < line.len) {
        char c = line.ptr[i];
        bool starts_word = i == 0 || !lexer_is_name_byte(line.ptr[i - 1]);
        size_t end = i;
        if (c == '\'') {
            end = quoted_end(line, i);
        } else if (starts_word && (lexer_is_digit(c) || c == '$')) {
            end = number_end(line, i + 1);
        } else if (c == '"') {
            size_t after = quoted_end(line, i);
            bytes_put(out, line.ptr + i, after - i);
            i = after;
            continue;
        }
        if (end > i) {
            bytes_put_char(out, '?');
            i = type_end(line, end);
        } else {
            bytes_put_char(out, c);
            i++;
        }
    }
    bytes_put_char(out, '\n');
}

/* 0 when it cannot be told. */
static uint64_t plan_hash(const PGresult *res)
{
    struct bytes lines;
    bytes_init(&lines, LINE_LIMIT_BYTES);
    for (int row = 0; row < PQntuples(res); row++) {
        struct str line = {PQgetvalue(res, row, 0), (size_t)PQgetlength(res, row, 0)};
        plan_trial_put_line(&lines, line);
    }
    uint64_t hash = bytes_failed(&lines) ? 0 : str_hash(bytes_str(&lines));
    bytes_fini(&lines);
    return hash;
}

void plan_trial_take(struct plan_trial *t, const void *arg, const PGresult *res)
{
    if (PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) > 0) {
        *(arg == &t->tag_chosen ? &t->chosen : &t->kept) = plan_hash(res);
    }
}

bool plan_trial_are_alike(const struct plan_trial *t)
{
    return t->chosen != 0 && t->chosen == t->kept;
}

// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "storage/cursor_priv.h"
#include "storage/row_width.h"

enum {
    MOST_ROWS = 10000,
    /* Of those that are narrow as they are stored, at most 2 KB: compressed text of that size may be
       50 times as long, in one batch, before rows come one at a time again. */
    MOST_NARROW_ROWS = 256,
    /* Of those that may be wide and come in a batch all the same, because other levels' rows come
       between them: a megabyte each may follow on thousands of narrow ones. */
    MOST_WIDE_ROWS = 32,
    /* Parents of one child statement: enough to be worth its planning. */
    MOST_PARENTS = 1024,
    /* A batch may have so many times the rows of the one before it. */
    GROWTH = 8,
    /* Rows that come one at a time stay in the socket until they are wanted: a FETCH of them may have
       so many times fetch_bytes, to be worth its planning. */
    BY_ROW_FETCHES = 4,
};

static bool is_leaf(const struct cursor_set *set, unsigned level)
{
    return set->levels[level].sql->child_count == 0;
}

/* The text in scratch is complete. */
static bool end_text(struct cursor_set *set)
{
    bytes_put_char(&set->scratch, '\0');
    set->out_of_memory = set->out_of_memory || bytes_failed(&set->scratch);
    set->unsynced = set->unsynced || !set->out_of_memory;
    return !set->out_of_memory;
}

static void send_text(struct cursor_set *set, void *arg, const char *const *params, size_t count)
{
    if (end_text(set)) {
        conn_send_once(set->conn, set->client, arg, set->scratch.ptr, params, count);
    }
}

void cursor_close(struct cursor *c)
{
    if (c->closed || c->set->conn == NULL || c->level == 0) {
        return; /* level 0's cursor ends with its transaction */
    }
    c->closed = true;
    bytes_clear(&c->set->scratch);
    bytes_format(&c->set->scratch, "CLOSE c%u_%u", c->level, c->serial);
    send_text(c->set, &c->set->ignored, NULL, 0);
}

/* How many batches it may have asked for, behind its current one. */
static unsigned most_asked(const struct cursor *c)
{
    if (c->set->is_single) {
        return CURSOR_MOST_ASKED;
    }
    bool ahead = c->parent != NULL && !c->parent->is_current;
    bool is_measured = c->set->levels[c->level].row_bytes > 0;
    return ahead || !is_measured || !is_leaf(c->set, c->level) ? 1 : CURSOR_MOST_ASKED;
}

/* As many as make the bytes of a FETCH, when they are like those before them. */
static int rows_to_ask(const struct cursor *c, bool by_row)
{
    const struct cursor_level *l = &c->set->levels[c->level];
    size_t most = by_row                         ? MOST_ROWS
                  : l->width != ROW_WIDTH_NARROW ? MOST_WIDE_ROWS
                  : !is_leaf(c->set, c->level)   ? MOST_PARENTS
                                                 : MOST_NARROW_ROWS;
    size_t grown = (size_t)l->rows * GROWTH;
    size_t rows = c->asked_count == 0 ? (size_t)l->rows : grown;
    if (l->row_bytes > 0) {
        rows = c->set->fetch_bytes * (by_row ? BY_ROW_FETCHES : 1) / l->row_bytes;
        rows = rows > grown ? grown : rows;
    }
    rows = rows > most ? most : rows;
    return rows == 0 ? 1 : (int)rows;
}

void cursor_ask(struct cursor *c)
{
    struct cursor_set *set = c->set;
    while (!c->ended && !c->dropped && !set->out_of_memory &&
           c->asked_count + c->arrived < most_asked(c)) {
        bool by_row = set->is_single && set->levels[0].width != ROW_WIDTH_NARROW;
        int rows = rows_to_ask(c, by_row);
        if (c->asked_count > 0 && set->unsynced) {
            conn_ask_flush(set->conn); /* the rows of the first must not wait for the second's */
        }
        bytes_clear(&set->scratch);
        bytes_format(&set->scratch, "FETCH %d c%u_%u", rows, c->level, c->serial);
        if (!by_row) {
            send_text(set, c, NULL, 0);
        } else if (end_text(set)) {
            conn_send_by_row(set->conn, set->client, c, set->scratch.ptr);
        }
        c->asked[c->asked_count++] = (struct fetch){.rows = rows, .by_row = by_row};
    }
}

void cursor_measure(struct cursor_set *set, unsigned level, size_t bytes, int rows)
{
    struct cursor_level *l = &set->levels[level];
    l->rows = rows;
    l->row_bytes = bytes / (size_t)rows + 1;
    if (level == 0) {
        set->rows += (uint64_t)rows;
        set->rows_bytes += bytes;
    }
}

void cursor_judge_width(struct cursor_set *set, unsigned level, const PGresult *res)
{
    struct cursor_level *l = &set->levels[level];
    if (l->width_is_known) {
        return;
    }
    l->width_is_known = true;
    enum row_width width = row_width_of(res, l->sql, &set->scratch);
    if (width != ROW_WIDTH_ASK) {
        l->width = width;
        return;
    }
    const char *params[] = {set->scratch.ptr, set->scratch.ptr + strlen(set->scratch.ptr) + 1};
    const struct sql_statement question = {
        .text = ROW_WIDTH_QUESTION, .params = params, .param_count = ARRAY_SIZE(params)};
    conn_send(set->conn, set->client, &l->width, &question, str_hash(str_from(question.text)),
              PLAN_ANY);
    set->unsynced = true;
}

struct cursor_level *cursor_asker(const struct cursor_set *set, const void *arg)
{
    for (size_t i = 0; i < set->sql->level_count; i++) {
        if (arg == &set->levels[i].width) {
            return &set->levels[i];
        }
    }
    return NULL;
}

/*
 * One array in PostgreSQL's text form, of one field of all rows: {"a","b",NULL}. Returns whether
 * there is an element that is not null.
 */
static bool put_key_array(struct bytes *out, const PGresult *res, int rows, unsigned field)
{
    bool any = false;
    bytes_put_char(out, '{');
    for (int row = 0; row < rows; row++) {
        if (row > 0) {
            bytes_put_char(out, ',');
        }
        if (PQgetisnull(res, row, (int)field)) {
            BYTES_PUT_LITERAL(out, "NULL");
            continue;
        }
        any = true;
        bytes_put_char(out, '"');
        const char *text = PQgetvalue(res, row, (int)field);
        size_t len = (size_t)PQgetlength(res, row, (int)field);
        for (size_t i = 0; i < len; i++) {
            if (text[i] == '"' || text[i] == '\\') {
                bytes_put_char(out, '\\');
            }
            bytes_put_char(out, text[i]);
        }
        bytes_put_char(out, '"');
    }
    bytes_put_char(out, '}');
    bytes_put_char(out, '\0');
    return any;
}

static void send_declare(struct cursor *c, const char *const *params, size_t count)
{
    struct bytes *text = &c->set->scratch;
    bytes_clear(text);
    bytes_format(text, "DECLARE c%u_%u NO SCROLL CURSOR FOR ", c->level, c->serial);
    bytes_put_str(text, str_from(c->set->levels[c->level].sql->statement.text));
    send_text(c->set, &c->set->ignored, params, count);
}

/*
 * The child's parameters with the arrays behind them. arrays holds their text. False: all keys are
 * null in one of the arrays, so there cannot be a child; or memory is short.
 */
static bool make_params(struct cursor_set *set, const struct sql_level *sql,
                        const struct batch *parent, struct bytes *arrays, const char ***out_params)
{
    size_t own = sql->statement.param_count - sql->parent_key_count;
    const char **params = calloc(sql->statement.param_count, sizeof(*params));
    size_t *offsets = calloc(sql->parent_key_count + 1, sizeof(*offsets));
    bool any = true;
    if (params == NULL || offsets == NULL) {
        set->out_of_memory = true;
        free(params);
        free(offsets);
        return false;
    }
    for (size_t k = 0; k < sql->parent_key_count; k++) {
        offsets[k] = arrays->len;
        any = put_key_array(arrays, parent->res, parent->rows, sql->parent_keys[k]) && any;
    }
    set->out_of_memory = set->out_of_memory || bytes_failed(arrays);
    for (size_t k = 0; !set->out_of_memory && k < sql->parent_key_count; k++) {
        params[own + k] = arrays->ptr + offsets[k];
    }
    for (size_t i = 0; i < own; i++) {
        params[i] = sql->statement.params[i];
    }
    free(offsets);
    if (set->out_of_memory || !any) {
        free(params);
        return false;
    }
    *out_params = params;
    return true;
}

bool cursor_declare(struct cursor *c, const struct batch *parent)
{
    const struct sql_level *sql = c->set->levels[c->level].sql;
    if (parent == NULL) {
        send_declare(c, sql->statement.params, sql->statement.param_count);
        return true;
    }
    struct bytes arrays;
    const char **params = NULL;
    bytes_init(&arrays, CURSOR_SCRATCH_LIMIT);
    bool any = make_params(c->set, sql, parent, &arrays, &params);
    if (any) {
        send_declare(c, params, sql->statement.param_count);
        free(params);
    }
    bytes_fini(&arrays);
    return any;
}

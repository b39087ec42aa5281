// SPDX-License-Identifier: Apache-2.0
#include "storage/cursor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "odata/limits.h"
#include "storage/row_width.h"

enum {
    /* Rows of the first FETCH while nothing is known of them: they may take long to compute, and their
       first byte is to come soon. */
    FIRST_ROWS = 4,
    /* The same when their width is known from an earlier run. */
    FIRST_ROWS_KNOWN = 64,
    MOST_ROWS = 10000,
    /* Of those that are narrow as they are stored, at most 2 KB: compressed text of that size may be
       50 times as long, in one batch, before rows come one at a time again. */
    MOST_NARROW_ROWS = 256,
    /* Parents of one child statement: enough to be worth its planning. */
    MOST_PARENTS = 1024,
    /* A batch may have so many times the rows of the one before it. */
    GROWTH = 8,
    MOST_ASKED = 2,
    /* The keys of one batch of parents in text form. */
    SCRATCH_LIMIT = 64 * 1024 * 1024,
    /* Rows that come one at a time stay in the socket until they are wanted: a FETCH of them may have
       so many times fetch_bytes, to be worth its planning. */
    BY_ROW_FETCHES = 4,
    /* A batch of so many times fetch_bytes: from then on rows come one at a time. */
    WIDER = 8,
    /* What PostgreSQL sends for a row besides its values is about so much, for each of them. */
    FIELD_OVERHEAD = 17,
};

struct batch {
    struct batch *next; /* in its cursor's line */
    PGresult *res;
    int rows;
    int row;               /* the current one; -1 before the first */
    int64_t next_ordinal;  /* of the row behind it; 0 = not read yet */
    bool is_current;       /* rows are taken from it */
    struct cursor *kids[]; /* one for each child level */
};

/* A FETCH in flight. */
struct fetch {
    int rows; /* that were asked for */
    bool by_row;
};

struct cursor {
    struct cursor_set *set;
    struct cursor *all_prev; /* in the set's list */
    struct cursor *all_next;
    unsigned level;
    unsigned serial;
    struct batch *parent; /* the rows that it belongs to; NULL: level 0, or dropped */
    struct batch *first;  /* the current one, then those that have come */
    struct batch *last;
    PGresult *row;                  /* by row: the current one, or the next one until it is taken */
    bool row_is_new;                /* nobody has taken it yet */
    int fetched;                    /* by row: of the first FETCH in flight, rows taken so far */
    size_t fetched_bytes;           /* and their size */
    struct fetch asked[MOST_ASKED]; /* in order */
    unsigned asked_count;
    unsigned arrived; /* batches behind the current one */
    bool has_current; /* first is the current one */
    bool ended;       /* no more rows will come */
    bool dropped;     /* nobody wants its rows; freed with the last result */
    bool closed;      /* CLOSE was sent */
};

struct cursor_level {
    const struct sql_level *sql;
    struct field *fields;
    size_t kid_index;    /* its place among its parent's children */
    int rows;            /* of the last FETCH that was measured, or to begin with */
    size_t row_bytes;    /* of its rows, on average; 0 = not known */
    struct batch *batch; /* where the current row stands; NULL = nowhere */
};

static void cursor_drop(struct cursor *c);
static void cursor_open(struct cursor_set *set, unsigned level, struct batch *parent);

static bool is_leaf(const struct cursor_set *set, unsigned level)
{
    return set->levels[level].sql->child_count == 0;
}

static void batch_free(struct cursor_set *set, unsigned level, struct batch *b)
{
    if (set->levels[level].batch == b) {
        set->levels[level].batch = NULL;
    }
    for (size_t i = 0; i < set->levels[level].sql->child_count; i++) {
        if (b->kids[i] != NULL) {
            cursor_drop(b->kids[i]);
        }
    }
    PQclear(b->res);
    free(b);
}

static void free_batches(struct cursor *c)
{
    while (c->first != NULL) {
        struct batch *b = c->first;
        c->first = b->next;
        batch_free(c->set, c->level, b);
    }
    c->last = NULL;
    c->arrived = 0;
    c->has_current = false;
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

static void send_close(struct cursor *c)
{
    if (c->closed || c->set->conn == NULL || c->level == 0) {
        return; /* level 0's cursor ends with its transaction */
    }
    c->closed = true;
    bytes_clear(&c->set->scratch);
    bytes_format(&c->set->scratch, "CLOSE c%u_%u", c->level, c->serial);
    send_text(c->set, &c->set->ignored, NULL, 0);
}

static void cursor_free(struct cursor *c)
{
    struct cursor_set *set = c->set;
    free_batches(c);
    PQclear(c->row);
    *(c->all_prev != NULL ? &c->all_prev->all_next : &set->all) = c->all_next;
    if (c->all_next != NULL) {
        c->all_next->all_prev = c->all_prev;
    }
    free(c);
}

/* Its rows are not wanted any more; its results may still be in flight. */
static void cursor_drop(struct cursor *c)
{
    c->parent = NULL;
    c->dropped = true;
    free_batches(c);
    send_close(c);
    if (c->asked_count == 0 || c->set->conn == NULL) {
        cursor_free(c);
    }
}

/* How many batches it may have asked for, behind its current one. */
static unsigned most_asked(const struct cursor *c)
{
    if (c->set->is_single) {
        return MOST_ASKED;
    }
    bool ahead = c->parent != NULL && !c->parent->is_current;
    bool is_measured = c->set->levels[c->level].row_bytes > 0;
    return ahead || !is_measured || !is_leaf(c->set, c->level) ? 1 : MOST_ASKED;
}

/* As many as make the bytes of a FETCH, when they are like those before them. */
static int rows_to_ask(const struct cursor *c, bool by_row)
{
    const struct cursor_level *l = &c->set->levels[c->level];
    size_t most = !is_leaf(c->set, c->level)     ? MOST_PARENTS
                  : c->set->is_single && !by_row ? MOST_NARROW_ROWS
                                                 : MOST_ROWS;
    size_t grown = (size_t)l->rows * GROWTH;
    size_t rows = c->asked_count == 0 ? (size_t)l->rows : grown;
    if (l->row_bytes > 0) {
        rows = c->set->fetch_bytes * (by_row ? BY_ROW_FETCHES : 1) / l->row_bytes;
        rows = rows > grown ? grown : rows;
    }
    rows = rows > most ? most : rows;
    return rows == 0 ? 1 : (int)rows;
}

static void ask(struct cursor *c)
{
    struct cursor_set *set = c->set;
    while (!c->ended && !c->dropped && !set->out_of_memory &&
           c->asked_count + c->arrived < most_asked(c)) {
        bool by_row = set->is_single && set->width != ROW_WIDTH_NARROW;
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

/* What a FETCH has brought tells how many rows to ask for. */
static void measure(struct cursor_set *set, unsigned level, size_t bytes, int rows)
{
    struct cursor_level *l = &set->levels[level];
    l->rows = rows;
    l->row_bytes = bytes / (size_t)rows + 1;
    if (level == 0) {
        set->rows += (uint64_t)rows;
        set->rows_bytes += bytes;
    }
}

/* A FETCH by row is over, and its columns tell whether the next may come as a whole. */
static void judge_width(struct cursor_set *set, const PGresult *res)
{
    if (set->width_is_known) {
        return;
    }
    set->width_is_known = true;
    enum row_width width = row_width_of(res, &set->scratch);
    if (width != ROW_WIDTH_ASK) {
        set->width = width;
        return;
    }
    const char *params[] = {set->scratch.ptr};
    const struct sql_statement question = {
        .text = ROW_WIDTH_QUESTION, .params = params, .param_count = ARRAY_SIZE(params)};
    conn_send(set->conn, set->client, &set->width, &question,
              str_hash(str_from(question.text)), PLAN_ANY);
    set->unsynced = true;
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

static struct cursor *cursor_new(struct cursor_set *set, unsigned level, struct batch *parent)
{
    struct cursor *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        set->out_of_memory = true;
        return NULL;
    }
    c->set = set;
    c->level = level;
    c->serial = set->serial++;
    c->parent = parent;
    c->all_next = set->all;
    if (set->all != NULL) {
        set->all->all_prev = c;
    }
    set->all = c;
    return c;
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

/* The cursor of a child level, over a batch of its parents that has just come. */
static void cursor_open(struct cursor_set *set, unsigned level, struct batch *parent)
{
    const struct sql_level *sql = set->levels[level].sql;
    struct cursor *c = cursor_new(set, level, parent);
    if (c == NULL) {
        return;
    }
    parent->kids[set->levels[level].kid_index] = c;
    struct bytes arrays;
    const char **params = NULL;
    bytes_init(&arrays, SCRATCH_LIMIT);
    if (make_params(set, sql, parent, &arrays, &params)) {
        send_declare(c, params, sql->statement.param_count);
        ask(c);
        free(params);
    } else {
        c->ended = true;
        c->closed = true;
    }
    bytes_fini(&arrays);
}

bool cursor_set_init(struct cursor_set *set, const struct sql_read *sql, size_t fetch_bytes,
                     size_t row_bytes)
{
    *set = (struct cursor_set){.sql = sql,
                               .fetch_bytes = fetch_bytes == 0 ? 1 : fetch_bytes,
                               .is_single = sql->level_count == 1,
                               .width = ROW_WIDTH_ANY};
    bytes_init(&set->scratch, SCRATCH_LIMIT);
    set->levels = calloc(sql->level_count, sizeof(*set->levels));
    if (set->levels == NULL) {
        return false;
    }
    for (size_t i = 0; i < sql->level_count; i++) {
        struct cursor_level *l = &set->levels[i];
        l->sql = &sql->levels[i];
        l->rows = FIRST_ROWS;
        l->fields = calloc(l->sql->field_count + 1, sizeof(*l->fields));
        if (l->fields == NULL) {
            cursor_set_fini(set);
            return false;
        }
        for (size_t k = 0; k < l->sql->child_count; k++) {
            set->levels[l->sql->children[k]].kid_index = k;
        }
    }
    if (row_bytes > 0) {
        size_t rows = set->fetch_bytes / row_bytes;
        rows = rows > FIRST_ROWS_KNOWN ? FIRST_ROWS_KNOWN : rows;
        set->levels[0].rows = rows == 0 ? 1 : (int)rows;
    }
    return true;
}

void cursor_set_fini(struct cursor_set *set)
{
    cursor_set_detach(set);
    set->root = NULL;
    while (set->all != NULL) {
        struct cursor *c = set->all;
        assert(c->set == set);
        if (c->parent != NULL) { /* its batch must not drop it a second time */
            c->parent->kids[set->levels[c->level].kid_index] = NULL;
        }
        cursor_free(c);
    }
    for (size_t i = 0; set->levels != NULL && i < set->sql->level_count; i++) {
        free(set->levels[i].fields);
    }
    free(set->levels);
    set->levels = NULL;
    bytes_fini(&set->scratch);
}

void cursor_set_start(struct cursor_set *set, struct conn *conn, struct conn_client *client)
{
    const struct sql_statement *statement = &set->levels[0].sql->statement;
    set->conn = conn;
    set->client = client;
    set->root = cursor_new(set, 0, NULL);
    if (set->root == NULL) {
        return;
    }
    send_declare(set->root, statement->params, statement->param_count);
    ask(set->root);
}

void cursor_set_detach(struct cursor_set *set)
{
    set->conn = NULL;
}

/* Returns how many rows it was for. */
static int take_asked(struct cursor *c)
{
    assert(c->asked_count > 0);
    int rows = c->asked[0].rows;
    c->asked_count--;
    memmove(c->asked, c->asked + 1, c->asked_count * sizeof(c->asked[0]));
    return rows;
}

static void add_batch(struct cursor *c, PGresult *res, int rows)
{
    struct cursor_set *set = c->set;
    const struct sql_level *sql = set->levels[c->level].sql;
    struct batch *b = calloc(1, sizeof(*b) + sql->child_count * sizeof(b->kids[0]));
    if (b == NULL) {
        set->out_of_memory = true;
        PQclear(res);
        return;
    }
    b->res = res;
    b->rows = rows;
    b->row = -1;
    *(c->last != NULL ? &c->last->next : &c->first) = b;
    c->last = b;
    c->arrived++;
    size_t bytes = PQresultMemorySize(res);
    if (bytes > set->fetch_bytes * WIDER) {
        set->width = ROW_WIDTH_ANY;
    }
    measure(set, c->level, bytes, rows);
    for (size_t k = 0; k < sql->child_count; k++) {
        cursor_open(set, (unsigned)sql->children[k], b);
    }
}

/*
 * A type that was dropped and made again has another OID, though its values are written as before:
 * of two types that are not PostgreSQL's own, one is taken for the other.
 */
static bool is_other_type(Oid found, Oid expected)
{
    enum {
        FIRST_USER_OID = 16384, /* FirstNormalObjectId in PostgreSQL's access/transam.h */
    };
    return expected != 0 && found != expected &&
           (found < FIRST_USER_OID || expected < FIRST_USER_OID);
}

bool cursor_result_fits(const struct sql_level *level, const PGresult *res)
{
    if ((size_t)PQnfields(res) != level->field_count) {
        return false;
    }
    for (size_t i = 0; level->field_types != NULL && i < level->field_count; i++) {
        if (is_other_type(PQftype(res, (int)i), level->field_types[i])) {
            return false;
        }
    }
    return true;
}

/* All rows of a FETCH. */
static void take_batch(struct cursor *c, PGresult *res)
{
    struct cursor_set *set = c->set;
    int asked = take_asked(c);
    int rows = PQntuples(res);
    if (c->dropped) {
        PQclear(res);
        if (c->asked_count == 0) {
            cursor_free(c);
        }
        return;
    }
    if (!cursor_result_fits(set->levels[c->level].sql, res)) {
        set->bad_result = true;
        PQclear(res);
        return;
    }
    if (rows < asked && !c->ended) {
        c->ended = true;
        send_close(c);
    }
    if (rows == 0) {
        PQclear(res);
        return;
    }
    add_batch(c, res, rows);
}

/* By row: a row, or the end of a FETCH. Returns whether there is a row, or the end of all. */
static bool take_row(struct cursor *c, PGresult *res)
{
    struct cursor_set *set = c->set;
    if (PQresultStatus(res) == PGRES_SINGLE_TUPLE) {
        assert(c->row == NULL); /* a row is asked for only when the one before it was taken */
        if (set->rows == 0 && c->fetched == 0 && !cursor_result_fits(set->levels[0].sql, res)) {
            set->bad_result = true;
        }
        c->row = res;
        c->row_is_new = true;
        return true;
    }
    assert(PQntuples(res) == 0);
    set->bad_result = set->bad_result || !cursor_result_fits(set->levels[0].sql, res);
    c->ended = take_asked(c) > c->fetched;
    if (c->fetched > 0) {
        measure(set, 0, c->fetched_bytes, c->fetched);
    }
    c->fetched = 0;
    c->fetched_bytes = 0;
    if (!c->ended && !set->bad_result) {
        judge_width(set, res);
        ask(c);
    }
    PQclear(res);
    return c->ended || set->bad_result;
}

bool cursor_set_result(struct cursor_set *set, void *arg, PGresult *res)
{
    if (arg == &set->ignored) {
        PQclear(res);
        return false;
    }
    if (arg == &set->width) {
        set->width = row_width_answer(res);
        PQclear(res);
        return false;
    }
    struct cursor *c = arg;
    if (c->asked[0].by_row) {
        return take_row(c, res);
    }
    take_batch(c, res);
    return true;
}

size_t cursor_fill_fields(const PGresult *res, int row, size_t count, struct field *fields)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        int len = PQgetlength(res, row, (int)i);
        fields[i].ptr = PQgetvalue(res, row, (int)i);
        fields[i].len = len == 0 && PQgetisnull(res, row, (int)i) ? -1 : len;
        bytes += (size_t)len;
    }
    return bytes;
}

/* By row: the row that has come, if there is one. */
static bool take_new_row(struct cursor *c)
{
    struct cursor_level *l = &c->set->levels[c->level];
    if (!c->row_is_new) {
        PQclear(c->row);
        c->row = NULL;
        return false;
    }
    c->row_is_new = false;
    c->fetched++;
    c->fetched_bytes += cursor_fill_fields(c->row, 0, l->sql->field_count, l->fields) +
                        l->sql->field_count * FIELD_OVERHEAD;
    return true;
}

/* The next batch becomes the current one. False: it is not here. */
static bool advance_batch(struct cursor *c)
{
    struct cursor_set *set = c->set;
    if (c->has_current) {
        struct batch *old = c->first;
        assert(old != NULL);
        c->first = old->next;
        if (c->first == NULL) {
            c->last = NULL;
        }
        c->has_current = false;
        batch_free(set, c->level, old);
    }
    if (c->first == NULL) {
        ask(c);
        return false;
    }
    c->has_current = true;
    c->arrived--;
    c->first->is_current = true;
    ask(c);
    for (size_t k = 0; k < set->levels[c->level].sql->child_count; k++) {
        if (c->first->kids[k] != NULL) {
            ask(c->first->kids[k]); /* not ahead any more: it may ask for more */
        }
    }
    return true;
}

static int64_t read_ordinal(const struct cursor_level *l, const struct batch *b, int row)
{
    int64_t value = 0;
    for (const char *p = PQgetvalue(b->res, row, (int)l->sql->ordinal_field); *p != '\0'; p++) {
        value = value * 10 + (*p - '0'); /* a bigint from 1 on, by the statement's contract */
    }
    return value;
}

/* The next row of a cursor, if it belongs to the parent at this place (0: level 0, any). */
static enum step cursor_next(struct cursor *c, int64_t place)
{
    struct cursor_level *l = &c->set->levels[c->level];
    for (;;) {
        struct batch *b = c->has_current ? c->first : NULL;
        if (b == NULL || b->row + 1 >= b->rows) {
            if (!advance_batch(c)) {
                return c->ended ? STEP_END : STEP_AGAIN;
            }
            continue;
        }
        if (place > 0) {
            if (b->next_ordinal == 0) {
                b->next_ordinal = read_ordinal(l, b, b->row + 1);
            }
            if (b->next_ordinal > place) {
                return STEP_END;
            }
        }
        int64_t ordinal = b->next_ordinal;
        b->next_ordinal = 0;
        b->row++;
        if (ordinal < place) {
            continue; /* its parent's rows were not all asked for */
        }
        l->batch = b;
        (void)cursor_fill_fields(b->res, b->row, l->sql->field_count, l->fields);
        return STEP_OK;
    }
}

enum step cursor_set_next(struct cursor_set *set, unsigned level, const struct field **out_fields)
{
    struct cursor_level *l = &set->levels[level];
    struct cursor *c = set->root;
    int64_t place = 0;
    if (level > 0) {
        const struct batch *parent = set->levels[l->sql->parent].batch;
        if (parent == NULL) {
            return STEP_END; /* no parent stands anywhere */
        }
        c = parent->kids[l->kid_index];
        place = parent->row + 1;
    }
    enum step step = c == NULL ? STEP_END : take_new_row(c) ? STEP_OK : cursor_next(c, place);
    if (step == STEP_OK) {
        *out_fields = l->fields;
    }
    return step;
}

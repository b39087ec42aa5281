// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "storage/cursor_priv.h"
#include "storage/row_width.h"

enum {
    /* The rows of the first FETCH when their width is known from an earlier run. */
    FIRST_ROWS_KNOWN = 64,
    /* A batch of so many times fetch_bytes: from then on rows come one at a time. */
    WIDER = 8,
    /* What PostgreSQL sends for a row besides its values is about so much, for each of them. */
    FIELD_OVERHEAD = 17,
};

static void cursor_drop(struct cursor *c);

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
    cursor_close(c);
    if (c->asked_count == 0 || c->set->conn == NULL) {
        cursor_free(c);
    }
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

/* The cursor of a child level, over a batch of its parents that has just come. */
static void open_child(struct cursor_set *set, unsigned level, struct batch *parent)
{
    struct cursor *c = cursor_new(set, level, parent);
    if (c == NULL) {
        return;
    }
    parent->kids[set->levels[level].kid_index] = c;
    if (cursor_declare(c, parent)) {
        cursor_ask(c);
    } else {
        c->ended = true;
        c->closed = true;
    }
}

bool cursor_set_init(struct cursor_set *set, const struct sql_read *sql, size_t fetch_bytes,
                     size_t row_bytes)
{
    *set = (struct cursor_set){.sql = sql,
                               .fetch_bytes = fetch_bytes == 0 ? 1 : fetch_bytes,
                               .is_single = sql->level_count == 1};
    bytes_init(&set->scratch, CURSOR_SCRATCH_LIMIT);
    set->levels = calloc(sql->level_count, sizeof(*set->levels));
    if (set->levels == NULL) {
        return false;
    }
    for (size_t i = 0; i < sql->level_count; i++) {
        struct cursor_level *l = &set->levels[i];
        l->sql = &sql->levels[i];
        l->rows = CURSOR_FIRST_ROWS;
        l->width = ROW_WIDTH_ANY;
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
        /* cursor_free() takes it out of set->all, which the analyzer does not follow. */
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
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
    set->conn = conn;
    set->client = client;
    set->root = cursor_new(set, 0, NULL);
    if (set->root == NULL) {
        return;
    }
    (void)cursor_declare(set->root, NULL);
    cursor_ask(set->root);
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
        set->levels[c->level].width = ROW_WIDTH_ANY;
    }
    cursor_measure(set, c->level, bytes, rows);
    if (!set->is_single) { /* else it was judged when rows came one at a time */
        cursor_judge_width(set, c->level, res);
    }
    for (size_t k = 0; k < sql->child_count; k++) {
        open_child(set, (unsigned)sql->children[k], b);
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
        cursor_close(c);
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
        cursor_measure(set, 0, c->fetched_bytes, c->fetched);
    }
    c->fetched = 0;
    c->fetched_bytes = 0;
    if (!c->ended && !set->bad_result) {
        cursor_judge_width(set, 0, res);
        cursor_ask(c);
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
    struct cursor_level *asker = cursor_asker(set, arg);
    if (asker != NULL) {
        asker->width = row_width_answer(res);
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
        cursor_ask(c);
        return false;
    }
    c->has_current = true;
    c->arrived--;
    c->first->is_current = true;
    cursor_ask(c);
    for (size_t k = 0; k < set->levels[c->level].sql->child_count; k++) {
        if (c->first->kids[k] != NULL) {
            cursor_ask(c->first->kids[k]); /* not ahead any more: it may ask for more */
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

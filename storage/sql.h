// SPDX-License-Identifier: Apache-2.0
/*
 * sql - the text of one statement and its parameters, under construction.
 *
 * There is no way to put a request's text into a statement: SQL_PUT takes string literals of our
 * own code, identifiers come from the model and are quoted, numbers are our own, and every value
 * becomes a parameter with an explicit cast.
 *
 * Owns:    its buffers, from sql_init() to sql_fini().
 * Failure: sticky, like that of struct bytes; sql_finish() tells.
 */
#ifndef STORAGE_SQL_H
#define STORAGE_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/str.h"
#include "storage/sql_read.h"

/* A statement is put together piece by piece, in any order; this is the order of the text. */
enum sql_piece {
    SQL_SELECT,
    SQL_FROM,
    SQL_WHERE,
    SQL_ORDER,
    SQL_PIECE_COUNT,
};

struct sql {
    struct arena *arena;
    struct bytes pieces[SQL_PIECE_COUNT];
    struct bytes *out; /* the piece that is being written */
    const char **params;
    size_t param_count;
    size_t param_room;
    bool failed;
};

/* Parameters are copied into a; so is the text, in the end. */
void sql_init(struct sql *s, struct arena *a);
void sql_fini(struct sql *s);

/* What is put from now on goes to this piece. */
void sql_into(struct sql *s, enum sql_piece piece);

/* Appends a string literal. */
#define SQL_PUT(s, text) bytes_put((s)->out, "" text, sizeof(text) - 1)

/* Appends a text of our own tables, never one that came from a request. */
void sql_put_own(struct sql *s, struct str text);

/* A name of the database, quoted. */
void sql_put_ident(struct sql *s, struct str name);
/* schema.name */
void sql_put_qualified(struct sql *s, struct str schema, struct str name);
/* The alias of a source or variable: a letter and its number. */
void sql_put_alias(struct sql *s, char letter, unsigned number);
void sql_put_u64(struct sql *s, uint64_t number);

/* `$n::cast` for a value, which need not end in NUL; ptr NULL is null. */
void sql_put_param(struct sql *s, struct str value, struct str cast);
/* `$n::cast[]` */
void sql_put_array_param(struct sql *s, struct str value, struct str cast);

/* The statement fails with a text that was made for it, when that has failed. */
void sql_note_failure(struct sql *s, const struct bytes *text);

/* The whole statement. False when something failed, and arena_fail() says what: the arena's limit,
   more than LIMIT_SQL_PARAMS parameters, or memory. */
bool sql_finish(struct sql *s, struct sql_statement *out) NODISCARD;

#endif

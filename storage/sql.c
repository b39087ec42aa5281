// SPDX-License-Identifier: Apache-2.0
#include "storage/sql.h"

#include <string.h>

#include "odata/limits.h"

void sql_init(struct sql *s, struct arena *a)
{
    *s = (struct sql){.arena = a};
    for (size_t i = 0; i < SQL_PIECE_COUNT; i++) {
        bytes_init(&s->pieces[i], LIMIT_REQUEST_ARENA_BYTES);
    }
    s->out = &s->pieces[SQL_SELECT];
}

void sql_fini(struct sql *s)
{
    for (size_t i = 0; i < SQL_PIECE_COUNT; i++) {
        bytes_fini(&s->pieces[i]);
    }
}

void sql_into(struct sql *s, enum sql_piece piece)
{
    s->out = &s->pieces[piece];
}

void sql_put_own(struct sql *s, struct str text)
{
    bytes_put_str(s->out, text);
}

void sql_put_ident(struct sql *s, struct str name)
{
    bytes_put_char(s->out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"') {
            bytes_put_char(s->out, '"');
        }
        bytes_put_char(s->out, name.ptr[i]);
    }
    bytes_put_char(s->out, '"');
}

void sql_put_qualified(struct sql *s, struct str schema, struct str name)
{
    sql_put_ident(s, schema);
    bytes_put_char(s->out, '.');
    sql_put_ident(s, name);
}

void sql_put_alias(struct sql *s, char letter, unsigned number)
{
    bytes_put_char(s->out, letter);
    bytes_put_u64(s->out, number);
}

void sql_put_u64(struct sql *s, uint64_t number)
{
    bytes_put_u64(s->out, number);
}

static bool make_room(struct sql *s)
{
    if (s->param_count < s->param_room) {
        return true;
    }
    size_t room = s->param_room == 0 ? 16 : s->param_room * 2;
    const char **grown =
        room > LIMIT_SQL_PARAMS * 2 ? NULL : ARENA_ARRAY(s->arena, room, const char *);
    if (grown == NULL) {
        return false;
    }
    if (s->param_count > 0) {
        memcpy(grown, s->params, s->param_count * sizeof(*grown));
    }
    s->params = grown;
    s->param_room = room;
    return true;
}

static void put_param(struct sql *s, struct str value)
{
    struct str copy = {NULL, 0};
    if (s->param_count >= LIMIT_SQL_PARAMS || !make_room(s) ||
        (value.ptr != NULL && !arena_copy(s->arena, value, &copy))) {
        s->failed = true;
        return;
    }
    s->params[s->param_count++] = copy.ptr;
    bytes_put_char(s->out, '$');
    bytes_put_u64(s->out, s->param_count);
    BYTES_PUT_LITERAL(s->out, "::");
}

void sql_put_param(struct sql *s, struct str value, struct str cast)
{
    put_param(s, value);
    bytes_put_str(s->out, cast);
}

void sql_put_array_param(struct sql *s, struct str value, struct str cast)
{
    put_param(s, value);
    bytes_put_str(s->out, cast);
    BYTES_PUT_LITERAL(s->out, "[]");
}

void sql_note_failure(struct sql *s, const struct bytes *text)
{
    s->failed = s->failed || bytes_failed(text);
    s->arena->out_of_memory = s->arena->out_of_memory || text->out_of_memory;
}

bool sql_finish(struct sql *s, struct sql_statement *out)
{
    size_t len = 0;
    for (size_t i = 0; i < SQL_PIECE_COUNT; i++) {
        sql_note_failure(s, &s->pieces[i]);
        len += s->pieces[i].len;
    }
    char *text = s->failed ? NULL : arena_alloc(s->arena, len + 1);
    if (text == NULL) {
        return false;
    }
    size_t at = 0;
    for (size_t i = 0; i < SQL_PIECE_COUNT; i++) {
        struct str piece = bytes_str(&s->pieces[i]);
        memcpy(text + at, piece.ptr, piece.len);
        at += piece.len;
    }
    text[at] = '\0';
    *out = (struct sql_statement){text, s->params, s->param_count};
    return true;
}

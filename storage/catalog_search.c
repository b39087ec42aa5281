// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_search.h"

#include <string.h>

#include "odata/bytes.h"
#include "odata/lexer.h"

enum {
    OID_NAME = 19,
    OID_TEXT = 25,
    OID_BPCHAR = 1042,
    OID_VARCHAR = 1043,
    OID_TSVECTOR = 3614,
    /* Parentheses and calls inside each other in an index expression. */
    EXPRESSION_DEPTH = 64,
    /* So many rows take seconds to be searched one by one. */
    MANY_ROWS = 100000,
};

/* Text search configurations; which one is the database's default. */
static const char configs_sql[] =
    "SELECT n.nspname, c.cfgname, format('%L::regconfig', c.oid::regconfig::text),"
    " c.oid = get_current_ts_config()"
    " FROM pg_ts_config c JOIN pg_namespace n ON n.oid = c.cfgnamespace ORDER BY 1, 2";

/* $1: OIDs of schemas. Generated columns of type tsvector. */
static const char generated_sql[] =
    "SELECT d.adrelid, d.adnum, pg_get_expr(d.adbin, d.adrelid)"
    " FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum"
    " JOIN pg_class c ON c.oid = d.adrelid"
    " WHERE c.relnamespace = ANY ($1::oid[]) AND a.attgenerated = 's'"
    "  AND a.atttypid = 'tsvector'::regtype AND NOT a.attisdropped ORDER BY 1, 2";

/* $1: OIDs of schemas. Expressions of type tsvector that an index is over, GIN before others. */
static const char indexes_sql[] =
    "SELECT i.indrelid, 0, pg_get_indexdef(i.indexrelid, a.attnum, false)"
    " FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid"
    " JOIN pg_class c ON c.oid = i.indrelid JOIN pg_am m ON m.oid = x.relam"
    " JOIN pg_attribute a ON a.attrelid = i.indexrelid AND a.attnum <= i.indnkeyatts"
    " JOIN pg_opclass o ON o.oid = i.indclass[a.attnum - 1]"
    " WHERE c.relnamespace = ANY ($1::oid[]) AND i.indisvalid AND i.indislive"
    "  AND i.indpred IS NULL AND i.indkey[a.attnum - 1] = 0"
    "  AND o.opcintype = 'tsvector'::regtype"
    " ORDER BY i.indrelid, m.amname <> 'gin', x.relname COLLATE \"C\", a.attnum";

static bool read_config(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_ts_config *c = RAW_ADD(&raw->ts_configs);
    if (c == NULL || !arena_copy(&raw->scratch, row_text(row, 0), &c->schema) ||
        !arena_copy(&raw->scratch, row_text(row, 1), &c->name) ||
        !arena_copy(raw->kept, row_text(row, 2), &c->sql)) {
        return false;
    }
    c->is_default = row_bool(row, 3);
    return true;
}

static bool read_expression(struct raw_catalog *raw, const struct catalog_row *row)
{
    struct raw_ts_expression *e = RAW_ADD(&raw->ts_expressions);
    if (e == NULL || !arena_copy(raw->kept, row_text(row, 2), &e->text)) {
        return false;
    }
    e->owner = row_oid(row, 0);
    e->number = (int16_t)row_int(row, 1);
    return true;
}

bool search_read(struct raw_catalog *raw, struct catalog_connection *conn, const char *oids,
                 struct odata_error *err)
{
    const char *const values[] = {oids};
    return catalog_run(conn, "text search configurations", configs_sql, NULL, 0, read_config, raw,
                       err) &&
           catalog_run(conn, "generated columns", generated_sql, values, 1, read_expression, raw,
                       err) &&
           catalog_run(conn, "search indexes", indexes_sql, values, 1, read_expression, raw, err);
}

/* -- expressions ------------------------------------------------------------------------------ */

/* PostgreSQL's text of an expression, on its way into pieces. */
struct reader {
    struct raw_catalog *raw;
    const struct raw_relation *relation;
    struct str text;
    size_t pos;
    size_t copied; /* up to here it stands in pieces */
    size_t depth;
    struct search_piece *pieces;
    size_t count;
    size_t room;
    struct str config; /* the first one that is named */
    bool no_memory;
};

static void skip_blanks(struct reader *r)
{
    while (r->pos < r->text.len && r->text.ptr[r->pos] == ' ') {
        r->pos++;
    }
}

static bool take(struct reader *r, struct str word)
{
    skip_blanks(r);
    if (!str_starts_with(str_from_offset(r->text, r->pos), word)) {
        return false;
    }
    r->pos += word.len;
    return true;
}

static bool add_piece(struct reader *r, struct str text, struct str column)
{
    if (r->count == r->room) {
        size_t room = r->room == 0 ? 8 : r->room * 2;
        struct search_piece *grown = ARENA_ARRAY(r->raw->kept, room, struct search_piece);
        if (grown == NULL) {
            r->no_memory = true;
            return false;
        }
        if (r->count > 0) {
            memcpy(grown, r->pieces, r->count * sizeof(*grown));
        }
        r->pieces = grown;
        r->room = room;
    }
    r->pieces[r->count++] = (struct search_piece){text, column};
    return true;
}

/* `name` or `"na""me"`, from start; false when there is none. */
static bool take_name(struct reader *r, char *out, size_t room, struct str *out_name)
{
    size_t n = 0;
    skip_blanks(r);
    bool quoted = r->pos < r->text.len && r->text.ptr[r->pos] == '"';
    r->pos += quoted;
    while (r->pos < r->text.len && n < room) {
        char c = r->text.ptr[r->pos];
        if (quoted && c == '"') {
            if (r->pos + 1 >= r->text.len || r->text.ptr[r->pos + 1] != '"') {
                break;
            }
            r->pos++;
        } else if (!quoted && !lexer_is_name_byte(c) && c != '$') {
            break;
        }
        out[n++] = c;
        r->pos++;
    }
    if (quoted) {
        if (r->pos >= r->text.len || r->text.ptr[r->pos] != '"') {
            return false;
        }
        r->pos++;
    }
    *out_name = (struct str){out, n};
    return n > 0;
}

/* A column that is shown; its type, and whether it could be read. */
static const struct raw_column *take_column(struct reader *r)
{
    char room[64]; /* NAMEDATALEN */
    struct str name;
    skip_blanks(r);
    size_t start = r->pos;
    if (!take_name(r, room, sizeof(room), &name)) {
        return NULL;
    }
    size_t end = r->pos;
    if (take(r, STR("("))) {
        return NULL; /* a function that we do not know */
    }
    r->pos = end;
    for (size_t i = 0; i < r->relation->column_count; i++) {
        const struct raw_column *c = &r->raw->columns.items[r->relation->first_column + i];
        if (!c->hidden && str_eq(c->name, name)) {
            struct str before = str_slice(r->text, r->copied, start);
            r->copied = r->pos;
            return add_piece(r, before, c->name) ? c : NULL;
        }
    }
    return NULL;
}

/* 'text', with '' inside. */
static bool take_string(struct reader *r)
{
    if (!take(r, STR("'"))) {
        return false;
    }
    for (; r->pos < r->text.len; r->pos++) {
        if (r->text.ptr[r->pos] != '\'') {
            continue;
        }
        if (r->pos + 1 >= r->text.len || r->text.ptr[r->pos + 1] != '\'') {
            r->pos++;
            return true;
        }
        r->pos++;
    }
    return false;
}

/* `::text` and the like, any number of them. */
static bool take_casts(struct reader *r)
{
    static const struct str types[] = {{STR_INIT("text")},     {STR_INIT("character varying")},
                                       {STR_INIT("bpchar")},   {STR_INIT("\"char\"")},
                                       {STR_INIT("tsvector")}, {STR_INIT("name")}};
    while (take(r, STR("::"))) {
        bool known = false;
        for (size_t i = 0; !known && i < ARRAY_SIZE(types); i++) {
            known = take(r, types[i]);
        }
        if (!known) {
            return false;
        }
    }
    return true;
}

static bool take_expression(struct reader *r);

static bool take_arguments(struct reader *r)
{
    do {
        if (!take_expression(r)) {
            return false;
        }
    } while (take(r, STR(",")));
    return take(r, STR(")"));
}

/* 'english'::regconfig, with a comma behind it. */
static bool take_config(struct reader *r)
{
    skip_blanks(r);
    size_t start = r->pos;
    if (!take_string(r) || !take(r, STR("::regconfig"))) {
        return false;
    }
    if (r->config.len == 0) {
        r->config = str_slice(r->text, start, r->pos);
    }
    return take(r, STR(","));
}

static bool take_operand(struct reader *r)
{
    if (take(r, STR("("))) {
        return take_expression(r) && take(r, STR(")")) && take_casts(r);
    }
    if (take(r, STR("to_tsvector("))) {
        return take_config(r) && take_arguments(r);
    }
    if (take(r, STR("setweight(")) || take(r, STR("COALESCE(")) || take(r, STR("strip(")) ||
        take(r, STR("lower("))) {
        return take_arguments(r) && take_casts(r);
    }
    skip_blanks(r);
    if (r->pos < r->text.len && r->text.ptr[r->pos] == '\'') {
        return take_string(r) && take_casts(r);
    }
    return take_column(r) != NULL && take_casts(r);
}

/* Operands joined by ||: all that to_tsvector is commonly given. */
static bool take_expression(struct reader *r)
{
    if (r->depth >= EXPRESSION_DEPTH) {
        return false;
    }
    r->depth++;
    do {
        if (!take_operand(r)) {
            return false;
        }
    } while (take(r, STR("||")));
    r->depth--;
    return true;
}

/* Whether the whole text could be read; then r has its pieces. */
static bool read_text(struct reader *r)
{
    if (!take_expression(r)) {
        return false;
    }
    skip_blanks(r);
    return r->pos == r->text.len && r->config.len > 0 && r->count > 0 &&
           add_piece(r, str_from_offset(r->text, r->copied), STR(""));
}

static void finish(const struct reader *r, struct str config, bool ranked,
                   struct search_source *out)
{
    *out = (struct search_source){r->pieces, r->count, config, ranked};
}

/* -- choosing --------------------------------------------------------------------------------- */

static const struct raw_ts_config *find_config(const struct raw_catalog *raw, struct str name)
{
    const struct raw_ts_config *found = NULL;
    for (size_t i = 0; i < raw->ts_configs.count; i++) {
        const struct raw_ts_config *c = &raw->ts_configs.items[i];
        bool qualified = name.len == c->schema.len + 1 + c->name.len &&
                         str_starts_with(name, c->schema) && name.ptr[c->schema.len] == '.' &&
                         str_ends_with(name, c->name);
        /* PostgreSQL's own come before others of the same name. */
        if (qualified ||
            (str_eq(name, c->name) && (found == NULL || str_eq(c->schema, STR("pg_catalog"))))) {
            found = c;
        }
    }
    return found;
}

static struct str default_config(const struct raw_catalog *raw)
{
    for (size_t i = 0; i < raw->ts_configs.count; i++) {
        if (raw->ts_configs.items[i].is_default) {
            return raw->ts_configs.items[i].sql;
        }
    }
    return STR("'simple'::regconfig");
}

/* The expressions of a relation, all of them: few have any. */
static bool use_expression(struct raw_catalog *raw, const struct raw_relation *r, int16_t number,
                           struct reader *out)
{
    for (size_t i = 0; i < raw->ts_expressions.count; i++) {
        const struct raw_ts_expression *e = &raw->ts_expressions.items[i];
        if (e->owner != r->oid || e->number != number) {
            continue;
        }
        *out = (struct reader){.raw = raw, .relation = r, .text = e->text};
        if (read_text(out) || out->no_memory) {
            return !out->no_memory;
        }
    }
    return false;
}

static bool use_vector(struct raw_catalog *raw, const struct raw_relation *r,
                       const struct raw_column *c, struct str config, struct search_source *out)
{
    struct reader generated = {0};
    struct reader whole = {.raw = raw};
    bool readable = use_expression(raw, r, c->number, &generated);
    if (!add_piece(&whole, STR(""), c->name)) {
        return false;
    }
    if (config.len == 0) {
        /* Filled by a trigger: most probably with the database's own configuration. */
        config = readable ? generated.config : default_config(raw);
    }
    finish(&whole, config, true, out);
    return true;
}

static bool is_text(const struct raw_column *c)
{
    return !c->type.collection && c->type.type == EDM_STRING &&
           (c->pg.oid == OID_TEXT || c->pg.oid == OID_VARCHAR || c->pg.oid == OID_BPCHAR ||
            c->pg.oid == OID_NAME || str_ends_with(c->pg.cast, STR("citext")));
}

/* to_tsvector over the named columns, or over all that have text. */
static bool use_columns(struct raw_catalog *raw, const struct raw_relation *r, const bool *chosen,
                        struct str config, struct search_source *out)
{
    struct reader made = {.raw = raw};
    struct str head;
    if (!arena_format(raw->kept, &head, "to_tsvector(%.*s, coalesce(", STR_ARG(config))) {
        return false;
    }
    for (size_t i = 0; i < r->column_count; i++) {
        const struct raw_column *c = &raw->columns.items[r->first_column + i];
        if (chosen == NULL ? c->hidden || !is_text(c) : !chosen[i]) {
            continue;
        }
        struct str before = made.count == 0 ? head : STR("::text, '') || ' ' || coalesce(");
        if (!add_piece(&made, before, c->name)) {
            return false;
        }
    }
    if (made.count == 0) {
        return true;
    }
    if (!add_piece(&made, STR("::text, ''))"), STR(""))) {
        return false;
    }
    finish(&made, config, false, out);
    return true;
}

static bool refuse(struct odata_error *err, const struct catalog_override *o, const char *what,
                   struct str name)
{
    return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "entities",
                           "entities: '%.*s' has no %s '%.*s' to search", STR_ARG(o->relation),
                           what, STR_ARG(name));
}

/* The columns that the configuration names: one tsvector, or any number of others. */
static bool use_override(struct raw_catalog *raw, const struct raw_relation *r, struct str config,
                         struct search_source *out, struct odata_error *err)
{
    const struct catalog_override *o = r->override;
    bool *chosen = ARENA_ARRAY(&raw->scratch, r->column_count, bool);
    if (chosen == NULL) {
        return raw_no_memory(err);
    }
    for (size_t k = 0; k < o->search_count; k++) {
        size_t i = 0;
        const struct raw_column *columns = &raw->columns.items[r->first_column];
        while (i < r->column_count && !str_eq(columns[i].name, o->search[k])) {
            i++;
        }
        if (i == r->column_count && raw->options->sees_part) {
            continue;
        }
        if (i == r->column_count) {
            return refuse(err, o, "column", o->search[k]);
        }
        if (columns[i].type_oid == OID_TSVECTOR && o->search_count == 1) {
            return use_vector(raw, r, &columns[i], config, out) || raw_no_memory(err);
        }
        chosen[i] = true;
    }
    struct str simple = STR("'simple'::regconfig");
    return use_columns(raw, r, chosen, config.len > 0 ? config : simple, out) || raw_no_memory(err);
}

/* A tsvector that is shown, or that is made of nothing but what is shown. */
static const struct raw_column *find_vector(struct raw_catalog *raw, const struct raw_relation *r)
{
    for (size_t i = 0; i < r->column_count; i++) {
        const struct raw_column *c = &raw->columns.items[r->first_column + i];
        struct reader generated = {0};
        if (c->type_oid == OID_TSVECTOR &&
            (!c->hidden || use_expression(raw, r, c->number, &generated))) {
            return c;
        }
    }
    return NULL;
}

static bool build_one(struct raw_catalog *raw, struct raw_relation *r, struct odata_error *err)
{
    struct search_source *out = &r->type->search;
    struct str config = STR("");
    const struct catalog_override *o = r->override;
    if (o != NULL && o->search_config.len > 0) {
        const struct raw_ts_config *found = find_config(raw, o->search_config);
        if (found == NULL) {
            return refuse(err, o, "text search configuration", o->search_config);
        }
        config = found->sql;
    }
    if (o != NULL && o->search_count > 0) {
        return use_override(raw, r, config, out, err);
    }
    const struct raw_column *vector = find_vector(raw, r);
    if (vector != NULL) {
        return use_vector(raw, r, vector, config, out) || raw_no_memory(err);
    }
    struct reader index = {0};
    if (config.len == 0 && use_expression(raw, r, 0, &index)) {
        finish(&index, index.config, true, out);
        return true;
    }
    /* Without a language that anybody has chosen, words are taken as they are. */
    struct str simple = STR("'simple'::regconfig");
    return use_columns(raw, r, NULL, config.len > 0 ? config : simple, out) || raw_no_memory(err);
}

/* Says when a search must read a big table from end to end. */
static bool warn_of_size(struct raw_catalog *raw, const struct raw_relation *r,
                         struct odata_error *err)
{
    const struct search_source *search = &r->type->search;
    if (search->piece_count == 0 || search->ranked || r->tuples <= MANY_ROWS) {
        return true;
    }
    return raw_warn(raw, r, err,
                    "$search reads all of its about %.0f rows: it has neither an index over "
                    "to_tsvector(...) nor a tsvector column",
                    r->tuples);
}

bool search_build(struct raw_catalog *raw, struct odata_error *err)
{
    for (size_t i = 0; i < raw->relations.count; i++) {
        struct raw_relation *r = &raw->relations.items[i];
        if (r->type != NULL && (!build_one(raw, r, err) || !warn_of_size(raw, r, err))) {
            return false;
        }
    }
    return true;
}

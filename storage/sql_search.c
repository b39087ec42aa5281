// SPDX-License-Identifier: Apache-2.0
/*
 * sql_search - $search as PostgreSQL's full text search.
 *
 * Words are handed to plainto_tsquery and phraseto_tsquery, which read any text as words, and what
 * these make is joined by && || and !!: no text of a request is ever read as a tsquery.
 */
#include "storage/sql_expr.h"

static void put_vector(struct sql *s, const struct source *source)
{
    const struct search_source *search = &source->type->search;
    for (size_t i = 0; i < search->piece_count; i++) {
        sql_put_own(s, search->pieces[i].text);
        if (search->pieces[i].column.len > 0) {
            sql_put_alias(s, 't', source->number);
            bytes_put_char(s->out, '.');
            sql_put_ident(s, search->pieces[i].column);
        }
    }
}

static void put_term(struct sql *s, const struct search_expr *e, struct str config)
{
    sql_put_own(s, e->kind == SEARCH_PHRASE ? STR("phraseto_tsquery(") : STR("plainto_tsquery("));
    sql_put_own(s, config); /* of the catalog: an index belongs to one */
    SQL_PUT(s, ", ");
    sql_put_param(s, e->text, STR("text"));
    bytes_put_char(s->out, ')');
}

static void put_query(struct sql *s, const struct search_expr *e, struct str config)
{
    switch (e->kind) {
    case SEARCH_WORD:
    case SEARCH_PHRASE:
        put_term(s, e, config);
        return;
    case SEARCH_NOT:
        SQL_PUT(s, "(!! ");
        put_query(s, e->left, config);
        break;
    case SEARCH_AND:
    case SEARCH_OR:
        bytes_put_char(s->out, '(');
        put_query(s, e->left, config);
        sql_put_own(s, e->kind == SEARCH_AND ? STR(" && ") : STR(" || "));
        put_query(s, e->right, config);
        break;
    }
    bytes_put_char(s->out, ')');
}

/* A query without lexemes, as of `!!!`, matches nothing in PostgreSQL, and so would its contrary: a
   NOT of the whole is asked of the answer. */
static void put_match(struct sql *s, const struct source *source, const struct search_expr *e)
{
    bytes_put_char(s->out, '(');
    if (e->kind == SEARCH_NOT) {
        SQL_PUT(s, "NOT ");
        put_match(s, source, e->left);
    } else {
        put_vector(s, source);
        SQL_PUT(s, " @@ ");
        put_query(s, e, source->type->search.config);
    }
    bytes_put_char(s->out, ')');
}

void sql_put_search(struct sql *s, const struct bound_expr *e)
{
    put_match(s, e->source, e->search);
}

void sql_put_rank(struct sql *s, const struct bound_expr *e)
{
    SQL_PUT(s, "ts_rank(");
    put_vector(s, e->source);
    SQL_PUT(s, ", ");
    put_query(s, e->search, e->source->type->search.config);
    bytes_put_char(s->out, ')');
}

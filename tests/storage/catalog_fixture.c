// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/catalog_fixture.h"

#include <stdio.h>

#include <check.h>
#include <libpq-fe.h>

#include "odata/bytes.h"

enum {
    DESCRIPTION_BYTES = 4 * 1024 * 1024,
    TIMEOUT_MS = 20000,
};

static const struct str schemas[] = {{STR_INIT("ct")}};

void catalog_fixture_sql(const char *sql)
{
    PGconn *conn = PQconnectdb("client_encoding=UTF8 options='-c client_min_messages=error"
                               " -c search_path=ct,pg_catalog'");
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    char message[1024];
    snprintf(message, sizeof(message), "%s", PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
    ck_assert_msg(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s\nin %s", message,
                  sql);
}

void catalog_fixture_reset(void)
{
    catalog_fixture_sql("DROP SCHEMA IF EXISTS ct CASCADE; CREATE SCHEMA ct");
}

struct catalog_options catalog_fixture_options(void)
{
    return (struct catalog_options){
        .db_uri = "", .schemas = schemas, .schema_count = 1, .timeout_ms = TIMEOUT_MS};
}

/* -- the description -------------------------------------------------------------------------- */

/* `name`, with the namespace in front unless it is ct. */
static void put_name(struct bytes *b, struct str namespace, struct str name)
{
    if (!str_eq(namespace, STR("ct"))) {
        bytes_format(b, "%.*s.", STR_ARG(namespace));
    }
    bytes_put_str(b, name);
}

static void put_facets(struct bytes *b, const struct type_ref *t)
{
    if (t->scale == FACET_VARIABLE) {
        BYTES_PUT_LITERAL(b, "(variable)");
    } else if (t->scale != FACET_NONE) {
        bytes_format(b, "(%d,%d)", t->precision, t->scale);
    } else if (t->precision != FACET_NONE) {
        bytes_format(b, "(%d)", t->precision);
    } else if (t->max_length != FACET_NONE) {
        bytes_format(b, "(%d)", t->max_length);
    }
}

static void put_type(struct bytes *b, const struct type_ref *t)
{
    bytes_put_str(b, t->collection ? STR("Collection(") : STR(""));
    if (t->enum_type != NULL) {
        put_name(b, t->enum_type->namespace, t->enum_type->name);
    } else if (t->complex_type != NULL) {
        put_name(b, t->complex_type->namespace, t->complex_type->name);
    } else {
        bytes_put_str(b, str_from_offset(edm_name(t->type), sizeof("Edm.") - 1));
    }
    put_facets(b, t);
    bytes_put_str(b, t->collection ? STR(")") : STR(""));
    bytes_put_str(b, t->nullable ? STR(" null") : STR(" notnull"));
}

static void put_property(struct bytes *b, struct str owner, const struct property *p)
{
    bytes_format(b, "%.*s.%.*s: ", STR_ARG(owner), STR_ARG(p->name));
    put_type(b, &p->type);
    bytes_put_str(b, p->computed ? STR(" computed") : STR(""));
    bytes_put_str(b, p->has_default ? STR(" default") : STR(""));
    if (!str_eq(p->name, p->column)) {
        bytes_format(b, " column \"%.*s\"", STR_ARG(p->column));
    }
    if (p->depth > 0) {
        bytes_format(b, " slot=%u", p->slot);
    }
    bytes_format(b, " cast %.*s\n", STR_ARG(p->pg.cast));
    if (p->description.len > 0) {
        bytes_format(b, "about %.*s.%.*s: %.*s\n", STR_ARG(owner), STR_ARG(p->name),
                     STR_ARG(p->description));
    }
}

static void put_key(struct bytes *b, struct str set, const char *what, const struct key *k)
{
    bytes_format(b, "%.*s %s ", STR_ARG(set), what);
    for (size_t i = 0; i < k->count; i++) {
        bytes_format(b, "%s%.*s", i == 0 ? "" : ", ", STR_ARG(k->properties[i]->name));
    }
    bytes_put_char(b, '\n');
}

static void put_link(struct bytes *b, const struct link_table *link)
{
    bytes_format(b, " by \"%.*s\"", STR_ARG(link->table));
    for (size_t i = 0; i < link->local_count; i++) {
        bytes_format(b, " %.*s=\"%.*s\"", STR_ARG(link->local[i]->name),
                     STR_ARG(link->local_columns[i]));
    }
    BYTES_PUT_LITERAL(b, " to");
    for (size_t i = 0; i < link->remote_count; i++) {
        bytes_format(b, " %.*s=\"%.*s\"", STR_ARG(link->remote[i]->name),
                     STR_ARG(link->remote_columns[i]));
    }
}

static void put_navigation(struct bytes *b, struct str set, const struct navigation *n)
{
    bytes_format(b, "%.*s -> %.*s: %.*s %s%s%s back=%.*s", STR_ARG(set), STR_ARG(n->name),
                 STR_ARG(n->target->set->name), n->collection ? "many" : "one",
                 n->nullable ? " null" : "", n->dependent ? " dependent" : "",
                 STR_ARG(n->partner->name));
    for (size_t i = 0; i < n->join_count; i++) {
        bytes_format(b, "%s %.*s=%.*s", i == 0 ? " on" : ",", STR_ARG(n->joins[i].local->name),
                     STR_ARG(n->joins[i].remote->name));
    }
    if (n->link != NULL) {
        put_link(b, n->link);
    }
    bytes_put_char(b, '\n');
}

static void put_search(struct bytes *b, struct str set, const struct search_source *search)
{
    if (search->piece_count == 0) {
        return;
    }
    bytes_format(b, "%.*s search %.*s%s: ", STR_ARG(set), STR_ARG(search->config),
                 search->ranked ? " ranked" : "");
    for (size_t i = 0; i < search->piece_count; i++) {
        const struct search_piece *p = &search->pieces[i];
        bytes_put_str(b, p->text);
        if (p->column.len > 0) {
            bytes_format(b, "<%.*s>", STR_ARG(p->column));
        }
    }
    bytes_put_char(b, '\n');
}

static void put_set(struct bytes *b, const struct entity_set *s)
{
    static const char *const kinds[] = {
        [RELATION_TABLE] = "table",
        [RELATION_PARTITIONED] = "partitioned",
        [RELATION_VIEW] = "view",
        [RELATION_MATERIALIZED_VIEW] = "matview",
        [RELATION_FOREIGN_TABLE] = "foreign",
    };
    const struct entity_type *t = s->type;
    bytes_format(b, "set %.*s: %.*s.%.*s %s \"%.*s\" page=%d\n", STR_ARG(s->name),
                 STR_ARG(t->namespace), STR_ARG(t->name), kinds[t->kind], STR_ARG(t->table),
                 (int)s->max_page_size);
    if (t->description.len > 0) {
        bytes_format(b, "about %.*s: %.*s\n", STR_ARG(s->name), STR_ARG(t->description));
    }
    put_key(b, s->name, "key", &t->key);
    if (t->tree != NULL) {
        bytes_format(b, "%.*s type %u..%u of %zu%s%.*s%s\n", STR_ARG(s->name), t->number, t->last,
                     t->tree->type_count, t->base == NULL ? "" : " base=",
                     STR_ARG(t->base == NULL ? STR("") : t->base->set->name),
                     t->has_strays ? " strays" : "");
    }
    for (size_t i = 0; i < t->alternate_key_count; i++) {
        put_key(b, s->name, "alternate", &t->alternate_keys[i]);
    }
    put_search(b, s->name, &t->search);
    for (size_t i = 0; i < t->property_count; i++) {
        put_property(b, s->name, &t->properties[i]);
    }
    for (size_t i = 0; i < t->navigation_count; i++) {
        put_navigation(b, s->name, &t->navigations[i]);
    }
}

static void put_structures(struct bytes *b, const struct model *m)
{
    for (size_t i = 0; i < m->enum_count; i++) {
        const struct enum_type *e = &m->enums[i];
        bytes_format(b, "enum %.*s.%.*s:", STR_ARG(e->namespace), STR_ARG(e->name));
        for (size_t k = 0; k < e->member_count; k++) {
            bytes_format(b, "%s %.*s", k == 0 ? "" : ",", STR_ARG(e->members[k]));
        }
        bytes_format(b, "\nabout %.*s: %.*s\n", STR_ARG(e->name), STR_ARG(e->description));
    }
    for (size_t i = 0; i < m->complex_count; i++) {
        const struct complex_type *c = &m->complexes[i];
        bytes_format(b, "complex %.*s.%.*s cast %.*s\n", STR_ARG(c->namespace), STR_ARG(c->name),
                     STR_ARG(c->pg.cast));
        for (size_t k = 0; k < c->property_count; k++) {
            put_property(b, c->name, &c->properties[k]);
        }
    }
}

void catalog_fixture_describe(const struct model *m, struct bytes *out_text)
{
    for (size_t i = 0; i < m->namespace_count; i++) {
        bytes_format(out_text, "namespace %.*s\n", STR_ARG(m->namespaces[i]));
    }
    if (m->namespace_count > 0) {
        bytes_format(out_text, "container %.*s.%.*s\n", STR_ARG(m->namespaces[0]),
                     STR_ARG(m->container));
    }
    for (size_t i = 0; i < m->set_count; i++) {
        put_set(out_text, &m->sets[i]);
    }
    put_structures(out_text, m);
    for (size_t i = 0; i < m->warning_count; i++) {
        bytes_format(out_text, "warning %.*s: %.*s\n", STR_ARG(m->warnings[i].relation),
                     STR_ARG(m->warnings[i].text));
    }
}

/* -- comparison ------------------------------------------------------------------------------- */

/* Whether a line of text begins so. */
static bool has_line(struct str text, struct str beginning)
{
    size_t from = 0;
    while (from < text.len) {
        size_t end = str_find(text, '\n', from);
        if (str_starts_with(str_slice(text, from, end), beginning)) {
            return true;
        }
        from = end + 1;
    }
    return false;
}

static void check_lines(const char *name, struct str text, const char *lines, bool expected)
{
    struct str all = str_from(lines);
    size_t from = 0;
    while (from < all.len) {
        size_t end = str_find(all, '\n', from);
        struct str line = str_slice(all, from, end);
        ck_assert_msg(has_line(text, line) == expected, "%s: %s '%.*s' in\n%.*s", name,
                      expected ? "no" : "unwanted", STR_ARG(line), STR_ARG(text));
        from = end + 1;
    }
}

void catalog_fixture_check_model(const char *name, const struct model *m, const char *wanted,
                                 const char *unwanted)
{
    struct bytes text;
    bytes_init(&text, DESCRIPTION_BYTES);
    catalog_fixture_describe(m, &text);
    ck_assert(!bytes_failed(&text));
    check_lines(name, bytes_str(&text), wanted, true);
    check_lines(name, bytes_str(&text), unwanted, false);
    bytes_fini(&text);
}

void catalog_fixture_check(const struct catalog_case *c)
{
    struct catalog_options options = catalog_fixture_options();
    struct odata_error err = {0};
    struct model *m = NULL;
    catalog_fixture_reset();
    catalog_fixture_sql(c->sql);
    ck_assert_msg(catalog_load(&options, &m, &err), "%s: %s (%s)", c->name, err.message,
                  err.internal);
    catalog_fixture_check_model(c->name, m, c->wanted, c->unwanted);
    model_release(m);
    catalog_fixture_sql("DROP SCHEMA ct CASCADE");
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/skip_token.h"
#include "tests/storage/shop_database.h"

static PGconn *db;

static void open_database(void)
{
    db = shop_database_open();
}

static void close_database(void)
{
    PQfinish(db);
}

#define PRODUCT_VECTOR "to_tsvector('simple'::regconfig, coalesce(t0.\"name\"::text, ''))"
#define PRODUCT_QUERY                                     \
    "(plainto_tsquery('simple'::regconfig, $1::text) && " \
    "phraseto_tsquery('simple'::regconfig, $2::text))"

/* The text of a statement is decided by the shape of the query. level -1 is the count. */
static const struct golden {
    const char *name;
    const char *url;
    int level;
    const char *text;
} goldens[] = {
    {"a full feed", "Suppliers", 0,
     "SELECT t0.\"id\", t0.\"name\" FROM \"shop\".\"suppliers\" AS t0"},
    {"an entity by its key", "Suppliers(1)", 0,
     "SELECT t0.\"id\", t0.\"name\" FROM \"shop\".\"suppliers\" AS t0 WHERE (t0.\"id\" = $1::int4)"},
    {"a page", "Suppliers?$top=2&$skip=1", 0,
     "SELECT t0.\"id\", t0.\"name\" FROM \"shop\".\"suppliers\" AS t0 ORDER BY t0.\"id\" "
     "LIMIT 2 OFFSET $1::int8"},
    {"a page of an unusual size", "Suppliers?$top=37", 0,
     "SELECT t0.\"id\", t0.\"name\" FROM \"shop\".\"suppliers\" AS t0 ORDER BY t0.\"id\" "
     "LIMIT $1::int8"},
    {"a page of a usual size and one row more", "Suppliers?$top=251", 0,
     "SELECT t0.\"id\", t0.\"name\" FROM \"shop\".\"suppliers\" AS t0 ORDER BY t0.\"id\" "
     "LIMIT 251"},
    {"nulls come first, and last when descending", "Ticks?$select=ID&$orderby=Grp,Val desc,ID", 0,
     "SELECT t0.\"id\", t0.\"grp\", t0.\"val\" FROM \"shop\".\"ticks\" AS t0 ORDER BY t0.\"grp\" "
     "NULLS FIRST, t0.\"val\" DESC NULLS LAST, t0.\"id\""},
    {"a count joins what the filter needs only",
     "Products?$count=true&$filter=Category/Name eq 'x'&$orderby=Category/ID&$expand=Category", -1,
     "SELECT count(*) FROM \"shop\".\"products\" AS t0 LEFT JOIN \"shop\".\"categories\" AS t1 ON "
     "t1.\"id\" = t0.\"category_id\" WHERE (t1.\"name\" = $1::text)"},
    {"a target is joined once, however often it is used",
     "Products?$select=ID&$filter=Category/Name eq 'x'&$orderby=Category/ID&$expand=Category($"
     "select=ID)",
     0,
     "SELECT t0.\"id\", t1.\"id\" FROM \"shop\".\"products\" AS t0 LEFT JOIN "
     "\"shop\".\"categories\" AS t1 ON t1.\"id\" = t0.\"category_id\" WHERE (t1.\"name\" = "
     "$1::text) ORDER BY t1.\"id\" NULLS FIRST, t0.\"id\""},
    {"an expanded collection", "Categories?$select=Name&$expand=Products($select=Name)", 1,
     "SELECT t1.\"name\", p.n FROM unnest($1::int4[]) WITH ORDINALITY AS p(k0, n) JOIN "
     "\"shop\".\"products\" AS t1 ON t1.\"category_id\" = p.k0 ORDER BY p.n"},
    {"its parent has the key", "Categories?$select=Name&$expand=Products($select=Name)", 0,
     "SELECT t0.\"name\", t0.\"id\" FROM \"shop\".\"categories\" AS t0"},
    {"an expanded collection with $top",
     "Categories?$expand=Products($select=ID;$filter=Price gt 1;$orderby=Price;$top=1)", 1,
     "SELECT c.*, p.n FROM unnest($2::int4[]) WITH ORDINALITY AS p(k0, n) CROSS JOIN LATERAL "
     "(SELECT t1.\"id\" AS c0, t1.\"price\" AS c1 FROM \"shop\".\"products\" AS t1 WHERE "
     "t1.\"category_id\" = p.k0 AND (t1.\"price\" > $1::numeric) ORDER BY t1.\"price\" NULLS "
     "FIRST, t1.\"id\" LIMIT 1) AS c ORDER BY p.n, c.c1 NULLS FIRST, c.c0"},
    {"many to many", "Products?$expand=Suppliers($select=Name)", 1,
     "SELECT t1.\"name\", p.n FROM unnest($1::int4[]) WITH ORDINALITY AS p(k0, n) JOIN "
     "\"shop\".\"product_suppliers\" AS l1 ON l1.\"product_id\" = p.k0 JOIN "
     "\"shop\".\"suppliers\" AS t1 ON l1.\"supplier_id\" = t1.\"id\" ORDER BY p.n"},
    {"a nested count", "Categories?$select=ID&$expand=Products($count=true;$filter=Price gt 1)", 0,
     "SELECT t0.\"id\", (SELECT count(*) FROM \"shop\".\"products\" AS t1 WHERE "
     "t1.\"category_id\" = t0.\"id\" AND (t1.\"price\" > $1::numeric)) FROM "
     "\"shop\".\"categories\" AS t0"},
    {"not, without negation", "Suppliers?$filter=not (ID eq 1 or Name gt 'x')", 0,
     "SELECT t0.\"id\", t0.\"name\" FROM \"shop\".\"suppliers\" AS t0 WHERE (((t0.\"id\" <> "
     "$1::int4) AND ((t0.\"name\" > $2::text) IS NOT TRUE)))"},
    {"computed values", "Suppliers?$compute=ID add 1 as x&$filter=x gt 2&$select=x", 0,
     "SELECT t1.\"c0\" FROM (SELECT t0.\"id\", t0.\"name\", ((t0.\"id\"::int8 + $1::int8))::int8 AS "
     "\"c0\" FROM \"shop\".\"suppliers\" AS t0) AS t1 WHERE (t1.\"c0\" > $2::int8)"},
    {"a search, the best match first", "Products?$select=ID&$search=a \"b c\"&$filter=ID gt 1", 0,
     "SELECT t0.\"id\", ts_rank(" PRODUCT_VECTOR ", " PRODUCT_QUERY ") FROM "
     "\"shop\".\"products\" AS t0 WHERE ((to_tsvector('simple'::regconfig, "
     "coalesce(t0.\"name\"::text, '')) @@ (plainto_tsquery('simple'::regconfig, $3::text) && "
     "phraseto_tsquery('simple'::regconfig, $4::text))) AND (t0.\"id\" > $5::int4)) ORDER BY "
     "ts_rank(" PRODUCT_VECTOR ", (plainto_tsquery('simple'::regconfig, $6::text) && "
     "phraseto_tsquery('simple'::regconfig, $7::text))) DESC, t0.\"id\""},
    {"a search without an index has no order of its own", "Ticks?$select=ID&$search=a", 0,
     "SELECT t0.\"id\" FROM \"shop\".\"ticks\" AS t0 WHERE (to_tsvector('simple'::regconfig, "
     "coalesce(t0.\"label\"::text, '')) @@ plainto_tsquery('simple'::regconfig, $1::text))"},
    {"groups", "Suppliers?$apply=groupby((Name),aggregate(ID with sum as x))&$filter=x gt 1", 0,
     "SELECT t3.\"name\", t3.\"c0\" FROM (SELECT t1.\"name\", sum(t1.\"id\")::int8 AS \"c0\" FROM "
     "\"shop\".\"suppliers\" AS t1 GROUP BY t1.\"name\") AS t3 WHERE (t3.\"c0\" > $1::int8)"},
    {"some of a collection of values",
     "Products?$select=Tags($filter=$this ne 'x';$orderby=$this desc;$top=2;$count=true)", 0,
     "SELECT (SELECT count(*) FROM unnest(t0.\"tags\") AS v1(v) WHERE ((v1.v::text IS DISTINCT FROM "
     "$1::text))), (SELECT array_agg(w.v ORDER BY w.n) FROM (SELECT v1.v, row_number() OVER ( ORDER "
     "BY v1.v::text DESC NULLS LAST, v1.n) AS n FROM (SELECT u AS v, row_number() OVER () AS n FROM "
     "unnest(t0.\"tags\") AS u) AS v1 WHERE (v1.v::text IS DISTINCT FROM $2::text) ORDER BY 2 LIMIT "
     "2) AS w) FROM \"shop\".\"products\" AS t0"},
    {"a list is one parameter", "Suppliers?$filter=ID in (1,2,3)", 0,
     "SELECT t0.\"id\", t0.\"name\" FROM \"shop\".\"suppliers\" AS t0 WHERE (t0.\"id\" = "
     "ANY($1::int4[]))"},
};

START_TEST(writes_statement)
{
    const struct golden *g = &goldens[_i];
    struct bound_request r;
    const struct sql_read *sql = shop_database_sql(&r, g->url, NULL);
    const struct sql_statement *s = g->level < 0 ? &sql->count : &sql->levels[g->level].statement;
    ck_assert_msg(strcmp(s->text, g->text) == 0, "%s:\n%s\n%s", g->name, s->text, g->text);
    bound_request_fini(&r);
}
END_TEST

/* No byte of a value is in the text; it is in a parameter. Each row has qzx once as a value. */
static const char *const canaries[] = {
    "Customers('qzx')",
    "Customers('qzx')/Orders",
    "Customers('qzx')/Orders/$count",
    "Customers?$filter=Name eq 'qzx'",
    "Customers?$filter=contains(Name,'qzx')",
    "Customers?$filter=Name in ('a','qzx')",
    "Customers?$filter=Orders/any(o:o/CustomerID eq 'qzx')",
    "Customers?$filter=concat(Name,'qzx') eq 'x'&$count=true",
    "Customers?$orderby=concat(Name,'qzx')",
    "Customers?$expand=Orders($filter=CustomerID eq 'qzx';$top=1;$count=true)",
    "Customers?$filter=Name eq @p&@p='qzx'",
    "Customers?$filter=Name eq '\";qzx'",
    "Customers?$apply=filter(Name eq 'qzx')/aggregate($count as n)",
    "Customers?$apply=groupby((Name),aggregate(Orders/$count as n))/concat(identity,filter(Name eq 'qzx'))",
    "Customers?$apply=compute(concat(Name,'qzx') as x)/groupby((x))",
};

static bool has_canary(const struct sql_statement *s, const char *what)
{
    bool found = false;
    ck_assert_msg(strstr(s->text, "qzx") == NULL, "%s: %s", what, s->text);
    for (size_t i = 0; i < s->param_count; i++) {
        found = found || (s->params[i] != NULL && strstr(s->params[i], "qzx") != NULL);
    }
    return found;
}

START_TEST(binds_values)
{
    struct bound_request r;
    const struct sql_read *sql = shop_database_sql(&r, canaries[_i], NULL);
    bool found = false;
    for (size_t i = 0; i < sql->level_count; i++) {
        found = has_canary(&sql->levels[i].statement, canaries[_i]) || found;
    }
    if (sql->has_count) {
        found = has_canary(&sql->count, canaries[_i]) || found;
    }
    ck_assert_msg(found, "%s: the value is nowhere", canaries[_i]);
    bound_request_fini(&r);
}
END_TEST

/* Orders of Ticks: ties, nulls, NaN, both directions, expressions. */
static const char *const orders[] = {
    "Ticks?$select=ID",
    "Ticks?$select=ID&$orderby=ID desc",
    "Ticks?$select=ID&$orderby=Label",
    "Ticks?$select=ID&$orderby=Label desc",
    "Ticks?$select=ID&$orderby=Label,ID desc",
    "Ticks?$select=ID&$orderby=Grp",
    "Ticks?$select=ID&$orderby=Grp desc",
    "Ticks?$select=ID&$orderby=Grp,Val desc",
    "Ticks?$select=ID&$orderby=Grp desc,Val,Label",
    "Ticks?$select=ID&$orderby=Val desc,Grp desc,ID desc",
    "Ticks?$select=ID&$orderby=Grp mul 2 desc,length(Label)",
    "Ticks?$select=ID&$orderby=Grp eq 1,Val",
    "Ticks?$select=ID&$orderby=Grp&$filter=Val gt 1",
    "Products?$select=ID&$orderby=Color,Released desc",
    "Products?$select=ID&$orderby=Category/Name desc,Price",
    "Products?$select=ID&$orderby=Suppliers/$count desc",
    "Orders?$select=ID&$orderby=Entered desc",
    "Orders?$select=ID&$orderby=Handling,Placed",
    "Orders?$select=ID&$orderby=ShipTime desc,Freight",
    "Rates?$orderby=Currency desc",
    "Items?$select=Line&$orderby=Discount desc",
    "Employees?$select=ID&$orderby=Badge desc",
    "Customers?$select=ID&$orderby=Active,Address/City desc",
    "Products?$select=ID&$search=NOT qzx",
    "Ticks?$select=ID&$search=a OR b",
};

/* The token of a row, behind `&$skiptoken=`. */
static void put_token(const struct bound_request *r, const struct sql_read *sql,
                      const PGresult *result, int row, struct bytes *out)
{
    struct field fields[32];
    ck_assert_int_le(PQnfields(result), 32);
    for (int i = 0; i < PQnfields(result); i++) {
        fields[i].ptr = PQgetvalue(result, row, i);
        fields[i].len = PQgetisnull(result, row, i) ? -1 : PQgetlength(result, row, i);
    }
    const struct read *read = r->plan->read;
    ck_assert(skip_token_put(out, fields, sql->token_fields, sql->token_field_count,
                             read->rows_before + (uint64_t)row + 1, read->token_check));
}

static void append(struct bytes *all, const PGresult *result, int rows)
{
    for (int i = 0; i < rows; i++) {
        for (int f = 0; f < PQnfields(result); f++) {
            bytes_format(all, "%s|", PQgetvalue(result, i, f));
        }
        bytes_put_char(all, '\n');
    }
}

/* All pages of a URL, one after the other, row by row. */
static void read_pages(const char *url, uint64_t page_rows, struct bytes *all)
{
    const struct bind_options options = {.client_page_size = page_rows};
    struct bytes next;
    bytes_init(&next, 4096);
    bytes_put_str(&next, str_from(url));
    for (bool more = true; more;) {
        struct bound_request r;
        bytes_put_char(&next, '\0');
        const struct sql_read *sql = shop_database_sql(&r, next.ptr, &options);
        PGresult *result = shop_database_run(db, &sql->levels[0].statement, NULL, 0);
        ck_assert_uint_le((uint64_t)PQntuples(result), page_rows + 1);
        more = (uint64_t)PQntuples(result) > page_rows;
        int rows = more ? (int)page_rows : PQntuples(result);
        append(all, result, rows);
        bytes_clear(&next);
        bytes_format(&next, "%s%s$skiptoken=", url, strchr(url, '?') == NULL ? "?" : "&");
        if (more) {
            put_token(&r, sql, result, rows - 1, &next);
        }
        PQclear(result);
        bound_request_fini(&r);
    }
    bytes_fini(&next);
}

START_TEST(pages_like_the_whole)
{
    struct bytes whole;
    bytes_init(&whole, 1 << 20);
    read_pages(orders[_i], 1000, &whole);
    ck_assert_uint_gt(whole.len, 0);
    for (uint64_t page_rows = 1; page_rows <= 7; page_rows += 2) {
        struct bytes paged;
        bytes_init(&paged, 1 << 20);
        read_pages(orders[_i], page_rows, &paged);
        ck_assert_msg(str_eq(bytes_str(&whole), bytes_str(&paged)), "%s by %d:\n%.*s\n%.*s",
                      orders[_i], (int)page_rows, STR_ARG(bytes_str(&whole)),
                      STR_ARG(bytes_str(&paged)));
        bytes_fini(&paged);
    }
    bytes_fini(&whole);
}
END_TEST

/* $top over pages: the sum is $top, $skip counts once, and no page asks for more than is left. */
START_TEST(pages_within_top)
{
    struct bytes paged;
    struct bytes whole;
    bytes_init(&paged, 1 << 20);
    bytes_init(&whole, 1 << 20);
    read_pages("Ticks?$select=ID&$orderby=Grp&$top=10&$skip=3", 4, &paged);
    read_pages("Ticks?$select=ID&$orderby=Grp&$top=10&$skip=3", 1000, &whole);
    ck_assert_msg(str_eq(bytes_str(&paged), bytes_str(&whole)), "%.*s\n%.*s",
                  STR_ARG(bytes_str(&paged)), STR_ARG(bytes_str(&whole)));
    size_t rows = 0;
    for (size_t i = 0; i < paged.len; i++) {
        rows += paged.ptr[i] == '\n' ? 1 : 0;
    }
    ck_assert_uint_eq(rows, 10);
    bytes_fini(&paged);
    bytes_fini(&whole);
}
END_TEST

/* What is run, and how many rows it can give. */
static const struct bound {
    const char *url;
    uint64_t page_rows;
    bool has_rows;
    bool has_count;
    uint64_t row_limit;
} bounds[] = {
    {"Products", 0, true, false, 0},
    {"Products", 3, true, false, 4},
    {"Products?$top=2", 3, true, false, 2},
    {"Products?$top=3", 3, true, false, 3},
    {"Products?$top=9", 3, true, false, 4},
    {"Products?$top=0&$count=true", 0, false, true, 0},
    {"Products?$count=true", 0, true, true, 0},
    {"Products/$count", 3, false, true, 0},
    {"Products(1)", 3, true, false, 1},
    {"Products(1)/Name", 0, true, false, 1},
    {"Products(1)/Category", 0, true, false, 1},
};

START_TEST(knows_its_bounds)
{
    const struct bind_options options = {.max_page_size = bounds[_i].page_rows};
    struct bound_request r;
    const struct sql_read *sql = shop_database_sql(&r, bounds[_i].url, &options);
    ck_assert_msg(sql->has_rows == bounds[_i].has_rows, "%s", bounds[_i].url);
    ck_assert_msg(sql->has_count == bounds[_i].has_count, "%s", bounds[_i].url);
    ck_assert_msg(sql->row_limit == bounds[_i].row_limit, "%s", bounds[_i].url);
    bound_request_fini(&r);
}
END_TEST

/* Rows of an expanded collection, below parents 1, 2 and 3: the field and the parent's place. */
static const struct child {
    const char *url;
    const char *ids;
    const char *places;
} children[] = {
    {"Categories?$expand=Products($select=ID;$orderby=ID desc)", "2,1,5,4,3,7,6", "1,1,2,2,2,3,3"},
    {"Categories?$expand=Products($select=ID;$orderby=Price desc;$top=1)", "2,4,6", "1,2,3"},
    {"Categories?$expand=Products($select=ID;$orderby=ID;$skip=1)", "2,4,5,7", "1,2,2,3"},
    {"Categories?$expand=Products($select=ID;$filter=Price gt 18;$orderby=ID)", "2,4,5,6",
     "1,2,2,3"},
    {"Categories?$expand=Products($select=ID;$filter=Category/Name eq 'Produce';$orderby=ID)",
     "6,7", "3,3"},
    {"Products?$expand=Suppliers($select=ID;$orderby=ID)", "1,1,1,2", "1,2,3,3"},
    {"Products?$expand=Suppliers($select=ID;$orderby=ID desc;$top=1)", "1,1,2", "1,2,3"},
    {"Employees?$expand=Reports($select=ID;$orderby=Name)", "2,3,4", "1,1,2"},
};

START_TEST(reads_children)
{
    static const char *const parents[] = {"{1,2,3}"};
    struct bound_request r;
    const struct sql_read *sql = shop_database_sql(&r, children[_i].url, NULL);
    ck_assert_uint_eq(sql->level_count, 2);
    const struct sql_level *level = &sql->levels[1];
    PGresult *result = shop_database_run(db, &level->statement, parents, 1);
    ck_assert_int_eq(PQnfields(result), (int)level->field_count);
    char *ids = shop_database_column(result, 0);
    char *places = shop_database_column(result, (int)level->ordinal_field);
    ck_assert_msg(strcmp(ids, children[_i].ids) == 0, "%s: %s", children[_i].url, ids);
    ck_assert_msg(strcmp(places, children[_i].places) == 0, "%s: %s", children[_i].url, places);
    free(ids);
    free(places);
    PQclear(result);
    bound_request_fini(&r);
}
END_TEST

/* A path through an entity that is not there fails with a word of its own. */
static const struct guard {
    const char *url;
    const char *failure; /* in its message; NULL: it answers so many rows */
    int rows;
} guards[] = {
    {"Categories(1)/Products", NULL, 2},
    {"Categories(4)/Products", NULL, 0},
    {"Categories(99)/Products", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products/$count", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products?$filter=false", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products?$filter=null", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products?$filter=1 eq 2", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products?$filter=ID eq null", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products?$top=0", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products?$top=5&$skip=3&$orderby=Price desc", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products?$expand=Suppliers&$filter=false", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products/$count?$filter=false", SQL_GUARD_WORD, 0},
    {"Categories(99)/Products/$ref?$filter=false", SQL_GUARD_WORD, 0},
    {"Categories(1)/Products?$filter=false", NULL, 0},
    {"Categories(1)/Products?$top=0", NULL, 0},
    {"Categories(1)/Products?$top=1&$orderby=Price desc", NULL, 1},
    {"Categories(1)/Products?$skip=1", NULL, 1},
    {"Products(1)/Category", NULL, 1},
    {"Products(8)/Category", NULL, 0},
    {"Products(99)/Category", SQL_GUARD_WORD, 0},
    {"Products(99)/Category/Name", SQL_GUARD_WORD, 0},
    {"Products(99)/Tags/$count", SQL_GUARD_WORD, 0},
    {"Products(4)/Tags/$count", NULL, 1},
    {"Products(3)/Suppliers", NULL, 2},
    {"Products(99)/Suppliers", SQL_GUARD_WORD, 0},
    {"Products(1)/Suppliers(1)", NULL, 1},
    {"Products(1)/Suppliers(2)", NULL, 0},
    {"Items(OrderID=10248,Line=1)/Product/Category/Products", NULL, 2},
    {"Items(OrderID=10248,Line=9)/Product/Category/Products", SQL_GUARD_WORD, 0},
    {"Orders(10248)/Items(OrderID=10249,Line=1)", NULL, 0},
};

START_TEST(tells_a_missing_parent)
{
    struct bound_request r;
    const struct sql_read *sql = shop_database_sql(&r, guards[_i].url, NULL);
    const struct sql_statement *s = sql->has_rows ? &sql->levels[0].statement : &sql->count;
    PGresult *result =
        PQexecParams(db, s->text, (int)s->param_count, NULL, s->params, NULL, NULL, 0);
    if (guards[_i].failure != NULL) {
        ck_assert_msg(PQresultStatus(result) == PGRES_FATAL_ERROR, "%s", guards[_i].url);
        ck_assert_str_eq(PQresultErrorField(result, PG_DIAG_SQLSTATE), "22P02");
        ck_assert_ptr_nonnull(strstr(PQresultErrorMessage(result), guards[_i].failure));
    } else {
        ck_assert_msg(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(db));
        ck_assert_msg(PQntuples(result) == guards[_i].rows, "%s", guards[_i].url);
    }
    PQclear(result);
    bound_request_fini(&r);
}
END_TEST

/* Statements that an index must serve. */
static const struct plan_row {
    const char *name;
    const char *url;
    const char *index; /* named in the plan */
} plan_rows[] = {
    {"a key", "Ticks(5)", "ticks_pkey"},
    {"a range", "Ticks?$filter=ID gt 10 and ID lt 20", "ticks_pkey"},
    {"a list", "Ticks?$filter=ID in (1,2,3)", "ticks_pkey"},
    {"the last date, and infinity", "Rates?$filter=Currency eq 'EUR' and ValidFrom eq 9999-12-31",
     "rates_pkey"},
    {"equality with a nullable column", "Ticks?$filter=Grp eq 77", "ticks_grp"},
    {"a prefix", "Ticks?$filter=startswith(Label,'x99')", "ticks_label"},
    {"a part of a text", "Ticks?$filter=contains(Label,'x2999')", "ticks_trigrams"},
    {"a pattern", "Ticks?$filter=matchesPattern(Label,'x2999[0-9]$')", "ticks_trigrams"},
    {"a range of what may be NaN", "Ticks?$filter=Val gt 29990", "ticks_val"},
    {"a value that is cast", "Ticks?$filter=ID eq cast('1234',Edm.Int32)", "ticks_pkey"},
    {"an entity of $root", "Ticks?$filter=ID eq $root/Ticks(1234)/ID", "ticks_pkey"},
    {"a path to one", "Employees?$filter=Manager/Name eq 'n15000'", "employees_manager"},
    {"the first page by key", "Ticks?$top=10", "ticks_pkey"},
    {"a page by key", "Ticks?$top=10&TOKEN", "ticks_pkey"},
    {"the first matches of a search without an index", "Ticks?$search=x OR NOT y&$top=2",
     "ticks_pkey"},
    {"its next matches", "Ticks?$search=x OR NOT y&$top=20&TOKEN", "ticks_pkey"},
    {"a page by two columns", "Ticks?$orderby=Label&$top=10&TOKEN", "ticks_label_id"},
    {"a navigation", "Categories(1)/Products", NULL},
};

START_TEST(uses_indexes)
{
    static const char *const made[] = {
        ("INSERT INTO shop.ticks SELECT i, i, i, 'x' || i FROM generate_series(1000, 30000) AS i "
         "ON CONFLICT DO NOTHING"),
        "CREATE INDEX IF NOT EXISTS ticks_grp ON shop.ticks (grp)",
        "CREATE INDEX IF NOT EXISTS ticks_label ON shop.ticks (label text_pattern_ops)",
        "CREATE INDEX IF NOT EXISTS ticks_label_id ON shop.ticks (label, id)",
        "CREATE INDEX IF NOT EXISTS ticks_val ON shop.ticks (val)",
        "CREATE EXTENSION IF NOT EXISTS pg_trgm",
        "CREATE INDEX IF NOT EXISTS ticks_trigrams ON shop.ticks USING gin (label gin_trgm_ops)",
        "ANALYZE shop.ticks",
    };
    static const char *const made_employees[] = {
        ("INSERT INTO shop.employees SELECT i, 'n' || i, CASE WHEN i >= 2000 THEN i / 2 END,"
         " md5(i::text)::uuid FROM generate_series(1000, 30000) AS i ON CONFLICT DO NOTHING"),
        "CREATE INDEX IF NOT EXISTS employees_manager ON shop.employees (manager_id)",
        "CREATE INDEX IF NOT EXISTS employees_name ON shop.employees (name)",
        "ANALYZE shop.employees",
    };
    const struct plan_row *row = &plan_rows[_i];
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        PQclear(PQexec(db, made[i]));
    }
    bool employees = strncmp(row->url, "Employees", strlen("Employees")) == 0;
    for (size_t i = 0; employees && i < sizeof(made_employees) / sizeof(made_employees[0]); i++) {
        PQclear(PQexec(db, made_employees[i]));
    }
    char url[1024];
    const char *token = strstr(row->url, "TOKEN");
    snprintf(url, sizeof(url), "%.*s", token == NULL ? 1000 : (int)(token - row->url) - 1,
             row->url);
    struct bound_request r;
    const struct sql_read *sql = shop_database_sql(&r, url, NULL);
    if (token != NULL) {
        PGresult *first = shop_database_run(db, &sql->levels[0].statement, NULL, 0);
        struct bytes text;
        bytes_init(&text, 4096);
        bytes_format(&text, "%s&$skiptoken=", url);
        put_token(&r, sql, first, PQntuples(first) - 1, &text);
        bytes_put_char(&text, '\0');
        PQclear(first);
        bound_request_fini(&r);
        sql = shop_database_sql(&r, text.ptr, NULL);
        bytes_fini(&text);
    }
    const struct sql_statement *s = &sql->levels[0].statement;
    char explain[8192];
    snprintf(explain, sizeof(explain), "EXPLAIN %s", s->text);
    PGresult *plan = PQexecParams(db, explain, (int)s->param_count, NULL, s->params, NULL, NULL, 0);
    ck_assert_msg(PQresultStatus(plan) == PGRES_TUPLES_OK, "%s", PQerrorMessage(db));
    char *lines = shop_database_column(plan, 0);
    if (row->index != NULL) {
        ck_assert_msg(strstr(lines, row->index) != NULL && strstr(lines, "Seq Scan") == NULL,
                      "%s: %s\n%s", row->name, s->text, lines);
        ck_assert_msg(strstr(lines, "Sort") == NULL, "%s: %s", row->name, lines);
    }
    free(lines);
    PQclear(plan);
    bound_request_fini(&r);
    if (employees) {
        PQclear(PQexec(db, "DELETE FROM shop.employees WHERE id >= 1000"));
    }
}
END_TEST

/* Every arena limit: the whole, or RequestTooComplex. */
START_TEST(keeps_to_its_arena)
{
    const char *url = "Categories?$count=true&$top=3&$expand=Products($top=2;$expand=Suppliers,"
                      "Category;$filter=Name in ('a','b'))";
    struct bound_request r;
    bool ok = false;
    for (size_t limit = 0; !ok; limit += 1 + limit / 16) {
        const struct sql_read_options options = {.service_root = STR("http://host/")};
        const struct sql_read *sql = NULL;
        ok = bound_request_init(&r, url, NULL, limit) &&
             sql_read_build(&r.arena, r.plan, &options, &sql, &r.err);
        if (!ok) {
            ck_assert_str_eq(r.err.code, ODATA_CODE_REQUEST_TOO_COMPLEX);
        } else {
            ck_assert_uint_eq(sql->level_count, 3);
        }
        bound_request_fini(&r);
    }
}
END_TEST

Suite *sql_read_suite(void);

#define COUNT(rows) (int)(sizeof(rows) / sizeof((rows)[0]))

Suite *sql_read_suite(void)
{
    Suite *suite = suite_create("sql_read");
    TCase *tc = tcase_create("sql_read");
    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, open_database, close_database);
    tcase_add_loop_test(tc, writes_statement, 0, COUNT(goldens));
    tcase_add_loop_test(tc, binds_values, 0, COUNT(canaries));
    tcase_add_loop_test(tc, pages_like_the_whole, 0, COUNT(orders));
    tcase_add_test(tc, pages_within_top);
    tcase_add_loop_test(tc, knows_its_bounds, 0, COUNT(bounds));
    tcase_add_loop_test(tc, reads_children, 0, COUNT(children));
    tcase_add_loop_test(tc, tells_a_missing_parent, 0, COUNT(guards));
    tcase_add_test(tc, keeps_to_its_arena);
    tcase_add_loop_test(tc, uses_indexes, 0, COUNT(plan_rows));
    suite_add_tcase(suite, tc);
    return suite;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Filters against rows: what PostgreSQL answers is what OData means.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

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

static const struct row {
    const char *set;
    const char *filter;
    const char *ids; /* in the order of the key */
} rows[] = {
    {"Products", "Price eq null", "7"},
    {"Products", "null eq Price", "7"},
    {"Products", "Price ne null", "1,2,3,4,5,6,8,9,10"},
    {"Products", "Price ne 18", "2,3,4,5,6,7,8,9,10"},
    {"Products", "not (Price eq 18)", "2,3,4,5,6,7,8,9,10"},
    {"Products", "not (Price gt 10)", "3,7,8,9,10"},
    {"Products", "Price ge null", ""},
    {"Products", "not (Price ge null)", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "null eq null", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "null ne null", ""},
    {"Products", "Price add null eq 1", ""},
    {"Products", "Price mul Stock eq null", "7"},
    {"Products", "Price gt 20 eq true", "4,5,6"},
    {"Products", "Price gt 20 eq false", "1,2,3,7,8,9,10"},
    {"Products", "not (Discontinued or Price lt 15)", "1,2,4,6,7"},
    {"Customers", "not Active", "CHOPS"},
    {"Customers", "Active ne true", "CHOPS,DRACD"},
    {"Customers", "not (Active and City eq 'Cork')", "ALFKI,BLAUS,CHOPS,DRACD"},
    {"Customers", "not contains(City,'er')", "BLAUS,O'N"},
    {"Customers", "contains(City,'er') ne true", "BLAUS,CHOPS,DRACD,O'N"},
    {"Customers", "contains(City,null)", ""},
    {"Customers", "endswith(City,null) eq null", "ALFKI,BLAUS,CHOPS,DRACD,O'N"},
    {"Customers", "concat(City,'x') eq null", "CHOPS,DRACD"},
    {"Customers", "length(City) eq 4", "O'N"},
    {"Customers", "not (City in ('Cork','Berlin'))", "BLAUS,CHOPS,DRACD"},
    {"Customers", "not (City in ('Cork',null))", "ALFKI,BLAUS"},
    {"Customers", "City in ('Cork',null)", "CHOPS,DRACD,O'N"},
    {"Customers", "Address eq null", "BLAUS,DRACD,O'N"},
    {"Customers", "Address ne null", "ALFKI,CHOPS"},
    {"Customers", "Address/City eq 'Bern'", "CHOPS"},
    {"Customers", "Address/Zip gt 1", "ALFKI"},
    {"Products", "ID eq 1 or ID eq 2 and Price gt 100", "1"},
    {"Products", "2 add 3 mul 4 eq 14", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "10 sub 3 sub 2 eq 5", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "Price add 2.45 eq 12.45", "3"},
    {"Products", "Stock div 2 eq 19", "1"},
    {"Products", "Stock divby 2 eq 19.5", "1"},
    {"Products", "-5 div 2 eq -2", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "(0 sub ID) mod 4 eq -3", "3,7"},
    {"Products", "5.5 mod 2 eq 1.5 and 5e0 mod 2 eq 1", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "ID lt 3000000000", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "ID lt 99999999999999999999", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "ID eq 1.0 or ID lt 1.5", "1"},
    {"Products", "Stock lt 40000", "1,2,3,4,5,6,8,9,10"},
    {"Products", "ID in (1,3000000000,99999999999999999999)", "1"},
    {"Products", "ID in (1,2.0)", "1,2"},
    {"Products", "Weight lt 0", "10"},
    {"Products", "Weight eq 0.1", "4"},
    {"Products", "Weight lt INF and Weight gt -INF and ID lt 3", "1,2"},
    {"Products", "round(Weight) eq 3", "9"},
    {"Products", "round(2.5) eq 3 and round(-2.5) eq -3 and round(-0.5) eq -1",
     "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "round(2.5e0) eq 3 and round(-2.5e0) eq -3 and round(1.7976931348623157e308) gt 1",
     "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "floor(Weight) eq -3 or ceiling(Weight) eq 3", "9,10"},
    {"Products", "ceiling(Price) eq 3 and floor(Price) eq 2", "9,10"},
    {"Orders", "ID eq 9007199254740993", "9007199254740993"},
    {"Orders", "ID gt 9007199254740992", "9007199254740993"},
    {"Products", "contains(Name,'%25')", "9"},
    {"Products", "contains(Name,'_')", "9"},
    {"Products", "endswith(Name,'\\slash')", "10"},
    {"Products", "startswith(Name,'Cha')", "1,2"},
    {"Products", "startswith(Name,tolower('CHA'))", ""},
    {"Products", "contains(tolower(Name),tolower('CHA'))", "1,2"},
    {"Products", "endswith(Name,trim(' u '))", "7"},
    {"Products", "indexof(Name,'zzz') eq -1 and ID lt 3", "1,2"},
    {"Products", "indexof(Name,'i') eq 3", "1"},
    {"Products", "substring(Name,1,2) eq 'ha'", "1,2"},
    {"Products", "substring(Name,3) eq 'u'", "7"},
    {"Products", "toupper(Name) eq 'TOFU'", "7"},
    {"Products", "'a' lt 'b' and 'b' le 'b'", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "Color eq 'red'", "3,5"},
    {"Products", "Color ne 'red'", "1,2,4,6,7,8,9,10"},
    {"Products", "Color has shop.Color'red'", "3,5"},
    {"Products", "Color in ('red','blue')", "2,3,5,6"},
    {"Products", "Released eq 2012-02-29", "3"},
    {"Products", "year(Released) eq 2012 and month(Released) eq 02", "3"},

    {"Products", "Released add duration'P1D' eq 2012-03-01", "3"},
    {"Products", "Released sub 2012-02-28 eq duration'P1D'", "3"},
    {"Orders", "Placed eq 2020-07-04T02:00:00%2B02:00", "10248"},
    {"Orders", "Placed eq 2021-03-14T15:09:26.535897000000Z", "9007199254740993"},
    {"Orders", "hour(Placed) eq 4", "10250"},
    {"Orders", "second(Placed) eq 26", "9007199254740993"},
    {"Orders", "fractionalseconds(ShipTime) ge 0.9", "10248"},
    {"Orders", "date(Placed) eq 2020-07-05", "10249"},
    {"Orders", "time(Placed) eq 12:00:00", "10252"},
    {"Orders", "Placed lt now() and Placed gt mindatetime() and Placed lt maxdatetime()",
     "10248,10249,10250,10252,9007199254740993"},
    {"Orders", "totaloffsetminutes(Placed) eq 0 and ID lt 10249", "10248"},
    {"Orders", "Placed add duration'PT4S' eq 2020-07-04T00:00:04Z", "10248"},
    {"Orders", "Entered eq 2020-07-04T02:00:00%2B02:00", "10248"},
    {"Orders", "Entered eq Placed", "10248,10250,10251"},
    {"Orders", "Entered in (2020-07-04T00:00:00Z)", "10248"},
    {"Orders", "hour(Entered) eq 4", "10250"},
    {"Orders", "ShipTime lt 12:00", "10248,10249"},
    {"Orders", "Handling eq duration'PT24H'", "10249"},
    {"Orders", "Handling eq duration'-PT15M' or Handling eq 'PT90M'", "10248,10251"},
    {"Orders", "Handling eq -duration'PT15M'", "10251"},
    {"Orders", "Handling mul 2 eq duration'PT3H'", "10248"},
    {"Orders", "totalseconds(Handling) eq 273906.789", "10252"},
    {"Orders", "hour(null) eq null and ID eq 10248", "10248"},
    {"Categories", "Picture eq binary'AP8='", "1"},
    {"Categories", "Picture ne null", "1,2"},
    {"Products", "Category/Name eq null", "8,9,10"},
    {"Products", "Category eq null", "8,9,10"},
    {"Products", "Category ne null and ID lt 3", "1,2"},
    {"Products", "$it/Category/Name eq 'Produce'", "6,7"},
    {"Employees", "Manager/Manager/Name eq 'Nancy'", "4"},
    {"Employees", "Manager/Name eq Name", ""},
    {"Categories", "Products/any()", "1,2,3"},
    {"Categories", "not Products/any()", "4"},
    {"Categories", "Products/any(p:p/Price gt 20)", "2,3"},
    {"Categories", "Products/all(p:p/Price gt 20)", "4"},
    {"Categories", "not Products/all(p:p/Price gt 20)", "1,2,3"},
    {"Categories", "Products/any(p:p/Suppliers/any(s:s/ID eq 2 and p/Price gt 20))", "2"},
    {"Categories", "Products/any(p:p/Category/Name eq Name)", "1,2,3"},
    {"Categories", "Products/any(p:p/Name ne $it/Name and p/ID eq 1)", "1"},
    {"Categories", "Products/$count gt 2", "2"},
    {"Categories", "Products/$count($filter=Price gt 20) eq 2", "2"},
    {"Products", "Suppliers/any(s:s/Name eq 'Cajun Delights')", "3,4,5"},
    {"Products", "Suppliers/$count ge 2", "3"},
    {"Products", "Tags/any(t:t eq 'hot')", "1,5"},
    {"Products", "Tags/any(t:t eq null)", "6"},
    {"Products", "Tags/all(t:t eq 'beer')", "2,3,4,10"},
    {"Products", "Tags/any()", "1,2,5,6,7,8,9"},
    {"Products", "'hot' in Tags", "1,5"},
    {"Products", "Tags/$count eq 2", "1,5,6"},
    {"Products", "case(Price gt 20:1,true:0) eq 1", "4,5,6"},
    {"Products", "Name eq 'x'' OR true --'", ""},
    {"Products", "@p eq Price", "7"},
};

START_TEST(filters_rows)
{
    shop_database_check_filter(db, rows[_i].set, rows[_i].filter, rows[_i].ids);
}
END_TEST

/*
 * Random expressions over two nullable numbers, evaluated here by OData's rules (URL Conventions
 * 5.1.1.1) and there by PostgreSQL.
 */
enum truth {
    NO,
    YES,
    UNKNOWN
};

static const struct pair {
    int a; /* CategoryID */
    int b; /* Stock */
} pairs[] = {{1, 39}, {1, 17}, {2, 13}, {2, 53}, {2, 0},
             {3, 15}, {3, -1}, {-1, 1}, {-1, 5}, {-1, 5}};

enum {
    NONE = -1
};

struct writer {
    char text[16384];
    size_t len;
    uint32_t seed;
};

static unsigned roll(struct writer *w, unsigned sides)
{
    w->seed = w->seed * 1664525U + 1013904223U;
    return (w->seed >> 16) % sides;
}

static void put(struct writer *w, const char *text)
{
    size_t len = strlen(text);
    ck_assert_uint_lt(w->len + len, sizeof(w->text));
    memcpy(w->text + w->len, text, len + 1);
    w->len += len;
}

/* A number: a property, a literal or null. values: one for each pair. */
static void random_number(struct writer *w, int *values)
{
    static const int literals[] = {1, 2, 3, 5, 13, 17};
    unsigned kind = roll(w, 6);
    unsigned literal = roll(w, 6);
    char digits[16];
    snprintf(digits, sizeof(digits), "%d", literals[literal]);
    /* What leaves a number as it is. */
    static const char *const around[][2] = {
        {"", ""},
        {"cast(cast(", ",Edm.String),Edm.Int32)"},
        {"cast(cast(", ",Edm.Double),Edm.Int16)"},
        {"case(true:", ")"},
        {"cast(substring(concat('x',cast(", ",Edm.String)),1),Edm.Decimal)"},
    };
    size_t way = roll(w, 3) == 0 ? roll(w, 5) : 0;
    put(w, around[way][0]);
    put(w, kind < 2 ? "CategoryID" : kind < 4 ? "Stock" : kind == 4 ? digits : "null");
    put(w, around[way][1]);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        values[i] = kind < 2    ? pairs[i].a
                    : kind < 4  ? pairs[i].b
                    : kind == 4 ? literals[literal]
                                : NONE;
    }
}

static enum truth compare(unsigned op, int x, int y)
{
    if (op < 2) {
        return (x == y) == (op == 0) ? YES : NO;
    }
    if (x == NONE || y == NONE) {
        return NO;
    }
    bool holds[] = {x<y, x <= y, x> y, x >= y};
    return holds[op - 2] ? YES : NO;
}

static enum truth join(bool conjunction, enum truth x, enum truth y)
{
    enum truth decides = conjunction ? NO : YES;
    if (x == decides || y == decides) {
        return decides;
    }
    return x == UNKNOWN || y == UNKNOWN ? UNKNOWN : (conjunction ? YES : NO);
}

/* Two numbers against two: as arrays, as a list, as sets. */
static void random_pairs(struct writer *w, enum truth *truths)
{
    enum {
        COUNT = sizeof(pairs) / sizeof(pairs[0])
    };
    int numbers[4][COUNT];
    unsigned form = roll(w, 3);
    static const char *const between[][5] = {
        {"([", ",", "] eq [", ",", "])"},
        {"hassubset(concat([", "],[", "]),[", ",", "])"},
        {"(", " in [", ",", "] or ", " eq null)"},
    };
    for (size_t i = 0; i < 4; i++) {
        put(w, between[form][i]);
        random_number(w, numbers[i]);
    }
    put(w, between[form][4]);
    for (size_t i = 0; i < COUNT; i++) {
        int a = numbers[0][i];
        int b = numbers[1][i];
        int c = numbers[2][i];
        int d = numbers[3][i];
        bool in_order = a == c && b == d;
        bool holds = form == 0 ? in_order : in_order || (a == d && b == c);
        holds = form == 2 ? a == b || a == c || d == NONE : holds;
        truths[i] = holds ? YES : NO;
    }
}

static void random_condition(struct writer *w, unsigned depth, enum truth *truths)
{
    enum {
        COUNT = sizeof(pairs) / sizeof(pairs[0])
    };
    static const char *const operators[] = {" eq ", " ne ", " lt ", " le ", " gt ", " ge "};
    unsigned kind = depth == 0 ? 0 : roll(w, 5);
    if (kind == 0 && roll(w, 3) == 0) {
        random_pairs(w, truths);
        return;
    }
    if (kind == 0) {
        int left[COUNT];
        int right[COUNT];
        unsigned op = roll(w, 6);
        put(w, "(");
        random_number(w, left);
        put(w, operators[op]);
        random_number(w, right);
        put(w, ")");
        for (size_t i = 0; i < COUNT; i++) {
            truths[i] = compare(op, left[i], right[i]);
        }
        return;
    }
    enum truth left[COUNT];
    enum truth right[COUNT];
    if (kind == 1) { /* a function of a null is null */
        put(w, "contains(concat(Name,case(CategoryID ne null:'x')),'x')");
        for (size_t i = 0; i < COUNT; i++) {
            truths[i] = pairs[i].a == NONE ? UNKNOWN : YES;
        }
        return;
    }
    put(w, kind == 2 ? "not (" : "(");
    random_condition(w, depth - 1, left);
    if (kind == 2) {
        put(w, ")");
        for (size_t i = 0; i < COUNT; i++) {
            truths[i] = left[i] == UNKNOWN ? UNKNOWN : left[i] == YES ? NO : YES;
        }
        return;
    }
    bool equality = kind == 4 && roll(w, 2) == 0;
    bool conjunction = roll(w, 2) == 0;
    put(w, equality ? " eq " : conjunction ? " and " : " or ");
    random_condition(w, depth - 1, right);
    put(w, ")");
    for (size_t i = 0; i < COUNT; i++) {
        truths[i] =
            equality ? (left[i] == right[i] ? YES : NO) : join(conjunction, left[i], right[i]);
    }
}

START_TEST(keeps_the_logic_of_nulls)
{
    enum {
        COUNT = sizeof(pairs) / sizeof(pairs[0]),
        EXPRESSIONS = 40
    };
    for (unsigned n = 0; n < EXPRESSIONS; n++) {
        struct writer w = {.seed = (uint32_t)_i * 1000U + n};
        enum truth truths[COUNT];
        char expected[64] = "";
        put(&w, "Products?$select=ID&$orderby=ID&$filter=");
        random_condition(&w, 4, truths);
        for (size_t i = 0; i < COUNT; i++) {
            if (truths[i] == YES) {
                snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), "%s%zu",
                         expected[0] == '\0' ? "" : ",", i + 1);
            }
        }
        struct bound_request r;
        const struct sql_read *sql = shop_database_sql(&r, w.text, NULL);
        PGresult *result = shop_database_run(db, &sql->levels[0].statement, NULL, 0);
        char *ids = shop_database_column(result, 0);
        ck_assert_msg(strcmp(ids, expected) == 0, "%s: %s instead of %s\n%s", w.text, ids, expected,
                      sql->levels[0].statement.text);
        free(ids);
        PQclear(result);
        bound_request_fini(&r);
    }
}
END_TEST

Suite *sql_filter_suite(void);

Suite *sql_filter_suite(void)
{
    Suite *suite = suite_create("sql_filter");
    TCase *tc = tcase_create("sql_filter");
    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, open_database, close_database);
    tcase_add_loop_test(tc, filters_rows, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_loop_test(tc, keeps_the_logic_of_nulls, 0, 10);
    suite_add_tcase(suite, tc);
    return suite;
}

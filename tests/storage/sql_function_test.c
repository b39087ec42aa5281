// SPDX-License-Identifier: Apache-2.0
/*
 * Functions of strings and collections, comparisons of structured values, and lambdas over what
 * is no table (URL Conventions 5.1.1.1, 5.1.1.5 to 5.1.1.7, 5.1.1.13), against rows.
 */
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

/* Conditions that hold whatever the row. */
static const char *const truths[] = {
    "substring('abcdef',-2) eq 'ef' and substring('abcdef',-3,2) eq 'de'",
    "substring('abc',-5) eq 'abc' and substring('abc',7) eq ''",
    "substring('abc',1,100) eq 'bc' and substring('abc',0,0) eq ''",
    "substring('abc',0 sub 1) eq 'c'",
    "trim('%20%09x%C2%A0y%E2%80%83') eq 'x%C2%A0y'",
    "hassubset([4,1,3],[4,1,3]) and hassubset([4,1,3],[1,3,4]) and hassubset([4,1,3],[3,1])",
    "hassubset([4,1,3],[4,3]) and hassubset([4,1,3,1],[1,1]) and hassubset([4],[])",
    "not hassubset([1,2],[1,1,2])",
    "hassubset([1,null],[null]) and not hassubset([1],[null])",
    "hassubsequence([4,1,3],[4,1,3]) and hassubsequence([4,1,3],[4,1])",
    "hassubsequence([4,1,3],[4,3]) and hassubsequence([4,1,3,1],[1,1])",
    "not hassubsequence([4,1,3],[1,3,4]) and not hassubsequence([4,1,3],[3,1])",
    "not hassubsequence([1,2],[1,1,2]) and hassubsequence([],[])",
    "hassubsequence([1,null,2],[null,2]) and not hassubsequence([1],[null])",
    "contains([1,2,3],[2,3]) and not contains([1,2,3],[1,3]) and contains([1],[])",
    "contains([\"a\",\"b\"],['b']) and not contains(['ab'],['b'])",
    "startswith([1,2,3],[1,2]) and not startswith([1,2,3],[2]) and startswith([1],[])",
    "not startswith([1],[1,2]) and not endswith([2],[1,2])",
    "endswith([1,2,3],[2,3]) and not endswith([1,2,3],[2]) and endswith([],[])",
    "indexof([1,2,1,2],[1,2]) eq 0 and indexof([1,2,3],[2,3]) eq 1 and indexof([1],[2]) eq -1",
    "length([]) eq 0 and length([1,null]) eq 2",
    "concat([1],[2,3]) eq [1,2,3] and concat([],[]) eq []",
    "concat([],[1]) eq [1] and concat([null],[1]) eq [null,1] and hassubset([null,1],[null])",
    "case(true:null) eq null and case(false:1) eq null and [1,case(true:null)] eq [1,null]",
    "substring([1,2,3],1) eq [2,3] and substring([1,2,3],-2,1) eq [2] and substring([1],9) eq []",
    "[1,2] eq [1,2] and [1,2] ne [2,1] and not ([1] eq [1,2])",
    "[1,2.5] eq [1.0,2.5] and [1,null] eq [1,null]",
    "2 in [1,2] and not (3 in [1,2]) and not (1 in [])",
    "[1,2] in [[3,4],[1,2]] and not ([1,2] in [[2,1]])",
    "concat([1,2],[3])/any(x:x gt 2) and concat([],[])/all(x:false)",
    "concat([1,2],[3])/$count($filter=$this gt 1) eq 2",
    "concat([1],[2])/any(x:x eq 2)",
    "matchesPattern('Alfreds','^A.*s$') and not matchesPattern('Alfreds','^a')",
    "matchesPattern('a1','%5Cd') and not matchesPattern('%D9%A3','%5Cd')",
    "matchesPattern('x','') and matchesPattern('','^$')",
    "not matchesPattern('a%0Ab','a.b') and matchesPattern('a%0Ab','a[^]b')",
    "matchesPattern('a%0Ab','a%5Csb') and not matchesPattern('a%0Ab','a$%7C^b')",
    "matchesPattern('foo bar','%5Cbbar') and not matchesPattern('foobar','%5Cbbar')",
    "matchesPattern('foobar','%5CBbar') and matchesPattern('%C3%A9a','%5Cba')",
    "matchesPattern('a]b','a[%5C]]b') and matchesPattern('a-b','a[x-]b')",
    "matchesPattern('a[b','a[[]b') and matchesPattern('[:x','[[:]x')",
    "matchesPattern('ab','(%3F%3Cn%3Ea)b') and matchesPattern('ab','a(%3F=b)')",
    "not matchesPattern('ab','a(%3F!b)') and matchesPattern('ab','(%3F%3C=a)b')",
    "matchesPattern('aaa','^a{3}$') and matchesPattern('aaa','^a{2,}%3F$')",
    "matchesPattern('a{b','a{b') and matchesPattern('%F0%9F%98%80','^.$')",
    "matchesPattern('%F0%9F%98%80','%5Cu{1F600}') and matchesPattern('A','%5Cx41')",
    "matchesPattern('%F0%9F%98%80','%5CuD83D%5CuDE00')",
    "not matchesPattern('7','[%5CD]') and matchesPattern('_','[^%5CW]')",
    "matchesPattern('b','a%7C') and matchesPattern('x.y','x%5C.y')",
    "not matchesPattern('xay','x%5C.y') and matchesPattern('a%20b','a%20b')",
    "year(2024-02-29T23:30:00Z) eq 2024 and second(2024-01-01T00:00:07%2B01:00) eq 7",
};

START_TEST(holds_everywhere)
{
    shop_database_check_filter(db, "Products", truths[_i], "1,2,3,4,5,6,7,8,9,10");
}
END_TEST

static const struct row {
    const char *set;
    const char *filter;
    const char *ids;
} rows[] = {
    {"Products", "Tags eq ['beer']", "2"},
    {"Products", "Tags eq []", "3,4,10"},
    {"Products", "Tags ne [] and ID lt 3", "1,2"},
    {"Products", "Tags eq Tags", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "hassubset(Tags,['hot'])", "1,5"},
    {"Products", "hassubset(Tags,[null])", "6"},
    {"Products", "length(Tags) eq 2", "1,5,6"},
    {"Products", "contains(Tags,['hot'])", "1,5"},
    {"Products", "indexof(Tags,['hot']) ge 0", "1,5"},
    {"Products", "concat(Tags,['x'])/$count eq 1", "3,4,10"},
    {"Products", "substring(Tags,1)/any()", "1,5,6"},
    {"Products", "Tags/$count($filter=$this eq 'hot') eq 1", "1,5"},
    {"Products", "Tags/$filter($this eq 'hot')/$count eq 1", "1,5"},
    {"Products", "Tags/$filter($this eq 'hot')/any()", "1,5"},
    {"Products", "Tags/$filter($this ne 'beer')/all(t:t eq 'hot') and Tags/any()", "2"},
    {"Categories", "Products/$filter(Price gt 20)/$count eq 2", "2"},
    {"Categories", "Products/$filter(Price gt 20)/any(p:p/ID eq 4)", "2"},
    {"Categories", "Products/$filter(Price eq null)/all(p:p/ID eq 7)", "1,2,3,4"},
    {"Products", "[ID,CategoryID] in [[1,1],[4,2],[5,1]]", "1,4"},
    {"Products", "matchesPattern(Name,'^Cha.')", "1,2"},
    {"Customers", "Address eq {\"City\":\"Bern\"}", "CHOPS"},
    {"Customers", "Address eq {\"Street\":null,\"City\":\"Bern\",\"Zip\":null}", "CHOPS"},
    {"Customers", "Address eq @a&@a={\"City\":\"Bern\"}", "CHOPS"},
    {"Customers", "Address eq Address", "ALFKI,BLAUS,CHOPS,DRACD,O'N"},
    {"Customers", "Address ne Address", ""},
    {"Customers", "Address ne {\"City\":\"Bern\"} and ID eq 'BLAUS'", "BLAUS"},
    {"Products", "Price gt $root/Products(4)/Price", "6"},
    {"Products", "CategoryID eq $root/Categories(ID=2)/ID and ID lt 4", "3"},
    {"Products", "$root/Products(99)/Price eq null and ID eq 1", "1"},
    {"Products", "$root/Products(1)/Category/Name eq Category/Name", "1,2"},
    {"Products", "$root/Categories/$count eq 4 and ID eq 1", "1"},
    {"Products", "$root/Categories(2)/Products/$count gt 2 and ID eq 1", "1"},
    {"Products", "$root/Categories/any(c:c/Name eq Name)", ""},
    {"Products", "$root/Categories/$count($filter=Name ne $it/Name) eq 4 and ID eq 1", "1"},
    {"Products", "$root/Categories(2)/Products(4)/Price eq 22 and ID eq 1", "1"},
    {"Categories", "Products(4)/Name eq 'Cajun'", "2"},
    {"Categories", "$it/Products(4)/Price gt 20", "2"},
    {"Products", "Weight lt NaN or Weight gt NaN or Weight eq NaN", ""},
    {"Products", "Weight ne NaN and ID lt 3", "1,2"},
    {"Products", "Weight add NaN ne Weight add NaN and ID lt 3", "1,2"},
    {"Products", "Weight add NaN ge Weight add NaN", ""},
    {"Products", "not (Weight add NaN gt 1) and ID lt 3", "1,2"},
    {"Products", "Weight eq Weight", "1,2,3,4,5,6,7,8,9,10"},
    {"Employees", "Manager eq $it", ""},
    {"Employees", "Manager/Manager ne Manager and ID gt 1", "2,3,4,5"},
    {"Employees", "Reports/any(r:r/Manager eq $it)", "1,2,4"},
};

START_TEST(filters_rows)
{
    shop_database_check_filter(db, rows[_i].set, rows[_i].filter, rows[_i].ids);
}
END_TEST

Suite *sql_function_suite(void);

Suite *sql_function_suite(void)
{
    Suite *suite = suite_create("sql_function");
    TCase *tc = tcase_create("sql_function");
    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, open_database, close_database);
    tcase_add_loop_test(tc, holds_everywhere, 0, (int)(sizeof(truths) / sizeof(truths[0])));
    tcase_add_loop_test(tc, filters_rows, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    suite_add_tcase(suite, tc);
    return suite;
}

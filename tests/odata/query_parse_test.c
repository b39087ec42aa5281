// SPDX-License-Identifier: Apache-2.0

#include <check.h>

#include "odata/limits.h"
#include "odata/query_parse.h"
#include "tests/odata/url_support.h"

Suite *query_parse_suite(void);

static bool parse(struct arena *a, struct str text, struct bytes *dump, struct odata_error *err)
{
    static const struct query_limits limits = {.max_filter_depth = 20, .max_expand_depth = 4};
    struct query q;
    if (!query_parse(a, text, &limits, &q, err)) {
        return false;
    }
    query_dump(&q, dump);
    return true;
}

static const struct url_good goods[] = {
    {"nothing", "", ""},
    {"empty parts", "&&$top=1&", "top=1"},
    {"a filter", "$filter=a%20eq%201", "filter=(eq a 1)"},
    {"an encoded dollar", "%24filter=a+eq+1&%24count=true", "filter=(eq a 1);count=true"},
    {"no dollar, any case", "FILTER=a&$OrderBy=b&top=2", "filter=a;orderby=b;top=2"},
    {"an encoded ampersand is data", "$filter=a%20eq%20'b%26c'", "filter=(eq a 'b&c')"},
    {"an equals sign is data", "$filter=a eq '='", "filter=(eq a '=')"},
    {"a zone", "$filter=d ge 2020-06-24T15:57:44+03:00",
     "filter=(ge d datetimeoffset:2020-06-24T15:57:44+03:00)"},
    {"custom options are ignored", "sap-language=de&utm=100%&x&a=1", ""},
    {"order", "$orderby=a,b%20desc,c ASC,length(d) Desc", "orderby=a,b desc,c,length(d) desc"},
    {"order by a property named desc", "$orderby=desc desc,asc", "orderby=desc desc,asc"},
    {"order with blanks", "$orderby=a%20%20desc%20,%20b", "orderby=a desc,b"},
    {"select", "$select=a,b/c,ns.T/d,*,ns.*", "select=a,b/c,ns.T/d,*,ns.*"},
    {"select with blanks", "$select=a,%20b", "select=a,b"},
    {"select words", "$select=order,from,null,filter", "select=order,from,null,filter"},
    {"select with options", "$select=a($select=b,c;$top=5;$filter=$this gt 1)",
     "select=a(filter=(gt $this 1);select=b,c;top=5)"},
    {"select an overload", "$select=ns.Fn(p,q),b", "select=ns.Fn(p,q),b"},
    {"select an annotation", "$select=a/@ns.T,@ns.U($top=2)", "select=a/@ns.T,@ns.U(top=2)"},
    {"expand", "$expand=a,b/ns.T/c,*", "expand=a,b/ns.T/c,*"},
    {"expand references and counts", "$expand=a/$ref,b/$count,*/$ref",
     "expand=a/$ref,b/$count,*/$ref"},
    {"expand with options",
     "$expand=a($filter=b gt 1;$orderby=c desc;$select=d;$top=1;$skip=2;$count=true;$levels=3)",
     "expand=a(filter=(gt b 1);orderby=c desc;select=d;top=1;skip=2;count=true;levels=3)"},
    {"options without dollar", "expand=a(expand=b(select=c);levels=max)",
     "expand=a(expand=b(select=c);levels=max)"},
    {"all encoded", "%24expand=a(%24select%3Db%3B%24filter%3Dc%20eq%20'%3B)')",
     "expand=a(filter=(eq c ';)');select=b)"},
    {"a count with a filter", "$expand=a/$count($filter=b;$search=c)",
     "expand=a/$count(filter=b;search=c)"},
    {"a nested search", "$expand=a($search=(b OR \"c;$top=1)\") x;$top=2)",
     "expand=a(top=2;search=(b OR \"c;$top=1)\") x)"},
    {"a semicolon in a nested search", "$expand=a($search=b%3Bc)", "expand=a(search=b;c)"},
    {"an apostrophe in a nested search", "$expand=a($search=Daniel's;$top=1),b",
     "expand=a(top=1;search=Daniel's),b"},
    {"two apostrophes", "$expand=a($search=Daniel's),b($search=Tom's)",
     "expand=a(search=Daniel's),b(search=Tom's)"},
    {"a nested search that is still being typed", "$expand=a($search='\"blue);';$top=1)",
     "expand=a(top=1;search='\"blue);')"},
    {"strings in a nested option", "$expand=a($compute=concat(b,'it''s;$top=)') as c;$top=1)",
     "expand=a(top=1;compute=concat(b,'it's;$top=)') as c)"},
    {"nested aliases", "$expand=a(@m=$this;$filter=@m/b)", "expand=a(filter=@m/b;@m=$this)"},
    {"compute and apply inside",
     "$expand=a($compute=b mul 2 as c;$apply=aggregate(d with sum as e))",
     "expand=a(compute=(mul b 2) as c;apply=aggregate(d with sum as e))"},
    {"skip and top", "$skip=0&$top=10", "top=10;skip=0"},
    {"a huge top", "$top=99999999999999999999999", "top=9223372036854775807"},
    {"a top past 63 bits", "$top=18446744073709551615", "top=9223372036854775807"},
    {"count in any case", "$count=TRUE", "count=true"},
    {"no count", "$count=false", "count=false"},
    {"computed values", "$compute=a add 1 as b,concat(c,' as d') as e",
     "compute=(add a 1) as b,concat(c,' as d') as e"},
    {"aggregate",
     "$apply=aggregate(a with sum as b,$count as c,d/$count as e,f mul 2 with max as g)",
     "apply=aggregate(a with sum as b,$count as c,d/$count as e,(mul f 2) with max as g)"},
    {"from", "$apply=aggregate(a with sum from b,c/d with average from e with max as f)",
     "apply=aggregate(a with sum from b,c/d with average from e with max as f)"},
    {"custom aggregates", "$apply=aggregate(a,b as c,d from e,f from g with max as h)",
     "apply=aggregate(a,b as c,d from e,f from g with max as h)"},
    {"groupby", "$apply=groupby((a,b/c))/groupby((rollup(d,e),rollup($all,f)),top(1)/identity)",
     "apply=groupby((a,b/c))/groupby((rollup(d,e),rollup($all,f)),top(1)/identity)"},
    {"a property called rollup", "$apply=groupby((rollup,a))", "apply=groupby((rollup,a))"},
    {"concat", "$apply=concat(filter(a gt 1),skip(2)/orderby(b desc,c))",
     "apply=concat(filter((gt a 1)),skip(2)/orderby(b desc,c))"},
    {"extremes", "$apply=topcount(2,a)/bottompercent(5.5,b mul c)",
     "apply=topcount(2,a)/bottompercent(decimal:5.5,(mul b c))"},
    {"a search in parentheses", "$apply=search((a OR \")\") b)/compute(c as d)",
     "apply=search((a OR \")\") b)/compute(c as d)"},
    {"join and nest",
     "$apply=join(a as b,top(1))/outerjoin(c as d)/addnested(e,identity as f,top(1) as g)",
     "apply=join(a as b,top(1))/outerjoin(c as d)/addnested(e,identity as f,top(1) as g)"},
    {"hierarchies",
     "$apply=descendants($root/o,Q,id,filter(a eq 1),2,keep start)/traverse($root/o,Q,id,preorder,a desc)",
     "apply=descendants($root/o,Q,id,filter((eq a 1)),2,keep start)/traverse($root/o,Q,id,preorder,a desc)"},
    {"a recursive rollup", "$apply=groupby((rolluprecursive($root/o,Q,b/id,top(1),keep start),c))",
     "apply=groupby((rolluprecursive($root/o,Q,b/id,top(1),keep start),c))"},
    {"kept as text",
     "$compute=a%20as%20b&$search=x+y&$apply=identity&$format=json&$skiptoken=t%2B&$deltatoken=d&"
     "$schemaversion=*&$id=urn:x",
     "compute=a as b;search=x y;apply=identity;format=json;skiptoken=t+;deltatoken=d;"
     "schemaversion=*;id=urn:x"},
    {"index", "$index=-1", "index=-1"},
    {"aliases", "$filter=a%20gt%20@p&@p=15&@q=[1,{\"a\":2}]",
     "filter=(gt a @p);@q=[1,{a:2}];@p=15"},
    {"an alias without use", "@unused=5", "@unused=5"},
};

#define BAD(name, text, code, message) \
    {                                  \
        name, text, 400, code, message \
    }

static const struct url_bad bads[] = {
    BAD("an unknown option", "$foo=1", ODATA_CODE_BAD_QUERY_OPTION, "'$foo'"),
    BAD("an option nearly right", "$fliter=1", ODATA_CODE_BAD_QUERY_OPTION,
        "unknown query option '$fliter'; did you mean '$filter'?"),
    BAD("an option of version 3", "$inlinecount=allpages", ODATA_CODE_BAD_QUERY_OPTION,
        "in version 4 it is $count=true"),
    BAD("an operator of another language inside", "$expand=a($filter=b=1)", ODATA_CODE_BAD_FILTER,
        "equality is written eq"),
    BAD("an empty filter", "$filter=", ODATA_CODE_BAD_FILTER, "$filter has no value"),
    BAD("a blank filter", "$filter=%20", ODATA_CODE_BAD_FILTER, "$filter has no value"),
    BAD("no value at all", "$count", ODATA_CODE_BAD_QUERY_OPTION, "$count has no value"),
    BAD("an empty order", "$orderby=", ODATA_CODE_BAD_ORDERBY, "no value"),
    BAD("an empty select", "$select=", ODATA_CODE_BAD_SELECT, "no value"),
    BAD("an empty expand", "$expand=", ODATA_CODE_BAD_EXPAND, "no value"),
    BAD("an empty search", "$search=", ODATA_CODE_BAD_QUERY_OPTION, "no value"),
    BAD("an empty token", "$skiptoken=", ODATA_CODE_BAD_QUERY_OPTION, "no value"),
    BAD("twice", "$filter=a&$filter=b", ODATA_CODE_BAD_QUERY_OPTION, "given twice"),
    BAD("twice, once without dollar", "top=1&$top=1", ODATA_CODE_BAD_QUERY_OPTION, "given twice"),
    BAD("an alias twice", "@a=1&@a=2", ODATA_CODE_BAD_QUERY_OPTION, "@a is given twice"),
    BAD("an alias that is none", "@1=1", ODATA_CODE_BAD_QUERY_OPTION, "alias"),
    BAD("an alias without value", "@a=", ODATA_CODE_BAD_QUERY_OPTION, "of @a"),
    BAD("a filter that ends", "$filter=a%20eq", ODATA_CODE_BAD_FILTER, "byte 4 of $filter"),
    BAD("a lone percent", "$filter=%", ODATA_CODE_BAD_URL, "hex"),
    BAD("a raw hash", "$search=#1", ODATA_CODE_BAD_URL, "%23"),
    BAD("a negative top", "$top=-1", ODATA_CODE_BAD_QUERY_OPTION, "of $top"),
    BAD("a top with a sign", "$top=%2B1", ODATA_CODE_BAD_QUERY_OPTION, "of $top"),
    BAD("a top with a suffix", "$top=1L", ODATA_CODE_BAD_QUERY_OPTION, "of $top"),
    BAD("a broken top", "$top=1.5", ODATA_CODE_BAD_QUERY_OPTION, "of $top"),
    BAD("two tops", "$top=1%202", ODATA_CODE_BAD_QUERY_OPTION, "byte 2 of $top, found '2'"),
    BAD("top null", "$top=null", ODATA_CODE_BAD_QUERY_OPTION, "of $top"),
    BAD("a huge skip", "$skip=99999999999999999999", ODATA_CODE_BAD_QUERY_OPTION, "63 bits"),
    BAD("count maybe", "$count=maybe", ODATA_CODE_BAD_QUERY_OPTION, "true or false"),
    BAD("index of a word", "$index=fortytwo", ODATA_CODE_BAD_QUERY_OPTION, "an integer"),
    BAD("order up", "$orderby=a%20up", ODATA_CODE_BAD_ORDERBY,
        "expected asc, desc, ',' or the end at byte 2 of $orderby, found 'up'"),
    BAD("order twice", "$orderby=a desc asc", ODATA_CODE_BAD_ORDERBY,
        "expected ',' or the end at byte 7 of $orderby, found 'asc'"),
    BAD("an order that ends", "$orderby=a,", ODATA_CODE_BAD_ORDERBY, "byte 2"),
    BAD("a select that ends", "$select=a,", ODATA_CODE_BAD_SELECT, "byte 2"),
    BAD("select behind a star", "$select=*/a", ODATA_CODE_BAD_SELECT, "byte 1"),
    BAD("select of a value", "$select='a'", ODATA_CODE_BAD_SELECT, "byte 0"),
    BAD("expand of nothing", "$expand=a()", ODATA_CODE_BAD_EXPAND, "an option"),
    BAD("expand open", "$expand=a($top=1", ODATA_CODE_BAD_EXPAND, "';' or ')'"),
    BAD("expand twice the same option", "$expand=a($top=1;$top=2)", ODATA_CODE_BAD_EXPAND, "once"),
    BAD("expand with a custom option", "$expand=a(x=1)", ODATA_CODE_BAD_EXPAND, "allowed here"),
    BAD("expand with an unknown one", "$expand=a($x=1)", ODATA_CODE_BAD_QUERY_OPTION, "'$x'"),
    BAD("expand with format", "$expand=a($format=json)", ODATA_CODE_BAD_EXPAND, "allowed here"),
    BAD("levels of references", "$expand=a/$ref($levels=4)", ODATA_CODE_BAD_EXPAND, "allowed here"),
    BAD("levels with a zero", "$expand=a($levels=04)", ODATA_CODE_BAD_QUERY_OPTION, "zeros"),
    BAD("levels outside", "$levels=2", ODATA_CODE_BAD_QUERY_OPTION, "inside of $expand"),
    BAD("a bad nested filter", "$expand=a($filter=b eq)", ODATA_CODE_BAD_FILTER, "of $expand"),
    BAD("a negative nested top", "$expand=a($top=-1)", ODATA_CODE_BAD_QUERY_OPTION, "of $expand"),
    BAD("expand of a value", "$expand=1", ODATA_CODE_BAD_EXPAND, "byte 0"),
    BAD("expand of ns.*", "$expand=ns.*", ODATA_CODE_BAD_EXPAND, "ns.*"),
    BAD("expand too deep", "$expand=a($expand=b($expand=c($expand=d($expand=e))))",
        ODATA_CODE_REQUEST_TOO_COMPLEX, "deeper than 4"),
    BAD("17 orders", "$orderby=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", ODATA_CODE_REQUEST_TOO_COMPLEX,
        "16 items"),
    {"temporal", "$at=2020-01-01", 501, ODATA_CODE_NOT_IMPLEMENTED, "$at"},
    {"temporal inside", "$expand=a($at=2020-01-01)", 501, ODATA_CODE_NOT_IMPLEMENTED, "$at"},
    {"a stream", "$expand=a/$value", 501, ODATA_CODE_NOT_IMPLEMENTED, "$value"},
};

START_TEST(parses)
{
    url_check_good(parse, &goods[_i]);
    url_check_prefixes(parse, goods[_i].text);
    url_check_arena(parse, goods[_i].text);
}
END_TEST

START_TEST(refuses)
{
    url_check_bad(parse, &bads[_i]);
    url_check_prefixes(parse, bads[_i].text);
}
END_TEST

/* One more than allowed of what can be repeated without end. */
static const struct {
    const char *first, *unit;
    size_t count;
} repeats[] = {
    {"", "a=1&", LIMIT_QUERY_OPTIONS + 1},
    {"$select=", "a($select=", LIMIT_OPTION_DEPTH + 1},
    {"$select=a", "/b", LIMIT_PATH_SEGMENTS},
    {"$expand=a", "/b", LIMIT_PATH_SEGMENTS},
};

START_TEST(bounds_repetition)
{
    struct bytes text;
    struct odata_error err = {0};
    struct arena a;
    bytes_init(&text, 1024 * 1024);
    bytes_put_str(&text, str_from(repeats[_i].first));
    for (size_t i = 0; i < repeats[_i].count; i++) {
        bytes_put_str(&text, str_from(repeats[_i].unit));
    }
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    struct bytes dump;
    bytes_init(&dump, 1024 * 1024);
    ck_assert(!parse(&a, bytes_str(&text), &dump, &err));
    ck_assert_str_eq(err.code, ODATA_CODE_REQUEST_TOO_COMPLEX);
    bytes_fini(&dump);
    arena_fini(&a);
    bytes_fini(&text);
}
END_TEST

START_TEST(names_the_option)
{
    static const char *const cases[][2] = {
        {"$filter=a%20eq", "$filter"}, {"orderby=", "$orderby"}, {"$expand=a($filter=)", "$expand"},
        {"@p=1%20add", "@p"},          {"top=1&$top=2", "$top"}, {"$fliter=1", "$fliter"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct arena a;
        struct odata_error err = {0};
        struct bytes dump;
        bytes_init(&dump, 1024);
        arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
        ck_assert(!parse(&a, str_from(cases[i][0]), &dump, &err));
        ck_assert_str_eq(err.target, cases[i][1]);
        arena_fini(&a);
        bytes_fini(&dump);
    }
}
END_TEST

Suite *query_parse_suite(void)
{
    Suite *s = suite_create("query_parse");
    TCase *t = tcase_create("query_parse");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, parses, 0, ARRAY_SIZE(goods));
    tcase_add_loop_test(t, refuses, 0, ARRAY_SIZE(bads));
    tcase_add_loop_test(t, bounds_repetition, 0, ARRAY_SIZE(repeats));
    tcase_add_test(t, names_the_option);
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/filter_parse.h"
#include "odata/limits.h"
#include "tests/odata/url_support.h"

Suite *filter_parse_suite(void);

static bool parse(struct arena *a, struct str text, struct bytes *dump, struct odata_error *err)
{
    struct expr *e;
    if (!filter_parse(a, text, 20, &e, err)) {
        return false;
    }
    expr_dump(e, dump);
    return true;
}

static const struct url_good goods[] = {
    {"a comparison", "Price eq 10", "(eq Price 10)"},
    {"operators in any case", "A Eq 1 AND b LT 2", "(and (eq A 1) (lt b 2))"},
    {"several blanks", "A  eq  1", "(eq A 1)"},
    {"and before or", "a or b and c", "(or a (and b c))"},
    {"equality before and", "a eq 1 and b ne 2", "(and (eq a 1) (ne b 2))"},
    {"relational before equality", "a gt 1 eq true", "(eq (gt a 1) true)"},
    {"additive before relational", "a add 1 gt b sub 2", "(gt (add a 1) (sub b 2))"},
    {"multiplicative before additive", "2 add 3 mul 4", "(add 2 (mul 3 4))"},
    {"all multiplicative", "a mul b div c divby d mod e", "(mod (divby (div (mul a b) c) d) e)"},
    {"left to right", "10 sub 3 sub 2", "(sub (sub 10 3) 2)"},
    {"parentheses", "(2 add 3) mul 4", "(mul (add 2 3) 4)"},
    {"not binds stronger than and", "not a and b", "(and (not a) b)"},
    {"not before a call", "not contains(a,'x')", "(not contains(a,'x'))"},
    {"not of parentheses", "not (a eq 1)", "(not (eq a 1))"},
    {"not of a membership", "not a in (1,2)", "(not (in a (1 2)))"},
    {"minus before a name", "-Price gt -5", "(gt (- Price) -5)"},
    {"minus before a duration", "h eq -duration'PT15M'", "(eq h (- duration:PT15M))"},
    {"minus of minus", "- -a", "(- (- a))"},
    {"in a list", "a in (1,2)", "(in a (1 2))"},
    {"in an empty list", "a in ()", "(in a ())"},
    {"in a collection", "'hot' in tags", "(in 'hot' tags)"},
    {"in an alias", "a in @p", "(in a @p)"},
    {"in JSON", "a in [\"x\",'y']", "(in a ['x','y'])"},
    {"a sum in a list", "a add 1 in (1)", "(in (add a 1) (1))"},
    {"has", "style has ns.Pattern'Yellow,Red'", "(has style enum:ns.Pattern'Yellow,Red')"},
    {"properties named as operators", "eq eq 1 and order ne and", "(and (eq eq 1) (ne order and))"},
    {"a property named not", "not eq 1", "(eq not 1)"},
    {"not of a property named eq", "not eq eq 1", "(eq (not eq) 1)"},
    {"a property named in", "in in (1)", "(in in (1))"},
    {"a property named any", "any eq all", "(eq any all)"},
    {"a property named as a function", "year eq 2020", "(eq year 2020)"},
    {"words in any case", "a eq NULL or b eq True", "(or (eq a null) (eq b true))"},
    {"infinity", "a eq INF or a eq -INF or a eq NaN",
     "(or (or (eq a double:INF) (eq a double:-INF)) (eq a double:NaN))"},
    {"a big integer", "a eq 12345678901234567890123", "(eq a 12345678901234567890123)"},
    {"decimal and double", "a eq 1.50 or a eq 1E5", "(or (eq a decimal:1.50) (eq a double:1E5))"},
    {"suffixes", "a in (1m,1.5M,2d,3F,4L,5l)",
     "(in a (decimal:1 decimal:1.5 double:2 double:3 4 5))"},
    {"a guid, bare and old",
     "a eq 01234567-89ab-cdef-0123-456789abcdef or a eq "
     "guid'01234567-89ab-cdef-0123-456789abcdef'",
     "(or (eq a guid:01234567-89ab-cdef-0123-456789abcdef) (eq a "
     "guid:01234567-89ab-cdef-0123-456789abcdef))"},
    {"dates", "a in (2020-01-02,-0044-03-15,12020-01-01)",
     "(in a (date:2020-01-02 date:-0044-03-15 date:12020-01-01))"},
    {"date-times", "a in (2020-01-02T03:04Z,2020-01-02T03:04:05.6+07:00)",
     "(in a (datetimeoffset:2020-01-02T03:04Z datetimeoffset:2020-01-02T03:04:05.6+07:00))"},
    {"times", "a in (12:30,12:30:15.25)", "(in a (timeofday:12:30 timeofday:12:30:15.25))"},
    {"durations", "a eq duration'p1dt2h'", "(eq a duration:P1DT2H)"},
    {"binary", "a eq binary'Zm9v'", "(eq a binary:Zm9v)"},
    {"geo", "geo.distance(a,geography'SRID=0;Point(1 2)') lt 5",
     "(lt geo.distance(a,geography:SRID=0;Point(1 2)) 5)"},
    {"a string", "a eq 'it''s'", "(eq a 'it's')"},
    {"function names in any case", "StartsWith(ToLower(a),'x')", "startswith(tolower(a),'x')"},
    {"another function as written", "Model.Fn(P=1,q='x')", "Model.Fn(P=1,q='x')"},
    {"no argument", "now() gt d", "(gt now() d)"},
    {"blanks in a call", "concat( a , b )", "concat(a,b)"},
    {"types as arguments", "isof(a,ns.T) and cast(b,Edm.String) eq 'x'",
     "(and isof(a,ns.T) (eq cast(b,Edm.String) 'x'))"},
    {"a path with a cast", "a/ns.T/b", "a/ns.T/b"},
    {"a key in a path", "$root/Employees('A1')/Name", "$root/Employees[('A1')]/Name"},
    {"a compound key", "a/Items(x=1,y=2)/z", "a/Items[(x=1,y=2)]/z"},
    {"a bound function", "a/ns.Fn(p=@p)/ns.G()", "a/ns.Fn(p=@p)/ns.G()"},
    {"any", "Orders/any(o:o/Total gt 5)", "Orders/any(o:(gt o/Total 5))"},
    {"any without condition", "tags/any()", "tags/any()"},
    {"all, nested", "a/all(x:x/b/any(y:y eq x/c))", "a/all(x:x/b/any(y:(eq y x/c)))"},
    {"aggregate", "a/aggregate(b mul $it/c with sum) gt 1",
     "(gt a/aggregate((mul b $it/c) with sum) 1)"},
    {"these", "$these/$count gt $these/aggregate(a with max from b with sum)",
     "(gt $these/$count $these/aggregate(a with max from b with sum))"},
    {"lambda words in any case", "a/Any(x:x)", "a/any(x:x)"},
    {"it, this, root", "$it/a eq $this and $root/b", "(and (eq $it/a $this) $root/b)"},
    {"count", "a/$count gt 2", "(gt a/$count 2)"},
    {"count with options", "a/$count($filter=b gt 1;$search=x y) gt 2",
     "(gt a/$count(filter=(gt b 1);search=x y) 2)"},
    {"a filter segment", "a/$filter(b gt 1)/$count lt 2", "(lt a/$filter((gt b 1))/$count 2)"},
    {"case", "case(a gt 1:'x',true:'y') eq 'x'", "(eq case((gt a 1):'x',true:'y') 'x')"},
    {"a property named case", "case eq 1", "(eq case 1)"},
    {"annotations", "a/@ns.T#q eq @b and @ns.C/any(m:m)", "(and (eq a/@ns.T#q @b) @ns.C/any(m:m))"},
    {"a path from an alias", "@a/b eq 1", "(eq @a/b 1)"},
    {"JSON", "a eq {\"x\":[1,{\"y\":null}],\"z\":b/c add 1} ",
     "(eq a {x:[1,{y:null}],z:(add b/c 1)})"},
    {"JSON left of in", "[a,b] in [[\"x\",\"y\"]]", "(in [a,b] [['x','y']])"},
    {"four terms are balanced", "a or b or c or d", "(or (or a b) (or c d))"},
    {"letters of any script", "stra\u00dfe eq '\u00fc'", "(eq stra\u00dfe '\u00fc')"},
};

#define BAD(name, text, message)                        \
    {                                                   \
        name, text, 400, ODATA_CODE_BAD_FILTER, message \
    }

static const struct url_bad bads[] = {
    BAD("empty", "", "expected a name or a value, but the text ends at byte 0 of $filter"),
    BAD("only blanks", "  ", "ends at byte 2"),
    BAD("no right side", "a eq", "ends at byte 4"),
    BAD("no left side", "eq 1", "(eq, ne, and, ...) or the end at byte 3 of $filter, found '1'"),
    BAD("an unknown operator", "a eq 1 xor b", "at byte 7 of $filter, found 'xor'"),
    BAD("two values", "a eq 1 2", "at byte 7 of $filter, found '2'"),
    BAD("an open parenthesis", "(a eq 1", "expected an operator or ')', but the text ends"),
    BAD("a closed one too many", "a eq 1)", "at byte 6 of $filter, found ')'"),
    BAD("an equals sign", "a='x'",
        "expected an operator (eq, ne, and, ...) or the end at byte 1 of $filter, found '='; "
        "equality is written eq"),
    BAD("two equals signs", "a == 1", "byte 2 of $filter, found '=='; equality is written eq"),
    BAD("!=", "a != 1", "found '!='; inequality is written ne"),
    BAD("<>", "a <> 1", "found '<>'; inequality is written ne"),
    BAD("<", "a < 1", "found '<'; less than is written lt"),
    BAD("<=", "a <= 1", "found '<='; less or equal is written le"),
    BAD(">", "(a > 1)", "found '>'; greater than is written gt"),
    BAD(">=", "a/any(x:x >= 1)", "found '>='; greater or equal is written ge"),
    BAD("&&", "a && b", "found '&&'; the logical and is written and"),
    BAD("||", "a || b", "found '||'; the logical or is written or"),
    BAD("!", "!a", "byte 0 of $filter, found '!'; the logical not is written not"),
    BAD("+", "a + 1 eq 2", "found '+'; addition is written add"),
    BAD("+ in an argument", "round(a + 1) eq 2", "found '+'; addition is written add"),
    BAD("-", "a - 1 eq 2", "found '-'; subtraction is written sub"),
    BAD("- before a number", "a -1 eq 2", "found '-1'; subtraction is written sub"),
    BAD("*", "a * 2 eq 2", "found '*'; multiplication is written mul"),
    BAD("/", "a / 2 eq 2", "division is written div"),
    BAD("%", "a % 2 eq 0", "found '%'; the remainder is written mod"),
    BAD("like", "a like 'x%'", "found 'like'; patterns are written contains(), startswith()"),
    BAD("a quote that is not doubled", "a eq 'O'Neil'", "written twice"),
    BAD("double quotes", "a eq \"x\"", "single quotes"),
    BAD("a list without in", "a eq (1,2)", "behind `in`) at byte 7 of $filter, found ','"),
    BAD("a list that is not closed", "a in (1,2", "',' or ')'"),
    BAD("a comma too many", "a in (1,)", "at byte 8 of $filter, found ')'"),
    BAD("any without a path", "any(x:x)", "byte 5"),
    BAD("all without a condition", "a/all()", "variable"),
    BAD("a lambda without a colon", "a/any(x)", "':'"),
    BAD("a lambda variable with a point", "a/any(x.y:x)", "no point"),
    BAD("a path that ends", "a/", "a name behind '/'"),
    BAD("a name that ends in a point", "a. eq 1", "at byte 1 of $filter, found '.'"),
    BAD("mixed arguments", "f(1,a=2)", "mixed at byte 4"),
    BAD("case without a value", "case(a)", "':' and a value"),
    BAD("JSON without a value", "a eq {\"x\":}", "byte 10"),
    BAD("JSON with a bare name", "a eq {x:1}", "double quotes"),
    BAD("JSON without commas", "a eq [1 2]", "byte 8"),
    BAD("an option that count does not take", "a/$count($top=1) gt 1", "allowed here"),
    BAD("a day without zeros", "a eq 2012-2-9", "malformed, at byte 9"),
    BAD("hour 24", "a eq 24:00:00", "hour must be 00 to 23, at byte 5"),
    BAD("an unknown word", "$foo eq 1", "byte 0 of $filter, found '$foo'"),
    BAD("a fraction without digits", "a eq 1.", "byte 6"),
    BAD("aggregate of nothing", "a/aggregate() gt 1", "byte 12"),
    BAD("aggregate without a method", "a/aggregate(b add 1) gt 1",
        "with and an aggregation method"),
    BAD("aggregate with a name", "a/aggregate(b with sum as c) gt 1", "byte 23"),
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

/* before, count times unit, after; the status, and whether it is the depth that is refused. */
static const struct {
    const char *name;
    const char *before, *unit, *after, *closing;
    size_t count;
    bool good;
} repeats[] = {
    {"20 parentheses", "", "(", "a", ")", 20, true},
    {"21 parentheses", "", "(", "a", ")", 21, false},
    {"100,000 parentheses", "", "(", "a", ")", 100000, false},
    {"20 nots", "", "not ", "a", "", 20, true},
    {"21 nots", "", "not ", "a", "", 21, false},
    {"21 minuses", "", "- ", "a", "", 21, false},
    {"21 calls", "", "trim(", "a", ")", 21, false},
    {"21 lambdas", "", "a/any(x:", "a", ")", 21, false},
    {"21 arrays", "a eq ", "[", "1", "]", 21, false},
    {"21 counts", "", "a/$count($filter=", "a", ")", 21, false},
    {"2,000 or-terms", "a", " or a eq 1", "", "", 2000, true},
    {"400 sums", "a", " add 1", "", "", 400, true},
    {"600 sums", "a", " add 1", "", "", 600, false},
    {"63 segments behind the first", "a", "/b", "", "", 63, true},
    {"64 segments behind the first", "a", "/b", "", "", 64, false},
    {"2,000 list items", "a in (1", ",2", ")", "", 2000, true},
};

START_TEST(bounds_depth)
{
    struct arena a;
    struct bytes text;
    struct expr *e;
    struct odata_error err = {0};
    bytes_init(&text, 8 * 1024 * 1024);
    bytes_put_str(&text, str_from(repeats[_i].before));
    for (size_t i = 0; i < repeats[_i].count; i++) {
        bytes_put_str(&text, str_from(repeats[_i].unit));
    }
    bytes_put_str(&text, str_from(repeats[_i].after));
    for (size_t i = 0; i < repeats[_i].count; i++) {
        bytes_put_str(&text, str_from(repeats[_i].closing));
    }
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bool ok = filter_parse(&a, bytes_str(&text), 20, &e, &err);
    ck_assert_msg(ok == repeats[_i].good, "%s: %s", repeats[_i].name, err.message);
    if (ok) {
        ck_assert_uint_le(e->height, LIMIT_EXPR_HEIGHT);
    } else {
        ck_assert_str_eq(err.code, ODATA_CODE_REQUEST_TOO_COMPLEX);
    }
    arena_fini(&a);
    bytes_fini(&text);
}
END_TEST

START_TEST(nodes_know_their_byte)
{
    struct arena a;
    struct expr *e;
    struct odata_error err;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    ck_assert(filter_parse(&a, STR("  ab eq cd/ef"), 20, &e, &err));
    ck_assert_uint_eq(e->offset, 2);
    ck_assert_uint_eq(e->args[1]->offset, 11);
    ck_assert_uint_eq(e->args[1]->base->offset, 8);
    ck_assert_uint_eq(e->height, 3);
    arena_fini(&a);
}
END_TEST

START_TEST(names_the_target)
{
    struct arena a;
    struct expr *e;
    struct odata_error err;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    ck_assert(!expression_parse(&a, STR("a eq"), 20, "@p", ODATA_CODE_BAD_QUERY_OPTION, &e, &err));
    ck_assert_str_eq(err.target, "@p");
    ck_assert_str_eq(err.code, ODATA_CODE_BAD_QUERY_OPTION);
    ck_assert_ptr_nonnull(strstr(err.message, "at byte 4 of @p"));
    arena_fini(&a);
}
END_TEST

START_TEST(operators_have_names)
{
    ck_assert(str_eq(operator_name(OP_DIVBY), STR("divby")));
    ck_assert(str_eq(operator_name(OP_NOT), STR("not")));
    ck_assert(str_eq(operator_name(OP_NONE), STR("")));
}
END_TEST

Suite *filter_parse_suite(void)
{
    Suite *s = suite_create("filter_parse");
    TCase *t = tcase_create("filter_parse");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, parses, 0, ARRAY_SIZE(goods));
    tcase_add_loop_test(t, refuses, 0, ARRAY_SIZE(bads));
    tcase_add_loop_test(t, bounds_depth, 0, ARRAY_SIZE(repeats));
    tcase_add_test(t, nodes_know_their_byte);
    tcase_add_test(t, names_the_target);
    tcase_add_test(t, operators_have_names);
    suite_add_tcase(s, t);
    return s;
}

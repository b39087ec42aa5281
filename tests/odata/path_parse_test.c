// SPDX-License-Identifier: Apache-2.0

#include <check.h>

#include "odata/limits.h"
#include "odata/path_parse.h"
#include "tests/odata/url_support.h"

Suite *path_parse_suite(void);

static bool parse(struct arena *a, struct str text, struct bytes *dump, struct odata_error *err)
{
    struct resource_path path;
    if (!path_parse(a, text, &path, err)) {
        return false;
    }
    resource_path_dump(&path, dump);
    return true;
}

static const struct url_good goods[] = {
    {"the root", "", ""},
    {"a set", "Products", "Products"},
    {"a trailing slash", "Products/", "Products/"},
    {"a key", "Products(1)/Name/$value", "Products(1)/Name/$value"},
    {"a string key", "Customers('O''Neil')", "Customers('O'Neil')"},
    {"all encoded", "Customers%28%27O%27%27Neil%27%29", "Customers('O'Neil')"},
    {"an encoded slash is data", "Customers('A%2FB')/Orders", "Customers('A/B')/Orders"},
    {"a plus is a plus", "Customers('A+B')", "Customers('A+B')"},
    {"decoded once", "Customers('%2541')", "Customers('%41')"},
    {"a compound key", "Codes(A='a',B=7)", "Codes(A='a',B=7)"},
    {"its marks encoded", "Codes(A%3D'a%2Fb''c%20d%25'%2CB%3D7)", "Codes(A='a/b'c d%',B=7)"},
    {"blanks in a key", "Codes( A = 1 , B = 2 )", "Codes(A=1,B=2)"},
    {"parentheses in a string", "Categories('Tablet%20(small)')", "Categories('Tablet (small)')"},
    {"a date-time", "C(2018-02-13T23%3A59%3A59Z)", "C(datetimeoffset:2018-02-13T23:59:59Z)"},
    {"a guid", "C(01234567-89ab-cdef-0123-456789abcdef)",
     "C(guid:01234567-89ab-cdef-0123-456789abcdef)"},
    {"negative", "C(-1)", "C(-1)"},
    {"null", "C(null)", "C(null)"},
    {"an empty string", "C('')", "C('')"},
    {"a key that looks like a word", "C('$count')/$count", "C('$count')/$count"},
    {"an alias", "C(@k)/D(a=@k)", "C(@k)/D(a=@k)"},
    {"a function", "C(1)/ns.Fn(p='x')/$count", "C(1)/ns.Fn(p='x')/$count"},
    {"an empty pair", "ns.Fn()", "ns.Fn()"},
    {"a cast", "C/ns.T(1)/ns.U/p", "C/ns.T(1)/ns.U/p"},
    {"references", "C(1)/D/$ref", "C(1)/D/$ref"},
    {"metadata", "$metadata", "$metadata"},
    {"batch", "$batch", "$batch"},
    {"an encoded dollar, any case", "%24Metadata", "$metadata"},
    {"all", "$all/ns.T", "$all/ns.T"},
    {"all behind the container", "ns.Container/$all", "ns.Container/$all"},
    {"crossjoin", "$crossjoin(A,B)", "$crossjoin(A,B)"},
    {"entity", "$entity", "$entity"},
    {"entity with a cast", "$entity/ns.T", "$entity:ns.T"},
    {"entity with a cast and more", "$entity/ns.T/Name", "$entity:ns.T/Name"},
    {"query", "C(1)/D/$query", "C(1)/D/$query"},
    {"query behind count", "C/$count/$query", "C/$count/$query"},
    {"filters", "C/$filter(@a)/$filter(x gt 1)/$count", "C/$filter(@a)/$filter((gt x 1))/$count"},
    {"each", "C/$filter(x%20gt%201)/$each", "C/$filter((gt x 1))/$each"},
    {"keys as segments", "People/O'Neil/Items/1", "People/O'Neil/Items/1"},
    {"a segment with an encoded slash", "C/Smartphone%2FTablet", "C/Smartphone/Tablet"},
    {"letters of any script", "Stra%C3%9Fen(1)", "Stra\u00dfen(1)"},
};

#define BAD(name, text, code, message) \
    {                                  \
        name, text, 400, code, message \
    }

static const struct url_bad bads[] = {
    BAD("an empty first segment", "/Products", ODATA_CODE_BAD_PATH, "empty segment at byte 0"),
    BAD("an empty segment", "Products//Name", ODATA_CODE_BAD_PATH, "empty segment at byte 9"),
    BAD("two slashes at the end", "Products//", ODATA_CODE_BAD_PATH, "empty segment at byte 9"),
    BAD("a NUL", "Products%00", ODATA_CODE_BAD_URL, "NUL"),
    BAD("a lone percent", "Products%", ODATA_CODE_BAD_URL, "hex"),
    BAD("a bare word as a key", "C(ID=wrong)", ODATA_CODE_BAD_KEY, "at byte 5 of path segment"),
    BAD("an expression as a key", "C(1 add 2)", ODATA_CODE_BAD_KEY, "expected a value"),
    BAD("a semicolon", "C(A=1;B=2)", ODATA_CODE_BAD_KEY, "byte 5"),
    BAD("an undoubled quote", "C('O%27N')", ODATA_CODE_BAD_KEY, "twice"),
    BAD("a raw slash in quotes", "Customers('A/B')", ODATA_CODE_BAD_KEY, "not closed"),
    BAD("a raw slash in encoded quotes", "Customers(%27A/B%27)", ODATA_CODE_BAD_KEY, "not closed"),
    BAD("an open string hides no slash", "C('A/D", ODATA_CODE_BAD_KEY, "path segment 'C('A'"),
    BAD("an open string", "C('A/D", ODATA_CODE_BAD_KEY, "not closed"),
    BAD("an open parenthesis", "C(1", ODATA_CODE_BAD_KEY, "',' or ')'"),
    BAD("text behind", "C(1)x", ODATA_CODE_BAD_KEY,
        "expected the end of the segment at byte 4 of path segment 'C(1)x', found 'x'"),
    BAD("a key behind a key", "C(1)(2)", ODATA_CODE_BAD_KEY, "end of the segment"),
    BAD("mixed arguments", "C(1,A=2)", ODATA_CODE_BAD_KEY, "mixed"),
    BAD("a name that ends in a point", "Products.('foo')", ODATA_CODE_BAD_PATH, "byte 8"),
    BAD("no name", "(1)", ODATA_CODE_BAD_PATH, "a name before '('"),
    BAD("an unknown word", "C/$foo", ODATA_CODE_BAD_PATH, "'$foo' is not known"),
    BAD("count is last", "C/$count/D", ODATA_CODE_BAD_PATH, "nothing can follow $count"),
    BAD("count twice", "C/$count/$count", ODATA_CODE_BAD_PATH, "nothing can follow $count"),
    BAD("ref is last", "C/$ref/$count", ODATA_CODE_BAD_PATH, "nothing can follow $ref"),
    BAD("value is last", "C(1)/A/$value/D", ODATA_CODE_BAD_PATH, "nothing can follow $value"),
    BAD("metadata is last", "$metadata/x", ODATA_CODE_BAD_PATH, "nothing can follow $metadata"),
    BAD("metadata is first", "C/$metadata", ODATA_CODE_BAD_PATH, "only be the first"),
    BAD("count is not first", "$count", ODATA_CODE_BAD_PATH, "cannot be the first"),
    BAD("count has no parentheses", "C/$count(1)", ODATA_CODE_BAD_PATH, "no parentheses"),
    BAD("a filter needs its expression", "C/$filter", ODATA_CODE_BAD_FILTER, "'('"),
    BAD("a filter has one", "C/$filter(a,b)", ODATA_CODE_BAD_FILTER, "one expression"),
    BAD("a filter that is none", "C/$filter(a eq)", ODATA_CODE_BAD_FILTER, "byte 12"),
    BAD("crossjoin of nothing", "$crossjoin()", ODATA_CODE_BAD_PATH, "expected names"),
    BAD("crossjoin of a value", "$crossjoin(1)", ODATA_CODE_BAD_PATH, "entity set"),
    {"a key behind a call", "F(p=1)(2)", 501, ODATA_CODE_NOT_IMPLEMENTED, "a key behind"},
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

START_TEST(bounds_segments)
{
    char text[2 * (LIMIT_PATH_SEGMENTS + 1)];
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = i % 2 == 0 ? 'a' : '/';
    }
    struct arena a;
    struct resource_path path;
    struct odata_error err = {0};
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    ck_assert(path_parse(&a, (struct str){text, 2 * LIMIT_PATH_SEGMENTS}, &path, &err));
    ck_assert_uint_eq(path.count, LIMIT_PATH_SEGMENTS);
    ck_assert_uint_eq(path.segments[3].offset, 6);
    ck_assert(path.trailing_slash);
    ck_assert(!path_parse(&a, (struct str){text, sizeof(text)}, &path, &err));
    ck_assert_str_eq(err.code, ODATA_CODE_REQUEST_TOO_COMPLEX);
    arena_fini(&a);
}
END_TEST

Suite *path_parse_suite(void)
{
    Suite *s = suite_create("path_parse");
    TCase *t = tcase_create("path_parse");
    tcase_add_loop_test(t, parses, 0, ARRAY_SIZE(goods));
    tcase_add_loop_test(t, refuses, 0, ARRAY_SIZE(bads));
    tcase_add_test(t, bounds_segments);
    suite_add_tcase(s, t);
    return s;
}

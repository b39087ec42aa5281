// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/lexer.h"
#include "tests/odata/url_support.h"

Suite *lexer_suite(void);

/* Writes the tokens with their bytes: `NAME[0,4)`. */
static bool tokens(struct arena *a, struct str text, struct bytes *dump, struct odata_error *err)
{
    static const char *const names[] = {
        [TOKEN_END] = "end",         [TOKEN_NAME] = "name",       [TOKEN_DOLLAR] = "dollar",
        [TOKEN_AT] = "at",           [TOKEN_LITERAL] = "literal", [TOKEN_JSON_STRING] = "json",
        [TOKEN_OPEN] = "(",          [TOKEN_CLOSE] = ")",         [TOKEN_OPEN_BRACKET] = "[",
        [TOKEN_CLOSE_BRACKET] = "]", [TOKEN_OPEN_BRACE] = "{",    [TOKEN_CLOSE_BRACE] = "}",
        [TOKEN_COMMA] = ",",         [TOKEN_COLON] = ":",         [TOKEN_SEMICOLON] = ";",
        [TOKEN_SLASH] = "/",         [TOKEN_EQUALS] = "=",        [TOKEN_STAR] = "*",
        [TOKEN_DOT] = ".",           [TOKEN_MINUS] = "-",         [TOKEN_FOREIGN] = "foreign",
    };
    struct lexer lx;
    lexer_init(&lx, a, text, ODATA_CODE_BAD_FILTER, "$filter", "$filter", err);
    do {
        if (!lexer_next(&lx)) {
            return false;
        }
        bytes_format(dump, "%s%s@%zu:%.*s", dump->len > 0 ? " " : "", names[lx.token.kind],
                     lx.token.offset, STR_ARG(lx.token.text));
    } while (lx.token.kind != TOKEN_END);
    return true;
}

static const struct url_good goods[] = {
    {"nothing", "  ", "end@2:"},
    {"names and blanks", "a \t eq  b", "name@0:a name@4:eq name@8:b end@9:"},
    {"a qualified name is one", "ns.a.B/c", "name@0:ns.a.B /@6:/ name@7:c end@8:"},
    {"a point before a star", "ns.*", "name@0:ns .@2:. *@3:* end@4:"},
    {"letters of any script", "\u00fcber_1", "name@0:\u00fcber_1 end@7:"},
    {"an undoubled quote", "'O''Neil'", "literal@0:O'Neil end@9:"},
    {"an empty string", "''", "literal@0: end@2:"},
    {"only a quote", "''''", "literal@0:' end@4:"},
    {"punctuation", "(),:;/=*-[]{}",
     "(@0:( )@1:) ,@2:, :@3:: ;@4:; /@5:/ =@6:= *@7:* -@8:- [@9:[ ]@10:] {@11:{ }@12:} end@13:"},
    {"words with a dollar", "$it/$count", "dollar@0:$it /@3:/ dollar@4:$count end@10:"},
    {"aliases and annotations", "@a @ns.T#q", "at@0:a at@3:ns.T#q end@10:"},
    {"a JSON string", "\"a\\\"b\"", "json@0:\"a\\\"b\" end@6:"},
    {"a guid that begins with a letter", "abcdef01-89ab-cdef-0123-456789abcdef",
     "literal@0:abcdef01-89ab-cdef-0123-456789abcdef end@36:"},
    {"a plus sign is dropped", "+5", "literal@0:5 end@2:"},
    {"a minus is part of a number only", "-5 -a", "literal@0:-5 -@3:- name@4:a end@5:"},
};

static const struct url_bad bads[] = {
    {"a quote that is not doubled", "'O'Neil'", 400, ODATA_CODE_BAD_FILTER,
     "the string ends before 'Neil' (a quote inside of a string is written twice, '') at byte 3 of "
     "$filter"},
    {"an open string", "a eq 'x", 400, ODATA_CODE_BAD_FILTER, "not closed"},
    {"an open JSON string", "[\"x", 400, ODATA_CODE_BAD_FILTER, "byte 1"},
    {"a control character", "a\nb", 400, ODATA_CODE_BAD_FILTER, "0x0a at byte 1"},
    {"a mark that is none of ours", "a ^ b", 400, ODATA_CODE_BAD_FILTER, "'^' at byte 2"},
    {"a date-time without zone", "2020-07-04T00:00:00", 400, ODATA_CODE_BAD_FILTER, "byte 19"},
    {"a letter behind a number", "12abc", 400, ODATA_CODE_BAD_FILTER, "malformed, at byte 2"},
    {"a short guid", "01234567-89ab-cdef-0123-456789abcde", 400, ODATA_CODE_BAD_FILTER,
     "malformed, at byte 8"},
    {"a prefix of version 2", "datetime'2020-01-01T00:00:00'", 400, ODATA_CODE_BAD_FILTER,
     "no literal of OData V4"},
    {"a bad duration", "duration'1H'", 400, ODATA_CODE_BAD_FILTER, "byte 8"},
    {"a bad guid in quotes", "guid'x'", 400, ODATA_CODE_BAD_FILTER, "a guid in the quotes"},
    {"a bad enum value", "ns.Color'a b'", 400, ODATA_CODE_BAD_FILTER, "enum"},
    {"a lone at", "@", 400, ODATA_CODE_BAD_FILTER, "byte 1"},
    {"a lone dollar", "$", 400, ODATA_CODE_BAD_FILTER, "byte 1"},
};

START_TEST(reads_tokens)
{
    url_check_good(tokens, &goods[_i]);
    url_check_prefixes(tokens, goods[_i].text);
    url_check_arena(tokens, goods[_i].text);
}
END_TEST

START_TEST(refuses)
{
    url_check_bad(tokens, &bads[_i]);
    url_check_prefixes(tokens, bads[_i].text);
}
END_TEST

START_TEST(bounds_names)
{
    char name[129 * 2 + 1];
    for (size_t i = 0; i < 129; i++) {
        name[2 * i] = '\xC3';
        name[2 * i + 1] = '\xBC';
    }
    ck_assert(lexer_is_identifier((struct str){name, 128 * 2}));
    ck_assert(!lexer_is_identifier((struct str){name, 129 * 2}));
    ck_assert(!lexer_is_identifier(STR("0time")));
    ck_assert(!lexer_is_identifier(STR("")));
    ck_assert(!lexer_is_identifier(STR("a.b")));
    ck_assert_uint_eq(lexer_shown((struct str){name, 41}).len, 40);
    ck_assert_uint_eq(lexer_shown((struct str){name + 1, 129}).len, 39);
}
END_TEST

Suite *lexer_suite(void)
{
    Suite *s = suite_create("lexer");
    TCase *t = tcase_create("lexer");
    tcase_add_loop_test(t, reads_tokens, 0, ARRAY_SIZE(goods));
    tcase_add_loop_test(t, refuses, 0, ARRAY_SIZE(bads));
    tcase_add_test(t, bounds_names);
    suite_add_tcase(s, t);
    return s;
}

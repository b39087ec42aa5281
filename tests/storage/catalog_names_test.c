// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/compiler.h"
#include "storage/catalog_map.h"
#include "storage/catalog_names.h"
#include "tests/support/exact_copy.h"

#define TEN     "abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct row {
    const char *name;
    const char *text;
    const char *wanted; /* NULL: it is an identifier */
} rows[] = {
    {"letters, digits and underscores stay", "Abc_123", NULL},
    {"an underscore may come first", "_a", NULL},
    {"letters of other alphabets stay",
     "Gr\xc3\xb6\xc3\x9f"
     "e_\xe6\x97\xa5\xe6\x9c\xac\xd7\xa9",
     NULL},
    {"letters beyond the first plane stay", "\xf0\x90\x8c\xb0", NULL},
    {"a combining mark may follow", "e\xcc\x81", NULL},
    {"128 characters are not too long",
     HUNDRED TEN TEN "\xc3\xa9"
                     "1234567",
     NULL},
    {"the empty name", "", "_"},
    {"a blank", "a b", "a_b"},
    {"a dot, a slash, a quote", "a.b/c'd", "a_b_c_d"},
    {"a digit in front", "1st", "_1st"},
    {"a digit of another script in front", "\xd9\xa1", "_\xd9\xa1"},
    {"a combining mark in front", "\xcc\x81", "_\xcc\x81"},
    {"something that may not stand there in front", "-a", "_a"},
    {"a sign beyond ASCII", "\xe2\x82\xac", "_"},
    {"an emoji", "a\xf0\x9f\x98\x80z", "a_z"},
    {"a letter that is joined invisibly",
     "a\xe2\x80\x8d"
     "b",
     "a_b"},
    {"bytes that are no UTF-8, one by one",
     "a\xff\xfe"
     "b",
     "a__b"},
    {"a cut character", "a\xe6\x97", "a__"},
    {"an overlong form", "a\xc0\xaf", "a__"},
    {"a surrogate", "\xed\xa0\x80", "_"},
    {"129 characters", HUNDRED TEN TEN "123456789", HUNDRED TEN TEN "12345678"},
};

static struct arena arena;

static void set_up(void)
{
    arena_init(&arena, 1024 * 1024);
}

static void tear_down(void)
{
    arena_fini(&arena);
}

START_TEST(rewrites)
{
    const struct row *row = &rows[_i];
    char *copy = exact_copy(row->text, strlen(row->text));
    struct str text = {copy, strlen(row->text)};
    struct str wanted = row->wanted == NULL ? text : str_from(row->wanted);
    struct str name;
    ck_assert_msg(name_is_identifier(text) == (row->wanted == NULL), "%s", row->name);
    ck_assert(name_rewrite(&arena, text, &name));
    ck_assert_msg(str_eq(name, wanted), "%s: '%.*s'", row->name, STR_ARG(name));
    ck_assert_msg(name_is_identifier(name), "%s: '%.*s'", row->name, STR_ARG(name));
    free(copy);
}
END_TEST

START_TEST(rewrites_every_prefix)
{
    struct str whole = str_from(rows[_i].text);
    for (size_t length = 0; length <= whole.len; length++) {
        char *copy = exact_copy(whole.ptr, length);
        struct str name;
        ck_assert(name_rewrite(&arena, (struct str){copy, length}, &name));
        ck_assert_msg(name_is_identifier(name), "'%.*s'", STR_ARG(name));
        free(copy);
    }
}
END_TEST

START_TEST(says_when_memory_is_short)
{
    const struct str columns[] = {STR("a b"), STR("a_b"), STR("a.b")};
    struct str names[ARRAY_SIZE(columns)];
    struct name_set taken = {0};
    size_t limit = 0;
    bool done = false;
    while (!done) {
        struct arena small;
        arena_init(&small, limit++);
        done = name_columns(&small, columns, ARRAY_SIZE(columns), &taken, names);
        if (done) {
            ck_assert(str_eq(names[0], STR("a_b_2")));
            ck_assert(str_eq(names[1], STR("a_b")));
            ck_assert(str_eq(names[2], STR("a_b_3")));
        }
        arena_fini(&small);
    }
    ck_assert_uint_gt(limit, 3);
    name_set_fini(&taken);
}
END_TEST

START_TEST(numbers_fit_into_long_names)
{
    struct name_set taken = {0};
    struct str name;
    struct str longest = STR(HUNDRED TEN TEN "12345678");
    ck_assert(name_claim(&arena, longest, &taken, &name));
    ck_assert(str_eq(name, longest));
    ck_assert(name_claim(&arena, longest, &taken, &name));
    ck_assert(str_ends_with(name, STR("_2")));
    ck_assert(name_is_identifier(name));
    ck_assert(name_claim(&arena, longest, &taken, &name));
    ck_assert(str_ends_with(name, STR("_3")));
    name_set_fini(&taken);
}
END_TEST

START_TEST(keeps_namespaces_apart)
{
    static const struct {
        struct str schema;
        struct str wanted;
    } schemas[] = {
        {{STR_INIT("public")}, {STR_INIT("public")}},
        {{STR_INIT("odata")}, {STR_INIT("odata_")}},
        {{STR_INIT("Edm")}, {STR_INIT("Edm_")}},
        {{STR_INIT("System")}, {STR_INIT("System_")}},
        {{STR_INIT("Transient")}, {STR_INIT("Transient_")}},
        {{STR_INIT("edm")}, {STR_INIT("edm")}},
        {{STR_INIT("a.b")}, {STR_INIT("a_b")}},
        {{STR_INIT("a-b")}, {STR_INIT("a_b_2")}},
    };
    struct name_set taken = {0};
    for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
        struct str name;
        ck_assert(name_namespace(&arena, schemas[i].schema, &taken, &name));
        ck_assert_msg(str_eq(name, schemas[i].wanted), "%.*s", STR_ARG(name));
    }
    name_set_fini(&taken);
}
END_TEST

START_TEST(finds_oids)
{
    struct oid_map m = {0};
    ck_assert_uint_eq(oid_map_get(&m, 5), OID_MAP_NONE);
    for (uint32_t i = 1; i <= 10000; i++) {
        ck_assert(oid_map_put(&m, i * 7, i));
    }
    for (uint32_t i = 1; i <= 10000; i++) {
        ck_assert_uint_eq(oid_map_get(&m, i * 7), i);
        ck_assert_uint_eq(oid_map_get(&m, i * 7 + 1), OID_MAP_NONE);
    }
    ck_assert_uint_eq(oid_map_get(&m, 0), OID_MAP_NONE);
    ck_assert(oid_map_put(&m, 7, 99));
    ck_assert_uint_eq(oid_map_get(&m, 7), 99);
    oid_map_fini(&m);
}
END_TEST

START_TEST(remembers_names)
{
    struct name_set s = {0};
    ck_assert(!name_set_has(&s, STR("a")));
    for (unsigned i = 0; i < 5000; i++) {
        struct str name;
        ck_assert(arena_format(&arena, &name, "n%u", i));
        ck_assert(!name_set_has(&s, name));
        ck_assert(name_set_add(&s, name));
        ck_assert(name_set_add(&s, name));
    }
    ck_assert_uint_eq(s.count, 5000);
    ck_assert(name_set_has(&s, STR("n4999")));
    ck_assert(!name_set_has(&s, STR("n5000")));
    name_set_clear(&s);
    ck_assert(!name_set_has(&s, STR("n1")));
    name_set_fini(&s);
}
END_TEST

Suite *catalog_names_suite(void);
Suite *catalog_names_suite(void)
{
    Suite *s = suite_create("catalog_names");
    TCase *t = tcase_create("names");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_loop_test(t, rewrites, 0, ARRAY_SIZE(rows));
    tcase_add_loop_test(t, rewrites_every_prefix, 0, ARRAY_SIZE(rows));
    tcase_add_test(t, says_when_memory_is_short);
    tcase_add_test(t, numbers_fit_into_long_names);
    tcase_add_test(t, keeps_namespaces_apart);
    tcase_add_test(t, finds_oids);
    tcase_add_test(t, remembers_names);
    suite_add_tcase(s, t);
    return s;
}

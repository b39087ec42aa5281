// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include <check.h>

#include "odata/name_index.h"

struct thing {
    int before;
    struct str name;
    int after;
};

static struct named named_things(const struct thing *things, size_t count)
{
    return (struct named){.items = things,
                          .count = count,
                          .item_size = sizeof(*things),
                          .name_offset = offsetof(struct thing, name)};
}

/* Every size around the change from search to table. */
START_TEST(finds_each_of_n_and_nothing_else)
{
    size_t count = (size_t)_i;
    struct arena a;
    arena_init(&a, 1 << 24);
    struct thing *things = ARENA_ARRAY(&a, count + 1, struct thing);
    ck_assert_ptr_nonnull(things);
    for (size_t i = 0; i < count; i++) {
        ck_assert(arena_format(&a, &things[i].name, "name%zu", i * 7));
    }
    struct named n = named_things(things, count);
    const uint32_t *table = NULL;
    size_t size = 0;
    size_t where = 0;
    ck_assert_int_eq(name_index_build(&a, &n, &table, &size, &where), NAME_INDEX_BUILT);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(name_index_find(&n, table, size, things[i].name), i);
    }
    ck_assert_uint_eq(name_index_find(&n, table, size, STR("name")), count);
    ck_assert_uint_eq(name_index_find(&n, table, size, STR("NAME0")), count);
    ck_assert_uint_eq(name_index_find(&n, table, size, STR("")), count);
    if (count > 1) {
        things[count - 1].name = things[0].name;
        ck_assert_int_eq(name_index_build(&a, &n, &table, &size, &where), NAME_INDEX_COLLISION);
        ck_assert_uint_eq(where, count - 1);
    }
    arena_fini(&a);
}
END_TEST

START_TEST(suggests_what_was_probably_meant)
{
    const struct thing things[] = {
        {0, STR("Name"), 0}, {0, STR("UnitPrice"), 0}, {0, STR("ID"), 0}, {0, STR("Category"), 0}};
    struct named n = named_things(things, 4);
    ck_assert_uint_eq(name_index_nearest(&n, STR("Nmae")), 0);
    ck_assert_uint_eq(name_index_nearest(&n, STR("Nam")), 0);
    ck_assert_uint_eq(name_index_nearest(&n, STR("unitprice")), 1);
    ck_assert_uint_eq(name_index_nearest(&n, STR("UnitPrize")), 1);
    ck_assert_uint_eq(name_index_nearest(&n, STR("Categroy")), 3);
    ck_assert_uint_eq(name_index_nearest(&n, STR("X")), 4);
    ck_assert_uint_eq(name_index_nearest(&n, STR("Supplier")), 4);
}
END_TEST

Suite *name_index_suite(void);
Suite *name_index_suite(void)
{
    Suite *suite = suite_create("name_index");
    TCase *tcase = tcase_create("name_index");
    tcase_add_loop_test(tcase, finds_each_of_n_and_nothing_else, 0, 70);
    tcase_add_test(tcase, suggests_what_was_probably_meant);
    suite_add_tcase(suite, tcase);
    return suite;
}

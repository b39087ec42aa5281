// SPDX-License-Identifier: Apache-2.0
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include <check.h>

#include "odata/arena.h"

START_TEST(memory_is_zeroed_aligned_and_apart)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    char *last = NULL;
    for (size_t size = 0; size < 300; size++) {
        char *memory = arena_alloc(&a, size);
        ck_assert_ptr_nonnull(memory);
        ck_assert_uint_eq((uintptr_t)memory % alignof(max_align_t), 0);
        ck_assert_ptr_ne(memory, last);
        for (size_t i = 0; i < size; i++) {
            ck_assert_int_eq(memory[i], 0);
        }
        memset(memory, 0xff, size);
        last = memory;
    }
    arena_fini(&a);
}
END_TEST

START_TEST(the_limit_holds_and_is_not_passed_by_one_byte)
{
    struct arena a;
    arena_init(&a, 64);
    ck_assert_ptr_null(arena_alloc(&a, 65));
    ck_assert_ptr_nonnull(arena_alloc(&a, 64));
    ck_assert_ptr_null(arena_alloc(&a, 1));
    arena_reset(&a);
    ck_assert_ptr_nonnull(arena_alloc(&a, 64));
    arena_fini(&a);
}
END_TEST

START_TEST(joined_parts_follow_each_other)
{
    const struct str parts[] = {STR("\""), STR(""), STR("Name"), {NULL, 0}, STR("\":")};
    struct arena a;
    struct str text = STR("untouched");
    arena_init(&a, 16);
    ck_assert(arena_join(&a, parts, 5, &text));
    ck_assert(str_eq(text, STR("\"Name\":")));
    ck_assert_int_eq(text.ptr[text.len], '\0');
    arena_reset(&a);
    ck_assert(arena_join(&a, parts, 0, &text));
    ck_assert_uint_eq(text.len, 0);
    text = STR("untouched");
    ck_assert(!arena_join(&a, parts, 5, &text)); /* past the limit */
    const struct str huge[] = {STR("x"), {"x", SIZE_MAX - 1}};
    ck_assert(!arena_join(&a, huge, 2, &text));
    ck_assert(str_eq(text, STR("untouched")));
    arena_fini(&a);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused)
{
    struct arena a;
    arena_init(&a, SIZE_MAX);
    ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX));
    ck_assert_ptr_null(arena_array(&a, SIZE_MAX / 2, 3));
    arena_fini(&a);
}
END_TEST

START_TEST(memory_after_a_reset_is_zeroed_again)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++) {
            char *memory = arena_alloc(&a, 1000);
            ck_assert_ptr_nonnull(memory);
            ck_assert_int_eq(memory[999], 0);
            memset(memory, 1, 1000);
        }
        arena_reset(&a);
    }
    arena_fini(&a);
}
END_TEST

START_TEST(copies_and_formats_end_in_nul)
{
    struct arena a;
    arena_init(&a, 128);
    struct str copy;
    struct str text;
    ck_assert(arena_copy(&a, str_slice(STR("Products"), 0, 4), &copy));
    ck_assert_str_eq(copy.ptr, "Prod");
    ck_assert(arena_format(&a, &text, "%d-%s", 7, "x"));
    ck_assert_str_eq(text.ptr, "7-x");
    ck_assert_uint_eq(text.len, 3);
    ck_assert(!arena_format(&a, &text, "%200d", 7));
    ck_assert_uint_eq(text.len, 3);
    arena_fini(&a);
}
END_TEST

Suite *arena_suite(void);
Suite *arena_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *tcase = tcase_create("arena");
    tcase_add_test(tcase, memory_is_zeroed_aligned_and_apart);
    tcase_add_test(tcase, the_limit_holds_and_is_not_passed_by_one_byte);
    tcase_add_test(tcase, sizes_that_overflow_are_refused);
    tcase_add_test(tcase, joined_parts_follow_each_other);
    tcase_add_test(tcase, memory_after_a_reset_is_zeroed_again);
    tcase_add_test(tcase, copies_and_formats_end_in_nul);
    suite_add_tcase(suite, tcase);
    return suite;
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include <check.h>

#include "storage/statement_cache.h"
#include "storage/statement_stats.h"

static struct statement_cache cache;

static void set_up(void)
{
    ck_assert(statement_cache_init(&cache, 3));
}

static void tear_down(void)
{
    statement_cache_fini(&cache);
}

static uint32_t add(const char *text, uint32_t *out_evicted)
{
    return statement_cache_add(&cache, str_hash(str_from(text)), str_from(text), out_evicted);
}

static uint32_t find(const char *text)
{
    return statement_cache_find(&cache, str_hash(str_from(text)), str_from(text));
}

START_TEST(evicts_the_least_recently_used)
{
    uint32_t evicted = 9;
    ck_assert_uint_eq(find("a"), 0);
    uint32_t a = add("a", &evicted);
    ck_assert_uint_eq(evicted, 0);
    uint32_t b = add("b", &evicted);
    uint32_t c = add("c", &evicted);
    ck_assert_uint_eq(evicted, 0);
    ck_assert_uint_eq(find("a"), a);
    uint32_t d = add("d", &evicted);
    ck_assert_uint_eq(evicted, b);
    ck_assert_uint_eq(find("b"), 0);
    ck_assert_uint_eq(find("c"), c);
    ck_assert_uint_eq(find("a"), a);
    ck_assert_uint_eq(find("d"), d);
    ck_assert_uint_gt(d, c);
}
END_TEST

START_TEST(drops_and_reuses_the_place)
{
    uint32_t evicted = 0;
    uint32_t a = add("a", &evicted);
    (void)add("b", &evicted);
    (void)add("c", &evicted);
    ck_assert(statement_cache_drop(&cache, a));
    ck_assert(!statement_cache_drop(&cache, a));
    ck_assert_uint_eq(find("a"), 0);
    uint32_t again = add("a", &evicted);
    ck_assert_uint_eq(evicted, 0); /* the dropped one made room */
    ck_assert_uint_ne(again, a);   /* a name is never used twice */
    ck_assert_uint_ne(find("b"), 0);
    ck_assert_uint_ne(find("c"), 0);
}
END_TEST

/* The same hash is not the same text. */
START_TEST(tells_texts_with_one_hash_apart)
{
    uint32_t evicted = 0;
    uint32_t a = statement_cache_add(&cache, 7, STR("a"), &evicted);
    uint32_t b = statement_cache_add(&cache, 7, STR("b"), &evicted);
    ck_assert_uint_eq(statement_cache_find(&cache, 7, STR("a")), a);
    ck_assert_uint_eq(statement_cache_find(&cache, 7, STR("b")), b);
    ck_assert_uint_eq(statement_cache_find(&cache, 7, STR("ab")), 0);
}
END_TEST

START_TEST(survives_many_statements)
{
    uint32_t last = 0;
    for (int i = 0; i < 1000; i++) {
        char text[20];
        uint32_t evicted = 0;
        (void)snprintf(text, sizeof(text), "%d", i % 5);
        if (find(text) == 0) {
            uint32_t number = add(text, &evicted);
            ck_assert_uint_gt(number, last);
            last = number;
        }
        if (i % 7 == 0) {
            (void)statement_cache_drop(&cache, last);
        }
    }
    ck_assert_uint_le(cache.used, 3);
}
END_TEST

START_TEST(learns_what_is_fast_and_small)
{
    static struct statement_stats stats;
    ck_assert_int_eq(statement_stats_get(&stats, 5).credit, 0);
    statement_stats_ran(&stats, 5, STATEMENT_FAST_MS);
    ck_assert_int_eq(statement_stats_get(&stats, 5).credit, 0);
    statement_stats_ran(&stats, 5, STATEMENT_FAST_MS - 1);
    ck_assert_int_gt(statement_stats_get(&stats, 5).credit, 0);
    statement_stats_ran(&stats, 5, STATEMENT_SLOW_MS);
    ck_assert_int_lt(statement_stats_get(&stats, 5).credit, 0);
    for (int i = 0; i < 2 * STATEMENT_CREDIT_MOST; i++) {
        statement_stats_ran(&stats, 5, 0);
    }
    ck_assert_int_eq(statement_stats_get(&stats, 5).credit, STATEMENT_CREDIT_MOST);
    statement_stats_ran(&stats, 5, STATEMENT_SLOW_MS); /* a hiccup */
    ck_assert_int_gt(statement_stats_get(&stats, 5).credit, 0);
    for (int i = 0; i < 100; i++) {
        statement_stats_ran(&stats, 5, 30000);
    }
    ck_assert_int_eq(statement_stats_get(&stats, 5).credit, -STATEMENT_SLOW_COST);
    for (int i = 0; i <= STATEMENT_SLOW_COST; i++) {
        ck_assert_int_le(statement_stats_get(&stats, 5).credit, 0);
        statement_stats_ran(&stats, 5, 0);
    }
    ck_assert_int_gt(statement_stats_get(&stats, 5).credit, 0);
    statement_stats_size(&stats, 5, 10, 1000);
    ck_assert_uint_ge(statement_stats_get(&stats, 5).row_bytes, 100);
    ck_assert_int_gt(statement_stats_get(&stats, 5).credit, 0);
    statement_stats_size(&stats, 5 + STATEMENT_STATS_SIZE, 0, 0); /* takes the place */
    ck_assert_uint_eq(statement_stats_get(&stats, 5).row_bytes, 0);
    ck_assert_uint_gt(statement_stats_get(&stats, 5 + STATEMENT_STATS_SIZE).total_bytes, 0);
}
END_TEST

Suite *statement_cache_suite(void);

Suite *statement_cache_suite(void)
{
    Suite *suite = suite_create("statement_cache");
    TCase *tcase = tcase_create("cache");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, evicts_the_least_recently_used);
    tcase_add_test(tcase, drops_and_reuses_the_place);
    tcase_add_test(tcase, tells_texts_with_one_hash_apart);
    tcase_add_test(tcase, survives_many_statements);
    tcase_add_test(tcase, learns_what_is_fast_and_small);
    suite_add_tcase(suite, tcase);
    return suite;
}

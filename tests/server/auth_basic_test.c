// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include <check.h>

#include "server/auth_backoff.h"
#include "server/auth_cache.h"
#include "server/auth_users.h"

Suite *auth_basic_suite(void);

/* Of "secret": SHA-512 with few rounds, bcrypt, yescrypt. */
#define SHA_512 \
    "$6$rounds=1000$saltsalt$LAV5VE5Y7w1d73x1mFNspYWUpazfmwv2SoepNXNKJ/otop/Zok96Hr8Q13LEv0DRY/x8v0/crpIjl8NJSAqXV/"
#define BCRYPT   "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"
#define YESCRYPT "$y$j75$k2XAnEHBqQ1Ct2aMXFKNa/$Tg4ZRR7tz/WRlmYbADZh9OJYakPewgSPQqW55EXAJ14"

static const char three[] = "# people\n"
                            "\n"
                            "bob:" SHA_512 ":reader\r\n"
                            "alice:" YESCRYPT ":analyst\n"
                            "carol:" BCRYPT ":analyst";

START_TEST(checks_passwords)
{
    struct auth_users users;
    char reason[256];
    ck_assert_msg(auth_users_parse(str_from(three), &users, reason, sizeof(reason)), "%s", reason);
    ck_assert_uint_eq(users.count, 3);
    static const char *const names[] = {"alice", "bob", "carol"};
    for (size_t i = 0; i < 3; i++) {
        const struct auth_user *user = auth_users_check(&users, names[i], "secret");
        ck_assert_ptr_nonnull(user);
        ck_assert_str_eq(user->name, names[i]);
        ck_assert_str_eq(user->role, i == 1 ? "reader" : "analyst");
        ck_assert_ptr_null(auth_users_check(&users, names[i], "Secret"));
        ck_assert_ptr_null(auth_users_check(&users, names[i], "secret "));
        ck_assert_ptr_null(auth_users_check(&users, names[i], ""));
        ck_assert_ptr_null(auth_users_check(&users, names[i], user->hash));
    }
    ck_assert_ptr_null(auth_users_check(&users, "dave", "secret"));
    ck_assert_ptr_null(auth_users_check(&users, "", "secret"));
    ck_assert_ptr_null(auth_users_check(&users, "Alice", "secret"));
    auth_users_free(&users);
}
END_TEST

static const struct row {
    const char *text;
    const char *reason;
} bad[] = {
    {"", "no user"},
    {"# nobody\n\n", "no user"},
    {"alice", "line 1: expected name:hash:role"},
    {"# x\nalice:" SHA_512, "line 2: expected name:hash:role"},
    {":" SHA_512 ":r", "line 1: the name"},
    {"alice:" SHA_512 ":", "line 1: the role"},
    {"alice:" SHA_512 ":none", "line 1: the role"},
    {"alice:secret:r", "line 1: the hash"},
    {"alice::r", "line 1: the hash"},
    {"alice:*:r", "line 1: the hash"},
    {"alice:$1$salt$qJH7.N4xYta3aEG/dfqo/0:r", "line 1: the hash"},
    {"alice:$y$rubbish:r", "line 1: the hash"},
    {"alice:" SHA_512 ":a\nalice:" SHA_512 ":b\n", "'alice' stands twice"},
};

START_TEST(refuses_a_file)
{
    struct auth_users users;
    char reason[256] = "";
    ck_assert(!auth_users_parse(str_from(bad[_i].text), &users, reason, sizeof(reason)));
    ck_assert_msg(strstr(reason, bad[_i].reason) != NULL, "'%s': %s", bad[_i].text, reason);
    ck_assert_ptr_null(strstr(reason, "$6$"));
}
END_TEST

START_TEST(makes_who_guesses_wait)
{
    static struct auth_backoff b;
    memset(&b, 0, sizeof(b));
    int64_t now_s = 1000;
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(auth_backoff_wait_s(&b, 7, now_s), 0);
        auth_backoff_attempt(&b, 7, 5, now_s);
    }
    for (int64_t wait_s = 1; wait_s <= 32; wait_s *= 2) {
        ck_assert_int_eq(auth_backoff_wait_s(&b, 7, now_s), wait_s);
        ck_assert_int_eq(auth_backoff_wait_s(&b, 8, now_s), 0);
        now_s += wait_s;
        ck_assert_int_eq(auth_backoff_wait_s(&b, 7, now_s), 0);
        auth_backoff_attempt(&b, 7, 5, now_s);
    }
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(auth_backoff_wait_s(&b, 7, now_s), 60);
        auth_backoff_attempt(&b, 7, 5, now_s);
    }
    /* A key of the same place cannot push it out while it waits. */
    auth_backoff_attempt(&b, 7 + AUTH_BACKOFF_SLOTS, 5, now_s);
    ck_assert_int_eq(auth_backoff_wait_s(&b, 7, now_s), 60);
    auth_backoff_passed(&b, 7 + AUTH_BACKOFF_SLOTS);
    ck_assert_int_eq(auth_backoff_wait_s(&b, 7, now_s), 60);
    auth_backoff_passed(&b, 7);
    ck_assert_int_eq(auth_backoff_wait_s(&b, 7, now_s), 0);
    for (int i = 0; i < 4; i++) {
        auth_backoff_attempt(&b, 9, 5, now_s);
    }
    now_s += 601; /* forgotten */
    auth_backoff_attempt(&b, 9, 5, now_s);
    ck_assert_int_eq(auth_backoff_wait_s(&b, 9, now_s), 0);
}
END_TEST

START_TEST(keeps_who_was_found)
{
    static struct auth_cache c;
    struct auth_digest digest;
    struct auth_digest other;
    ck_assert(auth_cache_init(&c, 1));
    ck_assert(auth_cache_digest(&c, 'T', STR("a token"), &digest));
    ck_assert(auth_cache_digest(&c, 'B', STR("a token"), &other));
    ck_assert_int_ne(memcmp(&digest, &other, sizeof(digest)), 0);
    ck_assert_ptr_null(auth_cache_find(&c, &digest, 100));
    ck_assert_ptr_nonnull(auth_cache_add(&c, &digest, STR("role"), STR("{\"a\":1}"), 200));
    const struct db_rights *found = auth_cache_find(&c, &digest, 199);
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found->role, "role");
    ck_assert_str_eq(found->claims, "{\"a\":1}");
    uint64_t id = found->id;
    ck_assert_uint_gt(id, 1);
    ck_assert_ptr_null(auth_cache_find(&c, &other, 199));
    ck_assert_ptr_null(auth_cache_find(&c, &digest, 200)); /* its end */
    ck_assert_ptr_null(auth_cache_find(&c, &digest, 199)); /* and it is gone */
    found = auth_cache_add(&c, &digest, STR("role"), STR("{\"a\":1}"), 200);
    ck_assert_uint_gt(found->id, id); /* no id twice */
    auth_cache_clear(&c);
    ck_assert_ptr_null(auth_cache_find(&c, &digest, 100));
    for (int i = 0; i < 5000; i++) { /* bounded, and the last one is there */
        char text[20];
        int length = snprintf(text, sizeof(text), "%d", i);
        ck_assert(auth_cache_digest(&c, 'T', (struct str){text, (size_t)length}, &digest));
        ck_assert_ptr_nonnull(auth_cache_add(&c, &digest, STR("r"), STR("{}"), 200));
        ck_assert_ptr_nonnull(auth_cache_find(&c, &digest, 100));
    }
    auth_cache_fini(&c);
}
END_TEST

Suite *auth_basic_suite(void)
{
    Suite *s = suite_create("auth_basic");
    TCase *tc = tcase_create("parts");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, checks_passwords);
    tcase_add_loop_test(tc, refuses_a_file, 0, ARRAY_SIZE(bad));
    tcase_add_test(tc, makes_who_guesses_wait);
    tcase_add_test(tc, keeps_who_was_found);
    suite_add_tcase(s, tc);
    return s;
}

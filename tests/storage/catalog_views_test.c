// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <check.h>

#include "odata/compiler.h"
#include "storage/catalog_views.h"
#include "tests/support/exact_copy.h"

/* A tree with what matters, as several versions of PostgreSQL print it. */
#define KEPT                                                                             \
    ":commandType 1 :querySource 0 :hasAggs false :hasTargetSRFs false :groupClause <> " \
    ":groupingSets <> :distinctClause <> :setOperations <> "
#define ENTRY(relid)                                                                                       \
    "{RANGETBLENTRY :alias <> :eref {ALIAS :aliasname t :colnames (\"a\" \"b\")} :rtekind 0 :relid " relid \
    " :relkind r}"
#define TARGET(no, name, attno)                                                                   \
    "{TARGETENTRY :expr {VAR :varno 1 :varattno " attno " :vartype 23 :varlevelsup 0} :resno " no \
    " :resname " name " :ressortgroupref 0 :resjunk false}"
#define FROM ":jointree {FROMEXPR :fromlist ({RANGETBLREF :rtindex 1}) :quals <>} "

#define GOOD                                                                    \
    "({QUERY " KEPT ":rtable (" ENTRY("4711") ") " FROM ":targetList (" TARGET( \
        "1", "x", "2") " " TARGET("2", "y", "1") ")})"

static const struct row {
    const char *name;
    const char *rule;
    bool passes;
    size_t columns;
} rows[] = {
    {"a plain view", GOOD, true, 2},
    {"lines and more blanks do not matter",
     "(\n  {QUERY\n" KEPT "\n:rtable\t(" ENTRY("4711") ")\n" FROM ":targetList ( " TARGET(
         "1", "x", "2") " " TARGET("2", "y", "1") " ) } )",
     true, 2},
    {"a constant has more than one word",
     "({QUERY " KEPT ":limit {CONST :constvalue 4 [ 1 0 0 0 ] :x (1) (2)} :rtable (" ENTRY(
         "4711") ") " FROM ":targetList (" TARGET("1", "x", "2") ")})",
     true, 1},
    {"names that look like fields, brackets and quotes",
     "({QUERY " KEPT
     ":rtable (" ENTRY("4711") ") " FROM ":targetList (" TARGET("1", ":resno", "2") " " TARGET(
         "2", "\\(\\{\\ \\\\", "1") " " TARGET("3", "\\\"", "1") ")})",
     true, 3},
    {"a system column and a whole row do not count",
     "({QUERY " KEPT ":rtable (" ENTRY("4711") ") " FROM ":targetList (" TARGET(
         "1", "x", "-1") " " TARGET("2", "y", "0") ")})",
     true, 0},
    {"nothing", "", false, 0},
    {"an empty list", "()", false, 0},
    {"two queries", "({QUERY " KEPT "} {QUERY " KEPT "})", false, 0},
    {"a missing field proves nothing",
     "({QUERY :commandType 1 :rtable (" ENTRY("4711") ") " FROM
                                                      ":targetList (" TARGET("1", "x", "2") ")})",
     false, 0},
    {"an aggregate",
     "({QUERY :hasAggs true " KEPT
     ":rtable (" ENTRY("4711") ") " FROM ":targetList (" TARGET("1", "x", "2") ")})",
     false, 0},
    {"two relations in FROM",
     "({QUERY " KEPT ":rtable (" ENTRY("1") " " ENTRY(
         "2") ") :jointree {FROMEXPR :fromlist ({RANGETBLREF :rtindex 1} {RANGETBLREF "
              ":rtindex 2}) :quals <>} :targetList (" TARGET("1", "x", "2") ")})",
     false, 0},
    {"a place that is not in the range table",
     "({QUERY " KEPT ":rtable () " FROM ":targetList (" TARGET("1", "x", "2") ")})", false, 0},
    {"an OID that is too large",
     "({QUERY " KEPT ":rtable (" ENTRY("4294967296") ") " FROM
                                                     ":targetList (" TARGET("1", "x", "2") ")})",
     false, 0},
};

/* Parses a copy of exactly its size, in an arena of a limit. */
static bool parse(struct str rule, size_t limit_bytes, struct raw_view *out_view)
{
    struct arena a;
    arena_init(&a, limit_bytes);
    char *copy = exact_copy(rule.ptr, rule.len);
    bool ok = view_rule_parse(&a, (struct str){copy, rule.len}, out_view);
    for (size_t i = 0; ok && i < out_view->column_count; i++) {
        ck_assert_int_gt(out_view->columns[i].number, 0);
        ck_assert_int_gt(out_view->columns[i].base_number, 0);
    }
    free(copy);
    arena_fini(&a);
    return ok;
}

START_TEST(parses_rule)
{
    struct raw_view view = {0};
    const struct row *row = &rows[_i];
    bool ok = parse(str_from(row->rule), 4096, &view);
    ck_assert_msg(ok == row->passes, "%s", row->name);
    if (ok) {
        ck_assert_uint_eq(view.base, 4711);
        ck_assert_uint_eq(view.column_count, row->columns);
    }
}
END_TEST

START_TEST(refuses_every_prefix)
{
    struct str rule = str_from(rows[_i].rule);
    for (size_t length = 0; length < rule.len; length++) {
        struct raw_view view = {0};
        ck_assert_msg(!parse(str_slice(rule, 0, length), 4096, &view), "%s at %zu", rows[_i].name,
                      length);
    }
}
END_TEST

START_TEST(says_when_memory_is_short)
{
    struct raw_view view = {0};
    ck_assert(!parse(STR(GOOD), 0, &view));
    ck_assert(parse(STR(GOOD), 64, &view));
}
END_TEST

Suite *catalog_views_suite(void);
Suite *catalog_views_suite(void)
{
    Suite *s = suite_create("catalog_views");
    TCase *t = tcase_create("views");
    tcase_add_loop_test(t, parses_rule, 0, ARRAY_SIZE(rows));
    tcase_add_loop_test(t, refuses_every_prefix, 0, ARRAY_SIZE(rows));
    tcase_add_test(t, says_when_memory_is_short);
    suite_add_tcase(s, t);
    return s;
}

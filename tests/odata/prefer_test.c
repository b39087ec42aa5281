// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/compiler.h"
#include "odata/prefer.h"
#include "tests/support/exact_copy.h"

/* seen: the preferences that were understood, in words, in the order of the struct. */
static const struct row {
    const char *name;
    const char *header;
    const char *seen;
    const char *applied;
} rows[] = {
    {"nothing", "", "", ""},
    {"a page size", "maxpagesize=50", "page=50 ", "maxpagesize=50"},
    {"with the prefix", "odata.maxpagesize=7", "page=7 ", "odata.maxpagesize=7"},
    {"names ignore case", "OData.MaxPageSize=7", "page=7 ", "odata.maxpagesize=7"},
    {"a quoted size", "maxpagesize=\"7\"", "page=7 ", "maxpagesize=7"},
    {"blanks around =", "maxpagesize = 7", "page=7 ", "maxpagesize=7"},
    {"parameters are passed over", "maxpagesize=7;x=y", "page=7 ", "maxpagesize=7"},
    {"no value", "maxpagesize", "", ""},
    {"zero", "odata.maxpagesize=0", "", ""},
    {"negative", "maxpagesize=-1", "", ""},
    {"too big to count", "maxpagesize=99999999999999999999", "", ""},
    {"the first counts", "maxpagesize=5,odata.maxpagesize=6", "page=5 ", "maxpagesize=5"},
    {"the first counts, even when it is wrong", "maxpagesize=x,maxpagesize=6", "", ""},
    {"two preferences", "odata.allow-entityreferences,odata.maxpagesize=20", "page=20 references ",
     "odata.maxpagesize=20"},
    {"minimal", "return=minimal", "minimal ", ""},
    {"representation", " return=representation ", "representation ", ""},
    {"return something", "return=something", "", ""},
    {"nulls", "omit-values=nulls", "nulls ", "omit-values=nulls"},
    {"defaults", "odata.omit-values=\"defaults\"", "defaults ", "omit-values=defaults"},
    {"both", "omit-values=nulls, maxpagesize=3", "page=3 nulls ",
     "maxpagesize=3, omit-values=nulls"},
    {"annotations of no namespace", "include-annotations=\"Namespace\"", "", ""},
    {"annotations of a namespace and a qualifier", "include-annotations=\"-A.B.*#q, *\"",
     "annotations=-A.B.*#q, * ", ""},
    {"annotations", "odata.include-annotations=\"Ns.Term,-Model.*\"",
     "annotations=Ns.Term,-Model.* ", ""},
    {"go on", "odata.continue-on-error", "continue ", ""},
    {"go on, true", "continue-on-error=true", "continue ", ""},
    {"go on, false", "odata.continue-on-error=false", "", ""},
    {"asynchronous", "respond-async, wait=10", "wait=10 async ", ""},
    {"waiting with blanks", "wait = 0", "", ""},
    {"changes", "track-changes", "track ", ""},
    {"a callback", "odata.callback;url=\"http://h/n/1;2\"", "callback=http://h/n/1;2 ", ""},
    {"a callback without a URL", "callback", "", ""},
    {"unknown ones", "foo, bar=\"a,maxpagesize=1\", handling=strict", "", ""},
    {"nonsense", ",,;;=,\"", "", ""},
    {"an open quote", "maxpagesize=\"7", "", ""},
};

static void describe(const struct preferences *p, struct bytes *out)
{
    static const char *const returns[] = {"", "minimal ", "representation "};
    static const char *const omits[] = {"", "nulls ", "defaults "};
    bytes_clear(out);
    if (p->max_page_size > 0) {
        bytes_format(out, "page=%llu ", (unsigned long long)p->max_page_size);
    }
    bytes_put_str(out, str_from(returns[p->wanted_return]));
    bytes_put_str(out, str_from(omits[p->omit_values]));
    if (p->include_annotations.len > 0) {
        bytes_format(out, "annotations=%.*s ", STR_ARG(p->include_annotations));
    }
    if (p->callback_url.len > 0) {
        bytes_format(out, "callback=%.*s ", STR_ARG(p->callback_url));
    }
    if (p->wait_s > 0) {
        bytes_format(out, "wait=%llu ", (unsigned long long)p->wait_s);
    }
    bytes_put_str(out, str_from(p->continue_on_error ? "continue " : ""));
    bytes_put_str(out, str_from(p->respond_async ? "async " : ""));
    bytes_put_str(out, str_from(p->track_changes ? "track " : ""));
    bytes_put_str(out, str_from(p->allow_entity_references ? "references " : ""));
}

START_TEST(understands)
{
    const struct row *row = &rows[_i];
    struct preferences p;
    struct bytes out;
    bytes_init(&out, 1024);
    prefer_parse(str_from(row->header), &p);
    describe(&p, &out);
    ck_assert_msg(str_eq(bytes_str(&out), str_from(row->seen)), "%s: %.*s", row->name,
                  STR_ARG(bytes_str(&out)));
    bytes_clear(&out);
    unsigned applied = (p.max_page_size > 0 ? PREFER_APPLIED_PAGE_SIZE : 0U) |
                       (p.omit_values != PREFER_OMIT_NOTHING ? PREFER_APPLIED_OMIT : 0U);
    prefer_put_applied(&out, &p, applied);
    ck_assert_msg(str_eq(bytes_str(&out), str_from(row->applied)), "%s: %.*s", row->name,
                  STR_ARG(bytes_str(&out)));
    bytes_fini(&out);
}
END_TEST

START_TEST(survives_every_prefix)
{
    const struct row *row = &rows[_i];
    size_t whole = strlen(row->header);
    struct bytes out;
    bytes_init(&out, 1024);
    for (size_t length = 0; length <= whole; length++) {
        char *copy = exact_copy(row->header, length);
        struct preferences p;
        prefer_parse((struct str){copy, length}, &p);
        describe(&p, &out);
        ck_assert(!bytes_failed(&out));
        free(copy);
    }
    bytes_fini(&out);
}
END_TEST

Suite *prefer_suite(void);

Suite *prefer_suite(void)
{
    Suite *s = suite_create("prefer");
    TCase *t = tcase_create("preferences");
    tcase_add_loop_test(t, understands, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, survives_every_prefix, 0, (int)ARRAY_SIZE(rows));
    suite_add_tcase(s, t);
    return s;
}

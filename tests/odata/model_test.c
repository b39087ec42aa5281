// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include <check.h>

#include "odata/model.h"

enum {
    TYPE_COUNT = 40,
    PROPERTY_COUNT = 20,
};

/* A model of TYPE_COUNT types and sets named T0, T1, ... with properties P0, P1, ... each; the last
   type stands in a namespace of its own under the name of the first. */
static struct model *make_model(void)
{
    struct model *m = model_new();
    ck_assert_ptr_nonnull(m);
    struct arena *a = model_arena(m);
    m->container = STR("Container");
    m->types = ARENA_ARRAY(a, TYPE_COUNT, struct entity_type);
    m->sets = ARENA_ARRAY(a, TYPE_COUNT, struct entity_set);
    ck_assert(m->types != NULL && m->sets != NULL);
    m->type_count = m->set_count = TYPE_COUNT;
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        struct entity_type *t = &m->types[i];
        t->namespace = i + 1 < TYPE_COUNT ? STR("first") : STR("second");
        ck_assert(arena_format(a, &t->name, "T%zu", i % (TYPE_COUNT - 1)));
        ck_assert(arena_format(a, &m->sets[i].name, "T%zu", i));
        t->properties = ARENA_ARRAY(a, PROPERTY_COUNT, struct property);
        ck_assert_ptr_nonnull(t->properties);
        t->property_count = PROPERTY_COUNT;
        for (size_t k = 0; k < PROPERTY_COUNT; k++) {
            t->properties[k].index = k;
            t->properties[k].type.type = EDM_INT32;
            ck_assert(arena_format(a, &t->properties[k].name, "P%zu", k));
        }
        t->set = &m->sets[i];
        m->sets[i].type = t;
    }
    return m;
}

static void seal(struct model *m)
{
    struct odata_error err = {0};
    ck_assert_msg(model_seal(m, &err), "%s", err.message);
}

START_TEST(finds_sets_types_and_properties)
{
    struct model *m = make_model();
    seal(m);
    ck_assert_ptr_eq(model_find_set(m, STR("T7")), &m->sets[7]);
    ck_assert_ptr_null(model_find_set(m, STR("t7")));
    ck_assert_ptr_eq(model_find_type(m, STR("first.T0")), &m->types[0]);
    ck_assert_ptr_eq(model_find_type(m, STR("second.T0")), &m->types[TYPE_COUNT - 1]);
    ck_assert_ptr_eq(model_find_type(m, STR("T3")), &m->types[3]);
    ck_assert_msg(model_find_type(m, STR("T0")) == NULL, "an ambiguous name means nothing");
    ck_assert_ptr_null(model_find_type(m, STR("first.T")));
    const struct entity_type *t = &m->types[3];
    ck_assert_ptr_eq(entity_type_find_property(t, STR("P19")), &t->properties[19]);
    ck_assert_ptr_null(entity_type_find_property(t, STR("P20")));
    ck_assert_ptr_null(entity_type_find_navigation(t, STR("P1")));
    ck_assert(str_eq(entity_type_suggest(t, STR("p19")), STR("P19")));
    ck_assert(str_eq(model_suggest_set(m, STR("zzz")), STR("")));
    model_release(m);
}
END_TEST

START_TEST(two_sets_of_one_name_are_refused)
{
    struct model *m = make_model();
    m->sets[5].name = m->sets[4].name;
    struct odata_error err = {0};
    ck_assert(!model_seal(m, &err));
    ck_assert_int_eq(err.http_status, 500);
    ck_assert_str_eq(err.message, "two entity sets are called 'T4'");
    model_release(m);
}
END_TEST

START_TEST(two_properties_of_one_name_are_refused)
{
    struct model *m = make_model();
    m->types[9].properties[1].name = m->types[9].properties[18].name;
    struct odata_error err = {0};
    ck_assert(!model_seal(m, &err));
    ck_assert_str_eq(err.message, "two properties of one type are called 'P18'");
    model_release(m);
}
END_TEST

/* What $metadata shows must change its ETag. */
static void rename_set(struct model *m)
{
    m->sets[0].name = STR("Other");
}

static void rename_property(struct model *m)
{
    m->types[0].properties[3].name = STR("Other");
}

static void change_type(struct model *m)
{
    m->types[0].properties[3].type.type = EDM_INT64;
}

static void change_facet(struct model *m)
{
    m->types[0].properties[3].type.nullable = true;
}

static void describe(struct model *m)
{
    m->types[0].properties[3].description = STR("what it is");
}

static void (*const changes[])(struct model *) = {rename_set, rename_property, change_type,
                                                  change_facet, describe};

START_TEST(the_fingerprint_follows_what_clients_see)
{
    struct model *same = make_model();
    struct model *again = make_model();
    struct model *changed = make_model();
    changes[_i](changed);
    seal(same);
    seal(again);
    seal(changed);
    ck_assert(same->fingerprint == again->fingerprint);
    ck_assert(same->fingerprint != changed->fingerprint);
    model_release(same);
    model_release(again);
    model_release(changed);
}
END_TEST

START_TEST(lives_as_long_as_somebody_holds_it)
{
    struct model *m = make_model();
    seal(m);
    ck_assert_ptr_eq(model_retain(m), m);
    model_release(m);
    ck_assert_ptr_nonnull(model_find_set(m, STR("T1")));
    model_release(m);
    model_release(NULL);
}
END_TEST

Suite *model_suite(void);
Suite *model_suite(void)
{
    Suite *suite = suite_create("model");
    TCase *tcase = tcase_create("model");
    tcase_add_test(tcase, finds_sets_types_and_properties);
    tcase_add_test(tcase, two_sets_of_one_name_are_refused);
    tcase_add_test(tcase, two_properties_of_one_name_are_refused);
    tcase_add_loop_test(tcase, the_fingerprint_follows_what_clients_see, 0,
                        (int)ARRAY_SIZE(changes));
    tcase_add_test(tcase, lives_as_long_as_somebody_holds_it);
    suite_add_tcase(suite, tcase);
    return suite;
}

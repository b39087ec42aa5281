// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/service_doc.h"

static struct entity_set sets[] = {
    {.name = {STR_INIT("It\xc3\xa4ms")}},
    {.name = {STR_INIT("order")}},
};
static const struct model shop = {.sets = sets, .set_count = ARRAY_SIZE(sets)};
static const struct model empty = {.sets = NULL};

#define VALUE                                                                               \
    "\"value\":[{\"name\":\"It\xc3\xa4ms\",\"kind\":\"EntitySet\",\"url\":\"It%C3%A4ms\"}," \
    "{\"name\":\"order\",\"kind\":\"EntitySet\",\"url\":\"order\"}]}"

static const struct row {
    const char *name;
    const struct model *model;
    struct response_format format;
    const char *context;
    const char *json;
} rows[] = {
    {"4.0",
     &shop,
     {.version = ODATA_4_0, .media = MEDIA_JSON, .metadata = METADATA_MINIMAL},
     "http://h/$metadata",
     "{\"@odata.context\":\"http://h/$metadata\"," VALUE},
    {"4.01",
     &shop,
     {.version = ODATA_4_01, .media = MEDIA_JSON, .metadata = METADATA_FULL},
     "http://h/$metadata",
     "{\"@context\":\"http://h/$metadata\"," VALUE},
    {"without metadata",
     &shop,
     {.version = ODATA_4_0, .media = MEDIA_JSON, .metadata = METADATA_NONE},
     "http://h/$metadata",
     "{" VALUE},
    {"nothing to show",
     &empty,
     {.version = ODATA_4_0, .media = MEDIA_JSON, .metadata = METADATA_MINIMAL},
     "http://h/\"",
     "{\"@odata.context\":\"http://h/\\\"\",\"value\":[]}"},
};

START_TEST(writes_the_service_document)
{
    const struct row *row = &rows[_i];
    struct bytes out;
    bytes_init(&out, 4096);
    service_doc_put(&out, row->model, &row->format, str_from(row->context));
    ck_assert_msg(str_eq(bytes_str(&out), str_from(row->json)), "%s: %.*s", row->name,
                  STR_ARG(bytes_str(&out)));
    bytes_fini(&out);
}
END_TEST

Suite *service_doc_suite(void);

Suite *service_doc_suite(void)
{
    Suite *s = suite_create("service_doc");
    TCase *t = tcase_create("documents");
    tcase_add_loop_test(t, writes_the_service_document, 0, (int)ARRAY_SIZE(rows));
    suite_add_tcase(s, t);
    return s;
}

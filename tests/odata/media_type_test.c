// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/media_type.h"
#include "tests/support/exact_copy.h"

#define POWER_QUERY                                                                               \
    "application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9," \
    "application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,"             \
    "text/plain;q=0.7"
#define BROWSER "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
#define MINIMAL "application/json;odata.metadata=minimal"
#define FULL    "application/json;odata.metadata=full"
#define NONE    "application/json;odata.metadata=none"
#define CSV     "text/csv;charset=utf-8;header="
#define TEXT    "text/plain;charset=utf-8"

/* content_type: what is sent, or NULL: the error's status. */
static const struct row {
    const char *name;
    enum media_resource resource;
    const char *accept;
    const char *format; /* NULL: no $format */
    const char *content_type;
    int status;
} rows[] = {
    {"no Accept", MEDIA_OF_DATA, "", NULL, MINIMAL, 0},
    {"a blank Accept", MEDIA_OF_DATA, "  ", NULL, MINIMAL, 0},
    {"anything", MEDIA_OF_DATA, "*/*", NULL, MINIMAL, 0},
    {"a bare star", MEDIA_OF_DATA, "text/html, image/gif, *; q=.2", NULL, MINIMAL, 0},
    {"any application type", MEDIA_OF_DATA, "application/*", NULL, MINIMAL, 0},
    {"JSON", MEDIA_OF_DATA, "application/json", NULL, MINIMAL, 0},
    {"types ignore case", MEDIA_OF_DATA, "Application/JSON", NULL, MINIMAL, 0},
    {"Power Query", MEDIA_OF_DATA, POWER_QUERY, NULL, MINIMAL, 0},
    {"a browser", MEDIA_OF_DATA, BROWSER, NULL, MINIMAL, 0},
    {"DevExtreme", MEDIA_OF_DATA, "application/json;odata=verbose,text/plain, */*; q=0.01", NULL,
     MINIMAL, 0},
    {"Syncfusion", MEDIA_OF_DATA, "application/json, text/javascript, */*; q=0.01", NULL, MINIMAL,
     0},
    {"XML weighs less", MEDIA_OF_DATA, "application/xml;q=0.8, application/json;q=1.0", NULL,
     MINIMAL, 0},
    {"Olingo", MEDIA_OF_DATA, "application/json;odata.metadata=full", NULL, FULL, 0},
    {"the 4.01 spelling of full", MEDIA_OF_DATA, "application/json;metadata=full", NULL, FULL, 0},
    {"none", MEDIA_OF_DATA, "application/json;odata.metadata=none", NULL, NONE, 0},
    {"a quoted parameter", MEDIA_OF_DATA, "application/json;odata.metadata=\"full\"", NULL, FULL,
     0},
    {"blanks around parameters", MEDIA_OF_DATA, "application/json ; odata.metadata=full ; q=0.5",
     NULL, FULL, 0},
    {"the range of higher quality wins", MEDIA_OF_DATA,
     "application/json;odata.metadata=full;q=0.5,application/json;odata.metadata=none;q=0.6", NULL,
     NONE, 0},
    {"the first of equals wins", MEDIA_OF_DATA,
     "application/json;odata.metadata=none,application/json", NULL, NONE, 0},
    {"JSON wins over a star of the same quality", MEDIA_OF_DATA, "*/*," FULL, NULL, FULL, 0},
    {"a comma in quotes separates nothing", MEDIA_OF_DATA,
     "text/html;a=\"x,application/json\",application/json;odata.metadata=full", NULL, FULL, 0},
    {"UI5", MEDIA_OF_DATA, "application/json;odata.metadata=minimal;IEEE754Compatible=true", NULL,
     MINIMAL ";IEEE754Compatible=true", 0},
    {"IEEE754Compatible=false", MEDIA_OF_DATA, "application/json;IEEE754Compatible=false", NULL,
     MINIMAL, 0},
    {"streaming", MEDIA_OF_DATA, "application/json;odata.streaming=true", NULL,
     MINIMAL ";odata.streaming=true", 0},
    {"exponential decimals may be asked for", MEDIA_OF_DATA,
     "application/json;ExponentialDecimals=true", NULL, MINIMAL, 0},
    {"UTF-8", MEDIA_OF_DATA, "application/json;charset=UTF-8", NULL, MINIMAL, 0},
    {"another character set", MEDIA_OF_DATA, "application/json;charset=iso-8859-1", NULL, NULL,
     406},
    {"another one, and a way out", MEDIA_OF_DATA,
     "application/json;charset=iso-8859-1,application/json;q=0.1", NULL, MINIMAL, 0},
    {"HTML only", MEDIA_OF_DATA, "text/html", NULL, NULL, 406},
    {"an unknown type", MEDIA_OF_DATA, "application/xyz", NULL, NULL, 406},
    {"Atom only", MEDIA_OF_DATA, "application/atom+xml", NULL, NULL, 406},
    {"an unknown parameter", MEDIA_OF_DATA, "application/json;abc=xyz", NULL, NULL, 406},
    {"an unknown parameter, and a way out", MEDIA_OF_DATA, "application/json;abc=xyz,*/*;q=0.1",
     NULL, MINIMAL, 0},
    {"what stands behind q is no format parameter", MEDIA_OF_DATA, "application/json;q=0.9;abc=xyz",
     NULL, MINIMAL, 0},
    {"a level that is none", MEDIA_OF_DATA, "application/json;odata.metadata=bogus", NULL, NULL,
     406},
    {"a flag that is none", MEDIA_OF_DATA, "application/json;IEEE754Compatible=maybe", NULL, NULL,
     406},
    {"q=0 refuses", MEDIA_OF_DATA, "application/json;q=0, text/html;q=1", NULL, NULL, 406},
    {"q=0 refuses in spite of a star", MEDIA_OF_DATA, "*/*, application/json;q=0.000", NULL, NULL,
     406},
    {"a star with q=0 refuses only the rest", MEDIA_OF_DATA, "application/json, */*;q=0", NULL,
     MINIMAL, 0},
    {"q=0 for one form leaves the others", MEDIA_OF_DATA,
     "application/json;odata.metadata=full;q=0,application/json", NULL, MINIMAL, 0},
    {"everything refused", MEDIA_OF_DATA, "*/*;q=0", NULL, NULL, 406},
    {"nonsense", MEDIA_OF_DATA, ",;/=\"", NULL, NULL, 406},
    {"nonsense beside JSON", MEDIA_OF_DATA, ";;,/,a/,/b, application/json", NULL, MINIMAL, 0},
    {"a weight that is none", MEDIA_OF_DATA, "application/json;q=high", NULL, MINIMAL, 0},

    {"$format=json", MEDIA_OF_DATA, "text/html", "json", MINIMAL, 0},
    {"$format=JSON", MEDIA_OF_DATA, "", "JSON", MINIMAL, 0},
    {"$format wins over Accept", MEDIA_OF_DATA, "application/json;IEEE754Compatible=false",
     "application/json;IEEE754Compatible=true", MINIMAL ";IEEE754Compatible=true", 0},
    {"a full media type", MEDIA_OF_DATA, "", "application/json;odata.metadata=full", FULL, 0},
    {"the 4.01 spelling in $format", MEDIA_OF_DATA, "", "application/json;metadata=none", NONE, 0},
    {"parameters behind the abbreviation", MEDIA_OF_DATA, "", "json;odata.metadata=none", NULL,
     400},
    {"an empty $format", MEDIA_OF_DATA, "", "", NULL, 400},
    {"$format=xml for data", MEDIA_OF_DATA, "", "xml", NULL, 406},
    {"$format=atom", MEDIA_OF_DATA, "", "atom", NULL, 406},
    {"$format with an unknown parameter", MEDIA_OF_DATA, "", "application/json;abc=xyz", NULL, 406},
    {"$format with a weight", MEDIA_OF_DATA, "", "application/json;q=1", NULL, 406},
    {"$format with another character set", MEDIA_OF_DATA, "", "application/json;charset=latin1",
     NULL, 406},
    {"$format of any type", MEDIA_OF_DATA, "", "*/*", NULL, 406},
    {"a list in $format", MEDIA_OF_DATA, "", "application/json,application/xml", NULL, 406},

    {"rows for anybody", MEDIA_OF_ROWS, "*/*", NULL, MINIMAL, 0},
    {"rows for a browser", MEDIA_OF_ROWS, BROWSER, NULL, MINIMAL, 0},
    {"rows for Power Query", MEDIA_OF_ROWS, POWER_QUERY, NULL, MINIMAL, 0},
    {"rows as CSV", MEDIA_OF_ROWS, "text/csv", NULL, CSV "present", 0},
    {"rows as any text", MEDIA_OF_ROWS, "text/*", NULL, CSV "present", 0},
    {"CSV rather than JSON", MEDIA_OF_ROWS, "application/json;q=0.5, text/csv", NULL, CSV "present",
     0},
    {"CSV with its parameters", MEDIA_OF_ROWS, "text/csv;charset=UTF-8;header=absent", NULL,
     CSV "absent", 0},
    {"CSV in Latin 1", MEDIA_OF_ROWS, "text/csv;charset=latin1", NULL, NULL, 406},
    {"CSV with half a header", MEDIA_OF_ROWS, "text/csv;header=some", NULL, NULL, 406},
    {"a header is of CSV only", MEDIA_OF_ROWS, "application/json;header=absent", NULL, NULL, 406},
    {"$format=csv", MEDIA_OF_ROWS, "application/json", "csv", CSV "present", 0},
    {"$format=text/csv", MEDIA_OF_ROWS, "", "text/csv;header=absent", CSV "absent", 0},
    {"CSV for what is no collection", MEDIA_OF_DATA, "text/csv", NULL, NULL, 406},
    {"lines", MEDIA_OF_ROWS, "application/x-ndjson", NULL, "application/x-ndjson", 0},
    {"lines, by $format", MEDIA_OF_ROWS, "", "ndjson", "application/x-ndjson", 0},
    {"lines, by another name", MEDIA_OF_ROWS, "application/jsonl", NULL, "application/x-ndjson", 0},
    {"lines with long numbers as strings", MEDIA_OF_ROWS, "",
     "application/x-ndjson;IEEE754Compatible=true", "application/x-ndjson;IEEE754Compatible=true",
     0},

    {"metadata for anybody", MEDIA_OF_METADATA, "*/*", NULL, "application/xml", 0},
    {"metadata without Accept", MEDIA_OF_METADATA, "", NULL, "application/xml", 0},
    {"metadata for a browser", MEDIA_OF_METADATA, BROWSER, NULL, "application/xml", 0},
    {"metadata for Power Query", MEDIA_OF_METADATA, POWER_QUERY, NULL, "application/xml", 0},
    {"metadata as XML", MEDIA_OF_METADATA, "application/xml", NULL, "application/xml", 0},
    {"metadata as XML, with parameters", MEDIA_OF_METADATA, "application/xml;charset=utf-8;x=y",
     NULL, "application/xml", 0},
    {"metadata in Latin 1", MEDIA_OF_METADATA, "application/xml;charset=latin1", NULL, NULL, 406},
    {"metadata as JSON only", MEDIA_OF_METADATA, "application/json", NULL, MINIMAL, 0},
    {"metadata as JSON, with parameters", MEDIA_OF_METADATA, "application/json;metadata=full", NULL,
     FULL, 0},
    {"metadata for axios", MEDIA_OF_METADATA, "application/json, text/plain, */*", NULL,
     "application/xml", 0},
    {"metadata, XML refused", MEDIA_OF_METADATA, "application/xml;q=0, */*;q=0.1", NULL, MINIMAL,
     0},
    {"metadata as HTML only", MEDIA_OF_METADATA, "text/html", NULL, NULL, 406},
    {"metadata, $format=xml", MEDIA_OF_METADATA, "application/json", "xml", "application/xml", 0},
    {"metadata, $format=application/xml", MEDIA_OF_METADATA, "", "application/xml",
     "application/xml", 0},
    {"metadata, $format=json", MEDIA_OF_METADATA, "application/xml", "json", MINIMAL, 0},

    {"a count for UI5", MEDIA_OF_COUNT, "application/json", NULL, TEXT, 0},
    {"a count for anybody", MEDIA_OF_COUNT, "image/png", "json", TEXT, 0},
    {"text", MEDIA_OF_RAW_TEXT, "text/plain", NULL, TEXT, 0},
    {"text for anybody", MEDIA_OF_RAW_TEXT, "", NULL, TEXT, 0},
    {"text for who wants any text", MEDIA_OF_RAW_TEXT, "text/*", NULL, TEXT, 0},
    {"text for who wants octets", MEDIA_OF_RAW_TEXT, "application/octet-stream", NULL, TEXT, 0},
    {"text for who speaks JSON", MEDIA_OF_RAW_TEXT, "application/json;odata.metadata=full", NULL,
     TEXT, 0},
    {"text in Latin 1", MEDIA_OF_RAW_TEXT, "text/plain;charset=latin1", NULL, NULL, 406},
    {"text as an image", MEDIA_OF_RAW_TEXT, "image/png", NULL, NULL, 406},
    {"octets", MEDIA_OF_RAW_BINARY, "*/*", NULL, "application/octet-stream", 0},
    {"octets, asked for", MEDIA_OF_RAW_BINARY, "application/octet-stream", NULL,
     "application/octet-stream", 0},
};

static bool negotiate(const struct row *row, struct str accept, struct response_format *format,
                      struct odata_error *err)
{
    struct str option = str_from(row->format);
    return media_type_negotiate(row->resource, ODATA_4_0, accept,
                                row->format == NULL ? NULL : &option, format, err);
}

START_TEST(negotiates)
{
    const struct row *row = &rows[_i];
    struct response_format format = {0};
    struct odata_error err = {0};
    bool ok = negotiate(row, str_from(row->accept), &format, &err);
    ck_assert_msg(ok == (row->content_type != NULL), "%s: %s", row->name, err.message);
    ck_assert_int_eq(err.http_status, row->status);
    struct bytes out;
    bytes_init(&out, 256);
    media_type_put(&out, &format);
    ck_assert_msg(!ok || str_eq(bytes_str(&out), str_from(row->content_type)), "%s: %.*s",
                  row->name, STR_ARG(bytes_str(&out)));
    bytes_fini(&out);
}
END_TEST

/* No prefix may read past its end, and each ends in an answer or in a 4xx. */
START_TEST(survives_every_prefix)
{
    const struct row *row = &rows[_i];
    size_t whole = strlen(row->accept);
    for (size_t length = 0; length <= whole; length++) {
        char *copy = exact_copy(row->accept, length);
        struct response_format format;
        struct odata_error err = {0};
        bool ok = negotiate(row, (struct str){copy, length}, &format, &err);
        ck_assert(ok || err.http_status == 406 || err.http_status == 400);
        free(copy);
    }
}
END_TEST

START_TEST(writes_the_short_names_in_4_01)
{
    static const struct response_format format = {
        .version = ODATA_4_01, .metadata = METADATA_FULL, .streaming = true, .ieee754 = true};
    struct bytes out;
    bytes_init(&out, 256);
    media_type_put(&out, &format);
    ck_assert(str_eq(bytes_str(&out),
                     STR("application/json;metadata=full;streaming=true;IEEE754Compatible=true")));
    bytes_fini(&out);
}
END_TEST

Suite *media_type_suite(void);

Suite *media_type_suite(void)
{
    Suite *s = suite_create("media_type");
    TCase *t = tcase_create("negotiation");
    tcase_add_loop_test(t, negotiates, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, survives_every_prefix, 0, (int)ARRAY_SIZE(rows));
    tcase_add_test(t, writes_the_short_names_in_4_01);
    suite_add_tcase(s, t);
    return s;
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/feed_writer.h"
#include "odata/json_writer.h"
#include "odata/skip_token.h"
#include "tests/odata/script_source.h"

static void write_number(struct bytes *out, const char *text, size_t len,
                         const struct value_form *form)
{
    (void)form;
    bytes_put(out, text, len);
}

static void write_string(struct bytes *out, const char *text, size_t len,
                         const struct value_form *form)
{
    (void)form;
    json_put_string(out, text, len);
}

static void write_refusal(struct bytes *out, const char *text, size_t len,
                          const struct value_form *form)
{
    (void)text;
    (void)len;
    (void)form;
    out->failed = true;
}

static void write_formless(struct bytes *out, const char *text, size_t len,
                           const struct value_form *form)
{
    (void)text;
    (void)len;
    (void)form;
    bytes_refuse(out, "a value of no use");
}

static void write_address(struct bytes *out, const char *text, size_t len,
                          const struct value_form *form)
{
    bytes_put_char(out, '{');
    bytes_put_str(out, form->members[0].label);
    json_put_string(out, text, len);
    bytes_put_char(out, '}');
}

static void write_raw(struct bytes *out, const char *text, size_t len)
{
    bytes_put(out, text, len);
}

static const struct value_form number = {.write = write_number};
static const struct value_form string = {.write = write_string};
static const struct value_form refusal = {.write = write_refusal};
static const struct value_form formless_value = {.write = write_formless};
static const struct form_member address_members[] = {{{STR_INIT("\"City\":")}, &string}};
static const struct value_form address = {
    .write = write_address, .members = address_members, .member_count = 1};
static const struct value_form strings = {.write = write_number, .element = &string};

static struct link_key link_keys[] = {{{STR_INIT("A=")}, 0, &number},
                                      {{STR_INIT("B=")}, 1, &number}};
static const struct row_link link = {{STR_INIT("http://h/T")}, {STR_INIT("/C")}, link_keys, 2};
static const struct row_link short_link = {{STR_INIT("T")}, {STR_INIT("")}, NULL, 0};

static const struct member flat_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"ID\":")}, .field = 0, .form = &number},
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Name\":")}, .field = 1, .form = &string},
};
static const struct member rich_members[] = {
    {.kind = MEMBER_CONSTANT, .label = {STR_INIT("\"@odata.type\":\"#NS.T\"")}},
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"A\":")}, .field = 0, .form = &number},
    {.kind = MEMBER_LINK, .label = {STR_INIT("\"@odata.id\":")}, .link = &link},
    {.kind = MEMBER_LINK, .label = {STR_INIT("\"x\":")}, .link = &short_link},
    {.kind = MEMBER_COUNT, .label = {STR_INIT("\"I@odata.count\":")}, .field = 2},
    {.kind = MEMBER_VALUE,
     .label = {STR_INIT("\"L\":")},
     .field = 3,
     .collection_null_is_empty = true,
     .form = &strings},
};
static const struct shape flat = {.members = flat_members, .count = ARRAY_SIZE(flat_members)};
static const struct shape rich = {.members = rich_members, .count = ARRAY_SIZE(rich_members)};
static const struct shape nothing = {.members = NULL, .count = 0};

/* Orders: {ID, Items: [{ID, Parts: [{ID,Name}], Of: to-one}], Customer: to-one {Name, Near: to-one},
   Notes: [{}], End} */
static const struct member near_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Near\":")}, .field = 2, .form = &string},
};
static const struct shape near_shape = {.members = near_members, .count = 1};
static const struct member customer_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Name\":")}, .field = 1, .form = &string},
    {.kind = MEMBER_TO_ONE, .label = {STR_INIT("\"City\":")}, .field = 2, .shape = &near_shape},
};
static const struct shape customer_shape = {.members = customer_members, .count = 2};
static const struct member item_members[] = {
    {.kind = MEMBER_TO_MANY, .label = {STR_INIT("\"Parts\":")}, .shape = &flat, .level = 2},
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Item\":")}, .field = 0, .form = &number},
};
static const struct shape item_shape = {.members = item_members, .count = 2};
static const struct member order_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"ID\":")}, .field = 0, .form = &number},
    {.kind = MEMBER_TO_MANY, .label = {STR_INIT("\"Items\":")}, .shape = &item_shape, .level = 1},
    {.kind = MEMBER_TO_ONE, .label = {STR_INIT("\"Cust\":")}, .field = 1, .shape = &customer_shape},
    {.kind = MEMBER_TO_MANY, .label = {STR_INIT("\"Notes\":")}, .shape = &nothing, .level = 3},
};
static const struct shape order_shape = {.members = order_members,
                                         .count = ARRAY_SIZE(order_members)};
/* Items by pages of one row. */
static const unsigned item_token[] = {0};
static const struct nested_page item_page = {.rows = 1,
                                             .label = {STR_INIT("\"Items@odata.nextLink\":")},
                                             .link = &link,
                                             .token_fields = item_token,
                                             .token_field_count = 1,
                                             .token_check = 7};
static const struct member paged_members[] = {
    {.kind = MEMBER_TO_MANY,
     .label = {STR_INIT("\"Items\":")},
     .shape = &item_shape,
     .level = 1,
     .page = &item_page},
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"ID\":")}, .field = 0, .form = &number},
};
static const struct shape paged_shape = {.members = paged_members, .count = 2};
static const struct member property_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Name\":")}, .field = 1, .form = &string}};
static const struct shape property = {.members = property_members, .count = 1};
static const struct member complex_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Addr\":")}, .field = 1, .form = &address}};
static const struct shape complex_property = {.members = complex_members, .count = 1};
static const struct member list_members[] = {{.kind = MEMBER_VALUE,
                                              .label = {STR_INIT("\"L\":")},
                                              .field = 1,
                                              .collection_null_is_empty = true,
                                              .form = &strings}};
static const struct shape list_property = {.members = list_members, .count = 1};
static const struct member refused_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Bad\":")}, .field = 0, .form = &refusal}};
static const struct shape refused = {.members = refused_members, .count = 1};
static const struct member formless_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Name\":")}, .field = 1, .form = &string},
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Odd\":")}, .field = 0, .form = &formless_value}};
static const struct shape formless = {.members = &formless_members[0], .count = 2};
static const struct shape formless_property = {.members = &formless_members[1], .count = 1};
static const struct member null_key_members[] = {
    {.kind = MEMBER_LINK, .label = {STR_INIT("\"@odata.id\":")}, .link = &link}};
static const struct shape null_key = {.members = null_key_members, .count = 1};
static const struct member bad_count_members[] = {
    {.kind = MEMBER_COUNT, .label = {STR_INIT("\"I@odata.count\":")}, .field = 1}};
static const struct shape bad_count = {.members = bad_count_members, .count = 1};

static const struct script_row no_rows[] = {{-1, {NULL}}};
static const struct script_row one_row[] = {{0, {"1", "Ch\"ai"}}, {-1, {NULL}}};
static const struct script_row null_row[] = {{0, {"1", NULL}}, {-1, {NULL}}};
static const struct script_row list_row[] = {{0, {"1", "[\"a\",null]"}}, {-1, {NULL}}};
static const struct script_row three_rows[] = {
    {0, {"1", "a"}}, {0, {"2", NULL}}, {0, {"3", ""}}, {-1, {NULL}}};
static const struct script_row rich_rows[] = {
    {0, {"1", "'x%20y'", "12", "[1]"}}, {0, {"2", "''", NULL, NULL}}, {-1, {NULL}}};
static const struct script_row orders[] = {
    {0, {"1", "Ann", "Ulm"}},
    {1, {"11"}},
    {2, {"111", "x"}},
    {2, {"112", "y"}},
    {1, {"12"}},
    {3, {NULL}},
    {3, {NULL}},
    {0, {"2", NULL}},
    {0, {"3", "Bob", NULL}},
    {1, {"31"}},
    {2, {"311", NULL}},
    {-1, {NULL}},
};

static const struct script_row paged_orders[] = {
    {0, {"1", "'x'"}}, {1, {"11"}}, {2, {"111", "x"}}, {1, {"12"}},
    {0, {"2", "'y'"}}, {1, {"21"}}, {-1, {NULL}},
};

static const unsigned token_fields[] = {1, 0};

#define CONTEXT .context = {STR_INIT("http://h/$metadata#T(\"q\")")}
#define HEAD    "{\"@odata.context\":\"http://h/$metadata#T(\\\"q\\\")\","
#define NEXT    .next_url = {STR_INIT("http://h/T?$filter=a%20eq%20\"\\&$skiptoken=")}
#define TOKEN \
    .token_fields = token_fields, .token_field_count = 2, .token_check = 77, .rows_before = 40

static const struct doc {
    const char *name;
    const struct script_row *rows;
    int64_t count;
    struct feed_spec spec;
    const char *body; /* up to the token, when there is one */
    uint64_t written;
    bool is_null;
    const char *token[2]; /* NULL = null; only when has_token */
    bool has_token;
    uint64_t token_rows;
} docs[] = {
    {.name = "no rows",
     .rows = no_rows,
     .spec = {.kind = FEED_COLLECTION, .shape = &flat, CONTEXT},
     .body = HEAD "\"value\":[]}"},
    {.name = "a page of an expanded collection",
     .rows = paged_orders,
     .spec = {.kind = FEED_COLLECTION, .shape = &paged_shape},
     .written = 2,
     .body =
         "{\"value\":[{\"Items\":[{\"Parts\":[{\"ID\":111,\"Name\":\"x\"}],\"Item\":11}],"
         "\"Items@odata.nextLink\":\"http://h/T(A=1,B='x')/CAQEBBwAAAAAAAAADMTHY1n97\",\"ID\":1},"
         "{\"Items\":[{\"Parts\":[],\"Item\":21}],\"ID\":2}]}"},
    {.name = "no context and no rows",
     .rows = no_rows,
     .spec = {.kind = FEED_COLLECTION, .shape = &flat},
     .body = "{\"value\":[]}"},
    {.name = "rows of values and nulls",
     .rows = three_rows,
     .spec = {.kind = FEED_COLLECTION, .shape = &flat, CONTEXT},
     .body = HEAD "\"value\":[{\"ID\":1,\"Name\":\"a\"},{\"ID\":2,\"Name\":null},"
                  "{\"ID\":3,\"Name\":\"\"}]}",
     .written = 3},
    {.name = "rows without members",
     .rows = three_rows,
     .spec = {.kind = FEED_COLLECTION, .shape = &nothing},
     .body = "{\"value\":[{},{},{}]}",
     .written = 3},
    {.name = "a count stands before the rows",
     .rows = one_row,
     .count = 5000000000,
     .spec = {.kind = FEED_COLLECTION, .shape = &flat, .has_count = true, CONTEXT},
     .body = HEAD "\"@odata.count\":5000000000,\"value\":[{\"ID\":1,\"Name\":\"Ch\\\"ai\"}]}",
     .written = 1},
    {.name = "a count is a string when Int64 are",
     .rows = no_rows,
     .count = 7,
     .spec =
         {.kind = FEED_COLLECTION, .shape = &flat, .has_count = true, .format = {.ieee754 = true}},
     .body = "{\"@odata.count\":\"7\",\"value\":[]}"},
    {.name = "metadata=none leaves out the context, not count and next link",
     .rows = three_rows,
     .count = 3,
     .spec = {.kind = FEED_COLLECTION,
              .shape = &flat,
              .has_count = true,
              .format = {.metadata = METADATA_NONE},
              .page_rows = 1,
              CONTEXT,
              NEXT,
              TOKEN},
     .body = "{\"@odata.count\":3,\"value\":[{\"ID\":1,\"Name\":\"a\"}],\"@odata.nextLink\":"
             "\"http://h/T?$filter=a%20eq%20\\\"\\\\&$skiptoken=",
     .written = 1,
     .has_token = true,
     .token = {"a", "1"},
     .token_rows = 41},
    {.name = "4.01 has the short names",
     .rows = three_rows,
     .count = 3,
     .spec = {.kind = FEED_COLLECTION,
              .shape = &flat,
              .has_count = true,
              .format = {.version = ODATA_4_01},
              .page_rows = 2,
              CONTEXT,
              NEXT,
              TOKEN},
     .body = "{\"@context\":\"http://h/$metadata#T(\\\"q\\\")\",\"@count\":3,\"value\":["
             "{\"ID\":1,\"Name\":\"a\"},{\"ID\":2,\"Name\":null}],\"@nextLink\":"
             "\"http://h/T?$filter=a%20eq%20\\\"\\\\&$skiptoken=",
     .written = 2,
     .has_token = true,
     .token = {NULL, "2"},
     .token_rows = 42},
    {.name = "the last page has no link",
     .rows = three_rows,
     .spec = {.kind = FEED_COLLECTION, .shape = &flat, .page_rows = 3, NEXT, TOKEN},
     .body = "{\"value\":[{\"ID\":1,\"Name\":\"a\"},{\"ID\":2,\"Name\":null},"
             "{\"ID\":3,\"Name\":\"\"}]}",
     .written = 3},
    {.name = "all kinds of members",
     .rows = rich_rows,
     .spec = {.kind = FEED_COLLECTION, .shape = &rich},
     .body =
         "{\"value\":[{\"@odata.type\":\"#NS.T\",\"A\":1,"
         "\"@odata.id\":\"http://h/T(A=1,B='x%20y')/C\",\"x\":\"T\",\"I@odata.count\":12,"
         "\"L\":[1]},{\"@odata.type\":\"#NS.T\",\"A\":2,\"@odata.id\":\"http://h/T(A=2,B='')/C\","
         "\"x\":\"T\",\"I@odata.count\":0,\"L\":[]}]}",
     .written = 2},
    {.name = "nested rows, none, and null entities",
     .rows = orders,
     .spec = {.kind = FEED_COLLECTION, .shape = &order_shape},
     .body = "{\"value\":[{\"ID\":1,\"Items\":[{\"Parts\":[{\"ID\":111,\"Name\":\"x\"},"
             "{\"ID\":112,\"Name\":\"y\"}],\"Item\":11},{\"Parts\":[],\"Item\":12}],"
             "\"Cust\":{\"Name\":\"Ann\",\"City\":{\"Near\":\"Ulm\"}},\"Notes\":[{},{}]},"
             "{\"ID\":2,\"Items\":[],\"Cust\":null,\"Notes\":[]},"
             "{\"ID\":3,\"Items\":[{\"Parts\":[{\"ID\":311,\"Name\":null}],\"Item\":31}],"
             "\"Cust\":{\"Name\":\"Bob\",\"City\":null},\"Notes\":[]}]}",
     .written = 3},
    {.name = "lines have no envelope",
     .rows = three_rows,
     .spec = {.kind = FEED_COLLECTION, .shape = &flat, .format = {.media = MEDIA_NDJSON}, CONTEXT},
     .body = "{\"ID\":1,\"Name\":\"a\"}\n{\"ID\":2,\"Name\":null}\n{\"ID\":3,\"Name\":\"\"}\n",
     .written = 3},
    {.name = "lines may hold collections",
     .rows = orders,
     .spec = {.kind = FEED_COLLECTION,
              .shape = &order_shape,
              .page_rows = 3,
              .format = {.media = MEDIA_NDJSON}},
     .body = "{\"ID\":1,\"Items\":[{\"Parts\":[{\"ID\":111,\"Name\":\"x\"},"
             "{\"ID\":112,\"Name\":\"y\"}],\"Item\":11},{\"Parts\":[],\"Item\":12}],"
             "\"Cust\":{\"Name\":\"Ann\",\"City\":{\"Near\":\"Ulm\"}},\"Notes\":[{},{}]}\n"
             "{\"ID\":2,\"Items\":[],\"Cust\":null,\"Notes\":[]}\n"
             "{\"ID\":3,\"Items\":[{\"Parts\":[{\"ID\":311,\"Name\":null}],\"Item\":31}],"
             "\"Cust\":{\"Name\":\"Bob\",\"City\":null},\"Notes\":[]}\n",
     .written = 3},
    {.name = "a page ends behind nested rows",
     .rows = orders,
     .spec = {.kind = FEED_COLLECTION, .shape = &order_shape, .page_rows = 1, NEXT, TOKEN},
     .body = "{\"value\":[{\"ID\":1,\"Items\":[{\"Parts\":[{\"ID\":111,\"Name\":\"x\"},"
             "{\"ID\":112,\"Name\":\"y\"}],\"Item\":11},{\"Parts\":[],\"Item\":12}],"
             "\"Cust\":{\"Name\":\"Ann\",\"City\":{\"Near\":\"Ulm\"}},\"Notes\":[{},{}]}],"
             "\"@odata.nextLink\":\"http://h/T?$filter=a%20eq%20\\\"\\\\&$skiptoken=",
     .written = 1,
     .has_token = true,
     .token = {"Ann", "1"},
     .token_rows = 41},
    {.name = "an entity",
     .rows = one_row,
     .spec = {.kind = FEED_ENTITY, .shape = &flat, CONTEXT},
     .body = HEAD "\"ID\":1,\"Name\":\"Ch\\\"ai\"}",
     .written = 1},
    {.name = "an entity without context",
     .rows = one_row,
     .spec = {.kind = FEED_ENTITY, .shape = &flat},
     .body = "{\"ID\":1,\"Name\":\"Ch\\\"ai\"}",
     .written = 1},
    {.name = "an entity without members",
     .rows = one_row,
     .spec = {.kind = FEED_ENTITY, .shape = &nothing},
     .body = "{}",
     .written = 1},
    {.name = "an entity with nested rows",
     .rows = (const struct script_row[]){{0, {"1", NULL}}, {1, {"2"}}, {-1, {NULL}}},
     .spec = {.kind = FEED_ENTITY, .shape = &order_shape, CONTEXT},
     .body = HEAD "\"ID\":1,\"Items\":[{\"Parts\":[],\"Item\":2}],\"Cust\":null,\"Notes\":[]}",
     .written = 1},
    {.name = "no entity",
     .rows = no_rows,
     .spec = {.kind = FEED_ENTITY, .shape = &flat, CONTEXT},
     .body = ""},
    {.name = "a property",
     .rows = one_row,
     .spec = {.kind = FEED_PROPERTY, .shape = &property, CONTEXT},
     .body = HEAD "\"value\":\"Ch\\\"ai\"}",
     .written = 1},
    {.name = "a property in 4.01",
     .rows = one_row,
     .spec =
         {.kind = FEED_PROPERTY, .shape = &property, .format = {.version = ODATA_4_01}, CONTEXT},
     .body = "{\"@context\":\"http://h/$metadata#T(\\\"q\\\")\",\"value\":\"Ch\\\"ai\"}",
     .written = 1},
    {.name = "a complex property has its members beside the context",
     .rows = one_row,
     .spec = {.kind = FEED_PROPERTY, .shape = &complex_property, CONTEXT},
     .body = HEAD "\"City\":\"Ch\\\"ai\"}",
     .written = 1},
    {.name = "a complex property without context",
     .rows = one_row,
     .spec = {.kind = FEED_PROPERTY, .shape = &complex_property},
     .body = "{\"City\":\"Ch\\\"ai\"}",
     .written = 1},
    {.name = "a collection property",
     .rows = list_row,
     .spec = {.kind = FEED_PROPERTY, .shape = &list_property},
     .body = "{\"value\":[\"a\",null]}",
     .written = 1},
    {.name = "a null collection property is empty",
     .rows = null_row,
     .spec = {.kind = FEED_PROPERTY, .shape = &list_property, CONTEXT},
     .body = HEAD "\"value\":[]}",
     .written = 1},
    {.name = "a null property is not written",
     .rows = null_row,
     .spec = {.kind = FEED_PROPERTY, .shape = &property, CONTEXT},
     .body = "",
     .written = 1,
     .is_null = true},
    {.name = "no row for a property",
     .rows = no_rows,
     .spec = {.kind = FEED_PROPERTY, .shape = &property, CONTEXT},
     .body = ""},
    {.name = "a raw value",
     .rows = one_row,
     .spec = {.kind = FEED_RAW_VALUE, .shape = &property, .raw = write_raw},
     .body = "Ch\"ai",
     .written = 1},
    {.name = "a null raw value",
     .rows = null_row,
     .spec = {.kind = FEED_RAW_VALUE, .shape = &property, .raw = write_raw},
     .body = "",
     .written = 1,
     .is_null = true},
    {.name = "a count alone",
     .rows = no_rows,
     .count = 1234567890123,
     .spec = {.kind = FEED_COUNT, CONTEXT},
     .body = "1234567890123"},
};

/* What a whole run leaves behind. */
struct outcome {
    enum step last;
    struct bytes body;
    struct odata_error err;
    uint64_t rows;
    bool is_null;
    int calls;
};

static void drain(struct bytes *out, struct bytes *body)
{
    bytes_put_str(body, bytes_str(out));
    bytes_drop_front(out, out->len);
}

static void run(const struct doc *doc, struct script *s, size_t high_mark, struct outcome *o)
{
    struct bytes out;
    bytes_init(&out, 65536);
    bytes_init(&o->body, 65536);
    o->err = (struct odata_error){0};
    struct feed_writer *w = feed_writer_new(&doc->spec, &s->base, &out);
    ck_assert_ptr_nonnull(w);
    for (int turns = 0;; turns++) {
        ck_assert_msg(turns < 10000, "%s: does not end", doc->name);
        o->last = feed_writer_step(w, high_mark, &o->err);
        ck_assert(o->last != STEP_OK || out.len >= high_mark);
        drain(&out, &o->body);
        if (o->last == STEP_END || o->last == STEP_FAIL) {
            break;
        }
    }
    struct odata_error again = {0};
    ck_assert_int_eq(feed_writer_step(w, high_mark, &again), o->last);
    o->rows = feed_writer_rows(w);
    o->is_null = feed_writer_is_null(w);
    o->calls = s->calls;
    feed_writer_free(w);
    bytes_fini(&out);
}

static void check_token(const struct doc *doc, struct str rest)
{
    ck_assert_msg(str_ends_with(rest, STR("\"}")), "%s: %.*s", doc->name, STR_ARG(rest));
    struct arena a;
    arena_init(&a, 65536);
    struct skip_token token;
    struct odata_error err;
    ck_assert_msg(
        skip_token_parse(&a, str_slice(rest, 0, rest.len - 2), &(uint64_t){77}, 1, 2, &token, &err),
        "%s: %.*s", doc->name, STR_ARG(rest));
    ck_assert_uint_eq(token.rows_before, doc->token_rows);
    for (int i = 0; i < 2; i++) {
        const char *want = doc->token[i];
        ck_assert_int_eq(token.values[i].len, want == NULL ? -1 : (int)strlen(want));
        ck_assert(want == NULL || memcmp(token.values[i].ptr, want, strlen(want)) == 0);
    }
    arena_fini(&a);
}

static void check_whole(const struct doc *doc, const struct outcome *o)
{
    struct str body = bytes_str(&o->body);
    struct str want = str_from(doc->body);
    ck_assert_msg(o->last == STEP_END, "%s: %s", doc->name, o->err.message);
    ck_assert_msg(str_eq(doc->has_token ? str_slice(body, 0, want.len) : body, want),
                  "%s:\n%.*s\n%s", doc->name, STR_ARG(body), doc->body);
    if (doc->has_token) {
        check_token(doc, str_from_offset(body, want.len));
    }
    ck_assert_uint_eq(o->rows, doc->written);
    ck_assert_int_eq(o->is_null, doc->is_null);
}

START_TEST(writes_the_document)
{
    const struct doc *doc = &docs[_i];
    for (size_t high_mark = 0; high_mark < 500; high_mark += high_mark < 60 ? 1 : 37) {
        for (int always = 0; always < 2; always++) {
            struct script s;
            struct outcome o;
            script_init(&s, doc->rows, doc->count);
            s.again_always = always == 1;
            run(doc, &s, high_mark, &o);
            check_whole(doc, &o);
            bytes_fini(&o.body);
            script_fini(&s);
        }
    }
}
END_TEST

START_TEST(waits_anywhere)
{
    const struct doc *doc = &docs[_i];
    int calls = 1;
    for (int at = 0; at < calls; at++) {
        struct script s;
        struct outcome o;
        script_init(&s, doc->rows, doc->count);
        s.again_at = at;
        run(doc, &s, 4096, &o);
        check_whole(doc, &o);
        calls = o.calls;
        bytes_fini(&o.body);
        script_fini(&s);
    }
}
END_TEST

START_TEST(stays_open_wherever_the_source_fails)
{
    const struct doc *doc = &docs[_i];
    struct str want = str_from(doc->body);
    int failed = 0;
    for (int at = 0;; at++) {
        struct script s;
        struct outcome o;
        script_init(&s, doc->rows, doc->count);
        s.fail_at = at;
        run(doc, &s, 1 + (size_t)at * 7 % 64, &o);
        bool is_over = o.last == STEP_END;
        struct str body = bytes_str(&o.body);
        if (!is_over) {
            failed++;
            ck_assert_int_eq(o.last, STEP_FAIL);
            ck_assert_msg(str_starts_with(want, body), "%s: %.*s", doc->name, STR_ARG(body));
            ck_assert_msg(body.len < want.len || want.len == 0 || doc->has_token ||
                              doc->spec.kind == FEED_RAW_VALUE || doc->spec.kind == FEED_PROPERTY ||
                              response_format_is_rows(&doc->spec.format),
                          "%s is complete", doc->name);
        }
        bytes_fini(&o.body);
        script_fini(&s);
        if (is_over) {
            break;
        }
    }
    ck_assert_int_gt(failed, 0);
}
END_TEST

START_TEST(fails_when_the_buffer_is_too_small)
{
    const struct doc *doc = &docs[_i];
    size_t whole = strlen(doc->body);
    for (size_t limit = 0; limit < whole; limit++) {
        struct script s;
        script_init(&s, doc->rows, doc->count);
        struct bytes out;
        bytes_init(&out, limit);
        struct feed_writer *w = feed_writer_new(&doc->spec, &s.base, &out);
        ck_assert_ptr_nonnull(w);
        struct odata_error err = {0};
        ck_assert_msg(feed_writer_step(w, 65536, &err) == STEP_FAIL, "%s at %zu", doc->name, limit);
        ck_assert_int_eq(err.http_status, 500);
        ck_assert_str_eq(err.code, ODATA_CODE_INTERNAL);
        feed_writer_free(w);
        bytes_fini(&out);
        script_fini(&s);
    }
}
END_TEST

#define MISFIT "503 ModelChanged: a value of 'Bad' does not fit the type of the property"

/* body: the error; NULL for the one that tells nothing of the inside. */
static const struct doc failing[] = {
    {.name = "a value without a form",
     .rows = one_row,
     .body = "500 BadData: a value of 'Odd' is a value of no use",
     .spec = {.kind = FEED_COLLECTION, .shape = &formless}},
    {.name = "a property without a form",
     .rows = one_row,
     .body = "500 BadData: a value of 'Odd' is a value of no use",
     .spec = {.kind = FEED_PROPERTY, .shape = &formless_property}},
    {.name = "a value writer refuses",
     .rows = one_row,
     .body = MISFIT,
     .spec = {.kind = FEED_COLLECTION, .shape = &refused}},
    {.name = "a refused value of an entity",
     .rows = one_row,
     .body = MISFIT,
     .spec = {.kind = FEED_ENTITY, .shape = &refused}},
    {.name = "a refused property",
     .rows = one_row,
     .body = MISFIT,
     .spec = {.kind = FEED_PROPERTY, .shape = &refused}},
    {.name = "a key that is null",
     .rows = null_row,
     .spec = {.kind = FEED_COLLECTION, .shape = &null_key}},
    {.name = "a count that is no number",
     .rows = one_row,
     .spec = {.kind = FEED_COLLECTION, .shape = &bad_count}},
    {.name = "two rows for one entity",
     .rows = three_rows,
     .body = "500 BadData: more than one entity has this key",
     .spec = {.kind = FEED_ENTITY, .shape = &flat}},
    {.name = "two rows for one property",
     .rows = three_rows,
     .body = "500 BadData: more than one entity has this key",
     .spec = {.kind = FEED_PROPERTY, .shape = &property}},
    {.name = "lines have no next link, so a page would lose rows",
     .rows = three_rows,
     .body = "400 BadQueryOption: there are more than the 2 rows that are sent at once, and this "
             "format has no next link: ask for $top=2 or less, or for application/json",
     .spec = {.kind = FEED_COLLECTION,
              .shape = &flat,
              .page_rows = 2,
              .format = {.media = MEDIA_NDJSON}}},
    {.name = "a page that cannot be linked to would lose rows",
     .rows = three_rows,
     .body =
         "400 BadQueryOption: there are more than the 1 rows that are sent at once, and the "
         "options are too long for a next link: ask for $top=1 or less, or with shorter options",
     .spec = {.kind = FEED_COLLECTION, .shape = &flat, .page_rows = 1}},
};

START_TEST(refuses)
{
    const struct doc *doc = &failing[_i];
    struct script s;
    struct outcome o;
    script_init(&s, doc->rows, 0);
    run(doc, &s, 4096, &o);
    ck_assert_msg(o.last == STEP_FAIL, "%s", doc->name);
    char error[512];
    snprintf(error, sizeof(error), "%d %s: %s", o.err.http_status, o.err.code, o.err.message);
    ck_assert_str_eq(error, doc->body != NULL
                                ? doc->body
                                : "500 InternalError: the response could not be written");
    bytes_fini(&o.body);
    script_fini(&s);
}
END_TEST

/* Ends after _i rows; once with the last row at hand, once when AGAIN has taken it away: then the
   next row comes first. */
START_TEST(ends_early_with_a_link)
{
    const struct feed_spec spec = {.kind = FEED_COLLECTION, .shape = &order_shape, NEXT, TOKEN};
    static const char *const ids[] = {"", "1", "2", "3"};
    for (int always = 0; always < 2; always++) {
        struct script s;
        script_init(&s, orders, 0);
        s.again_always = always == 1;
        struct bytes out;
        bytes_init(&out, 65536);
        struct feed_writer *w = feed_writer_new(&spec, &s.base, &out);
        ck_assert_ptr_nonnull(w);
        struct odata_error err = {0};
        enum step step = STEP_OK;
        while (feed_writer_rows(w) < (uint64_t)_i) {
            step = feed_writer_step(w, out.len + 1, &err);
            ck_assert(step == STEP_OK || step == STEP_AGAIN);
        }
        while (always == 1 && step != STEP_AGAIN) {
            step = feed_writer_step(w, out.len + 1, &err);
        }
        ck_assert(feed_writer_end_early(w));
        do {
            step = feed_writer_step(w, 65536, &err);
        } while (step == STEP_AGAIN);
        ck_assert_int_eq(step, STEP_END);
        uint64_t want_rows = always == 1 || _i == 0 ? (uint64_t)_i + 1 : (uint64_t)_i;
        ck_assert_uint_eq(feed_writer_rows(w), want_rows);
        size_t at = 0;
        struct str body = bytes_str(&out);
        struct str mark = STR("$skiptoken=");
        while (!str_starts_with(str_from_offset(body, at), mark)) {
            ck_assert_uint_lt(at++, body.len);
        }
        struct arena a;
        arena_init(&a, 65536);
        struct skip_token token;
        struct str rest = str_from_offset(body, at + mark.len);
        ck_assert(str_ends_with(rest, STR("\"}")));
        ck_assert(skip_token_parse(&a, str_slice(rest, 0, rest.len - 2), &(uint64_t){77}, 1, 2,
                                   &token, &err));
        ck_assert_uint_eq(token.rows_before, 40 + feed_writer_rows(w));
        ck_assert_int_eq(token.values[1].ptr[0], ids[want_rows][0]);
        arena_fini(&a);
        feed_writer_free(w);
        bytes_fini(&out);
        script_fini(&s);
    }
}
END_TEST

START_TEST(ends_early_only_what_can_be_resumed)
{
    const struct feed_spec specs[] = {
        {.kind = FEED_COLLECTION, .shape = &flat},
        {.kind = FEED_ENTITY, .shape = &flat, NEXT, TOKEN},
        {.kind = FEED_COUNT, NEXT},
    };
    struct script s;
    script_init(&s, no_rows, 0);
    struct bytes out;
    bytes_init(&out, 65536);
    struct feed_writer *w = feed_writer_new(&specs[_i], &s.base, &out);
    ck_assert_ptr_nonnull(w);
    ck_assert(!feed_writer_end_early(w));
    feed_writer_free(w);
    bytes_fini(&out);
    script_fini(&s);
}
END_TEST

START_TEST(refuses_a_shape_that_is_too_deep)
{
    struct member members[100];
    struct shape shapes[101];
    for (size_t i = 0; i < 100; i++) {
        members[i] = (struct member){
            .kind = MEMBER_TO_ONE, .label = STR("\"a\":"), .field = 0, .shape = &shapes[i + 1]};
        shapes[i] = (struct shape){.members = &members[i], .count = 1};
    }
    shapes[100] = flat;
    const struct doc shallow = {.name = "32 levels",
                                .spec = {.kind = FEED_COLLECTION, .shape = &shapes[68]}};
    const struct doc deep = {.name = "100 levels",
                             .spec = {.kind = FEED_COLLECTION, .shape = &shapes[0]}};
    const struct doc *both[] = {&shallow, &deep};
    for (int i = 0; i < 2; i++) {
        struct script s;
        struct outcome o;
        script_init(&s, one_row, 0);
        run(both[i], &s, 4096, &o);
        ck_assert_msg(o.last == (i == 0 ? STEP_END : STEP_FAIL), "%s", both[i]->name);
        bytes_fini(&o.body);
        script_fini(&s);
    }
}
END_TEST

Suite *feed_writer_suite(void);

Suite *feed_writer_suite(void)
{
    Suite *s = suite_create("feed_writer");
    TCase *t = tcase_create("documents");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, writes_the_document, 0, (int)ARRAY_SIZE(docs));
    tcase_add_loop_test(t, waits_anywhere, 0, (int)ARRAY_SIZE(docs));
    tcase_add_loop_test(t, stays_open_wherever_the_source_fails, 0, (int)ARRAY_SIZE(docs));
    tcase_add_loop_test(t, fails_when_the_buffer_is_too_small, 0, (int)ARRAY_SIZE(docs));
    tcase_add_loop_test(t, refuses, 0, (int)ARRAY_SIZE(failing));
    tcase_add_loop_test(t, ends_early_with_a_link, 0, 3);
    tcase_add_loop_test(t, ends_early_only_what_can_be_resumed, 0, 3);
    tcase_add_test(t, refuses_a_shape_that_is_too_deep);
    suite_add_tcase(s, t);
    return s;
}

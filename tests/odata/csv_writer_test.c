// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/csv_writer.h"
#include "tests/support/exact_copy.h"

enum {
    FIELDS = 5,
    ARENA_BYTES = 65536,
};

static void write_text(struct bytes *out, const char *text, size_t len,
                       const struct value_form *form)
{
    (void)form;
    csv_put_string(out, text, len);
}

static const struct value_form text_form = {.write = write_text};

static const struct row {
    const char *name;
    const char *text;
    const char *field;
} rows[] = {
    {"plain text", "Chai", "Chai"},
    {"an empty text is no null", "", "\"\""},
    {"a comma", "a,b", "\"a,b\""},
    {"a quote", "a\"b", "\"a\"\"b\""},
    {"quotes only", "\"\"", "\"\"\"\"\"\""},
    {"a line break", "a\nb", "\"a\nb\""},
    {"a carriage return", "a\r", "\"a\r\""},
    {"blanks stay", " a ", " a "},
    {"what a spreadsheet takes for a formula stays data", "=1+1", "=1+1"},
    {"other scripts",
     "Gr\xc3\xb6\xc3\x9f"
     "e",
     "Gr\xc3\xb6\xc3\x9f"
     "e"},
};

START_TEST(quotes)
{
    const struct row *row = &rows[_i];
    size_t len = strlen(row->text);
    char *copy = exact_copy(row->text, len);
    struct bytes out;
    bytes_init(&out, 1000);
    csv_put_string(&out, copy, len);
    ck_assert_msg(str_eq(bytes_str(&out), str_from(row->field)), "%s: %.*s", row->name,
                  STR_ARG(bytes_str(&out)));
    bytes_fini(&out);
    for (size_t limit = 0; limit < strlen(row->field); limit++) {
        bytes_init(&out, limit);
        csv_put_string(&out, copy, len);
        ck_assert_msg(bytes_failed(&out), "%s at %zu", row->name, limit);
        bytes_fini(&out);
    }
    free(copy);
}
END_TEST

/* {ID, Of: to-one {Name, Tags, In: to-one {City}}, Items@odata.count} */
static const struct member city_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"City\":")}, .field = 3, .form = &text_form},
};
static const struct shape city = {.members = city_members, .count = 1};
static const struct member of_members[] = {
    {.kind = MEMBER_CONSTANT, .label = {STR_INIT("\"@odata.type\":\"#a.b\"")}},
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"Name\":")}, .field = 1, .form = &text_form},
    {.kind = MEMBER_VALUE,
     .label = {STR_INIT("\"Tags\":")},
     .field = 2,
     .collection_null_is_empty = true,
     .form = &text_form},
    {.kind = MEMBER_TO_ONE, .label = {STR_INIT("\"In\":")}, .field = 3, .shape = &city},
};
static const struct shape of = {.members = of_members, .count = ARRAY_SIZE(of_members)};
static const struct member root_members[] = {
    {.kind = MEMBER_VALUE, .label = {STR_INIT("\"ID\":")}, .field = 0, .form = &text_form},
    {.kind = MEMBER_TO_ONE, .label = {STR_INIT("\"Of\":")}, .field = 1, .shape = &of},
    {.kind = MEMBER_COUNT, .label = {STR_INIT("\"Items@odata.count\":")}, .field = 4},
};
static const struct shape root = {.members = root_members, .count = ARRAY_SIZE(root_members)};
static const struct shape one = {.members = root_members, .count = 1};
static const struct shape nothing = {.members = NULL, .count = 0};
static const struct member many_members[] = {
    {.kind = MEMBER_TO_MANY, .label = {STR_INIT("\"Items\":")}, .shape = &one, .level = 1},
};
static const struct shape many = {.members = many_members, .count = 1};

#define HEADER "ID,Of/Name,Of/Tags,Of/In/City,Items@odata.count\r\n"

static const struct table {
    const char *name;
    const struct shape *shape;
    const char *fields[FIELDS];
    const char *body; /* NULL: refused */
} tables[] = {
    {"an entity and those it leads to",
     &root,
     {"1", "Ann", "[]", "Ulm", "3"},
     HEADER "1,Ann,[],Ulm,3\r\n"},
    {"nulls are empty, a null collection is none",
     &root,
     {"1", "", NULL, NULL, NULL},
     HEADER "1,\"\",[],,0\r\n"},
    {"an entity that is not there has no values",
     &root,
     {"1", NULL, NULL, NULL, "0"},
     HEADER "1,,,,0\r\n"},
    {"all is null", &root, {NULL, NULL, NULL, NULL, NULL}, HEADER ",,,,0\r\n"},
    {"a null alone is no empty line", &one, {NULL, NULL, NULL, NULL, NULL}, "ID\r\n\"\"\r\n"},
    {"no columns", &nothing, {NULL, NULL, NULL, NULL, NULL}, NULL},
    {"a collection", &many, {NULL, NULL, NULL, NULL, NULL}, NULL},
};

START_TEST(writes_tables)
{
    const struct table *t = &tables[_i];
    struct arena a;
    struct odata_error err = {0};
    const struct csv_table *table = NULL;
    arena_init(&a, ARENA_BYTES);
    bool made = csv_table_make(&a, t->shape, &table, &err);
    ck_assert_msg(made == (t->body != NULL), "%s: %s", t->name, err.message);
    ck_assert_int_eq(err.http_status, made ? 0 : 400);
    if (made) {
        struct field fields[FIELDS];
        for (int i = 0; i < FIELDS; i++) {
            fields[i].ptr = t->fields[i];
            fields[i].len = t->fields[i] == NULL ? -1 : (int32_t)strlen(t->fields[i]);
        }
        struct bytes out;
        bytes_init(&out, 1000);
        csv_put_header(&out, table);
        csv_put_row(&out, table, fields);
        ck_assert_msg(str_eq(bytes_str(&out), str_from(t->body)), "%s: %.*s", t->name,
                      STR_ARG(bytes_str(&out)));
        bytes_fini(&out);
    }
    arena_fini(&a);
}
END_TEST

Suite *csv_writer_suite(void);

Suite *csv_writer_suite(void)
{
    Suite *s = suite_create("csv_writer");
    TCase *t = tcase_create("lines");
    tcase_add_loop_test(t, quotes, 0, (int)ARRAY_SIZE(rows));
    tcase_add_loop_test(t, writes_tables, 0, (int)ARRAY_SIZE(tables));
    suite_add_tcase(s, t);
    return s;
}

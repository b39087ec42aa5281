// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "odata/compiler.h"
#include "server/log.h"

Suite *log_suite(void);

static const struct mask_row {
    const char *name;
    const char *target;
    const char *shown;
} mask_rows[] = {
    {"a plain path stays", "/Items", "/Items"},
    {"a key is masked", "/Items(5)/Name", "/Items(*)/Name"},
    {"a text key is masked", "/Items('a''b')/X", "/Items('*')/X"},
    {"an encoded quote as well", "/Items(%27a%27%27b%27)/X", "/Items('*')/X"},
    {"a name with digits stays", "/Items2/a1", "/Items2/a1"},
    {"a filter shows its shape", "/I?$filter=Name eq 'secret' and Age gt 42",
     "/I?$filter=Name eq '*' and Age gt *"},
    {"dates and guids are literals", "/I?%24filter=d%20ge%202024-01-01T00:00:00Z",
     "/I?%24filter=d%20ge%20*"},
    {"a text without an end hides the rest", "/I?$filter=a eq 'secret", "/I?$filter=a eq '*'"},
    {"paging stays", "/I?$top=20&$skip=40&$count=true", "/I?$top=20&$skip=40&$count=true"},
    {"tokens and searches are hidden", "/I?$skiptoken=abc&$search=me", "/I?$skiptoken=*&$search=*"},
    {"other options are hidden", "/I?apikey=secret&flag", "/I?apikey=*&flag"},
    {"an alias is hidden", "/I?@p=1", "/I?@p=*"},
};

START_TEST(masks)
{
    const struct mask_row *row = &mask_rows[_i];
    struct bytes out;
    bytes_init(&out, 4096);
    log_mask_target(&out, str_from(row->target));
    ck_assert_msg(str_eq(bytes_str(&out), str_from(row->shown)), "%s: %.*s", row->name,
                  (int)out.len, out.ptr);
    bytes_fini(&out);
}
END_TEST

/* What one line becomes, read back from a pipe. */
static void write_line(enum log_format format, const char *value, char *text, size_t size)
{
    int ends[2];
    struct log l;
    ck_assert_int_eq(pipe(ends), 0);
    log_init(&l, ends[1], LOG_INFO, format);
    log_begin(&l, LOG_INFO, "test");
    log_text(&l, "k", value);
    log_int(&l, "n", -7);
    log_us(&l, "ms", 12345);
    log_end(&l);
    log_fini(&l);
    close(ends[1]);
    ssize_t got = read(ends[0], text, size - 1);
    ck_assert_int_gt(got, 0);
    text[got] = '\0';
    close(ends[0]);
}

static const struct line_row {
    const char *name;
    enum log_format format;
    const char *value;
    const char *end;
} line_rows[] = {
    {"a word needs no quotes", LOG_TEXT, "abc", " level=info event=test k=abc n=-7 ms=12.345\n"},
    {"a blank does", LOG_TEXT, "a b", " level=info event=test k=\"a b\" n=-7 ms=12.345\n"},
    {"nothing is two quotes", LOG_TEXT, "", " level=info event=test k=\"\" n=-7 ms=12.345\n"},
    {"a new line cannot make one", LOG_TEXT, "a\nlevel=error",
     " level=info event=test k=\"a\\u000alevel=error\" n=-7 ms=12.345\n"},
    {"a quote is escaped", LOG_TEXT, "a\"b\\",
     " level=info event=test k=\"a\\\"b\\\\\" n=-7 ms=12.345\n"},
    {"bytes beyond ASCII are escaped", LOG_JSON, "\xff",
     "\",\"level\":\"info\",\"event\":\"test\",\"k\":\"\\u00ff\",\"n\":-7,\"ms\":12.345}\n"},
    {"JSON", LOG_JSON, "a\"\x1b",
     "\",\"level\":\"info\",\"event\":\"test\",\"k\":\"a\\\"\\u001b\",\"n\":-7,\"ms\":12.345}\n"},
};

START_TEST(writes_lines)
{
    const struct line_row *row = &line_rows[_i];
    char text[512];
    write_line(row->format, row->value, text, sizeof(text));
    ck_assert_msg(str_ends_with(str_from(text), str_from(row->end)), "%s: %s", row->name, text);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

START_TEST(holds_back_repeated_warnings)
{
    int ends[2];
    struct log l;
    char text[65536];
    ck_assert_int_eq(pipe(ends), 0);
    log_init(&l, ends[1], LOG_INFO, LOG_TEXT);
    for (int i = 0; i < 100; i++) {
        log_event(&l, LOG_WARNING, "flood", "k", "v");
    }
    log_fini(&l);
    close(ends[1]);
    ssize_t got = read(ends[0], text, sizeof(text));
    ck_assert_int_gt(got, 0);
    int lines = 0;
    for (ssize_t i = 0; i < got; i++) {
        lines += text[i] == '\n';
    }
    close(ends[0]);
    /* The loop may meet the turn of a second. */
    ck_assert_int_ge(lines, LOG_LINES_PER_S);
    ck_assert_int_le(lines, 2 * LOG_LINES_PER_S);
}
END_TEST

START_TEST(never_blocks_on_a_full_pipe)
{
    int ends[2];
    struct log l;
    ck_assert_int_eq(pipe(ends), 0);
    log_init(&l, ends[1], LOG_INFO, LOG_TEXT);
    char value[1024];
    memset(value, 'x', sizeof(value));
    for (int i = 0; i < 3000; i++) {
        log_begin(&l, LOG_INFO, "request");
        log_str(&l, "k", (struct str){value, sizeof(value)});
        log_end(&l);
        log_flush(&l);
    }
    ck_assert_uint_gt(l.dropped, 0);
    close(ends[0]);
    close(ends[1]);
    bytes_fini(&l.out);
}
END_TEST

START_TEST(what_goes_on_is_said_once_a_minute)
{
    struct log_news news = {0};
    ck_assert(log_is_news(&news, "down", 1000));
    ck_assert(!log_is_news(&news, "down", 1001));
    ck_assert(!log_is_news(&news, "down", 1000 + LOG_NEWS_MS - 1));
    ck_assert(log_is_news(&news, "down", 1000 + LOG_NEWS_MS));
    ck_assert(log_is_news(&news, "refused", 1001 + LOG_NEWS_MS));
    ck_assert(log_is_news(&news, "down", 1002 + LOG_NEWS_MS));
}
END_TEST

Suite *log_suite(void)
{
    Suite *s = suite_create("log");
    TCase *t = tcase_create("log");
    tcase_add_loop_test(t, masks, 0, (int)ARRAY_SIZE(mask_rows));
    tcase_add_loop_test(t, writes_lines, 0, (int)ARRAY_SIZE(line_rows));
    tcase_add_test(t, holds_back_repeated_warnings);
    tcase_add_test(t, what_goes_on_is_said_once_a_minute);
    tcase_add_test(t, never_blocks_on_a_full_pipe);
    suite_add_tcase(s, t);
    return s;
}

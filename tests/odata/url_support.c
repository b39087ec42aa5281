// SPDX-License-Identifier: Apache-2.0
#include "tests/odata/url_support.h"

#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "tests/support/exact_copy.h"

enum {
    ARENA_BYTES = 4 * 1024 * 1024,
    DUMP_BYTES = 1024 * 1024,
};

static bool run(url_parse_fn parse, struct str text, size_t limit, struct bytes *dump,
                struct odata_error *err)
{
    struct arena a;
    arena_init(&a, limit);
    *err = (struct odata_error){0};
    bool ok = parse(&a, text, dump, err);
    arena_fini(&a);
    return ok;
}

void url_check_good(url_parse_fn parse, const struct url_good *row)
{
    struct bytes dump;
    struct odata_error err;
    bytes_init(&dump, DUMP_BYTES);
    bool ok = run(parse, str_from(row->text), ARENA_BYTES, &dump, &err);
    ck_assert_msg(ok, "%s: %s: %s", row->name, row->text, err.message);
    ck_assert(!bytes_failed(&dump));
    ck_assert_msg(str_eq(bytes_str(&dump), str_from(row->dump)), "%s: %s: got %.*s, expected %s",
                  row->name, row->text, STR_ARG(bytes_str(&dump)), row->dump);
    bytes_fini(&dump);
}

void url_check_bad(url_parse_fn parse, const struct url_bad *row)
{
    struct bytes dump;
    struct odata_error err;
    bytes_init(&dump, DUMP_BYTES);
    bool ok = run(parse, str_from(row->text), ARENA_BYTES, &dump, &err);
    ck_assert_msg(!ok, "%s: %s parsed to %.*s", row->name, row->text, STR_ARG(bytes_str(&dump)));
    ck_assert_msg(err.http_status == row->http_status, "%s: %d %s", row->name, err.http_status,
                  err.message);
    ck_assert_msg(strcmp(err.code, row->code) == 0, "%s: %s %s", row->name, err.code, err.message);
    ck_assert_msg(strstr(err.message, row->message) != NULL, "%s: %s", row->name, err.message);
    bytes_fini(&dump);
}

void url_check_prefixes(url_parse_fn parse, const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i <= len; i++) {
        struct bytes dump;
        struct odata_error err;
        char *exact = exact_copy(text, i);
        bytes_init(&dump, DUMP_BYTES);
        if (!run(parse, (struct str){exact, i}, ARENA_BYTES, &dump, &err)) {
            ck_assert_msg(err.http_status == 400 || err.http_status == 501, "%zu bytes of %s: %d",
                          i, text, err.http_status);
            ck_assert_ptr_nonnull(err.code);
            ck_assert_msg(err.message[0] != '\0', "%zu bytes of %s", i, text);
        }
        bytes_fini(&dump);
        free(exact);
    }
}

void url_check_arena(url_parse_fn parse, const char *text)
{
    struct bytes dump;
    struct odata_error err;
    bytes_init(&dump, DUMP_BYTES);
    for (size_t limit = 0;; limit += 16) {
        bytes_clear(&dump);
        if (run(parse, str_from(text), limit, &dump, &err)) {
            break;
        }
        ck_assert_msg(strcmp(err.code, ODATA_CODE_REQUEST_TOO_COMPLEX) == 0,
                      "%s with %zu bytes: %s", text, limit, err.message);
        ck_assert_msg(limit < ARENA_BYTES, "%s", text);
    }
    bytes_fini(&dump);
}

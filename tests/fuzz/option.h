// SPDX-License-Identifier: Apache-2.0
/*
 * option - any bytes as the value of one query option: parsed, bound to the shop's model and made
 * into SQL, or refused with an error that says why.
 */
#ifndef TESTS_FUZZ_OPTION_H
#define TESTS_FUZZ_OPTION_H

#include <assert.h>
#include <stdint.h>

#include "odata/limits.h"
#include "odata/path_parse.h"
#include "odata/query_parse.h"
#include "storage/sql_read.h"
#include "tests/support/shop_model.h"

static inline void fuzz_option(const char *set, const char *option, const uint8_t *data,
                               size_t size)
{
    static const struct query_limits limits = {LIMIT_EXPR_DEPTH, LIMIT_EXPAND_DEPTH};
    static const struct sql_read_options sql_options = {.service_root = {STR_INIT("http://h/")}};
    static struct model *model; /* made once for the process */
    if (model == NULL) {
        model = shop_model_new();
    }
    const struct bind_options options = {.model = model};
    struct arena a;
    struct bytes text;
    struct resource_path path;
    struct query q;
    struct odata_error err = {0};
    const struct plan *plan = NULL;
    const struct sql_read *read = NULL;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bytes_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    bytes_put_str(&text, str_from(option));
    bytes_put_char(&text, '=');
    bytes_put(&text, (const char *)data, size);
    bool ok = path_parse(&a, str_from(set), &path, &err) &&
              query_parse(&a, bytes_str(&text), &limits, &q, &err) &&
              bind_request(&a, &options, &path, &q, &plan, &err) &&
              sql_read_build(&a, plan, &sql_options, &read, &err);
    assert(ok || (err.http_status >= 400 && err.message[0] != '\0'));
    /* Nothing but memory may fail for our own reasons, and here none is short. */
    assert(ok || err.http_status < 500 || err.http_status == 501);
    bytes_fini(&text);
    arena_fini(&a);
}

#endif

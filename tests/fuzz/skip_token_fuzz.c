// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "odata/skip_token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* As a token: refused, or it must come out again as it came in. */
    struct str text = {(const char *)data, size};
    for (size_t expected = 0; expected < 4; expected++) {
        struct arena a;
        arena_init(&a, 1 << 20);
        struct skip_token token;
        struct odata_error err = {0};
        if (skip_token_parse(&a, text, &(uint64_t){0}, 1, expected, &token, &err)) {
            static const unsigned indexes[] = {0, 1, 2, 3};
            struct bytes out;
            bytes_init(&out, 1 << 20);
            if (!skip_token_put(&out, token.values, indexes, token.count, token.rows_before, 0) ||
                !str_eq(bytes_str(&out), text)) {
                abort();
            }
            bytes_fini(&out);
        } else if (err.http_status != 400) {
            abort();
        }
        arena_fini(&a);
    }
    /* As values: a token of them must come back. */
    struct field fields[2] = {{(const char *)data, (int32_t)(size / 2)},
                              {(const char *)data + size / 2, (int32_t)(size - size / 2)}};
    if (size % 3 == 0) {
        fields[0].len = -1;
    }
    static const unsigned both[] = {1, 0};
    struct bytes out;
    bytes_init(&out, 1 << 20);
    if (skip_token_put(&out, fields, both, 2, size, UINT64_MAX)) {
        struct arena a;
        arena_init(&a, 1 << 20);
        struct skip_token token;
        struct odata_error err;
        if (!skip_token_parse(&a, bytes_str(&out), &(uint64_t){UINT64_MAX}, 1, 2, &token, &err) ||
            token.rows_before != size || token.values[1].len != fields[0].len ||
            token.values[0].len != fields[1].len ||
            (fields[1].len > 0 &&
             memcmp(token.values[0].ptr, fields[1].ptr, (size_t)fields[1].len) != 0)) {
            abort();
        }
        arena_fini(&a);
    }
    bytes_fini(&out);
    return 0;
}

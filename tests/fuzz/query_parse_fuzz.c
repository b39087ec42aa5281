// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the query of a URL: parses, or fails with an error that says why. */
#include <assert.h>
#include <stdint.h>

#include "odata/limits.h"
#include "odata/query_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct query_limits limits = {LIMIT_EXPR_DEPTH, LIMIT_EXPAND_DEPTH};
    struct arena a;
    struct query q;
    struct odata_error err = {0};
    struct bytes dump;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bytes_init(&dump, LIMIT_REQUEST_ARENA_BYTES);
    if (query_parse(&a, (struct str){(const char *)data, size}, &limits, &q, &err)) {
        query_dump(&q, &dump);
    } else {
        assert(err.http_status >= 400 && err.message[0] != '\0');
    }
    bytes_fini(&dump);
    arena_fini(&a);
    return 0;
}

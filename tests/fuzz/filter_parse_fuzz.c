// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the value of $filter: parses, or fails with an error that says why. */
#include <assert.h>
#include <stdint.h>

#include "odata/filter_parse.h"
#include "odata/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct expr *e;
    struct odata_error err = {0};
    struct bytes dump;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bytes_init(&dump, LIMIT_REQUEST_ARENA_BYTES);
    if (filter_parse(&a, (struct str){(const char *)data, size}, LIMIT_EXPR_DEPTH, &e, &err)) {
        assert(e->height <= LIMIT_EXPR_HEIGHT);
        expr_dump(e, &dump);
    } else {
        assert(err.http_status >= 400 && err.message[0] != '\0');
    }
    bytes_fini(&dump);
    arena_fini(&a);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a pattern of matchesPattern: rewritten, or refused with a place inside of it. */
#include <assert.h>
#include <stdint.h>

#include "odata/ecma_regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ecma_regex_problem problem = {0};
    struct bytes out;
    bytes_init(&out, (size_t)1 << 20);
    if (!ecma_regex_rewrite((struct str){(const char *)data, size}, &out, &problem)) {
        assert(problem.text != NULL && problem.at <= size);
    }
    bytes_fini(&out);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Any bytes as $orderby of a set: SQL, or an error that says why. */
#include "tests/fuzz/option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_option("Products", "$orderby", data, size);
    return 0;
}

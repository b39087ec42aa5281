// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a literal of any kind, and where one begins inside of a text. */
#include <assert.h>
#include <stdint.h>

#include "odata/literal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct literal found;
    for (int kind = LITERAL_NULL; kind <= LITERAL_GEOMETRY; kind++) {
        (void)!literal_is((enum literal_kind)kind, text);
    }
    (void)!literal_is_enum_value(text);
    for (size_t at = 0; at < size && at < 64; at++) {
        if (literal_scan(text, at, &found) && found.problem == NULL) {
            assert(found.end > at && found.end <= size);
        }
    }
    return 0;
}

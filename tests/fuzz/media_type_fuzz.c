// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "odata/media_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    size_t cut = size > 0 ? data[0] % (size + 1) : 0;
    struct str format = str_from_offset(text, cut);
    for (int resource = MEDIA_OF_DATA; resource <= MEDIA_OF_RAW_BINARY; resource++) {
        struct response_format result;
        struct odata_error err = {0};
        if (!media_type_negotiate((enum media_resource)resource, ODATA_4_0, text, NULL, &result,
                                  &err) &&
            err.http_status != 406) {
            abort();
        }
        err = (struct odata_error){0};
        if (!media_type_negotiate((enum media_resource)resource, ODATA_4_01,
                                  str_slice(text, 0, cut), &format, &result, &err) &&
            err.http_status != 406 && err.http_status != 400) {
            abort();
        }
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "odata/bytes.h"
#include "odata/prefer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct preferences p;
    prefer_parse((struct str){(const char *)data, size}, &p);
    struct bytes out;
    bytes_init(&out, 64);
    prefer_put_applied(&out, &p);
    if (bytes_failed(&out) || (out.len > 0) != (p.max_page_size > 0)) {
        abort();
    }
    bytes_fini(&out);
    return 0;
}

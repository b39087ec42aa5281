// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the resource path of a URL: parses, or fails with an error that says why. */
#include <assert.h>
#include <stdint.h>

#include "odata/limits.h"
#include "odata/path_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a;
    struct resource_path path;
    struct odata_error err = {0};
    struct bytes dump;
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bytes_init(&dump, LIMIT_REQUEST_ARENA_BYTES);
    if (path_parse(&a, (struct str){(const char *)data, size}, &path, &err)) {
        assert(path.count <= LIMIT_PATH_SEGMENTS);
        resource_path_dump(&path, &dump);
    } else {
        assert(err.http_status >= 400 && err.message[0] != '\0');
    }
    bytes_fini(&dump);
    arena_fini(&a);
    return 0;
}

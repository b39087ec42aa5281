// SPDX-License-Identifier: Apache-2.0
/* Any bytes as OData-MaxVersion and as OData-Version. */
#include <assert.h>
#include <stdint.h>

#include "odata/odata_version.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    enum odata_version version;
    struct odata_error err = {0};
    if (!odata_version_negotiate(text, STR(""), &version, &err)) {
        assert(err.http_status == 400);
    }
    if (!odata_version_negotiate(STR(""), text, &version, &err)) {
        assert(err.http_status == 400);
    }
    return 0;
}

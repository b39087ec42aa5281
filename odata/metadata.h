// SPDX-License-Identifier: Apache-2.0
/*
 * metadata - $metadata: the model as CSDL 4.0 or 4.01, in XML or JSON.
 *
 * One walk over the model says what is to be written; how, is said by odata/metadata_xml.c and
 * odata/metadata_json.c (odata/metadata_sink.h).
 *
 * Owns:   nothing; failures stick to the buffer (odata/bytes.h).
 * Source: CSDL XML 4.01, CSDL JSON 4.01; annotations of the vocabularies Org.OData.Core.V1 and
 *         Org.OData.Capabilities.V1, few, and only such as are true.
 */
#ifndef ODATA_METADATA_H
#define ODATA_METADATA_H

#include <stdbool.h>

#include "odata/bytes.h"
#include "odata/model.h"
#include "odata/response_format.h"

/* What the service can do besides plain reads, as vocabularies say it. */
struct metadata_features {
    bool can_write;          /* POST, PATCH, PUT, DELETE */
    bool can_search;         /* $search */
    bool can_batch;          /* $batch */
    bool can_apply;          /* $apply: Aggregation.ApplySupported */
    bool has_alternate_keys; /* Set(Email='...') by a unique key: Core.AlternateKeys */
};

/* media: MEDIA_XML or MEDIA_JSON. */
void metadata_put(struct bytes *out, const struct model *m, enum odata_version version,
                  enum media media, const struct metadata_features *features);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * openapi - the service as an OpenAPI 3.1 document: paths of sets, keys and navigation, query
 * options as parameters, types as schemas.
 *
 * For tools that read no CSDL. It describes the default answers, those of OData 4.0; a property that
 * may be NaN is still a number here, since generators of clients trip over anything else.
 *
 * Owns:   nothing; failures stick to the buffer (odata/bytes.h).
 * Source: OpenAPI 3.1.0; names of types, paths and parameters as in the committee note "OData to
 *         OpenAPI Mapping" 1.0.
 */
#ifndef ODATA_OPENAPI_H
#define ODATA_OPENAPI_H

#include "odata/bytes.h"
#include "odata/metadata.h"
#include "odata/model.h"

/* Addresses in it are relative, so that it is right wherever the service is. */
void openapi_put(struct bytes *out, const struct model *m,
                 const struct metadata_features *features);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * service_doc - the service document: which entity sets there are (JSON Format 5).
 *
 * Owns: nothing; failures stick to the buffer (odata/bytes.h).
 */
#ifndef ODATA_SERVICE_DOC_H
#define ODATA_SERVICE_DOC_H

#include "odata/bytes.h"
#include "odata/model.h"
#include "odata/response_format.h"
#include "odata/str.h"

/* context: the absolute URL of $metadata, not escaped; it is left out with metadata=none. */
void service_doc_put(struct bytes *out, const struct model *m, const struct response_format *format,
                     struct str context);

#endif

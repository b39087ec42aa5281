// SPDX-License-Identifier: Apache-2.0
/*
 * odata_version - which version of the protocol an answer is written in.
 *
 * Source: Protocol 5.1, 8.1.5 (OData-Version), 8.2.7 (OData-MaxVersion).
 */
#ifndef ODATA_ODATA_VERSION_H
#define ODATA_ODATA_VERSION_H

#include <stdbool.h>

#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/response_format.h"
#include "odata/str.h"

/*
 * max_version, version: the request's OData-MaxVersion and OData-Version, "" when there is none.
 *
 * 4.01 only for who asks for at least 4.01, else 4.0. What stands behind a semicolon is dropped: old
 * .NET clients send `4.0;NetFx`.
 * False fills err: 400 BadHeader for what is no version, for a maximum below 4.0, and for a request
 * that is neither 4.0 nor 4.01.
 */
bool odata_version_negotiate(struct str max_version, struct str version,
                             enum odata_version *out_version, struct odata_error *err) NODISCARD;

/* "4.0" or "4.01": the response's OData-Version. */
const char *odata_version_text(enum odata_version version);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * error_writer - the body of an error response (JSON Format 21.1).
 *
 * Owns: nothing; failures stick to the buffer (odata/bytes.h).
 */
#ifndef ODATA_ERROR_WRITER_H
#define ODATA_ERROR_WRITER_H

#include "odata/bytes.h"
#include "odata/odata_error.h"

/* Appends `{"error":{"code":...,"message":...}}`, with the target when there is one. */
void error_writer_put(struct bytes *out, const struct odata_error *err);

#endif

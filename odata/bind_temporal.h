// SPDX-License-Identifier: Apache-2.0
/*
 * bind_temporal - OData's text of dates, times, durations and octets, checked and rewritten as
 * PostgreSQL reads it.
 *
 * PostgreSQL's own input is both laxer (2012-2-9, 24:00:00, a missing zone) and stricter (a sign
 * before P) than the ABNF; so nothing reaches it that was not read here.
 * Source: OData 4.01 ABNF, section 7.
 */
#ifndef ODATA_BIND_TEMPORAL_H
#define ODATA_BIND_TEMPORAL_H

#include <stdbool.h>

#include "odata/bytes.h"
#include "odata/str.h"

/* False when text is not of the type. */
bool bind_date_text(struct str text, struct bytes *out);
bool bind_timeofday_text(struct str text, struct bytes *out);
bool bind_datetimeoffset_text(struct str text, struct bytes *out);
/* Days as they are; hours, minutes and seconds each with the sign of the whole. */
bool bind_duration_text(struct str text, struct bytes *out);
/* base64url, with or without padding, to \x hexadecimal. */
bool bind_binary_text(struct str text, struct bytes *out);

#endif

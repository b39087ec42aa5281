// SPDX-License-Identifier: Apache-2.0
/*
 * reply - the heads of responses, and the responses that need no database.
 *
 * Every response says OData-Version once, its Content-Type when it has a body, what it depends on
 * (Vary), and what a page of another origin may read.
 */
#ifndef SERVER_REPLY_H
#define SERVER_REPLY_H

#include "odata/odata_error.h"
#include "odata/prefer.h"
#include "odata/response_format.h"
#include "server/document.h"
#include "server/http.h"
#include "server/service.h"
#include "server/timing.h"

/* Status and the fields that every response has. */
void reply_begin(struct http_exchange *x, const struct service *s, int status,
                 enum odata_version version);

/* Content-Type of a form of OData. */
void reply_content_type(struct http_exchange *x, const struct response_format *format);

/* Preference-Applied; applied: enum prefer_applied. */
void reply_preferences(struct http_exchange *x, const struct preferences *p, unsigned applied);

/* Server-Timing, when that is on: the head is about to go out. */
void reply_timing(struct http_exchange *x, struct timing *timing);

/* The whole body: lent until the exchange ends. */
void reply_body(struct http_exchange *x, struct str body);

/* A document of the model, or 304 when the client has it; text is lent until the exchange ends. */
void reply_document(struct http_exchange *x, const struct service *s, enum odata_version version,
                    const struct document_text *text);

/*
 * Fills x->response with an error document (Protocol 9.4; JSON Format 21.1). The caller sends it.
 */
void reply_error(struct http_exchange *x, const struct service *s, enum odata_version version,
                 const struct odata_error *err);

/* OPTIONS: what may be done here, to whom; no database is asked. */
void reply_options(struct http_exchange *x, const struct service *s);

/* /healthz, /readyz and /metrics. */
void reply_health(struct http_exchange *x, const struct service *s);
void reply_ready(struct http_exchange *x, const struct service *s);
void reply_metrics(struct http_exchange *x, const struct service *s);

#endif

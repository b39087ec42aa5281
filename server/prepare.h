// SPDX-License-Identifier: Apache-2.0
/*
 * prepare - from head and target of a request to a bound plan and the form of its answer.
 *
 * Asks no database: what is wrong with a request is found here, before it may wait for anything.
 *
 * Owns: nothing; everything lives in the exchange's arena and lends from the document's model.
 */
#ifndef SERVER_PREPARE_H
#define SERVER_PREPARE_H

#include <stdbool.h>

#include "odata/plan.h"
#include "odata/prefer.h"
#include "server/document.h"
#include "server/http.h"
#include "server/service.h"
#include "server/timing.h"

struct prepared {
    enum odata_version version;
    struct response_format format;
    struct preferences preferences;
    struct str root;      /* of the service, absolute, ends in '/' */
    struct str raw_path;  /* relative to root */
    struct str raw_query; /* with the options of a POST to /$query */
    size_t token_room; /* bytes that a next link has left for its token; 0: no link can be made */
    const struct plan *plan;
    struct timing *timing; /* set before */
};

/* The version that answers are written in, errors included; false fills err. */
bool prepare_version(const struct http_exchange *x, enum odata_version *out_version,
                     struct odata_error *err) NODISCARD;

/*
 * out->version and timing are set before. False fills err: the status for the client, whatever stage found it.
 */
bool prepare(struct http_exchange *x, const struct service *s, const struct document *document,
             const struct route_target *target, struct prepared *out,
             struct odata_error *err) NODISCARD;

/* The same for /$openapi: the options of any document, JSON only. */
bool prepare_openapi(struct http_exchange *x, const struct service *s,
                     const struct document *document, struct str raw_query, struct prepared *out,
                     struct odata_error *err) NODISCARD;

/* Which preferences shape the answer: enum prefer_applied. */
unsigned prepare_applied(const struct prepared *p);

/* A value for feed_spec.next_url; "" for what has no next page. */
bool prepare_next_url(struct http_exchange *x, const struct prepared *p, struct str *out_url,
                      struct odata_error *err) NODISCARD;

#endif

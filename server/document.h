// SPDX-License-Identifier: Apache-2.0
/*
 * document - a model with the documents that are made from it once: $metadata in both versions and
 * both forms, and the OpenAPI document, which is made when it is asked for first: it is the largest
 * (40 MB for 10,000 tables), and most services are never asked.
 *
 * Owns:    its model (one reference) and its texts; counted itself, so that a response that is
 *          still being sent keeps the one that it started with.
 * Threads: immutable once made; retain and release are atomic. Who asks for the OpenAPI document
 *          while another thread makes it waits for that thread.
 */
#ifndef SERVER_DOCUMENT_H
#define SERVER_DOCUMENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/metadata.h"
#include "odata/model.h"
#include "odata/odata_error.h"
#include "odata/response_format.h"

/* One of the texts, as it is sent. */
struct document_text {
    struct bytes body;
    char etag[40];            /* W/"fingerprint-version-form" */
    const char *content_type; /* static */
};

enum {
    DOCUMENT_VERSIONS = 2, /* by enum odata_version */
    DOCUMENT_FORMS = 2,    /* XML, JSON */
};

/* What $metadata may promise. */
extern const struct metadata_features document_features;

struct document {
    _Atomic size_t references;
    struct model *model;
    struct document_text metadata[DOCUMENT_VERSIONS][DOCUMENT_FORMS];
    pthread_mutex_t openapi_lock; /* held while it is made */
    struct document_text openapi; /* its body is empty until then */
};

/* Takes model, also when it fails (memory is short). */
bool document_new(struct model *model, struct document **out_document,
                  struct odata_error *err) NODISCARD;

/* $metadata; media: MEDIA_XML or MEDIA_JSON. */
const struct document_text *document_metadata(const struct document *d, enum odata_version version,
                                              enum media media);

/* The OpenAPI document. False fills err: 503 when memory is short; the next call tries again. */
bool document_openapi(struct document *d, const struct document_text **out_text,
                      struct odata_error *err) NODISCARD;

struct document *document_retain(struct document *d);
void document_release(struct document *d);

/* If-None-Match names etag, or is `*` (RFC 9110 13.1.2: compared weakly). */
bool document_etag_matches(struct str if_none_match, const char *etag);

#endif

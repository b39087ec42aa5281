// SPDX-License-Identifier: Apache-2.0
#include "server/document.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "odata/odata_version.h"
#include "odata/openapi.h"

enum {
    /* 10,000 tables of 100 columns are about 150 MB of XML, and a little less of JSON. */
    LARGEST_METADATA = 1024 * 1024 * 1024,
};

const struct metadata_features document_features = {
    .can_write = false,
    .can_search = true,
    .can_apply = true,
    .can_batch = false,
    .has_alternate_keys = true,
};

/* What distinguishes the texts of $metadata. */
static const struct {
    enum media media;
    const char *name; /* in the ETag */
    const char *content_type;
} forms[DOCUMENT_FORMS] = {
    {MEDIA_XML, "xml", "application/xml"},
    {MEDIA_JSON, "json", "application/json"},
};

static void document_free(struct document *d)
{
    model_release(d->model);
    bytes_fini(&d->openapi.body);
    pthread_mutex_destroy(&d->openapi_lock);
    for (int v = 0; v < DOCUMENT_VERSIONS; v++) {
        for (int f = 0; f < DOCUMENT_FORMS; f++) {
            bytes_fini(&d->metadata[v][f].body);
        }
    }
    free(d);
}

/* Gives back what doubling has taken too much: these texts stay. */
static void shrink(struct bytes *b)
{
    char *exact = b->len == 0 ? NULL : realloc(b->ptr, b->len);
    if (exact != NULL) {
        b->ptr = exact;
        b->cap = b->len;
    }
}

static bool make_openapi(struct document *d)
{
    struct document_text *t = &d->openapi;
    bytes_init(&t->body, LARGEST_METADATA);
    openapi_put(&t->body, d->model, &document_features);
    snprintf(t->etag, sizeof(t->etag), "W/\"%016llx-openapi\"",
             (unsigned long long)d->model->fingerprint);
    t->content_type = "application/json";
    if (bytes_failed(&t->body)) {
        bytes_fini(&t->body);
        return false;
    }
    shrink(&t->body);
    return true;
}

static bool make_metadata(struct document *d, enum odata_version version, int form)
{
    struct document_text *t = &d->metadata[version][form];
    bytes_init(&t->body, LARGEST_METADATA);
    metadata_put(&t->body, d->model, version, forms[form].media, &document_features);
    snprintf(t->etag, sizeof(t->etag), "W/\"%016llx-%s-%s\"",
             (unsigned long long)d->model->fingerprint, odata_version_text(version),
             forms[form].name);
    t->content_type = forms[form].content_type;
    shrink(&t->body);
    return !bytes_failed(&t->body);
}

bool document_new(struct model *model, struct document **out_document, struct odata_error *err)
{
    struct document *d = calloc(1, sizeof(*d));
    if (d == NULL) {
        model_release(model);
        return odata_error_out_of_memory(err);
    }
    atomic_init(&d->references, 1);
    d->model = model;
    pthread_mutex_init(&d->openapi_lock, NULL);
    bool made = true;
    for (int v = 0; v < DOCUMENT_VERSIONS; v++) {
        for (int f = 0; f < DOCUMENT_FORMS; f++) {
            made = made && make_metadata(d, (enum odata_version)v, f);
        }
    }
    if (!made) {
        document_free(d);
        return odata_error_set(err, 500, ODATA_CODE_INTERNAL, "",
                               "no memory for the metadata document");
    }
    *out_document = d;
    return true;
}

const struct document_text *document_metadata(const struct document *d, enum odata_version version,
                                              enum media media)
{
    return &d->metadata[version][media == MEDIA_JSON];
}

bool document_openapi(struct document *d, const struct document_text **out_text,
                      struct odata_error *err)
{
    pthread_mutex_lock(&d->openapi_lock);
    bool made = d->openapi.body.len > 0 || make_openapi(d);
    pthread_mutex_unlock(&d->openapi_lock);
    if (!made) {
        return odata_error_out_of_memory(err);
    }
    *out_text = &d->openapi;
    return true;
}

struct document *document_retain(struct document *d)
{
    atomic_fetch_add_explicit(&d->references, 1, memory_order_relaxed);
    return d;
}

void document_release(struct document *d)
{
    if (d != NULL && atomic_fetch_sub_explicit(&d->references, 1, memory_order_acq_rel) == 1) {
        document_free(d);
    }
}

static struct str opaque_tag(struct str tag)
{
    return str_starts_with(tag, STR("W/")) ? str_from_offset(tag, 2) : tag;
}

bool document_etag_matches(struct str if_none_match, const char *etag)
{
    struct str ours = opaque_tag(str_from(etag));
    for (size_t at = 0; at < if_none_match.len;) {
        size_t end = str_find(if_none_match, ',', at);
        struct str tag = str_trim(str_slice(if_none_match, at, end));
        if (str_eq(tag, STR("*")) || str_eq(opaque_tag(tag), ours)) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

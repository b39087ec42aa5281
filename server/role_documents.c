// SPDX-License-Identifier: Apache-2.0
#include "server/role_documents.h"

#include <stdlib.h>
#include <string.h>

#include "storage/blocking.h"

struct kept {
    char *role; /* NULL: nothing */
    struct document *document;
    uint64_t used;
};

struct role_documents {
    struct role_models *models;
    struct blocking *helper;
    struct role_job *jobs; /* under way */
    uint64_t uses;
    size_t size;
    struct kept kept[];
};

/* One role that is being fetched, and all who wait for it. */
struct role_job {
    struct helper_call call; /* first */
    struct role_documents *owner;
    struct role_job *next;
    struct role_models *models;
    /* Filled on the helper. */
    struct document *document;
    struct odata_error err;
    uint64_t age;
    char role[];
};

struct role_documents *role_documents_new(struct role_models *models, size_t size,
                                          struct reactor *reactor)
{
    struct role_documents *d = calloc(1, sizeof(*d) + size * sizeof(d->kept[0]));
    if (d == NULL) {
        return NULL;
    }
    d->models = models;
    d->size = size;
    d->helper = blocking_new(reactor);
    if (d->helper == NULL) {
        free(d);
        return NULL;
    }
    return d;
}

void role_documents_forget(struct role_documents *d)
{
    for (size_t i = 0; i < d->size; i++) {
        document_release(d->kept[i].document);
        free(d->kept[i].role);
        d->kept[i] = (struct kept){.role = NULL};
    }
}

void role_documents_free(struct role_documents *d)
{
    if (d != NULL) {
        blocking_free(d->helper);
        role_documents_forget(d);
        free(d);
    }
}

struct document *role_documents_find(struct role_documents *d, const char *role)
{
    for (size_t i = 0; i < d->size && d->kept[i].role != NULL; i++) {
        if (strcmp(d->kept[i].role, role) == 0) {
            d->kept[i].used = ++d->uses;
            return d->kept[i].document;
        }
    }
    return NULL;
}

/* In the first free place, or in that of the one that was not used for longest. */
static void keep(struct role_documents *d, const char *role, struct document *document)
{
    struct kept *place = &d->kept[0];
    for (size_t i = 0; i < d->size && place->role != NULL; i++) {
        if (d->kept[i].role == NULL || d->kept[i].used < place->used) {
            place = &d->kept[i];
        }
    }
    char *copy = strdup(role);
    if (copy == NULL) {
        return;
    }
    document_release(place->document);
    free(place->role);
    *place = (struct kept){.role = copy, .document = document_retain(document), .used = ++d->uses};
}

/* On the helper. */
static void job_run(struct blocking_job *job)
{
    struct role_job *j = (struct role_job *)job;
    j->age = role_models_age(j->models);
    if (!role_models_get(j->models, j->role, &j->document, &j->err)) {
        j->document = NULL;
    }
}

static void job_done(struct blocking_job *job)
{
    struct role_job *j = (struct role_job *)job;
    struct role_documents *d = j->owner;
    struct role_job **place = &d->jobs;
    while (*place != j) {
        place = &(*place)->next;
    }
    *place = j->next;
    if (j->document != NULL && j->age == role_models_age(j->models)) {
        keep(d, j->role, j->document);
    }
    helper_call_tell(&j->call, j->document, &j->err);
    document_release(j->document);
    free(j);
}

static struct role_job *start_job(struct role_documents *d, const char *role)
{
    size_t size = strlen(role) + 1;
    struct role_job *j = calloc(1, sizeof(*j) + size);
    if (j == NULL) {
        return NULL;
    }
    memcpy(j->role, role, size);
    j->call.job = (struct blocking_job){.run = job_run, .done = job_done};
    j->owner = d;
    j->models = d->models;
    /* Until it runs, it has failed. */
    (void)odata_error_set(&j->err, 503, ODATA_CODE_SERVICE_UNAVAILABLE, "", "the service stops");
    if (!blocking_submit(d->helper, &j->call.job)) {
        free(j);
        return NULL;
    }
    j->next = d->jobs;
    d->jobs = j;
    return j;
}

bool role_documents_wait(struct role_documents *d, const char *role, struct helper_wait *wait,
                         struct odata_error *err)
{
    struct role_job *j = d->jobs;
    while (j != NULL && strcmp(j->role, role) != 0) {
        j = j->next;
    }
    j = j == NULL ? start_job(d, role) : j;
    if (j == NULL) {
        return odata_error_out_of_memory(err);
    }
    helper_call_join(&j->call, wait);
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "server/role_models.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "server/catalog_source.h"

/* FREE -> LOADING -> READY -> FREE; LOADING -> FREE when it fails, or has become old meanwhile. */
enum entry_state {
    ENTRY_FREE,
    ENTRY_LOADING, /* somebody reads the catalog; others wait */
    ENTRY_READY,
};

struct entry {
    enum entry_state state;
    char *role;
    struct document *document;
    uint64_t used;
};

struct role_models {
    const struct config *config;
    _Atomic uint64_t age;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under lock. */
    struct entry *entries;
    size_t size;
    size_t callers; /* in role_models_get() */
    uint64_t uses;
};

struct role_models *role_models_new(const struct config *c)
{
    struct role_models *m = calloc(1, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    m->config = c;
    m->size = c->role_models;
    m->entries = calloc(m->size, sizeof(*m->entries));
    if (m->entries == NULL) {
        free(m);
        return NULL;
    }
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    return m;
}

static void empty(struct entry *e)
{
    document_release(e->document);
    free(e->role);
    *e = (struct entry){.state = ENTRY_FREE};
}

static void forget_ready(struct role_models *m)
{
    for (size_t i = 0; i < m->size; i++) {
        if (m->entries[i].state == ENTRY_READY) {
            empty(&m->entries[i]);
        }
    }
}

bool role_models_free(struct role_models *m)
{
    if (m == NULL) {
        return true;
    }
    pthread_mutex_lock(&m->lock);
    bool is_idle = m->callers == 0;
    pthread_mutex_unlock(&m->lock);
    if (!is_idle) {
        return false;
    }
    forget_ready(m);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m->entries);
    free(m);
    return true;
}

void role_models_forget(struct role_models *m)
{
    pthread_mutex_lock(&m->lock);
    atomic_fetch_add(&m->age, 1);
    forget_ready(m);
    pthread_mutex_unlock(&m->lock);
}

uint64_t role_models_age(const struct role_models *m)
{
    return atomic_load(&m->age);
}

static struct entry *find(struct role_models *m, const char *role)
{
    for (size_t i = 0; i < m->size; i++) {
        if (m->entries[i].state != ENTRY_FREE && strcmp(m->entries[i].role, role) == 0) {
            return &m->entries[i];
        }
    }
    return NULL;
}

/* A free place, or that of the one that was not used for longest. NULL: all are loading. */
static struct entry *make_room(struct role_models *m)
{
    struct entry *oldest = NULL;
    for (size_t i = 0; i < m->size; i++) {
        struct entry *e = &m->entries[i];
        if (e->state == ENTRY_FREE) {
            return e;
        }
        if (e->state == ENTRY_READY && (oldest == NULL || e->used < oldest->used)) {
            oldest = e;
        }
    }
    if (oldest != NULL) {
        empty(oldest);
    }
    return oldest;
}

static bool load(const struct role_models *m, const char *role, struct document **out_document,
                 struct odata_error *err)
{
    struct catalog_source source;
    struct model *model = NULL;
    if (!catalog_source_init(&source, m->config)) {
        return odata_error_out_of_memory(err);
    }
    source.options.role = role;
    source.options.login = LOGIN_ANY; /* that is said once */
    bool ok = catalog_load(&source.options, &model, err) && document_new(model, out_document, err);
    catalog_source_fini(&source);
    if (!ok && err->http_status != 403) {
        /* As when there is no model at all: whoever comes again may find it. */
        err->http_status = 503;
        err->retry_after_s = 1;
    }
    return ok;
}

/* With the lock, which is not held while the catalog is read. */
static bool load_into(struct role_models *m, struct entry *e, const char *role,
                      struct document **out_document, struct odata_error *err)
{
    uint64_t age = atomic_load(&m->age);
    char *copy = strdup(role);
    if (copy == NULL) {
        return odata_error_out_of_memory(err);
    }
    e->state = ENTRY_LOADING;
    e->role = copy;
    pthread_mutex_unlock(&m->lock);
    struct document *d = NULL;
    bool ok = load(m, role, &d, err);
    pthread_mutex_lock(&m->lock);
    if (ok && age == atomic_load(&m->age)) {
        e->state = ENTRY_READY;
        e->document = document_retain(d);
        e->used = ++m->uses;
    } else {
        empty(e);
    }
    pthread_cond_broadcast(&m->changed);
    if (ok) {
        *out_document = d;
    }
    return ok;
}

static bool get(struct role_models *m, const char *role, struct document **out_document,
                struct odata_error *err)
{
    for (;;) {
        struct entry *e = find(m, role);
        if (e != NULL && e->state == ENTRY_READY) {
            e->used = ++m->uses;
            *out_document = document_retain(e->document);
            return true;
        }
        if (e == NULL) {
            e = make_room(m);
            if (e != NULL) {
                return load_into(m, e, role, out_document, err);
            }
        }
        pthread_cond_wait(&m->changed, &m->lock);
    }
}

bool role_models_get(struct role_models *m, const char *role, struct document **out_document,
                     struct odata_error *err)
{
    pthread_mutex_lock(&m->lock);
    m->callers++;
    bool ok = get(m, role, out_document, err);
    m->callers--;
    pthread_mutex_unlock(&m->lock);
    return ok;
}

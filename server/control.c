// SPDX-License-Identifier: Apache-2.0
#include "server/control.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "server/auth_material.h"
#include "server/catalog_source.h"
#include "server/log.h"
#include "server/loop.h"
#include "storage/listener.h"

enum {
    /* A migration notifies once for each statement: one load for all of them. */
    DEBOUNCE_MS = 100,
    /* Failing statements may go on failing after a load: not one load for each of them. */
    STALE_EVERY_MS = 1000,
    FIRST_RETRY_MS = 100,
    LAST_RETRY_MS = 1000,
    RELOAD_RETRY_MS = 5000, /* with an old model in place */
    LISTEN_RETRY_MS = 2000,
    LISTEN_TIMEOUT_MS = 5000,
    STOP_MS = 1000,
};

struct control {
    struct service *service;
    struct catalog_source source;
    struct log log;
    pthread_t thread;
    int wake_fd;
    _Atomic bool stopping;
    _Atomic bool reload_wanted;
    _Atomic bool stale_found;
    /* Under lock: what the main thread waits for and gives. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool first_done;
    char failure[sizeof(((struct odata_error *)0)->message)]; /* why the last load failed */
    bool ended;
    struct document *document;
    struct worker **workers;
    size_t worker_count;
    /* The thread's own. */
    struct listener *listener;
    int64_t load_at_ms; /* 0 = no load is due */
    int64_t last_load_ms;
    int64_t listen_at_ms; /* when to try to listen */
    int64_t retry_ms;
    struct log_news load_news;   /* why the model cannot be loaded */
    struct log_news listen_news; /* why NOTIFY cannot be heard */
};

static void wake(struct control *c)
{
    const uint64_t one = 1;
    ssize_t written = write(c->wake_fd, &one, sizeof(one));
    (void)written;
}

/* Gives the workers a document; called with the lock held. */
static void hand_out(struct control *c)
{
    for (size_t i = 0; c->document != NULL && i < c->worker_count; i++) {
        worker_set_document(c->workers[i], document_retain(c->document));
    }
    if (c->document != NULL && c->worker_count > 0) {
        atomic_store(&c->service->has_handed_out_model, true);
    }
}

static void log_warnings(struct control *c, const struct model *m)
{
    for (size_t i = 0; i < m->warning_count; i++) {
        if (log_begin(&c->log, LOG_WARNING, "model_warning")) {
            log_str(&c->log, "relation", m->warnings[i].relation);
            log_str(&c->log, "text", m->warnings[i].text);
            log_end(&c->log);
        }
    }
}

static bool is_same(const struct document *a, const struct document *b)
{
    return a != NULL && a->model->fingerprint == b->model->fingerprint;
}

static void adopt(struct control *c, struct document *d, int64_t took_ms)
{
    pthread_mutex_lock(&c->lock);
    /* The estimates of sizes may differ in equal models: the newer one is taken in any case. */
    bool same = is_same(c->document, d);
    document_release(c->document);
    c->document = d;
    if (c->service->roles != NULL) {
        role_models_forget(c->service->roles); /* before the workers forget theirs */
    }
    hand_out(c);
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->service->has_model, true);
    atomic_fetch_add(&c->service->model_loads, 1);
    if (log_begin(&c->log, LOG_INFO, same ? "model_unchanged" : "model_loaded")) {
        log_int(&c->log, "sets", (int64_t)d->model->set_count);
        log_int(&c->log, "warnings", (int64_t)d->model->warning_count);
        log_int(&c->log, "ms", took_ms);
        log_end(&c->log);
    }
    if (!same) {
        log_warnings(c, d->model);
    }
}

static void log_failure(struct control *c, const char *event, struct log_news *news,
                        const struct odata_error *err)
{
    if (log_is_news(news, err->internal, loop_clock_ms()) &&
        log_begin(&c->log, LOG_WARNING, event)) {
        log_text(&c->log, "message", err->message);
        log_text(&c->log, "internal", err->internal);
        log_end(&c->log);
    }
}

static void load(struct control *c)
{
    struct odata_error err = {.http_status = 0};
    struct model *model = NULL;
    struct document *d = NULL;
    int64_t began_ms = loop_clock_ms();
    c->load_at_ms = 0;
    bool ok = catalog_load(&c->source.options, &model, &err) && document_new(model, &d, &err);
    int64_t now_ms = loop_clock_ms();
    c->last_load_ms = now_ms;
    if (ok) {
        adopt(c, d, now_ms - began_ms);
        c->retry_ms = FIRST_RETRY_MS;
        c->load_news.said_ms = 0;
    } else {
        atomic_fetch_add(&c->service->model_load_failures, 1);
        log_failure(c, "model_load_failed", &c->load_news, &err);
        bool has_old = atomic_load(&c->service->has_model);
        c->load_at_ms = now_ms + (has_old ? RELOAD_RETRY_MS : c->retry_ms);
        c->retry_ms = c->retry_ms * 2 > LAST_RETRY_MS ? LAST_RETRY_MS : c->retry_ms * 2;
    }
    pthread_mutex_lock(&c->lock);
    snprintf(c->failure, sizeof(c->failure), "%s", ok ? "" : err.message);
    c->first_done = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

/* A load is due at the latest then. */
static void load_at(struct control *c, int64_t when_ms)
{
    if (c->load_at_ms == 0 || when_ms < c->load_at_ms) {
        c->load_at_ms = when_ms;
    }
}

static void listen_again(struct control *c, int64_t now_ms)
{
    struct odata_error err = {.http_status = 0};
    bool first = c->listen_at_ms == 0;
    if (!listener_open(c->service->config->db_uri, "sluice", LISTEN_TIMEOUT_MS, &c->listener,
                       &err)) {
        c->listen_at_ms = loop_clock_ms() + LISTEN_RETRY_MS;
        log_failure(c, "notify_failed", &c->listen_news, &err);
        return;
    }
    log_event(&c->log, LOG_DEBUG, "notify_ready", "channel", "sluice");
    if (!first) {
        /* What was notified in between was not heard. */
        load_at(c, now_ms + DEBOUNCE_MS);
    }
}

static void take_news(struct control *c, int64_t now_ms)
{
    switch (listener_take(c->listener, STR("reload"))) {
    case LISTENER_NOTHING:
        break;
    case LISTENER_NOTIFIED:
        log_event(&c->log, LOG_INFO, "reload", "cause", "notify");
        load_at(c, now_ms + DEBOUNCE_MS);
        break;
    case LISTENER_LOST:
        listener_close(c->listener);
        c->listener = NULL;
        c->listen_at_ms = now_ms + FIRST_RETRY_MS;
        log_event(&c->log, LOG_WARNING, "notify_lost", "channel", "sluice");
        break;
    }
}

/* The files of keys anew; when one cannot be used, the old ones stay. */
static void reload_auth(struct control *c)
{
    char reason[400];
    struct auth_material *m = NULL;
    if (!auth_material_is_wanted(c->service->config)) {
        return;
    }
    if (!auth_material_load(c->service->config, &m, reason, sizeof(reason))) {
        log_event(&c->log, LOG_ERROR, "credentials_not_reloaded", "reason", reason);
        return;
    }
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->worker_count; i++) {
        worker_set_auth(c->workers[i], auth_material_retain(m));
    }
    pthread_mutex_unlock(&c->lock);
    auth_material_release(m);
    log_event(&c->log, LOG_INFO, "credentials_reloaded", "cause", "signal");
}

static void take_wishes(struct control *c, int64_t now_ms)
{
    if (atomic_exchange(&c->reload_wanted, false)) {
        log_event(&c->log, LOG_INFO, "reload", "cause", "signal");
        reload_auth(c);
        load_at(c, now_ms + DEBOUNCE_MS);
    }
    if (atomic_exchange(&c->stale_found, false)) {
        int64_t earliest_ms = c->last_load_ms + STALE_EVERY_MS;
        log_event(&c->log, LOG_INFO, "reload", "cause", "stale model");
        load_at(c, earliest_ms > now_ms + DEBOUNCE_MS ? earliest_ms : now_ms + DEBOUNCE_MS);
    }
}

static int wait_ms(const struct control *c, int64_t now_ms)
{
    int64_t until_ms = INT64_MAX;
    if (c->load_at_ms != 0) {
        until_ms = c->load_at_ms;
    }
    if (c->listener == NULL && c->listen_at_ms < until_ms) {
        until_ms = c->listen_at_ms;
    }
    if (until_ms == INT64_MAX) {
        return -1;
    }
    return until_ms <= now_ms ? 0 : (int)(until_ms - now_ms);
}

static void wait_for_news(struct control *c)
{
    struct pollfd fds[2] = {
        {.fd = c->wake_fd, .events = POLLIN},
        {.fd = c->listener == NULL ? -1 : listener_fd(c->listener), .events = POLLIN},
    };
    log_flush(&c->log);
    poll(fds, 2, wait_ms(c, loop_clock_ms()));
    if ((fds[0].revents & POLLIN) != 0) {
        uint64_t count = 0;
        ssize_t got = read(c->wake_fd, &count, sizeof(count));
        (void)got;
    }
    if (fds[1].revents != 0) {
        take_news(c, loop_clock_ms());
    }
}

static void *control_main(void *arg)
{
    struct control *c = arg;
    load(c);
    while (!atomic_load(&c->stopping)) {
        int64_t now_ms = loop_clock_ms();
        take_wishes(c, now_ms);
        if (c->load_at_ms != 0 && now_ms >= c->load_at_ms) {
            load(c);
        } else if (c->listener == NULL && now_ms >= c->listen_at_ms) {
            listen_again(c, now_ms);
        } else {
            wait_for_news(c);
        }
    }
    listener_close(c->listener);
    log_flush(&c->log);
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void control_free(struct control *c)
{
    document_release(c->document);
    catalog_source_fini(&c->source);
    log_fini(&c->log);
    if (c->wake_fd >= 0) {
        close(c->wake_fd);
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

struct control *control_start(struct service *s, char *reason, size_t reason_size)
{
    struct control *c = calloc(1, sizeof(*c));
    if (c == NULL || !catalog_source_init(&c->source, s->config)) {
        free(c);
        snprintf(reason, reason_size, "memory is short");
        return NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    log_init(&c->log, STDERR_FILENO, (enum log_level)s->config->log_level,
             (enum log_format)s->config->log_format);
    c->service = s;
    c->retry_ms = FIRST_RETRY_MS;
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int status = c->wake_fd < 0 ? errno : pthread_create(&c->thread, NULL, control_main, c);
    if (status != 0) {
        snprintf(reason, reason_size, "%s", strerrordesc_np(status));
        control_free(c);
        return NULL;
    }
    return c;
}

/* Waits for a flag that is set under the lock; true when it is. */
static bool wait_for(struct control *c, const bool *flag, int64_t timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int status = 0;
    pthread_mutex_lock(&c->lock);
    while (!*flag && status == 0) {
        status = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    }
    bool is_set = *flag;
    pthread_mutex_unlock(&c->lock);
    return is_set;
}

bool control_wait_first(struct control *c, int64_t timeout_ms, char *reason, size_t reason_size)
{
    bool ended = wait_for(c, &c->first_done, timeout_ms);
    if (ended && atomic_load(&c->service->has_model)) {
        return true;
    }
    pthread_mutex_lock(&c->lock);
    snprintf(reason, reason_size, "%s", ended ? c->failure : "the database does not answer yet");
    pthread_mutex_unlock(&c->lock);
    return false;
}

void control_set_workers(struct control *c, struct worker **workers, size_t count)
{
    pthread_mutex_lock(&c->lock);
    c->workers = workers;
    c->worker_count = count;
    hand_out(c);
    pthread_mutex_unlock(&c->lock);
}

void control_reload(struct control *c)
{
    atomic_store(&c->reload_wanted, true);
    wake(c);
}

void control_model_stale(void *ctx)
{
    struct control *c = ctx;
    if (!atomic_exchange(&c->stale_found, true)) {
        wake(c);
    }
}

bool control_stop(struct control *c)
{
    atomic_store(&c->stopping, true);
    wake(c);
    if (wait_for(c, &c->ended, STOP_MS)) {
        pthread_join(c->thread, NULL);
        control_free(c);
        return true;
    }
    pthread_detach(c->thread);
    return false;
}

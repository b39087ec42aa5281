// SPDX-License-Identifier: Apache-2.0
#include "storage/blocking.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    JOIN_SECONDS = 3
};

struct blocking {
    struct reactor *reactor;
    struct watch watch;
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct blocking_job *waiting; /* under lock, as all below */
    struct blocking_job **waiting_end;
    struct blocking_job *over;
    bool stop;
    bool orphaned; /* nobody will join: the thread frees this struct */
};

static void release(struct blocking *b)
{
    (void)close(b->watch.fd);
    (void)pthread_cond_destroy(&b->wanted);
    (void)pthread_mutex_destroy(&b->lock);
    free(b);
}

static struct blocking_job *take_waiting(struct blocking *b)
{
    struct blocking_job *job = b->waiting;
    b->waiting = job->next;
    if (b->waiting == NULL) {
        b->waiting_end = &b->waiting;
    }
    return job;
}

static void *helper_main(void *arg)
{
    struct blocking *b = arg;
    (void)pthread_mutex_lock(&b->lock);
    for (;;) {
        while (b->waiting == NULL && !b->stop) {
            (void)pthread_cond_wait(&b->wanted, &b->lock);
        }
        if (b->stop) {
            break;
        }
        struct blocking_job *job = take_waiting(b);
        (void)pthread_mutex_unlock(&b->lock);
        job->run(job);
        (void)pthread_mutex_lock(&b->lock);
        job->next = b->over;
        b->over = job;
        if (!b->orphaned) {
            (void)eventfd_write(b->watch.fd, 1);
        }
    }
    bool orphaned = b->orphaned;
    (void)pthread_mutex_unlock(&b->lock);
    if (orphaned) {
        release(b); /* its last job leaks with its owner's memory; that happens once, at the end */
    }
    return NULL;
}

static void finish_jobs(struct blocking_job *job)
{
    while (job != NULL) {
        struct blocking_job *next = job->next;
        job->done(job);
        job = next;
    }
}

static void on_ready(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    (void)now_ms;
    struct blocking *b = w->owner;
    eventfd_t ignored;
    (void)eventfd_read(w->fd, &ignored);
    (void)pthread_mutex_lock(&b->lock);
    struct blocking_job *over = b->over;
    b->over = NULL;
    (void)pthread_mutex_unlock(&b->lock);
    finish_jobs(over);
}

struct blocking *blocking_new(struct reactor *reactor)
{
    struct blocking *b = calloc(1, sizeof(*b));
    if (b == NULL) {
        return NULL;
    }
    b->reactor = reactor;
    b->waiting_end = &b->waiting;
    b->watch = (struct watch){.ready = on_ready, .owner = b};
    b->watch.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    (void)pthread_mutex_init(&b->lock, NULL);
    (void)pthread_cond_init(&b->wanted, NULL);
    if (b->watch.fd < 0 || !reactor->watch(reactor, &b->watch, WATCH_READ)) {
        if (b->watch.fd >= 0) {
            (void)close(b->watch.fd);
        }
        free(b);
        return NULL;
    }
    return b;
}

bool blocking_submit(struct blocking *b, struct blocking_job *job)
{
    if (!b->has_thread) {
        b->has_thread = pthread_create(&b->thread, NULL, helper_main, b) == 0;
        if (!b->has_thread) {
            return false;
        }
    }
    (void)pthread_mutex_lock(&b->lock);
    job->next = NULL;
    *b->waiting_end = job;
    b->waiting_end = &job->next;
    (void)pthread_cond_signal(&b->wanted);
    (void)pthread_mutex_unlock(&b->lock);
    return true;
}

void blocking_free(struct blocking *b)
{
    if (b == NULL) {
        return;
    }
    (void)b->reactor->watch(b->reactor, &b->watch, 0);
    (void)pthread_mutex_lock(&b->lock);
    b->stop = true;
    struct blocking_job *waiting = b->waiting;
    b->waiting = NULL;
    b->waiting_end = &b->waiting;
    (void)pthread_cond_signal(&b->wanted);
    (void)pthread_mutex_unlock(&b->lock);
    finish_jobs(waiting);
    if (b->has_thread) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += JOIN_SECONDS;
        if (pthread_timedjoin_np(b->thread, NULL, &until) != 0) {
            (void)pthread_mutex_lock(&b->lock);
            b->orphaned = true;
            (void)pthread_mutex_unlock(&b->lock);
            (void)pthread_detach(b->thread);
            return;
        }
    }
    finish_jobs(b->over);
    release(b);
}

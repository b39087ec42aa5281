// SPDX-License-Identifier: Apache-2.0
#include "storage/connector.h"

#include <assert.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "storage/pg_error.h"

enum {
    MAX_ADDRESSES = 8
};

/* Outlives the connector when that is given up first. */
struct lookup_job {
    struct blocking_job job;
    struct connector *connector; /* NULL: nobody waits any more */
    char *host;
    char *addresses[MAX_ADDRESSES];
    size_t count;
    int failure; /* of getaddrinfo(); 0 = none */
};

static void try_target(struct connector *c);

static void free_addresses(char **addresses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(addresses[i]);
    }
}

static void close_socket(struct connector *c)
{
    if (c->pg != NULL) {
        (void)c->reactor->watch(c->reactor, &c->watch, 0);
        PQfinish(c->pg);
        c->pg = NULL;
    }
}

static void drop_addresses(struct connector *c)
{
    if (c->addresses != NULL) {
        free_addresses(c->addresses, c->address_count);
        free(c->addresses);
        c->addresses = NULL;
    }
    c->address_count = 0;
    c->address = 0;
}

/* The result is reported from the loop: a connect may be started from inside a call of ours. */
static void enter_over(struct connector *c)
{
    c->state = CONNECTOR_OVER;
    drop_addresses(c);
    c->reactor->set_timer(c->reactor, &c->timer, c->reactor->now_ms(c->reactor));
}

static void set_text(struct connector *c, const char *text)
{
    pg_error_tidy(c->text, sizeof(c->text), str_from(text));
}

static void try_next(struct connector *c)
{
    close_socket(c);
    if (c->address + 1 < c->address_count) {
        c->address++;
        try_target(c);
        return;
    }
    drop_addresses(c);
    if (c->target + 1 < c->info->target_count) {
        c->target++;
        try_target(c);
        return;
    }
    enter_over(c);
}

static void fail_current(struct connector *c, const char *text)
{
    set_text(c, text);
    try_next(c);
}

/* libpq may have closed and opened a socket: what is watched is told anew each time. */
static void watch_socket(struct connector *c, unsigned events)
{
    c->watch.fd = PQsocket(c->pg);
    if (c->watch.fd < 0 || !c->reactor->watch(c->reactor, &c->watch, events)) {
        fail_current(c, "the socket cannot be watched");
    }
}

static void on_socket(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    struct connector *c = w->owner;
    (void)c->reactor->watch(c->reactor, w, 0);
    switch (PQconnectPoll(c->pg)) {
    case PGRES_POLLING_READING:
        watch_socket(c, WATCH_READ);
        break;
    case PGRES_POLLING_WRITING:
        watch_socket(c, WATCH_WRITE);
        break;
    case PGRES_POLLING_OK: {
        PGconn *pg = c->pg;
        c->pg = NULL;
        c->reactor->set_timer(c->reactor, &c->timer, 0);
        drop_addresses(c);
        c->state = CONNECTOR_IDLE;
        c->done(c, pg, NULL, now_ms);
        break;
    }
    case PGRES_POLLING_FAILED:
    case PGRES_POLLING_ACTIVE:
        fail_current(c, PQerrorMessage(c->pg));
        break;
    }
}

static void on_timer(struct timer *t, int64_t now_ms)
{
    struct connector *c = t->owner;
    switch (c->state) {
    case CONNECTOR_IDLE:
        break;
    case CONNECTOR_LOOKING:
        c->job->connector = NULL;
        c->job = NULL;
        fail_current(c, "the host's name was not found in time");
        break;
    case CONNECTOR_POLLING:
        fail_current(c, "the host did not answer in time");
        break;
    case CONNECTOR_OVER:
        c->state = CONNECTOR_IDLE;
        c->done(c, NULL, c->text, now_ms);
        break;
    }
}

static void lookup_run(struct blocking_job *job)
{
    struct lookup_job *lookup = (struct lookup_job *)job;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *list = NULL;
    lookup->failure = getaddrinfo(lookup->host, NULL, &hints, &list);
    if (lookup->failure != 0) {
        return;
    }
    for (struct addrinfo *a = list; a != NULL && lookup->count < MAX_ADDRESSES; a = a->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) ==
            0) {
            lookup->addresses[lookup->count] = strdup(text);
            lookup->count += lookup->addresses[lookup->count] != NULL;
        }
    }
    freeaddrinfo(list);
}

static void lookup_free(struct lookup_job *lookup)
{
    free_addresses(lookup->addresses, lookup->count);
    free(lookup->host);
    free(lookup);
}

static void lookup_done(struct blocking_job *job)
{
    struct lookup_job *lookup = (struct lookup_job *)job;
    struct connector *c = lookup->connector;
    if (c != NULL) {
        c->job = NULL;
        c->addresses = calloc(MAX_ADDRESSES, sizeof(*c->addresses));
        if (lookup->count > 0 && c->addresses != NULL) {
            memcpy(c->addresses, lookup->addresses, lookup->count * sizeof(*c->addresses));
            c->address_count = lookup->count;
            lookup->count = 0; /* taken over */
            try_target(c);
        } else {
            fail_current(c, lookup->failure != 0 ? gai_strerror(lookup->failure)
                                                 : "the host has no address");
        }
    }
    lookup_free(lookup);
}

static bool start_lookup(struct connector *c)
{
    struct lookup_job *lookup = calloc(1, sizeof(*lookup));
    if (lookup == NULL) {
        return false;
    }
    lookup->job = (struct blocking_job){.run = lookup_run, .done = lookup_done};
    lookup->connector = c;
    lookup->host = strdup(c->info->targets[c->target].host);
    if (lookup->host == NULL || !blocking_submit(c->lookups, &lookup->job)) {
        lookup_free(lookup);
        return false;
    }
    c->job = lookup;
    return true;
}

static void try_target(struct connector *c)
{
    int64_t now_ms = c->reactor->now_ms(c->reactor);
    c->reactor->set_timer(c->reactor, &c->timer, now_ms + c->timeout_ms);
    if (c->address_count == 0 && conninfo_needs_lookup(c->info, c->target)) {
        c->state = CONNECTOR_LOOKING;
        if (!start_lookup(c)) {
            fail_current(c, "no thread for the look-up of the host's name");
        }
        return;
    }
    c->state = CONNECTOR_POLLING;
    c->pg =
        conninfo_start(c->info, c->target, c->address_count > 0 ? c->addresses[c->address] : NULL);
    if (c->pg == NULL || PQstatus(c->pg) == CONNECTION_BAD) {
        fail_current(c, c->pg == NULL ? "out of memory" : PQerrorMessage(c->pg));
        return;
    }
    watch_socket(c, WATCH_WRITE);
}

void connector_init(struct connector *c, const struct conninfo *info, struct reactor *reactor,
                    struct blocking *lookups, int64_t timeout_ms)
{
    *c = (struct connector){
        .info = info, .reactor = reactor, .lookups = lookups, .timeout_ms = timeout_ms};
    c->watch = (struct watch){.fd = -1, .ready = on_socket, .owner = c};
    c->timer = (struct timer){.due = on_timer, .owner = c};
}

void connector_fini(struct connector *c)
{
    if (c->job != NULL) {
        c->job->connector = NULL;
        c->job = NULL;
    }
    close_socket(c);
    drop_addresses(c);
    if (c->timer.deadline_ms != 0) {
        c->reactor->set_timer(c->reactor, &c->timer, 0);
    }
    c->state = CONNECTOR_IDLE;
}

void connector_start(struct connector *c)
{
    assert(c->state == CONNECTOR_IDLE);
    c->target = 0;
    set_text(c, "");
    try_target(c);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "server/acceptor.h"
#include "server/auth.h"
#include "server/auth_memory.h"
#include "server/control.h"
#include "server/log.h"
#include "server/loop.h"
#include "server/worker.h"

enum {
    /* For the first load of the model, before clients are let in without one. */
    FIRST_LOAD_MS = 3000,
    /* Descriptors besides those of clients and of the pool: a worker's and the process's. */
    FILES_PER_WORKER = 9,
    SPARE_FILES = 32,
    LEAST_CONNECTIONS = 16,
    DRAIN_TICK_MS = 50,
};

struct server {
    const struct config *config;
    struct log log;
    struct service service;
    struct control *control;
    struct pool_budget *budget; /* outlives the workers, as does spread */
    struct spread *spread;
    struct auth_material *auth; /* NULL: no credentials are checked */
    struct worker **workers;
    struct metrics *metrics;
    struct metrics **metric_sets;
    int *listen_fds;
    int admin_fd;
    size_t worker_count;
    size_t started;
    size_t max_connections;
    int signal_fd;
    char fallback_host[300];
};

static bool fail(struct server *s, const char *event, const char *reason)
{
    log_event(&s->log, LOG_ERROR, event, "reason", reason);
    return false;
}

/* Clients, pool and our own descriptors must fit; the soft limit is raised first. */
static bool check_descriptors(struct server *s)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return fail(s, "start_failed", strerrordesc_np(errno));
    }
    if (files.rlim_cur < files.rlim_max) {
        struct rlimit most = {files.rlim_max, files.rlim_max};
        if (setrlimit(RLIMIT_NOFILE, &most) == 0) {
            files = most;
        }
    }
    size_t own = s->config->db_pool_size * 2 + s->worker_count * FILES_PER_WORKER + SPARE_FILES;
    size_t limit = files.rlim_cur > SIZE_MAX / 2 ? SIZE_MAX / 2 : (size_t)files.rlim_cur;
    if (limit < own + LEAST_CONNECTIONS * s->worker_count) {
        return fail(s, "start_failed", "too few file descriptors: raise RLIMIT_NOFILE (ulimit -n)");
    }
    s->max_connections = s->config->max_connections;
    if (s->max_connections > limit - own) {
        s->max_connections = limit - own;
        if (log_begin(&s->log, LOG_WARNING, "max_connections_lowered")) {
            log_int(&s->log, "to", (int64_t)s->max_connections);
            log_int(&s->log, "nofile", (int64_t)limit);
            log_end(&s->log);
        }
    }
    return true;
}

static bool open_sockets(struct server *s)
{
    char reason[160];
    const struct config *c = s->config;
    uint16_t port = c->listen.port;
    /* Workers share the port (SO_REUSEPORT), and so would another process of ours, unseen: a socket
       that does not share finds out. */
    int alone = acceptor_bind(c->listen.host, port, false, reason, sizeof(reason));
    if (alone < 0) {
        return fail(s, "listen_failed", reason);
    }
    close(alone);
    for (size_t i = 0; i < s->worker_count; i++) {
        /* One socket each: the kernel spreads new connections over them. */
        s->listen_fds[i] =
            acceptor_bind(c->listen.host, port, s->worker_count > 1, reason, sizeof(reason));
        if (s->listen_fds[i] < 0) {
            return fail(s, "listen_failed", reason);
        }
        port = acceptor_port(s->listen_fds[i]);
    }
    if (c->admin_listen.host != NULL) {
        s->admin_fd = acceptor_bind(c->admin_listen.host, c->admin_listen.port, false, reason,
                                    sizeof(reason));
        if (s->admin_fd < 0) {
            return fail(s, "admin_listen_failed", reason);
        }
    }
    const char *host = c->listen.host[0] == '\0' ? "localhost" : c->listen.host;
    snprintf(s->fallback_host, sizeof(s->fallback_host),
             strchr(host, ':') == NULL ? "%s:%u" : "[%s]:%u", host, (unsigned)port);
    return true;
}

/* What an answer depends on besides its target; a cache must keep callers' answers apart. */
static const char *vary_of(const struct config *c)
{
#define VARY "Accept, Prefer, OData-MaxVersion"
    static const char *const texts[2][2][2] = {
        {{VARY, VARY ", Origin"}, {VARY ", Authorization", VARY ", Authorization, Origin"}},
        {{VARY ", Accept-Encoding", VARY ", Accept-Encoding, Origin"},
         {VARY ", Accept-Encoding, Authorization",
          VARY ", Accept-Encoding, Authorization, Origin"}},
    };
#undef VARY
    return texts[c->compression][auth_material_is_wanted(c)][c->cors_origins.count > 0];
}

static void describe_service(struct server *s)
{
    const struct config *c = s->config;
    s->service = (struct service){
        .config = c,
        .links =
            {
                .base_url = str_from(c->base_url),
                .base_path = str_from(c->base_path),
                .fallback = str_from(s->fallback_host),
            },
        .routes =
            {
                .base_path = str_from(c->base_path),
                .admin_is_separate = c->admin_listen.host != NULL,
            },
        .vary = vary_of(c),
        .takes_passwords = c->basic_users[0] != '\0',
        .takes_tokens = c->jwt_keys[0] != '\0',
        .cors = {.origins = c->cors_origins.items, .count = c->cors_origins.count},
        .metrics = s->metric_sets,
        .worker_count = s->worker_count,
        .model_stale = control_model_stale,
    };
}

static bool start_workers(struct server *s)
{
    char reason[160];
    for (size_t i = 0; i < s->worker_count; i++) {
        const struct worker_options options = {
            .number = i,
            .service = &s->service,
            .metrics = s->metric_sets[i],
            .listen_fd = s->listen_fds[i],
            .admin_fd = i == 0 ? s->admin_fd : -1,
            .budget = s->budget,
            .auth = s->auth,
            .spread = s->spread,
            .max_connections = (s->max_connections + s->worker_count - 1) / s->worker_count,
        };
        s->workers[i] = worker_start(&options, reason, sizeof(reason));
        if (s->workers[i] == NULL) {
            return fail(s, "start_failed", reason);
        }
        s->started++;
    }
    control_set_workers(s->control, s->workers, s->started);
    return true;
}

/* All signals that mean something are read from one descriptor; threads inherit the mask. */
static bool open_signals(struct server *s)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    int status = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (status != 0) {
        return fail(s, "start_failed", strerrordesc_np(status));
    }
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signal_fd >= 0 || fail(s, "start_failed", strerrordesc_np(errno));
}

static bool allocate(struct server *s)
{
    s->worker_count = config_workers(s->config);
    s->workers = calloc(s->worker_count, sizeof(struct worker *));
    s->listen_fds = calloc(s->worker_count, sizeof(int));
    s->metric_sets = calloc(s->worker_count, sizeof(struct metrics *));
    s->metrics = calloc(s->worker_count, sizeof(struct metrics));
    if (s->workers == NULL || s->listen_fds == NULL || s->metric_sets == NULL ||
        s->metrics == NULL) {
        return fail(s, "start_failed", "memory is short");
    }
    for (size_t i = 0; i < s->worker_count; i++) {
        s->metric_sets[i] = &s->metrics[i];
        s->listen_fds[i] = -1;
    }
    return true;
}

static bool start(struct server *s)
{
    char reason[160];
    if (!allocate(s) || !check_descriptors(s) || !open_signals(s) || !open_sockets(s)) {
        return false;
    }
    char why[400];
    auth_memory_init();
    if (auth_material_is_wanted(s->config) &&
        !auth_material_load(s->config, &s->auth, why, sizeof(why))) {
        return fail(s, "start_failed", why);
    }
    describe_service(s);
    if (auth_is_wanted(s->config)) {
        s->service.roles = role_models_new(s->config);
        if (s->service.roles == NULL) {
            return fail(s, "start_failed", "memory is short");
        }
    }
    s->control = control_start(&s->service, reason, sizeof(reason));
    if (s->control == NULL) {
        return fail(s, "start_failed", reason);
    }
    s->service.model_stale_ctx = s->control;
    char missing[sizeof(((struct odata_error *)0)->message)];
    if (!control_wait_first(s->control, FIRST_LOAD_MS, missing, sizeof(missing)) &&
        log_begin(&s->log, LOG_WARNING, "start_without_model")) {
        log_text(&s->log, "reason", missing);
        log_text(&s->log, "until_then", "requests get 503");
        log_end(&s->log);
    }
    s->budget = pool_budget_new(s->config->db_pool_size, s->worker_count);
    s->spread = spread_new(s->worker_count);
    if (s->budget == NULL || s->spread == NULL) {
        return fail(s, "start_failed", "descriptors or memory are short");
    }
    if (!start_workers(s)) {
        return false;
    }
    if (log_begin(&s->log, LOG_INFO, "listening")) {
        log_text(&s->log, "version", SLUICE_VERSION);
        log_text(&s->log, "host", s->config->listen.host);
        log_int(&s->log, "port", acceptor_port(s->listen_fds[0]));
        if (s->admin_fd >= 0) {
            log_text(&s->log, "admin_host", s->config->admin_listen.host);
            log_int(&s->log, "admin_port", acceptor_port(s->admin_fd));
        }
        log_int(&s->log, "workers", (int64_t)s->worker_count);
        log_end(&s->log);
        log_flush(&s->log);
    }
    return true;
}

/* The next signal; 0 when none came in time. Negative timeout: waits. */
static int next_signal(struct server *s, int timeout_ms)
{
    struct pollfd ready = {.fd = s->signal_fd, .events = POLLIN};
    struct signalfd_siginfo info;
    log_flush(&s->log);
    if (poll(&ready, 1, timeout_ms) <= 0) {
        return 0;
    }
    ssize_t got = read(s->signal_fd, &info, sizeof(info));
    return got == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}

static bool all_ended(const struct server *s)
{
    for (size_t i = 0; i < s->started; i++) {
        if (!worker_has_ended(s->workers[i])) {
            return false;
        }
    }
    return true;
}

static bool all_quiet(const struct server *s)
{
    for (size_t i = 0; i < s->started; i++) {
        if (!worker_is_quiet(s->workers[i])) {
            return false;
        }
    }
    return true;
}

static void stop_workers(struct server *s)
{
    for (size_t i = 0; i < s->started; i++) {
        worker_stop(s->workers[i]);
    }
}

static void run(struct server *s)
{
    int signal_number = 0;
    while (signal_number != SIGTERM && signal_number != SIGINT) {
        signal_number = next_signal(s, -1);
        if (signal_number == SIGHUP) {
            control_reload(s->control); /* credentials too */
        }
    }
    log_event(&s->log, LOG_INFO, "draining", "signal", signal_number == SIGTERM ? "TERM" : "INT");
    atomic_store(&s->service.draining, true);
    for (size_t i = 0; i < s->started; i++) {
        worker_drain(s->workers[i]);
    }
    while (!all_ended(s)) {
        signal_number = next_signal(s, DRAIN_TICK_MS);
        if (signal_number == SIGTERM || signal_number == SIGINT) {
            log_event(&s->log, LOG_WARNING, "stopping", "reason", "a second signal");
            stop_workers(s);
        } else if (all_quiet(s)) {
            stop_workers(s); /* nobody but the admin listener is left to answer */
        }
    }
}

static void stop(struct server *s)
{
    bool whole = true;
    if (s->control != NULL) {
        control_set_workers(s->control, NULL, 0);
        whole = control_stop(s->control);
    }
    for (size_t i = 0; i < s->started; i++) {
        worker_stop(s->workers[i]);
        worker_join(s->workers[i]);
    }
    whole = role_models_free(s->service.roles) && whole;
    log_event(&s->log, LOG_INFO, "stopped", "version", SLUICE_VERSION);
    log_fini(&s->log);
    if (!whole) {
        /* A thread that reads the catalog still looks at the settings: only the process's end is
           safe. */
        _exit(EXIT_SUCCESS);
    }
    if (s->signal_fd >= 0) {
        close(s->signal_fd);
    }
    pool_budget_free(s->budget);
    auth_material_release(s->auth);
    spread_free(s->spread);
    free(s->workers);
    free(s->listen_fds);
    free(s->metric_sets);
    free(s->metrics);
}

int serve(const struct config *c)
{
    struct server s = {.config = c, .admin_fd = -1, .signal_fd = -1};
    log_init(&s.log, STDERR_FILENO, (enum log_level)c->log_level, (enum log_format)c->log_format);
    bool started = start(&s);
    if (started) {
        run(&s);
    }
    stop(&s);
    return started ? EXIT_SUCCESS : EXIT_FAILURE;
}

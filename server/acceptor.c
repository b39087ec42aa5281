// SPDX-License-Identifier: Apache-2.0
#include "server/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    ACCEPTS_A_TURN = 64,
    PAUSE_MS = 100,
    BACKLOG = 1024,
};

static int open_listener(const struct addrinfo *address, bool shared)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->ai_family == AF_INET6) {
        /* One socket for both families, when all interfaces are meant. */
        const int off = 0;
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
    if ((shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0) ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int why = errno;
        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

int acceptor_bind(const char *host, uint16_t port, bool shared, char *reason, size_t reason_size)
{
    char service[8];
    snprintf(service, sizeof(service), "%u", (unsigned)port);
    struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    int status = getaddrinfo(host[0] == '\0' ? NULL : host, service, &hints, &found);
    if (status != 0) {
        snprintf(reason, reason_size, "%s port %s: %s", host, service, gai_strerror(status));
        return -1;
    }
    int fd = -1;
    /* IPv6 first: its wildcard takes both families. */
    for (int pass = 0; pass < 2 && fd < 0; pass++) {
        for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) {
            if ((at->ai_family == AF_INET6) == (pass == 0)) {
                fd = open_listener(at, shared);
            }
        }
    }
    if (fd < 0) {
        snprintf(reason, reason_size, "%s port %s: %s", host, service, strerrordesc_np(errno));
    }
    freeaddrinfo(found);
    return fd;
}

uint16_t acceptor_port(int listen_fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    memset(&address, 0, sizeof(address));
    if (getsockname(listen_fd, (struct sockaddr *)&address, &length) != 0) {
        return 0;
    }
    if (address.ss_family == AF_INET) {
        return ntohs(((const struct sockaddr_in *)(const void *)&address)->sin_port);
    }
    if (address.ss_family == AF_INET6) {
        return ntohs(((const struct sockaddr_in6 *)(const void *)&address)->sin6_port);
    }
    return 0;
}

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void pause_accepting(struct acceptor *a)
{
    if (a->spare_fd >= 0) {
        close(a->spare_fd);
        int fd = accept4(a->watch.fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0) {
            close(fd);
        }
        a->spare_fd = open_spare();
    }
    loop_unwatch(a->loop, &a->watch);
    loop_set_timer(a->loop, &a->retry, loop_now_ms(a->loop) + PAUSE_MS);
    if (a->paused != NULL) {
        a->paused(a->ctx);
    }
}

/* False when there is nobody left to accept, or no way to. */
static bool accept_one(struct acceptor *a)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof(peer);
    int fd =
        accept4(a->watch.fd, (struct sockaddr *)&peer, &peer_len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        a->accepted(a->ctx, fd, (const struct sockaddr *)&peer, peer_len);
        return true;
    }
    if (errno == ECONNABORTED || errno == EINTR) {
        return true;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
        pause_accepting(a);
    }
    return false;
}

static void on_ready(struct watch *w, unsigned events, int64_t now_ms)
{
    (void)events;
    (void)now_ms;
    struct acceptor *a = w->owner;
    for (int i = 0; i < ACCEPTS_A_TURN && accept_one(a); i++) {
    }
}

static void on_retry(struct timer *t, int64_t now_ms)
{
    struct acceptor *a = t->owner;
    if (a->spare_fd < 0) {
        a->spare_fd = open_spare();
    }
    if (!loop_watch(a->loop, &a->watch, WATCH_READ)) {
        loop_set_timer(a->loop, &a->retry, now_ms + PAUSE_MS);
    }
}

bool acceptor_start(struct acceptor *a, struct loop *loop, int listen_fd)
{
    a->loop = loop;
    a->watch = (struct watch){.fd = listen_fd, .ready = on_ready, .owner = a};
    a->retry = (struct timer){.due = on_retry, .owner = a};
    a->spare_fd = open_spare();
    return loop_watch(loop, &a->watch, WATCH_READ);
}

void acceptor_stop(struct acceptor *a)
{
    if (a->watch.fd < 0) {
        return;
    }
    while (accept_one(a)) {
    }
    loop_unwatch(a->loop, &a->watch);
    loop_set_timer(a->loop, &a->retry, 0);
    close(a->watch.fd);
    a->watch.fd = -1;
    if (a->spare_fd >= 0) {
        close(a->spare_fd);
        a->spare_fd = -1;
    }
}

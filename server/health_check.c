#include "server/health_check.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 2,
};

/* A service on all interfaces is asked through the loopback. */
static const char *reachable_host(const char *host)
{
    if (host[0] == '\0' || strcmp(host, "0.0.0.0") == 0) {
        return "127.0.0.1";
    }
    return strcmp(host, "::") == 0 ? "::1" : host;
}

/* A connected socket, or -1. */
static int connect_to(const struct config_address *address)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct addrinfo *found = NULL;
    char port[8];
    int fd = -1;
    snprintf(port, sizeof(port), "%u", (unsigned)address->port);
    if (getaddrinfo(reachable_host(address->host), port, &hints, &found) != 0) {
        return -1;
    }
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd < 0) {
            continue;
        }
        /* SO_SNDTIMEO bounds connect() too (socket(7)). */
        if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
            connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

static bool is_answered_with_200(int fd)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                                  "Connection: close\r\n\r\n";
    static const char expected[] = "HTTP/1.1 200 ";
    char answer[sizeof(expected) - 1];
    size_t length = 0;
    if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) != (ssize_t)sizeof(request) - 1) {
        return false;
    }
    while (length < sizeof(answer)) {
        ssize_t got = recv(fd, answer + length, sizeof(answer) - length, 0);
        if (got <= 0) {
            return false;
        }
        length += (size_t)got;
    }
    return memcmp(answer, expected, sizeof(answer)) == 0;
}

bool health_check(const struct config *config)
{
    const struct config_address *address =
        config->admin_listen.host != NULL ? &config->admin_listen : &config->listen;
    int fd = connect_to(address);
    bool healthy = fd >= 0 && is_answered_with_200(fd);
    if (!healthy) {
        fprintf(stderr, "sluice: no good answer from %s port %u\n", reachable_host(address->host),
                (unsigned)address->port);
    }
    if (fd >= 0) {
        close(fd);
    }
    return healthy;
}

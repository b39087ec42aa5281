// SPDX-License-Identifier: Apache-2.0
#include "server/check.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "server/catalog_source.h"
#include "server/document.h"

enum {
    HEALTH_TIMEOUT_S = 3,
};

static bool load(const struct config *c, struct model **out_model)
{
    struct catalog_source source;
    struct odata_error err = {.http_status = 0};
    if (!catalog_source_init(&source, c)) {
        fprintf(stderr, "sluice: memory is short\n");
        return false;
    }
    bool ok = catalog_load(&source.options, out_model, &err);
    catalog_source_fini(&source);
    if (!ok) {
        fprintf(stderr, "sluice: %s%s%s\n", err.message, err.internal[0] == '\0' ? "" : ": ",
                err.internal);
    }
    return ok;
}

static const char *kind_name(enum relation_kind kind)
{
    switch (kind) {
    case RELATION_TABLE:
        return "table";
    case RELATION_PARTITIONED:
        return "partitioned table";
    case RELATION_VIEW:
        return "view";
    case RELATION_MATERIALIZED_VIEW:
        return "materialized view";
    case RELATION_FOREIGN_TABLE:
        return "foreign table";
    }
    return "";
}

static void print_set(const struct entity_set *set)
{
    const struct entity_type *type = set->type;
    printf("%.*s\t%s %.*s.%.*s\tkey", STR_ARG(set->name), kind_name(type->kind),
           STR_ARG(type->schema), STR_ARG(type->table));
    for (size_t i = 0; i < type->key.count; i++) {
        printf("%s%.*s", i == 0 ? " " : ",", STR_ARG(type->key.properties[i]->name));
    }
    printf("\t%zu properties, %zu navigations\n", type->property_count, type->navigation_count);
}

int check_database(const struct config *c)
{
    struct model *m = NULL;
    if (!load(c, &m)) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < m->set_count; i++) {
        print_set(&m->sets[i]);
    }
    for (size_t i = 0; i < m->warning_count; i++) {
        printf("warning: %.*s: %.*s\n", STR_ARG(m->warnings[i].relation),
               STR_ARG(m->warnings[i].text));
    }
    size_t warnings = m->warning_count;
    if (m->set_count == 0) {
        printf(
            "warning: nothing to serve: these schemas have no table with a key that the role may "
            "SELECT from (GRANT USAGE ON SCHEMA, GRANT SELECT)\n");
        warnings++;
    }
    printf("%zu entity set%s, %zu warning%s\n", m->set_count, m->set_count == 1 ? "" : "s",
           warnings, warnings == 1 ? "" : "s");
    model_release(m);
    return EXIT_SUCCESS;
}

int check_print_metadata(const struct config *c)
{
    struct model *m = NULL;
    struct document *d = NULL;
    struct odata_error err;
    if (!load(c, &m)) {
        return EXIT_FAILURE;
    }
    if (!document_new(m, &d, &err)) {
        fprintf(stderr, "sluice: %s\n", err.message);
        return EXIT_FAILURE;
    }
    const struct bytes *text = &document_metadata(d, ODATA_4_0, MEDIA_XML)->body;
    bool written = fwrite(text->ptr, 1, text->len, stdout) == text->len && fputc('\n', stdout) > 0;
    document_release(d);
    return written && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A connected socket, or -1. */
static int connect_to(const struct config_address *address)
{
    char service[8];
    const char *host = address->host;
    /* A service on all interfaces is asked through the loopback one. */
    bool any = host[0] == '\0' || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int fd = -1;
    snprintf(service, sizeof(service), "%u", (unsigned)address->port);
    if (getaddrinfo(any ? NULL : host, service, &hints, &found) != 0) {
        return -1;
    }
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) {
        const struct timeval limit = {.tv_sec = HEALTH_TIMEOUT_S};
        fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            continue;
        }
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        if (connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    return fd;
}

int check_health(const struct config *c)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                                  "Connection: close\r\n\r\n";
    static const char good[] = "HTTP/1.1 200";
    char answer[sizeof(good)] = "";
    size_t length = 0;
    int fd = connect_to(c->admin_listen.host != NULL ? &c->admin_listen : &c->listen);
    if (fd >= 0 && send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0) {
        while (length < sizeof(good) - 1) {
            ssize_t got = recv(fd, answer + length, sizeof(good) - 1 - length, 0);
            if (got <= 0) {
                break;
            }
            length += (size_t)got;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    if (strcmp(answer, good) != 0) {
        fprintf(stderr, "sluice: the service does not answer\n");
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

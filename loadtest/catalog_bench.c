// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_bench - times the reading of a database's catalog, and prints the model in short.
 *
 *     catalog_bench [--dump] [SCHEMA...]        where the database is: libpq's variables (PGHOST ...)
 *
 * Built by hand, from the repository's root:
 *     make build/libstorage.a build/libodata.a
 *     cc -std=c11 -O2 -I. $(pkg-config --cflags libpq) -o build/catalog_bench \
 *        loadtest/catalog_bench.c build/libstorage.a build/libodata.a $(pkg-config --libs libpq)
 * loadtest/catalog_bench.sql makes 10,000 tables for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "storage/catalog.h"

enum {
    MOST_SCHEMAS = 16,
    TIMEOUT_MS = 60000,
};

static double seconds(const struct timespec *t)
{
    return (double)t->tv_sec + (double)t->tv_nsec / 1e9;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return seconds(&t);
}

static const char *type_name(const struct type_ref *t)
{
    return t->type == EDM_ENUM      ? t->enum_type->name.ptr
           : t->type == EDM_COMPLEX ? t->complex_type->name.ptr
                                    : edm_name(t->type).ptr;
}

static void dump_type(const struct entity_type *t)
{
    printf("%.*s: %.*s.%.*s\n", STR_ARG(t->set->name), STR_ARG(t->namespace), STR_ARG(t->name));
    for (size_t i = 0; i < t->property_count; i++) {
        const struct property *p = &t->properties[i];
        printf("    %s%.*s: %s%s%s%s%s (%d, %d, %d) cast %.*s\n",
               key_has_property(&t->key, p) ? "*" : "", STR_ARG(p->name), type_name(&p->type),
               p->type.collection ? "[]" : "", p->type.nullable ? "" : " not null",
               p->computed ? " computed" : "", p->has_default ? " default" : "", p->type.max_length,
               p->type.precision, p->type.scale, STR_ARG(p->pg.cast));
    }
    for (size_t i = 0; i < t->navigation_count; i++) {
        const struct navigation *n = &t->navigations[i];
        printf("    -> %.*s: %.*s%s%s%s, back as %.*s\n", STR_ARG(n->name),
               STR_ARG(n->target->name), n->collection ? "[]" : "", n->nullable ? "?" : "",
               n->link != NULL ? " by link" : "", STR_ARG(n->partner->name));
    }
}

static void dump(const struct model *m)
{
    for (size_t i = 0; i < m->set_count; i++) {
        dump_type(m->sets[i].type);
    }
    for (size_t i = 0; i < m->warning_count; i++) {
        printf("%.*s: %.*s\n", STR_ARG(m->warnings[i].relation), STR_ARG(m->warnings[i].text));
    }
}

int main(int argc, char **argv)
{
    struct str schemas[MOST_SCHEMAS];
    size_t schema_count = 0;
    bool dumps = false;
    for (int i = 1; i < argc && schema_count < MOST_SCHEMAS; i++) {
        if (strcmp(argv[i], "--dump") == 0) {
            dumps = true;
        } else {
            schemas[schema_count++] = str_from(argv[i]);
        }
    }
    if (schema_count == 0) {
        schemas[schema_count++] = STR("public");
    }
    struct catalog_options options = {
        .db_uri = "", .schemas = schemas, .schema_count = schema_count, .timeout_ms = TIMEOUT_MS};
    struct odata_error err = {0};
    struct model *m = NULL;
    double wall = now(CLOCK_MONOTONIC);
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    if (!catalog_load(&options, &m, &err)) {
        fprintf(stderr, "%s (%s)\n", err.message, err.internal);
        return EXIT_FAILURE;
    }
    wall = now(CLOCK_MONOTONIC) - wall;
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (dumps) {
        dump(m);
    }
    printf("%zu sets, %zu enums, %zu complex types, %zu warnings: %.3f s, of it own CPU %.3f s,"
           " peak RSS %ld kB\n",
           m->set_count, m->enum_count, m->complex_count, m->warning_count, wall, cpu,
           usage.ru_maxrss);
    model_release(m);
    return EXIT_SUCCESS;
}

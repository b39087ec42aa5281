// SPDX-License-Identifier: Apache-2.0
/*
 * main - the settings are read, and the one command that they name is run.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "server/check.h"
#include "server/serve.h"
#include "storage/session.h"

extern char **environ;

/*
 * A batch of rows is allocated and freed many times a second. As it comes, glibc gives the top of
 * the heap back to the kernel each time and takes it anew: measured, seven times the CPU time of a
 * full feed. Trimming is left to what is beyond any batch, and large blocks come from the heap as
 * well. One arena for each worker is enough, and keeps resident memory down.
 */
static void tune_malloc(const struct config *c)
{
    enum {
        KEEP_BYTES = 8 * 1024 * 1024,
        LARGE_BLOCK_BYTES = 4 * 1024 * 1024,
    };
    mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    mallopt(M_ARENA_MAX, (int)config_workers(c) + 1);
}

static int run(const struct config *c)
{
    switch (c->command) {
    case CONFIG_SERVE:
        tune_malloc(c);
        return serve(c);
    case CONFIG_CHECK:
        return check_database(c);
    case CONFIG_PRINT_CONFIG:
        config_print(c, stdout);
        return EXIT_SUCCESS;
    case CONFIG_PRINT_METADATA:
        return check_print_metadata(c);
    case CONFIG_PRINT_CONFIG_DOC:
        config_print_doc(stdout);
        return EXIT_SUCCESS;
    case CONFIG_HEALTH_CHECK:
        return check_health(c);
    case CONFIG_VERSION:
        printf("sluice %s\n", SLUICE_VERSION);
        return EXIT_SUCCESS;
    case CONFIG_HELP:
        config_print_help(stdout);
        return EXIT_SUCCESS;
    }
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct config config;
    struct config_error err;
    if (!config_load(argc, argv, environ, &config, &err)) {
        fprintf(stderr, "sluice: %s\n", err.message);
        return EXIT_FAILURE;
    }
    session_clear_environment();
    int status = run(&config);
    config_fini(&config);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_source - the settings, as storage/catalog.h wants them.
 *
 * Owns: the lists that it makes; the texts in them are the settings'.
 */
#ifndef SERVER_CATALOG_SOURCE_H
#define SERVER_CATALOG_SOURCE_H

#include <stdbool.h>

#include "config/config.h"
#include "odata/arena.h"
#include "odata/compiler.h"
#include "storage/catalog.h"

struct catalog_source {
    struct arena arena;
    struct catalog_options options;
};

/*
 * For the role that requests without credentials have: anonymous-role, or the one that logs in.
 * Borrows c until catalog_source_fini(). False when memory is short. */
bool catalog_source_init(struct catalog_source *s, const struct config *c) NODISCARD;
void catalog_source_fini(struct catalog_source *s);

#endif

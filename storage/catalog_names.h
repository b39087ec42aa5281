// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_names - PostgreSQL's names as OData's.
 *
 * The rule. A name that is a SimpleIdentifier (CSDL 17.2) stays as it is, letter case included. In
 * any other name
 *   1. each character that may not stand there becomes `_` (so does each byte that is no UTF-8),
 *   2. a first character that may only follow, e.g. a digit, gets a `_` in front,
 *   3. what is longer than 128 characters is cut,
 *   4. when the result is taken, `_2`, `_3` ... is added.
 * Names that need no rewriting are given out first, so that they never yield to a rewritten one;
 * the others in the order of the columns, of relations and types by name. The result depends on
 * nothing else, so it is the same after every restart and every restore of a dump.
 */
#ifndef STORAGE_CATALOG_NAMES_H
#define STORAGE_CATALOG_NAMES_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/compiler.h"
#include "odata/str.h"
#include "storage/catalog_map.h"

enum {
    NAME_LONGEST = 128, /* characters of a SimpleIdentifier */
};

bool name_is_identifier(struct str name);

/* Steps 1 to 3. Lends `name` itself when it is an identifier, else copies into a. */
bool name_rewrite(struct arena *a, struct str name, struct str *out_name) NODISCARD;

/* Step 4: the identifier, or with a number, so that it is not in taken; it is added there. */
bool name_claim(struct arena *a, struct str identifier, struct name_set *taken,
                struct str *out_name) NODISCARD;

/*
 * All steps for the columns of one type: names[i] becomes the identifier of columns[i].
 * taken: is cleared, and holds the identifiers afterwards (only when one had to be rewritten).
 */
bool name_columns(struct arena *a, const struct str *columns, size_t count, struct name_set *taken,
                  struct str *names) NODISCARD;

/* The namespace of a schema: rewritten, and `_` after a name that CSDL or we keep for ourselves. */
bool name_namespace(struct arena *a, struct str schema, struct name_set *taken,
                    struct str *out_name) NODISCARD;

#endif

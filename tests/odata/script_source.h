// SPDX-License-Identifier: Apache-2.0
/*
 * script_source - a row source that gives rows by a script, and stops where a test says.
 *
 * Owns: the rows it lends: copies of exact size, freed as early as the contract of row_source allows.
 */
#ifndef TESTS_ODATA_SCRIPT_SOURCE_H
#define TESTS_ODATA_SCRIPT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "odata/row_source.h"

enum {
    SCRIPT_FIELDS = 4,
    SCRIPT_LEVELS = 4,
    SCRIPT_NEVER = 1000000,
};

/* Rows in the order in which the document has them; parents before their children. */
struct script_row {
    int level; /* -1 ends the script */
    const char *fields[SCRIPT_FIELDS];
};

struct lent; /* a row in the hands of the writer */

/* Says AGAIN or FAIL at a chosen call, SCRIPT_NEVER at none. */
struct script {
    struct row_source base;
    const struct script_row *rows;
    int64_t count;
    int at[SCRIPT_LEVELS]; /* the current row, -1 before the first */
    struct lent *lent[SCRIPT_LEVELS];
    int calls;
    int again_at;
    bool again_always; /* before every OK */
    bool again_said;
    int fail_at;
};

void script_init(struct script *s, const struct script_row *rows, int64_t count);
void script_fini(struct script *s);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_fixture - a schema of its own for each case, and the model that comes of it as text.
 */
#ifndef TESTS_STORAGE_CATALOG_FIXTURE_H
#define TESTS_STORAGE_CATALOG_FIXTURE_H

#include <stdbool.h>

#include "odata/model.h"
#include "odata/odata_error.h"
#include "storage/catalog.h"

/* What must come of some SQL that is run in a new, empty schema `ct`. */
struct catalog_case {
    const char *name;
    const char *sql;      /* with search_path = ct, pg_catalog */
    const char *wanted;   /* lines; each must begin a line of the description */
    const char *unwanted; /* lines; none may begin one. NULL: nothing */
};

/* Runs SQL with search_path = ct, pg_catalog; a failure fails the test. */
void catalog_fixture_sql(const char *sql);

/* Makes the schema ct anew. */
void catalog_fixture_reset(void);

/*
 * Makes the schema ct anew, runs the SQL, loads the schema and compares. On a difference the test
 * fails with the name, the line and the description.
 */
void catalog_fixture_check(const struct catalog_case *c);

/* The same with options of one's own and without touching the database. */
void catalog_fixture_check_model(const char *name, const struct model *m, const char *wanted,
                                 const char *unwanted);

/* Options that expose the schema ct and nothing else. */
struct catalog_options catalog_fixture_options(void);

/*
 * Line by line, with names only as far as they are not in the schema ct:
 *   namespace N / container N.C
 *   set S: N.T table|partitioned|view|matview|foreign "table" page=P
 *   S key a, b / S alternate a / S search 'config'::regconfig: text <column> text
 *   S type first..last of N [base=S] [strays]: in its hierarchy
 *   S.p: Type(facets) null|notnull [computed] [default] [column "c"] [slot=n] cast C
 *   S -> n: T one|many [null] [dependent] back=m on a=b, ... | by "link" a="c" d="e"
 *   enum N.E: a, b / complex N.C / C.p: ...
 *   about S: comment / about S.p: comment
 *   warning s.t: text
 */
struct bytes;
void catalog_fixture_describe(const struct model *m, struct bytes *out_text);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * ecma_regex - a regular expression of ECMAScript, rewritten as one of PostgreSQL that matches the
 * same texts.
 *
 * Both look alike and differ in much: what \b, \w, `.` and `[` inside of brackets mean, ***: and
 * (?i) at the start, repetition beyond 255. So the pattern is parsed and written anew, nothing is
 * handed through. It is read as with the flag u: by characters, not by UTF-16 units.
 *
 * Back references are refused: without them PostgreSQL matches in time that is a polynomial of
 * the text's length. Which part a group has matched does not matter to a yes or no: groups are
 * written as non-capturing, lazy repetition as greedy.
 *
 * Source: ECMA-262, 22.2.1; PostgreSQL, 9.7.3.
 */
#ifndef ODATA_ECMA_REGEX_H
#define ODATA_ECMA_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/str.h"

struct ecma_regex_problem {
    const char *text; /* static */
    size_t at;        /* byte of the pattern */
    bool not_here;    /* it is one of ECMAScript, but we do not have it */
};

/* Appends the pattern to out. False fills out_problem; what was appended until then is void. */
bool ecma_regex_rewrite(struct str pattern, struct bytes *out,
                        struct ecma_regex_problem *out_problem) NODISCARD;

#endif

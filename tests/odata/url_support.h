// SPDX-License-Identifier: Apache-2.0
/*
 * url_support - what the tests of the URL parsers share: a row is a text with its dump or its error.
 */
#ifndef TESTS_ODATA_URL_SUPPORT_H
#define TESTS_ODATA_URL_SUPPORT_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/bytes.h"
#include "odata/odata_error.h"
#include "odata/str.h"

/* Parses text and, when that worked, dumps the tree. */
typedef bool (*url_parse_fn)(struct arena *a, struct str text, struct bytes *dump,
                             struct odata_error *err);

struct url_good {
    const char *name;
    const char *text;
    const char *dump;
};

struct url_bad {
    const char *name;
    const char *text;
    int http_status;
    const char *code;
    const char *message; /* must be in the message */
};

/* The text parses to the dump. */
void url_check_good(url_parse_fn parse, const struct url_good *row);

/* The text fails so. */
void url_check_bad(url_parse_fn parse, const struct url_bad *row);

/*
 * Every prefix of the text, in a block of exactly its size, parses or fails with a 400 or 501 that
 * has a code and a message.
 */
void url_check_prefixes(url_parse_fn parse, const char *text);

/* Under a limit that grows from 0, the text fails with RequestTooComplex until it parses. */
void url_check_arena(url_parse_fn parse, const char *text);

#endif

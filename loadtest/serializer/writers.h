// SPDX-License-Identifier: Apache-2.0
/*
 * writers - the ways of writing one document that are compared.
 *
 * All write the same bytes, row after row into a buffer, and hand it to the sink when it holds
 * high_mark bytes.
 */
#ifndef LOADTEST_SERIALIZER_WRITERS_H
#define LOADTEST_SERIALIZER_WRITERS_H

#include <stdbool.h>
#include <stddef.h>

#include "loadtest/serializer/data.h"
#include "odata/bytes.h"

struct sink {
    int fd;           /* -1: the document stays in memory */
    size_t high_mark; /* SIZE_MAX: it is handed over whole */
    bool failed;
};

/* Writes out to the file and empties it. */
void sink_drain(struct sink *s, struct bytes *out);

static inline void sink_row_done(struct sink *s, struct bytes *out)
{
    if (out->len >= s->high_mark) {
        sink_drain(s, out);
    }
}

struct writer {
    const char *name;
    const char *what;
    /* Whatever can be done before the first document; NULL when memory is short. */
    void *(*open)(const struct data *d);
    /* One document; what has not been drained is in out. */
    bool (*write)(void *state, struct bytes *out, struct sink *sink);
    void (*close)(void *state);
};

extern const struct writer writer_sluice;      /* odata/feed_writer over storage/pg_value */
extern const struct writer writer_bare_text;   /* by hand, from the same text forms */
extern const struct writer writer_bare_values; /* by hand, from values that are split already */
extern const struct writer writer_cjson_print; /* cJSON, the tree being there */
extern const struct writer writer_cjson;       /* cJSON, the tree being made as well */

#endif

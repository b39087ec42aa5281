// SPDX-License-Identifier: Apache-2.0
/*
 * encoder - a content coding over a stream of bytes that come when they come.
 *
 * What the source has given so far is flushed when it has no more for now, so the first rows are
 * not held back by the coding. The work is done by zlib and libzstd.
 *
 * Owns:    its state and one buffer: about 300 KiB for gzip, 1 MiB for zstd, whatever it codes.
 */
#ifndef SERVER_ENCODER_H
#define SERVER_ENCODER_H

#include <stddef.h>

#include "odata/bytes.h"
#include "odata/compiler.h"
#include "odata/step.h"
#include "odata/str.h"
#include "server/content_coding.h"

struct encoder;

enum {
    ENCODER_LEAST_READ = 16, /* into less, zlib would flush for ever */
};

/* Where the bytes come from: as read() of struct http_handler. */
struct encoder_source {
    enum step (*read)(void *ctx, char *buf, size_t max, size_t *out_len);
    void *ctx;
};

/* A text that is lent; it becomes what is left of it. */
struct encoder_source encoder_text_source(struct str *text);

/* NULL when memory is short. Not for CODING_IDENTITY. */
struct encoder *encoder_new(enum content_coding coding) NODISCARD;
void encoder_free(struct encoder *e);

/* OK with some coded bytes; AGAIN when the source said so and all that it gave is out; END; FAIL. max
   is ENCODER_LEAST_READ or more. */
enum step encoder_read(struct encoder *e, const struct encoder_source *source, char *buf,
                       size_t max, size_t *out_len);

/* A whole text at once. False: it would not be shorter, or memory is short; out is empty then. */
bool encoder_code(enum content_coding coding, struct str text, struct bytes *out);

#endif

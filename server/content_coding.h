// SPDX-License-Identifier: Apache-2.0
/*
 * content_coding - which content coding a client takes (RFC 9110 12.5.3), and which bodies gain by
 * one.
 */
#ifndef SERVER_CONTENT_CODING_H
#define SERVER_CONTENT_CODING_H

#include <stdbool.h>

#include "odata/str.h"

enum content_coding {
    CODING_IDENTITY,
    CODING_GZIP,
    CODING_ZSTD,
};

/* As in Content-Encoding. */
const char *content_coding_name(enum content_coding coding);

/*
 * The best of ours that Accept-Encoding allows; zstd before gzip when they are worth the same, since it
 * costs a third. What names none of ours, as "" itself, is identity.
 */
enum content_coding content_coding_choose(struct str accept_encoding);

/* Text: bodies of this media type are worth coding. Pictures in a stream are not. */
bool content_coding_helps(struct str media_type);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * sha256 - FIPS 180-4, for checking documents; not for secrets.
 */
#ifndef LOADTEST_SERIALIZER_SHA256_H
#define LOADTEST_SERIALIZER_SHA256_H

#include "odata/str.h"

enum {
    SHA256_BYTES = 32,
};

void sha256(struct str text, unsigned char out_digest[SHA256_BYTES]);

#endif

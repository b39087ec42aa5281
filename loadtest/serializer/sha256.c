// SPDX-License-Identifier: Apache-2.0
#include "loadtest/serializer/sha256.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    BLOCK = 64,
    ROUNDS = 64,
    WORDS = 8,
};

struct state {
    uint32_t h[WORDS];
    uint32_t k[ROUNDS];
};

/* The first 32 bits of the fraction of a root of a prime (4.2.2, 5.3.3). */
static uint32_t fraction_bits(long double root)
{
    return (uint32_t)((root - floorl(root)) * 4294967296.0L);
}

static void init(struct state *s)
{
    unsigned count = 0;
    for (unsigned n = 2; count < ROUNDS; n++) {
        bool is_prime = true;
        for (unsigned d = 2; d * d <= n; d++) {
            is_prime = is_prime && n % d != 0;
        }
        if (!is_prime) {
            continue;
        }
        if (count < WORDS) {
            s->h[count] = fraction_bits(sqrtl((long double)n));
        }
        s->k[count++] = fraction_bits(cbrtl((long double)n));
    }
}

static uint32_t rotate(uint32_t x, unsigned count)
{
    return x >> count | x << (32 - count);
}

static void add_block(struct state *s, const unsigned char *block)
{
    uint32_t w[ROUNDS];
    for (unsigned t = 0; t < 16; t++) {
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    }
    for (unsigned t = 16; t < ROUNDS; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    uint32_t v[WORDS];
    memcpy(v, s->h, sizeof(v));
    for (unsigned t = 0; t < ROUNDS; t++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choice + s->k[t] + w[t];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, (WORDS - 1) * sizeof(v[0]));
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (unsigned i = 0; i < WORDS; i++) {
        s->h[i] += v[i];
    }
}

void sha256(struct str text, unsigned char out_digest[SHA256_BYTES])
{
    struct state s;
    init(&s);
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t left = text.len;
    for (; left >= BLOCK; left -= BLOCK, p += BLOCK) {
        add_block(&s, p);
    }
    unsigned char last[2 * BLOCK] = {0};
    memcpy(last, p, left);
    last[left] = 0x80;
    size_t padded = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    uint64_t bits = (uint64_t)text.len * 8;
    for (unsigned i = 0; i < 8; i++) {
        last[padded - 1 - i] = (unsigned char)(bits >> (8 * i));
    }
    for (size_t at = 0; at < padded; at += BLOCK) {
        add_block(&s, last + at);
    }
    for (unsigned i = 0; i < SHA256_BYTES; i++) {
        out_digest[i] = (unsigned char)(s.h[i / 4] >> (24 - 8 * (i % 4)));
    }
}

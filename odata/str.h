// SPDX-License-Identifier: Apache-2.0
/*
 * str - a view of text: pointer and length, passed by value, never ending in NUL by promise.
 *
 * Owns: nothing. A view lives as long as the bytes it points at.
 */
#ifndef ODATA_STR_H
#define ODATA_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct str {
    const char *ptr;
    size_t len;
};

/* For initialisers of static tables: `{STR_INIT("eq"), ...}`. */
#define STR_INIT(s) .ptr = "" s, .len = sizeof(s) - 1
/* A view of a string literal, in expressions. */
#define STR(s) ((struct str){STR_INIT(s)})
/* For printf: `"%.*s", STR_ARG(name)`. */
#define STR_ARG(s) (int)(s).len, (s).ptr

/* A view of a C string; of nothing when text is NULL. */
struct str str_from(const char *text);

bool str_eq(struct str a, struct str b);

/* Equality that ignores the case of ASCII letters. */
bool str_ieq(struct str a, struct str b);

/* Byte order, a shorter text before its continuation; for sorting and binary search. */
int str_compare(struct str a, struct str b);

bool str_starts_with(struct str s, struct str prefix);
bool str_ends_with(struct str s, struct str suffix);

/* The bytes from `from` to the end; empty when from is past the end. */
struct str str_from_offset(struct str s, size_t from);

/* The bytes [from, to), both clipped to the view. */
struct str str_slice(struct str s, size_t from, size_t to);

/* The index of the first c at or after from, or s.len. */
size_t str_find(struct str s, char c, size_t from);

/* The byte at `at`, or NUL past the end. */
static inline char str_at(struct str s, size_t at)
{
    if (at < s.len) {
        return s.ptr[at];
    }
    return '\0';
}

/* Without blanks and tabs at both ends. */
struct str str_trim(struct str s);

/* FNV-1a, 64 bits: for hash tables and the checks of skip tokens, not for secrets. */
uint64_t str_hash(struct str s);

/* Folds more text into a running hash; start with STR_HASH_START. */
#define STR_HASH_START UINT64_C(14695981039346656037)
uint64_t str_hash_more(uint64_t hash, struct str s);

/*
 * Digits only, at least one, no sign: the value, or false when it is anything else or does not fit.
 */
bool str_to_u64(struct str s, uint64_t *out_value);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * compiler - the few compiler attributes that this code uses, by name.
 */
#ifndef ODATA_COMPILER_H
#define ODATA_COMPILER_H

/* The result must be looked at. */
#define NODISCARD __attribute__((warn_unused_result))

/* Checks a printf-like call: fmt is argument f, the first value is argument a. */
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* For the few functions that are the loop of somebody else's hot path. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * catalog_letters - which characters a SimpleIdentifier may have (OData CSDL 4.01, 17.2).
 */
#ifndef STORAGE_CATALOG_LETTERS_H
#define STORAGE_CATALOG_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

/* The code point is `_` or in the Unicode categories L or Nl. */
bool letter_may_start(uint32_t c);

/* As above, or in the categories Nd, Mn, Mc or Pc. */
bool letter_may_follow(uint32_t c);

#endif

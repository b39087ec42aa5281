// SPDX-License-Identifier: Apache-2.0
/*
 * path_parse - the resource path of a URL into segments.
 *
 * Split on `/` first, each segment is then decoded once, so that %2F is data and quotes,
 * parentheses, `=` and `,` of a key may be encoded or not.
 *
 * Memory:  all strings live in the arena.
 * Source:  OData 4.01 URL Conventions 2 and 4, ABNF section 1 (resourcePath).
 *
 * A segment without parentheses is any text: it may be a name or, in the key-as-segment form, a
 * value. What precedes parentheses must be a name.
 */
#ifndef ODATA_PATH_PARSE_H
#define ODATA_PATH_PARSE_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/compiler.h"
#include "odata/odata_error.h"
#include "odata/str.h"

/*
 * raw_path: undecoded, relative to the service root, without its first slash; borrowed. Empty is
 * the root. One slash at the end is tolerated and noted.
 * False fills err: 400 BadPath, BadKey (in the parentheses), BadFilter, BadUrl, or 501.
 */
bool path_parse(struct arena *a, struct str raw_path, struct resource_path *out_path,
                struct odata_error *err) NODISCARD;

#endif

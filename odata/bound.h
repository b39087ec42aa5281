/*
 * bound - expressions and reads after binding: every name is a piece of the model, every type known.
 *
 * Owns: nothing; bound trees live in the request's arena and lend from the model.
 */
#ifndef ODATA_BOUND_H
#define ODATA_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/ast.h"
#include "odata/model.h"

/* The rows that a request reads. */
struct read {
    const struct entity_type *type;
    bool has_count;       /* $count=true */
    bool resumable;       /* ordered by a total order: next links can be made */
    uint64_t page_rows;   /* close the page after so many rows; 0 = no limit */
    uint64_t token_check; /* hash of the query that a skip token belongs to */
    uint64_t rows_before; /* rows of the earlier pages, from the skip token */
};

#endif

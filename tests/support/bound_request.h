// SPDX-License-Identifier: Apache-2.0
/*
 * bound_request - a URL, parsed and bound to the model of tests/support/shop_model.h.
 */
#ifndef TESTS_SUPPORT_BOUND_REQUEST_H
#define TESTS_SUPPORT_BOUND_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/model.h"
#include "odata/plan.h"

struct bound_request {
    struct arena arena;
    struct model *model;
    const struct plan *plan; /* NULL when err is filled */
    struct odata_error err;
};

/*
 * url: `Products(1)?$select=Name`, without the service root. options: its model is filled in here;
 * NULL for a 4.0 request without limits. The arena ends at arena_limit bytes.
 */
bool bound_request_init(struct bound_request *r, const char *url,
                        const struct bind_options *options, size_t arena_limit);
void bound_request_fini(struct bound_request *r);

#endif

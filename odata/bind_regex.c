// SPDX-License-Identifier: Apache-2.0
/* The pattern of matchesPattern (URL Conventions 5.1.1.7.1). */
#include "odata/bind_priv.h"
#include "odata/ecma_regex.h"
#include "odata/limits.h"

const struct bound_expr *bind_regex(struct binder *b, const struct scope *s, size_t offset,
                                    const struct bound_expr *pattern)
{
    struct ecma_regex_problem problem;
    struct bytes text;
    struct bound_expr *made = bind_new(b, BOUND_VALUE, EDM_STRING, 0);
    if (made == NULL) {
        return NULL;
    }
    bytes_init(&text, LIMIT_REQUEST_ARENA_BYTES);
    bool ok = ecma_regex_rewrite(pattern->text, &text, &problem);
    if (!ok && problem.not_here) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "%s (character %zu of the pattern "
                                    "at byte %zu of %s)",
                                    problem.text, problem.at, offset, s->clause->option);
    } else if (!ok) {
        bind_fail(b, s->clause, offset, "%s, at character %zu of the pattern", problem.text,
                  problem.at);
    } else if (bytes_failed(&text)) {
        ok = bytes_fail(&text, b->err);
    } else if (!arena_copy(b->arena, bytes_str(&text), &made->text)) {
        ok = arena_fail(b->arena, b->err);
    }
    bytes_fini(&text);
    return ok ? made : NULL;
}

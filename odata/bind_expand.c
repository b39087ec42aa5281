// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>

#include "odata/apply_priv.h"
#include "odata/limits.h"

/* One navigation to be expanded, with what the request says about it. */
struct expanding {
    struct source *source;
    const struct navigation *navigation;
    const struct entity_type *cast; /* what its entities are cast to, or NULL */
    const struct query *options;    /* or NULL */
    size_t offset;
    uint64_t levels; /* this one included */
    bool ref;
    bool count;
};

static size_t depth_limit(const struct binder *b)
{
    size_t limit = b->options->max_expand_depth;
    /* The rows of the request are an object of the feed writer's stack, too. */
    return limit == 0 || limit > LIMIT_EXPAND_DEPTH - 2 ? LIMIT_EXPAND_DEPTH - 2 : limit;
}

/* The row that the navigation starts at is, or hangs on, the one that $it stands for; and that one
   has a key by which the rows of the navigation can be told of it. */
static bool is_it_near(const struct binder *b, const struct expanding *x)
{
    return x->source->root == b->it && !b->it->type->crossjoin;
}

static bool option_fails(struct binder *b, const struct expanding *x, const char *option)
{
    return bind_fail(b, &clause_expand, x->offset, "%s does not fit '%.*s'", option,
                     STR_ARG(bind_clip(x->navigation->name)));
}

/* Options that are standard, but not here; and options that do not fit what is expanded. */
static bool check_options(struct binder *b, const struct expanding *x)
{
    const struct query *q = x->options;
    if (!bind_refuse_later(b, q)) {
        return false;
    }
    if (q->compute_count > 0 && x->navigation->crossed) {
        return odata_error_not_implemented(b->err, "$compute",
                                           "$compute below $crossjoin is not implemented");
    }
    bool rows = x->navigation->collection && !x->count; /* there are rows to choose among */
    const struct {
        bool given;
        bool fits;
        const char *name;
    } fits[] = {
        {q->filter != NULL, x->navigation->collection, "$filter"},
        {q->search.given, x->navigation->collection, "$search"},
        {q->orderby_count > 0, rows, "$orderby"},
        {q->has_top, rows, "$top"},
        {q->has_skip, rows, "$skip"},
        {q->has_count, rows, "$count"},
        {q->has_select, !x->ref && !x->count, "$select"},
        {q->has_expand, !x->ref && !x->count, "$expand"},
        {q->has_levels, !x->ref && !x->count, "$levels"},
        {q->compute_count > 0, !x->count, "$compute"},
        {q->apply != NULL, rows && !x->ref && !q->has_levels, "$apply"},
        {q->skiptoken.given, false, "$skiptoken"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(fits); i++) {
        if (fits[i].given && !fits[i].fits) {
            return option_fails(b, x, fits[i].name);
        }
    }
    return true;
}

static bool expand_one(struct binder *b, const struct expanding *x, struct selection *into);

/* $levels: the same navigation once more, below its own target (URL Conventions 5.1.3.1). */
static bool expand_again(struct binder *b, const struct expanding *x, struct source *target,
                         struct selection *selection)
{
    const struct navigation *again = entity_type_find_navigation(target->type, x->navigation->name);
    if (x->levels <= 1 || again == NULL || again->target != x->navigation->target ||
        (x->levels == UINT64_MAX && b->expand_depth >= depth_limit(b))) {
        return true;
    }
    for (const struct expansion *e = selection->expansions; e != NULL; e = e->next) {
        if (e->navigation == again) {
            return true;
        }
    }
    struct expanding next = *x;
    next.source = target;
    next.navigation = again;
    next.levels = x->levels == UINT64_MAX ? UINT64_MAX : x->levels - 1;
    return expand_one(b, &next, selection);
}

static const struct selection *select_target(struct binder *b, const struct expanding *x,
                                             struct source *target)
{
    struct selection *selection = bind_selection(b, target, x->options);
    if (selection == NULL) {
        return NULL;
    }
    selection->ref_only = x->ref;
    static const struct query none;
    if (!bind_expand(b, target, x->options == NULL ? &none : x->options, selection)) {
        return NULL;
    }
    return expand_again(b, x, target, selection) ? selection : NULL;
}

/* The rows are made of those of one parent alone, and not chosen among those of all. */
static bool is_tied(const struct expanding *x)
{
    return x->navigation->made != NULL || (x->options != NULL && x->options->apply != NULL);
}

/* The entities behind the navigation, or what $apply makes of them, with computed properties when
   there are some. from: the parent, where it is outside of the rows; else NULL. */
static struct source *bind_target(struct binder *b, const struct expanding *x,
                                  const struct source *from)
{
    const struct query *q = x->options;
    struct applying rows = {.b = b, .clause = &clause_apply};
    if (x->navigation->collection && (is_tied(x) || from != NULL)) {
        if (!bind_behind(&rows, x->navigation, from) ||
            (q != NULL && q->apply != NULL && !bind_sequence(&rows, q->apply))) {
            return NULL;
        }
    } else if (x->cast == NULL) {
        rows.in = bind_target_rows(b, x->navigation);
    } else {
        rows.in = bind_source_new(b, x->cast);
        if (rows.in != NULL) {
            rows.in->set = x->navigation->target->set;
            rows.in->says_type = true;
        }
    }
    if (rows.in == NULL || q == NULL || q->compute_count == 0) {
        return rows.in;
    }
    return bind_compute(b, &clause_compute, rows.in, q->compute, q->compute_count);
}

/* The number of rows, as a value of the parent's row. */
static bool bind_counted(struct binder *b, const struct expanding *x, const struct query *q,
                         bool it_is_near, struct expansion *made)
{
    struct bound_expr *count = bind_new(b, BOUND_COUNT, EDM_INT64, 0);
    if (count == NULL) {
        return false;
    }
    b->these->from = x->source;
    count->range = bind_target(b, x, x->source);
    made->counted = count;
    return count->range != NULL &&
           bind_rows_condition(b, count->range, q, it_is_near, &count->body);
}

/* The same for a to-one navigation: joined to the row it belongs to. */
static struct source *join_target(struct binder *b, const struct expanding *x)
{
    if (x->options == NULL || x->options->compute_count == 0) {
        return bind_source_join(b, x->source, x->navigation, false);
    }
    struct source *source = bind_target(b, x, NULL);
    if (source != NULL) {
        bind_source_attach(x->source, x->navigation, source);
    }
    return source;
}

/*
 * The page of an expanded collection. A part of it alone is never written without the link to its
 * rest: where there is no URL for that it is complete, whatever the limit. There is none below a row
 * that has no id of its own, for rows that $apply makes, and for options that speak of $it or $these,
 * which are others there.
 */
static uint64_t page_rows(const struct binder *b, const struct expanding *x,
                          const struct read *read)
{
    const struct entity_type *parent = x->source->type;
    bool is_addressed = parent->set != NULL && !parent->transient && parent->structure == NULL;
    return is_addressed && !read->tied && read->type->set != NULL ? bind_page_size(b, read) : 0;
}

/* Which rows there are, their order and how many are asked for. */
static bool bind_choice(struct binder *b, const struct expanding *x, const struct query *q,
                        struct expansion *made, struct read *read)
{
    bool it_is_near = is_it_near(b, x);
    if (!bind_rows_condition(b, read->source, q, it_is_near, &read->filter)) {
        return false;
    }
    made->has_count = q->has_count && q->count;
    made->count_only = x->count;
    if ((made->has_count || x->count) && (read->tied || b->these->used) &&
        !bind_counted(b, x, q, it_is_near, made)) {
        return false;
    }
    if (x->count) {
        return true;
    }
    b->these->from = NULL;
    read->has_top = q->has_top;
    read->top = q->top;
    read->skip = q->has_skip ? q->skip : 0;
    struct scope scope = {
        .root = read->source, .clause = &clause_orderby, .it_is_near = it_is_near};
    uint64_t rows = page_rows(b, x, read);
    if (!bind_order(b, &scope, q, q->has_top || q->has_skip || rows > 0, read)) {
        return false;
    }
    if (rows == 0 || b->it_used || b->these->used) {
        return true;
    }
    read->page_rows = rows;
    b->nested_pages = true;
    read->token_check = bind_nested_check(b, x->source, x->navigation, read, q);
    if (!bind_nested_next(b, x->options, x->levels, x->ref, made)) {
        return false;
    }
    size_t most = b->options->max_link_bytes;
    if (most > 0 && made->next_path.len + made->next_query.len > most) {
        read->page_rows = 0; /* nobody could follow the link: the collection is complete */
    }
    return true;
}

static bool expand_to_many(struct binder *b, const struct expanding *x, struct expansion *made)
{
    static const struct query none;
    const struct query *q = x->options == NULL ? &none : x->options;
    struct read *read = ARENA_NEW(b->arena, struct read);
    struct these these = {.via = x->navigation, .options = x->options};
    struct these *outer_these = b->these;
    if (read == NULL) {
        return arena_fail(b->arena, b->err);
    }
    b->these = &these;
    read->source = bind_target(b, x, NULL);
    made->read = read;
    if (read->source == NULL) {
        return false;
    }
    read->type = read->source->type;
    read->tied = is_tied(x);
    bool it_used = b->it_used;
    b->it_used = false;
    if (!bind_choice(b, x, q, made, read)) {
        return false;
    }
    read->it = b->it_used && !x->count ? b->it : NULL;
    b->it_used = it_used;
    if (!x->count) {
        read->selection = select_target(b, x, read->source);
        made->selection = read->selection;
    }
    b->these = outer_these;
    if (!x->count && made->selection == NULL) {
        return false;
    }
    return x->count || x->navigation->made == NULL || bind_rows_context(b, read, q, &made->context);
}

static bool expand_one(struct binder *b, const struct expanding *x, struct selection *into)
{
    if (b->expand_depth >= depth_limit(b)) {
        return odata_error_set(b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "$expand",
                               "$expand is nested deeper than %zu", depth_limit(b));
    }
    if (x->options != NULL && !check_options(b, x)) {
        return false;
    }
    if (x->count && !x->navigation->collection) {
        return option_fails(b, x, "$count");
    }
    struct expansion *made = ARENA_NEW(b->arena, struct expansion);
    if (made == NULL) {
        return arena_fail(b->arena, b->err);
    }
    made->navigation = x->navigation;
    made->context = STR("");
    made->parent = x->source;
    struct alias_scope aliases = {.outer = b->aliases};
    if (x->options != NULL) {
        aliases.first = x->options->aliases;
    }
    b->aliases = &aliases;
    b->expand_depth++;
    bool ok;
    if (x->navigation->collection) {
        ok = expand_to_many(b, x, made);
    } else {
        made->source = join_target(b, x);
        made->selection = made->source == NULL ? NULL : select_target(b, x, made->source);
        ok = made->selection != NULL;
    }
    b->expand_depth--;
    b->aliases = aliases.outer;
    struct expansion **end = &into->expansions;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = made;
    return ok;
}

static bool is_expanded(const struct selection *s, const struct navigation *n)
{
    const struct expansion *e = s->expansions;
    while (e != NULL && e->navigation != n) {
        e = e->next;
    }
    return e != NULL;
}

/* Nav/Ns.Type: the type; *out_cast is NULL when it is that of the navigation. */
static bool find_cast(struct binder *b, const struct expand_item *item, struct str name,
                      const struct navigation *n, const struct entity_type **out_cast)
{
    const struct entity_type *cast = bind_derived_type(b, name, n->target);
    *out_cast = bind_is_own_type(b, name, n->target) ? NULL : cast;
    if (cast == NULL) {
        return bind_fail_name(b, &clause_expand, item->offset, name,
                              "is no type that is derived from %.*s",
                              STR_ARG(bind_clip(n->target->name)));
    }
    if (*out_cast != NULL && (!n->collection || navigation_is_exact(n))) {
        return odata_error_not_implemented(
            b->err, "$expand",
            "a cast behind '%.*s', which leads to entities of %.*s alone, is not implemented",
            STR_ARG(bind_clip(n->name)), STR_ARG(bind_clip(n->target->name)));
    }
    if (*out_cast != NULL && item->options != NULL && item->options->has_levels) {
        return bind_fail(b, &clause_expand, item->offset, "$levels behind a cast");
    }
    return true;
}

/* The name in front of $ref and $count; *out_cast is what it is cast to, or NULL. */
static bool find_name(struct binder *b, const struct entity_type *type,
                      const struct expand_item *item, struct str *out,
                      const struct entity_type **out_cast)
{
    size_t at = 0;
    bind_skip_casts(b, item->path, item->path_count, type, &at);
    *out = item->path[at];
    *out_cast = NULL;
    const struct navigation *n = entity_type_find_navigation(type, *out);
    if (n != NULL && at + 2 == item->path_count &&
        str_find(item->path[at + 1], '.', 0) < item->path[at + 1].len) {
        return find_cast(b, item, item->path[at + 1], n, out_cast);
    }
    if (n != NULL && at + 2 == item->path_count &&
        entity_type_find_property(n->target, item->path[at + 1]) != NULL) {
        struct str property = item->path[at + 1];
        bind_fail_name(b, &clause_expand, item->offset, property, "is no navigation property");
        return odata_error_hint(b->err, "write %.*s($select=%.*s)", STR_ARG(bind_clip(*out)),
                                STR_ARG(bind_clip(property)));
    }
    if (at + 1 < item->path_count) {
        return odata_error_not_implemented(b->err, "$expand",
                                           "expanding below '%.*s' is not implemented",
                                           STR_ARG(bind_clip(*out)));
    }
    return true;
}

static bool get_levels(struct binder *b, const struct expand_item *item, uint64_t *out)
{
    *out = 1;
    if (item->options == NULL || !item->options->has_levels) {
        return true;
    }
    *out = item->options->levels_max ? UINT64_MAX : item->options->levels;
    return *out > 0 || bind_fail(b, &clause_expand, item->offset, "$levels must be at least 1");
}

/* Whether entities of `type` have this navigation expanded already, by itself or by a cast. */
static bool is_expanded_for(const struct selection *selection, const struct entity_type *type,
                            const struct navigation *n)
{
    for (const struct expansion *e = selection->expansions; e != NULL; e = e->next) {
        if (str_eq(e->navigation->name, n->name)) {
            return true;
        }
    }
    for (const struct cast_selection *c = selection->casts; c != NULL; c = c->next) {
        const struct entity_type *other = c->source->type;
        if ((entity_type_is(type, other) || entity_type_is(other, type)) &&
            is_expanded_for(c->selection, type, n)) {
            return true;
        }
    }
    return false;
}

static bool expand_item(struct binder *b, struct source *source, const struct expand_item *item,
                        struct selection *selection);

/* Ns.Dog/Visits: of entities of a derived type alone. */
static bool expand_cast(struct binder *b, struct source *source, const struct entity_type *type,
                        const struct expand_item *item, size_t at, struct selection *selection)
{
    struct expand_item rest = *item;
    rest.path += at;
    rest.path_count -= at;
    const struct navigation *n = entity_type_find_navigation(type, rest.path[0]);
    if (n != NULL && is_expanded_for(selection, type, n)) {
        return bind_fail_name(b, &clause_expand, item->offset, n->name, "is expanded twice");
    }
    if (str_eq(rest.path[0], STR("*"))) {
        return odata_error_not_implemented(b->err, "$expand",
                                           "'*' behind a cast in $expand is not implemented");
    }
    struct cast_selection *cast = bind_cast_selection(b, source, type, selection);
    return cast != NULL && expand_item(b, cast->source, &rest, cast->selection);
}

static bool expand_item(struct binder *b, struct source *source, const struct expand_item *item,
                        struct selection *selection)
{
    size_t at = 0;
    const struct entity_type *derived =
        bind_skip_casts(b, item->path, item->path_count, source->type, &at);
    if (derived != source->type) {
        return expand_cast(b, source, derived, item, at, selection);
    }
    struct str name;
    struct expanding x = {.source = source,
                          .options = item->options,
                          .offset = item->offset,
                          .ref = item->ref,
                          .count = item->count};
    if (!find_name(b, source->type, item, &name, &x.cast) || !get_levels(b, item, &x.levels)) {
        return false;
    }
    x.navigation = entity_type_find_navigation(source->type, name);
    if (x.navigation == NULL) {
        if (entity_type_find_property(source->type, name) != NULL) {
            return bind_fail_name(b, &clause_expand, item->offset, name,
                                  "is no navigation property");
        }
        return bind_fail_unknown(b, &clause_expand, item->offset, source->type, name, false);
    }
    if (is_expanded_for(selection, source->type, x.navigation)) {
        return bind_fail_name(b, &clause_expand, item->offset, name, "is expanded twice");
    }
    return expand_one(b, &x, selection);
}

static bool has_levels_only(const struct query *q)
{
    return q->filter == NULL && q->orderby_count == 0 && !q->has_select && !q->has_expand &&
           !q->has_top && !q->has_skip && !q->has_count && !q->search.given &&
           q->compute_count == 0 && q->apply == NULL && q->aliases == NULL;
}

/* What `*` says of the next level: `*` again, with one level less; NULL when this is the last. */
static bool next_star(struct binder *b, uint64_t levels, const struct query **out)
{
    static struct str star[] = {{STR_INIT("*")}};
    *out = NULL;
    if (levels <= 1 || (levels == UINT64_MAX && b->expand_depth + 1 >= depth_limit(b))) {
        return true;
    }
    struct query *below = ARENA_NEW(b->arena, struct query);
    struct query *options = ARENA_NEW(b->arena, struct query);
    struct expand_item *item = ARENA_NEW(b->arena, struct expand_item);
    if (below == NULL || options == NULL || item == NULL) {
        return arena_fail(b->arena, b->err);
    }
    options->has_levels = true;
    options->levels_max = levels == UINT64_MAX;
    options->levels = levels == UINT64_MAX ? 0 : levels - 1;
    *item = (struct expand_item){.path = star, .path_count = 1, .options = options};
    struct option_text *text = ARENA_NEW(b->arena, struct option_text);
    if (text == NULL ||
        !(options->levels_max
              ? arena_copy(b->arena, STR("*($levels=max)"), &text->text)
              : arena_format(b->arena, &text->text, "*($levels=%" PRIu64 ")", options->levels))) {
        return arena_fail(b->arena, b->err);
    }
    text->name = "$expand";
    below->texts = text;
    below->has_expand = true;
    below->expand = item;
    below->expand_count = 1;
    *out = below;
    return true;
}

/* `*`, `*` with `$ref`, and `*($levels=n)`: the only option that the grammar has there. */
static bool expand_all(struct binder *b, struct source *source, const struct expand_item *item,
                       struct selection *selection)
{
    const struct query *below = NULL;
    uint64_t levels;
    if (item->count) {
        return odata_error_not_implemented(b->err, "$expand",
                                           "$expand=*/$count is not implemented");
    }
    if (item->options != NULL && !has_levels_only(item->options)) {
        return bind_fail(b, &clause_expand, item->offset, "only $levels can follow '*'");
    }
    if (!get_levels(b, item, &levels) || !next_star(b, levels, &below)) {
        return false;
    }
    for (size_t i = 0; i < source->type->navigation_count; i++) {
        const struct navigation *n = &source->type->navigations[i];
        struct expanding x = {.source = source,
                              .navigation = n,
                              .options = below,
                              .offset = item->offset,
                              .levels = 1,
                              .ref = item->ref};
        if (is_expanded(selection, n)) {
            continue;
        }
        if (is_expanded_for(selection, source->type, n)) {
            return odata_error_not_implemented(
                b->err, "$expand", "'*' beside an expanded '%.*s' behind a cast is not implemented",
                STR_ARG(bind_clip(n->name)));
        }
        if (!expand_one(b, &x, selection)) {
            return false;
        }
    }
    return true;
}

static bool is_star(const struct expand_item *item)
{
    return item->path_count == 1 && str_eq(item->path[0], STR("*"));
}

/* What $apply has left in the rows is written when nothing else is asked (Data Aggregation 3.1). */
static bool expand_default(struct binder *b, struct source *source, struct selection *selection)
{
    for (size_t i = 0; i < source->type->navigation_count; i++) {
        const struct navigation *n = &source->type->navigations[i];
        const struct expanding x = {.source = source, .navigation = n, .levels = 1};
        if (n->expanded && !expand_one(b, &x, selection)) {
            return false;
        }
    }
    return true;
}

bool bind_expand(struct binder *b, struct source *source, const struct query *q,
                 struct selection *selection)
{
    if (!q->has_expand) {
        return expand_default(b, source, selection);
    }
    /* What is named comes before what `*` adds (URL Conventions 5.1.3). */
    for (size_t i = 0; i < q->expand_count; i++) {
        if (!is_star(&q->expand[i]) && !expand_item(b, source, &q->expand[i], selection)) {
            return false;
        }
    }
    for (size_t i = 0; i < q->expand_count; i++) {
        if (is_star(&q->expand[i]) && !expand_all(b, source, &q->expand[i], selection)) {
            return false;
        }
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "odata/bind_priv.h"

/* Kinds of resource, for the table of what fits them. */
enum fits {
    ROWS = 1,       /* a collection of entities */
    ENTITY = 2,     /* one entity */
    REFS = 4,       /* references to entities */
    REF = 8,        /* a reference to one */
    PROPERTY = 16,  /* a primitive property */
    COMPLEX = 32,   /* a complex property */
    RAW = 64,       /* /$value */
    COUNT = 128,    /* /$count of entities */
    LENGTH = 256,   /* /$count of a property */
    DOCUMENT = 512, /* service document, $metadata */
    VALUES = 1024,  /* a property that is a collection */
};

static enum fits kind_of(const struct bound_path *path)
{
    switch (path->kind) {
    case PLAN_COLLECTION:
        return path->ref ? REFS : ROWS;
    case PLAN_ENTITY:
        return path->ref ? REF : ENTITY;
    case PLAN_PROPERTY:
        if (path->read->value->type.collection) {
            return VALUES;
        }
        return path->read->value->type.type == EDM_COMPLEX ? COMPLEX : PROPERTY;
    case PLAN_RAW_VALUE:
        return RAW;
    case PLAN_COUNT:
        return path->read->value == NULL ? COUNT : LENGTH;
    case PLAN_SERVICE_DOCUMENT:
    case PLAN_METADATA:
        break;
    }
    return DOCUMENT;
}

static const char *const kind_names[] = {
    "a collection",
    "a single entity",
    "references",
    "a single reference",
    "a property",
    "a complex value",
    "a raw value",
    "a count",
    "a count of values",
    "a document of the service",
    "a collection of values",
};

static const char *kind_name(enum fits kind)
{
    size_t i = 0;
    while ((1U << i) != (unsigned)kind) {
        i++;
    }
    return kind_names[i];
}

bool bind_refuse_later(struct binder *b, const struct query *q)
{
    if (q->index.given) {
        /* It says where in an ordered collection an entity is inserted (URL Conventions 5.1.11). */
        return odata_error_set(b->err, 400, ODATA_CODE_BAD_QUERY_OPTION, "$index",
                               "$index says where to insert, and this request reads");
    }
    return !q->deltatoken.given ||
           odata_error_not_implemented(b->err, "$deltatoken",
                                       "$deltatoken is not implemented: changes are not tracked, "
                                       "and no answer has a delta link");
}

static bool check_schema_version(struct binder *b, const struct query *q)
{
    /* No schema version is published: only the latest, `*`, is there (Protocol 11.2.12). */
    if (q->schemaversion.given && !str_eq(q->schemaversion.text, STR("*"))) {
        return odata_error_set(b->err, 404, ODATA_CODE_NOT_FOUND, "$schemaversion",
                               "there is no schema version '%.*s'",
                               STR_ARG(bind_clip(q->schemaversion.text)));
    }
    return true;
}

/*
 * Which option fits which kind (URL Conventions 5.1). /$count lets options pass that change no
 * count. Options of a collection of values are standard, but not here.
 */
static bool check_fit(struct binder *b, const struct query *q, enum fits kind)
{
    const struct {
        bool given;
        unsigned fits;
        unsigned later;
        const char *name;
        const char *code;
    } rows[] = {
        {q->filter != NULL, ROWS | REFS | COUNT | LENGTH | VALUES, 0, "$filter",
         ODATA_CODE_BAD_FILTER},
        {q->search.given, ROWS | REFS | COUNT, LENGTH | VALUES, "$search", ODATA_CODE_BAD_SEARCH},
        {q->orderby_count > 0, ROWS | REFS | COUNT | LENGTH | VALUES, 0, "$orderby",
         ODATA_CODE_BAD_ORDERBY},
        {q->has_select, ROWS | ENTITY | COUNT, COMPLEX | VALUES, "$select", ODATA_CODE_BAD_SELECT},
        {q->has_expand, ROWS | ENTITY | COUNT, COMPLEX | VALUES, "$expand", ODATA_CODE_BAD_EXPAND},
        {q->apply != NULL, ROWS | COUNT, 0, "$apply", ODATA_CODE_BAD_APPLY},
        {q->compute_count > 0, ROWS | ENTITY | REFS | COUNT, COMPLEX | VALUES, "$compute",
         ODATA_CODE_BAD_COMPUTE},
        {q->has_top, ROWS | REFS | COUNT | LENGTH | VALUES, 0, "$top", ODATA_CODE_BAD_QUERY_OPTION},
        {q->has_skip, ROWS | REFS | COUNT | LENGTH | VALUES, 0, "$skip",
         ODATA_CODE_BAD_QUERY_OPTION},
        {q->has_count, ROWS | REFS | COUNT | LENGTH | VALUES, 0, "$count",
         ODATA_CODE_BAD_QUERY_OPTION},
        {q->skiptoken.given, ROWS | REFS, 0, "$skiptoken", ODATA_CODE_BAD_SKIP_TOKEN},
        {q->has_levels, 0, 0, "$levels", ODATA_CODE_BAD_QUERY_OPTION},
        {q->id.given, 0, 0, "$id", ODATA_CODE_BAD_QUERY_OPTION},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        if (!rows[i].given || (rows[i].fits & (unsigned)kind) != 0) {
            continue;
        }
        if ((rows[i].later & (unsigned)kind) != 0) {
            return odata_error_not_implemented(b->err, rows[i].name, "%s of %s is not implemented",
                                               rows[i].name, kind_name(kind));
        }
        return odata_error_set(b->err, 400, rows[i].code, rows[i].name, "%s does not fit %s",
                               rows[i].name, kind_name(kind));
    }
    return true;
}

/* The rows of the path, with computed properties: the last step's source is another one. */
static bool bind_computed(struct binder *b, const struct query *q, struct read *read)
{
    struct path_step *steps = ARENA_ARRAY(b->arena, read->step_count, struct path_step);
    if (steps == NULL) {
        return arena_fail(b->arena, b->err);
    }
    struct source *source =
        bind_compute(b, &clause_compute, read->source, q->compute, q->compute_count);
    if (source == NULL) {
        return false;
    }
    memcpy(steps, read->steps, read->step_count * sizeof(*steps));
    steps[read->step_count - 1].source = source;
    read->steps = steps;
    read->source = source;
    read->type = source->type;
    return true;
}

/* Those of the path, and of $search and $filter. */
static bool bind_conditions(struct binder *b, const struct query *q, struct read *read)
{
    const struct bound_expr *in_path = read->filter;
    if (!bind_rows_condition(b, read->source, q, true, &read->filter)) {
        return false;
    }
    if (in_path != NULL) {
        read->filter = read->filter == NULL
                           ? in_path
                           : bind_new_binary(b, OP_AND, EDM_BOOLEAN, in_path, read->filter);
    }
    return in_path == NULL || read->filter != NULL;
}

/* A property that is a collection, or the number of its items. */
static bool bind_values(struct binder *b, const struct bound_path *path, const struct query *q,
                        struct read *read)
{
    struct selected_values values;
    if (!bind_values_options(b, read->source, read->value, q, true, &values)) {
        return false;
    }
    if (path->kind == PLAN_COUNT || (q->has_count && q->count)) {
        read->value_count = values.count;
    }
    if (path->kind != PLAN_COUNT && values.value != NULL) {
        read->value = values.value;
    }
    return true;
}

static bool bind_rows(struct binder *b, const struct bound_path *path, const struct query *q)
{
    struct read *read = path->read;
    if (read->value != NULL) {
        return !read->value->type.collection || bind_values(b, path, q, read);
    }
    if (q->apply != NULL && !bind_apply(b, q->apply, read)) {
        return false;
    }
    b->these = NULL;
    if (!read->single) {
        b->these = ARENA_NEW(b->arena, struct these);
        if (b->these == NULL) {
            return arena_fail(b->arena, b->err);
        }
        b->these->read = read;
    }
    if (q->compute_count > 0 && !bind_computed(b, q, read)) {
        return false;
    }
    if (!bind_conditions(b, q, read)) {
        return false;
    }
    if (path->kind == PLAN_COUNT) {
        return true;
    }
    if (path->kind == PLAN_COLLECTION && !bind_paging(b, q, read)) {
        return false;
    }
    struct selection *selection = bind_selection(b, read->source, q);
    if (selection == NULL) {
        return false;
    }
    selection->ref_only = path->ref;
    read->selection = selection;
    return bind_expand(b, read->source, q, selection);
}

bool bind_request(struct arena *a, const struct bind_options *options,
                  const struct resource_path *path, struct query *query,
                  const struct plan **out_plan, struct odata_error *err)
{
    struct binder b = {.arena = a, .options = options, .request = query, .err = err};
    struct bound_path bound;
    struct plan *plan = ARENA_NEW(a, struct plan);
    if (plan == NULL) {
        return arena_fail(a, err);
    }
    if (!bind_path(&b, path, &bound) || !bind_refuse_later(&b, query) ||
        !check_schema_version(&b, query) || !check_fit(&b, query, kind_of(&bound))) {
        return false;
    }
    if (bound.read != NULL && bound.read->type->crossjoin &&
        (query->compute_count > 0 || query->apply != NULL)) {
        const char *name = query->apply != NULL ? "$apply" : "$compute";
        return odata_error_not_implemented(err, name, "%s of $crossjoin is not implemented", name);
    }
    if (bound.read != NULL && bound.read->filter != NULL &&
        (query->compute_count > 0 || query->apply != NULL)) {
        return odata_error_not_implemented(
            err, "", "$filter in a path together with $compute or $apply is not implemented");
    }
    plan->kind = bound.kind;
    plan->context_fragment = STR("");
    *out_plan = plan;
    if (bound.read == NULL) {
        return true;
    }
    plan->read = bound.read;
    plan->set = bound.read->type->set;
    plan->property = bound.property;
    plan->missing_is_no_content = bound.optional;
    plan->raw_media = bound.kind == PLAN_RAW_VALUE && bound.read->value->type.type == EDM_BINARY
                          ? MEDIA_BINARY
                          : MEDIA_TEXT;
    if (!bind_rows(&b, &bound, query)) {
        return false;
    }
    plan->nested_pages = b.nested_pages;
    return bind_context(&b, &bound, query, &plan->context_fragment);
}

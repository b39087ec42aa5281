// SPDX-License-Identifier: Apache-2.0
/*
 * Where a node stands in a recursive hierarchy: isnode, isroot, isleaf, issibling, isancestor and
 * isdescendant of the namespace Org.OData.Aggregation.V1 (Data Aggregation 5.5.2.1).
 */
#include "odata/apply_priv.h"
#include "odata/name_index.h"

enum position {
    POSITION_NODE,
    POSITION_ROOT,
    POSITION_LEAF,
    POSITION_SIBLING,
    POSITION_ANCESTOR,
    POSITION_DESCENDANT,
};

/* A function, and the parameter that names another node. */
static const struct position_function {
    struct str name;
    struct str other; /* "" when there is none */
} functions[] = {
    [POSITION_NODE] = {{STR_INIT("isnode")}, {STR_INIT("")}},
    [POSITION_ROOT] = {{STR_INIT("isroot")}, {STR_INIT("")}},
    [POSITION_LEAF] = {{STR_INIT("isleaf")}, {STR_INIT("")}},
    [POSITION_SIBLING] = {{STR_INIT("issibling")}, {STR_INIT("Other")}},
    [POSITION_ANCESTOR] = {{STR_INIT("isancestor")}, {STR_INIT("Descendant")}},
    [POSITION_DESCENDANT] = {{STR_INIT("isdescendant")}, {STR_INIT("Ancestor")}},
};

/* A call on its way. */
struct placing {
    struct applying x;
    const struct scope *scope;
    const struct expr *call;
    enum position position;
    const struct expr *qualifier;
    struct nodes nodes;
    const struct bound_expr *node;
    const struct bound_expr *other;
    bool has_distance;
    uint64_t distance;
    bool include_self;
};

static struct str local_name(const struct expr *e)
{
    static const struct str namespaces[] = {{STR_INIT("Org.OData.Aggregation.V1.")},
                                            {STR_INIT("Aggregation.")}};
    for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
        if (str_starts_with(e->name, namespaces[i])) {
            return str_slice(e->name, namespaces[i].len, e->name.len);
        }
    }
    return STR("");
}

bool bind_is_hierarchy_call(const struct expr *e)
{
    return e->base == NULL && local_name(e).len > 0;
}

bool bind_is_rollup_node(const struct expr *e)
{
    return e->base == NULL && str_eq(local_name(e), STR("rollupnode"));
}

struct source *bind_rollup_node(struct binder *b, const struct scope *s, const struct expr *e)
{
    if (b->rollup == NULL) {
        bind_fail(b, s->clause, e->offset,
                  "rollupnode() has a node inside of rolluprecursive only");
        return NULL;
    }
    if (e->key_count > 0 || e->arg_count > 0) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "an argument of rollupnode() at byte %zu of %s is not "
                                    "implemented",
                                    e->offset, s->clause->option);
        return NULL;
    }
    return bind_source_join(b, s->root, b->rollup, s->in_filter);
}

static bool find_function(struct placing *p)
{
    struct str name = local_name(p->call);
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
        if (str_eq(functions[i].name, name)) {
            p->position = (enum position)i;
            return true;
        }
    }
    const struct named named = {functions, ARRAY_SIZE(functions), sizeof(functions[0]), 0};
    size_t nearest = name_index_nearest(&named, name);
    bind_fail(p->x.b, p->x.clause, p->call->offset, "unknown function '%.*s'",
              STR_ARG(bind_clip(p->call->name)));
    return nearest < ARRAY_SIZE(functions) &&
           odata_error_hint(p->x.b->err, "did you mean 'Aggregation.%.*s'?",
                            STR_ARG(functions[nearest].name));
}

/* The argument of this name, or what its alias stands for; NULL when it is not given. */
static bool find_argument(struct placing *p, struct str name, bool needed, const struct expr **out)
{
    *out = NULL;
    for (size_t i = 0; i < p->call->key_count; i++) {
        if (str_eq(p->call->key[i].name, name)) {
            *out = p->call->key[i].value;
        }
    }
    if (*out == NULL) {
        return !needed ||
               bind_fail(p->x.b, p->x.clause, p->call->offset, "%.*s needs the argument %.*s",
                         STR_ARG(bind_clip(p->call->name)), STR_ARG(name));
    }
    *out = bind_resolve(p->x.b, p->x.clause, *out);
    return *out != NULL;
}

static bool check_names(struct placing *p)
{
    const struct position_function *f = &functions[p->position];
    bool ranged = p->position == POSITION_ANCESTOR || p->position == POSITION_DESCENDANT;
    for (size_t i = 0; i < p->call->key_count; i++) {
        struct str name = p->call->key[i].name;
        bool known =
            str_eq(name, STR("HierarchyNodes")) || str_eq(name, STR("HierarchyQualifier")) ||
            str_eq(name, STR("Node")) || (f->other.len > 0 && str_eq(name, f->other)) ||
            (ranged && (str_eq(name, STR("MaxDistance")) || str_eq(name, STR("IncludeSelf"))));
        if (!known) {
            return bind_fail_name(p->x.b, p->x.clause, p->call->key[i].offset, name,
                                  "is no argument of %.*s", STR_ARG(bind_clip(p->call->name)));
        }
    }
    return true;
}

static bool read_hierarchy(struct placing *p)
{
    const struct expr *nodes;
    if (!find_argument(p, STR("HierarchyNodes"), true, &nodes) ||
        !find_argument(p, STR("HierarchyQualifier"), true, &p->qualifier)) {
        return false;
    }
    if (p->qualifier->kind != EXPR_LITERAL || p->qualifier->literal != LITERAL_STRING) {
        return bind_fail(p->x.b, p->x.clause, p->qualifier->offset,
                         "expected the hierarchy's qualifier as a string");
    }
    return bind_nodes(&p->x, nodes, p->qualifier->text, p->qualifier->offset, &p->nodes);
}

static bool read_node(struct placing *p, struct str name, const struct bound_expr **out)
{
    struct binder *b = p->x.b;
    const struct expr *e;
    const struct property *identifier = p->nodes.parent->joins[0].remote;
    if (!find_argument(p, name, true, &e)) {
        return false;
    }
    *out = bind_is_literal(b, e)
               ? bind_literal(b, p->x.clause, e, &identifier->type, &identifier->pg)
               : bind_expr(b, p->scope, e);
    if (*out == NULL) {
        return false;
    }
    return bind_may_meet(&(*out)->type, &identifier->type) ||
           bind_fail(b, p->x.clause, e->offset, "expected %.*s, found %.*s",
                     STR_ARG(bind_type_name(b, &identifier->type)),
                     STR_ARG(bind_type_name(b, &(*out)->type)));
}

static bool read_range(struct placing *p)
{
    const struct expr *distance;
    const struct expr *self;
    if (!find_argument(p, STR("MaxDistance"), false, &distance) ||
        !find_argument(p, STR("IncludeSelf"), false, &self)) {
        return false;
    }
    if (distance != NULL) {
        p->has_distance = true;
        if (distance->kind != EXPR_LITERAL || distance->literal != LITERAL_INTEGER ||
            !str_to_u64(distance->text, &p->distance) || p->distance == 0 ||
            p->distance > INT64_MAX) {
            return bind_fail(p->x.b, p->x.clause, distance->offset,
                             "expected a distance of 1 or more");
        }
    }
    if (self != NULL) {
        if (self->kind != EXPR_LITERAL || self->literal != LITERAL_BOOLEAN) {
            return bind_fail(p->x.b, p->x.clause, self->offset, "expected true or false");
        }
        p->include_self = str_eq(self->text, STR("true"));
    }
    return true;
}

/* --- conditions --- */

static const struct bound_expr *both(struct binder *b, enum operator op,
                                     const struct bound_expr *left, const struct bound_expr *right)
{
    return left == NULL || right == NULL ? NULL : bind_binary_of(b, op, EDM_BOOLEAN, left, right);
}

static const struct bound_expr *negated(struct binder *b, const struct bound_expr *e)
{
    struct bound_expr *made = e == NULL ? NULL : bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, 1);
    if (made != NULL) {
        made->op = OP_NOT;
        made->args[0] = e;
    }
    return made;
}

static const struct bound_expr *is_null(struct binder *b, const struct bound_expr *e)
{
    return e == NULL ? NULL : bind_compare_null(b, OP_EQ, e);
}

/* A node whose identifier is value, which is free to be spoken of in what is said about it. */
static struct source *new_nodes(struct placing *p)
{
    return bind_copy(p->x.b, p->nodes.source);
}

static const struct bound_expr *up_of(struct placing *p, struct source *rows)
{
    return bind_property_expr(p->x.b, rows, p->nodes.parent->joins[0].local);
}

/* The parent of the row is none of the nodes. */
static const struct bound_expr *is_root(struct placing *p, struct source *rows)
{
    struct binder *b = p->x.b;
    const struct bound_expr *up = up_of(p, rows);
    const struct bound_expr *none = is_null(b, up);
    if (none == NULL || rows->derived == NULL) {
        return none; /* the foreign key's target is there */
    }
    struct source *others = new_nodes(p);
    return others == NULL
               ? NULL
               : both(b, OP_OR, none,
                      negated(b, bind_is_among(b, others, p->nodes.parent->joins[0].remote, up)));
}

/* There is a node with this identifier that condition, if any, holds for. */
static const struct bound_expr *exists(struct placing *p, struct source *rows,
                                       const struct bound_expr *identifier,
                                       const struct bound_expr *condition)
{
    struct binder *b = p->x.b;
    struct bound_expr *any = bind_new(b, BOUND_ANY, EDM_BOOLEAN, 0);
    const struct bound_expr *column = bind_property_expr(b, rows, p->nodes.parent->joins[0].remote);
    if (any == NULL || column == NULL) {
        return NULL;
    }
    any->range = rows;
    any->body = bind_binary_of(b, OP_EQ, EDM_BOOLEAN, column, identifier);
    if (condition != NULL) {
        any->body = both(b, OP_AND, any->body, condition);
    }
    return any->body == NULL ? NULL : any;
}

/* Another node with the same parent, or without one, as this one. */
static const struct bound_expr *is_sibling(struct placing *p)
{
    struct binder *b = p->x.b;
    struct source *one = new_nodes(p);
    struct source *other = one == NULL ? NULL : new_nodes(p);
    if (other == NULL) {
        return NULL;
    }
    const struct property *identifier = p->nodes.parent->joins[0].remote;
    const struct bound_expr *mine = up_of(p, one);
    const struct bound_expr *theirs = up_of(p, other);
    const struct bound_expr *k = bind_property_expr(b, one, identifier);
    const struct bound_expr *l = bind_property_expr(b, other, identifier);
    const struct bound_expr *same = both(b, OP_OR, both(b, OP_EQ, mine, theirs),
                                         both(b, OP_AND, is_root(p, one), is_root(p, other)));
    const struct bound_expr *condition = both(b, OP_AND, same, both(b, OP_NE, k, l));
    const struct bound_expr *inner =
        condition == NULL ? NULL : exists(p, other, p->other, condition);
    return inner == NULL ? NULL : exists(p, one, p->node, inner);
}

static const struct bound_expr *is_related(struct placing *p)
{
    const struct property *node;
    bool up = p->position == POSITION_ANCESTOR;
    struct tree *tree = bind_tree_new(&p->x, up ? TREE_ANCESTORS : TREE_DESCENDANTS, &p->nodes);
    if (tree == NULL) {
        return NULL;
    }
    tree->start_value = p->other;
    tree->keep_start = p->include_self;
    tree->has_distance = p->has_distance;
    tree->distance = p->distance;
    struct source *range = bind_tree(&p->x, tree, &node, NULL);
    return range == NULL ? NULL : bind_is_among(p->x.b, range, node, p->node);
}

static const struct bound_expr *condition_of(struct placing *p)
{
    struct source *rows = new_nodes(p);
    struct source *children = rows == NULL ? NULL : new_nodes(p);
    if (children == NULL) {
        return NULL;
    }
    switch (p->position) {
    case POSITION_NODE:
        return exists(p, rows, p->node, NULL);
    case POSITION_ROOT: {
        const struct bound_expr *root = is_root(p, rows);
        return root == NULL ? NULL : exists(p, rows, p->node, root);
    }
    case POSITION_LEAF:
        return both(p->x.b, OP_AND, exists(p, rows, p->node, NULL),
                    negated(p->x.b, bind_is_among(p->x.b, children, p->nodes.parent->joins[0].local,
                                                  p->node)));
    case POSITION_SIBLING:
        return is_sibling(p);
    case POSITION_ANCESTOR:
    case POSITION_DESCENDANT:
        break;
    }
    return is_related(p);
}

const struct bound_expr *bind_hierarchy_call(struct binder *b, const struct scope *s,
                                             const struct expr *e)
{
    struct placing p = {.x = {.b = b, .clause = s->clause, .around = s}, .scope = s, .call = e};
    if (!find_function(&p) || !check_names(&p) || !read_hierarchy(&p) ||
        !read_node(&p, STR("Node"), &p.node)) {
        return NULL;
    }
    struct str other = functions[p.position].other;
    if (other.len > 0 && !read_node(&p, other, &p.other)) {
        return NULL;
    }
    return read_range(&p) ? condition_of(&p) : NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_priv.h"
#include "odata/limits.h"

struct bound_expr *bind_new(struct binder *b, enum bound_kind kind, enum edm_type type,
                            size_t arg_count)
{
    struct bound_expr *e = ARENA_NEW(b->arena, struct bound_expr);
    if (e != NULL && arg_count > 0) {
        e->args = ARENA_ARRAY(b->arena, arg_count, const struct bound_expr *);
    }
    if (e == NULL || (arg_count > 0 && e->args == NULL)) {
        arena_fail(b->arena, b->err);
        return NULL;
    }
    e->kind = kind;
    e->type = bind_type(type);
    e->arg_count = arg_count;
    return e;
}

/* The type of left op right; EDM_NONE when there is none (URL Conventions 5.1.1.2). */
static enum edm_type arithmetic_type(enum operator op, enum edm_type left, enum edm_type right)
{
    static const struct row {
        enum operator op;
        enum edm_type left;
        enum edm_type right;
        enum edm_type result;
    } temporal[] = {
        {OP_ADD, EDM_DATETIMEOFFSET, EDM_DURATION, EDM_DATETIMEOFFSET},
        {OP_ADD, EDM_DATE, EDM_DURATION, EDM_DATE},
        {OP_ADD, EDM_DURATION, EDM_DURATION, EDM_DURATION},
        {OP_SUB, EDM_DATETIMEOFFSET, EDM_DURATION, EDM_DATETIMEOFFSET},
        {OP_SUB, EDM_DATE, EDM_DURATION, EDM_DATE},
        {OP_SUB, EDM_DURATION, EDM_DURATION, EDM_DURATION},
        {OP_SUB, EDM_DATETIMEOFFSET, EDM_DATETIMEOFFSET, EDM_DURATION},
        {OP_SUB, EDM_DATE, EDM_DATE, EDM_DURATION},
    };
    if (edm_is_numeric(left) && edm_is_numeric(right)) {
        if (edm_is_integer(left) && edm_is_integer(right)) {
            return op == OP_DIVBY ? EDM_DECIMAL : EDM_INT64;
        }
        bool floating =
            left == EDM_DOUBLE || left == EDM_SINGLE || right == EDM_DOUBLE || right == EDM_SINGLE;
        return floating ? EDM_DOUBLE : EDM_DECIMAL;
    }
    for (size_t i = 0; i < ARRAY_SIZE(temporal); i++) {
        if (temporal[i].op == op && temporal[i].left == left && temporal[i].right == right) {
            return temporal[i].result;
        }
    }
    bool scales = op == OP_MUL || op == OP_DIV || op == OP_DIVBY;
    if (scales && left == EDM_DURATION && edm_is_numeric(right)) {
        return EDM_DURATION;
    }
    return op == OP_MUL && edm_is_numeric(left) && right == EDM_DURATION ? EDM_DURATION : EDM_NONE;
}

static const struct bound_expr *bind_arithmetic(struct binder *b, const struct scope *s,
                                                const struct expr *e)
{
    const struct bound_expr *left = bind_expr(b, s, e->args[0]);
    const struct bound_expr *right = left == NULL ? NULL : bind_expr(b, s, e->args[1]);
    if (right == NULL) {
        return NULL;
    }
    enum edm_type type = EDM_NONE;
    if (bind_is_null(left) || bind_is_null(right)) {
        /* Null with anything is null; its type is that of the other side, or any number's. */
        type = bind_is_null(left) ? right->type.type : left->type.type;
        type = type == EDM_NONE ? EDM_DECIMAL : type;
        if (!edm_is_numeric(type) && !edm_is_temporal(type)) {
            return bind_fail_types(b, s, e->offset, e->op, left, right);
        }
        struct bound_expr *null = bind_new(b, BOUND_VALUE, type, 0);
        if (null != NULL) {
            null->nullable = true;
        }
        return null;
    }
    if (!left->type.collection && !right->type.collection) {
        type = arithmetic_type(e->op, left->type.type, right->type.type);
    }
    return type == EDM_NONE ? bind_fail_types(b, s, e->offset, e->op, left, right)
                            : bind_new_binary(b, e->op, type, left, right);
}

const struct bound_expr *bind_condition(struct binder *b, const struct scope *s,
                                        const struct expr *e)
{
    struct type_ref boolean = bind_type(EDM_BOOLEAN);
    if (bind_is_literal(b, e)) {
        return bind_literal(b, s->clause, e, &boolean, NULL);
    }
    const struct bound_expr *bound = bind_expr(b, s, e);
    if (bound != NULL && (bound->type.type != EDM_BOOLEAN || bound->type.collection)) {
        bind_fail(b, s->clause, e->offset, "expected Edm.Boolean, found %.*s",
                  STR_ARG(bind_type_name(b, &bound->type)));
        return NULL;
    }
    return bound;
}

/* a and b and c ...: one operator over all, so that a long chain needs no depth. */
static const struct bound_expr *bind_junction(struct binder *b, const struct scope *s,
                                              const struct expr *e)
{
    size_t count = 2;
    const struct expr *left = e->args[0];
    while (left->kind == EXPR_BINARY && left->op == e->op) {
        left = left->args[0];
        count++;
    }
    struct bound_expr *made = bind_new(b, BOUND_OPERATOR, EDM_BOOLEAN, count);
    if (made == NULL) {
        return NULL;
    }
    made->op = e->op;
    const struct expr *at = e;
    for (size_t i = count; i-- > 0; at = i > 0 ? at->args[0] : at) {
        const struct expr *operand = i == 0 ? at : at->args[1];
        made->args[i] = bind_condition(b, s, operand);
        if (made->args[i] == NULL) {
            return NULL;
        }
        made->nullable = made->nullable || made->args[i]->nullable;
    }
    return made;
}

static const struct bound_expr *bind_has(struct binder *b, const struct scope *s,
                                         const struct expr *e)
{
    const struct bound_expr *sides[2];
    if (!bind_operands(b, s, (const struct expr *const *)e->args, sides)) {
        return NULL;
    }
    if (sides[0]->type.type != EDM_ENUM || !bind_may_meet(&sides[0]->type, &sides[1]->type)) {
        return bind_fail_types(b, s, e->offset, e->op, sides[0], sides[1]);
    }
    /* Enum types of PostgreSQL are no flags: to have a member is to be it. */
    struct bound_expr *made = bind_new_binary(b, OP_EQ, EDM_BOOLEAN, sides[0], sides[1]);
    if (made != NULL) {
        made->nullable = false;
    }
    return made;
}

static const struct bound_expr *bind_unary(struct binder *b, const struct scope *s,
                                           const struct expr *e)
{
    if (e->op == OP_NEGATE && bind_is_literal(b, e)) {
        return bind_literal(b, s->clause, e, NULL, NULL);
    }
    const struct bound_expr *operand =
        e->op == OP_NOT ? bind_condition(b, s, e->args[0]) : bind_expr(b, s, e->args[0]);
    if (operand == NULL) {
        return NULL;
    }
    enum edm_type type = operand->type.type;
    if (e->op == OP_NEGATE &&
        ((!edm_is_numeric(type) && type != EDM_DURATION && type != EDM_NONE) ||
         operand->type.collection)) {
        bind_fail(b, s->clause, e->offset, "'-' cannot take %.*s",
                  STR_ARG(bind_type_name(b, &operand->type)));
        return NULL;
    }
    if (bind_is_null(operand)) {
        return operand;
    }
    struct bound_expr *made =
        bind_new(b, BOUND_OPERATOR, edm_is_integer(type) ? EDM_INT64 : type, 1);
    if (made != NULL) {
        made->op = e->op;
        made->args[0] = operand;
        made->nullable = operand->nullable;
    }
    return made;
}

static const struct bound_expr *bind_case(struct binder *b, const struct scope *s,
                                          const struct expr *e)
{
    struct bound_expr *made = bind_new(b, BOUND_CASE, EDM_NONE, e->arg_count);
    if (made == NULL) {
        return NULL;
    }
    made->nullable = true; /* no condition may hold */
    for (size_t i = 0; i < e->arg_count; i++) {
        made->args[i] = i % 2 == 0 ? bind_condition(b, s, e->args[i]) : bind_expr(b, s, e->args[i]);
        if (made->args[i] == NULL) {
            return NULL;
        }
        if (i % 2 == 0 || bind_is_null(made->args[i])) {
            continue;
        }
        if (made->type.type != EDM_NONE && !bind_may_meet(&made->type, &made->args[i]->type)) {
            bind_fail(b, s->clause, e->args[i]->offset, "the values of case() differ in type");
            return NULL;
        }
        enum edm_type type = made->type.type == EDM_NONE
                                 ? made->args[i]->type.type
                                 : bind_wider(made->type.type, made->args[i]->type.type);
        made->type = made->args[i]->type;
        made->type.type = type;
    }
    if (made->type.type == EDM_NONE) {
        return bind_null(b, &made->type); /* null, whichever condition holds */
    }
    return made;
}

static const struct bound_expr *bind_binary(struct binder *b, const struct scope *s,
                                            const struct expr *e)
{
    switch (e->op) {
    case OP_OR:
    case OP_AND:
        return bind_junction(b, s, e);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return bind_comparison(b, s, e);
    case OP_HAS:
        return bind_has(b, s, e);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_DIVBY:
    case OP_MOD:
        return bind_arithmetic(b, s, e);
    case OP_NONE:
    case OP_NEGATE:
    case OP_NOT:
        break;
    }
    bind_fail(b, s->clause, e->offset, "an operator is missing");
    return NULL;
}

static const struct bound_expr *not_here(struct binder *b, const struct scope *s, const char *what)
{
    odata_error_not_implemented(b->err, s->clause->option, "%s is not implemented", what);
    return NULL;
}

static const struct bound_expr *bind_any_kind(struct binder *b, const struct scope *s,
                                              const struct expr *e)
{
    switch (e->kind) {
    case EXPR_LITERAL:
        return bind_literal(b, s->clause, e, NULL, NULL);
    case EXPR_ALIAS: {
        const struct expr *value = bind_resolve(b, s->clause, e);
        return value == NULL ? NULL : bind_expr(b, s, value);
    }
    case EXPR_IT:
    case EXPR_THIS:
    case EXPR_MEMBER:
        return bind_member(b, s, e);
    case EXPR_COUNT:
        return bind_count(b, s, e);
    case EXPR_CALL:
        if (bind_is_rollup_node(e)) {
            return bind_member(b, s, e);
        }
        return bind_is_hierarchy_call(e) ? bind_hierarchy_call(b, s, e) : bind_call(b, s, e);
    case EXPR_ANY:
    case EXPR_ALL:
        return bind_lambda(b, s, e);
    case EXPR_UNARY:
        return bind_unary(b, s, e);
    case EXPR_BINARY:
        return bind_binary(b, s, e);
    case EXPR_IN:
        return bind_in(b, s, e);
    case EXPR_CASE:
        return bind_case(b, s, e);
    case EXPR_ARRAY: {
        const struct type_ref text = bind_type(EDM_STRING);
        return bind_array_as(b, bind_array(b, s, e, NULL), &text);
    }
    case EXPR_OBJECT:
        return not_here(b, s, "an object here");
    case EXPR_LIST:
        bind_fail(b, s->clause, e->offset, "a list can only stand behind 'in'");
        return NULL;
    case EXPR_AGGREGATE:
        return bind_aggregated(b, s, e);
    case EXPR_THESE:
        bind_fail(b, s->clause, e->offset, "$count or aggregate(...) must follow $these/");
        return NULL;
    case EXPR_ROOT:
        bind_fail(b, s->clause, e->offset, "an entity set must follow $root/");
        return NULL;
    case EXPR_ANNOTATION:
        return not_here(b, s, "an annotation in an expression");
    }
    return NULL;
}

const struct bound_expr *bind_expr(struct binder *b, const struct scope *s, const struct expr *e)
{
    size_t limit = b->options->max_filter_depth;
    if (limit == 0 || limit > LIMIT_EXPR_DEPTH) {
        limit = LIMIT_EXPR_DEPTH;
    }
    /* Aliases may hold each other's text: what they hide counts as depth, so it ends here too. */
    if (b->expr_depth >= limit) {
        odata_error_set(b->err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, s->clause->option,
                        "the expression is nested deeper than %zu at byte %zu of %s", limit,
                        e->offset, s->clause->option);
        return NULL;
    }
    b->expr_depth++;
    const struct bound_expr *bound = bind_any_kind(b, s, e);
    b->expr_depth--;
    return bound;
}

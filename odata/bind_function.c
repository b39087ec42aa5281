// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "odata/bind_priv.h"
#include "odata/name_index.h"

enum {
    MAX_ARGS = 3,
};

/* What an argument may be. */
enum takes {
    TAKES_STRING,
    TAKES_INTEGER,
    TAKES_NUMBER,
    TAKES_DAY,      /* Date, DateTimeOffset */
    TAKES_CLOCK,    /* TimeOfDay, DateTimeOffset */
    TAKES_INSTANT,  /* DateTimeOffset */
    TAKES_DURATION, /* Duration */
    TAKES_PATTERN,  /* String, a regular expression */
    TAKES_ITEMS,    /* a collection */
};

static const struct {
    enum edm_type types[2]; /* the first is the one of a null */
    const char *name;
} classes[] = {
    [TAKES_STRING] = {{EDM_STRING, EDM_STRING}, "Edm.String"},
    [TAKES_INTEGER] = {{EDM_INT32, EDM_INT32}, "an integer"},
    [TAKES_NUMBER] = {{EDM_DECIMAL, EDM_DECIMAL}, "a number"},
    [TAKES_DAY] = {{EDM_DATETIMEOFFSET, EDM_DATE}, "Edm.Date or Edm.DateTimeOffset"},
    [TAKES_CLOCK] = {{EDM_DATETIMEOFFSET, EDM_TIMEOFDAY}, "Edm.TimeOfDay or Edm.DateTimeOffset"},
    [TAKES_INSTANT] = {{EDM_DATETIMEOFFSET, EDM_DATETIMEOFFSET}, "Edm.DateTimeOffset"},
    [TAKES_DURATION] = {{EDM_DURATION, EDM_DURATION}, "Edm.Duration"},
    [TAKES_PATTERN] = {{EDM_STRING, EDM_STRING}, "Edm.String"},
    [TAKES_ITEMS] = {{EDM_NONE, EDM_NONE}, "a collection"},
};

/*
 * The canonical functions (URL Conventions 5.1.1.5 to 5.1.1.9); EDM_NONE: the first argument's type.
 * Those of collections stand behind those of values with the same name.
 */
static const struct function {
    struct str name;
    enum function_id id;
    size_t arg_count;
    enum takes takes[MAX_ARGS];
    enum edm_type result;
} functions[] = {
    {{STR_INIT("contains")}, FUNCTION_CONTAINS, 2, {TAKES_STRING, TAKES_STRING}, EDM_BOOLEAN},
    {{STR_INIT("startswith")}, FUNCTION_STARTSWITH, 2, {TAKES_STRING, TAKES_STRING}, EDM_BOOLEAN},
    {{STR_INIT("endswith")}, FUNCTION_ENDSWITH, 2, {TAKES_STRING, TAKES_STRING}, EDM_BOOLEAN},
    {{STR_INIT("indexof")}, FUNCTION_INDEXOF, 2, {TAKES_STRING, TAKES_STRING}, EDM_INT32},
    {{STR_INIT("length")}, FUNCTION_LENGTH, 1, {TAKES_STRING}, EDM_INT32},
    {{STR_INIT("substring")}, FUNCTION_SUBSTRING, 2, {TAKES_STRING, TAKES_INTEGER}, EDM_STRING},
    {{STR_INIT("substring")},
     FUNCTION_SUBSTRING_LENGTH,
     3,
     {TAKES_STRING, TAKES_INTEGER, TAKES_INTEGER},
     EDM_STRING},
    {{STR_INIT("tolower")}, FUNCTION_TOLOWER, 1, {TAKES_STRING}, EDM_STRING},
    {{STR_INIT("toupper")}, FUNCTION_TOUPPER, 1, {TAKES_STRING}, EDM_STRING},
    {{STR_INIT("trim")}, FUNCTION_TRIM, 1, {TAKES_STRING}, EDM_STRING},
    {{STR_INIT("concat")}, FUNCTION_CONCAT, 2, {TAKES_STRING, TAKES_STRING}, EDM_STRING},
    {{STR_INIT("year")}, FUNCTION_YEAR, 1, {TAKES_DAY}, EDM_INT32},
    {{STR_INIT("month")}, FUNCTION_MONTH, 1, {TAKES_DAY}, EDM_INT32},
    {{STR_INIT("day")}, FUNCTION_DAY, 1, {TAKES_DAY}, EDM_INT32},
    {{STR_INIT("hour")}, FUNCTION_HOUR, 1, {TAKES_CLOCK}, EDM_INT32},
    {{STR_INIT("minute")}, FUNCTION_MINUTE, 1, {TAKES_CLOCK}, EDM_INT32},
    {{STR_INIT("second")}, FUNCTION_SECOND, 1, {TAKES_CLOCK}, EDM_INT32},
    {{STR_INIT("fractionalseconds")}, FUNCTION_FRACTIONALSECONDS, 1, {TAKES_CLOCK}, EDM_DECIMAL},
    {{STR_INIT("date")}, FUNCTION_DATE, 1, {TAKES_DAY}, EDM_DATE},
    {{STR_INIT("time")}, FUNCTION_TIME, 1, {TAKES_INSTANT}, EDM_TIMEOFDAY},
    {{STR_INIT("now")}, FUNCTION_NOW, 0, {TAKES_STRING}, EDM_DATETIMEOFFSET},
    {{STR_INIT("mindatetime")}, FUNCTION_MINDATETIME, 0, {TAKES_STRING}, EDM_DATETIMEOFFSET},
    {{STR_INIT("maxdatetime")}, FUNCTION_MAXDATETIME, 0, {TAKES_STRING}, EDM_DATETIMEOFFSET},
    {{STR_INIT("totalseconds")}, FUNCTION_TOTALSECONDS, 1, {TAKES_DURATION}, EDM_DECIMAL},
    {{STR_INIT("totaloffsetminutes")}, FUNCTION_TOTALOFFSETMINUTES, 1, {TAKES_INSTANT}, EDM_INT32},
    {{STR_INIT("round")}, FUNCTION_ROUND, 1, {TAKES_NUMBER}, EDM_NONE},
    {{STR_INIT("floor")}, FUNCTION_FLOOR, 1, {TAKES_NUMBER}, EDM_NONE},
    {{STR_INIT("ceiling")}, FUNCTION_CEILING, 1, {TAKES_NUMBER}, EDM_NONE},
    {{STR_INIT("matchespattern")},
     FUNCTION_MATCHESPATTERN,
     2,
     {TAKES_STRING, TAKES_PATTERN},
     EDM_BOOLEAN},
    {{STR_INIT("concat")}, FUNCTION_ITEMS_CONCAT, 2, {TAKES_ITEMS, TAKES_ITEMS}, EDM_NONE},
    {{STR_INIT("contains")}, FUNCTION_ITEMS_CONTAINS, 2, {TAKES_ITEMS, TAKES_ITEMS}, EDM_BOOLEAN},
    {{STR_INIT("startswith")},
     FUNCTION_ITEMS_STARTSWITH,
     2,
     {TAKES_ITEMS, TAKES_ITEMS},
     EDM_BOOLEAN},
    {{STR_INIT("endswith")}, FUNCTION_ITEMS_ENDSWITH, 2, {TAKES_ITEMS, TAKES_ITEMS}, EDM_BOOLEAN},
    {{STR_INIT("indexof")}, FUNCTION_ITEMS_INDEXOF, 2, {TAKES_ITEMS, TAKES_ITEMS}, EDM_INT32},
    {{STR_INIT("length")}, FUNCTION_ITEMS_LENGTH, 1, {TAKES_ITEMS}, EDM_INT32},
    {{STR_INIT("substring")}, FUNCTION_ITEMS_SUBSTRING, 2, {TAKES_ITEMS, TAKES_INTEGER}, EDM_NONE},
    {{STR_INIT("substring")},
     FUNCTION_ITEMS_SUBSTRING_LENGTH,
     3,
     {TAKES_ITEMS, TAKES_INTEGER, TAKES_INTEGER},
     EDM_NONE},
    {{STR_INIT("hassubset")}, FUNCTION_HASSUBSET, 2, {TAKES_ITEMS, TAKES_ITEMS}, EDM_BOOLEAN},
    {{STR_INIT("hassubsequence")},
     FUNCTION_HASSUBSEQUENCE,
     2,
     {TAKES_ITEMS, TAKES_ITEMS},
     EDM_BOOLEAN},
};

/* Standard, but not here yet. */
static const struct str later[] = {
    {STR_INIT("geo.distance")}, {STR_INIT("geo.intersects")}, {STR_INIT("geo.length")},
    {STR_INIT("hassubset")},    {STR_INIT("hassubsequence")}, {STR_INIT("matchespattern")},
};

/* Functions of earlier versions, and what has taken their place. */
static const struct {
    struct str name;
    const char *hint;
} older[] = {
    {{STR_INIT("substringof")}, "in version 4 it is contains()"},
};

static bool fits(enum takes takes, const struct type_ref *type)
{
    if (type->collection || takes == TAKES_ITEMS) {
        return type->collection && takes == TAKES_ITEMS && type->type != EDM_COMPLEX &&
               type->type != EDM_UNTYPED;
    }
    if (takes == TAKES_INTEGER) {
        return edm_is_integer(type->type);
    }
    if (takes == TAKES_NUMBER) {
        return edm_is_numeric(type->type);
    }
    return type->type == classes[takes].types[0] || type->type == classes[takes].types[1];
}

/* What a call is made of. */
struct call {
    const struct expr *expr;
    const struct function *function;
    const struct expr *written[MAX_ARGS];    /* aliases followed */
    const struct bound_expr *args[MAX_ARGS]; /* NULL: an array, bound when its type is known */
};

static const struct function *find_function(const struct expr *e, bool of_items, bool *known)
{
    const struct function *found = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
        const struct function *f = &functions[i];
        if (!str_ieq(f->name, e->name)) {
            continue;
        }
        *known = true;
        if (f->arg_count == e->arg_count && (found == NULL || of_items)) {
            found = f;
        }
    }
    return found;
}

/* Binds each argument once, before it is known which function takes it. */
static bool bind_arguments(struct binder *b, const struct scope *s, struct call *c, bool *of_items)
{
    *of_items = false;
    for (size_t i = 0; i < c->expr->arg_count; i++) {
        struct scope text = bind_text_scope(s, c->expr->args[i]);
        c->written[i] = bind_resolve(b, s->clause, c->expr->args[i]);
        if (c->written[i] == NULL) {
            return false;
        }
        if (c->written[i]->kind == EXPR_ARRAY) {
            *of_items = true;
            continue;
        }
        bool may_be_text = c->function == NULL || c->function->takes[i] == TAKES_STRING;
        c->args[i] = bind_expr(b, may_be_text ? &text : s, c->written[i]);
        if (c->args[i] == NULL) {
            return false;
        }
        *of_items = *of_items || c->args[i]->type.collection;
    }
    return true;
}

/* The arrays, by the collection that they meet; and two collections as one type. */
static bool settle_items(struct binder *b, const struct scope *s, struct call *c)
{
    const struct type_ref *met = NULL;
    for (size_t i = 0; i < c->expr->arg_count; i++) {
        if (c->args[i] != NULL && c->args[i]->type.collection) {
            met = &c->args[i]->type;
        }
    }
    for (size_t i = 0; i < c->expr->arg_count; i++) {
        if (c->args[i] == NULL) {
            c->args[i] = bind_array(b, s, c->written[i], met);
            if (c->args[i] == NULL) {
                return false;
            }
            bool typed = c->args[i]->type.type != EDM_NONE;
            met = met == NULL && typed ? &c->args[i]->type : met;
        }
    }
    const struct type_ref text = bind_type(EDM_STRING);
    for (size_t i = 0; i < c->expr->arg_count; i++) {
        if (c->written[i]->kind == EXPR_ARRAY) {
            c->args[i] = bind_array_as(b, c->args[i], met == NULL ? &text : met);
            if (c->args[i] == NULL) {
                return false;
            }
        }
    }
    bool two = c->function->arg_count == 2 && c->function->takes[1] == TAKES_ITEMS;
    if (!two || !c->args[0]->type.collection || !c->args[1]->type.collection) {
        return true; /* a single one, or what is no collection is refused later */
    }
    if (!bind_may_meet(&c->args[0]->type, &c->args[1]->type)) {
        return bind_fail(b, s->clause, c->expr->offset, "%.*s() cannot take %.*s and %.*s",
                         STR_ARG(c->function->name), STR_ARG(bind_type_name(b, &c->args[0]->type)),
                         STR_ARG(bind_type_name(b, &c->args[1]->type)));
    }
    return bind_meet_collections(b, &c->args[0], &c->args[1]);
}

/* The parts of an instant are those of UTC here: a literal that says another zone must fail (URL
   Conventions 5.1.1.8). Seconds are the same in every zone. */
static bool check_zone(struct binder *b, const struct scope *s, const struct call *c)
{
    const struct expr *e = c->written[0];
    enum function_id id = c->function->id;
    if (c->function->arg_count != 1 || e->kind != EXPR_LITERAL ||
        e->literal != LITERAL_DATETIMEOFFSET || id == FUNCTION_SECOND ||
        id == FUNCTION_FRACTIONALSECONDS) {
        return true;
    }
    bool utc = str_ends_with(e->text, STR("Z")) || str_ends_with(e->text, STR("z")) ||
               str_ends_with(e->text, STR("+00:00")) || str_ends_with(e->text, STR("-00:00"));
    return utc || bind_fail(b, s->clause, e->offset,
                            "%.*s() of a literal needs one in UTC, which ends in Z",
                            STR_ARG(c->function->name));
}

static const struct bound_expr *bind_pattern(struct binder *b, const struct scope *s,
                                             const struct call *c, size_t i)
{
    const struct bound_expr *arg = c->args[i];
    if (arg->kind != BOUND_VALUE) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "a pattern that is no literal is not implemented");
        return NULL;
    }
    return bind_regex(b, s, c->written[i]->offset, arg);
}

static const struct bound_expr *check_argument(struct binder *b, const struct scope *s,
                                               const struct call *c, size_t i)
{
    const struct function *f = c->function;
    enum takes takes = f->takes[i];
    const struct expr *e = c->expr->args[i];
    const struct bound_expr *arg = c->args[i];
    if (arg->type.type == EDM_NONE && takes == TAKES_ITEMS) {
        bind_fail(b, s->clause, e->offset, "%.*s() takes a collection, found null",
                  STR_ARG(f->name));
        return NULL;
    }
    if (arg->type.type == EDM_NONE) {
        struct type_ref type = bind_type(classes[takes].types[0]);
        return bind_null(b, &type);
    }
    if (!fits(takes, &arg->type)) {
        bind_fail(b, s->clause, e->offset, "%.*s() takes %s, found %.*s", STR_ARG(f->name),
                  classes[takes].name, STR_ARG(bind_type_name(b, &arg->type)));
        return NULL;
    }
    bool number = takes == TAKES_INTEGER && arg->kind == BOUND_VALUE;
    if (number && ((i == 2 && arg->text.ptr[0] == '-') || arg->type.type != EDM_INT32)) {
        bind_fail(b, s->clause, e->offset, "%.*s() takes a %s, found %.*s", STR_ARG(f->name),
                  i == 2 ? "length from 0 on" : "position of 32 bits",
                  STR_ARG(bind_clip(arg->text)));
        return NULL;
    }
    return takes == TAKES_PATTERN ? bind_pattern(b, s, c, i) : arg;
}

static bool fail_name(struct binder *b, const struct scope *s, const struct expr *e, bool known)
{
    for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
        if (str_ieq(later[i], e->name)) {
            return odata_error_not_implemented(b->err, s->clause->option,
                                               "the function %.*s() is not implemented",
                                               STR_ARG(later[i]));
        }
    }
    if (known) {
        return bind_fail(b, s->clause, e->offset, "%.*s() does not take %zu arguments",
                         STR_ARG(bind_clip(e->name)), e->arg_count);
    }
    bind_fail(b, s->clause, e->offset, "unknown function '%.*s'", STR_ARG(bind_clip(e->name)));
    for (size_t i = 0; i < ARRAY_SIZE(older); i++) {
        if (str_ieq(older[i].name, e->name)) {
            return odata_error_hint(b->err, "%s", older[i].hint);
        }
    }
    const struct named named = {functions, ARRAY_SIZE(functions), sizeof(functions[0]),
                                offsetof(struct function, name)};
    size_t nearest = name_index_nearest(&named, e->name);
    return nearest < ARRAY_SIZE(functions) &&
           odata_error_hint(b->err, "did you mean '%.*s'?", STR_ARG(functions[nearest].name));
}

static const struct bound_expr *make_call(struct binder *b, const struct scope *s,
                                          const struct call *c)
{
    const struct function *f = c->function;
    struct bound_expr *made = bind_new(b, BOUND_CALL, f->result, f->arg_count);
    if (made == NULL) {
        return NULL;
    }
    made->function = f->id;
    for (size_t i = 0; i < f->arg_count; i++) {
        made->args[i] = check_argument(b, s, c, i);
        if (made->args[i] == NULL) {
            return NULL;
        }
        /* PostgreSQL's infinite dates have no year: a part of one is null. */
        made->nullable =
            made->nullable || made->args[i]->nullable || edm_is_temporal(made->args[i]->type.type);
    }
    if (f->result == EDM_NONE && f->takes[0] == TAKES_ITEMS) {
        made->type = made->args[0]->type;
    } else if (f->result == EDM_NONE) {
        /* round, floor, ceiling: Double of a Double, Decimal of everything else. */
        enum edm_type type = made->args[0]->type.type;
        made->type.type = type == EDM_SINGLE || type == EDM_DOUBLE ? EDM_DOUBLE : EDM_DECIMAL;
    }
    return made;
}

const struct bound_expr *bind_call(struct binder *b, const struct scope *s, const struct expr *e)
{
    if (e->base != NULL || e->key_count > 0) {
        odata_error_not_implemented(b->err, s->clause->option, "calling '%.*s' is not implemented",
                                    STR_ARG(bind_clip(e->name)));
        return NULL;
    }
    if (str_eq(e->name, STR("cast")) || str_eq(e->name, STR("isof"))) {
        return bind_cast(b, s, e);
    }
    struct call c = {.expr = e};
    bool known = false;
    bool of_items;
    c.function = find_function(e, false, &known);
    if (c.function == NULL) {
        fail_name(b, s, e, known);
        return NULL;
    }
    if (!bind_arguments(b, s, &c, &of_items)) {
        return NULL;
    }
    c.function = find_function(e, of_items, &known);
    if (of_items && !settle_items(b, s, &c)) {
        return NULL;
    }
    return check_zone(b, s, &c) ? make_call(b, s, &c) : NULL;
}

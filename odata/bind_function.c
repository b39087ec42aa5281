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
};

/* The canonical functions (URL Conventions 5.1.1.5 to 5.1.1.9); EDM_NONE: the argument's type. */
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

/* These also take collections (URL Conventions 5.1.1.5), which is not here yet. */
static const struct str of_collections[] = {
    {STR_INIT("concat")}, {STR_INIT("contains")},  {STR_INIT("endswith")},   {STR_INIT("indexof")},
    {STR_INIT("length")}, {STR_INIT("substring")}, {STR_INIT("startswith")},
};

static bool takes_collections(const struct function *f)
{
    for (size_t i = 0; i < ARRAY_SIZE(of_collections); i++) {
        if (str_eq(of_collections[i], f->name)) {
            return true;
        }
    }
    return false;
}

static bool fits(enum takes takes, const struct type_ref *type)
{
    if (type->collection) {
        return false;
    }
    if (takes == TAKES_INTEGER) {
        return edm_is_integer(type->type);
    }
    if (takes == TAKES_NUMBER) {
        return edm_is_numeric(type->type);
    }
    return type->type == classes[takes].types[0] || type->type == classes[takes].types[1];
}

static const struct bound_expr *bind_argument(struct binder *b, const struct scope *s,
                                              const struct function *f, size_t i,
                                              const struct expr *e)
{
    enum takes takes = f->takes[i];
    struct scope text = bind_text_scope(s, e);
    const struct bound_expr *arg = bind_expr(b, takes == TAKES_STRING ? &text : s, e);
    if (arg == NULL) {
        return NULL;
    }
    if (arg->type.type == EDM_NONE) {
        struct type_ref type = bind_type(classes[takes].types[0]);
        return bind_literal(b, s->clause, e, &type, NULL);
    }
    if (arg->type.collection && takes_collections(f)) {
        odata_error_not_implemented(b->err, s->clause->option,
                                    "%.*s() of collections is not implemented", STR_ARG(f->name));
        return NULL;
    }
    if (!fits(takes, &arg->type)) {
        bind_fail(b, s->clause, e->offset, "%.*s() takes %s, found %.*s", STR_ARG(f->name),
                  classes[takes].name, STR_ARG(bind_type_name(b, &arg->type)));
        return NULL;
    }
    bool position = takes == TAKES_INTEGER && arg->kind == BOUND_VALUE;
    if (position && (arg->text.ptr[0] == '-' || arg->type.type != EDM_INT32)) {
        bind_fail(b, s->clause, e->offset, "%.*s() takes a position from 0 on, found %.*s",
                  STR_ARG(f->name), STR_ARG(bind_clip(arg->text)));
        return NULL;
    }
    return arg;
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
    const struct function *f = NULL;
    bool known = false;
    for (size_t i = 0; i < ARRAY_SIZE(functions) && f == NULL; i++) {
        if (str_ieq(functions[i].name, e->name)) {
            known = true;
            f = functions[i].arg_count == e->arg_count ? &functions[i] : NULL;
        }
    }
    if (f == NULL) {
        fail_name(b, s, e, known);
        return NULL;
    }
    struct bound_expr *made = bind_new(b, BOUND_CALL, f->result, f->arg_count);
    if (made == NULL) {
        return NULL;
    }
    made->function = f->id;
    for (size_t i = 0; i < f->arg_count; i++) {
        made->args[i] = bind_argument(b, s, f, i, e->args[i]);
        if (made->args[i] == NULL) {
            return NULL;
        }
        /* PostgreSQL's infinite dates have no year: a part of one is null. */
        made->nullable =
            made->nullable || made->args[i]->nullable || edm_is_temporal(made->args[i]->type.type);
    }
    if (f->result == EDM_NONE) {
        /* round, floor, ceiling: Double of a Double, Decimal of everything else. */
        enum edm_type type = made->args[0]->type.type;
        made->type.type = type == EDM_SINGLE || type == EDM_DOUBLE ? EDM_DOUBLE : EDM_DECIMAL;
    }
    return made;
}

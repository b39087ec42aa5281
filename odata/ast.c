// SPDX-License-Identifier: Apache-2.0
#include "odata/apply.h"

static void dump_query_options(const struct query *q, struct bytes *out);

struct str operator_name(enum operator op)
{
    static const struct str names[] = {
        [OP_NONE] = {STR_INIT("")},       [OP_OR] = {STR_INIT("or")},
        [OP_AND] = {STR_INIT("and")},     [OP_EQ] = {STR_INIT("eq")},
        [OP_NE] = {STR_INIT("ne")},       [OP_LT] = {STR_INIT("lt")},
        [OP_LE] = {STR_INIT("le")},       [OP_GT] = {STR_INIT("gt")},
        [OP_GE] = {STR_INIT("ge")},       [OP_HAS] = {STR_INIT("has")},
        [OP_ADD] = {STR_INIT("add")},     [OP_SUB] = {STR_INIT("sub")},
        [OP_MUL] = {STR_INIT("mul")},     [OP_DIV] = {STR_INIT("div")},
        [OP_DIVBY] = {STR_INIT("divby")}, [OP_MOD] = {STR_INIT("mod")},
        [OP_NEGATE] = {STR_INIT("-")},    [OP_NOT] = {STR_INIT("not")},
    };
    return (size_t)op < ARRAY_SIZE(names) ? names[op] : STR("");
}

/* The kind is written where the text alone could be of several. */
static void dump_literal(const struct expr *e, struct bytes *out)
{
    static const struct str prefixes[] = {
        [LITERAL_NULL] = {STR_INIT("")},
        [LITERAL_BOOLEAN] = {STR_INIT("")},
        [LITERAL_INTEGER] = {STR_INIT("")},
        [LITERAL_DECIMAL] = {STR_INIT("decimal:")},
        [LITERAL_DOUBLE] = {STR_INIT("double:")},
        [LITERAL_STRING] = {STR_INIT("")},
        [LITERAL_GUID] = {STR_INIT("guid:")},
        [LITERAL_DATE] = {STR_INIT("date:")},
        [LITERAL_DATETIMEOFFSET] = {STR_INIT("datetimeoffset:")},
        [LITERAL_TIMEOFDAY] = {STR_INIT("timeofday:")},
        [LITERAL_DURATION] = {STR_INIT("duration:")},
        [LITERAL_BINARY] = {STR_INIT("binary:")},
        [LITERAL_ENUM] = {STR_INIT("enum:")},
        [LITERAL_GEOGRAPHY] = {STR_INIT("geography:")},
        [LITERAL_GEOMETRY] = {STR_INIT("geometry:")},
    };
    bool quoted = e->literal == LITERAL_STRING || e->literal == LITERAL_ENUM;
    bytes_put_str(out, prefixes[e->literal]);
    bytes_put_str(out, e->type_name);
    if (quoted) {
        bytes_put_char(out, '\'');
    }
    bytes_put_str(out, e->text);
    if (quoted) {
        bytes_put_char(out, '\'');
    }
}

/* name=value,... */
static void dump_arguments(const struct argument *arguments, size_t count, struct bytes *out)
{
    bytes_put_char(out, '(');
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        if (arguments[i].name.len > 0) {
            bytes_put_str(out, arguments[i].name);
            bytes_put_char(out, '=');
        }
        expr_dump(arguments[i].value, out);
    }
    bytes_put_char(out, ')');
}

static void dump_list(struct expr *const *items, size_t count, const char *separator,
                      struct bytes *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            bytes_put_str(out, str_from(separator));
        }
        expr_dump(items[i], out);
    }
}

static void dump_base(const struct expr *e, struct bytes *out)
{
    if (e->base != NULL) {
        expr_dump(e->base, out);
        bytes_put_char(out, '/');
    }
}

static void dump_lambda(const struct expr *e, struct bytes *out)
{
    dump_base(e, out);
    bytes_put_str(out, e->kind == EXPR_ANY ? STR("any(") : STR("all("));
    if (e->body != NULL) {
        bytes_put_str(out, e->variable);
        bytes_put_char(out, ':');
        expr_dump(e->body, out);
    }
    bytes_put_char(out, ')');
}

static void dump_operator(const struct expr *e, struct bytes *out)
{
    bytes_put_char(out, '(');
    bytes_put_str(out, e->kind == EXPR_IN ? STR("in") : operator_name(e->op));
    bytes_put_char(out, ' ');
    dump_list(e->args, e->arg_count, " ", out);
    bytes_put_char(out, ')');
}

static void dump_case(const struct expr *e, struct bytes *out)
{
    bytes_put_str(out, STR("case("));
    for (size_t i = 0; i + 1 < e->arg_count; i += 2) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        expr_dump(e->args[i], out);
        bytes_put_char(out, ':');
        expr_dump(e->args[i + 1], out);
    }
    bytes_put_char(out, ')');
}

static void dump_object(const struct expr *e, struct bytes *out)
{
    bytes_put_char(out, '{');
    for (size_t i = 0; i < e->key_count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        bytes_put_str(out, e->key[i].name);
        bytes_put_char(out, ':');
        expr_dump(e->key[i].value, out);
    }
    bytes_put_char(out, '}');
}

static void dump_named(const struct expr *e, struct bytes *out)
{
    dump_base(e, out);
    if (e->kind == EXPR_ALIAS || e->kind == EXPR_ANNOTATION) {
        bytes_put_char(out, '@');
    }
    bytes_put_str(out, e->name);
    if (e->key_count > 0) {
        /* A key is told from named arguments by its brackets. */
        bytes_put_str(out, e->kind == EXPR_MEMBER ? STR("[") : STR(""));
        dump_arguments(e->key, e->key_count, out);
        bytes_put_str(out, e->kind == EXPR_MEMBER ? STR("]") : STR(""));
    } else if (e->kind == EXPR_CALL) {
        bytes_put_char(out, '(');
        dump_list(e->args, e->arg_count, ",", out);
        bytes_put_char(out, ')');
    }
}

void expr_dump(const struct expr *e, struct bytes *out)
{
    switch (e->kind) {
    case EXPR_LITERAL:
        dump_literal(e, out);
        return;
    case EXPR_IT:
        bytes_put_str(out, STR("$it"));
        return;
    case EXPR_THIS:
        bytes_put_str(out, STR("$this"));
        return;
    case EXPR_ROOT:
        bytes_put_str(out, STR("$root"));
        return;
    case EXPR_THESE:
        bytes_put_str(out, STR("$these"));
        return;
    case EXPR_AGGREGATE:
        dump_base(e, out);
        aggregate_dump(e->aggregate, out);
        return;
    case EXPR_ALIAS:
    case EXPR_MEMBER:
    case EXPR_CALL:
    case EXPR_ANNOTATION:
        dump_named(e, out);
        return;
    case EXPR_COUNT:
        dump_base(e, out);
        bytes_put_str(out, STR("$count"));
        if (e->options != NULL) {
            dump_query_options(e->options, out);
        }
        return;
    case EXPR_ANY:
    case EXPR_ALL:
        dump_lambda(e, out);
        return;
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_IN:
        dump_operator(e, out);
        return;
    case EXPR_LIST:
        bytes_put_char(out, '(');
        dump_list(e->args, e->arg_count, " ", out);
        bytes_put_char(out, ')');
        return;
    case EXPR_ARRAY:
        bytes_put_char(out, '[');
        dump_list(e->args, e->arg_count, ",", out);
        bytes_put_char(out, ']');
        return;
    case EXPR_OBJECT:
        dump_object(e, out);
        return;
    case EXPR_CASE:
        dump_case(e, out);
        return;
    }
}

/* --- queries: the options in the order of struct query, separated by `;` --- */

struct query_dump {
    struct bytes *out;
    bool first;
};

static void begin(struct query_dump *d, const char *name)
{
    if (!d->first) {
        bytes_put_char(d->out, ';');
    }
    d->first = false;
    bytes_put_str(d->out, str_from(name));
    bytes_put_char(d->out, '=');
}

static void dump_path(const struct str *path, size_t count, struct bytes *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            bytes_put_char(out, '/');
        }
        bytes_put_str(out, path[i]);
    }
}

static void dump_orderby(const struct query *q, struct bytes *out)
{
    for (size_t i = 0; i < q->orderby_count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        expr_dump(q->orderby[i].expr, out);
        if (q->orderby[i].descending) {
            bytes_put_str(out, STR(" desc"));
        }
    }
}

static void dump_select(const struct query *q, struct bytes *out)
{
    for (size_t i = 0; i < q->select_count; i++) {
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        dump_path(q->select[i].path, q->select[i].path_count, out);
        if (q->select[i].options != NULL) {
            dump_query_options(q->select[i].options, out);
        }
    }
}

static void dump_expand(const struct query *q, struct bytes *out)
{
    for (size_t i = 0; i < q->expand_count; i++) {
        const struct expand_item *item = &q->expand[i];
        if (i > 0) {
            bytes_put_char(out, ',');
        }
        dump_path(item->path, item->path_count, out);
        bytes_put_str(out, item->ref ? STR("/$ref") : STR(""));
        bytes_put_str(out, item->count ? STR("/$count") : STR(""));
        if (item->options != NULL) {
            dump_query_options(item->options, out);
        }
    }
}

static void dump_number(struct query_dump *d, const char *name, bool given, uint64_t value)
{
    if (given) {
        begin(d, name);
        bytes_put_u64(d->out, value);
    }
}

static void dump_raw(struct query_dump *d, const char *name, const struct raw_option *option)
{
    if (option->given) {
        begin(d, name);
        bytes_put_str(d->out, option->text);
    }
}

static void dump_lists(struct query_dump *d, const struct query *q)
{
    if (q->filter != NULL) {
        begin(d, "filter");
        expr_dump(q->filter, d->out);
    }
    if (q->orderby_count > 0) {
        begin(d, "orderby");
        dump_orderby(q, d->out);
    }
    if (q->has_select) {
        begin(d, "select");
        dump_select(q, d->out);
    }
    if (q->has_expand) {
        begin(d, "expand");
        dump_expand(q, d->out);
    }
}

static void dump_aliases(struct query_dump *d, const struct query *q)
{
    for (const struct alias *alias = q->aliases; alias != NULL; alias = alias->next) {
        if (!d->first) {
            bytes_put_char(d->out, ';');
        }
        d->first = false;
        bytes_put_char(d->out, '@');
        bytes_put_str(d->out, alias->name);
        bytes_put_char(d->out, '=');
        expr_dump(alias->value, d->out);
    }
}

void query_dump(const struct query *q, struct bytes *out)
{
    struct query_dump d = {out, true};
    dump_lists(&d, q);
    dump_number(&d, "top", q->has_top, q->top);
    dump_number(&d, "skip", q->has_skip, q->skip);
    if (q->has_count) {
        begin(&d, "count");
        bytes_put_str(out, q->count ? STR("true") : STR("false"));
    }
    if (q->levels_max) {
        begin(&d, "levels");
        bytes_put_str(out, STR("max"));
    }
    dump_number(&d, "levels", q->has_levels && !q->levels_max, q->levels);
    if (q->compute_count > 0) {
        begin(&d, "compute");
        compute_dump(q->compute, q->compute_count, out);
    }
    dump_raw(&d, "search", &q->search);
    if (q->apply != NULL) {
        begin(&d, "apply");
        sequence_dump(q->apply, out);
    }
    dump_raw(&d, "index", &q->index);
    dump_raw(&d, "format", &q->format);
    dump_raw(&d, "skiptoken", &q->skiptoken);
    dump_raw(&d, "deltatoken", &q->deltatoken);
    dump_raw(&d, "schemaversion", &q->schemaversion);
    dump_raw(&d, "id", &q->id);
    dump_aliases(&d, q);
}

static void dump_query_options(const struct query *q, struct bytes *out)
{
    bytes_put_char(out, '(');
    query_dump(q, out);
    bytes_put_char(out, ')');
}

void resource_path_dump(const struct resource_path *p, struct bytes *out)
{
    static const struct str kinds[] = {
        [SEGMENT_NAME] = {STR_INIT("")},
        [SEGMENT_COUNT] = {STR_INIT("$count")},
        [SEGMENT_VALUE] = {STR_INIT("$value")},
        [SEGMENT_REF] = {STR_INIT("$ref")},
        [SEGMENT_METADATA] = {STR_INIT("$metadata")},
        [SEGMENT_BATCH] = {STR_INIT("$batch")},
        [SEGMENT_ENTITY] = {STR_INIT("$entity")},
        [SEGMENT_ALL] = {STR_INIT("$all")},
        [SEGMENT_CROSSJOIN] = {STR_INIT("$crossjoin")},
        [SEGMENT_QUERY] = {STR_INIT("$query")},
        [SEGMENT_FILTER] = {STR_INIT("$filter")},
        [SEGMENT_EACH] = {STR_INIT("$each")},
    };
    for (size_t i = 0; i < p->count; i++) {
        const struct segment *s = &p->segments[i];
        if (i > 0) {
            bytes_put_char(out, '/');
        }
        bytes_put_str(out, kinds[s->kind]);
        if (s->kind == SEGMENT_ENTITY && s->name.len > 0) {
            bytes_put_char(out, ':');
        }
        bytes_put_str(out, s->name);
        if (s->has_parens) {
            dump_arguments(s->args, s->arg_count, out);
        }
    }
    if (p->trailing_slash) {
        bytes_put_char(out, '/');
    }
}

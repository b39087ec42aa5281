// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_views.h"

/* A value's text, read from the front. */
struct tree {
    struct str text;
    size_t pos;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool is_bracket(char c)
{
    return c == '(' || c == ')' || c == '{' || c == '}';
}

/* The next bracket or word; empty at the end. A backslash takes the next byte into the word. */
static struct str next_token(struct tree *t)
{
    while (t->pos < t->text.len && is_blank(t->text.ptr[t->pos])) {
        t->pos++;
    }
    size_t from = t->pos;
    if (from < t->text.len && is_bracket(t->text.ptr[from])) {
        t->pos++;
        return str_slice(t->text, from, t->pos);
    }
    while (t->pos < t->text.len && !is_blank(t->text.ptr[t->pos]) &&
           !is_bracket(t->text.ptr[t->pos])) {
        t->pos += t->text.ptr[t->pos] == '\\' ? 2 : 1;
    }
    if (t->pos > t->text.len) {
        t->pos = t->text.len;
    }
    return str_slice(t->text, from, t->pos);
}

/* The next whole value: a word, or a node or list with everything in it; empty at the end. */
static struct str next_value(struct tree *t)
{
    struct str token = next_token(t);
    if (token.len == 0) {
        return token;
    }
    size_t from = t->pos - token.len;
    size_t depth = 0;
    while (token.len > 0) {
        char c = token.ptr[0];
        if (c == '(' || c == '{') {
            depth++;
        } else if (c == ')' || c == '}') {
            if (depth == 0) {
                return STR(""); /* the end of what is around us */
            }
            depth--;
        }
        if (depth == 0) {
            return str_slice(t->text, from, t->pos);
        }
        token = next_token(t);
    }
    return STR("");
}

/* Steps into a list; its values then come from next_value(). */
static bool enter_list(struct str value, struct tree *out_tree)
{
    *out_tree = (struct tree){value, 0};
    return str_eq(next_token(out_tree), STR("("));
}

/* A field that is looked for in a node; value is "" until it is found. */
struct field {
    struct str name;
    struct str value;
};

/*
 * The next field of the node that t is in; false behind its closing brace. The first value belongs
 * to its field even when it looks like a field's name, as the name of a column may; a few values
 * (constants) go on for more than one word.
 */
static bool next_field(struct tree *t, struct field *out_field)
{
    struct str name = next_token(t);
    while (name.len > 0 && name.ptr[0] != ':') {
        if (name.ptr[0] == '(' || name.ptr[0] == '{') {
            t->pos -= name.len;
            (void)next_value(t);
        } else if (is_bracket(name.ptr[0])) {
            return false;
        }
        name = next_token(t);
    }
    out_field->name = name;
    out_field->value = next_value(t);
    return name.len > 0 && out_field->value.len > 0;
}

/* Reads the node of that type that comes next, whole; true when every field is there. */
static bool read_node(struct tree *t, struct str type, struct field *fields, size_t count)
{
    struct field found;
    size_t missing = count;
    if (!str_eq(next_token(t), STR("{")) || !str_eq(next_token(t), type)) {
        return false;
    }
    while (next_field(t, &found)) {
        for (size_t i = 0; i < count; i++) {
            if (fields[i].value.len == 0 && str_eq(fields[i].name, found.name)) {
                fields[i].value = found.value;
                missing--;
                break;
            }
        }
    }
    return missing == 0;
}

/* The same for a value that is such a node. */
static bool read_fields(struct str node, struct str type, struct field *fields, size_t count)
{
    return read_node(&(struct tree){node, 0}, type, fields, count);
}

/* The value at a place of a list, counted from 1 as PostgreSQL does; empty when there is none. */
static struct str list_item(struct str list, uint64_t place)
{
    struct tree t;
    if (!enter_list(list, &t)) {
        return STR("");
    }
    struct str value = next_value(&t);
    for (uint64_t i = 1; i < place && value.len > 0; i++) {
        value = next_value(&t);
    }
    return value;
}

/* What is asked of a query: its rows are the rows of what it reads, neither merged nor repeated. */
static const struct field kept_rows[] = {
    {{STR_INIT(":commandType")}, {STR_INIT("1")}}, /* SELECT */
    {{STR_INIT(":hasAggs")}, {STR_INIT("false")}},
    {{STR_INIT(":hasTargetSRFs")}, {STR_INIT("false")}},
    {{STR_INIT(":groupClause")}, {STR_INIT("<>")}},
    {{STR_INIT(":groupingSets")}, {STR_INIT("<>")}},
    {{STR_INIT(":distinctClause")}, {STR_INIT("<>")}},
    {{STR_INIT(":setOperations")}, {STR_INIT("<>")}},
};

/* The parts of a query that matter here. */
struct query {
    struct str range_table;
    struct str from;
    struct str targets;
};

/* A rule's action is a list of queries; a view's has one. */
static bool read_query(struct str rule, struct query *out_query)
{
    struct field fields[ARRAY_SIZE(kept_rows) + 3] = {
        {STR(":rtable"), STR("")}, {STR(":jointree"), STR("")}, {STR(":targetList"), STR("")}};
    for (size_t i = 0; i < ARRAY_SIZE(kept_rows); i++) {
        fields[3 + i].name = kept_rows[i].name;
    }
    struct tree t = {rule, 0};
    if (!str_eq(next_token(&t), STR("(")) ||
        !read_node(&t, STR("QUERY"), fields, ARRAY_SIZE(fields)) ||
        !str_eq(next_token(&t), STR(")")) || next_token(&t).len > 0) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(kept_rows); i++) {
        if (!str_eq(fields[3 + i].value, kept_rows[i].value)) {
            return false;
        }
    }
    *out_query = (struct query){fields[0].value, fields[1].value, fields[2].value};
    return true;
}

/* The one thing in FROM: its place in the range table, and the relation that it is. */
static bool find_base(const struct query *query, uint64_t *out_place, uint32_t *out_base)
{
    struct field from[] = {{STR(":fromlist"), STR("")}};
    struct field reference[] = {{STR(":rtindex"), STR("")}};
    struct field entry[] = {{STR(":rtekind"), STR("")}, {STR(":relid"), STR("")}};
    uint64_t base = 0;
    if (!read_fields(query->from, STR("FROMEXPR"), from, 1) ||
        list_item(from[0].value, 2).len > 0 ||
        !read_fields(list_item(from[0].value, 1), STR("RANGETBLREF"), reference, 1) ||
        !str_to_u64(reference[0].value, out_place) ||
        !read_fields(list_item(query->range_table, *out_place), STR("RANGETBLENTRY"), entry, 2) ||
        !str_eq(entry[0].value, STR("0")) || /* RTE_RELATION */
        !str_to_u64(entry[1].value, &base) || base > UINT32_MAX) {
        return false;
    }
    *out_base = (uint32_t)base;
    return true;
}

/* Whether an output column is a bare column of the relation at `place`, and which. */
static bool find_origin(struct str target, uint64_t place, struct raw_view_column *out_column)
{
    struct field entry[] = {
        {STR(":expr"), STR("")}, {STR(":resno"), STR("")}, {STR(":resjunk"), STR("")}};
    struct field var[] = {
        {STR(":varno"), STR("")}, {STR(":varattno"), STR("")}, {STR(":varlevelsup"), STR("")}};
    uint64_t number = 0;
    uint64_t from = 0;
    uint64_t base_number = 0; /* 0 is the whole row, and system columns are negative */
    if (!read_fields(target, STR("TARGETENTRY"), entry, ARRAY_SIZE(entry)) ||
        !read_fields(entry[0].value, STR("VAR"), var, ARRAY_SIZE(var)) ||
        !str_eq(entry[2].value, STR("false")) || !str_eq(var[2].value, STR("0")) ||
        !str_to_u64(entry[1].value, &number) || number > INT16_MAX ||
        !str_to_u64(var[0].value, &from) || from != place ||
        !str_to_u64(var[1].value, &base_number) || base_number == 0 || base_number > INT16_MAX) {
        return false;
    }
    *out_column = (struct raw_view_column){(int16_t)number, (int16_t)base_number};
    return true;
}

bool view_rule_parse(struct arena *a, struct str rule, struct raw_view *out_view)
{
    struct query query;
    struct tree t;
    uint64_t place = 0;
    if (!read_query(rule, &query) || !find_base(&query, &place, &out_view->base) ||
        !enter_list(query.targets, &t)) {
        return false;
    }
    size_t count = 0;
    while (next_value(&t).len > 0) {
        count++;
    }
    out_view->columns = ARENA_ARRAY(a, count, struct raw_view_column);
    out_view->column_count = 0;
    if (out_view->columns == NULL || !enter_list(query.targets, &t)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct raw_view_column *column = &out_view->columns[out_view->column_count];
        if (find_origin(next_value(&t), place, column)) {
            out_view->column_count++;
        }
    }
    return true;
}

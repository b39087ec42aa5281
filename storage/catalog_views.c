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

/* Steps into a node of that type; its fields then come from next_field(). */
static bool enter_node(struct str value, struct str type, struct tree *out_tree)
{
    *out_tree = (struct tree){value, 0};
    return str_eq(next_token(out_tree), STR("{")) && str_eq(next_token(out_tree), type);
}

/*
 * The next field of a node. The first value belongs to its field even when it looks like a field's
 * name, as the name of a column may; a few values (constants) go on for more than one word.
 */
static bool next_field(struct tree *t, struct str *out_name, struct str *out_value)
{
    struct str name = next_token(t);
    while (name.len > 0 && name.ptr[0] != ':') {
        t->pos -= name.len;
        name = next_value(t).len > 0 ? next_token(t) : STR("");
    }
    if (name.len == 0) {
        return false;
    }
    *out_name = name;
    *out_value = next_value(t);
    return out_value->len > 0;
}

/* The value of one field of a node of that type. */
static bool find_field(struct str node, struct str type, struct str field, struct str *out_value)
{
    struct tree t;
    struct str name;
    if (!enter_node(node, type, &t)) {
        return false;
    }
    while (next_field(&t, &name, out_value)) {
        if (str_eq(name, field)) {
            return true;
        }
    }
    return false;
}

static bool find_number(struct str node, struct str type, struct str field, uint64_t *out_number)
{
    struct str value;
    return find_field(node, type, field, &value) && str_to_u64(value, out_number);
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

/* Whether nothing in the query makes, merges or repeats rows. */
static bool keeps_rows(struct str query)
{
    static const struct {
        struct str field;
        struct str value;
    } wanted[] = {
        {{STR_INIT(":commandType")}, {STR_INIT("1")}}, /* SELECT */
        {{STR_INIT(":hasAggs")}, {STR_INIT("false")}},
        {{STR_INIT(":hasTargetSRFs")}, {STR_INIT("false")}},
        {{STR_INIT(":groupClause")}, {STR_INIT("<>")}},
        {{STR_INIT(":groupingSets")}, {STR_INIT("<>")}},
        {{STR_INIT(":distinctClause")}, {STR_INIT("<>")}},
        {{STR_INIT(":setOperations")}, {STR_INIT("<>")}},
    };
    struct tree t;
    struct str name;
    struct str value;
    unsigned found = 0;
    if (!enter_node(query, STR("QUERY"), &t)) {
        return false;
    }
    while (next_field(&t, &name, &value)) {
        for (unsigned i = 0; i < ARRAY_SIZE(wanted); i++) {
            if (str_eq(name, wanted[i].field) && str_eq(value, wanted[i].value)) {
                found |= 1U << i;
            }
        }
    }
    return found == (1U << ARRAY_SIZE(wanted)) - 1;
}

/* The one thing in FROM: its place in the range table, and the relation that it is. */
static bool find_base(struct str query, uint64_t *out_place, uint32_t *out_base)
{
    struct str from;
    struct str range_table;
    struct str list;
    uint64_t kind = 0;
    uint64_t base = 0;
    if (!find_field(query, STR("QUERY"), STR(":jointree"), &from) ||
        !find_field(query, STR("QUERY"), STR(":rtable"), &range_table) ||
        !find_field(from, STR("FROMEXPR"), STR(":fromlist"), &list) || list_item(list, 2).len > 0 ||
        !find_number(list_item(list, 1), STR("RANGETBLREF"), STR(":rtindex"), out_place)) {
        return false;
    }
    struct str entry = list_item(range_table, *out_place);
    if (!find_number(entry, STR("RANGETBLENTRY"), STR(":rtekind"), &kind) || kind != 0 ||
        !find_number(entry, STR("RANGETBLENTRY"), STR(":relid"), &base) || base > UINT32_MAX) {
        return false;
    }
    *out_base = (uint32_t)base;
    return true;
}

/* Whether an output column is a bare column of the relation at `place`, and which. */
static bool find_origin(struct str target, uint64_t place, struct raw_view_column *out_column)
{
    const struct str entry = STR("TARGETENTRY");
    const struct str var = STR("VAR");
    struct str expression;
    struct str junk;
    uint64_t number = 0;
    uint64_t from = 0;
    uint64_t base_number = 0;
    uint64_t levels = 0;
    if (!find_field(target, entry, STR(":expr"), &expression) ||
        !find_number(target, entry, STR(":resno"), &number) ||
        !find_field(target, entry, STR(":resjunk"), &junk) || !str_eq(junk, STR("false")) ||
        !find_number(expression, var, STR(":varno"), &from) || from != place ||
        !find_number(expression, var, STR(":varattno"), &base_number) || base_number == 0 ||
        !find_number(expression, var, STR(":varlevelsup"), &levels) || levels != 0 ||
        number > INT16_MAX || base_number > INT16_MAX) {
        return false;
    }
    *out_column = (struct raw_view_column){(int16_t)number, (int16_t)base_number};
    return true;
}

bool view_rule_parse(struct arena *a, struct str rule, struct raw_view *out_view)
{
    struct str query = list_item(rule, 1);
    struct str targets;
    struct tree t;
    uint64_t place = 0;
    if (list_item(rule, 2).len > 0 || !keeps_rows(query) ||
        !find_base(query, &place, &out_view->base) ||
        !find_field(query, STR("QUERY"), STR(":targetList"), &targets)) {
        return false;
    }
    size_t count = 0;
    if (!enter_list(targets, &t)) {
        return false;
    }
    while (next_value(&t).len > 0) {
        count++;
    }
    out_view->columns = ARENA_ARRAY(a, count, struct raw_view_column);
    out_view->column_count = 0;
    if (out_view->columns == NULL || !enter_list(targets, &t)) {
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

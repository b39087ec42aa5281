// SPDX-License-Identifier: Apache-2.0
#include "odata/query_parse.h"

#include "odata/filter_parse.h"
#include "odata/limits.h"
#include "odata/parser_priv.h"
#include "odata/percent.h"

struct reader {
    struct arena *a;
    size_t max_filter_depth;
    size_t max_expand_depth;
    uint32_t seen; /* bit option_index() */
    struct query *query;
    struct odata_error *err;
};

/* @name=value */
static bool read_alias(struct reader *r, struct str name, struct str raw_value)
{
    struct str bare = str_from_offset(name, 1);
    struct alias *alias = ARENA_NEW(r->a, struct alias);
    struct str target;
    if (alias == NULL || !arena_format(r->a, &target, "%.*s", STR_ARG(lexer_shown(name)))) {
        return arena_fail(r->a, r->err);
    }
    if (!lexer_is_identifier(bare)) {
        return odata_error_set(r->err, 400, ODATA_CODE_BAD_QUERY_OPTION, target.ptr,
                               "'%s' is not the name of a parameter alias", target.ptr);
    }
    for (const struct alias *other = r->query->aliases; other != NULL; other = other->next) {
        if (str_eq(other->name, bare)) {
            return odata_error_set(r->err, 400, ODATA_CODE_BAD_QUERY_OPTION, target.ptr,
                                   "%s is given twice", target.ptr);
        }
    }
    if (!percent_decode_value(r->a, raw_value, &alias->text, r->err) ||
        !expression_parse(r->a, alias->text, r->max_filter_depth, target.ptr,
                          ODATA_CODE_BAD_QUERY_OPTION, &alias->value, r->err)) {
        return false;
    }
    alias->name = bare;
    alias->next = r->query->aliases;
    r->query->aliases = alias;
    return true;
}

static bool read_system(struct reader *r, const struct option_rule *rule, struct str name,
                        struct str raw_value)
{
    uint32_t bit = UINT32_C(1) << option_index(rule);
    if ((r->seen & bit) != 0) {
        return odata_error_set(r->err, 400, ODATA_CODE_BAD_QUERY_OPTION, option_target(rule),
                               "the query option '%.*s' is given twice",
                               STR_ARG(lexer_shown(name)));
    }
    r->seen |= bit;
    struct parser p = {.max_depth = r->max_filter_depth, .max_expand_depth = r->max_expand_depth};
    struct str value;
    if (!percent_decode_value(r->a, raw_value, &value, r->err)) {
        return false;
    }
    lexer_init(&p.lx, r->a, value, ODATA_CODE_BAD_QUERY_OPTION, "", "", r->err);
    return option_parse_request(&p, rule, value, r->query);
}

static bool read_option(struct reader *r, struct str option)
{
    size_t equals = str_find(option, '=', 0);
    struct str name;
    if (!percent_decode(r->a, str_slice(option, 0, equals), &name, r->err)) {
        return false;
    }
    struct str raw_value = str_from_offset(option, equals + 1);
    if (str_starts_with(name, STR("@"))) {
        return read_alias(r, name, raw_value);
    }
    const struct option_rule *rule = option_find(name);
    if (rule != NULL) {
        return read_system(r, rule, name, raw_value);
    }
    return !str_starts_with(name, STR("$")) || option_refuse(name, r->err);
}

bool query_option_is_general(struct arena *a, struct str raw_option, bool *out_general,
                             struct odata_error *err)
{
    struct str name;
    if (!percent_decode(a, str_slice(raw_option, 0, str_find(raw_option, '=', 0)), &name, err)) {
        return false;
    }
    const struct option_rule *rule = option_find(name);
    *out_general = rule == NULL
                       ? !str_starts_with(name, STR("$")) && !str_starts_with(name, STR("@"))
                       : str_eq(str_from(option_target(rule)), STR("$format")) ||
                             str_eq(str_from(option_target(rule)), STR("$schemaversion"));
    return true;
}

bool query_parse(struct arena *a, struct str raw_query, const struct query_limits *limits,
                 struct query *out_query, struct odata_error *err)
{
    struct query query = {0};
    struct reader r = {.a = a, .query = &query, .err = err};
    r.max_filter_depth =
        limits->max_filter_depth < LIMIT_EXPR_DEPTH ? limits->max_filter_depth : LIMIT_EXPR_DEPTH;
    r.max_expand_depth = limits->max_expand_depth < LIMIT_EXPAND_DEPTH ? limits->max_expand_depth
                                                                       : LIMIT_EXPAND_DEPTH;
    size_t hash = str_find(raw_query, '#', 0);
    if (hash < raw_query.len) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_URL, "",
                               "the '#' at byte %zu of the query must be written %%23", hash);
    }
    size_t count = 0;
    for (size_t at = 0; at < raw_query.len;) {
        size_t end = str_find(raw_query, '&', at);
        struct str option = str_slice(raw_query, at, end);
        at = end + 1;
        if (option.len == 0) {
            continue;
        }
        if (++count > LIMIT_QUERY_OPTIONS) {
            return odata_error_set(err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "",
                                   "more than %d query options", LIMIT_QUERY_OPTIONS);
        }
        if (!read_option(&r, option)) {
            return false;
        }
    }
    *out_query = query;
    return true;
}

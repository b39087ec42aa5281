// SPDX-License-Identifier: Apache-2.0
/*
 * ast - the syntax of a request URL: resource path, query options, expressions.
 *
 * Nothing here knows a model: names are text, and every node keeps the byte at which it stood in
 * its own piece of the decoded URL, so that the binder's errors can point at it.
 *
 * Owns:   nothing; nodes and their strings live in the request's arena.
 * Source: OData 4.01 ABNF; URL Conventions 4 and 5.
 */
#ifndef ODATA_AST_H
#define ODATA_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/bytes.h"
#include "odata/str.h"

struct query;
struct compute_item; /* odata/apply.h, as are these */
struct aggregate_item;
struct sequence;

enum literal_kind {
    LITERAL_NULL,
    LITERAL_BOOLEAN, /* text is "true" or "false" */
    LITERAL_INTEGER, /* digits with an optional sign; any size */
    LITERAL_DECIMAL, /* has a point, or the suffix m/M (cut off) */
    LITERAL_DOUBLE,  /* has an exponent, a suffix d/D/f/F (cut off), or is INF, -INF, NaN */
    LITERAL_STRING,  /* without its quotes, '' undoubled */
    LITERAL_GUID,
    LITERAL_DATE,
    LITERAL_DATETIMEOFFSET,
    LITERAL_TIMEOFDAY,
    LITERAL_DURATION,  /* without duration'...' */
    LITERAL_BINARY,    /* the base64url text, without binary'...' */
    LITERAL_ENUM,      /* text is the member list; type_name is "ns.Type" */
    LITERAL_GEOGRAPHY, /* the WKT text */
    LITERAL_GEOMETRY,
};

enum expr_kind {
    EXPR_LITERAL,
    EXPR_ALIAS,      /* @name; name is without the @ */
    EXPR_IT,         /* $it */
    EXPR_THIS,       /* $this */
    EXPR_ROOT,       /* $root */
    EXPR_THESE,      /* $these */
    EXPR_MEMBER,     /* base/name, or name when base is NULL: property, navigation, lambda variable,
                     or qualified type name (contains a point); args when it has a key predicate */
    EXPR_COUNT,      /* base/$count, with options ($filter, $search) or NULL */
    EXPR_CALL,       /* name(args): a canonical function, or base/name(args): a bound function */
    EXPR_ANY,        /* base/any(variable:body); variable "" and body NULL for any() */
    EXPR_ALL,        /* base/all(variable:body) */
    EXPR_UNARY,      /* op args[0] */
    EXPR_BINARY,     /* args[0] op args[1] */
    EXPR_IN,         /* args[0] in args[1] */
    EXPR_LIST,       /* (args...): the right side of `in` */
    EXPR_ARRAY,      /* [args,...] */
    EXPR_OBJECT,     /* {"name":value,...}: the members in key */
    EXPR_CASE,       /* case(args[0]:args[1],...) : condition, value, condition, value, ... */
    EXPR_AGGREGATE,  /* base/aggregate(aggregate) */
    EXPR_ANNOTATION, /* base/@ns.Term or base/@ns.Term#qualifier; name is without the @ */
};

enum operator{
    OP_NONE,
    OP_OR,
    OP_AND,
    OP_EQ,
    OP_NE,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_HAS,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_DIVBY,
    OP_MOD,
    OP_NEGATE, /* unary - */
    OP_NOT,    /* unary not */
};

/* A member of a key predicate or of a function call: `name=value`, or `value` alone. */
struct argument {
    struct str name; /* "" when it is positional */
    struct expr *value;
    size_t offset;
};

struct expr {
    enum expr_kind kind;
    size_t offset; /* byte in the decoded text in which the expression stood */
    size_t height; /* levels of nodes from here down, at most LIMIT_EXPR_HEIGHT: who recurses over
                      the tree may rely on it; and/or chains are balanced, so 1,000 terms are 11 */
    enum operator op;
    enum literal_kind literal;
    struct str text;      /* EXPR_LITERAL: see enum literal_kind */
    struct str type_name; /* LITERAL_ENUM */
    struct str name;      /* EXPR_MEMBER, EXPR_CALL, EXPR_ALIAS, EXPR_ANNOTATION; lower-case for a
                             canonical function, otherwise as written */
    struct expr *base;    /* EXPR_MEMBER, EXPR_COUNT, EXPR_CALL, EXPR_ANY, EXPR_ALL, ANNOTATION */
    struct expr **args;   /* operands, arguments, list items */
    size_t arg_count;
    struct argument
        *key; /* EXPR_MEMBER with a key predicate, EXPR_CALL with named arguments, EXPR_OBJECT */
    size_t key_count;
    struct str variable;              /* EXPR_ANY, EXPR_ALL */
    struct expr *body;                /* EXPR_ANY, EXPR_ALL */
    struct query *options;            /* EXPR_COUNT */
    struct aggregate_item *aggregate; /* EXPR_AGGREGATE; without an alias */
};

enum segment_kind {
    SEGMENT_NAME,      /* a set, singleton, property, navigation, type cast or operation */
    SEGMENT_COUNT,     /* $count */
    SEGMENT_VALUE,     /* $value */
    SEGMENT_REF,       /* $ref */
    SEGMENT_METADATA,  /* $metadata */
    SEGMENT_BATCH,     /* $batch */
    SEGMENT_ENTITY,    /* $entity; cast in name when there is one */
    SEGMENT_ALL,       /* $all */
    SEGMENT_CROSSJOIN, /* $crossjoin(names) */
    SEGMENT_QUERY,     /* $query */
    SEGMENT_FILTER,    /* $filter(expr) in args[0] */
    SEGMENT_EACH,      /* $each */
};

/* One segment of the resource path: name, name(key), name(p=v,...), $count ... */
struct segment {
    enum segment_kind kind;
    struct str name;       /* decoded */
    struct argument *args; /* of the parentheses */
    size_t arg_count;
    bool has_parens; /* `()` is empty but there */
    size_t offset;   /* byte in the raw path at which the segment starts */
};

struct resource_path {
    struct segment *segments; /* none: the service root */
    size_t count;
    bool trailing_slash;
};

struct order_item {
    struct expr *expr;
    bool descending;
    size_t offset;
};

enum search_kind {
    SEARCH_WORD,   /* text; it may still be more than one word for the database: brand-new */
    SEARCH_PHRASE, /* text, without its quotes: its words in this order */
    SEARCH_AND,    /* left and right */
    SEARCH_OR,
    SEARCH_NOT, /* left */
};

/* $search as a tree (odata/search_parse.h); at most LIMIT_SEARCH_TERMS terms. */
struct search_expr {
    enum search_kind kind;
    struct str text;
    bool incomplete; /* SEARCH_WORD: it stood in '...', a search that is still being typed */
    size_t offset;
    const struct search_expr *left;
    const struct search_expr *right;
};

/* One item of $select: a path, `*`, or `ns.*`. */
struct select_item {
    struct str *path; /* names: properties, type casts (with a point), `*` as the last one */
    size_t path_count;
    struct query *options; /* ( ... ) behind it, or NULL */
    size_t offset;
};

/* One item of $expand. */
struct expand_item {
    struct str *path; /* names: complex properties, casts, at last the navigation, or `*` */
    size_t path_count;
    bool ref;              /* path/$ref */
    bool count;            /* path/$count */
    struct query *options; /* ( ... ) behind it, or NULL */
    size_t offset;
};

/* @name=value */
struct alias {
    struct str name; /* without the @ */
    struct expr *value;
    struct str text; /* the value as written, decoded */
    struct alias *next;
    bool resolving; /* while the binder is inside it: finds cycles */
};

/* An option in parentheses as it was written, for a link that asks for the same. */
struct option_text {
    const char *name; /* "$filter", whatever was written */
    struct str text;
    struct option_text *next;
};

/* An option that is kept as text: it is parsed by who needs it, or refused with 501. */
struct raw_option {
    bool given;
    struct str text; /* decoded */
};

/* The query options of a request, or those nested in $expand, $select and $count. */
struct query {
    struct expr *filter;
    struct order_item *orderby;
    size_t orderby_count;
    bool has_select;
    struct select_item *select;
    size_t select_count;
    bool has_expand;
    struct expand_item *expand;
    size_t expand_count;
    bool has_top;
    uint64_t top;
    bool has_skip;
    uint64_t skip;
    bool has_count;
    bool count;
    bool has_levels;
    bool levels_max;
    uint64_t levels;
    struct compute_item *compute;
    size_t compute_count;
    struct sequence *apply; /* NULL when it is not given */
    struct raw_option search;
    const struct search_expr *search_expr; /* search, parsed; NULL when it is not given */
    struct raw_option index;
    struct raw_option format;
    struct raw_option skiptoken;
    struct raw_option deltatoken;
    struct raw_option schemaversion;
    struct raw_option id;  /* $id */
    struct alias *aliases; /* those defined at this level; nested queries see the request's too */
    struct option_text *texts; /* of nested options, the last one first; aliases have their own */
};

/*
 * Readings that syntax alone cannot decide, and what the parser makes of them:
 * - name(...) without a base is EXPR_CALL (positional values in args, named ones in key), although
 *   it may be a navigation property with a key;
 * - base/name(...) is EXPR_CALL when it has no argument or is qualified and has named ones;
 *   otherwise EXPR_MEMBER with a key, although name(p=1) may be an unqualified bound function;
 * - base/$filter(expr) is EXPR_CALL with the name "$filter" and the expression in args[0];
 * - @name is EXPR_ALIAS, @ns.name and base/@name are EXPR_ANNOTATION.
 */

/* The operator as OData writes it ("eq"), or "" for OP_NONE. */
struct str operator_name(enum operator op);

/* Writes the tree in one line, fully parenthesised, for tests: `(and (eq Price 10) ...)`. */
void expr_dump(const struct expr *e, struct bytes *out);
void query_dump(const struct query *q, struct bytes *out);
void resource_path_dump(const struct resource_path *p, struct bytes *out);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * bound - expressions and reads after binding: every name is a piece of the model, every type known.
 *
 * Owns: nothing; bound trees live in the request's arena and lend from the model.
 */
#ifndef ODATA_BOUND_H
#define ODATA_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/ast.h"
#include "odata/model.h"

/*
 * Something that has rows: the target of a read, an entity that is reached from it by to-one
 * navigations, or the entities that a lambda runs over. The ones reached by navigation hang on
 * their root, each once, a source before those that are reached through it.
 */
struct source {
    const struct entity_type *type;
    const struct derived *derived; /* odata/derived.h; NULL: the rows are those of type's table */
    const struct source *shared;   /* the rows have a name in the statement: that of this source */
    struct source *root;           /* itself for a root */
    struct source *from;           /* not a root: where via starts */
    const struct navigation *via;  /* not a root: a to-one navigation */
    struct source *joined;         /* a root: the first one that is reached from it */
    struct source *last_joined;    /* a root */
    struct source *next;           /* the next one of the same root */
    unsigned number;               /* unique in the request */
    bool in_filter;                /* decides which rows there are: the count needs it, too */
    bool nullable;                 /* there may be none */
    bool embedded;                 /* not a root: its columns stand in the row of from */
    /* With table inheritance. What a foreign key leads to is in its table alone. */
    bool wide;                    /* rows of types that are derived from type are among them */
    bool exact;                   /* rows of tables that inherit from type's are not */
    const struct source *cast_of; /* its rows, as far as they are of type; else all is null */
    const struct entity_set *set; /* a cast in the path: what its entities are in; else NULL */
    bool says_type;               /* nothing else says that its entities are of type */
};

/* The set that the entities of a source are in; NULL when they have no ids. */
static inline const struct entity_set *source_set(const struct source *source)
{
    return source->set != NULL ? source->set : source->type->set;
}

enum bound_kind {
    BOUND_VALUE,         /* a literal; null when text.ptr is NULL */
    BOUND_PROPERTY,      /* source/property, or a part of a complex property */
    BOUND_ELEMENT,       /* the lambda variable of a collection of values, or a part of it */
    BOUND_ENTITY,        /* source as a whole: to be compared with null */
    BOUND_OPERATOR,      /* op over args */
    BOUND_CALL,          /* function over args */
    BOUND_IN,            /* args[0] in args[1...]; values only, a null among them in has_null */
    BOUND_IN_COLLECTION, /* args[0] in args[1], a collection */
    BOUND_ANY,           /* over range or over the collection args[0]; body NULL: is there one */
    BOUND_ALL,
    BOUND_COUNT,      /* of range where body, or of the collection args[0] */
    BOUND_COLLECTION, /* args, as the items of a collection */
    BOUND_SCALAR,     /* args[0] of the one row of range where body; null when there is none */
    BOUND_CAST,       /* args[0] as a value of type; null when it cannot be one */
    BOUND_CASE,       /* condition, value, condition, value, ... */
    BOUND_SEARCH,     /* source's row matches search */
    BOUND_RANK,       /* how well it does: Edm.Single, never null, the higher the better */
    BOUND_WINDOW, /* of the property args[0], a collection, the items that body and window leave;
                         property and parts are those of args[0] */
};

enum function_id {
    FUNCTION_CONTAINS,
    FUNCTION_STARTSWITH,
    FUNCTION_ENDSWITH,
    FUNCTION_INDEXOF,
    FUNCTION_LENGTH,
    FUNCTION_SUBSTRING,
    FUNCTION_SUBSTRING_LENGTH,
    FUNCTION_TOLOWER,
    FUNCTION_TOUPPER,
    FUNCTION_TRIM,
    FUNCTION_CONCAT,
    FUNCTION_YEAR,
    FUNCTION_MONTH,
    FUNCTION_DAY,
    FUNCTION_HOUR,
    FUNCTION_MINUTE,
    FUNCTION_SECOND,
    FUNCTION_FRACTIONALSECONDS,
    FUNCTION_DATE,
    FUNCTION_TIME,
    FUNCTION_NOW,
    FUNCTION_MINDATETIME,
    FUNCTION_MAXDATETIME,
    FUNCTION_TOTALSECONDS,
    FUNCTION_TOTALOFFSETMINUTES,
    FUNCTION_ROUND,
    FUNCTION_FLOOR,
    FUNCTION_CEILING,
    FUNCTION_MATCHESPATTERN, /* args[1] is a pattern of PostgreSQL */
    /* The same names over collections (URL Conventions 5.1.1.5, 5.1.1.6). */
    FUNCTION_ITEMS_CONCAT,
    FUNCTION_ITEMS_CONTAINS,
    FUNCTION_ITEMS_STARTSWITH,
    FUNCTION_ITEMS_ENDSWITH,
    FUNCTION_ITEMS_INDEXOF,
    FUNCTION_ITEMS_LENGTH,
    FUNCTION_ITEMS_SUBSTRING,
    FUNCTION_ITEMS_SUBSTRING_LENGTH,
    FUNCTION_HASSUBSET,
    FUNCTION_HASSUBSEQUENCE,
    FUNCTION_COUNT,
};

struct bound_expr {
    enum bound_kind kind;
    enum operator op;
    enum function_id function;
    struct type_ref type;         /* EDM_NONE for an untyped null */
    const struct pg_type_ref *pg; /* of the column that it is, or that the value meets; or NULL */
    bool nullable;
    bool has_null;               /* BOUND_IN */
    struct str text;             /* BOUND_VALUE: as PostgreSQL reads it, ends in NUL */
    const struct source *source; /* PROPERTY, ENTITY */
    const struct property *property;
    const struct property **parts; /* PROPERTY, ELEMENT: attributes inside of it */
    size_t part_count;
    unsigned number; /* ELEMENT, and ANY/ALL/CAST over a collection: its variable */
    const struct bound_expr **args;
    size_t arg_count;
    /* ANY, ALL, COUNT, SCALAR over entities: those behind range_via of range_from, or all */
    struct source *range; /* a root of its own */
    const struct source *range_from;
    const struct navigation *range_via;
    const struct bound_expr *body;
    const struct search_expr *search; /* SEARCH, RANK */
    struct bound_expr *inner;         /* SCALAR: the next one in it, while a path is bound */
    const struct window *window;      /* WINDOW */
};

struct bound_order {
    const struct bound_expr *expr;
    bool descending;
};

/* Which items of a collection of values are read, and in which order; else their own one. */
struct window {
    struct bound_order *order;
    size_t order_count;
    bool has_top;
    uint64_t top;
    uint64_t skip;
};

/* A part of a complex property that is selected by itself; at most LIMIT_VALUE_DEPTH inside another. */
struct selected_part {
    const struct property *property;
    const struct bound_expr *value;
    bool whole;                  /* all of it, whatever parts says */
    struct selected_part *parts; /* of a complex one */
    struct selected_part *next;
};

/* What a request says about a property that is a collection, or a complex value. */
struct selected_values {
    const struct bound_expr *value; /* NULL: as it is stored */
    const struct bound_expr *count; /* NULL: not asked for */
    struct selected_part *parts;    /* NULL: all of it */
};

/* What is written of entities of a derived type besides. */
struct cast_selection {
    struct source *source; /* a cast */
    struct selection *selection;
    struct cast_selection *next; /* of a type that is not before this one in their tree */
};

/* What is written of each entity. */
struct selection {
    const struct property **properties; /* in the order of the type */
    struct selected_values *values; /* by the place of the property in its type; NULL: no options */
    size_t property_count;
    bool all_links; /* every navigation that is not expanded has its links in full metadata */
    const struct navigation **links; /* or these */
    size_t link_count;
    bool ref_only;    /* `$ref`: nothing but the entity's id */
    bool all_derived; /* what derived types add is written, too */
    struct cast_selection *casts;
    struct expansion *expansions;
};

/* A navigation property whose target is written into the row. */
struct expansion {
    const struct navigation *navigation;
    const struct source *parent;       /* the source whose navigation it is */
    struct source *source;             /* to one: the target, joined to the parent's root */
    const struct selection *selection; /* NULL for count_only */
    const struct read *read;           /* to many: its rows, as a read of their own */
    bool has_count;                    /* to many: the number stands before the rows */
    const struct bound_expr *counted;  /* the number, when it is not that of the read's rows */
    struct str context; /* of rows that are made: the fragment of their context URL, or "" */
    bool count_only;    /* Nav/$count: only the number */
    /* read->page_rows > 0: behind the id of the parent, these ask for the same rows as a request of
       their own: `/Nav` and `$filter=...&`, percent-encoded. */
    struct str next_path;
    struct str next_query;
    struct expansion *next;
};

/* One step of a resource path, from the entity set on: the entities and the key, if one is given. */
struct path_step {
    const struct source *source;  /* roots of their own: they are joined one by one */
    const struct navigation *via; /* from the step before; NULL for the first */
    const struct property **key_properties;
    const struct bound_expr **key_values;
    size_t key_count; /* 0: no key */
};

/* The rows that a request reads, or one expanded collection. */
struct read {
    const struct entity_type *type;
    bool has_count;       /* $count=true */
    bool resumable;       /* ordered by a total order: next links can be made */
    uint64_t page_rows;   /* close the page after so many rows; 0 = no limit */
    uint64_t token_check; /* hash of the query that a skip token belongs to */
    uint64_t rows_before; /* rows of the earlier pages, from the skip token */

    const struct read *applied_path; /* with $apply: the path, when it is more than a set */
    struct source *source;
    const struct path_step *steps; /* the last one's source is this read's source */
    size_t step_count;             /* 0 for an expanded collection */
    bool single;                   /* one row at most */
    bool count_rows;               /* /$count: the number is all there is */
    bool tied; /* an expanded collection: the source has the rows of one parent only */
    /* An expanded collection whose filter or order speaks of $it: the request's source. */
    const struct source *it;
    const struct bound_expr *filter;
    uint64_t filter_hash;      /* of the conditions that stand in the path; 0 = none */
    struct bound_order *order; /* the key included when resumable */
    size_t order_count;
    bool has_top;
    uint64_t top; /* what is left of it after rows_before */
    uint64_t skip;
    const struct selection *selection;
    /* A property instead of entities: PLAN_PROPERTY, PLAN_RAW_VALUE, /$count of a collection. */
    const struct bound_expr *value;
    const struct bound_expr *value_count; /* the number of its items, where that is asked for */
    /* The values of `order` in the last row of the page before; text.ptr NULL is null. */
    const struct bound_expr **after;
};

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * bind_priv - what the files of the binder share: odata/bind*.c and nobody else.
 */
#ifndef ODATA_BIND_PRIV_H
#define ODATA_BIND_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/arena.h"
#include "odata/ast.h"
#include "odata/bound.h"
#include "odata/odata_error.h"
#include "odata/plan.h"

/* The option that is being bound: the target and the code of its errors. */
struct clause {
    const char *option; /* "$filter" */
    const char *code;
    const char *place; /* what the bytes of errors are counted in; NULL: the option, or the path */
};

extern const struct clause clause_path;
extern const struct clause clause_filter;
extern const struct clause clause_path_filter; /* /$filter(...) */
extern const struct clause clause_orderby;
extern const struct clause clause_select;
extern const struct clause clause_expand;
extern const struct clause clause_compute;
extern const struct clause clause_apply;
extern const struct clause clause_search;

/* A name that a lambda gives: its entities, or the items of a collection. */
struct variable {
    struct str name;
    struct source *source;         /* entities, or NULL */
    const struct bound_expr *item; /* items of a primitive collection */
    const struct variable *outer;
};

/* Aliases that nested options define. */
struct alias_scope {
    const struct alias *first;
    const struct alias_scope *outer;
};

/* The collection that an option or a transformation is about, which $these stands for: one of read,
   rows and via. */
struct these {
    const struct read *read;
    struct source *rows;
    const struct navigation *via; /* what is behind it, of the row of */
    const struct source *from;    /* (NULL: the statement's parent) */
    const struct query *options;  /* $apply and $compute of via, or NULL */
    bool grouped;                 /* rows: there are several such collections */
    bool used;                    /* an expression has spoken of it */
};

struct binder {
    struct arena *arena;
    const struct bind_options *options;
    struct query *request; /* the request's options: its aliases are seen everywhere */
    struct odata_error *err;
    unsigned next_number; /* of sources and lambda variables */
    unsigned next_column; /* of columns that are made for the request */
    size_t expand_depth;
    size_t expr_depth;
    struct source *it;                 /* $it of the request */
    bool it_used;                      /* an expression has spoken of it */
    const struct navigation *rollup;   /* to the node of rolluprecursive; NULL outside of it */
    struct these *these;               /* NULL: there is no collection */
    bool nested_pages;                 /* of plan */
    const struct alias_scope *aliases; /* of nested options around this place, innermost first */
};

/* Where an expression stands. */
struct scope {
    struct source *root;
    const struct bound_expr *item; /* the current instance, where values are looped over */
    const struct variable *variables;
    const struct clause *clause;
    bool it_is_near;  /* $it is the row that those of root hang on */
    bool it_is_item;  /* $it is item: the path of the request leads to the values */
    bool in_filter;   /* what it joins decides which rows there are */
    bool may_be_text; /* a name alone where a string can stand: perhaps one without its quotes */
};

/* bind_source.c */

struct source *bind_source_new(struct binder *b, const struct entity_type *type) NODISCARD;
/* s, as somebody who may join to it has it: s is a root or hangs on one. */
struct source *bind_source_own(const struct source *s);
/* The rows of `to` are those of `from`; its type may be another one. */
void bind_source_like(struct source *to, const struct source *from);
/* What a navigation leads to, as a root of its own. */
struct source *bind_source_via(struct binder *b, const struct navigation *via) NODISCARD;
/* The rows of `from` as far as they are of a type that is derived from its own; the same one each
   time. Not a root: its columns stand in the row of from. */
struct source *bind_source_cast(struct binder *b, struct source *from,
                                const struct entity_type *type, bool in_filter) NODISCARD;
/* The entity behind a to-one navigation; the same one each time. NULL when memory is short. */
struct source *bind_source_join(struct binder *b, struct source *from, const struct navigation *via,
                                bool in_filter) NODISCARD;

/* Hangs a root of its own, derived from via's target, on `from`: an entity behind a to-one. */
void bind_source_attach(struct source *from, const struct navigation *via, struct source *made);

/* 400 with the clause's code, naming the byte. Returns false. */
bool bind_fail(struct binder *b, const struct clause *c, size_t offset, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* The same about a name: "'x' at byte n of $o is ...". Returns false. */
bool bind_fail_name(struct binder *b, const struct clause *c, size_t offset, struct str name,
                    const char *fmt, ...) PRINTF_LIKE(5, 6);
/* "unknown property 'x' of T at byte n of $o; did you mean 'y'?". may_be_text: the name may be a
   string without its quotes. Returns false. */
bool bind_fail_unknown(struct binder *b, const struct clause *c, size_t offset,
                       const struct entity_type *t, struct str name, bool may_be_text);
/* The name is a type cast (it contains a point) to t itself. */
bool bind_is_own_type(const struct binder *b, struct str name, const struct entity_type *t);
/* The type that a cast names, when that is t or derived from it; NULL for any other name. */
const struct entity_type *bind_derived_type(const struct binder *b, struct str name,
                                            const struct entity_type *t);
/*
 * The casts that a path of names begins with, before its last name: *io_at moves from the first one to
 * the name behind them. Returns the type that they lead to from t, which may be t.
 */
const struct entity_type *bind_skip_casts(const struct binder *b, const struct str *path,
                                          size_t count, const struct entity_type *t, size_t *io_at);
/* A name for a message: cut to a length that leaves room for the sentence, at a character. */
struct str bind_clip(struct str text);

/* Refuses what is standard, but not here yet, with 501 and its name: never in silence. */
bool bind_refuse_later(struct binder *b, const struct query *q);

/* bind_value.c */

/* "Edm.Int32", "shop.Color", "Collection(Edm.String)", "null". */
struct str bind_type_name(struct binder *b, const struct type_ref *type);
/* Follows aliases to what they stand for; NULL and 400 for a cycle. An alias without a value
   stands for null. */
const struct expr *bind_resolve(struct binder *b, const struct clause *c,
                                const struct expr *e) NODISCARD;
/* e, or what its alias stands for, is a literal or a negated number. */
bool bind_is_literal(struct binder *b, const struct expr *e);
/*
 * The value of a literal. want: the type that it must fit, or NULL for its own; pg: how the column
 * that it meets is stored, or NULL.
 */
const struct bound_expr *bind_literal(struct binder *b, const struct clause *c,
                                      const struct expr *e, const struct type_ref *want,
                                      const struct pg_type_ref *pg) NODISCARD;
struct type_ref bind_type(enum edm_type type);

/* bind_expr.c */

const struct bound_expr *bind_expr(struct binder *b, const struct scope *s,
                                   const struct expr *e) NODISCARD;
/* The same, for something that must be Edm.Boolean. */
const struct bound_expr *bind_condition(struct binder *b, const struct scope *s,
                                        const struct expr *e) NODISCARD;
const struct bound_expr *bind_property_expr(struct binder *b, const struct source *source,
                                            const struct property *p) NODISCARD;
struct bound_expr *bind_new(struct binder *b, enum bound_kind kind, enum edm_type type,
                            size_t arg_count) NODISCARD;

/* bind_compare.c */

bool bind_is_null(const struct bound_expr *e); /* the literal */
const struct bound_expr *bind_truth(struct binder *b, bool value) NODISCARD;
const struct bound_expr *bind_null(struct binder *b, const struct type_ref *type) NODISCARD;
struct bound_expr *bind_new_binary(struct binder *b, enum operator op, enum edm_type type,
                                   const struct bound_expr *left,
                                   const struct bound_expr *right) NODISCARD;
/* Values of the two types can be compared with each other. */
bool bind_may_meet(const struct type_ref *a, const struct type_ref *b);
/* The type that holds both numbers; other types are equal already. */
enum edm_type bind_wider(enum edm_type a, enum edm_type b);
/* "'eq' cannot take Edm.Int32 and Edm.String". Returns NULL. */
const struct bound_expr *bind_fail_types(struct binder *b, const struct scope *s, size_t offset,
                                         enum operator op, const struct bound_expr *left,
                                         const struct bound_expr *right);
/* Binds a literal to the type of the operand that it meets, when that is one that has literals. */
const struct bound_expr *bind_peer(struct binder *b, const struct scope *s, const struct expr *e,
                                   const struct bound_expr *other) NODISCARD;
/* The scope of e, where a string could stand: for the hint about quotes. */
struct scope bind_text_scope(const struct scope *s, const struct expr *e);
/* Two operands that must meet: literals take the type of the other side. */
bool bind_operands(struct binder *b, const struct scope *s, const struct expr *const *args,
                   const struct bound_expr *out[2]) NODISCARD;
/* e op null */
const struct bound_expr *bind_compare_null(struct binder *b, enum operator op,
                                           const struct bound_expr *e) NODISCARD;
/* eq, ne, lt, le, gt, ge */
const struct bound_expr *bind_comparison(struct binder *b, const struct scope *s,
                                         const struct expr *e) NODISCARD;

/* bind_in.c */

const struct bound_expr *bind_in(struct binder *b, const struct scope *s,
                                 const struct expr *e) NODISCARD;

/* bind_array.c: collections that are written out */

/* e is EXPR_ARRAY. want: the collection that it meets, or NULL for its own type, which is EDM_NONE
   when it has no items but nulls. */
const struct bound_expr *bind_array(struct binder *b, const struct scope *s, const struct expr *e,
                                    const struct type_ref *want) NODISCARD;
/* e, which may be NULL; as a collection of that type when it has none. */
const struct bound_expr *bind_array_as(struct binder *b, const struct bound_expr *e,
                                       const struct type_ref *type) NODISCARD;
/* Makes two collections whose items may meet have one type. */
bool bind_meet_collections(struct binder *b, const struct bound_expr **left,
                           const struct bound_expr **right) NODISCARD;

/* bind_member.c: names and paths */

/* What a path in an expression leads to. */
struct member_path {
    struct source *source;               /* the entity so far */
    const struct navigation *collection; /* a to-many navigation from source: the end */
    const struct entity_type *cast;      /* of collection or set: to this type, or NULL */
    const struct bound_expr *value;      /* a property; NULL while it is an entity */
    const struct entity_set *set;        /* $root/Set: the end */
    /* Entities that were addressed by a key on the way: subqueries, in each other. */
    struct bound_expr *outermost;
    struct bound_expr *innermost;
};
/* The value of an expression that starts where the path ends. */
const struct bound_expr *bind_member_end(const struct member_path *path,
                                         const struct bound_expr *value) NODISCARD;

bool bind_member_path(struct binder *b, const struct scope *s, const struct expr *e,
                      struct member_path *out) NODISCARD;
const struct bound_expr *bind_member(struct binder *b, const struct scope *s,
                                     const struct expr *e) NODISCARD;

/* A part of a complex property: the same column, one attribute further in. */
const struct bound_expr *bind_part_expr(struct binder *b, const struct bound_expr *whole,
                                        const struct property *part) NODISCARD;

/* The entity of a source as a whole. */
const struct bound_expr *bind_entity_expr(struct binder *b, const struct source *source) NODISCARD;

/* The current instance: what $this means, and what functions without an operand take. */
const struct bound_expr *bind_current(struct binder *b, const struct scope *s) NODISCARD;

/* bind_cast.c: cast(...) and isof(...) */

/* from as a value of type, or null: for types between which there is a way. */
const struct bound_expr *bind_new_cast(struct binder *b, const struct bound_expr *from,
                                       const struct type_ref *type) NODISCARD;
const struct bound_expr *bind_cast(struct binder *b, const struct scope *s,
                                   const struct expr *e) NODISCARD;

/* bind_regex.c: a pattern of ECMAScript, which is at `offset`, as one of PostgreSQL. */
const struct bound_expr *bind_regex(struct binder *b, const struct scope *s, size_t offset,
                                    const struct bound_expr *pattern) NODISCARD;

/* bind_function.c */

const struct bound_expr *bind_call(struct binder *b, const struct scope *s,
                                   const struct expr *e) NODISCARD;

/* bind_position.c: isroot and the other functions of the namespace Org.OData.Aggregation.V1 */

/* rollupnode(): the node that rows are being aggregated for, an entity joined to them. */
bool bind_is_rollup_node(const struct expr *e);
struct source *bind_rollup_node(struct binder *b, const struct scope *s,
                                const struct expr *e) NODISCARD;
bool bind_is_hierarchy_call(const struct expr *e);
const struct bound_expr *bind_hierarchy_call(struct binder *b, const struct scope *s,
                                             const struct expr *e) NODISCARD;

/* bind_lambda.c */

/* e is a `/$filter(...)` behind a collection (URL Conventions 4.12); e->base, the collection, may
 * be NULL. So may e, which then is none. */
bool bind_is_filter_segment(const struct expr *e);
/* An item of the collection over->args[0]; over->number is its variable. */
const struct bound_expr *bind_element(struct binder *b, const struct bound_expr *over) NODISCARD;

const struct bound_expr *bind_lambda(struct binder *b, const struct scope *s,
                                     const struct expr *e) NODISCARD;
const struct bound_expr *bind_count(struct binder *b, const struct scope *s,
                                    const struct expr *e) NODISCARD;

/* bind_key.c */

/* The parent of a navigation says this property of the key already (URL Conventions 4.3.2). */
bool bind_key_is_said(const struct navigation *via, const struct property *p);
/* Binds the key predicate of a segment; step->via tells what the parent says already. */
bool bind_key(struct binder *b, const struct segment *segment, struct path_step *step) NODISCARD;

/* bind_select.c */

struct selection *bind_selection(struct binder *b, struct source *source,
                                 const struct query *q) NODISCARD;

/* What is selected of entities of a derived type, which may be nothing yet. NULL: the arena. */
struct cast_selection *bind_cast_selection(struct binder *b, struct source *source,
                                           const struct entity_type *type,
                                           struct selection *selection) NODISCARD;

/* bind_expand.c */

bool bind_expand(struct binder *b, struct source *source, const struct query *q,
                 struct selection *selection) NODISCARD;

/* bind_derived.c: types and sources that are made for one request */

/* A property for a value: its column is a new name that no column of `beside` has (or NULL). */
bool bind_new_property(struct binder *b, const struct entity_type *beside, struct str name,
                       const struct bound_expr *value, struct property *out) NODISCARD;
/* 400 when t has a member of this name. */
bool bind_check_alias(struct binder *b, const struct clause *c, const struct entity_type *t,
                      struct str alias, size_t offset) NODISCARD;
/* 400 or 501 when a property cannot hold the value. */
bool bind_check_value(struct binder *b, const struct clause *c, const struct expr *e,
                      const struct bound_expr *value) NODISCARD;
/* from with more properties; the columns of all the others stay. NULL when memory is short. */
const struct entity_type *bind_extend_type(struct binder *b, const struct entity_type *from,
                                           const struct property *more, size_t count) NODISCARD;

/* bind_nested.c */

/* What a to-one navigation leads to, as a root: its rows may be made for the request. NULL fills
   the error. */
struct source *bind_target_rows(struct binder *b, const struct navigation *n) NODISCARD;

/* bind_these.c */

/* base/aggregate(...) */
const struct bound_expr *bind_aggregated(struct binder *b, const struct scope *s,
                                         const struct expr *e) NODISCARD;

/* bind_compute.c */

/* The rows of `from` with the items as further properties; $it moves along. NULL fills the error. */
struct source *bind_compute(struct binder *b, const struct clause *c, struct source *from,
                            const struct compute_item *items, size_t count) NODISCARD;

/* bind_apply.c */

/* The rows that $apply makes of the rows of read, as the rows of read. */
bool bind_apply(struct binder *b, const struct sequence *s, struct read *read) NODISCARD;

/* bind_paging.c */

/* The fewest of the three limits there are for a page of read; 0: none. */
uint64_t bind_page_size(const struct binder *b, const struct read *read);
/* $top, $skip, $count, $skiptoken and the page's limit, and the order that they need. */
bool bind_paging(struct binder *b, const struct query *q, struct read *read) NODISCARD;
/*
 * The check of tokens that go on with an expanded collection, at the path of one parent: what
 * bind_paging() accepts there, whatever the parent's key.
 */
uint64_t bind_nested_check(struct binder *b, const struct source *parent,
                           const struct navigation *via, const struct read *read,
                           const struct query *q);

/* bind_next.c */

/*
 * Path and options of the request for the rows of an expanded collection. options may be NULL;
 * levels is what is left of $levels, this level included. False: the arena.
 */
bool bind_nested_next(struct binder *b, const struct query *options, uint64_t levels, bool ref,
                      struct expansion *x) NODISCARD;

/* bind_orderby.c */

/* Order by the items of q and then, when total, by the key. */
bool bind_order(struct binder *b, const struct scope *s, const struct query *q, bool total,
                struct read *read) NODISCARD;

/* bind_values.c */

/*
 * Options of a collection of values. `$it` is the item when it_is_item.
 * out->value is NULL when q says nothing about the items, out->count always counts those of $filter.
 */
bool bind_values_options(struct binder *b, struct source *root, const struct bound_expr *collection,
                         const struct query *q, bool it_is_item,
                         struct selected_values *out) NODISCARD;

/* bind_search.c */

/*
 * $search and $filter of q as one condition on the rows of root: *out_condition is NULL when there
 * is neither. it_is_near as in struct scope. False fills err.
 */
bool bind_rows_condition(struct binder *b, struct source *root, const struct query *q,
                         bool it_is_near, const struct bound_expr **out_condition) NODISCARD;
/* $search of q alone, which it has. */
const struct bound_expr *bind_search(struct binder *b, const struct source *root,
                                     const struct query *q) NODISCARD;
/*
 * Whether the best match comes first: nothing else is asked, and the rows' text need not be taken
 * apart anew for it. Without an index, the rank of every row would be computed and sorted before
 * the first one is sent.
 */
bool bind_is_ranked(const struct source *root, const struct query *q);

/* How well a row of root matches q's $search, which bind_rows_condition() has checked. */
const struct bound_expr *bind_rank(struct binder *b, const struct source *root,
                                   const struct query *q) NODISCARD;

/* bind_path.c */

/* What a resource path leads to. */
struct bound_path {
    enum plan_kind kind;
    struct read *read;               /* NULL for the service document and $metadata */
    const struct property *property; /* the last one of a property path */
    bool ref;                        /* /$ref */
    bool optional;                   /* the last step is to one: there may be no entity */
};

bool bind_path(struct binder *b, const struct resource_path *path,
               struct bound_path *out) NODISCARD;

/* bind_crossjoin.c */

/*
 * The rows of $crossjoin(A,B), with their sets joined. NULL fills err: 404 for a set that is not
 * there, 400 for one that is named twice.
 */
struct source *bind_crossjoin(struct binder *b, const struct segment *s) NODISCARD;
/* 404, with what was perhaps meant. Returns false. */
bool bind_fail_set(struct binder *b, struct str name);

/* bind_context.c */

/* The context URL's fragment (Protocol 10). */
/* The fragment of the context URL of rows that are made inside of others; q: their options. */
bool bind_rows_context(struct binder *b, const struct read *read, const struct query *q,
                       struct str *out_fragment) NODISCARD;
bool bind_context(struct binder *b, const struct bound_path *path, const struct query *q,
                  struct str *out_fragment) NODISCARD;

/* bind_hash.c */

/* A hash over the names, operators and values of an expression, aliases resolved. */
uint64_t bind_hash_expr(struct binder *b, uint64_t hash, const struct expr *e);

#endif

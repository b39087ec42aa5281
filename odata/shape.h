// SPDX-License-Identifier: Apache-2.0
/*
 * shape - how the fields of a row become the members of a JSON object.
 *
 * A shape is made once a request, by whoever knows the order of the result's columns
 * (storage/read_shape.c), and walked once a row by odata/feed_writer.c: no look-up, no allocation
 * and no decision by name is left for the row.
 *
 * Owns: nothing; shapes live in the request's arena.
 */
#ifndef ODATA_SHAPE_H
#define ODATA_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/bytes.h"
#include "odata/str.h"

/* One field of a row, in the text form of whoever read it; len < 0 is null. Borrowed. */
struct field {
    const char *ptr;
    int32_t len;
};

struct value_form;

/*
 * Appends the JSON form of one value that is not null. The text need not end in NUL. What cannot be
 * read as its type sets out->failed: a wrong value must never go out.
 */
typedef void (*value_write_fn)(struct bytes *out, const char *text, size_t len,
                               const struct value_form *form);

/* A member of a composite value. */
struct form_member {
    struct str label; /* `"City":`, escaped, ready to copy */
    const struct value_form *form;
};

/* How one value is written. */
struct value_form {
    value_write_fn write;
    const struct value_form *element;  /* of a collection's items */
    const struct form_member *members; /* of a composite */
    size_t member_count;
    size_t hidden_count; /* for use by the write function's module */
    const void *extra;   /* for use by the write function's module */
};

/*
 * A URL that is made from a row's key: prefix, key predicate, suffix, e.g.
 * `http://host/Products` + `(1)` + `/Category`.
 */
struct row_link {
    struct str prefix; /* JSON-escaped already */
    struct str suffix; /* JSON-escaped already */
    struct link_key {
        struct str name;               /* `ID=`; "" when the key is one property */
        unsigned field;                /* the field that holds the value */
        const struct value_form *form; /* writes the value as a URL literal, percent-encoded */
    } * keys;
    size_t key_count;
};

/*
 * The page of an expanded collection: behind `rows` of them comes a link to the rest, when there is
 * one: the id of the parent's row, what asks for the same rows, and a skip token.
 */
struct nested_page {
    uint64_t rows;
    struct str label;             /* `"Items@odata.nextLink":` */
    const struct row_link *link;  /* of the parent's row, up to and including `$skiptoken=` */
    const unsigned *token_fields; /* of the collection's rows: order values, then key */
    size_t token_field_count;
    uint64_t token_check;
};

enum member_kind {
    MEMBER_VALUE,    /* label, then field by form; null when the field is null */
    MEMBER_CONSTANT, /* label only: it holds the value as well, e.g. `"@odata.type":"#NS.T"` */
    MEMBER_LINK,     /* label, then the quoted link */
    MEMBER_COUNT,    /* label, then field as a number: `"Items@odata.count":3` */
    MEMBER_TO_ONE,   /* label, then the object of shape, or null when field is null */
    MEMBER_OBJECT,   /* label, then the object of shape, which is always there */
    MEMBER_TO_MANY,  /* label, then the array of the rows of level, each of shape */
};

struct member {
    enum member_kind kind;
    struct str label; /* `"Name":`, escaped, without a comma: ready to copy */
    unsigned field;   /* VALUE, COUNT; TO_ONE: a field that is null when there is no entity */
    bool omits_null;  /* VALUE, TO_ONE: not written when field is null */
    bool collection_null_is_empty;  /* VALUE: a null collection is written as [] */
    const struct value_form *form;  /* VALUE */
    const struct row_link *link;    /* LINK */
    const struct shape *shape;      /* TO_ONE, OBJECT, TO_MANY */
    unsigned level;                 /* TO_MANY: which level of the row source */
    const struct nested_page *page; /* TO_MANY: NULL: all rows */
    /* In which variants of the shape it is, so far as not all: bit i says variant i, or the range
       does, which ends before kinds_end. */
    uint64_t structures; /* 0: in all */
    unsigned kinds_from;
    unsigned kinds_end; /* 0: in all */
};

struct shape {
    const struct member *members; /* all that a row can have */
    size_t count;
    /* Rows that differ in their members: the number in a field says which variant a row is. */
    const struct shape *variants;
    size_t variant_count; /* 0: every row is as members say */
    unsigned variant_field;
    const struct str *kind_names; /* variants are types of a hierarchy: theirs; else NULL */
};

#endif

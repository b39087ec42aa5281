// SPDX-License-Identifier: Apache-2.0
/*
 * data - the rows of odata.net's serializer benchmark (its issue 2182), in two forms: as values,
 * and as the text that libpq would give.
 *
 * Owns: everything, from data_new() to data_free().
 */
#ifndef LOADTEST_SERIALIZER_DATA_H
#define LOADTEST_SERIALIZER_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "odata/arena.h"
#include "odata/shape.h"
#include "odata/str.h"

enum data_kind {
    DATA_V1,
    DATA_V2,
    DATA_V3,
    DATA_V3_LARGE,
};

enum data_field {
    FIELD_ID,
    FIELD_NAME,
    FIELD_EMAILS,
    FIELD_BIO,     /* V3 */
    FIELD_CONTENT, /* V3 */
    FIELD_HOME,
    FIELD_ADDRESSES,
    FIELD_COUNT,
};

struct address {
    struct str city;
    struct str misc; /* V3 */
    struct str street;
};

struct customer {
    int id;
    struct str name;
    struct str emails[2];
    struct str bio;
    struct str content; /* octets */
    struct address home;
    struct address addresses[2];
    struct field fields[FIELD_COUNT]; /* the same as PostgreSQL's text forms */
};

struct data {
    enum data_kind kind;
    struct arena arena;
    struct customer *customers;
    size_t count;
};

/* V3 and V3_LARGE. */
static inline bool data_is_v3(const struct data *d)
{
    return d->kind == DATA_V3 || d->kind == DATA_V3_LARGE;
}

#define DATA_CONTEXT "https://services.odata.org/V4/OData/OData.svc/$metadata#Customers"

/* NULL when memory is short. */
struct data *data_new(enum data_kind kind, size_t count);
void data_free(struct data *d);

#endif

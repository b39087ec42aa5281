// SPDX-License-Identifier: Apache-2.0
/*
 * read_fixture - a pool on the tests' PostgreSQL, and reads that are waited for.
 */
#ifndef TESTS_STORAGE_READ_FIXTURE_H
#define TESTS_STORAGE_READ_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libpq-fe.h>

#include "odata/bytes.h"
#include "odata/row_source.h"
#include "storage/db_read.h"
#include "storage/pool.h"
#include "tests/support/test_reactor.h"

struct fixture {
    struct test_reactor *reactor;
    struct pool_budget *budget;
    const struct fixture *beside; /* whose reactor and budget it uses; NULL: its own */
    struct pool *pool;
    PGconn *admin; /* blocking, beside the pool */
    unsigned ups;
    unsigned downs;
    unsigned cancels;
    unsigned stales;
    unsigned notices;
    const struct db_rights *rights; /* of the readers that are opened next */
};

/* Pool options that suit most tests. */
struct pool_options fixture_options(void);

/* A pool with `size` connections at most, and all that it needs. options: with any budget. */
void fixture_open(struct fixture *f, const struct pool_options *options, size_t size);
/* Two pools that share `size` connections; g is closed first. */
void fixture_open_two(struct fixture *f, struct fixture *g, size_t size);
void fixture_close(struct fixture *f);

/* Runs SQL beside the pool; the first value of its result in a static buffer. */
const char *fixture_admin(struct fixture *f, const char *sql);

/* Backends of the pool that are not idle. */
int fixture_busy_backends(struct fixture *f);

/* Turns the loop until none of them is busy. False after timeout_ms. */
bool fixture_wait_quiet(struct fixture *f, int64_t timeout_ms);

struct reader {
    struct fixture *f;
    struct db_read *read;
    bool in_call; /* wake() must not come then */
    unsigned woken;
    struct odata_error err;
};

/* False: err says why. */
bool reader_open(struct reader *r, struct fixture *f, const struct sql_read *sql);
void reader_close(struct reader *r);

/* Without waiting. */
enum step reader_try(struct reader *r, unsigned level, const struct field **out_fields);

/* Turns the loop until it is not AGAIN; fails the test after 20 s. */
enum step reader_next(struct reader *r, unsigned level, const struct field **out_fields);
enum step reader_count(struct reader *r, int64_t *out_count);

/*
 * All rows as text: fields joined by ',', then the children of each child level in parentheses,
 * each row ended by ';'. Nulls are '~'. Returns the step that ended it.
 */
enum step reader_dump(struct reader *r, const struct sql_read *sql, struct bytes *out);

/* Opens, dumps and closes; the text in a static buffer, or "STATUS CODE" of the failure. */
const char *read_text(struct fixture *f, const struct sql_read *sql);

/* A read of one level without parameters. */
struct simple_read {
    struct sql_read read;
    struct sql_level level;
};
void simple_init(struct simple_read *s, const char *sql, size_t fields, uint64_t row_limit);

#endif

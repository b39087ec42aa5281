// SPDX-License-Identifier: Apache-2.0
/*
 * db_rights - as whom a read asks PostgreSQL: a role, and claims that its policies may look at.
 *
 * Both hold for one transaction: they are its first statement, by parameter, and end with it. So a
 * connection that is in no transaction has the rights of the role that logged in, and nobody
 * else's. Row-level security looks at the role at each FETCH: it is never changed in between.
 *
 * Owns: nothing; the texts are the caller's.
 */
#ifndef STORAGE_DB_RIGHTS_H
#define STORAGE_DB_RIGHTS_H

#include <stdint.h>

#include "odata/odata_error.h"
#include "storage/conn.h"

enum {
    DB_RIGHTS_OF_LOGIN = 0, /* an id: the login role's, nothing is sent */
};

struct db_rights {
    /* The same number means the same role and the same claims, for as long as the pool is there:
       reads of one number may share a transaction, others never do. Not 0. */
    uint64_t id;
    const char *role;
    const char *claims; /* JSON; policies read it with current_setting('request.jwt.claims') */
};

static inline uint64_t db_rights_id(const struct db_rights *rights)
{
    return rights == NULL ? DB_RIGHTS_OF_LOGIN : rights->id;
}

/*
 * Of a statement's text, as it is kept for these rights: a plan that was made for one role is used
 * by no other, and what is known of its speed is known of that role's rows.
 */
uint64_t db_rights_hash(const struct db_rights *rights, const char *text);

/*
 * Sends what gives the transaction these rights, first in it, when the group that is being sent has
 * others (conn.rights_id). One row comes back, to client with arg. NULL: nothing is sent.
 */
void db_rights_send(const struct db_rights *rights, struct conn *conn, struct conn_client *client,
                    void *arg);

/* A role that could not be taken, as the client is told (403); PostgreSQL's words are for the log. */
void db_rights_refused(struct odata_error *err, const char *sqlstate, const char *text);

#endif

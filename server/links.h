// SPDX-License-Identifier: Apache-2.0
/*
 * links - the absolute URLs that a response carries: service root and next link.
 *
 * The root is the configured one, or what the client's own Host says, or, from a proxy that is
 * trusted, what its Forwarded or X-Forwarded-* fields say (RFC 7239). What an untrusted peer
 * forwards is not looked at.
 *
 * Owns: nothing; results live in the arena.
 */
#ifndef SERVER_LINKS_H
#define SERVER_LINKS_H

#include <stdbool.h>

#include "odata/arena.h"
#include "odata/odata_error.h"
#include "odata/str.h"
#include "server/http_head.h"

struct links_options {
    struct str base_url;  /* ends in '/'; "" = from the request */
    struct str base_path; /* begins and ends in '/' */
    struct str fallback;  /* host:port for an HTTP/1.0 request without Host */
};

/*
 * The absolute service root, ending in '/'. trusted: the peer is a proxy whose word counts.
 * False fills err: 400 BadHeader for a host that is none.
 */
bool links_service_root(struct arena *a, const struct links_options *options,
                        const struct http_head *head, bool trusted, struct str *out_root,
                        struct odata_error *err) NODISCARD;

/* The nearest proxy says that the client came by https; only a trusted one's word counts. */
bool links_is_https(const struct http_head *head);

/*
 * The next link up to and including `$skiptoken=`: root, the request's own path (raw, relative to
 * the root) and its options without the old skip token. Bytes that may not stand in a URL are
 * percent-encoded, so that the link is one whatever the client had typed.
 */
bool links_next_url(struct arena *a, struct str root, struct str raw_path, struct str raw_query,
                    struct str *out_url, struct odata_error *err) NODISCARD;

/*
 * The options of raw_query that links to parts of the answer keep: those of
 * query_option_is_general(), each with a '&' behind it.
 */
bool links_kept_query(struct arena *a, struct str raw_query, struct str *out_query,
                      struct odata_error *err) NODISCARD;

/* `$metadata` below root, and `#fragment` when there is one. */
bool links_context_url(struct arena *a, struct str root, struct str fragment, struct str *out_url,
                       struct odata_error *err) NODISCARD;

/* host, host:port or [address]:port, of characters that a host may have. */
bool links_is_host(struct str host);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * odata_error - one failure, as the client will read it (OData 4.01 Protocol 9.4).
 *
 * A failure is described once, where it is understood, and handed up unchanged.
 */
#ifndef ODATA_ODATA_ERROR_H
#define ODATA_ODATA_ERROR_H

#include <stdbool.h>

#include "odata/compiler.h"

/* Codes a client may switch on; each belongs to one kind of failure. */
#define ODATA_CODE_BAD_REQUEST          "BadRequest"
#define ODATA_CODE_BAD_URL              "BadUrl"
#define ODATA_CODE_BAD_PATH             "BadPath"
#define ODATA_CODE_BAD_KEY              "BadKey"
#define ODATA_CODE_BAD_QUERY_OPTION     "BadQueryOption"
#define ODATA_CODE_BAD_FILTER           "BadFilter"
#define ODATA_CODE_BAD_ORDERBY          "BadOrderBy"
#define ODATA_CODE_BAD_SELECT           "BadSelect"
#define ODATA_CODE_BAD_EXPAND           "BadExpand"
#define ODATA_CODE_BAD_COMPUTE          "BadCompute"
#define ODATA_CODE_BAD_APPLY            "BadApply"
#define ODATA_CODE_BAD_SEARCH           "BadSearch"
#define ODATA_CODE_BAD_SKIP_TOKEN       "BadSkipToken"
#define ODATA_CODE_BAD_HEADER           "BadHeader"
#define ODATA_CODE_BAD_VALUE            "BadValue"
#define ODATA_CODE_REQUEST_TOO_COMPLEX  "RequestTooComplex"
#define ODATA_CODE_UNAUTHORIZED         "Unauthorized"
#define ODATA_CODE_TOO_MANY_REQUESTS    "TooManyRequests"
#define ODATA_CODE_INVALID_TOKEN        "InvalidToken"
#define ODATA_CODE_FORBIDDEN            "Forbidden"
#define ODATA_CODE_NOT_FOUND            "NotFound"
#define ODATA_CODE_METHOD_NOT_ALLOWED   "MethodNotAllowed"
#define ODATA_CODE_NOT_ACCEPTABLE       "NotAcceptable"
#define ODATA_CODE_CONFLICT             "Conflict"
#define ODATA_CODE_GONE                 "Gone"
#define ODATA_CODE_PRECONDITION_FAILED  "PreconditionFailed"
#define ODATA_CODE_PAYLOAD_TOO_LARGE    "PayloadTooLarge"
#define ODATA_CODE_URI_TOO_LONG         "UriTooLong"
#define ODATA_CODE_HEADERS_TOO_LARGE    "HeadersTooLarge"
#define ODATA_CODE_UNSUPPORTED_MEDIA    "UnsupportedMediaType"
#define ODATA_CODE_NOT_IMPLEMENTED      "NotImplemented"
#define ODATA_CODE_INTERNAL             "InternalError"
#define ODATA_CODE_BAD_DATA             "BadData"
#define ODATA_CODE_DATABASE_UNAVAILABLE "DatabaseUnavailable"
#define ODATA_CODE_DATABASE_BUSY        "DatabaseBusy"
#define ODATA_CODE_DATABASE_TIMEOUT     "DatabaseTimeout"
#define ODATA_CODE_MODEL_CHANGED        "ModelChanged"
#define ODATA_CODE_SERVICE_UNAVAILABLE  "ServiceUnavailable"

struct odata_error {
    int http_status;    /* 4xx or 5xx; 0 while there is no error */
    const char *code;   /* static text, one of ODATA_CODE_* */
    int retry_after_s;  /* for Retry-After; 0 when there is none */
    char message[256];  /* for a person: what was found, at which byte, what was expected */
    char target[128];   /* property path or query option, "" when there is none */
    char internal[256]; /* for the log only, never sent: SQLSTATE and PostgreSQL's own words */
};

/* Fills err and returns false, so that a caller can `return odata_error_set(...)`. */
bool odata_error_set(struct odata_error *err, int http_status, const char *code, const char *target,
                     const char *fmt, ...) PRINTF_LIKE(5, 6);

/* Adds "; ..." to the message: what the client may have meant. Left out when it does not fit whole.
   Returns false. */
bool odata_error_hint(struct odata_error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* A limit of what one request may use was reached: 400 RequestTooComplex. Returns false. */
bool odata_error_too_complex(struct odata_error *err);

/* malloc has failed: 503 ServiceUnavailable, to be tried again after a second. Returns false. */
bool odata_error_out_of_memory(struct odata_error *err);

/* An option, operator or function that the standard has and we do not yet: 501. Returns false. */
bool odata_error_not_implemented(struct odata_error *err, const char *target, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "odata/odata_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

PRINTF_LIKE(5, 0)
static void fill(struct odata_error *err, int http_status, const char *code, const char *target,
                 const char *fmt, va_list args)
{
    *err = (struct odata_error){.http_status = http_status, .code = code};
    vsnprintf(err->message, sizeof(err->message), fmt, args);
    snprintf(err->target, sizeof(err->target), "%s", target);
}

bool odata_error_set(struct odata_error *err, int http_status, const char *code, const char *target,
                     const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, http_status, code, target, fmt, args);
    va_end(args);
    return false;
}

bool odata_error_hint(struct odata_error *err, const char *fmt, ...)
{
    char hint[sizeof(err->message)];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(hint, sizeof(hint), fmt, args);
    va_end(args);
    size_t used = strlen(err->message);
    size_t room = sizeof(err->message) - used;
    if (len >= 0 && (size_t)len + sizeof("; ") <= room) {
        snprintf(err->message + used, room, "; %s", hint);
    }
    return false;
}

bool odata_error_too_complex(struct odata_error *err)
{
    return odata_error_set(err, 400, ODATA_CODE_REQUEST_TOO_COMPLEX, "",
                           "the request needs more memory than one request may use");
}

bool odata_error_out_of_memory(struct odata_error *err)
{
    odata_error_set(err, 503, ODATA_CODE_SERVICE_UNAVAILABLE, "", "memory is short");
    err->retry_after_s = 1;
    return false;
}

bool odata_error_not_implemented(struct odata_error *err, const char *target, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, 501, ODATA_CODE_NOT_IMPLEMENTED, target, fmt, args);
    va_end(args);
    return false;
}

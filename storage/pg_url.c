// SPDX-License-Identifier: Apache-2.0
/* The values of keys as URL literals, and of $value as raw text: the bare forms of pg_value. */
#include <string.h>

#include "storage/pg_value.h"
#include "storage/pg_value_priv.h"

typedef void (*put_fn)(struct bytes *out, const char *text, size_t len);

enum {
    /* No bare form that has to be percent-encoded is longer: a float, a time, a duration. */
    SHORT_BYTES = 64,
};

/* RFC 3986, 2.3: what needs no percent-encoding anywhere. */
static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || pg_is_digit(c) || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/* Percent-encoded; what comes out is safe in JSON, too. */
static void put_percent_encoded(struct bytes *out, const char *text, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_unreserved(text[i])) {
            bytes_put_char(out, text[i]);
            continue;
        }
        const char encoded[3] = {'%', digits[c >> 4], digits[c & 15]};
        bytes_put(out, encoded, sizeof(encoded));
    }
}

/* A bare form, percent-encoded. */
static void put_encoded_form(struct bytes *out, const char *text, size_t len, put_fn put)
{
    char room[SHORT_BYTES];
    struct bytes bare = {.ptr = room, .cap = sizeof(room), .limit = sizeof(room)};
    put(&bare, text, len);
    out->failed = out->failed || bytes_failed(&bare);
    put_percent_encoded(out, bare.ptr, bare.len);
}

/* `'O%27%27Neil'`: quotes in it doubled (ABNF SQUOTE-in-string). */
static void put_string(struct bytes *out, const char *text, size_t len)
{
    struct str rest = {text, len};
    bytes_put_char(out, '\'');
    for (;;) {
        size_t quote = str_find(rest, '\'', 0);
        put_percent_encoded(out, rest.ptr, quote);
        if (quote == rest.len) {
            break;
        }
        BYTES_PUT_LITERAL(out, "%27%27");
        rest = str_from_offset(rest, quote + 1);
    }
    bytes_put_char(out, '\'');
}

static void url_string(struct bytes *out, const char *text, size_t len,
                       const struct value_form *form)
{
    (void)form;
    put_string(out, text, len);
}

static void url_bpchar(struct bytes *out, const char *text, size_t len,
                       const struct value_form *form)
{
    (void)form;
    put_string(out, text, pg_bpchar_length(text, len));
}

static void url_bool(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    pg_put_bool(out, text, len);
}

static void url_integer(struct bytes *out, const char *text, size_t len,
                        const struct value_form *form)
{
    (void)form;
    pg_put_integer(out, text, len);
}

static void url_numeric(struct bytes *out, const char *text, size_t len,
                        const struct value_form *form)
{
    (void)form;
    pg_put_numeric(out, text, len);
}

static void url_money(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form)
{
    (void)form;
    pg_put_money(out, text, len);
}

static void url_float(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form)
{
    (void)form;
    put_encoded_form(out, text, len, pg_put_float); /* 1e+30 */
}

static void url_uuid(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    pg_put_uuid(out, text, len);
}

static void url_date(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    pg_put_date(out, text, len);
}

static void url_timestamp(struct bytes *out, const char *text, size_t len,
                          const struct value_form *form)
{
    (void)form;
    put_encoded_form(out, text, len, pg_put_timestamp);
}

static void url_time(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    put_encoded_form(out, text, len, pg_put_time);
}

static void url_interval(struct bytes *out, const char *text, size_t len,
                         const struct value_form *form)
{
    (void)form;
    BYTES_PUT_LITERAL(out, "duration'");
    pg_put_interval(out, text, len);
    bytes_put_char(out, '\'');
}

static void url_bytea(struct bytes *out, const char *text, size_t len,
                      const struct value_form *form)
{
    (void)form;
    /* Of base64url only the padding is reserved, and '=' may stand in a path segment. */
    BYTES_PUT_LITERAL(out, "binary'");
    pg_put_base64url(out, text, len);
    bytes_put_char(out, '\'');
}

/* By Edm type; those without a form are no key (CSDL 6.5). */
static const struct value_form url_forms[EDM_TYPE_COUNT] = {
    [EDM_BINARY] = {.write = url_bytea},
    [EDM_BOOLEAN] = {.write = url_bool},
    [EDM_BYTE] = {.write = url_integer},
    [EDM_DATE] = {.write = url_date},
    [EDM_DATETIMEOFFSET] = {.write = url_timestamp},
    [EDM_DECIMAL] = {.write = url_numeric},
    [EDM_DOUBLE] = {.write = url_float},
    [EDM_DURATION] = {.write = url_interval},
    [EDM_GUID] = {.write = url_uuid},
    [EDM_INT16] = {.write = url_integer},
    [EDM_INT32] = {.write = url_integer},
    [EDM_INT64] = {.write = url_integer},
    [EDM_SBYTE] = {.write = url_integer},
    [EDM_SINGLE] = {.write = url_float},
    [EDM_STRING] = {.write = url_string},
    [EDM_TIMEOFDAY] = {.write = url_time},
    [EDM_ENUM] = {.write = url_string},
};

static const struct value_form url_bpchar_form = {.write = url_bpchar};
static const struct value_form url_money_form = {.write = url_money};

const struct value_form *pg_value_url_form(const struct type_ref *type,
                                           const struct pg_type_ref *pg)
{
    if (type->collection) {
        return NULL;
    }
    if (type->type == EDM_STRING && pg->oid == PG_OID_BPCHAR) {
        return &url_bpchar_form;
    }
    if (type->type == EDM_DECIMAL && pg->oid == PG_OID_MONEY) {
        return &url_money_form;
    }
    const struct value_form *form = &url_forms[type->type];
    return form->write == NULL ? NULL : form;
}

static void raw_text(struct bytes *out, const char *text, size_t len)
{
    bytes_put(out, text, len);
}

static void raw_bpchar(struct bytes *out, const char *text, size_t len)
{
    bytes_put(out, text, pg_bpchar_length(text, len));
}

static const put_fn raw_forms[EDM_TYPE_COUNT] = {
    [EDM_BINARY] = pg_put_octets,   [EDM_BOOLEAN] = pg_put_bool,
    [EDM_BYTE] = pg_put_integer,    [EDM_DATE] = pg_put_date,
    [EDM_DECIMAL] = pg_put_numeric, [EDM_DATETIMEOFFSET] = pg_put_timestamp,
    [EDM_DOUBLE] = pg_put_float,    [EDM_DURATION] = pg_put_interval,
    [EDM_GUID] = pg_put_uuid,       [EDM_INT16] = pg_put_integer,
    [EDM_INT32] = pg_put_integer,   [EDM_INT64] = pg_put_integer,
    [EDM_SBYTE] = pg_put_integer,   [EDM_SINGLE] = pg_put_float,
    [EDM_STREAM] = pg_put_octets,   [EDM_STRING] = raw_text,
    [EDM_TIMEOFDAY] = pg_put_time,  [EDM_UNTYPED] = raw_text,
    [EDM_GEOGRAPHY] = raw_text,     [EDM_GEOMETRY] = raw_text,
    [EDM_ENUM] = raw_text,
};

pg_value_raw_fn pg_value_raw(const struct type_ref *type, const struct pg_type_ref *pg)
{
    if (type->collection) {
        return NULL;
    }
    if (type->type == EDM_STRING && pg->oid == PG_OID_BPCHAR) {
        return raw_bpchar;
    }
    if (type->type == EDM_DECIMAL && pg->oid == PG_OID_MONEY) {
        return pg_put_money;
    }
    return raw_forms[type->type];
}

// SPDX-License-Identifier: Apache-2.0
#include "loadtest/serializer/data.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "odata/bytes.h"

/* U+10005 and a with diaeresis. */
#define SPECIAL " \xf0\x90\x80\x85 \xc3\xa4"

enum {
    LARGE_UNITS = 1048576, /* UTF-16 units of Bio, and octets of Content */
    SMALL_OCTETS = 5,
};

/* Text under construction, copied to the arena when it is whole. */
struct builder {
    struct data *data;
    struct bytes text;
    bool failed;
};

static struct str take(struct builder *b)
{
    struct str copy = STR("");
    if (bytes_failed(&b->text) || !arena_copy(&b->data->arena, bytes_str(&b->text), &copy)) {
        b->failed = true;
    }
    bytes_clear(&b->text);
    return copy;
}

static struct str numbered(struct builder *b, const char *before, int i, const char *behind)
{
    bytes_put_str(&b->text, str_from(before));
    bytes_put_i64(&b->text, i);
    bytes_put_str(&b->text, str_from(behind));
    return take(b);
}

/* As array_out and record_out decide it, for the texts that are here. */
static bool needs_quotes(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (strchr(" \t\n\v\f\r\"\\(){},", s.ptr[i]) != NULL) {
            return true;
        }
    }
    return s.len == 0;
}

/* quote: what stands before a '"' inside, a backslash in arrays and another '"' in composites. */
static void put_item(struct bytes *out, struct str s, char quote)
{
    if (!needs_quotes(s)) {
        bytes_put_str(out, s);
        return;
    }
    bytes_put_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"') {
            bytes_put_char(out, quote);
        } else if (s.ptr[i] == '\\') {
            bytes_put_char(out, '\\');
        }
        bytes_put_char(out, s.ptr[i]);
    }
    bytes_put_char(out, '"');
}

static struct str array_text(struct builder *b, const struct str items[2])
{
    bytes_put_char(&b->text, '{');
    put_item(&b->text, items[0], '\\');
    bytes_put_char(&b->text, ',');
    put_item(&b->text, items[1], '\\');
    bytes_put_char(&b->text, '}');
    return take(b);
}

static struct str address_text(struct builder *b, const struct address *a)
{
    bytes_put_char(&b->text, '(');
    put_item(&b->text, a->city, '"');
    bytes_put_char(&b->text, ',');
    if (data_is_v3(b->data)) {
        put_item(&b->text, a->misc, '"');
        bytes_put_char(&b->text, ',');
    }
    put_item(&b->text, a->street, '"');
    bytes_put_char(&b->text, ')');
    return take(b);
}

static struct str octets_text(struct builder *b, struct str octets)
{
    static const char digits[] = "0123456789abcdef";
    BYTES_PUT_LITERAL(&b->text, "\\x");
    for (size_t i = 0; i < octets.len; i++) {
        unsigned char o = (unsigned char)octets.ptr[i];
        bytes_put_char(&b->text, digits[o >> 4]);
        bytes_put_char(&b->text, digits[o & 15]);
    }
    return take(b);
}

static struct str large_bio(struct builder *b, int id)
{
    bytes_put_str(&b->text, STR("Cust"));
    bytes_put_i64(&b->text, id);
    /* U+10005 is two units, the other letters are one each. */
    size_t units = b->text.len + strlen(" abcxyz123-_ ") + 2 + 2;
    BYTES_PUT_LITERAL(&b->text, " abcxyz123-_" SPECIAL);
    struct str once = take(b);
    for (size_t got = 0; got < LARGE_UNITS; got += units) {
        bytes_put_str(&b->text, once);
    }
    return take(b);
}

static struct str content(struct builder *b, int id)
{
    if (b->data->kind == DATA_V3) {
        const char octets[SMALL_OCTETS] = {1, 2, 3, 4, (char)(id % 256)};
        bytes_put(&b->text, octets, sizeof(octets));
        return take(b);
    }
    bytes_put_char(&b->text, (char)(id % 256));
    for (size_t k = 1; k < LARGE_UNITS; k++) {
        bytes_put_char(&b->text, (char)(k % 256));
    }
    return take(b);
}

static void fill_values(struct builder *b, struct customer *c)
{
    const int i = c->id;
    const bool v1 = b->data->kind == DATA_V1;
    const bool v3 = data_is_v3(b->data);
    c->name = numbered(b, "Cust", i, v1 ? "" : SPECIAL);
    c->emails[0] = numbered(b, v1 ? "emailA$" : "emailA@mailer.com", i, "");
    c->emails[1] = numbered(b, v1 ? "emailB" : "emailB@mailer.com", i, v1 ? " " : "");
    c->home.city = numbered(b, "City", i, v1 ? "" : SPECIAL);
    c->home.street = numbered(b, "Street", i, v1 ? "" : "\n\"escape this\"");
    c->addresses[0].city = numbered(b, "CityA", i, "");
    c->addresses[0].street = numbered(b, "StreetA", i, "");
    c->addresses[1].city = numbered(b, "CityB", i, "");
    c->addresses[1].street = numbered(b, v3 ? "StreetB" : "StreetA", i, "");
    if (v3) {
        c->home.misc = numbered(b, "This is a test", i, "");
        c->addresses[0].misc = numbered(b, "This is a test A", i, "");
        c->addresses[1].misc = numbered(b, "This is a test B", i, "");
        c->bio = b->data->kind == DATA_V3 ? numbered(b, "This is a bio ", i, "") : large_bio(b, i);
        c->content = content(b, i);
    }
}

static struct field field_of(struct str s)
{
    return (struct field){s.ptr, (int32_t)s.len};
}

static void fill_fields(struct builder *b, struct customer *c)
{
    c->fields[FIELD_ID] = field_of(numbered(b, "", c->id, ""));
    c->fields[FIELD_NAME] = field_of(c->name);
    c->fields[FIELD_EMAILS] = field_of(array_text(b, c->emails));
    c->fields[FIELD_BIO] = field_of(c->bio);
    c->fields[FIELD_CONTENT] = field_of(octets_text(b, c->content));
    c->fields[FIELD_HOME] = field_of(address_text(b, &c->home));
    const struct str addresses[2] = {address_text(b, &c->addresses[0]),
                                     address_text(b, &c->addresses[1])};
    c->fields[FIELD_ADDRESSES] = field_of(array_text(b, addresses));
}

struct data *data_new(enum data_kind kind, size_t count)
{
    struct data *d = calloc(1, sizeof(*d));
    if (d == NULL) {
        return NULL;
    }
    d->kind = kind;
    d->count = count;
    arena_init(&d->arena, SIZE_MAX / 2);
    struct builder b = {.data = d};
    bytes_init(&b.text, SIZE_MAX / 2);
    d->customers = ARENA_ARRAY(&d->arena, count, struct customer);
    for (size_t i = 0; d->customers != NULL && i < count; i++) {
        d->customers[i].id = (int)i + 1;
        fill_values(&b, &d->customers[i]);
        fill_fields(&b, &d->customers[i]);
    }
    bytes_fini(&b.text);
    if (b.failed || d->customers == NULL) {
        data_free(d);
        return NULL;
    }
    return d;
}

void data_free(struct data *d)
{
    if (d != NULL) {
        arena_fini(&d->arena);
        free(d);
    }
}

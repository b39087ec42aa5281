// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "loadtest/serializer/writers.h"
#include "odata/compiler.h"

struct tree {
    const struct data *data;
    cJSON *document;
};

/* Strings of the rows end in NUL in the arena that they live in. */
static bool add_string(cJSON *object, const char *name, struct str s)
{
    return cJSON_AddStringToObject(object, name, s.ptr) != NULL;
}

static cJSON *add_address(cJSON *address, const struct address *a, bool v3)
{
    bool made = address != NULL && add_string(address, "City", a->city) &&
                (!v3 || add_string(address, "Misc", a->misc)) &&
                add_string(address, "Street", a->street);
    return made ? address : NULL;
}

static bool add_base64(cJSON *object, struct str octets)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=";
    const unsigned pad = 64;
    char *text = malloc(octets.len / 3 * 4 + 5);
    if (text == NULL) {
        return false;
    }
    char *to = text;
    for (size_t i = 0; i < octets.len; i += 3) {
        unsigned group = 0;
        for (size_t k = 0; k < 3; k++) {
            group = group << 8 | (i + k < octets.len ? (unsigned char)octets.ptr[i + k] : 0U);
        }
        to[0] = letters[group >> 18 & 63];
        to[1] = letters[group >> 12 & 63];
        to[2] = letters[i + 1 < octets.len ? group >> 6 & 63 : pad];
        to[3] = letters[i + 2 < octets.len ? group & 63 : pad];
        to += 4;
    }
    *to = '\0';
    bool added = cJSON_AddStringToObject(object, "Content", text) != NULL;
    free(text);
    return added;
}

static bool add_customer(cJSON *rows, const struct customer *c, bool v3)
{
    cJSON *row = cJSON_CreateObject();
    if (row == NULL || !cJSON_AddItemToArray(rows, row)) {
        return false;
    }
    bool made =
        cJSON_AddNumberToObject(row, "Id", c->id) != NULL && add_string(row, "Name", c->name);
    cJSON *emails = cJSON_AddArrayToObject(row, "Emails");
    made = made && cJSON_AddItemToArray(emails, cJSON_CreateString(c->emails[0].ptr)) &&
           cJSON_AddItemToArray(emails, cJSON_CreateString(c->emails[1].ptr));
    made = made && (!v3 || (add_string(row, "Bio", c->bio) && add_base64(row, c->content)));
    made = made && add_address(cJSON_AddObjectToObject(row, "HomeAddress"), &c->home, v3) != NULL;
    cJSON *addresses = cJSON_AddArrayToObject(row, "Addresses");
    for (size_t i = 0; made && i < ARRAY_SIZE(c->addresses); i++) {
        made = cJSON_AddItemToArray(addresses,
                                    add_address(cJSON_CreateObject(), &c->addresses[i], v3));
    }
    return made;
}

static cJSON *make_document(const struct data *d)
{
    cJSON *document = cJSON_CreateObject();
    bool made = cJSON_AddStringToObject(document, "@odata.context", DATA_CONTEXT) != NULL;
    cJSON *rows = cJSON_AddArrayToObject(document, "value");
    for (size_t i = 0; made && i < d->count; i++) {
        made = add_customer(rows, &d->customers[i], data_is_v3(d));
    }
    if (!made) {
        cJSON_Delete(document);
        return NULL;
    }
    return document;
}

static void tree_close(void *state)
{
    struct tree *t = state;
    cJSON_Delete(t->document);
    free(t);
}

static void *tree_open(const struct data *d)
{
    cJSON_Hooks hooks = {malloc, free}; /* the counted ones */
    cJSON_InitHooks(&hooks);
    struct tree *t = calloc(1, sizeof(*t));
    if (t != NULL) {
        t->data = d;
    }
    return t;
}

static void *tree_open_made(const struct data *d)
{
    struct tree *t = tree_open(d);
    if (t != NULL) {
        t->document = make_document(d);
    }
    if (t != NULL && t->document == NULL) {
        tree_close(t);
        return NULL;
    }
    return t;
}

static bool print(const cJSON *document, struct bytes *out)
{
    char *text = cJSON_PrintUnformatted(document);
    if (text == NULL) {
        return false;
    }
    /* The text itself becomes the buffer: it is not copied. */
    bytes_fini(out);
    out->ptr = text;
    out->len = strlen(text);
    out->cap = out->len;
    return true;
}

static bool print_write(void *state, struct bytes *out, struct sink *sink)
{
    (void)sink;
    const struct tree *t = state;
    return print(t->document, out);
}

static bool make_and_print_write(void *state, struct bytes *out, struct sink *sink)
{
    (void)sink;
    const struct tree *t = state;
    cJSON *document = make_document(t->data);
    bool printed = document != NULL && print(document, out);
    cJSON_Delete(document);
    return printed;
}

const struct writer writer_cjson_print = {
    .name = "cJSON, print",
    .what = "cJSON_PrintUnformatted() of a tree that is there already",
    .open = tree_open_made,
    .write = print_write,
    .close = tree_close,
};

const struct writer writer_cjson = {
    .name = "cJSON, all",
    .what = "the same, and making and freeing the tree of the values",
    .open = tree_open,
    .write = make_and_print_write,
    .close = tree_close,
};

// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_names.h"

#include "odata/bytes.h"
#include "storage/catalog_letters.h"

/*
 * What a namespace may not be called: CSDL 4.01, 5.1 (and 4.0, 5.1.1) keep the first four, and
 * $metadata has the last ones as aliases of the standard vocabularies.
 */
static const struct str kept_namespaces[] = {
    {STR_INIT("Edm")},         {STR_INIT("odata")},      {STR_INIT("System")},
    {STR_INIT("Transient")},   {STR_INIT("Core")},       {STR_INIT("Capabilities")},
    {STR_INIT("Aggregation")}, {STR_INIT("Validation")},
};

#define NOT_UTF8 UINT32_MAX /* no code point */

/* The code point at *pos, which moves behind it; NOT_UTF8, and one byte on, when there is none. */
static uint32_t next_code_point(struct str s, size_t *pos)
{
    static const struct {
        unsigned char mask;
        unsigned char lead;
        uint32_t least;
    } forms[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    unsigned char first = (unsigned char)s.ptr[*pos];
    for (size_t more = 0; more < ARRAY_SIZE(forms); more++) {
        if ((first & forms[more].mask) != forms[more].lead || s.len - *pos <= more) {
            continue;
        }
        uint32_t c = (uint32_t)(first & ~forms[more].mask & 0xff);
        size_t i = 1;
        while (i <= more && ((unsigned char)s.ptr[*pos + i] & 0xc0) == 0x80) {
            c = c << 6 | ((unsigned char)s.ptr[*pos + i] & 0x3f);
            i++;
        }
        if (i > more && c >= forms[more].least) {
            *pos += 1 + more;
            return c;
        }
    }
    *pos += 1;
    return NOT_UTF8;
}

bool name_is_identifier(struct str name)
{
    size_t characters = 0;
    size_t pos = 0;
    while (pos < name.len) {
        bool starts = pos == 0;
        uint32_t c = next_code_point(name, &pos);
        if (!(starts ? letter_may_start(c) : letter_may_follow(c))) {
            return false;
        }
        characters++;
    }
    return characters > 0 && characters <= NAME_LONGEST;
}

/* The first `longest` characters of an identifier. */
static struct str cut(struct str name, size_t longest)
{
    size_t characters = 0;
    size_t pos = 0;
    while (pos < name.len && characters < longest) {
        (void)next_code_point(name, &pos);
        characters++;
    }
    return str_slice(name, 0, pos);
}

bool name_rewrite(struct arena *a, struct str name, struct str *out_name)
{
    if (name_is_identifier(name)) {
        *out_name = name;
        return true;
    }
    char *text = arena_alloc(a, name.len + 2);
    if (text == NULL) {
        return false;
    }
    size_t length = 0;
    size_t pos = 0;
    while (pos < name.len) {
        size_t from = pos;
        uint32_t c = next_code_point(name, &pos);
        bool stays = letter_may_follow(c);
        if (from == 0 && stays && !letter_may_start(c)) {
            text[length++] = '_';
        }
        if (stays) {
            memcpy(text + length, name.ptr + from, pos - from);
            length += pos - from;
        } else {
            text[length++] = '_';
        }
    }
    if (length == 0) {
        text[length++] = '_';
    }
    *out_name = cut((struct str){text, length}, NAME_LONGEST);
    return true;
}

bool name_claim(struct arena *a, struct str identifier, struct name_set *taken,
                struct str *out_name)
{
    struct str name = identifier;
    for (unsigned number = 2; name_set_has(taken, name); number++) {
        struct str base = cut(identifier, NAME_LONGEST - 11); /* `_` and ten digits */
        if (!arena_format(a, &name, "%.*s_%u", STR_ARG(base), number)) {
            return false;
        }
    }
    if (!name_set_add(taken, name)) {
        return false;
    }
    *out_name = name;
    return true;
}

bool name_columns(struct arena *a, const struct str *columns, size_t count, struct name_set *taken,
                  struct str *names)
{
    size_t identifiers = 0;
    for (size_t i = 0; i < count; i++) {
        bool stays = name_is_identifier(columns[i]);
        names[i] = stays ? columns[i] : (struct str){NULL, 0};
        identifiers += stays;
    }
    if (identifiers == count) {
        return true; /* PostgreSQL sees to it that they differ */
    }
    name_set_clear(taken);
    for (size_t i = 0; i < count; i++) {
        if (names[i].ptr != NULL && !name_set_add(taken, names[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct str rewritten;
        if (names[i].ptr == NULL && (!name_rewrite(a, columns[i], &rewritten) ||
                                     !name_claim(a, rewritten, taken, &names[i]))) {
            return false;
        }
    }
    return true;
}

bool name_namespace(struct arena *a, struct str schema, struct name_set *taken,
                    struct str *out_name)
{
    struct str name;
    if (!name_rewrite(a, schema, &name)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_SIZE(kept_namespaces); i++) {
        if (str_eq(name, kept_namespaces[i]) &&
            !arena_format(a, &name, "%.*s_", STR_ARG(kept_namespaces[i]))) {
            return false;
        }
    }
    return name_claim(a, name, taken, out_name);
}

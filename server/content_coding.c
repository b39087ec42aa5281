// SPDX-License-Identifier: Apache-2.0
#include "server/content_coding.h"

#include "odata/compiler.h"

static const struct coding_row {
    struct str name;
    enum content_coding coding;
} coding_rows[] = {
    /* In the order in which we like them. */
    {{STR_INIT("zstd")}, CODING_ZSTD},
    {{STR_INIT("gzip")}, CODING_GZIP},
    {{STR_INIT("x-gzip")}, CODING_GZIP},
    {{STR_INIT("identity")}, CODING_IDENTITY},
};

enum {
    NOT_SAID = -1,
    WHOLE = 1000, /* q=1 */
};

const char *content_coding_name(enum content_coding coding)
{
    static const char *const names[] = {
        [CODING_IDENTITY] = "identity", [CODING_GZIP] = "gzip", [CODING_ZSTD] = "zstd"};
    return names[coding];
}

/* `0.5` in thousandths; what is no weight is none. */
static int weight_of(struct str text)
{
    int weight = 0;
    int unit = WHOLE;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && i == 1) {
            continue;
        }
        if (c < '0' || c > '9') {
            return 0;
        }
        weight += (c - '0') * unit;
        unit /= 10;
    }
    return weight > WHOLE ? WHOLE : weight;
}

/* The weight of one element `gzip;q=0.5`, and its name. */
static int read_element(struct str element, struct str *out_name)
{
    size_t semicolon = str_find(element, ';', 0);
    *out_name = str_trim(str_slice(element, 0, semicolon));
    if (semicolon == element.len) {
        return WHOLE;
    }
    struct str parameter = str_trim(str_from_offset(element, semicolon + 1));
    bool is_weight = str_ieq(str_slice(parameter, 0, 2), STR("q="));
    return is_weight ? weight_of(str_from_offset(parameter, 2)) : 0;
}

enum content_coding content_coding_choose(struct str accept_encoding)
{
    int said[ARRAY_SIZE(coding_rows)];
    int others = NOT_SAID; /* `*` */
    for (size_t i = 0; i < ARRAY_SIZE(coding_rows); i++) {
        said[i] = NOT_SAID;
    }
    for (size_t at = 0; at < accept_encoding.len;) {
        size_t comma = str_find(accept_encoding, ',', at);
        struct str name;
        int weight = read_element(str_slice(accept_encoding, at, comma), &name);
        at = comma + 1;
        if (str_eq(name, STR("*"))) {
            others = weight;
        }
        for (size_t i = 0; i < ARRAY_SIZE(coding_rows); i++) {
            if (str_ieq(name, coding_rows[i].name)) {
                said[i] = weight;
            }
        }
    }
    enum content_coding best = CODING_IDENTITY;
    int best_weight = 0;
    for (size_t i = 0; i < ARRAY_SIZE(coding_rows); i++) {
        int weight = said[i] != NOT_SAID ? said[i] : others;
        if (weight > best_weight) {
            best = coding_rows[i].coding;
            best_weight = weight;
        }
    }
    return best;
}

bool content_coding_helps(struct str media_type)
{
    static const struct str kinds[] = {
        {STR_INIT("application/json")},
        {STR_INIT("application/xml")},
        {STR_INIT("application/x-ndjson")},
        {STR_INIT("application/vnd.oai.openapi+json")},
        {STR_INIT("text/")},
    };
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (str_ieq(str_slice(media_type, 0, kinds[i].len), kinds[i])) {
            return true;
        }
    }
    return false;
}

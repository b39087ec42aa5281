// SPDX-License-Identifier: Apache-2.0
#include "server/content_coding.h"

#include "odata/compiler.h"
#include "odata/header_value.h"

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
};

const char *content_coding_name(enum content_coding coding)
{
    static const char *const names[] = {
        [CODING_IDENTITY] = "identity", [CODING_GZIP] = "gzip", [CODING_ZSTD] = "zstd"};
    return names[coding];
}

/* The weight of one element `gzip;q=0.5`, and its name. */
static int read_element(struct str element, struct str *out_name)
{
    struct str piece;
    int weight = HEADER_QUALITY_ONE;
    *out_name = STR("");
    for (bool first = true; header_next_piece(&element, ';', &piece); first = false) {
        struct str name;
        struct str value;
        header_split_param(piece, &name, &value);
        if (first) {
            *out_name = piece;
        } else if (str_ieq(name, STR("q"))) {
            weight = header_quality(value);
        }
    }
    return weight;
}

enum content_coding content_coding_choose(struct str accept_encoding)
{
    int said[ARRAY_SIZE(coding_rows)];
    int others = NOT_SAID; /* `*` */
    for (size_t i = 0; i < ARRAY_SIZE(coding_rows); i++) {
        said[i] = NOT_SAID;
    }
    struct str element;
    while (header_next_piece(&accept_encoding, ',', &element)) {
        struct str name;
        int weight = read_element(element, &name);
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

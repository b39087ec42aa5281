// SPDX-License-Identifier: Apache-2.0
#include "odata/header_value.h"

#include <string.h>

bool header_next_piece(struct str *rest, char separator, struct str *out_piece)
{
    if (rest->len == 0) {
        return false;
    }
    bool quoted = false;
    size_t at = 0;
    for (; at < rest->len && (quoted || rest->ptr[at] != separator); at++) {
        if (rest->ptr[at] == '"') {
            quoted = !quoted;
        } else if (quoted && rest->ptr[at] == '\\') {
            at++; /* whatever it is, it is no quote */
        }
    }
    *out_piece = str_trim(str_slice(*rest, 0, at));
    *rest = str_from_offset(*rest, at + 1);
    return true;
}

void header_split_param(struct str piece, struct str *out_name, struct str *out_value)
{
    size_t equals = str_find(piece, '=', 0);
    struct str value = str_trim(str_from_offset(piece, equals + 1));
    if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"') {
        value = str_slice(value, 1, value.len - 1);
    }
    *out_name = str_trim(str_slice(piece, 0, equals));
    *out_value = value;
}

int header_quality(struct str value)
{
    int quality = 0;
    int unit = HEADER_QUALITY_ONE;
    bool in_fraction = false;
    bool has_digit = false;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '.' && !in_fraction) {
            in_fraction = true;
            continue;
        }
        if (c < '0' || c > '9') {
            return HEADER_QUALITY_ONE;
        }
        has_digit = true;
        if (in_fraction) {
            unit /= 10;
            quality += (c - '0') * unit;
        } else {
            quality = quality + (c - '0') >= 1 ? HEADER_QUALITY_ONE : 0;
        }
    }
    return !has_digit || quality > HEADER_QUALITY_ONE ? HEADER_QUALITY_ONE : quality;
}

bool header_is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool is_alphanumeric =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_alphanumeric && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return s.len > 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/value_type.h"

static bool is_told_otherwise(const struct type_ref *t, const struct response_format *format)
{
    if (t->type == EDM_UNTYPED) {
        return true;
    }
    if (t->collection) {
        return false;
    }
    return t->type == EDM_STRING || t->type == EDM_BOOLEAN || t->type == EDM_DOUBLE ||
           (t->type == EDM_COMPLEX && format->metadata == METADATA_FULL);
}

bool value_type_name(struct arena *a, const struct type_ref *type,
                     const struct response_format *format, struct str *out_name)
{
    struct str space = STR("");
    struct str name = edm_name(type->type);
    if (is_told_otherwise(type, format)) {
        *out_name = STR("");
        return true;
    }
    if (type->type == EDM_ENUM) {
        space = type->enum_type->namespace;
        name = type->enum_type->name;
    } else if (type->type == EDM_COMPLEX) {
        space = type->complex_type->namespace;
        name = type->complex_type->name;
    } else {
        name = str_from_offset(name, sizeof("Edm.") - 1);
    }
    bool built_in = space.len == 0;
    bool hash = format->version == ODATA_4_0 || !built_in || type->collection;
    return arena_format(a, out_name, "%s%s%.*s%s%.*s%s", hash ? "#" : "",
                        type->collection ? "Collection(" : "", STR_ARG(space), built_in ? "" : ".",
                        STR_ARG(name), type->collection ? ")" : "");
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/prefer.h"

#include "odata/compiler.h"
#include "odata/header_value.h"
#include "odata/lexer.h"

enum preference {
    PREFERENCE_MAX_PAGE_SIZE,
    PREFERENCE_RETURN,
    PREFERENCE_OMIT_VALUES,
    PREFERENCE_INCLUDE_ANNOTATIONS,
    PREFERENCE_CALLBACK,
    PREFERENCE_WAIT,
    PREFERENCE_CONTINUE_ON_ERROR,
    PREFERENCE_RESPOND_ASYNC,
    PREFERENCE_TRACK_CHANGES,
    PREFERENCE_ALLOW_ENTITY_REFERENCES,
};

static const struct {
    struct str name;
    enum preference preference;
} names[] = {
    {{STR_INIT("maxpagesize")}, PREFERENCE_MAX_PAGE_SIZE},
    {{STR_INIT("return")}, PREFERENCE_RETURN},
    {{STR_INIT("omit-values")}, PREFERENCE_OMIT_VALUES},
    {{STR_INIT("include-annotations")}, PREFERENCE_INCLUDE_ANNOTATIONS},
    {{STR_INIT("callback")}, PREFERENCE_CALLBACK},
    {{STR_INIT("wait")}, PREFERENCE_WAIT},
    {{STR_INIT("continue-on-error")}, PREFERENCE_CONTINUE_ON_ERROR},
    {{STR_INIT("respond-async")}, PREFERENCE_RESPOND_ASYNC},
    {{STR_INIT("track-changes")}, PREFERENCE_TRACK_CHANGES},
    {{STR_INIT("allow-entityreferences")}, PREFERENCE_ALLOW_ENTITY_REFERENCES},
};

static const struct str prefix = {STR_INIT("odata.")};

static bool find_preference(struct str name, enum preference *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        if (str_ieq(name, names[i].name)) {
            *out = names[i].preference;
            return true;
        }
    }
    return false;
}

/* The preferences without a value; some write `=true`, and `=false` means what it says. */
static bool is_asked_for(struct str value)
{
    return !str_ieq(value, STR("false"));
}

static enum prefer_return read_return(struct str value)
{
    if (str_ieq(value, STR("minimal"))) {
        return PREFER_RETURN_MINIMAL;
    }
    return str_ieq(value, STR("representation")) ? PREFER_RETURN_REPRESENTATION : PREFER_RETURN_ANY;
}

static enum prefer_omit read_omit(struct str value)
{
    if (str_ieq(value, STR("nulls"))) {
        return PREFER_OMIT_NULLS;
    }
    return str_ieq(value, STR("defaults")) ? PREFER_OMIT_DEFAULTS : PREFER_OMIT_NOTHING;
}

/* params: what stands behind the first semicolon. */
static struct str find_url(struct str params)
{
    struct str piece;
    while (header_next_piece(&params, ';', &piece)) {
        struct str name;
        struct str value;
        header_split_param(piece, &name, &value);
        if (str_ieq(name, STR("url"))) {
            return value;
        }
    }
    return STR("");
}

/* `*`, `Ns.*` or `Ns.Term`, with `-` before it and `#Qualifier` behind it (JSON Format 4.01, 20). */
static bool is_annotation(struct str item)
{
    item = str_from_offset(item, str_starts_with(item, STR("-")) ? 1 : 0);
    size_t hash = str_find(item, '#', 0);
    if (hash < item.len && !lexer_is_identifier(str_from_offset(item, hash + 1))) {
        return false;
    }
    item = str_slice(item, 0, hash);
    if (str_eq(item, STR("*"))) {
        return true;
    }
    size_t parts = 0;
    for (size_t at = 0; at <= item.len; parts++) {
        size_t end = str_find(item, '.', at);
        struct str part = str_slice(item, at, end);
        bool all = end == item.len && parts > 0 && str_eq(part, STR("*"));
        if (!all && !lexer_is_identifier(part)) {
            return false;
        }
        at = end + 1;
    }
    return parts > 1;
}

static bool are_annotations(struct str list)
{
    struct str item;
    while (header_next_piece(&list, ',', &item)) {
        if (!is_annotation(item)) {
            return false;
        }
    }
    return true;
}

static void take(enum preference preference, struct str value, struct str params,
                 struct preferences *p)
{
    uint64_t number = 0;
    bool is_number = str_to_u64(value, &number);
    switch (preference) {
    case PREFERENCE_MAX_PAGE_SIZE:
        p->max_page_size = is_number ? number : 0;
        break;
    case PREFERENCE_RETURN:
        p->wanted_return = read_return(value);
        break;
    case PREFERENCE_OMIT_VALUES:
        p->omit_values = read_omit(value);
        break;
    case PREFERENCE_INCLUDE_ANNOTATIONS:
        p->include_annotations = are_annotations(value) ? value : STR("");
        break;
    case PREFERENCE_CALLBACK:
        p->callback_url = find_url(params);
        break;
    case PREFERENCE_WAIT:
        p->wait_s = is_number ? number : 0;
        break;
    case PREFERENCE_CONTINUE_ON_ERROR:
        p->continue_on_error = is_asked_for(value);
        break;
    case PREFERENCE_RESPOND_ASYNC:
        p->respond_async = is_asked_for(value);
        break;
    case PREFERENCE_TRACK_CHANGES:
        p->track_changes = is_asked_for(value);
        break;
    case PREFERENCE_ALLOW_ENTITY_REFERENCES:
        p->allow_entity_references = is_asked_for(value);
        break;
    }
}

void prefer_parse(struct str header, struct preferences *out)
{
    struct preferences p = {.include_annotations = STR(""), .callback_url = STR("")};
    unsigned seen = 0;
    struct str element;
    while (header_next_piece(&header, ',', &element)) {
        struct str piece;
        if (!header_next_piece(&element, ';', &piece)) {
            continue;
        }
        struct str name;
        struct str value;
        header_split_param(piece, &name, &value);
        bool is_prefixed = name.len > prefix.len && str_ieq(str_slice(name, 0, prefix.len), prefix);
        enum preference preference;
        if (!find_preference(is_prefixed ? str_from_offset(name, prefix.len) : name, &preference) ||
            (seen & 1U << preference) != 0) {
            continue;
        }
        seen |= 1U << preference;
        take(preference, value, element, &p);
        if (preference == PREFERENCE_MAX_PAGE_SIZE) {
            p.max_page_size_is_prefixed = is_prefixed;
        }
    }
    *out = p;
}

void prefer_put_applied(struct bytes *out, const struct preferences *p, unsigned applied)
{
    if ((applied & PREFER_APPLIED_PAGE_SIZE) != 0) {
        if (p->max_page_size_is_prefixed) {
            bytes_put_str(out, prefix);
        }
        BYTES_PUT_LITERAL(out, "maxpagesize=");
        bytes_put_u64(out, p->max_page_size);
    }
    if ((applied & PREFER_APPLIED_OMIT) != 0) {
        if (applied != PREFER_APPLIED_OMIT) {
            BYTES_PUT_LITERAL(out, ", ");
        }
        bytes_put_str(out, p->omit_values == PREFER_OMIT_NULLS ? STR("omit-values=nulls")
                                                               : STR("omit-values=defaults"));
    }
}

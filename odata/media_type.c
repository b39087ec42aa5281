// SPDX-License-Identifier: Apache-2.0
#include "odata/media_type.h"

#include "odata/header_value.h"

/* What a media range of Accept says of one offer. */
struct range {
    struct str type;
    struct str subtype;
    struct str params; /* behind the first semicolon */
    int quality;       /* 0..HEADER_QUALITY_ONE */
};

/* How closely a range names an offer; -1 when it does not. */
enum closeness {
    CLOSE_NOT = -1,
    CLOSE_ANY,     /* any type */
    CLOSE_TYPE,    /* any subtype of the type */
    CLOSE_SUBTYPE, /* the type itself */
};

struct offer {
    struct str type;
    struct str subtype;
    struct str abbreviation; /* of $format */
    enum media media;        /* what is sent when this is asked for */
};

static const struct offer data_offers[] = {
    {{STR_INIT("application")}, {STR_INIT("json")}, {STR_INIT("json")}, MEDIA_JSON},
};
static const struct offer rows_offers[] = {
    {{STR_INIT("application")}, {STR_INIT("json")}, {STR_INIT("json")}, MEDIA_JSON},
    {{STR_INIT("text")}, {STR_INIT("csv")}, {STR_INIT("csv")}, MEDIA_CSV},
    {{STR_INIT("application")}, {STR_INIT("x-ndjson")}, {STR_INIT("ndjson")}, MEDIA_NDJSON},
    {{STR_INIT("application")}, {STR_INIT("jsonl")}, {STR_INIT("jsonl")}, MEDIA_NDJSON},
};
/* Clients that read $metadata as XML alone send the Accept of their data with it: Power Query ranks
   JSON first, axios names JSON and a star. So JSON goes to those who accept nothing else. */
static const struct offer metadata_offers[] = {
    {{STR_INIT("application")}, {STR_INIT("xml")}, {STR_INIT("xml")}, MEDIA_XML},
    {{STR_INIT("application")}, {STR_INIT("json")}, {STR_INIT("json")}, MEDIA_JSON},
};
/* Clients that speak JSON ask for it here too, and want the value itself. */
static const struct offer text_offers[] = {
    {{STR_INIT("text")}, {STR_INIT("plain")}, {STR_INIT("")}, MEDIA_TEXT},
    {{STR_INIT("application")}, {STR_INIT("octet-stream")}, {STR_INIT("")}, MEDIA_TEXT},
    {{STR_INIT("application")}, {STR_INIT("json")}, {STR_INIT("json")}, MEDIA_TEXT},
};
static const struct offer binary_offers[] = {
    {{STR_INIT("application")}, {STR_INIT("octet-stream")}, {STR_INIT("")}, MEDIA_BINARY},
    {{STR_INIT("text")}, {STR_INIT("plain")}, {STR_INIT("")}, MEDIA_BINARY},
    {{STR_INIT("application")}, {STR_INIT("json")}, {STR_INIT("json")}, MEDIA_BINARY},
};

static const struct resource_offers {
    const struct offer *offers; /* the preferred one first */
    size_t count;
    const char *named;  /* for the message of a 406 */
    bool order_decides; /* the first one that is acceptable is sent, whatever weighs more */
} resources[] = {
    [MEDIA_OF_DATA] = {data_offers, ARRAY_SIZE(data_offers), "application/json"},
    [MEDIA_OF_ROWS] = {rows_offers, ARRAY_SIZE(rows_offers),
                       "application/json, text/csv or application/x-ndjson"},
    [MEDIA_OF_METADATA] = {metadata_offers, ARRAY_SIZE(metadata_offers),
                           "application/xml or application/json", true},
    [MEDIA_OF_COUNT] = {text_offers, ARRAY_SIZE(text_offers), "text/plain"},
    [MEDIA_OF_RAW_TEXT] = {text_offers, ARRAY_SIZE(text_offers), "text/plain"},
    [MEDIA_OF_RAW_BINARY] = {binary_offers, ARRAY_SIZE(binary_offers), "application/octet-stream"},
};

enum format_param {
    PARAM_METADATA,
    PARAM_IEEE754,
    PARAM_EXPONENTIAL,
    PARAM_STREAMING,
    PARAM_CHARSET,
    PARAM_HEADER,
};

/* JSON Format 3; with the prefix in 4.0, without it in 4.01, either from anybody. */
static const struct {
    struct str name;
    enum format_param param;
} format_params[] = {
    {{STR_INIT("odata.metadata")}, PARAM_METADATA},
    {{STR_INIT("metadata")}, PARAM_METADATA},
    {{STR_INIT("IEEE754Compatible")}, PARAM_IEEE754},
    {{STR_INIT("ExponentialDecimals")}, PARAM_EXPONENTIAL},
    {{STR_INIT("odata.streaming")}, PARAM_STREAMING},
    {{STR_INIT("streaming")}, PARAM_STREAMING},
    {{STR_INIT("charset")}, PARAM_CHARSET},
    {{STR_INIT("header")}, PARAM_HEADER}, /* of text/csv, RFC 4180 3 */
};

static const struct {
    struct str name;
    enum metadata_level level;
} metadata_levels[] = {
    {{STR_INIT("minimal")}, METADATA_MINIMAL},
    {{STR_INIT("none")}, METADATA_NONE},
    {{STR_INIT("full")}, METADATA_FULL},
};

static bool read_level(struct str value, enum metadata_level *out_level)
{
    for (size_t i = 0; i < ARRAY_SIZE(metadata_levels); i++) {
        if (str_ieq(value, metadata_levels[i].name)) {
            *out_level = metadata_levels[i].level;
            return true;
        }
    }
    return false;
}

static bool read_bool(struct str value, bool *out_value)
{
    *out_value = str_ieq(value, STR("true"));
    return *out_value || str_ieq(value, STR("false"));
}

static bool apply_param(enum format_param param, struct str value, struct response_format *format)
{
    bool ignored;
    switch (param) {
    case PARAM_METADATA:
        return read_level(value, &format->metadata);
    case PARAM_IEEE754:
        return read_bool(value, &format->ieee754);
    case PARAM_STREAMING:
        return read_bool(value, &format->streaming);
    case PARAM_EXPONENTIAL:
        return read_bool(value, &ignored); /* a permission that we never use */
    case PARAM_CHARSET:
        return str_ieq(value, STR("utf-8")) || str_ieq(value, STR("utf8"));
    case PARAM_HEADER:
        format->no_header = str_ieq(value, STR("absent"));
        return format->media == MEDIA_CSV && (format->no_header || str_ieq(value, STR("present")));
    }
    return false;
}

/* False when the parameter is unknown or its value is not one that we have. */
static bool apply_named_param(struct str name, struct str value, struct response_format *format)
{
    for (size_t i = 0; i < ARRAY_SIZE(format_params); i++) {
        if (str_ieq(name, format_params[i].name)) {
            return apply_param(format_params[i].param, value, format);
        }
    }
    return false;
}

/*
 * Applies the parameters of a range to JSON. A format parameter that is unknown makes the range
 * unacceptable (Protocol 8.2.1); what stands behind q is no format parameter unless we know it.
 */
static bool apply_json_params(struct str params, bool may_have_quality,
                              struct response_format *format)
{
    bool strict = true;
    struct str piece;
    while (header_next_piece(&params, ';', &piece)) {
        struct str name;
        struct str value;
        header_split_param(piece, &name, &value);
        if (may_have_quality && str_ieq(name, STR("q"))) {
            strict = false;
            continue;
        }
        struct response_format changed = *format;
        if (apply_named_param(name, value, &changed)) {
            *format = changed;
        } else if (strict && piece.len > 0) {
            return false;
        }
    }
    return true;
}

/* Of other types only the character set matters, and whether CSV has a header. */
static bool apply_other_params(struct str params, struct response_format *format)
{
    struct str piece;
    while (header_next_piece(&params, ';', &piece)) {
        struct str name;
        struct str value;
        header_split_param(piece, &name, &value);
        bool matters = str_ieq(name, STR("charset")) ||
                       (format->media == MEDIA_CSV && str_ieq(name, STR("header")));
        if (matters && !apply_named_param(name, value, format)) {
            return false;
        }
    }
    return true;
}

/* Has the parameters of JSON (JSON Format 3). */
static bool is_json_like(enum media media)
{
    return media == MEDIA_JSON || media == MEDIA_NDJSON;
}

/* What a form without control information has of it. */
static enum metadata_level level_of(enum media media)
{
    return media == MEDIA_CSV ? METADATA_NONE : METADATA_MINIMAL;
}

/* False for what is no media range; `*` alone is one, since some send it. */
static bool read_range(struct str text, struct range *out)
{
    struct str piece;
    struct str rest = text;
    if (!header_next_piece(&rest, ';', &piece)) {
        return false;
    }
    struct range range = {.params = rest, .quality = HEADER_QUALITY_ONE};
    size_t slash = str_find(piece, '/', 0);
    range.type = str_slice(piece, 0, slash);
    range.subtype = str_from_offset(piece, slash + 1);
    if (str_eq(piece, STR("*"))) {
        range.subtype = piece;
    }
    if (!header_is_token(range.type) || !header_is_token(range.subtype)) {
        return false;
    }
    while (header_next_piece(&rest, ';', &piece)) {
        struct str name;
        struct str value;
        header_split_param(piece, &name, &value);
        if (str_ieq(name, STR("q"))) {
            range.quality = header_quality(value);
            break;
        }
    }
    *out = range;
    return true;
}

static enum closeness range_names(const struct range *range, const struct offer *offer)
{
    if (str_eq(range->type, STR("*"))) {
        return str_eq(range->subtype, STR("*")) ? CLOSE_ANY : CLOSE_NOT;
    }
    if (!str_ieq(range->type, offer->type)) {
        return CLOSE_NOT;
    }
    if (str_eq(range->subtype, STR("*"))) {
        return CLOSE_TYPE;
    }
    return str_ieq(range->subtype, offer->subtype) ? CLOSE_SUBTYPE : CLOSE_NOT;
}

/* Whether the range's parameters can be met; if so, format says how. */
static bool range_fits(const struct range *range, const struct offer *offer,
                       enum closeness closeness, struct response_format *format)
{
    format->media = offer->media;
    format->metadata = level_of(offer->media);
    if (!is_json_like(offer->media)) {
        return apply_other_params(range->params, format);
    }
    struct response_format changed = *format;
    if (apply_json_params(range->params, true, &changed)) {
        *format = changed;
        return true;
    }
    return closeness != CLOSE_SUBTYPE; /* parameters of a wildcard are nobody's */
}

/* The closest range that refuses the offer with q=0. A form of JSON refused is not JSON refused. */
static enum closeness closest_refusal(struct str accept, const struct offer *offer)
{
    enum closeness closest = CLOSE_NOT;
    struct str piece;
    while (header_next_piece(&accept, ',', &piece)) {
        struct range range;
        if (!read_range(piece, &range) || range.quality > 0) {
            continue;
        }
        struct response_format plain = {.media = MEDIA_JSON};
        struct response_format asked = plain;
        bool is_plain = apply_json_params(range.params, true, &asked) &&
                        asked.metadata == plain.metadata && asked.ieee754 == plain.ieee754;
        enum closeness closeness = range_names(&range, offer);
        if (is_plain && closeness > closest) {
            closest = closeness;
        }
    }
    return closest;
}

/* The best of what accept allows for one offer, when that is better than *best_rank. */
static void consider(struct str accept, const struct offer *offer, int *best_rank,
                     struct response_format *best)
{
    enum closeness refused = closest_refusal(accept, offer);
    struct str piece;
    while (header_next_piece(&accept, ',', &piece)) {
        struct range range;
        if (!read_range(piece, &range) || range.quality == 0) {
            continue;
        }
        enum closeness closeness = range_names(&range, offer);
        struct response_format format = {.version = best->version};
        if (closeness == CLOSE_NOT || refused > closeness ||
            !range_fits(&range, offer, closeness, &format)) {
            continue;
        }
        /* By quality, then the range that says more, then the order in which they stand. */
        int rank = range.quality * 4 + (int)closeness;
        if (rank > *best_rank) {
            *best_rank = rank;
            *best = format;
        }
    }
}

static bool not_acceptable(const struct resource_offers *resource, const char *target,
                           struct odata_error *err)
{
    return odata_error_set(err, 406, ODATA_CODE_NOT_ACCEPTABLE, target,
                           "this resource can be sent as %s only", resource->named);
}

static bool negotiate_format(const struct resource_offers *resource, struct str text,
                             struct response_format *out, struct odata_error *err)
{
    struct str params = str_trim(text);
    struct str name;
    if (!header_next_piece(&params, ';', &name) || name.len == 0) {
        return odata_error_set(err, 400, ODATA_CODE_BAD_QUERY_OPTION, "$format",
                               "$format is empty: expected json, xml or a media type");
    }
    bool is_abbreviation = str_find(name, '/', 0) == name.len;
    if (is_abbreviation && params.len > 0) {
        return odata_error_set(
            err, 400, ODATA_CODE_BAD_QUERY_OPTION, "$format",
            "parameters need the full media type in $format: application/json;...");
    }
    for (size_t i = 0; i < resource->count; i++) {
        const struct offer *offer = &resource->offers[i];
        struct range range;
        struct response_format format = {
            .version = out->version, .media = offer->media, .metadata = level_of(offer->media)};
        if (is_abbreviation && offer->abbreviation.len > 0 && str_ieq(name, offer->abbreviation)) {
            *out = format;
            return true;
        }
        if (!is_abbreviation && read_range(str_trim(text), &range) &&
            range_names(&range, offer) == CLOSE_SUBTYPE &&
            (is_json_like(offer->media) ? apply_json_params(params, false, &format)
                                        : apply_other_params(params, &format))) {
            *out = format;
            return true;
        }
    }
    return not_acceptable(resource, "$format", err);
}

bool media_type_negotiate(enum media_resource resource, enum odata_version version,
                          struct str accept, const struct str *format, struct response_format *out,
                          struct odata_error *err)
{
    const struct resource_offers *offers = &resources[resource];
    struct response_format best = {.version = version, .media = offers->offers[0].media};
    if (resource == MEDIA_OF_COUNT) {
        *out = best;
        return true;
    }
    if (format != NULL) {
        if (!negotiate_format(offers, *format, &best, err)) {
            return false;
        }
        *out = best;
        return true;
    }
    int best_rank = -1;
    if (str_trim(accept).len == 0) {
        best_rank = 0;
    }
    for (size_t i = 0; i < offers->count; i++) {
        consider(accept, &offers->offers[i], &best_rank, &best);
        if (offers->order_decides && best_rank >= 0) {
            break;
        }
    }
    if (best_rank < 0) {
        return not_acceptable(offers, "", err);
    }
    *out = best;
    return true;
}

void media_type_put(struct bytes *out, const struct response_format *format)
{
    switch (format->media) {
    case MEDIA_XML:
        BYTES_PUT_LITERAL(out, "application/xml");
        return;
    case MEDIA_TEXT:
        BYTES_PUT_LITERAL(out, "text/plain;charset=utf-8");
        return;
    case MEDIA_BINARY:
        BYTES_PUT_LITERAL(out, "application/octet-stream");
        return;
    case MEDIA_CSV:
        BYTES_PUT_LITERAL(out, "text/csv;charset=utf-8;header=");
        bytes_put_str(out, format->no_header ? STR("absent") : STR("present"));
        return;
    case MEDIA_NDJSON:
        BYTES_PUT_LITERAL(out, "application/x-ndjson");
        if (format->ieee754) {
            BYTES_PUT_LITERAL(out, ";IEEE754Compatible=true");
        }
        return;
    case MEDIA_JSON:
        break;
    }
    const char *prefix = format->version == ODATA_4_01 ? "" : "odata.";
    for (size_t i = 0; i < ARRAY_SIZE(metadata_levels); i++) {
        if (metadata_levels[i].level == format->metadata) {
            bytes_format(out, "application/json;%smetadata=%.*s", prefix,
                         STR_ARG(metadata_levels[i].name));
        }
    }
    if (format->streaming) {
        bytes_format(out, ";%sstreaming=true", prefix);
    }
    if (format->ieee754) {
        BYTES_PUT_LITERAL(out, ";IEEE754Compatible=true");
    }
}

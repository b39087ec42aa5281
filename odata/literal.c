// SPDX-License-Identifier: Apache-2.0
#include "odata/literal.h"

#include "odata/lexer.h"

enum {
    GUID_LENGTH = 36,
    FRACTION_DIGITS = 12, /* ABNF fractionalSeconds */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t count_digits(struct str s, size_t at)
{
    size_t count = 0;
    while (is_digit(str_at(s, at + count))) {
        count++;
    }
    return count;
}

static bool fails(struct literal *out, size_t at, const char *problem)
{
    out->problem = problem;
    out->problem_at = at;
    return false;
}

static bool scan_guid(struct str s, size_t at, struct literal *out)
{
    if (at > s.len || s.len - at < GUID_LENGTH) {
        return false;
    }
    for (size_t i = 0; i < GUID_LENGTH; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.ptr[at + i] != '-' : !is_hex(s.ptr[at + i])) {
            return false;
        }
    }
    char next = str_at(s, at + GUID_LENGTH);
    if (next == '-' || lexer_is_name_byte(next)) {
        return false;
    }
    *out = (struct literal){.kind = LITERAL_GUID, .end = at + GUID_LENGTH};
    out->text = str_slice(s, at, out->end);
    return true;
}

/* Exactly two digits of at most `most`; moves *at behind them. */
static bool two_digits(struct str s, size_t *at, int least, int most)
{
    if (!is_digit(str_at(s, *at)) || !is_digit(str_at(s, *at + 1)) ||
        is_digit(str_at(s, *at + 2))) {
        return false;
    }
    int value = (s.ptr[*at] - '0') * 10 + (s.ptr[*at + 1] - '0');
    *at += 2;
    return value >= least && value <= most;
}

/* hour ":" minute [ ":" second [ "." fraction ] ]; a leap second has the number 60. */
static bool scan_time(struct str s, size_t *at, struct literal *out)
{
    size_t start = *at;
    if (!two_digits(s, at, 0, 23)) {
        return fails(out, start, "the hour must be 00 to 23");
    }
    if (str_at(s, *at) != ':') {
        return fails(out, *at, "expected ':' behind the hour");
    }
    ++*at;
    start = *at;
    if (!two_digits(s, at, 0, 59)) {
        return fails(out, start, "the minute must be 00 to 59");
    }
    if (str_at(s, *at) != ':') {
        return true;
    }
    ++*at;
    start = *at;
    if (!two_digits(s, at, 0, 60)) {
        return fails(out, start, "the second must be 00 to 59");
    }
    if (str_at(s, *at) == '.') {
        size_t digits = count_digits(s, *at + 1);
        if (digits == 0 || digits > FRACTION_DIGITS) {
            return fails(out, *at + 1, "a fraction of a second has 1 to 12 digits");
        }
        *at += 1 + digits;
    }
    return true;
}

static bool scan_zone(struct str s, size_t *at, struct literal *out)
{
    char c = str_at(s, *at);
    if (c == 'Z' || c == 'z') {
        ++*at;
        return true;
    }
    if (c != '+' && c != '-') {
        return fails(out, *at, "a date-time needs its zone, Z or +hh:mm (a plus sign is %2B)");
    }
    size_t start = ++*at;
    if (!two_digits(s, at, 0, 23) || str_at(s, *at) != ':') {
        return fails(out, start, "the zone must be Z, +hh:mm or -hh:mm");
    }
    ++*at;
    return two_digits(s, at, 0, 59) || fails(out, start, "the zone must be Z, +hh:mm or -hh:mm");
}

/* Begins like a date: [-] at least four digits, a dash, two digits, a dash. */
static bool looks_like_date(struct str s, size_t at)
{
    at += str_at(s, at) == '-';
    size_t digits = count_digits(s, at);
    return digits >= 4 && str_at(s, at + digits) == '-' && count_digits(s, at + digits + 1) == 2 &&
           str_at(s, at + digits + 3) == '-';
}

static bool scan_date_parts(struct str s, size_t *at, struct literal *out)
{
    *at += str_at(s, *at) == '-';
    size_t digits = count_digits(s, *at);
    if (digits > 4 && s.ptr[*at] == '0') {
        return fails(out, *at, "a year of more than four digits does not begin with 0");
    }
    *at += digits + 1;
    size_t start = *at;
    if (!two_digits(s, at, 1, 12)) {
        return fails(out, start, "the month must be 01 to 12");
    }
    start = ++*at;
    if (!two_digits(s, at, 1, 31)) {
        return fails(out, start, "the day must be 01 to 31");
    }
    char next = str_at(s, *at);
    out->kind = LITERAL_DATE;
    if (next == 'T' || next == 't') {
        ++*at;
        out->kind = LITERAL_DATETIMEOFFSET;
        return scan_time(s, at, out) && scan_zone(s, at, out);
    }
    return true;
}

static bool looks_like_time(struct str s, size_t at)
{
    return count_digits(s, at) == 2 && str_at(s, at + 2) == ':' && count_digits(s, at + 3) == 2;
}

/* Cuts the suffix of an older version off: it only says the type. */
static void scan_suffix(struct str s, size_t *end, struct literal *out)
{
    switch (str_at(s, *end)) {
    case 'm':
    case 'M':
        out->kind = LITERAL_DECIMAL;
        break;
    case 'd':
    case 'D':
    case 'f':
    case 'F':
        out->kind = LITERAL_DOUBLE;
        break;
    case 'l':
    case 'L':
        if (out->kind != LITERAL_INTEGER) {
            return;
        }
        break;
    default:
        return;
    }
    if (!lexer_is_name_byte(str_at(s, *end + 1))) {
        ++*end;
    }
}

static bool scan_number(struct str s, size_t at, struct literal *out)
{
    char sign = str_at(s, at);
    size_t digits_at = at + (sign == '-' || sign == '+');
    if (sign == '-' && str_starts_with(str_from_offset(s, digits_at), STR("INF")) &&
        !lexer_is_name_byte(str_at(s, at + 4))) {
        *out = (struct literal){.kind = LITERAL_DOUBLE, .end = at + 4};
        out->text = str_slice(s, at, out->end);
        return true;
    }
    size_t digits = count_digits(s, digits_at);
    if (digits == 0) {
        return false;
    }
    *out = (struct literal){.kind = LITERAL_INTEGER, .end = digits_at + digits};
    if (str_at(s, out->end) == '.' && is_digit(str_at(s, out->end + 1))) {
        out->kind = LITERAL_DECIMAL;
        out->end += 1 + count_digits(s, out->end + 1);
    }
    char e = str_at(s, out->end);
    if (e == 'e' || e == 'E') {
        size_t exponent = out->end + 1;
        exponent += str_at(s, exponent) == '-' || str_at(s, exponent) == '+';
        size_t count = count_digits(s, exponent);
        if (count > 0) {
            out->kind = LITERAL_DOUBLE;
            out->end = exponent + count;
        }
    }
    out->text = str_slice(s, sign == '+' ? digits_at : at, out->end);
    scan_suffix(s, &out->end, out);
    return true;
}

bool literal_scan(struct str text, size_t at, struct literal *out_literal)
{
    struct literal *out = out_literal;
    *out = (struct literal){.kind = LITERAL_NULL};
    if (scan_guid(text, at, out)) {
        return true;
    }
    size_t end = at;
    if (looks_like_date(text, at)) {
        scan_date_parts(text, &end, out);
    } else if (looks_like_time(text, at)) {
        out->kind = LITERAL_TIMEOFDAY;
        scan_time(text, &end, out);
    } else if (!scan_number(text, at, out)) {
        return false;
    } else {
        end = out->end;
    }
    if (out->problem != NULL) {
        return true;
    }
    out->end = end;
    if (out->text.ptr == NULL) {
        out->text = str_slice(text, at, end);
    }
    char next = str_at(text, end);
    if (lexer_is_name_byte(next) || next == '-' || next == '.' || next == '\'') {
        fails(out, end, "this number, date or guid is malformed");
    }
    return true;
}

/* One `1*DIGIT letter` of a duration; letter in upper case. */
static bool duration_part(struct str s, size_t *at, char letter)
{
    size_t digits = count_digits(s, *at);
    size_t end = *at + digits;
    if (letter == 'S' && digits > 0 && str_at(s, end) == '.') {
        size_t fraction = count_digits(s, end + 1);
        if (fraction == 0) {
            return false;
        }
        end += 1 + fraction;
    }
    char c = str_at(s, end);
    if (digits == 0 || (c != letter && c != letter + ('a' - 'A'))) {
        return false;
    }
    *at = end + 1;
    return true;
}

/* [-] P [nD] [T [nH] [nM] [n[.n]S]], at least one part, at least one behind a T. */
static bool is_duration(struct str s)
{
    size_t at = str_at(s, 0) == '-';
    if (str_at(s, at) != 'P' && str_at(s, at) != 'p') {
        return false;
    }
    at++;
    bool days = duration_part(s, &at, 'D');
    if (at == s.len) {
        return days;
    }
    if (s.ptr[at] != 'T' && s.ptr[at] != 't') {
        return false;
    }
    at++;
    bool hours = duration_part(s, &at, 'H');
    bool minutes = duration_part(s, &at, 'M');
    bool seconds = duration_part(s, &at, 'S');
    return at == s.len && (hours || minutes || seconds);
}

static bool is_binary(struct str s)
{
    size_t len = s.len;
    while (len > 0 && s.len - len < 2 && s.ptr[len - 1] == '=') {
        len--;
    }
    for (size_t i = 0; i < len; i++) {
        char c = s.ptr[i];
        if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '-' &&
            c != '_') {
            return false;
        }
    }
    return len % 4 != 1 && (s.len == len || s.len % 4 == 0);
}

/* The name of a shape at `at`; its length, or 0. */
static size_t geo_shape(struct str s, size_t at)
{
    static const struct str shapes[] = {
        {STR_INIT("Point")},           {STR_INIT("LineString")},         {STR_INIT("Polygon")},
        {STR_INIT("MultiPoint")},      {STR_INIT("MultiLineString")},    {STR_INIT("MultiPolygon")},
        {STR_INIT("MultiLineString")}, {STR_INIT("GeometryCollection")}, {STR_INIT("Collection")},
    };
    size_t len = 0;
    while (lexer_is_name_byte(str_at(s, at + len))) {
        len++;
    }
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        if (str_ieq(str_slice(s, at, at + len), shapes[i])) {
            return len;
        }
    }
    return 0;
}

/* SRID=n;Shape(...): the inside is checked for balance and alphabet, PostGIS reads it in earnest. */
static bool is_geo(struct str s)
{
    if (!str_ieq(str_slice(s, 0, 5), STR("SRID="))) {
        return false;
    }
    size_t digits = count_digits(s, 5);
    if (digits == 0 || digits > 5 || str_at(s, 5 + digits) != ';') {
        return false;
    }
    size_t at = 6 + digits;
    size_t depth = 0;
    size_t shape = geo_shape(s, at);
    if (shape == 0) {
        return false;
    }
    for (at += shape; at < s.len; at++) {
        char c = s.ptr[at];
        if (c == '(') {
            depth++;
        } else if (c == ')') {
            if (depth == 0) {
                return false;
            }
            depth--;
            if (depth == 0) {
                return at + 1 == s.len;
            }
        } else if (depth > 0 && geo_shape(s, at) > 0) {
            at += geo_shape(s, at) - 1;
        } else if (c != ' ' && (depth == 0 || (!is_digit(c) && c != ',' && c != '.' && c != '-' &&
                                               c != '+' && c != 'e' && c != 'E'))) {
            return false;
        }
    }
    return false;
}

bool literal_is_enum_value(struct str text)
{
    size_t at = 0;
    for (;;) {
        while (str_at(text, at) == ' ') {
            at++;
        }
        size_t start = at;
        char first = str_at(text, at);
        at += first == '-' || first == '+';
        while (lexer_is_name_byte(str_at(text, at))) {
            at++;
        }
        struct str member = str_slice(text, start, at);
        bool is_name = member.len > 0 && lexer_is_name_start(member.ptr[0]);
        if (!is_name && !literal_is(LITERAL_INTEGER, member)) {
            return false;
        }
        while (str_at(text, at) == ' ') {
            at++;
        }
        if (at == text.len) {
            return true;
        }
        if (text.ptr[at] != ',') {
            return false;
        }
        at++;
    }
}

bool literal_is(enum literal_kind kind, struct str text)
{
    struct literal found;
    switch (kind) {
    case LITERAL_GUID:
    case LITERAL_DATE:
    case LITERAL_DATETIMEOFFSET:
    case LITERAL_TIMEOFDAY:
    case LITERAL_INTEGER:
        return literal_scan(text, 0, &found) && found.problem == NULL && found.kind == kind &&
               found.end == text.len &&
               (kind != LITERAL_INTEGER || lexer_is_digit(text.ptr[text.len - 1]));
    case LITERAL_DECIMAL:
    case LITERAL_DOUBLE:
        if (str_eq(text, STR("INF")) || str_eq(text, STR("NaN"))) {
            return true;
        }
        return literal_scan(text, 0, &found) && found.problem == NULL && found.end == text.len &&
               (found.kind == LITERAL_INTEGER || found.kind == LITERAL_DECIMAL ||
                found.kind == LITERAL_DOUBLE) &&
               found.text.ptr + found.text.len == text.ptr + text.len;
    case LITERAL_DURATION:
        return is_duration(text);
    case LITERAL_BINARY:
        return is_binary(text);
    case LITERAL_GEOGRAPHY:
    case LITERAL_GEOMETRY:
        return is_geo(text);
    case LITERAL_NULL:
    case LITERAL_BOOLEAN:
    case LITERAL_STRING:
    case LITERAL_ENUM:
        return false;
    }
    return false;
}

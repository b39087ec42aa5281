// SPDX-License-Identifier: Apache-2.0
#include "odata/ecma_regex.h"

#include <stdint.h>

#include "odata/limits.h"

enum {
    MOST_REPEATS = 255, /* of a bound, in PostgreSQL */
    MOST_DIGITS = 4,
    LAST_CHARACTER = 0x10FFFF,
};

struct regex {
    struct str in;
    size_t at;
    struct bytes *out;
    size_t depth;
    struct ecma_regex_problem *problem;
};

/* What PostgreSQL makes states of, repetitions written out; a class or a character is one. */
static bool read_alternatives(struct regex *r, size_t *out_size);

static bool fails(struct regex *r, size_t at, const char *text)
{
    *r->problem = (struct ecma_regex_problem){.text = text, .at = at};
    return false;
}

static bool fails_here(struct regex *r, const char *text)
{
    return fails(r, r->at, text);
}

static bool not_here(struct regex *r, size_t at, const char *text)
{
    *r->problem = (struct ecma_regex_problem){.text = text, .at = at, .not_here = true};
    return false;
}

static bool ends(const struct regex *r)
{
    return r->at >= r->in.len;
}

static char peek(const struct regex *r)
{
    return ends(r) ? '\0' : r->in.ptr[r->at];
}

static bool looks_at(const struct regex *r, const char *text)
{
    return str_starts_with(str_from_offset(r->in, r->at), str_from(text));
}

static bool takes(struct regex *r, const char *text)
{
    if (!looks_at(r, text)) {
        return false;
    }
    r->at += str_from(text).len;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void put(struct regex *r, const char *text)
{
    bytes_put_str(r->out, str_from(text));
}

/* A character that means itself, inside of brackets and outside. */
static void put_character(struct regex *r, uint32_t c)
{
    if (c < 0x80 && (is_digit((char)c) || is_letter((char)c))) {
        bytes_put_char(r->out, (char)c);
    } else {
        bytes_format(r->out, "\\U%08x", (unsigned)c);
    }
}

struct range {
    uint32_t first;
    uint32_t last;
};

static const struct range digits[] = {{'0', '9'}};
static const struct range word[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
/* White space and line ends of ECMA-262, 12.2 and 12.3. */
static const struct range blanks[] = {
    {0x09, 0x0D},     {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
    {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF},
};
static const struct range line_ends[] = {{0x0A, 0x0A}, {0x0D, 0x0D}, {0x2028, 0x2029}};

struct set {
    const struct range *ranges;
    size_t count;
};

/* Of \d, \w and \s, in either case. */
static bool find_set(char letter, struct set *out)
{
    switch (letter | 0x20) {
    case 'd':
        *out = (struct set){digits, sizeof(digits) / sizeof(digits[0])};
        return true;
    case 'w':
        *out = (struct set){word, sizeof(word) / sizeof(word[0])};
        return true;
    case 's':
        *out = (struct set){blanks, sizeof(blanks) / sizeof(blanks[0])};
        return true;
    default:
        return false;
    }
}

static void put_range(struct regex *r, uint32_t first, uint32_t last)
{
    if (first > last) {
        return;
    }
    put_character(r, first);
    if (last > first) {
        bytes_put_char(r->out, '-');
        put_character(r, last);
    }
}

/* The ranges of a set, or those between them; U+0000 is in no text of PostgreSQL. */
static void put_set(struct regex *r, struct set set, bool others)
{
    uint32_t from = 1;
    for (size_t i = 0; i < set.count; i++) {
        if (others) {
            put_range(r, from, set.ranges[i].first - 1);
            from = set.ranges[i].last + 1;
        } else {
            put_range(r, set.ranges[i].first, set.ranges[i].last);
        }
    }
    if (others) {
        put_range(r, from, LAST_CHARACTER);
    }
}

static void put_class(struct regex *r, struct set set, bool others)
{
    put(r, others ? "[^" : "[");
    put_set(r, set, false);
    bytes_put_char(r->out, ']');
}

/* The next character of the pattern, which is UTF-8. */
static uint32_t next_character(struct regex *r)
{
    unsigned char c = (unsigned char)r->in.ptr[r->at++];
    size_t more = c < 0xC0 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
    uint32_t value = more == 0 ? c : c & (0x3FU >> more);
    for (; more > 0 && !ends(r); more--) {
        value = value << 6 | ((unsigned char)r->in.ptr[r->at++] & 0x3F);
    }
    return value;
}

static int hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* At least `least` hexadecimal digits, at most `most`. */
static bool read_hex(struct regex *r, size_t least, size_t most, uint32_t *out)
{
    size_t count = 0;
    *out = 0;
    while (count < most && hex_value(peek(r)) >= 0) {
        *out = *out * 16 + (uint32_t)hex_value(peek(r));
        r->at++;
        count++;
    }
    return count >= least || fails_here(r, "expected a hexadecimal digit");
}

/* Behind \u: {n...} or four digits, or the two halves of a character beyond the first plane. */
static bool read_unicode(struct regex *r, uint32_t *out)
{
    size_t start = r->at;
    if (takes(r, "{")) {
        return read_hex(r, 1, 6, out) && (takes(r, "}") || fails_here(r, "expected '}'")) &&
               (*out <= LAST_CHARACTER || fails(r, start, "there is no such character"));
    }
    if (!read_hex(r, 4, 4, out)) {
        return false;
    }
    if (*out >= 0xD800 && *out <= 0xDBFF && takes(r, "\\u")) {
        uint32_t low;
        if (!read_hex(r, 4, 4, &low)) {
            return false;
        }
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *out = 0x10000 + ((*out - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return (*out < 0xD800 || *out > 0xDFFF) || fails(r, start, "half of a character stands alone");
}

/* An escape that means one character; r is behind the backslash. */
static bool read_escaped(struct regex *r, bool in_class, uint32_t *out)
{
    static const char named[] = "tnvfr";
    static const char meant[] = "\t\n\v\f\r";
    size_t start = r->at - 1;
    if (ends(r)) {
        return fails(r, start, "a backslash ends the pattern");
    }
    char c = peek(r);
    for (size_t i = 0; i < sizeof(named) - 1; i++) {
        if (c == named[i]) {
            r->at++;
            *out = (uint32_t)meant[i];
            return true;
        }
    }
    if (in_class && c == 'b') {
        r->at++;
        *out = '\b';
        return true;
    }
    if (takes(r, "x")) {
        return read_hex(r, 2, 2, out);
    }
    if (takes(r, "u")) {
        return read_unicode(r, out);
    }
    if (takes(r, "c")) {
        *out = (uint32_t)(peek(r) & 0x1F);
        return is_letter(peek(r)) ? r->at++ > 0 : fails_here(r, "expected a letter behind \\c");
    }
    if ((is_digit(c) && c != '0') || c == 'k') {
        return not_here(r, start, "a back reference is not implemented");
    }
    if (c == 'p' || c == 'P') {
        return not_here(r, start, "a property of Unicode is not implemented");
    }
    if (c == '0') {
        r->at++;
        *out = 0;
        return !is_digit(peek(r)) || fails(r, start, "an octal number is no escape");
    }
    if (is_letter(c) || c == '_') {
        return fails(r, start, "there is no such escape");
    }
    *out = next_character(r);
    return true;
}

/* One member of a class: a character, or a whole set, which is written at once. */
static bool read_member(struct regex *r, bool *out_is_set, uint32_t *out)
{
    struct set set;
    size_t start = r->at;
    *out_is_set = false;
    if (!takes(r, "\\")) {
        *out = next_character(r);
        return true;
    }
    if (find_set(peek(r), &set)) {
        put_set(r, set, peek(r) < 'a');
        r->at++;
        *out_is_set = true;
        return true;
    }
    if (!read_escaped(r, true, out)) {
        return false;
    }
    return *out != 0 || fails(r, start, "a text does not contain the character U+0000");
}

/* [...], whose first bracket is taken. */
static bool read_class(struct regex *r)
{
    size_t start = r->at - 1;
    bool others = takes(r, "^");
    if (looks_at(r, "]")) {
        r->at++;
        /* [] is nothing, [^] anything. */
        put(r, others ? "." : "(?!)");
        return others || not_here(r, start, "an empty class is not implemented");
    }
    put(r, others ? "[^" : "[");
    while (!looks_at(r, "]")) {
        bool set;
        bool set_behind = false;
        uint32_t first;
        if (ends(r)) {
            return fails(r, start, "the class is not closed");
        }
        size_t member = r->at;
        if (!read_member(r, &set, &first)) {
            return false;
        }
        uint32_t last = first;
        bool range = looks_at(r, "-") && !looks_at(r, "-]") && r->at + 1 < r->in.len;
        if (range) {
            r->at++;
            if (!read_member(r, &set_behind, &last)) {
                return false;
            }
        }
        if (range && (set || set_behind)) {
            return fails(r, member, "a range goes from a character to a character");
        }
        if (!set && first > last) {
            return fails(r, member, "a range goes upward");
        }
        if (!set) {
            put_range(r, first, last);
        }
    }
    r->at++;
    bytes_put_char(r->out, ']');
    return true;
}

/* The rest of a group behind what it begins with in PostgreSQL. */
static bool read_group(struct regex *r, const char *begin, size_t *out_size)
{
    size_t start = r->at;
    put(r, begin);
    if (!read_alternatives(r, out_size)) {
        return false;
    }
    if (!takes(r, ")")) {
        return fails(r, start - 1, "the parenthesis is not closed");
    }
    bytes_put_char(r->out, ')');
    return true;
}

/* `name>` behind `(?<` */
static bool read_group_name(struct regex *r)
{
    size_t start = r->at;
    while (!ends(r) && peek(r) != '>') {
        r->at++;
    }
    return (r->at > start && takes(r, ">")) || fails(r, start, "the name of the group has no end");
}

/* (...), whose first parenthesis is taken. */
static bool read_parentheses(struct regex *r, bool *out_assertion, size_t *out_size)
{
    static const char *const arounds[] = {"?=", "?!", "?<=", "?<!"};
    static const char *const begins[] = {"(?=", "(?!", "(?<=", "(?<!"};
    size_t start = r->at - 1;
    for (size_t i = 0; i < sizeof(arounds) / sizeof(arounds[0]); i++) {
        if (takes(r, arounds[i])) {
            *out_assertion = true;
            return read_group(r, begins[i], out_size);
        }
    }
    if (takes(r, "?<")) {
        return read_group_name(r) && read_group(r, "(?:", out_size);
    }
    if (looks_at(r, "?") && !looks_at(r, "?:")) {
        return not_here(r, start, "a group with flags is not implemented");
    }
    (void)takes(r, "?:");
    return read_group(r, "(?:", out_size);
}

/* \b and \B, by the letters of ECMAScript. */
static void put_boundary(struct regex *r, bool others)
{
    const char *const ahead[] = {"(?=", "(?!"};
    const char *const behind[] = {"(?<=", "(?<!"};
    struct set letters = {word, sizeof(word) / sizeof(word[0])};
    put(r, "(?:");
    for (size_t i = 0; i < 2; i++) {
        put(r, i == 0 ? "" : "|");
        put(r, behind[i]);
        put_class(r, letters, false);
        bytes_put_char(r->out, ')');
        put(r, ahead[others ? i : 1 - i]);
        put_class(r, letters, false);
        bytes_put_char(r->out, ')');
    }
    bytes_put_char(r->out, ')');
}

/* Behind a backslash, outside of a class. */
static bool read_escape(struct regex *r, bool *out_assertion)
{
    struct set set;
    uint32_t c;
    size_t start = r->at - 1;
    if (looks_at(r, "b") || looks_at(r, "B")) {
        put_boundary(r, peek(r) == 'B');
        r->at++;
        *out_assertion = true;
        return true;
    }
    if (find_set(peek(r), &set)) {
        put_class(r, set, peek(r) < 'a');
        r->at++;
        return true;
    }
    if (!read_escaped(r, false, &c)) {
        return false;
    }
    if (c == 0) {
        return fails(r, start, "a text does not contain the character U+0000");
    }
    put_character(r, c);
    return true;
}

/* One atom or assertion. */
static bool read_atom(struct regex *r, bool *out_assertion, size_t *out_size)
{
    *out_assertion = false;
    *out_size = 1;
    if (takes(r, "^") || takes(r, "$")) {
        bytes_put_char(r->out, r->in.ptr[r->at - 1]);
        *out_assertion = true;
        return true;
    }
    if (takes(r, ".")) {
        put_class(r, (struct set){line_ends, sizeof(line_ends) / sizeof(line_ends[0])}, true);
        return true;
    }
    if (takes(r, "(")) {
        return read_parentheses(r, out_assertion, out_size);
    }
    if (takes(r, "[")) {
        return read_class(r);
    }
    if (takes(r, "\\")) {
        return read_escape(r, out_assertion);
    }
    if (looks_at(r, "*") || looks_at(r, "+") || looks_at(r, "?")) {
        return fails_here(r, "there is nothing to repeat");
    }
    put_character(r, next_character(r));
    return true;
}

static bool read_number(struct regex *r, size_t *at, size_t *out)
{
    size_t start = *at;
    *out = 0;
    while (*at < r->in.len && is_digit(r->in.ptr[*at])) {
        if (*at - start < MOST_DIGITS) {
            *out = *out * 10 + (size_t)(r->in.ptr[*at] - '0');
        } else {
            *out = MOST_REPEATS + 1;
        }
        ++*at;
    }
    return *at > start;
}

/* {n}, {n,} or {n,m}; false without an error when it is none: then the brace means itself. */
static bool read_bound(struct regex *r, size_t *least, size_t *most, bool *open)
{
    size_t at = r->at + 1;
    if (!looks_at(r, "{") || !read_number(r, &at, least)) {
        return false;
    }
    *most = *least;
    *open = false;
    if (at < r->in.len && r->in.ptr[at] == ',') {
        at++;
        *open = !read_number(r, &at, most);
    }
    if (at >= r->in.len || r->in.ptr[at] != '}') {
        return false;
    }
    r->at = at + 1;
    return true;
}

static bool read_quantifier(struct regex *r, bool assertion, size_t *size)
{
    size_t start = r->at;
    size_t least;
    size_t most;
    bool open;
    if (takes(r, "*") || takes(r, "+") || takes(r, "?")) {
        bytes_put_char(r->out, r->in.ptr[r->at - 1]);
        *size += 1;
    } else if (read_bound(r, &least, &most, &open)) {
        if (least > MOST_REPEATS || (!open && most > MOST_REPEATS)) {
            return not_here(r, start, "repeating more than 255 times is not implemented");
        }
        if (!open && least > most) {
            return fails(r, start, "a repetition goes from the least to the most");
        }
        bytes_format(r->out, "{%zu", least);
        if (open) {
            bytes_put_char(r->out, ',');
        } else {
            bytes_format(r->out, ",%zu", most);
        }
        bytes_put_char(r->out, '}');
        *size *= (open ? least : most) + 1;
    } else {
        return true;
    }
    if (assertion) {
        return fails(r, start, "what matches no characters cannot be repeated");
    }
    (void)takes(r, "?"); /* lazy: the same texts match */
    return true;
}

static bool read_alternatives(struct regex *r, size_t *out_size)
{
    size_t total = 1;
    if (++r->depth > LIMIT_PATTERN_DEPTH) {
        return fails_here(r, "the pattern is nested too deep");
    }
    while (!ends(r) && peek(r) != ')') {
        bool assertion;
        size_t size;
        if (takes(r, "|")) {
            bytes_put_char(r->out, '|');
            continue;
        }
        if (!read_atom(r, &assertion, &size) || !read_quantifier(r, assertion, &size)) {
            return false;
        }
        total += size;
        if (total > LIMIT_PATTERN_SIZE) {
            return fails_here(r, "the pattern repeats too much");
        }
    }
    r->depth--;
    *out_size = total;
    return true;
}

bool ecma_regex_rewrite(struct str pattern, struct bytes *out,
                        struct ecma_regex_problem *out_problem)
{
    struct regex r = {.in = pattern, .out = out, .problem = out_problem};
    size_t size;
    if (pattern.len > LIMIT_PATTERN_BYTES) {
        return fails(&r, 0, "the pattern is too long");
    }
    if (!read_alternatives(&r, &size)) {
        return false;
    }
    return ends(&r) || fails_here(&r, "a parenthesis is closed that was not opened");
}

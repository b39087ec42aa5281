// SPDX-License-Identifier: Apache-2.0
#include "odata/bind_temporal.h"

#include <stddef.h>
#include <stdint.h>

/* What is left to read. */
struct reader {
    struct str rest;
};

static bool take(struct reader *r, char c)
{
    if (r->rest.len == 0 || r->rest.ptr[0] != c) {
        return false;
    }
    r->rest = str_from_offset(r->rest, 1);
    return true;
}

static bool take_any_case(struct reader *r, char upper)
{
    return take(r, upper) || take(r, (char)(upper - 'A' + 'a'));
}

static size_t digits_ahead(const struct reader *r)
{
    size_t n = 0;
    while (n < r->rest.len && r->rest.ptr[n] >= '0' && r->rest.ptr[n] <= '9') {
        n++;
    }
    return n;
}

static struct str take_digits(struct reader *r)
{
    struct str digits = str_slice(r->rest, 0, digits_ahead(r));
    r->rest = str_from_offset(r->rest, digits.len);
    return digits;
}

/* Exactly two digits, at most `most`. */
static bool take_two(struct reader *r, unsigned most, unsigned *out)
{
    if (digits_ahead(r) < 2) {
        return false;
    }
    *out = (unsigned)(r->rest.ptr[0] - '0') * 10 + (unsigned)(r->rest.ptr[1] - '0');
    r->rest = str_from_offset(r->rest, 2);
    return *out <= most;
}

static unsigned days_of(uint64_t year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap ? 1U : 0U);
}

/* ["-"] year "-" month "-" day; *out_bc: the year needs PostgreSQL's BC, which comes last. */
static bool take_date(struct reader *r, struct bytes *out, bool *out_bc)
{
    bool negative = take(r, '-');
    struct str digits = take_digits(r);
    uint64_t year;
    unsigned month;
    unsigned day;
    if (digits.len < 4 || digits.len > 6 || (digits.len > 4 && digits.ptr[0] == '0') ||
        !str_to_u64(digits, &year) || !take(r, '-') || !take_two(r, 12, &month) || month == 0 ||
        !take(r, '-') || !take_two(r, 31, &day) || day == 0 || day > days_of(year, month)) {
        return false;
    }
    /* The year 0000 is 1 BC, -0001 is 2 BC. */
    *out_bc = negative || year == 0;
    bytes_format(out, "%04llu-%02u-%02u", (unsigned long long)(*out_bc ? year + 1 : year), month,
                 day);
    return true;
}

/* "." and one to twelve digits, of which PostgreSQL keeps six. */
static bool take_fraction(struct reader *r, struct bytes *out)
{
    struct str digits = take_digits(r);
    if (digits.len == 0 || digits.len > 12) {
        return false;
    }
    bytes_put_char(out, '.');
    bytes_put_str(out, digits);
    return true;
}

/* hour ":" minute [ ":" second [ "." fraction ] ] */
static bool take_time(struct reader *r, struct bytes *out)
{
    unsigned hour;
    unsigned minute;
    unsigned second = 0;
    if (!take_two(r, 23, &hour) || !take(r, ':') || !take_two(r, 59, &minute)) {
        return false;
    }
    bool has_seconds = take(r, ':');
    if (has_seconds && !take_two(r, 59, &second)) {
        return false;
    }
    bytes_format(out, "%02u:%02u:%02u", hour, minute, second);
    return !has_seconds || !take(r, '.') || take_fraction(r, out);
}

static bool take_zone(struct reader *r, struct bytes *out)
{
    if (take_any_case(r, 'Z')) {
        bytes_put_char(out, 'Z');
        return true;
    }
    unsigned hours;
    unsigned minutes;
    bool minus = take(r, '-');
    if ((!minus && !take(r, '+')) || !take_two(r, 14, &hours) || !take(r, ':') ||
        !take_two(r, 59, &minutes)) {
        return false;
    }
    bytes_format(out, "%c%02u:%02u", minus ? '-' : '+', hours, minutes);
    return true;
}

bool bind_date_text(struct str text, struct bytes *out)
{
    struct reader r = {text};
    bool bc;
    if (!take_date(&r, out, &bc) || r.rest.len > 0) {
        return false;
    }
    if (bc) {
        BYTES_PUT_LITERAL(out, " BC");
    }
    return true;
}

bool bind_timeofday_text(struct str text, struct bytes *out)
{
    struct reader r = {text};
    return take_time(&r, out) && r.rest.len == 0;
}

bool bind_datetimeoffset_text(struct str text, struct bytes *out)
{
    struct reader r = {text};
    bool bc;
    if (!take_date(&r, out, &bc) || !take_any_case(&r, 'T')) {
        return false;
    }
    bytes_put_char(out, ' ');
    if (!take_time(&r, out) || !take_zone(&r, out) || r.rest.len > 0) {
        return false;
    }
    if (bc) {
        BYTES_PUT_LITERAL(out, " BC");
    }
    return true;
}

/* One part of a duration, when it is next: digits [ "." digits ] and its letter. */
static bool take_part(struct reader *r, char letter, bool fraction, bool negative,
                      struct bytes *out)
{
    struct reader ahead = *r;
    struct str digits = take_digits(&ahead);
    struct str decimals = STR("");
    if (digits.len == 0 || digits.len > 15) {
        return false;
    }
    if (fraction && take(&ahead, '.')) {
        decimals = take_digits(&ahead);
        if (decimals.len == 0 || decimals.len > 12) {
            return false;
        }
    }
    if (!take_any_case(&ahead, letter)) {
        return false;
    }
    *r = ahead;
    if (negative) {
        bytes_put_char(out, '-');
    }
    bytes_put_str(out, digits);
    if (decimals.len > 0) {
        bytes_put_char(out, '.');
        bytes_put_str(out, decimals);
    }
    bytes_put_char(out, letter);
    return true;
}

bool bind_duration_text(struct str text, struct bytes *out)
{
    struct reader r = {text};
    bool negative = take(&r, '-');
    if (!negative) {
        (void)take(&r, '+');
    }
    if (!take_any_case(&r, 'P')) {
        return false;
    }
    bytes_put_char(out, 'P');
    bool any = take_part(&r, 'D', false, negative, out);
    if (take_any_case(&r, 'T')) {
        bytes_put_char(out, 'T');
        bool hours = take_part(&r, 'H', false, negative, out);
        bool minutes = take_part(&r, 'M', false, negative, out);
        bool seconds = take_part(&r, 'S', true, negative, out);
        if (!hours && !minutes && !seconds) {
            return false;
        }
        any = true;
    }
    return any && r.rest.len == 0;
}

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == '-' || c == '+') {
        return 62;
    }
    return c == '_' || c == '/' ? 63 : -1;
}

bool bind_binary_text(struct str text, struct bytes *out)
{
    while (text.len > 0 && text.ptr[text.len - 1] == '=') {
        text.len--;
    }
    if (text.len % 4 == 1) {
        return false;
    }
    BYTES_PUT_LITERAL(out, "\\x");
    uint32_t held = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int six = sextet(text.ptr[i]);
        if (six < 0) {
            return false;
        }
        held = (held << 6 | (uint32_t)six) & 0xFFFFFFU;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes_format(out, "%02x", (unsigned)(held >> bits & 0xFFU));
        }
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/pg_value_priv.h"

/*
 * intervalstyle=iso_8601, `P1Y2M3DT4H5M6.789S`, to Edm.Duration, which has days at most and one
 * sign for all of it (`P428DT4H5M6.789S`; ABNF durationValue). A year counts 12 months and a month
 * 30 days, as in PostgreSQL's own comparisons. Each part may have its own sign: `P1DT-2H` is 22
 * hours.
 */
enum {
    SECONDS_PER_DAY = 86400,
    MICROS_PER_SECOND = 1000000,
    DAYS_PER_MONTH = 30,
    DAYS_PER_YEAR = 12 * DAYS_PER_MONTH,
    NUMBER_DIGITS = 12, /* more than PostgreSQL has of any part: sums stay below 2^63 */
    FRACTION_DIGITS = 6,
};

/* PostgreSQL 17 has infinite ones; this is the longest that .NET's TimeSpan can hold. */
static const char longest[] = "P10675199DT2H48M5.477580S";

/* Each part is as it was read: signs differ, seconds may be more than a day. */
struct parts {
    int64_t days;
    int64_t seconds;
    int64_t micros; /* less than a second, either way */
};

struct number {
    int64_t whole;
    int64_t micros; /* of the fraction, with the sign of the number */
    bool has_fraction;
};

/* A designator, and how many days or seconds it counts. */
static const struct unit {
    char designator;
    bool of_time; /* stands behind the T */
    int64_t days;
    int64_t seconds;
} units[] = {
    {'Y', false, DAYS_PER_YEAR, 0},
    {'M', false, DAYS_PER_MONTH, 0},
    {'W', false, 7, 0},
    {'D', false, 1, 0},
    {'H', true, 0, 3600},
    {'M', true, 0, 60},
    {'S', true, 0, 1},
};

/* Digits as they are; false when there is none or too many. */
static bool take_digits(struct pg_rest *c, unsigned most, int64_t *out_value, unsigned *out_count)
{
    int64_t value = 0;
    unsigned count = 0;
    while (c->at < c->end && pg_is_digit(*c->at)) {
        if (count == most) {
            return false;
        }
        value = value * 10 + (*c->at - '0');
        c->at++;
        count++;
    }
    *out_value = value;
    *out_count = count;
    return count > 0;
}

static bool take_number(struct pg_rest *c, struct number *out_number)
{
    bool negative = c->at < c->end && *c->at == '-';
    c->at += negative;
    struct number n = {0};
    unsigned count;
    if (!take_digits(c, NUMBER_DIGITS, &n.whole, &count)) {
        return false;
    }
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!take_digits(c, FRACTION_DIGITS, &n.micros, &count)) {
            return false;
        }
        for (; count < FRACTION_DIGITS; count++) {
            n.micros *= 10;
        }
        n.has_fraction = true;
    }
    if (negative) {
        n.whole = -n.whole;
        n.micros = -n.micros;
    }
    *out_number = n;
    return true;
}

/* Takes one number and its designator. */
static bool take_part(struct pg_rest *c, bool of_time, struct parts *parts)
{
    struct number n;
    if (!take_number(c, &n) || c->at == c->end) {
        return false;
    }
    char designator = *c->at++;
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        const struct unit *u = &units[i];
        if (u->designator != designator || u->of_time != of_time) {
            continue;
        }
        if (n.has_fraction && designator != 'S') {
            return false;
        }
        parts->days += n.whole * u->days;
        parts->seconds += n.whole * u->seconds;
        parts->micros += n.micros;
        return true;
    }
    return false;
}

static bool read_parts(const char *text, size_t len, struct parts *out_parts)
{
    struct pg_rest c = {text, text + len};
    struct parts parts = {0};
    if (c.at == c.end || *c.at++ != 'P' || c.at == c.end) {
        return false;
    }
    bool of_time = false;
    unsigned count = 0;
    while (c.at < c.end) {
        /* A text with the same part over and over is not PostgreSQL's: sums stay small. */
        if (count == 2 * ARRAY_SIZE(units)) {
            return false;
        }
        if (*c.at == 'T' && !of_time) {
            of_time = true;
            c.at++;
        }
        if (!take_part(&c, of_time, &parts)) {
            return false;
        }
        count++;
    }
    *out_parts = parts;
    return true;
}

/* One sign for all, seconds below a day, microseconds below a second. */
static void normalise(struct parts *p)
{
    p->seconds += p->micros / MICROS_PER_SECOND;
    p->micros %= MICROS_PER_SECOND;
    p->days += p->seconds / SECONDS_PER_DAY;
    p->seconds %= SECONDS_PER_DAY;
    if (p->seconds > 0 && p->micros < 0) {
        p->seconds--;
        p->micros += MICROS_PER_SECOND;
    } else if (p->seconds < 0 && p->micros > 0) {
        p->seconds++;
        p->micros -= MICROS_PER_SECOND;
    }
    bool time_is_negative = p->seconds < 0 || p->micros < 0;
    bool time_is_positive = p->seconds > 0 || p->micros > 0;
    if (p->days > 0 && time_is_negative) {
        p->days--;
        p->seconds += SECONDS_PER_DAY - (p->micros != 0);
        p->micros += p->micros != 0 ? MICROS_PER_SECOND : 0;
    } else if (p->days < 0 && time_is_positive) {
        p->days++;
        p->seconds -= SECONDS_PER_DAY - (p->micros != 0);
        p->micros -= p->micros != 0 ? MICROS_PER_SECOND : 0;
    }
}

static void put_part(struct bytes *out, int64_t value, char designator)
{
    if (value != 0) {
        bytes_put_u64(out, (uint64_t)value);
        bytes_put_char(out, designator);
    }
}

static void put_seconds(struct bytes *out, int64_t seconds, int64_t micros)
{
    if (seconds == 0 && micros == 0) {
        return;
    }
    bytes_put_u64(out, (uint64_t)seconds);
    if (micros != 0) {
        char digits[FRACTION_DIGITS];
        size_t count = FRACTION_DIGITS;
        for (size_t i = FRACTION_DIGITS; i > 0; i--) {
            digits[i - 1] = (char)('0' + micros % 10);
            micros /= 10;
        }
        while (digits[count - 1] == '0') {
            count--;
        }
        bytes_put_char(out, '.');
        bytes_put(out, digits, count);
    }
    bytes_put_char(out, 'S');
}

static void put_parts(struct bytes *out, struct parts p)
{
    if (p.days < 0 || p.seconds < 0 || p.micros < 0) {
        bytes_put_char(out, '-');
        p = (struct parts){-p.days, -p.seconds, -p.micros};
    }
    bytes_put_char(out, 'P');
    put_part(out, p.days, 'D');
    if (p.days == 0 && p.seconds == 0 && p.micros == 0) {
        BYTES_PUT_LITERAL(out, "T0S");
        return;
    }
    if (p.seconds != 0 || p.micros != 0) {
        bytes_put_char(out, 'T');
        put_part(out, p.seconds / 3600, 'H');
        put_part(out, p.seconds / 60 % 60, 'M');
        put_seconds(out, p.seconds % 60, p.micros);
    }
}

void pg_put_interval(struct bytes *out, const char *text, size_t len)
{
    struct parts parts;
    if (LIKELY(read_parts(text, len, &parts))) {
        normalise(&parts);
        put_parts(out, parts);
        return;
    }
    struct str s = {text, len};
    if (str_eq(s, STR("infinity"))) {
        bytes_put_str(out, str_from(longest));
    } else if (str_eq(s, STR("-infinity"))) {
        bytes_put_char(out, '-');
        bytes_put_str(out, str_from(longest));
    } else {
        out->failed = true;
    }
}

void pg_write_interval(struct bytes *out, const char *text, size_t len,
                       const struct value_form *form)
{
    (void)form;
    bytes_put_char(out, '"');
    pg_put_interval(out, text, len);
    bytes_put_char(out, '"');
}

// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "storage/pg_value_priv.h"

/*
 * Edm.Date and Edm.DateTimeOffset allow every year of PostgreSQL: `year = [ "-" ] 4*DIGIT` (ABNF).
 * They count as ISO 8601 does, with a year 0: PostgreSQL's 44 BC is -0043. What they do not have
 * is infinity: it is written as the ends of what clients' own types hold. Nor has Edm.TimeOfDay
 * 24:00:00, which PostgreSQL's time allows: it is written as the last microsecond before it.
 */
static const struct special {
    struct str text;
    struct str date;
    struct str timestamp;
} specials[] = {
    {{STR_INIT("infinity")}, {STR_INIT("9999-12-31")}, {STR_INIT("9999-12-31T23:59:59.999999Z")}},
    {{STR_INIT("-infinity")}, {STR_INIT("0001-01-01")}, {STR_INIT("0001-01-01T00:00:00Z")}},
};

enum {
    DATE_LENGTH = 10,       /* 2024-02-29 */
    TIME_LENGTH = 8,        /* 07:59:59 */
    TIMESTAMP_LENGTH = 19,  /* 2024-02-29 07:59:59 */
    FRACTION_DIGITS = 6,    /* PostgreSQL counts microseconds */
    YEAR_DIGITS = 9,        /* more than PostgreSQL has years */
    LONGEST_TIMESTAMP = 40, /* of what is written, quotes included */
    SECONDS_PER_DAY = 86400,
};

/* A day as people count them; year 0 is the one before year 1. */
struct civil {
    int64_t year;
    unsigned month;
    unsigned day;
};

static const struct special *find_special(const char *text, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE(specials); i++) {
        if (str_eq((struct str){text, len}, specials[i].text)) {
            return &specials[i];
        }
    }
    return NULL;
}

/* Takes between least and most digits and their value. */
static bool take_number(struct pg_rest *c, unsigned least, unsigned most, unsigned *out_value)
{
    unsigned value = 0;
    unsigned count = 0;
    while (c->at < c->end && count < most && pg_is_digit(*c->at)) {
        value = value * 10 + (unsigned)(*c->at - '0');
        c->at++;
        count++;
    }
    *out_value = value;
    return count >= least;
}

static bool take_char(struct pg_rest *c, char wanted)
{
    if (c->at < c->end && *c->at == wanted) {
        c->at++;
        return true;
    }
    return false;
}

static bool take_text(struct pg_rest *c, struct str wanted)
{
    struct str rest = {c->at, (size_t)(c->end - c->at)};
    if (!str_starts_with(rest, wanted)) {
        return false;
    }
    c->at += wanted.len;
    return true;
}

static bool take_date(struct pg_rest *c, struct civil *out_day)
{
    unsigned year;
    struct civil day;
    if (!take_number(c, 4, YEAR_DIGITS, &year) || !take_char(c, '-') ||
        !take_number(c, 2, 2, &day.month) || !take_char(c, '-') ||
        !take_number(c, 2, 2, &day.day) || day.month < 1 || day.month > 12 || day.day < 1 ||
        day.day > 31) {
        return false;
    }
    day.year = (int64_t)year;
    *out_day = day;
    return true;
}

/* The era stands at the end of all; without one it is ours. */
static bool take_era(struct pg_rest *c, struct civil *day)
{
    if (take_text(c, STR(" BC"))) {
        day->year = 1 - day->year;
    }
    return c->at == c->end;
}

static char *put_digits(char *to, uint64_t value, unsigned least)
{
    char digits[20];
    unsigned count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0 || count < least);
    while (count > 0) {
        *to++ = digits[--count];
    }
    return to;
}

static char *put_civil(char *to, struct civil day)
{
    if (day.year < 0) {
        *to++ = '-';
    }
    to = put_digits(to, (uint64_t)(day.year < 0 ? -day.year : day.year), 4);
    *to++ = '-';
    to = put_digits(to, day.month, 2);
    *to++ = '-';
    return put_digits(to, day.day, 2);
}

static char *put_clock(char *to, unsigned second_of_day)
{
    to = put_digits(to, second_of_day / 3600, 2);
    *to++ = ':';
    to = put_digits(to, second_of_day / 60 % 60, 2);
    *to++ = ':';
    return put_digits(to, second_of_day % 60, 2);
}

static char *put_text(char *to, struct str text)
{
    memcpy(to, text.ptr, text.len);
    return to + text.len;
}

/* Whether it is the common form, four digits of year and nothing behind the day. */
static inline bool is_plain_date(const char *text)
{
    return pg_fits_8(text, "0000-00-", "\xf0\xf0\xf0\xf0\xff\xf0\xf0\xff", "\6\6\6\6\0\6\6\0") &&
           pg_is_digit(text[8]) && pg_is_digit(text[9]);
}

static inline bool is_plain_time(const char *text)
{
    return pg_fits_8(text, "00:00:00", "\xf0\xf0\xff\xf0\xf0\xff\xf0\xf0", "\6\6\0\6\6\0\6\6");
}

/* The date at to, which has room for LONGEST_TIMESTAMP; its end, or NULL. */
static char *make_date(char *to, const char *text, size_t len)
{
    if (LIKELY(len == DATE_LENGTH && is_plain_date(text))) {
        memcpy(to, text, DATE_LENGTH);
        return to + DATE_LENGTH;
    }
    const struct special *special = find_special(text, len);
    if (special != NULL) {
        return put_text(to, special->date);
    }
    struct pg_rest c = {text, text + len};
    struct civil day;
    if (!take_date(&c, &day) || !take_era(&c, &day)) {
        return NULL;
    }
    return put_civil(to, day);
}

/* Takes `.5`, `.678900`: the digits but for trailing zeros, and no point when none is left. */
static bool take_fraction(struct pg_rest *c, struct str *out_fraction)
{
    *out_fraction = STR("");
    if (!take_char(c, '.')) {
        return true;
    }
    const char *digits = c->at;
    unsigned value;
    if (!take_number(c, 1, FRACTION_DIGITS, &value)) {
        return false;
    }
    const char *end = c->at;
    while (end > digits && end[-1] == '0') {
        end--;
    }
    if (end > digits) {
        *out_fraction = (struct str){digits - 1, (size_t)(end - digits) + 1};
    }
    return true;
}

static bool take_clock(struct pg_rest *c, int64_t *out_second_of_day, struct str *out_fraction)
{
    unsigned hour;
    unsigned minute;
    unsigned second;
    if (!take_number(c, 2, 2, &hour) || !take_char(c, ':') || !take_number(c, 2, 2, &minute) ||
        !take_char(c, ':') || !take_number(c, 2, 2, &second) || !take_fraction(c, out_fraction) ||
        hour > 23 || minute > 59 || second > 59) {
        return false;
    }
    *out_second_of_day = (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
    return true;
}

/* Takes `+00`, `-05:30`, `+00:53:28`, or nothing, as seconds east of UTC. */
static bool take_offset(struct pg_rest *c, int64_t *out_offset_s)
{
    *out_offset_s = 0;
    bool east = take_char(c, '+');
    if (!east && !take_char(c, '-')) {
        return true;
    }
    unsigned hour;
    unsigned minute = 0;
    unsigned second = 0;
    if (!take_number(c, 2, 2, &hour) || (take_char(c, ':') && !take_number(c, 2, 2, &minute)) ||
        (take_char(c, ':') && !take_number(c, 2, 2, &second)) || hour > 23 || minute > 59 ||
        second > 59) {
        return false;
    }
    int64_t offset = (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
    *out_offset_s = east ? offset : -offset;
    return true;
}

static unsigned days_of_month(struct civil day)
{
    static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = day.year % 4 == 0 && (day.year % 100 != 0 || day.year % 400 == 0);
    return day.month == 2 && leap ? 29 : days[day.month - 1];
}

static void next_day(struct civil *day)
{
    if (day->day < days_of_month(*day)) {
        day->day++;
        return;
    }
    day->day = 1;
    day->year += day->month == 12;
    day->month = day->month % 12 + 1;
}

static void previous_day(struct civil *day)
{
    if (day->day > 1) {
        day->day--;
        return;
    }
    day->year -= day->month == 1;
    day->month = (day->month + 10) % 12 + 1;
    day->day = days_of_month(*day);
}

/* Any timestamp that PostgreSQL writes, in whatever zone, as UTC. */
static char *make_any_timestamp(char *to, const char *text, size_t len)
{
    const struct special *special = find_special(text, len);
    if (special != NULL) {
        return put_text(to, special->timestamp);
    }
    struct pg_rest c = {text, text + len};
    struct civil day;
    int64_t second;
    int64_t offset_s;
    struct str fraction;
    if (!take_date(&c, &day) || !take_char(&c, ' ') || !take_clock(&c, &second, &fraction) ||
        !take_offset(&c, &offset_s) || !take_era(&c, &day)) {
        return NULL;
    }
    second -= offset_s;
    if (second < 0) {
        second += SECONDS_PER_DAY;
        previous_day(&day);
    } else if (second >= SECONDS_PER_DAY) {
        second -= SECONDS_PER_DAY;
        next_day(&day);
    }
    to = put_civil(to, day);
    *to++ = 'T';
    to = put_clock(to, (unsigned)second);
    to = put_text(to, fraction);
    *to++ = 'Z';
    return to;
}

/* The timestamp at to, which has room for LONGEST_TIMESTAMP; its end, or NULL. */
static char *make_timestamp(char *to, const char *text, size_t len)
{
    if (UNLIKELY(len < TIMESTAMP_LENGTH || !is_plain_date(text) || text[DATE_LENGTH] != ' ' ||
                 !is_plain_time(text + DATE_LENGTH + 1))) {
        return make_any_timestamp(to, text, len);
    }
    struct pg_rest c = {text + TIMESTAMP_LENGTH, text + len};
    struct str fraction = STR("");
    if (c.at < c.end && *c.at == '.' && !take_fraction(&c, &fraction)) {
        return NULL;
    }
    if (c.at < c.end && !(c.end - c.at == 3 && memcmp(c.at, "+00", 3) == 0)) {
        return make_any_timestamp(to, text, len);
    }
    memcpy(to, text, TIMESTAMP_LENGTH);
    to[DATE_LENGTH] = 'T';
    to = put_text(to + TIMESTAMP_LENGTH, fraction);
    *to++ = 'Z';
    return to;
}

static char *make_time(char *to, const char *text, size_t len)
{
    if (UNLIKELY(len < TIME_LENGTH || !is_plain_time(text))) {
        return NULL;
    }
    if (UNLIKELY(text[0] == '2' && text[1] == '4')) {
        return str_eq((struct str){text, len}, STR("24:00:00"))
                   ? put_text(to, STR("23:59:59.999999"))
                   : NULL;
    }
    struct pg_rest c = {text + TIME_LENGTH, text + len};
    struct str fraction;
    if (UNLIKELY(!take_fraction(&c, &fraction) || c.at != c.end)) {
        return NULL;
    }
    memcpy(to, text, TIME_LENGTH);
    return put_text(to + TIME_LENGTH, fraction);
}

typedef char *(*make_fn)(char *to, const char *text, size_t len);

static inline void put_made(struct bytes *out, const char *text, size_t len, make_fn make)
{
    char *room = bytes_reserve(out, LONGEST_TIMESTAMP);
    if (UNLIKELY(room == NULL)) {
        return;
    }
    const char *end = make(room, text, len);
    if (UNLIKELY(end == NULL)) {
        out->failed = true;
        return;
    }
    bytes_added(out, (size_t)(end - room));
}

static inline void write_made(struct bytes *out, const char *text, size_t len, make_fn make)
{
    char *room = bytes_reserve(out, LONGEST_TIMESTAMP);
    if (UNLIKELY(room == NULL)) {
        return;
    }
    room[0] = '"';
    char *end = make(room + 1, text, len);
    if (UNLIKELY(end == NULL)) {
        out->failed = true;
        return;
    }
    *end++ = '"';
    bytes_added(out, (size_t)(end - room));
}

void pg_put_date(struct bytes *out, const char *text, size_t len)
{
    put_made(out, text, len, make_date);
}

void pg_put_timestamp(struct bytes *out, const char *text, size_t len)
{
    put_made(out, text, len, make_timestamp);
}

void pg_put_time(struct bytes *out, const char *text, size_t len)
{
    put_made(out, text, len, make_time);
}

void pg_write_date(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    write_made(out, text, len, make_date);
}

void pg_write_timestamp(struct bytes *out, const char *text, size_t len,
                        const struct value_form *form)
{
    (void)form;
    write_made(out, text, len, make_timestamp);
}

void pg_write_time(struct bytes *out, const char *text, size_t len, const struct value_form *form)
{
    (void)form;
    write_made(out, text, len, make_time);
}

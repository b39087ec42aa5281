// SPDX-License-Identifier: Apache-2.0
#include "server/log.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_BUFFER_LIMIT = 1024 * 1024, /* lines that wait for a reader; more are dropped */
    LOG_FLUSH_AT = 32 * 1024,
    LOG_VALUE_LIMIT = 2048, /* bytes of one value; the rest is cut */
};

static const char *const level_names[] = {
    [LOG_ERROR] = "error",
    [LOG_WARNING] = "warning",
    [LOG_INFO] = "info",
    [LOG_DEBUG] = "debug",
};

void log_init(struct log *l, int fd, enum log_level level, enum log_format format)
{
    *l = (struct log){.fd = fd, .level = level, .format = format, .second = -1};
    bytes_init(&l->out, LOG_BUFFER_LIMIT);
}

void log_fini(struct log *l)
{
    log_flush(l);
    bytes_fini(&l->out);
}

/* Text form of the time: 2024-02-29T12:30:00.123Z. */
static void put_time(struct log *l)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec != l->second) {
        struct tm parts;
        time_t second = now.tv_sec;
        gmtime_r(&second, &parts);
        strftime(l->second_text, sizeof(l->second_text), "%Y-%m-%dT%H:%M:%S", &parts);
        l->second = now.tv_sec;
    }
    bytes_put_str(&l->out, str_from(l->second_text));
    unsigned ms = (unsigned)(now.tv_nsec / 1000000);
    char fraction[5] = {'.', (char)('0' + ms / 100), (char)('0' + ms / 10 % 10),
                        (char)('0' + ms % 10), 'Z'};
    bytes_put(&l->out, fraction, sizeof(fraction));
}

/* How often an event may be said in a second; what was held back is told by the next line. */
static bool pass_rate(struct log *l, const char *event, uint64_t *out_held_back)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct log_cause *cause = NULL;
    for (size_t i = 0; i < LOG_CAUSES && cause == NULL; i++) {
        if (l->causes[i].event == NULL || strcmp(l->causes[i].event, event) == 0) {
            cause = &l->causes[i];
        }
    }
    *out_held_back = 0;
    if (cause == NULL) {
        return true;
    }
    cause->event = event;
    if (cause->second != now.tv_sec) {
        cause->second = now.tv_sec;
        cause->lines = 0;
    }
    if (cause->lines >= LOG_LINES_PER_S) {
        cause->held_back++;
        return false;
    }
    cause->lines++;
    *out_held_back = cause->held_back;
    cause->held_back = 0;
    return true;
}

bool log_is_news(struct log_news *n, const char *text, int64_t now_ms)
{
    uint64_t hash = str_hash(str_from(text));
    if (n->said_ms != 0 && n->hash == hash && now_ms - n->said_ms < LOG_NEWS_MS) {
        return false;
    }
    *n = (struct log_news){hash, now_ms};
    return true;
}

static void put_hex(struct bytes *out, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
    bytes_put(out, escape, sizeof(escape));
}

/* Both formats: quotes, backslashes, controls and what is not ASCII cannot make another line. */
static void put_escaped(struct bytes *out, struct str s)
{
    struct str shown = str_slice(s, 0, LOG_VALUE_LIMIT);
    for (size_t i = 0; i < shown.len; i++) {
        unsigned char c = (unsigned char)shown.ptr[i];
        if (c == '"' || c == '\\') {
            bytes_put_char(out, '\\');
            bytes_put_char(out, (char)c);
        } else if (c < 0x20 || c >= 0x7f) {
            put_hex(out, c);
        } else {
            bytes_put_char(out, (char)c);
        }
    }
    if (shown.len < s.len) {
        BYTES_PUT_LITERAL(out, "...");
    }
}

static void put_key(struct log *l, const char *key)
{
    if (l->format == LOG_JSON) {
        BYTES_PUT_LITERAL(&l->out, ",\"");
        bytes_put_str(&l->out, str_from(key));
        BYTES_PUT_LITERAL(&l->out, "\":");
        return;
    }
    bytes_put_char(&l->out, ' ');
    bytes_put_str(&l->out, str_from(key));
    bytes_put_char(&l->out, '=');
}

bool log_begin(struct log *l, enum log_level level, const char *event)
{
    l->open = false;
    if (!log_is_on(l, level)) {
        return false;
    }
    uint64_t held_back = 0;
    if (level <= LOG_WARNING && !pass_rate(l, event, &held_back)) {
        return false;
    }
    l->open = true;
    l->urgent = level <= LOG_WARNING;
    l->line_start = l->out.len;
    if (l->format == LOG_JSON) {
        BYTES_PUT_LITERAL(&l->out, "{\"time\":\"");
        put_time(l);
        bytes_put_char(&l->out, '"');
    } else {
        put_time(l);
    }
    log_text(l, "level", level_names[level]);
    log_text(l, "event", event);
    if (held_back > 0) {
        log_int(l, "held_back", (int64_t)held_back);
    }
    return true;
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c <= ' ' || c == '"' || c == '\\' || c == '=' || c >= 0x7f) {
            return false;
        }
    }
    return s.len > 0 && s.len <= LOG_VALUE_LIMIT;
}

void log_str(struct log *l, const char *key, struct str value)
{
    if (!l->open) {
        return;
    }
    put_key(l, key);
    if (l->format == LOG_TEXT && is_plain(value)) {
        bytes_put_str(&l->out, value);
        return;
    }
    bytes_put_char(&l->out, '"');
    put_escaped(&l->out, value);
    bytes_put_char(&l->out, '"');
}

void log_text(struct log *l, const char *key, const char *value)
{
    log_str(l, key, str_from(value));
}

void log_int(struct log *l, const char *key, int64_t value)
{
    if (l->open) {
        put_key(l, key);
        bytes_put_i64(&l->out, value);
    }
}

void log_us(struct log *l, const char *key, int64_t value_us)
{
    if (l->open) {
        put_key(l, key);
        bytes_put_i64(&l->out, value_us / 1000);
        unsigned rest = (unsigned)(value_us % 1000);
        char fraction[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                            (char)('0' + rest % 10)};
        bytes_put(&l->out, fraction, sizeof(fraction));
    }
}

void log_end(struct log *l)
{
    if (!l->open) {
        return;
    }
    l->open = false;
    if (l->format == LOG_JSON) {
        bytes_put_char(&l->out, '}');
    }
    bytes_put_char(&l->out, '\n');
    if (bytes_failed(&l->out)) {
        /* The buffer is full: this line is dropped, the whole ones before it stay. */
        l->dropped++;
        l->out.failed = false;
        l->out.len = l->line_start;
    }
    if (l->urgent || l->out.len >= LOG_FLUSH_AT) {
        log_flush(l);
    }
}

void log_event(struct log *l, enum log_level level, const char *event, const char *key,
               const char *value)
{
    if (log_begin(l, level, event)) {
        log_text(l, key, value);
        log_end(l);
    }
}

static uint64_t count_lines(struct str text)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < text.len; i++) {
        lines += text.ptr[i] == '\n';
    }
    return lines;
}

/*
 * How much to write at once: whole lines of at most a page, which a pipe that is ready takes
 * without blocking and does not mix with the lines of other threads.
 */
static size_t flush_part(struct str rest)
{
    size_t part = rest.len < PIPE_BUF ? rest.len : PIPE_BUF;
    const char *end = memrchr(rest.ptr, '\n', part);
    return end == NULL ? part : (size_t)(end - rest.ptr) + 1;
}

void log_flush(struct log *l)
{
    size_t done = 0;
    while (done < l->out.len) {
        struct pollfd ready = {.fd = l->fd, .events = POLLOUT};
        if (poll(&ready, 1, 0) == 0) {
            break; /* nobody reads just now: the lines wait, up to the buffer's limit */
        }
        struct str rest = str_from_offset(bytes_str(&l->out), done);
        ssize_t written = write(l->fd, rest.ptr, flush_part(rest));
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
            break;
        }
        if (written < 0) { /* closed, broken or full: these lines are lost, and counted */
            l->dropped += count_lines(rest);
            done = l->out.len;
            break;
        }
        done += (size_t)written;
    }
    bytes_drop_front(&l->out, done);
}

/* Masking of targets. */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number of bytes of a quote at the front: ' or %27; 0 when there is none. */
static size_t quote_length(struct str s)
{
    if (s.len > 0 && s.ptr[0] == '\'') {
        return 1;
    }
    return str_starts_with(s, STR("%27")) ? 3 : 0;
}

/* Writes `*` for a quoted text; returns how many bytes it took. A text without its end takes all. */
static size_t mask_quoted(struct bytes *out, struct str s)
{
    size_t at = quote_length(s);
    while (at < s.len) {
        size_t quote = quote_length(str_from_offset(s, at));
        at += quote == 0 ? 1 : quote;
        if (quote != 0) {
            size_t again = quote_length(str_from_offset(s, at));
            if (again == 0) {
                break;
            }
            at += again;
        }
    }
    BYTES_PUT_LITERAL(out, "'*'");
    return at;
}

static void mask_expression(struct bytes *out, struct str s)
{
    size_t at = 0;
    char before = 0;
    while (at < s.len) {
        struct str rest = str_from_offset(s, at);
        if (quote_length(rest) != 0) {
            at += mask_quoted(out, rest);
            before = '\'';
            continue;
        }
        if (rest.ptr[0] == '%' && rest.len >= 3) {
            bytes_put(out, rest.ptr, 3);
            at += 3;
            before = '%';
            continue;
        }
        if (is_digit(rest.ptr[0]) && !is_word(before)) {
            /* Numbers, dates, times, guids: all that belongs to the literal. */
            size_t length = 1;
            while (length < rest.len && (is_word(rest.ptr[length]) || rest.ptr[length] == '.' ||
                                         rest.ptr[length] == '-' || rest.ptr[length] == ':')) {
                length++;
            }
            bytes_put_char(out, '*');
            at += length;
            before = '*';
            continue;
        }
        before = rest.ptr[0];
        bytes_put_char(out, before);
        at++;
    }
}

enum mask_how {
    MASK_NOTHING,
    MASK_LITERALS,
    MASK_ALL,
};

static enum mask_how option_mask(struct str name)
{
    static const struct {
        struct str name;
        enum mask_how how;
    } options[] = {
        {{STR_INIT("top")}, MASK_NOTHING},      {{STR_INIT("skip")}, MASK_NOTHING},
        {{STR_INIT("count")}, MASK_NOTHING},    {{STR_INIT("select")}, MASK_NOTHING},
        {{STR_INIT("format")}, MASK_NOTHING},   {{STR_INIT("orderby")}, MASK_LITERALS},
        {{STR_INIT("filter")}, MASK_LITERALS},  {{STR_INIT("expand")}, MASK_LITERALS},
        {{STR_INIT("compute")}, MASK_LITERALS}, {{STR_INIT("apply")}, MASK_LITERALS},
    };
    if (str_starts_with(name, STR("$"))) {
        name = str_from_offset(name, 1);
    } else if (str_starts_with(name, STR("%24"))) {
        name = str_from_offset(name, 3);
    }
    for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
        if (str_ieq(options[i].name, name)) {
            return options[i].how;
        }
    }
    return MASK_ALL;
}

static void mask_option(struct bytes *out, struct str option)
{
    size_t equals = str_find(option, '=', 0);
    bytes_put_str(out, str_slice(option, 0, equals));
    if (equals == option.len) {
        return;
    }
    bytes_put_char(out, '=');
    struct str value = str_from_offset(option, equals + 1);
    switch (option_mask(str_slice(option, 0, equals))) {
    case MASK_NOTHING:
        bytes_put_str(out, value);
        break;
    case MASK_LITERALS:
        mask_expression(out, value);
        break;
    case MASK_ALL:
        bytes_put_char(out, '*');
        break;
    }
}

void log_mask_target(struct bytes *out, struct str target)
{
    size_t query = str_find(target, '?', 0);
    mask_expression(out, str_slice(target, 0, query));
    while (query < target.len) {
        bytes_put_char(out, target.ptr[query]);
        size_t end = str_find(target, '&', query + 1);
        mask_option(out, str_slice(target, query + 1, end));
        query = end;
    }
}

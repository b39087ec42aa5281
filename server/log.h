// SPDX-License-Identifier: Apache-2.0
/*
 * log - lines of key=value or of JSON to standard error, collected and written together.
 *
 * A line is begun, gets its pairs, and is ended. A worker's lines are written at the end of a loop
 * turn by log_flush(), so that a line costs no system call of its own; errors and warnings are
 * written at once.
 *
 * Owns:    its buffer. Never a secret: who calls masks what it gives (log_mask_target()).
 * Never:   blocks on a reader that does not read: lines are dropped then, and counted.
 * Threads: one logger belongs to one thread; loggers share the descriptor, whole lines at a time.
 */
#ifndef SERVER_LOG_H
#define SERVER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "odata/bytes.h"
#include "odata/str.h"

enum log_level {
    LOG_ERROR,
    LOG_WARNING,
    LOG_INFO,
    LOG_DEBUG,
};

enum log_format {
    LOG_TEXT,
    LOG_JSON,
};

enum {
    LOG_CAUSES = 32,      /* events that are counted against the rate */
    LOG_LINES_PER_S = 10, /* of one event, warnings and errors: EMFILE once wrote 20 MB/s */
    LOG_NEWS_MS = 60000   /* what goes on is said once a minute */
};

struct log {
    int fd;
    enum log_level level;
    enum log_format format;
    struct bytes out;
    uint64_t dropped; /* lines that were not written */
    /* The current line. */
    bool open;
    bool urgent;
    size_t line_start;
    /* The text of the second of the last line. */
    int64_t second;
    char second_text[24];
    struct log_cause {
        const char *event;
        int64_t second;
        unsigned lines;
        uint64_t held_back;
    } causes[LOG_CAUSES];
};

void log_init(struct log *l, int fd, enum log_level level, enum log_format format);
void log_fini(struct log *l);

static inline bool log_is_on(const struct log *l, enum log_level level)
{
    return level <= l->level;
}

/*
 * Begins a line; event is a static word. False: nothing is to be written, and the calls up to
 * log_end() do nothing.
 */
bool log_begin(struct log *l, enum log_level level, const char *event);
void log_str(struct log *l, const char *key, struct str value);
void log_text(struct log *l, const char *key, const char *value);
void log_int(struct log *l, const char *key, int64_t value);
/* Milliseconds with three digits behind the point, from microseconds. */
void log_us(struct log *l, const char *key, int64_t value_us);
void log_end(struct log *l);

/* One line with one text. */
void log_event(struct log *l, enum log_level level, const char *event, const char *key,
               const char *value);

/* What was last said about something that goes on, such as a database that is down. */
struct log_news {
    uint64_t hash; /* of the text */
    int64_t said_ms;
};

/* Whether text is worth a line: it is another one than last time, or LOG_NEWS_MS have passed. */
bool log_is_news(struct log_news *n, const char *text, int64_t now_ms);

/* Writes what has been collected. */
void log_flush(struct log *l);

/*
 * A request target as it may be shown: quoted text, numbers and unknown options' values become
 * `*`; names, operators and the paging options stay. Appends to out.
 */
void log_mask_target(struct bytes *out, struct str target);

#endif

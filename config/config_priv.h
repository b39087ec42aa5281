// SPDX-License-Identifier: Apache-2.0
/*
 * config_priv - what the files of config/ share: the table of settings and how errors are told.
 */
#ifndef CONFIG_CONFIG_PRIV_H
#define CONFIG_CONFIG_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"

#define CONFIG_NODISCARD         __attribute__((warn_unused_result))
#define CONFIG_PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

enum setting_kind {
    SETTING_TEXT,      /* char * */
    SETTING_SECRET,    /* char *; shown through config_masked_uri() */
    SETTING_ADDRESS,   /* struct config_address */
    SETTING_PATH,      /* char *; normalised to begin and end in '/' */
    SETTING_URL,       /* char *; normalised to end in '/' */
    SETTING_LIST,      /* struct config_list */
    SETTING_ORIGINS,   /* struct config_list */
    SETTING_NETWORKS,  /* struct config_networks */
    SETTING_COUNT,     /* size_t */
    SETTING_BYTES,     /* size_t */
    SETTING_DURATION,  /* int64_t, milliseconds */
    SETTING_BOOL,      /* bool */
    SETTING_LOG_LEVEL, /* enum config_log_level */
    SETTING_LOG_FORMAT /* enum config_log_format */
};

struct setting {
    const char *name;
    enum setting_kind kind;
    const char *unit; /* as documents show it */
    uint64_t least;   /* numbers only; bytes, rows, milliseconds ... */
    uint64_t most;
    const char *default_text;
    size_t offset; /* of its field in struct config */
    const char *sentence;
};

const struct setting *setting_table(size_t *out_count);

/* The row of that name, or NULL. */
const struct setting *setting_find(const char *name, size_t name_length);

/* The row whose name looks most like it, or NULL when none is near. */
const struct setting *setting_similar(const char *name);

/*
 * Parses text into the field of the setting, in place of what stood there, and notes text and
 * source. False fills err with the reason; the caller puts the place before it.
 */
bool setting_apply(struct config *c, const struct setting *s, const char *text,
                   enum config_source source, struct config_error *err) CONFIG_NODISCARD;

/* Frees the field of the setting. */
void setting_clear(struct config *c, const struct setting *s);

/* Reads the file into c. False fills err with path, member and reason. */
bool file_load(struct config *c, const char *path, struct config_error *err) CONFIG_NODISCARD;

void config_tell(struct config_error *err, const char *fmt, ...) CONFIG_PRINTF_LIKE(2, 3);
/* Puts "place: " before the message. */
void config_tell_place(struct config_error *err, const char *fmt, ...) CONFIG_PRINTF_LIKE(2, 3);

/* Both are false, so that `return config_fail(...)` reads well; macros, so that an analyzer sees it. */
#define config_fail(...)    (config_tell(__VA_ARGS__), false)
#define config_fail_at(...) (config_tell_place(__VA_ARGS__), false)

void config_list_free(struct config_list *list);

#endif

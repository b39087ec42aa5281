// SPDX-License-Identifier: Apache-2.0
#include "server/encoder.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
    INPUT_BYTES = 32 * 1024,
    /* The fastest: even so a feed costs four times our CPU (loadtest/RESULTS.md). */
    GZIP_LEVEL = 1,
    GZIP_WINDOW_BITS = 15 + 16, /* 16: with gzip's head and checksum */
    GZIP_MEMORY_LEVEL = 8,
    ZSTD_LEVEL = 1,
    ZSTD_WINDOW_LOG = 17, /* 128 KiB, a quarter of the level's own */
};

/* GIVING -> FLUSHING -> GIVING; GIVING -> ENDING -> ENDED. */
enum encoder_state {
    ENCODER_GIVING,   /* codes what the source gives */
    ENCODER_FLUSHING, /* the source has no more for now: all of it goes out */
    ENCODER_ENDING,   /* the source has ended: the rest and the coding's own end go out */
    ENCODER_ENDED,
};

struct encoder {
    enum content_coding coding;
    enum encoder_state state;
    bool unflushed; /* something was given since the last flush */
    bool failed;
    z_stream gzip;
    ZSTD_CCtx *zstd;
    const char *in;
    size_t in_left;
    char input[INPUT_BYTES];
};

void encoder_free(struct encoder *e)
{
    if (e == NULL) {
        return;
    }
    if (e->coding == CODING_GZIP) {
        (void)deflateEnd(&e->gzip);
    }
    (void)ZSTD_freeCCtx(e->zstd);
    free(e);
}

struct encoder *encoder_new(enum content_coding coding)
{
    struct encoder *e = calloc(1, sizeof(*e));
    if (e == NULL) {
        return NULL;
    }
    bool whole = false;
    if (coding == CODING_GZIP) {
        whole = deflateInit2(&e->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY_LEVEL,
                             Z_DEFAULT_STRATEGY) == Z_OK;
    } else if (coding == CODING_ZSTD) {
        e->zstd = ZSTD_createCCtx();
        whole =
            e->zstd != NULL &&
            !ZSTD_isError(ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
            !ZSTD_isError(ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_windowLog, ZSTD_WINDOW_LOG));
    }
    e->coding = whole ? coding : CODING_IDENTITY;
    if (!whole) {
        encoder_free(e);
        return NULL;
    }
    return e;
}

/* Codes into buf. Returns whether all that the state asks for is out. */
static bool code_gzip(struct encoder *e, char *buf, size_t max, size_t *out_len)
{
    static const int flushes[] = {[ENCODER_GIVING] = Z_NO_FLUSH,
                                  [ENCODER_FLUSHING] = Z_SYNC_FLUSH,
                                  [ENCODER_ENDING] = Z_FINISH};
    z_stream *z = &e->gzip;
    z->next_in = (z_const Bytef *)(uintptr_t)e->in;
    z->avail_in = (uInt)e->in_left;
    z->next_out = (Bytef *)buf;
    z->avail_out = (uInt)max;
    int status = deflate(z, flushes[e->state]);
    e->failed = status == Z_STREAM_ERROR;
    e->in = (const char *)z->next_in;
    e->in_left = z->avail_in;
    *out_len = max - z->avail_out;
    return e->state == ENCODER_ENDING ? status == Z_STREAM_END
                                      : z->avail_in == 0 && z->avail_out > 0;
}

static bool code_zstd(struct encoder *e, char *buf, size_t max, size_t *out_len)
{
    static const ZSTD_EndDirective directives[] = {[ENCODER_GIVING] = ZSTD_e_continue,
                                                   [ENCODER_FLUSHING] = ZSTD_e_flush,
                                                   [ENCODER_ENDING] = ZSTD_e_end};
    ZSTD_inBuffer in = {.src = e->in, .size = e->in_left};
    ZSTD_outBuffer out = {.dst = buf, .size = max};
    size_t left = ZSTD_compressStream2(e->zstd, &out, &in, directives[e->state]);
    e->failed = ZSTD_isError(left) != 0;
    e->in += in.pos;
    e->in_left -= in.pos;
    *out_len = out.pos;
    return e->state == ENCODER_GIVING ? e->in_left == 0 : left == 0;
}

/* The input is used up: what comes next. */
static enum step take_more(struct encoder *e, const struct encoder_source *source)
{
    size_t got = 0;
    enum step step = source->read(source->ctx, e->input, sizeof(e->input), &got);
    switch (step) {
    case STEP_OK:
        e->in = e->input;
        e->in_left = got;
        e->unflushed = true;
        return STEP_OK;
    case STEP_AGAIN:
        if (e->unflushed) {
            e->state = ENCODER_FLUSHING;
            return STEP_OK;
        }
        return STEP_AGAIN;
    case STEP_END:
        e->state = ENCODER_ENDING;
        return STEP_OK;
    case STEP_FAIL:
        break;
    }
    return step;
}

enum step encoder_read(struct encoder *e, const struct encoder_source *source, char *buf,
                       size_t max, size_t *out_len)
{
    if (e->state == ENCODER_ENDED) {
        return STEP_END;
    }
    if (max < ENCODER_LEAST_READ) {
        return STEP_FAIL;
    }
    for (;;) {
        if (e->state == ENCODER_GIVING && e->in_left == 0) {
            enum step step = take_more(e, source);
            if (step != STEP_OK) {
                return step;
            }
        }
        bool is_out = e->coding == CODING_GZIP ? code_gzip(e, buf, max, out_len)
                                               : code_zstd(e, buf, max, out_len);
        if (e->failed) {
            return STEP_FAIL;
        }
        if (is_out && e->state == ENCODER_FLUSHING) {
            e->state = ENCODER_GIVING;
            e->unflushed = false;
        } else if (is_out && e->state == ENCODER_ENDING) {
            e->state = ENCODER_ENDED;
            return *out_len > 0 ? STEP_OK : STEP_END;
        }
        if (*out_len > 0) {
            return STEP_OK;
        }
    }
}

static enum step read_text(void *ctx, char *buf, size_t max, size_t *out_len)
{
    struct str *left = ctx;
    size_t part = left->len < max ? left->len : max;
    memcpy(buf, left->ptr, part);
    *left = str_from_offset(*left, part);
    *out_len = part;
    return part == 0 ? STEP_END : STEP_OK;
}

struct encoder_source encoder_text_source(struct str *text)
{
    return (struct encoder_source){.read = read_text, .ctx = text};
}

bool encoder_code(enum content_coding coding, struct str text, struct bytes *out)
{
    struct str left = text;
    const struct encoder_source source = encoder_text_source(&left);
    struct encoder *e = encoder_new(coding);
    char *room = bytes_reserve(out, text.len);
    enum step step = e == NULL || room == NULL ? STEP_FAIL : STEP_OK;
    while (step == STEP_OK && out->len < text.len) {
        size_t got = 0;
        step = encoder_read(e, &source, room + out->len, text.len - out->len, &got);
        bytes_added(out, step == STEP_OK ? got : 0);
    }
    encoder_free(e);
    if (step != STEP_END) {
        bytes_clear(out);
        return false;
    }
    return true;
}

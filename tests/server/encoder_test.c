// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <check.h>

#include "server/encoder.h"

static const enum content_coding codings[] = {CODING_GZIP, CODING_ZSTD};

enum {
    TEXT_BYTES = 300 * 1000,
};

/* Rows as a feed has them, with something in each that does not repeat. */
static char *make_text(void)
{
    char *text = malloc(TEXT_BYTES + 64);
    ck_assert_ptr_nonnull(text);
    uint32_t state = 1;
    for (size_t at = 0; at < TEXT_BYTES;) {
        state = state * 1664525U + 1013904223U;
        at += (size_t)sprintf(text + at, "{\"id\":%zu,\"token\":\"%08x\"},", at, state);
    }
    return text;
}

/* A source that gives parts of this size, and nothing after each `pause`-th of them. */
struct parts {
    const char *text;
    size_t given;
    size_t size;
    unsigned pause; /* 0: never */
    unsigned calls;
    bool pauses;
    enum step end;
};

static enum step read_part(void *ctx, char *buf, size_t max, size_t *out_len)
{
    struct parts *p = ctx;
    if (!p->pauses) {
        p->calls++;
        p->pauses = p->pause != 0 && p->calls % p->pause == 0;
    } else {
        p->pauses = false; /* it was asked twice, so all is flushed */
        return STEP_AGAIN;
    }
    if (p->pauses) {
        return STEP_AGAIN;
    }
    size_t part = TEXT_BYTES - p->given;
    part = part > p->size ? p->size : part;
    part = part > max ? max : part;
    if (part == 0) {
        return p->end;
    }
    memcpy(buf, p->text + p->given, part);
    p->given += part;
    *out_len = part;
    return STEP_OK;
}

/* Decodes what there is of a coded body; returns how many bytes it makes. */
static size_t decode(enum content_coding coding, struct str coded, char *out, size_t max)
{
    if (coding == CODING_GZIP) {
        z_stream z = {.next_in = (z_const Bytef *)(uintptr_t)coded.ptr,
                      .avail_in = (uInt)coded.len,
                      .next_out = (Bytef *)out,
                      .avail_out = (uInt)max};
        ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
        int status = inflate(&z, Z_SYNC_FLUSH);
        ck_assert(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR);
        inflateEnd(&z);
        return max - z.avail_out;
    }
    ZSTD_DCtx *d = ZSTD_createDCtx();
    ZSTD_inBuffer in = {.src = coded.ptr, .size = coded.len};
    ZSTD_outBuffer made = {.dst = out, .size = max};
    while (in.pos < in.size && made.pos < made.size) {
        ck_assert(!ZSTD_isError(ZSTD_decompressStream(d, &made, &in)));
    }
    ZSTD_freeDCtx(d);
    return made.pos;
}

static const struct stream_case {
    const char *name;
    size_t part;
    unsigned pause;
    size_t max; /* of what is read at once */
} stream_cases[] = {
    {"large parts", 100000, 0, 65536},
    {"small parts", 100, 0, 65536},
    {"pauses", 5000, 2, 65536},
    {"small reads", 5000, 3, ENCODER_LEAST_READ},
};

START_TEST(a_stream_is_coded)
{
    const struct stream_case *c = &stream_cases[_i / 2];
    enum content_coding coding = codings[_i % 2];
    char *text = make_text();
    char *decoded = malloc(TEXT_BYTES + 1);
    char *buf = malloc(c->max);
    ck_assert(decoded != NULL && buf != NULL);
    struct parts parts = {.text = text, .size = c->part, .pause = c->pause, .end = STEP_END};
    const struct encoder_source source = {.read = read_part, .ctx = &parts};
    struct encoder *e = encoder_new(coding);
    ck_assert_ptr_nonnull(e);
    struct bytes coded;
    bytes_init(&coded, (size_t)TEXT_BYTES * 2);
    unsigned pauses = 0;
    for (;;) {
        size_t got = 0;
        enum step step = encoder_read(e, &source, buf, c->max, &got);
        if (step == STEP_END) {
            break;
        }
        ck_assert_int_ne(step, STEP_FAIL);
        bytes_put(&coded, buf, step == STEP_OK ? got : 0);
        if (step == STEP_AGAIN) {
            size_t made = decode(coding, bytes_str(&coded), decoded, TEXT_BYTES + 1);
            ck_assert_msg(made == parts.given, "%s: %zu of %zu bytes are out", c->name, made,
                          parts.given);
            pauses++;
        }
    }
    ck_assert(c->pause == 0 || pauses > 0);
    size_t made = decode(coding, bytes_str(&coded), decoded, TEXT_BYTES + 1);
    ck_assert_uint_eq(made, TEXT_BYTES);
    ck_assert_int_eq(memcmp(decoded, text, TEXT_BYTES), 0);
    ck_assert_uint_lt(coded.len, TEXT_BYTES);
    bytes_fini(&coded);
    encoder_free(e);
    free(buf);
    free(decoded);
    free(text);
}
END_TEST

START_TEST(a_failure_is_no_end)
{
    char *text = make_text();
    struct parts parts = {.text = text, .size = 10000, .end = STEP_FAIL};
    const struct encoder_source source = {.read = read_part, .ctx = &parts};
    struct encoder *e = encoder_new(codings[_i]);
    struct bytes coded;
    bytes_init(&coded, (size_t)TEXT_BYTES * 2);
    enum step step = STEP_OK;
    while (step == STEP_OK) {
        char buf[4096];
        size_t got = 0;
        step = encoder_read(e, &source, buf, sizeof(buf), &got);
        bytes_put(&coded, buf, step == STEP_OK ? got : 0);
    }
    ck_assert_int_eq(step, STEP_FAIL);
    char *decoded = malloc(TEXT_BYTES + 1);
    ck_assert_ptr_nonnull(decoded);
    ck_assert_uint_lt(decode(codings[_i], bytes_str(&coded), decoded, TEXT_BYTES + 1), TEXT_BYTES);
    free(decoded);
    bytes_fini(&coded);
    encoder_free(e);
    free(text);
}
END_TEST

START_TEST(a_text_is_coded_when_it_gets_shorter)
{
    char *text = make_text();
    struct bytes out;
    bytes_init(&out, TEXT_BYTES);
    ck_assert(encoder_code(codings[_i], (struct str){text, 5000}, &out));
    ck_assert_uint_lt(out.len, 5000);
    char decoded[5001];
    ck_assert_uint_eq(decode(codings[_i], bytes_str(&out), decoded, sizeof(decoded)), 5000);
    ck_assert_int_eq(memcmp(decoded, text, 5000), 0);
    bytes_clear(&out);
    ck_assert(!encoder_code(codings[_i], STR("short"), &out));
    ck_assert_uint_eq(out.len, 0);
    bytes_fini(&out);
    free(text);
}
END_TEST

static const struct choice {
    const char *accept;
    enum content_coding coding;
} choices[] = {
    {"", CODING_IDENTITY},
    {"gzip", CODING_GZIP},
    {"x-gzip", CODING_GZIP},
    {"GZip", CODING_GZIP},
    {"deflate", CODING_IDENTITY},
    {"gzip, deflate, br, zstd", CODING_ZSTD},
    {"gzip, deflate, br", CODING_GZIP},
    {"zstd;q=0.5, gzip", CODING_GZIP},
    {"zstd;q=0.5,gzip;q=0.8", CODING_GZIP},
    {"zstd ; Q=0.801 , gzip;q=0.8", CODING_ZSTD},
    {"gzip;q=0", CODING_IDENTITY},
    {"gzip;q=0, *", CODING_ZSTD},
    {"*", CODING_ZSTD},
    {"*;q=0", CODING_IDENTITY},
    {"identity, gzip;q=0.5", CODING_IDENTITY},
    {"identity;q=0.5, gzip;q=0.5", CODING_GZIP},
    {"gzip;q=high", CODING_GZIP},
    {"gzip;level=3", CODING_GZIP},
    {"gzip;q=1.000", CODING_GZIP},
    {",,gzip,", CODING_GZIP},
    {"gzippy", CODING_IDENTITY},
};

START_TEST(the_client_chooses)
{
    const struct choice *c = &choices[_i];
    ck_assert_msg(content_coding_choose(str_from(c->accept)) == c->coding, "%s: %s", c->accept,
                  content_coding_name(content_coding_choose(str_from(c->accept))));
}
END_TEST

START_TEST(only_text_is_worth_it)
{
    ck_assert(content_coding_helps(STR("application/json;odata.metadata=minimal")));
    ck_assert(content_coding_helps(STR("text/csv;charset=utf-8")));
    ck_assert(!content_coding_helps(STR("image/png")));
    ck_assert(!content_coding_helps(STR("application/octet-stream")));
    ck_assert(!content_coding_helps(STR("")));
}
END_TEST

Suite *encoder_suite(void);

Suite *encoder_suite(void)
{
    Suite *suite = suite_create("encoder");
    TCase *tc = tcase_create("encoder");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, a_stream_is_coded, 0, (int)ARRAY_SIZE(stream_cases) * 2);
    tcase_add_loop_test(tc, a_failure_is_no_end, 0, (int)ARRAY_SIZE(codings));
    tcase_add_loop_test(tc, a_text_is_coded_when_it_gets_shorter, 0, (int)ARRAY_SIZE(codings));
    tcase_add_loop_test(tc, the_client_chooses, 0, (int)ARRAY_SIZE(choices));
    tcase_add_test(tc, only_text_is_worth_it);
    suite_add_tcase(suite, tc);
    return suite;
}

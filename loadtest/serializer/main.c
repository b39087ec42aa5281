// SPDX-License-Identifier: Apache-2.0
/*
 * Measures how fast documents are written, memory to memory and to a file, and checks each of them
 * against the published bytes. Exits 1 when a document is wrong.
 *
 *   bench_serializer                       all of it, below a minute
 *   bench_serializer SHAPE ROWS WRITER N   one document N times in memory, for a profiler:
 *                                          perf stat build/bench_serializer V3 5000 sluice 1000
 *
 * Time is the thread's CPU time, so that a busy machine does not count.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loadtest/serializer/allocs.h"
#include "loadtest/serializer/sha256.h"
#include "loadtest/serializer/writers.h"

enum {
    BOUNDED_BYTES = 256 * 1024,
    ROUNDS = 7, /* the best of them counts: whatever else runs only adds */
    LEAST_ROUNDS = 2,
    LARGE_BYTES = 32 * 1024 * 1024,
};

/* How long the documents of one round take at least, and after how long no new round begins. */
static const double round_s = 0.006;
static const double all_rounds_s = 0.5;

static const struct document {
    const char *name;
    enum data_kind kind;
    size_t rows;
    size_t bytes;
    const char *digest; /* the first 16 digits of SHA-256 */
    bool measured;
} documents[] = {
    {"V1", DATA_V1, 50, 10356, "6b822aa190e1ee1e", false},
    {"V1", DATA_V1, 1000, 216026, "6384ee1933a7611d", true},
    {"V1", DATA_V1, 5000, 1124026, "7c5b1ce0ab489bab", true},
    {"V1", DATA_V1, 10000, 2259036, "e4ae870c47e3af0d", true},
    {"V2", DATA_V2, 50, 13006, "c4b97b7a09359cba", false},
    {"V2", DATA_V2, 1000, 269026, "cdb01a80ba28dce1", true},
    {"V2", DATA_V2, 5000, 1389026, "39023d89c80631f6", true},
    {"V2", DATA_V2, 10000, 2789036, "95133a75dbfc6220", true},
    {"V3", DATA_V3, 50, 19370, "c1df87ce0afc5939", false},
    {"V3", DATA_V3, 100, 38784, "567b783ef289e5b1", false},
    {"V3", DATA_V3, 1000, 0, NULL, true}, /* not published */
    {"V3", DATA_V3, 5000, 2064598, "050499baa1028b58", true},
    {"V3", DATA_V3, 10000, 4144612, "13c47855bb71ec9b", true},
    /* Published as 76e941d22905108c, which has the letters + and / of base64; JSON Format 7.1 asks
       for base64url. The smaller documents have neither. */
    {"V3-large", DATA_V3_LARGE, 30, 77570880, "36c8a98f88c513c9", true},
};

static const struct writer *const writers[] = {
    &writer_sluice, &writer_bare_text, &writer_bare_values, &writer_cjson_print, &writer_cjson,
};

enum {
    WRITERS = sizeof(writers) / sizeof(writers[0]),
};

static const struct way {
    const char *name;
    size_t high_mark;
    bool to_file;
} ways[] = {
    {"memory", SIZE_MAX, false},
    {"file", SIZE_MAX, true},
    {"file, 256 KiB", BOUNDED_BYTES, true},
};

struct measured {
    double best_s;
    struct allocs allocs; /* of one document, the buffer being there already */
    size_t buffer_bytes;
};

/* clock: this thread's CPU time, what is measured; or the time on the wall, what a person waits. */
static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void sink_drain(struct sink *s, struct bytes *out)
{
    size_t done = 0;
    while (s->fd >= 0 && done < out->len) {
        ssize_t count = write(s->fd, out->ptr + done, out->len - done);
        if (count <= 0) {
            s->failed = true;
            break;
        }
        done += (size_t)count;
    }
    bytes_clear(out);
}

/* One document the given way. */
static bool write_once(const struct writer *w, void *state, struct bytes *out,
                       const struct way *way, int fd)
{
    struct sink sink = {.fd = way->to_file ? fd : -1, .high_mark = way->high_mark};
    bytes_clear(out);
    if (way->to_file && lseek(fd, 0, SEEK_SET) != 0) {
        return false;
    }
    if (!w->write(state, out, &sink)) {
        return false;
    }
    if (way->to_file) {
        sink_drain(&sink, out);
    }
    return !sink.failed;
}

/* The whole document, in memory, against the published one. */
static bool check(const struct document *doc, const struct writer *w, void *state,
                  struct bytes *out, unsigned char digest[SHA256_BYTES])
{
    if (!write_once(w, state, out, &ways[0], -1)) {
        printf("%s %zu: %s failed\n", doc->name, doc->rows, w->name);
        return false;
    }
    unsigned char got[SHA256_BYTES];
    sha256(bytes_str(out), got);
    char digits[17];
    for (unsigned i = 0; i < 8; i++) {
        snprintf(digits + 2 * i, 3, "%02x", got[i]);
    }
    if (doc->digest == NULL) {
        bool same = w == writers[0] || memcmp(got, digest, SHA256_BYTES) == 0;
        memcpy(digest, got, SHA256_BYTES);
        return same;
    }
    if (out->len != doc->bytes || strcmp(digits, doc->digest) != 0) {
        printf("%s %zu: %s wrote %zu bytes %s, not %zu bytes %s\n", doc->name, doc->rows, w->name,
               out->len, digits, doc->bytes, doc->digest);
        return false;
    }
    return true;
}

static bool measure_round(const struct writer *w, void *state, struct bytes *out,
                          const struct way *way, int fd, struct measured *m)
{
    /* Once for nothing: the writer before has left its own data in the caches. Large documents do
       not fit those anyway. */
    if (out->cap < LARGE_BYTES && !write_once(w, state, out, way, fd)) {
        return false;
    }
    double start = now_s(CLOCK_THREAD_CPUTIME_ID);
    double spent = 0;
    unsigned count = 0;
    do {
        if (!write_once(w, state, out, way, fd)) {
            return false;
        }
        count++;
        spent = now_s(CLOCK_THREAD_CPUTIME_ID) - start;
    } while (spent < round_s);
    double each = spent / count;
    m->best_s = m->best_s > 0 && m->best_s < each ? m->best_s : each;
    return true;
}

/* All writers take turns, so that a busy moment of the machine meets them alike. */
static bool measure(void *states[WRITERS], const struct way *way, int fd, size_t *io_bytes,
                    struct measured out_measured[WRITERS])
{
    struct bytes buffers[WRITERS];
    bool done = true;
    double started = now_s(CLOCK_MONOTONIC);
    memset(out_measured, 0, WRITERS * sizeof(out_measured[0]));
    for (unsigned i = 0; i < WRITERS; i++) {
        bytes_init(&buffers[i], SIZE_MAX / 2);
        done = done && write_once(writers[i], states[i], &buffers[i], way, fd);
        *io_bytes = !way->to_file && done ? buffers[i].len : *io_bytes;
        struct allocs before = allocs_so_far();
        double start = now_s(CLOCK_THREAD_CPUTIME_ID);
        done = done && write_once(writers[i], states[i], &buffers[i], way, fd);
        out_measured[i].best_s = now_s(CLOCK_THREAD_CPUTIME_ID) - start;
        struct allocs after = allocs_so_far();
        out_measured[i].allocs =
            (struct allocs){after.calls - before.calls, after.bytes - before.bytes};
        out_measured[i].buffer_bytes = buffers[i].cap;
    }
    /* Large documents: fewer rounds, and one only to a file, which may be as slow as its disk. */
    const unsigned least_rounds = way->to_file ? 0 : LEAST_ROUNDS;
    for (unsigned round = 0; done && round < ROUNDS; round++) {
        if (round >= least_rounds && now_s(CLOCK_MONOTONIC) - started > all_rounds_s) {
            break;
        }
        for (unsigned i = 0; done && i < WRITERS; i++) {
            done = measure_round(writers[i], states[i], &buffers[i], way, fd, &out_measured[i]);
        }
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        bytes_fini(&buffers[i]);
    }
    return done;
}

static void print_measured(const struct document *doc, const struct way *way, size_t bytes,
                           const struct measured m[WRITERS])
{
    for (unsigned i = 0; i < WRITERS; i++) {
        printf("%-8s %6zu  %-14s %-13s %8.0f %8.3f %7.2f %9.3f %9" PRIu64 " %8zu\n", doc->name,
               doc->rows, way->name, writers[i]->name, (double)bytes / 1e6 / m[i].best_s,
               m[i].best_s * 1e3, m[i].best_s / m[1].best_s,
               (double)m[i].allocs.calls / (double)doc->rows, m[i].allocs.calls,
               m[i].buffer_bytes / 1024);
    }
    fflush(stdout);
}

static bool run_document(const struct document *doc, int fd)
{
    struct data *d = data_new(doc->kind, doc->rows);
    void *states[WRITERS] = {0};
    bool done = d != NULL;
    unsigned char digest[SHA256_BYTES] = {0};
    for (unsigned i = 0; done && i < WRITERS; i++) {
        states[i] = writers[i]->open(d);
        struct bytes out;
        bytes_init(&out, SIZE_MAX / 2);
        done = states[i] != NULL && check(doc, writers[i], states[i], &out, digest);
        bytes_fini(&out);
    }
    size_t bytes = doc->bytes;
    for (size_t i = 0; doc->measured && done && i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct measured m[WRITERS];
        done = measure(states, &ways[i], fd, &bytes, m);
        if (done) {
            print_measured(doc, &ways[i], bytes, m);
        }
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        if (states[i] != NULL) {
            writers[i]->close(states[i]);
        }
    }
    data_free(d);
    return done;
}

static int open_scratch_file(void)
{
    const char *dir = getenv("TMPDIR");
    char path[512];
    int length = snprintf(path, sizeof(path), "%s/serializer.XXXXXX", dir != NULL ? dir : "/tmp");
    if (length < 0 || (size_t)length >= sizeof(path)) {
        return -1;
    }
    int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
    }
    return fd;
}

/* For a profiler: nothing but the writing of one document. */
static bool run_one(const char *shape, size_t rows, const char *writer, size_t times)
{
    for (size_t i = 0; i < WRITERS * sizeof(documents) / sizeof(documents[0]); i++) {
        const struct document *doc = &documents[i / WRITERS];
        const struct writer *w = writers[i % WRITERS];
        if (strcmp(doc->name, shape) != 0 || doc->rows != rows || strcmp(w->name, writer) != 0) {
            continue;
        }
        struct data *d = data_new(doc->kind, doc->rows);
        void *state = d == NULL ? NULL : w->open(d);
        struct bytes out;
        bytes_init(&out, SIZE_MAX / 2);
        bool done = state != NULL;
        for (size_t n = 0; done && n < times; n++) {
            done = write_once(w, state, &out, &ways[0], -1);
        }
        bytes_fini(&out);
        if (state != NULL) {
            w->close(state);
        }
        data_free(d);
        return done;
    }
    fprintf(stderr, "there is no such document or writer\n");
    return false;
}

int main(int argc, char **argv)
{
    if (argc == 5) {
        bool done =
            run_one(argv[1], strtoul(argv[2], NULL, 10), argv[3], strtoul(argv[4], NULL, 10));
        return done ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    int fd = open_scratch_file();
    if (fd < 0) {
        perror("a temporary file");
        return EXIT_FAILURE;
    }
    for (unsigned i = 0; i < WRITERS; i++) {
        printf("%-13s %s\n", writers[i]->name, writers[i]->what);
    }
    printf("\nThe best of %d rounds; ratio to \"%s\"; allocations of one document when the buffer "
           "is there.\n\n%-8s %6s  %-14s %-13s %8s %8s %7s %9s %9s %8s\n",
           ROUNDS, writers[1]->name, "shape", "rows", "to", "writer", "MB/s", "ms", "ratio",
           "alloc/row", "allocs", "buf KiB");
    bool done = true;
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        done = run_document(&documents[i], fd) && done;
    }
    close(fd);
    printf("\n%s\n", done ? "All documents have the published bytes." : "A document is wrong.");
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

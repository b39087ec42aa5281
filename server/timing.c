// SPDX-License-Identifier: Apache-2.0
#include "server/timing.h"

#include <inttypes.h>
#include <time.h>

#include "odata/compiler.h"

static const struct {
    const char *name;
    enum timing_mark from, to;
} phases[] = {
    {"parse", TIMING_BEGUN, TIMING_PARSED},   {"bind", TIMING_PARSED, TIMING_BOUND},
    {"queue", TIMING_BOUND, TIMING_SEATED},   {"first-row", TIMING_SEATED, TIMING_FIRST_ROW},
    {"total", TIMING_BEGUN, TIMING_ANSWERED},
};

int64_t timing_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void timing_mark(struct timing *t, enum timing_mark mark)
{
    if (t->on) {
        t->at_us[mark] = timing_now_us();
    }
}

void timing_put(struct bytes *out, const struct timing *t)
{
    const char *separator = "";
    for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
        int64_t from = t->at_us[phases[i].from];
        int64_t to = t->at_us[phases[i].to];
        if (from > 0 && to >= from) {
            bytes_format(out, "%s%s;dur=%" PRId64 ".%03" PRId64, separator, phases[i].name,
                         (to - from) / 1000, (to - from) % 1000);
            separator = ", ";
        }
    }
}

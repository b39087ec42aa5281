// SPDX-License-Identifier: Apache-2.0
/*
 * fail_malloc - preloaded into the daemon, lets a share of all allocations fail: ours, libpq's and
 * libmicrohttpd's.
 *
 * FAIL_MALLOC names a file of three 32-bit numbers, which stay mapped: how many of a million
 * allocations fail (the test writes it while the daemon runs), the seed, and how many have failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct switches {
    _Atomic uint32_t per_million;
    _Atomic uint32_t seed;
    _Atomic uint32_t failed;
};

static struct switches *switches;
static _Atomic uint32_t threads;
static _Thread_local uint32_t dice;

/* glibc's own functions, under their second names. */
// NOLINTBEGIN(bugprone-reserved-identifier)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
// NOLINTEND(bugprone-reserved-identifier)

__attribute__((constructor)) static void map_switches(void)
{
    const char *path = getenv("FAIL_MALLOC");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    void *map = mmap(NULL, sizeof(*switches), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    switches = map == MAP_FAILED ? NULL : map;
    close(fd);
}

static bool fails(void)
{
    uint32_t share = switches == NULL ? 0 : atomic_load(&switches->per_million);
    if (share == 0) {
        return false;
    }
    if (dice == 0) {
        dice = atomic_load(&switches->seed) * 2654435761U + atomic_fetch_add(&threads, 1) + 1;
    }
    dice ^= dice << 13; /* Marsaglia's xorshift */
    dice ^= dice >> 17;
    dice ^= dice << 5;
    if (dice % 1000000 >= share) {
        return false;
    }
    atomic_fetch_add(&switches->failed, 1);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_map.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLOTS = 16, /* a power of two, as all sizes are */
};

struct oid_slot {
    uint32_t oid; /* 0 = free */
    uint32_t place;
};

/* OIDs of one load are nearly consecutive; the multiplication spreads them. */
static size_t oid_home(uint32_t oid, size_t slot_count)
{
    return (size_t)((oid * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (slot_count - 1);
}

/* The slot of the OID, or the free one where it belongs. */
static struct oid_slot *oid_slot_of(struct oid_slot *slots, size_t slot_count, uint32_t oid)
{
    size_t i = oid_home(oid, slot_count);
    while (slots[i].oid != 0 && slots[i].oid != oid) {
        i = (i + 1) & (slot_count - 1);
    }
    return &slots[i];
}

static bool oid_map_grow(struct oid_map *m)
{
    size_t slot_count = m->slot_count == 0 ? FIRST_SLOTS : m->slot_count * 2;
    struct oid_slot *slots = calloc(slot_count, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < m->slot_count; i++) {
        if (m->slots[i].oid != 0) {
            *oid_slot_of(slots, slot_count, m->slots[i].oid) = m->slots[i];
        }
    }
    free(m->slots);
    m->slots = slots;
    m->slot_count = slot_count;
    return true;
}

bool oid_map_put(struct oid_map *m, uint32_t oid, uint32_t place)
{
    if (m->count * 2 >= m->slot_count && !oid_map_grow(m)) {
        return false;
    }
    struct oid_slot *slot = oid_slot_of(m->slots, m->slot_count, oid);
    if (slot->oid == 0) {
        m->count++;
    }
    *slot = (struct oid_slot){oid, place};
    return true;
}

uint32_t oid_map_get(const struct oid_map *m, uint32_t oid)
{
    if (m->slot_count == 0 || oid == 0) {
        return OID_MAP_NONE;
    }
    const struct oid_slot *slot = oid_slot_of(m->slots, m->slot_count, oid);
    return slot->oid == 0 ? OID_MAP_NONE : slot->place;
}

void oid_map_fini(struct oid_map *m)
{
    free(m->slots);
    *m = (struct oid_map){0};
}

/* The slot of the name, or the free one where it belongs. */
static struct str *name_slot_of(struct str *slots, size_t slot_count, struct str name)
{
    size_t i = (size_t)str_hash(name) & (slot_count - 1);
    while (slots[i].ptr != NULL && !str_eq(slots[i], name)) {
        i = (i + 1) & (slot_count - 1);
    }
    return &slots[i];
}

static bool name_set_grow(struct name_set *s)
{
    size_t slot_count = s->slot_count == 0 ? FIRST_SLOTS : s->slot_count * 2;
    struct str *slots = calloc(slot_count, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].ptr != NULL) {
            *name_slot_of(slots, slot_count, s->slots[i]) = s->slots[i];
        }
    }
    free(s->slots);
    s->slots = slots;
    s->slot_count = slot_count;
    return true;
}

bool name_set_add(struct name_set *s, struct str name)
{
    if (s->count * 2 >= s->slot_count && !name_set_grow(s)) {
        return false;
    }
    struct str *slot = name_slot_of(s->slots, s->slot_count, name);
    if (slot->ptr == NULL) {
        *slot = name;
        s->count++;
    }
    return true;
}

bool name_set_has(const struct name_set *s, struct str name)
{
    return s->slot_count > 0 && name_slot_of(s->slots, s->slot_count, name)->ptr != NULL;
}

void name_set_clear(struct name_set *s)
{
    if (s->count > 0) {
        memset(s->slots, 0, s->slot_count * sizeof(*s->slots));
        s->count = 0;
    }
}

void name_set_fini(struct name_set *s)
{
    free(s->slots);
    *s = (struct name_set){0};
}

// SPDX-License-Identifier: Apache-2.0
#include "odata/str.h"

#include <string.h>

static unsigned char fold(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

struct str str_from(const char *text)
{
    return text == NULL ? (struct str){"", 0} : (struct str){text, strlen(text)};
}

bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool str_ieq(struct str a, struct str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (fold(a.ptr[i]) != fold(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

int str_compare(struct str a, struct str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) {
        return order;
    }
    return (a.len > b.len) - (a.len < b.len);
}

bool str_starts_with(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_slice(s, 0, prefix.len), prefix);
}

bool str_ends_with(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_from_offset(s, s.len - suffix.len), suffix);
}

struct str str_from_offset(struct str s, size_t from)
{
    return str_slice(s, from, s.len);
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    size_t end = to < s.len ? to : s.len;
    size_t start = from < end ? from : end;
    return (struct str){s.ptr + start, end - start};
}

size_t str_find(struct str s, char c, size_t from)
{
    if (from >= s.len) {
        return s.len;
    }
    const char *hit = memchr(s.ptr + from, c, s.len - from);
    return hit == NULL ? s.len : (size_t)(hit - s.ptr);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && is_blank(s.ptr[0])) {
        s = str_from_offset(s, 1);
    }
    while (s.len > 0 && is_blank(s.ptr[s.len - 1])) {
        s.len--;
    }
    return s;
}

uint64_t str_hash_more(uint64_t hash, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        hash = (hash ^ (unsigned char)s.ptr[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

uint64_t str_hash(struct str s)
{
    return str_hash_more(STR_HASH_START, s);
}

bool str_to_u64(struct str s, uint64_t *out_value)
{
    if (s.len == 0) {
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') {
            return false;
        }
        uint64_t digit = (uint64_t)(s.ptr[i] - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out_value = value;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * value - the written forms of settings: sizes, durations, lists, addresses, ranges of addresses.
 *
 * Each function reads the whole text or fills err with what was found and what was expected.
 * Results on the heap belong to the caller.
 */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "config/config_priv.h"

/* Digits only. */
bool value_count(const char *text, uint64_t *out_count, struct config_error *err) CONFIG_NODISCARD;

/* Digits and B, KiB, MiB, GiB, kB, MB or GB; without a unit, bytes. */
bool value_bytes(const char *text, uint64_t *out_bytes, struct config_error *err) CONFIG_NODISCARD;

/* Digits and ms, s, min or h; only 0 may stand without a unit. */
bool value_duration(const char *text, uint64_t *out_ms, struct config_error *err) CONFIG_NODISCARD;

/* true, false, yes, no, on, off, 1, 0. */
bool value_bool(const char *text, bool *out_value, struct config_error *err) CONFIG_NODISCARD;

/* Items between commas, blanks around them dropped; `\,` is a comma inside an item. */
bool value_list(const char *text, struct config_list *out_list,
                struct config_error *err) CONFIG_NODISCARD;

/* host:port, [v6]:port or :port. */
bool value_address(const char *text, struct config_address *out_address,
                   struct config_error *err) CONFIG_NODISCARD;

/* A list of addresses, each with or without /bits; bits beyond the prefix must be zero. */
bool value_networks(const char *text, struct config_networks *out_networks,
                    struct config_error *err) CONFIG_NODISCARD;

/* "odata", "/odata", "/odata/" are "/odata/"; "" is "/". */
bool value_path(const char *text, char **out_path, struct config_error *err) CONFIG_NODISCARD;

/* http(s)://host[:port][/path], without query; ends in '/'. "" stays "". */
bool value_url(const char *text, char **out_url, struct config_error *err) CONFIG_NODISCARD;

/* A list of "*" or of origins: scheme://host[:port]. */
bool value_origins(const char *text, struct config_list *out_list,
                   struct config_error *err) CONFIG_NODISCARD;

#endif

// SPDX-License-Identifier: Apache-2.0
#include "odata/odata_version.h"

enum {
    THOUSANDTHS = 1000,
    VERSION_4_0 = 4000,  /* 4.0 in thousandths */
    VERSION_4_01 = 4010, /* 4.01 */
    HIGHEST = 1000000,   /* where counting stops */
};

/* "4.01" -> 4010. False when it is not digits, a dot and digits. */
static bool read_version(struct str text, int *out_thousandths)
{
    struct str s = str_trim(str_slice(text, 0, str_find(text, ';', 0)));
    size_t dot = str_find(s, '.', 0);
    if (dot == 0 || dot + 1 >= s.len) {
        return false;
    }
    int value = 0;
    int unit = THOUSANDTHS;
    for (size_t i = 0; i < s.len; i++) {
        if (i == dot) {
            continue;
        }
        if (s.ptr[i] < '0' || s.ptr[i] > '9') {
            return false;
        }
        int digit = s.ptr[i] - '0';
        if (i < dot) {
            value = value >= HIGHEST ? HIGHEST : value * 10 + digit * THOUSANDTHS;
        } else {
            unit /= 10;
            value += digit * unit;
        }
    }
    *out_thousandths = value;
    return true;
}

static bool bad_header(struct odata_error *err, const char *name, struct str value,
                       const char *expected)
{
    struct str shown = str_slice(value, 0, 40);
    return odata_error_set(err, 400, ODATA_CODE_BAD_HEADER, name, "%s is '%.*s', expected %s", name,
                           STR_ARG(shown), expected);
}

bool odata_version_negotiate(struct str max_version, struct str version,
                             enum odata_version *out_version, struct odata_error *err)
{
    int of_request = VERSION_4_0;
    if (str_trim(version).len > 0 && (!read_version(version, &of_request) ||
                                      (of_request != VERSION_4_0 && of_request != VERSION_4_01))) {
        return bad_header(err, "OData-Version", version, "4.0 or 4.01");
    }
    int most = VERSION_4_0;
    if (str_trim(max_version).len > 0 &&
        (!read_version(max_version, &most) || most < VERSION_4_0)) {
        return bad_header(err, "OData-MaxVersion", max_version, "4.0 or more");
    }
    *out_version = most >= VERSION_4_01 ? ODATA_4_01 : ODATA_4_0;
    return true;
}

const char *odata_version_text(enum odata_version version)
{
    return version == ODATA_4_01 ? "4.01" : "4.0";
}

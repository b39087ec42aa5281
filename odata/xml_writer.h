// SPDX-License-Identifier: Apache-2.0
/*
 * xml_writer - XML text, appended to a buffer (XML 1.0).
 *
 * What XML cannot hold at all (control characters, U+FFFE, U+FFFF) becomes U+FFFD.
 *
 * Owns: nothing; failures stick to the buffer (odata/bytes.h).
 */
#ifndef ODATA_XML_WRITER_H
#define ODATA_XML_WRITER_H

#include "odata/bytes.h"
#include "odata/str.h"

/* Appends the text as it may stand between the double quotes of an attribute. */
void xml_put_escaped(struct bytes *out, struct str text);

/* Appends ` name="value"`, the value escaped. */
void xml_put_attribute(struct bytes *out, const char *name, struct str value);

#endif

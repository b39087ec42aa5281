// SPDX-License-Identifier: Apache-2.0
/*
 * auth_memory - memory for cjose and jansson while a token is read, some of which is there in any case.
 *
 * cjose 0.6.2 uses what malloc gave without looking (strncpy into NULL in cjose_jws_import()). So what
 * malloc refuses while a token is read comes from a reserve of the thread, and the token is answered
 * as out of memory.
 *
 * Owns: the reserve of each thread.
 */
#ifndef SERVER_AUTH_MEMORY_H
#define SERVER_AUTH_MEMORY_H

#include <stdbool.h>

/* Once, before there are threads. */
void auth_memory_init(void);

/* From here to the end nothing may be kept of what the libraries allocate. */
void auth_memory_begin(void);

/* True: malloc has failed since the beginning. */
bool auth_memory_end(void);

#endif

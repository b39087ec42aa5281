/*
 * health_check - `sluice --health-check`: asks the running service whether it lives.
 *
 * For HEALTHCHECK of a container: the image then needs no HTTP client, and the address comes from
 * the same settings that the service was started with.
 */
#ifndef SERVER_HEALTH_CHECK_H
#define SERVER_HEALTH_CHECK_H

#include <stdbool.h>

#include "config/config.h"

/*
 * True when GET /healthz on admin-listen, or on listen without it, is answered with 200 within two
 * seconds. Says why not on stderr. Blocks.
 */
bool health_check(const struct config *config);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * step - what a call says that is made again and again.
 */
#ifndef ODATA_STEP_H
#define ODATA_STEP_H

enum step {
    STEP_OK,    /* moved on; call again */
    STEP_AGAIN, /* cannot move now: wait for the socket, or for room */
    STEP_END,   /* complete */
    STEP_FAIL,  /* err says why */
};

#endif

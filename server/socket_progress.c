// SPDX-License-Identifier: Apache-2.0
#include "server/socket_progress.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

bool socket_progress_get(int fd, struct socket_progress *out_progress)
{
    /* The kernel's own header: glibc's struct tcp_info ends before these. */
    struct tcp_info info;
    socklen_t length = sizeof(info);
    int unacked = 0;
    memset(&info, 0, sizeof(info));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
        length <
            offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received) ||
        ioctl(fd, SIOCOUTQ, &unacked) != 0) {
        return false;
    }
    *out_progress =
        (struct socket_progress){info.tcpi_bytes_acked, (size_t)unacked, info.tcpi_bytes_received};
    return true;
}

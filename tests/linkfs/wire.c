/* Bytes over a connection, and which of the two programs this is. */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

bool link_send(int fd, const void *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t sent = send(fd, (const char *)data + done, bytes - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            return false;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

bool link_receive(int fd, void *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t got = recv(fd, (char *)data + done, bytes - done, MSG_WAITALL);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool link_address(const char *text, struct sockaddr_in *address) {
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(LINK_PORT)};
    return inet_pton(AF_INET, text, &address->sin_addr) == 1;
}

void link_no_delay(int fd) {
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int main(int argc, char **argv) {
    if (argc >= 4 && strcmp(argv[1], "serve") == 0)
        return linkfs_serve(argc - 2, argv + 2);
    if (argc >= 5 && strcmp(argv[1], "mount") == 0)
        return linkfs_mount(argc - 2, argv + 2);
    (void)fprintf(stderr, "usage: linkfs serve DIR ADDRESS [--time US] [--rate BYTES] [--flush US]\n"
                          "       linkfs mount DIR NUMBER ADDRESS...\n");
    return 2;
}

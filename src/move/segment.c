/* Node-shared memory.  Files in /dev/shm under unguessable names, made exclusively, mapped by all ranks of the
 * node and unlinked at once; the memory is allocated for real, because a mapping of more than there is would
 * end in SIGBUS. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "move/control.h"

static int map_shared(int fd, int64_t bytes, char **base) {
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return errno;
    *base = memory;
    return 0;
}

int sagoi_shared_create(char name[SAGOI_SEGMENT_NAME_MAX], int64_t bytes, char **base) {
    uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return EIO;
    (void)snprintf(name, SAGOI_SEGMENT_NAME_MAX, "/sago-%016llx%016llx", (unsigned long long)random[0],
                   (unsigned long long)random[1]);
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return errno;
    int error = posix_fallocate(fd, 0, bytes);
    if (!error)
        error = map_shared(fd, bytes, base);
    (void)close(fd);
    if (error)
        (void)shm_unlink(name);
    return error;
}

int sagoi_shared_open(const char *name, int64_t bytes, char **base) {
    int fd = shm_open(name, O_RDWR, 0);
    if (fd < 0)
        return errno;
    int error = map_shared(fd, bytes, base);
    (void)close(fd);
    return error;
}

void sagoi_shared_remove(const char *name) { (void)shm_unlink(name); }

void sagoi_segment_release(sagoi_segment *segment) {
    if (segment->base)
        (void)munmap(segment->base, (size_t)segment->bytes);
    *segment = (sagoi_segment){0};
}

static void create_as_leader(sagoi_control *control, int64_t bytes, sagoi_segment *segment) {
    control->shared_bytes = bytes;
    control->shared_errno = sagoi_shared_create(control->segment_name, bytes, &segment->base);
    if (!control->shared_errno)
        segment->bytes = bytes;
}

sago_status sagoi_segment_reserve(sagoi_team *team, int64_t bytes, sagoi_segment *segment) {
    if (segment->bytes >= bytes) /* every rank of the node sees the same sizes */
        return SAGO_OK;
    sagoi_control *control = team->control;
    sagoi_segment_release(segment);
    if (team->local_rank == 0)
        create_as_leader(control, bytes, segment);
    sago_status status = sagoi_gate(team);
    if (status)
        return status;
    int error = control->shared_errno;
    if (!error && team->local_rank != 0) {
        error = sagoi_shared_open(control->segment_name, bytes, &segment->base);
        if (!error)
            segment->bytes = bytes;
    }
    int64_t failures = 0;
    status = sagoi_gate_sum(team, error != 0, &failures);
    if (team->local_rank == 0 && !control->shared_errno)
        sagoi_shared_remove(control->segment_name);
    if (status)
        return status;
    if (failures == 0)
        return SAGO_OK;
    sagoi_segment_release(segment);
    return sagoi_fail(SAGO_ERR_MEMORY, "%lld bytes of node-shared memory in /dev/shm cannot be had: %s",
                      (long long)bytes, error ? strerror(error) : "another rank of the node failed");
}

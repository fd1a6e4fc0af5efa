/* What the machine can do: the same number of bytes, already in order, moved in large blocks by one process for
 * each core of each node.  The other ranks sleep. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/engines.h"

enum { BLOCK = 4 << 20, PAGE = 4096 };

/* Where the part of writer w begins: at a page, so that no two writers write the same page. */
static int64_t part_start(int64_t bytes, int64_t writer, int64_t writers) {
    return writer == writers ? bytes : bytes / PAGE * writer / writers * PAGE;
}

bool bench_limit_access(const bench_world *world, int64_t bytes, bench_access *access, char *why) {
    int64_t writes = world->node_rank < world->cores, before = 0, writers = 0;
    MPI_Scan(&writes, &before, 1, MPI_INT64_T, MPI_SUM, world->comm);
    MPI_Allreduce(&writes, &writers, 1, MPI_INT64_T, MPI_SUM, world->comm);
    *access = (bench_access){.steps = 1};
    if (!bench_access_init(access, writes, why))
        return false;
    if (writes) {
        int64_t start = part_start(bytes, before - 1, writers), end = part_start(bytes, before, writers);
        bench_access_set(access, 0, start, bench_region_contiguous(end - start, 1));
    }
    return true;
}

static bool limit_open(bench_engine *engine, char *why) {
    int *fd = malloc(sizeof *fd);
    if (!fd)
        return bench_refuse(why, "out of memory");
    engine->state = fd;
    *fd = open(engine->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    return *fd >= 0 || bench_refuse(why, "open %s: %s", engine->path, strerror(errno));
}

static void limit_close(bench_engine *engine) {
    int *fd = engine->state;
    if (fd && *fd >= 0)
        close(*fd);
    free(fd);
    engine->state = NULL;
}

static bool limit_transfer(bench_engine *engine, bool write, char *why) {
    if (engine->access->ncalls == 0)
        return true;
    int fd = *(int *)engine->state;
    int64_t start = engine->access->calls[0].disp, bytes = engine->access->calls[0].file.length;
    for (int64_t done = 0; done < bytes;) {
        size_t length = (size_t)(bytes - done < BLOCK ? bytes - done : BLOCK);
        ssize_t moved = write ? pwrite(fd, engine->buffer + done, length, start + done)
                              : pread(fd, engine->buffer + done, length, start + done);
        if (moved <= 0)
            return bench_refuse(why, "%s: %s", write ? "pwrite" : "pread",
                                moved ? strerror(errno) : "the file ends too early");
        done += moved;
    }
    return true;
}

const bench_engine_ops bench_engine_limit = {
    .name = "limit", .open = limit_open, .close = limit_close, .transfer = limit_transfer};

/* Locks stay with who had them last, as those of Lustre do: only a change costs, a round trip for each holder. */
#include "locks.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "wire.h"

enum { BUCKETS = 4096, NOBODY = -1 };

typedef struct lock {
    struct lock *next;
    uint64_t file;
    int64_t block;
    int writer;       /* or NOBODY; then any readers */
    uint64_t readers; /* a bit for each node */
    pthread_mutex_t turn;
} lock;

typedef struct holder {
    pthread_mutex_t turn; /* one question at a time */
    int fd;               /* 0: not there */
} holder;

static pthread_mutex_t table_turn = PTHREAD_MUTEX_INITIALIZER;
static lock *table[BUCKETS];
static holder holders[LINK_NODES];

void locks_node(int node, int fd) {
    (void)pthread_mutex_lock(&holders[node].turn);
    if (holders[node].fd > 0)
        (void)close(holders[node].fd);
    holders[node].fd = fd;
    (void)pthread_mutex_unlock(&holders[node].turn);
}

/* A node that is gone holds nothing. */
static void take_back(int node) {
    holder *from = &holders[node];
    char word = 0;
    (void)pthread_mutex_lock(&from->turn);
    if (from->fd > 0 && !(link_send(from->fd, &word, 1) && link_receive(from->fd, &word, 1))) {
        (void)close(from->fd);
        from->fd = 0;
    }
    (void)pthread_mutex_unlock(&from->turn);
}

static lock *find(uint64_t file, int64_t block) {
    size_t place = (file * 31 + (uint64_t)block) % BUCKETS;
    (void)pthread_mutex_lock(&table_turn);
    lock *found = table[place];
    while (found && (found->file != file || found->block != block))
        found = found->next;
    if (!found && (found = malloc(sizeof *found))) {
        *found = (lock){table[place], file, block, NOBODY, 0, PTHREAD_MUTEX_INITIALIZER};
        table[place] = found;
    }
    (void)pthread_mutex_unlock(&table_turn);
    return found;
}

bool locks_take(uint64_t file, int64_t block, int node, bool write) {
    lock *wanted = find(file, block);
    if (!wanted)
        abort(); /* a test's machine without memory */
    uint64_t mine = UINT64_C(1) << node;
    (void)pthread_mutex_lock(&wanted->turn);
    bool written = wanted->writer != NOBODY && wanted->writer != node;
    if (written) {
        take_back(wanted->writer);
        wanted->writer = NOBODY;
    }
    for (int other = 0; write && other < LINK_NODES; other++)
        if (wanted->readers & ~mine & UINT64_C(1) << other)
            take_back(other);
    if (write) {
        wanted->writer = node;
        wanted->readers = 0;
    } else if (wanted->writer == NOBODY) {
        wanted->readers |= mine;
    }
    (void)pthread_mutex_unlock(&wanted->turn);
    return written;
}

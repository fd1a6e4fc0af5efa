#include "trace/saved.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

enum { COPY_BYTES = 1 << 19 };

static const uint64_t magic = UINT64_C(0x3130304556415353);

typedef struct copy_head {
    uint64_t magic;
    int64_t number, bytes;
    sagoi_hash sum;
} copy_head;

static off_t place_of(int64_t slot, int64_t copy) { return (slot * 2 + copy) * COPY_BYTES; }

/* Moves all bytes to the file if `write` is true, else from the file. */
static bool move_all(int fd, bool write, char *data, int64_t bytes, off_t at) {
    while (bytes > 0) {
        ssize_t done = write ? pwrite(fd, data, (size_t)bytes, at) : pread(fd, data, (size_t)bytes, at);
        if (done <= 0)
            return false;
        data += done;
        bytes -= done;
        at += done;
    }
    return true;
}

bool sagoi_saved_write(int fd, int64_t slot, int64_t number, char *packed, int64_t bytes) {
    copy_head head = {.magic = magic, .number = number, .bytes = bytes};
    off_t at = place_of(slot, number & 1);
    if (bytes + (int64_t)sizeof head > COPY_BYTES)
        return false;
    head.sum = sagoi_hash_bytes(packed, bytes, (sagoi_hash){(uint64_t)number, (uint64_t)bytes});
    return move_all(fd, true, packed, bytes, at + (off_t)sizeof head) &&
           move_all(fd, true, (char *)&head, sizeof head, at);
}

static bool read_head(int fd, off_t at, copy_head *head) {
    return move_all(fd, false, (char *)head, sizeof *head, at) && head->magic == magic && head->bytes > 0 &&
           head->bytes <= COPY_BYTES - (int64_t)sizeof *head;
}

static sagoi_record *read_copy(int fd, off_t at, const copy_head *head) {
    sagoi_record *record = NULL;
    char *packed = malloc((size_t)head->bytes);
    sagoi_hash seed = {(uint64_t)head->number, (uint64_t)head->bytes};
    if (packed && move_all(fd, false, packed, head->bytes, at + (off_t)sizeof *head) &&
        sagoi_hash_equal(sagoi_hash_bytes(packed, head->bytes, seed), head->sum))
        record = sagoi_record_unpack(packed, head->bytes);
    free(packed);
    return record;
}

sagoi_record *sagoi_saved_read(int fd, int64_t slot) {
    copy_head heads[2];
    bool there[2];
    for (int i = 0; i < 2; i++)
        there[i] = read_head(fd, place_of(slot, i), &heads[i]);
    int newer = there[1] && (!there[0] || heads[1].number > heads[0].number);
    sagoi_record *record = there[newer] ? read_copy(fd, place_of(slot, newer), &heads[newer]) : NULL;
    if (!record && there[!newer])
        record = read_copy(fd, place_of(slot, !newer), &heads[!newer]);
    return record;
}

/* ---- A directory of them ---- */

typedef void visit_fn(const sagoi_record *record, void *arg);

static void visit_file(int fd, visit_fn *visit, void *arg) {
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return;
    for (int64_t slot = 0; place_of(slot, 0) < info.st_size; slot++) {
        sagoi_record *record = sagoi_saved_read(fd, slot);
        if (record)
            visit(record, arg);
        sagoi_record_destroy(record);
    }
}

static void visit_all(const char *directory, visit_fn *visit, void *arg) {
    DIR *list = opendir(directory);
    const struct dirent *entry;
    while (list && (entry = readdir(list))) {
        int fd =
            entry->d_name[0] == '.' ? -1 : openat(dirfd(list), entry->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0)
            continue;
        visit_file(fd, visit, arg);
        (void)close(fd);
    }
    if (list)
        (void)closedir(list);
}

/* The job that saved last. */
typedef struct latest {
    int64_t run, ranks;
    double begin, date;
    sagoi_record *all;
} latest;

static void find_latest(const sagoi_record *record, void *arg) {
    latest *last = arg;
    if (record->date > last->date)
        *last = (latest){.run = record->run, .ranks = record->ranks, .begin = record->begin, .date = record->date};
}

/* A job whose ranks have never met has no number: jobs without a number that ran at the same time are taken for
 * one. */
static void add_if_latest(const sagoi_record *record, void *arg) {
    latest *last = arg;
    if (record->run == last->run && record->ranks == last->ranks && (record->run || record->date >= last->begin))
        (void)sagoi_record_merge(last->all, record);
}

sagoi_record *sagoi_saved_merge(const char *directory) {
    latest last = {0};
    visit_all(directory, find_latest, &last);
    if (last.ranks > 0)
        last.all = sagoi_record_create(last.ranks);
    if (last.all)
        visit_all(directory, add_if_latest, &last);
    return last.all;
}

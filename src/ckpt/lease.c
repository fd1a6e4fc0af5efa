#include "ckpt/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 64, SETTLE_US = 100000 };

/* What the record says of its owner. */
typedef struct lease_record {
    sagoi_id owner;
    int64_t seconds, pid;
    char host[TEXT], boot[TEXT]; /* boot: the machine's boot id and the pid namespace */
} lease_record;

static double now_seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A pid means something only on the same boot of the same machine, in the same namespace. */
static void describe_self(lease_record *record) {
    struct stat space = {0};
    (void)gethostname(record->host, sizeof record->host - 1);
    record->pid = getpid();
    if (stat("/proc/self/ns/pid", &space) == 0) {
        int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
        char text[40] = "";
        if (fd >= 0 && read(fd, text, 36) == 36)
            (void)snprintf(record->boot, sizeof record->boot, "%.36s/%llx", text,
                           (unsigned long long)space.st_ino);
        if (fd >= 0)
            (void)close(fd);
    }
}

static void out_text(sagoi_wire_out *out, const char text[TEXT]) { sagoi_out_bytes(out, text, TEXT); }

static void in_text(sagoi_wire_in *in, char text[TEXT]) {
    const char *bytes = sagoi_in_bytes(in, TEXT);
    if (bytes)
        memcpy(text, bytes, TEXT);
    text[TEXT - 1] = '\0';
}

static sago_status write_record(const sagoi_lease *lease) {
    lease_record record = {.owner = lease->owner, .seconds = lease->seconds};
    sagoi_wire_out out = {0};
    describe_self(&record);
    sagoi_record_begin(&out, SAGOI_RECORD_LEASE);
    sagoi_out_int(&out, (int64_t)record.owner.low);
    sagoi_out_int(&out, (int64_t)record.owner.high);
    sagoi_out_int(&out, record.seconds);
    sagoi_out_int(&out, record.pid);
    out_text(&out, record.host);
    out_text(&out, record.boot);
    sagoi_record_end(&out);
    sago_status status = out.failed ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for a lock")
                                    : sagoi_cfile_publish(lease->dir, SAGOI_LEASE_NAME, out.bytes, out.len);
    free(out.bytes);
    return status;
}

/* SAGO_ERR_NO_FILE: there is none. */
static sago_status read_record(const char *dir, lease_record *record) {
    char path[SAGOI_CKPT_PATH], *bytes = NULL;
    int64_t len = 0;
    sagoi_wire_in in;
    if (!sagoi_path_join(path, dir, SAGOI_LEASE_NAME))
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", dir);
    sago_status status = sagoi_cfile_load(path, 4096, &bytes, &len);
    if (!status)
        status = sagoi_record_open(bytes, len, SAGOI_RECORD_LEASE, "the lock", &in);
    if (!status) {
        record->owner.low = (uint64_t)sagoi_in_int(&in);
        record->owner.high = (uint64_t)sagoi_in_int(&in);
        record->seconds = sagoi_in_range(&in, 1, 1000000);
        record->pid = sagoi_in_range(&in, 1, INT32_MAX);
        in_text(&in, record->host);
        in_text(&in, record->boot);
        if (in.failed)
            status = sagoi_fail(SAGO_ERR_IO, "the lock %s has contents that cannot be", path);
    }
    free(bytes);
    return status;
}

/* Dead, and nobody has asked how it ended: launchers that are killed leave such processes. */
static bool is_zombie(int64_t pid) {
    char path[40], text[512] = "";
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        (void)close(fd);
    const char *name_end = got > 0 ? strrchr(text, ')') : NULL; /* the state follows the name */
    return name_end && name_end[1] == ' ' && (name_end[2] == 'Z' || name_end[2] == 'X');
}

static bool surely_dead(const lease_record *record) {
    lease_record self = {0};
    describe_self(&self);
    if (!self.boot[0] || strcmp(self.boot, record->boot) != 0)
        return false; /* a pid of another machine says nothing here */
    return (kill((pid_t)record->pid, 0) != 0 && errno == ESRCH) || is_zombie(record->pid);
}

/* Seconds since the lock was written, by the clock of the file system; < 0: unknown. */
static double age_of_lock(const char *dir) {
    char path[SAGOI_CKPT_PATH], probe[SAGOI_CKPT_PATH];
    struct stat lock, now;
    unsigned long long random = 0;
    if (!sagoi_path_join(path, dir, SAGOI_LEASE_NAME) || stat(path, &lock) != 0 ||
        getrandom(&random, sizeof random, 0) < 0)
        return -1;
    (void)snprintf(probe, sizeof probe, "%.900s/clock.%016llx" SAGOI_ASIDE_SUFFIX, dir, random);
    int fd = open(probe, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    bool known = write(fd, "", 1) == 1 && fstat(fd, &now) == 0;
    (void)close(fd);
    (void)unlink(probe);
    return known ? (double)(now.st_mtim.tv_sec - lock.st_mtim.tv_sec) : -1;
}

/* May the lock that is there be taken over? */
static sago_status check_owner(const char *dir, int64_t seconds) {
    lease_record record = {.seconds = seconds};
    sago_status status = read_record(dir, &record);
    if (status == SAGO_ERR_NO_FILE)
        return SAGO_OK;
    if (status == SAGO_ERR_UNSUPPORTED)
        return status;
    if (!status && surely_dead(&record))
        return SAGO_OK;
    double age = age_of_lock(dir); /* a damaged lock has the age of any other */
    if (age > (double)record.seconds)
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_BUSY,
                      "another job uses the directory: process %lld on %s, seen %.0f s ago (its lease is %lld s)",
                      (long long)record.pid, record.host[0] ? record.host : "an unknown host", age < 0 ? 0 : age,
                      (long long)record.seconds);
}

static sago_status check_mine(const sagoi_lease *lease) {
    lease_record record = {0};
    sago_status status = read_record(lease->dir, &record);
    if (!status && sagoi_id_equal(record.owner, lease->owner))
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_BUSY, "the lock of %s was lost to process %lld on %s", lease->dir,
                      (long long)record.pid, record.host[0] ? record.host : "an unknown host");
}

sago_status sagoi_lease_take(sagoi_lease *lease, const char *dir, int64_t seconds) {
    *lease = (sagoi_lease){.seconds = seconds};
    (void)snprintf(lease->dir, sizeof lease->dir, "%s", dir);
    if (getrandom(&lease->owner, sizeof lease->owner, 0) != (ssize_t)sizeof lease->owner)
        return sagoi_fail(SAGO_ERR_IO, "no random numbers for a lock");
    sago_status status = check_owner(dir, seconds);
    if (!status)
        status = write_record(lease);
    if (status)
        return status;
    (void)usleep(SETTLE_US); /* whoever else found it free has written by now: the last one has it */
    status = check_mine(lease);
    lease->held = !status;
    lease->renewed = now_seconds();
    return status;
}

sago_status sagoi_lease_renew(sagoi_lease *lease) {
    double now = now_seconds();
    if (!lease->held || now - lease->renewed < (double)lease->seconds / 3)
        return SAGO_OK;
    sago_status status = check_mine(lease);
    if (!status)
        status = write_record(lease);
    if (!status)
        lease->renewed = now;
    else if (status == SAGO_ERR_BUSY)
        lease->held = false;
    return status;
}

void sagoi_lease_give_back(sagoi_lease *lease) {
    char path[SAGOI_CKPT_PATH];
    if (lease->held && !check_mine(lease) && sagoi_path_join(path, lease->dir, SAGOI_LEASE_NAME))
        (void)unlink(path);
    lease->held = false;
}

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

#include "base/process.h"
#include "ckpt/clock.h"

enum {
    TEXT = 64,
    SETTLE_US = 100000,
    WATCH_US = 50000,
    RENEWALS = 3 /* in the time of a lease */
};

/* What the record says of its owner. */
typedef struct lease_record {
    sagoi_id owner;
    int64_t seconds;
    sagoi_process process;
    char host[TEXT], boot[TEXT]; /* boot: the machine's boot id and the pid namespace */
} lease_record;

/* A pid means something only on the same boot of the same machine, in the same namespace. */
static void describe_self(lease_record *record) {
    struct stat space = {0};
    (void)gethostname(record->host, sizeof record->host - 1);
    record->process = sagoi_process_self();
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
    sagoi_out_int(&out, record.process.pid);
    sagoi_out_int(&out, record.process.started);
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
        record->process.pid = sagoi_in_range(&in, 1, INT32_MAX);
        record->process.started = sagoi_in_range(&in, 0, INT64_MAX);
        in_text(&in, record->host);
        in_text(&in, record->boot);
        if (in.failed)
            status = sagoi_fail(SAGO_ERR_IO, "the lock %s has contents that cannot be", path);
    }
    free(bytes);
    return status;
}

static bool surely_dead(const lease_record *record) {
    lease_record self = {0};
    describe_self(&self);
    if (!self.boot[0] || strcmp(self.boot, record->boot) != 0)
        return false; /* a pid of another machine says nothing here */
    return sagoi_process_gone(&record->process);
}

/* ---- Is it void? ---- */

/* Seconds since the lock was written, by the time stamps of the file system; false: nobody can tell. */
static bool age_of_lock(const char *dir, const struct stat *lock, double *age) {
    char probe[SAGOI_CKPT_PATH];
    sagoi_cfile file = {.fd = -1};
    struct stat now;
    unsigned long long random = 0;
    if (getrandom(&random, sizeof random, 0) < 0)
        return false;
    (void)snprintf(probe, sizeof probe, "%.900s/clock.%016llx" SAGOI_ASIDE_SUFFIX, dir, random);
    if (sagoi_cfile_open(probe, SAGOI_CFILE_CREATE, &file))
        return false;
    bool known = !sagoi_cfile_write(&file, "", 1, 0) && !sagoi_cfile_stat(&file, &now);
    (void)sagoi_cfile_close(&file);
    sagoi_path_discard(probe);
    *age = known ? (double)(now.st_mtim.tv_sec - lock->st_mtim.tv_sec) : 0;
    return known;
}

static bool stat_lock(const char *dir, struct stat *info) {
    char path[SAGOI_CKPT_PATH];
    return sagoi_path_join(path, dir, SAGOI_LEASE_NAME) && !sagoi_path_stat(path, info);
}

/* Does it stay as it is for so long?  Every renewal is a new file. */
static bool stays(const char *dir, const struct stat *lock, double seconds) {
    struct stat now;
    for (double end = sagoi_ckpt_now() + seconds; sagoi_ckpt_now() < end;) {
        (void)usleep(WATCH_US);
        if (stat_lock(dir, &now) && (now.st_ino != lock->st_ino || now.st_mtim.tv_sec != lock->st_mtim.tv_sec ||
                                     now.st_mtim.tv_nsec != lock->st_mtim.tv_nsec))
            return false;
    }
    return true;
}

/* Time stamps may be wrong by as much as the nodes' clocks differ; a live owner shows itself. */
static bool is_void(const char *dir, const lease_record *record, double *age) {
    struct stat lock;
    double lease = (double)record->seconds;
    if (!stat_lock(dir, &lock) || !age_of_lock(dir, &lock, age))
        return false;
    if (*age < 0)
        return stays(dir, &lock, lease);
    return *age > lease && stays(dir, &lock, lease / RENEWALS + 1);
}

/* May the lock that is there be taken over? */
static sago_status check_owner(const char *dir, int64_t seconds) {
    lease_record record = {.seconds = seconds};
    double age = 0;
    sago_status status = read_record(dir, &record);
    if (status == SAGO_ERR_NO_FILE)
        return SAGO_OK;
    if (status == SAGO_ERR_UNSUPPORTED)
        return status;
    if (status)
        record = (lease_record){.seconds = seconds}; /* a damaged lock has the age of any other */
    if (surely_dead(&record) || is_void(dir, &record, &age))
        return SAGO_OK;
    return sagoi_fail(SAGO_ERR_BUSY,
                      "another job uses the directory: process %lld on %s, seen %.0f s ago (its lease is %lld s)",
                      (long long)record.process.pid, record.host[0] ? record.host : "an unknown host",
                      age < 0 ? 0 : age, (long long)record.seconds);
}

static sago_status check_mine(const sagoi_lease *lease) {
    lease_record record = {0};
    sago_status status = read_record(lease->dir, &record);
    if (!status && sagoi_id_equal(record.owner, lease->owner))
        return SAGO_OK;
    if (status && status != SAGO_ERR_NO_FILE)
        return status; /* perhaps it can be read later */
    return sagoi_fail(SAGO_ERR_BUSY, "the lock of %s was lost to process %lld on %s", lease->dir,
                      (long long)record.process.pid, record.host[0] ? record.host : "an unknown host");
}

/* ---- Keeping it ---- */

static sago_status was_lost(const sagoi_lease *lease) {
    return sagoi_fail(SAGO_ERR_BUSY, "the lock of %s was lost to another job", lease->dir);
}

/* By one thread at a time.  The lock is given up meanwhile: whoever only asks must not wait for a directory that
 * may hang. */
static sago_status renew_now(sagoi_lease *lease) {
    double now = sagoi_ckpt_now();
    lease->renewing = true;
    (void)pthread_mutex_unlock(&lease->lock);
    sago_status status = check_mine(lease);
    if (!status)
        status = write_record(lease);
    (void)pthread_mutex_lock(&lease->lock);
    lease->renewing = false;
    (void)pthread_cond_broadcast(&lease->end);
    if (!status)
        lease->renewed = now;
    else if (status == SAGO_ERR_BUSY)
        lease->held = false;
    else if (sagoi_ckpt_now() - lease->renewed < (double)lease->seconds)
        status = SAGO_OK; /* it holds for a while, and is tried again */
    return status;
}

/* With the lock held. */
static sago_status renew(sagoi_lease *lease) {
    while (lease->held) {
        double age = sagoi_ckpt_now() - lease->renewed;
        if (age < (double)lease->seconds / RENEWALS || (lease->renewing && age < (double)lease->seconds))
            return SAGO_OK;
        if (!lease->renewing)
            return renew_now(lease);
        (void)pthread_cond_wait(&lease->end, &lease->lock);
    }
    return was_lost(lease);
}

sago_status sagoi_lease_check(sagoi_lease *lease) {
    (void)pthread_mutex_lock(&lease->lock);
    sagoi_message_clear();
    sago_status status = renew(lease);
    if (!status)
        sagoi_message_clear();
    (void)pthread_mutex_unlock(&lease->lock);
    return status;
}

sago_status sagoi_lease_look(sagoi_lease *lease) {
    (void)pthread_mutex_lock(&lease->lock);
    sagoi_message_clear();
    bool expired = sagoi_ckpt_now() - lease->renewed >= (double)lease->seconds;
    sago_status status = lease->held ? SAGO_OK : was_lost(lease);
    if (!status && expired && !lease->renewing && renew_now(lease) == SAGO_ERR_BUSY)
        status = SAGO_ERR_BUSY;
    if (!status)
        sagoi_message_clear();
    (void)pthread_mutex_unlock(&lease->lock);
    return status;
}

/* What follows from losing it is found by the next write. */
static void *keeper_main(void *arg) {
    sagoi_lease *lease = arg;
    (void)pthread_mutex_lock(&lease->lock);
    while (!lease->ending) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        if (pthread_cond_timedwait(&lease->end, &lease->lock, &until) == ETIMEDOUT && !lease->ending &&
            lease->held && renew(lease))
            sagoi_message_clear();
    }
    (void)pthread_mutex_unlock(&lease->lock);
    return NULL;
}

static void start_keeper(sagoi_lease *lease) {
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    lease->kept = pthread_create(&lease->thread, NULL, keeper_main, lease) == 0; /* else the writers renew it */
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (lease->kept)
        (void)pthread_setname_np(lease->thread, "sago-lease");
}

/* Removes the lock if it is ours; leaves the message alone. */
static void withdraw(const sagoi_lease *lease) {
    char path[SAGOI_CKPT_PATH], why[SAGOI_MESSAGE_MAX];
    (void)snprintf(why, sizeof why, "%s", sagoi_message());
    if (!check_mine(lease) && sagoi_path_join(path, lease->dir, SAGOI_LEASE_NAME))
        sagoi_path_discard(path);
    sagoi_message_set(why);
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
    if (status) {
        withdraw(lease);
        return status;
    }
    sagoi_message_clear();
    lease->taken = lease->held = true;
    lease->renewed = sagoi_ckpt_now();
    (void)pthread_mutex_init(&lease->lock, NULL);
    (void)pthread_cond_init(&lease->end, NULL);
    start_keeper(lease);
    return SAGO_OK;
}

static void stop_keeper(sagoi_lease *lease) {
    (void)pthread_mutex_lock(&lease->lock);
    lease->ending = true;
    (void)pthread_cond_broadcast(&lease->end);
    (void)pthread_mutex_unlock(&lease->lock);
    if (lease->kept)
        (void)pthread_join(lease->thread, NULL);
    (void)pthread_mutex_destroy(&lease->lock);
    (void)pthread_cond_destroy(&lease->end);
}

void sagoi_lease_give_back(sagoi_lease *lease) {
    if (!lease->taken)
        return;
    stop_keeper(lease);
    if (lease->held)
        withdraw(lease);
    *lease = (sagoi_lease){0};
}

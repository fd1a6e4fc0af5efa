#include "ckpt/lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/process.h"
#include "ckpt/clock.h"

enum {
    TEXT = 64,
    WATCH_US = 50000,
    RENEWALS = 3, /* renewals in the time of a lease */
    TRIES = 10    /* tries to take a directory while others take it and give it back */
};
#define LOOKS 1. /* Seconds between two looks of the thread whether it is time to renew. */

/* What the record says of the owner. */
typedef struct lease_record {
    sagoi_id owner;
    int64_t seconds;
    sagoi_process process;
    char host[TEXT], boot[TEXT]; /* boot: the machine's boot id and the pid namespace */
    int64_t generation, renewals;
    bool released;
} lease_record;

/* A process id means something only on the same boot of the same machine, in the same namespace. */
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

static void encode_record(const sagoi_lease *lease, bool released, sagoi_wire_out *out) {
    lease_record self = {0};
    describe_self(&self);
    sagoi_record_begin(out, SAGOI_RECORD_LEASE);
    sagoi_out_int(out, (int64_t)lease->owner.low);
    sagoi_out_int(out, (int64_t)lease->owner.high);
    sagoi_out_int(out, lease->seconds);
    sagoi_out_int(out, self.process.pid);
    sagoi_out_int(out, self.process.started);
    out_text(out, self.host);
    out_text(out, self.boot);
    sagoi_out_int(out, lease->fence.generation);
    sagoi_out_int(out, lease->renewals);
    sagoi_out_int(out, released);
    sagoi_record_end(out);
}

/* Generation 0: a lock from before there were generations. */
static sago_status lock_path(const char *dir, int64_t generation, char path[SAGOI_CKPT_PATH]) {
    char name[SAGOI_CKPT_FILE_NAME] = SAGOI_OLD_LOCK_NAME;
    if (generation > 0)
        sagoi_lock_name(name, generation);
    return sagoi_path_join(path, dir, name) ? SAGO_OK
                                            : sagoi_fail(SAGO_ERR_BAD_FILE, "%s: the path is too long", dir);
}

/* Rewrites our own file in place; a job that has replaced us has another file.  SAGO_ERR_NO_FILE: our file was
 * removed. */
static sago_status rewrite_record(const sagoi_lease *lease, bool released) {
    char path[SAGOI_CKPT_PATH];
    sagoi_cfile file = {.fd = -1};
    sagoi_wire_out out = {0};
    encode_record(lease, released, &out);
    sago_status status = out.failed ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for a lock")
                                    : lock_path(lease->fence.dir, lease->fence.generation, path);
    if (!status)
        status = sagoi_cfile_open(path, SAGOI_CFILE_UPDATE, &file);
    if (!status)
        status = sagoi_cfile_write(&file, out.bytes, out.len, 0);
    if (!status)
        status = sagoi_cfile_sync(&file);
    sago_status closed = sagoi_cfile_close(&file);
    free(out.bytes);
    return status ? status : closed;
}

static void decode_record(sagoi_wire_in *in, bool old, lease_record *record) {
    record->owner.low = (uint64_t)sagoi_in_int(in);
    record->owner.high = (uint64_t)sagoi_in_int(in);
    record->seconds = sagoi_in_range(in, 1, 1000000);
    record->process.pid = sagoi_in_range(in, 1, INT32_MAX);
    record->process.started = sagoi_in_range(in, 0, INT64_MAX);
    in_text(in, record->host);
    in_text(in, record->boot);
    if (old)
        return;
    record->generation = sagoi_in_range(in, 1, SAGOI_GENERATION_MOST);
    record->renewals = sagoi_in_range(in, 0, INT64_MAX);
    record->released = sagoi_in_range(in, 0, 1);
}

/* SAGO_ERR_NO_FILE: there is no lock; SAGO_ERR_BAD_FILE: it is damaged, or none. */
static sago_status read_record(const char *path, bool old, lease_record *record) {
    char *bytes = NULL;
    int64_t len = 0;
    sagoi_wire_in in;
    sago_status status = sagoi_cfile_load(path, 4096, &bytes, &len);
    if (status)
        return status;
    status = sagoi_record_open(bytes, len, SAGOI_RECORD_LEASE, "the lock", &in);
    if (!status)
        decode_record(&in, old, record);
    if (status == SAGO_ERR_IO || (!status && in.failed))
        status = sagoi_fail(SAGO_ERR_BAD_FILE, "the lock %s has contents that cannot be", path);
    free(bytes);
    return status;
}

static bool surely_dead(const lease_record *record) {
    lease_record self = {0};
    describe_self(&self);
    if (!self.boot[0] || strcmp(self.boot, record->boot) != 0)
        return false; /* a process id of another machine tells nothing here */
    return sagoi_process_gone(&record->process);
}

/* ---- Is it void? ---- */

/* Another job's lock, as it was when it was looked at. */
typedef struct lock_seen {
    const char *dir;
    char path[SAGOI_CKPT_PATH];
    bool old;
    lease_record record;
    double written; /* by the time stamps of the file system */
    double age;     /* seconds, by the same time stamps; -1: not known */
} lock_seen;

/* A link in the place of a lock has the age of the link. */
static sago_status written_at(const char *path, double *seconds) {
    struct stat info;
    sago_status status = sagoi_path_look(path, &info);
    if (!status)
        *seconds = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
    return status;
}

/* false: the lock cannot be looked at. */
static bool find_age(lock_seen *lock) {
    char probe[SAGOI_CKPT_PATH];
    double now = 0;
    lock->age = -1;
    if (written_at(lock->path, &lock->written))
        return false;
    if (sagoi_cfile_put_aside(lock->dir, "clock", "", 1, probe))
        return true;
    if (!written_at(probe, &now))
        lock->age = now - lock->written;
    sagoi_path_discard(probe);
    return true;
}

/* Does the lock stay unchanged for so long?  Every renewal counts, and changes its time. */
static bool stays(const lock_seen *lock, double seconds) {
    for (double end = sagoi_ckpt_now() + seconds; sagoi_ckpt_now() < end;) {
        lease_record now = lock->record;
        double written = lock->written;
        (void)usleep(WATCH_US);
        /* Comes first, since opening a file brings news (NFS). */
        sago_status status = read_record(lock->path, lock->old, &now);
        if (status != SAGO_ERR_NO_FILE)
            status = written_at(lock->path, &written);
        if (status == SAGO_ERR_NO_FILE || written != lock->written || now.renewals != lock->record.renewals)
            return false;
    }
    return true;
}

/* Time stamps may be wrong by as much as the nodes' clocks differ, but a live owner renews its lease. */
static bool is_void(lock_seen *lock) {
    double lease = (double)lock->record.seconds;
    if (!find_age(lock))
        return false;
    if (lock->age < 0)
        return stays(lock, lease);
    return lock->age > lease && stays(lock, lease / RENEWALS + 1);
}

/* The lock may be as good as any other, and can be read at another time. */
static bool is_passing(sago_status status) { return status == SAGO_ERR_TIMEOUT || status == SAGO_ERR_MEMORY; }

static sago_status tell_unknown(const lock_seen *lock, sago_status unread, const char *why) {
    char reason[SAGOI_MESSAGE_MAX];
    if (unread == SAGO_ERR_BAD_FILE)
        (void)snprintf(reason, sizeof reason, "is damaged");
    else
        (void)snprintf(reason, sizeof reason, "cannot be read (%.160s)", why);
    return sagoi_fail(
        SAGO_ERR_BUSY,
        "the lock %s %s, so it does not tell which job uses the directory; it changed %.0f s ago, and "
        "is void when it has not changed for %lld s (sago_ckpt_lease)",
        lock->path, reason, lock->age < 0 ? 0 : lock->age, (long long)lock->record.seconds);
}

/* May the lock that is there be taken over?  SAGO_ERR_NO_FILE: there is no lock. */
static sago_status check_owner(const char *dir, int64_t generation, int64_t seconds) {
    char why[SAGOI_MESSAGE_MAX];
    lock_seen lock = {.dir = dir, .old = generation == 0, .record.seconds = seconds};
    lease_record *record = &lock.record;
    sago_status status = lock_path(dir, generation, lock.path);
    if (!status)
        status = read_record(lock.path, lock.old, record);
    if (status == SAGO_ERR_NO_FILE || status == SAGO_ERR_UNSUPPORTED || is_passing(status))
        return status;
    sagoi_message_keep(why);
    if (status)
        *record = (lease_record){.seconds = seconds}; /* it has an age like any other */
    if (record->released || surely_dead(record) || is_void(&lock))
        return SAGO_OK;
    if (status)
        return tell_unknown(&lock, status, why);
    return sagoi_fail(
        SAGO_ERR_BUSY, "another job uses the directory: process %lld on %s, seen %.0f s ago (its lease is %lld s)",
        (long long)record->process.pid, record->host, lock.age < 0 ? 0 : lock.age, (long long)record->seconds);
}

sago_status sagoi_lease_check_old(const char *dir, int64_t seconds) {
    sago_status status = check_owner(dir, 0, seconds);
    if (status == SAGO_ERR_NO_FILE) {
        sagoi_message_clear();
        return SAGO_OK;
    }
    return status;
}

/* ---- Taking it ---- */

/* Each generation has one winner; a job that wins an old generation sees the locks of later ones.  Our own lock
 * goes if we have lost, since the later owner's has another name. */
static sago_status try_generation(sagoi_lease *lease, int64_t generation, bool *won) {
    char name[SAGOI_CKPT_FILE_NAME], path[SAGOI_CKPT_PATH];
    sagoi_generations seen;
    sagoi_wire_out out = {0};
    if (generation > SAGOI_GENERATION_MOST)
        return sagoi_fail(SAGO_ERR_UNSUPPORTED, "the directory has had more owners than can be counted");
    lease->fence.generation = generation;
    sagoi_lock_name(name, generation);
    encode_record(lease, false, &out);
    sago_status status = out.failed ? sagoi_fail(SAGO_ERR_MEMORY, "no memory for a lock")
                                    : sagoi_cfile_claim(lease->fence.dir, name, out.bytes, out.len, won);
    free(out.bytes);
    if (status || !*won)
        return status;
    status = sagoi_fence_look(&lease->fence, &seen);
    *won = !status && seen.lock == generation;
    if (*won)
        status = sagoi_cdir_sync(lease->fence.dir);
    if (status)
        sagoi_lease_release(lease);
    else if (!*won && sagoi_path_join(path, lease->fence.dir, name))
        sagoi_path_discard(path);
    return status;
}

sago_status sagoi_lease_claim(sagoi_lease *lease, sagoi_lease_guess is_void_guess, void *arg) {
    bool won = false;
    for (int i = 0; i < TRIES && !won; i++) {
        sagoi_generations seen;
        sago_status status = sagoi_generations_look(lease->fence.dir, &seen);
        if (!status && is_void_guess)
            status = seen.lock == 0 || is_void_guess(arg, seen.lock)
                         ? SAGO_OK
                         : sagoi_fail(SAGO_ERR_BUSY, "another job uses the directory");
        else if (!status)
            status = check_owner(lease->fence.dir, seen.lock, lease->seconds);
        if (status == SAGO_ERR_NO_FILE && seen.lock > 0)
            continue; /* a later owner has removed it */
        if (!status || status == SAGO_ERR_NO_FILE)
            status = try_generation(lease, sagoi_next_generation(&seen), &won);
        if (status)
            return status;
    }
    sagoi_message_clear();
    return won ? SAGO_OK
               : sagoi_fail(SAGO_ERR_BUSY, "other jobs take the directory and give it back all the time");
}

bool sagoi_lease_is_in(const sagoi_lease *lease, const char *dir) {
    lease_record record = {0};
    char path[SAGOI_CKPT_PATH];
    sago_status status = lock_path(dir, lease->fence.generation, path);
    if (!status)
        status = read_record(path, false, &record);
    return !status && sagoi_id_equal(record.owner, lease->owner);
}

/* ---- Keeping it ---- */

static sago_status was_lost(const sagoi_lease *lease) {
    return sagoi_fail(SAGO_ERR_BUSY, "the lock of %s was lost to another job", lease->fence.dir);
}

/* Names the present owner, for the message. */
static sago_status tell_loss(const sagoi_lease *lease) {
    lease_record record = {0};
    sagoi_generations seen = {0};
    char path[SAGOI_CKPT_PATH];
    if (sagoi_generations_look(lease->fence.dir, &seen) || lock_path(lease->fence.dir, seen.lock, path) ||
        read_record(path, seen.lock == 0, &record))
        record = (lease_record){0};
    return sagoi_fail(SAGO_ERR_BUSY, "the lock of %s was lost to process %lld on %s", lease->fence.dir,
                      (long long)record.process.pid, record.host[0] ? record.host : "an unknown host");
}

static sago_status look_and_rewrite(sagoi_lease *lease) {
    sago_status status = sagoi_fence_check(&lease->fence, 0);
    if (!status) {
        lease->renewals++; /* counted by the thread that renews */
        status = rewrite_record(lease, false);
    }
    return status == SAGO_ERR_BUSY ? tell_loss(lease) : status;
}

/* Renews; one thread at a time.  The lock is released meanwhile, since a caller that only asks must not wait for a
 * directory that may hang. */
static sago_status renew_now(sagoi_lease *lease) {
    double now = sagoi_ckpt_now();
    lease->renewing = true;
    (void)pthread_mutex_unlock(&lease->lock);
    sago_status status = look_and_rewrite(lease);
    (void)pthread_mutex_lock(&lease->lock);
    lease->renewing = false;
    (void)pthread_cond_broadcast(&lease->renewal);
    if (!status)
        lease->renewed = now;
    else if (status == SAGO_ERR_BUSY)
        lease->held = false;
    else if (sagoi_ckpt_now() - lease->renewed < (double)lease->seconds)
        status = SAGO_OK; /* the lease is valid for a while, and renewing is tried again */
    return status;
}

/* Called with the lock. */
static sago_status renew(sagoi_lease *lease) {
    while (lease->held) {
        double age = sagoi_ckpt_now() - lease->renewed;
        if (age < (double)lease->seconds / RENEWALS || (lease->renewing && age < (double)lease->seconds))
            return SAGO_OK;
        if (!lease->renewing)
            return renew_now(lease);
        (void)pthread_cond_wait(&lease->renewal, &lease->lock);
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

/* the next write finds out if the lease was lost */
static double keep(void *arg) {
    sagoi_lease *lease = arg;
    (void)pthread_mutex_lock(&lease->lock);
    if (lease->held && renew(lease))
        sagoi_message_clear();
    (void)pthread_mutex_unlock(&lease->lock);
    return LOOKS;
}

/* Without a thread the writers renew the lease. */
static void start_keeper(sagoi_lease *lease) {
    lease->alarm = (sagoi_alarm){keep, lease};
    if (sagoi_workqueue_create(1, "sago-lease", &lease->keeper) ||
        !sagoi_workqueue_alarm(lease->keeper, 0, &lease->alarm, LOOKS))
        sagoi_message_clear();
}

/* The lock stays, so that its generation is never used again; the thread's message is left alone.  Where this
 * fails, whoever comes next has to wait for the end of the lease, so it is tried twice. */
void sagoi_lease_release(sagoi_lease *lease) {
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    if (rewrite_record(lease, true))
        (void)rewrite_record(lease, true);
    sagoi_message_set(why);
}

sago_status sagoi_lease_take(sagoi_lease *lease, const char *dir, int64_t seconds) {
    *lease = (sagoi_lease){.seconds = seconds};
    (void)snprintf(lease->fence.dir, sizeof lease->fence.dir, "%s", dir);
    if (getrandom(&lease->owner, sizeof lease->owner, 0) != (ssize_t)sizeof lease->owner)
        return sagoi_fail(SAGO_ERR_IO, "no random numbers for a lock");
    sago_status status = sagoi_lease_claim(lease, NULL, NULL);
    if (status)
        return status;
    lease->taken = lease->held = true;
    lease->renewed = sagoi_ckpt_now();
    (void)pthread_mutex_init(&lease->lock, NULL);
    (void)pthread_cond_init(&lease->renewal, NULL);
    start_keeper(lease);
    return SAGO_OK;
}

/* Takes over from itself.  The lock before is no more than an old owner's, then. */
static sago_status step_up(sagoi_lease *lease) {
    char path[SAGOI_CKPT_PATH];
    sagoi_fence held = lease->fence;
    bool won = false;
    sago_status status = try_generation(lease, held.generation + 1, &won);
    if (!status && !won)
        status = was_lost(lease);
    if (status)
        lease->fence = held;
    else if (!lock_path(held.dir, held.generation, path))
        sagoi_path_discard(path);
    return status;
}

/* One generation after the other, each of which has one winner.  A lock that skipped some would be above that of a
 * job which has taken the directory over meanwhile, and would stay there if this one were killed. */
static sago_status raise_to(sagoi_lease *lease, int64_t generation) {
    sago_status status = SAGO_OK;
    while (!status && lease->fence.generation < generation)
        status = step_up(lease);
    return status;
}

sago_status sagoi_lease_raise(sagoi_lease *lease, int64_t generation) {
    (void)pthread_mutex_lock(&lease->lock);
    while (lease->renewing)
        (void)pthread_cond_wait(&lease->renewal, &lease->lock);
    sago_status status = lease->held ? raise_to(lease, generation) : was_lost(lease);
    (void)pthread_mutex_unlock(&lease->lock);
    return status;
}

static void stop_keeper(sagoi_lease *lease) {
    sagoi_workqueue_destroy(&lease->keeper);
    (void)pthread_mutex_destroy(&lease->lock);
    (void)pthread_cond_destroy(&lease->renewal);
}

void sagoi_lease_give_back(sagoi_lease *lease) {
    if (!lease->taken)
        return;
    stop_keeper(lease);
    if (lease->held)
        sagoi_lease_release(lease);
    *lease = (sagoi_lease){0};
}

/* The stage before the engine that puts writes off.
 *
 * Sago keeps what MPI promises of accesses that are not atomic, and no more: a rank sees its own writes in
 * their order, other ranks see them after a sync.  So each rank's data is its own business until the ranks meet
 * in a collective call.  Of a rank's calls that write the same bytes the later one wins, since the earlier one
 * is written first.  Of different ranks' calls either may win, unless the program syncs in between, as MPI asks
 * it to. */
#include "defer/defer.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "defer/fuse.h"
#include "plan/deferral.h"
#include "engine/rule.h"
#include "engine/share.h"
#include "machine/memory.h"
#include "system/syscalls.h"

typedef struct sagoi_pending {
    sago_file *file;
    pthread_mutex_t lock; /* guards the fields below */
    sagoi_fuse fuse;
    bool moving;      /* all ranks are moving data: nothing is added to the fuse or taken off it */
    bool armed;       /* the alarm is set */
    double age, born; /* seconds: how old data may get; when the oldest data came */
    int64_t own_writes[SAGO_FLUSH_COUNT]; /* writes that this rank did by itself, by reason */
    int64_t own_end;                      /* end of what this rank wrote by itself */
    bool harmful; /* those writes were many small runs, which all ranks together would have gathered */
    sagoi_alarm alarm;
    /* The fields below are for collective calls. */
    sagoi_deferral deferral;
    int64_t calls;               /* calls that were put off since the last move; equal on all ranks */
    int64_t largest;             /* bytes of the largest call on this rank */
    sagoi_rule_part first;       /* this rank's part of the first of those calls */
    sago_status late;            /* an error that no call has returned yet */
    char why[SAGOI_MESSAGE_MAX]; /* the message of that error */
    pid_t process;               /* the process that opened the file */
    struct sagoi_pending *next;  /* the next file of this process */
} sagoi_pending;

/* ---- This rank's part, by itself ---- */

/* Writes this rank's deferred data; the caller holds the lock.  Data that could not be written stays deferred. */
static sago_status store_own(sagoi_pending *pending, sago_flush reason) {
    sagoi_fuse *fuse = &pending->fuse;
    if (sagoi_fuse_empty(fuse))
        return SAGO_OK;
    sago_status status = sagoi_fuse_store(fuse, pending->file->store);
    if (status)
        return status;
    pending->own_writes[reason]++;
    pending->own_end = sagoi_max(pending->own_end, sagoi_fuse_end(fuse));
    pending->harmful = pending->harmful || sagoi_deferral_harms(sagoi_fuse_runs(fuse), fuse->used);
    if (!pending->moving)
        sagoi_fuse_reset(fuse);
    return SAGO_OK;
}

sago_status sagoi_flush_own(sago_file *file) {
    sagoi_pending *pending = file->deferred;
    if (!pending)
        return SAGO_OK;
    (void)pthread_mutex_lock(&pending->lock);
    sago_status status = store_own(pending, SAGO_FLUSH_OWN);
    (void)pthread_mutex_unlock(&pending->lock);
    return status;
}

void sagoi_count_own(const sago_file *file, int64_t flushes[SAGO_FLUSH_COUNT]) {
    sagoi_pending *pending = file->deferred;
    if (!pending)
        return;
    (void)pthread_mutex_lock(&pending->lock);
    for (int i = 0; i < SAGO_FLUSH_COUNT; i++)
        flushes[i] += pending->own_writes[i];
    (void)pthread_mutex_unlock(&pending->lock);
}

/* The alarm, which the file's thread calls.  A write that fails is tried again, and the failure is reported when
 * the ranks move the data. */
static double ring(void *arg) {
    sagoi_pending *pending = arg;
    double again = 0;
    (void)pthread_mutex_lock(&pending->lock);
    if (pending->moving) {
        again = pending->age;
    } else if (!sagoi_fuse_empty(&pending->fuse)) {
        again = pending->born + pending->age - sagoi_now();
        if (again <= 0)
            again = store_own(pending, SAGO_FLUSH_AGE) ? pending->age : 0;
    }
    pending->armed = again > 0;
    (void)pthread_mutex_unlock(&pending->lock);
    return again;
}

/* ---- Moving, all ranks ---- */

static void begin_moving(sago_file *file) {
    sagoi_pending *pending = file->deferred;
    (void)pthread_mutex_lock(&pending->lock);
    pending->moving = true;
    file->written_end = sagoi_max(file->written_end, pending->own_end);
    pending->own_end = 0;
    (void)pthread_mutex_unlock(&pending->lock);
}

static void end_moving(sago_file *file, bool moved) {
    sagoi_pending *pending = file->deferred;
    (void)pthread_mutex_lock(&pending->lock);
    pending->moving = false;
    pending->harmful = false;
    if (moved)
        sagoi_fuse_reset(&pending->fuse);
    (void)pthread_mutex_unlock(&pending->lock);
    pending->largest = 0;
    if (moved)
        pending->calls = 0;
}

static sago_status move_fused(sago_file *file, bool nonblocking) {
    sagoi_composed step;
    int64_t bytes;
    sagoi_composed_init(&step, SAGOI_TO_FILE, &file->budget);
    step.flush = true;
    step.rule_part = &file->deferred->first; /* fused calls are longer than a step of the program */
    step.request.nonblocking = nonblocking;
    sago_status status = sagoi_fuse_compose(&file->deferred->fuse, &step);
    status = sagoi_engine_run(file, &step, status, &bytes);
    sagoi_composed_cleanup(&step);
    file->stats.flush_steps++;
    if (status != SAGO_ERR_MEMORY)
        return status;
    /* There is not even memory for the smallest plan, so every rank writes its own data. */
    status = sagoi_fuse_store(&file->deferred->fuse, file->store);
    file->written_end = sagoi_max(file->written_end, sagoi_fuse_end(&file->deferred->fuse));
    return sagoi_agree_status(file->team, status);
}

static void keep_late(sagoi_pending *pending, sago_status status) {
    if (!status || pending->late)
        return;
    pending->late = status;
    sagoi_message_keep(pending->why);
}

static sagoi_deferral_facts facts_of(sagoi_pending *pending) {
    (void)pthread_mutex_lock(&pending->lock);
    sagoi_deferral_facts facts = {.calls = pending->calls,
                                  .largest = pending->largest,
                                  .room = pending->fuse.room,
                                  .harmful = pending->harmful};
    (void)pthread_mutex_unlock(&pending->lock);
    return facts;
}

/* The ranks tell each other what they know.  *late is set to the error of an earlier call that failed on one of
 * them. */
static sago_status agree_on_deferral(sago_file *file, bool due, sago_status *late) {
    sagoi_pending *pending = file->deferred;
    sagoi_deferral_facts facts = facts_of(pending);
    *late = pending->late;
    if (*late)
        sagoi_message_set(pending->why);
    sago_status status = sagoi_engine_agree_deferral(file, &facts, late);
    if (status)
        return status;
    sagoi_deferral_set(&pending->deferral, facts.largest, facts.room, facts.harmful, due);
    pending->late = SAGO_OK;
    keep_late(pending, *late);
    return SAGO_OK;
}

/* The error is that of an earlier call, so this call need not be served by other means. */
static sago_status tell_late(sago_file *file, sago_status late) {
    if (!late)
        return SAGO_OK;
    file->deferred->late = SAGO_OK;
    sagoi_message_set(file->deferred->why);
    file->stats.separate_failures += sagoi_is_beyond(late);
    return late;
}

static sago_status move_all(sago_file *file, sago_flush reason, bool due, bool nonblocking) {
    sago_status late = SAGO_OK;
    file->stats.flushes[reason]++;
    begin_moving(file);
    sago_status status = agree_on_deferral(file, due, &late);
    if (!status)
        status = move_fused(file, nonblocking);
    end_moving(file, !status);
    return status ? status : tell_late(file, late);
}

sago_status sagoi_flush(sago_file *file, sago_flush reason, bool nonblocking) {
    if (!file->deferred || file->deferred->calls == 0)
        return SAGO_OK;
    sago_status status = move_all(file, reason, false, nonblocking);
    bool broken = status == SAGO_ERR_PEER || status == SAGO_ERR_MPI;
    if (!broken)
        return status;
    /* The ranks will never move this data together, so this rank saves its own part. */
    char why[SAGOI_MESSAGE_MAX];
    sagoi_message_keep(why);
    sago_status saved = sagoi_flush_own(file);
    (void)saved; /* the error that stopped the ranks is reported */
    sagoi_message_set(why);
    return status;
}

/* ---- Putting off ---- */

/* Makes sure that data does not get too old; the caller holds the lock.  If no thread would write it in time, it
 * is written at once. */
static sago_status see_to_age(sagoi_pending *pending) {
    pending->born = sagoi_now();
    if (pending->armed || pending->age == 0)
        return SAGO_OK;
    pending->armed = sagoi_workqueue_alarm(pending->file->thread, 0, &pending->alarm, pending->age);
    return pending->armed ? SAGO_OK : store_own(pending, SAGO_FLUSH_AGE);
}

/* Adds a call to the fuse; the caller holds the lock. */
static sago_status add(sagoi_pending *pending, const sagoi_composed *composed, sagoi_fuse_answer *answer) {
    sago_status status = SAGO_OK;
    for (*answer = SAGOI_FUSE_FULL; !status && (*answer == SAGOI_FUSE_FULL || *answer == SAGOI_FUSE_CLASHES);) {
        bool first = sagoi_fuse_empty(&pending->fuse);
        int64_t size = sagoi_fuse_size(&pending->fuse);
        status = sagoi_fuse_add(&pending->fuse, composed, answer);
        if (!status && *answer == SAGOI_FUSED) {
            pending->largest = sagoi_max(pending->largest, sagoi_fuse_size(&pending->fuse) - size);
            return first && composed->bytes > 0 ? see_to_age(pending) : SAGO_OK;
        }
        if (!status)
            status = store_own(pending, *answer == SAGOI_FUSE_CLASHES ? SAGO_FLUSH_OVERLAP : SAGO_FLUSH_ROOM);
    }
    return status;
}

/* A call that would never fit into the room is written by this rank, after the data that is deferred. */
static sago_status put_off(sago_file *file, const sagoi_composed *composed, int64_t *bytes) {
    sagoi_pending *pending = file->deferred;
    sagoi_fuse_answer answer;
    double start = sagoi_phase_begin(file);
    (void)pthread_mutex_lock(&pending->lock);
    sago_status status = add(pending, composed, &answer);
    if (answer == SAGOI_FUSE_NEVER)
        pending->harmful = pending->harmful || sagoi_deferral_harms(composed->runs, composed->bytes);
    (void)pthread_mutex_unlock(&pending->lock);
    (void)sagoi_phase_next(file, SAGO_PHASE_GATHER, start);
    if (status)
        return status;
    if (answer == SAGOI_FUSE_NEVER) {
        status = sagoi_move_alone(file, composed);
        if (!status)
            status = sagoi_request_finish_staging(&composed->request);
        file->written_end = sagoi_max(file->written_end, composed->request.high);
    }
    if (status)
        return status;
    file->stats.bytes_written += composed->bytes;
    *bytes = composed->bytes;
    return SAGO_OK;
}

/* Is the call itself wrong?  Nobody else can serve it then. */
static bool is_mistake(sago_status status) {
    return status == SAGO_ERR_ARG || status == SAGO_ERR_MODE || status == SAGO_ERR_TYPE ||
           status == SAGO_ERR_EXTENTS || status == SAGO_ERR_OVERFLOW;
}

/* A rank that makes a mistake is told at once: it has lost nothing, and the next call is none of it.  Any other
 * error is told when the ranks meet next, to all of them in the same call.  A rank that was told that at once
 * might serve the call by other means, with the others, who do not know of it. */
static sago_status write_later(sago_file *file, sagoi_composed *composed, sago_status status, int64_t *bytes) {
    sagoi_pending *pending = file->deferred;
    bool due = sagoi_deferral_count(&pending->deferral);
    *bytes = 0;
    if (pending->calls++ == 0)
        pending->first = status ? (sagoi_rule_part){.first_low = INT64_MAX, .next_low = INT64_MAX}
                                : sagoi_rule_part_of(composed);
    const sago_status mistake = is_mistake(status) ? status : SAGO_OK;
    char why[SAGOI_MESSAGE_MAX] = "";
    if (mistake)
        sagoi_message_keep(why);
    else
        keep_late(pending, status ? status : put_off(file, composed, bytes));
    file->stats.deferred_writes++;
    file->stats.routes[SAGO_ROUTE_DEFERRED]++;
    file->stats.collective_writes++;
    status = due ? move_all(file, SAGO_FLUSH_MEMORY, true, false) : SAGO_OK;
    if (!status && mistake)
        sagoi_message_set(why);
    if (!status)
        status = mistake;
    *bytes = status ? 0 : *bytes;
    return status;
}

/* While calls are not put off, the ranks meet now and then to decide whether they should be. */
static sago_status look(sago_file *file, const sagoi_composed *composed) {
    sagoi_pending *pending = file->deferred;
    sago_status status = SAGO_OK, late;
    pending->largest = sagoi_max(pending->largest, composed->bytes);
    if (!sagoi_deferral_defers(&pending->deferral) && sagoi_deferral_count(&pending->deferral))
        status = agree_on_deferral(file, false, &late);
    file->common.deferring = sagoi_deferral_defers(&pending->deferral);
    return status;
}

static const sagoi_stage deferral = {
    .look = look, .write = write_later, .drain = sagoi_flush, .drain_own = sagoi_flush_own};

/* ---- Life ---- */

static struct {
    pthread_mutex_t lock;
    sagoi_pending *first;
} all = {PTHREAD_MUTEX_INITIALIZER, NULL};

static void list_add(sagoi_pending *pending) {
    (void)pthread_mutex_lock(&all.lock);
    pending->next = all.first;
    all.first = pending;
    (void)pthread_mutex_unlock(&all.lock);
}

static void list_remove(const sagoi_pending *pending) {
    (void)pthread_mutex_lock(&all.lock);
    sagoi_pending **at = &all.first;
    while (*at && *at != pending)
        at = &(*at)->next;
    if (*at)
        *at = pending->next;
    (void)pthread_mutex_unlock(&all.lock);
}

static bool is_named(const sagoi_pending *pending, const struct stat *named) {
    struct stat own;
    int fd = sagoi_store_fd(pending->file->store);
    return fd >= 0 && sagoi_fstat(fd, pending->file->path, &own) == 0 && own.st_dev == named->st_dev &&
           own.st_ino == named->st_ino;
}

void sagoi_flush_named(const char *path) {
    struct stat named;
    if (sagoi_stat(path, &named) != 0)
        return;
    (void)pthread_mutex_lock(&all.lock);
    for (sagoi_pending *pending = all.first; pending; pending = pending->next) {
        if (pending->process != getpid() || !is_named(pending, &named))
            continue;
        (void)pthread_mutex_lock(&pending->lock);
        (void)store_own(pending, SAGO_FLUSH_OWN);
        (void)pthread_mutex_unlock(&pending->lock);
    }
    (void)pthread_mutex_unlock(&all.lock);
}

/* A program that ends without closing its files, for instance by exit(), finds in them what it wrote.  A lock that
 * a thread holds now may never be released. */
__attribute__((destructor)) static void store_at_exit(void) {
    if (pthread_mutex_trylock(&all.lock) != 0)
        return;
    for (sagoi_pending *pending = all.first; pending; pending = pending->next)
        if (pending->process == getpid() && pthread_mutex_trylock(&pending->lock) == 0) {
            (void)store_own(pending, SAGO_FLUSH_OWN);
            (void)pthread_mutex_unlock(&pending->lock);
        }
    (void)pthread_mutex_unlock(&all.lock);
}

static int64_t limit_of(const sago_file *file) {
    int64_t hint = file->hints.memory, mine = sagoi_share_part(), ranks = file->team->host_ranks;
    int64_t memory = sagoi_deferral_memory(hint, hint > 0 ? 0 : sagoi_memory_available(""));
    return sagoi_min(sagoi_memory_share(memory, mine, ranks), sagoi_deferral_room(file->team->nodes));
}

sago_status sagoi_pending_create(sago_file *file) {
    bool writable = !(file->amode & MPI_MODE_RDONLY), readable = !(file->amode & MPI_MODE_WRONLY);
    if (!sagoi_deferral_wanted(&file->hints, file->team->nodes, writable, readable))
        return SAGO_OK;
    sagoi_pending *pending = sagoi_budget_alloc(&file->budget, sizeof *pending);
    if (!pending)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to defer calls");
    (void)pthread_mutex_init(&pending->lock, NULL);
    sagoi_fuse_init(&pending->fuse, limit_of(file), &file->budget);
    sagoi_deferral_init(&pending->deferral, file->hints.defer == SAGOI_CHOICE_ON);
    pending->file = file;
    pending->age = (double)file->hints.defer_age;
    pending->alarm = (sagoi_alarm){ring, pending};
    pending->process = getpid();
    file->deferred = pending;
    file->stage = &deferral;
    list_add(pending);
    return SAGO_OK;
}

void sagoi_pending_destroy(sago_file *file) {
    sagoi_pending *pending = file->deferred;
    if (!pending)
        return;
    list_remove(pending);
    sagoi_fuse_cleanup(&pending->fuse);
    (void)pthread_mutex_destroy(&pending->lock);
    sagoi_budget_free(&file->budget, pending);
    file->deferred = NULL;
}

/* The watched directories are a list of the process, since a path is all that the users of a directory have in
 * common.  One lock is enough: it is only held for some instructions around a system call. */
#include "system/watch.h"

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "system/thread.h"

/* Descriptors of a stuck directory that are remembered, to be closed when it answers. */
enum { CLOSE_LATER = 64 };
#define NAP 0.5     /* Seconds between two looks of a wait. */
#define NAP_MOST 1. /* Seconds of a nap that count at the most: a process that was stopped has not waited. */

typedef enum {
    RUNNER_IDLE,
    RUNNER_TAKEN,
    RUNNER_AT_WORK,
    RUNNER_DONE,
    RUNNER_FORGOTTEN,
    RUNNER_ENDS
} runner_state;

struct sagoi_runner {
    _Alignas(max_align_t) char room[SAGOI_ERRAND_ROOM];
    sagoi_watch *watch;
    runner_state state;
    pthread_t thread, caller; /* caller: the last thread that used this runner, which took over its cores */
    bool called;
    pthread_cond_t change;
    double since; /* when the call began */
    sago_status status;
    char message[SAGOI_MESSAGE_MAX];
    char *buffer;
    int64_t capacity;
    struct sagoi_runner *next;
};

struct sagoi_watch {
    char dir[SAGOI_WATCH_PATH];
    int64_t patience; /* seconds that a caller waits */
    int64_t users;    /* 0: only forgotten calls keep the watch */
    sagoi_runner *runners;
    int64_t forgotten;      /* calls that nobody waits for any more, and that have not come back */
    double cpu;             /* seconds of processor time that runners have taken */
    int later[CLOSE_LATER]; /* descriptors to be closed when the directory answers */
    int nlater;
    struct sagoi_watch *next;
};

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static sagoi_watch *watches;

static void lock(void) { (void)pthread_mutex_lock(&guard); }
static void unlock(void) { (void)pthread_mutex_unlock(&guard); }

/* ---- The threads ---- */

static void free_runner(sagoi_runner *runner) {
    (void)pthread_cond_destroy(&runner->change);
    free(runner->buffer);
    free(runner);
}

static void unlink_runner(sagoi_runner *runner) {
    sagoi_runner **at = &runner->watch->runners;
    while (*at != runner)
        at = &(*at)->next;
    *at = runner->next;
}

static void unlink_watch(sagoi_watch *watch) {
    sagoi_watch **at = &watches;
    while (*at != watch)
        at = &(*at)->next;
    *at = watch->next;
}

/* Called by a runner whose forgotten call has come back, under the lock.  The lock is released for closing
 * descriptors, since that may hang again. */
static void come_back(sagoi_runner *runner) {
    sagoi_watch *watch = runner->watch;
    int later[CLOSE_LATER], nlater = 0;
    unlink_runner(runner);
    if (--watch->forgotten == 0) {
        nlater = watch->nlater;
        memcpy(later, watch->later, sizeof later);
        watch->nlater = 0;
    }
    bool last = watch->users == 0 && !watch->runners;
    if (last)
        unlink_watch(watch);
    unlock();
    for (int i = 0; i < nlater; i++)
        (void)close(later[i]);
    free_runner(runner);
    if (last)
        free(watch);
}

static void *runner_main(void *arg) {
    sagoi_runner *runner = arg;
    lock();
    for (;;) {
        while (runner->state != RUNNER_AT_WORK && runner->state != RUNNER_ENDS)
            (void)pthread_cond_wait(&runner->change, &guard);
        if (runner->state == RUNNER_ENDS)
            break;
        sagoi_errand *errand = (sagoi_errand *)runner->room;
        unlock();
        double cpu = sagoi_seconds(CLOCK_THREAD_CPUTIME_ID);
        sagoi_message_clear();
        sago_status status = errand->run(errand);
        cpu = sagoi_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
        lock();
        runner->watch->cpu += cpu;
        if (runner->state == RUNNER_FORGOTTEN) {
            unlock();
            if (errand->forgotten)
                errand->forgotten(errand);
            lock();
            come_back(runner);
            return NULL;
        }
        runner->status = status;
        sagoi_message_keep(runner->message);
        runner->state = RUNNER_DONE;
        (void)pthread_cond_signal(&runner->change);
    }
    unlock();
    return NULL;
}

/* Adds a runner under the lock, which the new thread waits for; NULL: there is no memory, or no thread. */
static sagoi_runner *add_runner(sagoi_watch *watch) {
    sagoi_runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return NULL;
    runner->watch = watch;
    if (sagoi_condition_init(&runner->change)) {
        free(runner);
        return NULL;
    }
    if (sagoi_thread_start(&runner->thread, "sago-call", runner_main, runner)) {
        free_runner(runner);
        return NULL;
    }
    runner->next = watch->runners;
    watch->runners = runner;
    return runner;
}

/* ---- Directories ---- */

static sagoi_watch *find_dir(const char *dir) {
    sagoi_watch *at = watches;
    while (at && (at->users == 0 || strcmp(at->dir, dir) != 0))
        at = at->next;
    return at;
}

/* The innermost watched directory that the path is in. */
static sagoi_watch *find_path(const char *path) {
    sagoi_watch *found = NULL;
    size_t longest = 0;
    for (sagoi_watch *at = watches; at; at = at->next) {
        size_t len = strlen(at->dir);
        if (at->users > 0 && len > longest && strncmp(at->dir, path, len) == 0 &&
            (path[len] == '/' || path[len] == '\0')) {
            found = at;
            longest = len;
        }
    }
    return found;
}

/* Called under the lock. */
static sago_status new_watch(const char *dir, int64_t patience, sagoi_watch **made) {
    sagoi_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory to watch %s", dir);
    (void)snprintf(watch->dir, sizeof watch->dir, "%s", dir);
    watch->patience = patience;
    watch->users = 1;
    if (!add_runner(watch)) { /* one runner is made at once, so that there is always one to wait for */
        free(watch);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a thread that makes the calls on %s", dir);
    }
    watch->next = watches;
    watches = watch;
    *made = watch;
    return SAGO_OK;
}

sago_status sagoi_watch_begin(const char *dir, int64_t patience, sagoi_watch **made) {
    sago_status status = SAGO_OK;
    if (strlen(dir) >= SAGOI_WATCH_PATH)
        return sagoi_fail(SAGO_ERR_BAD_FILE, "%.64s...: the path is too long", dir);
    lock();
    sagoi_watch *existing = find_dir(dir);
    if (existing) {
        existing->users++;
        existing->patience = patience < existing->patience ? patience : existing->patience;
        *made = existing;
    } else {
        status = new_watch(dir, patience, made);
    }
    unlock();
    return status;
}

/* Takes the runners that are to end out of the watch; called under the lock. */
static sagoi_runner *dismiss(sagoi_watch *watch) {
    sagoi_runner *ending = NULL;
    for (sagoi_runner **at = &watch->runners; *at;) {
        sagoi_runner *runner = *at;
        if (runner->state == RUNNER_FORGOTTEN) {
            at = &runner->next;
            continue;
        }
        *at = runner->next;
        runner->state = RUNNER_ENDS;
        (void)pthread_cond_signal(&runner->change);
        runner->next = ending;
        ending = runner;
    }
    return ending;
}

void sagoi_watch_end(sagoi_watch **watch) {
    sagoi_watch *ended = *watch;
    *watch = NULL;
    if (!ended)
        return;
    lock();
    bool last = --ended->users == 0;
    sagoi_runner *ending = last ? dismiss(ended) : NULL;
    bool unused = last && !ended->runners;
    if (unused)
        unlink_watch(ended);
    unlock();
    for (sagoi_runner *next; ending; ending = next) {
        next = ending->next;
        (void)pthread_join(ending->thread, NULL);
        free_runner(ending);
    }
    if (unused)
        free(ended);
}

/* ---- Errands ---- */

/* Names the call that has been out for longest. */
static sago_status is_stuck(const sagoi_watch *watch) {
    const sagoi_runner *oldest = NULL;
    for (const sagoi_runner *at = watch->runners; at; at = at->next)
        if (at->state == RUNNER_FORGOTTEN && (!oldest || at->since < oldest->since))
            oldest = at;
    const sagoi_errand *errand = (const sagoi_errand *)oldest->room;
    return sagoi_fail(SAGO_ERR_TIMEOUT, "%.200s is out of reach: %s %.200s has not come back for %.0f s",
                      watch->dir, errand->what, errand->path, sagoi_seconds(CLOCK_MONOTONIC) - oldest->since);
}

/* Finds an idle runner, preferably one that has worked for this thread before. */
static sagoi_runner *find_idle(const sagoi_watch *watch) {
    sagoi_runner *found = NULL;
    for (sagoi_runner *at = watch->runners; at; at = at->next)
        if (at->state == RUNNER_IDLE && (!found || (at->called && pthread_equal(at->caller, pthread_self()))))
            found = at;
    return found;
}

sago_status sagoi_runner_take(const char *path, sagoi_runner **runner) {
    sago_status status = SAGO_OK;
    sagoi_runner *found = NULL;
    *runner = NULL;
    lock();
    sagoi_watch *watch = find_path(path);
    while (watch && !found && !status) {
        if (watch->forgotten > 0)
            status = is_stuck(watch);
        else
            found = find_idle(watch);
        if (!found && !status)
            found = add_runner(watch);
        if (!found && !status && !watch->runners)
            status = sagoi_fail(SAGO_ERR_MEMORY, "no memory for a thread that makes the calls on %s", watch->dir);
        else if (!found && !status) /* the calls of the others end, or are forgotten */
            (void)pthread_cond_wait(&given_back, &guard);
    }
    if (found) {
        found->state = RUNNER_TAKEN;
        *runner = found;
    }
    unlock();
    return status;
}

void sagoi_runner_give(sagoi_runner *runner) {
    lock();
    runner->state = RUNNER_IDLE;
    (void)pthread_cond_broadcast(&given_back);
    unlock();
}

void *sagoi_runner_room(sagoi_runner *runner) { return runner->room; }

char *sagoi_runner_buffer(sagoi_runner *runner, int64_t bytes) {
    if (bytes > runner->capacity) {
        char *larger = malloc((size_t)bytes);
        if (!larger)
            return NULL;
        free(runner->buffer);
        lock();
        runner->buffer = larger;
        runner->capacity = bytes;
        unlock();
    }
    return runner->buffer;
}

/* Lets the runner use the cores that its caller may use. */
static void share_cores(sagoi_runner *runner) {
    cpu_set_t set;
    if (runner->called && pthread_equal(runner->caller, pthread_self()))
        return;
    runner->caller = pthread_self();
    runner->called = true;
    if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0)
        (void)pthread_setaffinity_np(runner->thread, sizeof set, &set);
}

/* Waits until the errand is done; false: it takes longer than the patience. */
static bool await(sagoi_runner *runner, int64_t patience) {
    double waited = 0;
    while (runner->state != RUNNER_DONE && waited < (double)patience) {
        double begin = sagoi_seconds(CLOCK_MONOTONIC), left = (double)patience - waited;
        struct timespec until = sagoi_timespec(begin + (left < NAP ? left : NAP));
        (void)pthread_cond_timedwait(&runner->change, &guard, &until);
        double nap = sagoi_seconds(CLOCK_MONOTONIC) - begin;
        waited += nap < NAP_MOST ? nap : NAP_MOST;
    }
    return runner->state == RUNNER_DONE;
}

sago_status sagoi_runner_go(sagoi_runner *runner, bool *gone) {
    sago_status status;
    share_cores(runner);
    lock();
    sagoi_watch *watch = runner->watch;
    runner->since = sagoi_seconds(CLOCK_MONOTONIC);
    runner->state = RUNNER_AT_WORK;
    (void)pthread_cond_signal(&runner->change);
    *gone = !await(runner, watch->patience);
    if (*gone) {
        const sagoi_errand *errand = (const sagoi_errand *)runner->room;
        runner->state = RUNNER_FORGOTTEN;
        watch->forgotten++;
        (void)pthread_detach(runner->thread);
        (void)pthread_cond_broadcast(&given_back);
        status = sagoi_fail(SAGO_ERR_TIMEOUT, "%s %.300s has not come back for %lld s (hint sago_ckpt_patience)",
                            errand->what, errand->path, (long long)watch->patience);
    } else {
        runner->state = RUNNER_TAKEN;
        status = runner->status;
        if (status)
            sagoi_message_set(runner->message);
    }
    unlock();
    return status;
}

/* ---- What stays behind ---- */

bool sagoi_watch_close_later(const char *path, int fd) {
    lock();
    sagoi_watch *watch = find_path(path);
    bool stuck = watch && watch->forgotten > 0;
    if (stuck && watch->nlater < CLOSE_LATER)
        watch->later[watch->nlater++] = fd;
    unlock();
    return stuck;
}

static bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
    uintptr_t first = (uintptr_t)a, second = (uintptr_t)b;
    return first < second + (uintptr_t)b_bytes && second < first + (uintptr_t)a_bytes;
}

bool sagoi_memory_is_lent(const void *memory, int64_t bytes) {
    bool found = false;
    lock();
    for (const sagoi_watch *watch = watches; watch; watch = watch->next)
        for (const sagoi_runner *at = watch->runners; at; at = at->next) {
            const sagoi_errand *errand = (const sagoi_errand *)at->room;
            found = found || (at->state == RUNNER_FORGOTTEN && errand->lent &&
                              overlap(memory, bytes, errand->lent, errand->lent_bytes));
        }
    unlock();
    return found;
}

sagoi_watch_counts sagoi_watch_count(const sagoi_watch *watch) {
    sagoi_watch_counts counts = {0};
    if (!watch)
        return counts;
    lock();
    counts.cpu = watch->cpu;
    for (const sagoi_runner *at = watch->runners; at; at = at->next)
        if (at->state == RUNNER_FORGOTTEN) {
            const sagoi_errand *errand = (const sagoi_errand *)at->room;
            counts.calls++;
            counts.bytes += (int64_t)sizeof *at + at->capacity + (errand->lent ? errand->lent_bytes : 0);
        }
    unlock();
    return counts;
}

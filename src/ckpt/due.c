/* Is it time for a checkpoint, and is the job about to end? */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "ckpt/state.h"

/* ---- Signals ---- */

enum { SIGNALS = 2 }; /* bit i of the hint is signals[i] */
static const int signals[SIGNALS] = {SIGUSR1, SIGTERM};

/* A global, since a signal handler cannot tell anybody in another way. */
static volatile sig_atomic_t signal_came[SIGNALS];

/* Handlers belong to the process: the first checkpoint directory that wants one installs it, and the last one puts
 * the old handler back. */
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static int users[SIGNALS];
static struct sigaction before[SIGNALS];

static void on_signal(int number) { signal_came[number == signals[1]] = 1; }

static bool any_came(int64_t which) {
    bool came = false;
    for (int i = 0; i < SIGNALS; i++)
        came = came || (which >> i & 1 && signal_came[i]);
    return came;
}

void sagoi_signals_watch(int64_t which) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    (void)pthread_mutex_lock(&handlers_lock);
    for (int i = 0; i < SIGNALS; i++)
        if (which >> i & 1 && users[i]++ == 0) {
            signal_came[i] = 0;
            (void)sigaction(signals[i], &action, &before[i]);
        }
    (void)pthread_mutex_unlock(&handlers_lock);
}

void sagoi_signals_leave(int64_t which) {
    (void)pthread_mutex_lock(&handlers_lock);
    for (int i = 0; i < SIGNALS; i++)
        if (which >> i & 1 && --users[i] == 0)
            (void)sigaction(signals[i], &before[i], NULL);
    (void)pthread_mutex_unlock(&handlers_lock);
}

/* ---- Time ---- */

double sagoi_daly_interval(double cost, double mtbf) {
    if (cost >= 2 * mtbf)
        return mtbf;
    double ratio = cost / (2 * mtbf);
    return sqrt(2 * cost * mtbf) * (1 + sqrt(ratio) / 3 + ratio / 9) - cost;
}

/* By interval or by the rate of failures; a share of the time is a limit, and the rule if there is no other. */
static bool is_due(const sago_ckpt *ckpt) {
    const sagoi_hints *hints = &ckpt->hints;
    double since = sagoi_ckpt_now() - ckpt->last_save, cost = ckpt->last_held;
    bool timed = hints->ckpt_interval > 0 || hints->ckpt_mtbf > 0;
    bool due = !timed && hints->ckpt_overhead > 0;
    if (hints->ckpt_interval > 0)
        due = due || since >= (double)hints->ckpt_interval;
    if (hints->ckpt_mtbf > 0)
        due = due || since >= sagoi_daly_interval(cost > 0 ? cost : 1, (double)hints->ckpt_mtbf);
    if (hints->ckpt_overhead > 0)
        due = due && since * (double)hints->ckpt_overhead >= 100 * cost;
    return due;
}

/* Seconds before the end that are kept for other work than saving: a minute, but no more than a tenth of the time
 * that was left when the directory was opened, so that a short job does not end at once. */
static double spare_time(const sago_ckpt *ckpt, double left) {
    double left_then = left + sagoi_ckpt_now() - ckpt->opened;
    return fmax(0, fmin(60, left_then / 10));
}

/* A last save must fit before the end, so there must be twice the time of the slowest save, and some to spare. */
static bool ends_soon(sago_ckpt *ckpt) {
    const char *text = sagoi_environment("SLURM_JOB_END_TIME");
    int64_t end = text ? strtoll(text, NULL, 10) : 0;
    if (!text && ckpt->team->rank == 0)
        end = sagoi_allocation_end(&ckpt->allocation);
    double slowest = 0;
    for (const sagoi_saving *at = ckpt->saves; at; at = at->next)
        slowest = fmax(slowest, at->stats.held + at->stats.write + at->stats.drain);
    double left = (double)end - sagoi_ckpt_date();
    return end > 0 && left < spare_time(ckpt, left) + 2 * slowest;
}

sago_status sagoi_is_due(sago_ckpt *ckpt, int *due, int *leave) {
    enum { MAX_DUE = SAGOI_MAX_FREE_TO_USE, MAX_LEAVE };
    sagoi_agreement agreed = {0};
    bool decided;
    agreed.max[MAX_DUE] = ckpt->team->rank == 0 && is_due(ckpt);
    agreed.max[MAX_LEAVE] = any_came(ckpt->watched) || ends_soon(ckpt);
    sagoi_news_put(ckpt, &agreed);
    sago_status status = sagoi_agree(ckpt->team, &agreed, NULL, NULL, NULL);
    if (!status)
        status = sagoi_news_take(ckpt, &agreed, &decided);
    if (status)
        return status;
    *leave = agreed.max[MAX_LEAVE] != 0;
    *due = *leave || agreed.max[MAX_DUE] != 0;
    return SAGO_OK;
}

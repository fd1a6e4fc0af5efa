/* Where the ranks of a node wait for each other: a futex in shared memory instead of a spinning MPI barrier.
 *
 * A sleeping rank must not stop MPI: a message posted before the collective call may need this rank's library
 * to make progress.  So sleeps are timed, and every wake pokes MPI on the team's own communicator.  From time
 * to time a waiting rank also looks whether the others still live; a rank that died would otherwise mean waiting
 * for ever.
 *
 * On one node the rank that comes last does the work for all; on several nodes the leader does, since only
 * leaders call MPI to agree. */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/fiber.h"
#include "move/calls.h"
#include "move/control.h"
#include "move/leaders.h"
#include "trace/stats.h"

enum {
    SPIN_US = 1000,        /* A rank with a core of its own looks for this long before it pokes MPI. */
    SPINS = 8,             /* It does so this often before it sleeps: it may wake on a core without its caches. */
    LOOKS = 32,            /* Looks between two yields: the rank that is waited for may need this very core. */
    YIELD_US = 200,        /* Ranks that share cores yield for this long before they sleep. */
    FIRST_SLEEP_US = 1000, /* The first sleep of a wait; each sleep is longer than the one before. */
    LONGEST_SLEEP_US = 8000, /* No sleep is longer than this. */
    EXCHANGE_SLEEP_US = 100, /* The longest sleep while messages have to be answered. */
    SWITCH_US = 3,           /* A yield that takes longer has given the core to another thread. */
    SLEEPY_WAITS = 512, /* After yields were found to fail, this many waits sleep; then yields are tried again. */
    WAKES_BETWEEN_ROLL_CALLS = 64,   /* A sleeping rank looks once in this many wakes whether the others live. */
    VISITS_BETWEEN_ROLL_CALLS = 4096 /* A fiber does so once in this many visits. */
};

static void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Has a process of this node ended? */
static bool someone_died(const sagoi_team *team) {
    const sagoi_control *control = team->control;
    if (control->pid_namespace == 0)
        return false;
    for (int i = 0; i < team->local_size; i++)
        if (sagoi_process_gone(&control->slots[i].process))
            return true;
    return false;
}

/* After a process of the node has died no rank waits any more. */
static void roll_call(sagoi_team *team) {
    if (someone_died(team))
        sagoi_break_node(team, "a process of this node has died during a collective call");
}

void sagoi_poke(sagoi_team *team) {
    int flag;
    if (team->nodes > 1 || team->within)
        sagoi_hear_news(team);
    else
        (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, team->all, &flag, MPI_STATUS_IGNORE);
}

static bool changed(const sagoi_futex *word, uint32_t old) {
    return atomic_load_explicit(&word->value, memory_order_acquire) != old;
}

/* What the waits of this process have taught about yields.  A yield passes the core on for certain only within one
 * scheduling group.  The kernel may make a group of each session, and MPICH starts each rank in a session of its
 * own: then a waiting rank gets its fair share of a core that the others need, yields or not, and only sleeping
 * gives the core away.  Sleeping always would be slower where yields work, and on one node, where nobody waits for
 * messages. */
static struct {
    _Atomic int doubt;       /* grows by waits in which yields failed, and shrinks by others */
    _Atomic int sleepy_left; /* waits to come that sleep */
} yielding;

/* Learns from the yields of one wait, of which `switches` switched to another thread.  Where hardly one did, the
 * rank has the core for itself, and yields have not failed. */
static void learn_from_yields(int yields, int switches) {
    enum { SUSPICION = 4, CERTAINTY = 8 };
    bool failed = yields > 2 * switches && yields <= 8 * switches;
    int doubt = atomic_load_explicit(&yielding.doubt, memory_order_relaxed) + (failed ? SUSPICION : -1);
    if (doubt >= CERTAINTY) {
        atomic_store_explicit(&yielding.sleepy_left, SLEEPY_WAITS, memory_order_relaxed);
        doubt = 0;
    }
    if (doubt >= 0)
        atomic_store_explicit(&yielding.doubt, doubt, memory_order_relaxed);
}

static bool sleeps_this_time(void) {
    int left = atomic_load_explicit(&yielding.sleepy_left, memory_order_relaxed);
    if (left > 0)
        atomic_store_explicit(&yielding.sleepy_left, left - 1, memory_order_relaxed);
    return left > 0;
}

static bool look(const sagoi_futex *word, uint32_t old, int times) {
    for (int i = 0; i < times; i++) {
        if (changed(word, old))
            return true;
        pause_cpu();
    }
    return false;
}

/* Waits awake for at most `us` microseconds; offers the core to other threads after every `looks` looks at the
 * word. */
static bool watch(const sagoi_futex *word, uint32_t old, int looks, int us) {
    double now = sagoi_now(), end = now + us * 1e-6;
    int yields = 0, switches = 0;
    bool there = look(word, old, looks);
    while (!there && now < end) {
        double before = sagoi_now();
        (void)sched_yield();
        now = sagoi_now();
        yields++;
        switches += now - before > SWITCH_US * 1e-6;
        there = look(word, old, looks);
    }
    learn_from_yields(yields, switches);
    return there;
}

/* Waits without sleeping until the word changes from `old`, as long as that may be worth it.  True: the word has
 * changed. */
static bool wait_awake(sagoi_team *team, const sagoi_futex *word, uint32_t old) {
    if (changed(word, old))
        return true;
    if (sagoi_fibers_pending())
        return false;
    if (team->nodes > 1 && sleeps_this_time())
        return look(word, old, LOOKS);
    if (team->local_size > team->cores)
        return watch(word, old, 1, YIELD_US);
    for (int i = 0; i < SPINS; i++) {
        if (watch(word, old, LOOKS, SPIN_US))
            return true;
        sagoi_poke(team);
    }
    return false;
}

/* A fiber that goes on and has nothing else to do. */
static void look_after_peers(sagoi_team *team, int visits) {
    if (visits > 0)
        sagoi_poke(team);
    if (visits % VISITS_BETWEEN_ROLL_CALLS == VISITS_BETWEEN_ROLL_CALLS - 1)
        roll_call(team);
}

/* The same as sagoi_wait_word() for a fiber: the thread that lets the fiber go on sleeps. */
static bool wait_on_fiber(sagoi_team *team, sagoi_futex *word, uint32_t old) {
    for (int visits = 0; !changed(word, old); visits++) {
        if (sagoi_is_broken(team))
            return false;
        bool busy = team->idle && team->idle(team->idle_arg);
        if (!busy)
            look_after_peers(team, visits);
        sagoi_fiber_yield(visits == 0 || busy, word, old);
    }
    return true;
}

bool sagoi_wait_word(sagoi_team *team, sagoi_futex *word, uint32_t old) {
    int64_t sleep_us = FIRST_SLEEP_US;
    if (sagoi_on_fiber())
        return wait_on_fiber(team, word, old);
    if (!team->idle && wait_awake(team, word, old))
        return true;
    for (int wakes = 1; !changed(word, old); wakes++) {
        if (sagoi_is_broken(team))
            return false;
        bool others = sagoi_fibers_pending();
        if (others && sagoi_fibers_advance())
            continue;
        if (!team->idle) {
            sagoi_futex_wait(word, old, others ? EXCHANGE_SLEEP_US : sleep_us);
            if (changed(word, old))
                return true;
            sagoi_poke(team);
            if (sleep_us < LONGEST_SLEEP_US)
                sleep_us *= 2;
        } else if (!team->idle(team->idle_arg)) {
            sagoi_futex_wait(word, old, EXCHANGE_SLEEP_US);
        }
        if (wakes % WAKES_BETWEEN_ROLL_CALLS == 0)
            roll_call(team);
    }
    return true;
}

/* ---- Without a gate ---- */

void sagoi_tell_done(sagoi_team *team) {
    _Atomic uint64_t *done = &team->control->slots[team->local_rank].done;
    atomic_store_explicit(done, atomic_load_explicit(done, memory_order_relaxed) + 1, memory_order_release);
}

/* The pause between two looks at what another rank has done. */
static void pause_between_looks(sagoi_team *team, int looks) {
    enum { YIELDS = 100, REST_US = 50 };
    if (sagoi_on_fiber()) {
        look_after_peers(team, looks);
        sagoi_fiber_yield(looks == 0, NULL, 0);
        return;
    }
    if (sagoi_fibers_pending() && sagoi_fibers_advance())
        return;
    if (looks < YIELDS) {
        (void)sched_yield();
        return;
    }
    (void)usleep(REST_US);
    sagoi_poke(team);
    if (looks % WAKES_BETWEEN_ROLL_CALLS == 0)
        roll_call(team);
}

sago_status sagoi_await_done(sagoi_team *team, double patience, bool *late) {
    sagoi_control *control = team->control;
    double end = patience > 0 ? sagoi_clock() + patience : 0;
    uint64_t mine = atomic_load_explicit(&control->slots[team->local_rank].done, memory_order_relaxed);
    for (int i = 0; i < team->local_size; i++)
        for (int looks = 0; atomic_load_explicit(&control->slots[i].done, memory_order_acquire) < mine; looks++) {
            if (sagoi_is_broken(team))
                return sagoi_broken(team);
            *late = end > 0 && sagoi_clock() > end;
            if (*late)
                return SAGO_OK;
            pause_between_looks(team, looks);
        }
    return SAGO_OK;
}

/* ---- Gates ---- */

static void open_gate(sagoi_control *control) {
    atomic_store(&control->arrived, 0);
    atomic_fetch_add_explicit(&control->generation.value, 1, memory_order_release);
    sagoi_futex_wake(&control->generation);
}

/* All ranks of the node arrive, one of them runs `meeting`, and all go on.  `by_leader`: the leader runs
 * `meeting`, else the rank that arrives last. */
static sago_status meet(sagoi_team *team, bool by_leader, sagoi_meeting_fn meeting, void *arg) {
    sagoi_control *control = team->control;
    if (sagoi_is_broken(team))
        return sagoi_broken(team);
    if (team->local_size == 1) /* there is no other rank to wait for, or to wake */
        return meeting ? meeting(team, arg) : SAGO_OK;
    uint32_t generation = atomic_load(&control->generation.value), ready = atomic_load(&control->ready.value);
    bool last = atomic_fetch_add(&control->arrived, 1) + 1 == (uint32_t)team->local_size;
    bool chosen = by_leader ? team->local_rank == 0 : last;
    if (last && !chosen) {
        atomic_fetch_add(&control->ready.value, 1);
        sagoi_futex_wake(&control->ready);
    }
    if (chosen) {
        if (!last && !sagoi_wait_word(team, &control->ready, ready))
            return sagoi_broken(team);
        sago_status status = meeting ? meeting(team, arg) : SAGO_OK;
        open_gate(control);
        return status;
    }
    bool opened = sagoi_wait_word(team, &control->generation, generation);
    return opened && !sagoi_is_broken(team) ? SAGO_OK : sagoi_broken(team);
}

sago_status sagoi_meet_as_agreed(sagoi_team *team, sagoi_meeting_fn meeting, void *arg) {
    return meet(team, team->nodes > 1, meeting, arg);
}

sago_status sagoi_gate(sagoi_team *team) {
    return team->local_size == 1 ? SAGO_OK : meet(team, false, NULL, NULL);
}

static sago_status sum_values(sagoi_team *team, void *arg) {
    (void)arg;
    sagoi_control *control = team->control;
    control->value_sum = 0;
    for (int i = 0; i < team->local_size; i++)
        control->value_sum += control->slots[i].value;
    return SAGO_OK;
}

sago_status sagoi_gate_sum(sagoi_team *team, int64_t value, int64_t *sum) {
    team->control->slots[team->local_rank].value = value;
    sago_status status = meet(team, false, sum_values, NULL);
    if (!status)
        *sum = team->control->value_sum;
    return status;
}

int64_t *sagoi_node_counts(sagoi_team *team) { return team->control->slots[team->local_rank].counts; }

void sagoi_sum_node_counts(const sagoi_team *team, int64_t *sums) {
    memset(sums, 0, SAGOI_COUNTS * sizeof *sums);
    for (int i = 0; i < team->local_size; i++)
        for (int k = 0; k < SAGOI_COUNTS; k++)
            sums[k] += team->control->slots[i].counts[k];
}

void sagoi_agreement_combine(sagoi_agreement *into, const sagoi_agreement *from) {
    for (int i = 0; i < SAGOI_SUMS; i++)
        into->sum[i] += from->sum[i];
    for (int i = 0; i < SAGOI_MAXIMA; i++)
        if (from->max[i] > into->max[i])
            into->max[i] = from->max[i];
}

typedef struct agree_work {
    sagoi_once_fn once;
    void *arg;
} agree_work;

static void reduce_node(sagoi_team *team) {
    sagoi_control *control = team->control;
    control->of_node = control->slots[0].agreement;
    for (int i = 1; i < team->local_size; i++)
        sagoi_agreement_combine(&control->of_node, &control->slots[i].agreement);
}

static sago_status agree_meeting(sagoi_team *team, void *arg) {
    agree_work *work = arg;
    sagoi_control *control = team->control;
    reduce_node(team);
    control->of_all = control->of_node;
    sago_status status = team->nodes > 1 ? sagoi_leaders_reduce(team, &control->of_all) : SAGO_OK;
    if (status)
        control->of_all.max[0] = INT64_MAX; /* SAGOI_MAX_ERROR: no rank takes these numbers for agreed */
    else if (work->once)
        work->once(work->arg, &control->of_all);
    return status;
}

sago_status sagoi_agree(sagoi_team *team, sagoi_agreement *agreement, sagoi_agreement *of_node, sagoi_once_fn once,
                        void *arg) {
    agree_work work = {once, arg};
    sagoi_control *control = team->control;
    control->slots[team->local_rank].agreement = *agreement;
    sago_status status = meet(team, team->nodes > 1, agree_meeting, &work);
    if (status)
        return status;
    *agreement = control->of_all;
    if (of_node)
        *of_node = control->of_node;
    return SAGO_OK;
}

/* The copy that all ranks of the node read. */
static char *described_area(sagoi_team *team) { return (char *)&team->control->slots[team->local_size]; }

typedef struct describe_work {
    sagoi_describe_fn describe;
    void *arg;
    int64_t bytes;
} describe_work;

static sago_status describe_leaders(sagoi_team *team, void *arg) {
    const describe_work *work = arg;
    char mine[SAGOI_DESCRIBED_BYTES] = {0};
    reduce_node(team);
    work->describe(work->arg, &team->control->of_node, mine);
    return sagoi_leaders_gather(team, mine, work->bytes, described_area(team));
}

sago_status sagoi_describe_nodes(sagoi_team *team, const sagoi_agreement *mine, sagoi_describe_fn describe,
                                 void *arg, int64_t bytes, const void **all) {
    describe_work work = {describe, arg, bytes};
    team->control->slots[team->local_rank].agreement = *mine;
    sago_status status = meet(team, true, describe_leaders, &work);
    *all = described_area(team);
    return status;
}

sago_status sagoi_pairs_of_node(sagoi_team *team, sagoi_pair mine, sagoi_pair all[]) {
    team->control->slots[team->local_rank].pair = mine;
    sago_status status = sagoi_gate(team);
    for (int i = 0; i < team->local_size && !status; i++)
        all[i] = team->control->slots[i].pair;
    return status ? status : sagoi_gate(team); /* no rank may write its next pair before all have read this one */
}

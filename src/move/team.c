/* Making teams and keeping them, and choosing the team of a file that is opened.
 *
 * A team belongs to a circle, and a circle is found again by its ranks.  A note on the program's communicator
 * (an attribute) says which circle belongs to it.  A circle that no communicator knows and no file uses is kept
 * for a while, for programs that copy a communicator for each file.  MPI_Finalize, which deletes the attributes
 * of MPI_COMM_SELF first, ends all circles.
 *
 * Which teams are free depends on the moment, and differs between ranks while other threads close files.  So
 * where there may be several threads, rank 0 chooses from the teams that are free on all ranks, and tells the
 * others. */
#include "move/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/hints.h"
#include "move/calls.h"
#include "move/circle.h"
#include "move/control.h"
#include "mpi/quiet.h"

enum {
    KEPT_TEAMS = 64,  /* teams of a circle that are kept for the next file: the bits of a word */
    KEPT_WINDOWS = 4, /* of these, teams that keep their windows */
    KEPT_CIRCLES = 4, /* circles that are kept though no communicator knows them */
    MOST_ALIKE = 16   /* circles of one size that an open looks at */
};

/* Attached to a communicator of the program's. */
typedef struct comm_note {
    sagoi_circle *circle; /* NULL: not known yet */
} comm_note;

/* MPI gives these handles out once in a process; they live as long as MPI does. */
static int note_keyval = MPI_KEYVAL_INVALID, end_keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t keyvals_lock = PTHREAD_MUTEX_INITIALIZER;

static _Atomic int64_t used; /* teams that this process uses */

/* Guards the lists and marks of the circles.  The lock is never held while MPI is called, since MPI calls back
 * when a communicator is freed. */
static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
static sagoi_circle *circles;
static sagoi_circle *alone; /* the circle of this rank alone; also in the list */
static int64_t idle_events;
static bool ended; /* MPI_Finalize has called back */

/* ---- Ending ---- */

static void team_destroy(sagoi_team *team) {
    sagoi_segment_release(&team->windows);
    if (team->control)
        (void)munmap(team->control, (size_t)team->control_bytes);
    free(team->bulletin);
    free(team);
}

/* Frees a circle that is in no list, with its teams. */
static void destroy_whole(sagoi_circle *circle) {
    for (sagoi_team *team = circle->teams, *next; team; team = next) {
        next = team->next;
        team_destroy(team);
    }
    sagoi_circle_destroy(circle);
}

static void take_out(sagoi_circle *circle) {
    sagoi_circle **at = &circles;
    while (*at && *at != circle)
        at = &(*at)->next;
    if (*at)
        *at = circle->next;
}

/* The caller holds the lock.  If too many circles are idle, takes the one that has been idle for longest out of
 * the list. */
static sagoi_circle *one_too_many(void) {
    sagoi_circle *oldest = NULL;
    int idle = 0;
    for (sagoi_circle *at = circles; at; at = at->next) {
        if (at->users > 0 || at == alone)
            continue;
        idle++;
        if (!oldest || at->idle_since < oldest->idle_since)
            oldest = at;
    }
    if (idle <= KEPT_CIRCLES)
        return NULL;
    take_out(oldest);
    return oldest;
}

/* Takes one user off the circle. */
static void leave_circle(sagoi_circle *circle) {
    sagoi_circle *gone = NULL;
    (void)pthread_mutex_lock(&lists_lock);
    if (--circle->users == 0) {
        circle->idle_since = ++idle_events;
        gone = one_too_many();
    }
    (void)pthread_mutex_unlock(&lists_lock);
    if (gone)
        destroy_whole(gone);
}

static int on_comm_free(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    comm_note *note = value;
    if (note->circle && !ended)
        leave_circle(note->circle);
    free(note);
    return MPI_SUCCESS;
}

static bool has_open_files(const sagoi_circle *circle) {
    bool open = circle->taken != 0;
    for (const sagoi_team *team = circle->teams; team; team = team->next)
        open = open || team->channel >= KEPT_TEAMS; /* other teams are destroyed when their file leaves them */
    return open;
}

/* Called by MPI_Finalize: frees what is left.  Files that are still open are the program's error, and MPI may
 * still write to the memory of broken teams: their circles stay in the list, where a leak checker finds them. */
static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    ended = true;
    for (sagoi_circle *at = circles, *next; at; at = next) {
        next = at->next;
        if (has_open_files(at))
            continue;
        take_out(at);
        destroy_whole(at);
    }
    alone = NULL;
    sagoi_quiet_begin(MPI_COMM_NULL);
    (void)SAGOI_DONE(MPI_Comm_free_keyval(&note_keyval));
    (void)SAGOI_DONE(MPI_Comm_free_keyval(&end_keyval));
    sagoi_quiet_end(MPI_COMM_NULL);
    return MPI_SUCCESS;
}

static bool have_keyvals(void) {
    (void)pthread_mutex_lock(&keyvals_lock);
    bool have = end_keyval != MPI_KEYVAL_INVALID;
    if (!have && (note_keyval != MPI_KEYVAL_INVALID ||
                  SAGOI_DONE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &note_keyval, NULL)))) {
        int key = MPI_KEYVAL_INVALID;
        have = SAGOI_DONE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL)) &&
               SAGOI_DONE(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
        end_keyval = have ? key : MPI_KEYVAL_INVALID;
    }
    (void)pthread_mutex_unlock(&keyvals_lock);
    return have;
}

/* ---- Making a team ---- */

static int64_t control_size(const sagoi_circle *circle) {
    int64_t bytes = (int64_t)sizeof(sagoi_control) + circle->local_size * (int64_t)sizeof(sagoi_slot);
    return sagoi_round_up(bytes + (int64_t)circle->nodes * SAGOI_DESCRIBED_BYTES, 4096);
}

static sagoi_control *map_private(int64_t bytes) {
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* The leader makes the control segment and puts up a notice; the others read the notice once all ranks know that
 * it is there. */
static bool map_control(MPI_Comm comm, sagoi_team *team) {
    sagoi_circle *circle = team->circle;
    sagoi_notice *notice = &circle->board->notices[team->channel % SAGOI_NOTICES],
                 mine = {.channel = team->channel};
    char *base = NULL;
    team->control_bytes = control_size(circle);
    if (circle->local_size == 1)
        base = (char *)map_private(team->control_bytes);
    else if (circle->local_rank == 0 &&
             sagoi_shared_create(circle->by_name, team->control_bytes, &mine.name, &base) == 0)
        *notice = mine;
    team->control = (sagoi_control *)base;
    if (circle->size == 1)
        return base != NULL;
    bool ok = sagoi_all_have(comm, base || circle->local_rank != 0);
    if (ok && circle->local_rank != 0 && notice->channel == team->channel &&
        sagoi_shared_open(&notice->name, team->control_bytes, &base) == 0)
        team->control = (sagoi_control *)base;
    ok = ok && sagoi_all_have(comm, team->control != NULL);
    sagoi_shared_close(&mine.name);
    return ok;
}

/* The number of ranks of the whole job on this node.  Only the launcher knows of ranks that are not in the
 * communicator. */
static int ranks_on_host(const sagoi_team *team) {
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                        "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"};
    enum { MOST = 65536 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = sagoi_environment(names[i]);
        char *end = NULL;
        long ranks = text ? strtol(text, &end, 10) : 0;
        if (ranks > team->local_size && ranks <= MOST && *end == '\0')
            return (int)ranks;
    }
    return team->local_size;
}

static void describe(sagoi_team *team, sagoi_circle *circle, int channel) {
    team->circle = circle;
    team->channel = channel;
    team->all = circle->all;
    team->own = MPI_COMM_NULL;
    team->tags = circle->tags;
    team->first_tag = channel * circle->tags;
    team->rank = circle->rank;
    team->size = circle->size;
    team->local_rank = circle->local_rank;
    team->local_size = circle->local_size;
    team->node = circle->node;
    team->nodes = circle->nodes;
    team->node_first = circle->board->tables;
    team->members = circle->board->tables + circle->nodes + 1;
    team->rank_cores = circle->rank_cores;
    team->cores = sagoi_max(1, CPU_COUNT(&team->rank_cores));
    team->by_name = circle->by_name;
    team->host_ranks = ranks_on_host(team);
}

/* Fills this rank's slot of the shared segment.  A rank does so before it first comes to the gate, so every rank
 * that has come there has a slot. */
static void introduce_myself(const sagoi_team *team) {
    team->control->slots[team->local_rank].process = team->circle->process;
    team->control->pid_namespace = team->circle->pid_namespace;
}

static sago_status team_create(MPI_Comm comm, sagoi_circle *circle, int channel, sagoi_team **created) {
    sagoi_team *team = calloc(1, sizeof *team);
    if (!team) {
        if (circle->size > 1)
            (void)sagoi_all_have(comm, false); /* answers the first question of the other ranks in map_control() */
        return sagoi_fail(SAGO_ERR_MEMORY, "a rank has no memory for what belongs to a communicator");
    }
    describe(team, circle, channel);
    if (!map_control(comm, team)) {
        team_destroy(team);
        return sagoi_fail(SAGO_ERR_MEMORY, "the memory in which the ranks of a node meet cannot be had");
    }
    introduce_myself(team);
    *created = team;
    return SAGO_OK;
}

/* ---- Which circle, which team ---- */

typedef enum { REFUSE, TAKE, MAKE, FOUND } deed; /* FOUND: a circle has to be made first */

/* What rank 0 tells the other ranks. */
typedef struct choice {
    uint64_t serial; /* of a circle that is to be made */
    int32_t what;    /* a deed */
    int32_t channel;
} choice;

static uint64_t bit_of(int channel) { return channel < KEPT_TEAMS ? UINT64_C(1) << channel : 0; }

static sagoi_team *find_team(const sagoi_circle *circle, int channel) {
    sagoi_team *team = circle->teams;
    while (team && team->channel != channel)
        team = team->next;
    return team;
}

/* Teams that exist and that no file uses on this rank. */
static uint64_t free_teams(sagoi_circle *circle) {
    uint64_t there = 0;
    (void)pthread_mutex_lock(&lists_lock);
    for (const sagoi_team *team = circle->teams; team; team = team->next)
        there |= bit_of(team->channel);
    there &= ~circle->taken;
    (void)pthread_mutex_unlock(&lists_lock);
    return there;
}

/* A channel without a team; below 0: there is none.  The caller holds the lock. */
static int free_channel(sagoi_circle *circle) {
    for (int i = 0; i < circle->channels && i < KEPT_TEAMS; i++)
        if (!(circle->taken & bit_of(i)) && !find_team(circle, i))
            return i;
    for (int i = KEPT_TEAMS; i < circle->channels; i++) {
        int channel = circle->next_channel < KEPT_TEAMS ? KEPT_TEAMS : circle->next_channel;
        circle->next_channel = channel + 1 < circle->channels ? channel + 1 : KEPT_TEAMS;
        if (!find_team(circle, channel))
            return channel;
    }
    return -1;
}

/* Marks its choice at once, since other threads choose meanwhile.  `available`: bits of the teams from 0 on. */
static void choose(sagoi_circle *circle, uint64_t available, choice *made) {
    (void)pthread_mutex_lock(&lists_lock);
    available &= ~circle->taken;
    made->what = TAKE;
    made->channel = available ? __builtin_ctzll(available) : free_channel(circle);
    if (!available)
        made->what = made->channel < 0 ? FOUND : MAKE;
    if (made->what != FOUND)
        circle->taken |= bit_of(made->channel);
    (void)pthread_mutex_unlock(&lists_lock);
}

/* Finds circles of so many ranks, and adds a user to each. */
static int look_at_alike(int size, sagoi_circle *found[MOST_ALIKE]) {
    int n = 0;
    (void)pthread_mutex_lock(&lists_lock);
    for (sagoi_circle *at = circles; at && n < MOST_ALIKE; at = at->next)
        if (at->size == size && !at->spoiled) {
            at->users++;
            found[n++] = at;
        }
    (void)pthread_mutex_unlock(&lists_lock);
    return n;
}

/* Finds the circle of these ranks and adds a user to it; NULL: there is none.  Of several circles the latest is
 * taken, since the others are full. */
static sagoi_circle *find_circle(MPI_Comm comm, int size) {
    sagoi_circle *alike[MOST_ALIKE], *found = NULL;
    MPI_Group group = MPI_GROUP_NULL;
    int n = look_at_alike(size, alike);
    if (n > 0 && !SAGOI_DONE(MPI_Comm_group(comm, &group)))
        group = MPI_GROUP_NULL;
    for (int i = 0; i < n; i++) {
        int like = MPI_UNEQUAL;
        if (!found && group != MPI_GROUP_NULL && SAGOI_DONE(MPI_Group_compare(group, alike[i]->group, &like)) &&
            like == MPI_IDENT)
            found = alike[i];
        else
            leave_circle(alike[i]);
    }
    if (group != MPI_GROUP_NULL)
        (void)SAGOI_DONE(MPI_Group_free(&group));
    return found;
}

/* Words that tell rank 0 whether all ranks mean the same circle, and whether every rank is ready. */
enum { WORD_SERIAL, WORD_NOT_SERIAL, WORD_READY, WORD_FREE, WORDS };

static void choose_for_all(sagoi_circle *circle, const uint64_t all[WORDS], choice *made) {
    uint64_t serial = circle ? circle->serial : 0;
    bool same = circle && all[WORD_SERIAL] == serial && all[WORD_NOT_SERIAL] == ~serial;
    made->what = REFUSE;
    if (!all[WORD_READY])
        return;
    made->what = FOUND;
    if (same)
        choose(circle, all[WORD_FREE], made);
    while (made->what == FOUND && made->serial == 0)
        if (getrandom(&made->serial, sizeof made->serial, 0) != (ssize_t)sizeof made->serial) {
            made->what = REFUSE;
            return;
        }
}

static sago_status negotiate(MPI_Comm comm, sagoi_circle *circle, bool ready, choice *made) {
    uint64_t serial = circle ? circle->serial : 0, all[WORDS] = {0};
    uint64_t mine[WORDS] = {serial, ~serial, ready ? ~UINT64_C(0) : 0, circle ? free_teams(circle) : 0};
    int rank = 0;
    (void)SAGOI_DONE(MPI_Comm_rank(comm, &rank));
    memset(made, 0, sizeof *made);
    bool ok = SAGOI_DONE(MPI_Reduce(mine, all, WORDS, MPI_UINT64_T, MPI_BAND, 0, comm));
    if (rank == 0 && ok)
        choose_for_all(circle, all, made);
    if (!SAGOI_DONE(MPI_Bcast(made, sizeof *made, MPI_BYTE, 0, comm)) || !ok)
        return sagoi_fail(SAGO_ERR_MPI, "the ranks of a communicator cannot agree: an MPI call failed");
    return made->what == REFUSE
               ? sagoi_fail(SAGO_ERR_MEMORY, "a rank has no memory for what belongs to a communicator")
               : SAGO_OK;
}

/* The note of a communicator, which is made if need be; NULL: there is no memory. */
static comm_note *note_of(MPI_Comm comm) {
    void *value = NULL;
    int found = 0;
    if (!have_keyvals() || !SAGOI_DONE(MPI_Comm_get_attr(comm, note_keyval, &value, &found)))
        return NULL;
    if (found)
        return value;
    comm_note *note = calloc(1, sizeof *note);
    if (note && SAGOI_DONE(MPI_Comm_set_attr(comm, note_keyval, note)))
        return note;
    free(note);
    return NULL;
}

static void enlist_circle(sagoi_circle *circle) {
    (void)pthread_mutex_lock(&lists_lock);
    circle->users = 1;
    circle->next = circles;
    circles = circle;
    (void)pthread_mutex_unlock(&lists_lock);
}

/* Carries out the choice.  The circle has got a user for this team already. */
static sago_status carry_out(MPI_Comm comm, sagoi_circle *circle, const choice *chosen, sagoi_team **team) {
    sago_status status = SAGO_OK;
    sagoi_team *made = NULL;
    if (chosen->what != TAKE)
        status = team_create(comm, circle, chosen->channel, &made);
    (void)pthread_mutex_lock(&lists_lock);
    uint64_t bit = bit_of(chosen->channel);
    circle->taken = status ? circle->taken & ~bit : circle->taken | bit;
    if (made) {
        made->next = circle->teams;
        circle->teams = made;
    }
    *team = status ? NULL : find_team(circle, chosen->channel);
    if (chosen->channel >= KEPT_TEAMS && circle->rank != 0)
        circle->next_channel = chosen->channel + 1 < circle->channels ? chosen->channel + 1 : KEPT_TEAMS;
    (void)pthread_mutex_unlock(&lists_lock);
    return status;
}

/* Makes `circle` the circle of the communicator; the circle has got a user for this already. */
static void note_circle(comm_note *note, sagoi_circle *circle) {
    sagoi_circle *before = note->circle;
    note->circle = circle;
    if (before)
        leave_circle(before);
}

static void use_circle(sagoi_circle *circle) {
    (void)pthread_mutex_lock(&lists_lock);
    circle->users++;
    (void)pthread_mutex_unlock(&lists_lock);
}

static bool is_spoiled(const sagoi_circle *circle) {
    (void)pthread_mutex_lock(&lists_lock);
    bool spoiled = circle && circle->spoiled;
    (void)pthread_mutex_unlock(&lists_lock);
    return spoiled;
}

/* Gives the communicator a note, and the note a circle, which is found or made.  The team counts as a user of the
 * circle. */
static sago_status acquire(MPI_Comm comm, int size, sagoi_team **team) {
    comm_note *note = note_of(comm);
    sagoi_circle *circle = note && !is_spoiled(note->circle) ? note->circle : NULL;
    choice chosen = {0, MAKE, 0};
    sago_status status = SAGO_OK;
    if (circle)
        use_circle(circle);
    else
        circle = find_circle(comm, size);
    /* Without several threads, files are opened and closed in the same order on all ranks, so the same teams are
     * free. */
    if (note && circle && note->circle == circle && !circle->threads)
        choose(circle, free_teams(circle), &chosen);
    else
        status = negotiate(comm, circle, note != NULL, &chosen);
    if (!status && chosen.what == FOUND &&
        chosen.serial == 0) /* this rank chose without asking, and the circle is full */
        status = negotiate(comm, NULL, note != NULL, &chosen);
    if (status || chosen.what == FOUND) {
        if (circle)
            leave_circle(circle);
        circle = NULL;
    }
    if (!status && !circle) {
        status = sagoi_circle_create(comm, chosen.serial, &circle);
        if (!status)
            enlist_circle(circle);
        chosen.channel = 0;
    }
    if (!status)
        status = carry_out(comm, circle, &chosen, team);
    if (!status && note && note->circle != circle) {
        use_circle(circle);
        note_circle(note, circle);
    }
    if (status && circle)
        leave_circle(circle);
    return status;
}

/* All communicators of this rank alone share one circle. */
static sago_status acquire_alone(sagoi_team **team) {
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    choice chosen = {0};
    sago_status status = SAGO_OK;
    (void)pthread_mutex_lock(&making);
    if (!alone && !have_keyvals())
        status = sagoi_fail(SAGO_ERR_MPI, "attributes of communicators cannot be had");
    if (!alone && !status) {
        sagoi_circle *made = NULL;
        status = sagoi_circle_create(MPI_COMM_SELF, 1, &made);
        if (!status) {
            enlist_circle(made);
            alone = made;
        }
    }
    (void)pthread_mutex_unlock(&making);
    if (status)
        return status;
    use_circle(alone);
    choose(alone, free_teams(alone), &chosen);
    status = chosen.what == FOUND ? sagoi_fail(SAGO_ERR_MEMORY, "too many files are open")
                                  : carry_out(MPI_COMM_SELF, alone, &chosen, team);
    if (status)
        leave_circle(alone);
    return status;
}

sago_status sagoi_team_acquire(MPI_Comm comm, sagoi_team **team) {
    int size = 1;
    sagoi_quiet_begin(comm);
    (void)SAGOI_DONE(MPI_Comm_size(comm, &size));
    sago_status status = size == 1 ? acquire_alone(team) : acquire(comm, size, team);
    sagoi_quiet_end(comm);
    if (!status)
        atomic_fetch_add(&used, 1);
    return status;
}

int64_t sagoi_teams_in_use(void) { return atomic_load(&used); }

/* A broken team is never used again, and stays, since MPI may still write to its memory.  Where MPI has failed,
 * the circle is not used again either.  Where a rank has left, the circle is kept: that rank and the others come
 * here at different times, and would not mean the same circle in between. */
void sagoi_team_release(sagoi_team *team) {
    sagoi_circle *circle = team->circle;
    if (sagoi_is_broken(team)) {
        (void)pthread_mutex_lock(&lists_lock);
        circle->spoiled = circle->spoiled || !sagoi_is_left(team);
        (void)pthread_mutex_unlock(&lists_lock);
        atomic_fetch_sub(&used, 1);
        return;
    }
    team->within = NULL;
    bool keep = team->channel < KEPT_TEAMS;
    sagoi_free_comm(team, &team->own);
    if (team->channel >= KEPT_WINDOWS) /* All ranks must keep the same windows, and have the same channel. */
        sagoi_segment_release(&team->windows);
    (void)pthread_mutex_lock(&lists_lock);
    circle->taken &= ~bit_of(team->channel);
    for (sagoi_team **at = &circle->teams; !keep && *at; at = &(*at)->next)
        if (*at == team) {
            *at = team->next;
            break;
        }
    (void)pthread_mutex_unlock(&lists_lock);
    atomic_fetch_sub(&used, 1);
    if (!keep)
        team_destroy(team);
    leave_circle(circle);
}

sago_status sagoi_team_need_own(sagoi_team *team) {
    if (team->own != MPI_COMM_NULL)
        return SAGO_OK;
    sagoi_quiet_begin(MPI_COMM_NULL);
    bool left = sagoi_communicators_left();
    sagoi_quiet_end(MPI_COMM_NULL);
    sago_status status = sagoi_agree_status(
        team,
        left ? SAGO_OK : sagoi_fail(SAGO_ERR_MPI, "MPI has not enough communicators left for one of Sago's own"));
    if (status)
        return status;
    bool made = SAGOI_DONE(
        MPI_Comm_create_group(team->all, team->circle->group, sagoi_team_tag(team, SAGOI_TAG_OWN), &team->own));
    if (made)
        (void)SAGOI_DONE(MPI_Comm_set_errhandler(team->own, MPI_ERRORS_RETURN));
    status = sagoi_agree_status(
        team, made ? SAGO_OK : sagoi_fail(SAGO_ERR_MPI, "no communicator of Sago's own could be made"));
    if (status && made)
        (void)SAGOI_DONE(MPI_Comm_free(&team->own));
    if (status)
        team->own = MPI_COMM_NULL;
    return status;
}

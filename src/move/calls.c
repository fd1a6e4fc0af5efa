#include "move/calls.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fiber.h"
#include "move/control.h"
#include "mpi/quiet.h"
#include "trace/stats.h"

enum { TRIES = 3 };

/* ---- Completing requests ---- */

/* MPI reports the failure of an operation once: the request is gone, or a status has the error.  Any other failure
 * is one of the call itself, which has had no effect. */
static bool had_no_effect(int error) {
    int kind = MPI_ERR_IN_STATUS;
    return MPI_Error_class(error, &kind) == MPI_SUCCESS && kind != MPI_ERR_IN_STATUS;
}

static bool test(MPI_Request *request, int *done) {
    for (int i = 0; i < TRIES && *request != MPI_REQUEST_NULL; i++)
        if (MPI_Test(request, done, MPI_STATUS_IGNORE) == MPI_SUCCESS)
            return true;
    return false;
}

static bool test_all(int64_t n, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    int error;
    for (int i = 0; i < TRIES; i++) {
        error = MPI_Testall((int)n, requests, done, statuses);
        if (error == MPI_SUCCESS)
            return true;
        if (!had_no_effect(error))
            break;
    }
    return false;
}

static bool test_some(int64_t n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]) {
    int error;
    for (int i = 0; i < TRIES; i++) {
        error = MPI_Testsome((int)n, requests, count, indices, statuses);
        if (error == MPI_SUCCESS)
            return true;
        if (!had_no_effect(error))
            break;
    }
    return false;
}

bool sagoi_test(MPI_Request *request, int *done) {
    sagoi_quiet_begin(MPI_COMM_NULL);
    bool ok = test(request, done);
    sagoi_quiet_end(MPI_COMM_NULL);
    return ok;
}

bool sagoi_test_all_into(int64_t n, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    sagoi_quiet_begin(MPI_COMM_NULL);
    bool ok = test_all(n, requests, done, statuses);
    sagoi_quiet_end(MPI_COMM_NULL);
    return ok;
}

bool sagoi_test_all(int64_t n, MPI_Request requests[], int *done) {
    return sagoi_test_all_into(n, requests, done, MPI_STATUSES_IGNORE);
}

bool sagoi_test_some(int64_t n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]) {
    sagoi_quiet_begin(MPI_COMM_NULL);
    bool ok = test_some(n, requests, count, indices, statuses);
    sagoi_quiet_end(MPI_COMM_NULL);
    return ok;
}

int64_t sagoi_bytes_received(const MPI_Status *status) {
    int bytes = 0;
    sagoi_quiet_begin(MPI_COMM_NULL);
    (void)SAGOI_DONE(MPI_Get_count(status, MPI_BYTE, &bytes));
    sagoi_quiet_end(MPI_COMM_NULL);
    return bytes;
}

void sagoi_request_forget(MPI_Request *request, bool cancelled) {
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (cancelled)
        (void)MPI_Cancel(request);
    (void)MPI_Request_free(request);
    sagoi_quiet_end(MPI_COMM_NULL);
}

/* ---- News ---- */

typedef enum { NEWS_ASK, NEWS_HERE, NEWS_BROKEN, NEWS_LEFT, NEWS_KINDS } news_kind;

typedef struct news {
    int32_t kind, node;           /* node: the sender's */
    char text[SAGOI_MESSAGE_MAX]; /* why the team is broken */
} news;

/* Allocated with the first message.  Messages that were sent are never changed, so nobody needs to wait until they
 * have been received. */
struct sagoi_bulletin {
    news own[NEWS_KINDS];
    bool heard[]; /* for each node: has it answered? */
};

static struct sagoi_bulletin *open_bulletin(sagoi_team *team) {
    if (team->bulletin)
        return team->bulletin;
    team->bulletin = calloc(1, sizeof *team->bulletin + (size_t)team->nodes);
    for (int i = 0; team->bulletin && i < NEWS_KINDS; i++)
        team->bulletin->own[i] = (news){.kind = i, .node = team->node};
    return team->bulletin;
}

/* Sends a message to a leader.  A node that cannot be told finds out by other means. */
static bool tell(sagoi_team *team, int rank, news_kind kind) {
    MPI_Request request = MPI_REQUEST_NULL;
    const news *told = &team->bulletin->own[kind];
    if (!SAGOI_DONE(MPI_Isend(told, sizeof *told, MPI_BYTE, rank, sagoi_team_tag(team, SAGOI_TAG_NEWS), team->all,
                              &request)))
        return false;
    sagoi_request_forget(&request, false);
    return true;
}

static bool tell_leaders(sagoi_team *team, news_kind kind) {
    bool told = open_bulletin(team) != NULL;
    for (int node = 0; told && node < team->nodes; node++)
        told = node == team->node || tell(team, sagoi_team_rank_of(team, node, 0), kind);
    return told;
}

/* Tells the other nodes, unless another rank of this node has done so.  Several ranks may try at once, since the
 * first one may be the rank whose MPI calls fail. */
static void spread_word(sagoi_team *team) {
    sagoi_control *control = team->control;
    news_kind kind = atomic_load(&control->left) ? NEWS_LEFT : NEWS_BROKEN;
    if (team->nodes == 1 || atomic_load(&control->told))
        return;
    if (open_bulletin(team))
        memcpy(team->bulletin->own[kind].text, control->broken_message, SAGOI_MESSAGE_MAX);
    if (tell_leaders(team, kind))
        atomic_store(&control->told, 1);
}

static void break_node(sagoi_team *team, const char *why, bool left) {
    sagoi_control *control = team->control;
    uint32_t whole = SAGOI_TEAM_WHOLE;
    if (!atomic_compare_exchange_strong(&control->broken, &whole, SAGOI_TEAM_BREAKING))
        return;
    atomic_store(&control->left, left);
    (void)snprintf(control->broken_message, sizeof control->broken_message, "%s", why);
    atomic_store(&control->broken, SAGOI_TEAM_BROKEN);
    sagoi_futex_wake(&control->generation);
    sagoi_futex_wake(&control->ready);
}

void sagoi_break_node(sagoi_team *team, const char *why) { break_node(team, why, false); }

void sagoi_leave(sagoi_team *team, const char *why) {
    break_node(team, why, true);
    spread_word(team);
}

sago_status sagoi_break(sagoi_team *team, sago_status status) {
    char why[SAGOI_MESSAGE_MAX];
    (void)snprintf(why, sizeof why, "rank %d can no longer take part: %.400s", team->rank, sagoi_message());
    sagoi_break_node(team, why);
    spread_word(team);
    return status;
}

static bool is_itself_broken(const sagoi_team *team) {
    return atomic_load_explicit(&team->control->broken, memory_order_acquire) == SAGOI_TEAM_BROKEN;
}

bool sagoi_is_broken(const sagoi_team *team) {
    return is_itself_broken(team) || (team->within && sagoi_is_broken(team->within));
}

bool sagoi_is_left(const sagoi_team *team) {
    if (!is_itself_broken(team))
        return team->within && sagoi_is_left(team->within);
    return atomic_load(&team->control->left);
}

sago_status sagoi_broken(sagoi_team *team) {
    if (!is_itself_broken(team) && team->within)
        return sagoi_broken(team->within);
    spread_word(team);
    return sagoi_fail(SAGO_ERR_PEER, "%.440s; it can only be closed now", team->control->broken_message);
}

static void take_news(sagoi_team *team, const news *got) {
    if (got->kind == NEWS_BROKEN || got->kind == NEWS_LEFT) {
        atomic_store(&team->control->told, 1); /* the rank that broke the team tells all nodes */
        break_node(team, got->text, got->kind == NEWS_LEFT);
    }
    if (got->kind == NEWS_HERE && got->node >= 0 && got->node < team->nodes && team->bulletin)
        team->bulletin->heard[got->node] = true;
}

void sagoi_hear_news(sagoi_team *team) {
    int there = 0, tag = sagoi_team_tag(team, SAGOI_TAG_NEWS);
    MPI_Status about;
    news got;
    while (MPI_Iprobe(MPI_ANY_SOURCE, tag, team->all, &there, &about) == MPI_SUCCESS && there) {
        if (MPI_Recv(&got, sizeof got, MPI_BYTE, about.MPI_SOURCE, tag, team->all, &about) != MPI_SUCCESS)
            return;
        got.text[sizeof got.text - 1] = '\0';
        if (got.kind == NEWS_ASK && open_bulletin(team))
            (void)tell(team, about.MPI_SOURCE, NEWS_HERE);
        take_news(team, &got);
        there = 0;
    }
    if (team->within && team->within->nodes > 1)
        sagoi_hear_news(team->within);
}

/* ---- Waiting for other nodes ---- */

static void ask_all(sagoi_team *team, sagoi_vigil *vigil) {
    vigil->asked = vigil->waited;
    if (open_bulletin(team))
        memset(team->bulletin->heard, 0, (size_t)team->nodes);
    (void)tell_leaders(team, NEWS_ASK);
}

/* The number of nodes that have not answered; *first is one of them. */
static int count_silent(const sagoi_team *team, int *first) {
    int silent = 0;
    for (int node = team->nodes - 1; team->bulletin && node >= 0; node--)
        if (node != team->node && !team->bulletin->heard[node]) {
            silent++;
            *first = node;
        }
    return silent;
}

static void judge_silence(sagoi_team *team, sagoi_vigil *vigil) {
    int first = 0, silent = count_silent(team, &first);
    vigil->waited = vigil->asked = 0;
    if (silent == 0)
        return; /* all nodes have answered, so one of them is only slow */
    char why[SAGOI_MESSAGE_MAX];
    (void)snprintf(why, sizeof why,
                   "rank %d, the first of node %d, is silent: it has not answered within sago_patience (%lld s)%s",
                   sagoi_team_rank_of(team, first, 0), first, (long long)team->patience,
                   silent > 1 ? ", and others neither" : "");
    sagoi_break_node(team, why);
    spread_word(team);
}

/* Counts the time that this wait has taken.  A nonblocking call may be looked at seldom, and the time in between
 * is the program's own.  The other nodes are asked when half of the patience is spent, so that the wait ends
 * within the patience. */
static void look_at_clock(sagoi_team *team, sagoi_vigil *vigil) {
    const double longest = 1; /* Many turns take so many seconds on a busy machine. */
    double now = sagoi_clock(), patience = (double)team->patience;
    if (vigil->looked > 0)
        vigil->waited += fmin(now - vigil->looked, longest);
    vigil->looked = now;
    if (vigil->asked == 0 && vigil->waited > 0.5 * patience)
        ask_all(team, vigil);
    else if (vigil->asked > 0 && vigil->waited - vigil->asked > 0.4 * patience)
        judge_silence(team, vigil);
}

bool sagoi_vigil_keep(sagoi_team *team, sagoi_vigil *vigil, bool moved) {
    enum { TURNS = 64 }; /* The rank looks for news after every so many turns in which nothing moved. */
    if (moved) {
        *vigil = (sagoi_vigil){0};
        return true;
    }
    if (sagoi_is_broken(team))
        return false;
    if (++vigil->turns % TURNS == 0) {
        sagoi_hear_news(team);
        if (team->patience > 0 && team->nodes > 1) /* on one node there is no other node to ask */
            look_at_clock(team, vigil);
    }
    return true;
}

static sago_status fail_for_good(sagoi_team *team, const char *what) {
    return sagoi_break(team, sagoi_fail(SAGO_ERR_MPI, "%s: an MPI call failed, also when repeated", what));
}

/* Lets other threads have the core; `turn` counts from 0. */
static void pause_briefly(sagoi_team *team, int turn) {
    bool busy = team->idle && team->idle(team->idle_arg);
    if (sagoi_give_way(busy || turn == 0) || busy)
        return;
    if (turn > 200)
        (void)usleep(20);
    else
        (void)sched_yield();
}

sago_status sagoi_wait_all(sagoi_team *team, int64_t n, MPI_Request requests[], const char *what) {
    int done = 0;
    sagoi_vigil vigil = {0};
    for (int turn = 0;; turn++) {
        if (!(n == 1 ? sagoi_test(requests, &done) : sagoi_test_all(n, requests, &done)))
            return fail_for_good(team, what);
        if (done)
            return SAGO_OK;
        if (!sagoi_vigil_keep(team, &vigil, false))
            return sagoi_broken(team);
        pause_briefly(team, turn);
    }
}

sago_status sagoi_collective(sagoi_team *team, bool started, MPI_Request *request, const char *what) {
    return started ? sagoi_wait_all(team, 1, request, what) : fail_for_good(team, what);
}

void sagoi_free_received(const sagoi_team *team, void *memory) {
    if (!sagoi_is_broken(team))
        free(memory);
}

void sagoi_free_comm(const sagoi_team *team, MPI_Comm *comm) {
    if (*comm != MPI_COMM_NULL && !sagoi_is_broken(team))
        (void)SAGOI_DONE(MPI_Comm_free(comm));
    *comm = MPI_COMM_NULL;
}

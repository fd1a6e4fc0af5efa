/* How nodes come together for a nonblocking call (convene.h): their leaders vote in two phases, by messages
 * along a tree.
 *
 *   PRESENT   to the parent: all ranks of this node, and of the nodes below it, have arrived
 *   PREPARE   from the root, once all nodes are present: will you stay?
 *   YES, NO   the answer; a node that says YES is bound, with all its ranks, until the decision comes
 *   DECIDED   together or apart
 *
 * PRESENT binds no node, so each may still leave.  Once the root has asked, it stays until all nodes have
 * answered, or until it gives the vote up after a short while.  So its decision is certain to come, and every node
 * that said YES hands the decision on.  Every PRESENT gets one decision, and a leader sends its next PRESENT only
 * after that. So at most two messages are under way in each direction between two leaders, however long one of
 * them is away. A message carries the number of its call, and numbers only grow, so a late message is known as
 * late.  The last message between two leaders is BYE, when a file is closed for which some leader has sent any. */
#include "move/assembly.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/fiber.h"
#include "move/calls.h"
#include "trace/stats.h"

enum { FANOUT = 16 };
typedef enum { PRESENT, PREPARE, YES, NO, TOGETHER, APART, BYE } message_kind;
enum { ASKING, ANSWERING, LEAVING, SLOTS }; /* kinds of messages to one leader; one of each may be under way */

/* Seconds after which the root gives a vote up. */
static const double longest_vote = 0.2;

typedef struct message {
    int64_t kind, call;
} message;

/* Another leader, and for each kind of message the number of the last call that it was about. */
typedef struct peer {
    int rank; /* -1: none */
    message out[SLOTS];
    MPI_Request sent[SLOTS];
    int64_t present, yes, no; /* received from a child */
    int64_t told;             /* the last call whose decision was sent to this child */
    bool bye;
} peer;

struct sagoi_assembly {
    peer parent; /* rank -1: this node is the root */
    int children;
    bool spoke; /* this leader has sent a message */
    peer child[FANOUT];
    int64_t said;             /* the last PRESENT sent to the parent */
    int64_t asked;            /* the last PREPARE received from the parent */
    int64_t answered;         /* the last YES or NO sent to the parent */
    int64_t decided;          /* the last decision received from the parent */
    bool together;            /* what that decision was */
    int64_t asking;           /* the last call that the children are asked about */
    double since;             /* when asking began, in seconds */
    int64_t asked_of[FANOUT]; /* for each child: the last call that a PREPARE was sent for */
};
typedef struct sagoi_assembly assembly;

static bool is_root(const assembly *a) { return a->parent.rank < 0; }

/* ---- Messages ---- */

/* Without messages the nodes cannot come together, nor do anything else in which all of them take part. */
static bool give_up(sagoi_team *team) {
    (void)sagoi_break(team, sagoi_fail(SAGO_ERR_MPI, "coming together: an MPI call failed, also when repeated"));
    return false;
}

/* Sends a message; false: the message cannot be sent yet, and the caller tries again later. */
static bool say(sagoi_team *team, peer *to, int slot, message_kind kind, int64_t call) {
    int gone = 1;
    if (to->sent[slot] != MPI_REQUEST_NULL && !sagoi_test(&to->sent[slot], &gone))
        return give_up(team);
    /* The peer has received the message before, or it would not be where it is, so the send is done soon. */
    if (!gone)
        return false;
    to->out[slot] = (message){kind, call};
    team->assembly->spoke = true;
    if (SAGOI_DONE(MPI_Isend(&to->out[slot], sizeof to->out[slot], MPI_BYTE, to->rank,
                             sagoi_team_tag(team, SAGOI_TAG_ASSEMBLY), team->all, &to->sent[slot])))
        return true;
    to->sent[slot] = MPI_REQUEST_NULL;
    return give_up(team);
}

static peer *peer_at(assembly *a, int rank) {
    if (rank == a->parent.rank)
        return &a->parent;
    for (int i = 0; i < a->children; i++)
        if (a->child[i].rank == rank)
            return &a->child[i];
    return NULL;
}

static void hear(assembly *a, peer *from, const message *m) {
    switch ((message_kind)m->kind) {
    case PRESENT:
        from->present = m->call;
        break;
    case YES:
        from->yes = m->call;
        break;
    case NO:
        from->no = m->call;
        break;
    case PREPARE:
        a->asked = m->call;
        break;
    case TOGETHER:
    case APART:
        a->decided = m->call;
        a->together = m->kind == TOGETHER;
        break;
    case BYE:
        from->bye = true;
        break;
    }
}

/* Receives all messages that have arrived.  False: MPI failed. */
static bool hear_all(sagoi_team *team) {
    int tag = sagoi_team_tag(team, SAGOI_TAG_ASSEMBLY);
    for (;;) {
        MPI_Status status;
        message m;
        int there = 0;
        if (!SAGOI_DONE(MPI_Iprobe(MPI_ANY_SOURCE, tag, team->all, &there, &status)))
            return give_up(team);
        if (!there)
            return true;
        if (!SAGOI_DONE(MPI_Recv(&m, sizeof m, MPI_BYTE, status.MPI_SOURCE, tag, team->all, MPI_STATUS_IGNORE)))
            return give_up(team);
        peer *from = peer_at(team->assembly, status.MPI_SOURCE);
        if (from)
            hear(team->assembly, from, &m);
    }
}

/* ---- One look ---- */

enum { UNBOUND = 1u << SAGOI_ASSEMBLY_OPEN | 1u << SAGOI_ASSEMBLY_READY };

/* Answers nodes that still ask about a call which this node has left, since its ranks went alone. */
static void answer_old(sagoi_team *team, assembly *a, int64_t call) {
    for (int i = 0; i < a->children; i++) {
        peer *child = &a->child[i];
        if (child->present < call && child->told < child->present &&
            say(team, child, ANSWERING, APART, child->present))
            child->told = child->present;
    }
    if (a->asked < call && a->answered < a->asked && say(team, &a->parent, ANSWERING, NO, a->asked))
        a->answered = a->asked;
}

static bool children_are_present(const assembly *a, int64_t call) {
    for (int i = 0; i < a->children; i++)
        if (a->child[i].present != call)
            return false;
    return true;
}

static bool a_child_has_left(const assembly *a, int64_t call) {
    for (int i = 0; i < a->children; i++)
        if (a->child[i].present > call || a->child[i].no == call)
            return true;
    return false;
}

static bool children_agree(const assembly *a, int64_t call) {
    for (int i = 0; i < a->children; i++)
        if (a->child[i].yes != call)
            return false;
    return true;
}

static void ask_children(sagoi_team *team, assembly *a, int64_t call) {
    if (a->asking != call)
        a->since = sagoi_clock();
    a->asking = call;
    for (int i = 0; i < a->children; i++)
        if (a->asked_of[i] != call && say(team, &a->child[i], ASKING, PREPARE, call))
            a->asked_of[i] = call;
}

/* Called when all ranks of the node have arrived: sends PRESENT, or at the root PREPARE.  Once asked, the node is
 * bound. */
static void come_forward(sagoi_team *team, assembly *a, int64_t call) {
    if (!children_are_present(a, call))
        return;
    if (!is_root(a) && a->said < call && a->decided == a->said && say(team, &a->parent, ASKING, PRESENT, call))
        a->said = call;
    if (is_root(a) || a->asked == call)
        (void)sagoi_assembly_turn(team, call, 1u << SAGOI_ASSEMBLY_READY, SAGOI_ASSEMBLY_PREPARED);
}

static void vote(sagoi_team *team, assembly *a, int64_t call) {
    bool refused = a_child_has_left(a, call), agreed = children_agree(a, call);
    ask_children(team, a, call);
    if (!is_root(a)) {
        if ((refused || agreed) && a->answered < call &&
            say(team, &a->parent, ANSWERING, agreed && !refused ? YES : NO, call))
            a->answered = call;
        return;
    }
    refused = refused || sagoi_clock() - a->since > longest_vote;
    if (refused || agreed)
        (void)sagoi_assembly_turn(team, call, 1u << SAGOI_ASSEMBLY_PREPARED,
                                  refused ? SAGOI_ASSEMBLY_APART : SAGOI_ASSEMBLY_TOGETHER);
}

/* Acts on what the parent has asked or decided. */
static void obey(sagoi_team *team, assembly *a, int64_t call) {
    bool bound = sagoi_assembly_state_of(team, call).phase == SAGOI_ASSEMBLY_PREPARED;
    if (a->asked == call && a->answered < call && !bound) { /* a rank has left meanwhile */
        (void)sagoi_assembly_turn(team, call, UNBOUND, SAGOI_ASSEMBLY_APART);
        if (say(team, &a->parent, ANSWERING, NO, call))
            a->answered = call;
    }
    if (a->decided == call)
        (void)sagoi_assembly_turn(team, call, UNBOUND | 1u << SAGOI_ASSEMBLY_PREPARED,
                                  a->together ? SAGOI_ASSEMBLY_TOGETHER : SAGOI_ASSEMBLY_APART);
}

/* Sends the decision to the children; false: it could not be sent to a child that waits for it. */
static bool tell_children(sagoi_team *team, assembly *a, int64_t call) {
    sagoi_assembly_phase phase = sagoi_assembly_state_of(team, call).phase;
    bool all = true;
    if (phase != SAGOI_ASSEMBLY_TOGETHER && phase != SAGOI_ASSEMBLY_APART)
        return true;
    for (int i = 0; i < a->children; i++) {
        peer *child = &a->child[i];
        if (child->present != call || child->told == call)
            continue;
        if (say(team, child, ANSWERING, phase == SAGOI_ASSEMBLY_TOGETHER ? TOGETHER : APART, call))
            child->told = call;
        else
            all = false;
    }
    return all;
}

bool sagoi_assembly_look(const sagoi_convening *c) {
    sagoi_team *team = c->team;
    assembly *a = team->assembly;
    if (!hear_all(team))
        return true;
    answer_old(team, a, c->call);
    if (sagoi_assembly_state_of(team, c->call).phase == SAGOI_ASSEMBLY_READY)
        come_forward(team, a, c->call);
    if (!is_root(a))
        obey(team, a, c->call);
    if (sagoi_assembly_state_of(team, c->call).phase == SAGOI_ASSEMBLY_PREPARED)
        vote(team, a, c->call);
    else if (a_child_has_left(a, c->call))
        (void)sagoi_assembly_turn(team, c->call, UNBOUND, SAGOI_ASSEMBLY_APART);
    return tell_children(team, a, c->call);
}

/* ---- Life ---- */

static void peer_init(const sagoi_team *team, peer *p, int64_t node) {
    p->rank = node < 0 ? -1 : sagoi_team_rank_of(team, node, 0);
    for (int slot = 0; slot < SLOTS; slot++)
        p->sent[slot] = MPI_REQUEST_NULL;
}

sago_status sagoi_assembly_create(sagoi_team *team) {
    assembly *a = calloc(1, sizeof *a);
    if (!a)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for an assembly of %d nodes", team->nodes);
    peer_init(team, &a->parent, team->node > 0 ? (team->node - 1) / FANOUT : -1);
    for (int64_t node = (int64_t)team->node * FANOUT + 1; node < team->nodes && a->children < FANOUT; node++)
        peer_init(team, &a->child[a->children++], node);
    team->assembly = a;
    return SAGO_OK;
}

static bool all_gone(const assembly *a) {
    bool all = is_root(a) || a->parent.bye;
    for (int i = 0; i < a->children; i++)
        all = all && a->child[i].bye;
    return all;
}

static bool sent_all(peer *p) {
    int done = 0;
    return sagoi_test_all(SLOTS, p->sent, &done) && done;
}

static bool everything_sent(assembly *a) {
    bool all = is_root(a) || sent_all(&a->parent);
    for (int i = 0; i < a->children; i++)
        all = sent_all(&a->child[i]) && all;
    return all;
}

bool sagoi_assembly_spoke(const sagoi_team *team) { return team->assembly->spoke; }

/* The messages of one leader come in order, so none comes after BYE. */
sago_status sagoi_assembly_end(sagoi_team *team) {
    assembly *a = team->assembly;
    sagoi_vigil vigil = {0};
    bool ok = is_root(a) || say(team, &a->parent, LEAVING, BYE, 0);
    for (int i = 0; i < a->children; i++)
        ok = say(team, &a->child[i], LEAVING, BYE, 0) && ok;
    while (ok && !(all_gone(a) && everything_sent(a))) {
        ok = hear_all(team) && sagoi_vigil_keep(team, &vigil, false);
        if (ok && !sagoi_give_way(false))
            (void)usleep(20);
    }
    if (!ok)
        return sagoi_broken(team);
    sagoi_assembly_destroy(team);
    return SAGO_OK;
}

/* MPI keeps the memory of messages that are still under way. */
void sagoi_assembly_destroy(sagoi_team *team) {
    assembly *a = team->assembly;
    team->assembly = NULL;
    if (a && everything_sent(a))
        free(a);
}

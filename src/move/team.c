/* Making teams and keeping them.
 *
 * Teams hang on the caller's communicator (an attribute with a list of them) and, all of them, on
 * MPI_COMM_SELF, whose attributes MPI_Finalize deletes first: that is where what is left gets freed. */
#include "move/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/hints.h"
#include "move/calls.h"
#include "move/control.h"

enum { SHARE_BYTES = 64 + SAGOI_COUNTS * 8 }; /* a node, for sagoi_share_nodes() */

/* The teams of one communicator; hangs on it. */
typedef struct team_list {
    sagoi_team *first;
} team_list;

/* Every team of the process; hangs on MPI_COMM_SELF. */
typedef struct registry {
    struct entry *entries;
} registry;

typedef struct entry {
    sagoi_team team; /* first: a team is its entry */
    struct entry *next;
    team_list *list; /* of its communicator */
    bool orphan;     /* its communicator is gone: freed when its file closes */
} entry;

/* Keyvals are handles that MPI gives out once a process; they live as long as MPI does. */
static int team_keyval = MPI_KEYVAL_INVALID, self_keyval = MPI_KEYVAL_INVALID;

static _Atomic int64_t used; /* teams of this process */

/* Guards the keyvals and the lists: threads may open files on different communicators at once.  Never held while
 * anybody communicates. */
static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;

static void team_destroy(sagoi_team *team) {
    sagoi_segment_release(&team->windows);
    if (team->control)
        (void)munmap(team->control, (size_t)team->control_bytes);
    if (team->agreement_type != MPI_DATATYPE_NULL)
        (void)SAGOI_DONE(MPI_Type_free(&team->agreement_type));
    if (team->agreement_op != MPI_OP_NULL)
        (void)SAGOI_DONE(MPI_Op_free(&team->agreement_op));
    if (team->leaders != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&team->leaders));
    if (team->all != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&team->all));
    free(team->kept);
    free(team->bulletin);
    free(team);
}

static registry *find_registry(void) {
    void *value = NULL;
    int found = 0;
    if (self_keyval == MPI_KEYVAL_INVALID)
        return NULL;
    (void)SAGOI_DONE(MPI_Comm_get_attr(MPI_COMM_SELF, self_keyval, &value, &found));
    return found ? value : NULL;
}

static void unregister(entry *gone) {
    registry *all = find_registry();
    for (entry **at = all ? &all->entries : NULL; at && *at; at = &(*at)->next)
        if (*at == gone) {
            *at = gone->next;
            return;
        }
}

/* The communicator goes: so do its teams, except those that a file still uses. */
static int on_comm_free(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    team_list *list = value;
    for (sagoi_team *team = list->first, *next; team; team = next) {
        next = team->next;
        (void)pthread_mutex_lock(&lists_lock);
        bool orphan = ((entry *)team)->orphan = team->in_use;
        if (!orphan)
            unregister((entry *)team);
        (void)pthread_mutex_unlock(&lists_lock);
        if (!orphan)
            team_destroy(team);
    }
    free(list);
    return MPI_SUCCESS;
}

/* MPI_Finalize: whatever is left.  Files still open are the program's error; their teams are left alone. */
static int on_finalize(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    registry *all = value;
    for (entry *at = all->entries, *next; at; at = next) {
        next = at->next;
        if (!at->orphan)
            at->list->first = NULL; /* MPI may delete that communicator's attributes later */
        if (!at->team.in_use)
            team_destroy(&at->team);
    }
    free(all);
    if (team_keyval != MPI_KEYVAL_INVALID)
        (void)MPI_Comm_free_keyval(&team_keyval);
    (void)MPI_Comm_free_keyval(&self_keyval);
    return MPI_SUCCESS;
}

static registry *open_registry(void) {
    registry *all = find_registry();
    if (all)
        return all;
    all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    if (SAGOI_DONE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &self_keyval, NULL)) &&
        SAGOI_DONE(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &team_keyval, NULL)) &&
        SAGOI_DONE(MPI_Comm_set_attr(MPI_COMM_SELF, self_keyval, all)))
        return all;
    free(all);
    return NULL;
}

/* ---- Making one ---- */

static void reduce_agreements(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        sagoi_agreement_combine((sagoi_agreement *)inout + i, (const sagoi_agreement *)in + i);
}

/* Before there is a team to agree in: does every rank have what it needs? */
static bool all_have(MPI_Comm comm, bool have) {
    int mine = have, all = 0;
    return SAGOI_DONE(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm)) && all;
}

static uint64_t pid_namespace(void) {
    struct stat info;
    return stat("/proc/self/ns/pid", &info) == 0 ? (uint64_t)info.st_ino : 0;
}

static int64_t control_size(const sagoi_team *team) {
    int64_t bytes = (int64_t)sizeof(sagoi_control) + team->local_size * (int64_t)sizeof(sagoi_slot);
    bytes += ((int64_t)team->nodes + 1 + team->size) * (int64_t)sizeof(int32_t);
    return sagoi_round_up(bytes + (int64_t)team->nodes * SHARE_BYTES + 64, 4096);
}

static int32_t *tables_of(const sagoi_team *team) { return (int32_t *)&team->control->slots[team->local_size]; }

/* Splits into nodes; every rank a node of its own if `alone`. */
static bool split_nodes(sagoi_team *team, bool alone, MPI_Comm *node_comm) {
    int kind[2] = {0, 0};
    bool split = alone ? SAGOI_DONE(MPI_Comm_split(team->all, team->rank, 0, node_comm))
                       : SAGOI_DONE(MPI_Comm_split_type(team->all, MPI_COMM_TYPE_SHARED, team->rank, MPI_INFO_NULL,
                                                        node_comm));
    if (!split)
        return false;
    (void)SAGOI_DONE(MPI_Comm_rank(*node_comm, &team->local_rank));
    (void)SAGOI_DONE(MPI_Comm_size(*node_comm, &team->local_size));
    if (!SAGOI_DONE(
            MPI_Comm_split(team->all, team->local_rank == 0 ? 0 : MPI_UNDEFINED, team->rank, &team->leaders)))
        return false;
    if (team->local_rank == 0) {
        (void)SAGOI_DONE(MPI_Comm_rank(team->leaders, &kind[0]));
        (void)SAGOI_DONE(MPI_Comm_size(team->leaders, &kind[1]));
    }
    if (!SAGOI_DONE(MPI_Bcast(kind, 2, MPI_INT, 0, *node_comm)))
        return false;
    team->node = kind[0];
    team->nodes = kind[1];
    return true;
}

/* What the leader tells the others of its node about the control segment. */
typedef struct control_notice {
    char name[SAGOI_SEGMENT_NAME_MAX]; /* "": could not be made */
    uint64_t token;                    /* stands in the segment too: is it really the same memory? */
} control_notice;

static bool map_control(sagoi_team *team, MPI_Comm node_comm) {
    control_notice notice = {{0}, 0};
    char *base = NULL;
    team->control_bytes = control_size(team);
    if (team->local_rank == 0) {
        bool made = getrandom(&notice.token, sizeof notice.token, 0) == (ssize_t)sizeof notice.token &&
                    sagoi_shared_create(notice.name, team->control_bytes, &base) == 0;
        if (made)
            memcpy(((sagoi_control *)base)->message, &notice.token, sizeof notice.token);
        else
            notice.name[0] = '\0';
    }
    (void)SAGOI_DONE(MPI_Bcast(&notice, sizeof notice, MPI_BYTE, 0, node_comm));
    if (team->local_rank != 0 && notice.name[0] && sagoi_shared_open(notice.name, team->control_bytes, &base) != 0)
        base = NULL;
    team->control = (sagoi_control *)base;
    int ok = base && memcmp(team->control->message, &notice.token, sizeof notice.token) == 0, all_ok = 0;
    (void)SAGOI_DONE(MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, team->all));
    if (team->local_rank == 0 && notice.name[0])
        sagoi_shared_remove(notice.name);
    return all_ok;
}

/* Undoes split_nodes() and map_control(). */
static void drop_nodes(sagoi_team *team, MPI_Comm *node_comm) {
    if (team->control)
        (void)munmap(team->control, (size_t)team->control_bytes);
    team->control = NULL;
    if (team->leaders != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&team->leaders));
    if (*node_comm != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(node_comm));
}

/* Node by node, who is there: one copy a node, in the control segment. */
static bool fill_tables(sagoi_team *team, MPI_Comm node_comm) {
    int32_t *first = tables_of(team), *members = first + team->nodes + 1;
    int *mine = calloc((size_t)team->local_size, sizeof *mine),
        *counts = calloc((size_t)team->nodes, sizeof *counts);
    bool ok = all_have(team->all, mine && counts) &&
              SAGOI_DONE(MPI_Gather(&team->rank, 1, MPI_INT, mine, 1, MPI_INT, 0, node_comm));
    if (ok && team->local_rank == 0) {
        ok = SAGOI_DONE(MPI_Allgather(&team->local_size, 1, MPI_INT, counts, 1, MPI_INT, team->leaders));
        first[0] = 0;
        for (int i = 0; i < team->nodes; i++)
            first[i + 1] = first[i] + counts[i];
        ok = ok && SAGOI_DONE(MPI_Allgatherv(mine, team->local_size, MPI_INT, members, counts, first, MPI_INT,
                                             team->leaders));
    }
    free(mine);
    free(counts);
    team->node_first = first;
    team->members = members;
    return ok;
}

static void introduce_myself(sagoi_team *team, MPI_Comm node_comm) {
    CPU_ZERO(&team->rank_cores);
    (void)sched_getaffinity(0, sizeof team->rank_cores, &team->rank_cores);
    (void)SAGOI_DONE(
        MPI_Allreduce(MPI_IN_PLACE, &team->rank_cores, sizeof team->rank_cores, MPI_BYTE, MPI_BOR, node_comm));
    team->cores = sagoi_max(1, CPU_COUNT(&team->rank_cores));
    sagoi_control *control = team->control;
    control->slots[team->local_rank].process = sagoi_process_self();
    uint64_t range[2] = {pid_namespace(), ~pid_namespace()};
    (void)SAGOI_DONE(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_UINT64_T, MPI_MAX, node_comm));
    if (team->local_rank == 0)
        control->pid_namespace = range[0] == ~range[1] ? range[0] : 0;
}

/* Ranks of one MPI "node" that do not see the same memory (containers) become nodes of their own. */
static bool form_nodes(sagoi_team *team) {
    MPI_Comm node_comm = MPI_COMM_NULL;
    bool ok = split_nodes(team, false, &node_comm) && map_control(team, node_comm);
    if (!ok) {
        drop_nodes(team, &node_comm);
        ok = split_nodes(team, true, &node_comm) && map_control(team, node_comm);
    }
    if (ok) {
        ok = fill_tables(team, node_comm);
        introduce_myself(team, node_comm);
        (void)SAGOI_DONE(MPI_Barrier(node_comm));
    }
    if (node_comm != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&node_comm));
    return ok;
}

static bool make_agreement_op(sagoi_team *team) {
    return SAGOI_DONE(MPI_Type_contiguous((int)sizeof(sagoi_agreement), MPI_BYTE, &team->agreement_type)) &&
           SAGOI_DONE(MPI_Type_commit(&team->agreement_type)) &&
           SAGOI_DONE(MPI_Op_create(reduce_agreements, 1, &team->agreement_op));
}

static int largest_tag(void) {
    int *value = NULL, found = 0;
    (void)SAGOI_DONE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found));
    return found ? *value : 32767; /* any MPI's */
}

/* Only the launcher knows of ranks that are not in the communicator. */
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

/* Fills in what is all zero; on failure it is freed. */
static bool team_create(MPI_Comm comm, entry *made) {
    sagoi_team *team = &made->team;
    team->all = team->leaders = MPI_COMM_NULL;
    team->agreement_type = MPI_DATATYPE_NULL;
    team->agreement_op = MPI_OP_NULL;
    bool ok = SAGOI_DONE(MPI_Comm_dup(comm, &team->all));
    if (ok) {
        (void)SAGOI_DONE(MPI_Comm_set_errhandler(team->all, MPI_ERRORS_RETURN));
        (void)SAGOI_DONE(MPI_Comm_rank(team->all, &team->rank));
        (void)SAGOI_DONE(MPI_Comm_size(team->all, &team->size));
        team->largest_tag = largest_tag();
        ok = form_nodes(team) && make_agreement_op(team);
        team->host_ranks = ranks_on_host(team);
    }
    if (!ok)
        team_destroy(team);
    return ok;
}

/* The communicator's list of teams, made when there is none. */
static team_list *open_list(MPI_Comm comm) {
    void *value = NULL;
    int found = 0;
    if (!SAGOI_DONE(MPI_Comm_get_attr(comm, team_keyval, &value, &found)))
        return NULL;
    if (found)
        return value;
    team_list *list = calloc(1, sizeof *list);
    if (list && SAGOI_DONE(MPI_Comm_set_attr(comm, team_keyval, list)))
        return list;
    free(list);
    return NULL;
}

/* Takes a team of the communicator that nobody uses; NULL: there is none, or (*list is NULL) no list either. */
static sagoi_team *take_free(MPI_Comm comm, team_list **list) {
    (void)pthread_mutex_lock(&lists_lock);
    *list = open_registry() ? open_list(comm) : NULL;
    sagoi_team *found = *list ? (*list)->first : NULL;
    while (found && found->in_use)
        found = found->next;
    if (found)
        found->in_use = true;
    (void)pthread_mutex_unlock(&lists_lock);
    return found;
}

static sagoi_team *enlist(entry *made, team_list *list) {
    (void)pthread_mutex_lock(&lists_lock);
    registry *all = find_registry();
    made->next = all->entries;
    all->entries = made;
    made->list = list;
    made->team.in_use = true;
    made->team.next = list->first;
    list->first = &made->team;
    (void)pthread_mutex_unlock(&lists_lock);
    return &made->team;
}

sago_status sagoi_team_acquire(MPI_Comm comm, sagoi_team **team) {
    team_list *list;
    *team = take_free(comm, &list); /* on all ranks, or on none */
    if (!*team) {
        entry *made = calloc(1, sizeof *made);
        if (!all_have(comm, made && list)) {
            free(made);
            return sagoi_fail(SAGO_ERR_MEMORY, "a rank has no memory for what belongs to a communicator");
        }
        if (!team_create(comm, made))
            return sagoi_fail(SAGO_ERR_MPI, "the communicator cannot be set up: no memory, or an MPI call failed");
        *team = enlist(made, list);
    }
    atomic_fetch_add(&used, 1);
    return SAGO_OK;
}

int64_t sagoi_teams_in_use(void) { return atomic_load(&used); }

/* A broken one is never used again, and stays: MPI may still write to what belongs to it. */
void sagoi_team_release(sagoi_team *team) {
    entry *mine = (entry *)team;
    if (sagoi_is_broken(team)) {
        atomic_fetch_sub(&used, 1);
        return;
    }
    (void)pthread_mutex_lock(&lists_lock);
    team->in_use = false;
    atomic_fetch_sub(&used, 1);
    bool orphan = mine->orphan;
    if (orphan)
        unregister(mine);
    (void)pthread_mutex_unlock(&lists_lock);
    if (orphan)
        team_destroy(team);
}

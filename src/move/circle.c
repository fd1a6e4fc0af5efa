/* Making circles: which rank is on which node, and the memory that the ranks of a node share. */
#include "move/circle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/again.h"
#include "base/checked.h"
#include "mpi/quiet.h"

/* Does every rank have what it needs?  By a blocking collective call of MPI on the program's communicator, which
 * no other thread may use for such a call meanwhile. */
bool sagoi_all_have(MPI_Comm comm, bool have) {
    int mine = have, all = 0;
    return SAGOI_DONE(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm)) && all;
}

void sagoi_circle_keep(sagoi_circle *circle, sagoi_circle_note *note) {
    note->next = atomic_load(&circle->notes);
    while (!atomic_compare_exchange_weak(&circle->notes, &note->next, note))
        ;
}

void sagoi_circle_learn_pace(sagoi_circle *circle, int64_t pace) {
    int64_t fastest = atomic_load(&circle->pace);
    while (pace > fastest && !atomic_compare_exchange_weak(&circle->pace, &fastest, pace))
        ;
    atomic_fetch_add(&circle->gatherings, 1);
}

int64_t sagoi_circle_pace(const sagoi_circle *circle, int64_t least) {
    return atomic_load(&circle->gatherings) >= least ? atomic_load(&circle->pace) : 0;
}

void sagoi_circle_destroy(sagoi_circle *circle) {
    for (sagoi_circle_note *at = atomic_load(&circle->notes), *next; at; at = next) {
        next = at->next;
        free(at);
    }
    if (circle->board)
        (void)munmap(circle->board, (size_t)circle->board_bytes);
    sagoi_quiet_begin(MPI_COMM_NULL);
    if (circle->group != MPI_GROUP_NULL)
        (void)SAGOI_DONE(MPI_Group_free(&circle->group));
    if (circle->all != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&circle->all));
    sagoi_quiet_end(MPI_COMM_NULL);
    free(circle);
}

/* MPI does not tell how many communicators are left, so this function takes some and gives them back.  That is
 * local, and takes two milliseconds for each circle. */
bool sagoi_communicators_left(void) {
    enum { QUARTER = 512 }; /* MPICH has 2,048 communicators; other MPI libraries have more. */
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    MPI_Comm *taken = calloc(QUARTER, sizeof *taken);
    int n = 0;
    if (!taken)
        return false;
    (void)pthread_mutex_lock(&one_at_a_time);
    while (n < QUARTER && PMPI_Comm_dup(MPI_COMM_SELF, &taken[n]) == MPI_SUCCESS)
        n++;
    for (int i = 0; i < n; i++)
        (void)PMPI_Comm_free(&taken[i]);
    (void)pthread_mutex_unlock(&one_at_a_time);
    free(taken);
    return n == QUARTER;
}

/* Communicators that are only needed while a circle is made. */
typedef struct makeshift {
    MPI_Comm node, leaders; /* MPI_COMM_NULL: not made, or this rank is not in it */
} makeshift;

/* Splits the ranks into nodes; `alone`: every rank becomes a node of its own. */
static bool split_nodes(sagoi_circle *circle, bool alone, makeshift *made) {
    int kind[2] = {0, 0};
    bool split = alone ? SAGOI_DONE(MPI_Comm_split(circle->all, circle->rank, 0, &made->node))
                       : SAGOI_DONE(MPI_Comm_split_type(circle->all, MPI_COMM_TYPE_SHARED, circle->rank,
                                                        MPI_INFO_NULL, &made->node));
    if (!split)
        return false;
    (void)SAGOI_DONE(MPI_Comm_rank(made->node, &circle->local_rank));
    (void)SAGOI_DONE(MPI_Comm_size(made->node, &circle->local_size));
    if (!SAGOI_DONE(MPI_Comm_split(circle->all, circle->local_rank == 0 ? 0 : MPI_UNDEFINED, circle->rank,
                                   &made->leaders)))
        return false;
    if (circle->local_rank == 0) {
        (void)SAGOI_DONE(MPI_Comm_rank(made->leaders, &kind[0]));
        (void)SAGOI_DONE(MPI_Comm_size(made->leaders, &kind[1]));
    }
    if (!SAGOI_DONE(MPI_Bcast(kind, 2, MPI_INT, 0, made->node)))
        return false;
    circle->node = kind[0];
    circle->nodes = kind[1];
    return true;
}

static void drop_makeshift(makeshift *made) {
    if (made->leaders != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&made->leaders));
    if (made->node != MPI_COMM_NULL)
        (void)SAGOI_DONE(MPI_Comm_free(&made->node));
}

static int64_t board_size(const sagoi_circle *circle) {
    int64_t numbers = (int64_t)circle->nodes + 1 + circle->size;
    return sagoi_round_up((int64_t)sizeof(sagoi_board) + numbers * (int64_t)sizeof(int32_t), 4096);
}

static bool map_board(sagoi_circle *circle, const makeshift *made) {
    sagoi_shared_name name = {0};
    char *base = NULL;
    circle->board_bytes = board_size(circle);
    if (circle->local_rank == 0 && sagoi_shared_create(circle->by_name, circle->board_bytes, &name, &base) != 0)
        name = (sagoi_shared_name){0};
    (void)SAGOI_DONE(MPI_Bcast(&name, sizeof name, MPI_BYTE, 0, made->node));
    if (circle->local_rank != 0 && sagoi_shared_open(&name, circle->board_bytes, &base) != 0)
        base = NULL;
    circle->board = (sagoi_board *)base;
    bool mapped = sagoi_all_have(circle->all, base != NULL);
    if (circle->local_rank == 0)
        sagoi_shared_close(&name);
    if (!mapped && base)
        (void)munmap(base, (size_t)circle->board_bytes);
    circle->board = mapped ? circle->board : NULL;
    return mapped;
}

/* Fills in who is on which node; a node keeps one copy, in its board. */
static bool fill_tables(sagoi_circle *circle, const makeshift *made) {
    int32_t *first = circle->board->tables, *members = first + circle->nodes + 1;
    int *mine = calloc((size_t)circle->local_size, sizeof *mine),
        *counts = calloc((size_t)circle->nodes, sizeof *counts);
    bool ok = sagoi_all_have(circle->all, mine && counts) &&
              SAGOI_DONE(MPI_Gather(&circle->rank, 1, MPI_INT, mine, 1, MPI_INT, 0, made->node));
    if (ok && circle->local_rank == 0) {
        ok = SAGOI_DONE(MPI_Allgather(&circle->local_size, 1, MPI_INT, counts, 1, MPI_INT, made->leaders));
        first[0] = 0;
        for (int i = 0; i < circle->nodes; i++)
            first[i + 1] = first[i] + counts[i];
        ok = ok && SAGOI_DONE(MPI_Allgatherv(mine, circle->local_size, MPI_INT, members, counts, first, MPI_INT,
                                             made->leaders));
    }
    free(mine);
    free(counts);
    return ok;
}

static void get_to_know(sagoi_circle *circle, const makeshift *made) {
    uint64_t mine = sagoi_pid_namespace(), range[2] = {mine, ~mine};
    CPU_ZERO(&circle->rank_cores);
    (void)sched_getaffinity(0, sizeof circle->rank_cores, &circle->rank_cores);
    (void)SAGOI_DONE(MPI_Allreduce(MPI_IN_PLACE, &circle->rank_cores, sizeof circle->rank_cores, MPI_BYTE, MPI_BOR,
                                   made->node));
    (void)SAGOI_DONE(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_UINT64_T, MPI_MAX, made->node));
    circle->pid_namespace = range[0] == ~range[1] ? range[0] : 0;
}

/* Ranks of one node of MPI's that do not see the same shared memory (containers) become nodes of their own. */
static bool form_nodes(sagoi_circle *circle) {
    makeshift made = {MPI_COMM_NULL, MPI_COMM_NULL};
    bool ok = sagoi_all_have(circle->all, split_nodes(circle, false, &made));
    if (ok && !map_board(circle, &made)) {
        circle->by_name = true;
        ok = map_board(circle, &made);
    }
    if (!ok) {
        drop_makeshift(&made);
        circle->by_name = false;
        ok = sagoi_all_have(circle->all, split_nodes(circle, true, &made)) && map_board(circle, &made);
    }
    if (ok)
        ok = sagoi_all_have(circle->all, fill_tables(circle, &made));
    if (ok)
        get_to_know(circle, &made);
    drop_makeshift(&made);
    return ok;
}

static void count_channels(sagoi_circle *circle) {
    int *value = NULL, found = 0;
    (void)SAGOI_DONE(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found));
    int64_t tags = (found ? *value : 32767) + INT64_C(1); /* every MPI library has so many */
    circle->tags = (int)sagoi_min(tags, SAGOI_CHANNEL_TAGS);
    circle->channels = (int)(tags / circle->tags);
}

/* Makes a circle of one rank, which needs no communication. */
static bool form_alone(sagoi_circle *circle) {
    circle->local_size = circle->nodes = 1;
    circle->board_bytes = board_size(circle);
    void *memory =
        mmap(NULL, (size_t)circle->board_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    circle->board = memory;
    circle->board->tables[1] = 1;
    circle->pid_namespace = sagoi_pid_namespace();
    (void)sched_getaffinity(0, sizeof circle->rank_cores, &circle->rank_cores);
    return true;
}

/* MPI_Comm_dup() would call the program's functions that copy attributes. */
static bool make_communicator(MPI_Comm comm, sagoi_circle *circle) {
    bool grouped = SAGOI_DONE(MPI_Comm_group(comm, &circle->group));
    if (circle->size > 1 && !sagoi_all_have(comm, grouped && sagoi_communicators_left()))
        return false;
    bool made = grouped && SAGOI_DONE(MPI_Comm_create(comm, circle->group, &circle->all));
    if (made)
        (void)SAGOI_DONE(MPI_Comm_set_errhandler(circle->all, MPI_ERRORS_RETURN));
    return circle->size > 1 ? sagoi_all_have(comm, made) : made;
}

/* May a rank call MPI in several threads? */
static bool has_threads(void) {
    int level = MPI_THREAD_MULTIPLE;
    (void)SAGOI_DONE(MPI_Query_thread(&level));
    return level == MPI_THREAD_MULTIPLE;
}

/* Are these all ranks of the job?  A job that another job spawned also has its parent's ranks; without
 * MPI_COMM_WORLD the answer is not known. */
static bool is_whole_job(MPI_Comm comm) {
    int begun = 0, same = MPI_UNEQUAL;
    MPI_Comm parent = MPI_COMM_NULL;
    return SAGOI_DONE(MPI_Initialized(&begun)) && begun && SAGOI_DONE(MPI_Comm_get_parent(&parent)) &&
           parent == MPI_COMM_NULL && SAGOI_DONE(MPI_Comm_compare(comm, MPI_COMM_WORLD, &same)) &&
           same != MPI_UNEQUAL;
}

sago_status sagoi_circle_create(MPI_Comm comm, uint64_t serial, sagoi_circle **created) {
    sagoi_circle *circle = calloc(1, sizeof *circle);
    int size = 1;
    (void)SAGOI_DONE(MPI_Comm_size(comm, &size));
    bool have = size > 1 ? sagoi_all_have(comm, circle != NULL) : circle != NULL;
    if (!have || !circle) {
        free(circle);
        return sagoi_fail(SAGO_ERR_MEMORY, "a rank has no memory for what belongs to a communicator");
    }
    circle->all = MPI_COMM_NULL;
    circle->group = MPI_GROUP_NULL;
    circle->serial = serial;
    circle->size = size;
    (void)SAGOI_DONE(MPI_Comm_rank(comm, &circle->rank));
    circle->process = sagoi_process_self();
    circle->threads = size > 1 && !sagoi_all_have(comm, !has_threads());
    circle->whole_job = !circle->threads && !has_threads() && is_whole_job(comm);
    count_channels(circle);
    bool made = make_communicator(comm, circle);
    if (!made || !(size > 1 ? form_nodes(circle) : form_alone(circle))) {
        sagoi_circle_destroy(circle);
        return made ? sagoi_fail(SAGO_ERR_MPI,
                                 "the communicator cannot be set up: no memory, or an MPI call failed")
                    : sagoi_fail(SAGO_ERR_MPI, "no communicator can be had: MPI has not enough of them left");
    }
    *created = circle;
    return SAGO_OK;
}

/* An open checkpoint directory: what the parts of this folder know of it. */
#ifndef SAGOI_CKPT_STATE_H
#define SAGOI_CKPT_STATE_H

#include <sago/ckpt.h>

#include "mpi/types.h"
#include "base/hints.h"
#include "base/live.h"
#include "system/watch.h"
#include "ckpt/allocation.h"
#include "ckpt/background.h"
#include "ckpt/catalog.h"
#include "ckpt/clock.h"
#include "ckpt/dataset.h"
#include "ckpt/generation.h"
#include "ckpt/pool.h"
#include "machine/topology.h"
#include "move/team.h"

struct sago_file;
struct sagoi_store;
/* Collective: opens a file for collective writes through a store that each rank has opened; the file owns the
 * store from then on, even after a failure, and sago_close() closes both. */
typedef sago_status sagoi_open_store_fn(MPI_Comm comm, const char *name, const sagoi_hints *hints,
                                        struct sagoi_store *store, struct sago_file **file);

enum { SAGOI_SETS_LARGEST = 128 }; /* members of a redundancy set at the most */

/* Which rank writes for which ranks (plan/writers.h).  Groups are parts of a node; if any group spans several
 * nodes, they are whole nodes. */
typedef struct sagoi_groups {
    MPI_Comm mine;    /* the ranks of this group: rank 0 is the writer, and the ranks of its node follow */
    MPI_Comm writers; /* MPI_COMM_NULL on other ranks */
    /* The ranks that write to the same file at the global level together; else MPI_COMM_NULL. */
    MPI_Comm same_file;
    int rank, size;   /* place in the group, ranks of the group */
    int near;         /* ranks of the group on the writer's node */
    bool spans, away; /* there are groups of several nodes; this group's writer is on another node */
    int64_t writer;   /* number of this group's writer among all writers */
    int64_t nwriters, files;
    int64_t on_node, first_on_node; /* writers of this node; number of the first */
} sagoi_groups;

/* What a group of several nodes needs for its messages (far.c). */
typedef struct sagoi_far {
    char *packed[2];            /* on a rank away from its writer: what it sends */
    struct sagoi_far_end *ends; /* on the writer: how each other rank ended a window */
    MPI_Request *requests;
} sagoi_far;

/* A piece of this rank's memory, and its place in the group's stream. */
typedef struct sagoi_slice {
    sagoi_overlap region;
    char *memory;
} sagoi_slice;

/* The layout of saves, until something else is protected. */
typedef struct sagoi_layout_of_save {
    bool valid;
    sagoi_intent intent; /* without id, step and time */
    sagoi_part part;     /* on writers: blocks of the group, without sums */
    sagoi_slice *slices; /* this rank's */
    int64_t nslices;
    int64_t *before;           /* for each rank of the group, and one more: where its bytes begin in the stream */
    int64_t total, node_bytes; /* bytes of all ranks; of this node */
} sagoi_layout_of_save;

/* One save of this job; the list is the same on all ranks, the oldest save first. */
typedef struct sagoi_saving {
    int64_t step;
    sagoi_id id;
    bool to_global, to_redundant; /* the levels it is to reach (to_global: after the local level) */
    bool decided, global_decided; /* all ranks know the outcome at the first level; at the global level */
    bool redundant, bare;         /* all parity is written; it could not be made */
    bool failed;                  /* at the first level */
    bool told;                    /* the failure was returned to the application */
    bool awaited;                 /* a caller waits for it, so it is not forgotten */
    bool journalled;              /* its line was written to the file of the hint sago_ckpt_stats */
    sago_status status;           /* agreed */
    char message[SAGOI_MESSAGE_MAX];
    sagoi_job *job;             /* writers */
    sago_ckpt_save_stats stats; /* of this rank */
    struct sagoi_saving *next;
} sagoi_saving;

/* A complete step in the directory, whichever job saved it; the list is the same on all ranks, in the order of
 * saving. */
typedef struct sagoi_complete_step {
    int64_t step;
    uint64_t id_low;
    bool at[SAGO_LEVEL_COUNT];
    bool half_drained; /* some parts of it are in the directory, where it never was complete */
    /* It could not be restored from, so it does not count, and gives way to a save of its step. */
    bool passed_over;
} sagoi_complete_step;

struct sago_ckpt {
    sagoi_live live;
    sagoi_team *team;
    sagoi_hints hints;
    const sagoi_topology
        *topology; /* the network, and the place of each node in it; both owned by the circle, or NULL */
    const int64_t *place;
    sagoi_open_store_fn *open_store;
    char dir[SAGOI_CKPT_PATH];
    char local[SAGOI_CKPT_PATH]; /* this node's directory at the local level; "": there is none */
    char home[SAGOI_CKPT_PATH];  /* `dir` without links, as rank 0 sees it */
    sagoi_id directory;          /* written into the directory when it was made */
    bool copied;                 /* rank 0: it was a copy of another one */
    bool used_here;              /* rank 0: it was opened for writing before where it is now */
    bool unnamed;                /* rank 0: it had lost its record, and with it the way to the nodes' storage */
    uint64_t key;                /* for the cover check; random, equal on all ranks */
    int64_t domain, domains;     /* the storage device of this rank at the local level; number of all */
    int *holders;                /* for each device: the rank that reads it */
    int64_t *domain_of;          /* by writer */
    int holder;                  /* the rank that reads `local` for this node */
    bool together;               /* saves are collective writes (coio.c); equal on all ranks */
    bool keeper;                 /* this rank's writer looks after the storage device that it writes to */
    sagoi_groups groups;
    sagoi_dataset data;
    sagoi_layout_of_save layout;
    sagoi_pool pool; /* on a rank away from its writer: like the writer's */
    sagoi_far far;
    sagoi_background *background; /* writers */
    sagoi_lease lease;            /* rank 0 */
    sagoi_fence fence;            /* generation 0: opened for reading only */
    sagoi_saving *saves;          /* the oldest first */
    int64_t nsaves;               /* saves that this job has started */
    sagoi_complete_step *steps;
    int64_t nsteps, steps_capacity;
    int64_t aside[SAGO_LEVEL_COUNT]; /* bytes of damaged steps set aside in `dir`, in `local` */
    sago_ckpt_stats stats;           /* this rank's, except values that are equal on all ranks */
    sago_ckpt_report report;
    double opened, last_save;    /* by the monotonic clock */
    double last_held;            /* seconds of the last save */
    int64_t last_date;           /* rank 0: of the last save; clocks go back, the order of saves does not */
    int64_t last_step;           /* rank 0: of the last save; 0 if there is none */
    int64_t watched;             /* signals, bits SAGOI_SIGNAL_* */
    sagoi_allocation allocation; /* of rank 0 */
    sagoi_cfile journal;         /* rank 0: the file of the hint sago_ckpt_stats, if there is one */
    sagoi_watch *watched_dir, *watched_local, *watched_journal; /* directories in which calls may hang */
};

/* The directory of the local or of the global level. */
static inline const char *sagoi_level_dir(const sago_ckpt *ckpt, int64_t level) {
    return level == SAGO_LEVEL_GLOBAL ? ckpt->dir : ckpt->local;
}

static inline bool sagoi_is_writer(const sago_ckpt *ckpt) { return ckpt->groups.rank == 0; }

/* In writer_groups.c; collective. */
sago_status sagoi_groups_form(sago_ckpt *ckpt) SAGOI_CHECKED;
void sagoi_groups_free(sago_ckpt *ckpt);

/* In far.c: groups of several nodes.  Rooms are made with the layout; both calls are for one window, bytes [from,
 * to) of the group's stream. */
sago_status sagoi_far_prepare(sago_ckpt *ckpt) SAGOI_CHECKED;
void sagoi_far_cleanup(sago_ckpt *ckpt);
sago_status sagoi_far_send(sago_ckpt *ckpt, int64_t from, int64_t to) SAGOI_CHECKED;
sago_status sagoi_far_receive(sago_ckpt *ckpt, char *window, int64_t from, int64_t to) SAGOI_CHECKED;

/* In coio.c; collective: writes a save by the engine.  Failures are also noted in the writers' jobs. */
sago_status sagoi_write_together(sago_ckpt *ckpt, sagoi_saving *saving) SAGOI_CHECKED;

/* Copies this rank's bytes [from, to) of its group's stream to `to_memory`. */
sago_status sagoi_slices_copy(const sago_ckpt *ckpt, char *to_memory, int64_t from, int64_t to) SAGOI_CHECKED;

/* In save_layout.c; collective; nothing may be under way. */
sago_status sagoi_layout_make(sago_ckpt *ckpt) SAGOI_CHECKED;
void sagoi_layout_cleanup(sagoi_layout_of_save *layout);

/* In saves.c: how all ranks learn what the writers have finished. */
enum {
    SAGOI_MAX_VERDICT,
    SAGOI_MAX_PENDING,
    SAGOI_MAX_FAILED,
    SAGOI_MAX_GLOBAL_PENDING,
    SAGOI_MAX_GLOBAL_FAILED,
    SAGOI_MAX_FREE_TO_USE
};
/* Puts this rank's news of the oldest undecided save into an agreement that is to be made. */
void sagoi_news_put(sago_ckpt *ckpt, sagoi_agreement *agreement);
/* Collective: draws the conclusions; true: something was decided. */
sago_status sagoi_news_take(sago_ckpt *ckpt, const sagoi_agreement *agreed, bool *decided) SAGOI_CHECKED;
/* Collective, and does not wait: agrees on the state of the saves, until nothing more is decided. */
sago_status sagoi_saves_progress(sago_ckpt *ckpt) SAGOI_CHECKED;
/* Does the same after a short wait for this rank's threads. */
sago_status sagoi_saves_wait(sago_ckpt *ckpt) SAGOI_CHECKED;
/* Waits until all saves are decided at the first level. */
sago_status sagoi_saves_await_first(sago_ckpt *ckpt) SAGOI_CHECKED;
/* Waits until all saves are decided at all levels that they go to. */
sago_status sagoi_saves_await_all(sago_ckpt *ckpt) SAGOI_CHECKED;
sagoi_saving *sagoi_saving_find(sago_ckpt *ckpt, int64_t step);
bool sagoi_saving_open(const sagoi_saving *saving); /* may it still reach another level? */
void sagoi_savings_free(sago_ckpt *ckpt);
void sagoi_saving_forget(sago_ckpt *ckpt, int64_t step); /* the save must be decided */
/* Makes room for so many more steps than are known or being saved; before a step is added, the ranks have agreed
 * that all of them have the room. */
sago_status sagoi_steps_reserve(sago_ckpt *ckpt, int64_t more) SAGOI_CHECKED;
void sagoi_steps_add(sago_ckpt *ckpt, int64_t step, uint64_t id_low, sago_level level);
sagoi_complete_step *sagoi_steps_find(sago_ckpt *ckpt, int64_t step);
void sagoi_steps_remove(sago_ckpt *ckpt, int64_t step);
/* Removes steps that are older than the hints allow. */
void sagoi_retain(sago_ckpt *ckpt);

/* save.c */
sago_status sagoi_save(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED;

/* In facts.c; collective: every rank gets the same catalog and views. */
typedef struct sagoi_overview {
    sagoi_catalog catalog;
    sagoi_save_view *views;
    int64_t n;
    bool partial; /* some storage does not answer, and may have more */
    bool without_directory;
    int64_t without_devices; /* nodes */
} sagoi_overview;
sago_status sagoi_overview_make(sago_ckpt *ckpt, int64_t step, sagoi_overview *overview) SAGOI_CHECKED;
/* The same for reading, where storage that does not answer may be left out. */
sago_status sagoi_overview_of_reachable(sago_ckpt *ckpt, int64_t step, sagoi_overview *overview) SAGOI_CHECKED;
/* The save of a step: a complete one, else the newest that has an intent; NULL: none. */
const sagoi_save_view *sagoi_overview_save(const sagoi_overview *overview, int64_t step);
/* The save of a step with this id, if it has an intent, and is complete on the nodes or nowhere set aside;
 * SAGOI_NEWEST_SAVE: as above. */
const sagoi_save_view *sagoi_overview_of_id(const sagoi_overview *overview, int64_t step, uint64_t id_low);
/* Names in the report what was left out. */
void sagoi_overview_tell(sago_ckpt *ckpt, const sagoi_overview *overview);
void sagoi_overview_cleanup(sagoi_overview *overview);

/* In stock.c; collective. */
sago_status sagoi_take_stock(sago_ckpt *ckpt) SAGOI_CHECKED;
/* After a drain or a repair of a step that was not in the directory as a whole: is it now, or a part of it? */
sago_status sagoi_recall_drain(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED;
/* What the statistics and the check of free space need to know of damaged steps. */
sago_status sagoi_recount_damaged(sago_ckpt *ckpt) SAGOI_CHECKED;

/* wait.c */
sago_status sagoi_wait_for(sago_ckpt *ckpt, int64_t step, sago_level level) SAGOI_CHECKED;
sago_status sagoi_collect_stats(sago_ckpt *ckpt, sago_ckpt_stats *stats) SAGOI_CHECKED;
/* Collective: the longest times of any rank, and the bandwidths that follow. */
sago_status sagoi_save_stats_reduce(sago_ckpt *ckpt, sago_ckpt_save_stats *stats, int64_t n) SAGOI_CHECKED;

/* journal.c */
sago_status sagoi_journal_open(sago_ckpt *ckpt) SAGOI_CHECKED;
void sagoi_journal_close(sago_ckpt *ckpt);
void sagoi_journal_dropped(sago_ckpt *ckpt, int64_t step, const char *how);
void sagoi_journal_damaged(sago_ckpt *ckpt, int64_t step, int64_t bytes, const char *why);
void sagoi_journal_passed_over(sago_ckpt *ckpt, int64_t step, const char *why);
/* Collective: writes lines for saves that have been decided. */
sago_status sagoi_journal_advance(sago_ckpt *ckpt) SAGOI_CHECKED;

/* due.c */
sago_status sagoi_is_due(sago_ckpt *ckpt, int *due, int *leave) SAGOI_CHECKED;
double sagoi_daly_interval(double cost, double mtbf); /* seconds between checkpoints that lose the least time */
void sagoi_signals_watch(int64_t which);              /* bits SAGOI_SIGNAL_* */
void sagoi_signals_leave(int64_t which);

/* upkeep.c */
sago_status sagoi_report_sum(sago_ckpt *ckpt) SAGOI_CHECKED; /* Collective: all ranks' report, on all ranks. */
sago_status sagoi_verify(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED;
sago_status sagoi_drain(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED;
sago_status sagoi_repair(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED;
sago_status sagoi_remove(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED;
sago_status sagoi_remove_damaged(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED; /* SAGOI_NO_STEP: all steps */
void sagoi_report_add(sago_ckpt_report *report, const char *format, ...) SAGOI_PRINTF(2, 3);

/* In redundancy.c. */
struct sagoi_fetch;
sago_status sagoi_redundancy_wait(sago_ckpt *ckpt, sagoi_saving *saving) SAGOI_CHECKED;
sago_status sagoi_redundancy_verify(struct sagoi_fetch *fetch) SAGOI_CHECKED;
/* Collective: brings the steps that wait for it to the redundant level. */
sago_status sagoi_redundancy_advance(sago_ckpt *ckpt) SAGOI_CHECKED;
/* Finds out which writers hold parity for each other.  SAGO_ERR_UNSUPPORTED: there are too few storage devices. */
sago_status sagoi_sets_form(const sago_ckpt *ckpt, sagoi_intent *intent) SAGOI_CHECKED;

/* In rebuild.c; collective: brings back what of a step is lost or damaged on the nodes, as far as redundancy
 * allows. What it cannot bring back is no error here. */
typedef enum {
    SAGOI_MEND_LOST,    /* missing parts; nothing is read if there are none */
    SAGOI_MEND_DAMAGED, /* damaged pieces of data as well */
    SAGOI_MEND_ALL,     /* parity, too */
} sagoi_mending;
#define SAGOI_NEWEST_SAVE UINT64_C(0) /* as an id: whichever save of the step counts */
sago_status sagoi_mend(sago_ckpt *ckpt, int64_t step, uint64_t id_low, sagoi_mending what) SAGOI_CHECKED;

/* restore.c */
sago_status sagoi_restore(sago_ckpt *ckpt, int64_t step) SAGOI_CHECKED;
sago_status sagoi_restore_latest(sago_ckpt *ckpt, int64_t *step) SAGOI_CHECKED;

#endif

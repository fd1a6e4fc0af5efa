/* A random program while it runs: its state, and how it fails. */
#ifndef ORACLE_RUN_H
#define ORACLE_RUN_H

#include <inttypes.h>
#include <sched.h>
#include <signal.h>

#include <sago/sago.h>

#include "mpi/oracle_pattern.h"
#include "mpi/oracle_subfiles.h"

enum { MAX_HINTS = 24, BACKGROUND = 0xEE };

typedef struct oaccess {
    const char *pattern;
    bool agreed; /* a write of which every rank knows what comes where: then ranks may overlap */
    opart parts[MAX_RANKS];
} oaccess;

enum { COMMS = 6 };

typedef struct oracle {
    MPI_Comm comms[COMMS]; /* all ranks, in several orders, and some of the ranks */
    MPI_Comm comm;         /* of this seed */
    int rank, size;        /* in it */
    const char *dir;
    bool verbose;
    bool only_subfiles; /* every file is kept in several */
    unsigned patience;  /* seconds a step may take */
    int nforced;
    const char *forced[MAX_HINTS]; /* KEY=VALUE of the command line */

    uint64_t seed;
    int64_t step;
    const char *doing;
    rng r;
    arena a;
    unsigned char noise[NOISE];
    int64_t cap;  /* nothing lies beyond, bytes */
    int64_t base; /* where the model's byte 0 is in the file; nothing but a hole before it */
    model file_model;
    unsigned char *found;  /* the file as it is; rank 0 */
    unsigned char *before; /* the model before the call */
    int64_t size_before;
    char path[4096], hints[1024];
    osubfiles subfiles;
    int amode;
    sago_file *file;
    oaccess now; /* whose views are the file's */
    bool viewed;
    bool small_memory;       /* SAGO_ERR_MEMORY may happen */
    bool defers;             /* sago_defer */
    unsigned char *deferred; /* of each byte: 1 + the rank that has it, 0 if it is in the file */
    bool shared;             /* ranks have deferred the same bytes */
    int64_t flushed_size;    /* of the model when all was in the file: at most the file's */
    sago_stats total;        /* over all files */
    int64_t calls, no_memory;
} oracle;

static bool may_write(const oracle *o) { return !(o->amode & MPI_MODE_RDONLY); }
static bool may_read(const oracle *o) { return !(o->amode & MPI_MODE_WRONLY); }

/* ---- Failing ---- */

static uint64_t hung_seed;
static int64_t hung_step;
static int hung_rank;

static void on_alarm(int signal) {
    char text[200];
    (void)signal;
    int n = snprintf(text, sizeof text, "rank %d: HANGS in seed %" PRIu64 " step %" PRId64 "\n", hung_rank,
                     hung_seed, hung_step);
    if (write(STDOUT_FILENO, text, (size_t)n) < 0)
        _exit(4);
    abort();
}

static void describe_part(const opart *part) {
    printf("  disp %" PRId64 " etype %" PRId64 " offset %" PRId64 " bytes %" PRId64 " filetype ", part->view.disp,
           part->view.etype->size, part->offset, part->bytes);
    otype_print(part->view.filetype, stdout);
    printf("\n  memory %" PRId64 " times ", part->count);
    if (part->memory)
        otype_print(part->memory, stdout);
    printf("\n");
}

static _Noreturn void fail(const oracle *o, const oaccess *what) {
    sago_stats stats = {.size = sizeof stats};
    printf("  in seed %" PRIu64 " step %" PRId64 " (%s) rank %d of %d; base %" PRId64 "; hints: %s\n", o->seed,
           o->step, o->doing, o->rank, o->size, o->base, o->hints);
    if (o->file && sago_get_stats(o->file, &stats) == SAGO_OK)
        printf("  last plan:\n%s\n", stats.decision);
    for (int i = 0; what && i < o->size; i++) {
        printf("  rank %d (%s):\n", i, what->pattern);
        describe_part(&what->parts[i]);
    }
    (void)fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void check_status(const oracle *o, sago_status status, const oaccess *what) {
    if (!status)
        return;
    if (o->rank > 0)
        (void)sleep(1); /* all ranks should be here: one of them tells */
    printf("FAILED: rank %d: status \"%s\": %s\n", o->rank, sago_status_string(status), sago_error_message());
    fail(o, what);
}

static void note(oracle *o, const char *doing) {
    o->doing = doing;
    hung_seed = o->seed;
    hung_step = o->step;
    (void)alarm(o->patience);
    if (o->verbose && o->rank == 0) {
        printf("seed %" PRIu64 " step %" PRId64 ": %s\n", o->seed, o->step, doing);
        (void)fflush(stdout);
    }
}

/* ---- Meeting and comparing ---- */

static void (*while_meeting)(void); /* what else is to go on meanwhile; NULL: nothing */

/* Asleep: there are more ranks than cores. */
static void meet(MPI_Comm comm) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(comm, &request);
    for (int tries = 0; !done; tries++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && while_meeting)
            while_meeting();
        if (!done && tries < 100)
            (void)sched_yield();
        else if (!done)
            (void)usleep(50);
    }
}

static int64_t contents(const oracle *o) {
    return o->subfiles.count > 0 ? parted_contents(o->path, &o->subfiles, o->base, o->found, o->cap)
                                 : file_contents(o->path, o->base, o->found, o->cap);
}

/* Is the file what the model says?  Comes back when all know. */
static void check_file(const oracle *o, const oaccess *what) {
    meet(o->comm);
    if (o->rank == 0) {
        int64_t size = contents(o), least = size < o->file_model.size ? size : o->file_model.size;
        int64_t at = first_difference(o->found, o->file_model.bytes, least);
        if (at >= 0)
            printf("FAILED: byte %" PRId64 " of the file (of %" PRId64 "): expected %02x, found %02x\n", at, size,
                   o->file_model.bytes[at], o->found[at]);
        if (size != o->file_model.size)
            printf("FAILED: the file has %" PRId64 " bytes, not %" PRId64 "\n", size, o->file_model.size);
        if (at >= 0 || size != o->file_model.size)
            fail(o, what);
    }
    meet(o->comm);
}

static void check_memory(const oracle *o, const oaccess *what, const obuffer *found, const obuffer *expected) {
    int64_t at = first_difference(found->bytes, expected->bytes, found->size);
    if (at < 0)
        return;
    printf("FAILED: byte %" PRId64 " of the buffer: expected %02x, found %02x\n", found->low + at,
           (unsigned char)expected->bytes[at], (unsigned char)found->bytes[at]);
    fail(o, what);
}

static void check_bytes(const oracle *o, const oaccess *what, int64_t found, int64_t expected) {
    if (found == expected)
        return;
    printf("FAILED: %" PRId64 " bytes moved, not %" PRId64 "\n", found, expected);
    fail(o, what);
}

/* ---- How a call ended ---- */

static void remember(oracle *o) {
    o->size_before = o->file_model.size;
    memcpy(o->before, o->file_model.bytes, (size_t)o->size_before);
}

static bool old_or_new(const oracle *o, int64_t i) {
    return o->found[i] == (i < o->size_before ? o->before[i] : 0) ||
           (i < o->file_model.size && o->found[i] == o->file_model.bytes[i]);
}

/* After a write that was refused: every byte is as it was, or as it was to be.  The model takes over what is. */
static void accept_refused_write(oracle *o, const oaccess *what) {
    int64_t size = 0;
    meet(o->comm);
    if (o->rank == 0)
        size = contents(o);
    for (int64_t i = 0; i < size; i++)
        if (!old_or_new(o, i)) {
            printf("FAILED: byte %" PRId64 " after a refused write: %02x, neither old nor new\n", i, o->found[i]);
            fail(o, what);
        }
    MPI_Bcast(&size, 1, MPI_INT64_T, 0, o->comm);
    MPI_Bcast(o->found, (int)size, MPI_BYTE, 0, o->comm);
    o->file_model.size = size;
    memcpy(o->file_model.bytes, o->found, (size_t)size);
}

/* True: as it should.  False: refused on all ranks alike, since the hints leave so little memory. */
static bool succeeded(oracle *o, sago_status status, const oaccess *what) {
    o->calls++;
    if (status != SAGO_ERR_MEMORY || !o->small_memory)
        check_status(o, status, what);
    o->no_memory += status != SAGO_OK;
    return status == SAGO_OK;
}

/* ---- Deferred writes ---- */

static void deferred_clear(oracle *o) {
    memset(o->deferred, 0, (size_t)o->cap);
    o->shared = false;
    o->flushed_size = o->file_model.size;
}

/* A rank's part of a call; `agreed`: others have the same bytes. */
static void deferred_mark(oracle *o, const opart *part, int owner, bool agreed) {
    runs file = {0};
    part_file_runs(part, o->cap, &file);
    for (int64_t i = 0; i < file.n; i++)
        for (int64_t at = file.list[i].off; at < file.list[i].off + file.list[i].len; at++) {
            o->shared = o->shared || agreed || (o->deferred[at] && o->deferred[at] != owner + 1);
            o->deferred[at] = (unsigned char)(owner + 1);
        }
    runs_free(&file);
}

/* Has a rank deferred some of these bytes, other than the one whose part it is?  Or a file that reaches them? */
static bool deferred_elsewhere(const oracle *o, const opart *part, int owner) {
    runs file = {0};
    bool found = false;
    part_file_runs(part, o->cap, &file);
    for (int64_t i = 0; i < file.n && !found; i++)
        for (int64_t at = file.list[i].off; at < file.list[i].off + file.list[i].len && !found; at++)
            found = o->deferred[at] != owner + 1 && (o->deferred[at] || at >= o->flushed_size);
    runs_free(&file);
    return found;
}

/* Has another rank deferred some of these bytes? */
static bool deferred_by_another(const oracle *o, const opart *part, int owner) {
    runs file = {0};
    bool found = false;
    part_file_runs(part, o->cap, &file);
    for (int64_t i = 0; i < file.n && !found; i++)
        for (int64_t at = file.list[i].off; at < file.list[i].off + file.list[i].len && !found; at++)
            found = o->deferred[at] && o->deferred[at] != owner + 1;
    runs_free(&file);
    return found;
}

/* By all ranks: in one way or another everything is in the file. */
static void flush_deferred(oracle *o) {
    if (!o->defers || !may_write(o))
        return;
    int way = o->shared ? 0 : (int)pick(&o->r, 0, 2);
    check_status(o,
                 way == 0   ? sago_flush_all(o->file)
                 : way == 1 ? sago_flush_own(o->file)
                            : sago_sync(o->file),
                 NULL);
    if (way == 1)
        meet(o->comm);
    deferred_clear(o);
}

/* Before a collective write: where ranks write the same bytes in different calls, MPI asks for a sync between
 * them. */
static void settle_conflicts(oracle *o, const oaccess *what) {
    bool conflict = o->shared;
    for (int i = 0; i < o->size && o->defers && !conflict; i++)
        conflict = deferred_by_another(o, &what->parts[i], i);
    if (conflict)
        flush_deferred(o);
}

/* After a write that the model has made already. */
static bool check_written(oracle *o, sago_status status, const oaccess *what) {
    if (succeeded(o, status, what)) {
        if (o->defers && chance(&o->r, 70))
            return true;
        flush_deferred(o);
        check_file(o, what);
        return true;
    }
    accept_refused_write(o, what);
    return false;
}

#endif

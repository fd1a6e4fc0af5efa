/* The route: how a call is served, as a printable value.
 *
 *     route = f(call, file, own part, what the ranks agreed on)      no MPI, no I/O, no clock, no getenv
 *
 * A route says in which company a rank serves its part of a call (alone, or together with the others), by which
 * method, who makes the system calls, and when.
 *
 * Inputs are of two kinds, and types keep the two apart.  EQUAL inputs are the same on all ranks: the kind of
 * call, what was agreed on when the file was opened and its view set, and what the ranks agree on in the call
 * itself.  LOCAL inputs are one rank's own: its bytes and runs, and what it did before.  Functions that decide the
 * company take EQUAL inputs only, so that no rank waits for one that went alone.
 *
 * The steps of a call:
 *   1. sagoi_route_choose()  from EQUAL inputs: alone, together, or one question to all ranks first
 *   2. sagoi_route_part()    from LOCAL inputs: how this rank would serve its part alone, and whether it would
 *                            rather have help, which is its answer to the question
 *   3. sagoi_route_answer()  from the answers of all ranks, which are EQUAL: alone or together */
#ifndef SAGOI_ROUTE_H
#define SAGOI_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hints.h"
#include "plan/plan.h"
#include "plan/thresholds.h"

/* ---- EQUAL inputs ---- */

typedef enum { SAGOI_COLLECTIVE, SAGOI_DECLARED, SAGOI_INDEPENDENT } sagoi_call_type;

/* The call. */
typedef struct sagoi_route_call {
    sagoi_call_type type;
    bool write;
    bool nonblocking;
    bool by_extents; /* the runs are a list, which may have gaps, whatever the view is like */
} sagoi_route_call;

/* The file, the job and the hints. */
typedef struct sagoi_route_file {
    int64_t nodes, ranks;
    sagoi_agree_hint agree;
    sagoi_strategy strategy;
    bool apart;      /* nonblocking calls need no other rank */
    bool one_kernel; /* one node, and a file system of its own: whatever a rank wrote, the others can read */
    bool mappable;   /* the kernel, the file system and the hints allow mapping */
    bool gaps;       /* some rank's view has gaps */
    bool tier;       /* local storage comes before the file */
    bool defer;      /* The file may put off collective writes. */
    bool deferring;  /* The file puts off collective writes at the moment. */
    bool striped;    /* The file lies on several targets, or has locks for blocks, so ranks may be in each other's
                        way. */
    bool subfiles;   /* The file is kept in several. */
} sagoi_route_file;

/* What is known of a file once all ranks have opened it. */
typedef struct sagoi_route_storage {
    int64_t nodes, ranks;
    bool local;        /* the file system belongs to one kernel */
    bool in_memory;    /* the file system keeps its files in memory */
    bool unmappable;   /* some rank found that the file cannot be mapped */
    bool with_targets; /* the file has stripes, or locks for blocks */
    bool subfiles;     /* the file is kept in several */
} sagoi_route_storage;

/* The inputs that stay as they are while the file is open; the view sets `gaps`, and stages set `tier`, `defer`
 * and `deferring`. */
sagoi_route_file sagoi_route_file_of(const sagoi_hints *hints, const sagoi_route_storage *storage);

/* Should system calls go through io_uring?  With O_DIRECT io_uring is several times faster for many runs; through
 * the page cache it is slower (docs/measured.md). */
bool sagoi_route_takes_uring(const sagoi_hints *hints);

/* ---- LOCAL inputs ---- */

typedef enum { SAGOI_MEMORY_WHOLE, SAGOI_MEMORY_PIECES, SAGOI_MEMORY_DEVICE } sagoi_memory_form;

/* What this rank wants moved. */
typedef struct sagoi_route_wanted {
    sagoi_memory_form memory;
    bool one_run; /* the rank's part is one run of the file */
    int64_t bytes, runs;
    int64_t low, high; /* offsets: the first byte, and one past the last */
    bool looked;       /* The file system was asked whether the file may have holes. */
    bool sparse;       /* The file system answered that the file may have holes. */
} sagoi_route_wanted;

/* What all ranks know of a call that is served together, after the agreement that opens the call: EQUAL. */
typedef struct sagoi_totals {
    int64_t nodes;
    int64_t span;        /* bytes from the first offset of all ranks to the last */
    int64_t bytes, runs; /* Sums over all ranks; bytes that two ranks access count twice. */
    int64_t most_runs;   /* runs of the rank that has most; 0: not known */
    bool stretched;      /* each node's data is one stretch of the file; false: not known */
    bool write;
    const sagoi_topology *topology; /* not owned; NULL: nothing is known of the network */
    double gathered;                /* as in sagoi_machine */
    bool assumed;                   /* as in sagoi_machine */
} sagoi_totals;

typedef struct sagoi_range {
    int64_t low, high;
} sagoi_range;

typedef enum { SAGOI_LAST_NONE, SAGOI_LAST_WRITE, SAGOI_LAST_READ } sagoi_last_access;

/* What became of the last collective call in one direction in which the ranks met; the same on all ranks. */
typedef enum { SAGOI_OUTCOME_UNKNOWN, SAGOI_OUTCOME_ALONE, SAGOI_OUTCOME_PLANNED } sagoi_outcome;

typedef struct sagoi_precedent {
    sagoi_outcome outcome;
    int64_t bytes; /* bytes of this rank's part */
    bool direct;   /* The call was planned, and each rank accessed the file by itself. */
} sagoi_precedent;

/* What this rank knows of the file. */
typedef struct sagoi_route_own {
    bool local, in_memory;  /* the file system, as this rank sees it */
    bool neighbours;        /* other ranks of the file are on this rank's node */
    sagoi_last_access last; /* what this rank did since the ranks met */
    double patience;        /* seconds that a nonblocking call waits for others whose data it reads */
    sagoi_range once,
        again; /* parts of the file that this rank accessed, alone or mapped: once or more, twice or more */
    sagoi_precedent read, written;
    bool strayed; /* this rank wrote by an independent call since the ranks met */
} sagoi_route_own;

/* ---- The route ---- */

typedef enum {
    SAGOI_ALONE,   /* each rank by itself */
    SAGOI_ASK,     /* one meeting, in which each rank says whether it can go alone */
    SAGOI_CONVENE, /* together if all ranks come to the call while they wait; each alone if not */
    SAGOI_TOGETHER /* an agreement opens the call, and another one ends it */
} sagoi_company;

typedef enum {
    SAGOI_METHOD_NONE,         /* not decided yet, or nothing is accessed */
    SAGOI_METHOD_PIECE,        /* one system call for one run, without describing the request */
    SAGOI_METHOD_READ_THROUGH, /* one call reads a range, and the runs are copied from there */
    SAGOI_METHOD_MAPPED,       /* runs are copied to or from a mapping of the file */
    SAGOI_METHOD_DIRECT,       /* a system call for each run */
    SAGOI_METHOD_AGGREGATED    /* aggregators collect the runs of all ranks, by a plan */
} sagoi_method;

typedef enum { SAGOI_BY_CALLER, SAGOI_BY_THREAD } sagoi_worker;

typedef enum {
    SAGOI_NOW,
    SAGOI_DEFERRED,   /* copied, and moved later with other calls */
    SAGOI_LOCAL_FIRST /* to or from local storage, and later to the file */
} sagoi_moment;

/* Why a route is what it is; sagoi_route_why() has a sentence for each. */
typedef enum {
    /* Of the company and the moment. */
    SAGOI_WHY_INDEPENDENT,
    SAGOI_WHY_INDEPENDENT_TIER,
    SAGOI_WHY_TIER,
    SAGOI_WHY_DEFERRED,
    SAGOI_WHY_DECLARED,
    SAGOI_WHY_AGREE_ALWAYS,
    SAGOI_WHY_SEVERAL_NODES,
    SAGOI_WHY_NOT_LOCAL,
    SAGOI_WHY_STRATEGY_HINT,
    SAGOI_WHY_AFTER_OTHERS,
    SAGOI_WHY_IN_ORDER,
    SAGOI_WHY_ONE_RANK,
    SAGOI_WHY_TURN,
    SAGOI_WHY_ASK,
    SAGOI_WHY_ALL_WILLING,
    SAGOI_WHY_ANY_UNWILLING,
    SAGOI_WHY_APART,
    SAGOI_WHY_NOTHING_TO_GATHER,
    /* Of the method. */
    SAGOI_WHY_ONE_PIECE,
    SAGOI_WHY_CLOSE_RUNS,
    SAGOI_WHY_MANY_SHORT_RUNS,
    SAGOI_WHY_ACCESSED_AGAIN,
    SAGOI_WHY_NOT_MAPPABLE,
    SAGOI_WHY_HOLES,
    SAGOI_WHY_SYSTEM_CALLS,
    SAGOI_WHY_PLANNED,
    SAGOI_WHY_IN_PLACE,
    SAGOI_WHY_NOTHING,
    /* Of a method that was not chosen. */
    SAGOI_WHY_SEVERAL_RUNS,
    SAGOI_WHY_MEMORY_IN_PIECES,
    SAGOI_WHY_WRITES,
    SAGOI_WHY_LONG_RANGE,
    SAGOI_WHY_GAPS,
    SAGOI_WHY_A_CALL_A_RUN,
    SAGOI_WHY_COUNT
} sagoi_why;

/* What the EQUAL inputs decide: the same on all ranks. */
typedef struct sagoi_route_choice {
    sagoi_company company;
    sagoi_moment moment;
    sagoi_why why;
    bool helpless; /* No rank goes alone willingly in this call, which convenes. */
} sagoi_route_choice;

typedef struct sagoi_route {
    sagoi_route_choice choice;
    /* What this rank's inputs decide. */
    sagoi_method method;
    sagoi_worker worker;
    bool look;      /* The file system has to be asked whether the file has holes, and the method decided again. */
    bool unwilling; /* this rank's part is served better together */
    sagoi_why why;
    int64_t value, limit; /* the number that decided, and the threshold or number beside it */
} sagoi_route;

/* ---- Step 1 ----
 * The functions are inline: a call of a kilobyte notices what a function call costs, and most of their inputs are
 * constants where they are called. */

/* Why the ranks may not go alone, unless an agreement of the call says that nothing is to be gathered;
 * SAGOI_WHY_COUNT: the ranks may go alone.
 *
 * On one node, with a file system of its own, collective calls gain little over each rank's own work, and the
 * smallest calls lose, since an agreement costs more than such a call. */
static inline sagoi_why sagoi_route_why_not_alone(sagoi_route_call call, const sagoi_route_file *file) {
    if (file->agree == SAGOI_AGREE_ALWAYS)
        return SAGOI_WHY_AGREE_ALWAYS;
    if (!file->one_kernel)
        return file->nodes > 1 ? SAGOI_WHY_SEVERAL_NODES : SAGOI_WHY_NOT_LOCAL;
    if (file->strategy != SAGOI_STRATEGY_AUTO)
        return SAGOI_WHY_STRATEGY_HINT;
    if (file->defer || file->tier)
        return SAGOI_WHY_AFTER_OTHERS;
    return call.nonblocking && call.by_extents ? SAGOI_WHY_IN_ORDER : SAGOI_WHY_COUNT;
}

/* Where no rank's runs have gaps, or any runs can be served by a mapping, each rank can go alone whatever the
 * others do. */
static inline bool sagoi_route_serves_any_part(sagoi_route_call call, const sagoi_route_file *file) {
    return file->mappable || !(file->gaps || call.by_extents);
}

static inline sagoi_route_choice sagoi_route_go(sagoi_company company, sagoi_moment moment, sagoi_why why) {
    return (sagoi_route_choice){.company = company, .moment = moment, .why = why};
}

/* A stage before the file takes blocking collective writes. */
static inline bool sagoi_route_is_staged(sagoi_route_call call) {
    return call.type == SAGOI_COLLECTIVE && call.write && !call.nonblocking;
}

__attribute__((always_inline)) static inline sagoi_route_choice sagoi_route_choose(sagoi_route_call call,
                                                                                   const sagoi_route_file *file) {
    if (call.type == SAGOI_INDEPENDENT)
        return file->tier ? sagoi_route_go(SAGOI_ALONE, SAGOI_LOCAL_FIRST, SAGOI_WHY_INDEPENDENT_TIER)
                          : sagoi_route_go(SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_INDEPENDENT);
    if (file->tier && sagoi_route_is_staged(call))
        return sagoi_route_go(SAGOI_TOGETHER, SAGOI_LOCAL_FIRST, SAGOI_WHY_TIER);
    if (file->deferring && sagoi_route_is_staged(call))
        return sagoi_route_go(SAGOI_ALONE, SAGOI_DEFERRED, SAGOI_WHY_DEFERRED);
    if (call.type == SAGOI_DECLARED)
        return sagoi_route_go(SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_DECLARED);
    sagoi_why why = sagoi_route_why_not_alone(call, file);
    bool may = why == SAGOI_WHY_COUNT;
    if (may && sagoi_route_serves_any_part(call, file) && (file->agree == SAGOI_AGREE_TURN || file->ranks == 1))
        return sagoi_route_go(SAGOI_ALONE, SAGOI_NOW, file->ranks == 1 ? SAGOI_WHY_ONE_RANK : SAGOI_WHY_TURN);
    if (call.nonblocking && file->apart)
        return (sagoi_route_choice){.company = SAGOI_CONVENE, .why = SAGOI_WHY_APART, .helpless = !may};
    return may ? sagoi_route_go(SAGOI_ASK, SAGOI_NOW, SAGOI_WHY_ASK)
               : sagoi_route_go(SAGOI_TOGETHER, SAGOI_NOW, why);
}

/* ---- Steps 2 and 3 ---- */

/* Step 2: fills in the whole route but the choice. */
void sagoi_route_part(sagoi_route *route, sagoi_route_call call, const sagoi_route_file *file,
                      const sagoi_route_own *own, const sagoi_route_wanted *wanted);

/* Might the file system's word on holes change what step 2 tells the others?  Then it is asked, and step 2 is
 * taken again. */
bool sagoi_route_asks_for_holes(const sagoi_route *route, const sagoi_route_file *file);

/* The part of step 2 that most calls of most programs need: is one run to be moved at once by one system call? (It
 * is not where copying through a mapping is faster.) */
bool sagoi_route_is_piece(const sagoi_route_file *file, const sagoi_route_own *own, sagoi_memory_form memory,
                          int64_t off, int64_t len);

/* Step 3, of a choice to ask or to convene. */
sagoi_route_choice sagoi_route_answer(bool any_unwilling);

/* Who makes the system calls that move so many bytes.  A nonblocking call must not block, so the I/O thread makes
 * its system calls, unless waking that thread takes longer than they do. */
sagoi_worker sagoi_route_worker(const sagoi_route_own *own, bool nonblocking, int64_t bytes);

/* Who stores or reads so many bytes of a window in a round of a plan. */
sagoi_worker sagoi_route_window_worker(const sagoi_route_own *own, bool nonblocking, const sagoi_plan *plan,
                                       int64_t round, int64_t bytes);

/* Where a rank by itself cuts what it reads of a striped file, `bytes` bytes of `range`, so that two targets work
 * for it at a time: near the middle, at the end of a stripe, and so that the two parts begin at targets that are
 * far from each other in turn.  The range's end: nowhere.  A count of 0 targets: not known. */
int64_t sagoi_route_cut(sagoi_range range, int64_t bytes, int64_t stripe_unit, int64_t stripe_count);
/* May the I/O thread read a part of the file while the caller reads another one?  A ring of io_uring belongs to
 * one thread, and subfiles have a rule of their own of who reads what.  `plain`: the file is one file. */
bool sagoi_route_reads_beside(const sagoi_hints *hints, bool plain);

/* The method of a call that is served together, from EQUAL inputs: its plan, and whether the accessed range is in
 * the file already, without holes. */
sagoi_method sagoi_route_planned(sagoi_strategy strategy, bool map_in_place, bool in_place);

/* Is there nothing to gather between nodes, so that each rank accesses the file by itself and no plan is needed?
 */
bool sagoi_route_gathers_nothing(const sagoi_totals *all, const sagoi_target *target, const sagoi_hints *hints);

/* sharing.c: what ranks of several nodes lose where they access a striped file by themselves, being in each
 * other's way in its stripes, and what gathering costs them; seconds beyond what either way takes. */
typedef struct sagoi_stripe_costs {
    double alone, gathered;
} sagoi_stripe_costs;
sagoi_stripe_costs sagoi_sharing_costs(const sagoi_totals *all, const sagoi_target *target,
                                       const sagoi_hints *hints);
/* The pace of a gathering in which `nodes` nodes took `bytes` bytes from others: the binary logarithm of one
 * node's bytes a second, rounded, so that it is seldom another one the next time; 0: too little to tell.  And the
 * bytes a second of a pace. */
int64_t sagoi_pace_of(int64_t bytes, int64_t nodes, double seconds);
double sagoi_pace_rate(int64_t pace);
static inline bool sagoi_is_shared(sagoi_stripe_costs costs) { return costs.alone > costs.gathered; }

/* Would this rank read what others may still be writing, or the other way round?  Then it waits for them first. */
static inline bool sagoi_route_turns(const sagoi_route_own *own, bool write) {
    return own->last == (write ? SAGOI_LAST_READ : SAGOI_LAST_WRITE) && own->neighbours;
}

/* Would starting a nonblocking call on a fiber take longer than doing it at once? */
static inline bool sagoi_route_is_soon_done(const sagoi_route *route, const sagoi_route_own *own, bool write) {
    return route->choice.company == SAGOI_ALONE && route->worker == SAGOI_BY_CALLER &&
           !sagoi_route_turns(own, write);
}

/* May the call end without an agreement on how it went, where its ranks went alone after they had met?  A
 * nonblocking call that the ranks started together is done on all ranks at once, so they agree. */
bool sagoi_route_leaves_alone(sagoi_route_call call, const sagoi_route_file *file);
/* What this rank knows of a planned read once it has got its data. */
typedef struct sagoi_answers {
    bool failed;     /* the call failed on this rank */
    bool refused;    /* an aggregator could not read */
    bool remembered; /* the aggregators knew from an earlier call what each rank reads */
    bool from_all;   /* every rank gets data of every aggregator, as the call before with this plan showed */
    bool staged;     /* some rank's memory is a device's */
} sagoi_answers;
/* May a read that repeats a plan end without such an agreement?  Where each rank gets data of each aggregator, a
 * rank hears of each whether it could read, and nothing else can fail on one rank alone.  An aggregator that
 * cannot read tells so instead of sending data, to all ranks or to none, since it reads once: so if one could not,
 * all ranks hear of that, and meet. */
bool sagoi_route_ends_answered(sagoi_route_call call, const sagoi_plan *plan, const sagoi_answers *answers);
/* The same of a call with a plan: between nodes, where each rank has done its part by itself. */
bool sagoi_route_leaves_planned_alone(sagoi_route_call call, const sagoi_route_file *file,
                                      sagoi_strategy strategy);

/* Does a call whose ranks are about to meet need the file's size?  `known`: the file is known to reach as far as
 * this rank's part; `follows`: this rank learns in the meeting whether the ranks read or write. */
bool sagoi_route_needs_size(sagoi_route_call call, const sagoi_route_file *file, const sagoi_route_own *own,
                            bool known, bool follows);

/* May a planned read that no rank has asked the file's size for rely on what all ranks know of the file, which is
 * that it reaches to `known` at least?  The known end needs no question, since whoever cuts the file elsewhere has
 * to sync before this job may notice, and a sync makes the end unknown.  `high`: the end of what is read;
 * `staged`: some rank's memory is a device's, and then the file is asked. */
bool sagoi_route_trusts_end(int64_t known, int64_t high, bool staged);
/* Would a read with this plan notice that the file ends earlier than was known, before any rank's buffer is
 * touched behind that end?  Aggregators notice if they keep back what they have read, as they do where the replies
 * of the call are known beforehand: `remembered` says that they know from an earlier call what each rank reads. */
bool sagoi_route_notices_end(const sagoi_plan *plan, bool remembered);

/* Must a call do without one-sided movement that a hint asks for?  The fences of one-sided movement wait inside
 * MPI, where a nonblocking call must not wait.  One-sided movement also hands the caller's memory to MPI, which
 * may not reach the memory of a device (`staged`). */
bool sagoi_route_forgoes_rma(const sagoi_hints *hints, bool nonblocking, bool staged);

/* Which holes of a window are read and written back. */
typedef struct sagoi_sieved {
    int64_t gap;  /* holes of at most so many bytes; 0: none */
    int64_t runs; /* only where at least so many runs become one */
} sagoi_sieved;
/* `exclusive`: no other call of the job can write to the file meanwhile. */
sagoi_sieved sagoi_route_sieved(const sagoi_hints *hints, const sagoi_plan *plan, bool exclusive);

/* The number of parts in which a step of `nvars` declared variables goes; 1: the step is one blocking call.  With
 * sago_nonblocking=apart there are no parts: a part is a nonblocking call, for which ranks then need not come
 * together, while all ranks move a step together. */
int64_t sagoi_route_step_parts(const sagoi_route_file *file, const sagoi_hints *hints, int64_t nvars);

/* ---- Data in local storage ---- */

/* The writes that wait in local storage. */
typedef struct sagoi_waiting {
    int64_t calls; /* collective calls in the log */
    int64_t own;   /* independent calls of this rank, whose order beside other ranks' calls nobody knows */
    bool unruled;  /* the file's subfiles have no rule yet, so nobody knows where bytes go */
} sagoi_waiting;
/* May data in local storage go to the file in the background, without waiting for a merge? */
bool sagoi_route_may_drain(const sagoi_hints *hints, const sagoi_waiting *waiting);
/* Does this rank's part of a call, `runs` runs in so many streams, go in the background?  It does if ranks would
 * write such runs by themselves in other calls, too. */
bool sagoi_route_drains(int64_t streams, int64_t bytes, int64_t runs);

/* May this rank access the file before it meets the others?  Then one meeting tells all of them both that nothing
 * was to be gathered and how it went.  Whatever the others have to do, this is correct: if some rank has not gone
 * first, the call goes on as if nobody had, and what was moved is moved again.  So LOCAL inputs may decide. */
bool sagoi_route_may_go_first(sagoi_route_call call, const sagoi_route_file *file); /* whatever the rank wants */
bool sagoi_route_goes_first(sagoi_route_call call, const sagoi_route_file *file, const sagoi_route_own *own,
                            const sagoi_route_wanted *wanted);
/* The ranks have met: the next call in this direction is taken to be alike. */
void sagoi_route_set_precedent(sagoi_route_own *own, bool write, bool alone, int64_t bytes);

/* Seconds that waiting for others is worth to a nonblocking call that convenes: half of what going alone is taken
 * to cost, so that nobody loses much by waiting in vain.  Between nodes only a message could tell whether the
 * others have done what they started before, so a rank that turns has more patience. */
double sagoi_route_worth(const sagoi_route_file *file, const sagoi_route_own *own, bool write,
                         const sagoi_route_wanted *wanted);
/* A rank has waited for others in vain: the next time it has less patience. */
void sagoi_route_lose_patience(sagoi_route_own *own);

/* This rank has accessed [low, high), and may do so again. */
void sagoi_route_note(sagoi_route_own *own, int64_t low, int64_t high);
/* The same of one run, which matters only if the run is long enough to be mapped the next time. */
static inline void sagoi_route_note_piece(sagoi_route_own *own, int64_t off, int64_t len) {
    if (len >= SAGOI_LEAST_MAPPED)
        sagoi_route_note(own, off, off + len);
}

/* Are the runs long enough for each rank to write its own?  Then gathering would only add a copy. */
static inline bool sagoi_route_are_long(int64_t bytes, int64_t runs) { return bytes / runs >= SAGOI_LONG_RUN; }

/* A method of a rank alone, by the numbers that sagoi_route_part() decides with. */
typedef struct sagoi_weighed {
    bool possible;
    sagoi_why why;
    int64_t value, limit;
} sagoi_weighed;
sagoi_weighed sagoi_route_weigh(sagoi_method method, sagoi_route_call call, const sagoi_route_file *file,
                                const sagoi_route_own *own, const sagoi_route_wanted *wanted);

/* ---- Printing ---- */
const char *sagoi_company_name(sagoi_company company);
const char *sagoi_method_name(sagoi_method method);
const char *sagoi_worker_name(sagoi_worker worker);
const char *sagoi_moment_name(sagoi_moment moment);
enum { SAGOI_ROUTE_TEXT_MAX = 512 };
/* "alone, one piece, by the caller, now" */
void sagoi_route_name(const sagoi_route *route, char text[SAGOI_ROUTE_TEXT_MAX]);
/* A sentence with its numbers. */
void sagoi_route_why(sagoi_why why, int64_t value, int64_t limit, char text[SAGOI_ROUTE_TEXT_MAX]);
/* The decision of a call in which nothing is gathered, as the reasons of a plan would say it. */
const char *sagoi_route_ungathered(void);

#endif

/* The aggregated strategy: all ranks fill the windows of every domain, and one rank stores them.  Each aggregator
 * has two windows, so that one fills while the I/O thread writes the other (000, Algorithm 3).  Reading runs the
 * same rounds with the copies in the opposite direction, and reads ahead. */
#include <string.h>

#include "base/checked.h"
#include "engine/collective.h"
#include "machine/memory_kind.h"
#include "move/exchange.h"
#include "move/rma.h"

/* Places in the node's segment, whose layout plan.h describes. */
typedef struct places {
    char *windows, *marks, *staging;
    sagoi_packet *packets;
    int64_t window_bytes, marks_bytes;
} places;

/* One aggregated call of one rank. */
typedef struct job {
    sagoi_call *call;
    sago_file *file;
    const sagoi_plan *plan;
    sagoi_request request; /* in the coordinates of the plan, while the call runs */
    places at;
    int64_t domain; /* the domain that this rank aggregates; -1: none */
    int64_t slot;
    sagoi_task tasks[2]; /* one for each window */
    bool started[2];
    bool unread;              /* this rank's window could not be read, or the file ends before its end */
    sagoi_exchange *exchange; /* several nodes, packed messages */
    sagoi_rma *rma;           /* several nodes, one-sided */
    sago_status status;
} job;

sago_status sagoi_reserve_windows(sago_file *file, const sagoi_plan *plan) {
    sagoi_team *team = file->team;
    int64_t bytes = sagoi_plan_node_segment_bytes(plan, team->node, team->local_size);
    int64_t planned = plan->fast_memory ? SAGOI_KIND_BANDWIDTH : SAGOI_KIND_ANY;
    int64_t kind = file->memory_kind != SAGOI_KIND_ANY ? file->memory_kind : planned;
    if (team->windows.kind != kind) /* the plan before wanted another kind of memory */
        sagoi_segment_release(&team->windows);
    bool prefers = kind != SAGOI_KIND_ANY && sagoi_memory_prefer(kind);
    sago_status status = sagoi_segment_reserve(team, bytes, &team->windows);
    if (prefers)
        sagoi_memory_prefer_end();
    team->windows.kind = kind;
    int64_t share = team->windows.bytes / team->local_size;
    sagoi_budget_count(&file->budget, share - file->windows_share);
    file->windows_share = share;
    return status;
}

static void find_places(const sago_file *file, const sagoi_plan *plan, places *at) {
    int64_t slots = sagoi_plan_slots(plan, file->team->node), ranks = file->team->local_size;
    char *next = file->team->windows.base + 4096;
    at->window_bytes = sagoi_round_up(plan->window, 4096);
    at->marks_bytes = plan->write && !plan->dense ? sagoi_round_up(plan->window / 8, 4096) : 0;
    at->windows = next;
    next += slots * 2 * at->window_bytes;
    at->marks = next;
    next += slots * 2 * at->marks_bytes;
    at->staging = next;
    next += plan->nodes > 1 ? ranks * 2 * sagoi_round_up(plan->staging, 4096) : 0;
    at->packets = (sagoi_packet *)next;
}

static char *window_of(const job *work, int64_t slot, int64_t round) {
    return work->at.windows + (slot * 2 + (round & 1)) * work->at.window_bytes;
}

static uint64_t *marks_of(const job *work, int64_t slot, int64_t round) {
    if (work->at.marks_bytes == 0)
        return NULL;
    return (uint64_t *)(work->at.marks + (slot * 2 + (round & 1)) * work->at.marks_bytes);
}

static void note(job *work, sago_status status) {
    if (!work->status)
        work->status = status;
}

/* ---- Storing ---- */

/* Which holes of a window are read and written back. */
static sagoi_sieve sieve_of(const job *work) {
    const sagoi_sieved sieved = sagoi_route_sieved(&work->file->hints, work->plan, work->call->exclusive);
    return (sagoi_sieve){.gap = sieved.gap, .runs = sieved.runs};
}

/* Begins to store this rank's window of the round, or to read it.  A window that may lack data is not stored. */
static void start_io(job *work, int64_t round) {
    int64_t start, end;
    if (work->status && work->plan->write)
        return;
    if (work->domain < 0 || !sagoi_plan_window(work->plan, work->domain, round, &start, &end))
        return;
    sagoi_task *task = &work->tasks[round & 1];
    *task = (sagoi_task){.kind = work->plan->write ? SAGOI_TASK_WRITE : SAGOI_TASK_READ,
                         .store = work->file->store,
                         .buf = window_of(work, work->slot, round),
                         .off = start + work->call->shift,
                         .len = end - start,
                         .marks = work->plan->write ? marks_of(work, work->slot, round) : NULL,
                         .sieve = sieve_of(work)};
    work->started[round & 1] = true;
    const double began = sagoi_now();
    sagoi_task_begin(work->file, task,
                     sagoi_route_window_worker(&work->file->own, work->call->composed->request.nonblocking,
                                               work->plan, round, end - start));
    /* The caller may have done the task itself. */
    (void)sagoi_phase_end(&work->file->stats, SAGO_PHASE_STORE, began);
}

/* Waits until the task of the window that this round uses is done. */
static void wait_io(job *work, int64_t round) {
    if (!work->started[round & 1])
        return;
    double start = sagoi_now();
    const sagoi_task *task = &work->tasks[round & 1];
    sago_status status = sagoi_task_finish(work->file, &work->tasks[round & 1]);
    note(work, status);
    if (!work->plan->write && task->bytes < task->len)
        work->call->cut = true;
    work->unread = status || (work->call->cut && work->call->trusted);
    (void)sagoi_phase_end(&work->file->stats, SAGO_PHASE_STORE, start);
    work->started[round & 1] = false;
}

static void clear_marks(job *work, int64_t round) {
    if (work->domain >= 0 && work->at.marks_bytes > 0)
        memset(marks_of(work, work->slot, round), 0, (size_t)work->at.marks_bytes);
}

/* ---- Copying inside the node ---- */

/* Copies this rank's runs to or from the windows of its own node.  The ranks begin with different windows and
 * places. */
static void copy_local(job *work, int64_t round) {
    const sagoi_plan *plan = work->plan;
    int64_t moved = 0, start, end;
    double began = sagoi_now();
    for (int64_t i = 0; i < plan->ndomains; i++) {
        int64_t d = (i + work->file->team->local_rank) % plan->ndomains;
        const sagoi_domain *domain = &plan->domains[d];
        if (domain->node != work->file->team->node || !sagoi_plan_window(plan, d, round, &start, &end))
            continue;
        moved += sagoi_request_copy(&work->request, start, end, window_of(work, domain->slot, round),
                                    plan->write ? marks_of(work, domain->slot, round) : NULL);
    }
    (void)sagoi_phase_end(&work->file->stats, SAGO_PHASE_GATHER, began);
    sagoi_phase_count(&work->file->stats, SAGO_PHASE_GATHER, moved, 0, 0);
}

static void wait_for_node(job *work) {
    double start = sagoi_now();
    note(work, sagoi_gate(work->file->team));
    (void)sagoi_phase_end(&work->file->stats, SAGO_PHASE_WAIT, start);
}

/* Waits until all windows of the node are read. */
static void wait_for_readers(job *work) {
    int64_t unread = 0;
    double start = sagoi_now();
    note(work, sagoi_gate_sum(work->file->team, work->unread, &unread));
    work->call->refused = work->call->refused || unread > 0;
    (void)sagoi_phase_end(&work->file->stats, SAGO_PHASE_WAIT, start);
}

/* ---- Between nodes ---- */

static bool own_window(const job *work, int64_t round, sagoi_window *window) {
    if (work->domain < 0 || !sagoi_plan_window(work->plan, work->domain, round, &window->start, &window->end))
        return false;
    window->place = window_of(work, work->slot, round);
    window->marks = work->plan->write ? marks_of(work, work->slot, round) : NULL;
    window->unread = work->unread && !work->plan->write;
    return true;
}

/* Begins to send, or to ask for, the data of this round that crosses nodes. */
static void start_between_nodes(job *work, int64_t round) {
    if (work->exchange)
        sagoi_exchange_start(work->exchange, round);
}

/* Lets other nodes fill this rank's window, or read from it. */
static void open_window(job *work, int64_t round) {
    sagoi_window window;
    if (work->exchange)
        sagoi_exchange_open(work->exchange, round, own_window(work, round, &window) ? &window : NULL);
}

/* Finishes the round between nodes; when writing, all ranks of the node meet at a gate in it. */
static void move_between_nodes(job *work, int64_t round) {
    if (work->exchange)
        note(work, sagoi_exchange_round(work->exchange, round));
    else if (work->rma)
        note(work, sagoi_rma_round(work->rma, round));
    else if (work->plan->write)
        wait_for_node(work);
}

/* ---- Rounds ---- */

/* Measures how fast data is gathered: in the first round nothing is stored yet. */
static void time_first_round(job *work, int64_t wire_bytes, double start) {
    work->call->sent = work->file->stats.wire_bytes - wire_bytes;
    work->call->sending = sagoi_now() - start;
}

/* All ranks left the call before together, so no rank uses the windows now. */
static void write_rounds(job *work) {
    if (work->at.marks_bytes > 0) {
        clear_marks(work, 0);
        clear_marks(work, 1);
        wait_for_node(work); /* all marks are clear now */
    }
    const int64_t wire_bytes = work->file->stats.wire_bytes;
    const double start = sagoi_now();
    for (int64_t round = 0; round < work->plan->rounds; round++) {
        sagoi_record_round(&work->file->stats, round);
        open_window(work, round);
        start_between_nodes(work, round);
        copy_local(work, round);
        wait_io(work, round + 1); /* frees the other window, for the round that begins when all ranks have met */
        if (round > 0)
            clear_marks(work, round + 1);
        move_between_nodes(work, round);
        if (round == 0)
            time_first_round(work, wire_bytes, start);
        start_io(work, round);
    }
}

static void read_rounds(job *work) {
    start_io(work, 0);
    for (int64_t round = 0; round < work->plan->rounds; round++) {
        sagoi_record_round(&work->file->stats, round);
        start_between_nodes(work, round);
        wait_io(work, round);
        wait_for_readers(work); /* this window is full, and no rank uses the other one any more */
        if (round + 1 < work->plan->rounds)
            start_io(work, round + 1);
        open_window(work, round);
        if (!work->call->refused) /* else the file ends earlier, or could not be read */
            copy_local(work, round);
        move_between_nodes(work, round);
    }
}

/* ---- Setting up ---- */

static void find_role(job *work) {
    const sagoi_team *team = work->file->team;
    int64_t slots = sagoi_plan_slots(work->plan, team->node);
    work->domain = -1;
    for (int64_t d = 0; d < work->plan->ndomains; d++) {
        const sagoi_domain *domain = &work->plan->domains[d];
        if (domain->node == team->node &&
            sagoi_slot_rank(team->local_size, slots, domain->slot) == team->local_rank) {
            work->domain = d;
            work->slot = domain->slot;
        }
    }
}

/* Moves the request by so many bytes.  A plan has the coordinates of the call that it was made for, so the request
 * goes there, and comes back afterwards. */
static void shift_request(job *work, int64_t by) {
    sagoi_request *request = &work->call->composed->request;
    for (int64_t i = 0; i < request->nstreams; i++)
        request->streams[i].file.base += by;
    request->low += by;
    request->high += by;
    if (request->direction == SAGOI_FROM_FILE)
        request->limit += by;
    work->request = *request;
}

void sagoi_drop_exchanges(sago_file *file) {
    sagoi_cache_drop_exchanges(&file->cache);
    sagoi_mailroom_cleanup(&file->mailroom, &file->budget);
}

/* A relay and a rank that merges need much memory, so only one exchange of the file keeps it. */
static sago_status take_exchange(job *work, const sagoi_exchange_setup *setup) {
    sagoi_exchange **exchange = &work->call->entry->exchange;
    sago_status status = SAGO_OK;
    if (!*exchange && (work->plan->layers > 2 || work->plan->merge))
        sagoi_drop_exchanges(work->file);
    if (!*exchange)
        status = sagoi_exchange_create(setup, exchange);
    if (status)
        return status;
    work->exchange = *exchange;
    sagoi_exchange_begin(work->exchange, setup);
    return SAGO_OK;
}

/* Makes what one-sided movement needs, on all ranks alike, where the plan is new or its windows were put aside. */
static sago_status take_rma(job *work, const sagoi_rma_setup *setup, sago_status before) {
    sagoi_cache_entry *entry = work->call->entry;
    sago_status status = before;
    if (!entry->rma) {
        status = sagoi_team_need_own(work->file->team);
        if (!status)
            status = sagoi_rma_create(setup, before, &work->file->cache.aside, &entry->rma);
    }
    if (status)
        return status;
    work->rma = entry->rma;
    sagoi_rma_begin(work->rma, setup);
    return SAGO_OK;
}

/* Opens the exchange between nodes, or uses the one that an earlier call with the same plan has left.  `before` is
 * this rank's status so far. */
static sago_status open_exchange(job *work, sago_status before) {
    sago_file *file = work->file;
    sagoi_cache_entry *entry = work->call->entry;
    int64_t first, reach = sagoi_plan_reach(work->plan, file->team->node, &first);
    sagoi_exchange_setup setup = {.team = file->team,
                                  .plan = work->plan,
                                  .request = &work->request,
                                  .received = &entry->received,
                                  .remembered = work->call->remembered,
                                  .staging = work->at.staging,
                                  .packets = work->at.packets,
                                  .first = first,
                                  .reach = reach,
                                  .domain = work->domain,
                                  .room = &file->mailroom,
                                  .stats = &file->stats,
                                  .budget = &file->budget};
    if (work->plan->move == SAGOI_MOVE_RMA) {
        sagoi_rma_setup one_sided = {setup, work->at.windows, work->at.window_bytes};
        return take_rma(work, &one_sided, before);
    }
    if (before)
        return before;
    if (!setup.remembered)
        sagoi_remembered_cleanup(&entry->received, &file->budget);
    return take_exchange(work, &setup);
}

/* Is everything that the plan needs there from an earlier call?  Then nothing can fail, and the ranks need not
 * agree. */
static bool all_is_there(const job *work) {
    const sagoi_cache_entry *entry = work->call->entry;
    bool buffers = work->plan->nodes == 1 || entry->exchange || entry->rma;
    return work->call->hit && buffers;
}

static sago_status set_up(job *work) {
    bool sure = all_is_there(work);
    sago_status status = sagoi_reserve_windows(work->file, work->plan);
    find_places(work->file, work->plan, &work->at);
    find_role(work);
    shift_request(work, -work->call->shift);
    if (work->plan->nodes > 1)
        status = open_exchange(work, status);
    /* From here on all ranks go through all rounds, whatever fails. */
    return sure && !status ? SAGO_OK : sagoi_agree_status(work->file->team, status);
}

static void finish(job *work) {
    for (int64_t parity = 0; parity < 2; parity++)
        wait_io(work, parity);
    sagoi_exchange_end end = {0};
    if (work->exchange)
        note(work, sagoi_exchange_finish(work->exchange, &end));
    work->call->forgetful = end.forgetful;
    work->call->refused = work->call->refused || end.refused;
    work->call->answered = work->call->remembered ? work->call->entry->answered : end.reached_all;
}

sago_status sagoi_run_aggregated(sagoi_call *call) {
    job work = {.call = call, .file = call->file, .plan = &call->entry->plan};
    call->remembered = call->hit && call->entry->received.complete;
    call->refused = false;
    sago_status status = set_up(&work);
    if (!status) {
        if (work.plan->write)
            write_rounds(&work);
        else
            read_rounds(&work);
        finish(&work);
        status = work.status;
    }
    shift_request(&work, work.call->shift);
    return status;
}

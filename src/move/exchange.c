/* The passes of a round.  A rank that waits for a message also handles the messages that come in meanwhile: an
 * aggregator keeps emptying its inbox while it waits at the gate, for its own messages or for its disk.  So two
 * nodes that wait for each other's aggregators always make progress.  A relay makes progress, too: it waits only
 * for messages that are certain to be sent, and for aggregators that are certain to receive. */
#include "move/exchange.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/fiber.h"
#include "move/calls.h"
#include "move/mail.h"

struct sagoi_exchange {
    sagoi_exchange_setup setup;
    sagoi_outbox outbox;
    sagoi_inbox inbox;
    sagoi_relay *relay;   /* what this rank sends on for others; NULL: nothing */
    int32_t *aggregators; /* for each domain: the rank of its aggregator */
    sagoi_packer packer;
    char **in_place;    /* the packer's, for each domain in reach; NULL: another rank sends for this one */
    sagoi_packer began; /* the packer as it was when the current pass began */
    sagoi_pass pass;    /* the current pass */
    bool started;       /* the current pass was begun, and has to be finished */
    int64_t switches;   /* context switches of this thread when the wait began */
    bool crowded;       /* other threads want this rank's core while it waits */
    int64_t most;       /* largest size of one packet */
    int64_t passes;     /* passes so far; the two staging areas are used in turn */
    int64_t in_round;   /* passes in this round */
    sagoi_exchange_end end;
    sago_status status;
};

static bool is_reading(const sagoi_exchange *exchange) {
    return exchange->setup.request->direction == SAGOI_FROM_FILE;
}

static bool poll(sagoi_exchange *exchange) {
    bool came = sagoi_inbox_poll(&exchange->inbox);
    return sagoi_relay_poll(exchange->relay) || came;
}

static void note(sagoi_exchange *exchange, sago_status status) {
    if (!exchange->status)
        exchange->status = status;
}

/* A rank that sends from its own memory also has to call MPI for its messages to make progress. */
static bool idle(void *arg) {
    sagoi_exchange *exchange = arg;
    bool done = false;
    if (exchange->in_place && exchange->outbox.nrequests > 0 && !exchange->inbox.busy)
        note(exchange, sagoi_outbox_test(&exchange->outbox, &done));
    return poll(arg) || done;
}

void sagoi_find_aggregators(const sagoi_team *team, const sagoi_plan *plan, int32_t *aggregators) {
    for (int64_t d = 0; d < plan->ndomains; d++) {
        const sagoi_domain *domain = &plan->domains[d];
        int64_t ranks = sagoi_team_node_ranks(team, domain->node), slots = sagoi_plan_slots(plan, domain->node);
        aggregators[d] = sagoi_team_rank_of(team, domain->node, sagoi_slot_rank(ranks, slots, domain->slot));
    }
}

/* A message must hold the packets of all ranks of the largest group of any node. */
static int64_t largest_packet(const sagoi_exchange_setup *setup) {
    int64_t q = setup->team->local_size, c = sagoi_min(setup->plan->local_aggregators, q);
    int64_t group = sagoi_div_up(q, c);
    int64_t head = (int64_t)sizeof(sagoi_mail_head) + group * (int64_t)sizeof(sagoi_mail_packet);
    if (setup->plan->layers > 2) /* the message may be in a bundle of its own */
        head += (int64_t)(sizeof(sagoi_mail_head) + sizeof(sagoi_mail_entry));
    return (setup->plan->message - head) / group;
}

sago_status sagoi_exchange_create(const sagoi_exchange_setup *setup, sagoi_exchange **created) {
    sagoi_exchange *exchange = sagoi_budget_alloc(setup->budget, sizeof *exchange);
    if (!exchange)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for an exchange");
    exchange->setup = *setup;
    exchange->aggregators = sagoi_budget_alloc(setup->budget, setup->plan->ndomains * (int64_t)sizeof(int32_t));
    exchange->most = largest_packet(setup);
    bool own = sagoi_mail_own(setup);
    if (own)
        exchange->in_place = sagoi_budget_alloc(setup->budget, setup->reach * (int64_t)sizeof(char *));
    bool ok = exchange->aggregators && (exchange->in_place || !own);
    sago_status status = ok ? SAGO_OK : sagoi_fail(SAGO_ERR_MEMORY, "no memory for an exchange");
    if (!status) {
        sagoi_find_aggregators(setup->team, setup->plan, exchange->aggregators);
        status = sagoi_outbox_init(&exchange->outbox, &exchange->setup, exchange->aggregators);
    }
    if (!status)
        status = sagoi_inbox_init(&exchange->inbox, &exchange->setup);
    if (!status)
        status = sagoi_relay_create(&exchange->setup, exchange->aggregators, &exchange->relay);
    if (status) {
        sagoi_exchange_destroy(&exchange);
        return status;
    }
    *created = exchange;
    return SAGO_OK;
}

void sagoi_exchange_begin(sagoi_exchange *exchange, const sagoi_exchange_setup *setup) {
    exchange->setup = *setup;
    exchange->packer = (sagoi_packer){.plan = setup->plan,
                                      .request = setup->request,
                                      .node = setup->team->node,
                                      .first = setup->first,
                                      .reach = setup->reach,
                                      .in_place = exchange->in_place,
                                      .code = !setup->remembered || setup->plan->merge};
    exchange->status = SAGO_OK;
    exchange->started = false;
    exchange->outbox.in_place = exchange->in_place;
    sagoi_inbox_begin(&exchange->inbox);
    exchange->outbox.forgetful = exchange->outbox.refused = false;
    exchange->end = (sagoi_exchange_end){0};
    if (setup->domain >= 0 || exchange->relay || (exchange->in_place && exchange->crowded)) {
        setup->team->idle = idle;
        setup->team->idle_arg = exchange;
    }
}

void sagoi_exchange_destroy(sagoi_exchange **exchange) {
    sagoi_exchange *gone = *exchange;
    if (!gone)
        return;
    sagoi_budget *budget = gone->setup.budget;
    gone->setup.team->idle = NULL;
    *exchange = NULL;
    if (sagoi_is_broken(gone->setup.team)) { /* messages may still come, so their memory is kept */
        gone->setup.room->leaked = true;
        if (!gone->setup.plan->write)
            sagoi_outbox_abandon(&gone->outbox);
        return;
    }
    sagoi_relay_destroy(&gone->relay);
    sagoi_inbox_cleanup(&gone->inbox);
    sagoi_outbox_cleanup(&gone->outbox);
    sagoi_budget_free(budget, gone->in_place);
    sagoi_budget_free(budget, gone->aggregators);
    sagoi_budget_free(budget, gone);
}

/* Turns of a wait in which nothing comes before the rank sleeps.  Looking costs system calls, and where there are
 * more processes than cores, others make better use of that time. */
enum { FEW_TURNS = 20, MANY_TURNS = 300 };

static int64_t thread_switches(void) {
    struct rusage usage = {0};
    (void)getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* A rank that yields turn after turn without being switched away has the core for itself. */
static void look_around(sagoi_exchange *exchange, int64_t turns) {
    if (turns == 1)
        exchange->switches = thread_switches();
    else if (turns == FEW_TURNS)
        exchange->crowded = thread_switches() - exchange->switches > FEW_TURNS / 4;
}

/* Handles what has come, and gives up the core: the longer nothing comes, the longer.  false: the team is broken,
 * and nothing will come. */
static bool pause_briefly(sagoi_exchange *exchange, sagoi_vigil *vigil) {
    bool first = vigil->turns == 0, busy = poll(exchange);
    if (!sagoi_vigil_keep(exchange->setup.team, vigil, busy)) {
        note(exchange, sagoi_broken(exchange->setup.team));
        return false;
    }
    if (sagoi_give_way(busy || first))
        return true;
    look_around(exchange, vigil->turns);
    if (vigil->turns > (exchange->crowded ? FEW_TURNS : MANY_TURNS))
        (void)usleep(20);
    else if (vigil->turns > 0)
        (void)sched_yield();
    return true;
}

static void wait_outbox(sagoi_exchange *exchange) {
    bool done = false;
    double start = sagoi_now();
    sagoi_vigil vigil = {0};
    for (;;) {
        sago_status status = sagoi_outbox_test(&exchange->outbox, &done);
        note(exchange, status);
        if (status || done || !pause_briefly(exchange, &vigil))
            break;
    }
    (void)sagoi_phase_end(exchange->setup.stats, SAGO_PHASE_EXCHANGE, start);
}

/* Waits until all messages of the round to this rank have come, and what this rank relays has been sent on. */
static void wait_inbox(sagoi_exchange *exchange) {
    double start = sagoi_now();
    sago_status relayed = SAGO_OK;
    sagoi_vigil vigil = {0};
    while (!(sagoi_inbox_done(&exchange->inbox) || exchange->inbox.dead) ||
           !sagoi_relay_done(exchange->relay, &relayed))
        if (!pause_briefly(exchange, &vigil))
            break;
    note(exchange, exchange->inbox.status);
    note(exchange, relayed);
    (void)sagoi_phase_end(exchange->setup.stats, SAGO_PHASE_EXCHANGE, start);
}

/* Packs this rank's next pass; true: another pass follows. */
static bool pack_pass(sagoi_exchange *exchange, int parity) {
    const sagoi_exchange_setup *setup = &exchange->setup;
    double start = sagoi_now();
    int64_t rank = setup->team->local_rank;
    bool more = sagoi_pack(&exchange->packer, sagoi_staging_of(setup, rank, parity), setup->plan->staging,
                           exchange->most, sagoi_packets_of(setup, rank, parity));
    (void)sagoi_phase_end(setup->stats, SAGO_PHASE_GATHER, start);
    return more;
}

/* Waits for the other ranks of the node; true: it is true of some rank. */
static bool is_true_of_any(sagoi_exchange *exchange, bool mine) {
    int64_t any = 0;
    double start = sagoi_now();
    note(exchange, sagoi_gate_sum(exchange->setup.team, mine, &any));
    (void)sagoi_phase_end(exchange->setup.stats, SAGO_PHASE_WAIT, start);
    return any > 0;
}

static void next_pass(sagoi_exchange *exchange, int64_t round) {
    exchange->pass = (sagoi_pass){round, exchange->in_round++, (int)(exchange->passes++ & 1), false};
}

/* Packs and sends the next pass.  A rank that sends for itself waits for no other rank; else the local aggregator
 * sends when all ranks that it serves have packed. */
static void begin_pass(sagoi_exchange *exchange, int64_t round) {
    next_pass(exchange, round);
    exchange->began = exchange->packer;
    bool more = pack_pass(exchange, exchange->pass.parity);
    if (!is_reading(exchange))
        wait_outbox(exchange); /* the messages of the pass before, which were sent from the other staging area */
    exchange->pass.last = !(exchange->in_place ? more : is_true_of_any(exchange, more));
    if (is_reading(exchange) && !exchange->setup.remembered)
        exchange->end.reached_all = exchange->pass.number == 0 && exchange->pass.last &&
                                    sagoi_outbox_reaches_all(&exchange->outbox, &exchange->pass);
    note(exchange, sagoi_outbox_send(&exchange->outbox, &exchange->pass));
}

/* Reading: waits until all replies have come, and copies them to memory. */
static void end_pass(sagoi_exchange *exchange) {
    const sagoi_exchange_setup *setup = &exchange->setup;
    int64_t rank = setup->team->local_rank;
    int parity = exchange->pass.parity;
    wait_outbox(exchange);
    bool refused = exchange->outbox.refused;
    if (!exchange->in_place) {
        note(exchange, sagoi_outbox_deal(&exchange->outbox, &exchange->pass));
        refused = is_true_of_any(exchange, refused);
    }
    exchange->end.refused = exchange->end.refused || refused;
    if (refused)
        return;
    double start = sagoi_now();
    sagoi_unpack(&exchange->began, sagoi_staging_of(setup, rank, parity), sagoi_packets_of(setup, rank, parity));
    (void)sagoi_phase_end(setup->stats, SAGO_PHASE_GATHER, start);
}

void sagoi_exchange_start(sagoi_exchange *exchange, int64_t round) {
    sagoi_packer_start(&exchange->packer, round);
    exchange->in_round = 0;
    exchange->started = exchange->in_place != NULL;
    if (exchange->started)
        begin_pass(exchange, round);
}

void sagoi_exchange_open(sagoi_exchange *exchange, int64_t round, const sagoi_window *window) {
    sagoi_inbox_open(&exchange->inbox, round, window);
    sagoi_relay_open(exchange->relay, round);
}

/* Called where no rank waited in the passes: waits until all ranks of the node have put their own bytes into the
 * node's windows.  The wait for messages comes first, since they make progress only while this rank calls MPI. */
static void wait_for_writers(sagoi_exchange *exchange) {
    wait_outbox(exchange);
    (void)is_true_of_any(exchange, false);
}

sago_status sagoi_exchange_round(sagoi_exchange *exchange, int64_t round) {
    bool reading = is_reading(exchange);
    do {
        if (!exchange->started)
            begin_pass(exchange, round);
        exchange->started = false;
        if (reading)
            end_pass(exchange);
    } while (!exchange->pass.last && !sagoi_is_broken(exchange->setup.team));
    wait_inbox(exchange);
    if (exchange->in_place && !reading)
        wait_for_writers(exchange);
    return exchange->status;
}

sago_status sagoi_exchange_finish(sagoi_exchange *exchange, sagoi_exchange_end *end) {
    wait_outbox(exchange);
    exchange->setup.team->idle = NULL;
    if (!exchange->setup.remembered)
        sagoi_remembered_sort(exchange->setup.received);
    *end = exchange->end;
    end->forgetful = exchange->outbox.forgetful || (exchange->setup.domain >= 0 && exchange->setup.received->full);
    return exchange->status;
}

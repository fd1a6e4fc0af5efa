/* A relay, the third layer of aggregation: collects the bundles that neighbouring nodes have for aggregators
 * elsewhere, sends each aggregator one bundle with all that there is for it and, when reading, deals the
 * replies out again.
 *
 * A bundle stays in the slot that received it and is sent on from there: a datatype lists the pieces for one
 * aggregator, and that aggregator's reply is received straight into the places where the neighbours' replies
 * are put together.
 *
 * The relay sends on everything it holds once every neighbour has sent a pass, or no slot is free.  While that
 * is under way, and while replies come and are dealt out, the free slots receive further bundles.  A neighbour
 * that reads waits for the replies of its pass before it begins the next pass, so no rank waits for a neighbour
 * that waits for this relay. */
#include <string.h>

#include "base/checked.h"
#include "move/calls.h"
#include "move/mail.h"

typedef enum { FREE, RECEIVING, HELD, GOING } slot_state;

typedef struct relay_slot {
    char *message, *reply; /* plan->message bytes each; no reply when writing */
    int64_t reply_bytes;
    int64_t child; /* whose it is */
    uint32_t number;
    slot_state state;
} relay_slot;

/* A local aggregator of a neighbouring node, or of this node. */
typedef struct child {
    int64_t node;
    int32_t rank;
    bool more;  /* has further bundles in this round */
    bool ended; /* has ended a pass since the relay last sent everything on */
} child;

/* One message for one domain, in a slot. */
typedef struct item {
    int32_t next; /* the next item for the same domain; -1: none */
    int32_t slot;
    uint32_t at, bytes; /* place and size in the slot's message */
    uint32_t reply_at, reply;
} item;

typedef struct item_list {
    int32_t first, last; /* -1: none */
    bool expected;       /* the domain's aggregator waits for this relay in this round */
} item_list;

_Static_assert(sizeof(item) + sizeof(item_list) + sizeof(sagoi_mail_entry) <= (size_t)SAGOI_RELAY_ENTRY,
               "what plans count");

typedef enum { IDLE, SENDING, DEALING } relay_stage; /* of what is going */

struct sagoi_relay {
    const sagoi_exchange_setup *setup;
    const int32_t *aggregators;
    int64_t round;
    relay_stage stage;
    bool last;         /* the batch under way is the last of this round */
    bool closed, dead; /* nothing is left to do in this round; MPI has failed */
    sago_status status;
    child *children;
    /* Children: all; those with more in this round; those that have not ended a pass. */
    int64_t nchildren, expected, waiting;
    relay_slot *slots;
    int64_t nslots, receiving, held;
    MPI_Request *receives; /* one a slot */
    int *finished;
    MPI_Status *statuses;
    item *items;
    int64_t nitems;
    item_list *lists;    /* one for each domain */
    char *fronts, *next; /* heads and entries of the bundles under way */
    MPI_Request *sent;   /* bundles and the replies to them, or replies that are dealt out */
    int64_t nsent;
    sagoi_pieces message, reply; /* scratch */
};

/* ---- Life ---- */

static bool reads(const sagoi_relay *relay) { return relay->setup->request->direction == SAGOI_FROM_FILE; }

/* There are no more bundles than domains, and two for each slot whose contents make more than one bundle. */
static int64_t most_bundles(const sagoi_relay *relay) { return relay->setup->plan->ndomains + 2 * relay->nslots; }

static int64_t children_of(const sagoi_exchange_setup *setup, int64_t node) {
    if (setup->plan->node_relay[node] != setup->team->node)
        return 0;
    return sagoi_min(setup->plan->local_aggregators, sagoi_team_node_ranks(setup->team, node));
}

static void list_children(sagoi_relay *relay) {
    const sagoi_team *team = relay->setup->team;
    int64_t n = 0;
    for (int64_t node = 0; node < relay->setup->plan->nodes; node++)
        for (int64_t c = children_of(relay->setup, node), i = 0; i < c; i++) {
            int64_t local = sagoi_local_aggregator(sagoi_team_node_ranks(team, node), c, i);
            relay->children[n++] = (child){.node = node, .rank = sagoi_team_rank_of(team, node, local)};
        }
}

static bool init_slots(sagoi_relay *relay) {
    sagoi_budget *budget = relay->setup->budget;
    int64_t bytes = relay->setup->plan->message;
    bool ok = relay->slots && relay->receives;
    for (int64_t i = 0; ok && i < relay->nslots; i++) {
        relay->receives[i] = MPI_REQUEST_NULL;
        relay->slots[i].message = sagoi_budget_alloc(budget, bytes);
        relay->slots[i].reply = reads(relay) ? sagoi_budget_alloc(budget, bytes) : NULL;
        ok = relay->slots[i].message && (!reads(relay) || relay->slots[i].reply);
    }
    return ok;
}

static bool allocate(sagoi_relay *relay) {
    sagoi_budget *budget = relay->setup->budget;
    int64_t domains = relay->setup->plan->ndomains, n = relay->nslots;
    relay->children = sagoi_budget_alloc(budget, relay->nchildren * (int64_t)sizeof *relay->children);
    relay->slots = sagoi_budget_alloc(budget, n * (int64_t)sizeof *relay->slots);
    relay->receives = sagoi_budget_alloc(budget, n * (int64_t)sizeof *relay->receives);
    relay->finished = sagoi_budget_alloc(budget, n * (int64_t)sizeof *relay->finished);
    relay->statuses = sagoi_budget_alloc(budget, n * (int64_t)sizeof *relay->statuses);
    relay->items = sagoi_budget_alloc(budget, n * domains * (int64_t)sizeof *relay->items);
    relay->lists = sagoi_budget_alloc(budget, domains * (int64_t)sizeof *relay->lists);
    relay->fronts = sagoi_budget_alloc(budget, most_bundles(relay) * (int64_t)sizeof(sagoi_mail_head) +
                                                   n * domains * (int64_t)sizeof(sagoi_mail_entry));
    relay->sent = sagoi_budget_alloc(budget, 2 * most_bundles(relay) * (int64_t)sizeof *relay->sent);
    bool ok = init_slots(relay) && relay->children && relay->finished && relay->statuses && relay->items;
    ok = sagoi_pieces_init(&relay->message, n + 1, budget) && ok;
    ok = sagoi_pieces_init(&relay->reply, n, budget) && ok;
    return ok && relay->lists && relay->fronts && relay->sent;
}

sago_status sagoi_relay_create(const sagoi_exchange_setup *setup, const int32_t *aggregators,
                               sagoi_relay **created) {
    if (setup->team->local_rank != 0 || setup->plan->node_relay[setup->team->node] != setup->team->node)
        return SAGO_OK;
    sagoi_relay *relay = sagoi_budget_alloc(setup->budget, sizeof *relay);
    if (!relay)
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for a relay's messages");
    relay->setup = setup;
    relay->aggregators = aggregators;
    relay->closed = true;
    relay->nslots = setup->plan->relay_slots;
    for (int64_t node = 0; node < setup->plan->nodes; node++)
        relay->nchildren += children_of(setup, node);
    *created = relay;
    if (!allocate(relay)) {
        sagoi_relay_destroy(created);
        return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld messages of a relay",
                          (long long)setup->plan->relay_slots);
    }
    list_children(relay);
    return SAGO_OK;
}

void sagoi_relay_destroy(sagoi_relay **gone) {
    sagoi_relay *relay = *gone;
    if (!relay)
        return;
    sagoi_budget *budget = relay->setup->budget;
    for (int64_t i = 0; relay->slots && i < relay->nslots; i++) {
        sagoi_budget_free(budget, relay->slots[i].message);
        sagoi_budget_free(budget, relay->slots[i].reply);
    }
    sagoi_budget_free(budget, relay->children);
    sagoi_budget_free(budget, relay->slots);
    sagoi_budget_free(budget, relay->receives);
    sagoi_budget_free(budget, relay->finished);
    sagoi_budget_free(budget, relay->statuses);
    sagoi_budget_free(budget, relay->items);
    sagoi_budget_free(budget, relay->lists);
    sagoi_budget_free(budget, relay->fronts);
    sagoi_budget_free(budget, relay->sent);
    sagoi_pieces_cleanup(&relay->message, budget);
    sagoi_pieces_cleanup(&relay->reply, budget);
    sagoi_budget_free(budget, relay);
    *gone = NULL;
}

static void fail(sagoi_relay *relay, sago_status status) {
    if (!relay->status)
        relay->status = status;
}

/* An MPI call has failed for good, as the message says. */
static void die(sagoi_relay *relay, sago_status status) {
    fail(relay, sagoi_break(relay->setup->team, status));
    relay->dead = true;
}

/* ---- Collecting ---- */

static void post_receives(sagoi_relay *relay) {
    const sagoi_team *team = relay->setup->team;
    for (int64_t i = 0; i < relay->nslots && relay->receiving < relay->expected; i++) {
        if (relay->slots[i].state != FREE)
            continue;
        if (!SAGOI_DONE(MPI_Irecv(relay->slots[i].message, (int)relay->setup->plan->message, MPI_BYTE,
                                  MPI_ANY_SOURCE, sagoi_mail_tag(team, SAGOI_MAIL_RELAY, relay->round), team->all,
                                  &relay->receives[i]))) {
            die(relay, sagoi_fail(SAGO_ERR_MPI, "a receive from neighbouring nodes cannot be posted"));
            return;
        }
        relay->slots[i].state = RECEIVING;
        relay->receiving++;
    }
}

static void add_item(sagoi_relay *relay, int64_t domain, const item *from) {
    item_list *list = &relay->lists[domain];
    int32_t index = (int32_t)relay->nitems++;
    relay->items[index] = *from;
    relay->items[index].next = -1;
    if (list->first < 0)
        list->first = index;
    else
        relay->items[list->last].next = index;
    list->last = index;
}

/* Finds the messages of a bundle; false: the bundle is broken. */
static bool open_bundle(sagoi_relay *relay, int64_t slot, int64_t length, sagoi_mail_head *head) {
    relay_slot *held = &relay->slots[slot];
    const sagoi_plan *plan = relay->setup->plan;
    if (length < (int64_t)sizeof *head)
        return false;
    memcpy(head, held->message, sizeof *head);
    held->number = head->flags >> SAGOI_MAIL_NUMBER;
    held->reply_bytes = 0;
    int64_t at = (int64_t)(sizeof *head + head->packets * sizeof(sagoi_mail_entry));
    if (!(head->flags & SAGOI_MAIL_BUNDLE) || at > length || head->packets > plan->ndomains)
        return false;
    for (uint32_t i = 0; i < head->packets; i++) {
        sagoi_mail_entry entry;
        memcpy(&entry, held->message + sizeof *head + i * sizeof entry, sizeof entry);
        if (entry.key >= plan->ndomains || !relay->lists[entry.key].expected || entry.bytes > length - at ||
            entry.reply > plan->message - held->reply_bytes)
            return false;
        add_item(relay, entry.key,
                 &(item){.slot = (int32_t)slot,
                         .at = (uint32_t)at,
                         .bytes = entry.bytes,
                         .reply_at = (uint32_t)held->reply_bytes,
                         .reply = entry.reply});
        at += entry.bytes;
        held->reply_bytes += entry.reply;
    }
    return true;
}

static int64_t find_child(const sagoi_relay *relay, int32_t rank) {
    int64_t i = 0;
    while (i < relay->nchildren - 1 && relay->children[i].rank != rank)
        i++;
    return i;
}

static void take_bundle(sagoi_relay *relay, int64_t slot, const MPI_Status *status) {
    sagoi_mail_head head = {SAGOI_MAIL_LAST | SAGOI_MAIL_PASS_END, 0};
    int64_t length = sagoi_bytes_received(status);
    if (!open_bundle(relay, slot, length, &head))
        fail(relay, sagoi_fail(SAGO_ERR_MPI, "a bundle of rank %d in round %lld does not fit the plan",
                               status->MPI_SOURCE, (long long)relay->round));
    relay->slots[slot].child = find_child(relay, status->MPI_SOURCE);
    relay->slots[slot].state = HELD;
    relay->receiving--;
    relay->held++;
    child *from = &relay->children[relay->slots[slot].child];
    if ((head.flags & SAGOI_MAIL_PASS_END) && !from->ended) {
        from->ended = true;
        relay->waiting--;
    }
    if (head.flags & SAGOI_MAIL_LAST) {
        from->more = false;
        relay->expected--;
    }
}

/* ---- Sending on ---- */

/* A bundle for one domain that is being put together. */
typedef struct outgoing {
    int64_t domain;
    uint32_t count, number;
    int64_t room;
} outgoing;

static void begin_outgoing(sagoi_relay *relay, outgoing *out) {
    out->count = 0;
    out->room = relay->setup->plan->message - (int64_t)sizeof(sagoi_mail_head);
    sagoi_pieces_clear(&relay->message);
    sagoi_pieces_clear(&relay->reply);
    relay->message.n = 1; /* the first piece will be the front */
}

static void send_outgoing(sagoi_relay *relay, outgoing *out, uint32_t flags) {
    sagoi_team *team = relay->setup->team;
    sagoi_pieces *message = &relay->message;
    sagoi_mail_head head = {flags | SAGOI_MAIL_BUNDLE | out->number << SAGOI_MAIL_NUMBER, out->count};
    int64_t front = (int64_t)(sizeof head + out->count * sizeof(sagoi_mail_entry));
    int peer = relay->aggregators[out->domain];
    memcpy(relay->next, &head, sizeof head);
    sagoi_pieces_set(message, 0, relay->next, front);
    relay->next += front;
    sago_status status =
        sagoi_pieces_send(message, team, peer, sagoi_data_tag(team, relay->round), &relay->sent[relay->nsent]);
    relay->nsent += status == SAGO_OK;
    sagoi_mail_count(relay->setup, true, message->bytes, front);
    if (!status && relay->reply.bytes > 0) {
        status =
            sagoi_pieces_receive(&relay->reply, team, peer, sagoi_mail_tag(team, SAGOI_MAIL_ANSWER, out->number),
                                 &relay->sent[relay->nsent]);
        relay->nsent += status == SAGO_OK;
    }
    fail(relay, status);
    relay->dead = relay->dead || status;
    out->number++;
    begin_outgoing(relay, out);
}

static void add_outgoing(sagoi_relay *relay, outgoing *out, const item *added) {
    relay_slot *slot = &relay->slots[added->slot];
    sagoi_mail_entry entry = {(uint32_t)relay->children[slot->child].rank, added->bytes, added->reply};
    int64_t bytes = (int64_t)sizeof entry + added->bytes + added->reply;
    if (out->count > 0 && bytes > out->room)
        send_outgoing(relay, out, 0);
    memcpy(relay->next + sizeof(sagoi_mail_head) + out->count * sizeof entry, &entry, sizeof entry);
    out->count++;
    out->room -= bytes;
    sagoi_pieces_add(&relay->message, slot->message + added->at, added->bytes);
    if (added->reply > 0)
        sagoi_pieces_add(&relay->reply, slot->reply + added->reply_at, added->reply);
}

/* Begins a batch: messages that arrive from now on are sent on together. */
static void begin_batch(sagoi_relay *relay) {
    for (int64_t i = 0; i < relay->nslots; i++)
        if (relay->slots[i].state == HELD)
            relay->slots[i].state = GOING;
    for (int64_t i = 0; i < relay->nchildren; i++)
        relay->children[i].ended = false;
    for (int64_t d = 0; d < relay->setup->plan->ndomains; d++)
        relay->lists[d].first = relay->lists[d].last = -1;
    relay->nitems = 0;
    relay->held = 0;
    relay->waiting = relay->expected;
}

/* Sends on everything that is held.  When no neighbour has more, every aggregator that waits for this relay is
 * told so. */
static void send_on(sagoi_relay *relay) {
    bool last = relay->expected == 0;
    relay->next = relay->fronts;
    relay->nsent = 0;
    for (int64_t d = 0; d < relay->setup->plan->ndomains && !relay->dead; d++) {
        const item_list *list = &relay->lists[d];
        outgoing out = {.domain = d};
        if (list->first < 0 && !(last && list->expected))
            continue;
        begin_outgoing(relay, &out);
        for (int32_t i = list->first; i >= 0; i = relay->items[i].next)
            add_outgoing(relay, &out, &relay->items[i]);
        send_outgoing(relay, &out, last ? SAGOI_MAIL_LAST : 0);
    }
    relay->stage = SENDING;
    relay->last = last;
    begin_batch(relay);
}

/* ---- Dealing out ---- */

static void deal(sagoi_relay *relay) {
    const sagoi_team *team = relay->setup->team;
    relay->nsent = 0;
    for (int64_t i = 0; i < relay->nslots; i++) {
        relay_slot *slot = &relay->slots[i];
        if (slot->state != GOING || slot->reply_bytes == 0)
            continue;
        const child *to = &relay->children[slot->child];
        if (!SAGOI_DONE(MPI_Issend(slot->reply, (int)slot->reply_bytes, MPI_BYTE, to->rank,
                                   sagoi_mail_tag(team, SAGOI_MAIL_DEALT, slot->number), team->all,
                                   &relay->sent[relay->nsent]))) {
            die(relay, sagoi_fail(SAGO_ERR_MPI, "a reply to rank %d cannot be sent", to->rank));
            return;
        }
        relay->nsent++;
        sagoi_mail_count(relay->setup, to->node != team->node, slot->reply_bytes, 0);
    }
    relay->stage = DEALING;
}

/* The batch is done: frees its slots. */
static void end_batch(sagoi_relay *relay) {
    for (int64_t i = 0; i < relay->nslots; i++)
        if (relay->slots[i].state == GOING)
            relay->slots[i].state = FREE;
    relay->nsent = 0;
    relay->stage = IDLE;
    relay->closed = relay->last;
    post_receives(relay);
}

/* ---- Going on ---- */

/* Takes what has come; true: something had come. */
static bool collect(sagoi_relay *relay) {
    int count = 0;
    if (relay->receiving == 0)
        return false;
    if (!sagoi_test_some(relay->nslots, relay->receives, &count, relay->finished, relay->statuses)) {
        die(relay, sagoi_fail(SAGO_ERR_MPI, "receiving from neighbouring nodes failed"));
        return false;
    }
    for (int i = 0; count != MPI_UNDEFINED && i < count; i++)
        take_bundle(relay, relay->finished[i], &relay->statuses[i]);
    post_receives(relay);
    return count != MPI_UNDEFINED && count > 0;
}

/* Is it time to send on?  Receives are posted as long as there is a free slot and a sender, so without a receive
 * all slots are held. */
static bool ready(const sagoi_relay *relay) {
    bool enough = relay->waiting == 0 || relay->receiving == 0;
    return relay->expected == 0 || (relay->held > 0 && enough);
}

/* Goes to the next stage if all requests of this stage are done. */
static bool advance(sagoi_relay *relay) {
    int all = 1;
    if (relay->nsent > 0 && !sagoi_test_all(relay->nsent, relay->sent, &all)) {
        die(relay, sagoi_fail(SAGO_ERR_MPI, "messages between a relay and the aggregators failed"));
        return false;
    }
    if (all && relay->stage == SENDING && reads(relay))
        deal(relay);
    else if (all)
        end_batch(relay);
    return all;
}

void sagoi_relay_open(sagoi_relay *relay, int64_t round) {
    if (!relay)
        return;
    const sagoi_exchange_setup *setup = relay->setup;
    relay->round = round;
    relay->expected = 0;
    for (int64_t i = 0; i < relay->nchildren; i++) {
        child *of = &relay->children[i];
        of->more = sagoi_mail_uses_relay(setup, of->node, round);
        relay->expected += of->more;
    }
    for (int64_t d = 0; d < setup->plan->ndomains; d++) {
        relay->lists[d].expected = false;
        for (int64_t i = 0; i < relay->nchildren && !relay->lists[d].expected; i++)
            relay->lists[d].expected = sagoi_mail_relayed(setup, relay->children[i].node, d) &&
                                       sagoi_mail_expected(setup->plan, relay->children[i].node, d, round);
    }
    relay->closed = relay->expected == 0;
    begin_batch(relay);
    post_receives(relay);
}

bool sagoi_relay_poll(sagoi_relay *relay) {
    if (!relay || relay->closed || relay->dead)
        return false;
    bool came = collect(relay);
    if (relay->stage != IDLE)
        return advance(relay) || came;
    if (!relay->dead && ready(relay))
        send_on(relay);
    return came;
}

bool sagoi_relay_done(const sagoi_relay *relay, sago_status *status) {
    if (!relay)
        return true;
    *status = relay->status;
    return relay->closed || relay->dead;
}

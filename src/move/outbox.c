/* A local aggregator's messages.  The ranks' packets lie in node-shared memory, and MPI sends them from there by a
 * datatype that lists them, without another copy. */
#include <string.h>

#include "base/checked.h"
#include "move/calls.h"
#include "move/mail.h"

char *sagoi_staging_of(const sagoi_exchange_setup *setup, int64_t rank, int parity) {
    return setup->staging + (rank * 2 + parity) * sagoi_round_up(setup->plan->staging, 4096);
}

bool sagoi_mail_expected(const sagoi_plan *plan, int64_t node, int64_t domain, int64_t round) {
    int64_t start, end;
    return plan->domains[domain].node != node && sagoi_plan_window(plan, domain, round, &start, &end) &&
           sagoi_plan_touches(plan, node, start, end);
}

bool sagoi_mail_relayed(const sagoi_exchange_setup *setup, int64_t node, int64_t domain) {
    return !sagoi_mail_unasked(setup) && sagoi_plan_relayed(setup->plan, node, domain);
}

bool sagoi_mail_uses_relay(const sagoi_exchange_setup *setup, int64_t node, int64_t round) {
    if (setup->plan->node_relay[node] < 0)
        return false;
    for (int64_t d = 0; d < setup->plan->ndomains; d++)
        if (sagoi_mail_relayed(setup, node, d) && sagoi_mail_expected(setup->plan, node, d, round))
            return true;
    return false;
}

void sagoi_mail_count(const sagoi_exchange_setup *setup, bool leaves, int64_t bytes, int64_t metadata) {
    if (!leaves)
        return;
    setup->stats->metadata_bytes += metadata;
    setup->stats->wire_bytes += bytes;
    sagoi_phase_count(setup->stats, SAGO_PHASE_EXCHANGE, bytes, 0, 1);
}

/* Merging needs room for all that the ranks of the group may pack. */
static bool init_merging(sagoi_outbox *outbox) {
    const sagoi_exchange_setup *setup = outbox->setup;
    if (!setup->plan->merge)
        return true;
    outbox->merged = sagoi_budget_alloc(setup->budget, setup->reach * (int64_t)sizeof *outbox->merged);
    outbox->merged_data = sagoi_budget_alloc(setup->budget, outbox->ranks * setup->plan->staging);
    outbox->inputs = sagoi_budget_alloc(setup->budget, outbox->ranks * (int64_t)sizeof *outbox->inputs);
    return outbox->merged && outbox->merged_data && outbox->inputs;
}

static void drop_merged(sagoi_outbox *outbox) {
    for (int64_t d = 0; outbox->merged && d < outbox->setup->reach; d++)
        sagoi_merged_cleanup(&outbox->merged[d], outbox->setup->budget);
}

static void cleanup_merging(sagoi_outbox *outbox) {
    sagoi_budget *budget = outbox->setup->budget;
    drop_merged(outbox);
    sagoi_budget_free(budget, outbox->merged);
    sagoi_budget_free(budget, outbox->merged_data);
    sagoi_budget_free(budget, outbox->inputs);
}

/* Pieces of a message: its head, and code and data of every rank. */
static int64_t message_pieces(const sagoi_outbox *outbox) { return 1 + 2 * outbox->ranks; }

static bool init_bundle(sagoi_outbox *outbox) {
    enum { PIECES = 2048 };
    sagoi_bundle *bundle = &outbox->bundle;
    sagoi_budget *budget = outbox->setup->budget;
    if (outbox->relay < 0)
        return true;
    bundle->front = sagoi_budget_alloc(budget, (outbox->setup->reach + 1) *
                                                   (int64_t)(sizeof(sagoi_mail_head) + sizeof(sagoi_mail_entry)));
    bool ok = sagoi_pieces_init(&bundle->message, sagoi_max(PIECES, 1 + message_pieces(outbox)), budget);
    return sagoi_pieces_init(&bundle->reply, sagoi_max(PIECES, outbox->ranks), budget) && ok && bundle->front;
}

sago_status sagoi_outbox_init(sagoi_outbox *outbox, const sagoi_exchange_setup *setup,
                              const int32_t *aggregators) {
    int64_t q = setup->team->local_size, c = sagoi_min(setup->plan->local_aggregators, q);
    int64_t group = sagoi_local_group(q, c, setup->team->local_rank), domains = setup->reach;
    *outbox = (sagoi_outbox){.setup = setup, .aggregators = aggregators, .relay = -1};
    outbox->first = sagoi_local_aggregator(q, c, group);
    outbox->ranks = sagoi_local_aggregator(q, c, group + 1) - outbox->first;
    outbox->head_bytes = (int64_t)sizeof(sagoi_mail_head) + outbox->ranks * (int64_t)sizeof(sagoi_mail_packet);
    if (outbox->first != setup->team->local_rank)
        return SAGO_OK; /* another local aggregator serves this rank */
    int64_t relay = setup->plan->node_relay[setup->team->node];
    outbox->relay = relay < 0 ? -1 : sagoi_team_rank_of(setup->team, relay, 0);
    outbox->requests = sagoi_budget_alloc(setup->budget, 2 * (domains + 1) * (int64_t)sizeof *outbox->requests);
    outbox->statuses = sagoi_budget_alloc(setup->budget, 2 * (domains + 1) * (int64_t)sizeof *outbox->statuses);
    outbox->heads = sagoi_budget_alloc(setup->budget, domains * outbox->head_bytes);
    bool ok = sagoi_pieces_init(&outbox->pieces, message_pieces(outbox), setup->budget);
    ok = init_merging(outbox) && ok;
    if (init_bundle(outbox) && ok && outbox->requests && outbox->statuses && outbox->heads)
        return SAGO_OK;
    sagoi_outbox_cleanup(outbox);
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for messages to %lld aggregators", (long long)domains);
}

void sagoi_outbox_cleanup(sagoi_outbox *outbox) {
    if (!outbox->setup)
        return;
    sagoi_budget *budget = outbox->setup->budget;
    cleanup_merging(outbox);
    sagoi_budget_free(budget, outbox->requests);
    sagoi_budget_free(budget, outbox->statuses);
    sagoi_budget_free(budget, outbox->heads);
    sagoi_pieces_cleanup(&outbox->pieces, budget);
    sagoi_budget_free(budget, outbox->bundle.front);
    sagoi_pieces_cleanup(&outbox->bundle.message, budget);
    sagoi_pieces_cleanup(&outbox->bundle.reply, budget);
    *outbox = (sagoi_outbox){0};
}

void sagoi_outbox_abandon(sagoi_outbox *outbox) {
    for (int64_t i = 0; outbox->in_place && i < outbox->nrequests; i++)
        if (outbox->requests[i] != MPI_REQUEST_NULL)
            sagoi_request_forget(&outbox->requests[i], true);
    outbox->nrequests = 0;
}

/* The data that goes to one domain in one pass. */
typedef struct parcel {
    sagoi_outbox *outbox;
    int64_t domain;
    const sagoi_pass *pass;
    char *merged_data; /* place of this domain's merged data */
} parcel;

/* The number of the domain among those in reach. */
static int64_t number_of(const parcel *p) { return p->domain - p->outbox->setup->first; }

static sagoi_packet *packet_at(const parcel *p, int64_t i) {
    return &sagoi_packets_of(p->outbox->setup, p->outbox->first + i, p->pass->parity)[number_of(p)];
}

static char *place_of(const parcel *p, int64_t i) {
    return sagoi_staging_of(p->outbox->setup, p->outbox->first + i, p->pass->parity) + packet_at(p, i)->start;
}

static char *data_of(const parcel *p, int64_t i) {
    char *in_place = p->outbox->in_place ? p->outbox->in_place[number_of(p)] : NULL;
    return in_place ? in_place : place_of(p, i) + packet_at(p, i)->code;
}

/* The result of merging the packets; NULL: they are not merged. */
static const sagoi_merged *merged_of(const parcel *p) {
    const sagoi_merged *merged = p->outbox->merged ? &p->outbox->merged[number_of(p)] : NULL;
    return merged && !merged->given_up ? merged : NULL;
}

/* The number of packets in the message: one for each rank, or one for all if they are merged. */
static int64_t shown_packets(const parcel *p) { return merged_of(p) ? 1 : p->outbox->ranks; }

static sagoi_mail_packet shown_packet(const parcel *p, int64_t i) {
    const sagoi_merged *merged = merged_of(p);
    sagoi_mail_packet shown = {merged ? (uint64_t)merged->code_bytes : packet_at(p, i)->code,
                               merged ? (uint64_t)merged->data_bytes : packet_at(p, i)->data};
    if (p->outbox->setup->remembered)
        shown.code = 0;
    return shown;
}

/* Bytes of a message: its head, and behind it code and data. */
typedef struct message_size {
    int64_t head, code, data;
} message_size;

static message_size write_head(const parcel *p, char *head) {
    uint32_t flags = (uint32_t)p->pass->number << SAGOI_MAIL_NUMBER | (p->pass->last ? SAGOI_MAIL_LAST : 0);
    sagoi_mail_head fixed = {flags, (uint32_t)shown_packets(p)};
    message_size size = {.head = sizeof fixed};
    memcpy(head, &fixed, sizeof fixed);
    for (int64_t i = 0; i < shown_packets(p); i++) {
        sagoi_mail_packet shown = shown_packet(p, i);
        memcpy(head + size.head, &shown, sizeof shown);
        size.head += (int64_t)sizeof shown;
        size.code += (int64_t)shown.code;
        size.data += (int64_t)shown.data;
    }
    return size;
}

static void add_packets(sagoi_pieces *list, const parcel *p, bool code, bool data) {
    for (int64_t i = 0; i < shown_packets(p); i++) {
        sagoi_mail_packet shown = shown_packet(p, i);
        const sagoi_merged *merged = merged_of(p);
        const char *codes = merged ? (const char *)merged->code : place_of(p, i);
        const char *bytes = merged ? p->merged_data : data_of(p, i);
        sagoi_pieces_add(list, codes, code ? (int64_t)shown.code : 0);
        sagoi_pieces_add(list, bytes, data ? (int64_t)shown.data : 0);
    }
}

static void list_inputs(const parcel *p) {
    for (int64_t i = 0; i < p->outbox->ranks; i++) {
        const sagoi_packet *packet = packet_at(p, i);
        char *place = place_of(p, i);
        p->outbox->inputs[i] = (sagoi_merge_input){(const uint8_t *)place, packet->code, place + packet->code};
    }
}

static int64_t window_start(const parcel *p) {
    int64_t start = 0, end;
    (void)sagoi_plan_window(p->outbox->setup->plan, p->domain, p->pass->round, &start, &end);
    return start;
}

/* Merges the packets for one domain.  Trains that interleave may merge to a list that is longer than a message;
 * then, or without the memory to merge, they go unmerged.  The aggregator waits for a message in any case.
 * Packets that went unmerged for lack of memory may look different the next time, so the aggregator must not
 * remember them. */
static void merge_packets(const parcel *p) {
    const sagoi_exchange_setup *setup = p->outbox->setup;
    sagoi_merged *merged = &p->outbox->merged[number_of(p)];
    list_inputs(p);
    sago_status status = sagoi_merge(p->outbox->inputs, p->outbox->ranks, window_start(p),
                                     setup->request->direction, p->merged_data, setup->budget, merged);
    int64_t head = (int64_t)(sizeof(sagoi_mail_head) + sizeof(sagoi_mail_packet));
    head += p->outbox->relay < 0 ? 0 : (int64_t)(sizeof(sagoi_mail_head) + sizeof(sagoi_mail_entry));
    p->outbox->forgetful = p->outbox->forgetful || status;
    if (status || head + merged->code_bytes + merged->data_bytes > setup->plan->message) {
        sagoi_merged_cleanup(merged, setup->budget);
        merged->given_up = true;
    }
}

/* ---- Straight to the aggregator ---- */

static sago_status send_straight(const parcel *p, const char *head, const message_size *size) {
    sagoi_outbox *outbox = p->outbox;
    const sagoi_exchange_setup *setup = outbox->setup;
    bool reading = setup->request->direction == SAGOI_FROM_FILE;
    int peer = outbox->aggregators[p->domain];
    sagoi_pieces *pieces = &outbox->pieces;
    sago_status status = SAGO_OK;
    if (!sagoi_mail_unasked(setup)) {
        int64_t front = sagoi_mail_bare(setup) ? 0 : size->head;
        sagoi_pieces_clear(pieces);
        sagoi_pieces_add(pieces, head, front);
        add_packets(pieces, p, true, !reading);
        status = sagoi_pieces_send(pieces, setup->team, peer, sagoi_data_tag(setup->team, p->pass->round),
                                   &outbox->requests[outbox->nrequests]);
        outbox->nrequests += status == SAGO_OK;
        sagoi_mail_count(setup, true, pieces->bytes, front + size->code);
        sagoi_record_message(setup->stats, true, (const int[]){setup->team->rank, peer}, pieces->bytes);
    }
    if (!reading || status || size->data == 0)
        return status;
    sagoi_pieces_clear(pieces);
    add_packets(pieces, p, false, true);
    status = sagoi_pieces_receive(pieces, setup->team, peer, sagoi_team_tag(setup->team, SAGOI_TAG_REPLY),
                                  &outbox->requests[outbox->nrequests]);
    outbox->nrequests += status == SAGO_OK;
    return status;
}

/* ---- In bundles to the relay ---- */

static int64_t bundle_front(const sagoi_bundle *bundle) {
    return (int64_t)(sizeof(sagoi_mail_head) + bundle->count * sizeof(sagoi_mail_entry));
}

/* The first piece of a bundle is its front, which comes last. */
static void begin_bundle(sagoi_outbox *outbox) {
    sagoi_bundle *bundle = &outbox->bundle;
    bundle->count = 0;
    bundle->room = outbox->setup->plan->message - (int64_t)sizeof(sagoi_mail_head);
    sagoi_pieces_clear(&bundle->message);
    sagoi_pieces_clear(&bundle->reply);
    bundle->message.n = 1;
}

static sago_status send_bundle(sagoi_outbox *outbox, const sagoi_pass *pass, uint32_t flags) {
    sagoi_bundle *bundle = &outbox->bundle;
    const sagoi_exchange_setup *setup = outbox->setup;
    sagoi_pieces *message = &bundle->message;
    sagoi_mail_head head = {flags | SAGOI_MAIL_BUNDLE | bundle->number << SAGOI_MAIL_NUMBER, bundle->count};
    int64_t front = bundle_front(bundle);
    memcpy(bundle->next, &head, sizeof head);
    sagoi_pieces_set(message, 0, bundle->next, front);
    sago_status status = sagoi_pieces_send(message, setup->team, outbox->relay,
                                           sagoi_mail_tag(setup->team, SAGOI_MAIL_RELAY, pass->round),
                                           &outbox->requests[outbox->nrequests]);
    outbox->nrequests += status == SAGO_OK;
    bool leaves = setup->plan->node_relay[setup->team->node] != setup->team->node;
    sagoi_mail_count(setup, leaves, message->bytes, front);
    if (!status && bundle->reply.bytes > 0) {
        status = sagoi_pieces_receive(&bundle->reply, setup->team, outbox->relay,
                                      sagoi_mail_tag(setup->team, SAGOI_MAIL_DEALT, bundle->number),
                                      &outbox->requests[outbox->nrequests]);
        outbox->nrequests += status == SAGO_OK;
    }
    bundle->next += front;
    bundle->number++;
    begin_bundle(outbox);
    return status;
}

static bool fits_bundle(const sagoi_bundle *bundle, int64_t bytes, int64_t packets) {
    return bytes <= bundle->room && bundle->message.n + 1 + 2 * packets <= bundle->message.capacity &&
           bundle->reply.n + packets <= bundle->reply.capacity;
}

static sago_status bundle_parcel(const parcel *p, const char *head, const message_size *size) {
    sagoi_outbox *outbox = p->outbox;
    sagoi_bundle *bundle = &outbox->bundle;
    bool reading = outbox->setup->request->direction == SAGOI_FROM_FILE;
    int64_t bytes = (int64_t)sizeof(sagoi_mail_entry) + size->head + size->code + size->data;
    sago_status status = SAGO_OK;
    if (bundle->count > 0 && !fits_bundle(bundle, bytes, shown_packets(p)))
        status = send_bundle(outbox, p->pass, 0);
    sagoi_mail_entry entry = {.key = (uint32_t)p->domain,
                              .bytes = (uint32_t)(size->head + size->code + (reading ? 0 : size->data)),
                              .reply = reading ? (uint32_t)size->data : 0};
    memcpy(bundle->next + bundle_front(bundle), &entry, sizeof entry);
    bundle->count++;
    bundle->room -= bytes;
    sagoi_pieces_add(&bundle->message, head, size->head);
    add_packets(&bundle->message, p, true, !reading);
    if (reading)
        add_packets(&bundle->reply, p, false, true);
    outbox->setup->stats->metadata_bytes += size->head + size->code;
    return status;
}

/* Sends the last bundle.  In every round in which this node has anything for the relay, the relay waits for a
 * bundle of the last pass. */
static sago_status finish_bundles(sagoi_outbox *outbox, const sagoi_pass *pass) {
    if (outbox->relay < 0 || (outbox->bundle.count == 0 && !pass->last) ||
        !sagoi_mail_uses_relay(outbox->setup, outbox->setup->team->node, pass->round))
        return SAGO_OK;
    return send_bundle(outbox, pass, SAGOI_MAIL_PASS_END | (pass->last ? SAGOI_MAIL_LAST : 0));
}

/* ---- All that a pass sends ---- */

/* Sends the message for one domain.  In every round in which this node may have anything for an aggregator, the
 * aggregator waits for a message of the last pass, unless it remembers that there is none. */
static sago_status send_parcel(const parcel *p) {
    sagoi_outbox *outbox = p->outbox;
    char *head = outbox->heads + number_of(p) * outbox->head_bytes;
    if (outbox->merged)
        merge_packets(p);
    message_size size = write_head(p, head);
    bool empty = size.code + size.data == 0;
    if (sagoi_mail_relayed(outbox->setup, outbox->setup->team->node, p->domain))
        return empty ? SAGO_OK : bundle_parcel(p, head, &size);
    bool awaited = p->pass->last && !sagoi_mail_bare(outbox->setup);
    return empty && !awaited ? SAGO_OK : send_straight(p, head, &size);
}

/* Calls `deal` for every domain that this node has something for in this round. */
static sago_status for_parcels(sagoi_outbox *outbox, parcel p, sago_status (*deal)(const parcel *)) {
    const sagoi_exchange_setup *setup = outbox->setup;
    sago_status status = SAGO_OK;
    p.outbox = outbox;
    p.merged_data = outbox->merged_data;
    /* Each sender begins with another aggregator, so that not all talk to the first one first. */
    for (int64_t i = 0; i < setup->reach && !status; i++) {
        p.domain = setup->first + (i + setup->team->rank) % setup->reach;
        if (!sagoi_mail_expected(setup->plan, setup->team->node, p.domain, p.pass->round))
            continue;
        status = deal(&p);
        p.merged_data += outbox->merged ? outbox->merged[number_of(&p)].data_bytes : 0;
    }
    return status;
}

sago_status sagoi_outbox_send(sagoi_outbox *outbox, const sagoi_pass *pass) {
    if (!outbox->requests)
        return SAGO_OK;
    outbox->nrequests = 0;
    drop_merged(outbox);
    if (outbox->relay >= 0) {
        outbox->bundle.next = outbox->bundle.front;
        outbox->bundle.number = 0;
        begin_bundle(outbox);
    }
    sago_status status = for_parcels(outbox, (parcel){.pass = pass}, send_parcel);
    return status ? status : finish_bundles(outbox, pass);
}

static sago_status deal_parcel(const parcel *p) {
    if (!merged_of(p))
        return SAGO_OK;
    list_inputs(p);
    return sagoi_merge_deal(p->outbox->inputs, p->outbox->ranks, window_start(p), p->merged_data,
                            p->outbox->setup->budget);
}

sago_status sagoi_outbox_deal(sagoi_outbox *outbox, const sagoi_pass *pass) {
    if (!outbox->merged)
        return SAGO_OK;
    return for_parcels(outbox, (parcel){.pass = pass}, deal_parcel);
}

bool sagoi_outbox_reaches_all(const sagoi_outbox *outbox, const sagoi_pass *pass) {
    const sagoi_exchange_setup *setup = outbox->setup;
    for (int64_t d = 0; d < setup->plan->ndomains && outbox->requests; d++) {
        int64_t number = d - setup->first, data = 0;
        if (setup->plan->domains[d].node == setup->team->node)
            continue;
        for (int64_t i = 0; i < outbox->ranks && number >= 0 && number < setup->reach; i++)
            data += (int64_t)sagoi_packets_of(setup, outbox->first + i, pass->parity)[number].data;
        if (data == 0)
            return false;
    }
    return true;
}

/* Replies that nobody asks for are all that a repeated read waits for, and each has data. */
static void look_for_refusals(sagoi_outbox *outbox) {
    for (int64_t i = 0; i < outbox->nrequests && sagoi_mail_unasked(outbox->setup); i++)
        outbox->refused = outbox->refused || sagoi_bytes_received(&outbox->statuses[i]) == 0;
}

sago_status sagoi_outbox_test(sagoi_outbox *outbox, bool *done) {
    int flag = 1;
    if (outbox->nrequests > 0 &&
        !sagoi_test_all_into(outbox->nrequests, outbox->requests, &flag, outbox->statuses))
        return sagoi_break(outbox->setup->team, sagoi_fail(SAGO_ERR_MPI, "messages to the aggregators failed"));
    *done = flag;
    if (flag) {
        look_for_refusals(outbox);
        outbox->nrequests = 0;
    }
    return SAGO_OK;
}

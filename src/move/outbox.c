/* A local aggregator's messages.  The ranks' regions lie in node-shared memory and are sent from there by a
 * datatype that strings them together: nothing is copied in between. */
#include <string.h>

#include "base/checked.h"
#include "move/mail.h"

char *sagoi_staging_of(const sagoi_exchange_setup *setup, int64_t rank, int parity) {
    return setup->staging + (rank * 2 + parity) * sagoi_round_up(setup->plan->staging, 4096);
}

bool sagoi_mail_expected(const sagoi_plan *plan, int64_t node, int64_t domain, int64_t round) {
    int64_t start, end;
    return plan->domains[domain].node != node && sagoi_plan_window(plan, domain, round, &start, &end) &&
           sagoi_plan_touches(plan, node, start, end);
}

/* Merging needs a copy of what the group's ranks packed. */
static bool init_merging(sagoi_outbox *outbox) {
    const sagoi_exchange_setup *setup = outbox->setup;
    if (!setup->plan->merge)
        return true;
    outbox->merged_capacity = outbox->ranks * setup->plan->staging;
    outbox->merged = sagoi_budget_alloc(setup->budget, setup->plan->ndomains * (int64_t)sizeof *outbox->merged);
    outbox->merged_data = sagoi_budget_alloc(setup->budget, outbox->merged_capacity);
    outbox->inputs = sagoi_budget_alloc(setup->budget, outbox->ranks * (int64_t)sizeof *outbox->inputs);
    return outbox->merged && outbox->merged_data && outbox->inputs;
}

static void drop_merged(sagoi_outbox *outbox) {
    for (int64_t d = 0; outbox->merged && d < outbox->setup->plan->ndomains; d++)
        sagoi_merged_cleanup(&outbox->merged[d], outbox->setup->budget);
}

static void cleanup_merging(sagoi_outbox *outbox) {
    sagoi_budget *budget = outbox->setup->budget;
    drop_merged(outbox);
    sagoi_budget_free(budget, outbox->merged, outbox->setup->plan->ndomains * (int64_t)sizeof *outbox->merged);
    sagoi_budget_free(budget, outbox->merged_data, outbox->merged_capacity);
    sagoi_budget_free(budget, outbox->inputs, outbox->ranks * (int64_t)sizeof *outbox->inputs);
}

sago_status sagoi_outbox_init(sagoi_outbox *outbox, const sagoi_exchange_setup *setup,
                              const int32_t *aggregators) {
    int64_t q = setup->team->local_size, c = sagoi_min(setup->plan->local_aggregators, q);
    int64_t group = sagoi_local_group(q, c, setup->team->local_rank), domains = setup->plan->ndomains;
    *outbox = (sagoi_outbox){.setup = setup, .aggregators = aggregators};
    outbox->first = sagoi_local_aggregator(q, c, group);
    outbox->ranks = sagoi_local_aggregator(q, c, group + 1) - outbox->first;
    outbox->head_bytes = (int64_t)sizeof(sagoi_mail_head) + outbox->ranks * (int64_t)sizeof(sagoi_mail_region);
    if (outbox->first != setup->team->local_rank)
        return SAGO_OK; /* served by another */
    int64_t pieces = 1 + 2 * outbox->ranks;
    outbox->requests = sagoi_budget_alloc(setup->budget, 2 * domains * (int64_t)sizeof *outbox->requests);
    outbox->heads = sagoi_budget_alloc(setup->budget, domains * outbox->head_bytes);
    outbox->lengths = sagoi_budget_alloc(setup->budget, pieces * (int64_t)sizeof *outbox->lengths);
    outbox->places = sagoi_budget_alloc(setup->budget, pieces * (int64_t)sizeof *outbox->places);
    if (init_merging(outbox) && outbox->requests && outbox->heads && outbox->lengths && outbox->places)
        return SAGO_OK;
    sagoi_outbox_cleanup(outbox);
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for messages to %lld aggregators", (long long)domains);
}

void sagoi_outbox_cleanup(sagoi_outbox *outbox) {
    if (!outbox->setup)
        return;
    sagoi_budget *budget = outbox->setup->budget;
    int64_t domains = outbox->setup->plan->ndomains, pieces = 1 + 2 * outbox->ranks;
    cleanup_merging(outbox);
    sagoi_budget_free(budget, outbox->requests, 2 * domains * (int64_t)sizeof *outbox->requests);
    sagoi_budget_free(budget, outbox->heads, domains * outbox->head_bytes);
    sagoi_budget_free(budget, outbox->lengths, pieces * (int64_t)sizeof *outbox->lengths);
    sagoi_budget_free(budget, outbox->places, pieces * (int64_t)sizeof *outbox->places);
    *outbox = (sagoi_outbox){0};
}

/* A message under way: pieces of memory that one MPI call sends or receives. */
typedef struct pieces {
    sagoi_outbox *outbox;
    int n;
    int64_t bytes;
} pieces;

static void add_piece(pieces *list, const char *place, int64_t bytes) {
    if (bytes == 0)
        return;
    list->outbox->lengths[list->n] = (int)bytes;
    (void)MPI_Get_address(place, &list->outbox->places[list->n]);
    list->n++;
    list->bytes += bytes;
}

/* Starts one MPI call over the pieces.  Sends are synchronous (001, V): a sender can never be far ahead. */
static sago_status start(pieces *list, int peer, int tag, bool send) {
    sagoi_outbox *outbox = list->outbox;
    MPI_Request *request = &outbox->requests[outbox->nrequests];
    MPI_Comm comm = outbox->setup->team->all;
    MPI_Datatype type;
    int error = MPI_Type_create_hindexed(list->n, outbox->lengths, outbox->places, MPI_BYTE, &type);
    if (error == MPI_SUCCESS) {
        error = MPI_Type_commit(&type);
        if (error == MPI_SUCCESS)
            error = send ? MPI_Issend(MPI_BOTTOM, 1, type, peer, tag, comm, request)
                         : MPI_Irecv(MPI_BOTTOM, 1, type, peer, tag, comm, request);
        (void)MPI_Type_free(&type);
    }
    if (error != MPI_SUCCESS)
        return sagoi_fail(SAGO_ERR_MPI, "a message of %lld bytes to rank %d cannot be started",
                          (long long)list->bytes, peer);
    outbox->nrequests++;
    return SAGO_OK;
}

/* What goes to one domain in one pass. */
typedef struct parcel {
    sagoi_outbox *outbox;
    int64_t domain;
    const sagoi_pass *pass;
    char *merged_data; /* where this domain's merged data are, or will be */
} parcel;

static sagoi_region *region_at(const parcel *p, int64_t i) {
    return &sagoi_region_of(p->outbox->setup, p->outbox->first + i, p->pass->parity)[p->domain];
}

static char *place_of(const parcel *p, int64_t i) {
    return sagoi_staging_of(p->outbox->setup, p->outbox->first + i, p->pass->parity) + region_at(p, i)->start;
}

/* What the regions were merged to, or NULL. */
static const sagoi_merged *merged_of(const parcel *p) {
    const sagoi_merged *merged = p->outbox->merged ? &p->outbox->merged[p->domain] : NULL;
    return merged && !merged->given_up ? merged : NULL;
}

/* The regions as the message shows them: one a rank, or one for all if they are merged. */
static int64_t shown_regions(const parcel *p) { return merged_of(p) ? 1 : p->outbox->ranks; }

static sagoi_mail_region shown_region(const parcel *p, int64_t i) {
    const sagoi_merged *merged = merged_of(p);
    sagoi_mail_region shown = {merged ? (uint64_t)merged->code_bytes : region_at(p, i)->code,
                               merged ? (uint64_t)merged->data_bytes : region_at(p, i)->data};
    if (p->outbox->setup->known)
        shown.code = 0;
    return shown;
}

/* Fills in the head; returns its bytes, and in *content those of code and data behind it. */
static int64_t write_head(const parcel *p, char *head, int64_t *content) {
    uint32_t flags = (uint32_t)p->pass->number << 1 | (p->pass->last ? SAGOI_MAIL_LAST : 0);
    sagoi_mail_head fixed = {flags, (uint32_t)shown_regions(p)};
    *content = 0;
    memcpy(head, &fixed, sizeof fixed);
    for (int64_t i = 0; i < shown_regions(p); i++) {
        sagoi_mail_region shown = shown_region(p, i);
        memcpy(head + sizeof fixed + (size_t)i * sizeof shown, &shown, sizeof shown);
        *content += (int64_t)(shown.code + shown.data);
        p->outbox->setup->stats->metadata_bytes += (int64_t)shown.code;
    }
    return (int64_t)sizeof fixed + shown_regions(p) * (int64_t)sizeof(sagoi_mail_region);
}

static void add_regions(pieces *list, const parcel *p, bool code, bool data) {
    for (int64_t i = 0; i < shown_regions(p); i++) {
        sagoi_mail_region shown = shown_region(p, i);
        const sagoi_merged *merged = merged_of(p);
        const char *codes = merged ? (const char *)merged->code : place_of(p, i);
        const char *bytes = merged ? p->merged_data : codes + region_at(p, i)->code;
        add_piece(list, codes, code ? (int64_t)shown.code : 0);
        add_piece(list, bytes, data ? (int64_t)shown.data : 0);
    }
}

static void list_inputs(const parcel *p) {
    for (int64_t i = 0; i < p->outbox->ranks; i++) {
        const sagoi_region *region = region_at(p, i);
        char *place = place_of(p, i);
        p->outbox->inputs[i] = (sagoi_merge_input){(const uint8_t *)place, region->code, place + region->code};
    }
}

static int64_t window_start(const parcel *p) {
    int64_t start = 0, end;
    (void)sagoi_plan_window(p->outbox->setup->plan, p->domain, p->pass->round, &start, &end);
    return start;
}

/* Trains that interleave may merge to a list of runs that is longer than a message: then, or without the memory to
 * merge, they go as they are.  The aggregator waits for something in any case. */
static void merge_regions(const parcel *p) {
    const sagoi_exchange_setup *setup = p->outbox->setup;
    sagoi_merged *merged = &p->outbox->merged[p->domain];
    list_inputs(p);
    sago_status status = sagoi_merge(p->outbox->inputs, p->outbox->ranks, window_start(p),
                                     setup->request->direction, p->merged_data, setup->budget, merged);
    int64_t head = (int64_t)(sizeof(sagoi_mail_head) + sizeof(sagoi_mail_region));
    if (status || head + merged->code_bytes + merged->data_bytes > setup->plan->message) {
        sagoi_merged_cleanup(merged, setup->budget);
        merged->given_up = true;
    }
}

static sago_status send_parcel(const parcel *p) {
    sagoi_outbox *outbox = p->outbox;
    const sagoi_exchange_setup *setup = outbox->setup;
    bool reading = setup->request->direction == SAGOI_FROM_FILE;
    char *head = outbox->heads + p->domain * outbox->head_bytes;
    int64_t content;
    sago_status status = SAGO_OK;
    if (outbox->merged)
        merge_regions(p);
    int64_t head_bytes = write_head(p, head, &content);
    if (content == 0 && !p->pass->last)
        return SAGO_OK;
    if (!reading || !setup->known) {
        pieces message = {.outbox = outbox};
        add_piece(&message, head, head_bytes);
        add_regions(&message, p, true, !reading);
        status =
            start(&message, outbox->aggregators[p->domain], sagoi_data_tag(setup->team, p->pass->round), true);
        setup->stats->metadata_bytes += head_bytes;
        setup->stats->wire_bytes += message.bytes;
        sagoi_phase_count(setup->stats, SAGO_PHASE_EXCHANGE, message.bytes, 0, 1);
    }
    pieces reply = {.outbox = outbox};
    if (reading)
        add_regions(&reply, p, false, true);
    if (!status && reply.bytes > 0)
        status = start(&reply, outbox->aggregators[p->domain], SAGOI_TAG_REPLY, false);
    return status;
}

/* Calls `deal` for every domain that this node has something for in this round. */
static sago_status for_parcels(sagoi_outbox *outbox, parcel p, sago_status (*deal)(const parcel *)) {
    const sagoi_exchange_setup *setup = outbox->setup;
    sago_status status = SAGO_OK;
    p.outbox = outbox;
    p.merged_data = outbox->merged_data;
    /* Everybody starts with another aggregator, so that not all talk to the first one first. */
    for (int64_t i = 0; i < setup->plan->ndomains && !status; i++) {
        p.domain = (i + setup->team->rank) % setup->plan->ndomains;
        if (!sagoi_mail_expected(setup->plan, setup->team->node, p.domain, p.pass->round))
            continue;
        status = deal(&p);
        p.merged_data += outbox->merged ? outbox->merged[p.domain].data_bytes : 0;
    }
    return status;
}

sago_status sagoi_outbox_send(sagoi_outbox *outbox, const sagoi_pass *pass) {
    if (!outbox->requests)
        return SAGO_OK;
    outbox->nrequests = 0;
    drop_merged(outbox);
    return for_parcels(outbox, (parcel){.pass = pass}, send_parcel);
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

sago_status sagoi_outbox_test(sagoi_outbox *outbox, bool *done) {
    int flag = 1;
    if (outbox->nrequests > 0 &&
        MPI_Testall((int)outbox->nrequests, outbox->requests, &flag, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
        return sagoi_fail(SAGO_ERR_MPI, "messages to the aggregators failed");
    *done = flag;
    if (flag)
        outbox->nrequests = 0;
    return SAGO_OK;
}

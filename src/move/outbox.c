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

sago_status sagoi_outbox_init(sagoi_outbox *outbox, const sagoi_exchange_setup *setup, const int32_t *aggregators) {
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
    if (outbox->requests && outbox->heads && outbox->lengths && outbox->places)
        return SAGO_OK;
    sagoi_outbox_cleanup(outbox);
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for messages to %lld aggregators", (long long)domains);
}

void sagoi_outbox_cleanup(sagoi_outbox *outbox) {
    if (!outbox->setup)
        return;
    sagoi_budget *budget = outbox->setup->budget;
    int64_t domains = outbox->setup->plan->ndomains, pieces = 1 + 2 * outbox->ranks;
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
        return sagoi_fail(SAGO_ERR_MPI, "a message of %lld bytes to rank %d cannot be started", (long long)list->bytes,
                          peer);
    outbox->nrequests++;
    return SAGO_OK;
}

/* Fills in the head of the message to a domain; returns the bytes of code and data behind it. */
static int64_t write_head(sagoi_outbox *outbox, char *head, int64_t domain, int parity, bool last) {
    sagoi_mail_head fixed = {last ? SAGOI_MAIL_LAST : 0, (uint32_t)outbox->ranks};
    int64_t bytes = 0;
    memcpy(head, &fixed, sizeof fixed);
    for (int64_t i = 0; i < outbox->ranks; i++) {
        const sagoi_region *region = &sagoi_region_of(outbox->setup, outbox->first + i, parity)[domain];
        sagoi_mail_region told = {region->code, region->data};
        memcpy(head + sizeof fixed + (size_t)i * sizeof told, &told, sizeof told);
        bytes += region->code + (int64_t)region->data;
    }
    return bytes;
}

static void add_regions(pieces *list, int64_t domain, int parity, bool code, bool data) {
    const sagoi_outbox *outbox = list->outbox;
    for (int64_t i = 0; i < outbox->ranks; i++) {
        int64_t rank = outbox->first + i;
        const sagoi_region *region = &sagoi_region_of(outbox->setup, rank, parity)[domain];
        const char *place = sagoi_staging_of(outbox->setup, rank, parity) + region->start;
        add_piece(list, place, code ? region->code : 0);
        add_piece(list, place + region->code, data ? (int64_t)region->data : 0);
    }
}

static void count_message(const sagoi_outbox *outbox, int64_t bytes, int64_t domain, int parity) {
    sago_stats *stats = outbox->setup->stats;
    stats->wire_bytes += bytes;
    stats->metadata_bytes += outbox->head_bytes;
    for (int64_t i = 0; i < outbox->ranks; i++)
        stats->metadata_bytes += sagoi_region_of(outbox->setup, outbox->first + i, parity)[domain].code;
    sagoi_phase_count(stats, SAGO_PHASE_EXCHANGE, bytes, 0, 1);
}

static sago_status send_to(sagoi_outbox *outbox, int64_t domain, int parity, bool last) {
    const sagoi_exchange_setup *setup = outbox->setup;
    bool reading = setup->request->direction == SAGOI_FROM_FILE;
    char *head = outbox->heads + domain * outbox->head_bytes;
    int64_t content = write_head(outbox, head, domain, parity, last);
    sago_status status = SAGO_OK;
    if (content == 0 && !last)
        return SAGO_OK;
    if (!reading || !setup->known) {
        pieces message = {.outbox = outbox};
        add_piece(&message, head, outbox->head_bytes);
        add_regions(&message, domain, parity, true, !reading);
        status = start(&message, outbox->aggregators[domain], SAGOI_TAG_DATA, true);
        count_message(outbox, message.bytes, domain, parity);
    }
    pieces reply = {.outbox = outbox};
    if (reading)
        add_regions(&reply, domain, parity, false, true);
    if (!status && reply.bytes > 0)
        status = start(&reply, outbox->aggregators[domain], SAGOI_TAG_REPLY, false);
    return status;
}

sago_status sagoi_outbox_send(sagoi_outbox *outbox, int64_t round, int parity, bool last) {
    const sagoi_exchange_setup *setup = outbox->setup;
    sago_status status = SAGO_OK;
    if (!outbox->requests)
        return SAGO_OK;
    outbox->nrequests = 0;
    /* Everybody starts with another aggregator, so that not all talk to the first one first. */
    for (int64_t i = 0; i < setup->plan->ndomains && !status; i++) {
        int64_t domain = (i + setup->team->rank) % setup->plan->ndomains;
        if (sagoi_mail_expected(setup->plan, setup->team->node, domain, round))
            status = send_to(outbox, domain, parity, last);
    }
    return status;
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

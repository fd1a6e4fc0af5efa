/* An aggregator's messages: received a few at a time, scattered into the window by position, never sorted; when
 * reading, answered from it. */
#include <string.h>

#include "base/checked.h"
#include "move/mail.h"

enum { SLOTS_MAX = 64 }; /* messages on their way to an aggregator; more hide no more latency */

/* One message at a time, of one source. */
struct sagoi_inbox_slot {
    char *message;                 /* slot_bytes */
    char *reply;                   /* slot_bytes; only when reading */
    int32_t source;                /* -1: idle */
    int32_t messages;              /* of this source in this round, dealt with so far */
    int32_t sequence;              /* regions of this source in this round, dealt with so far */
    bool replying;                 /* the request is of a reply, not of a message */
    bool last;                     /* the source has nothing more */
    const sagoi_kept_region *kept; /* next one remembered */
};

sago_status sagoi_inbox_init(sagoi_inbox *inbox, const sagoi_exchange_setup *setup) {
    const sagoi_plan *plan = setup->plan;
    bool reading = setup->request->direction == SAGOI_FROM_FILE;
    *inbox = (sagoi_inbox){.setup = setup};
    if (setup->domain < 0)
        return SAGO_OK;
    int64_t most = plan->nodes * plan->local_aggregators;
    inbox->nslots = sagoi_max(1, sagoi_min(most, reading ? plan->messages / 2 : plan->messages));
    inbox->nslots = sagoi_min(inbox->nslots, SLOTS_MAX);
    inbox->slot_bytes = plan->message;
    inbox->sources = sagoi_budget_alloc(setup->budget, most * (int64_t)sizeof *inbox->sources);
    inbox->slots = sagoi_budget_alloc(setup->budget, inbox->nslots * (int64_t)sizeof *inbox->slots);
    inbox->requests = sagoi_budget_alloc(setup->budget, inbox->nslots * (int64_t)sizeof *inbox->requests);
    inbox->finished = sagoi_budget_alloc(setup->budget, inbox->nslots * (int64_t)sizeof *inbox->finished);
    bool ok = inbox->sources && inbox->slots && inbox->requests && inbox->finished;
    for (int64_t i = 0; ok && i < inbox->nslots; i++) {
        inbox->requests[i] = MPI_REQUEST_NULL;
        inbox->slots[i].source = -1;
        inbox->slots[i].message = sagoi_budget_alloc(setup->budget, inbox->slot_bytes);
        inbox->slots[i].reply = reading ? sagoi_budget_alloc(setup->budget, inbox->slot_bytes) : NULL;
        ok = inbox->slots[i].message && (!reading || inbox->slots[i].reply);
    }
    if (ok)
        return SAGO_OK;
    sagoi_inbox_cleanup(inbox);
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld messages of %lld bytes", (long long)inbox->nslots,
                      (long long)plan->message);
}

/* Only after an MPI failure is anything still under way. */
static void drop_request(MPI_Request *request) {
    if (*request == MPI_REQUEST_NULL)
        return;
    (void)MPI_Cancel(request);
    (void)MPI_Request_free(request);
}

void sagoi_inbox_cleanup(sagoi_inbox *inbox) {
    if (!inbox->setup || inbox->setup->domain < 0)
        return;
    sagoi_budget *budget = inbox->setup->budget;
    const sagoi_plan *plan = inbox->setup->plan;
    for (int64_t i = 0; inbox->requests && i < inbox->nslots && inbox->busy > 0; i++)
        drop_request(&inbox->requests[i]);
    for (int64_t i = 0; inbox->slots && i < inbox->nslots; i++) {
        sagoi_budget_free(budget, inbox->slots[i].message, inbox->slot_bytes);
        sagoi_budget_free(budget, inbox->slots[i].reply, inbox->slot_bytes);
    }
    sagoi_budget_free(budget, inbox->sources,
                      plan->nodes * plan->local_aggregators * (int64_t)sizeof *inbox->sources);
    sagoi_budget_free(budget, inbox->slots, inbox->nslots * (int64_t)sizeof *inbox->slots);
    sagoi_budget_free(budget, inbox->requests, inbox->nslots * (int64_t)sizeof *inbox->requests);
    sagoi_budget_free(budget, inbox->finished, inbox->nslots * (int64_t)sizeof *inbox->finished);
    *inbox = (sagoi_inbox){0};
}

static void fail_inbox(sagoi_inbox *inbox, sago_status status) {
    if (!inbox->status)
        inbox->status = status;
}

static void broken_mail(sagoi_inbox *inbox, int32_t source) {
    fail_inbox(inbox, sagoi_fail(SAGO_ERR_MPI, "a message of rank %d in round %lld does not fit the plan", source,
                                 (long long)inbox->round));
}

/* ---- Messages ---- */

static void post_receive(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    MPI_Request *request = &inbox->requests[slot - inbox->slots];
    slot->replying = false;
    if (MPI_Irecv(slot->message, (int)inbox->slot_bytes, MPI_BYTE, slot->source, SAGOI_TAG_DATA,
                  inbox->setup->team->all, request) != MPI_SUCCESS)
        fail_inbox(inbox, sagoi_fail(SAGO_ERR_MPI, "a receive from rank %d cannot be posted", slot->source));
}

static void post_reply(sagoi_inbox *inbox, sagoi_inbox_slot *slot, int64_t bytes) {
    MPI_Request *request = &inbox->requests[slot - inbox->slots];
    slot->replying = true;
    inbox->setup->stats->wire_bytes += bytes;
    sagoi_phase_count(inbox->setup->stats, SAGO_PHASE_EXCHANGE, bytes, 0, 1);
    if (MPI_Issend(slot->reply, (int)bytes, MPI_BYTE, slot->source, SAGOI_TAG_REPLY, inbox->setup->team->all,
                   request) != MPI_SUCCESS)
        fail_inbox(inbox, sagoi_fail(SAGO_ERR_MPI, "a reply to rank %d cannot be sent", slot->source));
}

/* The coded extents of a region: in the message, or remembered from an earlier call. */
static const uint8_t *find_code(sagoi_inbox *inbox, sagoi_inbox_slot *slot, const char *message,
                                sagoi_mail_region *region) {
    const sagoi_exchange_setup *setup = inbox->setup;
    if (setup->known) {
        const sagoi_kept_region *kept = slot->kept;
        if (!kept || kept->data != (int64_t)region->data)
            return NULL;
        slot->kept = sagoi_kept_next(setup->kept, kept);
        region->code = (uint64_t)kept->code;
        return kept->code > 0 ? setup->kept->codes + kept->at
                              : (const uint8_t *)message; /* NULL would mean broken */
    }
    sagoi_kept_region keep = {.round = inbox->round,
                              .source = slot->source,
                              .sequence = slot->sequence++,
                              .message = slot->messages,
                              .code = (int64_t)region->code,
                              .data = (int64_t)region->data};
    sagoi_kept_add(setup->kept, &keep, (const uint8_t *)message, setup->budget);
    return (const uint8_t *)message;
}

/* A message's head, checked against its length. */
static bool read_head(const sagoi_inbox_slot *slot, int64_t length, sagoi_mail_head *head) {
    if (length < (int64_t)sizeof *head)
        return false;
    memcpy(head, slot->message, sizeof *head);
    return length >= (int64_t)sizeof *head + (int64_t)head->regions * (int64_t)sizeof(sagoi_mail_region);
}

/* Deals with all regions of a message; returns the bytes of the reply, or -1 if the message is broken. */
static int64_t take_message(sagoi_inbox *inbox, sagoi_inbox_slot *slot, int64_t length) {
    sagoi_mail_head head;
    if (!read_head(slot, length, &head))
        return -1;
    slot->last = head.flags & SAGOI_MAIL_LAST;
    sagoi_direction direction = inbox->setup->request->direction;
    bool reading = direction == SAGOI_FROM_FILE;
    const char *table = slot->message + sizeof head, *stop = slot->message + length;
    char *at = slot->message + sizeof head + head.regions * sizeof(sagoi_mail_region);
    int64_t replied = 0;
    for (uint32_t i = 0; i < head.regions; i++) {
        sagoi_mail_region region;
        memcpy(&region, table + i * sizeof region, sizeof region);
        uint64_t sent = region.code, data = reading ? 0 : region.data, left = (uint64_t)(stop - at);
        if (sent > left || data > left - sent ||
            (reading && region.data > (uint64_t)(inbox->slot_bytes - replied)))
            return -1;
        const uint8_t *code = find_code(inbox, slot, at, &region);
        char *bytes = reading ? slot->reply + replied : at + sent;
        if (!code ||
            !sagoi_region_copy(code, (int64_t)region.code, bytes, (int64_t)region.data, &inbox->window, direction))
            return -1;
        at += sent + data;
        replied += reading ? (int64_t)region.data : 0;
    }
    slot->messages++;
    return replied;
}

/* ---- Reading what is remembered: no message comes, replies go out by themselves ---- */

/* Gathers the reply to the source's next remembered message; its bytes. */
static int64_t answer_remembered(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    const sagoi_kept *kept = inbox->setup->kept;
    int32_t message = slot->kept->message;
    int64_t replied = 0;
    while (slot->kept && slot->kept->message == message) {
        const sagoi_kept_region *region = slot->kept;
        if (region->data > inbox->slot_bytes - replied ||
            !sagoi_region_copy(kept->codes + region->at, region->code, slot->reply + replied, region->data,
                               &inbox->window, SAGOI_FROM_FILE))
            broken_mail(inbox, slot->source);
        else
            replied += region->data;
        slot->kept = sagoi_kept_next(kept, region);
    }
    return replied;
}

/* ---- Sources ---- */

/* Has a source of remembered extents something to be sent?  Messages without data get no reply. */
static bool send_remembered(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    while (slot->kept) {
        int64_t bytes = answer_remembered(inbox, slot);
        if (bytes > 0) {
            post_reply(inbox, slot, bytes);
            return true;
        }
    }
    return false;
}

/* Gives the slot the next source that has something to say. */
static void next_source(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    const sagoi_exchange_setup *setup = inbox->setup;
    bool remembered = setup->known && setup->request->direction == SAGOI_FROM_FILE;
    inbox->busy -= slot->source >= 0;
    slot->source = -1;
    while (inbox->next_source < inbox->nsources) {
        slot->source = inbox->sources[inbox->next_source++];
        slot->messages = 0;
        slot->sequence = 0;
        slot->last = false;
        slot->kept = setup->known ? sagoi_kept_find(setup->kept, inbox->round, slot->source) : NULL;
        if (!remembered) {
            post_receive(inbox, slot);
            inbox->busy++;
            return;
        }
        if (send_remembered(inbox, slot)) {
            inbox->busy++;
            return;
        }
        slot->source = -1;
    }
}

/* A slot's request is done: what comes next? */
static void advance(sagoi_inbox *inbox, sagoi_inbox_slot *slot, int64_t length) {
    bool remembered = inbox->setup->known && inbox->setup->request->direction == SAGOI_FROM_FILE;
    if (!slot->replying) {
        int64_t reply = take_message(inbox, slot, length);
        if (reply < 0) {
            broken_mail(inbox, slot->source);
            slot->last = true; /* whatever else it sends, nobody could make sense of it */
        }
        if (reply > 0) {
            post_reply(inbox, slot, reply);
            return;
        }
    }
    if (remembered && send_remembered(inbox, slot))
        return;
    if (remembered || slot->last)
        next_source(inbox, slot);
    else
        post_receive(inbox, slot);
}

/* All local aggregators of the nodes that touch the window. */
static void list_sources(sagoi_inbox *inbox) {
    const sagoi_exchange_setup *setup = inbox->setup;
    inbox->nsources = 0;
    for (int64_t i = 1; i <= setup->plan->nodes; i++) {
        int64_t node = (setup->team->node + i) % setup->plan->nodes;
        if (!sagoi_mail_expected(setup->plan, node, setup->domain, inbox->round))
            continue;
        int64_t q = sagoi_team_node_ranks(setup->team, node), c = sagoi_min(setup->plan->local_aggregators, q);
        for (int64_t k = 0; k < c; k++)
            inbox->sources[inbox->nsources++] =
                sagoi_team_rank_of(setup->team, node, sagoi_local_aggregator(q, c, k));
    }
}

void sagoi_inbox_open(sagoi_inbox *inbox, int64_t round, const sagoi_window *window) {
    inbox->nsources = 0;
    inbox->next_source = 0;
    if (inbox->setup->domain < 0 || !window)
        return;
    inbox->round = round;
    inbox->window = *window;
    list_sources(inbox);
    for (int64_t i = 0; i < inbox->nslots; i++)
        next_source(inbox, &inbox->slots[i]);
}

bool sagoi_inbox_poll(sagoi_inbox *inbox) {
    if (inbox->busy == 0)
        return false;
    int count = 0;
    MPI_Status statuses[SLOTS_MAX];
    if (MPI_Testsome((int)inbox->nslots, inbox->requests, &count, inbox->finished, statuses) != MPI_SUCCESS) {
        fail_inbox(inbox, sagoi_fail(SAGO_ERR_MPI, "receiving from other nodes failed"));
        inbox->dead = true;
        return false;
    }
    for (int i = 0; i < count && count != MPI_UNDEFINED; i++) {
        sagoi_inbox_slot *slot = &inbox->slots[inbox->finished[i]];
        int length = 0;
        if (!slot->replying)
            (void)MPI_Get_count(&statuses[i], MPI_BYTE, &length);
        advance(inbox, slot, length);
    }
    return count > 0 && count != MPI_UNDEFINED;
}

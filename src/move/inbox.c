/* An aggregator's messages: they are received a few at a time, and put into the window by position, without
 * sorting.  When reading, they are answered from the window. */
#include <string.h>

#include "base/checked.h"
#include "move/calls.h"
#include "move/mail.h"

/* Messages that may be on their way to an aggregator; more would hide no more latency. */
enum { SLOTS_MAX = 64 };

/* A slot handles one message at a time. */
struct sagoi_inbox_slot {
    char *message; /* slot_bytes of the mailroom, as `reply` is */
    char *reply;   /* only when reading */
    int answer;    /* tag of the reply */
    bool replying; /* the request is that of the reply, not of the message */
    /* The first packet of a message without a head, whose packets are remembered; NULL: the message has a head.
     * `placed`: the data comes straight to its place in the window. */
    const sagoi_remembered_packet *remembered;
    bool placed;
};

void sagoi_mailroom_cleanup(sagoi_mailroom *room, sagoi_budget *budget) {
    if (!room->leaked)
        sagoi_budget_free(budget, room->base);
    *room = (sagoi_mailroom){0};
}

/* The memory is not cleared: pages that no message reaches are never touched. */
static bool reserve_room(const sagoi_exchange_setup *setup, int64_t bytes) {
    sagoi_mailroom *room = setup->room;
    if (bytes <= room->bytes)
        return true;
    sagoi_mailroom_cleanup(room, setup->budget);
    room->base = sagoi_budget_realloc(setup->budget, NULL, bytes);
    room->bytes = room->base ? bytes : 0;
    return room->base;
}

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
    inbox->slots = sagoi_budget_alloc(setup->budget, inbox->nslots * (int64_t)sizeof *inbox->slots);
    inbox->requests = sagoi_budget_alloc(setup->budget, inbox->nslots * (int64_t)sizeof *inbox->requests);
    inbox->finished = sagoi_budget_alloc(setup->budget, inbox->nslots * (int64_t)sizeof *inbox->finished);
    inbox->counted = sagoi_budget_alloc(setup->budget, plan->nodes * (int64_t)sizeof *inbox->counted);
    bool ok = inbox->slots && inbox->requests && inbox->finished && inbox->counted;
    for (int64_t i = 0; ok && i < inbox->nslots; i++)
        inbox->requests[i] = MPI_REQUEST_NULL;
    if (ok && reserve_room(setup, inbox->nslots * inbox->slot_bytes * (reading ? 2 : 1)))
        return SAGO_OK;
    sagoi_inbox_cleanup(inbox);
    return sagoi_fail(SAGO_ERR_MEMORY, "no memory for %lld messages of %lld bytes", (long long)inbox->nslots,
                      (long long)plan->message);
}

void sagoi_inbox_cleanup(sagoi_inbox *inbox) {
    if (!inbox->setup || inbox->setup->domain < 0)
        return;
    sagoi_budget *budget = inbox->setup->budget;
    sagoi_budget_free(budget, inbox->slots);
    sagoi_budget_free(budget, inbox->requests);
    sagoi_budget_free(budget, inbox->finished);
    sagoi_budget_free(budget, inbox->counted);
    *inbox = (sagoi_inbox){0};
}

void sagoi_inbox_begin(sagoi_inbox *inbox) {
    bool reading = inbox->setup->request->direction == SAGOI_FROM_FILE;
    char *next = inbox->setup->room->base;
    for (int64_t i = 0; i < inbox->nslots; i++) {
        inbox->slots[i].message = next;
        inbox->slots[i].reply = reading ? next + inbox->slot_bytes : NULL;
        next += inbox->slot_bytes * (reading ? 2 : 1);
    }
}

static void fail_inbox(sagoi_inbox *inbox, sago_status status) {
    if (!inbox->status)
        inbox->status = status;
}

/* An MPI call has failed for good, as the message says. */
static void die(sagoi_inbox *inbox, sago_status status) {
    fail_inbox(inbox, sagoi_break(inbox->setup->team, status));
    inbox->dead = true;
}

static void broken_mail(sagoi_inbox *inbox, int32_t source) {
    fail_inbox(inbox, sagoi_fail(SAGO_ERR_MPI, "a message of rank %d in round %lld does not fit the plan", source,
                                 (long long)inbox->round));
}

/* ---- Messages ---- */

static bool start_receive(sagoi_inbox *inbox, sagoi_inbox_slot *slot, char *place, int64_t bytes, int source) {
    slot->replying = false;
    if (!SAGOI_DONE(MPI_Irecv(place, (int)bytes, MPI_BYTE, source,
                              sagoi_data_tag(inbox->setup->team, inbox->round), inbox->setup->team->all,
                              &inbox->requests[slot - inbox->slots]))) {
        die(inbox, sagoi_fail(SAGO_ERR_MPI, "a receive from other nodes cannot be posted"));
        return false;
    }
    inbox->busy++;
    return true;
}

/* Posts a receive from any source.  An aggregator that waits for one source while others wait for that aggregator
 * could wait for ever: the source may first need another aggregator, which waits for one of the others. */
static void post_receive(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    slot->remembered = NULL;
    if (start_receive(inbox, slot, slot->message, inbox->slot_bytes, MPI_ANY_SOURCE))
        inbox->receiving++;
}

static void post_reply(sagoi_inbox *inbox, sagoi_inbox_slot *slot, const char *reply, int32_t source,
                       int64_t bytes) {
    MPI_Request *request = &inbox->requests[slot - inbox->slots];
    slot->replying = true;
    sagoi_mail_count(inbox->setup, true, bytes, 0);
    if (!SAGOI_DONE(
            MPI_Issend(reply, (int)bytes, MPI_BYTE, source, slot->answer, inbox->setup->team->all, request))) {
        die(inbox, sagoi_fail(SAGO_ERR_MPI, "a reply to rank %d cannot be sent", source));
        return;
    }
    inbox->busy++;
}

/* The coded extents of a packet: from the message, or remembered from an earlier call.  NULL: the packet is not
 * the one that is remembered. */
static const uint8_t *find_code(sagoi_inbox *inbox, const sagoi_remembered_packet *place, const char *message,
                                sagoi_mail_packet *packet) {
    const sagoi_exchange_setup *setup = inbox->setup;
    if (setup->remembered) {
        const sagoi_remembered_packet *found = sagoi_remembered_find(setup->received, place);
        if (!found || found->data != (int64_t)packet->data)
            return NULL;
        packet->code = (uint64_t)found->code;
        return found->code > 0 ? setup->received->codes + found->at : (const uint8_t *)message;
    }
    sagoi_remembered_packet keep = *place;
    keep.code = (int64_t)packet->code;
    keep.data = (int64_t)packet->data;
    sagoi_remembered_add(setup->received, &keep, (const uint8_t *)message, setup->budget);
    return (const uint8_t *)message;
}

/* A message, or one message of a bundle: its place and its sender. */
typedef struct letter {
    char *at;
    int64_t length;
    int32_t source;
} letter;

/* Reads a head and checks it against the length of the message; `entry` bytes follow the head for each of its
 * parts. */
static bool read_head(const letter *mail, size_t entry, sagoi_mail_head *head) {
    if (mail->length < (int64_t)sizeof *head)
        return false;
    memcpy(head, mail->at, sizeof *head);
    return mail->length >= (int64_t)sizeof *head + (int64_t)head->packets * (int64_t)entry;
}

/* Handles all packets of a message; *replied grows by the bytes of the reply.  false: the message is broken. */
static bool take_packets(sagoi_inbox *inbox, sagoi_inbox_slot *slot, const letter *mail, int64_t *replied) {
    sagoi_direction direction = inbox->setup->request->direction;
    bool reading = direction == SAGOI_FROM_FILE;
    sagoi_mail_head head;
    if (!read_head(mail, sizeof(sagoi_mail_packet), &head))
        return false;
    const char *table = mail->at + sizeof head, *stop = mail->at + mail->length;
    char *at = mail->at + sizeof head + head.packets * sizeof(sagoi_mail_packet);
    sagoi_remembered_packet place = {
        .round = inbox->round, .pass = (int32_t)(head.flags >> SAGOI_MAIL_NUMBER), .source = mail->source};
    for (uint32_t i = 0; i < head.packets; i++) {
        sagoi_mail_packet packet;
        memcpy(&packet, table + i * sizeof packet, sizeof packet);
        uint64_t sent = packet.code, data = reading ? 0 : packet.data, left = (uint64_t)(stop - at);
        if (sent > left || data > left - sent ||
            (reading && packet.data > (uint64_t)(inbox->slot_bytes - *replied)))
            return false;
        place.number = (int32_t)i;
        const uint8_t *code = find_code(inbox, &place, at, &packet);
        char *bytes = reading ? slot->reply + *replied : at + sent;
        if (!code ||
            !sagoi_packet_copy(code, (int64_t)packet.code, bytes, (int64_t)packet.data, &inbox->window, direction))
            return false;
        at += sent + data;
        *replied += reading ? (int64_t)packet.data : 0;
    }
    return true;
}

/* Handles all messages of a bundle in the same way. */
static bool take_bundle(sagoi_inbox *inbox, sagoi_inbox_slot *slot, const letter *mail, int64_t *replied) {
    sagoi_mail_head head;
    if (!read_head(mail, sizeof(sagoi_mail_entry), &head))
        return false;
    const char *table = mail->at + sizeof head, *stop = mail->at + mail->length;
    char *at = mail->at + sizeof head + head.packets * sizeof(sagoi_mail_entry);
    for (uint32_t i = 0; i < head.packets; i++) {
        sagoi_mail_entry entry;
        memcpy(&entry, table + i * sizeof entry, sizeof entry);
        letter part = {at, entry.bytes, (int32_t)entry.key};
        if (entry.bytes > (uint64_t)(stop - at) || !take_packets(inbox, slot, &part, replied))
            return false;
        at += entry.bytes;
    }
    return true;
}

/* Handles a message and returns the bytes of the reply.  A broken message is reported, and the later messages of
 * its source are received all the same. */
static int64_t take_message(sagoi_inbox *inbox, sagoi_inbox_slot *slot, int32_t source, int64_t length) {
    sagoi_mail_head head = {SAGOI_MAIL_LAST, 0};
    letter mail = {slot->message, length, source};
    int64_t reply = 0;
    bool whole = read_head(&mail, 0, &head), bundle = head.flags & SAGOI_MAIL_BUNDLE;
    slot->answer = bundle ? sagoi_mail_tag(inbox->setup->team, SAGOI_MAIL_ANSWER, head.flags >> SAGOI_MAIL_NUMBER)
                          : sagoi_team_tag(inbox->setup->team, SAGOI_TAG_REPLY);
    whole = whole && (bundle ? take_bundle : take_packets)(inbox, slot, &mail, &reply);
    if (!whole)
        broken_mail(inbox, source);
    inbox->expected -= head.flags & SAGOI_MAIL_LAST;
    return whole ? reply : 0;
}

/* ---- What is remembered: no message asks, replies go out by themselves; written data come without a head ---- */

/* The packets of one message: the first, one past the last; and the bytes of all of them. */
typedef struct remembered {
    const sagoi_remembered_packet *first, *stop;
    int64_t bytes;
} remembered;

/* The message that begins with this packet. */
static remembered message_at(const sagoi_remembered *list, const sagoi_remembered_packet *first) {
    remembered message = {first, first, 0};
    const sagoi_remembered_packet *packet = first;
    for (; packet && packet->pass == first->pass && packet->source == first->source;
         packet = sagoi_remembered_next(list, packet)) {
        message.bytes += packet->data;
        message.stop = packet + 1;
    }
    return message;
}

/* Takes the next message that has data; false: there is none. */
static bool next_remembered(sagoi_inbox *inbox, remembered *message) {
    while (inbox->next) {
        *message = message_at(inbox->setup->received, inbox->next);
        inbox->next = sagoi_remembered_next(inbox->setup->received, message->stop - 1);
        if (message->bytes > inbox->slot_bytes)
            broken_mail(inbox, message->first->source);
        else if (message->bytes > 0)
            return true;
    }
    return false;
}

/* Copies the data of a message between the window and `data`, where the packets lie one after another. */
static void copy_remembered(sagoi_inbox *inbox, const remembered *message, char *data) {
    const sagoi_remembered *list = inbox->setup->received;
    for (const sagoi_remembered_packet *packet = message->first; packet < message->stop; packet++) {
        if (!sagoi_packet_copy(list->codes + packet->at, packet->code, data, packet->data, &inbox->window,
                               inbox->setup->request->direction))
            broken_mail(inbox, packet->source);
        data += packet->data;
    }
}

/* Is the data of the message one run in the window?  Then *place is where. */
static bool is_run(const sagoi_inbox *inbox, const remembered *message, char **place) {
    const sagoi_remembered_packet *packet = message->first;
    return message->stop == packet + 1 && sagoi_packet_is_run(inbox->setup->received->codes + packet->at,
                                                              packet->code, packet->data, &inbox->window, place);
}

/* Sends the next reply.  Replies go out pass by pass, so that a rank that waits for one reply never waits for the
 * reply of a later pass elsewhere.  Messages without data get no reply.  If the window could not be read, replies
 * have no data, and so tell that. */
static void send_remembered(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    remembered message;
    char *reply = slot->reply;
    if (!next_remembered(inbox, &message))
        return;
    if (inbox->window.unread)
        message.bytes = 0;
    else if (!is_run(inbox, &message, &reply))
        copy_remembered(inbox, &message, slot->reply);
    slot->answer = sagoi_team_tag(inbox->setup->team, SAGOI_TAG_REPLY);
    post_reply(inbox, slot, reply, message.first->source, message.bytes);
}

/* Receives in the same order, for the same reason. */
static void receive_remembered(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    remembered message;
    char *place = slot->message;
    if (!next_remembered(inbox, &message))
        return;
    slot->remembered = message.first;
    slot->placed = !inbox->window.marks && is_run(inbox, &message, &place);
    (void)start_receive(inbox, slot, slot->placed ? place : slot->message, message.bytes, message.first->source);
}

static void take_remembered(sagoi_inbox *inbox, sagoi_inbox_slot *slot, int64_t length) {
    remembered message = message_at(inbox->setup->received, slot->remembered);
    if (length != message.bytes)
        broken_mail(inbox, message.first->source);
    else if (!slot->placed)
        copy_remembered(inbox, &message, slot->message);
}

/* ---- Slots ---- */

/* Gives an idle slot something to do. */
static void engage(sagoi_inbox *inbox, sagoi_inbox_slot *slot) {
    bool reading = inbox->setup->request->direction == SAGOI_FROM_FILE;
    if (inbox->next)
        (reading ? send_remembered : receive_remembered)(inbox, slot);
    else if (inbox->receiving < inbox->expected)
        post_receive(inbox, slot);
}

/* Handles the message that has come to a slot; true: a reply is under way. */
static bool take(sagoi_inbox *inbox, sagoi_inbox_slot *slot, const MPI_Status *status) {
    int64_t length = sagoi_bytes_received(status);
    sagoi_record_message(inbox->setup->stats, false, (const int[]){inbox->setup->team->rank, status->MPI_SOURCE},
                         length);
    if (slot->remembered) {
        take_remembered(inbox, slot, length);
        return false;
    }
    inbox->receiving--;
    int64_t reply = take_message(inbox, slot, status->MPI_SOURCE, length);
    if (reply > 0)
        post_reply(inbox, slot, slot->reply, status->MPI_SOURCE, reply);
    return reply > 0;
}

/* A slot's request is done; finds the slot's next task. */
static void advance(sagoi_inbox *inbox, sagoi_inbox_slot *slot, const MPI_Status *status) {
    inbox->busy--;
    if (slot->replying || !take(inbox, slot, status))
        engage(inbox, slot);
}

/* Counts the senders of a round: the local aggregators of all nodes that touch the window, or the relays of those
 * nodes. */
static int64_t count_sources(const sagoi_inbox *inbox) {
    const sagoi_exchange_setup *setup = inbox->setup;
    const sagoi_plan *plan = setup->plan;
    int64_t sources = 0;
    memset(inbox->counted, 0, (size_t)plan->nodes * sizeof *inbox->counted);
    for (int64_t node = 0; node < plan->nodes; node++) {
        if (!sagoi_mail_expected(plan, node, setup->domain, inbox->round))
            continue;
        if (!sagoi_mail_relayed(setup, node, setup->domain)) {
            sources += sagoi_min(plan->local_aggregators, sagoi_team_node_ranks(setup->team, node));
        } else {
            bool *counted = &inbox->counted[plan->node_relay[node]];
            sources += !*counted;
            *counted = true;
        }
    }
    return sources;
}

void sagoi_inbox_open(sagoi_inbox *inbox, int64_t round, const sagoi_window *window) {
    const sagoi_exchange_setup *setup = inbox->setup;
    if (setup->domain < 0 || !window)
        return;
    inbox->round = round;
    inbox->window = *window;
    if (sagoi_mail_unasked(setup) || sagoi_mail_bare(setup))
        inbox->next = sagoi_remembered_first(setup->received, round);
    else
        inbox->expected = count_sources(inbox);
    for (int64_t i = 0; i < inbox->nslots; i++)
        engage(inbox, &inbox->slots[i]);
}

bool sagoi_inbox_poll(sagoi_inbox *inbox) {
    if (inbox->busy == 0 || inbox->dead)
        return false;
    int count = 0;
    MPI_Status statuses[SLOTS_MAX];
    if (!sagoi_test_some(inbox->nslots, inbox->requests, &count, inbox->finished, statuses)) {
        die(inbox, sagoi_fail(SAGO_ERR_MPI, "receiving from other nodes failed"));
        return false;
    }
    for (int i = 0; i < count && count != MPI_UNDEFINED; i++)
        advance(inbox, &inbox->slots[inbox->finished[i]], &statuses[i]);
    return count > 0 && count != MPI_UNDEFINED;
}

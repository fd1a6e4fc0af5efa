/* The ends of an exchange: a local aggregator's outbox and an aggregator's inbox and, with three layers, a
 * relay between them.  Only exchange.c, outbox.c, inbox.c and relay.c use this header.
 *
 * A message is a head, then the packets of the ranks that its sender serves:
 *     flags, number of packets, (bytes of code, bytes of data) of each | code, data | code, data | ...
 * When reading, the message has no data; the data comes back in one reply, in the same order.  Where the
 * aggregator remembers the extents, only data is sent: writing, in messages without a head; reading, in replies
 * that no message asks for.
 *
 * A bundle is several such messages in one:
 *     flags, number of messages, (key, bytes, bytes of the reply) of each | message | message | ...
 * A bundle from a local aggregator to its relay has messages for several domains, and the key is the domain.  A
 * bundle from a relay to an aggregator has messages of several local aggregators, and the key is the source.
 * Replies are bundled in the same way. */
#ifndef SAGOI_MAIL_H
#define SAGOI_MAIL_H

#include "move/exchange.h"
#include "move/merge.h"

enum {
    SAGOI_MAIL_LAST = 1,     /* flag: the sender has no further message in this round */
    SAGOI_MAIL_BUNDLE = 2,   /* flag: the message is a bundle */
    SAGOI_MAIL_PASS_END = 4, /* flag of bundles to a relay: the sender has no further bundle in this pass */
    /* The bits from here on are a number: that of the pass in its round, or in a bundle that of the bundle in its
     * pass. */
    SAGOI_MAIL_NUMBER = 3
};

/* Kinds of messages.  A tag tells the kind, and a number: of the round, or of the bundle that is answered. */
typedef enum {
    SAGOI_MAIL_DATA,
    SAGOI_MAIL_RELAY,
    SAGOI_MAIL_ANSWER,
    SAGOI_MAIL_DEALT,
    SAGOI_MAIL_KINDS
} sagoi_mail;

static inline int sagoi_mail_tag(const sagoi_team *team, sagoi_mail kind, int64_t number) {
    int64_t numbers = (team->tags - SAGOI_TAG_FIRST) / SAGOI_MAIL_KINDS;
    return sagoi_team_tag(team, SAGOI_TAG_FIRST + (int)(number % numbers) * SAGOI_MAIL_KINDS + (int)kind);
}

/* An aggregator receives the messages of a round in any order.  The tag tells the round, since a sender that has
 * nothing for this aggregator in some rounds may be far ahead. */
static inline int sagoi_data_tag(const sagoi_team *team, int64_t round) {
    return sagoi_mail_tag(team, SAGOI_MAIL_DATA, round);
}

typedef struct sagoi_mail_head {
    uint32_t flags;
    uint32_t packets; /* number of packets, or in a bundle of messages */
} sagoi_mail_head;

/* Describes a message in a bundle. */
typedef struct sagoi_mail_entry {
    uint32_t key;
    uint32_t bytes;
    uint32_t reply; /* bytes of data that the message asks for */
} sagoi_mail_entry;

typedef struct sagoi_mail_packet {
    uint64_t code, data;
} sagoi_mail_packet;

/* One pass of a round. */
typedef struct sagoi_pass {
    int64_t round, number; /* numbers of the round, and of the pass in it, from 0 */
    int parity;            /* which of the ranks' two staging areas the pass uses */
    bool last;             /* The pass is the last one of its round. */
} sagoi_pass;

/* ---- Outbox ---- */

/* Pieces of memory that one MPI call sends or receives. */
typedef struct sagoi_pieces {
    int *lengths;
    MPI_Aint *places;
    const void *first; /* place of piece 0 */
    int n, capacity;
    int64_t bytes;
} sagoi_pieces;

bool sagoi_pieces_init(sagoi_pieces *pieces, int64_t capacity, sagoi_budget *budget);
void sagoi_pieces_cleanup(sagoi_pieces *pieces, sagoi_budget *budget);
void sagoi_pieces_clear(sagoi_pieces *pieces);
void sagoi_pieces_add(sagoi_pieces *pieces, const void *place, int64_t bytes);
/* Sets piece i, for which there is room already. */
void sagoi_pieces_set(sagoi_pieces *pieces, int i, const void *place, int64_t bytes);
/* Starts one MPI call over the pieces; if that fails for good, the team breaks.  Sends are synchronous (001, V),
 * so that a sender can never be far ahead. */
sago_status sagoi_pieces_send(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag,
                              MPI_Request *request) SAGOI_CHECKED;
sago_status sagoi_pieces_receive(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag,
                                 MPI_Request *request) SAGOI_CHECKED;

/* A bundle for the relay that is being put together. */
typedef struct sagoi_bundle {
    sagoi_pieces message, reply;
    char *front;     /* heads and entries of all bundles of a pass */
    char *next;      /* where the head of this bundle begins */
    uint32_t count;  /* messages so far */
    uint32_t number; /* number of this bundle in its pass */
    int64_t room;    /* bytes left for messages and, with them, their replies */
} sagoi_bundle;

typedef struct sagoi_outbox {
    const sagoi_exchange_setup *setup;
    const int32_t *aggregators; /* for each domain: the rank of the aggregator */
    int64_t first, ranks;       /* the ranks that this local aggregator serves, numbered on the node */
    char *const *in_place;      /* the packer's, if this rank serves no other one */
    int relay;                  /* rank that relays for this node; -1: there are two layers */
    MPI_Request *requests;      /* two for each domain in reach (message and reply), and two more */
    MPI_Status *statuses;       /* one for each request */
    int64_t nrequests;
    bool refused; /* A reply came without data, since the aggregator could not read. */
    char *heads;  /* one for each domain in reach */
    int64_t head_bytes;
    sagoi_merged *merged;      /* for each domain in reach, if the plan merges; else NULL */
    char *merged_data;         /* merged data of all domains, one after another */
    bool forgetful;            /* Something was not merged that will be merged the next time. */
    sagoi_merge_input *inputs; /* scratch for merging: one for each rank */
    sagoi_pieces pieces;       /* scratch for a message */
    sagoi_bundle bundle;       /* the bundle for the relay, with three layers */
} sagoi_outbox;

sago_status sagoi_outbox_init(sagoi_outbox *outbox, const sagoi_exchange_setup *setup, const int32_t *aggregators)
    SAGOI_CHECKED;
void sagoi_outbox_cleanup(sagoi_outbox *outbox);
/* Gives all requests up: data that was to be received in the caller's memory must not arrive there any more. */
void sagoi_outbox_abandon(sagoi_outbox *outbox);
/* Sends what the ranks packed in this pass; when reading, also posts the receives of the replies. */
sago_status sagoi_outbox_send(sagoi_outbox *outbox, const sagoi_pass *pass) SAGOI_CHECKED;
/* Reading, when a pass has been sent: do the ranks that are served here get data of every domain on other nodes?
 */
bool sagoi_outbox_reaches_all(const sagoi_outbox *outbox, const sagoi_pass *pass);
/* Reading, when all replies have come: copies merged data to the ranks' areas. */
sago_status sagoi_outbox_deal(sagoi_outbox *outbox, const sagoi_pass *pass) SAGOI_CHECKED;
/* *done: all messages have gone, and all replies have come. */
sago_status sagoi_outbox_test(sagoi_outbox *outbox, bool *done) SAGOI_CHECKED;

/* ---- Inbox ---- */

typedef struct sagoi_inbox_slot sagoi_inbox_slot;

typedef struct sagoi_inbox {
    const sagoi_exchange_setup *setup;
    int64_t expected;                    /* sources that have more to send in this round */
    int64_t receiving;                   /* slots that wait for a message, never more than are expected */
    int64_t busy;                        /* slots that wait for anything */
    const sagoi_remembered_packet *next; /* the next remembered packet to be sent or received; NULL: none */
    int64_t round;
    sagoi_window window;
    sagoi_inbox_slot *slots;
    MPI_Request *requests; /* one a slot */
    int *finished;         /* scratch for MPI_Testsome() */
    bool *counted;         /* scratch: for each node, whether the message of its relay is counted already */
    int64_t nslots, slot_bytes;
    sago_status status; /* the first failure, which is reported at the end, since all ranks must go on */
    bool dead;          /* MPI itself has failed, and nothing more will come. */
} sagoi_inbox;

sago_status sagoi_inbox_init(sagoi_inbox *inbox, const sagoi_exchange_setup *setup) SAGOI_CHECKED;
void sagoi_inbox_cleanup(sagoi_inbox *inbox);
/* Begins a call: another exchange may have used the mailroom since, and made it larger. */
void sagoi_inbox_begin(sagoi_inbox *inbox);
/* Begins to receive a round. */
void sagoi_inbox_open(sagoi_inbox *inbox, int64_t round, const sagoi_window *window);
/* Handles what has come; true: something had come. */
bool sagoi_inbox_poll(sagoi_inbox *inbox);
/* Have all messages of this round come, and have all replies gone? */
static inline bool sagoi_inbox_done(const sagoi_inbox *inbox) {
    return inbox->busy == 0 && inbox->expected == 0 && !inbox->next;
}

/* ---- A relay, three layers ---- */

typedef struct sagoi_relay sagoi_relay;

/* *relay stays NULL unless this rank sends on what others have. */
sago_status sagoi_relay_create(const sagoi_exchange_setup *setup, const int32_t *aggregators, sagoi_relay **relay)
    SAGOI_CHECKED;
void sagoi_relay_destroy(sagoi_relay **relay);
/* These three functions may be called with NULL. */
void sagoi_relay_open(sagoi_relay *relay, int64_t round);
bool sagoi_relay_poll(sagoi_relay *relay);
/* Has everything of this round been sent on, and has every reply been dealt out?  Also true when MPI has failed,
 * which *status tells. */
bool sagoi_relay_done(const sagoi_relay *relay, sago_status *status);

/* The packets that rank `rank` of the node has for each domain in the node's reach. */
static inline sagoi_packet *sagoi_packets_of(const sagoi_exchange_setup *setup, int64_t rank, int parity) {
    return setup->packets + (rank * 2 + parity) * setup->reach;
}
char *sagoi_staging_of(const sagoi_exchange_setup *setup, int64_t rank, int parity);

/* Does this node send to that domain in that round? */
bool sagoi_mail_expected(const sagoi_plan *plan, int64_t node, int64_t domain, int64_t round);
/* Repeated reads: are replies sent without being asked for?  Not where they go through relays, which do not
 * remember how to deal them out: then messages ask, but without extents. */
static inline bool sagoi_mail_unasked(const sagoi_exchange_setup *setup) {
    return setup->remembered && setup->request->direction == SAGOI_FROM_FILE && !setup->plan->relay_repeats;
}
/* Repeated writes: do messages have data only?  Merged messages have packets whose sizes only the sender knows. */
static inline bool sagoi_mail_bare(const sagoi_exchange_setup *setup) {
    const sagoi_plan *plan = setup->plan;
    return setup->remembered && setup->request->direction == SAGOI_TO_FILE && plan->layers == 2 && !plan->merge;
}
/* Are all domains that this node's range overlaps its own?  Then the node has nothing for other nodes. */
static inline bool sagoi_mail_none(const sagoi_exchange_setup *setup) {
    for (int64_t d = setup->first; d < setup->first + setup->reach; d++)
        if (setup->plan->domains[d].node != setup->team->node)
            return false;
    return true;
}
/* Does every rank of this node send and receive for itself, or has the node nothing to send?  Then no rank waits
 * until another one has packed. */
static inline bool sagoi_mail_own(const sagoi_exchange_setup *setup) {
    const sagoi_plan *plan = setup->plan;
    return (plan->local_aggregators >= setup->team->local_size || sagoi_mail_none(setup)) && plan->layers == 2 &&
           !plan->merge;
}
/* Does the node send to that domain through its relay?  Replies that no message asks for never go through a
 * relay. */
bool sagoi_mail_relayed(const sagoi_exchange_setup *setup, int64_t node, int64_t domain);
/* Has the node anything for its relay in that round? */
bool sagoi_mail_uses_relay(const sagoi_exchange_setup *setup, int64_t node, int64_t round);
/* Counts a message that leaves the node; `metadata` bytes of the message are not data. */
void sagoi_mail_count(const sagoi_exchange_setup *setup, bool leaves, int64_t bytes, int64_t metadata);

#endif

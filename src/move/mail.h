/* The ends of the exchange: a local aggregator's outbox and an aggregator's inbox; with three layers, a leader's
 * relay between them.  Between exchange.c, outbox.c, inbox.c and relay.c only.
 *
 * A message is a head, then the regions of the ranks that its sender serves:
 *     flags, number of regions, (bytes of code, bytes of data) of each | code, data | code, data | ...
 * When reading there are no data in it; they come back in one reply, in the same order.
 * Where the aggregator remembers all that, nothing is sent but data: when writing messages without a head, when
 * reading replies that nobody asked for.
 *
 * A bundle is several such messages in one:
 *     flags, number of messages, (key, bytes, bytes of the reply) of each | message | message | ...
 * From a local aggregator to its leader they are for several domains, the key is the domain; from a leader to an
 * aggregator they are of several local aggregators, the key is the source.  Replies are bundled alike. */
#ifndef SAGOI_MAIL_H
#define SAGOI_MAIL_H

#include "move/exchange.h"
#include "move/merge.h"

enum {
    SAGOI_MAIL_LAST = 1,     /* flag: the sender has no more for this round */
    SAGOI_MAIL_BUNDLE = 2,   /* flag: messages, not regions */
    SAGOI_MAIL_PASS_END = 4, /* flag of bundles to a leader: the sender has no more for this pass */
    SAGOI_MAIL_NUMBER = 3    /* bits from here on: the number of the pass in its round; of a bundle, in its pass */
};

/* Tags tell what a message is, and a number: of the round, or of a bundle that is answered. */
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

/* An aggregator takes the messages of a round in whatever order they come.  The tag tells the round: a sender that
 * has nothing for this aggregator in some rounds may be far ahead of it. */
static inline int sagoi_data_tag(const sagoi_team *team, int64_t round) {
    return sagoi_mail_tag(team, SAGOI_MAIL_DATA, round);
}

typedef struct sagoi_mail_head {
    uint32_t flags;
    uint32_t regions; /* of a bundle: messages */
} sagoi_mail_head;

/* Of a message in a bundle. */
typedef struct sagoi_mail_entry {
    uint32_t key;
    uint32_t bytes;
    uint32_t reply; /* bytes of data that it asks for */
} sagoi_mail_entry;

typedef struct sagoi_mail_region {
    uint64_t code, data;
} sagoi_mail_region;

/* One pass of a round. */
typedef struct sagoi_pass {
    int64_t round, number; /* from 0 */
    int parity;            /* of the ranks' staging areas */
    bool last;             /* of the round */
} sagoi_pass;

/* ---- Outbox ---- */

/* What one MPI call sends or receives: pieces of memory. */
typedef struct sagoi_pieces {
    int *lengths;
    MPI_Aint *places;
    const void *first; /* the place of piece 0 */
    int n, capacity;
    int64_t bytes;
} sagoi_pieces;

bool sagoi_pieces_init(sagoi_pieces *pieces, int64_t capacity, sagoi_budget *budget);
void sagoi_pieces_cleanup(sagoi_pieces *pieces, sagoi_budget *budget);
void sagoi_pieces_clear(sagoi_pieces *pieces);
void sagoi_pieces_add(sagoi_pieces *pieces, const void *place, int64_t bytes);
/* The same as piece i, for which there is room already. */
void sagoi_pieces_set(sagoi_pieces *pieces, int i, const void *place, int64_t bytes);
/* Starts one call over the pieces; what cannot be started breaks the team.  Sends are synchronous (001, V): a
 * sender can never be far ahead. */
sago_status sagoi_pieces_send(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag,
                              MPI_Request *request) SAGOI_CHECKED;
sago_status sagoi_pieces_receive(const sagoi_pieces *pieces, sagoi_team *team, int peer, int tag,
                                 MPI_Request *request) SAGOI_CHECKED;

/* A bundle being put together for the leader. */
typedef struct sagoi_bundle {
    sagoi_pieces message, reply;
    char *front;     /* heads and entries of all bundles of a pass */
    char *next;      /* in front: where this bundle's begin */
    uint32_t count;  /* messages so far */
    uint32_t number; /* of this bundle in its pass */
    int64_t room;    /* bytes left for messages and, with them, their replies */
} sagoi_bundle;

typedef struct sagoi_outbox {
    const sagoi_exchange_setup *setup;
    const int32_t *aggregators; /* rank of each domain's aggregator */
    int64_t first, ranks;       /* node-local: whom this local aggregator serves */
    char *const *in_place;      /* of the packer; only where it serves no one else */
    int leader;                 /* rank that sends on what is relayed; -1: two layers */
    MPI_Request *requests;      /* two a domain in reach, message and reply, and two more */
    int64_t nrequests;
    char *heads; /* one a domain in reach */
    int64_t head_bytes;
    sagoi_merged *merged; /* one a domain in reach, if the plan merges; else NULL */
    char *merged_data;    /* of all of them, one after another */
    int64_t merged_capacity;
    bool forgetful;            /* not all was merged that will be the next time */
    sagoi_merge_input *inputs; /* scratch for merging: one a rank */
    sagoi_pieces pieces;       /* scratch for a message */
    sagoi_bundle bundle;       /* three layers */
} sagoi_outbox;

sago_status sagoi_outbox_init(sagoi_outbox *outbox, const sagoi_exchange_setup *setup, const int32_t *aggregators)
    SAGOI_CHECKED;
void sagoi_outbox_cleanup(sagoi_outbox *outbox);
/* Nothing more will be waited for: what was to be received in the caller's memory must not come there any more. */
void sagoi_outbox_abandon(sagoi_outbox *outbox);
/* Sends what the ranks packed in this pass, and when reading posts the receives of the replies. */
sago_status sagoi_outbox_send(sagoi_outbox *outbox, const sagoi_pass *pass) SAGOI_CHECKED;
/* Reading, when all replies have come: brings merged data to the ranks' areas. */
sago_status sagoi_outbox_deal(sagoi_outbox *outbox, const sagoi_pass *pass) SAGOI_CHECKED;
/* Have all messages gone and all replies come? */
sago_status sagoi_outbox_test(sagoi_outbox *outbox, bool *done) SAGOI_CHECKED;

/* ---- Inbox ---- */

typedef struct sagoi_inbox_slot sagoi_inbox_slot;

typedef struct sagoi_inbox {
    const sagoi_exchange_setup *setup;
    int64_t expected;                    /* sources that have more to send in this round */
    int64_t receiving;                   /* slots that wait for a message: never more than are expected */
    int64_t busy;                        /* slots that wait for something */
    const sagoi_remembered_region *next; /* of what is remembered: the next to be sent or received; NULL: none */
    int64_t round;
    sagoi_window window;
    sagoi_inbox_slot *slots;
    MPI_Request *requests; /* one a slot */
    int *finished;         /* scratch for MPI_Testsome */
    bool *counted;         /* scratch, one a node: its leader's message is expected already */
    int64_t nslots, slot_bytes;
    sago_status status; /* the first failure: told at the end, for everybody must go on */
    bool dead;          /* MPI itself failed: nothing more will come */
} sagoi_inbox;

sago_status sagoi_inbox_init(sagoi_inbox *inbox, const sagoi_exchange_setup *setup) SAGOI_CHECKED;
void sagoi_inbox_cleanup(sagoi_inbox *inbox);
/* Begins a call: another exchange may have used the mailroom since, and made it larger. */
void sagoi_inbox_begin(sagoi_inbox *inbox);
/* Begins to receive a round. */
void sagoi_inbox_open(sagoi_inbox *inbox, int64_t round, const sagoi_window *window);
/* Deals with what has come; true: something had. */
bool sagoi_inbox_poll(sagoi_inbox *inbox);
/* Has everything of this round come, and every reply gone? */
static inline bool sagoi_inbox_done(const sagoi_inbox *inbox) {
    return inbox->busy == 0 && inbox->expected == 0 && !inbox->next;
}

/* ---- Relay: a leader's part, three layers ---- */

typedef struct sagoi_relay sagoi_relay;

/* *relay stays NULL unless this rank is a leader. */
sago_status sagoi_relay_create(const sagoi_exchange_setup *setup, const int32_t *aggregators, sagoi_relay **relay)
    SAGOI_CHECKED;
void sagoi_relay_destroy(sagoi_relay **relay);
/* All three are fine with NULL. */
void sagoi_relay_open(sagoi_relay *relay, int64_t round);
bool sagoi_relay_poll(sagoi_relay *relay);
/* Has everything of this round been sent on, and every reply dealt out?  Or is there no hope; *status tells. */
bool sagoi_relay_done(const sagoi_relay *relay, sago_status *status);

/* The regions of node-local rank `rank`, one for each domain in its node's reach, and their place. */
static inline sagoi_region *sagoi_regions_of(const sagoi_exchange_setup *setup, int64_t rank, int parity) {
    return setup->regions + (rank * 2 + parity) * setup->reach;
}
char *sagoi_staging_of(const sagoi_exchange_setup *setup, int64_t rank, int parity);

/* Does this node send to that domain in that round? */
bool sagoi_mail_expected(const sagoi_plan *plan, int64_t node, int64_t domain, int64_t round);
/* Repeated reads: are replies sent without being asked for?  Not where they go through leaders, which do not
 * remember what to deal to whom: then messages ask, but without extents. */
static inline bool sagoi_mail_unasked(const sagoi_exchange_setup *setup) {
    return setup->remembered && setup->request->direction == SAGOI_FROM_FILE && !setup->plan->relay_repeats;
}
/* Repeated writes: do messages have data only?  Merged ones have regions that nobody else knows the sizes of. */
static inline bool sagoi_mail_bare(const sagoi_exchange_setup *setup) {
    const sagoi_plan *plan = setup->plan;
    return setup->remembered && setup->request->direction == SAGOI_TO_FILE && plan->layers == 2 && !plan->merge;
}
/* Are all domains that this node's range overlaps its own?  Then it has nothing for other nodes. */
static inline bool sagoi_mail_none(const sagoi_exchange_setup *setup) {
    for (int64_t d = setup->first; d < setup->first + setup->reach; d++)
        if (setup->plan->domains[d].node != setup->team->node)
            return false;
    return true;
}
/* Does every rank of this node send and receive for itself, or none at all?  Then none of them waits for another
 * one to pack. */
static inline bool sagoi_mail_own(const sagoi_exchange_setup *setup) {
    const sagoi_plan *plan = setup->plan;
    return (plan->local_aggregators >= setup->team->local_size || sagoi_mail_none(setup)) && plan->layers == 2 &&
           !plan->merge;
}
/* Through its leader?  Replies that nobody asks for go straight. */
bool sagoi_mail_relayed(const sagoi_exchange_setup *setup, int64_t node, int64_t domain);
/* Has it something for its leader in that round? */
bool sagoi_mail_led(const sagoi_exchange_setup *setup, int64_t node, int64_t round);
/* Counts a message, if it leaves the node; `metadata` bytes of it are not data. */
void sagoi_mail_count(const sagoi_exchange_setup *setup, bool leaves, int64_t bytes, int64_t metadata);

#endif

/* The two ends of the exchange: a local aggregator's outbox and an aggregator's inbox.  Between exchange.c,
 * outbox.c and inbox.c only.
 *
 * A message is a head, then the regions of the ranks that its sender serves:
 *     flags, number of regions, (bytes of code, bytes of data) of each | code, data | code, data | ...
 * When reading there are no data in it; they come back in one reply, in the same order. */
#ifndef SAGOI_MAIL_H
#define SAGOI_MAIL_H

#include "move/exchange.h"
#include "move/merge.h"

enum { SAGOI_TAG_REPLY = 11, SAGOI_TAG_DATA = 12 };
enum { SAGOI_MAIL_LAST = 1 }; /* flag: the sender has no more for this round */

/* An aggregator takes the messages of a round in whatever order they come.  The tag tells the round: a sender that
 * has nothing for this aggregator in some rounds may be far ahead of it. */
static inline int sagoi_data_tag(const sagoi_team *team, int64_t round) {
    return SAGOI_TAG_DATA + (int)(round % (team->largest_tag - SAGOI_TAG_DATA));
}

typedef struct sagoi_mail_head {
    uint32_t flags; /* from bit 1 on: the number of the pass in its round */
    uint32_t regions;
} sagoi_mail_head;

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

typedef struct sagoi_outbox {
    const sagoi_exchange_setup *setup;
    const int32_t *aggregators; /* rank of each domain's aggregator */
    int64_t first, ranks;       /* node-local: whom this local aggregator serves */
    MPI_Request *requests;      /* two a domain: message and reply */
    int64_t nrequests;
    char *heads; /* one a domain */
    int64_t head_bytes;
    sagoi_merged *merged; /* one a domain, if the plan merges; else NULL */
    char *merged_data;    /* of all of them, one after another */
    int64_t merged_capacity;
    sagoi_merge_input *inputs; /* scratch for merging: one a rank */
    int *lengths;              /* scratch for a message's type: 1 + 2 * ranks pieces */
    MPI_Aint *places;
} sagoi_outbox;

sago_status sagoi_outbox_init(sagoi_outbox *outbox, const sagoi_exchange_setup *setup, const int32_t *aggregators)
    SAGOI_CHECKED;
void sagoi_outbox_cleanup(sagoi_outbox *outbox);
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
    int64_t expected;              /* sources that have more to send in this round */
    int64_t receiving;             /* slots that wait for a message: never more than are expected */
    int64_t busy;                  /* slots that wait for something */
    const sagoi_kept_region *next; /* reading what is remembered: the next to be sent; NULL: none */
    int64_t round;
    sagoi_window window;
    sagoi_inbox_slot *slots;
    MPI_Request *requests; /* one a slot */
    int *finished;         /* scratch for MPI_Testsome */
    int64_t nslots, slot_bytes;
    sago_status status; /* the first failure: told at the end, for everybody must go on */
    bool dead;          /* MPI itself failed: nothing more will come */
} sagoi_inbox;

sago_status sagoi_inbox_init(sagoi_inbox *inbox, const sagoi_exchange_setup *setup) SAGOI_CHECKED;
void sagoi_inbox_cleanup(sagoi_inbox *inbox);
/* Begins to receive a round. */
void sagoi_inbox_open(sagoi_inbox *inbox, int64_t round, const sagoi_window *window);
/* Deals with what has come; true: something had. */
bool sagoi_inbox_poll(sagoi_inbox *inbox);
/* Has everything of this round come, and every reply gone? */
static inline bool sagoi_inbox_done(const sagoi_inbox *inbox) {
    return inbox->busy == 0 && inbox->expected == 0 && !inbox->next;
}

/* The region of node-local rank `rank` for `domain`, and its place. */
static inline sagoi_region *sagoi_region_of(const sagoi_exchange_setup *setup, int64_t rank, int parity) {
    return setup->regions + (rank * 2 + parity) * setup->plan->ndomains;
}
char *sagoi_staging_of(const sagoi_exchange_setup *setup, int64_t rank, int parity);

/* Does this node send to that domain in that round? */
bool sagoi_mail_expected(const sagoi_plan *plan, int64_t node, int64_t domain, int64_t round);

#endif

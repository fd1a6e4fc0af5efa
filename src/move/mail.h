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

enum { SAGOI_TAG_DATA = 11, SAGOI_TAG_REPLY = 12 };
enum { SAGOI_MAIL_LAST = 1 }; /* flag: the sender has no more for this round */

typedef struct sagoi_mail_head {
    uint32_t flags, regions;
} sagoi_mail_head;

typedef struct sagoi_mail_region {
    uint64_t code, data;
} sagoi_mail_region;

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
/* Sends what the ranks packed into their areas of this parity, and when reading posts the receives of the replies.
 */
sago_status sagoi_outbox_send(sagoi_outbox *outbox, int64_t round, int parity, bool last) SAGOI_CHECKED;
/* Reading, when all replies have come: brings merged data to the ranks' areas. */
sago_status sagoi_outbox_deal(sagoi_outbox *outbox, int64_t round, int parity) SAGOI_CHECKED;
/* Have all messages gone and all replies come? */
sago_status sagoi_outbox_test(sagoi_outbox *outbox, bool *done) SAGOI_CHECKED;

/* ---- Inbox ---- */

typedef struct sagoi_inbox_slot sagoi_inbox_slot;

typedef struct sagoi_inbox {
    const sagoi_exchange_setup *setup;
    int32_t *sources; /* of this round: ranks that send to this domain */
    int64_t nsources, next_source;
    int64_t busy; /* slots that wait for something */
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
    return inbox->busy == 0 && inbox->next_source == inbox->nsources;
}

/* The region of node-local rank `rank` for `domain`, and its place. */
static inline sagoi_region *sagoi_region_of(const sagoi_exchange_setup *setup, int64_t rank, int parity) {
    return setup->regions + (rank * 2 + parity) * setup->plan->ndomains;
}
char *sagoi_staging_of(const sagoi_exchange_setup *setup, int64_t rank, int parity);

/* Does this node send to that domain in that round? */
bool sagoi_mail_expected(const sagoi_plan *plan, int64_t node, int64_t domain, int64_t round);

#endif

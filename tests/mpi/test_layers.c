/* RUN: n=8 two-phase */
/* RUN: n=8 third-layer */
/* Every message between nodes, recorded where MPI sends it: with all ranks as local aggregators those of plain
 * two-phase I/O, one by one; with a third layer as many fewer as the layer saves.
 *
 * Aggregators of a node's own data, and what reaches them inside their node, send no messages: ranks of one node
 * share memory.  So two-phase I/O is compared with where a message crosses nodes. */
#include "mpi/check.h"
#include "mpi/fake_nodes.h"

#include <inttypes.h>

enum { RECORDS_MAX = 65536, SWITCH_NODES = 4 };

typedef struct record {
    int to;
    int64_t bytes;
} record;

static record sent[RECORDS_MAX];
static int nsent;
static bool recording;

int MPI_Issend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request) {
    int size = 0;
    PMPI_Type_size(type, &size);
    if (recording && nsent < RECORDS_MAX)
        sent[nsent++] = (record){to, (int64_t)count * size};
    return PMPI_Issend(buf, count, type, to, tag, comm, request);
}

static int record_compare(const void *a, const void *b) {
    const record *x = a, *y = b;
    return x->to != y->to ? x->to - y->to : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* ---- The access: runs of uneven lengths, dealt to the ranks in turn ---- */

typedef struct share {
    int64_t turns;
    int64_t longest; /* run i is 1 + i * 7919 % longest bytes long; negative: all are -longest */
    int64_t total;
    int64_t mine; /* bytes of this rank */
    sago_extent *extents;
    unsigned char *data, *back, *file;
} share;

static int64_t run_length(const share *a, int64_t i) {
    return a->longest < 0 ? -a->longest : 1 + i * 7919 % a->longest;
}

static void share_make(share *a, int64_t turns, int64_t longest) {
    *a = (share){.turns = turns, .longest = longest};
    a->extents = calloc((size_t)turns, sizeof *a->extents);
    for (int64_t i = 0; i < turns * ranks; i++) {
        if (i % ranks == rank) {
            a->extents[i / ranks] = (sago_extent){.offset = a->total, .length = run_length(a, i)};
            a->mine += run_length(a, i);
        }
        a->total += run_length(a, i);
    }
    a->data = calloc((size_t)a->mine + 1, 1);
    a->back = calloc((size_t)a->mine + 1, 1);
    a->file = calloc((size_t)a->total + 1, 1);
    for (int64_t at = 0, i = 0, own = 0; i < turns * ranks; i++)
        for (int64_t n = run_length(a, i); n > 0; n--, at++) {
            a->file[at] = byte_of(at, i % ranks);
            if (i % ranks == rank)
                a->data[own++] = a->file[at];
        }
}

static void share_free(share *a) {
    free(a->extents);
    free(a->data);
    free(a->back);
    free(a->file);
}

/* This rank's bytes in [start, end), counted run by run. */
static int64_t bytes_in(const share *a, int64_t start, int64_t end) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < a->turns; i++) {
        int64_t low = a->extents[i].offset, high = low + a->extents[i].length;
        low = low > start ? low : start;
        high = high < end ? high : end;
        bytes += high > low ? high - low : 0;
    }
    return bytes;
}

/* ---- Runs ---- */

typedef struct outcome {
    long long between_nodes, between_switches, counted; /* messages of all ranks; by Sago's own count */
    long long metadata;                                 /* bytes in them that are not data */
} outcome;

static int switch_of(int r) { return r / fake_node_ranks / SWITCH_NODES; }

static outcome outcome_of(int64_t counted, int64_t metadata) {
    outcome o = {0};
    for (int i = 0; i < nsent; i++) {
        o.between_nodes += sent[i].to / fake_node_ranks != rank / fake_node_ranks;
        o.between_switches += switch_of(sent[i].to) != switch_of(rank);
    }
    o.between_nodes = sum_everywhere(o.between_nodes);
    o.between_switches = sum_everywhere(o.between_switches);
    o.counted = sum_everywhere(counted);
    o.metadata = sum_everywhere(metadata);
    return o;
}

enum { WRITE, WRITE_AGAIN, READ, READ_AGAIN, CALLS };

/* Writes and reads twice, checking every byte; sent[] is of the call `kept`. */
static void run(const share *a, const char *hints, int kept, outcome outcomes[CALLS]) {
    static record keep[RECORDS_MAX];
    int nkeep = 0;
    sago_file *file = NULL;
    char text[1024];
    (void)snprintf(text, sizeof text, "sago_strategy=aggregated sago_placement=rank sago_machine=%s %s",
                   scratch("switches.sago"), hints);
    plain_write(scratch("layers.dat"), "", 0);
    CHECK_OK(open_hinted(scratch("layers.dat"), MPI_MODE_RDWR | MPI_MODE_CREATE, text, &file));
    for (int call = 0; call < CALLS; call++) {
        sago_stats before = stats_of(file);
        MPI_Count bytes = 0;
        nsent = 0;
        recording = true;
        if (call <= WRITE_AGAIN)
            CHECK_OK(sago_write_extents_all(file, a->turns, a->extents, a->data));
        else
            CHECK_OK(sago_read_extents_all(file, a->turns, a->extents, a->back, &bytes));
        recording = false;
        sago_stats after = stats_of(file);
        outcomes[call] =
            outcome_of(after.phase[SAGO_PHASE_EXCHANGE].messages - before.phase[SAGO_PHASE_EXCHANGE].messages,
                       after.metadata_bytes - before.metadata_bytes);
        CHECK(call <= WRITE_AGAIN || memcmp(a->data, a->back, (size_t)a->mine) == 0);
        memset(a->back, 0, (size_t)a->mine);
        if (call <= WRITE_AGAIN)
            CHECK_FILE(scratch("layers.dat"), a->file, a->total);
        if (call == kept)
            memcpy(keep, sent, (size_t)(nkeep = nsent) * sizeof *sent);
    }
    CHECK_OK(sago_close(&file));
    memcpy(sent, keep, (size_t)(nsent = nkeep) * sizeof *sent);
}

/* P_L = P.  Two-phase I/O, naively: the range is cut into one domain an aggregator, domains into windows; in each
 * round every process sends every aggregator what it has in that window, in one message. */
static void two_phase(void) {
    enum { WINDOW = 65536 }; /* nothing but data: all else is known already */
    static record wanted[RECORDS_MAX];
    int nwanted = 0, nodes = ranks / fake_node_ranks;
    share a;
    outcome ignored[CALLS];
    scene = "two-phase";
    share_make(&a, 12000, 48);
    int64_t domain = (a.total + nodes - 1) / nodes;
    domain = (domain + WINDOW - 1) / WINDOW * WINDOW;
    for (int d = 0; d < nodes; d++)
        for (int64_t start = d * domain; start < (d + 1) * domain && start < a.total; start += WINDOW) {
            int64_t bytes = bytes_in(&a, start, start + WINDOW < a.total ? start + WINDOW : a.total);
            if (d != rank / fake_node_ranks && bytes > 0)
                wanted[nwanted++] = (record){d * fake_node_ranks, bytes};
        }
    char hints[256];
    (void)snprintf(hints, sizeof hints,
                   "sago_layers=2 sago_local_aggregators=%d sago_aggregators=%d sago_window=64K", fake_node_ranks,
                   nodes);
    run(&a, hints, WRITE_AGAIN, ignored);
    qsort(sent, (size_t)nsent, sizeof *sent, record_compare);
    qsort(wanted, (size_t)nwanted, sizeof *wanted, record_compare);
    CHECK_INT(nsent, nwanted);
    CHECK(nwanted > 20);
    for (int i = 0; i < nsent && i < nwanted; i++) {
        CHECK_INT(sent[i].to, wanted[i].to);
        CHECK_INT(sent[i].bytes, wanted[i].bytes);
    }
    share_free(&a);
}

/* Nodes of one rank, four to a switch, an aggregator each, one round.  Two layers: each of 8 aggregators gets a
 * message from 7 nodes.  Three: from the 3 of its own switch, and from the relay of the other, to which 3 nodes
 * send one message each.  Reading, each is answered.  Reading again, nobody needs to ask where replies go
 * straight; through relays the same messages go, but those that ask have no extents in them. */
static void third_layer_saves_messages(void) {
    const char *hints = "sago_aggregators=8 sago_window=1M sago_layers=";
    char text[256];
    share a;
    outcome two[CALLS], three[CALLS];
    scene = "third layer";
    share_make(&a, 4000, 48);
    (void)snprintf(text, sizeof text, "%s2", hints);
    run(&a, text, WRITE, two);
    (void)snprintf(text, sizeof text, "%s3", hints);
    run(&a, text, WRITE, three);
    const long long all_two = 8 * 7, all_three = 8 * 3 + 2 * 3 + 8, across_two = 8 * 4, across_three = 8;
    for (int call = WRITE; call < CALLS; call++) {
        int ways_two = call == READ ? 2 : 1, ways_three = call >= READ ? 2 : 1;
        CHECK_INT(two[call].between_nodes, ways_two * all_two);
        CHECK_INT(three[call].between_nodes, ways_three * all_three);
        CHECK_INT(two[call].between_switches, ways_two * across_two);
        CHECK_INT(three[call].between_switches, ways_three * across_three);
        CHECK_INT(two[call].counted, two[call].between_nodes);
        CHECK_INT(three[call].counted, three[call].between_nodes);
    }
    /* Behind heads, of which a bundle has some for each message in it, only data. */
    CHECK(three[READ_AGAIN].metadata < three[READ].metadata / 4);
    CHECK(three[READ_AGAIN].metadata < all_three * 256);
    share_free(&a);
}

/* Bundles that do not fit a message, passes of different numbers, rounds, relays with little room. */
static void much_through_little(void) {
    const char *hints[] = {"sago_messages=1 sago_message_size=64K sago_window=256K sago_aggregators=3",
                           "sago_message_size=64K sago_window=64K sago_memory=4M",
                           "sago_message_size=64K sago_window=1M sago_merge=on sago_aggregators=5",
                           "sago_message_size=64K sago_window=1M sago_plan_cache=0 sago_aggregators=2"};
    outcome ignored[CALLS];
    share a;
    share_make(&a, 300, 9000);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        char text[256];
        scene = hints[i];
        (void)snprintf(text, sizeof text, "%s sago_layers=3", hints[i]);
        run(&a, text, WRITE, ignored);
    }
    share_free(&a);
}

/* Where nodes hold blocks in turn and aggregate their own, nobody sends anybody anything, not even that. */
static void no_messages_for_nothing(void) {
    outcome outcomes[CALLS];
    share a;
    scene = "blocks in turn";
    share_make(&a, 4, -65536);
    run(&a, "sago_group_size=64K sago_window=64K sago_placement=cost", WRITE, outcomes);
    for (int call = 0; call < CALLS; call++)
        CHECK_INT(outcomes[call].between_nodes, 0);
    share_free(&a);
}

int main(int argc, char **argv) {
    check_start(&argc, &argv);
    if (rank == 0)
        CHECK(fake_switches(scratch("switches.sago"), SWITCH_NODES));
    meet();
    bool plain = argc > 1 && strcmp(argv[1], "two-phase") == 0;
    fake_node_ranks = plain ? 2 : 1;
    if (plain) {
        two_phase();
    } else {
        third_layer_saves_messages();
        much_through_little();
        no_messages_for_nothing();
    }
    return check_end();
}

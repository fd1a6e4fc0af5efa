/* The numbers by which routes and plans are decided, in one table.
 *
 * Each has a sentence that says where its number comes from.  "Estimated" means that no measurement is known which
 * prefers the number to its half or its double, "chosen, not measured" that no figure led to it either;
 * docs/measured.md has the measurements. */
#ifndef SAGOI_THRESHOLDS_H
#define SAGOI_THRESHOLDS_H

#include <stdint.h>

/* ---- Routes: one rank's part of a call ---- */
enum {
    /* A part of fewer bytes is accessed by system calls, also if it was accessed before.  Measured: a mapping of
     * less gains a third over pread on one file, and loses a tenth where several files are read in turn. */
    SAGOI_LEAST_MAPPED = 256 << 10,
    /* Memory in pieces passes through a buffer up to so many bytes.  Estimated. */
    SAGOI_MOST_PACKED = 16 << 10,
    /* One call reads a range of at most so many bytes for several runs.  Estimated: the copy stays in a cache. */
    SAGOI_MOST_READ_THROUGH = 64 << 10,
    /* Reading so many bytes takes as long as a system call takes besides.  Measured on a file system in memory. */
    SAGOI_SYSTEM_CALL_IN_MEMORY = 4 << 10,
    /* The same of file systems that are not in memory.  Estimated from the former: their calls take longer. */
    SAGOI_SYSTEM_CALL_ELSEWHERE = 16 << 10,
    /* A rank by itself reads no part of fewer bytes beside another one.  Estimated: at 10 Gbit/s so many take as
     * long as waking the I/O thread. */
    SAGOI_LEAST_BESIDE = 64 << 10,
    /* So many system calls cost less than setting up a mapping.  Estimated from 0.5 us a call and the 15 us that a
     * mapped access of 256 KiB was measured to take. */
    SAGOI_FEW_CALLS = 16,
    /* A rank accesses so many runs by itself in less time than the ranks need to gather them, or than a single
     * rank needs to copy them together.  Estimated from 0.5 us a call. */
    SAGOI_FEW_RUNS = 64,
    /* From so many bytes a run on, gathering only adds a copy.  Measured: contiguous pieces lose 30% when they are
     * staged. */
    SAGOI_LONG_RUN = 64 << 10,
    /* One byte in so many of a range must be accessed for a rank alone to map the range.  Estimated. */
    SAGOI_SPARSE_PART = 8,
    /* The same where the range has holes, which mapping for writing fills.  Estimated: no more bytes are to be
     * allocated in vain than are accessed. */
    SAGOI_HOLEY_PART = 2,
    /* A file system in memory moves so many bytes while the I/O thread would be woken.  Estimated; measured was
     * that small nonblocking calls take 27 us by the thread, and 1.5 us by the caller. */
    SAGOI_SOON_IN_MEMORY = 4 << 20,
    /* The same of a local file system on a device, whose calls may block.  Estimated. */
    SAGOI_SOON_LOCAL = 64 << 10,
    /* At most so many streams that lie one after another are read as one run.  Estimated: a step has seldom more
     * variables. */
    SAGOI_SINGLE_STREAMS = 32,
    /* Mappings are brought in by pages of so many bytes, which is the hardware's number. */
    SAGOI_MAPPED_PAGE = 4096
};

/* ---- Carrying out a rank's part ---- */
enum {
    /* The store gets so many runs at a time from a rank that moves its own.  Chosen, not measured: a system call
     * takes up to 1024. */
    SAGOI_BATCH_RUNS = 256,
    /* So many runs need no memory, on the stack of a thread that may have little.  Chosen, not measured. */
    SAGOI_BATCH_FEW = 16,
    /* Memory in pieces passes through a buffer of at most so many bytes.  Chosen, not measured: it fits a cache.
     * Measured was that clearing as many takes longer than all else in a small call, so the buffer is no larger
     * than the call. */
    SAGOI_BOUNCE_MOST = 1 << 20,
    /* No smaller buffer is tried where memory is short: a page.  Chosen, not measured; without a buffer the call
     * fails. */
    SAGOI_BOUNCE_LEAST = 4096,
    /* Several streams fill so many bytes of a mapped file before they go on.  Chosen, not measured: such a block
     * stays in the cache. */
    SAGOI_MAPPED_BLOCK = 256 << 10,
    /* One stream fills so many bytes of a mapped file at a time, whose pages one system call brings in.  Measured:
     * so many at a time keep faults out of the copying (docs/measured.md).  Other sizes were not compared. */
    SAGOI_MAPPED_LONE_BLOCK = 1 << 20,
    /* A mapping may have so many bytes more than a call needs.  Chosen, not measured: page tables of so many take
     * 2 MiB. */
    SAGOI_MAPPED_KEPT_MOST = 1 << 30,
    /* No smaller part is mapped where there is little address space.  Chosen, not measured. */
    SAGOI_MAPPED_PART_LEAST = 1 << 20
};

/* ---- A file's share of a node's memory ---- */
enum {
    /* Without a hint all plans of a node use one part in so many of its free memory; the rest is the
     * application's.  Chosen, not measured. */
    SAGOI_FREE_MEMORY_PART = 8,
    /* Without a hint a file uses no more than so many bytes for each of its ranks on the node, and as many once
     * more.  Chosen, not measured: four windows of the usual size. */
    SAGOI_MEMORY_OF_RANK = 64 << 20,
    /* A file gets so many bytes of what a hint allows at the least, so that no file is refused because other files
     * are open.  Chosen, not measured. */
    SAGOI_SHARE_LEAST = 1 << 20
};
/* Seconds for which an answer on free memory is used: asking takes some forty system calls, more than a small
 * access.  Chosen, not measured. */
#define SAGOI_MEMORY_LASTS 0.1

/* Seconds that a rank alone is taken to need for a system call on this kernel, for one that goes to a server, and
 * for a byte.  Estimated. */
#define SAGOI_SYSTEM_CALL_SECONDS 1e-6
#define SAGOI_REMOTE_CALL_SECONDS 50e-6
#define SAGOI_BYTE_SECONDS 1e-9
/* Seconds that a nonblocking call waits for other ranks at least, and at most.  Estimated: a few time slices of a
 * core that ranks share, and what a user would notice. */
#define SAGOI_LEAST_WAIT 5e-3
#define SAGOI_MOST_WAIT 0.25
/* Seconds that a nonblocking call which turns from writing to reading waits for the others at first, and at least.
 * Each time in vain the wait becomes a quarter, so that all of them come to little more than the first.
 * Estimated. */
#define SAGOI_FIRST_PATIENCE 1.0
#define SAGOI_LEAST_PATIENCE 1e-3

/* ---- Deferred calls ---- */
enum {
    /* So many calls are deferred at first, since nothing is known of the next ones.  Chosen, not measured: the
     * nine arrays of HACC-IO fit. */
    SAGOI_DEFERRED_FIRST = 16,
    /* From one move to the next so many times as many calls are deferred, as long as they fit.  Estimated. */
    SAGOI_DEFERRED_GROWTH = 8,
    /* No more calls are deferred together.  Estimated: an agreement costs nothing beside so many calls. */
    SAGOI_DEFERRED_MOST = 64 << 10,
    /* Where fewer calls fit, deferring them only adds a copy.  Estimated. */
    SAGOI_DEFERRED_LEAST = 4,
    /* Ranks that do not defer look again after so many calls at the latest: looking takes an agreement.
     * Estimated. */
    SAGOI_DEFERRED_WAIT_MOST = 1024,
    /* The room of a rank on one node is what a cache holds, since moving costs little there.  Estimated. */
    SAGOI_DEFERRED_ROOM_ONE_NODE = 4 << 20,
    /* Between nodes the room is larger, so that one exchange moves the data of many calls.  Estimated. */
    SAGOI_DEFERRED_ROOM_SEVERAL = 32 << 20,
    /* Where memory is short, less room than this is not tried.  Chosen, not measured. */
    SAGOI_DEFERRED_ROOM_LEAST = 64 << 10,
    /* Deferred calls are fused into at most so many parts, each of which costs a little in every round of a move.
     * Chosen, not measured. */
    SAGOI_FUSED_PARTS_MOST = 1024,
    /* The store gets so many fused runs at a time, as in SAGOI_BATCH_RUNS. */
    SAGOI_FUSED_BATCH = SAGOI_BATCH_RUNS
};

/* ---- Local storage ---- */
enum {
    /* The log of calls in local storage is drained in the background up to so many calls, since each new call is
     * compared with all of them.  Chosen, not measured. */
    SAGOI_DRAINED_CALLS_MOST = 4096,
    /* Independent reads look at so many bytes of the local and of the global file together.  Chosen, not
     * measured. */
    SAGOI_TIER_READ_WINDOW = 1 << 20
};

/* ---- Plans: the strategy of a call that is served together ---- */
enum {
    /* A single rank has nobody to gather from, so only runs shorter than a page, which the kernel would read and
     * write again for each of them, are worth copying together.  Chosen, not measured: the size of a page. */
    SAGOI_LONG_RUN_OF_ONE_RANK = 4 << 10,
    /* One byte in so many of the range must be written for the ranks to map the range.  Estimated: writing faults
     * whole pages in, and clears them. */
    SAGOI_MAPPED_WRITE_PART = 2,
    /* The same of reading, whose pages are there.  Estimated. */
    SAGOI_MAPPED_READ_PART = 20,
    /* More windows than this, most of them empty, are an answer to no hint.  Estimated: walking through them takes
     * as long as so many agreements. */
    SAGOI_MOST_WINDOWS = 1 << 20
};
/* Of a link's bandwidth so much is left for data; packets' headers take the rest (docs/papers.md). */
#define SAGOI_LINK_PAYLOAD 0.9
/* Windows are laid below this offset, so that sums of offsets and windows cannot overflow.  It is half of what an
 * offset can be. */
#define SAGOI_HIGHEST_WINDOW (INT64_C(1) << 62)
/* A planned call has so many meetings more than one in which ranks go alone, which is counted in the engine; and
 * waking the ranks of a node for one takes so many seconds, and so does the turn of a rank on a core that ranks
 * share.  Estimated; on cores of which four nodes had the same two a message took 100 (Open MPI) and 600 (MPICH)
 * microseconds more with eight local aggregators of eight ranks than with one (docs/measured.md). */
#define SAGOI_PLANNED_MEETINGS 3.0
#define SAGOI_WAKE_SECONDS 20e-6
/* A lock that another node has takes so many times what it takes to be given up: asking for it, and giving it up,
 * wait behind what is under way.  Measured: 2.3 (nine arrays by region, each rank by itself, docs/measured.md). */
#define SAGOI_LOCK_WAITS 2.0
/* Where nobody has described the machine, ranks that read from the same stripes are weighed with a request that
 * takes a target so many seconds, and with a network that moves so many bytes a second: readers have no locks to
 * lose, so what is gathered has to gain on a slow network, too.  Measured on the linked store, whose requests take
 * so long: 8 ranks on 4 nodes read 1 and 4 KiB each 1.3 times as fast gathered, 47,008 bytes 0.8
 * (docs/cluster.md).
 */
#define SAGOI_ASSUMED_REQUEST 100e-6
#define SAGOI_SLOW_NETWORK 125e6
/* The network's pace is known when so many calls have gathered: connections are made in the first, and others may
 * use the machine during any.  Estimated. */
#define SAGOI_PACE_CALLS 3

/* ---- Plans: aggregators and windows ---- */
enum {
    /* The window of an aggregator on one node stays in the cache while it is filled.  Estimated. */
    SAGOI_WINDOW_ONE_NODE = 4 << 20,
    /* The window between nodes makes large messages and stores.  Paper 000 uses 16 MB in most of its
     * figures. */
    SAGOI_WINDOW_SEVERAL = 16 << 20,
    /* Windows begin at multiples of the file system's unit only if the unit is no larger than this.  Chosen, not
     * measured: file systems may ask for more than a window can have. */
    SAGOI_ALIGNED_MOST = 1 << 30,
    /* No window is larger for the sake of stripes.  Estimated: two of them are an aggregator's memory. */
    SAGOI_WINDOW_STRIPED_MOST = 64 << 20,
    /* Smaller windows, stagings and messages are not worth their overhead.  Estimated. */
    SAGOI_SMALLEST = 64 << 10,
    /* Between nodes windows are made small enough for so many rounds, so that the next one fills while one is
     * stored.  Measured: 3-D blocks on 4 nodes are a fifth faster with 8 rounds than with one. */
    SAGOI_ROUNDS_WANTED = 8,
    /* But no smaller than so many bytes: the ranks of a node meet in every round.  Measured: on a quiet machine
     * about as fast as 1 MiB, pieces a little faster; faster where cores are shared (docs/measured.md). */
    SAGOI_WINDOW_OF_ROUNDS_LEAST = 4 << 20,
    /* More writers than this on one node only get in each other's way.  Estimated. */
    SAGOI_AGGREGATORS_OF_ONE_NODE = 4,
    /* Fewer bytes from other nodes do not tell how fast the network is: they take as long as the ranks take to
     * begin.  Estimated: 1 MiB takes 8 ms at 1 Gbit/s, and 0.1 at 100, an agreement. */
    SAGOI_PACE_LEAST = 1 << 20,
    /* So many aggregators of one node keep its links busy, where no more is known (004, 4.1). */
    SAGOI_AGGREGATORS_A_NODE = 4,
    /* Numbers of aggregators whose costs differ by less than one part in so many are equal, and the fewer ones
     * are taken, which need less memory.  Estimated: the model is not more exact than that. */
    SAGOI_COST_RESOLUTION = 8,
    /* The same where more than bandwidths is known of the machine.  Estimated: a choice that the simulator finds a
     * tenth slower than another one is to be seen as such (docs/planner-neighbours.md). */
    SAGOI_MODEL_RESOLUTION = 32,
    /* A rank's staging has at most the first number of bytes, and an aggregator has as many messages in flight as
     * the second says, of at most the third number of bytes.  Estimated. */
    SAGOI_STAGING_MOST = 16 << 20,
    SAGOI_MESSAGES_USUAL = 8,
    SAGOI_MESSAGE_USUAL = 4 << 20,
    /* Where memory for windows is short, a message and a rank's staging are as small as this, and a round takes
     * more passes.  Chosen, not measured: a sixteenth of the usual. */
    SAGOI_MESSAGE_SHORT = 256 << 10,
    SAGOI_STAGING_SHORT = 1 << 20,
    /* Where a window has data of one node in so many, groups of nodes keep most of it.  Estimated. */
    SAGOI_REGIONS_NEAR = 4,
    /* Windows go to a node's fastest memory if they take at most one part in so many of it, since the rest is the
     * application's.  Chosen, not measured: the same part as of free memory. */
    SAGOI_MEMORY_LEVEL_PART = SAGOI_FREE_MEMORY_PART,
    /* Groups of nodes whose data lies together have at least so many bytes.  Estimated. */
    SAGOI_GROUP_USUAL = 128 << 20,
    /* A group ends where at most one part in so many of a node's bytes is on the other side.  Estimated. */
    SAGOI_CROSSING_PART = 16,
    /* Nodes aggregate their own blocks that come in turn where blocks have so many bytes: shorter ones make many
     * rounds of little.  Estimated. */
    SAGOI_TURN_LEAST = 1 << 20,
    /* Blocks of subfiles are as large as the windows that will be written: buffer : stripe = 1 : 1 (000, Table
     * I). */
    SAGOI_SUBFILE_BLOCK_USUAL = SAGOI_WINDOW_SEVERAL,
    /* No longer hole is read and written back, whatever is assumed of the way to the storage.  Estimated: at 1
     * Gbit/s its bytes take twice as long as the request of 100 us that they save. */
    SAGOI_SIEVED_GAP_MOST = 8 << 10,
    /* Fewer runs than this do not become one.  Chosen, not measured: reading what is between them is a request,
     * too, so that two runs gain nothing, and three little. */
    SAGOI_SIEVED_RUNS_LEAST = 4,
    /* A relay that waits for a message of each neighbour needs no more slots.  Estimated. */
    SAGOI_RELAY_SLOTS_MOST = 64
};

/* ---- Plans: how closely the planner looks ---- */
enum {
    /* The regions in which a node's bytes are counted are no smaller: a page is accessed as a whole, and this is
     * the size of one. */
    SAGOI_SMALLEST_REGION = 4096,
    /* If more nodes than the first number hold data of a domain, the figures of one election also serve the
     * neighbouring domains: those of a region of the file, or of four if they are more than the second.  Estimated
     * from the time that an election takes. */
    SAGOI_FEW_MEMBERS = 64,
    SAGOI_MANY_MEMBERS = 1024,
    /* So many candidates are looked at one by one where links carry more than their share, so many nodes in
     * search of groups, and so many ends of nodes' data for each group.  Estimated: more takes longer than a plan
     * may take (a second for 1,000,000 ranks). */
    SAGOI_MOST_CANDIDATES = 1 << 21,
    SAGOI_MOST_GROUPED = 1 << 22,
    SAGOI_MOST_CUTS = 64,
    /* So many pairs of a node and a domain are weighed for a third layer.  Estimated in the same way. */
    SAGOI_MOST_PAIRS = 1 << 18,
    /* The links of so many groups of a dragonfly, or switches, are counted: a number for each pair of more would
     * take more memory and time than the answer is worth.  Estimated. */
    SAGOI_MOST_PAIRED = 256,
    /* So that ranges do not meet at storage targets, cuts move by at most one part in so many of the shortest
     * range; of more ranges than the second number each target has many, wherever they begin.  Estimated. */
    SAGOI_SHIFT_PART = 16,
    SAGOI_MOST_SPREAD = 4096
};
/* Places whose costs differ by less than so many bytes take, or by less than so many seconds, count as equal.
 * Chosen, not measured: a page, and a hundredth of what a hop takes. */
#define SAGOI_EQUAL_BYTES 4096.0
#define SAGOI_EQUAL_LATENCY 1e-9
/* A link may exceed its share by such a part of a domain for nothing.  Chosen, not measured: about two
 * of the 32 regions by which a node's data is known. */
#define SAGOI_LINK_SLACK (1.0 / 16)

/* ---- Writers of checkpoints ---- */
/* A rank is taken to save so many bytes, since writers are chosen before anything is saved.  Estimated. */
#define SAGOI_SAVED_ASSUMED (INT64_C(64) << 20)
/* A writer makes so many calls on the directory: folder, record, data, syncs, rename.  Counted in the code, not
 * measured. */
#define SAGOI_WRITER_CALLS 8.0
/* Another number of writers than one a node is taken if it costs at most so much of that.  Estimated. */
#define SAGOI_WRITERS_WORTH 0.9

#endif

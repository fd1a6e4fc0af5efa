/* The verdict of the report, in words: what took the time, which ranks waited for which, what to try.  Each
 * sentence has a condition of its own; the sentences come in the order in which a reader would ask. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/size_text.h"
#include "trace/report_json.h"

/* What one rank did, or the average of neighbouring ranks that share a row. */
typedef struct effort {
    int64_t rank, ranks;  /* the first rank, and how many share the row */
    double work, meeting; /* seconds in calls: own work; agreeing with other ranks and waiting for them */
    double bytes;
    double storing;     /* seconds in calls: waiting for the storage */
    double moved, took; /* bytes to and from the storage, and seconds of those requests, whichever thread waited */
    const char *node;   /* "": not known, or several nodes */
} effort;

/* A rank, a node or a storage target that is slower than the others of its kind. */
typedef struct slow {
    bool found;
    double speed, others; /* bytes a second; the median of the others */
    int64_t file, entry;  /* file of a storage target, and the target's entry there */
    effort who;           /* first rank of a node */
} slow;

/* The facts that the sentences are made of. */
typedef struct facts {
    const sagoi_record *record;
    sagoi_sentence *said;
    int64_t count;
    double elapsed;
    double seconds[SAGO_PHASE_COUNT], all; /* sums over all ranks */
    double most;                           /* in all phases, of one rank */
    double planning;            /* seconds of the rank with the least, which waits for nobody while planning */
    effort mean, busiest, last; /* last: the rank that waits least, since it comes last */
    int64_t ready;              /* ranks that hardly wait, while others do */
    effort stored;              /* the rank that waited longest for the storage */
    slow target, node;
    int64_t bytes[2], calls[2], sizes, aggregated, rounds, misses, hits;
    double spent; /* in reads and writes, of the slowest rank */
} facts;

__attribute__((format(printf, 3, 4))) static void say(facts *f, const char *hint, const char *format, ...) {
    if (f->count == SAGOI_VERDICT_MAX)
        return;
    sagoi_sentence *s = &f->said[f->count++];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(s->text, sizeof s->text, format, arguments);
    va_end(arguments);
    (void)snprintf(s->hint, sizeof s->hint, "%s", hint);
}

/* ---- Numbers as people write them ---- */

typedef struct words {
    char text[32];
} words;

static words of_seconds(double seconds) {
    words said;
    if (seconds < 1e-3)
        (void)snprintf(said.text, sizeof said.text, "%.0f us", seconds * 1e6);
    else if (seconds < 1)
        (void)snprintf(said.text, sizeof said.text, "%.0f ms", seconds * 1e3);
    else
        (void)snprintf(said.text, sizeof said.text, seconds < 100 ? "%.1f s" : "%.0f s", seconds);
    return said;
}

static int percent(double part, double whole) { return whole > 0 ? (int)lround(100 * part / whole) : 0; }

/* ---- Looking ---- */

static effort effort_of(const sagoi_record *record, int64_t r) {
    const sagoi_record_row *row = record->rows[r];
    effort of = {.rank = sagoi_record_first_rank(record, r), .ranks = row->ranks};
    of.meeting = (row->seconds[SAGO_PHASE_PLAN] + row->seconds[SAGO_PHASE_WAIT]) / (double)row->ranks;
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        of.work += row->seconds[i] / (double)row->ranks;
    of.work -= of.meeting;
    of.bytes = (double)(row->bytes[0] + row->bytes[1]) / (double)row->ranks;
    of.storing = row->seconds[SAGO_PHASE_STORE] / (double)row->ranks;
    of.moved = row->stored_bytes;
    of.took = row->stored;
    of.node = row->node;
    return of;
}

static void look_at_row(facts *f, int64_t r) {
    const sagoi_record_row *row = f->record->rows[r];
    const effort of = effort_of(f->record, r);
    double planning = row->seconds[SAGO_PHASE_PLAN] / (double)row->ranks;
    bool first = f->mean.ranks == 0;
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        f->seconds[i] += row->seconds[i];
    f->most = fmax(f->most, row->most);
    f->planning = first ? planning : fmin(f->planning, planning);
    if (first || of.work > f->busiest.work)
        f->busiest = of;
    if (first || of.storing > f->stored.storing)
        f->stored = of;
    if (first || of.meeting < f->last.meeting)
        f->last = of;
    f->mean.ranks += of.ranks;
    f->mean.work += of.work * (double)of.ranks;
    f->mean.meeting += of.meeting * (double)of.ranks;
    f->mean.bytes += of.bytes * (double)of.ranks;
}

static void look_at_rows(facts *f) {
    for (int64_t r = 0; r < SAGOI_RECORD_ROWS; r++)
        if (f->record->rows[r] && f->record->rows[r]->ranks > 0)
            look_at_row(f, r);
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        f->all += f->seconds[i];
    if (f->mean.ranks == 0)
        return;
    f->mean.work /= (double)f->mean.ranks;
    f->mean.meeting /= (double)f->mean.ranks;
    f->mean.bytes /= (double)f->mean.ranks;
    for (int64_t r = 0; r < SAGOI_RECORD_ROWS; r++)
        if (f->record->rows[r] && f->record->rows[r]->ranks > 0 &&
            effort_of(f->record, r).meeting < 0.5 * f->mean.meeting)
            f->ready += f->record->rows[r]->ranks;
}

static void look_at_files(facts *f) {
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        const sagoi_record_file *file = &f->record->files[i];
        f->bytes[0] += file->counts[SAGOI_COUNT_bytes_read];
        f->bytes[1] += file->counts[SAGOI_COUNT_bytes_written];
        f->calls[0] += file->once[SAGOI_COUNT_collective_reads];
        f->calls[1] += file->once[SAGOI_COUNT_collective_writes];
        f->aggregated += file->once[SAGOI_COUNT_aggregated_calls];
        f->rounds += file->once[SAGOI_COUNT_rounds];
        f->misses += file->once[SAGOI_COUNT_plan_misses];
        f->hits += file->once[SAGOI_COUNT_plan_hits];
        f->spent += file->calls[0] + file->calls[1];
        for (int w = 0; w < 2; w++)
            for (int s = 0; s < SAGOI_RECORD_SIZES; s++)
                f->sizes += file->sizes[w][s];
    }
}

/* ---- Who is slower than the others ---- */

/* A factor that neither uneven data nor chance explains. */
static const double much_slower = 2;

typedef struct pace {
    double bytes, seconds;
    int64_t of;
} pace;

static double per_second(const pace *s) { return s->seconds > 0 ? s->bytes / s->seconds : 0; }

static int by_speed(const void *a, const void *b) {
    double x = per_second(a), y = per_second(b);
    return (x > y) - (x < y);
}

/* Did the slowness cost enough time to be worth a sentence?  The cost is the time beyond what the same bytes take
 * at the others' speed. */
static bool matters(const facts *f, const slow *found, double bytes, double seconds) {
    return found->found && seconds - bytes / found->others > 0.2 * f->most;
}

/* Finds the slowest one, if there are at least three that had about as much to move; it is compared with the
 * median of the others.  Fewer than three do not show what is usual. */
static slow find_slow(pace *all, int64_t n) {
    slow found = {0};
    if (n < 3)
        return found;
    qsort(all, (size_t)n, sizeof *all, by_speed);
    found.speed = per_second(&all[0]);
    found.others = per_second(&all[1 + (n - 1) / 2]);
    found.entry = all[0].of;
    found.found = found.speed > 0 && found.others > much_slower * found.speed;
    return found;
}

static slow slow_target(const sagoi_record_file *file) {
    pace all[SAGOI_RECORD_TARGETS];
    double bytes = 0;
    int64_t n = 0;
    for (int i = 0; i < SAGOI_RECORD_TARGETS; i++)
        bytes += file->targets[i].bytes / SAGOI_RECORD_TARGETS;
    for (int i = 0; i < SAGOI_RECORD_TARGETS; i++)
        if (file->targets[i].bytes > 0.1 * bytes)
            all[n++] = (pace){file->targets[i].bytes, file->targets[i].seconds, i};
    return find_slow(all, n);
}

/* Finds the slow target that took most time. */
static void look_at_targets(facts *f) {
    double most = 0;
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        slow found = slow_target(&f->record->files[i]);
        const sagoi_record_target *target = &f->record->files[i].targets[found.entry];
        if (!matters(f, &found, target->bytes, target->seconds) || target->seconds <= most)
            continue;
        most = target->seconds;
        f->target = found;
        f->target.file = i;
    }
}

/* Adds a row to the entry of the row's node, or makes a new entry. */
static void add_to_node(const facts *f, int64_t r, pace all[], int64_t *n) {
    const effort of = effort_of(f->record, r);
    for (int64_t i = 0; i < *n; i++)
        if (of.node[0] && strcmp(f->record->rows[all[i].of]->node, of.node) == 0) {
            all[i].bytes += of.moved;
            all[i].seconds += of.took;
            return;
        }
    all[(*n)++] = (pace){of.moved, of.took, r};
}

static void look_at_nodes(facts *f) {
    pace all[SAGOI_RECORD_ROWS];
    double bytes = 0;
    int64_t n = 0, used = 0;
    for (int64_t r = 0; r < SAGOI_RECORD_ROWS; r++)
        if (f->record->rows[r] && f->record->rows[r]->ranks > 0)
            add_to_node(f, r, all, &n);
    for (int64_t i = 0; i < n; i++)
        bytes += all[i].bytes / (double)n;
    for (int64_t i = 0; i < n; i++)
        if (all[i].bytes > 0.1 * bytes)
            all[used++] = all[i];
    f->node = find_slow(all, used); /* find_slow() sorts the slowest to the front */
    f->node.found = used > 0 && matters(f, &f->node, all[0].bytes, all[0].seconds);
    if (f->node.found)
        f->node.who = effort_of(f->record, f->node.entry);
}

/* ---- Sentences ---- */

static void say_state(facts *f) {
    const sagoi_record *r = f->record;
    if (!r->complete)
        say(f, "",
            "The job did not come to MPI_Finalize: this is what its ranks had recorded when it ended, at most a "
            "few seconds before.");
    if (r->seen < r->ranks)
        say(f, "", "There are records of %" PRId64 " of %" PRId64 " ranks only; all numbers are of these.",
            r->seen, r->ranks);
}

static void say_all(facts *f) {
    int64_t calls = f->calls[0] + f->calls[1];
    if (f->record->nsteps > 0 && calls == 0 && f->bytes[0] + f->bytes[1] == 0)
        return; /* the job makes checkpoints only */
    if (f->most < 0.001 * f->elapsed && f->bytes[0] + f->bytes[1] == 0)
        say(f, "", "Sago served next to nothing of this job: %s of %s of the slowest rank.",
            of_seconds(f->most).text, of_seconds(f->elapsed).text);
    else
        say(f, "",
            "The slowest rank spent %s of %s (%d%%) in Sago's calls; the job wrote %s and read %s, by %" PRId64
            " collective call%s.",
            of_seconds(f->most).text, of_seconds(f->elapsed).text, percent(f->most, f->elapsed),
            sagoi_size_to_text(f->bytes[1]).text, sagoi_size_to_text(f->bytes[0]).text, calls,
            sagoi_plural(calls));
}

/* Opening, closing and syncing is the program's choice: how many files there are, and how often data must be safe.
 * Deferred and local writes are done in these calls, too, which the sentence says. */
static void say_around(facts *f) {
    const sagoi_record_around *around = f->record->around, *sync = &around[SAGO_REPORT_SYNC];
    const int64_t opens = around[SAGO_REPORT_OPEN].calls;
    const double opening = around[SAGO_REPORT_OPEN].seconds + around[SAGO_REPORT_CLOSE].seconds;
    int64_t late = 0;
    for (int64_t i = 0; i < f->record->nfiles; i++)
        late += f->record->files[i].counts[SAGOI_COUNT_deferred_writes] +
                f->record->files[i].counts[SAGOI_COUNT_local_writes];
    const char *also = late > 0 ? "  Writes that were put off are done then, too." : "";
    char times[32] = "once";
    if (opens > 1)
        (void)snprintf(times, sizeof times, "%" PRId64 " times", opens);
    if (opening >= 0.1 * f->elapsed && opens > 0)
        say(f, "", "Opening and closing files %s took %s of the slowest rank, %d%% of the run.%s%s", times,
            of_seconds(opening).text, percent(opening, f->elapsed), also,
            opens >= 8 ? "  Fewer files, or files that stay open, take less."
                       : "  Who comes first to either waits there for the others.");
    if (sync->seconds >= 0.1 * f->elapsed)
        say(f, "",
            "%" PRId64 " call%s that make%s data safe (sync) took %s of the slowest rank, %d%% of the run.%s  "
            "They are needed "
            "where another node or program reads the data next, or where it must survive a crash.",
            sync->calls, sagoi_plural(sync->calls), sync->calls == 1 ? "s" : "", of_seconds(sync->seconds).text,
            percent(sync->seconds, f->elapsed), also);
}

/* ---- Calls that are cut into many rounds ---- */

/* Are there so many rounds that messages, waiting and uneven work come from them? */
static bool has_many_rounds(const facts *f) { return f->aggregated > 0 && f->rounds >= 8 * f->aggregated; }

/* The file whose calls took most of the rounds.  The reasons of that file's last plan say what kept the windows
 * small. */
static const sagoi_record_file *most_rounds(const facts *f) {
    const sagoi_record_file *most = NULL;
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        const sagoi_record_file *file = &f->record->files[i];
        if (!most || file->once[SAGOI_COUNT_rounds] > most->once[SAGOI_COUNT_rounds])
            most = file;
    }
    return most;
}

static bool lacks_memory(const sagoi_record_file *file) { return strstr(file->decision, "for want of memory"); }

static void say_rounds(facts *f) {
    const sagoi_record_file *file = most_rounds(f);
    if (!has_many_rounds(f) || !file)
        return;
    int64_t rounds = f->rounds / f->aggregated;
    if (lacks_memory(file))
        say(f, "sago_memory=SIZE",
            "Aggregated calls took %" PRId64 " rounds each, since memory keeps windows small.", rounds);
    else if (strstr(file->decision, ", stripes are ") && file->stripe_unit > 0)
        say(f, "striping_unit=SIZE",
            "Aggregated calls took %" PRId64 " rounds each: windows are the file's stripes, of %s.  A file that "
            "is made with larger ones takes fewer.",
            rounds, sagoi_size_to_text(file->stripe_unit).text);
    else
        say(f, "sago_window=64M",
            "Aggregated calls took %" PRId64 " rounds each.  Larger windows take fewer; they need memory.",
            rounds);
}

/* ---- Ranks that wait for each other ---- */

static void name_ranks(const effort *of, char name[64]) {
    if (of->ranks > 1)
        (void)snprintf(name, 64, "ranks %" PRId64 " to %" PRId64, of->rank, of->rank + of->ranks - 1);
    else
        (void)snprintf(name, 64, "rank %" PRId64, of->rank);
}

/* Is there one rank (or one row) that hardly waits, while all others do?  Where many ranks hardly wait, as
 * aggregators may, no single rank is to blame. */
static bool is_one_waited_for(const facts *f) {
    const bool few = f->ready == f->last.ranks || f->ready <= f->mean.ranks / 4;
    return f->mean.ranks > f->last.ranks && f->last.meeting < 0.5 * f->mean.meeting && few;
}

/* A rank that comes late to calls spends less time in them than the ranks that wait there. */
static bool is_late(const facts *f) {
    double total = f->last.work + f->last.meeting, mean = f->mean.work + f->mean.meeting;
    return mean - total > 0.5 * (f->mean.meeting - f->last.meeting);
}

static bool is_uneven(const facts *f) {
    const double more = f->busiest.work - f->mean.work;
    return f->mean.ranks > f->busiest.ranks && f->busiest.work >= 1.5 * f->mean.work && more >= 0.01 &&
           more >= 0.05 * f->most;
}

/* How many ranks of a node are nearly as busy as the busiest one, as aggregators are. */
static int64_t count_busy(const facts *f, const char *node) {
    int64_t busy = 0;
    for (int64_t r = 0; r < SAGOI_RECORD_ROWS; r++) {
        const sagoi_record_row *row = f->record->rows[r];
        busy += row && row->ranks > 0 && strcmp(row->node, node) == 0 &&
                effort_of(f->record, r).work > 0.5 * f->busiest.work;
    }
    return busy;
}

/* Could the aggregators be on other nodes as well?  Some must share a node, and another node must have none. */
static bool can_spread(const facts *f) {
    bool shared = false, idle = false;
    for (int64_t r = 0; r < SAGOI_RECORD_ROWS && f->aggregated > 0; r++) {
        const sagoi_record_row *row = f->record->rows[r];
        if (!row || row->ranks == 0 || !row->node[0])
            continue;
        const int64_t busy = count_busy(f, row->node);
        shared = shared || busy > 1;
        idle = idle || busy == 0;
    }
    return shared && idle;
}

static void say_who_has_more(facts *f, int part) {
    const effort *who = &f->last;
    char ranks[64];
    name_ranks(who, ranks);
    if (who->bytes > 1.5 * f->mean.bytes)
        say(f, "",
            "%d%% of the time in calls ranks waited for %s, which had more to do: it moved %s in %s, a rank on "
            "average %s in %s.  Spread evenly, the data would be moved sooner.",
            part, ranks, sagoi_size_to_text((int64_t)who->bytes).text, of_seconds(who->work).text,
            sagoi_size_to_text((int64_t)f->mean.bytes).text, of_seconds(f->mean.work).text);
    else if (f->aggregated > 0)
        say(f, can_spread(f) ? "sago_placement=spread" : "",
            "%d%% of the time in calls ranks waited for %s, which had more to do: it worked %s, a rank on average "
            "%s.  Aggregators do more than others%s.",
            part, ranks, of_seconds(who->work).text, of_seconds(f->mean.work).text,
            can_spread(f) ? "; they can be spread over more nodes" : "");
    else
        say(f, "",
            "%d%% of the time in calls ranks waited for %s, which took longer: it worked %s, a rank on average "
            "%s, for as many bytes.  Its node, or its way to the storage, may be slow.",
            part, ranks, of_seconds(who->work).text, of_seconds(f->mean.work).text);
}

static void say_who_is_late(facts *f, int part) {
    char ranks[64];
    name_ranks(&f->last, ranks);
    say(f, "",
        "%d%% of the time in calls ranks waited for %s, which came last to the calls: it waited %s itself, a rank "
        "on average %s.  In the calls it has no more to do than others, so it is what the program does before "
        "them that takes longer there.",
        part, ranks, of_seconds(f->last.meeting).text, of_seconds(f->mean.meeting).text);
}

static void say_meeting(facts *f, int part) {
    const int64_t calls = f->calls[0] + f->calls[1];
    const bool planned = f->planning > 0.5 * f->mean.meeting;
    if (is_one_waited_for(f) && is_late(f))
        say_who_is_late(f, part);
    else if (is_one_waited_for(f) && !has_many_rounds(f) && f->last.work > 1.25 * f->mean.work)
        say_who_has_more(f, part);
    else if (planned && f->misses > f->hits && f->misses >= 8)
        say(f, "sago_plan_cache=64",
            "%d%% of the time in calls went to agreeing and planning: %" PRId64 " plan%s made, and only %" PRId64
            " found again.  Accesses that repeat their shape need none; more plans can be kept.",
            part, f->misses, f->misses == 1 ? " was" : "s were", f->hits);
    else if (planned && calls >= 100)
        say(f, f->calls[1] > 0 ? "sago_defer=on" : "",
            "%d%% of the time in calls went to agreeing on %" PRId64
            " calls.  Fewer and larger calls, writes that are deferred, or ranks that meet less often "
            "(sago_agree=enter) would take less.",
            part, calls);
    else if (has_many_rounds(f))
        say(f, "",
            "%d%% of the time in calls ranks waited for each other (phases plan and wait), in each of the rounds.",
            part);
    else
        say(f, "", "%d%% of the time in calls ranks waited for each other (phases plan and wait)%s.", part,
            is_uneven(f) ? ""
                         : ", in turn: all of them have about as much to do, but they come to the calls at "
                           "different times, or share cores");
}

/* ---- Links between nodes ---- */

/* The part of the waiting for messages in which a node takes part, as the waiting or as the awaited side; the
 * parts of all nodes add up to 2.  A node with a slow link takes part in nearly all waiting. */
typedef struct part_taken {
    int64_t row; /* the node's first row */
    double seconds, waited;
} part_taken;

static int64_t list_parts_taken(const facts *f, part_taken parts[]) {
    int64_t n = 0;
    for (int64_t r = 0; r < SAGOI_RECORD_ROWS; r++) {
        const sagoi_record_row *row = f->record->rows[r];
        int64_t i = 0;
        if (!row || row->ranks == 0)
            continue;
        while (i < n && (!row->node[0] || strcmp(f->record->rows[parts[i].row]->node, row->node) != 0))
            i++;
        if (i == n)
            parts[n++] = (part_taken){.row = r};
        parts[i].seconds += row->waited + f->record->awaited[r];
        parts[i].waited += row->waited;
    }
    return n;
}

/* Finds a node whose link may be slow.  A node that waits for the storage makes others wait as well, but hardly
 * waits for messages itself. */
static bool find_slow_link(const facts *f, part_taken *most, double *all) {
    part_taken parts[SAGOI_RECORD_ROWS];
    double waited = 0;
    const int64_t n = list_parts_taken(f, parts);
    *most = (part_taken){0};
    *all = 0;
    for (int64_t i = 0; i < n; i++) {
        *all += parts[i].seconds / 2;
        waited += parts[i].waited / (double)n;
        *most = parts[i].seconds > most->seconds ? parts[i] : *most;
    }
    return n >= 4 && f->record->rows[most->row]->node[0] && *all > 0.05 * f->all && most->seconds > 0.8 * *all &&
           most->waited > 0.5 * waited;
}

/* A slow link also slows down the way to the storage, which shows where one rank alone uses a target, or where a
 * whole node is slow. */
static bool is_link_slow(const facts *f) {
    part_taken most;
    double all;
    const bool alone = f->target.found && f->record->files[f->target.file].targets[f->target.entry].ranks == 1;
    return (alone || f->node.found) && find_slow_link(f, &most, &all);
}

static void say_slow_link(facts *f) {
    part_taken most;
    double all;
    if (find_slow_link(f, &most, &all))
        say(f, "",
            "%d%% of the waiting for messages is for those to or from node %s: its link, or the node, is slower "
            "than the others%s.",
            percent(fmin(most.seconds, all), all), f->record->rows[most.row]->node,
            is_link_slow(f) ? ", and what it writes and reads goes the same way" : "");
}

static void say_exchange_phase(facts *f, int part) {
    if (has_many_rounds(f))
        say(f, "", "%d%% of the time in calls went to messages between nodes, of which every round has its own.",
            part);
    else
        say(f, "sago_aggregators_per_node=2",
            "%d%% of the time in calls went to messages between nodes.  More aggregators on a node take more of "
            "them at once; data that lies in the file as it lies on the nodes needs none.",
            part);
}

/* Bytes a second that a rank moved while it was in the file system.  0: not known, because no rank was there, or
 * because a mapping of the file moved most bytes without system calls. */
static double stream_speed(const facts *f) {
    double bytes = 0, seconds = 0;
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        bytes += (double)f->record->files[i].phase[SAGO_PHASE_STORE].bytes;
        seconds += fmax(f->record->files[i].phase[SAGO_PHASE_STORE].seconds, f->record->files[i].io_seconds);
    }
    return seconds > 0 && bytes >= 0.5 * (double)(f->bytes[0] + f->bytes[1]) ? bytes / seconds : 0;
}

/* Bytes a second of the job while its slowest rank was in calls. */
static double job_speed(const facts *f) {
    const double seconds = f->spent > 0 ? f->spent : f->most;
    return seconds > 0 ? (double)(f->bytes[0] + f->bytes[1]) / seconds : 0;
}

/* Seconds that requests to the slow target took, added up over the ranks. */
static double target_seconds(const facts *f) {
    return f->target.found ? f->record->files[f->target.file].targets[f->target.entry].seconds : 0;
}

/* The part of the time that the storage explains.  A rank that waits for an aggregator, in messages or where ranks
 * meet, waits for what the aggregator waits for.  So the storage explains the time if one rank waited for it most
 * of the slowest rank's time, or if a slow target kept ranks that long, whichever rank that was in each round. */
static double storage_share(const facts *f) {
    if (f->most <= 0)
        return 0;
    double seconds = fmax(f->stored.storing, fmin(target_seconds(f), f->most));
    return seconds / f->most;
}

static void name_rank_and_node(const effort *of, char name[128]) {
    char ranks[64];
    name_ranks(of, ranks);
    (void)snprintf(name, 128, of->node[0] ? "%s on node %s" : "%s%s", ranks, of->node);
}

/* Says that one rank alone used the slow target: then the target cannot be told from that rank's way to the
 * storage. */
static void say_only_user(const facts *f, int64_t rank, char *text, size_t bytes) {
    const int64_t r = sagoi_record_row_number(f->record, rank);
    const sagoi_record_row *row = r >= 0 ? f->record->rows[r] : NULL;
    const char *node = row ? row->node : "";
    (void)snprintf(text, bytes, "  Only rank %" PRId64 "%s%s used it, so it may be that %s's link as well.", rank,
                   node[0] ? " on node " : "", node, node[0] ? "node" : "rank");
}

static void say_slow_target(facts *f) {
    const sagoi_record_file *file = &f->record->files[f->target.file];
    const sagoi_record_target *target = &file->targets[f->target.entry];
    const int64_t share = sagoi_record_target_share(f->target.entry, file->stripe_count);
    int64_t first = f->target.entry;
    if (file->stripe_count > SAGOI_RECORD_TARGETS)
        first = (f->target.entry * file->stripe_count + SAGOI_RECORD_TARGETS - 1) / SAGOI_RECORD_TARGETS;
    char which[96], who[160] = "";
    if (share > 1)
        (void)snprintf(which, sizeof which, "Targets %" PRId64 " to %" PRId64 " of the %" PRId64, first + 1,
                       first + share, file->stripe_count);
    else
        (void)snprintf(which, sizeof which, "Target %" PRId64 " of the %" PRId64, first + 1, file->stripe_count);
    if (target->ranks == 1)
        say_only_user(f, target->longest_rank, who, sizeof who);
    say(f, "",
        "%s that %.120s is on is slow: %s/s, the others %s/s.  It has the stripes of %s that begin at %s and "
        "every %s from there.%s  A file made on other targets would not wait for it; whoever runs the storage "
        "should know.",
        which, file->path, sagoi_size_to_text((int64_t)f->target.speed).text,
        sagoi_size_to_text((int64_t)f->target.others).text, sagoi_size_to_text(share * file->stripe_unit).text,
        sagoi_size_to_text(first * file->stripe_unit).text,
        sagoi_size_to_text(file->stripe_count * file->stripe_unit).text, who);
}

static void say_slow_node(facts *f) {
    char who[128];
    name_rank_and_node(&f->node.who, who);
    if (f->node.who.node[0])
        (void)snprintf(who, sizeof who, "node %s", f->node.who.node);
    say(f, "",
        "The way to the storage from %s is slow: %s/s there, from others %s/s.  Its link, or what else runs "
        "there, may be the reason.",
        who, sagoi_size_to_text((int64_t)f->node.speed).text, sagoi_size_to_text((int64_t)f->node.others).text);
}

/* Says whichever of target and node explains more. */
static void say_slow_storage(facts *f) {
    const double of_target = f->target.found ? f->target.others / f->target.speed : 0;
    const double of_node = f->node.found ? f->node.others / f->node.speed : 0;
    if (of_target > 0 && of_target >= 0.7 * of_node)
        say_slow_target(f);
    else if (of_node > 0)
        say_slow_node(f);
}

static void say_waited_for_storage(facts *f, int part) {
    char who[128];
    name_rank_and_node(&f->stored, who);
    say(f, "",
        "The storage is what the job waits for: %d%% of the time in calls, longest on %s (%s), while other ranks "
        "waited for %s.  The job moved %s/s.",
        part, who, of_seconds(f->stored.storing).text,
        f->aggregated > 0 ? "those who write and read for them" : "those who came to the slow part of it",
        sagoi_size_to_text((int64_t)job_speed(f)).text);
}

static void say_store_phase(facts *f, int part) {
    double speed = stream_speed(f), tuned = f->record->stream;
    char of_rank[160] = "";
    if (speed > 0)
        (void)snprintf(of_rank, sizeof of_rank, ", %s/s of a rank that was in it%s",
                       sagoi_size_to_text((int64_t)speed).text,
                       tuned <= 0          ? " (`sago tune` would tell how much it could be)"
                       : speed < tuned / 2 ? ""
                                           : ", near what `sago tune` measured");
    if (speed > 0 && speed < tuned / 2)
        say(f, "sago_aggregators_per_target=2",
            "%d%% of the time in calls went to the file system: %s/s of the job%s, where `sago tune` measured "
            "%s/s of one.  More writers for each storage target, or wider stripes when the file is made "
            "(striping_factor), may come nearer.",
            part, sagoi_size_to_text((int64_t)job_speed(f)).text, of_rank,
            sagoi_size_to_text((int64_t)tuned).text);
    else
        say(f, "",
            "%d%% of the time in calls went to the file system: %s/s of the job%s.  The storage is what the job "
            "waits for: nonblocking calls, or checkpoints written in the background, hide it.",
            part, sagoi_size_to_text((int64_t)job_speed(f)).text, of_rank);
}

/* Waiting counts as one kind, whether in an agreement or at a gate of the node. */
static sago_phase largest_sum(const facts *f) {
    int largest = SAGO_PHASE_WAIT;
    double most = f->seconds[SAGO_PHASE_PLAN] + f->seconds[SAGO_PHASE_WAIT];
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        if (f->seconds[i] > most) {
            largest = i;
            most = f->seconds[i];
        }
    return (sago_phase)largest;
}

/* The phase that all ranks wait for in the end, even if few ranks are busy with it. */
static sago_phase largest_phase(const facts *f) {
    const bool explained = f->aggregated > 0 || f->target.found || f->node.found;
    return explained && storage_share(f) >= 0.5 ? SAGO_PHASE_STORE : largest_sum(f);
}

static void say_phase(facts *f) {
    sago_phase phase = largest_phase(f);
    int part = percent(f->seconds[phase], f->all);
    if (f->all <= 0 || f->most < 0.01 * f->elapsed)
        return;
    switch (phase) {
    case SAGO_PHASE_EXCHANGE:
        say_exchange_phase(f, part);
        say_slow_link(f);
        break;
    case SAGO_PHASE_STORE:
        if (is_link_slow(f)) {
            say_slow_link(f);
            return;
        }
        if (largest_sum(f) == SAGO_PHASE_STORE)
            say_store_phase(f, part);
        else
            say_waited_for_storage(f, (int)lround(100 * storage_share(f)));
        if (f->target.found || f->node.found) {
            say_slow_storage(f);
            return;
        }
        break;
    case SAGO_PHASE_GATHER:
        say(f, "",
            "%d%% of the time in calls went to copies between the program's memory and the library's, or the "
            "mapped file: the memory's speed is the limit, not the storage's.",
            part);
        break;
    case SAGO_PHASE_FLATTEN:
        say(f, "",
            "%d%% of the time in calls went to describing datatypes.  A view that is set once, or types that are "
            "used again, cost this once.",
            part);
        break;
    default:
        say_meeting(f, percent(f->seconds[SAGO_PHASE_PLAN] + f->seconds[SAGO_PHASE_WAIT], f->all));
        say_slow_link(f); /* which may be what the others wait for */
        return;
    }
    part = percent(f->seconds[SAGO_PHASE_PLAN] + f->seconds[SAGO_PHASE_WAIT], f->all);
    if (part >= 20 && is_one_waited_for(f))
        say_meeting(f, part);
}

/* Says that work is uneven where no rank waited for it at a meeting: the waiting may be hidden, or be in
 * messages. */
static void say_imbalance(facts *f) {
    char ranks[64];
    if (!is_uneven(f) || is_one_waited_for(f) || has_many_rounds(f) || f->most < 0.01 * f->elapsed)
        return;
    name_ranks(&f->busiest, ranks);
    say(f, can_spread(f) ? "sago_placement=spread" : "", "Work is uneven: %s worked %s, a rank on average %s.%s",
        ranks, of_seconds(f->busiest.work).text, of_seconds(f->mean.work).text,
        can_spread(f) ? "  Aggregators do more than others; they can be spread over more nodes." : "");
}

static void say_small(facts *f) {
    int64_t bytes = f->bytes[0] + f->bytes[1];
    if (f->sizes < 100 || bytes / f->sizes >= 16384)
        return;
    say(f, f->calls[1] > 0 ? "sago_defer=on" : "",
        "Calls are small: %s a rank and call on average.  Several variables given together (sago_declare), or "
        "writes that are kept and moved together, cost less.",
        sagoi_size_to_text(bytes / f->sizes).text);
}

/* Says what holes cost.  Sago writes no byte that the program did not give, unless the user allows it, and where
 * requests are dear that has its price. */
static bool say_dear_holes(facts *f) {
    for (int64_t i = 0; i < f->record->nfiles; i++)
        if (strstr(f->record->files[i].decision, "sago_sieve=auto")) {
            say(f, "sago_sieve=auto",
                "Writes to %.160s leave holes, and each run is a request.  Holes that are read and written back "
                "take fewer; only if no process outside the job writes to the file at the same time.",
                f->record->files[i].path);
            return true;
        }
    return false;
}

/* Windows that are written piece by piece.  A rank that gives small pieces itself is told so elsewhere. */
static void say_holes(facts *f) {
    if (largest_phase(f) != SAGO_PHASE_STORE || say_dear_holes(f))
        return;
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        const sagoi_record_file *file = &f->record->files[i];
        const int64_t requests = file->phase[SAGO_PHASE_STORE].runs, bytes = file->phase[SAGO_PHASE_STORE].bytes;
        if (file->counts[SAGOI_COUNT_bytes_written] == 0 || requests < 10000 || bytes / requests >= 4096 ||
            requests < 16 * (f->sizes + f->rounds))
            continue;
        say(f, "sago_sieve=on",
            "%.160s is accessed by %" PRId64
            " requests of %s on average, since the data has holes.  Holes that are read and written back take far "
            "fewer; only if nobody else writes to the file at the same time.",
            file->path, requests, sagoi_size_to_text(bytes / requests).text);
        return;
    }
}

static void say_handed_file(facts *f, const sagoi_record_file *file) {
    const sagoi_record_passed *passed = &file->passed[1];
    char took[96] = "";
    if (passed->longest > 0)
        (void)snprintf(took, sizeof took, ", %s of the slowest rank", of_seconds(passed->longest).text);
    for (int n = 0; n < SAGOI_RECORD_NOTES && file->notes[n].text[0]; n++, took[0] = '\0')
        say(f, "", "%" PRId64 " call%s on %.160s %s handed to the MPI library%s: %s.", file->notes[n].once,
            sagoi_plural(file->notes[n].once), file->path, file->notes[n].once == 1 ? "was" : "were", took,
            file->notes[n].text);
}

static void say_handed(facts *f) {
    for (int64_t i = 0; i < f->record->nfiles; i++)
        say_handed_file(f, &f->record->files[i]);
}

/* Says how many independent calls the program made, which the MPI library serves. */
static void say_independent(facts *f) {
    sagoi_record_passed all = {0};
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        const sagoi_record_passed *passed = &f->record->files[i].passed[0];
        all.longest += passed->longest;
        for (int w = 0; w < 2; w++) {
            all.calls[w] += passed->calls[w];
            all.bytes[w] += passed->bytes[w];
        }
    }
    int64_t calls = all.calls[0] + all.calls[1];
    double mean = calls > 0 ? (double)(all.bytes[0] + all.bytes[1]) / (double)calls : 0;
    if (calls == 0 || all.longest < 0.01 * f->elapsed)
        return;
    say(f, "",
        "The program made %" PRId64 " independent write%s and %" PRId64
        " read%s of %s on average, which the MPI library serves, not Sago: %s of the slowest rank, %d%% of the "
        "run.%s",
        all.calls[1], sagoi_plural(all.calls[1]), all.calls[0], sagoi_plural(all.calls[0]),
        sagoi_size_to_text((int64_t)mean).text, of_seconds(all.longest).text, percent(all.longest, f->elapsed),
        mean >= 1 << 20 ? "" : "  Collective calls (MPI_File_write_at_all) let ranks move such pieces together.");
}

static void say_memory(facts *f) {
    if (has_many_rounds(f) && lacks_memory(most_rounds(f)))
        return; /* the sentence about rounds has said this */
    for (int64_t i = 0; i < f->record->nnodes; i++) {
        const sagoi_record_node *node = &f->record->nodes[i];
        if (node->budget > 0 && (double)node->peak > 0.9 * (double)node->budget) {
            say(f, "sago_memory=SIZE",
                "Node %s used %s of %s that it may: more memory would mean fewer rounds and messages.", node->name,
                sagoi_size_to_text(node->peak).text, sagoi_size_to_text(node->budget).text);
            return;
        }
    }
}

static void say_checkpoints(facts *f) {
    double held = 0, written = 0;
    const int64_t n = f->record->nsteps;
    for (int64_t i = 0; i < n; i++) {
        held += f->record->steps[i].held;
        written += f->record->steps[i].write + f->record->steps[i].drain;
    }
    const bool often = n > 1 && held >= 0.1 * f->elapsed;
    if (n > 0)
        say(f, often ? "sago_ckpt_overhead=5" : "",
            "%" PRId64 " checkpoint%s held the program for %s in all (%d%% of the run), and took %s to be written "
            "and drained.%s",
            n, sagoi_plural(n), of_seconds(held).text, percent(held, f->elapsed), of_seconds(written).text,
            often ? "  A program that saves only when sago_ckpt_due() says so is held for the share that a hint "
                    "allows."
                  : "");
}

int64_t sagoi_verdict_of(const sagoi_record *record, sagoi_sentence said[SAGOI_VERDICT_MAX]) {
    facts f = {.record = record, .said = said, .elapsed = record->end - record->begin};
    look_at_rows(&f);
    look_at_files(&f);
    look_at_targets(&f);
    look_at_nodes(&f);
    say_state(&f);
    say_all(&f);
    say_independent(&f);
    say_around(&f);
    const bool storage = largest_phase(&f) == SAGO_PHASE_STORE; /* else the rounds explain the phase */
    if (!storage)
        say_rounds(&f);
    say_phase(&f);
    if (storage)
        say_rounds(&f);
    say_imbalance(&f);
    say_small(&f);
    say_holes(&f);
    say_memory(&f);
    say_checkpoints(&f);
    say_handed(&f);
    return f.count;
}

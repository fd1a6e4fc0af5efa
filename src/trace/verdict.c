/* The report in words: what took the time, who waited for whom, what to try.  Each sentence has a condition of its
 * own; they come in the order in which a reader would ask. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/checked.h"
#include "trace/report.h"

/* What all sentences look at. */
typedef struct facts {
    const sagoi_record *record;
    sagoi_sentence *said;
    int64_t count;
    double seconds[SAGO_PHASE_COUNT], all; /* of all ranks */
    double most, mean;                     /* in all phases, of one rank */
    double busiest, busy; /* the same without waiting: of the busiest row's mean rank, and of all */
    int64_t busiest_rank, busiest_ranks;
    int64_t bytes[2], calls[2], sizes, aggregated, rounds, misses, hits;
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

static words of_bytes(double bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int unit = 0;
    words said;
    for (; bytes >= 1024 && unit < 5; unit++)
        bytes /= 1024;
    (void)snprintf(said.text, sizeof said.text, bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes,
                   units[unit]);
    return said;
}

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

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

static int percent(double part, double whole) { return whole > 0 ? (int)lround(100 * part / whole) : 0; }

/* ---- Looking ---- */

static double without_waiting(const sagoi_record_row *row) {
    double sum = 0;
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        sum += i == SAGO_PHASE_WAIT ? 0 : row->seconds[i];
    return sum;
}

static int64_t first_rank_of(const sagoi_record *record, int64_t row) {
    if (record->ranks <= SAGOI_RECORD_ROWS)
        return row;
    return (row * record->ranks + SAGOI_RECORD_ROWS - 1) / SAGOI_RECORD_ROWS;
}

static void look_at_rows(facts *f) {
    double busy = 0;
    int64_t ranks = 0;
    for (int r = 0; r < SAGOI_RECORD_ROWS; r++) {
        const sagoi_record_row *row = f->record->rows[r];
        if (!row || row->ranks == 0)
            continue;
        for (int i = 0; i < SAGO_PHASE_COUNT; i++)
            f->seconds[i] += row->seconds[i];
        f->most = fmax(f->most, row->most);
        ranks += row->ranks;
        busy += without_waiting(row);
        if (without_waiting(row) / (double)row->ranks > f->busiest) {
            f->busiest = without_waiting(row) / (double)row->ranks;
            f->busiest_rank = first_rank_of(f->record, r);
            f->busiest_ranks = row->ranks;
        }
    }
    for (int i = 0; i < SAGO_PHASE_COUNT; i++)
        f->all += f->seconds[i];
    f->mean = ranks > 0 ? f->all / (double)ranks : 0;
    f->busy = ranks > 0 ? busy / (double)ranks : 0;
}

static void look_at_files(facts *f) {
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        const sagoi_record_file *file = &f->record->files[i];
        f->bytes[0] += file->counts[SAGOI_COUNT_bytes_read];
        f->bytes[1] += file->counts[SAGOI_COUNT_bytes_written];
        f->calls[0] += file->led[SAGOI_COUNT_collective_reads];
        f->calls[1] += file->led[SAGOI_COUNT_collective_writes];
        f->aggregated += file->led[SAGOI_COUNT_aggregated_calls];
        f->rounds += file->led[SAGOI_COUNT_rounds];
        f->misses += file->led[SAGOI_COUNT_plan_misses];
        f->hits += file->led[SAGOI_COUNT_plan_hits];
        for (int w = 0; w < 2; w++)
            for (int s = 0; s < SAGOI_RECORD_SIZES; s++)
                f->sizes += file->sizes[w][s];
    }
}

/* ---- Sentences ---- */

static void say_state(facts *f) {
    const sagoi_record *r = f->record;
    if (!r->complete)
        say(f, "",
            "The job did not come to MPI_Finalize: this is what its ranks had recorded when it ended, at most a "
            "few "
            "seconds before.");
    if (r->seen < r->ranks)
        say(f, "", "There are records of %" PRId64 " of %" PRId64 " ranks only; all numbers are of these.",
            r->seen, r->ranks);
}

static void say_all(facts *f) {
    const sagoi_record *r = f->record;
    double elapsed = r->end - r->begin;
    int64_t calls = f->calls[0] + f->calls[1];
    say(f, "",
        "The slowest rank spent %s of %s (%d%%) in Sago's calls; the job wrote %s and read %s, by %" PRId64
        " collective call%s.",
        of_seconds(f->most).text, of_seconds(elapsed).text, percent(f->most, elapsed),
        of_bytes((double)f->bytes[1]).text, of_bytes((double)f->bytes[0]).text, calls, plural(calls));
}

static sago_phase largest_phase(const facts *f) {
    int largest = 0;
    for (int i = 1; i < SAGO_PHASE_COUNT; i++)
        largest = f->seconds[i] > f->seconds[largest] ? i : largest;
    return (sago_phase)largest;
}

static void say_plan_phase(facts *f, int part) {
    if (f->misses > f->hits)
        say(f, "sago_plan_cache=64",
            "%d%% of the time went to agreeing and planning: %" PRId64 " plans were made, and only %" PRId64
            " found again.  Accesses that repeat their shape need none; more plans can be kept.",
            part, f->misses, f->hits);
    else
        say(f, "sago_defer=on",
            "%d%% of the time went to agreeing on calls, waiting for whoever came last included.  Fewer and "
            "larger "
            "calls, writes that are deferred, or ranks that meet less often (sago_agree=enter) would take less.",
            part);
}

static void say_exchange_phase(facts *f, int part) {
    say(f, "sago_aggregators_per_node=2",
        "%d%% of the time went to messages between nodes.  More aggregators on a node take more of them at once; "
        "data that lies in the file as it lies on the nodes needs none.",
        part);
}

/* Bytes a second that a rank moved while it was in the file system; 0: nobody was. */
static double stream_speed(const facts *f) {
    double bytes = 0, seconds = 0;
    for (int64_t i = 0; i < f->record->nfiles; i++) {
        bytes += (double)f->record->files[i].phase[SAGO_PHASE_STORE].bytes;
        seconds += fmax(f->record->files[i].phase[SAGO_PHASE_STORE].seconds, f->record->files[i].io_seconds);
    }
    return seconds > 0 ? bytes / seconds : 0;
}

static void say_store_phase(facts *f, int part) {
    double speed = stream_speed(f), tuned = f->record->stream;
    if (tuned > 0 && speed < tuned / 2)
        say(f, "sago_aggregators_per_target=2",
            "%d%% of the time went to the file system, which took %s/s of a rank; `sago tune` measured %s/s of "
            "one.  "
            "More writers for each storage target, or wider stripes when the file is made (striping_factor), may "
            "come "
            "nearer.",
            part, of_bytes(speed).text, of_bytes(tuned).text);
    else
        say(f, "",
            "%d%% of the time went to the file system, at %s/s of a rank%s.  The storage is what the job waits "
            "for: "
            "nonblocking calls, or checkpoints written in the background, hide it.",
            part, of_bytes(speed).text, tuned > 0 ? ", near what `sago tune` measured" : "");
}

static bool is_uneven(const facts *f) {
    return f->record->seen > 1 && f->busy > 0 && f->busiest >= 1.5 * f->busy && f->busiest - f->busy >= 0.01;
}

static void say_waiting(facts *f, int part) {
    if (is_uneven(f)) /* say_imbalance() says who */
        say(f, "", "%d%% of the time ranks of a node waited for each other.", part);
    else if (f->busiest > 1.1 * f->busy)
        say(f, "",
            "%d%% of the time ranks of a node waited for each other: rank %" PRId64
            " works longest between meetings, %s in all; a rank on average %s.",
            part, f->busiest_rank, of_seconds(f->busiest).text, of_seconds(f->busy).text);
    else
        say(f, "",
            "%d%% of the time ranks of a node waited for each other, though all of them have about as much to do: "
            "they "
            "come to the calls at different times, or share cores.",
            part);
}

static void say_phase(facts *f) {
    sago_phase phase = largest_phase(f);
    int part = percent(f->seconds[phase], f->all);
    if (f->all <= 0)
        return;
    switch (phase) {
    case SAGO_PHASE_PLAN:
        say_plan_phase(f, part);
        break;
    case SAGO_PHASE_EXCHANGE:
        say_exchange_phase(f, part);
        break;
    case SAGO_PHASE_STORE:
        say_store_phase(f, part);
        break;
    case SAGO_PHASE_GATHER:
        say(f, "",
            "%d%% of the time went to copies between the program's memory and the library's, or the mapped file: "
            "the memory's speed is the limit, not the storage's.",
            part);
        break;
    case SAGO_PHASE_FLATTEN:
        say(f, "",
            "%d%% of the time went to describing datatypes.  A view that is set once, or types that are used "
            "again, "
            "cost this once.",
            part);
        break;
    default:
        say_waiting(f, part);
    }
}

static void say_imbalance(facts *f) {
    if (!is_uneven(f))
        return;
    char ranks[64];
    if (f->busiest_ranks > 1)
        (void)snprintf(ranks, sizeof ranks, "Ranks %" PRId64 " to %" PRId64, f->busiest_rank,
                       f->busiest_rank + f->busiest_ranks - 1);
    else
        (void)snprintf(ranks, sizeof ranks, "Rank %" PRId64, f->busiest_rank);
    say(f, f->aggregated > 0 ? "sago_placement=spread" : "",
        "%s worked %s, a rank on average %s: the others waited.  %s", ranks, of_seconds(f->busiest).text,
        of_seconds(f->busy).text,
        f->aggregated > 0 ? "Aggregators do more than others; they can be spread over more nodes."
                          : "What each rank writes or reads is uneven.");
}

static void say_small(facts *f) {
    int64_t bytes = f->bytes[0] + f->bytes[1];
    if (f->sizes < 100 || bytes / f->sizes >= 16384)
        return;
    say(f, f->calls[1] > 0 ? "sago_defer=on" : "",
        "Calls are small: %s a rank and call on average.  Several variables given together (sago_declare), or "
        "writes that are kept and moved together, cost less.",
        of_bytes((double)bytes / (double)f->sizes).text);
}

static void say_rounds(facts *f) {
    if (f->aggregated == 0 || f->rounds < 8 * f->aggregated)
        return;
    say(f, "sago_window=64M",
        "Aggregated calls took %" PRId64
        " rounds each.  Larger windows take fewer; they need memory (sago_memory), which may be what keeps them "
        "small.",
        f->rounds / f->aggregated);
}

static void say_handed(facts *f) {
    for (int64_t i = 0; i < f->record->nfiles; i++)
        for (int n = 0; n < SAGOI_RECORD_NOTES && f->record->files[i].notes[n].text[0]; n++) {
            const sagoi_record_note *note = &f->record->files[i].notes[n];
            say(f, "", "%" PRId64 " call%s on %.160s were handed to the MPI library: %s.", note->led,
                plural(note->led), f->record->files[i].path, note->text);
        }
}

static void say_memory(facts *f) {
    for (int64_t i = 0; i < f->record->nnodes; i++) {
        const sagoi_record_node *node = &f->record->nodes[i];
        if (node->budget > 0 && (double)node->peak > 0.9 * (double)node->budget) {
            say(f, "sago_memory=SIZE",
                "Node %s used %s of %s that it may: more memory would mean fewer rounds and messages.", node->name,
                of_bytes((double)node->peak).text, of_bytes((double)node->budget).text);
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
    if (n > 0)
        say(f, "",
            "%" PRId64 " checkpoint%s held the program for %s in all, and took %s to be written and drained.", n,
            plural(n), of_seconds(held).text, of_seconds(written).text);
}

int64_t sagoi_verdict_of(const sagoi_record *record, sagoi_sentence said[SAGOI_VERDICT_MAX]) {
    facts f = {.record = record, .said = said};
    look_at_rows(&f);
    look_at_files(&f);
    say_state(&f);
    say_all(&f);
    say_phase(&f);
    say_imbalance(&f);
    say_small(&f);
    say_rounds(&f);
    say_memory(&f);
    say_checkpoints(&f);
    say_handed(&f);
    return f.count;
}

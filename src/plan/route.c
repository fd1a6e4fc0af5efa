/* Decides routes.  What a plan consists of (aggregators, windows, rounds) is plan.c's. */
#include "plan/route.h"

#include "base/checked.h"

/* ---- The file ---- */

/* Is copying to and from a mapping of the file worth while? */
static bool wants_mapping(const sagoi_hints *hints, const sagoi_route_storage *storage) {
    if (storage->unmappable || storage->subfiles || storage->nodes > 1 || hints->direct_io ||
        hints->map == SAGOI_CHOICE_OFF)
        return false;
    return storage->in_memory || (storage->local && hints->map == SAGOI_CHOICE_ON);
}

sagoi_route_file sagoi_route_file_of(const sagoi_hints *hints, const sagoi_route_storage *storage) {
    return (sagoi_route_file){.nodes = storage->nodes,
                              .ranks = storage->ranks,
                              .agree = (sagoi_agree_hint)hints->agree,
                              .strategy = (sagoi_strategy)hints->strategy,
                              .apart = hints->nonblocking == SAGOI_NONBLOCKING_APART,
                              .one_kernel = storage->nodes == 1 && storage->local,
                              .mappable = wants_mapping(hints, storage),
                              .striped = storage->with_targets || storage->subfiles,
                              .subfiles = storage->subfiles};
}

bool sagoi_route_takes_uring(const sagoi_hints *hints) {
    return hints->io == SAGOI_IO_URING || (hints->io == SAGOI_IO_AUTO && hints->direct_io);
}

/* ---- Company ---- */

sagoi_route_choice sagoi_route_answer(bool any_unwilling) {
    return any_unwilling ? sagoi_route_go(SAGOI_TOGETHER, SAGOI_NOW, SAGOI_WHY_ANY_UNWILLING)
                         : sagoi_route_go(SAGOI_ALONE, SAGOI_NOW, SAGOI_WHY_ALL_WILLING);
}

bool sagoi_route_leaves_alone(sagoi_route_call call, const sagoi_route_file *file) {
    return file->agree != SAGOI_AGREE_ALWAYS && !call.nonblocking;
}

bool sagoi_route_leaves_planned_alone(sagoi_route_call call, const sagoi_route_file *file,
                                      sagoi_strategy strategy) {
    return file->nodes > 1 && strategy == SAGOI_STRATEGY_DIRECT && sagoi_route_leaves_alone(call, file);
}

/* Asking for the size costs each node a request, and some file systems ask every target in turn.  A write needs
 * the size only where the file may be mapped.  A read needs the size only if the read is planned and may reach
 * past the known end of the file, or no aggregator would notice that the file ends earlier.  A read is taken to be
 * like the last one; where that was a wrong guess, the ranks ask later.  Steps of declared variables are planned,
 * and a rank that follows the other ranks' direction may come to read.  A file in subfiles is always looked at: a
 * subfile may have been lost, and no single subfile tells where the file ends.  A local file system answers at
 * once, and knows if the file was cut. */
bool sagoi_route_needs_size(sagoi_route_call call, const sagoi_route_file *file, const sagoi_route_own *own,
                            bool known, bool follows) {
    bool trusted = known && !own->local;
    if (file->subfiles)
        return true;
    if (call.write)
        return file->mappable || (follows && !trusted);
    bool planned = own->read.outcome != SAGOI_OUTCOME_ALONE || call.type == SAGOI_DECLARED;
    return planned && (!trusted || own->read.direct);
}

bool sagoi_route_ends_answered(sagoi_route_call call, const sagoi_plan *plan, const sagoi_answers *answers) {
    bool heard = answers->remembered && answers->from_all && !answers->refused && !answers->staged;
    return heard && !answers->failed && !call.write && !call.nonblocking &&
           plan->strategy == SAGOI_STRATEGY_AGGREGATED && plan->move == SAGOI_MOVE_PACKED && plan->nodes > 1 &&
           plan->rounds == 1 && plan->layers == 2 && !plan->merge;
}

/* One piece a rank, side by side or with gaps between them: gathering would make fewer and longer accesses, but
 * each rank's bytes would cross the network for it, and one exchange more.  Ranks that read the same bytes have
 * them read once.  Where it is known what storage costs a process, a plan weighs it (weigh.c). */
bool sagoi_route_gathers_nothing(const sagoi_totals *all, const sagoi_target *target, const sagoi_hints *hints) {
    if (hints->strategy != SAGOI_STRATEGY_AUTO || all->nodes == 1 || all->most_runs != 1 ||
        target->subfiles.count > 0 || (all->topology && all->topology->request > 0))
        return false;
    return all->bytes <= all->span && !sagoi_is_shared(sagoi_sharing_costs(all, target, hints)) &&
           (target->lock_unit == 0 || all->bytes / all->runs >= target->lock_unit);
}

bool sagoi_route_trusts_end(int64_t known, int64_t high, bool staged) {
    return !staged && known > 0 && high <= known;
}

bool sagoi_route_notices_end(const sagoi_plan *plan, bool remembered) {
    if (plan->strategy != SAGOI_STRATEGY_AGGREGATED)
        return false;
    return plan->nodes == 1 || (remembered && !plan->relay_repeats && plan->move == SAGOI_MOVE_PACKED);
}

bool sagoi_route_forgoes_rma(const sagoi_hints *hints, bool nonblocking, bool staged) {
    return (nonblocking || staged) && hints->move == SAGOI_MOVE_RMA;
}

sagoi_sieved sagoi_route_sieved(const sagoi_hints *hints, const sagoi_plan *plan, bool exclusive) {
    if (hints->sieve == SAGOI_CHOICE_ON)
        return (sagoi_sieved){.gap = INT64_MAX, .runs = 2};
    return (sagoi_sieved){.gap = exclusive ? plan->sieve_gap : 0, .runs = SAGOI_SIEVED_RUNS_LEAST};
}

int64_t sagoi_route_step_parts(const sagoi_route_file *file, const sagoi_hints *hints, int64_t nvars) {
    return file->apart ? 1 : sagoi_max(1, sagoi_min(hints->series_parts, nvars));
}

/* ---- Data in local storage ---- */

bool sagoi_route_may_drain(const sagoi_hints *hints, const sagoi_waiting *waiting) {
    return hints->tier_drain == SAGOI_DRAIN_BACKGROUND && waiting->own == 0 && !waiting->unruled &&
           waiting->calls <= SAGOI_DRAINED_CALLS_MOST;
}

bool sagoi_route_drains(int64_t streams, int64_t bytes, int64_t runs) {
    return streams == 1 && sagoi_route_are_long(bytes, runs);
}

/* ---- Before the others ---- */

/* Moved in vain at most once: the ranks then know. */
static bool is_likely_lone(const sagoi_precedent *precedent, bool striped, int64_t bytes) {
    switch (precedent->outcome) {
    case SAGOI_OUTCOME_ALONE: /* shorter pieces might share stripes */
        return !striped || bytes >= precedent->bytes;
    case SAGOI_OUTCOME_UNKNOWN:
        return !striped && bytes <= SAGOI_LONG_RUN;
    default:
        return false;
    }
}

bool sagoi_route_may_go_first(sagoi_route_call call, const sagoi_route_file *file) {
    return file->nodes > 1 && call.type == SAGOI_COLLECTIVE && !call.nonblocking &&
           file->agree == SAGOI_AGREE_ALWAYS && file->strategy == SAGOI_STRATEGY_AUTO;
}

bool sagoi_route_goes_first(sagoi_route_call call, const sagoi_route_file *file, const sagoi_route_own *own,
                            const sagoi_route_wanted *wanted) {
    if (!sagoi_route_may_go_first(call, file))
        return false;
    if (wanted->bytes == 0)
        return true;
    return wanted->one_run && wanted->memory != SAGOI_MEMORY_DEVICE &&
           is_likely_lone(call.write ? &own->written : &own->read, file->striped, wanted->bytes);
}

void sagoi_route_set_precedent(sagoi_route_own *own, bool write, bool alone, int64_t bytes) {
    sagoi_precedent *precedent = write ? &own->written : &own->read;
    *precedent = (sagoi_precedent){.outcome = alone ? SAGOI_OUTCOME_ALONE : SAGOI_OUTCOME_PLANNED, .bytes = bytes};
}

/* ---- Method: LOCAL inputs, too ---- */

static bool lies_in(const sagoi_range *range, int64_t low, int64_t high) {
    return range->low <= low && high <= range->high;
}

static void extend(sagoi_range *range, int64_t low, int64_t high) {
    bool first = range->low == range->high;
    range->low = first ? low : sagoi_min(range->low, low);
    range->high = first ? high : sagoi_max(range->high, high);
}

void sagoi_route_note(sagoi_route_own *own, int64_t low, int64_t high) {
    if (lies_in(&own->once, low, high))
        extend(&own->again, low, high);
    extend(&own->once, low, high);
}

sagoi_worker sagoi_route_worker(const sagoi_route_own *own, bool nonblocking, int64_t bytes) {
    int64_t soon = own->in_memory ? SAGOI_SOON_IN_MEMORY : own->local ? SAGOI_SOON_LOCAL : 0;
    return nonblocking && bytes > soon ? SAGOI_BY_THREAD : SAGOI_BY_CALLER;
}

/* Before the first window is read, and after the last one is filled, there is nothing else to do meanwhile. */
sagoi_worker sagoi_route_window_worker(const sagoi_route_own *own, bool nonblocking, const sagoi_plan *plan,
                                       int64_t round, int64_t bytes) {
    bool meanwhile = round != (plan->write ? plan->rounds - 1 : 0);
    return meanwhile ? SAGOI_BY_THREAD : sagoi_route_worker(own, nonblocking, bytes);
}

bool sagoi_route_reads_beside(const sagoi_hints *hints, bool plain) {
    return plain && !hints->direct_io && hints->io != SAGOI_IO_URING;
}

/* Two parts of which the second begins a whole turn of the targets after the first would meet the first, and
 * those of other ranks, at each target.  The cut is moved by an eighth of the range at most, so that neither part
 * ends long before the other. */
static int64_t shift_apart(int64_t before, int64_t stripes, int64_t targets) {
    if (targets <= 1)
        return 0;
    int64_t half = targets / 2, beyond = (before % targets - half + targets) % targets, most = stripes / 8;
    return beyond <= half ? -sagoi_min(beyond, most) : sagoi_min(targets - beyond, most);
}

int64_t sagoi_route_cut(sagoi_range range, int64_t bytes, int64_t stripe_unit, int64_t stripe_count) {
    if (stripe_unit <= 0 || bytes < 2 * SAGOI_LEAST_BESIDE)
        return range.high;
    int64_t middle = range.low + (range.high - range.low) / 2, below = middle - middle % stripe_unit;
    int64_t above = sagoi_add_limited(below, stripe_unit), cut = middle - below < above - middle ? below : above;
    int64_t first = range.low / stripe_unit, before = cut / stripe_unit - first;
    cut += shift_apart(before, range.high / stripe_unit - first, stripe_count) * stripe_unit;
    bool pays = cut - range.low >= SAGOI_LEAST_BESIDE && range.high - cut >= SAGOI_LEAST_BESIDE;
    return pays ? cut : range.high;
}

sagoi_method sagoi_route_planned(sagoi_strategy strategy, bool map_in_place, bool in_place) {
    if (strategy == SAGOI_STRATEGY_AGGREGATED)
        return SAGOI_METHOD_AGGREGATED;
    return strategy == SAGOI_STRATEGY_MAPPED || (map_in_place && in_place) ? SAGOI_METHOD_MAPPED
                                                                           : SAGOI_METHOD_DIRECT;
}

bool sagoi_route_is_piece(const sagoi_route_file *file, const sagoi_route_own *own, sagoi_memory_form memory,
                          int64_t off, int64_t len) {
    if (memory != SAGOI_MEMORY_WHOLE)
        return memory == SAGOI_MEMORY_PIECES && len <= SAGOI_MOST_PACKED;
    return len < SAGOI_LEAST_MAPPED || !file->mappable || !lies_in(&own->again, off, off + len);
}

/* Runs close together are read by one call, and copied from there: what is read in vain, and the copy (half as
 * much work as reading), must cost less than the calls that are saved.  Both are given in bytes that could be read
 * in that time. */
static int64_t read_through_costs(const sagoi_route_wanted *wanted) {
    return wanted->high - wanted->low - wanted->bytes / 2;
}

static int64_t read_through_saves(const sagoi_route_own *own, const sagoi_route_wanted *wanted) {
    return (wanted->runs - 1) * (own->in_memory ? SAGOI_SYSTEM_CALL_IN_MEMORY : SAGOI_SYSTEM_CALL_ELSEWHERE);
}

static bool is_read_through(sagoi_route_call call, const sagoi_route_own *own, const sagoi_route_wanted *wanted) {
    return !call.write && wanted->runs > 0 && wanted->high - wanted->low <= SAGOI_MOST_READ_THROUGH &&
           read_through_costs(wanted) <= read_through_saves(own, wanted);
}

/* A run in every page, and not few: there it is the system calls that cost. */
static bool are_many_short(const sagoi_route_wanted *wanted) {
    int64_t span = wanted->high - wanted->low;
    return wanted->runs > SAGOI_FEW_CALLS && wanted->runs >= span / SAGOI_MAPPED_PAGE;
}

/* Setting up pages costs more than a few calls save: so a part of the file is mapped when it is accessed again. */
static bool is_accessed_again(const sagoi_route_own *own, const sagoi_route_wanted *wanted) {
    return lies_in(&own->again, wanted->low, wanted->high) &&
           (wanted->bytes >= SAGOI_LEAST_MAPPED || wanted->runs > SAGOI_FEW_CALLS) &&
           wanted->bytes >= (wanted->high - wanted->low) / SAGOI_SPARSE_PART;
}

static void set_method(sagoi_route *route, sagoi_method method, sagoi_why why, int64_t value, int64_t limit) {
    route->method = method;
    route->why = why;
    route->value = value;
    route->limit = limit;
}

/* The method is a mapping, or a system call for each run. */
static void choose_mapped(sagoi_route *route, const sagoi_route_file *file, const sagoi_route_own *own,
                          const sagoi_route_wanted *wanted) {
    int64_t span = wanted->high - wanted->low;
    bool many = are_many_short(wanted), again = is_accessed_again(own, wanted);
    if (span == 0)
        set_method(route, SAGOI_METHOD_DIRECT, SAGOI_WHY_NOTHING, 0, 0);
    else if (!file->mappable)
        set_method(route, SAGOI_METHOD_DIRECT, SAGOI_WHY_NOT_MAPPABLE, wanted->runs, wanted->bytes);
    else if (!many && !again)
        set_method(route, SAGOI_METHOD_DIRECT, SAGOI_WHY_SYSTEM_CALLS, wanted->runs, SAGOI_FEW_CALLS);
    else if (wanted->looked && wanted->sparse && !many && wanted->bytes < span / SAGOI_HOLEY_PART)
        set_method(route, SAGOI_METHOD_DIRECT, SAGOI_WHY_HOLES, wanted->bytes, span / SAGOI_HOLEY_PART);
    else if (many)
        set_method(route, SAGOI_METHOD_MAPPED, SAGOI_WHY_MANY_SHORT_RUNS, wanted->runs,
                   sagoi_max(SAGOI_FEW_CALLS, span / SAGOI_MAPPED_PAGE));
    else
        set_method(route, SAGOI_METHOD_MAPPED, SAGOI_WHY_ACCESSED_AGAIN, wanted->bytes, span);
    route->look = route->method == SAGOI_METHOD_MAPPED && !wanted->looked;
}

/* Would gathering serve this rank's part better?  Runs in holes that others may be filling are read with the
 * others: alone it takes a copy more. */
static bool is_unwilling(sagoi_route_call call, const sagoi_route_file *file, const sagoi_route_wanted *wanted) {
    if (!file->mappable)
        return wanted->runs > SAGOI_FEW_RUNS && !sagoi_route_are_long(wanted->bytes, wanted->runs);
    return !call.write && are_many_short(wanted) && (!wanted->looked || wanted->sparse);
}

void sagoi_route_part(sagoi_route *route, sagoi_route_call call, const sagoi_route_file *file,
                      const sagoi_route_own *own, const sagoi_route_wanted *wanted) {
    route->look = false;
    route->unwilling = route->choice.helpless;
    route->worker = SAGOI_BY_CALLER;
    bool at_once = sagoi_route_worker(own, call.nonblocking, wanted->bytes) == SAGOI_BY_CALLER;
    if (at_once && wanted->one_run &&
        sagoi_route_is_piece(file, own, wanted->memory, wanted->low, wanted->high - wanted->low)) {
        set_method(route, SAGOI_METHOD_PIECE, SAGOI_WHY_ONE_PIECE, wanted->bytes, 0);
        return;
    }
    route->unwilling = route->unwilling || is_unwilling(call, file, wanted);
    if (is_read_through(call, own, wanted)) {
        set_method(route, SAGOI_METHOD_READ_THROUGH, SAGOI_WHY_CLOSE_RUNS, wanted->runs,
                   wanted->high - wanted->low);
        return;
    }
    choose_mapped(route, file, own, wanted);
    if (route->method == SAGOI_METHOD_DIRECT)
        route->worker = at_once ? SAGOI_BY_CALLER : SAGOI_BY_THREAD;
}

bool sagoi_route_asks_for_holes(const sagoi_route *route, const sagoi_route_file *file) {
    return route->choice.company != SAGOI_ALONE && !route->choice.helpless && route->unwilling && file->mappable;
}

/* ---- What else there was ---- */

static sagoi_weighed weighed(bool possible, sagoi_why why, int64_t value, int64_t limit) {
    return (sagoi_weighed){.possible = possible, .why = why, .value = value, .limit = limit};
}

static sagoi_weighed weigh_piece(const sagoi_route_file *file, const sagoi_route_own *own,
                                 const sagoi_route_wanted *wanted) {
    if (!wanted->one_run)
        return weighed(false, SAGOI_WHY_SEVERAL_RUNS, wanted->runs, 0);
    if (sagoi_route_is_piece(file, own, wanted->memory, wanted->low, wanted->high - wanted->low))
        return weighed(true, SAGOI_WHY_ONE_PIECE, wanted->bytes, 0);
    return wanted->memory == SAGOI_MEMORY_WHOLE
               ? weighed(false, SAGOI_WHY_ACCESSED_AGAIN, wanted->bytes, wanted->high - wanted->low)
               : weighed(false, SAGOI_WHY_MEMORY_IN_PIECES, wanted->bytes, SAGOI_MOST_PACKED);
}

static sagoi_weighed weigh_read_through(sagoi_route_call call, const sagoi_route_own *own,
                                        const sagoi_route_wanted *wanted) {
    int64_t span = wanted->high - wanted->low;
    if (call.write)
        return weighed(false, SAGOI_WHY_WRITES, 0, 0);
    if (span > SAGOI_MOST_READ_THROUGH)
        return weighed(false, SAGOI_WHY_LONG_RANGE, span, SAGOI_MOST_READ_THROUGH);
    return weighed(is_read_through(call, own, wanted), SAGOI_WHY_GAPS, read_through_costs(wanted),
                   read_through_saves(own, wanted));
}

sagoi_weighed sagoi_route_weigh(sagoi_method method, sagoi_route_call call, const sagoi_route_file *file,
                                const sagoi_route_own *own, const sagoi_route_wanted *wanted) {
    sagoi_route route = {.choice = {.company = SAGOI_ALONE}};
    switch (method) {
    case SAGOI_METHOD_PIECE:
        return weigh_piece(file, own, wanted);
    case SAGOI_METHOD_READ_THROUGH:
        return weigh_read_through(call, own, wanted);
    case SAGOI_METHOD_MAPPED:
        choose_mapped(&route, file, own, wanted);
        return weighed(route.method == SAGOI_METHOD_MAPPED, route.why, route.value, route.limit);
    case SAGOI_METHOD_DIRECT:
        return weighed(true, SAGOI_WHY_A_CALL_A_RUN, wanted->runs, wanted->bytes);
    default:
        return weighed(false, SAGOI_WHY_NOTHING, 0, 0);
    }
}

/* ---- Waiting for others ---- */

double sagoi_route_worth(const sagoi_route_file *file, const sagoi_route_own *own, bool write,
                         const sagoi_route_wanted *wanted) {
    double a_call = own->local ? SAGOI_SYSTEM_CALL_SECONDS : SAGOI_REMOTE_CALL_SECONDS;
    double half = ((double)wanted->runs * a_call + (double)wanted->bytes * SAGOI_BYTE_SECONDS) / 2;
    double limit = half < SAGOI_LEAST_WAIT ? SAGOI_LEAST_WAIT : half > SAGOI_MOST_WAIT ? SAGOI_MOST_WAIT : half;
    bool asks = file->nodes > 1 && sagoi_route_turns(own, write);
    return asks && own->patience > limit ? own->patience : limit;
}

void sagoi_route_lose_patience(sagoi_route_own *own) {
    if (own->patience > SAGOI_LEAST_PATIENCE)
        own->patience /= 4;
}

#include "move/convene.h"

#include "base/fiber.h"
#include "move/assembly.h"
#include "trace/stats.h"

/* Seconds between two looks that count as waiting at the most: a rank that computes, or has no core, does not
 * wait. */
static const double longest_gap = 1e-3;

static int staying;            /* calls of sagoi_stay_begin() without sagoi_stay_end() */
static sagoi_convening *first; /* convenings that are under way */

/* ---- The word of the node ---- */

enum { ARRIVED_BITS = 20, PHASE_BITS = 3, CALL_SHIFT = ARRIVED_BITS + PHASE_BITS + 1 };

static sagoi_assembly_state unpack(uint64_t word) {
    return (sagoi_assembly_state){
        .call = (int64_t)(word >> CALL_SHIFT),
        .arrived = (int64_t)(word & ((1u << ARRIVED_BITS) - 1)),
        .unwilling = word >> (CALL_SHIFT - 1) & 1,
        .phase = (sagoi_assembly_phase)(word >> ARRIVED_BITS & ((1u << PHASE_BITS) - 1)),
    };
}

static uint64_t pack(const sagoi_assembly_state *state) {
    return (uint64_t)state->call << CALL_SHIFT | (uint64_t)state->unwilling << (CALL_SHIFT - 1) |
           (uint64_t)state->phase << ARRIVED_BITS | (uint64_t)state->arrived;
}

static sagoi_assembly_state as_seen(uint64_t word, int64_t call) {
    sagoi_assembly_state state = unpack(word);
    if (state.call < call)
        return (sagoi_assembly_state){.call = call, .phase = SAGOI_ASSEMBLY_OPEN};
    if (state.call > call)
        return (sagoi_assembly_state){.call = call, .phase = SAGOI_ASSEMBLY_APART};
    return state;
}

sagoi_assembly_state sagoi_assembly_state_of(const sagoi_team *team, int64_t call) {
    return as_seen(atomic_load(&team->control->convened), call);
}

static bool replace(const sagoi_team *team, uint64_t *word, const sagoi_assembly_state *state) {
    return atomic_compare_exchange_strong(&team->control->convened, word, pack(state));
}

static void tell_node(const sagoi_team *team) {
    atomic_fetch_add(&team->control->decided.value, 1);
    sagoi_futex_wake(&team->control->decided);
}

bool sagoi_assembly_turn(const sagoi_team *team, int64_t call, unsigned from, sagoi_assembly_phase to) {
    uint64_t word = atomic_load(&team->control->convened);
    sagoi_assembly_state state;
    do {
        state = as_seen(word, call);
        if (!(from & 1u << state.phase) || unpack(word).call > call)
            return false;
        state.phase = to;
    } while (!replace(team, &word, &state));
    tell_node(team);
    return true;
}

/* Counts this rank as arrived, unless the call is decided already. */
static void arrive(sagoi_convening *c) {
    const sagoi_team *team = c->team;
    uint64_t word = atomic_load(&team->control->convened);
    sagoi_assembly_state state;
    do {
        state = as_seen(word, c->call);
        if (state.phase != SAGOI_ASSEMBLY_OPEN)
            return;
        state.arrived++;
        state.unwilling = state.unwilling || c->unwilling;
        if (state.arrived == team->local_size)
            state.phase = team->nodes > 1 ? SAGOI_ASSEMBLY_READY : SAGOI_ASSEMBLY_TOGETHER;
    } while (!replace(team, &word, &state));
    c->arrived = true;
    if (state.phase != SAGOI_ASSEMBLY_OPEN)
        tell_node(team);
}

/* Takes this rank's arrival back; false: the rank is bound, and has to stay. */
static bool depart(sagoi_convening *c) {
    const sagoi_team *team = c->team;
    uint64_t word = atomic_load(&team->control->convened);
    sagoi_assembly_state state;
    if (!c->arrived || sagoi_is_broken(team))
        return true;
    do {
        state = as_seen(word, c->call);
        if (state.phase == SAGOI_ASSEMBLY_PREPARED)
            return false;
        if (state.phase == SAGOI_ASSEMBLY_TOGETHER)
            /* If some rank was unwilling to go alone, the ranks need each other until the call is done. */
            return !state.unwilling;
        if (state.phase == SAGOI_ASSEMBLY_APART)
            break;
        state.phase = SAGOI_ASSEMBLY_OPEN;
        state.arrived--;
    } while (!replace(team, &word, &state));
    c->arrived = false;
    return true;
}

/* ---- One call ---- */

void sagoi_convene_begin(sagoi_convening *c) {
    c->looked = sagoi_clock();
    c->next = first;
    first = c;
}

void sagoi_convene_end(sagoi_convening *c) {
    sagoi_convening **at = &first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

sagoi_futex *sagoi_convene_word(const sagoi_convening *c) { return &c->team->control->decided; }

static void count_time(sagoi_convening *c) {
    double now = sagoi_clock(), gap = now - c->looked;
    c->waited += gap < longest_gap ? gap : longest_gap;
    c->looked = now;
}

static sagoi_convened read_decision(sagoi_convening *c) {
    sagoi_assembly_state state = sagoi_assembly_state_of(c->team, c->call);
    if (state.phase == SAGOI_ASSEMBLY_APART)
        return SAGOI_GO_ALONE;
    if (state.phase != SAGOI_ASSEMBLY_TOGETHER)
        return SAGOI_UNDECIDED;
    c->all_arrived = true;
    return state.unwilling ? SAGOI_GO_TOGETHER : SAGOI_GO_ALONE;
}

sagoi_convened sagoi_convene_look(sagoi_convening *c) {
    const unsigned undecided = 1u << SAGOI_ASSEMBLY_OPEN | 1u << SAGOI_ASSEMBLY_READY;
    bool told = true;
    if (sagoi_is_broken(c->team))
        return SAGOI_GO_ALONE;
    count_time(c);
    if (!c->arrived && c->limit > 0 && (staying > 0 || c->team->size == 1))
        arrive(c);
    if (c->team->nodes > 1 && c->team->local_rank == 0)
        told = sagoi_assembly_look(c);
    sagoi_convened decision = read_decision(c);
    if (decision == SAGOI_UNDECIDED && c->waited >= c->limit &&
        sagoi_assembly_turn(c->team, c->call, undecided, SAGOI_ASSEMBLY_APART))
        decision = SAGOI_GO_ALONE;
    if (told && decision != SAGOI_UNDECIDED)
        return decision;
    return sagoi_vigil_keep(c->team, &c->vigil, c->waited < c->limit) ? SAGOI_UNDECIDED : SAGOI_GO_ALONE;
}

/* ---- Staying ---- */

void sagoi_stay_begin(void) {
    sagoi_fibers_lock();
    staying++;
    sagoi_fibers_unlock();
}

/* With the lock: does no bound call need this process? */
static bool leave_all(void) {
    bool all = true;
    for (sagoi_convening *c = first; c; c = c->next)
        all = depart(c) && all;
    return all;
}

void sagoi_stay_end(void) {
    for (int quiet = 0;;) {
        sagoi_fibers_lock();
        bool free_to = staying > 1 || leave_all();
        if (free_to)
            staying--;
        sagoi_fibers_unlock();
        if (free_to)
            return;
        if (sagoi_fibers_advance())
            quiet = 0;
        else
            sagoi_fibers_pause(quiet++);
    }
}

bool sagoi_stay_is_brief(void) {
    bool any = false;
    sagoi_fibers_lock();
    for (const sagoi_convening *c = first; c && !any; c = c->next)
        any = c->arrived && sagoi_assembly_state_of(c->team, c->call).phase <= SAGOI_ASSEMBLY_PREPARED;
    any = any && staying == 1;
    sagoi_fibers_unlock();
    return any;
}

/* ---- Life ---- */

sago_status sagoi_convene_open(sagoi_team *team) {
    if (team->local_rank == 0)
        atomic_store(&team->control->convened, 0);
    return team->nodes > 1 && team->local_rank == 0 ? sagoi_assembly_create(team) : SAGO_OK;
}

bool sagoi_convene_spoke(const sagoi_team *team) { return team->assembly && sagoi_assembly_spoke(team); }

sago_status sagoi_convene_close(sagoi_team *team, bool spoke) {
    if (team->assembly && spoke)
        return sagoi_assembly_end(team);
    sagoi_convene_drop(team);
    return SAGO_OK;
}

void sagoi_convene_drop(sagoi_team *team) { sagoi_assembly_destroy(team); }
